"""OpenDP measurements: the map is the guarantee, the law is ours, and OpenDP composes them."""

import math
import runpy
import sys
from fractions import Fraction

import mpmath
import numpy as np
import opendp.prelude as dp
import pytest

from reticent.data.catalogue import Catalogue
from reticent.errors import MissingExtra, ParameterError
from reticent.exports.opendp import SUPPORTED, as_measurement, float_up, measurement_script
from reticent.guarantees import ITEM, ITEM_SUBSTITUTE
from reticent.mechanisms import (
    Dampened,
    DiscreteLaplace,
    Exponential,
    Exposure,
    InnerProduct,
    MultiLevel,
    PermuteAndFlip,
    SnappedLaplace,
    Stretching,
    WeightedProfile,
    WeightedSum,
)
from reticent.noise import Source

FILMS = Catalogue.of([[1, 1], [0, 1]], attributes=("Crime", "Drama"))
HISTOGRAM = MultiLevel(exposure=Exposure.of(FILMS), rates=(0.1, 0.3), catalogue=FILMS)


@pytest.fixture(autouse=True)
def features() -> None:
    dp.enable_features("contrib", "honest-but-curious")


def promised(mechanism) -> float:
    return float_up(mechanism.guarantee().overall)


@pytest.mark.parametrize("nano", [1, 3, 333_333_333, 100_000_001, 10**18 + 1])
def test_floats_are_never_below_an_amount(nano) -> None:
    assert Fraction(float_up(nano)) >= Fraction(nano, 10**9)
    assert Fraction(math.nextafter(float_up(nano), 0)) < Fraction(nano, 10**9)


@pytest.mark.parametrize(
    ("mechanism", "unit"),
    [
        (DiscreteLaplace(epsilon=0.7, size=3, sensitivity=2), 2),
        (SnappedLaplace(epsilon=1, size=2, sensitivity=0.5, lower=0, upper=100), 0.5),
        (Exponential(epsilon=0.3, candidates=4, sensitivity=1.5), 1.5),
        (PermuteAndFlip(epsilon=0.3, candidates=4, sensitivity=1, monotone=True), 1.0),
    ],
)
def test_at_one_unit_the_map_is_the_guarantee(mechanism, unit) -> None:
    measurement = as_measurement(mechanism)
    assert measurement.map(unit) == promised(mechanism)
    assert measurement.map(type(unit)(0)) == 0
    assert measurement.map(unit * 3) > measurement.map(unit * 2) > measurement.map(unit)
    assert measurement.map(unit * 2) <= 2 * promised(mechanism) + 1e-9
    assert measurement.check(unit, promised(mechanism))
    assert not measurement.check(unit, math.nextafter(promised(mechanism), 0) - 1e-9)


def log_ratio(scale: Fraction, apart: int) -> mpmath.mpf:
    """The most that shifting a discrete Laplace law by ``apart`` moves a chance, term by term."""
    with mpmath.workdps(40):
        rate = mpmath.mpf(scale.denominator) / scale.numerator
        law = [mpmath.exp(-abs(k) * rate) for k in range(-50 - apart, 51 + apart)]
        pairs = zip(law[apart:], law[: len(law) - apart], strict=True)
        return max(abs(mpmath.log(p / q)) for p, q in pairs)


@pytest.mark.parametrize("apart", [1, 2, 5])
def test_the_map_of_counts_covers_the_exact_loss(apart) -> None:
    mechanism = DiscreteLaplace(epsilon=Fraction(1, 3), size=1)
    told = as_measurement(mechanism).map(apart)
    exact = log_ratio(mechanism.scale, apart)
    assert exact <= told <= exact + 2e-9
    assert log_ratio(mechanism.scale * Fraction(7, 10), apart) > told  # 30 % less noise is not


