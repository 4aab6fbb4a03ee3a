"""What a card says of a promise on average: about whom it holds, and about whom it need not.

Theory    docs/theory/mapping.md, Theorem 7 (maximal leakage), Theorem 11 (people held out)
Not here  cards (card.py), words of differential privacy (card.py).

A promise computed from a sample is one about the sample. For other people of the same population it
is what was measured on people held out, with a confidence limit, or it is not known.
"""

from __future__ import annotations

from decimal import ROUND_FLOOR, Context

from reticent.amounts import show_up
from reticent.guarantees.losses import MutualInformation
from reticent.guarantees.samples import CONFIDENCE, Sample


def odds_on_average(loss: MutualInformation) -> str:
    """The first sentence."""
    told = f"tells at most {up(loss.bits)} bits about {loss.secret}"
    if loss.sample is None:
        return f"If people follow {loss.prior}, this release {told}, on average."
    return (
        f"Counted among the {loss.sample.people} people the mapping was learnt from, a release "
        f"{told}, on average."
    )


def also_on_average(loss: MutualInformation) -> tuple[str, ...]:
    """The sentences after it."""
    also = ["This is an average, not a worst case: about some people it can tell more."]
    among = "such" if loss.sample is None else "those"
    if loss.sample is not None:
        also += _others(loss.sample, loss.secret)
    if loss.guesses is not None:
        before, after = (up(100 * chance) for chance in loss.guesses)
        also.append(
            f"The best guess of {loss.secret} is right for {before} in 100 of {among} people "
            f"before the release and for {after} after it."
        )
    if loss.maximal_bits is not None:
        also.append(
            f"For {among} people the release multiplies the chance to guess {loss.secret}, or "
            f"anything that follows from {loss.secret} alone, by at most "
            f"{up(2**loss.maximal_bits)}. The chance to guess {loss.secret} together with "
            "something else, or anything else, can be multiplied by more."
        )
    return tuple(also)


def _others(sample: Sample, secret: str) -> list[str]:
    """What is known about people the mapping was not learnt from, and about those it was."""
    held = sample.held_out
    if held is None or not held.tells:
        crowd = Context(prec=2, rounding=ROUND_FLOOR).create_decimal_from_float(sample.crowd)
        found = (
            "For other people of the same population it may tell more, and how much was not "
            f"measured: the mapping was fitted to {crowd.normalize():f} people per profile."
        )
    else:
        found = (
            f"Counted among {held.people} other people of the same table it is {up(held.bits)} "
            f"bits; for people of their population whose {secret} is a value that training people "
            f"have, and who are not refused, it is at most {up(held.at_most)}, with "
            f"{100 * CONFIDENCE:.0f} % confidence."
        )
    unknown = 0 if held is None else held.left_out
    return [
        found,
        *(
            [f"{unknown} more had another value or were refused: nothing is known of such people."]
            if unknown
            else []
        ),
        "The people the mapping was learnt from are not protected against those who have its file: "
        "their data shaped it, without noise.",
    ]


def up(value: float) -> str:
    """Four digits, rounded up, and billionths if it is less than one."""
    return show_up(max(value, 1e-9) if value > 0 else 0.0)
