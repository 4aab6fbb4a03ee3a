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
from reticent.errors import BudgetExceeded, ParameterError
from reticent.guarantees.card import Card
from reticent.ledger import open_ledger
from reticent.ledger.reports import balances
from reticent.noise import Source
from reticent.queries import publish
from reticent.queries.artefacts import ArtefactError
from reticent.queries.card_checks import recomputed
from reticent.running import inputs
from reticent.running.staging import Staging, StagingError

from .test_person_batches import CASES, LINES, ROLES, lists

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


PAIRS = {"person": ["ann", "bob", "9"], "other": ["bob", "cid", "ann"]}
ALONE = {
    "neighbours": (rt.Neighbours(k=2, epsilon=1), {"profiles": LINES}),
    "direct": (rt.Neighbours(k=2, epsilon=1, method="direct"), {"profiles": LINES}),
    "similarity": (rt.Similarity(epsilon=1), {"profiles": LINES, "pairs": PAIRS}),
}


@pytest.mark.parametrize("case", ALONE)
def test_answers_about_everybody_are_placed_in_a_folder(case, tmp_path, small) -> None:
    """The rows, the card and the charges are those of the answer in memory."""
    (query, data), out = ALONE[case], tmp_path / "o.parquet"
    plain, placed = (
        query.release(
            data,
            columns=ROLES,
            source=Source.seeded(3),
            ledger=tmp_path / f"{n}.db",
            key="k",
            out=o,
        )
        for n, o in enumerate((None, out))
    )
    table = parquet.read_table(out)
    assert table.column_names == list(plain.terms.columns)
    assert [tuple(row.values()) for row in table.to_pylist()] == plain.terms.rows(plain.value)
    assert len(placed.value.files) > 1
    assert placed.card.to_json() == plain.card.to_json()
    assert spent(tmp_path / "0.db") == spent(tmp_path / "1.db") != {}
    given = {"columns": ROLES, "source": Source.seeded(3), "ledger": tmp_path / "1.db", "out": out}
    again = query.release(data, **given)
    assert (again.replayed, again.key, again.spent) == (True, "k", "0")
    assert spent(tmp_path / "0.db") == spent(tmp_path / "1.db")
    with pytest.raises(StagingError, match="another table"):
        query.release({**data, "profiles": {**LINES, "how much": [1.0] * 7}}, **given)


@pytest.mark.parametrize("case", ALONE)
@pytest.mark.parametrize("moment", ["drawing", "charging"])
def test_an_answer_about_everybody_is_drawn_and_charged_once(
    case, moment, tmp_path, monkeypatch, small
) -> None:
    """Broken off while it is drawn it is drawn anew; broken off later it is the same draw."""
    query, data = ALONE[case]
    given = {"columns": ROLES, "ledger": tmp_path / "l.db", "out": tmp_path / "o.parquet"}
    where = {"drawing": "alone.write_whole", "charging": "staging.os.rename"}[moment]
    with monkeypatch.context() as broken:
        broken.setattr(f"reticent.running.{where}", fails)
        with pytest.raises(RuntimeError, match="power is gone"):
            query.release(data, **given)
    parts = Staging((tmp_path / "o.parquet").absolute()).shown
    drawn = {path.name: path.read_bytes() for path in parts.glob("part-*")}
    charged = spent(tmp_path / "l.db")
    assert bool(charged) is (moment == "charging")
    query.release(data, **given)
    shown = {path.name: path.read_bytes() for path in (tmp_path / "o.parquet").glob("part-*")}
    assert (shown == drawn) is (moment == "charging")
    if charged:
        assert spent(tmp_path / "l.db") == charged


def fails(*_: object, **__: object) -> None:
    raise RuntimeError("the power is gone")


def test_lists_read_off_sketches_are_placed_in_a_folder(tmp_path, small) -> None:
    sketches = CASES["sketches"][0].release({"profiles": LINES}, columns=ROLES, source=SEED)
    for number, (query, data) in enumerate(
        (
            (rt.Neighbours(k=2), {"sketches": sketches}),
            (rt.Recommendations(k=2), {"sketches": sketches, "items": ["Heat", "Up"]}),
        )
    ):
        folder = tmp_path / f"{number}.parquet"
        plain, placed = (query.release(data, out=out) for out in (None, folder))
        table = parquet.read_table(folder)
        assert [tuple(row.values()) for row in table.to_pylist()] == plain.terms.rows(plain.value)
        assert placed.card.words == plain.card.words
        assert placed.value.people == len({row[0] for row in plain.terms.rows(plain.value)})
        with pytest.raises(StagingError, match="there already"):
            query.release(data, out=folder)


