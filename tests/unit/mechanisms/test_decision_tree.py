"""A released tree as a value: counts, shares, importances, walks, files that lie."""

import json
import math

import numpy as np
import pytest

from reticent.errors import ParameterError
from reticent.mechanisms.decision_tree import BELOW, EACH, ONE, Tree
from reticent.mechanisms.tree import Coded, PrivateTree
from reticent.noise import Source

SIZES, ORDERED = (4, 3, 5), (True, False, True)


def grown(seed: int, *, rows: int = 200, classes: int = 3, **given) -> Tree:
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, size, rows) for size in SIZES]).astype(np.uint16)
    y = (codes[:, 0] + codes[:, 2] + rng.integers(0, 2, rows)) % classes
    settings = {"epsilon": 3, "depth": 3} | given
    plan = PrivateTree(sizes=SIZES, ordered=ORDERED, classes=classes, **settings)
    return plan.release(Coded(codes, y), Source.seeded(seed)).value


MULTIWAY = {"split": "multiway", "stop": "size", "epsilon": 60}
KINDS = [{}, {"depth": 0}, {"depth": 6}, MULTIWAY, {"stop": "size"}, {"classes": 1}]


def by_hand() -> Tree:
    """x0 at most 1: (5, 1); else x1 = 2 or not: (0, 4), (-2, 2)."""
    return Tree(
        column=np.array([0, 0, 1, 0, 0]),
        at=np.array([1, 0, 2, 0, 0]),
        kind=np.array([BELOW, EACH, ONE, EACH, EACH]),
        child=np.array([1, -1, 3, -1, -1]),
        branches=np.array([2, 0, 2, 0, 0]),
        leaf_counts=np.array([[0, 0], [5, 1], [0, 0], [0, 4], [-2, 2]]),
        scale=2.0,
    )


def walked(tree: Tree, row) -> int:
    """One row, one node at a time."""
    node = 0
    while tree.child[node] >= 0:
        code, at = int(row[tree.column[node]]), int(tree.at[node])
        side = {EACH: code, BELOW: int(code > at), ONE: int(code != at)}[int(tree.kind[node])]
        assert side < tree.branches[node]
        node = int(tree.child[node]) + side
    return node


def test_a_tree_by_hand() -> None:
    tree = by_hand()
    assert len(tree) == 5
    assert tree.parents.tolist() == [-1, 0, 0, 2, 2]
    assert tree.counts.tolist() == [[3, 7], [5, 1], [-2, 6], [0, 4], [-2, 2]]
    rows = np.array([[0, 0, 0], [1, 2, 9], [2, 2, 0], [3, 1, 0]], dtype=np.uint16)
    assert tree.leaf_of(rows).tolist() == [1, 1, 3, 4]
    root = (np.array([3, 7]) + 2 * 0.5) / 12
    inner = (np.array([0, 6]) + 2 * root) / 8
    expected = [
        root,
        (np.array([5, 1]) + 2 * root) / 8,
        inner,
        (np.array([0, 4]) + 2 * inner) / 6,
        (np.array([0, 2]) + 2 * inner) / 4,
    ]
    assert tree.shares() == pytest.approx(np.array(expected))


def test_weights_are_those_of_rows() -> None:
    tree = by_hand()
    root = (np.array([30, 7]) + 2 * 0.5) / 39
    assert tree.shares(np.array([10.0, 1.0]))[0] == pytest.approx(root)


def test_importances_by_hand() -> None:
    """Gini: 26/6 + 6 - 58/10 by the first split, then 4 + 2 - 6 = 0 by the other."""
    assert by_hand().importances(3).tolist() == [1.0, 0.0, 0.0]
    assert Tree.of_plain({**by_hand().plain(), "leaf_counts": [[0, 0]] * 5}).importances(
        2
    ).tolist() == [0, 0]


