"""The query that CONTRIBUTING.md builds, word for word: found, planned, released and checked."""

import csv
import doctest
import json
from pathlib import Path

import pytest

import reticent as rt
from reticent.errors import ParameterError
from reticent.queries import publish, registry

PAGE = Path(__file__).parents[3] / "CONTRIBUTING.md"
SAID = ["yes"] * 90 + ["no"] * 9


@pytest.fixture
def favourite(monkeypatch):
    """The class, registered as the page does it."""
    monkeypatch.setattr(registry, "_added", {})
    registry.queries.cache_clear()
    section = PAGE.read_text(encoding="utf-8").split("## Add a query")[1].split("\n## ")[0]
    code = section.split("```python\n")[1].split("```")[0]
    names: dict = {"__name__": "a package of one's own"}
    for example in doctest.DocTestParser().get_examples(code):
        source = compile(example.source, "CONTRIBUTING.md", "single" if example.want else "exec")
        exec(source, names)
    yield names["Favourite"]
    registry.queries.cache_clear()


@pytest.fixture
def files(tmp_path, monkeypatch) -> dict[str, Path]:
    monkeypatch.chdir(tmp_path)
    found = {}
    for name, head, cells in (
        ("table", "answer", SAID),
        ("answers", "name", ["yes", "no", "perhaps"]),
    ):
        found[name] = tmp_path / f"{name}.csv"
        with found[name].open("w", newline="") as file:
            csv.writer(file).writerows([[head], *([cell] for cell in cells)])
    return found


def test_it_is_found_everywhere(cli, favourite) -> None:
    told = {one["query"]: one for one in cli("queries", "--json").json["queries"]}
    assert told["favourite"]["about"] == "The answer that is given most often."
    assert told["favourite"]["surfaces"]["shell"] is True
    assert "favourite" in cli("release", "--help").out
    assert "--epsilon" in cli("release", "favourite", "--help").out


def test_it_is_planned_released_charged_and_verified(cli, favourite, files) -> None:
    query = favourite(epsilon=9)
    planned = cli("plan", "favourite", "--epsilon", "9", files["answers"], "--json").json
    assert planned["epsilon"] == query.plan({"answers": files["answers"]}).epsilon == "9"
    words = ("release", "favourite", files["table"], files["answers"], "--epsilon", "9", "--yes")
    ended = cli(*words, "--total", "12", "--card", "card.json", "--json")
    assert (ended.code, ended.json["value"], ended.json["spent"]) == (0, "yes", "9")
    assert cli("card", "verify", "card.json").code == 0
    refused = cli(*words, "--total", "12")
    assert (refused.code, refused.out) == (3, "")
    given = {"ledger": "l.db", "data_set": "x", "key": "1"}
    first, again = query.release(files, **given), query.release(files, **given)
    assert (first.value, again.replayed) == ("yes", True)
    assert json.loads(publish.as_json(first)) == json.loads(publish.as_json(again))


def test_a_kind_is_registered_once(favourite) -> None:
    for wrong in (favourite, rt.Quantile, int):
        with pytest.raises(
            ParameterError, match="a subclass of Query, of a new kind"
        ):
            rt.register(wrong)


def test_what_is_registered_ends_with_the_process() -> None:
    assert "favourite" not in registry.queries()
