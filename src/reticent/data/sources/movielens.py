"""MovieLens ratings as profiles: who rated which film, or rated it well enough.

Not here  films and their genres, people's age and gender.

MovieLens 100K has ``u.data`` (tab-separated), MovieLens 1M ``ratings.dat`` (separated by ``::``);
a gzip of the one and a parquet form of the other are read too. The terms of MovieLens forbid
passing the files on, so none is shipped. They are GroupLens Research's, University of Minnesota.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from reticent.data.profiles import Profiles
from reticent.data.sources import find
from reticent.data.sources.columns import read_parquet, read_text
from reticent.errors import require

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def movielens_100k(folder: str | Path, *, least_rating: int = 1) -> Profiles:
    """943 people and 1,682 films; ``least_rating=4`` keeps the films they liked."""
    path = find(folder, ("u.data", "u.data.gz"), dataset="MovieLens 100K (ml-100k)")
    table = read_text(path, width=3, separator="\t")
    return _profiles(table[:, 0], table[:, 1], table[:, 2], least_rating)


def movielens_1m(folder: str | Path, *, least_rating: int = 1) -> Profiles:
    """6,040 people and 3,706 rated films.

    Rows of the parquet form that are flagged ``movie_id_ambiguous`` are left out.
    """
    path = find(folder, ("ratings.dat", "ratings.parquet"), dataset="MovieLens 1M (ml-1m)")
    if path.suffix == ".dat":
        table = read_text(path, width=3, separator="::")
        return _profiles(table[:, 0], table[:, 1], table[:, 2], least_rating)
    held = read_parquet(path, ("user", "movie", "rating", "movie_id_ambiguous"))
    sure = ~held["movie_id_ambiguous"].astype(bool)
    return _profiles(held["user"][sure], held["movie"][sure], held["rating"][sure], least_rating)


def _profiles(
    people: NDArray[np.int64],
    films: NDArray[np.int64],
    ratings: NDArray[np.int64],
    least_rating: int,
) -> Profiles:
    require(1 <= least_rating <= 5, "least_rating", least_rating, "from 1 to 5")
    kept = ratings >= least_rating
    return Profiles.of(people[kept], films[kept])