@pytest.mark.parametrize("given", KINDS)
def test_counts_of_inner_nodes_are_sums_and_shares_are_probabilities(given) -> None:
    for seed in range(5):
        tree = grown(seed, **given)
        counts = tree.counts
        for node in np.flatnonzero(tree.child >= 0):
            below = slice(tree.child[node], tree.child[node] + tree.branches[node])
            assert (counts[node] == counts[below].sum(axis=0)).all()
            assert (tree.leaf_counts[node] == 0).all()
            assert (tree.parents[below] == node).all()
        shares = tree.shares()
        assert shares.shape == counts.shape
        assert shares.sum(axis=1) == pytest.approx(np.ones(len(tree)))
        assert shares.min() >= 0
        assert shares.max() <= 1
        found = tree.importances(len(SIZES))
        assert found.min() >= 0
        assert math.isclose(found.sum(), 1) or (found == 0).all()
        assert (found[~np.isin(np.arange(3), tree.column[tree.child >= 0])] == 0).all()


@pytest.mark.parametrize("given", KINDS)
def test_rows_end_where_a_walk_ends(given) -> None:
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.integers(0, size, 150) for size in SIZES]).astype(np.uint16)
    for seed in range(5):
        tree = grown(seed, **given)
        found = tree.leaf_of(rows).tolist()
        assert found == [walked(tree, row) for row in rows.tolist()]
        assert (tree.child[found] < 0).all()
    assert tree.leaf_of(rows[:0]).tolist() == []


@pytest.mark.parametrize("given", KINDS)
def test_plain_data_make_the_same_tree(given) -> None:
    tree = grown(1, **given)
    again = Tree.of_plain(json.loads(json.dumps(tree.plain())))
    assert again.plain() == tree.plain()
    assert again.leaf_counts.dtype == tree.leaf_counts.dtype
    assert (again.shares() == tree.shares()).all()


LIES = {
    "no nodes": {name: [] for name in ("column", "at", "kind", "child", "branches")},
    "one array longer": {"at": [0] * 6},
    "one array shorter": {"kind": [0] * 4},
    "counts shorter": {"leaf_counts": [[1, 1]] * 3},
    "counts of one class as a list": {"leaf_counts": [1] * 5},
    "a node below itself": {"child": [0, -1, 3, -1, -1]},
    "a node below its child": {"child": [1, -1, 1, -1, -1]},
    "children beyond the last": {"child": [1, -1, 4, -1, -1]},
    "children far beyond the last": {"child": [1, -1, 10**12, -1, -1]},
    "more children than there are": {"branches": [2, 0, 3, 0, 0]},
}


@pytest.mark.parametrize("lie", LIES)
def test_a_file_that_lies_is_refused(lie) -> None:
    with pytest.raises(ParameterError, match="tree must be"):
        Tree.of_plain({**by_hand().plain(), **LIES[lie]})


SHARED = {  # every node's second child is the first of the next: paths double, level by level
    "column": [0] * 80,
    "at": [0] * 80,
    "kind": [BELOW] * 80,
    "child": [*range(1, 79), -1, -1],
    "branches": [2] * 78 + [0, 0],
    "leaf_counts": [[1, 1]] * 80,
}
MORE_LIES = {
    "children of two parents": SHARED,
    "children beyond all integers": {"child": [1, -1, 2**63 - 1, -1, -1]},
    "no children": {"branches": [2, 0, 0, 0, 0]},
    "fewer than none": {"branches": [2, 0, -2, 0, 0]},
    "a kind that does not exist": {"kind": [7, 0, 2, 0, 0]},
    "parts of nodes": {"child": [1.7, -1, 3, -1, -1]},
    "words": {"at": ["a", 0, 2, 0, 0]},
    "a list in a list": {"at": [[1], [0], [2], [0], [0]]},
    "counts of more and of fewer classes": {"leaf_counts": [[1, 1], [1], [1, 1], [1, 1], [1, 1]]},
    "counts beyond all integers": {"leaf_counts": [[2**70, 1]] * 5},
    "no number": {"scale": math.nan},
    "a negative scale": {"scale": -1.0},
    "no scale": {"scale": 0.0},
}


@pytest.mark.parametrize("lie", MORE_LIES)
def test_a_file_that_lies_otherwise_is_refused(lie) -> None:
    with pytest.raises(ParameterError, match="tree must be"):
        Tree.of_plain({**by_hand().plain(), **MORE_LIES[lie]})


def test_a_file_with_a_part_missing_is_refused() -> None:
    held = by_hand().plain()
    del held["at"]
    with pytest.raises(ParameterError):
        Tree.of_plain(held)
