"""Plans keep their budgets in exact arithmetic, whatever the solver says, and are the best."""

import inspect
import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from reticent.data.catalogue import Catalogue
from reticent.errors import ParameterError
from reticent.guarantees import ITEM, ITEM_SUBSTITUTE, Unit
from reticent.mechanisms import exposure as exposure_module
from reticent.mechanisms import multilevel_plan as module
from reticent.mechanisms.exposure import Exposure
from reticent.mechanisms.multilevel_plan import (
    HistogramPlan,
    exact_rates,
    plan_histogram,
    plan_many,
    safe_scales,
)
from reticent.noise import LARGEST_SCALE
from reticent.optim.objectives import LatticeError, PowerError
from reticent.rational import rational

GOALS = pytest.mark.parametrize("goal", ["mae", "mse", "mael"])


def catalogue(kind: str, rng: np.random.Generator, items: int = 60, width: int = 7) -> Catalogue:
    if kind == "identity":
        return Catalogue.of(np.eye(width, dtype=int)[rng.permutation(np.arange(items) % width)])
    if kind == "binary":
        table = (rng.random((items, width)) < 0.35).astype(np.float64)
    elif kind == "counts":
        table = rng.integers(-4, 5, (items, width)).astype(np.float64)
    else:
        table = rng.normal(size=(items, width)) * (rng.random((items, width)) < 0.5)
    table[np.arange(width), np.arange(width)] = 1.0  # no column is empty
    return Catalogue.of(table)


KINDS = ("identity", "binary", "counts", "real")


def draws(count: int, seed: int) -> Iterator[tuple[Catalogue, dict[str, float], float, str]]:
    rng = np.random.default_rng(seed)
    for turn in range(count):
        films = catalogue(KINDS[turn % 4], rng)
        shares = rng.dirichlet(np.ones(len(films.attributes))).clip(1e-4) * rng.choice([0.1, 1, 8])
        budgets = dict(zip(films.attributes, shares.tolist(), strict=True))
        epsilon = float(10 ** rng.uniform(-3, 1))
        yield films, budgets, epsilon, ("mae", "mse", "mael")[turn % 3]


def exceeded(plan: HistogramPlan, exposure: Exposure) -> bool:
    """Whether a budget is exceeded, in rationals, with the rows of ``exposure``."""
    rates = tuple(Fraction(rate) for rate in plan.mechanism.rates)
    alone = exposure.alone(rates)
    return exposure.overall(rates) > plan.epsilon or any(
        spent > t for spent, t in zip(alone, plan.budgets, strict=True)
    )


# Lemma 3


@pytest.mark.parametrize(
    ("unit", "weighted"), [(ITEM, False), (ITEM, True), (ITEM_SUBSTITUTE, False)]
)
def test_lemma_3_no_budget_is_exceeded_in_exact_arithmetic(unit: Unit, weighted: bool) -> None:
    for films, budgets, epsilon, goal in draws(60, 3):
        plan = plan_histogram(
            films, budgets=budgets, epsilon=epsilon, goal=goal, unit=unit, weighted=weighted
        )
        assert not exceeded(plan, Exposure.of(films, unit=unit, weighted=weighted))
        assert plan.spent == plan.mechanism.exposure.alone(plan.mechanism.rates)
        assert plan.budgets == tuple(rational(t, "t") for t in budgets.values())
        assert plan.gap <= 1e-9  # and what rounding costs is nothing


def test_lemma_3_control_rates_rounded_up_are_caught() -> None:
    def up(value: Fraction) -> Fraction:
        return value * (1 + Fraction(1, 1 << 50))

    caught = 0
    with patch.object(module, "_down", up):
        for films, budgets, epsilon, goal in draws(60, 3):
            plan = plan_histogram(films, budgets=budgets, epsilon=epsilon, goal=goal)
            caught += exceeded(plan, Exposure.of(films))
    assert caught > 15  # wherever some row is full


