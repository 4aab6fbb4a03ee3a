"""Files that are made to cost much, given to every command that reads their format."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.unit.preferences.hostile import HOSTILE, MEGABYTES, SECONDS, cost, peak

SHAPES = ["dotted key", "inline tables", "short keys"]
CATALOGUE = "item,Crime,Drama\nHeat,1,1\nUp,0,1\n"
COMMANDS = {
    "check": ("prefs", "check", "bad.toml"),
    "explain": ("prefs", "explain", "bad.toml", "--provider", "club.example"),
    "set": ("prefs", "set", "bad.toml", "--item", "Heat", "--weight", "0"),
    "release": (
        *("release", "histogram", "people.csv", "films.csv", "--person", "ann", "--yes"),
        *("--preferences", "bad.toml", "--provider", "club.example"),
    ),
    "import": ("gateway", "import", "--profiles", "people.csv", "--preferences", "bad.toml"),
    "folder": ("gateway", "import", "--profiles", "people.csv", "--preferences", "wishes"),
    "asks": ("gateway", "provider", "club.example", "--asks", "bad.toml"),
    "verify": ("verify", "bad.toml"),
}


@pytest.fixture
def here(cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RETICENT_DATABASE", raising=False)
    (tmp_path / "films.csv").write_text(CATALOGUE)
    (tmp_path / "people.csv").write_text("user,item\nann,Heat\n")
    (tmp_path / "wishes").mkdir()
    assert cli("gateway", "init", "--catalogue", "films.csv").code == 0
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS)
def test_a_hostile_file_costs_a_command_little(cli: Any, here: Path, command: str) -> None:
    ended = [cli(*COMMANDS[command])][:0]  # what is loaded once does not count
    for shape in SHAPES:
        (here / "bad.toml").write_text(HOSTILE[shape])
        (here / "wishes" / "ann.toml").write_text(HOSTILE[shape])
        assert cost(lambda: ended.append(cli(*COMMANDS[command]))) < SECONDS
        if shape == "dotted key" and command in ("check", "import"):
            assert peak(lambda: ended.append(cli(*COMMANDS[command]))) < MEGABYTES
    assert all(one.code not in (0, 70) for one in ended), ended
    said = [one.out + one.err for one in ended]
    assert all(re.search(r"more than [16]|breaks a rule", one) for one in said), said
