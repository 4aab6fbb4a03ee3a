"""Data sets too large, or not ours, to ship: found where ``RETICENT_DATA`` says."""

import os
from pathlib import Path

import pytest


def real(name: str) -> Path:
    """A file or folder of the data sets, or a skip that names the one that is not there."""
    path = Path(os.environ["RETICENT_DATA"]) / name
    if not path.exists():
        pytest.skip(f"RETICENT_DATA holds no {name}")
    return path
