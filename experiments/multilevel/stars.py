"""How little predicted ratings depend on a profile: their MAE with and without one.

The paper reports the loss of its case study as an MAE "against ground truth" and names no more of
it than "SGD". If ratings in stars are meant, a film's mean rating, which needs nothing from the
person, is the yardstick. The personal prediction is a factor model (alternating least squares on
what is left after the means of films), folded in from the person's own ratings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from experiments.harness import stream
from experiments.multilevel.datasets import Dataset
from experiments.multilevel.results import Pool
from reticent.data.synthetic import uniform

if TYPE_CHECKING:
    from numpy.typing import NDArray

FACTORS, SWEEPS, PENALTY, PRIOR = 16, 8, 6.0, 5.0
SERIES = ("own ratings", "own mean rating", "nothing of the person", "all films alike")


def run(pool: Pool, data: Dataset, tested: int) -> None:
    """MAE in stars over held-out ratings, person by person."""
    assert data.stars is not None  # noqa: S101
    assert data.profiles is not None  # noqa: S101
    order = np.argsort(stream("stars", data.name).long_words(len(data.profiles)))
    new = np.isin(data.stars[:, 0], order[:tested])
    hidden = new & (uniform(len(data.stars), stream("stars split", data.name)) < 0.2)
    shape = len(data.profiles), data.profiles.n_items
    known, mean = data.stars[~new], float(data.stars[~new, 2].mean())
    films = mean + _means(known[:, 1], known[:, 2] - mean, shape[1])
    item_factors = _fit(known, films, shape)
    shown, asked = data.stars[new & ~hidden], data.stars[hidden]
    left = shown[:, 2] - films[shown[:, 1]]
    own = _means(shown[:, 0], left, shape[0])
    table = sparse.csr_matrix((left - own[shown[:, 0]], (shown[:, 0], shown[:, 1])), shape=shape)
    tastes = _solved(table, item_factors)
    base = films[asked[:, 1]]
    personal = (tastes[asked[:, 0]] * item_factors[asked[:, 1]]).sum(axis=1)
    guesses = (base + own[asked[:, 0]] + personal, base + own[asked[:, 0]], base, mean + 0 * base)
    for series, guess in zip(SERIES, guesses, strict=True):
        error = np.abs(np.clip(guess, 1, 5) - asked[:, 2])
        who, at = np.unique(asked[:, 0], return_inverse=True)
        each = np.bincount(at, weights=error) / np.bincount(at)
        if series == SERIES[0]:
            first = each
        assert len(who) == len(each)  # noqa: S101
        pool.add("stars", data.name, series, "", each)
        pool.ratio(("stars over own ratings", data.name, series, ""), each, first)


def _means(at: NDArray[np.int64], values: NDArray[Any], count: int) -> NDArray[np.float64]:
    sums = np.bincount(at, weights=values, minlength=count)
    return np.asarray(sums / (np.bincount(at, minlength=count) + PRIOR))


def _fit(
    known: NDArray[np.int64], films: NDArray[np.float64], shape: tuple[int, int]
) -> NDArray[np.float64]:
    left = known[:, 2] - films[known[:, 1]]
    left = left - _means(known[:, 0], left, shape[0])[known[:, 0]]
    by_person = sparse.csr_matrix((left, (known[:, 0], known[:, 1])), shape=shape)
    by_film = sparse.csr_matrix(by_person.T)
    items = uniform((shape[1], FACTORS), stream("factors")) - 0.5
    for _ in range(SWEEPS):
        items = _solved(by_film, _solved(by_person, items))
    return items


def _solved(table: Any, factors: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each row the ridge regression of its entries on the factors of their columns."""
    made = np.zeros((table.shape[0], FACTORS))
    eye = PENALTY * np.eye(FACTORS)
    for row in range(table.shape[0]):
        part = slice(table.indptr[row], table.indptr[row + 1])
        if part.start < part.stop:
            held = factors[table.indices[part]]
            made[row] = np.linalg.solve(held.T @ held + eye, held.T @ table.data[part])
    return made