def test_control_a_dropped_maximal_row_is_caught() -> None:
    honest_rows, caught, full = exposure_module.maximal_rows, 0, 0
    for films, budgets, epsilon, goal in draws(60, 4):
        if epsilon > 0.5:
            continue
        whole = Exposure.of(films)
        plan = plan_histogram(films, budgets=budgets, epsilon=epsilon, goal=goal)
        losses = whole.losses(plan.mechanism.rates)
        if len(whole.rows) == 1 or plan.nothing_lost:
            continue
        tightest = int(np.argmax([float(loss) for loss in losses]))
        left = np.delete(whole.rows, tightest, axis=0)
        if not left.max(axis=0).all():
            continue
        full += 1
        with patch.object(exposure_module, "maximal_rows", lambda _, left=left: left):
            faulty = plan_histogram(films, budgets=budgets, epsilon=epsilon, goal=goal)
        caught += exceeded(faulty, whole)
        assert not exceeded(plan, whole)
    assert exposure_module.maximal_rows is honest_rows
    assert full >= 10
    assert caught >= full // 2  # identical bounds by other rows can hide it


@pytest.mark.parametrize("factor", [1e-12, 0.5, 1.0, 1.0 + 1e-9, 3.0, 1e12])
def test_lemma_3_holds_for_any_answer_of_a_solver(factor: float) -> None:
    rng = np.random.default_rng(6)
    films = catalogue("counts", rng)
    exposure = Exposure.of(films)
    eps = Fraction(1, 3)
    caps = tuple(Fraction(int(k), 1000) for k in rng.integers(1, 300, 7))
    for _ in range(20):
        wild = (rng.lognormal(size=7) * factor * 0.01).tolist()
        rates = exact_rates(exposure, wild, caps, eps)
        assert exposure.overall(rates) <= eps
        assert all(0 < rate <= cap for rate, cap in zip(rates, caps, strict=True))


