"""``reticent ledger``: balances, what was spent, whether it still holds, a copy as data.

Not here  the ledger (ledger/), limits and people that are changed (ledger_changes.py).
"""

from __future__ import annotations

import json
import shlex
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from reticent.amounts import show_nano
from reticent.cli.charging import LEDGER, HeldLedger, check_there, shown
from reticent.cli.failures import ExitCode, Failure
from reticent.cli.files import free_name, read_text, write_atomically
from reticent.cli.output import Json, say, say_json, talk
from reticent.layout import table

if TYPE_CHECKING:
    from reticent.ledger import Connection

app = typer.Typer(
    help="Look at a ledger, check it, change limits, forget people.",
    rich_markup_mode=None,
    no_args_is_help=True,
)

SubjectOption: TypeAlias = Annotated[
    str | None, typer.Option("--subject", help="Only this person's or data set's.", metavar="NAME")
]
ProviderOption: TypeAlias = Annotated[
    str | None, typer.Option("--provider", help="Only with this provider.", metavar="NAME")
]


@app.command("show")
def show(
    ledger: HeldLedger = LEDGER,
    subject: SubjectOption = None,
    provider: ProviderOption = None,
    as_json: Json = False,
) -> None:
    """What each account may spend, has spent and has left."""
    from reticent.ledger.reports import balances

    with reading(ledger) as connection:
        found = list(balances(connection, subject=subject, provider=provider))
    if as_json:
        rows = [
            {**_names(one.account), "limit_nano": one.limit, "spent_nano": one.spent}
            for one in found
        ]
        say_json("ledger-show/1", ledger=shown(ledger), accounts=rows)
        return
    if not found:
        talk("no account is like that" if subject or provider else "nothing was released yet")
        return
    heads = ("subject", "provider", "what", "period", "limit ", "spent ", "left ")
    lines = [
        [
            *_shown(one.account.subject, one.account.provider, one.account.what),
            one.account.period or "for ever",
            *_amounts(one.limit, one.spent),
        ]
        for one in found
    ]
    for line in table(heads, lines):
        say(line)


def _amounts(limit: int, spent: int) -> tuple[str, str, str]:
    """Limit, spent and left, in words where there is no limit."""
    from reticent.ledger.accounts import LARGEST

    if limit == LARGEST:
        return "none", show_nano(spent), "no limit"
    return show_nano(limit), show_nano(spent), show_nano(limit - spent)


@app.command("log")
def log(
    ledger: HeldLedger = LEDGER,
    subject: SubjectOption = None,
    provider: ProviderOption = None,
    most: Annotated[int, typer.Option("--most", help="How many lines.", min=1)] = 50,
    as_json: Json = False,
) -> None:
    """What was spent, newest first: when, on what, with whom."""
    from reticent.ledger.reports import entries

    with reading(ledger) as connection:
        found = list(entries(connection, subject=subject, provider=provider, most=most))
    if as_json:
        rows = [
            {
                **{"spend": one.spend, "at": one.at, "mechanism": one.mechanism},
                **_names(one.account),
                **{"nano": one.nano, "answered": one.answered},
            }
            for one in found
        ]
        say_json("ledger-log/1", ledger=shown(ledger), lines=rows)
        return
    if not found:
        talk("nothing was spent like that")
        return
    heads = ("when", "mechanism", "subject", "provider", "what", "epsilon ", "answered")
    lines = [
        [
            datetime.fromtimestamp(one.at, UTC).strftime("%Y-%m-%d %H:%M:%S"),
            *_shown(one.mechanism, one.account.subject, one.account.provider, one.account.what),
            *(show_nano(one.nano), "yes" if one.answered else "not yet"),
        ]
        for one in found
    ]
    for line in table(heads, lines):
        say(line)


@app.command("verify")
def verify(
    ledger: HeldLedger = LEDGER,
    head: Annotated[
        Path | None,
        typer.Option(
            "--head",
            help="A file kept elsewhere with the last head: compared with, then brought up to "
            "date. It shows an old copy put back, and a chain that was rewritten.",
            metavar="FILE",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Replay every line and compare it with what is kept.

    That is: balances, names and answers.

    Exit code 0 if all of it holds, 1 if something does not.
    """
    from reticent.ledger.verification import Head, verify_ledger

    known = Head.of_text(read_text(head)) if head is not None and head.exists() else None
    with reading(ledger) as connection:
        checked = verify_ledger(connection, known)
    if head is not None and not checked.problems:
        write_atomically(head, checked.head.text() + "\n")
    if as_json:
        say_json(
            "ledger-verify/1",
            ledger=shown(ledger),
            head=checked.head.text(),
            spends=checked.spends,
            accounts=checked.accounts,
            problems=list(checked.problems),
        )
    else:
        for problem in checked.problems:
            say(problem)
        if not checked.problems:
            say(f"holds: {checked.spends:,} spends, {checked.accounts:,} accounts")
            say(f"head: {checked.head.text()}")
        if head is None:
            talk("an old copy would hold too: keep the head elsewhere, and give it by --head FILE")
    if checked.problems:
        raise typer.Exit(ExitCode.FOUND)
    if head is not None:
        talk(f"head kept in {head}")


@app.command("export")
def export(
    out: Annotated[Path, typer.Option("--out", help="JSON lines.", metavar="FILE")],
    ledger: HeldLedger = LEDGER,
    as_json: Json = False,
) -> None:
    """Write all lines as JSON: amounts and numbers, no names."""
    if out.exists():
        why = "nothing is overwritten; give another name"
        raise Failure(f"{out} is there already", why=why, instead=(out, free_name(out)))
    with reading(ledger) as connection:
        rows = connection.execute("SELECT seq, kind, body, chain FROM line ORDER BY seq")
        try:
            held = "".join(
                json.dumps(
                    {"seq": seq, "kind": kind, **json.loads(body), "chain": chain.hex()},
                    ensure_ascii=False,
                )
                + "\n"
                for seq, kind, body, chain in rows
            )
        except (sqlite3.Error, ValueError, TypeError, AttributeError):
            verify = shlex.join(["reticent", "ledger", "verify", "--ledger", ledger])
            raise Failure(f"{shown(ledger)} is damaged", next_command=verify) from None
    write_atomically(out, held)
    if as_json:
        say_json("ledger-export/1", ledger=shown(ledger), out=str(out), lines=held.count("\n"))
    else:
        say(str(out))


def _shown(*names: str) -> list[str]:
    """Names without what a terminal would act on."""
    from reticent.guarantees.card_facts import printable

    return [printable(name) for name in names]


def _names(account: object) -> dict[str, str]:
    return {name: getattr(account, name) for name in ("subject", "provider", "what", "period")}


@contextmanager
def reading(ledger: str) -> Iterator[Connection]:
    """A ledger that is there, to look at."""
    from reticent.ledger import open_reading

    check_there(ledger)
    with open_reading(ledger) as connection:
        yield connection
