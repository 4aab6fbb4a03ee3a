"""What was released, as bytes that a ledger keeps, and back: an equal value, nothing rounded.

Not here  when it is kept (charged.py).

JSON with a word for each kind that JSON lacks. Arrays are kept as the bytes they have in memory, so
floats come back bit by bit.
"""

from __future__ import annotations

import base64
import json
import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from reticent.errors import ParameterError, require
from reticent.guarantees import canonical
from reticent.mechanisms.decision_tree import Tree

_KINDS = "biuf"  # of arrays: truth, whole and floating-point numbers


def keep(value: object) -> bytes:
    """A released value as bytes.

    >>> restore(keep((np.array([0.1, -np.inf]), {"chosen": 3, "who": None})))
    (array([ 0.1, -inf]), {'chosen': 3, 'who': None})
    """
    return canonical(_plain(value)).encode()


def restore(held: bytes) -> Any:
    """The value of ``keep``."""
    return _value(json.loads(held))


def _plain(value: object) -> Any:
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):  # also those of NumPy
        return float(value) if math.isfinite(value) else {"float": str(float(value))}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    if isinstance(value, tuple):
        return {"tuple": [_plain(part) for part in value]}
    if isinstance(value, dict) and all(isinstance(name, str) for name in value):
        return {"dict": {name: _plain(part) for name, part in value.items()}}
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, np.ndarray) and value.dtype.kind in _KINDS:
        return {"array": _array(value)}
    if isinstance(value, Tree):
        return {"tree": value.plain()}
    raise ParameterError("value", "of a kind that a ledger can keep", type(value).__name__)


def _array(value: np.ndarray[Any, Any]) -> list[Any]:
    """Type, shape and bytes, the lowest byte of a number first."""
    ordered = value.astype(value.dtype.newbyteorder("<"), order="C")
    packed = base64.b64encode(ordered.tobytes()).decode()
    return [ordered.dtype.str, list(value.shape), packed]


def _as_array(held: list[Any]) -> np.ndarray[Any, Any]:
    kind, shape, packed = held
    found = np.frombuffer(base64.b64decode(packed), dtype=np.dtype(kind)).reshape(shape)
    return found.astype(found.dtype.newbyteorder("=")) if sys.byteorder == "big" else found.copy()


_BACK: dict[str, Callable[[Any], Any]] = {
    "float": float,
    "tuple": lambda parts: tuple(map(_value, parts)),
    "dict": lambda parts: {name: _value(part) for name, part in parts.items()},
    "array": _as_array,
    "tree": Tree.of_plain,
}


def _value(plain: Any) -> Any:
    if isinstance(plain, list):
        return [_value(part) for part in plain]
    if not isinstance(plain, dict):
        return plain
    ((kind, held),) = plain.items()
    require(kind in _BACK, "kind", kind, "one that this version keeps")
    return _BACK[kind](held)
