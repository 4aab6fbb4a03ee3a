"""What leaves does not tell how the lines of a private table stand, nor what has weight 0."""

import csv
import gzip
import random
from pathlib import Path

import numpy as np
import pytest

from reticent.data.sources.movielens import movielens_100k_genres
from reticent.noise import Source
from tests.unit.data.real_sets import real

pytest.importorskip("pyarrow")

PEOPLE = [*(str(n) for n in range(7, 13)), "ann", "bob", "cid"]
ITEMS = [f"film {n}" for n in range(14)]
LINES = [
    (who, what)
    for at, who in enumerate(PEOPLE)
    for place, what in enumerate(ITEMS)
    if (at * 5 + place * 3) % 7 < 3
]
PREFERENCES = """
version = 1
attributes.default = 0.4
[providers."club.example"]
epsilon = 1
"""
SKETCHES = ["--epsilon", "4", "--profile-size", "6", "--yes"]
NEIGHBOURS = ["--k", "3", "--epsilon", "4", "--profile-size", "6", "--yes"]
HISTOGRAM = ["films.csv", "--provider", "club.example", "--yes"]
ALONE = ("--processes", 1)


def ordered(lines: list) -> dict[str, list]:
    """A table as it may be exported: by item, by person, by time, in no order."""
    clock = random.Random(8)
    return {
        "item": sorted(lines, key=lambda line: (line[1], clock.random())),
        "person": sorted(lines, key=lambda line: (line[0], clock.random())),
        "time": sorted(lines, key=lambda _: clock.random()),
        "shuffled": clock.sample(lines, len(lines)),
    }


