"""``release --out NAME.parquet``: a folder, which the same command takes up and repeats."""

import json
from pathlib import Path

import pytest

CLUB = ("--provider", "club.example", "--processes", "1", "--yes")
HISTOGRAM = ("release", "histogram", "club.csv", "films.csv", *CLUB)


@pytest.fixture
def here(cli, tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    assert cli("init", ".").code == 0
    return tmp_path


def test_a_folder_is_said_in_one_line_and_repeated(cli, here) -> None:
    first = cli(*HISTOGRAM, "--out", "o.parquet", "--card", "card.json")
    assert (first.code, first.out) == (0, "12 people: o.parquet\n")
    assert "the most anybody has spent is epsilon 2 of 6" in first.err
    again = cli(*HISTOGRAM, "--out", "o.parquet", "--json")
    assert again.json["replayed"] is True
    assert (again.json["people"], again.json["files"]) == (12, ["part-00000.parquet"])
    assert again.json["card"] == json.loads(Path("card.json").read_text())
    assert cli("card", "verify", "card.json").code == 0
    other = cli(*HISTOGRAM, "--out", "o.parquet", "--key", "mine")
    assert (other.code, "another key" in other.err) == (2, True)


def test_a_folder_that_was_broken_off_is_taken_up(cli, here, monkeypatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr("reticent.running.making.merge", fails)
        ended = cli(*HISTOGRAM, "--out", "o.parquet")
    assert ended.code != 0
    assert "broken off; what was drawn is kept, and the same command goes on" in ended.err
    assert not Path("o.parquet").exists()
    drawn = Path(".o.parquet.unreleased/parts/part-00000.parquet").read_bytes()
    assert cli(*HISTOGRAM, "--out", "o.parquet").code == 0
    assert Path("o.parquet/part-00000.parquet").read_bytes() == drawn


def test_too_little_left_charges_nobody(cli, here) -> None:
    for number in range(3):
        assert cli(*HISTOGRAM, "--out", f"{number}.parquet").code == 0
    ended = cli(*HISTOGRAM, "--out", "last.parquet")
    assert (ended.code, ended.out) == (3, "")
    assert "12 people have too little left" in ended.err
    assert "what was drawn waits for the same command" in ended.err
    assert not Path("last.parquet").exists()


def test_a_folder_of_files_and_sketches_read_off_a_folder(cli, here) -> None:
    Path("some").mkdir()
    head, *lines = Path("club.csv").read_text().splitlines()
    for number in range(2):
        part = "\n".join([head, *lines[number::2]])
        Path(f"some/{number}.csv").write_text(f"{part}\n")
    words = ("--epsilon", "4", "--use", "items", "--processes", "1", "--yes")
    ended = cli("release", "sketches", "some", *words, "--out", "s.parquet")
    assert (ended.code, ended.out) == (0, "12 people: s.parquet\n")
    assert "next: reticent release neighbours --sketches s.parquet" in ended.err
    near = cli("release", "neighbours", "--sketches", "s.parquet", "--k", "2", "--out", "n.parquet")
    assert (near.code, near.out) == (0, "12 people: n.parquet\n")
    assert "spent nothing" in near.err


def test_processes_are_for_a_folder(cli, here) -> None:
    ended = cli(*HISTOGRAM, "--out", "o.csv")
    assert (ended.code, "--processes is for a folder" in ended.err) == (2, True)
    assert not Path("reticent-ledger.db").exists()


def test_a_closed_place_and_a_missing_table_are_refused_before_anything(cli, here) -> None:
    for words, says in (
        ((*HISTOGRAM, "--out", "nowhere/o.parquet"), "missing or closed"),
        (
            ("release", "histogram", "gone.csv", "films.csv", *CLUB, "--out", "o.parquet"),
            "gone.csv",
        ),
    ):
        ended = cli(*words)
        assert (ended.code, ended.out) == (2, "")
        assert says in ended.err
    assert not list(here.glob("*.parquet"))
