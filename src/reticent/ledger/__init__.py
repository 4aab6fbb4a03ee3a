"""Durable budgets: never overspent, never lost, one answer for a key."""

from reticent.ledger.accounts import (
    OVERALL,
    Account,
    Answer,
    Charge,
    KeyReused,
    LedgerError,
    Request,
    charges_of,
    period_of,
)
from reticent.ledger.addresses import open_ledger, open_reading
from reticent.ledger.covers import EachAnswer, Sealed
from reticent.ledger.guards import Guard, Stale
from reticent.ledger.interface import Connection, Cursor, Ledger
from reticent.ledger.sqlite import SqliteLedger
from reticent.ledger.verification import Checked, Head, head_of, verify_ledger

__all__ = [
    "OVERALL",
    "Account",
    "Answer",
    "Charge",
    "Checked",
    "Connection",
    "Cursor",
    "EachAnswer",
    "Guard",
    "Head",
    "KeyReused",
    "Ledger",
    "LedgerError",
    "Request",
    "Sealed",
    "SqliteLedger",
    "Stale",
    "charges_of",
    "head_of",
    "open_ledger",
    "open_reading",
    "period_of",
    "verify_ledger",
]
