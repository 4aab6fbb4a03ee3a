"""``reticent card export``: every format, as text and as JSON, and what is refused."""

import json

import pytest

from reticent.guarantees.card import Scope
from reticent.mechanisms import Dampened, DiscreteLaplace, Scored
from reticent.mechanisms.local_sensitivity import Tabled
from reticent.noise import Source

SCOPE = Scope(protected="each person", not_against=("the holder",), model="central")


@pytest.fixture
def file(tmp_path):
    release = DiscreteLaplace(epsilon=0.5, size=3).release([1, 2, 3], Source.system())
    path = tmp_path / "card.json"
    path.write_text(release.card("Visits by town", scope=SCOPE).to_json(), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("form", "start"),
    [
        ("registry", "# Made from a guarantee card"),
        ("opendp", '"""The OpenDP measurement'),
        ("html", "<!doctype html>"),
        ("md", "# Visits by town"),
        ("txt", "Visits by town"),
    ],
)
def test_every_format(cli, file, tmp_path, form, start) -> None:
    shown = cli("card", "export", file, "--format", form)
    assert shown.code == 0
    assert shown.out.casefold().startswith(start.casefold())
    out = tmp_path / "made"
    written = cli("card", "export", file, "--format", form, "--out", out)
    assert (written.code, written.out) == (0, "")
    assert out.read_text(encoding="utf-8").rstrip("\n") == shown.out.rstrip("\n")
    told = cli("card", "export", file, "--format", form, "--json").json
    assert (told["schema"], told["format"]) == ("card-export/1", form)
    assert told["content"].rstrip("\n") == shown.out.rstrip("\n")
    assert ("entry" in told) is (form == "registry")
    kept = cli("card", "export", file, "--format", form, "--json", "--out", out).json
    assert (kept["out"], "content" in kept) == (str(out), False)


@pytest.mark.parametrize("form", ["registry", "html"])
def test_a_card_that_was_changed_is_not_exported(cli, file, form) -> None:
    held = json.loads(file.read_text(encoding="utf-8"))
    held["promise"]["epsilon"] = "0.1"
    file.write_text(json.dumps(held), encoding="utf-8")
    ended = cli("card", "export", file, "--format", form)
    assert ended.code == 2
    assert "does not hold" in ended.err
    assert f"next: reticent card verify {file}" in ended.err


def test_what_other_tools_cannot_take_is_refused(cli, tmp_path) -> None:
    made = Dampened(epsilon=1, candidates=2, limit=1, steps=1)
    release = made.release(Scored([1, 0], Tabled.of([1, 1])), Source.system())
    path = tmp_path / "card.json"
    path.write_text(release.card("Best", scope=SCOPE).to_json(), encoding="utf-8")
    ended = cli("card", "export", path, "--format", "opendp")
    assert ended.code == 2
    assert "discrete-laplace" in ended.err
    seeded = DiscreteLaplace(epsilon=1, size=1).release([1], Source.seeded(1))
    path.write_text(seeded.card("Test", scope=SCOPE).to_json(), encoding="utf-8")
    ended = cli("card", "export", path, "--format", "registry")
    assert ended.code == 2
    assert "seeded" in ended.err


def test_a_file_that_is_no_card(cli, tmp_path) -> None:
    path = tmp_path / "x.json"
    path.write_text("[]", encoding="utf-8")
    assert cli("card", "export", path, "--format", "txt").code == 2
