"""Tables line up, JSON is one object, progress is silent away from a terminal."""

import io
import json
import sys

from reticent.cli.output import prepare_streams, progress, say_json
from reticent.layout import table


def test_columns_line_up() -> None:
    lines = table(("name", "count "), [("a", "1,000"), ("longer", "7")])
    assert lines == ["name    count", "------  -----", "a       1,000", "longer      7"]


def test_json_names_its_schema(capsys) -> None:
    say_json("example/1", answer=42)
    assert json.loads(capsys.readouterr().out) == {"schema": "example/1", "answer": 42}


def test_progress_says_nothing_when_nobody_watches(capsys) -> None:
    with progress(2) as advance:
        advance("one")
        advance("two")
    assert capsys.readouterr() == ("", "")


def test_progress_goes_to_the_terminal_behind_stderr(monkeypatch, capsys) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress(1) as advance:
        advance("the only step")
    assert "the only step" in terminal.getvalue()
    assert capsys.readouterr().out == ""


def test_what_a_stream_cannot_show_is_written_out(monkeypatch) -> None:
    narrow = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(narrow, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdout", narrow)
    prepare_streams()
    sys.stdout.write("ε \udc80")
    sys.stdout.flush()
    assert narrow.buffer.getvalue() == b"\\u03b5 \\udc80"
