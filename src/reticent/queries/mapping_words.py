"""What is said of a mapping that was learnt: consequences first, then what has to be known.

Not here  the figures (tasks/learnt_mapping.py), how they are rounded
          (guarantees/average_numbers.py).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from reticent.guarantees.average_numbers import (
    TINY,
    after_100,
    down_100,
    near,
    near_100,
    up,
    up_100,
)
from reticent.guarantees.card_facts import printable
from reticent.guarantees.samples import CONFIDENCE, HeldOut
from reticent.tasks.learnt_mapping import FEW

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reticent.tasks.learnt_mapping import LearntMapping
    from reticent.tasks.mapping_search import MappingSearch

_ROUNDED = 0.01  # of a figure: more than three digits round away
_BIASED = 0.1  # of what is counted
_CROWD = 20  # people per profile, from which on profiles are not what there are too many of
_SPARSE = 5  # people per profile, below which counts say little
_FILE = "it is learnt from these people's data and is no differentially private release"


def exceeds(held: HeldOut, promise: float) -> bool:
    """Whether more is told of people held out than of training people."""
    return held.bits > max(promise * (1 + _ROUNDED), TINY)


def lines(learnt: LearntMapping, search: MappingSearch) -> list[str]:
    """Consequences first, then what was reached and how good it is."""
    recoding, stated, found = learnt.recoding, learnt.statement, learnt.found
    secret = printable(recoding.mechanism.secret)
    nothing, released = stated.guesses
    columns = ", ".join(map(printable, recoding.columns))
    kept = f"{near_100(stated.unchanged)} of 100 people{_merged(search)}"
    rows = [
        (f"told about {secret}, as profiles are", f"{near(found.untouched)} bits"),
        ("told by a released profile", f"{up(stated.bits)} bits, on average"),
        *_least(learnt),
        ("changed on average", _changed(learnt)),
        ("released as they are", kept),
        ("a profile may become", _support(learnt)),
        *_floor(learnt),
        *_comparison(learnt),
        *_elsewhere(learnt, search.secrets),
    ]
    width = max(len(head) for head, _ in rows)
    return [
        *_headline(learnt, search),
        f"Hides {'nothing' if learnt.hides_nothing else secret} in profiles of {columns}",
        f"{learnt.people} people, {len(recoding.profiles)} different profiles"
        f"{_values(learnt, search.secrets)}",
        "",
        f"The best guess of {secret} is right for {near_100(nothing)} of 100 people without any "
        f"profile, for {after_100(nothing, found.guessed)} from the profile as it is, for "
        f"{after_100(nothing, released)} from a released one.",
        "",
        *(f"{head.ljust(width)}  {told}" for head, told in rows),
    ]


def _unfinished(learnt: LearntMapping, search: MappingSearch) -> bool:
    """Whether profiles may change more than the leak needs because the search was stopped."""
    return search.delta is None and not learnt.found.finished


def _headline(learnt: LearntMapping, search: MappingSearch) -> list[str]:
    """What must not be overlooked."""
    if _unfinished(learnt, search):
        least = down_100(learnt.found.least_distortion)
        needed = f"at least {least} % is needed" if least != "0" else "less may be enough"
        change = up_100(learnt.statement.distortion)
        return [f"NOT FINISHED: changes {change} % of a profile, {needed}"]
    if learnt.hides_nothing:
        secret = printable(learnt.recoding.mechanism.secret)
        return [f"HIDES NOTHING: profiles are released as they are and tell as much about {secret}"]
    return []


def _merged(search: MappingSearch) -> str:
    if search.at_least <= 1:
        return ""
    return f", once profiles of fewer than {search.at_least} people are replaced"


def _values(learnt: LearntMapping, secrets: Sequence[str]) -> str:
    """How many values the secret has, where that is not two."""
    many = learnt.found.values
    what = "values" if len(secrets) == 1 else "combinations"
    return f", {many} {what} of {', '.join(map(printable, secrets))}" if many > 2 else ""


def _least(learnt: LearntMapping) -> list[tuple[str, str]]:
    found = learnt.found
    if found.least_bits is None:
        return []  # the bound is that of mappings without a floor
    gap, of = f"{near(100 * found.gap, 2)} %", "of what untouched profiles tell"
    how = f"proved to within {gap} {of}" if found.certified else f"not certified, gap {gap} {of}"
    if found.least_bits <= 0 and not found.certified:
        return [("no such mapping tells less than", f"not proved yet (gap {gap})")]
    return [("no such mapping tells less than", f"{near(found.least_bits)} bits ({how})")]


def _changed(learnt: LearntMapping) -> str:
    share, columns = learnt.statement.distortion, len(learnt.recoding.columns)
    weighted = learnt.recoding.measure.weights is not None
    by = "by weight" if weighted else f"{near(share * columns, 2)} of {columns} columns"
    moved = learnt.found.moved
    more = f", and {up_100(moved)} % by rare profiles" if moved else ""
    return f"{up_100(share)} % of a profile ({by}){more}"


def _support(learnt: LearntMapping) -> str:
    counts = learnt.recoding.mechanism.channel.support
    return f"one of {int(counts.max())} at most, of {float(counts.mean()):.3g} on average"


def _floor(learnt: LearntMapping) -> list[tuple[str, str]]:
    cost = learnt.found.floor_cost
    if cost is None:
        return []
    worst = learnt.recoding.worst_case_epsilon()
    return [("in the worst case", f"epsilon {up(worst)}; {up_100(cost)} % of the change is for it")]


def _comparison(learnt: LearntMapping) -> list[tuple[str, str]]:
    other, ours = learnt.found.exponential, learnt.statement.distortion
    if other is None:
        return []
    times = f", {other / ours:.2g} times as much" if ours > TINY else ""
    told = f"would change {near_100(other)} %{times}, to tell as little"
    return [("the exponential mechanism", told)]


def _elsewhere(learnt: LearntMapping, secrets: Sequence[str]) -> list[tuple[str, str]]:
    held, before = learnt.held_out, learnt.found.untouched_elsewhere
    if held is None or before is None or not held.tells:
        return []
    told = f"{near(before)} bits as they are, {up(held.bits)} released"
    limit = f"at most {up(held.at_most)} with {100 * CONFIDENCE:.0f} % confidence"
    known = f"{limit}, if training people have their {' and '.join(map(printable, secrets))} too"
    others = [("more people held out", f"{held.left_out}, of whom nothing is known")]
    return [
        (f"{held.people} people held out", told),
        ("people of their population", known),
        *(others if held.left_out else []),
    ]


def notes(learnt: LearntMapping, search: MappingSearch) -> tuple[str, ...]:
    """One sentence or two each."""
    found = learnt.found
    told = [*_nothing(learnt, search), *_stopped(learnt, search)]
    if found.without_secret:
        told.append(f"{found.without_secret} people without a value of the secret were left out")
    if found.wide:
        told.append(
            "columns of many values make nearly every profile unique: "
            f"{', '.join(map(printable, found.wide))}; bins puts numbers into ranges, public "
            "leaves columns out"
        )
    told += [*_few_people(learnt), *_others(learnt)]
    rare = (
        f": {found.rare} profiles in it are those of fewer than {FEW} people; at_least {FEW} "
        "leaves them out"
    )
    told.append(_FILE + (rare if found.rare and search.at_least < FEW else ""))
    told.append(
        "the bits are an average over these people, for one release each, and about "
        f"{printable(learnt.recoding.mechanism.secret)} only; about some it can tell more"
    )
    return tuple(told)


def _nothing(learnt: LearntMapping, search: MappingSearch) -> list[str]:
    if not learnt.hides_nothing:
        return []
    limit = "the leak is no less than profiles tell as they are; a smaller one hides something"
    share = "delta leaves nothing to change; a larger one hides something"
    return [f"this mapping hides nothing: {limit if search.delta is None else share}"]


def _stopped(learnt: LearntMapping, search: MappingSearch) -> list[str]:
    gap = f"certified gap {near(100 * learnt.found.gap, 2)} %"
    if _unfinished(learnt, search):
        more = "profiles may change more than they need to"
        return [f"the search was stopped: best so far, and {more}; more seconds help"]
    if not learnt.found.finished:
        return [f"the search was stopped: best so far, {gap}; more seconds help"]
    if not learnt.found.certified:
        return [f"the search ended without the proof it was asked for: {gap}"]
    return []


def _few_people(learnt: LearntMapping) -> list[str]:
    """Whether counts are too few to trust, and of what there is too much."""
    profiles, many = len(learnt.recoding.profiles), learnt.found.values
    crowd = learnt.people / profiles
    # what so many cells show among so few people even where profiles tell nothing, to first order
    chance = (many - 1) * (profiles - 1) / (2 * learnt.people * math.log(2))
    biased = chance > _BIASED * learnt.found.untouched
    known = (
        "to know well how profiles and secret go together: the figures are those of these people, "
        "others may lose more."
    )
    if crowd < _SPARSE or (biased and crowd < _CROWD):
        return [
            f"there are too few people per profile ({crowd:.2g} on average) {known} Fewer columns "
            "(public), ranges of numbers (bins) or at_least help"
        ]
    if biased and many > 2:
        secret = printable(learnt.recoding.mechanism.secret)
        return [
            f"{secret} has {many} values: too few people have each of them {known} Fewer values of "
            f"{secret} help"
        ]
    return []


def _others(learnt: LearntMapping) -> list[str]:
    held, promised = learnt.held_out, learnt.statement.bits
    if held is None:
        return [
            "what it tells of people it has not seen was not measured, and may be more; held_out "
            "0.2 measures it"
        ]
    if not exceeds(held, promised):
        return []
    times = up(held.bits / max(promised, TINY), 3)
    told = f"people held out are told about more ({up(held.bits)} bits"
    more = f", {times} times as much)" if promised > TINY else ")"
    return [f"{told}{more}. More people per profile make the two figures come closer"]
