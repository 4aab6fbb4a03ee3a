"""How private values are read: by a fixed rule that never fails on what they are.

Theory    docs/theory/guarantees.md, "Errors and what they may reveal"
Not here  bounds (each mechanism declares its own).

Only the shape, which is public, can be wrong. A value that is no number counts as missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_LARGEST_COUNT = 1 << 60


def read_reals(values: ArrayLike, size: int) -> NDArray[np.float64]:
    """A vector of ``size`` floats; what is missing is NaN."""
    array = _vector(values, size)
    if array.dtype.kind in "fiub":
        return array.astype(np.float64)
    return np.array([_real(value) for value in array.tolist()], dtype=np.float64)


def read_integers(values: ArrayLike, size: int) -> NDArray[np.int64]:
    """A vector of ``size`` integers, rounded and clamped to 60 bits; what is missing is 0."""
    array = _vector(values, size)
    if array.dtype.kind == "u":
        return array.astype(np.uint64).clip(None, np.uint64(_LARGEST_COUNT)).astype(np.int64)
    if array.dtype.kind in "ib":
        return array.astype(np.int64).clip(-_LARGEST_COUNT, _LARGEST_COUNT)
    reals = np.nan_to_num(read_reals(array, size), nan=0.0)
    return np.rint(np.clip(reals, -_LARGEST_COUNT, _LARGEST_COUNT)).astype(np.int64)


def _vector(values: ArrayLike, size: int) -> NDArray[Any]:
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different lengths; the message would say which
        array = np.empty((0, 0))
    if array.shape != (size,):
        raise ParameterError("data", f"a vector of length {size}", f"shape {array.shape}")
    return array


def _real(value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except OverflowError:
        return np.inf if isinstance(value, int) and value > 0 else -np.inf
    except (TypeError, ValueError):
        return np.nan
