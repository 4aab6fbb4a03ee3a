"""Similarity commands as processes: asking on a terminal, clean streams, a larger table."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.cli.conftest import invoke

CANARY = "canary-2256"
HEAVY = {"numpy", "scipy", "numba", "cryptography", "rich"}  # Typer itself loads pydantic


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "reticent", *map(str, arguments)]


def reticent(*arguments: object, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        stdin=subprocess.DEVNULL,
        **options,
    )


@pytest.fixture
def table(tmp_path) -> Path:
    path = tmp_path / "club.csv"
    lines = [f"p{u},film {i},0.5" for u in range(9) for i in range(u, u + 5)]
    lines += [f"p{u},{CANARY},0" for u in range(9)]
    path.write_text("user,item,weight\n" + "\n".join(lines) + "\n")
    return path


@pytest.mark.processes
@pytest.mark.parametrize(
    "arguments", [["release", "neighbours"], ["release", "similarity"]], ids=" ".join
)
def test_help_imports_nothing_heavy(arguments) -> None:
    ended = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "reticent", *arguments, "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    imported = {line.split("|")[-1].strip().split(".")[0] for line in ended.stderr.splitlines()}
    assert not imported & HEAVY
    assert "--seed" not in ended.stdout


@pytest.mark.parametrize(
    ("arguments", "schema"),
    [
        (["release", "similarity", "club.csv", "--pair", "p0,p1"], "answer/1"),
        (["release", "neighbours", "club.csv"], "answer/1"),
        (["release", "sketches", "club.csv"], "answer/1"),
    ],
    ids=["similarity", "neighbours", "sketches"],
)
def test_json_is_one_object_on_stdout(table, arguments, schema, monkeypatch) -> None:
    monkeypatch.chdir(table.parent)
    ended = invoke(*arguments, "--epsilon", "1", "--yes", "--json")
    assert ended.code == 0, ended.err
    assert ended.json["schema"] == schema
    assert ended.json["card"]["schema"] == "guarantee-card/1"
    assert CANARY not in ended.out + ended.err
    assert invoke(*arguments, "--epsilon", "1").code == 2


def test_two_releases_differ(table) -> None:
    words = ["release", "similarity", table, "--pair", "p0,p1", "--epsilon", "1", "--yes"]
    assert invoke(*words).out != invoke(*words).out


@pytest.mark.processes
@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
@pytest.mark.parametrize(("answer", "code"), [(b"y\n", 0), (b"\x04", 3)])
def test_a_terminal_is_asked(table, answer, code) -> None:
    import pty

    ours, theirs = pty.openpty()
    words = command(
        "release", "neighbours", table, "--epsilon", "1", "--k", "2", "--method", "direct"
    )
    environment = {**os.environ, "TERM": "dumb", "NO_COLOR": "1"}
    process = subprocess.Popen(
        words, stdin=theirs, stderr=theirs, stdout=subprocess.PIPE, env=environment
    )
    os.close(theirs)
    heard = b""
    while b"Go on?" not in heard:
        heard += os.read(ours, 1024)
    os.write(ours, answer)
    assert process.stdout is not None
    with process.stdout as pipe:
        released = pipe.read()
    while True:  # a terminal that nobody holds open any more ends with an error
        try:
            heard += os.read(ours, 1024)
        except OSError:
            break
    os.close(ours)
    assert process.wait(timeout=60) == code
    assert b"one other person" in heard
    assert b"all others together" in heard
    assert released.startswith(b"person,rank,peer,score\n") is (code == 0)
    assert (b"nothing was released" in heard) is (code == 3)
    assert CANARY.encode() not in heard + released


def test_a_large_table(tmp_path) -> None:
    path, out = tmp_path / "large.csv", tmp_path / "lists.csv"
    with path.open("w") as file:
        file.write("user,item,weight\n")
        for i in range(30_000):
            file.write(f"p{i % 1003},film {i * i % 9973},{i % 11 / 10}\n")
    for method in ("direct", "sketches", "gossip"):
        words = ("release", "neighbours", path, "--epsilon", "1", "--method", method)
        ended = invoke(*words, "--yes", "--out", out)
        assert ended.code == 0, ended.err
        assert len(out.read_text().splitlines()) == 1 + 1003 * 10
        out.unlink()
