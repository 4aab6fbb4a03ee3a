import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reticent.errors import ParameterError
from reticent.mechanisms import (
    InnerProduct,
    Mean,
    SquaredDistance,
    UserFunction,
    WeightedProfile,
    WeightedSum,
    stretchable,
)
from reticent.mechanisms.modular import VALUE_BITS, WEIGHT_BITS, combine

FULL = 1 << WEIGHT_BITS
weights = st.integers(0, FULL)


def value_of(function, *profiles) -> Fraction:
    return function.evaluate(*profiles) * function.step


def paper_scan(modular, allowed: float, delta: float) -> float:
    """Algorithm 1 of the paper: from 1 down in steps of delta, until S_i fits."""
    steps = 0
    while 1 - steps * delta >= 0 and modular(1 - steps * delta) > allowed:
        steps += 1
    return max(1 - steps * delta, 0.0)


def test_profiles_are_clamped_and_rounded_down() -> None:
    profile = WeightedProfile.of([2, -1, 0.3, math.nan], weights=[7, 0.1, -3, 1])
    assert profile.values.tolist() == [1 << VALUE_BITS, 0, int(0.3 * (1 << VALUE_BITS)), 0]
    assert profile.weights.tolist() == [FULL, int(0.1 * FULL), 0, FULL]


def test_what_is_no_number_is_withheld_and_not_shown() -> None:
    profile = WeightedProfile.of([1, 1, "secret"], weights=["secret", None, 1])
    assert profile.weights.tolist() == [0, 0, FULL]
    assert profile.values.tolist()[2] == 0


@pytest.mark.parametrize(
    ("values", "chosen"),
    [([987654, 1], [1]), (np.full((2, 1), 987654), [1, 1]), ([987654], 987654), (987654, [1])],
)
def test_only_shapes_are_refused(values, chosen) -> None:
    with pytest.raises(ParameterError) as refused:
        WeightedProfile.of(values, weights=chosen)
    assert "987654" not in str(refused.value)


def test_lemma_1_weighted_sum_shrinks_only_what_exceeds_the_allowance() -> None:
    function = WeightedSum.of([4, -2, 1])
    everything = [1, 1, 1]
    assert function.sensitivity == 4
    # factors min(1, v S / |a|): 1/2, 1 and 1; then 4/2 - 2 + 1
    assert value_of(function, WeightedProfile.of(everything, [0.5, 0.5, 0.5])) == 1
    # v = 1/4: 1/4, 1/2, 1
    assert value_of(function, WeightedProfile.of(everything, [0.25, 0.25, 0.25])) == 1 - 1 + 1


def test_lemma_1_inner_product_weighs_by_product_or_smaller() -> None:
    ann = WeightedProfile.of([1, 1, 0.5], [0.5, 1, 1])
    bob = WeightedProfile.of([1, 1, 1], [0.25, 0, 1])
    assert value_of(InnerProduct(weighting="product"), ann, bob) == Fraction(1, 8) + Fraction(1, 2)
    assert value_of(InnerProduct(weighting="min"), ann, bob) == Fraction(1, 4) + Fraction(1, 2)


def test_lemma_1_mean_counts_by_the_declared_size() -> None:
    assert value_of(Mean(4), WeightedProfile.of([1, 1, 0.5, 0], [1, 0.5, 1, 1])) == Fraction(1, 2)


@given(weights, weights)
def test_lemma_1_the_smaller_weight_loses_less_and_is_within_both(x, y) -> None:
    one, other = np.array([x]), np.array([y])
    smaller, multiplied = combine(one, other, "min")[0], combine(one, other, "product")[0]
    assert 0 <= multiplied <= smaller <= min(x, y)


def test_lemma_1_squared_distance_factor_is_feasible_for_every_weight() -> None:
    every = np.arange(FULL + 1)
    profile = WeightedProfile(np.full(every.size, 1 << VALUE_BITS), every)
    factor = SquaredDistance()._stretched(profile)
    assert (factor * (2 * FULL - factor) <= every << WEIGHT_BITS).all()  # S_i(a) = a (2 - a) <= v
    above = factor + 2  # and no more than one unit is given away
    assert (above * (2 * FULL - above) > every << WEIGHT_BITS)[factor <= FULL - 2].all()
    assert factor[0] == 0
    assert factor[-1] == FULL


