"""How private values are read: each by a fixed rule of its own, which never fails.

Theory    docs/theory/guarantees.md, "Errors and what they may reveal"
Not here  bounds (each mechanism declares its own).

Only the shape, which is public, can be wrong. The type of a NumPy array is public too; in anything
else values are read one by one, so that no value decides how another one is read.
"""

from __future__ import annotations

import math
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_LARGEST_COUNT = 1 << 60
_DIGITS = Context(prec=400, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])  # of a written number
_FARTHEST = 400  # powers of ten beyond which such a number is infinite, or 0


def read_exact(values: ArrayLike, size: int, *, missing: float = math.nan) -> NDArray[Any]:
    """A vector of ``size`` numbers for ``Grid.quantise``, none of them rounded.

    Integers stay integers: through floats, those beyond 2**53 that are 1 apart may end far apart.
    """
    array = _vector(values, size)
    if array.dtype.kind == "f" and array.dtype.itemsize <= 8:
        return np.nan_to_num(array.astype(np.float64), nan=missing, posinf=np.inf, neginf=-np.inf)
    if array.dtype.kind in "bi" or (array.dtype.kind == "u" and array.dtype.itemsize < 8):
        return array.astype(np.int64)
    exact = np.empty(size, dtype=object)
    for i, value in enumerate(array):
        known = _exact(value)
        exact[i] = missing if isinstance(known, float) and math.isnan(known) else known
    return exact


def read_reals(values: ArrayLike, size: int) -> NDArray[np.float64]:
    """A vector of ``size`` floats, the nearest ones; what is missing is NaN."""
    array = _vector(values, size)
    if array.dtype.kind in "fiub":
        return array.astype(np.float64)
    return np.array([_real(value) for value in array], dtype=np.float64)


def read_integers(values: ArrayLike, size: int) -> NDArray[np.int64]:
    """A vector of ``size`` integers, rounded and clamped to 60 bits; what is missing is 0."""
    array = _vector(values, size)
    if array.dtype.kind == "u":
        return array.astype(np.uint64).clip(None, np.uint64(_LARGEST_COUNT)).astype(np.int64)
    if array.dtype.kind in "ib":
        return array.astype(np.int64).clip(-_LARGEST_COUNT, _LARGEST_COUNT)
    if array.dtype.kind == "f":
        reals: NDArray[np.float64] = np.nan_to_num(array.astype(np.float64), nan=0.0)
        whole: NDArray[np.int64] = np.rint(reals).clip(-(2.0**60), 2.0**60).astype(np.int64)
        return whole
    return np.array([_integer(value) for value in array], dtype=np.int64)


def _vector(values: ArrayLike, size: int) -> NDArray[Any]:
    array = values if isinstance(values, np.ndarray) else _one_by_one(values)
    if array.shape != (size,):
        raise ParameterError("data", f"a vector of length {size}", f"shape {array.shape}")
    return array


def _one_by_one(values: Any) -> NDArray[Any]:
    if hasattr(values, "__array__"):  # a column with a type of its own
        return np.asarray(values)
    listed = list(values) if hasattr(values, "__iter__") else values
    if not isinstance(listed, list):
        return np.empty((), dtype=object)
    array = np.empty(len(listed), dtype=object)
    for i, value in enumerate(listed):  # not array[:] = listed, which would unpack equal rows
        array[i] = value
    return array


def _real(value: object) -> float:
    if isinstance(value, np.ndarray):  # some versions of NumPy warn, which others would see
        return math.nan
    try:
        return float(value)  # type: ignore[arg-type]
    except OverflowError:
        return math.inf if isinstance(value, (int, Fraction)) and value > 0 else -math.inf
    except (TypeError, ValueError):
        return math.nan


def _exact(value: object) -> int | Fraction | float:
    """A number as it is; NaN for what is none."""
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, Fraction)):
        return value
    if isinstance(value, np.floating):  # of another size than Python's
        finite = bool(np.isfinite(value))
        return Fraction(*value.as_integer_ratio()) if finite else float(value)
    if isinstance(value, (str, bytes, Decimal)):
        text = value.decode("ascii", "replace") if isinstance(value, bytes) else str(value)
        written = text.strip().replace("_", "")  # as Python's own numbers may be written
        decimal = _DIGITS.create_decimal(written)  # NaN if it is no number
        if decimal.is_nan():
            return math.nan
        near = decimal.is_finite() and abs(decimal.adjusted()) <= _FARTHEST
        return Fraction(decimal) if near else float(decimal)
    return _real(value)


def _integer(value: object) -> int:
    known = _exact(value)
    if isinstance(known, float) and not math.isfinite(known):
        known = 0 if math.isnan(known) else math.copysign(_LARGEST_COUNT, known)
    return round(min(max(known, -_LARGEST_COUNT), _LARGEST_COUNT))
