"""Information gain near by: every small table by enumeration, admissibility, planted faults."""

import math
from functools import cache
from itertools import product

import numpy as np
import pytest

from reticent.guarantees import RECORD_SUBSTITUTE
from reticent.mechanisms import information_gain
from reticent.mechanisms.dampening import Dampened, Scored
from reticent.mechanisms.information_gain import GainSensitivity, gain_limit, steps_of_entropy
from reticent.mechanisms.local_sensitivity import WIDENED
from reticent.mechanisms.splits import grid_of, worth
from reticent.mechanisms.tree import PrivateTree
from reticent.testing import Pair
from reticent.testing.admissible import check_admissible

# values x classes and the most rows of tables that are listed one by one
SHAPES = [((2, 2), 6), ((3, 2), 5), ((2, 3), 5), ((1, 2), 10), ((1, 3), 8)]
Cells = tuple[int, ...]


def tables(cells: int, most: int) -> list[Cells]:
    """All counts of so many cells with at most ``most`` rows in all."""
    if cells == 0:
        return [()]
    return [(first, *rest) for first in range(most + 1) for rest in tables(cells - 1, most - first)]


def nearby(table: Cells) -> list[Cells]:
    """With one row more or one row less."""
    moved = [
        (*table[:i], table[i] + step, *table[i + 1 :])
        for i, step in product(range(len(table)), (1, -1))
    ]
    return [other for other in moved if min(other) >= 0]


def f(x: int) -> float:
    return (x + 1) * math.log2(x + 1) - (x * math.log2(x) if x else 0)


def h(a: int, b: int) -> float:
    return f(a) if b == 0 else f(a - 1) - f(b - 1)


@cache
def gain(table: Cells, shape: tuple[int, int]) -> float:
    """Read aloud from the definition, in the standard library's floats."""
    rows = np.reshape(table, shape).tolist()
    return sum(n * math.log2(n / sum(row)) for row in rows for n in row if n)


@cache
def largest_h(table: Cells, shape: tuple[int, int]) -> float:
    rows = np.reshape(table, shape).tolist()
    return max(h(sum(row), n) for row in rows for n in row)


