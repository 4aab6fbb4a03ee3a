"""What the compiled allocation works on: tables of rows and variables, the errors, a solver.

Theory    docs/theory/multilevel.md, Lemma 2 (errors), Theorems 3 (optimum) and 4 (tangents)
Notation  a_k z <= 1 and 0 < z <= caps, with k a row and j a variable; lambda, mu = multipliers of
          both, the prices of Theorem 3; steepness = -slope
Not here  the method (allocation_kernels.py).

Records and not tuples of arrays: a compiled function counts references to each array of a tuple,
which costs small programs more than their arithmetic. Numba keeps what it compiled until
allocation_kernels.py changes: after a change here, save that file as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals: TypeAlias = NDArray[np.float64]
    Whole: TypeAlias = NDArray[np.int64]
    Table: TypeAlias = NDArray[Any]  # of records: ENTRY, ROW or VARIABLE
    Record: TypeAlias = Any  # one of a table; a change of it changes the table

Function = TypeVar("Function", bound=Callable[..., object])


def inner(function: Function) -> Function:
    """Compiled for compiled callers only: without wrappers for others it compiles faster."""
    options: Any = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return cast(Function, njit(nogil=True, error_model="numpy", **options)(function))


def inlined(function: Function) -> Function:
    """Compiled as a part of its caller; for what mostly calls others, and would be done twice."""
    return cast(Function, njit(nogil=True, error_model="numpy", inline="always")(function))


ENTRY = np.dtype([("column", np.int64), ("value", np.float64)], align=True)
ROW = np.dtype(
    [
        ("first", np.int64),  # its entries are first .. last - 1
        ("last", np.int64),
        ("is_working", np.bool_),
        ("room", np.float64),  # 1 - a_k z
        ("price", np.float64),  # lambda_k
        ("inverse_room", np.float64),  # divisions are most of the work on a sparse row
        ("price_per_room", np.float64),
        ("room_change", np.float64),
        ("price_change", np.float64),
        ("product", np.float64),  # of both changes: what a linear step neglects
    ],
    align=True,
)
VARIABLE = np.dtype(
    [
        ("weight", np.float64),
        ("stretch", np.float64),
        ("room", np.float64),  # cap_j - z_j
        ("cap_price", np.float64),  # mu_j
        ("price", np.float64),  # sum_k lambda_k a_kj + mu_j
        ("log_ratio", np.float64),  # ln(steepness / price): 0 at the optimum, Theorem 3
        ("bend", np.float64),  # curvature / steepness
        ("price_change", np.float64),  # of cap_price
        ("product", np.float64),  # as in a row
    ],
    align=True,
)


@inner
def error(kind: int, x: float) -> tuple[float, float, float]:
    """Value, steepness and curvature / steepness of the error as a function of x. Lemma 2.

    Kind 1 is 1/x, 2 is 1/x^2; 3 and 4 are the absolute and squared errors of whole numbers.
    """
    if kind == 1:
        return 1 / x, 1 / (x * x), 2 / x
    if kind == 2:
        return 1 / (x * x), 2 / (x * x * x), 3 / x
    if kind == 3:
        sinh, cosh = math.sinh(x), math.cosh(x)
        return 1 / sinh, cosh / (sinh * sinh), (cosh * cosh + 1) / (sinh * cosh)
    sinh, cosh = math.sinh(x / 2), math.cosh(x / 2)
    bend = (2 * cosh * cosh + 1) / (2 * sinh * cosh)
    return 0.5 / (sinh * sinh), 0.5 * cosh / (sinh * sinh * sinh), bend


@inner
def where_steepness_is(kind: int, steepness: float, x: float) -> float:
    """Near where the error is so steep: exact for powers, by Newton's method from x otherwise."""
    if kind == 1:
        return 1 / math.sqrt(steepness)
    if kind == 2:
        return float((2 / steepness) ** (1 / 3))
    for _ in range(3):
        _, here, bend = error(kind, x)
        x *= math.exp(min(max(math.log(here / steepness) / (bend * x), -2.0), 2.0))
    return x


@inner
def least_cost(kind: int, variable: Record, cap: float, z: float) -> float:
    """A lower bound of a variable's error plus its price over 0 .. cap: a tangent. Theorem 4.

    Any tangent will do; this one is near where the error is as steep as the price.
    """
    weight, stretch, price, y = variable.weight, variable.stretch, variable.price, cap
    if price > 0:
        near = where_steepness_is(kind, price / (weight * stretch), stretch * z)
        y = min(y, near / stretch)
    value, steepness, _ = error(kind, stretch * y)
    steepness *= weight * stretch
    return float(weight * value + steepness * y + min(0.0, price - steepness) * cap)


@inner
def times(row: Record, entries: Table, x: Reals) -> float:
    """A row times x."""
    total = 0.0
    for e in range(row.first, row.last):
        total += entries[e].value * x[entries[e].column]
    return total


@inner
def fill_rows(starts: Whole, columns: Whole, values: Reals, rows: Table, entries: Table) -> float:
    """Copies rows into their tables; the largest sum of one."""
    longest = 0.0
    for k in range(rows.size):
        rows[k].first, rows[k].last = starts[k], starts[k + 1]
        total = 0.0
        for e in range(starts[k], starts[k + 1]):
            entries[e].column, entries[e].value = columns[e], values[e]
            total += values[e]
        longest = max(longest, total)
    return longest


@inner
def factorise(matrix: Reals, unit: Reals) -> bool:
    """Cholesky of the matrix scaled to a unit diagonal, in place; false if it is not positive."""
    m = unit.size
    for i in range(m):
        if not matrix[i, i] > 0:
            return False
        unit[i] = 1 / math.sqrt(matrix[i, i])
    for i in range(m):
        for j in range(i + 1):
            total = matrix[i, j] * unit[i] * unit[j]
            for k in range(j):
                total -= matrix[i, k] * matrix[j, k]
            if i == j:
                matrix[i, i] = math.sqrt(total) if total > 1e-14 else 1e-7
            else:
                matrix[i, j] = total / matrix[j, j]
    return True


@inner
def solve(matrix: Reals, unit: Reals, right: Reals) -> None:
    """Replaces the right side by the solution; ``matrix`` and ``unit`` are as factorised."""
    m = unit.size
    for i in range(m):
        total = right[i] * unit[i]
        for k in range(i):
            total -= matrix[i, k] * right[k]
        right[i] = total / matrix[i, i]
    for i in range(m - 1, -1, -1):
        total = right[i]
        for k in range(i + 1, m):
            total -= matrix[k, i] * right[k]
        right[i] = total / matrix[i, i]
    for i in range(m):
        right[i] *= unit[i]


@inner
def largest(values: Reals) -> float:
    """The largest absolute value."""
    most = 0.0
    for j in range(values.size):
        most = max(most, abs(values[j]))
    return most


@inner
def copy(values: Reals, out: Reals) -> None:
    """out[:] = values, which takes two seconds to compile."""
    for j in range(values.size):
        out[j] = values[j]
