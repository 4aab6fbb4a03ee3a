"""A learnt mapping as text and as JSON.

Not here  the command that learns it (mapping.py), what must be said about it (mapping_notes.py),
          its file (mapping_files.py), pictures (report/mapping_figures.py).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reticent.guarantees.average_numbers import (
    TINY,
    after_100,
    down,
    down_100,
    near,
    near_100,
    up,
    up_100,
)
from reticent.guarantees.card_facts import printable
from reticent.guarantees.samples import CONFIDENCE, HeldOut

if TYPE_CHECKING:
    from reticent.tasks.learning import Learnt
    from reticent.tasks.recoding import Recoding

CERTIFIED = 1e-3  # of what untouched profiles tell: the gap that a search is asked for
FEW = 10  # people: a profile of fewer is rare
ROUNDED = 0.01  # of a figure: more than three digits round away


def exceeds(held: HeldOut, promise: float) -> bool:
    """Whether more is told of people held out than of training people."""
    return held.bits > max(promise * (1 + ROUNDED), TINY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """A learnt mapping and how it came about; ``stopped`` is why a search ended early, if it did.

    ``rare`` is how many profiles fewer than ``FEW`` people had, ``by_leak`` whether the leak was
    limited and the change made least, ``exponential`` the distortion that the exponential
    mechanism needs for the same leak, ``untouched_elsewhere`` the bits that true profiles of people
    held out tell.
    """

    learnt: Learnt
    secrets: tuple[str, ...]
    people: int
    without_secret: int
    rare: int
    at_least: int
    epsilon: float | None
    by_leak: bool
    stopped: str
    exponential: float | None
    untouched_elsewhere: float | None

    @property
    def held_out(self) -> HeldOut | None:
        """What was found among people held out, if there were any."""
        sample = self.learnt.recoding.mechanism.statement.sample
        return None if sample is None else sample.held_out

    @property
    def kept(self) -> float:
        """The share of people whose profile is released as it is."""
        return min(self.learnt.law.unchanged, 1.0)

    @property
    def hides_nothing(self) -> bool:
        """Whether every profile is released as it is."""
        channel = self.learnt.recoding.mechanism.channel
        return bool((channel.outs == channel.inputs).all())

    @property
    def unfinished(self) -> bool:
        """Whether profiles may change more than the leak needs because the search was stopped."""
        return self.by_leak and not self.learnt.finished

    @property
    def guesses(self) -> tuple[float, float, float]:
        """How often the best guess is right: without a profile, from the true one, a released."""
        law = self.learnt.law
        before, after = law.guess_rates()
        return before, float(law.joint.max(axis=0).sum()), max(before, after)

    @property
    def least_bits(self) -> float:
        """No mapping of this distortion tells less."""
        return self.learnt.solution.bound / math.log(2)

    @property
    def certified(self) -> bool:
        """Whether the search ended with the proof it was asked for."""
        proved = self.learnt.solution.relative_gap <= CERTIFIED * (1 + 1e-9)
        return proved and self.learnt.finished


def _merged(fitted: Fitted) -> str:
    if fitted.at_least <= 1:
        return ""
    return f", once profiles of fewer than {fitted.at_least} people are replaced"


def fitted_lines(fitted: Fitted) -> list[str]:
    """Consequences first, then what was reached and how good it is."""
    learnt, recoding = fitted.learnt, fitted.learnt.recoding
    secret = printable(recoding.mechanism.secret)
    nothing, true, released = fitted.guesses
    columns = ", ".join(map(printable, recoding.columns))
    rows = [
        (f"told about {secret}, as profiles are", f"{near(learnt.untouched_bits)} bits"),
        ("told by a released profile", f"{up(learnt.leak_bits)} bits, on average"),
        *_least(fitted),
        ("changed on average", _changed(fitted)),
        ("released as they are", f"{near_100(fitted.kept)} of 100 people{_merged(fitted)}"),
        ("a profile may become", _support(recoding)),
        *_floor(fitted),
        *_comparison(fitted),
        *_elsewhere(fitted),
    ]
    width = max(len(head) for head, _ in rows)
    return [
        *_headline(fitted),
        f"Hides {'nothing' if fitted.hides_nothing else secret} in profiles of {columns}",
        f"{fitted.people} people, {len(recoding.profiles)} different profiles{_values(fitted)}",
        "",
        f"The best guess of {secret} is right for {near_100(nothing)} of 100 people without any "
        f"profile, for {near_100(true)} from the profile as it is, for "
        f"{after_100(nothing, released)} from a released one.",
        "",
        *(f"{head.ljust(width)}  {told}" for head, told in rows),
    ]


def _headline(fitted: Fitted) -> list[str]:
    """What must not be overlooked."""
    if fitted.unfinished:
        least = down_100(fitted.learnt.least_distortion)
        needed = f"at least {least} % is needed" if least != "0" else "less may be enough"
        return [
            f"NOT FINISHED: changes {up_100(fitted.learnt.distortion)} % of a profile, {needed}"
        ]
    if fitted.hides_nothing:
        secret = printable(fitted.learnt.recoding.mechanism.secret)
        return [f"HIDES NOTHING: profiles are released as they are and tell as much about {secret}"]
    return []


def _values(fitted: Fitted) -> str:
    """How many values the secret has, where that is not two."""
    many = len(fitted.learnt.alphabet.secrets)
    what = "values" if len(fitted.secrets) == 1 else "combinations"
    names = ", ".join(map(printable, fitted.secrets))
    return f", {many} {what} of {names}" if many > 2 else ""


def _least(fitted: Fitted) -> list[tuple[str, str]]:
    if fitted.epsilon is not None:
        return []  # the bound is that of mappings without a floor
    gap = f"{near(100 * fitted.learnt.solution.relative_gap, 2)} %"
    of = "of what untouched profiles tell"
    how = f"proved to within {gap} {of}" if fitted.certified else f"not certified, gap {gap} {of}"
    if fitted.least_bits <= 0 and not fitted.certified:
        return [("no such mapping tells less than", f"not proved yet (gap {gap})")]
    return [("no such mapping tells less than", f"{down(fitted.least_bits)} bits ({how})")]


def _changed(fitted: Fitted) -> str:
    recoding = fitted.learnt.recoding
    share, columns = fitted.learnt.distortion, len(recoding.columns)
    weighted = recoding.measure.weights is not None
    by = "by weight" if weighted else f"{near(share * columns, 2)} of {columns} columns"
    moved = fitted.learnt.alphabet.moved
    more = f", and {up_100(moved)} % by rare profiles" if moved else ""
    return f"{up_100(share)} % of a profile ({by}){more}"


def _support(recoding: Recoding) -> str:
    counts = recoding.mechanism.channel.support
    return f"one of {int(counts.max())} at most, of {float(counts.mean()):.3g} on average"


def _floor(fitted: Fitted) -> list[tuple[str, str]]:
    if fitted.epsilon is None:
        return []
    worst = fitted.learnt.recoding.worst_case_epsilon()
    cost = up_100(max(fitted.learnt.cost_of_epsilon, 0.0))
    return [("in the worst case", f"epsilon {up(worst)}; {cost} % of the change is for this")]


def _comparison(fitted: Fitted) -> list[tuple[str, str]]:
    if fitted.exponential is None:
        return []
    ours = fitted.learnt.distortion
    times = f", {fitted.exponential / ours:.2g} times as much" if ours > TINY else ""
    told = f"would change {near_100(fitted.exponential)} %{times}, to tell as little"
    return [("the exponential mechanism", told)]


def _elsewhere(fitted: Fitted) -> list[tuple[str, str]]:
    held, before = fitted.held_out, fitted.untouched_elsewhere
    if held is None or before is None or not held.tells:
        return []
    told = f"{near(before)} bits as they are, {up(held.bits)} released"
    limit = f"at most {up(held.at_most)} with {100 * CONFIDENCE:.0f} % confidence"
    known = f"{limit}, if training people have their {' and '.join(fitted.secrets)} too"
    others = [("more people held out", f"{held.left_out}, of whom nothing is known")]
    return [
        (f"{held.people} people held out", told),
        ("people of their population", known),
        *(others if held.left_out else []),
    ]


def fitted_fields(fitted: Fitted) -> dict[str, Any]:
    """A learnt mapping for JSON."""
    learnt, recoding = fitted.learnt, fitted.learnt.recoding
    nothing, true, released = fitted.guesses
    counts, held = recoding.mechanism.channel.support, fitted.held_out
    worst = recoding.worst_case_epsilon()
    return {
        "secret": list(fitted.secrets),
        "columns": list(recoding.columns),
        "widths": dict(recoding.widths),
        "people": fitted.people,
        "without_secret": fitted.without_secret,
        "profiles": len(recoding.profiles),
        "values": len(learnt.alphabet.secrets),
        "rare_profiles": fitted.rare,
        "right_guesses": {"no_profile": nothing, "profile": true, "released": released},
        "bits": {
            "untouched": learnt.untouched_bits,
            "released": learnt.leak_bits,
            "at_least": fitted.least_bits if fitted.epsilon is None else None,
        },
        "relative_gap": learnt.solution.relative_gap,
        "certified": fitted.certified,
        "finished": learnt.finished,
        "least_distortion": learnt.least_distortion,
        "hides_nothing": fitted.hides_nothing,
        "stopped": fitted.stopped or None,
        "distortion": learnt.distortion,
        "moved": learnt.alphabet.moved,
        "kept": fitted.kept,
        "becomes": {"most": int(counts.max()), "mean": float(counts.mean())},
        "worst_case_epsilon": worst if math.isfinite(worst) else None,
        "exponential_distortion": fitted.exponential,
        "held_out": None
        if held is None
        else {
            "people": held.people,
            "left_out": held.left_out,
            "untouched": fitted.untouched_elsewhere,
            "released": held.bits,
            "at_most": held.at_most,
            "confidence": CONFIDENCE,
            "exceeds": exceeds(held, learnt.leak_bits),
        },
        "sha256": recoding.mechanism.sha256,
    }
