"""Plans keep every budget in exact arithmetic, and the check would see it if they did not."""

from fractions import Fraction

import numpy as np
import pytest

from benchmarks.multilevel import excesses
from reticent.data.catalogue import Catalogue
from reticent.guarantees import ITEM, ITEM_SUBSTITUTE
from reticent.mechanisms.exposure import Exposure
from reticent.mechanisms.multilevel_plan import plan_histogram, plan_many

GOALS = ("mae", "mse", "mael")


def some_exposures() -> dict[str, Exposure]:
    generator = np.random.default_rng(6)
    binary = (generator.random((200, 12)) < 0.2).astype(int)
    binary[0] = 1
    whole = generator.integers(0, 9, (60, 7))
    whole[0] = 1
    signed = generator.normal(size=(40, 5))
    return {
        "binary": Exposure.of(Catalogue.of(binary)),
        "whole": Exposure.of(Catalogue.of(whole)),
        "signed": Exposure.of(Catalogue.of(signed)),
        "weighted": Exposure.of(Catalogue.of(binary), weighted=True),
        "replaced": Exposure.of(Catalogue.of(whole[:20]), unit=ITEM_SUBSTITUTE),
    }


@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("name", some_exposures())
def test_scales_of_many_people_keep_every_budget_exactly(name, goal) -> None:
    exposure = some_exposures()[name]
    m, people = len(exposure.attributes), 150
    generator = np.random.default_rng(GOALS.index(goal))
    budgets = np.maximum(generator.dirichlet(np.ones(m), people), 1e-3)
    epsilon = generator.uniform(0.05, 0.4, people)
    epsilon[::3] *= 10  # nothing is lost
    budgets[::5] = budgets[::5].round(2).clip(0.01)  # decimals that no float is
    plans = plan_many(exposure, budgets=budgets, epsilon=epsilon, goal=goal)
    assert plans.gap.max() <= 1e-9
    assert excesses(exposure, plans.scales, budgets, epsilon) == 0
    # Control: a little less noise is seen by those at their caps, more by all.
    assert excesses(exposure, plans.scales * (1 - 64 * 2.0**-52), budgets, epsilon) >= people // 5
    assert excesses(exposure, plans.scales * (1 - 1e-8), budgets, epsilon) == people


@pytest.mark.parametrize("goal", GOALS)
def test_a_single_attribute_per_item_gets_the_smaller_budget_exactly(goal) -> None:
    pages = Catalogue.of(np.eye(5), attributes=tuple("abcde"))
    budgets = {"a": 0.1, "b": 0.3, "c": 0.7, "d": 2, "e": 0.05}
    plan = plan_histogram(pages, budgets=budgets, epsilon=0.3, goal=goal)
    assert plan.spent == tuple(Fraction(s) for s in ("0.1", "0.3", "0.3", "0.3", "0.05"))


@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("unit", [ITEM, ITEM_SUBSTITUTE])
def test_plans_keep_every_budget_exactly(goal, unit) -> None:
    generator = np.random.default_rng(9)
    too_much = 0
    for number in range(40):
        m = int(generator.integers(1, 8))
        matrix = generator.integers(0, 2 + number % 3, (25, m))
        matrix[0], matrix[1] = 1, 0
        films = Catalogue.of(matrix * (0.1 if number % 2 else 1))
        budgets = {
            name: round(float(b), 3)
            for name, b in zip(films.attributes, generator.uniform(0.01, 1, m), strict=True)
        }
        plan = plan_histogram(
            films,
            budgets=budgets,
            epsilon=round(float(generator.uniform(0.05, 2)), 2),
            goal=goal,
            unit=unit,
        )
        exposure, rates = plan.mechanism.exposure, plan.mechanism.rates
        assert exposure.overall(rates) <= plan.epsilon
        assert all(
            a <= Fraction(str(b))
            for a, b in zip(exposure.alone(rates), budgets.values(), strict=True)
        )
        assert plan.gap <= 1e-9
        more = [rate * (1 + Fraction(1, 2**50)) for rate in rates]
        overall = exposure.overall(more) > plan.epsilon
        alone = any(
            a > Fraction(str(b))
            for a, b in zip(exposure.alone(more), budgets.values(), strict=True)
        )
        too_much += overall or alone
    assert too_much == 40
