"""Artefacts: a tree comes back as it was, and nothing that is not one gets in."""

import copy
import json
import math
import pickle

import numpy as np
import pytest

import reticent as rt
from reticent.errors import DeclarationError, ParameterError, ReticentError
from reticent.noise import Source
from reticent.queries import publish
from reticent.queries.artefacts import ArtefactError, read_answer
from reticent.queries.base import Answer
from reticent.tasks.columns import Column
from reticent.tasks.trained_tree import Declared

DECLARED = {
    "columns": {
        "age": {"bounds": [0, 100], "bins": 10},
        "pet": {"categories": ["cat", "dog", "öwl"]},
        "flag": {"categories": [True, False]},
    },
    "target": {"classes": ["no", "yes"]},
}
NEW = {"age": [3.0, 77.0], "pet": ["cat", "?"], "flag": [True, None]}
MULTIWAY = {"criterion": "entropy", "split": "multiway", "method": "shifted"}


def grown(*, source=None, weights=None, classes=("no", "yes"), **options) -> Answer:
    target = {"classes": list(classes)} | ({} if weights is None else {"weights": weights})
    query = rt.Tree(
        **{"epsilon": 4, "max_depth": 3, "rows": 500, "target": "vote", **options},
        declare={**DECLARED, "target": target},
    )
    people = range(400)
    table = {
        "age": [float(37 * n % 100) for n in people],
        "pet": [("cat", "dog", "cow")[n % 3] for n in people],
        "flag": [n % 7 < 3 for n in people],
        "vote": [classes[37 * n % 100 > 50] for n in people],
    }
    return query.release(table, source=source)


def cells(column: list) -> np.ndarray:
    return np.array(column, dtype=object)


def read(held) -> Answer:
    return read_answer(held, "tree", "tree")


@pytest.fixture(scope="module")
def good() -> dict:
    return json.loads(publish.as_json(grown()))


def refused(held) -> str:
    with pytest.raises(ArtefactError) as caught:
        read(held)
    assert len(str(caught.value)) < 200
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"max_depth": 0},
        {"relation": "substitute"},
        {"weights": {"no": 1.0, "yes": 3.5}},
        {"classes": (0, 1)},
        {"classes": (0.5, True, "x")},
        {"method": "exponential", "criterion": "accuracy", "epsilon": "0.1"},
        {"epsilon": 40, **MULTIWAY},
    ],
    ids=str,
)
def test_a_tree_comes_back_as_it_was(tmp_path, options) -> None:
    before = grown(**options)
    text = publish.as_json(before)
    path = tmp_path / "tree.json"
    path.write_text(text)
    for held in (before, text, json.loads(text), path, str(path)):
        after = read(held)
        assert publish.as_json(after) == text
        assert after.query == before.query
        assert after.value.text() == before.value.text()
        predicted = rt.Predict(proba=True).release({"tree": held, "rows": NEW})
        assert (
            predicted.value == rt.Predict(proba=True).release({"tree": before, "rows": NEW}).value
        )
        assert (predicted.spent, predicted.key, predicted.replayed) == ("0", None, False)


def test_a_seeded_tree_says_so() -> None:
    for source, private in ((None, True), (Source.seeded(3), False)):
        made = grown(source=source)
        predicted = rt.Predict().release({"tree": publish.as_json(made), "rows": NEW})
        assert predicted.card.release_event().private is private
        assert predicted.card.provenance.seeded is not private


def test_nothing_is_drawn_and_nobody_is_charged(monkeypatch, tmp_path) -> None:
    made = grown()

    def fail(*_):
        raise AssertionError("a source was asked for")

    monkeypatch.setattr(Source, "system", fail)
    data = {"tree": made, "rows": NEW}
    assert rt.Predict().release(data).spent == "0"
    for name, value in {
        "ledger": tmp_path / "l.db",
        "data_set": "x",
        "total": 1,
        "key": "1",
        "source": Source.seeded(1),
    }.items():
        with pytest.raises(ParameterError, match=f"{name} must be left out: nothing is drawn"):
            rt.Predict().release(data, **{name: value})
    assert not (tmp_path / "l.db").exists()
    with pytest.raises(ParameterError, match="one that can be planned: it costs nothing"):
        rt.Predict().plan()
    with pytest.raises(AssertionError):  # what draws asks for one
        grown()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"rows": NEW}, "data must be with tree"),
        ({"tree": 1, "rows": NEW}, "tree is no tree that can be used"),
        ({"tree": 1, "rows": NEW, "more": 2}, "tree is no tree that can be used"),
        (NEW, "tree is no tree that can be used"),
    ],
    ids=["no tree", "another", "more", "columns"],
)
def test_artefacts_are_given_by_name(data, said) -> None:
    with pytest.raises(ReticentError, match=said):
        rt.Predict().release(data)
    with pytest.raises(ParameterError, match="data must be with rows"):
        rt.Predict().release(grown())


