"""What a split is worth: by hand, and what one row changes, by enumeration, with weights."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from reticent.mechanisms.information_gain import gain_limit
from reticent.mechanisms.local_sensitivity import WIDENED, in_steps
from reticent.mechanisms.splits import grid_of, limit_of, spread_of, worth
from reticent.mechanisms.tree import PrivateTree

WEIGHTS = [(1.0, 1.0, 1.0), (1.0, 0.5, 0.25), (0.01, 1.0, 0.3), (1e-6, 1.0, 1e-3)]
COUNTS = list(product(range(8), repeat=3))


def changes(criterion, weights) -> np.ndarray:
    """By how much each row that could be added changes the worth of each part."""
    before = np.array(COUNTS, dtype=float)
    steps = np.eye(3)
    after = before[:, None, :] + steps[None]
    own = worth(criterion, before * np.array(weights))
    return worth(criterion, after * np.array(weights)) - own[:, None]


def test_worths_by_hand() -> None:
    counts = np.array([[3.0, 1.0], [0.0, 0.0], [0.0, 5.0], [2.0, 2.0]])
    assert worth("gini", counts).tolist() == [2.5, 0.0, 5.0, 2.0]
    assert worth("accuracy", counts).tolist() == [3.0, 0.0, 5.0, 2.0]
    three = 3 * math.log2(0.75) - 2
    assert worth("entropy", counts).tolist() == pytest.approx([three, 0.0, 0.0, -4.0])


@pytest.mark.parametrize("weights", WEIGHTS)
def test_lemma_4_a_row_changes_gini_by_more_than_minus_1_and_at_most_1(weights) -> None:
    found = changes("gini", weights)
    assert (found <= np.array(weights) * (1 + 1e-9)).all()  # no more than its own weight
    assert (found > -np.array(weights) * (1 + 1e-9)).all()
    assert found.max() == pytest.approx(1)
    assert (found / np.array(weights)).min() < -0.5


def test_lemma_4_exactly_in_fractions() -> None:
    """Without a float, to more rows of two classes; both ends are approached."""
    least, most = Fraction(0), Fraction(0)
    for x, y in product(range(40), repeat=2):
        before = Fraction(x * x + y * y, max(x + y, 1))
        change = Fraction((x + 1) ** 2 + y * y, x + y + 1) - before
        least, most = min(least, change), max(most, change)
    assert least > -1
    assert least < Fraction(-9, 10)
    assert most == 1


@pytest.mark.parametrize("weights", WEIGHTS)
def test_lemma_4_a_row_raises_accuracy_by_0_to_its_weight(weights) -> None:
    found = changes("accuracy", weights)
    assert found.min() == 0
    assert (found <= np.array(weights) * (1 + 1e-9)).all()
    assert found.max() == pytest.approx(1)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_lemma_1_a_row_lowers_entropy_by_at_most_G_whatever_its_weight(weights) -> None:
    found = changes("entropy", weights)
    assert found.max() <= 1e-9
    rows = sum(COUNTS[-1]) + 1
    assert -found.min() <= float(gain_limit(rows))


def parted(criterion, rows=8) -> int:
    """How far one row can move two splits apart, in steps of the grid, over pairs of parts."""
    grid = grid_of(criterion, rows)
    before = np.array([c for c in product(range(rows), repeat=2) if sum(c) < rows], dtype=float)
    after = before + np.array([1.0, 0.0])
    step = float(grid.step)
    moved = np.rint(worth(criterion, after) / step) - np.rint(worth(criterion, before) / step)
    return int(moved.max() - moved.min())


@pytest.mark.parametrize("criterion", ["gini", "accuracy", "entropy"])
def test_one_row_moves_two_worths_apart_by_at_most_the_spread(criterion) -> None:
    rows = 8
    most = in_steps(limit_of(criterion, rows), grid_of(criterion, rows))
    allowed = spread_of(criterion, rows) * most
    assert parted(criterion) <= allowed
    assert parted(criterion) > Fraction(8, 10) * allowed
    one_way = 1 + Fraction(2 * WIDENED, most)
    assert (parted(criterion) <= one_way * most) == (criterion != "gini")  # the control


def test_limits_and_spreads() -> None:
    assert limit_of("gini", 10) == limit_of("accuracy", None) == 1
    assert limit_of("entropy", 10) == gain_limit(10)
    assert spread_of("gini", None) == 2
    assert 1 < spread_of("accuracy", None) < Fraction(10_001, 10_000)
    assert 1 < spread_of("entropy", 40_000) < 1 + Fraction(1, 10**6)


@pytest.mark.parametrize("rows", [1, 10, 40_000, 10**6, 1 << 25, 1 << 33])
def test_a_worth_of_all_rows_fits_the_integers_of_a_choice(rows) -> None:
    plan = PrivateTree(
        epsilon=1, sizes=(3,), ordered=(True,), classes=2, depth=1, criterion="entropy", rows=rows
    )
    chosen = plan.choice(0, 2)
    assert chosen.grid == grid_of("entropy", rows)
    assert rows / float(chosen.grid.step) < 1 << 42
    spread = float(np.spacing(rows * math.log2(rows + 1)))  # the error of n log n
    assert spread < float(chosen.grid.step) / 2


def test_plain_scores_use_the_discount_of_one_way_worths() -> None:
    given = {"epsilon": 1, "sizes": (3,), "ordered": (True,), "classes": 2, "depth": 1, "rows": 9}
    for criterion in ("accuracy", "entropy"):
        plan = PrivateTree(**given, criterion=criterion)
        assert plan.choice(0, 2).spread == spread_of(criterion, 9)
        assert PrivateTree(**given, criterion=criterion, one_way=False).choice(0, 2).spread == 2
    assert PrivateTree(**given).choice(0, 2).spread == 2
    for scores in ("dampened", "shifted"):
        plan = PrivateTree(
            **given, criterion="entropy", scores=scores, split="multiway", stop="size"
        )
        assert plan.choice(0, 2).spread == 2
        assert plan.choice(0, 2).steps == 9
        assert plan.choice(0, 2).shift == ("none" if scores == "dampened" else "left")
