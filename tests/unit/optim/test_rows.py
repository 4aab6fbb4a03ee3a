"""Distinct and maximal rows are what a comparison of all pairs finds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from reticent.errors import ParameterError
from reticent.optim.rows import distinct_rows, maximal_rows


def as_set(matrix: np.ndarray) -> set[tuple[float, ...]]:
    return {tuple(float(v) for v in row) for row in matrix}


def maximal_by_pairs(matrix: np.ndarray) -> set[tuple[float, ...]]:
    kinds = as_set(matrix) - {(0.0,) * matrix.shape[1]}
    return {
        row
        for row in kinds
        if not any(row != other and all(np.less_equal(row, other)) for other in kinds)
    }


def check(matrix: np.ndarray) -> None:
    kept = maximal_rows(matrix)
    assert as_set(kept) == maximal_by_pairs(matrix)
    assert len(kept) == len(as_set(kept))
    kinds, which, counts = distinct_rows(matrix)
    assert np.array_equal(kinds[which], matrix)
    assert len(kinds) == len(as_set(matrix))
    assert np.array_equal(counts, np.bincount(which, minlength=len(kinds)))


KINDS = {
    "binary": lambda g, n, m: g.integers(0, 2, (n, m)),
    "sparse binary floats": lambda g, n, m: (g.random((n, m)) < 0.1).astype(float),
    "booleans": lambda g, n, m: g.random((n, m)) < 0.3,
    "integers": lambda g, n, m: g.integers(0, 4, (n, m)),
    "reals": lambda g, n, m: g.random((n, m)),
    "sparse reals": lambda g, n, m: g.random((n, m)) * (g.random((n, m)) < 0.3),
    "coarse reals": lambda g, n, m: g.integers(0, 3, (n, m)) / 2,
}


@pytest.mark.parametrize(
    "shape", [(1, 1), (40, 1), (60, 3), (80, 20), (50, 64), (50, 65), (40, 90)]
)
@pytest.mark.parametrize("kind", KINDS)
def test_rows_agree_with_all_pairs(kind, shape) -> None:
    matrix = KINDS[kind](np.random.default_rng(7), *shape)
    if matrix.any():
        check(matrix)


@given(
    arrays.arrays(
        np.int64,
        st.tuples(st.integers(1, 12), st.integers(1, 5)),
        elements=st.integers(0, 3),
    )
)
def test_small_tables_agree_with_all_pairs(matrix) -> None:
    check(matrix)


@given(
    arrays.arrays(np.int64, (9, 4), elements=st.integers(0, 2)),
    arrays.arrays(np.float64, 4, elements=st.floats(0, 10)),
)
def test_maximal_rows_bound_what_all_rows_bound(matrix, x) -> None:
    kept = maximal_rows(matrix)
    assert (kept @ x).max(initial=0) == pytest.approx((matrix @ x).max(), rel=1e-12)


def test_the_last_column_of_a_word_counts() -> None:
    matrix = np.zeros((3, 64), dtype=np.int64)
    matrix[0, 63] = matrix[1, 62] = 1
    assert as_set(maximal_rows(matrix)) == as_set(matrix[:2])


def test_a_dominated_row_is_found_beyond_the_first_word() -> None:
    matrix = np.zeros((2, 130), dtype=np.int64)
    matrix[0, [0, 70, 129]] = 1
    matrix[1, [70, 129]] = 1
    assert as_set(maximal_rows(matrix)) == as_set(matrix[:1])


def test_zero_rows_imply_nothing() -> None:
    assert maximal_rows(np.zeros((3, 4))).shape == (0, 4)
    assert maximal_rows(np.array([[0, 0], [0, 1], [0, 0]])).tolist() == [[0, 1]]


def test_minus_zero_is_zero() -> None:
    matrix = np.array([[0.5, -0.0], [0.5, 0.0]])
    assert len(distinct_rows(matrix)[0]) == 1
    assert len(maximal_rows(matrix)) == 1


def test_the_kind_of_number_is_kept() -> None:
    assert maximal_rows(np.array([[1, 0], [2, 3]])).dtype == np.int64
    assert maximal_rows(np.array([[1.0, 0.0], [0.0, 1.0]])).dtype == np.float64


def test_giving_up_keeps_every_constraint() -> None:
    generator = np.random.default_rng(3)
    on_a_plane = generator.dirichlet(np.ones(6), 20_000)
    kept = maximal_rows(on_a_plane)
    x = generator.random((6, 50))
    assert np.array_equal((kept @ x).max(axis=0), (on_a_plane @ x).max(axis=0))


def test_a_difference_below_the_rounding_of_sums_loses_no_constraint() -> None:
    matrix = np.array([[1.0, 0.0], [1.0, 1e-20], [0.0, 1.0]])
    assert {(1.0, 1e-20), (0.0, 1.0)} <= as_set(maximal_rows(matrix))


@pytest.mark.parametrize("matrix", [[[1, -1]], [[0.5, -1e-300]], [[np.nan, 1.0]]])
def test_what_is_not_a_non_negative_number_is_refused(matrix) -> None:
    with pytest.raises(ParameterError, match="matrix must be non-negative"):
        maximal_rows(np.array(matrix))


def test_what_is_no_table_is_refused() -> None:
    with pytest.raises(ParameterError, match="matrix must be rows of one length"):
        distinct_rows(np.ones(3))
