"""A tree as text: it comes back as it was, and nothing that is not one gets in."""

import copy
import hashlib
import json
import math

import numpy as np
import pytest

from reticent.errors import ParameterError
from reticent.guarantees import RECORD_SUBSTITUTE, canonical
from reticent.noise import Source
from reticent.tasks.columns import Column
from reticent.tasks.trained_tree import Declared, train
from reticent.tasks.tree_files import DEEPEST, SCHEMA, KeptTree

COLUMNS = (
    Column.numbers("age", (0, 100), bins=10),
    Column("pet", categories=("cat", "dog", "öwl")),
    Column("flag", categories=(True, False)),
)


def kept(*, source=None, weights=None, classes=("no", "yes"), **options) -> KeptTree:
    declared = Declared(columns=COLUMNS, classes=classes, rows=500, weights=weights)
    rng = np.random.default_rng(1)
    ages = rng.integers(0, 100, 400).astype(float)
    pets = np.array(["cat", "dog", "cow"])[rng.integers(0, 3, 400)]
    labels = np.array(classes, dtype=object)[(ages > 50).astype(int)]
    mechanism = declared.mechanism(**{"epsilon": 4, "depth": 3, **options})
    table = [ages, pets, rng.integers(0, 2, 400)]
    trained, release = train(
        declared, table, labels, mechanism=mechanism, source=source or Source.system()
    )
    return KeptTree(trained, "vote", release.event)


MULTIWAY = {"criterion": "entropy", "split": "multiway", "stop": "size", "scores": "shifted"}


@pytest.fixture(scope="module")
def good() -> dict:
    return json.loads(kept().to_json())


def sealed(data) -> str:
    """The text with fingerprints that fit, as somebody who makes one up would write it."""
    whole = copy.deepcopy(data)
    whole["sha256"] = hashlib.sha256(canonical(whole["tree"]).encode()).hexdigest()
    whole.pop("file_sha256", None)
    whole["file_sha256"] = hashlib.sha256(canonical(whole).encode()).hexdigest()
    return json.dumps(whole)


def refused(text) -> str:
    with pytest.raises(ParameterError) as caught:
        KeptTree.from_json(text)
    assert len(str(caught.value)) < 200
    return str(caught.value)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"depth": 0},
        {"unit": RECORD_SUBSTITUTE},
        {"weights": (1.0, 3.5)},
        {"classes": (0, 1)},
        {"classes": (0.5, True, "x")},
        {"law": "exponential", "criterion": "accuracy", "epsilon": "0.1"},
        {"epsilon": 40, **MULTIWAY},
    ],
    ids=str,
)
def test_a_tree_comes_back_as_it_was(options) -> None:
    before = kept(**options)
    text = before.to_json()
    after = KeptTree.from_json(text)
    assert after.to_json() == text
    assert (after.target, after.event) == ("vote", before.event)
    assert after.trained.text() == before.trained.text()
    table = [np.array([3.0, 77.0]), np.array(["cat", "?"]), np.array([1, 0])]
    assert np.array_equal(after.trained.shares(table), before.trained.shares(table))
    assert json.loads(text)["schema"] == SCHEMA


def test_a_seeded_tree_says_so() -> None:
    assert KeptTree.from_json(kept().to_json()).event.private
    seeded = kept(source=Source.seeded(3))
    assert not KeptTree.from_json(seeded.to_json()).event.private


def test_the_digest_is_that_of_what_was_released() -> None:
    one = kept()
    assert one.sha256 == hashlib.sha256(canonical(one.trained.plain()).encode()).hexdigest()
    assert json.loads(one.to_json())["sha256"] == one.sha256


def test_a_made_up_text_that_fits_is_read(good) -> None:
    assert KeptTree.from_json(sealed(good)).target == "vote"  # so refusals below have a reason


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[]", "null", "7", '"x"', "\x00", "[" * 100_000, '{"schema": NaN}'),
        '{"schema": "profile-mapping/1"}',
        '{"schema": ["private-tree/1"]}',
        '{"schema": 1e999}',
        f'{{"schema": "{SCHEMA}"}}',
        f'{{"schema": "{SCHEMA}", "tree": 1e999, "file_sha256": ""}}',
        f'{{"schema": "{SCHEMA}", "file_sha256": "", "rows": {"9" * 5000}}}',
        "cos\nsystem\n(S'true'\ntR.",
    ],
    ids=lambda text: text[:20],
)
def test_what_is_no_tree_is_refused(text) -> None:
    assert refused(text).startswith("tree file must be ")


