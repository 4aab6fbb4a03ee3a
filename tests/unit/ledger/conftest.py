"""Ledgers for tests: the contract's tests run for every store in ``STORES``."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from reticent.guarantees import RECORD, Event, PureDP
from reticent.ledger import Charge, Checked, Head, Request, SqliteLedger, verify_ledger
from reticent.ledger.reports import balances

EVENT = Event("test", {"scale": 1}, PureDP(1, RECORD), private=True)


@dataclass
class SqliteStore:
    """What a test needs of a store: another handle on it, what it holds, whether it fits."""

    path: Path
    opened: list[SqliteLedger] = field(default_factory=list)

    def open(self) -> SqliteLedger:
        ledger = SqliteLedger.open(self.path)
        self.opened.append(ledger)
        return ledger

    def spent(self) -> dict[tuple[str, ...], tuple[int, int]]:
        """Limit and spent by subject, provider, what and period."""
        with self.opened[0].reading() as connection:
            return {
                (a.subject, a.provider, a.what, a.period): (one.limit, one.spent)
                for one in balances(connection)
                for a in (one.account,)
            }

    def lines(self, kind: str) -> int:
        with self.opened[0].reading() as connection:
            rows = connection.execute("SELECT count(*) FROM line WHERE kind = ?", (kind,))
            return int(rows.fetchone()[0])

    def checked(self, known: Head | None = None) -> Checked:
        with self.opened[0].reading() as connection:
            return verify_ledger(connection, known)

    def close(self) -> None:
        for ledger in self.opened:
            ledger.close()


STORES: dict[str, Callable[[Path], Any]] = {
    "sqlite": lambda folder: SqliteStore(folder / "ledger.db"),
}


@pytest.fixture(params=sorted(STORES))
def store(request: Any, tmp_path: Path) -> Iterator[Any]:
    made = STORES[request.param](tmp_path)
    yield made
    assert made.opened, "a test of the contract opens the ledger"
    made.close()


@pytest.fixture
def open_ledger(store: Any) -> Callable[[], Any]:
    """Open the test's store; every call gives another handle."""
    return store.open


@pytest.fixture
def ledger(open_ledger: Any) -> Any:
    return open_ledger()


def make_charge(subject: str = "ann", provider: str = "club", **others: Any) -> Charge:
    return Charge(subject=subject, provider=provider, **({"nano": 4, "limit": 10} | others))


@pytest.fixture
def charge() -> Callable[..., Charge]:
    """A charge of 4 from 10."""
    return make_charge


@pytest.fixture
def ask() -> Callable[..., Request]:
    """A request by key; ``charges`` or the fields of one charge may be given."""

    def build(
        key: object = "1",
        *,
        body: bytes = b"body",
        principal: str = "club",
        event: Event = EVENT,
        charges: tuple[Charge, ...] | None = None,
        **others: Any,
    ) -> Request:
        taken = charges if charges is not None else (make_charge(**others),)
        return Request(principal=principal, key=str(key), body=body, event=event, charges=taken)

    return build
