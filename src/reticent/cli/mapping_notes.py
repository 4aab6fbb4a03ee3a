"""What has to be known about a learnt mapping before its file is used or given away.

Not here  what was reached (mapping_views.py).
"""

from __future__ import annotations

from reticent.cli.mapping_numbers import near
from reticent.cli.mapping_views import FEW, Fitted
from reticent.guarantees.card_facts import printable

_BIASED = 0.1  # of the plain estimate
_CROWD = 20  # people per profile, from which on profiles are not what there are too many of
_SPARSE = 5  # people per profile, below which counts say little


def fitted_notes(fitted: Fitted) -> list[str]:
    """One sentence or two each."""
    learnt = fitted.learnt
    notes = [*_nothing(fitted), *_stopped(fitted)]
    if fitted.without_secret:
        notes.append(f"{fitted.without_secret} people without a value of the secret were left out")
    notes += [*_few_people(fitted), *_elsewhere(fitted)]
    file = "the file is learnt from these people's data and is no differentially private release"
    if fitted.rare and fitted.at_least < FEW:
        file += (
            f": {fitted.rare} profiles in it are those of fewer than {FEW} people; "
            f"--at-least {FEW} leaves them out"
        )
    notes.append(file)
    notes.append(
        "the promise is an average over people like these, for one release each, and about "
        f"{printable(learnt.recoding.mechanism.secret)} only; about some it can tell more"
    )
    return notes


def _nothing(fitted: Fitted) -> list[str]:
    if not fitted.hides_nothing:
        return []
    limit = "--leak is no less than profiles tell as they are; a smaller one hides something"
    share = "--delta leaves nothing to change; a larger one hides something"
    return [f"this mapping hides nothing: {limit if fitted.by_leak else share}"]


def _stopped(fitted: Fitted) -> list[str]:
    gap = f"certified gap {near(100 * fitted.learnt.solution.relative_gap, 2)} %"
    if fitted.unfinished:
        why = fitted.stopped or "the search was stopped"
        more = "profiles may change more than they need to"
        return [f"{why}: best so far, and {more}; --seconds gives more time"]
    if fitted.stopped:
        return [f"{fitted.stopped}: best so far, {gap}; --seconds gives more time"]
    if not fitted.certified:
        return [f"the search ended without the proof it was asked for: {gap}"]
    return []


def _few_people(fitted: Fitted) -> list[str]:
    """Whether counts are too few to trust, and of what there is too much."""
    learnt = fitted.learnt
    plain, corrected = learnt.untouched_bits, learnt.corrected_bits
    crowd = fitted.people / len(learnt.recoding.profiles)
    biased = plain - corrected > _BIASED * plain
    known = (
        "to know well how profiles and secret go together: the figures are those of these people, "
        "others may lose more."
    )
    if crowd < _SPARSE or (biased and crowd < _CROWD):
        return [
            f"there are too few people per profile ({crowd:.2g} on average) {known} Fewer columns "
            "(--public), ranges of numbers (--bins) or --at-least help"
        ]
    many = len(learnt.recoding.secrets)
    if biased and many > 2:
        secret = printable(learnt.recoding.mechanism.secret)
        return [
            f"{secret} has {many} values: too few people have each of them {known} Fewer values of "
            f"{secret} help"
        ]
    return []


def _elsewhere(fitted: Fitted) -> list[str]:
    held = fitted.held_out
    if held is None or not held.exceeds(fitted.learnt.leak_bits):
        return []
    return ["people it has not seen are told about more than promised: too few people per profile"]
