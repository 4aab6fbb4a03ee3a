"""How a receipt knows its release again and tells nobody else what it was made of.

A plain digest of preferences would be confirmed by whoever tries them all: there are few. With a
ledger the digest is keyed by the ledger's secret, which the receipt does not hold. Without one it
is keyed by a nonce beside it, and the receipt, like the table, is for its owner alone.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reticent.ledger import Ledger
from reticent.ledger.secret import secret_of
from reticent.noise import Source

_NONCE_BITS = 256


@dataclass(frozen=True, slots=True, repr=False)
class Seal:
    """Digests under one key; ``nonce`` is what a receipt must keep to make them again."""

    key: bytes
    nonce: str | None

    @classmethod
    def of(cls, ledger: Ledger | None, held: Mapping[str, Any] | None) -> Seal:
        """That of a ledger, or of what an earlier run left, or a new one."""
        if ledger is not None:
            return cls(secret_of(ledger), None)
        left = None if held is None else held.get("nonce")
        made = Source.system().bits(_NONCE_BITS)
        nonce = left if isinstance(left, str) else f"{made:0{_NONCE_BITS // 4}x}"
        return cls(nonce.encode(), nonce)

    def __call__(self, told: str) -> str:
        """The digest of a text."""
        return hmac.digest(self.key, told.encode("utf-8", "surrogatepass"), "sha256").hex()
