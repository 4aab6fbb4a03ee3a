"""``reticent ledger raise`` and ``forget``: what is changed in a ledger, by its owner only.

Not here  looking at a ledger (ledger.py), releases (charging.py).
"""

from __future__ import annotations

import shlex
from typing import Annotated, TypeAlias

import typer

from reticent.amounts import nano_down, show_nano
from reticent.cli.charging import LEDGER, HeldLedger, opened, shown
from reticent.cli.charging_words import typed_ledger
from reticent.cli.failures import Failure
from reticent.cli.output import Json, say, say_json
from reticent.cli.plan import ask, somebody_to_ask, spelled

SubjectName: TypeAlias = Annotated[
    str, typer.Argument(help="A person or data set, as `ledger show` names it.", metavar="SUBJECT")
]
Agreed: TypeAlias = Annotated[bool, typer.Option("--yes", help="Do it without asking.")]


def raise_limit(
    context: typer.Context,
    subject: SubjectName,
    to: Annotated[str, typer.Option("--to", help="The new limit, an epsilon.", metavar="E")],
    provider: Annotated[
        str, typer.Option("--provider", help="With whom the account is.", metavar="NAME")
    ] = "anyone",
    ledger: HeldLedger = LEDGER,
    yes: Agreed = False,
    as_json: Json = False,
) -> None:
    """Let a subject lose more to a provider; it is written down.

    Releases lower a limit and never raise it. Where preferences or --total set a lower one, the
    next release lowers it again: change them first. Of periods it is the last one that is meant.
    """
    from reticent.ledger import OVERALL
    from reticent.ledger.reports import balances
    from reticent.rational import budget

    limit = nano_down(budget(to, "to"))
    with opened(ledger, create=False) as held:
        with held.reading() as connection:
            found = [
                one
                for one in balances(connection, subject=subject, provider=provider)
                if one.account.what == OVERALL
            ]
        if not found:
            look = shlex.join(["reticent", "ledger", "show", *typed_ledger(context)])
            raise Failure("there is no such account", next_command=look)
        last = max(found, key=lambda one: one.account.period)
        if limit <= last.limit:
            why = "lower limits come from preferences or --total, with the next release"
            raise Failure(f"the limit is {show_nano(last.limit)} already", why=why)
        _agree(context, yes, f"{show_nano(limit - last.limit)} more may be lost.")
        held.raise_limit(last.account, limit)
    if as_json:
        told = {"subject": subject, "provider": provider, "period": last.account.period}
        amounts = {"from_nano": last.limit, "to_nano": limit, "spent_nano": last.spent}
        say_json("ledger-raise/1", ledger=shown(ledger), **told, **amounts)
        return
    say(f"{show_nano(last.limit)} to {show_nano(limit)}, of which {show_nano(last.spent)} is spent")


def forget(
    context: typer.Context,
    subject: SubjectName,
    ledger: HeldLedger = LEDGER,
    yes: Agreed = False,
    as_json: Json = False,
) -> None:
    """Delete a subject's names, events and kept answers.

    Amounts stay, and are of nobody. An answer about several people goes with the first of them. Who
    comes back under the same name has new accounts, with nothing spent. Backups are not erased.
    """
    with opened(ledger, create=False) as held:
        _agree(context, yes, "What was spent can then not be told any more.")
        accounts = held.forget(subject)
    if not accounts:
        look = shlex.join(["reticent", "ledger", "show", *typed_ledger(context)])
        raise Failure("there is no such subject", why="nothing was deleted", next_command=look)
    if as_json:
        say_json("ledger-forget/1", ledger=shown(ledger), accounts=accounts)
    else:
        say(f"forgotten: {accounts} account{'s' if accounts > 1 else ''}")


def _agree(context: typer.Context, yes: bool, question: str) -> None:
    if yes:
        return
    if not somebody_to_ask():
        why = "there is nobody here to ask"
        raise Failure("this needs --yes", why=why, next_command=spelled(context, "--yes"))
    ask(question, otherwise="nothing was changed")
