"""Durable budgets: never overspent, never lost, one answer for a key."""

from reticent.ledger.accounts import (
    OVERALL,
    Account,
    Charge,
    KeyReused,
    LedgerError,
    Request,
    charges_of,
    period_of,
)
from reticent.ledger.spending import Answer
from reticent.ledger.sqlite import SqliteLedger
from reticent.ledger.verification import Checked, Head, head_of, verify_ledger

__all__ = [
    "OVERALL",
    "Account",
    "Answer",
    "Charge",
    "Checked",
    "Head",
    "KeyReused",
    "LedgerError",
    "Request",
    "SqliteLedger",
    "charges_of",
    "head_of",
    "period_of",
    "verify_ledger",
]