def write(path: Path, lines: list) -> Path:
    heads = ("user", "item", "weight")[: len(lines[0])]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([heads, *lines])
    return path


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    """A folder with a catalogue and preferences, where the noise is the same in each run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Source, "system", classmethod(lambda _: Source.seeded(11)))
    rows = [(what, int(n % 2 == 0), int(n % 3 == 0)) for n, what in enumerate(ITEMS)]
    with Path("films.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("item", "Crime", "Drama"), *rows])
    Path("preferences.toml").write_text(PREFERENCES)
    return tmp_path


def released(cli, table: Path, name: str, *more: object) -> dict[str, bytes]:
    """All bytes that four commands write of a table."""
    found = {}
    for what, words in (
        ("neighbours.csv", ("release", "neighbours", table, *NEIGHBOURS)),
        ("direct.csv", ("release", "neighbours", table, *NEIGHBOURS, "--method", "direct")),
        ("gossip.csv", ("release", "neighbours", table, *NEIGHBOURS, "--method", "gossip")),
        ("sketches.csv", ("release", "sketches", table, *SKETCHES)),
        ("histogram.csv", ("release", "histogram", table, *HISTOGRAM)),
        ("histogram.parquet", ("release", "histogram", table, *HISTOGRAM, *ALONE)),
        ("sketches.parquet", ("release", "sketches", table, *SKETCHES, *ALONE)),
    ):
        out = Path(f"{name}-{what}")
        ledger = ("--ledger", f"{out}.db")
        ended = cli(*words, *more, "--out", out, *ledger)
        assert ended.code == 0, ended.err
        parts = sorted(out.glob("*.parquet")) if out.is_dir() else [out]
        found |= {f"{what} {part.name.removeprefix(name)}": part.read_bytes() for part in parts}
    return found


def test_the_order_of_a_private_table_does_not_show(cli, here) -> None:
    found = [
        released(cli, write(here / f"{name}.csv", lines), name)
        for name, lines in ordered(LINES).items()
    ]
    assert len(found[0]) == 7
    assert all(one == found[0] for one in found)
    rows = found[0]["histogram.csv -histogram.csv"].decode().splitlines()[1:]
    assert [row.split(",")[0] for row in rows] == PEOPLE


@pytest.mark.data
def test_the_order_of_the_films_that_people_have_seen_does_not_show(cli, here) -> None:
    """MovieLens-100k, of whose order 0.1 told who had seen a film."""
    home = real("movielens-100k")
    with gzip.open(home / "u.data.gz", "rt") as file:
        lines = [tuple(line.split()) for line in file]
    catalogue = movielens_100k_genres(home)
    rows = np.zeros((len(catalogue), len(catalogue.attributes)), dtype=int)
    rows[catalogue.rows, catalogue.columns] = 1
    with Path("films.csv").open("w", newline="") as file:
        heads = ("item", *catalogue.attributes)
        cells = ((name, *row) for name, row in zip(catalogue.items, rows.tolist(), strict=True))
        csv.writer(file).writerows([heads, *cells])
    clock = random.Random(8)
    found = [
        released(cli, write(here / f"{name}.csv", [line[:2] for line in some]), name)
        for name, some in {
            "item": sorted(lines, key=lambda line: int(line[1])),
            "person": sorted(lines, key=lambda line: int(line[0])),
            "time": sorted(lines, key=lambda line: int(line[3])),
            "shuffled": clock.sample(lines, len(lines)),
        }.items()
    ]
    assert len(found[0]) == 7
    assert all(one == found[0] for one in found)


def test_control_names_in_the_order_of_first_appearance_show_it(cli, here, monkeypatch) -> None:
    def of_first_appearance(occurring, names, declared=None):
        found = list(dict.fromkeys(occurring[occurring >= 0].tolist()))
        places = np.full(len(names) + 1, -1, dtype=np.int64)
        places[found] = np.arange(len(found))
        return places, [names[code] for code in found]

    monkeypatch.setattr("reticent.data.profiles.canonical", of_first_appearance)
    found = []
    for name in ("item", "person"):
        table = write(here / f"{name}.csv", ordered(LINES)[name])
        cli(
            "release",
            "neighbours",
            table,
            *NEIGHBOURS,
            "--out",
            f"{name}.json",
            "--ledger",
            f"{name}.db",
        )
        found.append(Path(f"{name}.json").read_bytes())
    assert found[0] != found[1]


def lists(cli, name: str, lines: list, *more: object) -> list[bytes]:
    """What comparing commands write of a table with weights."""
    table, found = write(Path(f"{name}.csv"), lines), []
    for kind, options in (("neighbours", NEIGHBOURS), ("sketches", SKETCHES)):
        out = Path(f"{name}-{kind}.csv")
        words = ("release", kind, table, *options, *more, "--out", out, "--ledger", f"{out}.db")
        ended = cli(*words)
        assert ended.code == 0, ended.err
        found.append(out.read_bytes())
    return found


def test_a_line_of_weight_0_changes_nothing(cli, here) -> None:
    weighted = [(who, what, 0.75) for who, what in LINES]
    plain = lists(cli, "plain", weighted)
    secrets = [("ann", "A Secret", 0), ("nobody", "film 1", 0), ("0", "Another", "")]
    for at, secret in enumerate(secrets):
        assert lists(cli, f"secret{at}", [secret, *weighted]) == plain
    assert lists(cli, "control", [("nobody", "film 1", 0.5), *weighted]) != plain


def test_with_declared_people_a_row_does_not_say_who_has_lines(cli, here) -> None:
    Path("people.txt").write_text("\n".join(["zoe", *PEOPLE]))
    Path("items.csv").write_text("item\n" + "\n".join(ITEMS) + "\n")
    declared = ("--people", "people.txt")
    found = [
        released(cli, write(here / f"{name}.csv", lines), name, *declared)
        for name, lines in {
            "all": LINES,
            "others": [("mallory", "film 1"), *LINES[::-1], ("mallory", "film 2")],
        }.items()
    ]
    assert found[0] == found[1]
    for what in ("histogram.csv -histogram.csv",):
        names = [row.split(",")[0] for row in found[0][what].decode().splitlines()[1:]]
        assert names == [*PEOPLE, "zoe"]
    parquet = pytest.importorskip("pyarrow.parquet")
    names = parquet.read_table("all-histogram.parquet").column("person").to_pylist()
    assert names == [*PEOPLE, "zoe"]
    weighted = [(who, what, 0.75) for who, what in LINES]
    more = (*declared, "--items", "items.csv")
    plain = lists(cli, "plain", weighted, *more)
    assert lists(cli, "more", [("ann", "Unheard of", 1), *weighted], *more) == plain


def test_cards_say_what_of_the_table_is_public(cli, here) -> None:
    table = write(here / "table.csv", LINES)
    Path("people.txt").write_text("\n".join(PEOPLE))
    Path("items.txt").write_text("\n".join(ITEMS))
    both = ("--people", "people.txt", "--items", "items.txt")
    treated, declared = "this is treated as public", "that were declared: these lists are public"
    histogram = ("release", "histogram", table, *HISTOGRAM)
    for number, (words, said) in enumerate(
        (
            (("release", "neighbours", table, *NEIGHBOURS), treated),
            (("release", "neighbours", table, *NEIGHBOURS, *both), declared),
            (
                ("release", "similarity", table, "--pair", "ann,bob", "--epsilon", "1", "--yes"),
                treated,
            ),
            ((*histogram, "--out", "one.csv"), treated),
            ((*histogram, "--out", "two.csv", *both[:2]), declared),
            ((*histogram, *ALONE, "--out", "b.parquet"), treated),
        )
    ):
        ended = cli(*words, "--json", "--ledger", f"{number}.db")
        assert ended.code == 0, ended.err
        told = [
            line for line in ended.json["card"]["scope"]["not_against"] if "public " in f"{line} "
        ]
        assert [said in line for line in told] == [True], told


def test_a_declared_person_without_lines_can_be_compared(cli, here) -> None:
    table = write(here / "table.csv", LINES)
    Path("people.txt").write_text("ann\nzoe\n")
    pair = ("release", "similarity", table, "--pair", "ann,zoe", "--epsilon", "1", "--yes")
    assert "--pair must be people of the table" in cli(*pair).err
    assert cli(*pair, "--people", "people.txt").code == 0


def test_a_column_of_text_is_refused_before_anybody_is_charged(cli, here) -> None:
    table = write(here / "high.csv", [(who, what, "high") for who, what in LINES])
    for kind, options in (("neighbours", NEIGHBOURS), ("sketches", SKETCHES)):
        ended = cli("release", kind, table, *options, "--ledger", "l.db")
        assert (ended.code, ended.out) == (2, "")
        assert "column of weights that holds text" in ended.err
        assert "high," not in ended.err
        assert not Path("l.db").exists()
    clamped = write(here / "large.csv", [(who, what, 1.7) for who, what in LINES])
    full = write(here / "full.csv", [(who, what, 1) for who, what in LINES])
    found = []
    for table in (clamped, full):
        ended = cli("release", "neighbours", table, *NEIGHBOURS, "--ledger", f"{table}.db")
        assert ended.code == 0
        found.append(ended.out)
    assert found[0] == found[1]
