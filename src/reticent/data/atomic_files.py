"""Files that are there whole or not at all, also after a loss of power.

Not here  what is in them.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def replace_file(path: Path, packed: bytes, *, private: bool = False) -> None:
    """Write a file whole: a reader, or a crash, meets the old file or the new one, never a part.

    A ``private`` file only its owner may read.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(packed)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o600 if private else 0o666 & ~_umask())
        os.replace(name, path)
        _settle(path.parent)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _settle(folder: Path) -> None:
    """The new name, too, survives a loss of power; where folders cannot be opened, it may not."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # not every system opens folders
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _umask() -> int:
    current = os.umask(0o077)
    os.umask(current)
    return current
