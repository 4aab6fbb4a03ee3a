"""What every command that releases shares: which ledger it charges, and what that says before.

Not here  looking at a ledger (ledger.py), charging as such (queries/run.py, tasks/charged.py).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from reticent.amounts import show_nano
from reticent.cli.charging_words import NOTED, UNKNOWN, standing_words
from reticent.cli.failures import Failure, budget_amounts
from reticent.cli.plan import Outlook

if TYPE_CHECKING:
    from reticent.guarantees.card import Budget
    from reticent.ledger import Ledger
    from reticent.tasks.charged import Payer, Standing

LEDGER = "reticent-ledger.db"
PRINCIPAL = "command line"
_SHORT = 200  # letters of a key

LedgerOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "--ledger",
        help="Where releases are counted: a file, made if it is not there, by default in the "
        "folder you are in; or a postgresql:// address.",
        envvar="RETICENT_LEDGER",
        metavar="LEDGER",
    ),
]
HeldLedger: TypeAlias = Annotated[
    str,
    typer.Option(
        "--ledger",
        help="The ledger: a file, by default in the folder you are in, or a postgresql:// address.",
        envvar="RETICENT_LEDGER",
        metavar="LEDGER",
    ),
]
KeyOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--key",
        help="The same key resumes after a crash, and repeats an answer, without another charge. "
        "No names or other private words.  [default: a new one]",
        metavar="KEY",
    ),
]
TotalOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--total",
        help="Refuse once the data set, or anybody whose items these are, would have lost more "
        "than E in all. The ledger keeps it for later releases.",
        metavar="E",
    ),
]
DataSetOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--data-set",
        help="The name under which the ledger counts what is lost of these data; give all files "
        "with the same people in them the same name.  [default: the whole path of the file]",
        metavar="NAME",
    ),
]


@dataclass(frozen=True, slots=True)
class Paid:
    """What the ledger says of a release."""

    budget: Budget
    replayed: bool
    ledger: str
    key: str

    def cost(self, told: str) -> str:
        """What was spent now: nothing, if it was answered before."""
        return "spent nothing more" if self.replayed else f"spent {told}"

    def fields(self) -> dict[str, Any]:
        """For JSON; amounts are text, so that nothing is rounded."""
        return {
            "ledger": self.ledger,
            "key": self.key,
            "spent": self.budget.spent,
            "limit": None if self.budget.limit == "none" else self.budget.limit,
            "replayed": self.replayed,
        }


@dataclass(frozen=True, slots=True)
class Purse:
    """Which ledger a command charges, under which key; ``quiet`` where the answer is JSON."""

    address: str
    key: str | None
    quiet: bool

    def __post_init__(self) -> None:
        if self.key is not None and not 0 < len(self.key) <= _SHORT:
            raise Failure(f"--key must be 1 to {_SHORT} letters")

    @property
    def where(self) -> str:
        """The address without its password."""
        return shown(self.address)

    def noted(self) -> Outlook:
        """What a dry run says of a release that nobody is charged for."""
        facts = {"ledger": self.where, "allowed": True}
        return Outlook(f"ledger: {self.where}: {NOTED}", facts)

    def outlook(self, payers: Sequence[Payer] | None, asked: int | None = None) -> Outlook:
        """What a dry run says of those who would be charged ``asked``, and if that is refused.

        None for ``payers`` where nobody knows yet who they are. A dry run that finds a budget too
        small has done what it was asked, so it ends with 0 and says ``allowed: false``; 3 is kept
        for a release that was refused. Who runs it holds the ledger and may look there anyway.
        """
        where = {"ledger": self.where}
        if payers is None:
            return Outlook(f"ledger: {self.where}: {UNKNOWN}", {**where, "allowed": None})
        found = self._standings(payers)
        near = min(found, key=_room)
        limit, left = (None if n is None else show_nano(n) for n in (near.limit, near.left))
        amounts = {"spent": show_nano(near.spent), "limit": limit, "left": left}
        words = standing_words(None, payers, found)
        line = f"ledger: {self.where}: {words}{f', {left} left' if left is not None else ''}"
        allowed = _allowed(near, asked)
        if allowed is False and asked is not None:
            told = budget_amounts(asked, near.left or 0)
            line += (
                f"\nwould be refused: asked for epsilon {told['asked']}, {told['left']} is left, "
                f"{told['missing']} is missing"
            )
            if self.key is not None:  # which of the two is known when the release is asked for
                allowed, line = None, f"{line}; unless key {self.key} was answered before"
            amounts |= told
        return Outlook(line, {**where, "allowed": allowed, **amounts})

    def _standings(self, payers: Sequence[Payer]) -> list[Standing]:
        """What the ledger knows; a ledger that is not there is not made for a look."""
        from reticent.tasks.charged import Standing, standings

        if "://" not in self.address and not Path(self.address).exists():
            return [Standing(payer, 0, payer.limit) for payer in payers]
        with opened(self.address) as ledger:
            return standings(ledger, payers)


def _room(standing: Standing) -> tuple[bool, int]:
    """The least is left first; without limits the most spent."""
    unlimited = standing.left is None
    return unlimited, -standing.spent if standing.left is None else standing.left


def _allowed(near: Standing, asked: int | None) -> bool | None:
    """Whether the account can pay; unknown where the cost is, as long as anything is left."""
    if near.left is None:
        return True
    if asked is None:
        return None if near.left else False
    return near.left >= asked


@contextmanager
def opened(address: str, *, create: bool = True) -> Iterator[Ledger]:
    """The ledger at an address; made, if it is a file that is not there."""
    from reticent.ledger import open_ledger

    if not create:
        check_there(address)
    folder = Path(address).absolute().parent
    if "://" not in address and not os.access(folder, os.W_OK | os.X_OK):
        raise Failure(f"{address} cannot be written", why="its folder is missing or closed")
    with open_ledger(address, create=create) as ledger:
        yield ledger


def check_there(address: str) -> None:
    """Refuse a file that is not there, where looking must not make one."""
    if "://" not in address and not Path(address).is_file():
        why = (
            "a release makes one in the folder it runs in; --ledger FILE or RETICENT_LEDGER says "
            "where it is"
        )
        raise Failure(f"there is no ledger at {Path(address).absolute()}", why=why)


def shown(address: str) -> str:
    """An address without its password."""
    from urllib.parse import urlsplit

    if "://" not in address:
        return address
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
