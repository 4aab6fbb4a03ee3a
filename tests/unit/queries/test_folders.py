"""Answers that are drawn or derived as a whole, in folders; what is read off a folder."""

import json

import pandas
import pyarrow.parquet as parquet
import pytest

import reticent as rt
from reticent.errors import ParameterError
from reticent.noise import Source
from reticent.queries.artefacts import ArtefactError
from reticent.running.staging import Staging, StagingError

from .test_person_batches import CASES, LINES, ROLES
from .test_streaming import SEED, fails, small, spent

__all__ = ["small"]

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
    where = {"drawing": "whole_draw.write_whole", "charging": "staging.os.rename"}[moment]
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


def test_a_tree_that_splits_by_nothing_predicts_for_every_row(tmp_path) -> None:
    told = {"columns": {"age": {"bounds": [0, 9], "bins": 2}}, "target": {"classes": ["n", "y"]}}
    asked = rt.Tree(epsilon=50, target="votes", declare=told, max_depth=0)
    stump = asked.release({"age": [1, 2] * 50, "votes": ["y"] * 100})
    for name in ("r.csv", "r.parquet"):
        rows = pandas.DataFrame({"age": [1, 2, 3], "other": [4, 5, 6]})
        path = tmp_path / name
        rows.to_csv(path, index=False) if name == "r.csv" else rows.to_parquet(path)
        out = tmp_path / f"out-{name}.parquet"
        plain = rt.Predict().release({"tree": stump, "rows": path})
        rt.Predict().release({"tree": stump, "rows": path}, out=out, processes=1)
        assert plain.value == {"row": [1, 2, 3], "prediction": ["y"] * 3}
        assert parquet.read_table(out).to_pydict() == plain.value


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
