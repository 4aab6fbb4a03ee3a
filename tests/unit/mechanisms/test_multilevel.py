"""Exact verification of the multi-level mechanism: every tiny catalogue, profile and weight.

What is released is a vector of whole numbers plus independent discrete Laplace variables, so the
largest log-ratio of two profiles is sum_j |difference_j| / scale_j, reached in the tails; with one
attribute alone it is that attribute's term. Scales are those that a release really asked for.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, permutations, product
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from reticent.amounts import nano_up
from reticent.data.catalogue import Catalogue
from reticent.errors import ParameterError
from reticent.guarantees import ITEM, ITEM_SUBSTITUTE, Event, MultiLevelDP, Spread, Unit
from reticent.mechanisms import Exposure, MultiLevel, Release, WeightedProfile, rebuild
from reticent.mechanisms import exposure as exposure_module
from reticent.noise import Source, discrete_laplace
from reticent.testing import (
    Pair,
    RecordingSource,
    check_mechanism,
    discrete_laplace_law,
    discrete_laplace_pmf,
    replay_poison,
    verify_law,
)
from reticent.testing.contract_checks import CHECKS

RATES = (Fraction(1, 3), Fraction(2, 7))
UNITS = pytest.mark.parametrize("unit", [ITEM, ITEM_SUBSTITUTE], ids=lambda u: u.relation)
Differences = Iterator[tuple[object, np.ndarray]]


def made(
    films: Catalogue, rates: tuple[Any, ...] = RATES, *, unit: Unit = ITEM, weighted: bool = False
) -> MultiLevel:
    return MultiLevel(Exposure.of(films, unit=unit, weighted=weighted), rates, catalogue=films)


def scales_drawn(mechanism: MultiLevel) -> list[Fraction]:
    """Of the noise on each attribute, in steps, as a release asks for it."""
    source = RecordingSource(seed=3)
    mechanism.release(np.zeros(len(mechanism.catalogue or ())), source)
    (call,) = source.calls
    assert call.primitive == "discrete_laplace"
    return [Fraction(scale) for scale in call.arguments["scale"]]


@dataclass
class Losses:
    """Worst losses by what was changed: overall, and on each attribute alone."""

    overall: dict[object, Fraction]
    alone: dict[object, list[Fraction]]

    @property
    def worst(self) -> Fraction:
        return max(self.overall.values())

    @property
    def worst_alone(self) -> tuple[Fraction, ...]:
        return tuple(map(max, zip(*self.alone.values(), strict=True)))


def losses(mechanism: MultiLevel, differences: Differences) -> Losses:
    scales = scales_drawn(mechanism)
    found = Losses({}, {})
    for unit, moved in differences:
        terms = [abs(int(d)) / scale for d, scale in zip(moved, scales, strict=True)]
        found.overall[unit] = max(found.overall.get(unit, Fraction(0)), sum(terms, Fraction(0)))
        before = found.alone.get(unit, [Fraction(0)] * len(terms))
        found.alone[unit] = list(map(max, before, terms))
    return found


def zero_one_differences(mechanism: MultiLevel) -> Differences:
    """Over all profiles of zeros and ones and all neighbours of each."""
    items = len(mechanism.catalogue or ())
    profiles = list(product((0, 1), repeat=items))
    known = {profile: mechanism.histogram(profile) for profile in profiles}
    for profile in profiles:
        for i, unit in neighbours(profile, mechanism.exposure.unit):
            other = tuple(1 - d if k in i else d for k, d in enumerate(profile))
            yield unit, known[profile] - known[other]


def neighbours(profile: tuple[int, ...], unit: Unit) -> Iterator[tuple[set[int], object]]:
    if unit == ITEM:
        yield from (({i}, i) for i in range(len(profile)))
    else:
        for i, other in permutations(range(len(profile)), 2):
            if profile[i] > profile[other]:
                yield {i, other}, (i, other)


def tiny_catalogues(unit: Unit) -> Iterator[Catalogue]:
    """All of 2 items with signed and fractional values, and all of 3 items with zeros and ones."""
    tables = [
        *product(product((-1, 0, 0.5, 2), repeat=2), repeat=2),
        *product(product((0, 1), repeat=2), repeat=3),
    ]
    for table in tables:
        changing = np.ptp(table, axis=0) if unit == ITEM_SUBSTITUTE else 1
        if (np.abs(table).max(axis=0) * changing).all():
            yield Catalogue.of(table)


@UNITS
def test_theorem_1_every_loss_is_exactly_the_worst_case(unit: Unit) -> None:
    count = 0
    for films in tiny_catalogues(unit):
        count += 1
        mechanism = made(films, unit=unit)
        found = losses(mechanism, zero_one_differences(mechanism))
        assert found.worst == mechanism.exposure.overall(RATES)
        assert found.worst_alone == mechanism.exposure.alone(RATES)
        promised = mechanism.guarantee()
        assert promised.overall == nano_up(found.worst)
        for name, loss in zip(films.attributes, found.worst_alone, strict=True):
            assert promised.attributes[name] == nano_up(loss)
        if unit == ITEM:  # per item: sum_j |a_ij| y_j / step_j
            for i, row in enumerate(films.dense()):
                own = sum((abs(int(a)) * y for a, y in zip(row, RATES, strict=True)), Fraction(0))
                assert found.overall[i] == own
    assert count > 150


SIGNED = Catalogue.of([[1, -0.5], [0, 0.25], [1, 0]])


def joint_law(mechanism: MultiLevel, only: int | None = None) -> Callable[[Any], dict[Any, Any]]:
    """The exact law of a release, or of one attribute of it, on cells between small cuts."""
    scales = scales_drawn(mechanism)

    def law(profile: tuple[int, ...]) -> dict[Any, Any]:
        counts = mechanism.histogram(profile)
        laws = [
            discrete_laplace_law(scale, around=int(count), cuts=range(-4, 6))
            for j, (scale, count) in enumerate(zip(scales, counts, strict=True))
            if only in (None, j)
        ]
        return {
            tuple(cell for cell, _ in cells): math.prod((p for _, p in cells), start=Fraction(1))
            for cells in product(*(one.items() for one in laws))
        }

    return law


def item_pairs(items: int) -> Iterator[Pair[tuple[int, ...]]]:
    for profile in product((0, 1), repeat=items):
        for i in range(items):
            if not profile[i]:
                yield Pair(profile, (*profile[:i], 1, *profile[i + 1 :]))


@pytest.mark.parametrize("only", [None, 0, 1])
def test_theorem_1_by_the_exact_law_of_the_noise(only: int | None) -> None:
    mechanism = made(SIGNED)
    exposure = mechanism.exposure
    claim = exposure.overall(RATES) if only is None else exposure.alone(RATES)[only]
    law = joint_law(mechanism, only)
    assert verify_law(law, item_pairs(3), claim=claim).holds
    slightly_less = claim - Fraction(1, 10**9)  # the control: the claim is the supremum
    assert not verify_law(law, item_pairs(3), claim=slightly_less).holds


# Weights

VALUES = (0.0, 0.5, 1.0)
WEIGHTS = (0.0, 0.25, 629_145 / 2**20, 1.0)  # on the grid, so that no slack hides an excess
ENTRIES = tuple(product(VALUES, WEIGHTS))
WEIGHTED = {
    "zeros and ones": Catalogue.of([[1, 1], [0, 1], [1, 0]]),
    "signed and fractional": Catalogue.of([[1, -0.5], [0, 0.3], [-2, 0.1]]),
    "one attribute each": Catalogue.of([[3, 0], [0, 7], [1, 0]]),
    "full mantissas": Catalogue.of([[-0.7, 0.3], [0.1, -0.9], [-0.65, -0.2]]),
    "one item without any": Catalogue.of([[1, 2], [0, 0], [0.1, 2]]),
}


@cache
def weighted_profiles(items: int) -> list[WeightedProfile]:
    return [
        WeightedProfile.of([x for x, _ in profile], [v for _, v in profile])
        for profile in product(ENTRIES, repeat=items)
    ]


def weighted_differences(mechanism: MultiLevel) -> Differences:
    """Over all profiles and weights, by item and the weights before and after, the worst moves.

    A histogram is a vector, so every pair whose move nothing else exceeds is given.
    """
    items = len(mechanism.catalogue or ())
    shape = (len(ENTRIES),) * items
    table = np.array([mechanism.histogram(profile) for profile in weighted_profiles(items)])
    table = table.reshape(*shape, -1)
    for i in range(items):
        own = np.moveaxis(table, i, 0).reshape(len(ENTRIES), -1, table.shape[-1])
        for a, b in combinations_with_replacement(range(len(ENTRIES)), 2):
            moved = np.unique(np.abs(own[a] - own[b]), axis=0)
            for row in moved:
                yield (i, *sorted((ENTRIES[a][1], ENTRIES[b][1]))), row


@cache
def honest(name: str) -> tuple[MultiLevel, Losses]:
    mechanism = made(WEIGHTED[name], weighted=True)
    return mechanism, losses(mechanism, weighted_differences(mechanism))


def broken_weights(mechanism: MultiLevel, found: Losses, claimed: Exposure) -> set[object]:
    """Items and weights (before, after) that lose more than the larger weight times the claim."""
    rates = tuple(Fraction(rate) for rate in mechanism.rates)
    overall, alone = claimed.overall(rates), claimed.alone(rates)
    broken: set[object] = set()
    for unit, loss in found.overall.items():
        weight = Fraction(unit[2])  # type: ignore[index]
        within = all(a <= weight * t for a, t in zip(found.alone[unit], alone, strict=True))
        if loss > weight * overall or not within:
            broken.add(unit)
    return broken


@pytest.mark.parametrize("name", WEIGHTED)
def test_theorem_2_items_and_weights_lose_at_most_the_larger_weight(name: str) -> None:
    mechanism, found = honest(name)
    assert broken_weights(mechanism, found, mechanism.exposure) == set()


@pytest.mark.parametrize("name", WEIGHTED)
def test_theorem_2_is_tight_and_weight_0_is_absolute(name: str) -> None:
    mechanism, found = honest(name)
    overall = mechanism.exposure.overall(RATES)
    for weight in WEIGHTS:
        worst = max(found.overall[i, weight, weight] for i in range(3))
        assert worst >= Fraction(weight) * overall * Fraction(99_999, 100_000)
    assert all(found.overall[i, 0.0, 0.0] == 0 for i in range(3))


def test_a_zero_one_profile_of_full_weight_is_counted_in_full() -> None:
    for films in WEIGHTED.values():
        plain, weighted = made(films), made(films, weighted=True)
        for profile in product((0, 1), repeat=3):
            exact = plain.histogram(profile) * np.array([float(s) for s in plain.exposure.steps])
            steps = np.array([float(s) for s in weighted.exposure.steps])
            assert (weighted.histogram(profile) * steps == exact).all()


def test_lemma_4_room_is_never_more_than_exact_arithmetic_allows() -> None:
    rng = np.random.default_rng(8)
    for _ in range(40):
        table = rng.integers(-3, 4, (12, 4)) * rng.choice([1, 0.3], 4)
        table[0] = 1
        films = Catalogue.of(table)
        rates = tuple(Fraction(int(k), 997) for k in rng.integers(1, 900, 4))
        mechanism = made(films, rates, weighted=True)
        finer = [a / b for a, b in zip(films.steps, mechanism.exposure.steps, strict=True)]
        rows = [[abs(int(a)) * f for a, f in zip(row, finer, strict=True)] for row in films.dense()]
        overall = mechanism.exposure.overall(rates)
        largest = [int(c) for c in mechanism.exposure.largest]
        for row, room in zip(rows, mechanism.room.tolist(), strict=True):
            loss = sum((a * y for a, y in zip(row, rates, strict=True)), Fraction(0))
            if not loss:
                continue
            allowed = min(overall / loss, *(c / a for a, c in zip(row, largest, strict=True) if a))
            assert allowed >= 1
            assert room <= allowed * 2**20
            assert room >= min(allowed, 2**20) * 2**20 * (1 - Fraction(1, 2**39)) - 1


# Planted faults, each with its honest twin


class Thin(MultiLevel):
    """Noise 2 % too small, whatever is promised."""

    def release(self, data: Any, source: Source) -> Release[Any]:
        scales = [Fraction(98, 100) / Fraction(rate) for rate in self.rates]
        units = self.histogram(data) + discrete_laplace(scale=scales, source=source)
        return Release.by(self, units * self._steps, source)


class Unweighted(MultiLevel):
    """Ignores weights."""

    def parts(self, data: Any) -> np.ndarray:
        if isinstance(data, WeightedProfile):
            data = WeightedProfile(data.values, np.full_like(data.weights, 1 << 20))
        return MultiLevel.parts(self, data)


class Roomy(MultiLevel):
    """Lets every item count 2 % more than Lemma 4 allows."""

    @property
    def room(self) -> np.ndarray:  # type: ignore[override]
        return MultiLevel.room.func(self) * 102 // 100  # type: ignore[attr-defined]


def test_control_noise_two_per_cent_too_small_is_caught() -> None:
    for kind, caught in ((MultiLevel, False), (Thin, True)):
        mechanism = kind(Exposure.of(SIGNED), RATES, catalogue=SIGNED)
        found = losses(mechanism, zero_one_differences(mechanism))
        assert (found.worst > mechanism.exposure.overall(RATES)) is caught
        assert (found.worst_alone > mechanism.exposure.alone(RATES)) is caught


@pytest.mark.parametrize("kind", [Unweighted, Roomy])
@pytest.mark.parametrize("name", WEIGHTED)
def test_control_ignored_or_stretched_weights_are_caught(kind: Any, name: str) -> None:
    films = WEIGHTED[name]
    mechanism = kind(Exposure.of(films, weighted=True), RATES, catalogue=films)
    found = losses(mechanism, weighted_differences(mechanism))
    assert broken_weights(mechanism, found, mechanism.exposure)


def test_control_sensitivity_two_per_cent_low_is_caught() -> None:
    for name in WEIGHTED:
        mechanism, found = honest(name)
        low = replace(mechanism.exposure, rows=mechanism.exposure.rows * 98 // 100)
        assert broken_weights(mechanism, found, low)
        assert not broken_weights(mechanism, found, mechanism.exposure)
        with pytest.raises(ParameterError, match="^catalogue must be the one"):
            replace(mechanism, exposure=low)  # and such a mechanism cannot be made


def test_control_a_dropped_maximal_row_is_caught() -> None:
    films = Catalogue.of([[1, 1, 0], [1, 0, 1], [0, 1, 1]])
    rates = (Fraction(1), Fraction(1, 2), Fraction(1, 4))
    for dropped in (None, 0):
        rows = np.abs(films.dense())
        rows = rows if dropped is None else np.delete(rows, dropped, axis=0)
        with patch.object(exposure_module, "maximal_rows", lambda _, rows=rows: rows):
            mechanism = made(films, rates)
        found = losses(mechanism, zero_one_differences(mechanism))
        understated = nano_up(found.worst) > mechanism.guarantee().overall
        assert understated is (dropped is not None)


# What is released


def test_what_is_released_is_the_histogram_plus_the_noise() -> None:
    mechanism = made(SIGNED)
    released = mechanism.release([1, 1, 0], Source.seeded(9)).value
    noise = discrete_laplace(scale=[1 / y for y in RATES], source=Source.seeded(9))
    assert released.tolist() == ((noise + np.array([1, -1])) * [1, 0.25]).tolist()


@pytest.mark.parametrize("whole", [[[1, 0], [1, 1]], [[6, 10], [9, 0]], [[-4, 3], [2, 5]]])
def test_whole_numbers_stay_whole_multiples_of_the_step(whole: list[list[int]]) -> None:
    films = Catalogue.of(whole)
    mechanism = made(films)
    steps = [math.gcd(*column) for column in zip(*whole, strict=True)]
    assert mechanism.exposure.steps == tuple(steps)
    for seed in range(50):
        released = mechanism.release([1, 1], Source.seeded(seed)).value
        assert (released % steps == 0).all()


def test_noise_has_the_scale_of_the_attribute_in_its_own_unit() -> None:
    mechanism = made(Catalogue.of([[6, 0.5], [9, 0]]))
    assert mechanism.scales == (3 / RATES[0], Fraction(1, 2) / RATES[1])


def test_what_is_no_number_counts_as_nothing_and_reveals_nothing() -> None:
    for weighted in (False, True):
        mechanism = made(SIGNED, weighted=weighted)
        nothing = mechanism.histogram([0, 0, 1]).tolist()
        for odd in (None, "seven", math.nan, object(), [1]):
            assert mechanism.histogram([odd, 0, 1]).tolist() == nothing
        assert (
            mechanism.histogram([1e308, -5, "1"]).tolist()
            == mechanism.histogram([1, 0, 1]).tolist()
        )
        assert replay_poison(mechanism.release, [1, 0, 1]).same


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("wrong", [[], [48611] * 2, [48611] * 4, 48611, [[48611]] * 3])
def test_a_wrong_length_is_refused_and_no_value_is_shown(wrong: object, weighted: bool) -> None:
    mechanism = made(SIGNED, weighted=weighted)
    if wrong == [[48611]] * 3:  # three things that are no numbers
        assert mechanism.histogram(wrong).tolist() == [0, 0]  # type: ignore[arg-type]
        return
    with pytest.raises(ParameterError, match="^data must be a vector of length 3") as caught:
        mechanism.release(wrong, Source.seeded(1))  # type: ignore[arg-type]
    assert "48611" not in str(caught.value)


def test_weights_of_a_wrong_length_are_refused() -> None:
    profile = WeightedProfile.of([1], [1])
    with pytest.raises(ParameterError, match="^data must be 3 items, got '1 items'"):
        made(SIGNED, weighted=True).release(profile, Source.seeded(1))


def test_weights_need_a_weighted_mechanism() -> None:
    profile = WeightedProfile.of([1, 1, 1], [1, 0, 1])
    with pytest.raises(ParameterError, match="^data must be without weights"):
        made(SIGNED).release(profile, Source.seeded(1))
    with pytest.raises(ParameterError, match="^weights must be given to a weighted mechanism"):
        made(SIGNED).guarantee_for({"0": 0.5}, default=1)


def test_weight_0_releases_the_same_bits() -> None:
    mechanism = made(SIGNED, weighted=True)
    profiles = [WeightedProfile.of([x, 1, 0.5], [0, 1, 0.3]) for x in VALUES]
    released = {tuple(mechanism.release(p, Source.seeded(4)).value) for p in profiles}
    assert len(released) == 1


# Theorem 5


@pytest.mark.parametrize("rate", ["1/1000", "1/7", "1", "3", "40"])
def test_theorem_5_errors_are_those_of_the_law(rate: str) -> None:
    mechanism = made(Catalogue.of([[3, 0.5]]), (Fraction(rate), Fraction(rate)))
    k = np.arange(60_000)
    pmf = discrete_laplace_pmf(1 / Fraction(rate))(k) * np.where(k > 0, 2, 1)
    step = np.array([3.0, 0.5])
    assert mechanism.mean_absolute_errors() == pytest.approx(step * (pmf @ k), rel=1e-9)
    assert mechanism.mean_squared_errors() == pytest.approx(step**2 * (pmf @ k**2.0), rel=1e-9)
    within = int(np.flatnonzero(np.cumsum(pmf) >= 0.95)[0])
    assert mechanism.within_95().tolist() == (within * step).tolist()
    utility = mechanism.utility()
    assert utility.mean_absolute_error == pytest.approx(mechanism.mean_absolute_errors().mean())
    assert utility.within_95 == within * 3


def test_utility_names_the_best_and_the_worst_attribute() -> None:
    films = Catalogue.of([[1, 1]], attributes=("Crime", "Drama"))
    assert made(films, (1, 1)).utility().sentence == (
        "within 3 of the true number, 95 times in 100"
    )
    sentence = made(films, (Fraction(1, 10), 1)).utility().sentence
    assert "from 3 (Drama) to 30 (Crime)" in sentence


def test_bias_is_stated_for_weighted_releases() -> None:
    assert made(SIGNED).utility().bias == "none"
    assert "count for less" in (made(SIGNED, weighted=True).utility().bias or "")


# The mechanism as a value


def test_guarantee_for_the_owner_is_the_weight_times_the_overall_loss() -> None:
    mechanism = made(Catalogue.of([[1, 1], [0, 1]]), ("0.1", "0.3"), weighted=True)
    loss = mechanism.guarantee_for({"0": 0.5, "1": 0}, default=1)
    per_step = mechanism.exposure.overall(mechanism.rates)  # type: ignore[arg-type]
    assert loss.items["0"] == nano_up(per_step / 2)
    assert loss.items["1"] == 0
    assert loss.items["anything else"] == loss.overall == nano_up(per_step)
    assert loss.attributes == mechanism.guarantee().attributes


def test_attributes_that_are_not_released_lose_nothing() -> None:
    promised = made(Catalogue.of([[1, 1]], attributes=("x", "y")), ("0.1", "0.3")).guarantee()
    assert promised == MultiLevelDP(
        Spread(400_000_000), Spread(0, {"x": 100_000_000, "y": 300_000_000})
    )
    assert promised.attributes["z"] == 0


def test_numbers_worked_on_together_may_each_tell_as_much_as_all() -> None:
    mechanism = made(Catalogue.of([[1, 1]], attributes=("x", "y")), ("0.1", "0.3"))
    together = replace(mechanism, together=True)
    assert together.guarantee() == MultiLevelDP(
        Spread(400_000_000), Spread(0, {"x": 400_000_000, "y": 400_000_000})
    )
    assert together != mechanism
    assert rebuild(together.event(Source.seeded(1))) == together
    with pytest.raises(ParameterError, match="^together must be true or false"):
        replace(mechanism, together="yes")  # type: ignore[arg-type]


def test_after_post_processing_one_number_may_break_the_claim_for_one_alone() -> None:
    """Whether both numbers are low, put in the place of either, tells more than either did."""
    rates = (Fraction(1, 2), Fraction(1, 2))
    mechanism = made(Catalogue.of([[1, 1], [0, 1]]), rates)
    law = joint_law(mechanism)

    def mixed(profile: tuple[int, ...]) -> dict[Any, Any]:
        cells = law(profile)
        low = cells["below -4", "below -4"]
        return {"both low": low, "other": 1 - low}

    one = verify_law(mixed, item_pairs(2), claim=mechanism.exposure.alone(rates)[0])
    assert not one.holds, one.explain()
    both = verify_law(mixed, item_pairs(2), claim=mechanism.exposure.overall(rates))
    assert both.holds, both.explain()


@UNITS
def test_the_unit_is_that_of_the_exposure(unit: Unit) -> None:
    mechanism = made(Catalogue.of([[1, 0], [0, 1]]), unit=unit)
    assert mechanism.guarantee().unit == unit
    assert str(unit) in mechanism.how().sensitivity


@pytest.mark.parametrize("weighted", [False, True])
def test_the_contract_is_kept(weighted: bool) -> None:
    films = Catalogue.of([[1, 1], [0, 1], [1, 0]])
    mechanism = made(films, (Fraction(1, 4), Fraction(1, 4)), weighted=weighted)
    step = mechanism.exposure.steps[0]
    ran = check_mechanism(
        mechanism, data=[1, 0, 1], neighbour=[0, 0, 1], sensitivity=2 / step, step=step
    )
    assert len(ran) == len(CHECKS)


@UNITS
def test_the_contract_is_kept_with_rates_and_steps_that_differ(unit: Unit) -> None:
    neighbour = [0, 1, 1] if unit == ITEM_SUBSTITUTE else [0, 0, 1]
    assert check_mechanism(made(SIGNED, unit=unit), data=[1, 0, 1], neighbour=neighbour)


def test_a_mechanism_is_rebuilt_from_its_event_and_can_be_given_the_catalogue_again() -> None:
    mechanism = made(SIGNED, weighted=True)
    event = Event.from_json(mechanism.event(Source.seeded(1)).to_json())
    again = rebuild(event)
    assert isinstance(again, MultiLevel)
    assert again == mechanism
    assert again.guarantee() == mechanism.guarantee()
    with pytest.raises(ParameterError, match="^catalogue must be given before"):
        again.release([1, 0, 1], Source.seeded(1))
    released = replace(again, catalogue=SIGNED).release([1, 0, 1], Source.seeded(1)).value
    assert released.tolist() == mechanism.release([1, 0, 1], Source.seeded(1)).value.tolist()


def test_another_catalogue_is_refused() -> None:
    """The promise rests on the rows: a catalogue with larger ones would break it."""
    for other in ([[2, -0.5], [0, 0.25], [1, 0]], [[1, -0.5], [0, 0.25], [1, 1]]):
        with pytest.raises(ParameterError, match="^catalogue must be the one"):
            replace(made(SIGNED), catalogue=Catalogue.of(other))


@pytest.mark.parametrize(
    "rates",
    [(1,), (1, 1, 1), (1, 0), (1, -1), (1, math.nan), (1, 2**-51), (1, "x"), (1, 10**7), (1, None)],
)
def test_bad_rates_are_refused(rates: tuple[Any, ...]) -> None:
    with pytest.raises(ParameterError, match="^rates must be"):
        made(SIGNED, rates)


def test_the_card_says_what_is_public() -> None:
    mechanism = made(SIGNED)
    assert any("catalogue is public" in line for line in mechanism.evidence().assumptions)
    assert "whole numbers" in mechanism.how().floating_point
