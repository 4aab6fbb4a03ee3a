"""Exact verification: every profile and weight of tiny domains, in integers and fractions.

What is released is an integer plus a discrete Laplace variable, both times a step, so the largest
log-ratio of two profiles is |difference of the integers| * step / scale, reached in the tails.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, product

import numpy as np
import pytest

from reticent.errors import CardError, ParameterError
from reticent.guarantees import Event, PerItemDP, Spread
from reticent.mechanisms import (
    InnerProduct,
    Mean,
    Modular,
    SquaredDistance,
    Stretching,
    UserFunction,
    WeightedProfile,
    WeightedSum,
    rebuild,
)
from reticent.noise import Source, discrete_laplace
from reticent.testing import RecordingSource

EPSILON = Fraction(1, 2)
VALUES = (0.0, 0.5, 1.0)
WEIGHTS = (0.0, 0.25, 0.5, 1.0)
ENTRIES = tuple(product(VALUES, WEIGHTS))
Tiny = tuple[tuple[float, float], ...]
Reading = Callable[[Tiny], WeightedProfile]


@dataclass(frozen=True)
class Case:
    function: Modular
    items: int


def margin(shape: Callable[[float], float]) -> Callable[[float], float]:
    return lambda a: shape(a) * (1 + 1e-12)  # what is declared must hold for floats


CASES = {
    "sum": Case(WeightedSum.of([3, -2, "0.5"]), 3),
    "sum of one sign": Case(WeightedSum.of([1, "1/3"]), 2),
    "mean": Case(Mean(3), 3),
    "inner product, min": Case(InnerProduct(weighting="min"), 2),
    "inner product, product": Case(InnerProduct(weighting="product"), 2),
    "squared distance": Case(SquaredDistance(), 2),
    "user function, square": Case(
        UserFunction.of(
            lambda d: float((d * d).sum()),
            sensitivity="1.000000000002",
            modular=margin(lambda a: a * a),
            bound=10,
        ),
        2,
    ),
    "user function, tanh": Case(
        UserFunction.of(
            lambda d: float(np.tanh(2 * d).sum()),
            sensitivity="0.96402758008",
            modular=margin(lambda a: math.tanh(2 * a)),
            bound=10,
        ),
        3,
    ),
}


def read(tiny: Tiny) -> WeightedProfile:
    return WeightedProfile.of([x for x, _ in tiny], [v for _, v in tiny])


@cache
def evaluated(name: str, reading: Reading) -> np.ndarray:
    """What is released of all data but for the noise: one axis for each item of each person."""
    case = CASES[name]
    held = [reading(tiny) for tiny in product(ENTRIES, repeat=case.items)]
    people = case.function.people
    units = [case.function.evaluate(*data) for data in product(held, repeat=people)]
    assert max(map(abs, units)) < 1 << 62
    return np.array(units, dtype=np.int64).reshape((len(ENTRIES),) * (people * case.items))


@cache
def worst_differences(name: str, reading: Reading) -> dict[tuple[float, float], int]:
    """By the weights of the changed item, the lower one first: the most that all data can move."""
    units, worst = evaluated(name, reading), {}
    for axis in range(units.ndim):
        by_entry = np.moveaxis(units, axis, 0)
        for one, other in combinations(range(len(ENTRIES)), 2):  # each unordered pair once
            pair = tuple(sorted((ENTRIES[one][1], ENTRIES[other][1])))
            moved = int(np.abs(by_entry[one] - by_entry[other]).max())
            worst[pair] = max(worst.get(pair, 0), moved)
    return worst


def losses(
    name: str, mechanism: Stretching, reading: Reading = read
) -> dict[tuple[float, float], Fraction]:
    """The exact worst loss for each pair of weights (before, after) of the item that changes."""
    case, source = CASES[name], RecordingSource()
    blank = read(((0.0, 0.0),) * case.items)
    mechanism.release([blank] * case.function.people, source)
    (call,) = source.calls
    scale = Fraction(call.arguments["scale"])  # in steps, as really used
    return {pair: units / scale for pair, units in worst_differences(name, reading).items()}


def broken(found: dict[tuple[float, float], Fraction]) -> list[tuple[float, float]]:
    return [pair for pair, loss in found.items() if loss > EPSILON * Fraction(pair[1])]


@pytest.mark.parametrize("name", CASES)
def test_theorems_1_and_2_no_item_or_weight_loses_more_than_promised(name) -> None:
    case = CASES[name]
    found = losses(name, Stretching(epsilon=EPSILON, function=case.function))
    assert not broken(found)
    for v in WEIGHTS:  # Theorem 1, and it is tight: all but rounding of the allowance is used
        assert found[v, v] >= EPSILON * Fraction(v) * Fraction(99_999, 100_000)
    assert found[0.0, 0.0] == 0
    assert found[0.0, 1.0] == max(found.values())  # Theorem 2: the larger weight bounds


@pytest.mark.parametrize("name", CASES)
def test_control_ignored_weights_are_caught(name) -> None:
    case = CASES[name]

    def unweighted(tiny: Tiny) -> WeightedProfile:
        return WeightedProfile.of([x for x, _ in tiny], [1] * len(tiny))

    found = losses(name, Stretching(epsilon=EPSILON, function=case.function), unweighted)
    assert (0.0, 0.0) in broken(found)


class Thin(Stretching):
    """Noise 2 % too small."""

    __slots__ = ()

    @property
    def scale(self) -> Fraction:
        return self.function.sensitivity / Fraction(self.epsilon) * Fraction(98, 100)


@pytest.mark.parametrize("name", CASES)
def test_control_noise_two_per_cent_too_small_is_caught(name) -> None:
    case = CASES[name]
    thin = Thin(epsilon=EPSILON, function=case.function)
    assert (1.0, 1.0) in broken(losses(name, thin))
    assert (
        thin.guarantee().overall
        > Stretching(epsilon=EPSILON, function=case.function).guarantee().overall
    )  # and the promise follows the noise that is used


@pytest.mark.parametrize("name", [n for n in CASES if not n.startswith("user")])
def test_control_unclamped_values_are_caught(name) -> None:
    case = CASES[name]

    def unclamped(tiny: Tiny) -> WeightedProfile:
        profile = read(tiny)
        return WeightedProfile(profile.values * 3, profile.weights)

    found = losses(name, Stretching(epsilon=EPSILON, function=case.function), unclamped)
    assert (1.0, 1.0) in broken(found)


@pytest.mark.parametrize("name", CASES)
def test_weight_0_releases_the_same_bits(name) -> None:
    case = CASES[name]
    mechanism = Stretching(epsilon=EPSILON, function=case.function)
    other = [read(((1.0, 1.0),) * case.items)] * (case.function.people - 1)
    released = {
        mechanism.release(
            [read(((x, 0.0), *((1.0, 0.5),) * (case.items - 1))), *other], Source.seeded(4)
        ).value
        for x in VALUES
    }
    assert len(released) == 1


def test_what_is_released_is_the_integer_plus_the_noise() -> None:
    mechanism = Stretching(epsilon=1, function=InnerProduct())
    profile = read(((1.0, 1.0), (0.5, 0.25)))
    released = mechanism.release([profile, profile], Source.seeded(9)).value
    step = mechanism.function.step
    noise = int(discrete_laplace(scale=mechanism.scale / step, source=Source.seeded(9)))
    assert released == float((mechanism.function.evaluate(profile, profile) + noise) * step)


# Theorem 3

DRAWS = 400_000
NOISE = discrete_laplace(scale=1 << 20, size=DRAWS, source=Source.seeded(31)) / (1 << 20)


@pytest.mark.parametrize(("bias", "within"), [(0, 1), (0, 3), (0.5, 1), (-1, 1), (2, 2.5)])
def test_theorem_3_the_tail_is_exact_and_the_papers_bound_is_not_a_bound(bias, within) -> None:
    mechanism = Stretching(epsilon=1, function=InnerProduct())  # b = 1
    tail = mechanism.tail(bias, within)
    assert tail == pytest.approx(math.exp(-within) * math.cosh(bias))
    seen = float((np.abs(NOISE + bias) > within).mean())
    sigma = math.sqrt(tail * (1 - tail) / DRAWS)
    assert abs(seen - tail) < 5 * sigma
    assert seen < math.exp(abs(bias) - within) + 5 * sigma  # the bound that holds
    printed = math.exp(abs(bias) - within) / 2  # control: Theorem 3 of the paper
    assert seen > printed + 5 * sigma


def test_corollary_2_of_the_paper_fails_and_ours_holds() -> None:
    """H5: n = 16 common items of weight 1/2, product weighting; the bias alone is 12 > sqrt(n)."""
    n, v, epsilon = 16, 0.5, 1.0
    profile = WeightedProfile.of([1] * n, [v] * n)
    function = InnerProduct(weighting="product")
    bias = n - float(function.evaluate(profile, profile) * function.step)
    assert bias == n * (1 - v * v)
    beyond = float((np.abs(NOISE - bias) > math.sqrt(n)).mean())
    assert beyond > 0.99 > math.exp(-epsilon * v * math.sqrt(n)) / 2
    ours = math.exp(-epsilon * v * v * n)  # at k = n
    assert float((np.abs(NOISE - bias) > n).mean()) <= ours + 5 * math.sqrt(ours / DRAWS)


def test_utility_holds_95_times_in_100() -> None:
    utility = Stretching(epsilon=1, function=InnerProduct()).utility()
    assert (np.abs(NOISE) <= utility.within_95).mean() == pytest.approx(0.95, abs=0.002)
    assert np.abs(NOISE).mean() == pytest.approx(utility.mean_absolute_error, rel=0.01)


def test_a_bias_beyond_the_distance_is_refused() -> None:
    with pytest.raises(ParameterError, match="^within must be at least"):
        Stretching(epsilon=1, function=InnerProduct()).tail(2, 1)


# The mechanism as a value


def test_guarantee_for_the_owner_is_epsilon_times_weight() -> None:
    mechanism = Stretching(epsilon="0.4", function=InnerProduct())
    assert mechanism.guarantee() == PerItemDP(Spread(400_000_000))
    loss = mechanism.guarantee_for({"Heat": 0.5, "Up": 0}, default=0)
    assert loss.items["Heat"] == 200_000_000
    assert loss.items["Up"] == loss.items["anything else"] == 0


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, None, "x", 2**-11, True])
def test_bad_epsilon_is_refused(epsilon) -> None:
    with pytest.raises(ParameterError, match="^epsilon must be"):
        Stretching(epsilon=epsilon, function=SquaredDistance())


def test_the_least_epsilon_depends_on_the_function() -> None:
    Stretching(epsilon=Fraction(1, 1 << 10), function=SquaredDistance())
    Stretching(epsilon=Fraction(1, 1 << 14), function=InnerProduct())
    with pytest.raises(ParameterError, match="at least 0.000977 for this function"):
        Stretching(epsilon=Fraction(1, 1 << 11), function=SquaredDistance())


def test_not_a_function_is_refused() -> None:
    with pytest.raises(ParameterError, match="^function must be a Modular function"):
        Stretching(epsilon=1, function="sum")


@pytest.mark.parametrize("count", [0, 1, 3])
def test_the_number_of_profiles_is_checked_and_nothing_shown(count) -> None:
    profile = WeightedProfile.of([1], weights=[1])
    with pytest.raises(ParameterError, match="^data must be 2 weighted profiles, got '. of them'"):
        Stretching(epsilon=1, function=InnerProduct()).release([profile] * count, Source.seeded(1))


def test_the_card_says_who_is_trusted() -> None:
    mechanism = Stretching(epsilon=1, function=Mean(3))
    assert any("trusted" in line for line in mechanism.evidence().assumptions)
    assert "1/3" in mechanism.how().sensitivity
    assert mechanism.parameters() == {"epsilon": 1, "function": "mean", "size": 3}
    assert mechanism == Stretching(epsilon=1.0, function=Mean(3))


@pytest.mark.parametrize(
    "function", [WeightedSum.of([1, -0.5]), Mean(3), InnerProduct("product"), SquaredDistance()]
)
def test_a_mechanism_is_rebuilt_from_its_event(function: Modular) -> None:
    mechanism = Stretching(epsilon="1/3", function=function)
    event = Event.from_json(mechanism.event(Source.seeded(1)).to_json())
    assert rebuild(event) == mechanism


def test_a_user_function_cannot_be_rebuilt() -> None:
    function = UserFunction.of(lambda d: float(d.sum()), sensitivity=1, modular=float, bound=9)
    event = Stretching(epsilon=1, function=function).event(Source.seeded(1))
    with pytest.raises(CardError, match="do not fit"):
        rebuild(event)
