"""Ways to share a budget: both kinds of budgets are kept, errors are those of the noise."""

import itertools
import math
from fractions import Fraction

import pytest

from reticent.data.catalogue import Catalogue
from reticent.errors import ParameterError
from reticent.mechanisms import plan_histogram
from reticent.tasks import comparing_histogram as comparing
from reticent.tasks.comparing_histogram import ALIKE, BEST, MEASURED, WAYS, histogram_curves

FILMS = [[1, 1, 0], [0, 1, 0], [0, 2, 1]]
NAMES = ("Crime", "Drama", "War")
BUDGETS = {"Crime": Fraction(1, 10), "Drama": Fraction(1, 50), "War": Fraction(1, 5)}
EPSILONS = ["0.01", "0.05", "0.1", "0.3", "2"]


def films() -> Catalogue:
    return Catalogue.of(FILMS, attributes=NAMES)


def plan(epsilon="0.1", goal="mse"):
    return plan_histogram(films(), budgets=BUDGETS, epsilon=epsilon, goal=goal)


def mechanism(way, epsilon):
    return comparing._shared(plan(epsilon), way)


def keeps(rates, epsilon) -> bool:
    """Every film and every attribute alone, by hand."""
    whole = all(sum(a * y for a, y in zip(film, rates, strict=True)) <= epsilon for film in FILMS)
    most = [max(film[j] for film in FILMS) for j in range(3)]
    return whole and all(c * y <= t for c, y, t in zip(most, rates, BUDGETS.values(), strict=True))


@pytest.mark.parametrize(("way", "epsilon"), [*itertools.product(WAYS, EPSILONS)])
def test_every_way_keeps_the_budgets(way, epsilon) -> None:
    rates = [Fraction(rate) for rate in mechanism(way, epsilon).rates]
    assert keeps(rates, Fraction(epsilon))
    if way != "added-up":  # the others leave nothing unused: more of all would be too much
        assert not keeps([rate * Fraction(1001, 1000) for rate in rates], Fraction(epsilon))


def test_errors_are_those_of_the_noise() -> None:
    """Summed over the law of the noise of each attribute, outcome by outcome."""
    for way in WAYS:
        made = mechanism(way, "2")
        squares = []
        for rate in made.rates:
            q = math.exp(-float(rate))
            chance = (1 - q) / (1 + q)
            squares.append(sum(2 * chance * q**z * z * z for z in range(1, 20_000)))
        found = histogram_curves(films(), plan("2"), epsilons=["2"], ways=[way])
        assert found.rows[0].value == pytest.approx(sum(squares) / 3, rel=1e-9)


@pytest.mark.parametrize("goal", ["mse", "mae", "mael"])
def test_the_best_way_is_the_plan(goal) -> None:
    made = plan(goal=goal)
    found = histogram_curves(films(), made, epsilons=EPSILONS)
    assert found.y == MEASURED[goal]
    for epsilon in EPSILONS:
        there = plan(epsilon, goal)
        at = float(Fraction(epsilon))
        assert found.at(BEST, at).value == pytest.approx(there.error, rel=1e-9)
        assert found.at(ALIKE, at).value == pytest.approx(there.proportional_error, rel=1e-9)
        least = min(found.at(way, at).value for way in WAYS)
        assert found.at(BEST, at).value <= least * (1 + 1e-9)


def test_above_the_threshold_nothing_is_lost() -> None:
    found = histogram_curves(films(), plan(), epsilons=["0.01", "2"])
    for way in (BEST, ALIKE):
        assert found.at(way, 2.0).value == pytest.approx(found.reference, rel=1e-12)
        assert found.at(way, 0.01).value > 2 * found.reference
    assert found.more["threshold"] == pytest.approx(0.22)
    assert found.more["chosen"] == 0.1


def test_weights_and_replaced_items_are_planned_as_asked() -> None:
    weighted = plan_histogram(films(), budgets=BUDGETS, epsilon="0.1", weighted=True)
    found = histogram_curves(films(), weighted, epsilons=["0.1"], ways=[BEST])
    assert found.rows[0].value == pytest.approx(weighted.error, rel=1e-6)


def test_it_is_exact_and_asks_for_nothing_else() -> None:
    told = []
    first = histogram_curves(films(), plan(), epsilons=EPSILONS, progress=told.append)
    assert first == histogram_curves(films(), plan(), epsilons=EPSILONS[::-1])
    assert told == [f"sharing epsilon {float(Fraction(size)):g}" for size in EPSILONS]
    assert first.runs == 0
    with pytest.raises(ParameterError, match="method must be one of"):
        histogram_curves(films(), plan(), epsilons=EPSILONS, ways=["guessed"])
