"""Learning a mapping from people: least leak at a distortion, or least distortion at a leak.

Theory    docs/theory/mapping.md, Theorem 2 (certificate), Theorem 8 (least distortion)
Notation  B = public profile, A = secret, d = distortion, Delta = its limit
Not here  the solver (optim/mapping_newton.py), releasing (recoding.py), scikit-learn (profiles.py).
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.errors import ParameterError, require
from reticent.guarantees.samples import HeldOut, Sample
from reticent.mechanisms.mapping import ProfileMapping
from reticent.mechanisms.mapping_law import MappingLaw
from reticent.noise import Source
from reticent.optim.distances import Distance
from reticent.optim.mapping import Channel, Problem, Progress, Solution, Step
from reticent.optim.mapping_baselines import MOST_PERFECT, perfect_privacy
from reticent.optim.mapping_newton import solve_mapping
from reticent.tasks.leakage import BITS, each_secret, leaks
from reticent.tasks.recoding import Alphabet, Measure, Recoding, Unknown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reticent.optim.mapping_newton import State

MOST_FLOORED = 3000  # with a floor every profile may become every other: n^2 chances
_MOST_EPSILON = 30.0  # beyond it a floor is few of the 2**62 parts, and promises nothing
_ROUNDED = 1e-5  # epsilon: more than rounding to those parts can cost
_ROUNDS = 12  # between two distortions
_NEAR = 2e-3  # of the distortion: nearer than the solver's own gap shows
_TARGETS = 32  # profiles that everybody might be released as


@dataclass(frozen=True, slots=True)
class Limits:
    """Give ``delta`` (least leak) or ``leak_bits`` (least distortion), not both.

    Several ``leak_bits`` limit each private column; ``epsilon`` adds a worst-case floor.
    ``relative_gap`` and ``seconds`` are when a solver may stop.
    """

    delta: float | None = None
    leak_bits: float | Sequence[float] | None = None
    epsilon: float | None = None
    relative_gap: float = 1e-3
    seconds: float = math.inf

    def __post_init__(self) -> None:
        one = (self.delta is None) is not (self.leak_bits is None)
        require(one, "delta", self.delta, "given, or leak_bits given instead")
        if self.delta is not None:
            require(0 <= self.delta < math.inf, "delta", self.delta, "at least 0 and finite")
        if self.epsilon is not None:
            good = 0 < self.epsilon <= _MOST_EPSILON
            require(good, "epsilon", self.epsilon, f"positive and at most {_MOST_EPSILON:g}")
        good = bool(np.isfinite(self.bits).all() and (self.bits >= 0).all())
        require(good, "leak_bits", self.leak_bits, "not negative")

    @property
    def bits(self) -> NDArray[np.float64]:
        """``leak_bits`` as an array; empty if they are not given."""
        given: Any = [] if self.leak_bits is None else self.leak_bits
        return np.atleast_1d(np.asarray(given, dtype=np.float64))


@dataclass(frozen=True, slots=True, eq=False)
class Learnt:
    """A recoding, and the people's law that it was learnt from, which it does not hold itself.

    Figures here are in full precision, of the table that is really used and of these people.
    """

    recoding: Recoding
    alphabet: Alphabet
    law: MappingLaw
    solution: Solution
    untouched_bits: float
    cost_of_epsilon: float
    least_distortion: float = 0.0  # no mapping within the limit on the leak has less
    finished: bool = True  # False if the search was stopped before it was sure

    @property
    def leak_bits(self) -> float:
        """On average over training people."""
        return self.law.bits

    @property
    def distortion(self) -> float:
        """On average over training people, once they are in the alphabet."""
        return self.law.distortion

    def tested(self, found: HeldOut) -> Learnt:
        """The same, with what was found among people held out: it goes into file and cards."""
        mechanism = self.recoding.mechanism
        stated = mechanism.statement
        assert stated.sample is not None  # noqa: S101, it was learnt
        sample = replace(stated.sample, held_out=found)
        mechanism = replace(mechanism, statement=replace(stated, sample=sample))
        return replace(self, recoding=replace(self.recoding, mechanism=mechanism))


def learn_mapping(
    alphabet: Alphabet,
    limits: Limits,
    *,
    measure: Measure | None = None,
    columns: Sequence[str] | None = None,
    secret: str = "the private columns",  # noqa: S107, what a card calls it
    unknown: Unknown = "nearest",
    radius: float = math.inf,
    progress: Progress | None = None,
    source: Source | None = None,
) -> Learnt:
    """The mapping that tells least, or distorts least, among these people.

    A ``source`` gives the nonce of its fingerprint, and nothing else.

    >>> people = np.array([["young", "city"], ["young", "land"], ["old", "city"]] * 20)
    >>> alphabet = Alphabet.of(people, np.array([1, 0, 1] * 20))
    >>> learnt = learn_mapping(alphabet, Limits(delta=0.2))
    >>> learnt.leak_bits < learnt.untouched_bits, learnt.distortion <= 0.2
    (True, True)
    """
    measure = Measure() if measure is None else measure
    everywhere = limits.epsilon is None or unknown == "nearest"
    rule = "nearest where epsilon is given: withheld or refused, a profile is unknown for certain"
    require(everywhere, "unknown", unknown, rule)
    alphabet = alphabet.distinct()
    wide = alphabet.profiles.shape[1]
    names = tuple(f"column {k + 1}" for k in range(wide)) if columns is None else tuple(columns)
    distance, joint = measure.distance(alphabet.profiles), alphabet.joint
    search = _Search(alphabet, distance, limits, progress)
    solution = search.run()
    channel = solution.channel
    if limits.epsilon is not None:
        channel = floored(channel, float(limits.epsilon))
    law = MappingLaw.of(channel, joint, distance)
    mechanism = ProfileMapping.learnt(
        law,
        Sample(int(alphabet.counts.sum()), len(alphabet.profiles)),
        secret=secret,
        by_secret=each_secret(secret, law.channel, joint, alphabet.secrets),
        unit_of_distortion=measure.unit,
        source=Source.system() if source is None else source,
    )
    cost = 0.0 if limits.epsilon is None else law.distortion - solution.distortion
    recoding = Recoding(names, alphabet.profiles, mechanism, measure, unknown, radius)
    untouched = Problem.of(joint, distance, 0.0).untouched * BITS
    sure = not search.stopped
    return Learnt(recoding, alphabet, law, solution, untouched, cost, search.least, sure)


def trade_off(
    alphabet: Alphabet,
    deltas: Sequence[float],
    *,
    measure: Measure | None = None,
    relative_gap: float = 1e-3,
    seconds: float = math.inf,
    progress: Progress | None = None,
) -> list[Solution]:
    """The least leak at each of several distortions, each search starting where the last ended.

    After ``seconds``, or once one is interrupted, all that follow end with their first step.
    """
    distance = (Measure() if measure is None else measure).distance(alphabet.profiles)
    found: list[Solution] = []
    began = time.monotonic()

    def watch(step: Step) -> None:
        if time.monotonic() - began > seconds or (found and found[-1].interrupted):
            raise KeyboardInterrupt
        if progress is not None:
            progress(step)

    for delta in deltas:
        problem = Problem.of(alphabet.joint, distance, delta)
        start = found[-1].state if found else None
        found.append(solve_mapping(problem, relative_gap=relative_gap, start=start, progress=watch))
    return found


def floored(channel: Channel, epsilon: float) -> Channel:
    """Mixed with a uniform choice until no output tells two profiles apart by more than epsilon.

    With share s of uniform chances, chances lie in [s/n, 1 - s + s/n]: their ratio is e^epsilon at
    s = n / (n - 1 + e^epsilon).
    """
    n = len(channel.starts) - 1
    require(n <= MOST_FLOORED, "epsilon", epsilon, f"left out for over {MOST_FLOORED} profiles")
    share = n / (n - 1 + math.exp(max(epsilon - _ROUNDED, epsilon / 2)))
    table = (1 - share) * channel.dense() + share / n
    return Channel(np.arange(n + 1) * n, np.tile(np.arange(n), n), table.T.reshape(-1))


@dataclass(slots=True)
class _Search:
    """For the least distortion: the least leak falls, and is convex, in Delta. Theorem 8."""

    alphabet: Alphabet
    distance: Distance
    limits: Limits
    progress: Progress | None
    began: float = field(default_factory=time.monotonic)
    state: State | None = None
    stopped: bool = False
    least: float = 0.0  # distortion: with less no mapping keeps the limit on the leak

    def run(self) -> Solution:
        """What the limits ask for."""
        if self.limits.delta is not None:
            return self.thrifty(self.at(float(self.limits.delta)))
        columns = self.alphabet.secrets.shape[1]
        good = self.limits.bits.size in (1, columns)
        require(good, "leak_bits", self.limits.bits.size, f"one limit or {columns}")
        return self.least_distortion() if self.limits.bits.all() else self.without_leak()

    def thrifty(self, found: Solution) -> Solution:
        """Where next to nothing leaks, the least distortion that is enough for that."""
        if self.stopped or found.leak > self.limits.relative_gap * found.untouched:
            return found
        if found.distortion == 0 or len(self.alphabet.profiles) > MOST_PERFECT:
            return found
        best = self.without_leak()
        return best if best.distortion < found.distortion else found

    def at(self, delta: float) -> Solution:
        """The least leak at ``delta``."""
        found = solve_mapping(
            Problem.of(self.alphabet.joint, self.distance, delta),
            relative_gap=self.limits.relative_gap,
            seconds=max(0.0, self.began + self.limits.seconds - time.monotonic()),
            start=self.state,
            progress=self.progress,
        )
        self.state = found.state if found.history else self.state
        late = time.monotonic() > self.began + self.limits.seconds
        self.stopped = self.stopped or found.interrupted or late
        return found

    def excess(self, solution: Solution) -> float:
        """By how many bits the worst limit is exceeded; one limit is on all columns together."""
        if self.limits.bits.size == 1:
            return solution.leak * BITS - float(self.limits.bits[0])
        own = leaks(solution.channel, self.alphabet.joint, self.alphabet.secrets)
        return float((own - self.limits.bits).max())

    def least_distortion(self) -> Solution:
        """Regula falsi between no distortion and that of one profile for all, which leaks none."""
        below = self.at(0.0)
        low, over = 0.0, self.excess(below)
        if over <= 0:
            return below
        found = self.constant()
        high, under = found.distortion, self.excess(found)
        kept = 0
        for _ in range(_ROUNDS):
            if self.stopped or high - low <= _NEAR * high:
                break
            share = over / (over - under)
            delta = low + min(max(share, 0.05), 0.95) * (high - low)
            tried = self.at(delta)
            excess = self.excess(tried)
            if self.limits.bits.size == 1 and tried.bound * BITS > float(self.limits.bits[0]):
                self.least = max(self.least, delta)
            if excess <= 0:
                found, high, under = tried, tried.distortion, excess
                over, kept = (over / 2, 1) if kept == 1 else (over, 1)
            else:
                low, over = delta, excess
                under, kept = (under / 2, -1) if kept == -1 else (under, -1)
        self.stopped = self.stopped and high - low > _NEAR * high
        return replace(found, interrupted=True) if self.stopped else found

    def constant(self) -> Solution:
        """Everybody released as one profile: the nearest to all among the most probable ones."""
        mass = self.alphabet.joint.sum(axis=0)
        targets = np.argsort(-mass, kind="stable")[:_TARGETS]
        # distances are asked from a profile to all: to one of them needs the column
        n = len(mass)
        far = np.array([self.distance.row(j)[targets] for j in range(n)])
        costs = mass @ far
        best = int(np.argmin(costs))
        channel = Channel(np.arange(n + 1), np.full(n, targets[best]), np.ones(n))
        untouched = Problem.of(self.alphabet.joint, self.distance, 0.0).untouched
        return Solution(channel, 0.0, 0.0, float(costs[best]), 0.0, untouched)

    def without_leak(self) -> Solution:
        """The least distortion at which nothing leaks."""
        n = len(self.alphabet.profiles)
        if n > MOST_PERFECT:
            rule = f"above 0 with more than {MOST_PERFECT} profiles: give a small limit, as 0.001"
            raise ParameterError("leak_bits", rule, 0)
        problem = Problem.of(self.alphabet.joint, self.distance, 0.0)
        best = perfect_privacy(problem)
        return Solution(best.channel, best.leak, 0.0, best.distortion, 0.0, problem.untouched)
