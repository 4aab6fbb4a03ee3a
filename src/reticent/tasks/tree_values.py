"""A released tree from plain data that anybody may have written, checked before it is used.

Not here  what a tree is (trained_tree.py), files and cards (queries/artefacts.py).

Reading runs nothing and trusts nothing: what is no tree, or one that the mechanism could not have
released, is an error.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from reticent.errors import ParameterError, ReticentError, require
from reticent.mechanisms.decision_tree import Tree
from reticent.mechanisms.tree import PrivateTree
from reticent.tasks.trained_tree import Declared, TrainedTree

DEEPEST = 64
"""Levels of the deepest tree that is kept; deeper ones spend their budget on nothing."""

_PARTS = {"columns", "classes", "rows", "weights", "tree"}
_ARRAYS = ("column", "at", "kind", "child", "branches")
_TREE = {*_ARRAYS, "leaf_counts", "scale"}
_LARGEST = 1 << 62  # so that sums of counts fit 64 bits
_BROKEN = (
    *(KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError),
    *(ZeroDivisionError, RecursionError, ReticentError),
)


def read_tree(held: Any, declared: Declared, mechanism: PrivateTree) -> TrainedTree:
    """The tree of ``TrainedTree.plain()``, if this mechanism could have released it."""
    try:
        _check_plain(held)
        trained = TrainedTree.of_plain(held)
        _check(trained, declared, mechanism)
    except _BROKEN:
        rule = "a whole tree that this query could have released"
        raise ParameterError("tree", rule, "parts that do not fit") from None
    return trained


def _check_plain(held: Mapping[str, Any]) -> None:
    """Types and sizes, before anything is computed from them."""
    tree = held["tree"]
    _need(held.keys() == _PARTS and tree.keys() == _TREE)
    for column in held["columns"]:
        (kind,) = column.keys() - {"name"}
        _need(isinstance(column["name"], str) and kind in ("categories", "edges"))
        _need(isinstance(column[kind], list) and all(map(_is_plain, column[kind])))
        _need(kind == "categories" or all(map(_is_number, column[kind])))
    _need(isinstance(held["classes"], list) and all(map(_is_plain, held["classes"])))
    _need(held["rows"] is None or _is_whole(held["rows"]))
    _need(held["weights"] is None or all(map(_is_number, held["weights"])))
    _need(all(_is_whole(value) for name in _ARRAYS for value in tree[name]))
    counts = [value for row in tree["leaf_counts"] for value in row]
    _need(all(map(_is_whole, counts)) and sum(map(abs, counts)) < _LARGEST)
    _need(_is_number(tree["scale"]))


def _check(trained: TrainedTree, declared: Declared, mechanism: PrivateTree) -> None:
    """That this mechanism could have released this tree, of these columns and classes."""
    own, tree = trained.declared, trained.tree
    require(own.plain() == declared.plain(), "tree", "another", "of the declared columns")
    same = tree.scale == 1 / float(mechanism.leaf_epsilon)
    require(same, "scale", "another", "that of the mechanism's noise")
    deep = min(mechanism.depth, DEEPEST)
    require(_levels(tree) <= deep, "tree", "a deeper one", "as deep as was asked")


def _levels(tree: Tree) -> int:
    """How many splits lead to the deepest leaf."""
    level = np.zeros(len(tree), dtype=np.int64)
    for node, parent in enumerate(tree.parents.tolist()):
        level[node] = 0 if parent < 0 else level[parent] + 1
    return int(level.max())


def _need(condition: bool) -> None:
    require(condition, "tree", "another", "of the parts that it must have")


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LARGEST


def _is_number(value: object) -> bool:
    return _is_whole(value) or (isinstance(value, float) and math.isfinite(value))


def _is_plain(value: object) -> bool:
    return isinstance(value, (str, bool)) or _is_number(value)
