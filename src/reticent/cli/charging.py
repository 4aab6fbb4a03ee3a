"""What every command that releases shares: it charges a ledger before it computes, and says so.

Theory    docs/theory/ledger.md, Theorem 1 (never more than the limit), Theorem 2 (one key, one
          answer, one charge)
Not here  looking at a ledger (ledger.py), charging as such (tasks/charged.py).

An answer is kept in the ledger and repeated exactly when its key is given again, unless it is
longer than a megabyte: then the ledger keeps where it went. It is written there after it was
counted, so a crash in between loses an answer that nobody saw, and never draws a second one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeAlias, TypeVar

import typer

from reticent.amounts import show_nano
from reticent.cli.charging_words import UNKNOWN, refusal, standing_words
from reticent.cli.failures import Failure, Refusal, budget_amounts
from reticent.cli.output import talk
from reticent.cli.plan import Outlook, spelled

if TYPE_CHECKING:
    from reticent.guarantees import Event
    from reticent.guarantees.card import Budget
    from reticent.ledger import Ledger
    from reticent.tasks.charged import Payer, Standing

Value = TypeVar("Value")

LEDGER = "reticent-ledger.db"
PRINCIPAL = "command line"
LONGEST = 1 << 20  # bytes of an answer that is kept
_SHORT, _LONG = 200, 489  # letters of a key, and of a data set's name
_UNDECIDING = frozenset(
    {"ledger", "key", "total", "data_set", "yes", "dry_run", "as_json", "card", "out", "plot"}
)  # options that do not decide what is released

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
class Paid(Generic[Value]):
    """What was released, and what the ledger says of it."""

    value: Value
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

    def pay(
        self,
        context: typer.Context,
        event: Event,
        payers: Sequence[Payer],
        make: Callable[[], Value],
        *,
        out: Path | None = None,
    ) -> Paid[Value]:
        """Charge everybody, then make the answer; or repeat the one that this key got before."""
        from reticent.errors import BudgetExceeded
        from reticent.tasks.charged import answer_once, new_key

        key = self.key or new_key()
        shown = self.where
        with opened(self.address) as ledger:

            def made() -> Value:
                if not self.quiet:
                    talk(f"ledger: {shown}, key {key}: {standing_words(ledger, payers)}")
                try:
                    return make()
                except BaseException:
                    again = spelled(context, "--key", key, without=("key",))
                    talk(f"counted, not answered; to try again at no further charge: {again}")
                    raise

            try:
                charged = answer_once(
                    event,
                    made,
                    ledger=ledger,
                    payers=payers,
                    key=key,
                    principal=PRINCIPAL,
                    about=_decided(context),
                    keep=lambda value: _kept(value, out),
                    restore=_restored,
                )
            except BudgetExceeded as error:
                raise refusal(error, context, ledger, payers) from None
            if charged.replayed and not self.quiet:
                said = standing_words(ledger, payers)
                talk(f"ledger: {shown}, key {key}: answered before, repeated; {said}")
        return Paid(charged.value, charged.budget, charged.replayed, shown, key)

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


def data_set_subject(path: str | Path, name: str | None = None) -> str:
    """What the ledger calls a data set: its path, with links resolved; a hard link is another."""
    subject = f"data set {os.path.realpath(path) if name is None else name}"
    if name == "" or len(subject) > _LONG or not subject.isprintable():
        why = "--data-set NAME gives it one, of 1 to 480 letters"
        raise Failure("the data set has no name that a ledger can keep", why=why)
    return subject


def _decided(context: typer.Context) -> str:
    """All that was typed and decides the answer, however files were reached."""
    given = {
        name: str(value.resolve() if isinstance(value, Path) else value)
        for name, value in context.params.items()
        if name not in _UNDECIDING
    }
    return json.dumps([context.command_path, given], sort_keys=True)


def _kept(value: object, out: Path | None) -> bytes:
    from reticent.tasks.kept import keep

    held = keep(value)
    if len(held) <= LONGEST:
        return b"=" + held
    return b">" + ("" if out is None else os.path.abspath(out)).encode(errors="replace")


def _restored(held: bytes) -> Any:
    from reticent.tasks.kept import restore

    if held[:1] == b"=":
        return restore(held[1:])
    where = held[1:].decode()
    raise Refusal(
        "this key was answered before, and the answer is too long to be kept",
        why=f"it was written to {where}" if where else "it was written to standard output",
    )
