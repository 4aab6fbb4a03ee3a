"""A ledger, and parts so small that a few hundred people need many of them."""

import pytest

from reticent.ledger import open_ledger
from reticent.running import inputs


@pytest.fixture
def ledger(tmp_path):
    with open_ledger(tmp_path / "ledger.db") as opened:
        yield opened


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(inputs, "ROWS", 100)
    monkeypatch.setattr(inputs.pieces_of, "__defaults__", (100,))
    monkeypatch.setattr(inputs, "BATCH", 32)
