"""Readers of published data sets, one file per format. None of the data is shipped.

A reader takes the folder in which a user unpacked a data set and gives ``Profiles``. A file that is
not there is an error that says what to download and where to point; nothing is fetched.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from reticent.errors import ParameterError


class DataMissing(ParameterError):
    """The folder does not hold the data set; the message says which files it should hold."""


def find(folder: str | Path, names: Sequence[str], *, dataset: str) -> Path:
    """The first of ``names`` that is in ``folder``."""
    for name in names:
        path = Path(folder) / name
        if path.is_file():
            return path
    wanted = " or ".join(names)
    raise DataMissing(
        "folder", f"one with {wanted} in it; download {dataset} and unpack it there", str(folder)
    )
