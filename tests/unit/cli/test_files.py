"""Files are written whole or not at all, and read only as far as is sensible."""

import os
import stat

import pytest

from reticent.cli.failures import Failure
from reticent.cli.files import LARGEST, read_text, write_atomically
from reticent.data import atomic_files


def test_text_comes_back(tmp_path) -> None:
    path = tmp_path / "a.txt"
    write_atomically(path, "ε\n")
    assert read_text(path) == "ε\n"
    assert path.read_bytes() == "ε\n".encode()
    assert os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.parametrize(("error", "told"), [(OSError, Failure), (KeyboardInterrupt,) * 2])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, error, told) -> None:
    path = tmp_path / "a.txt"
    write_atomically(path, "old")

    def fails(*_):
        raise error

    monkeypatch.setattr(atomic_files.os, "replace", fails)
    with pytest.raises(told):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.skipif(os.name == "nt", reason="file modes are Unix's")
def test_files_get_the_usual_mode(tmp_path) -> None:
    before = os.umask(0o027)
    try:
        write_atomically(tmp_path / "a", "x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


def test_reading_refuses_what_is_too_long_not_text_or_not_there(tmp_path) -> None:
    (tmp_path / "long").write_bytes(b"x" * (LARGEST + 1))
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    for name, words in (("long", "longer than"), ("binary", "UTF-8"), ("none", "cannot be read")):
        with pytest.raises(Failure, match=words):
            read_text(tmp_path / name)
    with pytest.raises(Failure, match="cannot be read"):
        read_text(tmp_path)