@pytest.mark.parametrize(("shape", "most"), SHAPES)
def test_lemma_1_h_is_the_largest_change_and_G_bounds_it(shape, most) -> None:
    closest = 0.0
    for table in tables(math.prod(shape), most):
        here = gain(table, shape)
        changes = [gain(other, shape) - here for other in nearby(table)]
        assert max(map(abs, changes)) == pytest.approx(largest_h(table, shape), abs=1e-9)
        within = [abs(gain(other, shape) - here) for other in nearby(table) if sum(other) <= most]
        assert max(within) <= float(gain_limit(most))
        closest = max(closest, max(within))
    assert closest > 0.8 * float(gain_limit(most))  # G is not loose by a factor
    assert closest > float(gain_limit(most // 2 - 1))  # and that of half the rows is too small


@pytest.mark.parametrize(("shape", "most"), SHAPES)
def test_lemma_1_a_row_more_never_raises_the_worth(shape, most) -> None:
    for table in tables(math.prod(shape), most):
        for other in nearby(table):
            if sum(other) > sum(table):
                assert gain(other, shape) <= gain(table, shape) + 1e-12


@pytest.mark.parametrize(("shape", "most"), SHAPES)
def test_worths_are_those_of_the_definition(shape, most) -> None:
    for table in tables(math.prod(shape), most):
        found = float(worth("entropy", np.reshape(table, shape).astype(float)).sum())
        assert found == pytest.approx(gain(table, shape), abs=1e-9)


def test_f_starts_with_0_and_2() -> None:
    """L6: published code has f(1) = 0."""
    assert steps_of_entropy(6).tolist() == pytest.approx([f(x) for x in range(6)])
    assert steps_of_entropy(2).tolist() == [0.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        steps_of_entropy(2)[0] = 1.0


def within_reach(domain: list[Cells], shape: tuple[int, int], steps: int) -> list[dict]:
    """The largest h of any table t rows away, t = 0, 1, ..., by walking from table to table."""
    levels = [{table: largest_h(table, shape) for table in domain}]
    for _ in range(1, steps):
        before = levels[-1]
        levels.append(
            {
                table: max([before[table], *(before.get(other, 0.0) for other in nearby(table))])
                for table in domain
            }
        )
    return levels


@pytest.mark.parametrize(
    ("shape", "most", "steps"), [((2, 2), 4, 6), ((3, 2), 3, 4), ((2, 3), 3, 4), ((1, 2), 9, 12)]
)
def test_lemma_2_deltas_are_those_of_exhaustive_search(shape, most, steps) -> None:
    """With whole tables, empty ones and empty parts included."""
    levels = within_reach(tables(math.prod(shape), most + steps), shape, steps)
    for table in tables(math.prod(shape), most):
        counts = np.reshape(table, shape)
        found = GainSensitivity([counts], rows=steps).deltas(counts)
        assert found.tolist() == pytest.approx([level[table] for level in levels], abs=1e-9)


def searched(counts: np.ndarray, steps: int) -> list[float]:
    """The largest h over all (a, b) that t rows can lead to, cell by cell."""
    best = np.zeros(steps)
    for row in counts.tolist():
        for n in row:
            others = sum(row) - n
            for b, o in product(range(n + steps), range(others + steps)):
                away = abs(b - n) + abs(o - others)
                if away < steps:
                    best[away] = max(best[away], h(b + o, b))
    return np.maximum.accumulate(best).tolist()


def test_lemma_2_deltas_of_random_tables_are_those_of_search() -> None:
    rng = np.random.default_rng(3)
    for _ in range(25):
        values, classes = rng.integers(1, 4), rng.integers(2, 5)
        counts = rng.integers(0, rng.integers(2, 25), (values, classes))
        found = GainSensitivity([counts], rows=30).deltas(counts)
        assert found.tolist() == pytest.approx(searched(counts, 30), abs=1e-9)


def test_lemma_2_deltas_of_few_rows_and_large_counts() -> None:
    """Fewer steps than rows of a class; more steps; one step."""
    counts = np.array([[40, 30], [0, 25]])
    whole = GainSensitivity([counts], rows=60).deltas(counts)
    assert len(whole) == 60
    for rows in (1, 7, 25, 31):
        assert (GainSensitivity([counts], rows=rows).deltas(counts) == whole[:rows]).all()


def choice(scores: str, rows: int, **given) -> Dampened:
    """What a tree really chooses with."""
    plan = PrivateTree(
        epsilon=1,
        sizes=(3, 3),
        ordered=(False, False),
        classes=2,
        depth=1,
        criterion="entropy",
        scores=scores,
        split="multiway",
        stop="size",
        rows=rows,
        **given,
    )
    return plan.choice(0, 1)


def view(shape, rows, sensitivity=GainSensitivity, **given):
    @cache
    def scored(table: Cells) -> Scored:
        counts = np.reshape(table, shape)
        values = [float(worth("entropy", counts.astype(float)).sum())]
        return Scored(values, sensitivity([counts], rows, **given))

    return scored


def added(shape, most) -> list[Pair]:
    return [
        Pair(table, other)
        for table in tables(math.prod(shape), most)
        for other in nearby(table)
        if sum(other) < sum(table)
    ]


def replaced(shape, rows) -> list[Pair]:
    full = [table for table in tables(math.prod(shape), rows) if sum(table) == rows]
    return [
        Pair(table, other)
        for table in full
        for less in nearby(table)
        if sum(less) < rows
        for other in nearby(less)
        if sum(other) == rows and other > table
    ]


@pytest.mark.parametrize("scores", ["dampened", "shifted"])
@pytest.mark.parametrize(
    ("shape", "most"), [((2, 2), 6), ((3, 2), 4), ((2, 3), 4), ((1, 2), 10), ((1, 3), 7)]
)
def test_lemma_3_what_a_tree_uses_is_admissible(scores, shape, most) -> None:
    """In whole steps; ``most`` is the bound on rows."""
    found = check_admissible(view(shape, most), added(shape, most), choice(scores, most))
    assert found.holds, found.problems
    assert found.largest_move > 0.6


@pytest.mark.parametrize("shape", [(1, 2), (2, 2), (1, 3)])
def test_lemma_2_replaced_rows_need_the_value_at_2t(shape) -> None:
    """L4; with the value at t it is not admissible: the control."""
    rows = 10 if shape == (1, 2) else 7
    pairs = replaced(shape, rows)
    twice = check_admissible(view(shape, rows, per_unit=2), pairs, choice("dampened", rows))
    assert twice.holds, twice.problems
    once = check_admissible(view(shape, rows), pairs, choice("dampened", rows))
    assert any("of a neighbour is" in sentence for sentence in once.problems)


def test_lemma_2_the_counterexample_of_the_paper_for_replaced_rows() -> None:
    """L4: (8, 2) is one replaced row away from (9, 1), whose local sensitivity is larger."""
    here, there = np.array([[8, 2]]), np.array([[9, 1]])
    near = GainSensitivity([here], rows=12).deltas(here)
    other = GainSensitivity([there], rows=12).deltas(there)
    assert near[1] == pytest.approx(4.529, abs=5e-4)
    assert other[0] == pytest.approx(4.690, abs=5e-4)
    assert near[1] < other[0] <= near[2]


def test_a_replaced_row_costs_a_tree_twice_instead() -> None:
    """A tree takes add/remove sensitivities and half the budget."""
    whole = choice("dampened", 9)
    half = choice("dampened", 9, unit=RECORD_SUBSTITUTE)
    assert half.rate * 2 == whole.rate


class Capped(GainSensitivity):
    """L5: no part may have more rows than the table at hand."""

    def deltas(self, table):
        total = int(table.sum())
        best = []
        for t in range(self.rows):
            reached = [0.0]
            for a, b in zip(np.repeat(table.sum(1), table.shape[1]), table.ravel(), strict=True):
                for r in range(min(t, int(b)) + 1):
                    reached.append(h(min(int(a) + t - 2 * r, max(total, int(b) - r)), int(b) - r))
            best.append(max(reached))
        return np.array(best)


class NoEmptyParts(GainSensitivity):
    """Values that do not occur are left out."""

    def deltas(self, table):
        kept = table[table.sum(axis=1) > 0]
        return super().deltas(kept if len(kept) else table[:1])


class OneStepBehind(GainSensitivity):
    """delta(t) is that of t - 1 rows away."""

    def deltas(self, table):
        found = super().deltas(table)
        return np.concatenate([found[:1], found[:-1]])


def test_control_a_cap_at_the_size_of_the_table_is_caught() -> None:
    pairs = added((1, 2), 8)
    found = check_admissible(view((1, 2), 8, Capped), pairs, choice("dampened", 8))
    assert any("of a neighbour is" in sentence for sentence in found.problems)


def test_control_values_that_do_not_occur_count() -> None:
    """Beside (3, 3) an empty part decides: one row there is the larger sensitivity."""
    pairs, chosen = [Pair((3, 3, 0, 0), (3, 3, 1, 0))], choice("dampened", 7)
    assert check_admissible(view((2, 2), 7), pairs, chosen).holds
    found = check_admissible(view((2, 2), 7, NoEmptyParts), pairs, chosen)
    assert any("of a neighbour is" in sentence for sentence in found.problems)


def test_control_distances_that_lag_behind_are_caught() -> None:
    found = check_admissible(view((2, 2), 5, OneStepBehind), added((2, 2), 5), choice("shifted", 5))
    assert any("of a neighbour is" in sentence for sentence in found.problems)


def test_control_a_wrong_f_is_caught(monkeypatch) -> None:
    """L6: f(1) = 0 where it is 2."""

    def wrong(size):
        found = np.array(steps_of_entropy(size))
        found[1:2] = 0
        return found

    monkeypatch.setattr(information_gain, "steps_of_entropy", wrong)
    found = check_admissible(view((1, 2), 6), added((1, 2), 6), choice("dampened", 6))
    assert any(sentence.startswith("delta(0)") for sentence in found.problems)


ROWS = 12
STEP = float(grid_of("entropy", ROWS).step)


def with_errors(size: int) -> np.ndarray:
    """f with errors below a quarter of a step, others for each length of the table."""
    rng = np.random.default_rng(size)
    return np.array(steps_of_entropy(size)) + rng.uniform(-0.24, 0.24, size) * STEP


class NotRaised(GainSensitivity):
    """Rounded up and widened, without a step more for each row away."""

    def _summed(self, table, grid, limit):
        whole = np.ceil(self.deltas(table) * 2.0**-grid.exponent).astype(np.int64) + WIDENED
        return np.concatenate([[0], np.cumsum(np.minimum(whole, limit))])


def test_lemma_3_holds_though_f_is_wrong_by_less_than_half_a_step(monkeypatch) -> None:
    monkeypatch.setattr(information_gain, "steps_of_entropy", with_errors)
    pairs, chosen = added((1, 2), ROWS), choice("dampened", ROWS)
    assert check_admissible(view((1, 2), ROWS), pairs, chosen).holds
    bare = check_admissible(view((1, 2), ROWS, NotRaised), pairs, chosen)
    assert any("of a neighbour is" in sentence for sentence in bare.problems)  # the control


def test_lemma_3_every_step_away_is_one_step_more() -> None:
    counts, grid, limit = np.array([[5, 3], [0, 2]]), grid_of("entropy", ROWS), 1 << 60
    local = GainSensitivity([counts], ROWS)
    sums = [int(local.sums(np.array([t]), grid, limit)[0]) for t in range(ROWS + 1)]
    exact = np.ceil(local.deltas(counts) / STEP).astype(int) + WIDENED + np.arange(ROWS)
    assert np.diff(sums).tolist() == exact.tolist()


def test_beyond_the_bound_of_rows_every_delta_is_the_limit() -> None:
    counts, grid = np.array([[5, 3], [0, 2]]), grid_of("entropy", ROWS)
    local = GainSensitivity([counts, counts], ROWS)
    near, far = (local.sums(np.array([t, t]), grid, 7) for t in (ROWS, ROWS + 5))
    assert (far - near).tolist() == [35, 35]
    assert near.tolist() == [7 * ROWS] * 2  # and none is larger
    assert local.candidates == 2


def test_an_empty_table_and_one_class() -> None:
    for counts in (np.zeros((2, 2), int), np.zeros((3, 1), int), np.array([[4], [0]])):
        found = GainSensitivity([counts], rows=8).deltas(counts)
        assert found.tolist() == pytest.approx(searched(counts, 8), abs=1e-9)
