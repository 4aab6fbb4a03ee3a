"""The folder beside the output in which a release is made, and which only its owner may read.

Notation  piece-00017.parquet = what was drawn for some rows of the table, charges-00017.parquet =
          its people and what each loses; part-00017.parquet = what will be shown,
          arranged-00017.parquet = its people and what each loses; NAME.NUMBER.partial = what a
          process is writing
Not here  what is drawn (drawing.py), what is in the parts (arranging.py), when the whole is shown
          (local.py).

A file has its name only when it is whole and on the disk, and it gets it from the one process that
holds the lock: a worker that outlives its run can leave nothing but partial files, which are never
shown. The manifest is written first and says of what everything here is a part: another table,
other preferences or another key are refused.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reticent.errors import ReticentError

SCHEMA = "release-in-parts/3"
ABOUT = "_reticent.json"
"""What the finished output says of itself, public facts only; readers of tables pass over it."""


class StagingError(ReticentError):
    """A release in parts that cannot begin, or cannot go on."""


@dataclass(frozen=True, slots=True)
class Staging:
    """Where a release is made until it is shown as ``out``."""

    out: Path

    @property
    def home(self) -> Path:
        """The folder, beside the output so that one rename is enough."""
        return self.out.with_name(f".{self.out.name}.unreleased")

    @property
    def shown(self) -> Path:
        """What will be the output."""
        return self.home / "parts"

    def piece(self, name: str) -> Path:
        """What was drawn for a piece of the table."""
        return self.home / f"piece-{name}.parquet"

    def charges(self, name: str) -> Path:
        """Who is in a piece, and what each loses."""
        return self.home / f"charges-{name}.parquet"

    def part(self, name: str) -> Path:
        """What will be a file of the output."""
        return self.shown / f"part-{name}.parquet"

    def arranged(self, name: str) -> Path:
        """Who is in a part, and what each loses."""
        return self.home / f"arranged-{name}.parquet"

    def aside(self, name: str) -> Path:
        """Rows that were set aside to become a piece."""
        return self.home / f"rows-{name}.arrow"

    def partial(self, name: str) -> Path:
        """For what this process is writing; never where it would be shown."""
        return self.home / f"{name}.{os.getpid()}.partial"

    def drawn(self, name: str) -> bool:
        """Whether a piece is drawn: its charges are the last that is written."""
        return self.charges(name).exists()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Nobody else makes the same release meanwhile; the folder is made if it is not there."""
        self.home.mkdir(mode=0o700, parents=False, exist_ok=True)
        self._check_owned()
        self.shown.mkdir(exist_ok=True)
        handle = os.open(self.home / "lock", os.O_CREAT | os.O_RDWR, 0o600)
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise StagingError(f"{self.out.name} is being made by another run") from None
            for left in self.home.glob("*.partial"):
                left.unlink(missing_ok=True)
            yield
        finally:
            os.close(handle)

    def _check_owned(self) -> None:
        """Nobody else may have made the folder, or may read it."""
        found = self.home.lstat()
        own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
        if not own or found.st_mode & 0o077:
            raise StagingError(
                f"{self.home.name} must be a folder that only you may read: it holds what is not "
                "released yet. Remove it, or choose another output"
            )

    def manifest(self) -> dict[str, Any] | None:
        """What a run that was broken off was making, or nothing."""
        return _read(self.home / "manifest.json")

    def key(self) -> str | None:
        """The key that the output, or a run that was broken off, has; None if there is neither."""
        held = (self.received() if self.out.is_dir() else None) or self.manifest()
        return None if held is None or held.get("key") is None else str(held["key"])

    def begin(self, told: dict[str, Any]) -> None:
        """Say what is made here, before anything is."""
        write_whole(self.home / "manifest.json", json.dumps({"schema": SCHEMA, **told}).encode())

    @property
    def receipt(self) -> Path:
        """What was released, for its owner: key and digests of private things must not be shown."""
        return self.out.with_name(f".{self.out.name}.receipt")

    def received(self) -> dict[str, Any] | None:
        """What the receipt says, if it is still there."""
        return _read(self.receipt)

    def show(self, about: dict[str, Any], receipt: dict[str, Any]) -> None:
        """Make the files whose digests the receipt has visible at once, and no other."""
        write_whole(self.receipt, json.dumps({"schema": SCHEMA, **receipt}).encode(), private=True)
        for path in self.shown.iterdir():
            if path.name not in receipt["sha256"]:
                path.unlink()
        told = json.dumps({"schema": SCHEMA, **about}, indent=2, ensure_ascii=False) + "\n"
        write_whole(self.shown / ABOUT, told.encode())
        os.rename(self.shown, self.out)
        settle(self.out.parent)
        self.clear()

    def clear(self) -> None:
        """Drop what only the making needed; a worker that outlived its run may still be writing."""
        shutil.rmtree(self.home, ignore_errors=True)


def shown_before(out: Path) -> dict[str, Any] | None:
    """What a finished output says of itself; an error if something else has its name."""
    if not out.exists() and not out.is_symlink():
        return None
    about = _read(out / ABOUT) if out.is_dir() else None
    if about is None:
        raise StagingError(f"{out.name} is there already and is no release in parts")
    return about


def _read(path: Path) -> dict[str, Any] | None:
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError:
        raise StagingError(f"{path.name} of this release is damaged") from None
    if not isinstance(held, dict) or held.get("schema") != SCHEMA:
        raise StagingError(f"{path.name} of this release is of another version")
    return held


def write_whole(path: Path, held: bytes, *, private: bool = False) -> None:
    """A file that is there whole or not at all, also after a loss of power."""
    partial = path.with_name(f"{path.name}.partial")
    partial.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with os.fdopen(os.open(partial, flags, 0o600 if private else 0o666), "wb") as file:
        file.write(held)
        file.flush()
        os.fsync(file.fileno())
    put(partial, path)


def sync(path: Path) -> None:
    """What is in a file survives a loss of power."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def put(partial: Path, path: Path) -> None:
    """Give a written file its name."""
    os.replace(partial, path)
    settle(path.parent)


def settle(folder: Path) -> None:
    """Names of a folder survive a loss of power."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def digest_of(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
