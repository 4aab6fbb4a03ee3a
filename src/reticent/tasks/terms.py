"""Releases on a provider's public terms: preferences act on the data, never on the noise.

Theory    docs/theory/terms.md, Theorem 1 (losses), Theorem 2 (preferences do not show),
          Theorem 3 (similarity), Theorem 4 (profiles), Theorem 5 (any map over items);
          [AlagganEtAl2016] for the stretching
Notation  y_j = rate of attribute j in the terms' plan, F_j = factor of attribute j for one person,
          v_i = weight of item i; factors and weights in units of 2**-20
Not here  who may ask, accounts and answers (gateway/), how the noise is planned (mechanisms/).

What a provider sees of a person must not tell what that person allows. So the noise is fixed by
terms that the provider has published, for everybody alike, and a person who allows less counts for
less: their items and attributes are stretched towards zero, as far as to nothing. Every request is
answered in the same form. Whoever allows nothing, or has nothing left, is released as noise alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.amounts import nano_up
from reticent.data.profiles import Profiles
from reticent.errors import require
from reticent.mechanisms.mapping_rows import WHOLE
from reticent.mechanisms.modular import WEIGHT_BITS
from reticent.mechanisms.multilevel_plan import HistogramPlan
from reticent.noise import Source, discrete_laplace
from reticent.preferences import Preferences
from reticent.tasks.leakage import secret_bits
from reticent.tasks.recoding import Recoding
from reticent.tasks.similarity import Similarity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Whole = NDArray[np.int64]

FULL = 1 << WEIGHT_BITS
NEGLIGIBLE = Fraction(1, 10**9)  # bits: what solvers leave of nothing at all
_UNNAMED = "\0"  # an item that no file can name: what all others weigh


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Allowance:
    """What one person lets one release lose, on the terms of one provider.

    ``weights`` of all items of the catalogue, ``factors`` of the attributes, ``nano`` what an item
    of weight 1 loses to who sees all of it, ``alone`` the same for one attribute.
    """

    weights: Whole
    factors: Whole
    nano: int
    alone: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)  # no slots: cached properties need a dictionary
class HistogramTerms:
    """An attribute histogram with the noise of a public plan, whatever a person allows.

    >>> from reticent.data.catalogue import Catalogue
    >>> from reticent.mechanisms.multilevel_plan import plan_histogram
    >>> films = Catalogue.of([[1, 1], [0, 1]], attributes=("Crime", "Drama"), items=("Heat", "Up"))
    >>> terms = HistogramTerms(
    ...     plan_histogram(films, budgets={"Crime": 1, "Drama": 1}, epsilon=1, weighted=True)
    ... )
    >>> ann = Preferences.parse('''
    ... version = 1
    ... attributes = {Drama = 0.25}
    ... providers = {"club.example" = {epsilon = 0.2}}
    ... ''')
    >>> allowed = terms.allowance(ann, "club.example")
    >>> (allowed.factors / FULL).round(3).tolist(), allowed.nano <= 200_000_000
    ([0.0, 0.4], True)
    """

    plan: HistogramPlan

    def __post_init__(self) -> None:
        exposure = self.plan.mechanism.exposure
        require(exposure.weighted, "plan", "without weights", "weighted: anybody may use weights")
        require(self.plan.mechanism.catalogue is not None, "plan", "bare", "with its catalogue")

    @cached_property
    def _entries(self) -> tuple[Whole, Whole, Whole, Whole]:
        """Row, column, size and sign of each value of the catalogue, in steps."""
        catalogue = self.plan.mechanism.catalogue
        assert catalogue is not None  # noqa: S101, see __post_init__
        units = self.plan.mechanism.exposure.entries(catalogue)
        return catalogue.rows, catalogue.columns, np.abs(units), np.sign(units)

    @cached_property
    def _noise(self) -> tuple[tuple[Fraction, ...], NDArray[np.float64]]:
        mechanism = self.plan.mechanism
        scales = tuple(1 / Fraction(rate) for rate in mechanism.rates)
        return scales, np.array([float(step) for step in mechanism.exposure.steps])

    def allowance(self, preferences: Preferences, provider: str) -> Allowance:
        """How far a person's preferences stretch their data. Theorem 1."""
        mechanism, exposure = self.plan.mechanism, self.plan.mechanism.exposure
        rates = tuple(Fraction(rate) for rate in mechanism.rates)
        granted = preferences.providers.get(provider)
        shares = [Fraction(0)] * len(rates)
        if granted is not None:
            wanted = [preferences.wishes.budget(name, provider) for name in exposure.attributes]
            alone = exposure.alone(rates)
            shares = [
                Fraction(0) if most is None else min(Fraction(1), most / full)
                for most, full in zip(wanted, alone, strict=True)
            ]
            lost = exposure.overall(_times(shares, rates))
            if lost > granted.epsilon:
                shares = [share * granted.epsilon / lost for share in shares]
        factors = [math.floor(share * FULL) for share in shares]
        kept = _times([Fraction(factor, FULL) for factor in factors], rates)
        assert mechanism.catalogue is not None  # noqa: S101, see __post_init__
        return Allowance(
            item_weights(preferences, provider, mechanism.catalogue.places),
            np.array(factors, dtype=np.int64),
            nano_up(exposure.overall(kept)),
            tuple(map(nano_up, exposure.alone(kept))),
        )

    def stretched(self, held: Whole, allowance: Allowance) -> Whole:
        """The histogram of stretched items in steps, not for release; the work is always the same.

        Each item's part is rounded down by itself, so that no item changes what another adds.
        """
        rows, columns, sizes, signs = self._entries
        parts = ((held * allowance.weights)[rows] * allowance.factors[columns]) >> WEIGHT_BITS
        parts = signs * ((parts * sizes) >> WEIGHT_BITS)
        catalogue = self.plan.mechanism.catalogue
        assert catalogue is not None  # noqa: S101, see __post_init__
        sums = np.concatenate([[0], np.cumsum(parts)])
        return np.asarray(np.diff(sums[catalogue.starts]))

    def draw(
        self, held: Whole, allowance: Allowance, source: Source
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What is released, and the same noise alone; one of the two may leave. Theorem 2."""
        scales, steps = self._noise
        noise = discrete_laplace(scale=scales, source=source)
        return (self.stretched(held, allowance) + noise) * steps, noise * steps


@dataclass(frozen=True, slots=True)
class SimilarityTerms:
    """The similarity of two people with the noise of public terms, whatever either allows."""

    similarity: Similarity

    def __post_init__(self) -> None:
        private = self.similarity.norms != "public"
        require(private, "norms", self.similarity.norms, "private, or none: sizes are not public")

    def allowance(
        self, preferences: Preferences, provider: str, places: Mapping[str, int]
    ) -> Allowance:
        """How far a person's preferences stretch their items. Theorem 3."""
        asked, full = Fraction(self.similarity.epsilon), self.similarity.guarantee().overall
        return stretched_items(preferences, provider, places, epsilon=asked, full=full)

    def draw(
        self, first: tuple[Whole, Allowance], second: tuple[Whole, Allowance], source: Source
    ) -> tuple[float, float]:
        """What is released, and what two empty profiles would give; one of the two may leave."""
        rows = [(held * allowance.weights) for held, allowance in (first, second)]
        nothing = [np.zeros_like(row) for row in rows]
        told = (self.similarity.release(_pair(both), source).value for both in (rows, nothing))
        released, cover = told
        return released, cover


@dataclass(frozen=True, eq=False)  # no slots: cached properties need a dictionary
class ProfileTerms:
    """A profile through a mapping, or that of nobody in particular."""

    recoding: Recoding

    def __post_init__(self) -> None:
        rule = self.recoding.unknown
        require(rule == "nearest", "unknown", rule, "nearest: any other rule tells on people")

    def permitted(self, preferences: Preferences, provider: str) -> bool:
        """Whether a person lets this mapping release their profile. Theorem 4."""
        told = {name.casefold(): Fraction(bits) for name, bits in self.secrets.items()}
        released = {name.casefold() for name in self.recoding.columns}
        return provider in preferences.providers and all(
            secret.casefold() not in released
            and secret.casefold() in told
            and told[secret.casefold()] <= limit + NEGLIGIBLE
            for secret, limit in preferences.hide.items()
        )

    @cached_property
    def secrets(self) -> dict[str, float]:
        """Bits that the mapping tells about each secret that it hides."""
        return secret_bits(self.recoding)

    def unchanged(self, profile: Sequence[Any]) -> float:
        """The chance that a draw for the person is their own profile, cell by cell."""
        row = np.empty((1, len(profile)), dtype=object)
        row[0] = list(profile)
        place, mapping = int(self.recoding.places(row)[0]), self.recoding.mechanism
        own = slice(int(mapping.starts[place]), int(mapping.starts[place + 1]))
        cells = [str(cell) for cell in profile]
        return sum(
            int(part) / WHOLE
            for out, part in zip(mapping.outs[own], mapping.parts[own], strict=True)
            if [str(cell) for cell in self.recoding.profiles[out]] == cells
        )

    @cached_property
    def _cover(self) -> NDArray[np.float64]:
        return np.asarray(np.cumsum(self.recoding.mechanism.cover))

    def draw(
        self, profile: Sequence[Any], source: Source
    ) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """One draw for the person, and a profile drawn as often as it is released in all."""
        row = np.empty((1, len(profile)), dtype=object)
        row[0] = list(profile)
        own = int(self.recoding.places(row)[0])
        drawn = self.recoding.mechanism.release(own, source).value
        at = np.searchsorted(self._cover, source.bits(53) / 2**53 * self._cover[-1], side="right")
        other = min(int(at), len(self._cover) - 1)
        released, cover = (tuple(self.recoding.profiles[at].tolist()) for at in (drawn, other))
        return released, cover


def stretched_items(
    preferences: Preferences,
    provider: str,
    places: Mapping[str, int],
    *,
    epsilon: Fraction,
    full: int,
    graded: bool = True,
) -> Allowance:
    """How far preferences stretch a person's items on terms of ``epsilon``. Theorems 3 and 5.

    ``full`` is what an item of weight 1 loses on the terms in full, in nano-epsilon. Where a loss
    is not ``graded`` by weight, whatever does not count in full does not count.
    """
    granted = preferences.providers.get(provider)
    most = Fraction(0) if granted is None else granted.epsilon
    factor = math.floor(min(Fraction(1), most / epsilon) * FULL)
    weights = item_weights(preferences, provider, places)
    if not graded:
        factor, weights = factor // FULL * FULL, weights // FULL * FULL
    weights = (weights * factor) >> WEIGHT_BITS
    return Allowance(weights, np.array([factor]), -(-full * factor // FULL))


def item_weights(preferences: Preferences, provider: str, places: Mapping[str, int]) -> Whole:
    """Weights of all items of a catalogue for a provider, rounded down to 2**-20."""

    def units(item: str) -> int:
        return math.floor(preferences.weight(item, provider=provider) * FULL)

    found = np.full(len(places), units(_UNNAMED), dtype=np.int64)
    granted = preferences.providers.get(provider)
    named = {*preferences.wishes.items, *(() if granted is None else granted.items)}
    for item in named:
        if item in places:
            found[places[item]] = units(item)
    return found


def _times(shares: Sequence[Fraction], rates: Sequence[Fraction]) -> tuple[Fraction, ...]:
    return tuple(share * rate for share, rate in zip(shares, rates, strict=True))


def _pair(rows: Sequence[Whole]) -> Profiles:
    """Two people over a whole catalogue: items they lack have weight 0, and so count nothing."""
    size = len(rows[0])
    return Profiles(
        np.array([0, size, 2 * size]),
        np.tile(np.arange(size, dtype=np.int32), 2),
        np.concatenate(rows).astype(np.int32),
        ["0", "1"],
        list(map(str, range(size))),
    )
