"""What processes that tests start find in their environment."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def ledger(tmp_path_factory, monkeypatch) -> Path:
    """Where the commands of this test are counted, if they do not say otherwise."""
    path = tmp_path_factory.mktemp("ledger") / "ledger.db"
    monkeypatch.setenv("RETICENT_LEDGER", str(path))
    return path
