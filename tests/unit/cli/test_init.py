"""``reticent init`` gives a newcomer something to change, and overwrites nothing."""

import pytest

from reticent.cli.examples import EXAMPLES, TRY
from reticent.cli.init_files import files
from reticent.preferences import Preferences


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_writes_files_and_says_what_to_type(cli, here) -> None:
    ended = cli("init")
    assert ended.code == 0
    written = {path.name for path in (here / "reticent-start").iterdir()}
    assert {"preferences.toml", "club.csv", "films.csv", "START.txt"} <= written
    assert ended.out.splitlines() == [f"reticent-start/{name}" for name in files([])]
    assert "cd reticent-start" in ended.err
    assert EXAMPLES[TRY[0]] in ended.err


def test_as_json_it_lists_every_command(cli, here) -> None:
    told = cli("init", "a folder", "--json").json
    assert (told["schema"], told["directory"]) == ("init/1", "a folder")
    assert told["next"] == ["cd 'a folder'", *(EXAMPLES[name] for name in TRY)]
    assert sorted(told["files"]) == sorted(path.name for path in (here / "a folder").iterdir())


def test_equal_calls_write_equal_files(cli, here) -> None:
    for name in ("one", "two"):
        assert cli("init", name).code == 0
    for path in (here / "one").iterdir():
        assert path.read_bytes() == (here / "two" / path.name).read_bytes()


@pytest.mark.parametrize("name", ["preferences.toml", "voters.csv"])
def test_nothing_is_overwritten_and_nothing_half_written(cli, here, name) -> None:
    (here / "reticent-start").mkdir()
    (here / "reticent-start" / name).write_text("mine")
    ended = cli("init")
    assert (ended.code, ended.out) == (2, "")
    assert f"reticent-start/{name} is there already" in ended.err
    assert [path.name for path in (here / "reticent-start").iterdir()] == [name]
    assert (here / "reticent-start" / name).read_text() == "mine"
    (proposed,) = [line.split()[2:] for line in ended.err.splitlines() if "next: " in line]
    assert proposed == ["init", "reticent-start-2"]
    assert cli(*proposed).code == 0


def test_other_files_in_the_folder_do_not_matter(cli, here) -> None:
    (here / "notes.txt").write_text("mine")
    assert cli("init", ".").code == 0
    assert (here / "notes.txt").read_text() == "mine"
    assert cli("init", ".").code == 2


def test_a_file_is_no_folder(cli, here) -> None:
    (here / "x").write_text("")
    ended = cli("init", "x")
    assert (ended.code, ended.out) == (2, "")
    assert "x cannot be made a directory" in ended.err


def test_the_preferences_name_every_dial_and_hold_with_the_catalogue(cli, here) -> None:
    cli("init", ".")
    wishes = Preferences.read(here / "preferences.toml")
    assert wishes.wishes.items
    assert wishes.wishes.attributes
    assert wishes.wishes.providers["club.example"].total is not None
    assert wishes.hide
    ended = cli("prefs", "check", "preferences.toml", "--catalogue", "films.csv")
    assert ended.code == 0, ended.out
    text = (here / "preferences.toml").read_text()
    assert all("#" in line for line in text.splitlines() if line.startswith("["))
