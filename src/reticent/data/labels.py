"""Names of people and items as numbers, in the order of first appearance.

Not here  what has the names (profiles.py), names in frames (frames.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.errors import ParameterError, require

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def codes_of(labels: ArrayLike, name: str) -> tuple[NDArray[np.int64], Sequence[Any]]:
    """Labels numbered in the order of first appearance, and the distinct ones in that order.

    The type of a column of integers or texts is public. Anything else is named one by one, so
    that no label decides how another one is read; a missing label is number -1.
    """
    array = labels if isinstance(labels, np.ndarray) else None
    if array is None or array.dtype.kind not in "iuU":
        return _named(labels, name)
    distinct, number = _numbered(array, name)
    first = np.full(distinct.size, number.size)
    first[number[::-1]] = np.arange(number.size)[::-1]
    order = np.argsort(first)[: np.count_nonzero(first < number.size)]
    code = np.empty(distinct.size, dtype=np.int64)
    code[order] = np.arange(order.size)
    return code[number], distinct[order].tolist()


def _named(labels: Any, name: str) -> tuple[NDArray[np.int64], Sequence[Any]]:
    one_by_one = labels.tolist() if hasattr(labels, "tolist") else labels
    if not isinstance(one_by_one, (list, tuple, range)) or getattr(labels, "ndim", 1) != 1:
        raise ParameterError(name, "one label per line", f"shape {np.shape(labels)}")
    codes: dict[Any, int] = {}
    numbers = np.empty(len(one_by_one), dtype=np.int64)
    for line, label in enumerate(one_by_one):
        key = _label(label)
        numbers[line] = -1 if key is None else codes.setdefault(key, len(codes))
    return numbers, list(codes)


def _label(label: object) -> str | bytes | int | float | None:
    """The name that a label stands for: 2.0 is 2, and what is no name is missing."""
    if isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, float):
        return int(label) if label.is_integer() else None if math.isnan(label) else label
    return label if isinstance(label, (str, bytes, int)) else None


def _numbered(array: NDArray[Any], name: str) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Candidates for labels in any order, and for each line the number of its candidate."""
    if array.ndim != 1:
        raise ParameterError(name, "one label per line", f"shape {array.shape}")
    if array.size == 0:
        return array, np.empty(0, dtype=np.int64)
    if array.dtype.kind in "iu":
        low, high = int(array.min()), int(array.max())
        if high - low < 4 * array.size and high < 1 << 62 and low > -(1 << 62):
            return np.arange(low, high + 1), array.astype(np.int64) - low  # no need to sort
    return np.unique(array, return_inverse=True)


def places_of(labels: Sequence[Any], declared: Sequence[Any], name: str) -> NDArray[np.int64]:
    """Where each label stands among the declared ones, or -1."""
    places = {label: i for i, label in enumerate(declared)}
    require(len(places) == len(declared), name, "repeated labels", "distinct")
    return np.array([places.get(label, -1) for label in labels], dtype=np.int64)
