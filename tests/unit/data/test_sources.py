"""Readers of published formats, on tiny files made here; the real ones if RETICENT_DATA is set."""

import gzip
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from reticent.data.profiles import Profiles
from reticent.data.sources import DataMissing
from reticent.data.sources.lastfm import lastfm_2k
from reticent.data.sources.movielens import (
    movielens_1m,
    movielens_1m_genres,
    movielens_100k,
    movielens_100k_genres,
)
from reticent.errors import ParameterError
from tests.unit.data.real_sets import real

RATINGS = "196\t242\t3\t881250949\n186\t302\t5\t891717742\n196\t302\t4\t878887116\n"


def table(profiles: Profiles) -> dict[object, set[object]]:
    return {
        int(person): {int(profiles.items[i]) for i in profiles.row(at)}
        for at, person in enumerate(profiles.people)
    }


@pytest.mark.parametrize("zipped", [False, True])
def test_movielens_100k(zipped: bool, tmp_path: Path) -> None:
    if zipped:
        (tmp_path / "u.data.gz").write_bytes(gzip.compress(RATINGS.encode()))
    else:
        (tmp_path / "u.data").write_text(RATINGS)
    assert table(movielens_100k(tmp_path)) == {196: {242, 302}, 186: {302}}
    assert table(movielens_100k(tmp_path, least_rating=4)) == {196: {302}, 186: {302}}


def test_movielens_1m_text(tmp_path: Path) -> None:
    (tmp_path / "ratings.dat").write_text("1::1193::5::978300760\n2::661::3::978302109\n")
    assert table(movielens_1m(tmp_path)) == {1: {1193}, 2: {661}}


def test_movielens_1m_parquet_leaves_out_what_is_unsure(tmp_path: Path) -> None:
    columns = {
        "user": [1, 1, 2],
        "movie": [10, 11, 10],
        "rating": [5, 4, 1],
        "timestamp": [0, 0, 0],
        "movie_id_ambiguous": [False, True, False],
    }
    pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / "ratings.parquet")
    assert table(movielens_1m(tmp_path)) == {1: {10}, 2: {10}}
    assert table(movielens_1m(tmp_path, least_rating=5)) == {1: {10}}


FILMS = "1::Toy Story (1995)::Animation|Comedy\n7::Caf\x85 :: Noir (1999)::Drama\n9::Up::Comedy\n"


@pytest.mark.parametrize("form", ["dat", "parquet"])
def test_movielens_1m_genres(form: str, tmp_path: Path) -> None:
    if form == "dat":
        (tmp_path / "movies.dat").write_bytes(FILMS.encode("latin-1"))
    else:
        columns = {
            "movie": [1, 7, 9],
            "title": ["Toy Story (1995)", "Noir (1999)", "Up"],
            "genres": ["Animation|Comedy", "Drama", "Comedy"],
        }
        pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / "movies.parquet")
    films = movielens_1m_genres(tmp_path)
    assert films.items == ("1", "7", "9")
    assert films.attributes == ("Animation", "Comedy", "Drama")
    assert films.dense().tolist() == [[1, 1, 0], [0, 0, 1], [0, 1, 0]]


@pytest.mark.parametrize("zipped", [False, True])
def test_movielens_100k_genres(zipped: bool, tmp_path: Path) -> None:
    (tmp_path / "u.genre").write_text("unknown|0\nWar|1\nDrama|2\nWestern|3\n\n")
    items = "1|Toy Story (1995)|01-Jan-1995||http|0|1|1|0\n2|Caf\xe9|||http|1|0|0|0\n"
    if zipped:
        (tmp_path / "u.item.gz").write_bytes(gzip.compress(items.encode("latin-1")))
    else:
        (tmp_path / "u.item").write_bytes(items.encode("latin-1"))
    films = movielens_100k_genres(tmp_path)
    assert films.items == ("1", "2")
    assert films.attributes == ("Drama", "War", "unknown")  # no film is a Western
    assert films.dense().tolist() == [[1, 1, 0], [0, 0, 1]]


@pytest.mark.parametrize("text", ["1::Up\n", "one::Up::Comedy\n", ""])
def test_broken_films_are_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "movies.dat").write_text(text)
    with pytest.raises(ParameterError, match="movies.dat must"):
        movielens_1m_genres(tmp_path)
    (tmp_path / "u.genre").write_text("War|0\n")
    (tmp_path / "u.item").write_text("1|Up|||http|0|1\n")
    with pytest.raises(ParameterError, match="lines of 6 fields"):
        movielens_100k_genres(tmp_path)


@pytest.mark.parametrize("form", ["dat", "parquet"])
def test_lastfm(form: str, tmp_path: Path) -> None:
    if form == "dat":
        text = "userID\tartistID\tweight\r\n2\t51\t13883\r\n2\t52\t3\r\n4\t51\t1\r\n"
        (tmp_path / "user_artists.dat").write_text(text)
    else:
        columns = {"user": [2, 2, 4], "artist": [51, 52, 51], "weight": [13883, 3, 1]}
        pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / "user_artists.parquet")
    assert table(lastfm_2k(tmp_path)) == {2: {51, 52}, 4: {51}}
    assert table(lastfm_2k(tmp_path, least_plays=3)) == {2: {51, 52}}


@pytest.mark.parametrize(
    "reader",
    [movielens_100k, movielens_1m, lastfm_2k, movielens_100k_genres, movielens_1m_genres],
)
def test_a_missing_file_says_what_to_do(reader, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(DataMissing, match=r"download .* and unpack it there") as missing:
        reader(tmp_path)
    assert str(tmp_path) in str(missing.value)


def test_a_broken_file_is_refused_without_its_lines(tmp_path: Path) -> None:
    (tmp_path / "u.data").write_text("196\t242\tsecret\t1\n")
    with pytest.raises(ParameterError, match="lines of 3 whole numbers") as refused:
        movielens_100k(tmp_path)
    assert "secret" not in str(refused.value)
    assert "got" not in str(refused.value)
    pyarrow.parquet.write_table(pyarrow.table({"user": [1]}), tmp_path / "user_artists.parquet")
    with pytest.raises(ParameterError, match="columns user, artist, weight"):
        lastfm_2k(tmp_path)


@pytest.mark.data
@pytest.mark.parametrize(
    ("reader", "name", "people", "items", "entries"),
    [
        (movielens_100k, "movielens-100k", 943, 1_682, 100_000),
        (movielens_1m, "movielens-1m", 6_040, None, 1_000_162),
        (lastfm_2k, "lastfm-2k", 1_892, 17_632, 92_834),
    ],
)
def test_the_real_sets_have_their_published_counts(reader, name, people, items, entries) -> None:  # type: ignore[no-untyped-def]
    profiles = reader(real(name))
    assert len(profiles) == people
    assert items is None or profiles.n_items == items
    assert profiles.indices.size == entries


@pytest.mark.data
@pytest.mark.parametrize(
    ("reader", "name", "films", "genres"),
    [
        (movielens_100k_genres, "movielens-100k", 1_682, 19),
        (movielens_1m_genres, "movielens-1m", 3_883, 18),
    ],
)
def test_the_real_films_have_their_published_counts(reader, name, films, genres) -> None:  # type: ignore[no-untyped-def]
    catalogue = reader(real(name))
    assert (len(catalogue), len(catalogue.attributes)) == (films, genres)
    assert not catalogue.empty