def many(rng: np.random.Generator, people: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    budgets = rng.dirichlet(np.ones(width), people).clip(1e-4)
    return budgets, rng.uniform(0.01, 0.6, people)


def overspent(exposure: Exposure, scales: np.ndarray, budgets: np.ndarray, epsilon: np.ndarray):
    """How many people lose more than the decimals they wrote, in rationals."""
    count = 0
    for own, shares, eps in zip(scales.tolist(), budgets.tolist(), epsilon.tolist(), strict=True):
        rates = [1 / Fraction(scale) for scale in own]
        alone = exposure.alone(rates)
        over = any(a > rational(t, "t") for a, t in zip(alone, shares, strict=True))
        count += over or exposure.overall(rates) > rational(eps, "eps")
    return count


@pytest.mark.parametrize("kind", KINDS)
def test_lemma_3_scales_for_many_people_keep_every_budget(kind: str) -> None:
    rng = np.random.default_rng(7)
    exposure = Exposure.of(catalogue(kind, rng))
    budgets, epsilon = many(rng, 150, 7)
    plans = plan_many(exposure, budgets=budgets, epsilon=epsilon)
    assert overspent(exposure, plans.scales, budgets, epsilon) == 0
    assert plans.gap.max() <= 1e-9
    with patch.object(module, "_SAFE", -7):  # the control: no margin at all
        bare = safe_scales(exposure, 1 / plans.scales * 2, budgets, epsilon)
    assert overspent(exposure, bare, budgets, epsilon) > 10
    safe = safe_scales(exposure, 1 / plans.scales * 2, budgets, epsilon)  # any answer of a solver
    assert overspent(exposure, safe, budgets, epsilon) == 0
    needed = 1 + 19 * 2.0**-52
    assert (safe <= bare * needed * (1 + 2.0**-51)).all()  # and the margin is all it costs


@GOALS
def test_people_planned_together_get_what_each_would_get(goal: Any) -> None:
    rng = np.random.default_rng(8)
    films = catalogue("binary", rng)
    budgets, epsilon = many(rng, 12, 7)
    together = plan_many(Exposure.of(films), budgets=budgets, epsilon=epsilon, goal=goal, threads=2)
    for person in range(12):
        named = dict(zip(films.attributes, budgets[person].tolist(), strict=True))
        own = plan_histogram(films, budgets=named, epsilon=float(epsilon[person]), goal=goal)
        scales = [float(1 / Fraction(rate)) for rate in own.mechanism.rates]
        assert together.scales[person] == pytest.approx(scales, rel=1e-4)


# Theorem 3 and Theorem 4


@GOALS
def test_theorem_3_no_rates_within_the_budgets_have_a_smaller_error(goal: Any) -> None:
    rng = np.random.default_rng(9)
    for films, budgets, epsilon, _ in draws(12, 10):
        plan = plan_histogram(films, budgets=budgets, epsilon=epsilon, goal=goal)
        assert plan.gap <= 1e-9
        exposure = plan.mechanism.exposure
        caps = tuple(t / int(c) for t, c in zip(plan.budgets, exposure.largest, strict=True))
        best = np.array([float(rate) for rate in plan.mechanism.rates])
        for width in (0.01, 0.3, 2.0):
            other = exact_rates(
                exposure, (best * rng.lognormal(0, width, 7)).tolist(), caps, plan.epsilon
            )
            error = error_of(plan, other, goal)
            assert error >= plan.error * (1 - plan.gap)  # Theorem 4: the bound is a bound


def error_of(plan: HistogramPlan, rates: tuple[Fraction, ...], goal: str) -> float:
    mechanism = replace(plan.mechanism, rates=rates)
    if goal == "mse":
        return float(mechanism.mean_squared_errors().mean())
    errors = mechanism.mean_absolute_errors()
    if goal == "mael":
        largest = plan.mechanism.exposure.largest
        alone = [t / int(c) for t, c in zip(plan.budgets, largest, strict=True)]
        errors = errors / replace(plan.mechanism, rates=alone).mean_absolute_errors()
    return float(errors.mean())


@GOALS
def test_the_error_of_a_plan_is_the_error_of_its_mechanism(goal: Any) -> None:
    for films, budgets, epsilon, _ in draws(8, 11):
        plan = plan_histogram(films, budgets=budgets, epsilon=epsilon, goal=goal)
        own = error_of(plan, tuple(map(Fraction, plan.mechanism.rates)), goal)
        assert plan.error == pytest.approx(own, rel=1e-9)
        scaled = tuple(map(Fraction, plan.proportional.rates))
        assert plan.proportional_error == pytest.approx(error_of(plan, scaled, goal), rel=1e-9)


def test_theorem_3_closed_form_for_one_shared_item() -> None:
    """One item with every attribute and no cap in reach: Laplace's optimum is an equal share."""
    films = Catalogue.of(np.ones((1, 4)))
    budgets = dict.fromkeys(films.attributes, 1.0)
    for goal in ("mae", "mse"):
        plan = plan_histogram(films, budgets=budgets, epsilon=0.4, goal=goal)
        assert [float(t) for t in plan.spent] == pytest.approx([0.1] * 4, rel=1e-6)


def test_prices_are_the_derivatives_of_the_error() -> None:
    for films, budgets, _, _ in draws(6, 12):
        epsilon, h = 0.3, 1e-6

        def error(films=films, budgets=budgets, epsilon=epsilon) -> float:
            return plan_histogram(films, budgets=budgets, epsilon=epsilon).error

        plan = plan_histogram(films, budgets=budgets, epsilon=epsilon)
        fall = (error(epsilon=epsilon - h) - error(epsilon=epsilon + h)) / (2 * h)
        assert plan.price == pytest.approx(fall, rel=1e-3, abs=1e-4 * plan.error)
        first = next(iter(budgets))
        step = 1e-5 * budgets[first]
        less = error(budgets={**budgets, first: budgets[first] - step})
        more = error(budgets={**budgets, first: budgets[first] + step})
        wanted = plan.cap_prices[0]
        assert wanted == pytest.approx((less - more) / (2 * step), rel=1e-3, abs=1e-3 * plan.error)


def test_a_budget_above_epsilon_has_no_price_and_epsilon_has() -> None:
    plan = plan_histogram(Catalogue.of(np.eye(2)), budgets={"0": 1, "1": "0.2"}, epsilon="0.5")
    slope = 0.25 * math.cosh(0.25) / math.sinh(0.25) ** 3  # of 1 / (2 sinh^2(y / 2)), over 2
    assert plan.price == pytest.approx(slope)
    assert plan.cap_prices[0] == 0
    assert plan.cap_prices[1] > 0


# Theorem 6


@pytest.mark.parametrize("goal", ["mae", "mse", "mael", PowerError(1.5)])
def test_theorem_6_one_attribute_per_item_gives_the_smaller_budget_exactly(goal: Any) -> None:
    rng = np.random.default_rng(13)
    for turn in range(20):
        films = catalogue("identity", rng)
        if turn % 2:  # values other than 1
            films = Catalogue.of(films.dense() * rng.integers(1, 5, (60, 1)) * 0.3)
        shares = rng.dirichlet(np.ones(7)).clip(1e-3).tolist()
        epsilon = float(rng.uniform(0.01, 0.4))
        plan = plan_histogram(
            films,
            budgets=dict(zip(films.attributes, shares, strict=True)),
            epsilon=epsilon,
            goal=goal,
        )
        eps = rational(epsilon, "epsilon")
        assert plan.spent == tuple(min(rational(t, "t"), eps) for t in shares)


@GOALS
def test_theorem_6_from_the_threshold_on_nothing_is_lost(goal: Any) -> None:
    for films, budgets, _, _ in draws(12, 14):
        low = plan_histogram(films, budgets=budgets, epsilon="0.001", goal=goal)
        at = plan_histogram(films, budgets=budgets, epsilon=low.threshold, goal=goal)
        assert at.nothing_lost
        assert at.spent == at.budgets  # to the last digit
        assert at.threshold == low.threshold
        assert at.advantage == pytest.approx(1)
        assert at.gap <= 1e-12
        below = plan_histogram(
            films, budgets=budgets, epsilon=low.threshold * Fraction(99, 100), goal=goal
        )
        assert not below.nothing_lost
        assert below.spent != below.budgets
        assert below.error > at.error


@GOALS
def test_theorem_6_proportional_scaling_keeps_the_budgets_and_is_never_better(goal: Any) -> None:
    for films, budgets, epsilon, _ in draws(16, 15):
        plan = plan_histogram(films, budgets=budgets, epsilon=epsilon, goal=goal)
        scaled = plan.proportional.exposure.alone(plan.proportional.rates)
        factor = min(1, plan.epsilon / plan.threshold)
        assert scaled == tuple(t * factor for t in plan.budgets)
        assert plan.proportional.exposure.overall(plan.proportional.rates) <= plan.epsilon
        assert plan.advantage >= 1 - 1e-9


def test_low_budgets_of_the_provider_gain_most() -> None:
    """The paper's "up to 5 times", on a generated catalogue of 18 genres at eps = 0.05."""
    rng = np.random.default_rng(16)
    films = catalogue("binary", rng, items=400, width=18)
    shares = rng.dirichlet(np.ones(18), 15).clip(1e-3)
    ratios = {
        epsilon: np.median(
            [
                plan_histogram(
                    films,
                    budgets=dict(zip(films.attributes, own.tolist(), strict=True)),
                    epsilon=epsilon,
                    goal="mae",
                ).advantage
                for own in shares
            ]
        )
        for epsilon in (0.05, 0.4)
    }
    assert ratios[0.05] > 3 > ratios[0.4] >= 1


# Goals


def test_a_goal_of_ones_own_is_a_function_of_the_rate_per_unit() -> None:
    films = Catalogue.of([[4, 0.5], [8, 0], [0, 1.5]])
    budgets = {"0": 1.0, "1": 2.0}
    for goal, own in (
        ("mae", LatticeError(np.array([4.0, 0.5]))),
        ("mse", LatticeError(np.array([4.0, 0.5]), squared=True)),
    ):
        built_in = plan_histogram(films, budgets=budgets, epsilon=0.6, goal=goal)
        custom = plan_histogram(films, budgets=budgets, epsilon=0.6, goal=own)
        assert custom.goal == "LatticeError"
        assert custom.error == pytest.approx(built_in.error, rel=1e-9)
        found, wanted = ([float(t) for t in plan.spent] for plan in (custom, built_in))
        assert found == pytest.approx(wanted, rel=1e-4)


def test_a_goal_decides_who_gets_more() -> None:
    films = Catalogue.of([[1, 1]])
    caring = PowerError(1.0, np.array([9.0, 1.0]))  # shares as the roots of the weights: 3 to 1
    plan = plan_histogram(films, budgets={"0": 1, "1": 1}, epsilon="0.4", goal=caring)
    assert [float(t) for t in plan.spent] == pytest.approx([0.3, 0.1], rel=1e-4)


def test_very_large_budgets_are_planned_too() -> None:
    plan = plan_histogram(Catalogue.of([[1, 1]]), budgets={"0": 900, "1": 500}, epsilon=800)
    assert not exceeded(plan, plan.mechanism.exposure)
    assert plan.gap <= 1e-9
    ample = {"budgets": {"0": 900, "1": 500}, "epsilon": 1400}
    relative = plan_histogram(Catalogue.of([[1, 1]]), goal="mael", **ample)
    assert relative.error == pytest.approx(1)  # nothing is lost


# What a plan reads


def test_a_plan_reads_no_profile() -> None:
    for function in (plan_histogram, plan_many):
        names = set(inspect.signature(function).parameters)
        assert not names & {"profile", "data", "values", "weights", "source"}


def test_a_plan_does_not_depend_on_names_and_order_of_items() -> None:
    rng = np.random.default_rng(17)
    films = catalogue("counts", rng)
    table = films.dense()[rng.permutation(60)]
    budgets = dict.fromkeys(films.attributes, 0.2)
    one = plan_histogram(films, budgets=budgets, epsilon=0.3)
    other = plan_histogram(Catalogue.of(table), budgets=budgets, epsilon=0.3)
    assert one.mechanism == other.mechanism


def test_attributes_without_a_budget_are_left_out() -> None:
    films = Catalogue.of([[1, 1, 0], [0, 1, 1]], attributes=("Crime", "Drama", "War"))
    plan = plan_histogram(films, budgets={"War": 1, "Crime": "0.5"}, epsilon=2)
    assert plan.attributes == ("Crime", "War")
    assert plan.spent == (Fraction(1, 2), 1)
    assert plan.mechanism.guarantee().attributes["Drama"] == 0


FILMS = Catalogue.of([[1, 1, 0]], attributes=("Crime", "Drama", "Unknown"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"budgets": {}}, "^budgets must be a budget for at least one attribute"),
        ({"budgets": {"Dramma": 1}}, "^budgets must be for attributes .*'Dramma'"),
        ({"budgets": {"Drama": 0}}, "^budget of Drama must be positive"),
        ({"budgets": {"Drama": -1}}, "^budget of Drama must be positive"),
        ({"budgets": {"Drama": math.inf}}, "^budget of Drama must be"),
        ({"budgets": {"Drama": "much"}}, "^budget of Drama must be"),
        ({"budgets": {"Unknown": 1}}, "^attributes must be .*'Unknown'"),
        ({"budgets": {"Drama": 1e-30}}, "^budgets must be large enough"),
        ({"epsilon": 0}, "^epsilon must be positive"),
        ({"epsilon": math.nan}, "^epsilon must be"),
        ({"goal": "rmse"}, "^goal must be mae, mse, mael"),
    ],
)
def test_bad_wishes_are_refused_by_name(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        plan_histogram(FILMS, **{"budgets": {"Drama": 1}, "epsilon": 1, **changes})


@pytest.mark.parametrize(
    ("budgets", "epsilon", "name"),
    [
        ([[0.1, 0.0]], [1.0], "budgets"),
        ([[0.1, math.nan]], [1.0], "budgets"),
        ([[0.1, 1.0]], [-1.0], "epsilon"),
        ([[0.1, 1.0]], [math.inf], "epsilon"),
        ([[0.1, 1 / LARGEST_SCALE / 2]], [1.0], "budgets"),
        ([[0.1]], [1.0], "budgets"),
        ([0.1, 0.1], [1.0], "budgets"),
        ([[0.1, 0.1]], [1.0, 1.0], "budgets"),
    ],
)
def test_bad_wishes_of_many_are_refused(budgets: Any, epsilon: Any, name: str) -> None:
    films = Exposure.of(Catalogue.of([[1, 1]]))
    with pytest.raises(ParameterError, match=f"^{name} must be"):
        plan_many(films, budgets=np.array(budgets), epsilon=np.array(epsilon))
