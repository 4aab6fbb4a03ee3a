"""What growing a tree spends, recomputed from what it really drew, level by level.

As in ``test_noise_used.py``: the source writes down every draw; what one row loses is the sum over
the levels of one choice, and of one noisy size, and of the counts of one leaf.
"""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from reticent.amounts import nano_up
from reticent.guarantees import RECORD, RECORD_SUBSTITUTE
from reticent.mechanisms.dampening import SCORE_BITS
from reticent.mechanisms.decision_tree import Tree
from reticent.mechanisms.splits import grid_of, limit_of
from reticent.mechanisms.tree import Coded, PrivateTree
from reticent.testing import Call, RecordingSource

EPSILON = Fraction(3, 7)
STEP = 1 << SCORE_BITS
ROWS = 300
LOCAL = {"criterion": "entropy", "split": "multiway", "stop": "size"}


def plan(**given: Any) -> PrivateTree:
    settings: dict[str, Any] = {
        "epsilon": EPSILON,
        "sizes": (3, 4, 2),
        "ordered": (True, False, True),
        "classes": 2,
        "depth": 3,
        "rows": ROWS,
    }
    return PrivateTree(**{**settings, **given})


def people() -> Coded:
    rng = np.random.default_rng(0)
    codes = np.column_stack([rng.integers(0, size, ROWS) for size in (3, 4, 2)])
    return Coded(codes.astype(np.uint16), (codes[:, 0] > 1).astype(np.int64))


def levels_of(tree: Tree) -> list[int]:
    found: list[int] = []
    for parent in tree.parents.tolist():
        found.append(0 if parent < 0 else found[parent] + 1)
    return found


def apart(mechanism: PrivateTree) -> Fraction:
    """By how much one row moves two scores apart: from the theory, not from the mechanism."""
    if mechanism.criterion == "gini" or mechanism.scores != "plain" or not mechanism.one_way:
        return Fraction(2 * STEP + 2)
    steps = -(-limit_of(mechanism.criterion, ROWS) // grid_of(mechanism.criterion, ROWS).step) + 2
    return (1 + Fraction(4, steps)) * STEP + 2  # Lemmas 1 and 4, each worth rounded


def spent(mechanism: PrivateTree, tree: Tree, calls: tuple[Call, ...]) -> Fraction:
    """What one row loses: each level the same in all of its nodes, each drawn once."""
    names = {"permute-and-flip": "permute_and_flip", "exponential": "exponential"}
    choices = [call for call in calls if call.primitive == names[mechanism.law]]
    noises = [call for call in calls if call.primitive == "discrete_laplace"]
    assert len(choices) + len(noises) == len(calls)  # nothing else was drawn
    *sizes, leaves = noises
    inner = [level for level, child in zip(levels_of(tree), tree.child, strict=True) if child >= 0]
    assert len(choices) == len(inner)
    rates: dict[int, set[Fraction]] = {}
    for level, call in zip(inner, choices, strict=True):
        rates.setdefault(level, set()).add(Fraction(call.arguments["rate"]))
    assert all(len(found) == 1 for found in rates.values())
    total = 1 / Fraction(leaves.arguments["scale"])
    total += sum(min(found) for found in rates.values()) * apart(mechanism)
    return total + sum(1 / Fraction(call.arguments["scale"]) for call in sizes)


CASES: dict[str, dict[str, Any]] = {
    "gini": {},
    "one level": {"depth": 1},
    "leaves only": {"depth": 0},
    "deep": {"depth": 6},
    "exponential": {"law": "exponential"},
    "accuracy": {"criterion": "accuracy"},
    "entropy": {"criterion": "entropy"},
    "both ways": {"criterion": "entropy", "one_way": False},
    "growth": {"growth": 5},
    "falling": {"growth": Fraction(1, 2)},
    "leaves": {"leaf_share": Fraction(9, 10)},
    "weights": {"weights": (Fraction(1, 2), Fraction(1))},
}


@pytest.mark.parametrize("unit", [RECORD, RECORD_SUBSTITUTE], ids=["added", "replaced"])
@pytest.mark.parametrize("case", CASES)
def test_a_tree_draws_what_its_promise_needs(case: str, unit: Any) -> None:
    mechanism, source = plan(**CASES[case], unit=unit), RecordingSource(seed=1)
    release = mechanism.release(people(), source)
    rows = 1 if unit == RECORD else 2  # a row that is replaced goes, and another comes
    assert spent(mechanism, release.value, source.calls) * rows == EPSILON
    assert release.event.loss.overall == nano_up(EPSILON)


@pytest.mark.parametrize("unit", [RECORD, RECORD_SUBSTITUTE], ids=["added", "replaced"])
@pytest.mark.parametrize(
    "given",
    [
        {"stop": "size"},
        {**LOCAL},
        {**LOCAL, "scores": "dampened"},
        {**LOCAL, "scores": "shifted", "law": "exponential"},
    ],
    ids=["binary", "multiway", "dampened", "shifted"],
)
def test_a_tree_that_stops_by_size_draws_what_its_promise_needs(given: Any, unit: Any) -> None:
    """With enough budget that the last level is reached: then nothing of it is left."""
    total = 100 * EPSILON
    mechanism, source = plan(**given, unit=unit, epsilon=total, depth=2), RecordingSource(seed=2)
    release = mechanism.release(people(), source)
    sizes = [
        call.arguments["shape"] for call in source.calls if call.primitive == "discrete_laplace"
    ]
    assert len(sizes) == 3  # of the two levels, of the leaves
    rows = 1 if unit == RECORD else 2
    assert spent(mechanism, release.value, source.calls) * rows == total
    assert release.event.loss.overall == nano_up(total)


def test_a_tree_that_stops_early_spends_less() -> None:
    mechanism, source = plan(stop="size", epsilon="0.01"), RecordingSource(seed=3)
    tree = mechanism.release(people(), source).value
    assert len(tree) == 1
    assert spent(mechanism, tree, source.calls) == Fraction(2, 7 * 100)


def test_levels_spend_as_the_plan_says() -> None:
    mechanism, source = plan(growth=2, leaf_share=Fraction(3, 10)), RecordingSource(seed=4)
    tree = mechanism.release(people(), source).value
    inner = [level for level, child in zip(levels_of(tree), tree.child, strict=True) if child >= 0]
    rates = [
        Fraction(c.arguments["rate"]) for c in source.calls if c.primitive != "discrete_laplace"
    ]
    found = {level: rate * (2 * STEP + 2) for level, rate in zip(inner, rates, strict=True)}
    own = EPSILON * Fraction(7, 10) / 7
    assert found == {0: own, 1: 2 * own, 2: 4 * own}
    assert 1 / Fraction(source.calls[-1].arguments["scale"]) == EPSILON * Fraction(3, 10)
    assert source.calls[-1].arguments["shape"] == (8, 2)
