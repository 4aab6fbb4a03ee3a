"""``reticent card`` on good cards, changed cards, and anything else."""

import json
import tempfile
from datetime import date
from importlib import resources
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reticent.guarantees import RECORD, promises
from reticent.guarantees.card import Card, Scope
from reticent.guarantees.card_views import card_html, card_markdown, card_text
from reticent.mechanisms import DiscreteLaplace
from reticent.noise import Source

CANARY = "canary-3307"


def make(source: Source | None = None, title: str = "Counts") -> Card:
    released = DiscreteLaplace(epsilon="0.5", size=2).release([1, 2], source or Source.system())
    scope = promises.counts(RECORD, records=1)
    return released.card(title, scope=scope, made=date(2026, 11, 15))


CARD = make()


@pytest.fixture
def file(tmp_path) -> Path:
    path = tmp_path / "card.json"
    path.write_text(CARD.to_json(), encoding="utf-8")
    return path


@pytest.fixture
def changed(tmp_path) -> Path:
    path = tmp_path / "changed.json"
    path.write_text(CARD.to_json().replace("Counts", "Sums"), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("options", "view"),
    [
        ([], card_text),
        (["--format", "text"], card_text),
        (["--format", "markdown"], card_markdown),
        (["--format", "html"], card_html),
        (["--format", "json"], Card.to_json),
        (["--json"], Card.to_json),
    ],
    ids=["default", "text", "markdown", "html", "json", "short json"],
)
def test_show_prints_the_view_and_nothing_else(cli, file, options, view) -> None:
    ended = cli("card", "show", file, *options)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == view(CARD)


def test_show_warns_of_a_changed_card(cli, changed) -> None:
    ended = cli("card", "show", changed)
    assert ended.code == 1
    assert "Do not rely on this card" in ended.out
    assert "changed after it was made" in ended.err


def test_verify_says_which_cards_hold(cli, file, changed, tmp_path) -> None:
    assert cli("card", "verify", file).code == 0
    assert cli("card", "verify", file).out.startswith("holds")
    ended = cli("card", "verify", file, changed)
    assert ended.code == 1
    assert "DIFFERS" in ended.out
    assert "id: the card was changed after it was made" in ended.out
    (tmp_path / "no.json").write_text("{}")
    ended = cli("card", "verify", file, changed, tmp_path / "no.json", tmp_path / "none.json")
    assert ended.code == 2
    assert ended.out.count("NO CARD") == 2