SHAPES = {
    "linear": lambda a: a,
    "square": lambda a: a * a,
    "tanh": lambda a: math.tanh(3 * a) / math.tanh(3),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("delta", [1e-2, 1e-3])
def test_lemma_2_bisection_agrees_with_the_papers_scan(shape, delta) -> None:
    modular = SHAPES[shape]
    function = UserFunction.of(np.sum, sensitivity=1, modular=modular, bound=100)
    for v in (Fraction(n, 16) for n in range(17)):
        factor = function.factor(v)
        scanned = paper_scan(modular, float(v), delta)
        # the scan stops up to delta early; rounding to the grid costs ours about 2**-18 at most
        assert -(2.0**-17) <= factor - scanned <= delta + 2.0**-17
        assert v in (0, 1) or Fraction(modular(factor)) + function.step <= v * function.sensitivity
    assert function.factor(Fraction(0)) == 0
    assert function.factor(Fraction(1)) == 1


def test_lemma_2_the_factor_grows_with_the_weight() -> None:
    function = UserFunction.of(np.sum, sensitivity=1, modular=SHAPES["tanh"], bound=100)
    factors = [function.factor(Fraction(n, 1000)) for n in range(1001)]
    assert factors == sorted(factors)


def test_lemma_2_asks_40_times_where_the_scan_asks_a_thousand() -> None:
    asked = []
    function = UserFunction.of(
        np.sum, sensitivity=1, modular=lambda a: asked.append(a) or a, bound=9
    )
    function.factor(Fraction(1, 1000))
    assert len(asked) <= 42


def test_a_step_in_s_i_returns_the_feasible_side() -> None:
    function = UserFunction.of(np.sum, sensitivity=1, modular=lambda a: float(a > 0.3), bound=9)
    assert function.factor(Fraction(1, 2)) == pytest.approx(0.3, abs=1e-11)
    assert function.factor(Fraction(1, 2)) <= 0.3


@pytest.mark.parametrize("answer", [math.nan, math.inf, -math.inf, 1e300])
def test_a_user_function_is_clamped_to_its_bound(answer) -> None:
    function = UserFunction.of(lambda _: answer, sensitivity=1, modular=lambda a: a, bound=7)
    found = value_of(function, WeightedProfile.of([1], [1]))
    assert abs(found) <= 7 + function.step


def test_a_declared_sensitivity_below_the_modular_one_is_refused() -> None:
    with pytest.raises(ParameterError, match="^sensitivity must be at least modular"):
        UserFunction.of(np.sum, sensitivity=1, modular=lambda a: 2 * a, bound=9)


@pytest.mark.parametrize("name", ["l0", "min", "max", "median"])
def test_what_stretching_cannot_protect_is_refused_with_a_reason(name) -> None:
    with pytest.raises(ParameterError, match=rf"\({name}: .+; use .+\), got '{name}'$"):
        stretchable(name)


def test_an_unknown_function_names_the_known_ones() -> None:
    with pytest.raises(ParameterError, match="one of sum, mean, inner product, squared distance"):
        stretchable("variance")


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("sum", {"coefficients": [1, 2]}), ("mean", {"size": 3}), ("inner product", {})],
)
def test_known_functions_are_found_by_name(name, parameters) -> None:
    assert stretchable(name, **parameters).name.endswith(name)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: WeightedSum.of([]),
        lambda: WeightedSum.of([0, 0]),
        lambda: WeightedSum.of([math.nan]),
        lambda: Mean(0),
        lambda: InnerProduct(weighting="max"),
        lambda: UserFunction.of(np.sum, sensitivity=0, modular=lambda a: a, bound=1),
        lambda: WeightedSum.of([1, 1]).evaluate(WeightedProfile.of([1], [1])),
        lambda: InnerProduct().evaluate(WeightedProfile.of([1], [1]), WeightedProfile.of([], [])),
    ],
)
def test_bad_parameters_are_refused(wrong) -> None:
    with pytest.raises(ParameterError, match="must be"):
        wrong()


# Bias of the inner product: what weights take away from each common item.

UNIFORM = {"product": Fraction(3, 4), "min": Fraction(2, 3)}  # 1 - E[uv], 1 - E[min(u, v)]
HALF_TO_ONE = {"product": Fraction(7, 16), "min": Fraction(1, 3)}


@pytest.mark.parametrize("weighting", ["product", "min"])
def test_bias_of_the_inner_product_is_the_sum_of_lost_weight(weighting) -> None:
    generator = np.random.default_rng(5)
    x, y = generator.integers(0, 5, (2, 200)) / 4
    v, w = generator.integers(0, 65, (2, 200)) / 64
    joint = np.minimum(v, w) if weighting == "min" else v * w
    function = InnerProduct(weighting=weighting)
    found = value_of(function, WeightedProfile.of(x, v), WeightedProfile.of(y, w))
    assert Fraction(float((x * y).sum())) - found == Fraction(float(((1 - joint) * x * y).sum()))


@pytest.mark.parametrize(("least", "expected"), [(0.0, UNIFORM), (0.5, HALF_TO_ONE)])
def test_bias_of_min_is_that_much_smaller(least, expected) -> None:
    generator = np.random.default_rng(6)
    v, w = generator.uniform(least, 1, (2, 100_000))
    ones = np.ones(v.size)
    lost = {}
    for weighting in ("product", "min"):
        profiles = WeightedProfile.of(ones, v), WeightedProfile.of(ones, w)
        lost[weighting] = 1 - float(value_of(InnerProduct(weighting=weighting), *profiles)) / v.size
        assert lost[weighting] == pytest.approx(float(expected[weighting]), abs=0.003)
    assert lost["min"] < lost["product"]


@given(st.lists(st.tuples(weights, weights, st.booleans(), st.booleans()), max_size=8))
def test_min_never_has_more_bias_than_product(items) -> None:
    profiles = [
        WeightedProfile.of([i[2 + who] for i in items], [i[who] / FULL for i in items])
        for who in (0, 1)
    ]
    assert value_of(InnerProduct(weighting="min"), *profiles) >= value_of(
        InnerProduct(weighting="product"), *profiles
    )
