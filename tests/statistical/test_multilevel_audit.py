"""The multi-level promises are audited on a catalogue of real size, through the code that releases.

Three observers: one who sees the whole histogram, against the overall claim; one who sees a single
attribute, against that attribute's claim; and one who sees two equal attributes, against whom the
claim for a single one does not hold and is not meant to (docs/theory/multilevel.md, "What one
attribute alone does not mean").
"""

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest

from reticent.data.catalogue import Catalogue
from reticent.data.synthetic import multi_hot_catalogue
from reticent.mechanisms import Exposure, MultiLevel, WeightedProfile
from reticent.mechanisms.multilevel_plan import HistogramPlan, plan_histogram
from reticent.noise import Source, discrete_laplace
from reticent.testing import Audit, audit_epsilon

SAMPLES = 1_500_000
EPSILON = Fraction(2)
GENRES = 18
CATALOGUE = multi_hot_catalogue(3883, GENRES, Source.seeded(2016), most=3)
BUDGETS = dict(
    zip(
        CATALOGUE.attributes,
        (np.random.default_rng(7).dirichlet(np.ones(GENRES)).clip(0.01) * 12).round(3).tolist(),
        strict=True,
    )
)
PLAN = plan_histogram(CATALOGUE, budgets=BUDGETS, epsilon=EPSILON)


def worst_item(plan: HistogramPlan) -> int:
    """The most exposed item; of those that are alike the one with the fewest genres."""
    exposure, table = plan.mechanism.exposure, CATALOGUE.dense()
    finer = [int(a / b) for a, b in zip(CATALOGUE.steps, exposure.steps, strict=True)]
    rates = np.array([float(rate) for rate in plan.mechanism.rates])
    losses = np.round((table * finer) @ rates, 6)
    return int(np.lexsort((table.sum(axis=1), -losses))[0])


def profile(item: int, has: bool) -> np.ndarray:
    watched = np.random.default_rng(3).random(len(CATALOGUE)) < 0.04
    watched[item] = has
    return watched.astype(np.float64)


Profile = np.ndarray | WeightedProfile


def releases(
    mechanism: MultiLevel, data: Profile, n: int, source: Source, seen: Sequence[int]
) -> np.ndarray:
    """The attributes ``seen`` of n releases; the histogram is computed once, as it is fixed."""
    scales = [1 / Fraction(mechanism.rates[j]) for j in seen]
    noise = discrete_laplace(scale=scales, size=(n, len(seen)), source=source)
    return mechanism.histogram(data)[list(seen)] + noise


def test_what_is_audited_is_what_is_released() -> None:
    """The short cut above is what ``release`` does, bit by bit."""
    data = profile(worst_item(PLAN), True)
    released = PLAN.mechanism.release(data, Source.seeded(5)).value
    short = releases(PLAN.mechanism, data, 1, Source.seeded(5), range(GENRES))[0]
    assert released.tolist() == short.tolist()


def audited(
    mechanism: MultiLevel,
    with_it: Profile,
    without: Profile,
    *,
    claim: Fraction,
    seed: int,
    only: int | None = None,
) -> Audit:
    """Who sees one attribute, or everything, decides by the log-ratio of the two laws.

    Nothing tells more. Attributes that are the same on both have the same law and cancel.
    """
    a, b = mechanism.histogram(with_it), mechanism.histogram(without)
    seen = [only] if only is not None else np.flatnonzero(a != b).tolist() or [0]
    rates = np.array([float(mechanism.rates[j]) for j in seen])
    source = Source.seeded(seed)

    def draw(data: Profile) -> Callable[[int], np.ndarray]:
        def outputs(n: int) -> np.ndarray:
            drawn = releases(mechanism, data, n, source, seen)
            return np.round((np.abs(drawn - b[seen]) - np.abs(drawn - a[seen])) @ rates, 6)

        return outputs

    return audit_epsilon(draw(with_it), draw(without), samples=SAMPLES, claim=claim)


def thinner(mechanism: MultiLevel) -> MultiLevel:
    """The same with 2 % too little noise."""
    rates = tuple(Fraction(rate) * Fraction(100, 98) for rate in mechanism.rates)
    return MultiLevel(mechanism.exposure, rates, catalogue=mechanism.catalogue)