def test_the_map_of_reals_rounds_every_value_apart() -> None:
    """An L1 distance says nothing of how many values it is spread over."""
    one = SnappedLaplace(epsilon=1, size=5, sensitivity=1, lower=0, upper=9, coordinates=1)
    assert as_measurement(one).map(1.0) > promised(one)


def test_the_map_of_scores_covers_the_exact_loss_of_the_exponential_mechanism() -> None:
    mechanism = Exponential(epsilon=1, candidates=2, sensitivity=1)
    told = as_measurement(mechanism).map(1.0)
    step, rate = float(mechanism.grid.step), float(mechanism.rate)

    def chances(scores):
        weights = np.exp(rate * np.round(np.array(scores) / step))
        return weights / weights.sum()

    losses = [
        abs(np.log(chances([x, 0]) / chances([x - 1, 1]))).max() for x in np.linspace(-20, 20, 81)
    ]
    assert 0.999 < max(losses) <= told
    assert max(losses) > told / 2  # a map that forgot that scores move both ways would fail


def test_stretching_has_a_loss_for_each_item() -> None:
    mechanism = Stretching(epsilon=0.8, function=InnerProduct())
    measurement = as_measurement(mechanism)
    weights = {"a": 1, "b": 0.25, "c": 0}
    own = mechanism.guarantee_for(weights, default=0).items
    assert measurement.map([1, 0.25, 0]) == [float_up(own[name]) for name in weights]
    assert measurement.map([1]) == [promised(mechanism)]
    whole = as_measurement(mechanism, overall=True)
    assert whole.map(1.25) == pytest.approx(sum(measurement.map([1, 0.25])), abs=1e-8)
    assert whole.map(1.0) == promised(mechanism)
    ann = WeightedProfile.of([1, 1], [1, 0])
    assert isinstance(measurement((ann, ann)), float)


def test_a_weight_of_zero_hides_an_item_in_the_measurement_too() -> None:
    mechanism = Stretching(epsilon=10**4, function=WeightedSum.of([1, 1]))
    with_it = WeightedProfile.of([1, 1], [1, 0])
    without = WeightedProfile.of([1, 0], [1, 0])
    measurement = as_measurement(mechanism)
    values = [measurement([profile]) for profile in (with_it, without)]
    assert measurement.map([0]) == [0]
    assert values == pytest.approx([1, 1], abs=0.01)


def test_multi_level_has_a_loss_for_each_attribute() -> None:
    measurement = as_measurement(HISTOGRAM)
    promise = HISTOGRAM.guarantee()
    assert measurement.map(1) == [float_up(n * 10**8) for n in (4, 1, 3)]
    assert measurement.map(2) == [float_up(n * 10**8) for n in (8, 2, 6)]
    assert measurement.map(1)[1:] == [float_up(promise.attributes[a]) for a in FILMS.attributes]
    assert as_measurement(HISTOGRAM, overall=True).map(1) == 0.4
    assert len(measurement([1, 0])) == 2


def test_the_metric_says_what_a_neighbour_may_do() -> None:
    films = Catalogue.of([[1, 0], [0, 1]], attributes=("Crime", "Drama"))
    for unit, word in ((ITEM, "added or removed"), (ITEM_SUBSTITUTE, "replaced")):
        made = MultiLevel(exposure=Exposure.of(films, unit=unit), rates=(0.1, 0.3))
        assert word in str(as_measurement(made))
    weighted = MultiLevel(exposure=Exposure.of(films, weighted=True), rates=(0.1, 0.3))
    assert "weights" in str(as_measurement(weighted))


def test_the_noise_is_that_of_the_mechanism() -> None:
    mechanism = DiscreteLaplace(epsilon=0.25, size=4000)
    drawn = np.array(as_measurement(mechanism)([0] * 4000))
    expected = mechanism.utility().mean_absolute_error
    error = 5 * expected / math.sqrt(drawn.size)  # the spread of |Z| is about its mean
    assert abs(np.abs(drawn).mean() - expected) < error
    assert abs(np.abs(drawn * 0.7).mean() - expected) > error  # 30 % less would be seen
    assert not np.array_equal(drawn, as_measurement(mechanism)([0] * 4000))  # fresh every time