def test_a_folder_of_sketches_is_an_artefact(tmp_path, small) -> None:
    """Read off the folder, neighbours and items are those read off the answer in memory."""
    query, out = CASES["sketches"][0], tmp_path / "s.parquet"
    plain = query.release({"profiles": LINES}, columns=ROLES, source=SEED)
    query.release({"profiles": LINES}, columns=ROLES, source=SEED, out=out, processes=1)
    for asked, more in (
        (rt.Neighbours(k=2), {}),
        (rt.Recommendations(k=2), {"items": ["Heat", "Up"]}),
    ):
        found = asked.release({"sketches": out, **more})
        assert found.value == asked.release({"sketches": plain, **more}).value
        assert found.card.promise == plain.card.promise
    about = json.loads((out / "_reticent.json").read_text())
    for broken in (
        {**about, "card": {}},
        {**about, "query": rt.Sketches(epsilon=9, profile_size=3).to_plain()},
        {key: about[key] for key in about if key != "card"},
    ):
        (out / "_reticent.json").write_text(json.dumps(broken))
        with pytest.raises(ArtefactError):
            rt.Neighbours(k=2).release({"sketches": out})
    (out / "_reticent.json").write_text(json.dumps(about))
    (out / "part-00000.parquet").write_bytes(b"PAR1 broken PAR1")
    with pytest.raises(ArtefactError, match="no folder that"):
        rt.Neighbours(k=2).release({"sketches": out})
    with pytest.raises(ArtefactError, match="no folder that"):
        rt.Neighbours(k=2).release({"sketches": tmp_path})


@pytest.fixture(scope="module")
def tree():
    told = {
        "columns": {"age": {"bounds": [0, 100], "bins": 4}, "pet": {"categories": ["cat", "dog"]}},
        "target": {"classes": ["no", "yes"]},
    }
    rows = {"age": [20, 70, 55, 30] * 40, "pet": ["cat", "dog"] * 80, "votes": ["no", "yes"] * 80}
    asked = rt.Tree(epsilon=50, target="votes", declare=told, max_depth=2)
    return asked.release(rows, source=Source.seeded(1))


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("form", ["csv", "parquet", "frame"])
def test_predictions_keep_the_order_of_rows(tree, form, named, tmp_path, small) -> None:
    rows = {"pet": ["cat", "dog", None, "owl", "dog"], "age": [20, 70, 30, None, 71]}
    if named:
        rows["id"] = ["e", "b", "a", "9", "b"]
    held = pandas.DataFrame(rows)
    if form == "csv":
        held.to_csv(tmp_path / "r.csv", index=False)
        held = tmp_path / "r.csv"
    if form == "parquet":
        (tmp_path / "some").mkdir()
        for part, (first, last) in enumerate(((0, 3), (3, 5))):
            path = tmp_path / "some" / f"{part}.parquet"
            held.iloc[first:last].to_parquet(path, row_group_size=2, index=False)
        held = tmp_path / "some"
    query, out = rt.Predict(proba=True), tmp_path / "o.parquet"
    plain = query.release({"tree": tree, "rows": pandas.DataFrame(rows)})
    found = query.release({"tree": tree, "rows": held}, out=out, processes=1)
    table = parquet.read_table(out)
    assert table.column_names == list(plain.terms.columns)
    assert [tuple(row.values()) for row in table.to_pylist()] == plain.terms.rows(plain.value)
    assert (found.value.people, found.spent) == (5, "0")
    assert found.card.to_json() == plain.card.to_json()
    with pytest.raises(StagingError, match="there already"):
        query.release({"tree": tree, "rows": held}, out=out)
    with pytest.raises(ParameterError, match="key must be left out"):
        query.release({"tree": tree, "rows": held}, out=tmp_path / "p.parquet", key="k")
