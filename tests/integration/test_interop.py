"""Frames through every task and out again, cards into other tools: as a user would."""

import subprocess
import sys
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from scipy import sparse

import reticent as rt
from reticent.data.catalogue import Catalogue
from reticent.data.frame_tables import Interactions
from reticent.data.interactions import Columns, TableError
from reticent.data.profiles import Profiles
from reticent.errors import ParameterError
from reticent.guarantees.card import Scope
from reticent.mechanisms import DiscreteLaplace, plan_histogram
from reticent.noise import Source
from reticent.tasks.columns import Column
from reticent.tasks.histogram_batches import Histograms
from reticent.tasks.learning import Limits, learn_mapping
from reticent.tasks.recoding import Alphabet
from reticent.tasks.recommendation import recommend
from reticent.tasks.similarity import Similarity
from reticent.tasks.trained_tree import Declared

FILMS = Catalogue.of([[1, 1], [0, 1]], attributes=("Crime", "Drama"), items=("Heat", "Up"))
SCOPE = Scope(protected="each person", not_against=("the holder",), model="central")
CLUB = {"user_id": [7, 7, 9, 3], "item_id": ["Heat", "Up", "Up", "?"], "rating": [5, 3, 4, 1]}
PEOPLE = {
    "age": ["young", "young", "old", "old"] * 30,
    "town": ["Ulm", "Bern", "Ulm", "Bern"] * 30,
    "rooms": [1, 2, 3, 3] * 30,
    "income": [1, 0, 1, 1] * 30,
}


def kinds(columns: dict[str, Any]) -> dict[str, Any]:
    """The same table in every library that is here."""
    found = {"arrow": pyarrow.table(columns)}
    rows = len(next(iter(columns.values())))
    found["pandas"] = pandas.DataFrame(columns, index=np.arange(rows) + 100)
    return {**found, "polars": polars.DataFrame(columns)}


def columns_of(frame: Any) -> dict[str, list[Any]]:
    if hasattr(frame, "to_pydict"):
        return frame.to_pydict()
    if hasattr(frame, "to_dicts"):
        return frame.to_dict(as_series=False)
    return {name: frame[name].tolist() for name in frame.columns}


def test_histograms() -> None:
    plan = plan_histogram(FILMS, budgets={"Crime": 1000, "Drama": 1000}, epsilon=2000)
    results = []
    for frame in kinds(CLUB).values():
        done = Histograms(FILMS).release_frame(frame, plan=plan, source=Source.seeded(3))
        assert type(done.frame) is type(frame)
        results.append(columns_of(done.frame))
        card = done.release.card("Tastes", scope=SCOPE)
        assert card.provenance.seeded
        assert card.promise.epsilon == "2000"
        assert "9" not in repr(done)
    assert results[0] == results[1] == results[2]
    assert results[0] == {"user_id": [3, 7, 9], "Crime": [0, 1, 0], "Drama": [0, 2, 1]}


def test_histograms_of_weights_need_a_weighted_task() -> None:
    frame = kinds(CLUB)["polars"]
    columns = Columns("user_id", "item_id", "rating")
    plan = plan_histogram(FILMS, budgets={"Crime": 1, "Drama": 1}, epsilon=1)
    with pytest.raises(ParameterError, match="weighted"):
        Histograms(FILMS).release_frame(frame, columns, plan=plan, source=Source.system())
    task = Histograms(FILMS, weighted=True)
    plan = plan_histogram(
        FILMS, budgets={"Crime": 10**4, "Drama": 10**4}, epsilon=10**4, weighted=True
    )
    light = frame.with_columns(rating=frame["rating"] * 0.1)
    done = task.release_frame(light, columns, plan=plan, source=Source.system())
    assert done.release.event.private
    assert np.allclose(done.frame["Crime"].to_numpy(), [0, 0.5, 0], atol=0.01)


def test_attributes_without_a_budget_are_left_out() -> None:
    plan = plan_histogram(FILMS, budgets={"Drama": 1000}, epsilon=1000)
    frame = kinds(CLUB)["polars"]
    done = Histograms(FILMS).release_frame(frame, plan=plan, source=Source.system())
    assert columns_of(done.frame) == {"user_id": [3, 7, 9], "Drama": [0, 2, 1]}


