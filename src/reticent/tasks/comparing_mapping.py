"""Mappings of profiles at the same distortion, by how much each still tells about the secret.

Theory    docs/theory/mapping.md, Theorem 2 (certificate), "Baselines"
Notation  Delta = distortion, n = profiles, keep = chance that randomised response keeps a profile
Not here  the search (learning.py), the baselines (optim/mapping_baselines.py).

Leaks are those of the counted law of the people at hand: computed, not drawn.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from reticent.errors import require
from reticent.optim.mapping import Problem, Solution, Step
from reticent.optim.mapping_baselines import (
    MOST_PERFECT,
    exponential_at,
    perfect_privacy,
    randomised_response,
)
from reticent.rational import Number, rational
from reticent.tasks.comparing import Curves, Point, Progress, chosen_ways
from reticent.tasks.leakage import BITS
from reticent.tasks.learning import trade_off
from reticent.tasks.recoding import Alphabet, Measure
from reticent.tasks.training import CROWD, UNIQUE

LEAST, EXPONENTIAL, RESPONSE = "least-leak", "exponential", "randomised-response"
PERFECT = "nothing-told"
WAYS = (LEAST, EXPONENTIAL, RESPONSE, PERFECT)
MOST_COMPARED = 3000  # profiles up to which mappings of each into each are tried
_POINTS = 8  # steps from nothing changed to as much as nothing told needs
_USUAL_MOST = 0.2  # where that is not known
_MANY = (
    "nearly everybody has a profile of their own: bins puts numbers into ranges, public takes "
    "fewer columns, columns says which one names people"
)
_STOPPED = "the search was stopped: the least leaks are those of the best mappings so far"


def mapping_curves(
    alphabet: Alphabet,
    measure: Measure,
    *,
    secret: str,
    distortions: Sequence[Number] | None = None,
    ways: Collection[str] | None = None,
    seconds: float = math.inf,
    progress: Progress | None = None,
) -> Curves:
    """What each mapping tells about the secret, in bits, at each distortion.

    "nothing-told" is one mapping, with the distortion that it needs; without ``distortions`` others
    are tried up to it. After ``seconds`` the least leaks are those of the best mappings so far.
    """
    alphabet = alphabet.distinct()
    size = len(alphabet.profiles)
    small = size <= MOST_PERFECT
    known = tuple(way for way in WAYS if _fits(way, size))
    asked = chosen_ways(known, ways)
    problem = Problem.of(alphabet.joint, measure.distance(alphabet.profiles), 0.0)
    perfect = perfect_privacy(problem) if small else None
    most = _USUAL_MOST if perfect is None else perfect.distortion
    deltas = _deltas(distortions, most, problem.distance.largest)
    rows: list[Point] = []
    stopped = False
    if LEAST in asked:
        found = _searched(alphabet, measure, deltas, seconds, progress)
        stopped = any(one.interrupted for one in found)
        rows += [_least(delta, one) for delta, one in zip(deltas, found, strict=True)]
    for way, tried in ((EXPONENTIAL, _exponential), (RESPONSE, _response)):
        for delta in deltas if way in asked else ():
            if progress is not None:
                progress(f"{way} at distortion {delta:g}")
            leak, distortion, epsilon = tried(problem, delta)
            more = {"distortion": distortion, "bound": None, "worst_case_epsilon": epsilon}
            rows.append(Point(way=way, x=delta, value=leak * BITS, more=more))
    if perfect is not None and PERFECT in asked:
        at = {"x": perfect.distortion, "value": max(perfect.leak, 0.0) * BITS}
        more = {"distortion": perfect.distortion, "bound": 0.0, "worst_case_epsilon": None}
        rows.append(Point(way=PERFECT, more=more, **at))
    return Curves(
        what=f"profiles that should not tell {secret}",
        x="distortion",
        y=f"bits that a release tells about {secret}, on average",
        better="lower",
        rows=rows,
        reference=problem.untouched * BITS,
        reference_name="profiles as they are",
        more={
            "secret": secret,
            "profiles": size,
            "people": int(alphabet.counts.sum()),
            "unit_of_distortion": measure.unit,
        },
        notes=(
            f"{size:,} profiles of {int(alphabet.counts.sum()):,} people; distortion is the "
            f"{measure.unit}",
            "in brackets: no mapping of this distortion tells less",
            *_left_out(ways, known),
            *((_MANY,) if size > UNIQUE * alphabet.counts.sum() > UNIQUE * CROWD else ()),
            *((_STOPPED,) if stopped else ()),
        ),
    )


def _left_out(ways: Collection[str] | None, known: tuple[str, ...]) -> tuple[str, ...]:
    """What there are too many profiles for, if nobody chose."""
    left = ", ".join(way for way in WAYS if way not in known)
    return (f"left out, as there are too many profiles: {left}",) if left and ways is None else ()


def _fits(way: str, size: int) -> bool:
    """Whether so many profiles are not too many for a way."""
    most = {EXPONENTIAL: MOST_COMPARED, RESPONSE: MOST_COMPARED, PERFECT: MOST_PERFECT}
    return size <= most.get(way, size)


def _deltas(asked: Sequence[Number] | None, most: float, largest: float) -> list[float]:
    if asked is None:
        return [most * step / _POINTS for step in range(_POINTS + 1)] if most > 0 else [0.0]
    found = sorted({float(rational(value, "delta")) for value in asked})
    good = found[:1] >= [0.0] and found[-1:] <= [largest]
    require(good, "delta", "other", f"from 0 to {largest:g}, the largest distance")
    return found


def _searched(
    alphabet: Alphabet,
    measure: Measure,
    deltas: Sequence[float],
    seconds: float,
    progress: Progress | None,
) -> list[Solution]:
    def step(found: Step) -> None:
        if progress is not None:
            told, least = found.leak * BITS, found.bound * BITS
            progress(f"{told:.4g} bits, at least {least:.4g}")

    return trade_off(alphabet, deltas, measure=measure, seconds=seconds, progress=step)


def _least(delta: float, found: Solution) -> Point:
    """The least leak and what proves that there is none much lower. Theorem 2."""
    told = max(found.leak, 0.0) * BITS
    bound = min(max(found.bound, 0.0) * BITS, told)
    more = {"distortion": found.distortion, "bound": bound, "worst_case_epsilon": None}
    return Point(way=LEAST, x=delta, value=told, more=more)


def _exponential(problem: Problem, delta: float) -> tuple[float, float, float | None]:
    if delta == 0:
        return problem.untouched, 0.0, None
    found = exponential_at(problem, distortion=delta)
    return found.leak, found.distortion, found.epsilon


def _response(problem: Problem, delta: float) -> tuple[float, float, float | None]:
    """Its distortion is linear in the chance to keep; from keep = 1 / n on nothing is told."""
    if delta == 0:
        return problem.untouched, 0.0, None
    never = randomised_response(problem, 0.0).distortion
    keep = max(1 - delta / never, 1 / problem.distance.size)
    found = randomised_response(problem, keep)
    return found.leak, found.distortion, found.epsilon
