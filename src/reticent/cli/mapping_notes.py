"""What has to be known about a learnt mapping before its file is used or given away.

Not here  what was reached (mapping_views.py).
"""

from __future__ import annotations

import math

from reticent.cli.mapping_views import FEW, Fitted, exceeds
from reticent.guarantees.average_numbers import TINY, near, up
from reticent.guarantees.card_facts import printable

_BIASED = 0.1  # of what is counted
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
        "the bits are an average over these people, for one release each, and about "
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
    profiles, many = len(learnt.recoding.profiles), len(learnt.alphabet.secrets)
    crowd = fitted.people / profiles
    # what so many cells show among so few people even where profiles tell nothing, to first order
    chance = (many - 1) * (profiles - 1) / (2 * fitted.people * math.log(2))
    biased = chance > _BIASED * learnt.untouched_bits
    known = (
        "to know well how profiles and secret go together: the figures are those of these people, "
        "others may lose more."
    )
    if crowd < _SPARSE or (biased and crowd < _CROWD):
        return [
            f"there are too few people per profile ({crowd:.2g} on average) {known} Fewer columns "
            "(--public), ranges of numbers (--bins) or --at-least help"
        ]
    if biased and many > 2:
        secret = printable(learnt.recoding.mechanism.secret)
        return [
            f"{secret} has {many} values: too few people have each of them {known} Fewer values of "
            f"{secret} help"
        ]
    return []


def _elsewhere(fitted: Fitted) -> list[str]:
    held = fitted.held_out
    if held is None:
        return [
            "what it tells of people it has not seen was not measured, and may be more; "
            "--held-out 0.2 measures it"
        ]
    if not exceeds(held, fitted.learnt.leak_bits):
        return []
    times = up(held.bits / max(fitted.learnt.leak_bits, TINY), 3)
    told = f"people held out are told about more ({up(held.bits)} bits"
    more = f", {times} times as much)" if fitted.learnt.leak_bits > TINY else ")"
    return [f"{told}{more}. More people per profile make the two figures come closer"]