def test_neighbours_and_recommendations() -> None:
    results = []
    for frame in kinds(CLUB).values():
        lines = Interactions.of(frame)
        found = Similarity(epsilon=100).neighbours(lines.profiles, 1, source=Source.seeded(1))
        peers = lines.peers(found.peers, found.scores)
        best = recommend(lines.profiles, found.peers, n_items=2)
        items = lines.items(best.items, best.scores)
        assert type(peers) is type(items) is type(frame)
        results.append((columns_of(peers), columns_of(items)))
    assert results[0] == results[1] == results[2]
    peers, items = results[0]
    assert list(peers) == ["user_id", "rank", "peer", "score"]
    assert list(items) == ["user_id", "rank", "item_id", "score"]
    assert dict(zip(peers["user_id"], peers["peer"], strict=True))[9] == 7
    assert {"user_id": 9, "item_id": "Heat"}.items() <= dict(
        zip(items, [column[items["user_id"].index(9)] for column in items.values()], strict=True)
    ).items()


def test_a_matrix_of_confidences_gives_what_the_long_table_gives() -> None:
    lines = Interactions.of(kinds(CLUB)["arrow"])
    rows, columns = [0, 1, 1, 2], [0, 1, 2, 2]  # in canonical order: 3, 7, 9; ?, Heat, Up
    user_items = sparse.csr_matrix(([2.0, 40.0, 1.5, 3.0], (rows, columns)), shape=(3, 3))
    matrix = Profiles.from_csr(user_items)
    similarity = Similarity(epsilon=100)
    by_matrix = similarity.neighbours(matrix, 1, source=Source.seeded(1)).peers[1:]
    by_frame = similarity.neighbours(lines.profiles, 1, source=Source.seeded(1)).peers[1:]
    assert by_matrix.tolist() == by_frame.tolist()


def recoding(frame: Any, **more: Any) -> Any:
    public = ["town", "age", "rooms"]
    alphabet = Alphabet.of_frame(frame, public, ["income"])
    return learn_mapping(alphabet, Limits(delta=0.2), columns=public, **more).recoding


def test_recoded_profiles() -> None:
    results = []
    for frame in kinds(PEOPLE).values():
        made = recoding(frame)
        done = made.release_frame(frame, Source.seeded(5))
        assert type(done.frame) is type(frame)
        results.append(columns_of(done.frame))
        by_rows = made.release_many(
            np.array(
                [list(row) for row in zip(*(PEOPLE[c] for c in made.columns), strict=True)],
                dtype=object,
            ),
            Source.seeded(5),
        )
        assert [list(row) for row in by_rows] == done.release.value
        assert not done.release.event.private
    assert results[0] == results[1] == results[2]
    assert list(results[0]) == ["age", "town", "rooms"]  # the frame's order; income stays behind
    assert set(results[0]["rooms"]) <= {1, 2, 3}
    assert results[0]["age"] != PEOPLE["age"]


def test_everybody_gets_the_release_of_their_own_profile() -> None:
    """By a mapping that changes nothing; what is missing is a value like others."""
    towns, ages = ["Ulm", None, "Ulm", "Bern", "Bern"], [30, 31, None, 30, None]
    held = {"town": towns * 6, "age": ages * 6, "income": [0, 1, 1, 0, 1] * 6}
    for frame in kinds(held).values():
        public = ["town", "age"]
        alphabet = Alphabet.of_frame(frame, public, ["income"])
        made = learn_mapping(alphabet, Limits(delta=0), columns=public).recoding
        found = columns_of(made.release_frame(frame, Source.system()).frame)
        for name in public:
            told = [None if str(cell) in ("nan", "<NA>") else cell for cell in found[name]]
            assert told == held[name]
            assert "None" not in told


def test_recoded_pandas_keeps_index_order_and_types() -> None:
    frame = kinds(PEOPLE)["pandas"].astype({"age": "category", "rooms": "Int64"})
    frame = frame.sample(frac=1, random_state=1)
    out = recoding(frame).release_frame(frame, Source.system()).frame
    assert out.index.equals(frame.index)
    assert out.dtypes.to_dict() == frame[["age", "town", "rooms"]].dtypes.to_dict()
    assert isinstance(out, pandas.DataFrame)


