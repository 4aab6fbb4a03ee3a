"""Reconstruction against every 0/1 profile of a small catalogue."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array, csr_matrix

from reticent.errors import ParameterError
from reticent.tasks.reconstruction import reconstruct

pytestmark = pytest.mark.compiled
Array = NDArray[np.float64]
FILMS = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [1, 1, 0], [1, 1, 0], [0, 0, 0]])


def residual(matrix: Array, histogram: Array, scales: Array, profile: Array) -> float:
    return float((((histogram - profile @ matrix) / scales) ** 2).sum())


def least(matrix: Array, histogram: Array, scales: Array, size: int | None) -> float:
    """The least residual over all 0/1 profiles, one by one."""
    profiles = np.array(list(product((0.0, 1.0), repeat=len(matrix))))
    if size is not None:
        profiles = profiles[profiles.sum(axis=1) == size]
    left = (histogram - profiles @ matrix) / scales
    return float((left**2).sum(axis=1).min())


def profile_of(items: NDArray[np.int64], n: int) -> Array:
    profile = np.zeros(n)
    profile[items] = 1
    return profile


def catalogue(seed: int, n: int, m: int) -> tuple[Array, Array, Array, np.random.Generator]:
    rng = np.random.default_rng(seed)
    matrix = (rng.random((n, m)) < 0.4).astype(float)
    scales = 10 ** rng.uniform(-1, 1, m)
    truth = (rng.random(n) < 0.4).astype(float)
    return matrix, truth @ matrix + scales * rng.laplace(size=m), scales, rng


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 9), st.integers(1, 4), st.booleans())
def test_the_bound_is_below_every_profile(seed: int, n: int, m: int, with_size: bool) -> None:
    """Theorem 1 of docs/theory/reconstruction.md, and that the residual is that of the items."""
    matrix, histogram, scales, rng = catalogue(seed, n, m)
    size = int(rng.integers(0, n + 1)) if with_size else None
    found = reconstruct(matrix, histogram, scales, size=size)
    best = least(matrix, histogram, scales, size)
    slack = 1e-9 * max(best, 1.0)
    assert found.relaxed_residual <= best + slack
    assert best <= found.residual + slack
    own = residual(matrix, histogram, scales, profile_of(found.items, n))
    assert found.residual == pytest.approx(own)
    assert np.array_equal(found.items, np.unique(found.items))
    if size is not None:
        assert found.items.size == size


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_no_item_in_out_or_swapped_is_better(seed: int, with_size: bool) -> None:
    matrix, histogram, scales, _ = catalogue(seed, 14, 4)
    found = reconstruct(matrix, histogram, scales, size=6 if with_size else None)
    profile = profile_of(found.items, 14)
    for i in range(14):
        for k in range(14):
            other = profile.copy()
            other[i] = 1 - other[i]
            if k != i:
                other[k] = 1 - other[k]
            swap = k != i and profile[i] != profile[k]
            if swap or (not with_size and k == i):
                near = residual(matrix, histogram, scales, other)
                assert near >= found.residual - 1e-9 * max(found.residual, 1.0)


@pytest.mark.parametrize("with_size", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_rounding_costs_no_more_than_promised(seed: int, with_size: bool) -> None:
    """Theorem 2: in the norm of the residual at most (m + 1) times the longest row."""
    matrix, histogram, scales, _ = catalogue(seed, 400, 6)
    found = reconstruct(matrix, histogram, scales, size=150 if with_size else None)
    longest = np.linalg.norm(matrix / scales, axis=1).max()
    price = np.sqrt(found.residual) - np.sqrt(found.relaxed_residual)
    assert price <= 7 * longest * (1 + 1e-6)


def test_is_often_the_best_profile() -> None:
    """No promise, but a rounding that never finds the optimum would be a mistake."""
    hits = 0
    for seed in range(40):
        matrix, histogram, scales, _ = catalogue(seed, 8, 3)
        found = reconstruct(matrix, histogram, scales)
        hits += found.residual <= least(matrix, histogram, scales, None) * (1 + 1e-9) + 1e-9
    assert hits >= 30


def test_a_planted_bound_is_caught() -> None:
    """The control: the residual of rounding is no lower bound, and the brute force says so."""
    caught = 0
    for seed in range(40):
        _, histogram, scales, rng = catalogue(seed, 12, 6)
        matrix = rng.normal(size=(12, 6))
        found = reconstruct(matrix, histogram, scales)
        best = least(matrix, histogram, scales, None)
        assert found.relaxed_residual <= best * (1 + 1e-9)
        caught += found.residual > best * (1 + 1e-9)
    assert caught > 0


def test_an_exact_histogram_is_explained() -> None:
    rng = np.random.default_rng(1)
    matrix = (rng.random((300, 8)) < 0.3).astype(float)
    truth = (rng.random(300) < 0.2).astype(float)
    found = reconstruct(matrix, truth @ matrix, np.ones(8))
    assert found.relaxed_residual == 0
    assert found.residual <= 1.0
    assert np.allclose(found.relaxed_profile @ matrix, truth @ matrix)
    assert found.relaxed_profile.min() >= 0
    assert found.relaxed_profile.max() <= 1


def test_equal_rows_go_by_ranking_then_by_catalogue() -> None:
    histogram = [3.0, 2.0, 0.0]
    by_order = reconstruct(FILMS, histogram, np.ones(3), size=3)
    assert by_order.items.tolist() == [0, 3, 4]
    ranked = reconstruct(FILMS, histogram, np.ones(3), size=3, ranking=[1, 2, 0, 0, 7, 7, 9])
    assert ranked.items.tolist() == [1, 4, 5]
    assert ranked.residual == by_order.residual == 0


def test_the_order_of_the_catalogue_changes_names_only() -> None:
    matrix, histogram, scales, rng = catalogue(11, 60, 5)
    shuffle = rng.permutation(60)
    found = reconstruct(matrix, histogram, scales, ranking=np.arange(60))
    moved = reconstruct(matrix[shuffle], histogram, scales, ranking=np.arange(60)[shuffle])
    assert np.array_equal(np.sort(shuffle[moved.items]), found.items)


@pytest.mark.parametrize("form", [csr_array, csr_matrix, np.ndarray.tolist])
def test_dense_and_sparse_are_the_same(form: object) -> None:
    matrix, histogram, scales, _ = catalogue(3, 50, 4)
    found = reconstruct(matrix, histogram, scales)
    other = reconstruct(form(matrix), histogram, scales)  # type: ignore[operator]
    assert np.array_equal(found.items, other.items)


@pytest.mark.parametrize(("size", "items"), [(0, []), (7, [0, 1, 2, 3, 4, 5, 6])])
def test_sizes_at_the_ends(size: int, items: list[int]) -> None:
    found = reconstruct(FILMS, [2.0, 2.0, -1.0], np.ones(3), size=size)
    assert found.items.tolist() == items
    assert found.relaxed_residual == pytest.approx(found.residual)


def test_scales_of_many_decades() -> None:
    matrix, histogram, _, _ = catalogue(5, 200, 6)
    scales = 10.0 ** np.array([-4, -2, 0, 2, 4, 6])
    found = reconstruct(matrix, histogram, scales)
    assert 0 <= found.relaxed_residual <= found.residual


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"matrix": [1.0, 2.0]}, "matrix"),
        ({"matrix": np.full((7, 3), np.nan)}, "matrix"),
        ({"histogram": [1.0, np.nan, 0.0]}, "histogram"),
        ({"histogram": [1.0, np.inf, 0.0]}, "histogram"),
        ({"histogram": [1.0]}, "histogram"),
        ({"scales": [1.0, 0.0, 1.0]}, "scales"),
        ({"scales": [1.0, -1.0, 1.0]}, "scales"),
        ({"scales": [1.0, 1.0]}, "scales"),
        ({"size": -1}, "size"),
        ({"size": 8}, "size"),
        ({"size": 2.5}, "size"),
        ({"ranking": [1.0]}, "ranking"),
        ({"ranking": [np.nan] * 7}, "ranking"),
    ],
)
def test_refuses(change: dict[str, object], name: str) -> None:
    good = {"matrix": FILMS, "histogram": [1.5, 0.5, 0.0], "scales": [1.0, 1.0, 1.0]}
    with pytest.raises(ParameterError, match=f"^{name} must be"):
        reconstruct(**(good | change))  # type: ignore[arg-type]


def test_messages_quote_no_value() -> None:
    with pytest.raises(ParameterError) as refused:
        reconstruct(FILMS, [123.456, np.nan, 0.0], np.ones(3))
    assert "123" not in str(refused.value)
