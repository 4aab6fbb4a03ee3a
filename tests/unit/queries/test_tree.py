"""The query of a tree: what is declared, whatever holds the rows, and cells that never show."""

import json

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

import reticent as rt
from reticent.errors import DeclarationError, ParameterError, ReticentError
from reticent.noise import Source
from reticent.queries import publish
from reticent.tasks.columns import Column
from reticent.tasks.declarations import as_declared, plain_declaration, read_declaration
from reticent.tasks.trained_tree import Declared

CANARY = "canary-9911"
DECLARED = {
    "columns": {
        "age": {"bounds": [0, 100], "bins": 20},
        "pet": {"categories": ["cat", "dog"]},
        "kids": {"categories": [0, 1, 2]},
        "rooms": {"edges": (0, 1, 7)},
    },
    "target": {"classes": [True, False]},
}
PEOPLE = {
    "age": [7 * n % 100 for n in range(200)],
    "pet": [("cat", "dog", "owl")[n % 3] for n in range(200)],
    "kids": [n % 4 for n in range(200)],
    "rooms": [0.5 * (n % 9) for n in range(200)],
    "votes": [7 * n % 100 > 50 for n in range(200)],
}
QUERY = rt.Tree(epsilon=3, target="votes", declare=DECLARED, max_depth=3)


def grown(data, **more) -> dict:
    return QUERY.release(data, source=Source.seeded(3), **more).value.plain()["tree"]


def test_whatever_holds_the_rows_the_tree_is_the_same(tmp_path) -> None:
    frame = pandas.DataFrame(PEOPLE)
    frame.rename(columns={"age": "Years"}).to_csv(tmp_path / "rows.csv", index=False)
    pyarrow.parquet.write_table(pyarrow.table(PEOPLE), tmp_path / "rows.parquet")
    texts = {name: [f" {cell} " for cell in cells] for name, cells in PEOPLE.items()}
    arrays = {name: np.array(cells) for name, cells in texts.items()}
    found = [
        grown(PEOPLE),
        grown({name: np.array(cells) for name, cells in PEOPLE.items()}),
        grown(frame),
        grown(polars.from_pandas(frame)),
        grown(frame.astype(object)),
        grown(texts),
        grown(arrays),
        grown(tmp_path / "rows.csv", columns={"age": "years"}),
        grown(tmp_path / "rows.csv", columns={"table.age": "years"}),
        grown(str(tmp_path / "rows.parquet")),
        grown({"table": frame}),
    ]
    assert all(one == found[0] for one in found)
    other = {**PEOPLE, "votes": [not vote for vote in PEOPLE["votes"]]}
    assert grown(other) != found[0]  # so that they could differ


@pytest.mark.parametrize(
    "odd", [CANARY, None, float("nan"), float("inf"), 10**5000, [1, 2], {"a": 1}, b"x"], ids=type
)
def test_one_cell_neither_raises_nor_changes_how_others_are_read(odd) -> None:
    """Two tables that differ in one row: the same form, notes and card, but for the noise."""
    told = []
    for cell in (odd, 1):
        rows = {name: [*cells, cell] for name, cells in PEOPLE.items()}
        answer = rt.Tree(epsilon=900, target="votes", declare=DECLARED, max_depth=0).release(rows)
        assert CANARY not in publish.as_json(answer) + publish.as_csv(answer)
        counts = np.array(answer.value.tree.leaf_counts[0])
        assert abs(counts - [98, 102]).max() <= 3
        held = json.loads(publish.as_json(answer))
        told.append(
            (held["query"], held["card"]["scope"], held["card"]["words"], len(answer.notes))
        )
    assert told[0] == told[1]