def test_a_mapping_of_texts_reads_numbers_of_a_frame() -> None:
    """As one that was learnt from a file, where every cell is text and ages are ranges."""
    ages = np.array([["30-39", "1"], ["40-49", "2"]] * 20)
    learnt = learn_mapping(Alphabet.of(ages, [1, 0] * 20), Limits(delta=0), columns=["age", "n"])
    from dataclasses import replace

    made = replace(learnt.recoding, widths={"age": 10.0})
    frame = pandas.DataFrame({"n": [1, 2], "age": [37, 44]})
    out = made.release_frame(frame, Source.system()).frame
    assert out["age"].tolist() == ["30-39", "40-49"]
    assert out["n"].tolist() == [1, 2]
    assert out["n"].dtype == frame["n"].dtype


def test_what_is_withheld_is_missing() -> None:
    for name, frame in kinds(PEOPLE).items():
        made = recoding(frame, unknown="withhold", radius=0.1)
        odd = {**PEOPLE, "town": ["Oslo", *PEOPLE["town"][1:]]}
        out = made.release_frame(kinds(odd)[name], Source.system())
        assert out.release.value[0] is None
        assert str(columns_of(out.frame)["town"][0]) in ("None", "nan")
        assert str(columns_of(out.frame)["town"][1]) in ("Ulm", "Bern")


def test_a_frame_without_a_column_of_the_mapping() -> None:
    made = recoding(kinds(PEOPLE)["arrow"])
    with pytest.raises(TableError, match="no column called 'town'"):
        made.release_frame(kinds(PEOPLE)["arrow"].drop_columns(["town"]), Source.system())


def test_trees() -> None:
    declared = Declared(
        columns=(
            Column("age", categories=("young", "old")),
            Column("town", categories=("Ulm", "Bern")),
            Column.numbers("rooms", (0, 5), bins=5),
        ),
        classes=(0, 1),
    )
    results = []
    for frame in kinds(PEOPLE).values():
        query = rt.Tree(epsilon=1000, max_depth=2, target="income", declare=declared)
        answer = query.release(frame, source=Source.seeded(2))
        out = answer.value.predict_frame(frame)
        assert type(out) is type(frame)
        assert not answer.card.release_event().private
        predicted = rt.Predict(proba=True).release({"tree": answer, "rows": frame}).value
        assert predicted == {"row": list(range(1, len(frame) + 1)), **columns_of(out)}
        results.append(columns_of(out))
    assert results[0] == results[1] == results[2]
    assert results[0]["prediction"] == PEOPLE["income"]
    assert list(results[0]) == ["prediction", "p(0)", "p(1)"]
    frame = kinds(PEOPLE)["pandas"]
    assert answer.value.predict_frame(frame).index.equals(frame.index)


def test_scikit_learn_takes_every_kind() -> None:
    from reticent.tasks.profiles import SparseMapping

    frames = kinds({name: PEOPLE[name] for name in ("age", "town", "rooms")})
    frames["pandas"] = frames["pandas"].astype({"age": "category", "rooms": "Int64"})
    for name in ("pandas", "polars"):
        fitted = SparseMapping(delta=0.2, source=Source.seeded(1)).fit(
            frames[name], PEOPLE["income"]
        )
        assert fitted.transform(frames[name]).shape == (120, 3)
        out = fitted.set_output(transform=name).transform(frames[name])
        assert list(out.columns) == ["age", "town", "rooms"]


@pytest.mark.processes
def test_frames_load_nothing_before_they_are_met() -> None:
    code = (
        "import sys, reticent, reticent.data.frames, reticent.tasks.recoding\n"
        "found = {'narwhals', 'pandas', 'polars', 'pyarrow'} & sys.modules.keys()\n"
        "assert not found, found"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.fixture
def card_file(tmp_path):
    release = DiscreteLaplace(epsilon=0.5, size=3).release([1, 2, 3], Source.system())
    path = tmp_path / "card.json"
    path.write_text(release.card("Visits by town", scope=SCOPE).to_json(), encoding="utf-8")
    return path


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "reticent", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.processes
def test_a_card_becomes_an_entry_and_a_measurement(card_file, tmp_path) -> None:
    entry = run("card", "export", card_file, "--format", "registry")
    assert entry.returncode == 0
    assert "url_slug: null" in entry.stdout
    assert "fields are not on any card" in entry.stderr
    script = tmp_path / "measurement.py"
    assert run("card", "export", card_file, "--format", "opendp", "--out", script).stdout == ""
    shown = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert "L1Distance" in shown.stdout