def test_an_answer_of_another_query_is_no_tree() -> None:
    counted = rt.Counts(epsilon=1, unit="record").release({"person": ["a"]})
    assert "it is an answer of counts" in refused(counted)
    assert "it is an answer of another query" in refused(publish.as_json(counted))
    assert "whose answers are artefacts" in refused_kind(counted)


def refused_kind(answer: Answer) -> str:
    with pytest.raises(ParameterError) as caught:
        answer.query.restore(answer.value)
    return str(caught.value)


@pytest.mark.parametrize(
    "held",
    [
        *("{", "{}", '{"schema": NaN}', '{"a":' + "[" * 100_000),
        *([], 7, None, {"schema": ["answer/1"]}, {"schema": 1e999}),
        '{"schema": "profile-mapping/1"}',
        '{"schema": "answer/1"}',
        '{"schema": "answer/1", "query": 1e999, "value": 1, "card": 2}',
        f'{{"schema": "answer/1", "query": {"9" * 5000}}}',
    ],
    ids=lambda held: str(held)[:20],
)
def test_what_is_no_tree_is_refused(held) -> None:
    assert refused(held).startswith("tree is no tree that can be used: ")


@pytest.mark.parametrize("packed", [b"", b"\x00", b"cos\nsystem\n(S'true'\ntR.", b"\xff", b"[]"])
def test_files_that_are_no_tree_are_refused(tmp_path, packed) -> None:
    path = tmp_path / "tree.json"
    path.write_bytes(packed)
    assert refused(path).startswith(f"{path} is no tree that can be used: ")
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "none.json")


def test_another_version_is_named(good) -> None:
    assert "it is of version 2, and this version reads answer/1" in refused(
        {**good, "schema": "answer/2"}
    )


def test_no_file_is_read_that_an_artefact_names(good, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "columns.toml").write_text(
        "[columns.age]\nbounds = [0, 100]\nbins = 10\n[columns.pet]\n"
        'categories = ["cat", "dog", "öwl"]\n[columns.flag]\ncategories = [true, false]\n'
        '[target]\nclasses = ["no", "yes"]\n'
    )
    options = {"epsilon": 4, "target": "vote", "rows": 500, "max_depth": 3}
    assert rt.Tree(declare="columns.toml", **options) == rt.Tree.of_plain(good["query"])
    refused(put(good, ("query", "declare"), "columns.toml"))
    with pytest.raises(ParameterError, match="declare must be written out"):
        rt.Tree.of_plain({"declare": "columns.toml", **options})


def test_every_cut_is_found() -> None:
    text = publish.as_json(grown())
    for cut in range(1, len(text) - 2, 397):
        refused(text[:cut])


def put(data, path, value) -> dict:
    """A copy with one part replaced, or taken out."""
    whole = copy.deepcopy(data)
    part = whole
    for name in path[:-1]:
        part = part[name]
    if value is ...:
        del part[path[-1]]
    else:
        part[path[-1]] = value
    return whole