def both(item: int) -> tuple[np.ndarray, np.ndarray]:
    return profile(item, True), profile(item, False)


def test_the_most_exposed_item_loses_no_more_than_epsilon() -> None:
    found = audited(PLAN.mechanism, *both(worst_item(PLAN)), claim=EPSILON, seed=1)
    assert not found.violated, str(found)
    assert found.bound > 0.98 * EPSILON  # and nearly all of it: the audit would see more


def test_control_two_per_cent_too_little_noise_is_caught() -> None:
    thin = thinner(PLAN.mechanism)
    found = audited(thin, *both(worst_item(PLAN)), claim=EPSILON, seed=2)
    assert found.violated, str(found)


def test_control_an_ignored_row_is_caught() -> None:
    """Planned as if films with all genres of the most exposed one were not in the catalogue."""
    table = CATALOGUE.dense()
    item = worst_item(PLAN)
    left = table[~(table >= table[item]).all(axis=1)]
    plan = plan_histogram(Catalogue.of(left), budgets=BUDGETS, epsilon=EPSILON)
    faulty = MultiLevel(Exposure.of(CATALOGUE), plan.mechanism.rates, catalogue=CATALOGUE)
    found = audited(faulty, *both(item), claim=EPSILON, seed=3)
    assert found.violated, str(found)


LARGEST = sorted(range(GENRES), key=lambda j: PLAN.spent[j])[-3:]


def an_item_of(genre: int) -> int:
    return int(np.flatnonzero(CATALOGUE.dense()[:, genre])[0])


@pytest.mark.parametrize("place", range(3))
def test_who_sees_one_attribute_alone_learns_no_more_than_its_claim(place: int) -> None:
    genre = LARGEST[place]
    claim = PLAN.spent[genre]
    pair = both(an_item_of(genre))
    found = audited(PLAN.mechanism, *pair, claim=claim, seed=10 + place, only=genre)
    assert not found.violated, str(found)
    assert found.bound > 0.98 * claim
    thin = thinner(PLAN.mechanism)
    control = audited(thin, *pair, claim=claim, seed=15 + place, only=genre)
    assert control.violated, str(control)


# Weights

WEIGHTED = plan_histogram(CATALOGUE, budgets=BUDGETS, epsilon=EPSILON, weighted=True)


@pytest.mark.parametrize("weight", [0.0, 0.5])
def test_an_item_loses_its_weight_times_epsilon(weight: float) -> None:
    mechanism, item = WEIGHTED.mechanism, worst_item(WEIGHTED)
    weights = np.ones(len(CATALOGUE))
    weights[item] = weight
    pair = [WeightedProfile.of(one, weights) for one in both(item)]
    claim = EPSILON * Fraction(weight)
    found = audited(mechanism, *pair, claim=claim, seed=20)
    assert not found.violated, str(found)
    assert found.bound >= 0.96 * claim
    ignored = [WeightedProfile(one.values, np.full_like(one.weights, 1 << 20)) for one in pair]
    control = audited(mechanism, *ignored, claim=claim, seed=21)
    assert control.violated, str(control)


# M6


def test_who_sees_two_equal_attributes_learns_more_than_either_claim() -> None:
    """Columns "Thriller" and "Suspense" agree: the first at 0.2 is known from the second at 0.8."""
    names = ("Thriller", "Suspense")
    twins = Catalogue.of([[1, 1], [0, 0], [1, 1]], attributes=names)
    plan = plan_histogram(twins, budgets={"Thriller": "0.2", "Suspense": "0.8"}, epsilon=1)
    claim = Fraction(1, 5)
    assert plan.spent == (claim, Fraction(4, 5))
    pair = np.array([1.0, 0, 1]), np.array([0.0, 0, 1])
    alone = audited(plan.mechanism, *pair, claim=claim, seed=30, only=0)
    assert not alone.violated, str(alone)  # Thriller alone keeps its claim
    twin = audited(plan.mechanism, *pair, claim=claim, seed=31, only=1)
    assert twin.violated, str(twin)  # but Suspense tells the same about the same films
    assert twin.bound > 0.78
    together = audited(plan.mechanism, *pair, claim=Fraction(1), seed=32)
    assert not together.violated, str(together)  # what holds for who sees both is the overall claim
    assert together.bound > 0.97
    assert plan.mechanism.guarantee().overall == 10**9
