"""The strongest test of whether an item is in a profile, given histograms on public terms.

Theory    docs/theory/item-attack.md, Theorem 1 (law of the best test), Theorem 2 (a curve that
          none is above), Theorem 3 (alarm)
Notation  y_j = rate of attribute j, s_j = what the item moves it by in steps, Z_j = noise,
          L = sum_j y_j (|x_j| - |x_j - s_j|), the log-likelihood ratio of released x
Not here  secrets in recoded profiles (inference.py), audits of mechanisms (testing/audit.py).

The attacker knows the whole profile but for one item, the terms and the item's weight. No real
profile is needed for it: what other items add is known, and drops out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from reticent.errors import require
from reticent.noise import Source, discrete_laplace
from reticent.tasks.terms import FULL, Allowance, HistogramTerms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals: TypeAlias = NDArray[np.float64]
    Noise: TypeAlias = Callable[[list[Fraction], tuple[int, ...], Source], NDArray[np.int64]]

GRID = 1 << 14  # steps of the loss on either side of 0, Theorem 2
FALSE_ALARM = 1e-6  # chance of a false alarm of the whole curve, Theorem 3
MOST_RELEASES = 200
_DRAWS = 800_000  # numbers drawn for each of the two cases
_FEWEST, _MOST = 1_000, 100_000  # runs of each case
_AT_ONCE = 1 << 19
_FAR = 5.0  # standard errors of an area that is no accident
_USUAL = 1.96


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """False alarms against findings, from (0, 0) to (1, 1)."""

    false_rates: Reals
    true_rates: Reals

    @property
    def area(self) -> float:
        """How often a profile with the item is ranked above one without it; equal counts half."""
        return min(1.0, float(np.trapezoid(self.true_rates, self.false_rates)))

    @property
    def guess(self) -> float:
        """How often who was undecided is right, at the threshold that is best for it."""
        return 0.5 + float((self.true_rates - self.false_rates).max()) / 2

    def at(self, false_rates: Reals) -> Reals:
        """Findings at these rates of false alarms."""
        return np.interp(false_rates, self.false_rates, self.true_rates)


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A simulated attack: its curve, the area with a 95 % interval, and its runs of each case."""

    curve: Curve
    area: float
    spread: float
    runs: int

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return max(0.0, self.area - _USUAL * self.spread)

    @property
    def high(self) -> float:
        """The upper end of the interval."""
        return min(1.0, self.area + _USUAL * self.spread)