TREE, EVENT = ("value", "tree"), ("card", "event", "parameters")
WRONG = [
    (("query",), []),
    (("query", "target"), ""),
    (("query", "target"), 7.5),
    (("query", "target"), "AGE"),
    (("query", "target"), ...),
    (("query", "more"), 1),
    (("query", "epsilon"), "1e999999999"),
    (("query", "epsilon"), "5"),
    (("query", "growth"), "9" * 5000),
    (("query", "rows"), 10**30),
    (("query", "max_depth"), 10**12),
    (("query", "declare"), "columns.toml"),
    (("query", "declare", "columns", "age", "bins"), 10**12),
    (("query", "declare", "columns", "age", "bins"), 9),
    (("value",), None),
    (("value",), []),
    (("value", "more"), 1),
    (("card",), "card.json"),
    (("card", "id"), "0" * 32),
    (("card", "words", "odds"), "Nobody learns anything."),
    (("card", "promise", "epsilon"), "0.001"),
    (("value", "columns"), []),
    (("value", "columns", 0, "name"), "pet"),
    (("value", "columns", 0, "name"), 3),
    (("value", "columns", 0, "edges"), [0, 1]),
    (("value", "columns", 0, "edges"), [1e308] * 11),
    (("value", "columns", 1, "categories"), "cat"),
    (("value", "columns", 1, "categories"), [["cat"], "dog", "owl"]),
    (("value", "columns", 1, "categories"), [None, "dog", "owl"]),
    (("value", "columns", 1, "edges"), [1, 2]),
    (("value", "classes"), ["no"]),
    (("value", "classes"), ["no", "no"]),
    (("value", "classes"), [["no"], ["yes"]]),
    (("value", "rows"), 7),
    (("value", "rows"), 1.5),
    (("value", "weights"), [1.0, 2.0]),
    (("value", "weights"), [1.0]),
    ((*TREE, "scale"), 0.0),
    ((*TREE, "scale"), -1.0),
    ((*TREE, "scale"), ...),
    ((*TREE, "column", 0), 3),
    ((*TREE, "column", 0), -1),
    ((*TREE, "column", 14), 99),
    ((*TREE, "column", 0), 0.5),
    ((*TREE, "column", 0), True),
    ((*TREE, "column"), [0]),
    ((*TREE, "at", 0), 10),
    ((*TREE, "at", 0), -1),
    ((*TREE, "at", 0), 1 << 70),
    ((*TREE, "kind", 0), 0),
    ((*TREE, "kind", 0), 2),
    ((*TREE, "kind", 0), 3),
    ((*TREE, "child", 0), 0),
    ((*TREE, "child", 0), 3),
    ((*TREE, "child", 2), 3),
    ((*TREE, "child", 0), -1),
    ((*TREE, "child", 0), 1 << 61),
    ((*TREE, "child", 14), -2),
    ((*TREE, "branches", 0), 3),
    ((*TREE, "branches", 0), 1 << 61),
    ((*TREE, "branches", 14), 1),
    ((*TREE, "branches", 14), -1),
    ((*TREE, "leaf_counts", 0), [1, 0]),
    ((*TREE, "leaf_counts", 14), [1]),
    ((*TREE, "leaf_counts", 14), [1, "2"]),
    ((*TREE, "leaf_counts", 14), [1 << 61, 1 << 61]),
    ((*TREE, "leaf_counts"), [[]] * 15),
    (("card", "event"), None),
    (("card", "event", "mechanism"), "stretching"),
    (("card", "event", "mechanism"), "os.system"),
    (("card", "event", "private"), "yes"),
    (("card", "event", "loss"), {}),
    ((*EVENT, "epsilon"), 1),
    ((*EVENT, "epsilon"), "1e999999999"),
    ((*EVENT, "growth"), "9" * 5000),
    ((*EVENT, "growth"), "1/0"),
    ((*EVENT, "depth"), 1),
    ((*EVENT, "depth"), 10**12),
    ((*EVENT, "sizes"), [11, 4, 4]),
    ((*EVENT, "sizes"), "abc"),
    ((*EVENT, "classes"), 3),
    ((*EVENT, "weights"), ["1e999999999", "1"]),
    ((*EVENT, "unit"), ["item", "add-remove"]),
    ((*EVENT, "more"), 1),
]


@pytest.mark.parametrize(("path", "value"), WRONG, ids=lambda part: str(part)[:60])
def test_parts_that_do_not_fit_are_refused(good, path, value) -> None:
    binary = put(good, (*TREE, "column", 0), 0)  # a known root, whatever was drawn
    binary["value"]["tree"]["at"][0], binary["value"]["tree"]["kind"][0] = 3, 1
    assert read(binary)  # so that the refusal below has a reason
    refused(put(binary, path, value))


def chain(good, size, child) -> dict:
    """A tree with other nodes, all alike."""
    data = copy.deepcopy(good)
    data["value"]["tree"] |= {
        "child": child,
        "branches": [0 if at < 0 else 2 for at in child],
        "leaf_counts": [[0, 0]] * size,
        **{name: [fill] * size for name, fill in (("column", 0), ("at", 1), ("kind", 1))},
    }
    return data


def test_shared_children_do_not_cost_exponential_time(good) -> None:
    size = 61  # 30 levels of which each has both its branches in the same two nodes
    child = [-1 if node >= size - 2 else node + 2 - (node % 2 == 0) for node in range(size)]
    refused(chain(good, size, child))


def test_a_chain_deeper_than_was_asked_for_is_refused(good) -> None:
    for levels, fits in ((3, True), (4, False), (2000, False)):
        size = 2 * levels + 1
        child = [n + 1 if n % 2 == 0 and n < size - 1 else -1 for n in range(size)]
        data = chain(good, size, child)
        assert read(data) if fits else refused(data)


@pytest.mark.parametrize("bad", [math.nan, math.inf, None, ("a",), b"x"], ids=str)
def test_what_could_not_be_read_again_is_not_asked(bad) -> None:
    def ask() -> rt.Tree:
        columns = (Column("flag", categories=(bad, False)),)
        declared = Declared(columns=columns, classes=("no", "yes"))
        return rt.Tree(epsilon=1, target="vote", declare=declared)

    with pytest.raises((ParameterError, DeclarationError)):
        ask()
