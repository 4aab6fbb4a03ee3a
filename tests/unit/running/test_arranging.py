"""How many files a batch makes, and in which order their rows stand, depends on names alone."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from reticent.data.catalogue import Catalogue
from reticent.errors import ParameterError
from reticent.noise import Source
from reticent.preferences import Preferences
from reticent.running import gathering, run
from reticent.tasks.histogram_arrow import HistogramBatches

from .jobs import job, people, rows_of, spent, write


def released(folder, name, table, what: HistogramBatches, **more) -> dict[str, bytes]:
    """All files of a seeded run, by name."""
    held = write(folder / f"{name}.parquet", table, group=37)
    out = folder / f"{name}-out.parquet"
    run(what, held, out, key="x", ledger=None, processes=1, source=Source.seeded(3), **more)
    return {path.name: path.read_bytes() for path in sorted(out.glob("*.parquet"))}


def long_table(copies: int = 1):
    """A line per item, each so many times."""
    pairs = [
        (name, item)
        for name, items in zip(*(people(230).column(c).to_pylist() for c in range(2)), strict=True)
        for item in items
    ] * copies
    return pa.table({"user": [a for a, _ in pairs], "item": [b for _, b in pairs]})


def test_rows_of_people_stand_in_one_order_whatever_that_of_the_table(tmp_path, small) -> None:
    table = people(230)
    shuffled = table.take(pa.array([(71 * n + 5) % 230 for n in range(230)]))
    found = [released(tmp_path, n, t, job()) for n, t in (("a", table), ("b", shuffled))]
    assert found[0] == found[1]
    assert len(found[0]) == 3  # of 100 people each, about


@pytest.mark.parametrize("lines", [1 << 21, 40])
def test_lines_that_say_nothing_new_make_no_more_files(tmp_path, small, monkeypatch, lines) -> None:
    monkeypatch.setattr(gathering, "LINES", lines)
    of_lines = job(person="user", items="item")
    found = [
        released(tmp_path, f"{copies}", long_table(copies), of_lines, rows="items")
        for copies in (1, 4)
    ]
    assert found[0] == found[1]
    once, often = (long_table(copies).num_rows for copies in (1, 4))
    buckets = [min(max(-(-n // gathering.LINES), 1), gathering.MOST) for n in (once, often)]
    assert (buckets[0] != buckets[1]) is (lines == 40)  # the control: what decided it before


def test_declared_people_have_rows_and_are_charged(tmp_path, ledger, small) -> None:
    table = write(tmp_path / "in.parquet", people(150))
    declared = [*(f"p{n}" for n in range(120)), "zoe", "yan"]
    out = tmp_path / "out.parquet"
    more = {"key": "june", "ledger": ledger, "processes": 1, "people": declared}
    ran = run(job(), table, out, **more)
    assert set(rows_of(out)) == set(declared) == set(spent(ledger))
    assert ran.people == ran.charged == 122
    again = run(job(), table, out, **more)
    assert (again.replayed, again.charged) == (True, 0)


def numbered(kind: str, numbers: list[int]):
    column = pa.array(numbers, pa.type_for_alias(kind))
    return pa.table({"person": column, "items": [["Heat"]] * len(numbers)})


@pytest.mark.parametrize("kind", ["int8", "uint16", "int32", "int64", "uint64"])
def test_the_type_of_names_does_not_tell_who_has_no_row(tmp_path, ledger, kind) -> None:
    """Missing people used to be 64 bits wide, and everybody with them."""
    found = []
    for name, here in (("all", [7, 9, 30]), ("one missing", [7, 30])):
        table = write(tmp_path / f"{name}.parquet", numbered(kind, here))
        out = tmp_path / f"{name}-out.parquet"
        run(job(), table, out, key=name, ledger=ledger, processes=1, people=["7", "9", "30"])
        found.append(pq.read_table(out).schema)
        assert set(rows_of(out)) == {7, 9, 30}
    assert found[0] == found[1]


@pytest.mark.parametrize("declared", [["007", "30"], ["7", "007"], ["+7"], ["7.0"], [str(1 << 63)]])
def test_a_number_that_is_written_otherwise_is_refused(tmp_path, ledger, declared) -> None:
    """007 would be drawn and charged as 7, without the data of 7."""
    table = write(tmp_path / "in.parquet", numbered("int64", [7, 9, 30]))
    out = tmp_path / "out.parquet"
    with pytest.raises(ParameterError, match="whole numbers, as the table names people"):
        run(job(), table, out, key="x", ledger=ledger, processes=1, people=declared)
    assert spent(ledger) == {}


def test_whole_numbers_in_lists_are_names_and_not_places() -> None:
    films = Catalogue.of([[1], [0], [0]], items=(7, "2", "Heat"), attributes=("Crime",))
    wishes = Preferences.parse("version = 1\nattributes.default = 50\nproviders.club.epsilon = 50")
    task = HistogramBatches.of(films, wishes, "club")
    listed = pa.array([7, 2, 0, None, -7, 2**40])
    texts = pa.array(["7", "2", "0", None, "-7", str(2**40)])
    assert task._places(listed).tolist() == task._places(texts).tolist() == [0, 1, -1, -1, -1, -1]