@dataclass(frozen=True, eq=False)  # no slots: cached properties need a dictionary
class ItemAttack:
    """All that an attacker can make of so many releases about one item of one weight.

    >>> from reticent.data.catalogue import Catalogue
    >>> from reticent.mechanisms.multilevel_plan import plan_histogram
    >>> films = Catalogue.of([[1, 1], [0, 1]], attributes=("Crime", "Drama"), items=("Heat", "Up"))
    >>> plan = plan_histogram(films, budgets={"Drama": 1}, epsilon=1, weighted=True)
    >>> found = attack_item(HistogramTerms(plan), "Up")
    >>> round(found.best.area, 3), round(found.ceiling.area, 3), found.certain
    (0.724, 0.731, True)
    """

    item: str
    weight: Fraction
    releases: int
    moved: tuple[int, ...]
    rates: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        count = isinstance(self.releases, int) and 1 <= self.releases <= MOST_RELEASES
        require(count, "releases", self.releases, f"from 1 to {MOST_RELEASES}")

    @property
    def certain(self) -> bool:
        """Whether the histogram without noise tells for certain if the item is there."""
        return any(self.moved)

    @property
    def loss(self) -> Fraction:
        """What all releases together lose about the item, exactly."""
        pairs = zip(self.moved, self.rates, strict=True)
        return self.releases * sum((s * rate for s, rate in pairs), Fraction(0))

    @property
    def ceiling(self) -> Curve:
        """The promise: no test, however made, has a curve above this one."""
        return ceiling(float(self.loss))

    @cached_property
    def best(self) -> Curve:
        """The curve of the best test, from above and to many digits. Theorem 2."""
        loss = float(self.loss)
        if not loss:
            return ceiling(0.0)
        width = loss / GRID
        laws = [
            _loss_law(s, float(rate), width)
            for s, rate in zip(self.moved, self.rates, strict=True)
            if s
        ]
        # No sum of rounded losses reaches further than this, so nothing wraps around.
        reach = self.releases * sum(len(law) // 2 for law in laws)
        length = 1 << (2 * reach + 1).bit_length()
        together = np.ones(length // 2 + 1, dtype=np.complex128)
        for law in laws:
            placed = np.zeros(length)
            half = len(law) // 2
            placed[: half + 1], placed[length - half :] = law[half:], law[:half]
            together *= np.fft.rfft(placed)
        drawn = np.fft.irfft(together**self.releases, length)
        without = np.clip(np.concatenate([drawn[length - reach :], drawn[: reach + 1]]), 0.0, None)
        return _capped(_ranked(without, without[::-1]), self.ceiling)

    def run(self, source: Source, *, noise: Noise | None = None, runs: int | None = None) -> Run:
        """The best test, tried on made-up releases with and without the item.

        ``noise`` is for controls: noise that is not what the terms promise.
        """
        rates = [rate for s, rate in zip(self.moved, self.rates, strict=True) if s]
        moved = np.array([s for s in self.moved if s], dtype=np.int64)
        numbers = max(1, len(rates)) * self.releases
        runs = min(_MOST, max(_FEWEST, _DRAWS // numbers)) if runs is None else runs
        draw = _drawn if noise is None else noise
        scores = [np.zeros(runs), np.zeros(runs)]
        if rates:
            at_once = max(1, _AT_ONCE // numbers)
            for held, told in enumerate(scores):
                for start in range(0, runs, at_once):
                    part = told[start : start + at_once]
                    shape = part.size, self.releases, len(rates)
                    seen = draw([1 / rate for rate in rates], shape, source) + held * moved
                    gain = (np.abs(seen) - np.abs(seen - moved)).sum(axis=1)
                    part[:] = gain @ np.array([float(rate) for rate in rates])
        return _measured(*scores)

    def alarms(self, run: Run) -> tuple[str, ...]:
        """Ways in which a simulated attack does better than any can, and no accident. Theorem 3."""
        reach = math.sqrt(math.log(2 / FALSE_ALARM) / (2 * run.runs))
        most = self.ceiling.at(np.minimum(run.curve.false_rates + reach, 1.0))
        found = []
        if bool((run.curve.true_rates - reach > most).any()):
            found.append("the curve is above the promised ceiling")
        rare = math.log(1 / FALSE_ALARM) / run.runs  # where hardly any pair is ranked wrongly
        if run.area - _FAR * run.spread - rare > self.best.area:
            found.append("the area is above that of the best possible test")
        return tuple(found)


def attack_item(
    terms: HistogramTerms, item: str, *, weight: Fraction = Fraction(1), releases: int = 1
) -> ItemAttack:
    """The attack on one item of a person who allows all of the terms, but for its weight."""
    mechanism = terms.plan.mechanism
    catalogue = mechanism.catalogue
    assert catalogue is not None  # noqa: S101, HistogramTerms requires one
    require(item in catalogue.places, "item", item, "an item of the catalogue")
    require(0 <= weight <= 1, "weight", str(weight), "from 0 to 1")
    held = np.zeros(len(catalogue), dtype=np.int64)
    held[catalogue.places[item]] = 1
    weights = np.full(len(catalogue), math.floor(weight * FULL), dtype=np.int64)
    factors = np.full(len(mechanism.rates), FULL, dtype=np.int64)
    moved = np.abs(terms.stretched(held, Allowance(weights, factors, 0)))
    rates = tuple(Fraction(rate) for rate in mechanism.rates)
    return ItemAttack(item, weight, releases, tuple(moved.tolist()), rates)


def most_exposed(terms: HistogramTerms, most: int = 1) -> list[str]:
    """Items that lose most on these terms, first the one that loses most."""
    mechanism = terms.plan.mechanism
    catalogue = mechanism.catalogue
    assert catalogue is not None  # noqa: S101, HistogramTerms requires one
    rates = np.array([float(Fraction(rate)) for rate in mechanism.rates])
    parts = np.abs(mechanism.exposure.entries(catalogue)) * rates[catalogue.columns]
    losses = np.bincount(catalogue.rows, weights=parts, minlength=len(catalogue))
    order = np.argsort(-losses, kind="stable")[:most]
    return [catalogue.items[place] for place in order.tolist()]


def ceiling(epsilon: float) -> Curve:
    """The most that pure differential privacy lets any test find. Theorem 2.

    >>> [round(float(t), 3) for t in ceiling(1.0).at(np.array([0.1, 0.5]))]
    [0.272, 0.816]
    """
    bend = 1 / (1 + math.exp(min(epsilon, 700.0)))
    return Curve(np.array([0.0, bend, 1.0]), np.array([0.0, 1 - bend, 1.0]))


def _drawn(scales: list[Fraction], shape: tuple[int, ...], source: Source) -> NDArray[np.int64]:
    return discrete_laplace(scale=scales, size=shape, source=source)


def _loss_law(moved: int, rate: float, width: float) -> Reals:
    """Chances of the loss of one attribute without the item, on multiples of ``width``.

    What lies between two multiples is shared among them so that its chances without and with the
    item stay what they are: that only helps the attacker. Theorem 2.
    """
    half = math.ceil(moved * rate / width * (1 - 1e-12))
    edges = np.arange(-half, half + 1) * width
    # The loss is at most l exactly when Z is at most (l / y + s) / 2, between its two ends.
    last = np.floor((edges / rate + moved) / 2 + 1e-9)
    inner = (last >= 0) & (last < moved)
    without = np.where(last < 0, 0.0, np.where(inner, _upto(last, rate), 1.0))
    within = np.where(last < 0, 0.0, np.where(inner, _upto(last - moved, rate), 1.0))
    cells, found = np.diff(without), np.diff(within)
    cells[0] += without[0]
    found[0] += within[0]
    up = (found * np.exp(-edges[:-1]) - cells) / math.expm1(width)
    up = np.clip(up, 0.0, cells)
    law = np.zeros(2 * half + 1)
    law[:-1] += cells - up
    law[1:] += up
    return law


def _upto(last: Reals, rate: float) -> Reals:
    """P[Z <= k] of discrete Laplace noise."""
    below = np.exp(np.minimum(last + 1, 0) * rate) / (1 + math.exp(-rate))
    above = np.exp(-(np.maximum(last, 0) + 1) * rate) / (1 + math.exp(-rate))
    return np.where(last < 0, below * math.exp(-rate), 1 - above)


def _ranked(without: Reals, within: Reals) -> Curve:
    """The curve of outcomes in rising order of likelihood ratio."""
    rates = [np.concatenate([[0.0], np.cumsum(law[::-1]) / law.sum()]) for law in (without, within)]
    return Curve(rates[0], rates[1])


def _capped(curve: Curve, most: Curve) -> Curve:
    """The lower of two curves that none is above."""
    x = np.union1d(curve.false_rates, most.false_rates)
    y = np.minimum(curve.at(x), most.at(x))
    return Curve(np.concatenate([[0.0], x]), np.concatenate([[0.0], y]))


def _measured(without: Reals, within: Reals) -> Run:
    """The curve of two samples of scores, its area and [DeLongEtAl1988]'s standard error of it."""
    runs = len(without)
    lower, upper = np.sort(without), np.sort(within)
    levels = np.unique(np.concatenate([lower, upper]))[::-1]
    rates = [1 - np.searchsorted(order, levels, side="left") / runs for order in (lower, upper)]
    found = _share_below(within, lower)
    missed = 1 - _share_below(without, upper)
    spread = math.sqrt(float(found.var(ddof=1) + missed.var(ddof=1)) / runs)
    x, y = (np.concatenate([[0.0], rate]) for rate in rates)
    return Run(Curve(x, y), float(found.mean()), spread, runs)


def _share_below(scores: Reals, order: Reals) -> Reals:
    """For each score the share of others below it, equal ones counting half."""
    low = np.searchsorted(order, scores, side="left")
    high = np.searchsorted(order, scores, side="right")
    return np.asarray((low + high) / (2 * len(order)))
