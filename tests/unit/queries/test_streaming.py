"""One query, any size: a folder that is streamed holds what a release in memory answers."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import pandas
import polars
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import reticent as rt
from reticent.data.synthetic import Communities
from reticent.errors import BudgetExceeded, ParameterError
from reticent.guarantees.card import Card
from reticent.ledger import open_ledger
from reticent.ledger.reports import balances
from reticent.noise import Source
from reticent.preferences import Preferences
from reticent.queries import publish
from reticent.queries.card_checks import recomputed
from reticent.running import inputs
from reticent.running.staging import Staging, StagingError

from .test_person_batches import CASES, LINES, ROLES, Spent, lists

SEED = Source.seeded(3)


@pytest.fixture
def small(monkeypatch):
    """So few rows in a part that a handful of people need several."""
    monkeypatch.setattr(inputs, "ROWS", 2)
    monkeypatch.setattr(inputs.pieces_of, "__defaults__", (2,))
    monkeypatch.setattr(inputs, "BATCH", 2)


def rows_of(folder: Path) -> list[list]:
    """All rows, by name; numbers as floats, as they are in memory."""
    found = [list(row.values()) for row in parquet.read_table(folder).to_pylist()]
    return sorted([[str(row[0]), *row[1:]] for row in found])


def in_memory(case: str, **given) -> list[list]:
    query, public, lines, roles = CASES[case]
    name = next(n for n in query.inputs if n not in public)
    answer = query.release({name: lines, **public}, columns=roles, source=SEED, **given)
    return sorted(list(row) for row in answer.terms.rows(answer.value))


def held_by(case: str, form: str, folder: Path):
    """The lines of a case, as files and frames hold them."""
    lines = CASES[case][2]
    if form == "columns":
        return lines
    if form == "pandas":
        return pandas.DataFrame(lines)
    if form == "polars":
        return polars.DataFrame(lines)
    if form == "csv":
        with (folder / "t.csv").open("w", newline="") as file:
            csv.writer(file).writerows([lines, *zip(*lines.values(), strict=True)])
        return folder / "t.csv"
    if form == "lists":
        batch = pa.record_batch(lines) if case == "profile" else lists(lines)
        parquet.write_table(pa.Table.from_batches([batch]), folder / "l.parquet", row_group_size=2)
        return folder / "l.parquet"
    (folder / "some").mkdir()
    table = pa.table(lines)
    for number in range(2):
        half = table.filter(pa.array([at % 2 == number for at in range(len(table))]))
        parquet.write_table(half, folder / "some" / f"{number}.parquet", row_group_size=2)
    return folder / "some"


@pytest.mark.parametrize("form", ["columns", "pandas", "polars", "csv", "lists", "folder"])
@pytest.mark.parametrize("case", CASES)
def test_the_folder_holds_what_is_answered_in_memory(case, form, tmp_path, small) -> None:
    query, public, _, roles = CASES[case]
    name = next(n for n in query.inputs if n not in public)
    held, out = held_by(case, form, tmp_path), tmp_path / "out.parquet"
    given = {"columns": roles, "source": SEED, "out": out, "processes": 1}
    answer = query.release({name: held, **public}, **given)
    assert rows_of(out) == in_memory(case)
    assert (answer.value.people, answer.value.path) == (len(in_memory(case)), out)
    assert answer.value.files == tuple(sorted(path.name for path in out.glob("part-*")))
    assert len(answer.value.files) > 1
    again = query.release({name: held, **public}, **given)
    assert again.replayed
    assert again.card.to_json() == answer.card.to_json()
    assert not list(tmp_path.glob(".*.given"))


@pytest.mark.parametrize("case", CASES)
def test_the_card_is_that_of_the_release_in_memory(case, tmp_path) -> None:
    query, public, lines, roles = CASES[case]
    name = next(n for n in query.inputs if n not in public)
    given = {"columns": roles, "source": SEED}
    plain = query.release({name: lines, **public}, **given, ledger=tmp_path / "a.db", key="k")
    out = tmp_path / "out.parquet"
    streamed = query.release(
        {name: lines, **public}, **given, ledger=tmp_path / "b.db", key="k", out=out, processes=1
    )
    assert streamed.card.to_json() == plain.card.to_json()
    assert (streamed.spent, streamed.key) == (plain.spent, plain.key)
    shown = json.loads((out / "_reticent.json").read_text())
    assert shown["query"] == query.to_plain()
    public_card = Card.from_json(json.dumps(shown["card"]))
    assert public_card.budget is None
    assert recomputed(public_card) == recomputed(plain.card)
    assert replace(query) == type(query).of_plain(shown["query"])
    told = publish.fields(streamed)["value"]
    assert (told["out"], told["people"]) == (str(out), len(in_memory(case)))
    assert publish.as_text(streamed) == [f"{told['people']} people: {out}"]


@pytest.mark.parametrize("case", ["histogram", "sketches"])
def test_a_row_for_each_person_is_read_in_memory_and_streamed(case, tmp_path) -> None:
    """Lists called items and weights are found; who has an empty one is there."""
    query, public, _, _ = CASES[case]
    rows = {
        "person": ["ann", "bob", "zoe"],
        "items": [["Heat", "Up"], ["7"], []],
        "weights": [[0.5, 1.0], [0.25], []],
    }
    parquet.write_table(pa.table(rows), tmp_path / "r.parquet")
    found = []
    for held in (tmp_path / "r.parquet", pa.table(rows), polars.DataFrame(rows)):
        plain = query.release({"profiles": held, **public}, source=SEED)
        out = tmp_path / f"{len(found)}.parquet"
        query.release({"profiles": held, **public}, source=SEED, out=out, processes=1)
        found += [rows_of(out), [list(row) for row in plain.terms.rows(plain.value)]]
    assert [row[0] for row in found[0]] == rows["person"]
    assert all(one == found[0] for one in found)
    heavy = pa.table({**rows, "weights": [[1, 1], [1], []]})
    full = query.release({"profiles": heavy, **public}, source=SEED)
    assert [list(row) for row in full.terms.rows(full.value)] != found[0]


def test_a_query_of_ones_own_is_streamed(tmp_path, small) -> None:
    lines = {"person": ["a", "b", "a", "c"] * 5, "price": [3, 4, 5, 6] * 5}
    plain = Spent().release({"table": lines}, source=SEED)
    given = {"ledger": tmp_path / "l.db", "out": tmp_path / "o.parquet", "processes": 1}
    placed = Spent().release({"table": lines}, source=SEED, **given)
    own = [[name, *(one or [None, None])] for name, one in zip("abc", plain.value, strict=True)]
    assert rows_of(placed.value.path) == own
    assert spent(tmp_path / "l.db") == dict.fromkeys("abc", 10**9)


def spent(path: Path) -> dict[str, int]:
    with open_ledger(path) as ledger, ledger.reading() as connection:
        return {one.account.subject: one.spent for one in balances(connection)}


def released(tmp_path, **given):
    query, public, lines, roles = CASES["histogram"]
    whole = {"out": tmp_path / "o.parquet", "ledger": tmp_path / "l.db", "processes": 1, **given}
    data = {"profiles": whole.pop("lines", lines), **public}
    return query.release(data, columns=whole.pop("columns", roles), **whole)


def test_everybody_is_charged_once_and_the_key_is_kept_beside_the_folder(tmp_path) -> None:
    first = released(tmp_path)
    assert spent(tmp_path / "l.db") == dict.fromkeys(["9", "ann", "bob", "cid"], 2 * 10**9)
    again = released(tmp_path)
    assert (again.key, again.replayed, again.spent) == (first.key, True, "0")
    assert set(spent(tmp_path / "l.db").values()) == {2 * 10**9}
    with pytest.raises(StagingError, match="another key"):
        released(tmp_path, key="another")


def test_a_total_refuses_everybody_before_anybody_is_charged(tmp_path) -> None:
    released(tmp_path, total=3)
    with pytest.raises(BudgetExceeded, match="too little left"):
        released(tmp_path, total=3, out=tmp_path / "p.parquet")
    assert set(spent(tmp_path / "l.db").values()) == {2 * 10**9}
    assert not (tmp_path / "p.parquet").exists()


@pytest.mark.parametrize("case", ["histogram", "moved", "sketches"])
def test_who_is_declared_is_there_and_nobody_else(case, tmp_path) -> None:
    query, public, lines, roles = CASES[case]
    people = ["ann", "zoe", "9"]
    given = {"columns": roles, "source": SEED, "people": people}
    out = tmp_path / "o.parquet"
    query.release({"profiles": lines, **public}, **given, out=out, processes=1)
    assert rows_of(out) == in_memory(case, people=people)
    assert [row[0] for row in rows_of(out)] == ["9", "ann", "zoe"]


@pytest.mark.parametrize("case", ["histogram", "sketches"])
def test_a_weight_of_zero_is_no_line_at_all(case, tmp_path) -> None:
    """Nor do text and nothing weigh anything; of two lines the least counts."""
    query, public, _, roles = CASES[case]
    lines = {
        "who": ["ann", "ann", "bob", "cid", "dan", "dan", "eve"],
        "what": ["Heat", "Up", "Heat", "Up", "Heat", "Heat", "Up"],
        "how much": [0.5, "0", "0", "no number", "1", "0", None],
    }
    with (tmp_path / "t.csv").open("w", newline="") as file:
        csv.writer(file).writerows([lines, *zip(*lines.values(), strict=True)])
    data = {"profiles": tmp_path / "t.csv", **public}
    plain = query.release(data, columns=roles, source=SEED)
    out = tmp_path / "o.parquet"
    query.release(data, columns=roles, source=SEED, out=out, processes=1)
    assert [row[0] for row in rows_of(out)] == ["ann"]
    assert rows_of(out) == [list(row) for row in plain.terms.rows(plain.value)]


def test_refused_before_anything_is_charged(tmp_path) -> None:
    for given, says in (
        ({"out": tmp_path / "o.csv"}, "named .parquet"),
        ({"columns": {**ROLES, "item": "nothing"}}, "'nothing'"),
        ({"lines": {**LINES, "how much": ["a lot"] * 7}}, "numbers from 0 to 1"),
        ({"lines": tmp_path / "gone.parquet"}, "is not there"),
        ({"data_set": "x"}, "each person has an account"),
    ):
        with pytest.raises(ParameterError, match=says):
            released(tmp_path, **given)
    assert spent(tmp_path / "l.db") == {}
    with pytest.raises(ParameterError, match="out must be left out"):
        rt.Quantile(epsilon=1, upper=9).release([1, 2], out=tmp_path / "q.parquet")
    with pytest.raises(ParameterError, match="processes must be left out"):
        rt.Quantile(epsilon=1, upper=9).release([1, 2], processes=2)
    mine = rt.Profile(once=str(tmp_path / "store.json"))
    with pytest.raises(ParameterError, match="once must be left out"):
        mine.release(
            {"mapping": CASES["profile"][1]["mapping"], "table": CASES["profile"][2]},
            columns={"person": "who"},
            out=tmp_path / "p.parquet",
        )


def test_a_frame_takes_up_what_was_broken_off(tmp_path, monkeypatch, small) -> None:
    with monkeypatch.context() as broken:
        broken.setattr("reticent.running.making.merge", fails)
        with pytest.raises(RuntimeError, match="power"):
            released(tmp_path)
    staging = Staging((tmp_path / "o.parquet").absolute())
    drawn = staging.part("00000").read_bytes()
    with pytest.raises(StagingError, match="another table"):
        released(tmp_path, lines={**LINES, "how much": [1.0] * 7})
    released(tmp_path)
    assert (tmp_path / "o.parquet" / "part-00000.parquet").read_bytes() == drawn
    assert set(spent(tmp_path / "l.db").values()) == {2 * 10**9}


def fails(*_: object, **__: object) -> None:
    raise RuntimeError("the power is gone")


@pytest.mark.parametrize("case", ["histogram", "moved", "sketches", "profile"])
def test_somebody_in_two_rows_is_refused_whatever_batch_they_are_in(case, tmp_path) -> None:
    query, public, lines, roles = CASES[case]
    name = next(n for n in query.inputs if n not in public)
    whole = pa.Table.from_batches([pa.record_batch(lines) if case == "profile" else lists(lines)])
    parquet.write_table(pa.concat_tables([whole, whole.slice(0, 1)]), tmp_path / "t.parquet")
    given = {"columns": roles, "out": tmp_path / "o.parquet", "ledger": tmp_path / "l.db"}
    with pytest.raises(ParameterError, match="one row for each person"):
        query.release({name: tmp_path / "t.parquet", **public}, **given, processes=1)
    assert spent(tmp_path / "l.db") == {}


def test_frames_as_they_come(tmp_path) -> None:
    """Cells of several types, whole numbers as floats, as pandas has them; none is quoted."""
    query = CASES["sketches"][0]
    cells = {"person": [7.0, 8.0, None], "item": ["Heat", 7, 7.0], "other": [{}, 1, ""]}
    frame = pandas.DataFrame(cells)
    plain = query.release({"profiles": frame}, source=SEED)
    out = tmp_path / "o.parquet"
    query.release({"profiles": frame}, source=SEED, out=out, processes=1)
    assert rows_of(out) == [list(row) for row in plain.terms.rows(plain.value)]
    assert [row[0] for row in rows_of(out)] == ["7", "8"]
    wrong = pandas.DataFrame({"person": [{"canary-9184": 1}], "item": ["Heat"]})
    with pytest.raises(ParameterError, match="with people in it") as refused:
        query.release({"profiles": wrong}, out=tmp_path / "p.parquet", processes=1)
    assert "canary-9184" not in str(refused.value)


@pytest.mark.parametrize("form", ["columns", "file"])
def test_a_line_without_an_item_is_as_if_it_were_not_there(form, tmp_path) -> None:
    """Also where what is missing is an empty text: nobody is in a folder by such a line."""
    query, out = CASES["sketches"][0], tmp_path / "o.parquet"
    lines: object = {"person": ["ann", "bob", "cy"], "item": ["Heat", "", None]}
    if form == "file":
        parquet.write_table(pa.table(lines), tmp_path / "t.parquet")
        lines = tmp_path / "t.parquet"
    plain = query.release({"profiles": lines}, source=SEED)
    query.release({"profiles": lines}, source=SEED, out=out, processes=1)
    assert rows_of(out) == [list(row) for row in plain.terms.rows(plain.value)]
    assert [row[0] for row in rows_of(out)] == ["ann"]


def test_a_table_of_nobody_and_columns_of_several_lengths_are_refused(tmp_path) -> None:
    query, given = CASES["sketches"][0], {"out": tmp_path / "o.parquet", "processes": 1}
    (tmp_path / "t.csv").write_text("person,item\n")
    with pytest.raises(ParameterError, match="with people in it"):
        query.release({"profiles": tmp_path / "t.csv"}, ledger=tmp_path / "l.db", **given)
    with pytest.raises(ParameterError, match="columns of one length"):
        query.release({"profiles": {"person": ["a", "b"], "item": ["Heat"]}}, **given)
    assert spent(tmp_path / "l.db") == {}
    assert [path.name for path in tmp_path.glob("*.parquet")] == []


def test_what_an_earlier_run_charged_is_not_said_to_be_charged_again(tmp_path, monkeypatch) -> None:
    given = {"out": tmp_path / "o.parquet", "ledger": tmp_path / "l.db", "processes": 1}
    with monkeypatch.context() as broken:
        broken.setattr(Staging, "show", fails)
        with pytest.raises(RuntimeError, match="power is gone"):
            CASES["sketches"][0].release({"profiles": LINES}, columns=ROLES, **given)
    before = spent(tmp_path / "l.db")
    again = CASES["sketches"][0].release({"profiles": LINES}, columns=ROLES, **given)
    assert before
    assert (again.spent, again.replayed, spent(tmp_path / "l.db")) == ("0", False, before)


def test_what_a_seeded_source_has_drawn_is_not_placed_as_private(tmp_path) -> None:
    people, _ = Communities(people=9, items=40, communities=2, size=5).draw(Source.seeded(7))
    with pytest.raises(ParameterError, match="a seeded source had a part in"):
        CASES["sketches"][0].release(replace(people, private=False), out=tmp_path / "o.parquet")


def test_other_weights_in_the_preferences_are_another_release(tmp_path, monkeypatch) -> None:
    """Also where numbers are moved together, and nothing else in the terms shows the weights."""
    text = "version = 1\nattributes.default = 0.4\nproviders.club.epsilon = 0.5\nitems.Up = "
    query = rt.Histogram(provider="club", possible=True)
    data = {"profiles": LINES, "catalogue": CASES["moved"][1]["catalogue"]}
    given = {"columns": ROLES, "ledger": tmp_path / "l.db", "out": tmp_path / "o.parquet"}
    with monkeypatch.context() as broken:
        broken.setattr("reticent.running.making.merge", fails)
        with pytest.raises(RuntimeError, match="power is gone"):
            query.release(data, **given, preferences=Preferences.parse(f"{text}0.5"), processes=1)
    with pytest.raises(StagingError, match="another release"):
        query.release(data, **given, preferences=Preferences.parse(f"{text}0.75"), processes=1)
    query.release(data, **given, preferences=Preferences.parse(f"{text}0.5"), processes=1)


def test_spaces_around_cells_of_people_do_not_count(tmp_path) -> None:
    query, public, lines, _ = CASES["profile"]
    with (tmp_path / "t.csv").open("w", newline="") as file:
        rows = [[f" {cell} " for cell in row] for row in zip(*lines.values(), strict=True)]
        csv.writer(file).writerows([[f" {name}" for name in lines], *rows])
    given = {"columns": {"person": "who"}, "source": SEED}
    data = {"table": tmp_path / "t.csv", **public}
    plain, out = query.release(data, **given), tmp_path / "o.parquet"
    query.release(data, **given, out=out, processes=1)
    assert rows_of(out) == [list(row) for row in plain.terms.rows(plain.value)]


def test_a_query_that_no_module_has_is_not_sent_to_other_processes(tmp_path) -> None:
    """Not for bringing lines together either; one process sends nothing."""

    class Own(rt.Sketches):
        """Declared where nobody can import it."""

        kind = "own-sketches"

    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text(f"person,item\n{name},Heat\n")
    data = {"profiles": [tmp_path / "a.csv", tmp_path / "b.csv"]}
    query, given = Own(epsilon=1), {"out": tmp_path / "o.parquet", "ledger": tmp_path / "l.db"}
    with pytest.raises(StagingError, match="in a module that can be imported"):
        query.release(data, **given, processes=2)
    assert spent(tmp_path / "l.db") == {}
    assert query.release(data, **given, processes=1).value.people == 2
