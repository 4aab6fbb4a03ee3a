"""A private tree as text: JSON that holds the tree and the event of its release, checked when read.

Not here  what a tree is (trained_tree.py), where files lie (cli/).

Reading runs nothing and trusts nothing: a tree that its own event could not have released, one that
is no tree, or a text that was changed is an error. The fingerprint is against damage; it is no
signature, and does not say who wrote a file.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from reticent.errors import ParameterError, ReticentError, require
from reticent.guarantees import Event, canonical
from reticent.mechanisms.decision_tree import Tree
from reticent.mechanisms.tree import PrivateTree
from reticent.mechanisms.verification import rebuild
from reticent.tasks.trained_tree import TrainedTree

SCHEMA = "private-tree/1"
DEEPEST = 64
"""Levels of the deepest tree that is kept; deeper ones spend their budget on nothing."""

_KEYS = {"schema", "target", "tree", "event", "sha256", "file_sha256"}
_PARTS = {"columns", "classes", "rows", "weights", "tree"}
_ARRAYS = ("column", "at", "kind", "child", "branches")
_TREE = {*_ARRAYS, "leaf_counts", "scale"}
_LARGEST = 1 << 62  # so that sums of counts fit 64 bits
_EXACT = re.compile(r"[a-z-]{1,30}|[0-9]{1,700}(/[0-9]{1,700})?")  # never 1e999999999
_BROKEN = (
    *(KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError),
    *(ZeroDivisionError, RecursionError, ReticentError),
)


@dataclass(frozen=True, slots=True, eq=False)
class KeptTree:
    """A tree, the column that it predicts, and the record of its release."""

    trained: TrainedTree
    target: str
    event: Event

    def to_json(self) -> str:
        """As text, equal for equal trees; what could not be read again is refused."""
        data: dict[str, Any] = {
            "schema": SCHEMA,
            "target": self.target,
            "tree": self.trained.plain(),
            "event": self.event.to_dict(),
            "sha256": self.sha256,
        }
        data["file_sha256"] = _fingerprint(data)
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n"
        KeptTree.from_json(text)
        return text

    @property
    def sha256(self) -> str:
        """Of what was released; the guarantee card states the same."""
        try:
            return _sha256(self.trained.plain())
        except (TypeError, ValueError):
            rule = "of texts and finite numbers, to be kept in a file"
            raise ParameterError("columns and classes", rule, "others") from None

    @classmethod
    def from_json(cls, text: str) -> KeptTree:
        """Inverse of ``to_json``; a text that was changed, cut or made up is an error."""
        data = _parsed(text)
        whole = data.get("file_sha256") == _fingerprint(data)
        require(whole, "tree file", "a changed file", "as its fingerprint says")
        try:
            _check_plain(data)
            trained = TrainedTree.of_plain(data["tree"])
            event = Event.from_dict(data["event"])
            _check(data, trained, event)
        except _BROKEN:
            rule = "a whole tree with the record of its release"
            raise ParameterError("tree file", rule, "parts that do not fit") from None
        return cls(trained, data["target"], event)


def _parsed(text: str) -> dict[str, Any]:
    try:
        data = json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise ParameterError("tree file", "JSON", f"line {error.lineno}: {error.msg}") from None
    except (ValueError, RecursionError):  # NaN, a number of thousands of digits, deep nesting
        raise ParameterError("tree file", "JSON", "what is too long, too deep or none") from None
    found = data.get("schema") if isinstance(data, dict) else None
    kind, _, version = found.partition("/") if isinstance(found, str) else ("", "", "")
    if kind == SCHEMA.partition("/")[0] and found != SCHEMA and version.isdecimal():
        rule = f"of schema {SCHEMA}, which this version of Reticent reads"
        raise ParameterError("tree file", rule, f"version {version[:9]}")
    require(found == SCHEMA, "tree file", "another file", f"of schema {SCHEMA}")
    return dict(data)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _check_plain(data: Mapping[str, Any]) -> None:
    """Types and sizes, before anything is computed from them."""
    held, event = data["tree"], data["event"]
    tree, parameters = held["tree"], event["parameters"]
    known = data.keys() == _KEYS and held.keys() == _PARTS and tree.keys() == _TREE
    _need(known and isinstance(data["target"], str) and data["target"] != "")
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
    _need(_is_whole(parameters["depth"]) and 0 <= parameters["depth"] <= DEEPEST)
    _need(all(map(_is_simple, parameters.values())))


def _check(data: Mapping[str, Any], trained: TrainedTree, event: Event) -> None:
    """That this event could have released this tree."""
    declared, tree = trained.declared, trained.tree
    require(data["sha256"] == _sha256(data["tree"]), "tree", "another", "as its digest says")
    mechanism = rebuild(event)
    if not isinstance(mechanism, PrivateTree):
        raise ParameterError("event", "that of a tree", event.mechanism)
    require(event.loss == mechanism.guarantee(), "event", "another loss", "its mechanism's")
    again = declared.mechanism(epsilon=mechanism.epsilon, depth=0)
    for name in ("sizes", "ordered", "classes", "rows", "weights"):
        same = getattr(again, name) == getattr(mechanism, name)
        require(same, "event", "another", "of these columns and classes")
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
    require(condition, "tree file", "another", "of the parts that it must have")


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LARGEST


def _is_number(value: object) -> bool:
    return _is_whole(value) or (isinstance(value, float) and math.isfinite(value))


def _is_plain(value: object) -> bool:
    return isinstance(value, (str, bool)) or _is_number(value)


def _is_simple(value: object) -> bool:
    """A parameter of an event that costs little to read."""
    if isinstance(value, list):
        return all(_is_simple(one) and not isinstance(one, list) for one in value)
    if isinstance(value, str):
        return _EXACT.fullmatch(value) is not None
    return value is None or isinstance(value, bool) or _is_whole(value)


def _sha256(plain: object) -> str:
    return hashlib.sha256(canonical(plain).encode("utf-8", "surrogatepass")).hexdigest()


def _fingerprint(data: Mapping[str, Any]) -> str:
    """Of all that is in the file but itself."""
    try:
        return _sha256({key: value for key, value in data.items() if key != "file_sha256"})
    except ValueError:  # an infinity, written as 1e999
        return ""