@pytest.mark.parametrize(
    ("data", "columns", "said"),
    [
        ({**PEOPLE, "pet": None}, None, "columns of one length"),
        ({k: v for k, v in PEOPLE.items() if k != "pet"}, None, "no column called 'pet'"),
        (PEOPLE, {"pet": "dog"}, "no column called 'dog'"),
        (PEOPLE, {"colour": "pet"}, "roles of columns"),
        (PEOPLE, {"pet": "kids"}, "one column for two roles"),
    ],
)
def test_what_is_wrong_with_columns_is_a_sentence(data, columns, said) -> None:
    given = {name: [] if cells is None else cells for name, cells in data.items()}
    with pytest.raises(ReticentError, match=said):
        QUERY.release(given, columns=columns)


def test_names_of_columns_may_have_dots() -> None:
    declare = {"columns": {"a.b": {"bounds": [0, 9]}}, "target": {"classes": [0, 1]}}
    query = rt.Tree(epsilon=900, target="y.z", declare=declare, max_depth=1)
    answer = query.release({"x": [1, 8] * 50, "y.z": [0, 1] * 50}, columns={"a.b": "x"})
    assert answer.value.text().startswith("a.b below")
    new = {"tree": answer, "rows": {"x": [1, 8], "id": ["p", "q"]}}
    told = rt.Predict().release(new, columns={"a.b": "x"})
    assert told.value == {"id": ["p", "q"], "prediction": [0, 1]}


def test_a_tree_may_split_by_a_column_that_is_called_id() -> None:
    declare = {"columns": {"ID": {"bounds": [0, 9]}}, "target": {"classes": [0, 1]}}
    query = rt.Tree(epsilon=900, target="y", declare=declare, max_depth=1)
    answer = query.release({"id": [1, 8] * 50, "y": [0, 1] * 50})
    told = rt.Predict().release({"tree": answer, "rows": {"id": [1, 8]}})
    assert told.value == {"row": [1, 2], "prediction": [0, 1]}


@pytest.mark.parametrize("classes", [(0, 1), ("a", "b"), (True, False), (0.5, "x"), (0, 0.5)])
def test_predictions_are_written_in_every_form(classes) -> None:
    declare = {"columns": {"x": {"bounds": [0, 9]}}, "target": {"classes": list(classes)}}
    query = rt.Tree(epsilon=900, target="y", declare=declare, max_depth=1)
    answer = query.release({"x": [1, 8] * 50, "y": list(classes) * 50})
    told = rt.Predict(proba=True).release({"tree": answer, "rows": {"x": [1, 8]}})
    assert told.value["prediction"] == list(classes)
    for made in (answer, told):
        table = pyarrow.parquet.read_table(pyarrow.BufferReader(publish.as_parquet(made)))
        rows = publish.as_csv(made).splitlines()
        assert (table.column_names, len(table)) == (rows[0].split(","), len(rows) - 1)


# What is declared


def test_declarations_have_one_value_each(tmp_path) -> None:
    path = tmp_path / "columns.toml"
    path.write_text(
        "[columns.age]\nbounds = [0.0, 100]\nbins = 20\n[columns.pet]\n"
        'categories = ["cat ", "dog"]\n[columns.kids]\ncategories = [0, 1, 2]\n'
        "[columns.rooms]\nedges = [0, 1, 7]\n[target]\nclasses = [true, false]\n"
    )
    declared = Declared(
        columns=(
            Column.numbers("age", (0, 100), bins=20),
            Column("pet", categories=("cat", "dog")),
            Column("kids", categories=(0, 1, 2)),
            Column("rooms", edges=(0, 1, 7)),
        ),
        classes=(True, False),
    )
    options = {"epsilon": 3, "target": "votes", "max_depth": 3}
    given = (DECLARED, declared, path, str(path), QUERY.to_plain()["declare"])
    alike = {rt.Tree(declare=one, **options) for one in given}
    assert alike == {QUERY}
    json.dumps(QUERY.to_plain())


