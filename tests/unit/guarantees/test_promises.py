"""Promises: the sentences of every card, worded in one package and nowhere else."""

import ast
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

import reticent
from reticent.guarantees import PERSON, RECORD, RECORD_SUBSTITUTE, promises
from reticent.guarantees.card import Scope

SOURCE = Path(reticent.__file__).parent
HOME = SOURCE / "guarantees" / "promises"
TEST_SCOPE = SOURCE / "testing" / "contract_checks.py"  # makes one to test with
LONG = 25  # characters; shorter texts are no sentences
NORMS = ("private", "public", "none")
YES_NO = (False, True)
PUBLIC = [
    promises.public_lists(people=people, items=items, catalogue=catalogue)
    for people, items, catalogue in product(YES_NO, repeat=3)
]
LISTS = promises.neighbours_sketches(public=PUBLIC[0])
SAMPLES: dict[str, list[Scope]] = {
    "behind_recommendations": [promises.behind_recommendations(LISTS)],
    "counts": [promises.counts(unit, records=2) for unit in (PERSON, RECORD)],
    "demo_census": [promises.demo_census()],
    "demo_profile": [promises.demo_profile()],
    "demo_similarity": [promises.demo_similarity()],
    "demo_top_nodes": [promises.demo_top_nodes()],
    "histogram": [
        promises.histogram("club.example", weighted=weighted, model=model, public=PUBLIC[:1])
        for weighted in YES_NO
        for model in ("local", "central")
    ],
    "items": [promises.items(public=public) for public in PUBLIC],
    "mapping": [promises.mapping("income")],
    "neighbours_direct": [
        promises.neighbours_direct(norms=norms, public=public, one=10**9, others=9 * 10**9)
        for norms, public in product(NORMS, PUBLIC)
    ],
    "neighbours_gossip": [
        promises.neighbours_gossip(norms=norms, public=public)
        for norms, public in product(NORMS, PUBLIC)
    ],
    "read_off_sketches": [promises.read_off_sketches(LISTS, card="cb50")],
    "neighbours_sketches": [promises.neighbours_sketches(public=public) for public in PUBLIC],
    "percentile": [promises.percentile()],
    "profile": [
        promises.profile("income", "the counts", unknown=unknown, own_device=own)
        for unknown, own in product(("nearest", "withhold", "refuse"), YES_NO)
    ],
    "predictions": [promises.predictions(promises.tree(RECORD), card="0f" * 16)],
    "quantile": [promises.quantile()],
    "similarity": [
        promises.similarity(norms=norms, public=public) for norms, public in product(NORMS, PUBLIC)
    ],
    "top_nodes": [
        promises.top_nodes(bound=1000, inside=inside, declared=declared)
        for inside, declared in product(YES_NO, repeat=2)
    ],
    "tree": [promises.tree(RECORD), promises.tree(RECORD_SUBSTITUTE)],
}


def elsewhere() -> list[Path]:
    """Every module that must not word a promise."""
    return [path for path in sorted(SOURCE.rglob("*.py")) if path.parent != HOME]


def worded(path: Path) -> Iterator[int]:
    """Lines that make a scope, or say against whom it is not."""
    text = path.read_text(encoding="utf-8")
    if "Scope" not in text and "not_against" not in text:
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func).split(".")[-1]
            if called == "Scope" or any(word.arg == "not_against" for word in node.keywords):
                yield node.lineno
        elif isinstance(node, ast.Dict):
            keys = (key.value for key in node.keys if isinstance(key, ast.Constant))
            if "not_against" in keys:
                yield node.lineno


def sentences(path: Path) -> set[str]:
    """The longer texts of a module, docstrings too; of one with values in it, its parts."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    texts = {node.value for node in nodes if isinstance(node, ast.Constant)}
    return {text for text in texts if isinstance(text, str) and len(text) >= LONG}


def faults(scope: Scope) -> list[str]:
    """What is wrong with the form of its sentences."""
    texts = (scope.protected, scope.observer, *scope.not_against)
    found = [f"form: {text!r}" for text in texts if not text or text != " ".join(text.split())]
    found += [f"ends: {text!r}" for text in texts if text.endswith((".", ",", ":", ";"))]
    found += [f"begins: {text!r}" for text in scope.not_against if not text[:1].islower()]
    found += [] if scope.not_against else ["nothing is said to be unprotected"]
    repeated = len(set(scope.not_against)) < len(scope.not_against)
    return found + (["a caveat is repeated"] if repeated else [])


def test_promises_are_worded_in_one_package() -> None:
    found = {path: list(worded(path)) for path in elsewhere() if path != TEST_SCOPE}
    assert [f"{path.relative_to(SOURCE)}:{n}" for path, lines in found.items() for n in lines] == []
    assert list(worded(TEST_SCOPE))
    assert any(list(worded(path)) for path in HOME.glob("*.py"))


@pytest.mark.parametrize(
    "planted",
    [
        "x = Scope(protected='everybody', model='central')",
        "x = cards.Scope(**facts)",
        "x = made(not_against=('nobody',))",
        "x = scope.model_copy(update={'not_against': ()})",
    ],
)
def test_a_promise_elsewhere_is_found(planted: str, tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text(f"facts = {{}}\n{planted}\n")
    assert list(worded(bad)) == [2]


def test_no_sentence_is_copied() -> None:
    own = set().union(*map(sentences, HOME.glob("*.py")))
    copied = {path: own & sentences(path) for path in elsewhere()}
    assert [f"{path.relative_to(SOURCE)}: {same}" for path, same in copied.items() if same] == []


def test_a_copied_sentence_is_found(tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text(f"NOT_AGAINST = ({promises.quantile().not_against[0]!r},)\n")
    assert sentences(bad) & sentences(HOME / "tables.py")


def test_every_promise_is_tried() -> None:
    assert set(promises.__all__) == SAMPLES.keys() | {
        *("UNPROTECTED_ITEMS", "about", "public_lists", "restated"),
    }


@pytest.mark.parametrize("name", SAMPLES)
def test_sentences_have_one_form(name: str) -> None:
    assert [fault for scope in SAMPLES[name] for fault in faults(scope)] == []


@pytest.mark.parametrize(
    "changed",
    [
        {"protected": ""},
        {"observer": "Anyone who  sees it"},
        {"not_against": ()},
        {"not_against": ("the holder.",)},
        {"not_against": ("The holder",)},
        {"not_against": ("the holder", "the holder")},
    ],
)
def test_another_form_is_found(changed: dict[str, object]) -> None:
    assert len(faults(promises.quantile().model_copy(update=changed))) == 1


@pytest.mark.parametrize("name", SAMPLES)
def test_who_holds_the_data_comes_first_unless_it_is_the_person(name: str) -> None:
    """In the central model somebody sees everything, and the card begins with them."""
    for scope in SAMPLES[name]:
        first_is_holder = scope.not_against[0].startswith("whoever ")
        from_links = scope.not_against[0].startswith("a node's first or last link")
        assert (first_is_holder or from_links) is (scope.model == "central")


def test_exact_sizes_are_said_not_to_be_protected() -> None:
    makers = (promises.similarity, promises.neighbours_gossip)
    for make, norms in product(makers, NORMS):
        scope = make(norms=norms, public=PUBLIC[0])
        told = any("they enter exactly" in text for text in scope.not_against)
        assert told is ("beyond what exact sizes tell" in scope.observer) is (norms == "public")
