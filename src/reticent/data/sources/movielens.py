"""MovieLens ratings as profiles: who rated which film, or rated it well enough; films and genres.

Not here  people's age and gender.

MovieLens 100K has ``u.data`` (tab-separated), MovieLens 1M ``ratings.dat`` (separated by ``::``);
a gzip of the one and a parquet form of the other are read too, and likewise ``u.item`` and
``movies.dat`` for the genres. Catalogues name films by their number as text. The terms of
MovieLens forbid passing the files on, so none is shipped. They are GroupLens Research's,
University of Minnesota.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from scipy import sparse

from reticent.data.catalogue import Catalogue
from reticent.data.interactions import TableError
from reticent.data.profiles import Profiles
from reticent.data.sources import find
from reticent.data.sources.columns import read_fields, read_parquet, read_text
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


def movielens_100k_genres(folder: str | Path) -> Catalogue:
    """1,682 films and 19 genres, "unknown" among them, in alphabetical order."""
    dataset = "MovieLens 100K (ml-100k)"
    path = find(folder, ("u.item", "u.item.gz"), dataset=dataset)
    names = [
        fields[0]
        for fields in read_fields(find(folder, ("u.genre",), dataset=dataset), separator="|")
        if fields[0]
    ]
    lines = read_fields(path, separator="|")
    if any(len(fields) != 5 + len(names) for fields in lines):
        raise TableError(path.name, f"must be lines of {5 + len(names)} fields separated by '|'")
    listed = [
        [name for name, mark in zip(names, fields[5:], strict=True) if mark == "1"]
        for fields in lines
    ]
    return _catalogue(path, [fields[0] for fields in lines], listed)


def movielens_1m_genres(folder: str | Path) -> Catalogue:
    """3,883 films and 18 genres, in alphabetical order."""
    path = find(folder, ("movies.dat", "movies.parquet"), dataset="MovieLens 1M (ml-1m)")
    if path.suffix == ".dat":
        lines = read_fields(path, separator="::")
        if any(len(fields) < 3 for fields in lines):
            raise TableError(path.name, "must be lines of 3 fields separated by '::'")
        return _catalogue(path, [f[0] for f in lines], [f[-1].split("|") for f in lines])
    held = read_parquet(path, ("movie", "genres"))
    films = [str(film) for film in held["movie"]]
    return _catalogue(path, films, [str(genres).split("|") for genres in held["genres"]])


def _catalogue(path: Path, films: list[str], listed: Sequence[Sequence[str]]) -> Catalogue:
    """Films with the genres listed for each."""
    if not films or not all(film.isdigit() for film in films):
        raise TableError(path.name, "must name each film by its number")
    named = sorted({genre for genres in listed for genre in genres if genre})
    place = {genre: at for at, genre in enumerate(named)}
    pairs = [(i, place[g]) for i, genres in enumerate(listed) for g in set(genres) if g]
    rows, columns = zip(*pairs, strict=True) if pairs else ((), ())
    shape = len(films), len(named)
    table = sparse.csc_array(([1.0] * len(pairs), (rows, columns)), shape=shape)
    return Catalogue.of(table, attributes=named, items=films)


def _profiles(
    people: NDArray[np.int64],
    films: NDArray[np.int64],
    ratings: NDArray[np.int64],
    least_rating: int,
) -> Profiles:
    require(1 <= least_rating <= 5, "least_rating", least_rating, "from 1 to 5")
    kept = ratings >= least_rating
    return Profiles.of(people[kept], films[kept])
