"""Distances against the plainest loops, and the compiled blocks against both."""

from itertools import product

import numpy as np
import pytest

from reticent.errors import ParameterError
from reticent.optim.distance_kernels import fill_distances
from reticent.optim.distances import (
    BITS,
    CODES,
    Distance,
    distance_matrix,
    hamming,
    squared_euclidean,
)


def filled(distance: Distance, block: int) -> np.ndarray:
    """The matrix as the kernels see it, ``block`` outputs at a time."""
    size, found = distance.size, np.zeros((distance.size, distance.size))
    out = np.empty(block)
    for j, first in product(range(size), range(0, size, block)):
        count = min(block, size - first)
        fill_distances(distance.arrays(), j, distance.arrays(), first, count, out)
        found[j, first : first + count] = out[:count]
    return found


def differing(table: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return np.array([[weights[x != y].sum() for y in table] for x in table])


@pytest.mark.parametrize(("columns", "categories"), [(1, 2), (7, 5), (18, 2), (20, 12), (40, 3)])
def test_hamming_is_the_share_of_columns_that_differ(columns, categories) -> None:
    table = np.random.default_rng(columns).integers(0, categories, size=(30, columns))
    distance = hamming(table)
    assert distance.kind == BITS  # of one, two and four words here
    expected = differing(table, np.full(columns, 1 / columns))
    np.testing.assert_allclose(distance.dense(), expected, rtol=1e-14)
    np.testing.assert_allclose(filled(distance, 7), expected, rtol=1e-14)


@pytest.mark.parametrize("weights", [[1, 1, 1], [3, 0, 1], [0.1, 0.2, 0.7]])
def test_hamming_with_weights(weights) -> None:
    table = np.random.default_rng(1).integers(0, 3, size=(20, 3))
    distance = hamming(table, weights=weights)
    assert distance.kind == CODES
    expected = differing(table, np.array(weights) / sum(weights))
    np.testing.assert_allclose(distance.dense(), expected, rtol=1e-13)
    np.testing.assert_allclose(filled(distance, 8), expected, rtol=1e-13)


def test_weights_may_be_huge() -> None:
    heavy = hamming([["a", "x"], ["b", "x"], ["b", "y"]], weights=[1e308, 1e308])
    assert heavy.row(0).tolist() == [0, 0.5, 1]


def test_many_categories_need_no_bits() -> None:
    table = np.random.default_rng(2).integers(0, 200, size=(100, 4))
    distance = hamming(table)
    assert distance.kind == CODES
    np.testing.assert_allclose(distance.dense(), differing(table, np.full(4, 0.25)), rtol=1e-14)
    np.testing.assert_allclose(filled(distance, 64), distance.dense(), rtol=1e-14)


def test_hamming_of_words_is_that_of_their_codes() -> None:
    words = [["a", "x"], ["b", "x"], ["a", "y"], ["a", "x"]]
    codes = [[0, 5], [1, 5], [0, 9], [0, 5]]
    np.testing.assert_array_equal(hamming(words).dense(), hamming(codes).dense())


def test_squared_euclidean() -> None:
    points = np.random.default_rng(3).normal(size=(25, 3))
    distance = squared_euclidean(points)
    expected = [[((x - y) ** 2).sum() for y in points] for x in points]
    np.testing.assert_allclose(distance.dense(), expected, rtol=1e-13)
    np.testing.assert_allclose(filled(distance, 10), expected, rtol=1e-13)


def test_matrices_and_functions_need_not_be_symmetric() -> None:
    def up_is_dear(x: int, y: int) -> float:
        return max(0.0, 3.0 * (y - x)) + max(0.0, 1.0 * (x - y))

    distance = distance_matrix(up_is_dear, [1, 5, 2])
    assert distance.row(0).tolist() == [0, 12, 3]
    assert distance.row(1).tolist() == [4, 0, 3]
    np.testing.assert_array_equal(filled(distance, 2), distance.dense())
    np.testing.assert_array_equal(distance_matrix(distance.dense()).dense(), distance.dense())


@pytest.mark.parametrize(
    "make",
    [
        lambda: hamming([]),
        lambda: hamming([1, 2]),
        lambda: hamming([[1, 2]], weights=[1]),
        lambda: hamming([[1, 2]], weights=[0, 0]),
        lambda: hamming([[1, 2]], weights=[1, float("nan")]),
        lambda: squared_euclidean([[1.0, float("inf")]]),
        lambda: distance_matrix([[0, 1]]),
        lambda: distance_matrix([[0, -1], [1, 0]]),
        lambda: distance_matrix([[1, 1], [1, 0]]),
        lambda: distance_matrix(lambda x, y: 0.0),
    ],
)
def test_what_is_no_distance_is_refused(make) -> None:
    with pytest.raises(ParameterError):
        make()


def test_hamming_of_values_that_have_no_order() -> None:
    table = np.array([["Ulm", 1], [None, 1], ["Ulm", None], [2.5, "1"]], dtype=object)
    expected = [[float((a != b).mean()) for b in table] for a in table]
    for weights in (None, [1.0, 1.0]):
        distance = hamming(table, weights=weights)
        assert [distance.row(i).tolist() for i in range(4)] == expected