def test_an_answer_is_taken_for_its_card(cli, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pay.csv").write_text("pay\n3\n5\n")
    words = ("release", "quantile", "pay.csv", "--epsilon", "1", "--upper", "9", "--yes")
    assert cli(*words, "--columns", "value=pay", "--out", "a.json", "--card", "c.json").code == 0
    for command in ("show", "verify"):
        alone, within = cli("card", command, "c.json"), cli("card", command, "a.json")
        assert (alone.code, within.code) == (0, 0)
        assert within.out.replace("a.json", "c.json") == alone.out.replace("a.json", "c.json")
    held = json.loads((tmp_path / "a.json").read_text())
    held["card"]["words"]["right_at_most"] = "51"
    (tmp_path / "a.json").write_text(json.dumps(held))
    assert cli("card", "verify", "a.json").out.startswith("DIFFERS")
    for wrong in ('{"schema": "answer/1"}', '{"schema": "answer/1", "card": 3}', '"answer/1" ['):
        (tmp_path / "a.json").write_text(wrong)
        assert cli("card", "verify", "a.json").code == 2


def test_verify_of_a_page_asks_for_the_file(cli, tmp_path) -> None:
    path = tmp_path / "card.html"
    path.write_text(card_html(CARD), encoding="utf-8")
    ended = cli("card", "verify", path)
    assert ended.code == 2
    assert "this is not JSON; give the .json file of the card" in ended.out
    assert ended.err == "  next: reticent card verify --help\n"


def test_every_failed_check_has_a_next_command(cli, file, changed, tmp_path) -> None:
    (tmp_path / "no.json").write_text("{}")
    ended = cli("card", "verify", file, changed, tmp_path / "no.json", tmp_path / "none.json")
    assert ended.err.startswith("recomputed: ")
    assert ended.err.splitlines()[1:] == [
        f"  next: reticent card show {changed}",
        "  next: reticent card schema",
        "  next: reticent card verify --help",
    ]
    assert "next" not in cli("card", "verify", file).err


def test_verify_as_json(cli, file, changed) -> None:
    ended = cli("card", "verify", file, changed, "--json")
    assert ended.code == 1
    assert ended.json["schema"] == "card-verify/1"
    assert not ended.json["holds"]
    assert [card["holds"] for card in ended.json["cards"]] == [True, False]
    assert ended.json["cards"][0]["id"] == CARD.id


def test_verify_lists_every_problem(cli, tmp_path) -> None:
    data = json.loads(CARD.to_json())
    data["words"]["right_at_most"] = "51"
    data["promise"]["epsilon"] = "0.01"
    data["how"]["bounds"] = "wider"
    path = tmp_path / "forged.json"
    path.write_text(json.dumps(data))
    ended = cli("card", "verify", path, "--json")
    parts = {problem.split(":")[0] for problem in ended.json["cards"][0]["problems"]}
    assert parts == {"words", "promise", "how", "id"}


def test_a_card_of_an_unknown_mechanism_cannot_be_called_good(cli, tmp_path) -> None:
    path = tmp_path / "newer.json"
    path.write_text(CARD.to_json().replace('discrete-laplace"', 'quantum-laplace"'))
    ended = cli("card", "verify", path)
    assert ended.code == 1
    assert "'quantum-laplace' is not known here" in ended.out


def test_a_seeded_card_verifies_and_promises_nothing(cli, tmp_path) -> None:
    path = tmp_path / "seeded.json"
    path.write_text(make(Source.seeded(1)).to_json())
    assert cli("card", "verify", path).code == 0
    assert "protects nobody" in cli("card", "show", path).out


def test_titles_cannot_drive_the_terminal(cli, tmp_path) -> None:
    path = tmp_path / "odd.json"
    path.write_text(make(title="a\x1b[31mb\nholds   forged.json").to_json(), encoding="utf-8")
    ended = cli("card", "verify", path)
    assert "\x1b" not in ended.out
    assert len(ended.out.splitlines()) == 1


def test_schema_prints_the_shipped_one(cli) -> None:
    shipped = resources.files("reticent.guarantees") / "guarantee-card-1.schema.json"
    for options in ([], ["--json"]):
        ended = cli("card", "schema", *options)
        assert ended.code == 0
        assert ended.json == json.loads(shipped.read_text(encoding="utf-8"))


def test_errors_do_not_echo_the_file(cli, tmp_path) -> None:
    for number, text in enumerate([CANARY, f'{{"schema": "{CANARY}"}}', f'{{"title": "{CANARY}']):
        path = tmp_path / f"{number}.json"
        path.write_text(text)
        for command in ("show", "verify"):
            ended = cli("card", command, path)
            assert ended.code == 2
            assert CANARY not in ended.out + ended.err


def leaves(data, path=()):
    for key, value in data.items() if isinstance(data, dict) else enumerate(data):
        if isinstance(value, (dict, list)):
            yield from leaves(value, (*path, key))
        yield (*path, key)


PATHS = list(leaves(json.loads(CARD.to_json())))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just(10**400),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def mutated_cards(draw):
    """A real card with one part replaced by anything."""
    data = json.loads(CARD.to_json())
    *path, last = draw(st.sampled_from(PATHS))
    part = data
    for key in path:
        part = part[key]
    part[last] = draw(VALUES)
    return json.dumps(data).encode()


def survives(cli, packed: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.json"
        path.write_bytes(packed)
        for arguments in (["show", "--format", "html"], ["verify"]):
            ended = cli("card", *arguments, path)
            assert ended.code in (0, 1, 2), ended.err
            assert "Traceback" not in ended.err


@settings(max_examples=40, deadline=None)
@given(st.binary())
def test_random_bytes_never_end_in_a_traceback(cli, packed) -> None:
    survives(cli, packed)


@settings(max_examples=20, deadline=None)
@given(VALUES)
def test_random_json_never_ends_in_a_traceback(cli, value) -> None:
    survives(cli, json.dumps(value).encode())


@settings(max_examples=80, deadline=None)
@given(mutated_cards())
def test_broken_cards_never_end_in_a_traceback(cli, packed) -> None:
    survives(cli, packed)


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, '{"schema":' * 5_000, "1" * 10_000, '"\\ud800"', "NaN", "\x00", ""],
    ids=["deep list", "deep object", "long number", "surrogate", "nan", "nul", "empty"],
)
def test_texts_that_break_parsers(cli, text) -> None:
    survives(cli, text.encode())


def test_parameters_that_are_a_list_are_no_card(cli, tmp_path) -> None:
    """Found by mutation: an event whose parameters are no table."""
    held = json.loads(CARD.to_json())
    held["event"]["parameters"] = [True]
    path = tmp_path / "x.json"
    path.write_text(json.dumps(held))
    for word in ("show", "verify"):
        assert cli("card", word, path).code in (1, 2)


def test_a_scope_in_own_words_is_not_said_to_hold(cli, tmp_path) -> None:
    """Else who edits a scope would only have to take away what it was made from."""
    scope = Scope(protected="one person", not_against=("a break-in",), model="central")
    released = DiscreteLaplace(epsilon="0.5", size=2).release([1, 2], Source.system())
    path = tmp_path / "own.json"
    path.write_text(released.card("Counts", scope=scope).to_json(), encoding="utf-8")
    ended = cli("card", "verify", path)
    assert ended.code == 1
    assert ended.out.startswith("UNKNOWN")
    assert "its maker's own words" in ended.out
    assert cli("card", "show", path).code == 0