def test_another_version_is_named(good) -> None:
    told = refused(sealed({**good, "schema": "private-tree/2"}))
    assert "got 'version 2'" in told
    assert SCHEMA in told


def test_every_change_and_every_cut_is_found(good) -> None:
    text = kept().to_json()
    for cut in range(0, len(text) - 1, 97):
        refused(text[:cut])
    for at in range(20, len(text), 53):
        if text[at].isdigit():
            refused(f"{text[:at]}{(int(text[at]) + 1) % 10}{text[at + 1 :]}")


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


TREE, EVENT = ("tree", "tree"), ("event", "parameters")
WRONG = [
    (("target",), ""),
    (("target",), 7),
    (("target",), ...),
    (("more",), 1),
    (("tree",), []),
    (("tree", "columns"), []),
    (("tree", "columns", 0, "name"), "pet"),
    (("tree", "columns", 0, "name"), 3),
    (("tree", "columns", 0, "edges"), [0, 1]),
    (("tree", "columns", 0, "edges"), [1e308] * 11),
    (("tree", "columns", 1, "categories"), "cat"),
    (("tree", "columns", 1, "categories"), [["cat"], "dog", "owl"]),
    (("tree", "columns", 1, "categories"), [None, "dog", "owl"]),
    (("tree", "columns", 1, "edges"), [1, 2]),
    (("tree", "classes"), ["no"]),
    (("tree", "classes"), ["no", "no"]),
    (("tree", "classes"), [["no"], ["yes"]]),
    (("tree", "rows"), 7),
    (("tree", "rows"), 1.5),
    (("tree", "weights"), [1.0, 2.0]),
    (("tree", "weights"), [1.0]),
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
    (("event",), None),
    (("event", "mechanism"), "stretching"),
    (("event", "mechanism"), "os.system"),
    (("event", "private"), "yes"),
    (("event", "loss"), {}),
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
def test_parts_that_do_not_fit_are_refused_though_fingerprints_do(good, path, value) -> None:
    binary = put(good, ("tree", "tree", "column", 0), 0)  # a known root, whatever was drawn
    binary["tree"]["tree"]["at"][0], binary["tree"]["tree"]["kind"][0] = 3, 1
    assert KeptTree.from_json(sealed(binary))
    assert "must be" in refused(sealed(put(binary, path, value)))


def test_shared_children_do_not_cost_exponential_time(good) -> None:
    data = copy.deepcopy(good)
    size = 61  # 30 levels of which each has both its branches in the same two nodes
    levels = [-1 if node >= size - 2 else node + 2 - (node % 2 == 0) for node in range(size)]
    data["tree"]["tree"] |= {
        "child": [-1 if at < 0 else at for at in levels],
        "branches": [0 if at < 0 else 2 for at in levels],
        "leaf_counts": [[0, 0]] * size,
        **{name: [fill] * size for name, fill in (("column", 0), ("at", 1), ("kind", 1))},
    }
    refused(sealed(data))


def test_a_chain_deeper_than_was_asked_for_is_refused(good) -> None:
    data = copy.deepcopy(good)
    size = 2 * 2000 + 1
    inner = [node % 2 == 0 and node < size - 1 for node in range(size)]
    data["tree"]["tree"] |= {
        "child": [node + 1 if split else -1 for node, split in enumerate(inner)],
        "branches": [2 if split else 0 for split in inner],
        "leaf_counts": [[0, 0]] * size,
        **{name: [fill] * size for name, fill in (("column", 0), ("at", 1), ("kind", 1))},
    }
    data["event"]["parameters"]["depth"] = DEEPEST
    refused(sealed(data))


@pytest.mark.parametrize("bad", [math.nan, math.inf, None, ("a",), b"x"], ids=str)
def test_what_could_not_be_read_again_is_not_written(bad) -> None:
    tree = kept()

    def written() -> str:
        columns = (*COLUMNS[:2], Column("flag", categories=(bad, False)))
        declared = Declared(columns=columns, classes=("no", "yes"), rows=500)
        return KeptTree(
            type(tree.trained)(declared, tree.trained.tree), "vote", tree.event
        ).to_json()

    with pytest.raises(ParameterError):
        written()
