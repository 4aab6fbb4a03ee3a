"""The catalogues and profiles of the experiments, the budgets people draw, and what is not there.

Budgets are "random with sum 1", of which there are two readings: uniform on the simplex, and
uniform numbers divided by their sum. Both are cut at ``FLOOR`` from below and not divided again:
under the first the mean of 1 / t is infinite, so means depend on the floor.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from experiments.harness import stream
from reticent.data.catalogue import Catalogue
from reticent.data.profiles import Profiles
from reticent.data.sources import DataMissing, find
from reticent.data.sources.columns import read_parquet, read_text
from reticent.data.sources.movielens import (
    movielens_1m,
    movielens_1m_genres,
    movielens_100k,
    movielens_100k_genres,
)
from reticent.data.synthetic import Communities, multi_hot_catalogue, uniform
from reticent.mechanisms.exposure import Exposure
from reticent.noise import Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

FLOOR = 1e-3
SIMPLEX, SHARES = "simplex", "shares"
READINGS = (SIMPLEX, SHARES)
EPSILONS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4)
REAL, CHECK, LOOKALIKE = "movielens-1m", "movielens-100k", "made like MovieLens"
YELP, SINGLE = "made like Yelp", "single attribute"


@dataclass(frozen=True, slots=True)
class Dataset:
    """A catalogue and, of films, the profiles of people over it."""

    name: str
    real: bool
    catalogue: Catalogue
    exposure: Exposure
    profiles: Profiles | None = None
    stars: NDArray[np.int64] | None = None  # person, film, rating; places in profiles


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is run."""

    people: int
    draws: int  # of the bootstrap
    timed: int
    solved: int  # by the general solver
    post: int
    post_runs: int
    tested: int
    runs: int
    case_epsilons: tuple[float, ...]
    factors: int


FULL = Scale(2000, 500, 500, 3, 1000, 2, 604, 3, (0.05, 0.1, 0.4, 2, 8), 64)
QUICK = Scale(300, 200, 100, 1, 150, 1, 60, 1, (0.1, 2), 16)


def budgets(reading: str, people: int, attributes: int, source: Source) -> NDArray[np.float64]:
    """One row of attribute budgets per person."""
    draws = uniform((people, attributes), source)
    if reading == SIMPLEX:
        draws = -np.log1p(-draws)
    return np.asarray(np.maximum(draws / draws.sum(axis=1, keepdims=True), FLOOR))


def load(folder: Path | None, *, quick: bool) -> tuple[list[Dataset], list[str]]:
    """The films, real or made, and the two made catalogues; a sentence for what is not there."""
    skipped: list[str] = []
    films = None
    if folder is None:
        skipped.append(f"{REAL}: no --data DIR and RETICENT_DATA is not set")
    else:
        try:
            films = _real(folder / REAL)
        except DataMissing as missing:
            skipped.append(f"{REAL}: {missing}")
    shops = multi_hot_catalogue(11_537, 21, stream("generator", YELP))
    pages = Catalogue.of(np.eye(17, dtype=np.int64))
    return [
        films or _lookalike(quick=quick),
        Dataset(YELP, False, shops, Exposure.of(shops)),
        Dataset(SINGLE, False, pages, Exposure.of(pages)),
    ], skipped


def load_check(folder: Path | None) -> tuple[list[Dataset], list[str]]:
    """A second real set, on which nothing was chosen: other people, other years, other films."""
    if folder is None:
        return [], [f"{CHECK}: no --data DIR and RETICENT_DATA is not set"]
    try:
        films = movielens_100k_genres(folder / CHECK)
        seen = movielens_100k(folder / CHECK)
    except DataMissing as missing:
        return [], [f"{CHECK}: {missing}"]
    profiles = seen.in_catalogue(seen.people, films.items)
    return [Dataset(CHECK, True, films, Exposure.of(films), profiles)], []


def _real(folder: Path) -> Dataset:
    films = movielens_1m_genres(folder)
    seen = movielens_1m(folder)
    profiles = seen.in_catalogue(seen.people, films.items)
    stars = _stars(folder, profiles)
    return Dataset(REAL, True, films, Exposure.of(films), profiles, stars)


def _stars(folder: Path, profiles: Profiles) -> NDArray[np.int64]:
    path = find(folder, ("ratings.dat", "ratings.parquet"), dataset="MovieLens 1M (ml-1m)")
    if path.suffix == ".dat":
        table = read_text(path, width=3, separator="::")
    else:
        held = read_parquet(path, ("user", "movie", "rating", "movie_id_ambiguous"))
        table = np.column_stack([held["user"], held["movie"], held["rating"]])
        table = table[~held["movie_id_ambiguous"].astype(bool)]
    for column, names in ((0, profiles.people), (1, profiles.items)):
        listed = np.array([int(name) for name in names])
        order = np.argsort(listed)
        table[:, column] = order[np.searchsorted(listed, table[:, column], sorter=order)]
    return table


def _lookalike(*, quick: bool) -> Dataset:
    """Films sorted by genre, so that a community's own part of the catalogue has few genres."""
    drawn = multi_hot_catalogue(3_883, 18, stream("generator", LOOKALIKE)).dense()
    first = np.argmax(drawn, axis=1)
    films = Catalogue.of(drawn[np.argsort(first, kind="stable")])
    setting = Communities(people=600 if quick else 3_000, items=3_883, communities=12, size=165)
    profiles, _ = setting.draw(stream("people", LOOKALIKE))
    return Dataset(LOOKALIKE, False, films, Exposure.of(films), profiles)