@pytest.mark.parametrize(
    "columns",
    [
        {"x": {"bounds": [0, 1], "bins": 1}},
        {"x": {"edges": [0, 1]}},
        {"x": {"bounds": [0.1, 0.7], "bins": 3}},
        {"x": {"edges": [0, 0.1, 0.3, 1]}},
        {"x": {"bounds": [0, 1]}, " y ": {"categories": ["a", 1.5, 2, True]}},
    ],
    ids=str,
)
@pytest.mark.parametrize("target", [{"classes": [1]}, {"classes": ["a", 2], "weights": {"2": 3}}])
def test_a_declaration_is_plain_data(columns, target) -> None:
    declared = read_declaration({"columns": columns, "target": target}, "declare")
    told = json.loads(json.dumps(plain_declaration(declared)))
    assert read_declaration(told, "declare") == declared


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "declare: no column is declared; add .* \\(and 1 more to correct\\)"),
        ({"columns": {"a": {}}, "target": {"classes": [1]}}, "declare: columns.a needs a name"),
        ({"columns": {"a": 3}, "target": {"classes": [1]}}, "declare: columns.a must be a table"),
        (
            {"columns": {"a": {"bounds": [0, float("nan")]}}, "target": {"classes": [1]}},
            "columns.a.bounds must be an array of numbers",
        ),
        (
            {"columns": {"a": {"bounds": [0, 10**400]}}, "target": {"classes": [1]}},
            "columns.a.bounds must be an array of numbers",
        ),
        (
            {"columns": {"a": {"bounds": [0, 1], "bins": 10**9}}, "target": {"classes": [1]}},
            "columns.a.bins must be a whole number, 1 or more, below 131,072",
        ),
        ({"columns": {"a": {"categories": "xy"}}, "target": {"classes": [1]}}, "must be an array"),
        (7, "declare must be a mapping or a TOML file"),
        ("none.toml", "none.toml: there is no such file"),
    ],
    ids=str,
)
def test_what_is_wrong_with_a_declaration_is_a_sentence(given, said) -> None:
    with pytest.raises(DeclarationError, match=said):
        rt.Tree(epsilon=1, target="votes", declare=given)


def test_a_target_that_is_declared_is_refused() -> None:
    with pytest.raises(ParameterError, match="target must be no declared column"):
        rt.Tree(epsilon=1, target=" AGE", declare=DECLARED)


def test_text_is_read_as_what_was_declared() -> None:
    cells = np.array(["1.0", "true", "x", None, 1, "9" * 5000], dtype=object)
    assert as_declared(cells, ("1", "x")) is cells
    assert as_declared(np.array([1.0]), (1,)).tolist() == [1.0]
    assert as_declared(cells, (0, 1)).tolist() == [1.0, True, "x", None, 1, float("inf")]


# scikit-learn


def test_the_classifier_charges_a_ledger(tmp_path) -> None:
    path = tmp_path / "l.db"
    given = {"bounds": (0, 10), "classes": [0, 1], "ledger": path, "data_set": "x", "total": 3}
    x, y = np.arange(40).reshape(-1, 1) % 10, np.arange(40) % 2
    first = rt.PrivateTreeClassifier(epsilon=2, key="a", **given).fit(x, y)
    again = rt.PrivateTreeClassifier(epsilon=2, key="a", **given).fit(x, y)
    assert (first.answer_.replayed, again.answer_.replayed) == (False, True)
    assert again.trained_.plain() == first.trained_.plain()
    assert again.answer_.budget.spent == "2"
    with pytest.raises(rt.BudgetExceeded):
        rt.PrivateTreeClassifier(epsilon=2, key="b", **given).fit(x, y)
    with pytest.raises(ParameterError, match="data_set must be the name"):
        rt.PrivateTreeClassifier(epsilon=2, bounds=(0, 10), ledger=path).fit(x, y)
    free = rt.PrivateTreeClassifier(epsilon=2, bounds=(0, 10)).fit(x, y)
    assert free.answer_.card.budget is None
