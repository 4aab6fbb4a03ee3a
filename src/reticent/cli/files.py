"""Reading and writing files: whole or not at all.

Not here  what is in them, how a file is replaced (data/atomic_files.py).
"""

from __future__ import annotations

import sys
from pathlib import Path

from reticent.cli.failures import Failure, reason
from reticent.data.atomic_files import replace_file

_SPENT = (
    "a release that was made is spent all the same, and its --key repeats it; files written before "
    "this one stay"
)
LARGEST = 1 << 26
"""Bytes of the longest file that is read; a card has a few thousand, or millions where the
catalogue of a histogram has as many rows that matter."""


def free_name(path: Path) -> Path:
    """A name like this one that no file has yet: itself, or with the first free number."""
    found, number = path, 1
    while found.exists():
        number += 1
        found = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return found


def read_text(path: Path) -> str:
    """The text of a small file, or of standard input for ``-``."""
    packed = _read_bytes(path)
    if len(packed) > LARGEST:
        raise Failure(f"{path} is longer than {LARGEST:,} bytes", why="no card is that long")
    try:
        return packed.decode("utf-8")
    except UnicodeDecodeError:
        raise Failure(f"{path} is not text in UTF-8", why="a card is a JSON file") from None


def _read_bytes(path: Path) -> bytes:
    if str(path) == "-":
        return sys.stdin.buffer.read(LARGEST + 1)
    try:
        with path.open("rb") as file:
            return file.read(LARGEST + 1)
    except OSError as error:
        raise Failure(f"{path} cannot be read", why=reason(error)) from None


def write_atomically(path: Path, held: str | bytes, *, private: bool = False) -> None:
    """Write a file whole: a reader, or a crash, meets the old file or the new one, never a part.

    A ``private`` file only its owner may read.
    """
    packed = held if isinstance(held, bytes) else held.encode("utf-8")
    try:
        replace_file(path, packed, private=private)
    except OSError as error:
        what = f"{path} cannot be written: {reason(error)}"
        raise Failure(what, why=_SPENT) from None