def test_it_chains_with_the_counts_of_opendp() -> None:
    counts = dp.t.make_count_by_categories(
        dp.vector_domain(dp.atom_domain(T=str)),
        dp.symmetric_distance(),
        categories=["Ulm", "Bern"],
        null_category=False,
        TOA="i64",
        MO=dp.L1Distance["i64"],
    )
    chained = counts >> as_measurement(DiscreteLaplace(epsilon=1000, size=2))
    assert chained(["Ulm", "Bern", "Ulm", "Oslo"]) == [2, 1]
    assert chained.map(1) == 1000


def test_it_composes_with_the_noise_of_opendp() -> None:
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    ours = as_measurement(DiscreteLaplace(epsilon=0.5, size=2))
    theirs = dp.m.make_laplace(*space, scale=4.0)
    both = dp.c.make_composition([ours, theirs])
    assert both.map(1) == pytest.approx(ours.map(1) + theirs.map(1))
    assert [len(part) for part in both([3, 4])] == [2, 2]


def test_the_compositor_of_opendp_refuses_what_is_beyond_its_budget() -> None:
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    measure = dp.max_divergence()
    compositor = dp.c.make_adaptive_composition(*space, measure, d_in=1, d_mids=[0.5, 0.5])
    queryable = compositor([3, 4])
    ours = as_measurement(DiscreteLaplace(epsilon=0.5, size=2))
    assert len(queryable(ours)) == 2
    with pytest.raises(dp.OpenDPException):
        queryable(as_measurement(DiscreteLaplace(epsilon=0.6, size=2)))
    assert len(queryable(ours)) == 2


def test_profiles_compose_by_their_overall_loss() -> None:
    one = as_measurement(HISTOGRAM, overall=True)
    assert dp.c.make_composition([one, one]).map(1) == pytest.approx(0.8)
    each = as_measurement(HISTOGRAM)
    with pytest.raises(dp.OpenDPException):  # OpenDP cannot add vectors: never a wrong sum
        dp.c.make_composition([each, each])


@pytest.mark.parametrize("d_in", [-1.0, float("nan"), float("inf")])
def test_a_distance_that_is_none_has_no_loss(d_in) -> None:
    measurement = as_measurement(Exponential(epsilon=1, candidates=2, sensitivity=1))
    with pytest.raises(dp.OpenDPException, match="d_in"):
        measurement.map(d_in)


def test_errors_tell_nothing_of_the_data() -> None:
    measurement = as_measurement(DiscreteLaplace(epsilon=1, size=3))
    with pytest.raises(dp.OpenDPException) as caught:
        measurement([4471, 4471])
    assert "4471" not in str(caught.value)


def test_what_has_no_form_is_refused_by_name() -> None:
    made = Dampened(epsilon=1, candidates=2, limit=1, steps=1)
    with pytest.raises(ParameterError, match="discrete-laplace") as caught:
        as_measurement(made)
    assert caught.value.value == "dampened"
    assert made.name not in SUPPORTED


def test_without_opendp_the_extra_is_named(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    with pytest.raises(MissingExtra, match=r"reticent\[opendp\]"):
        as_measurement(DiscreteLaplace(epsilon=1, size=1))


@pytest.mark.parametrize(
    "mechanism", [DiscreteLaplace(epsilon=0.5, size=3), HISTOGRAM], ids=lambda m: m.name
)
def test_a_script_makes_the_same_measurement(mechanism, tmp_path) -> None:
    path = tmp_path / "m.py"
    path.write_text(measurement_script(mechanism.event(Source.system())), encoding="utf-8")
    made = runpy.run_path(str(path))["measurement"]
    assert made.map(1) == as_measurement(mechanism).map(1)
