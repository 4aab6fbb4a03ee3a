"""What is said about a budget: how much of it is spent, by whom, and what to do if it is too small.

Not here  charging (charging.py).

Many people are counted, not named.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import typer

from reticent.amounts import nano_down, show_nano
from reticent.cli.failures import Refusal, budget_amounts
from reticent.cli.plan import spelled

if TYPE_CHECKING:
    from reticent.errors import BudgetExceeded
    from reticent.ledger import Ledger
    from reticent.tasks.charged import Payer, Standing

UNKNOWN = "what each person has left is known when the table is read"
NOTED = "what it tells does not add up, so it is recorded without charge"
_NOTHING = "nothing was drawn and nothing was charged"


def is_noted(payers: Sequence[Payer]) -> bool:
    """Whether nobody is charged: the release is on record under a name of its own."""
    from reticent.ledger import OVERALL

    return payers[0].what != OVERALL


def standing_words(
    ledger: Ledger | None, payers: Sequence[Payer], found: Sequence[Standing] = ()
) -> str:
    """What is spent, of what, by whom and with whom."""
    if is_noted(payers):
        return f"noted for {_whose(payers)}; {NOTED}"
    if ledger is not None:
        from reticent.tasks.charged import standings

        found = standings(ledger, payers)
    most = max(found, key=lambda one: one.spent)
    limit = "" if most.limit is None else f" of {show_nano(most.limit)}"
    renews = "" if most.payer.renews == "never" else f", renews {most.payer.renews}"
    return f"epsilon {show_nano(most.spent)} spent{limit} by {_whose(payers)}{renews}"


def _whose(payers: Sequence[Payer]) -> str:
    names = " and ".join(payer.subject for payer in payers[:2])
    if len(payers) > 1:
        names = f"each of {names if len(payers) == 2 else f'{len(payers):,} people'} at most"
    return f"{names} with {payers[0].provider}"


def refusal(
    error: BudgetExceeded, context: typer.Context, ledger: Ledger, payers: Sequence[Payer]
) -> Refusal:
    """Whose budget is too small, and what works: look, spend less, raise it."""
    from reticent.tasks.charged import standings

    short = [
        one for one in standings(ledger, payers) if one.left is not None and one.left < error.asked
    ]
    least = min(short, key=lambda one: one.left or 0, default=None)
    if least is None:  # somebody raised a limit meanwhile
        return Refusal(str(error), why=_NOTHING)
    left = least.left or 0
    whose = f"{len(short):,} of {len(payers):,} people" if len(payers) > 2 else least.payer.subject
    told = (
        f"budget of {whose} with {least.payer.provider}: asked for epsilon "
        f"{show_nano(error.asked)}, {show_nano(left)} is left, {show_nano(error.asked - left)} is "
        "missing"
    )
    where = ["--provider", least.payer.provider, *typed_ledger(context)]
    one = [] if len(payers) > 2 else ["--subject", least.payer.subject]
    others = _less(context, Fraction(left, error.asked))
    if one:
        others |= _more(context, ledger, short, error.asked, where)
    look = shlex.join(["reticent", "ledger", "log", *one, *where])
    amounts = budget_amounts(error.asked, left)
    return Refusal(told, why=_NOTHING, next_command=look, others=others, amounts=amounts)


def typed_ledger(context: typer.Context) -> list[str]:
    """The option for the ledger, if it was typed: what the environment says it says again."""
    source = context.get_parameter_source("ledger")
    typed = getattr(source, "name", "") == "COMMANDLINE"
    return ["--ledger", str(context.params["ledger"])] if typed else []


def _less(context: typer.Context, share: Fraction) -> dict[str, str]:
    """The same with what is left, where losses follow one epsilon."""
    from reticent.rational import rational

    asked = context.params.get("epsilon")
    if share == 0 or not asked or context.params.get("total_epsilon") is not None:
        return {}
    less = nano_down(rational(asked, "epsilon") * share)
    command = spelled(context, instead={"epsilon": show_nano(less)})
    return {"to spend less": command} if less else {}


def _more(
    context: typer.Context,
    ledger: Ledger,
    short: Sequence[Standing],
    asked: int,
    where: Sequence[str],
) -> dict[str, str]:
    """Raising the limits that are too low: in the preferences or --total, and those on record."""
    needed = max(one.spent for one in short) + asked
    to = show_nano(needed)
    on_record = _raises(ledger, short, asked, where)
    if all(one.payer.limit is None or one.payer.limit >= needed for one in short):
        return on_record
    if context.params.get("total"):
        again = spelled(context, instead={"total": to})
        return {**on_record, "and then": again} if on_record else {"to allow more": again}
    given = (context.params.get(name) for name in ("table_preferences", "preferences"))
    file = str(next(filter(None, given), "preferences.toml"))
    own_words = ["reticent", "prefs", "set", file, "--provider", short[0].payer.provider]
    return _in_order([shlex.join([*own_words, "--total", to]), *on_record.values()])


def _in_order(commands: Sequence[str]) -> dict[str, str]:
    """Commands of which one alone does nothing, as steps."""
    if len(commands) == 1:
        return {"to allow more": commands[0]}
    every = "both" if len(commands) == 2 else f"all {len(commands)}"
    first, *others = commands
    steps = {f"and {place}": command for place, command in enumerate(others, 2)}
    return {f"to allow more, type {every}, 1": first, **steps}


def _raises(
    ledger: Ledger, short: Sequence[Standing], asked: int, where: Sequence[str]
) -> dict[str, str]:
    """The commands that raise limits which the ledger keeps; before a first release it has none."""
    found: dict[str, str] = {}
    for one in short:
        needed, held = one.spent + asked, _limit_on_record(ledger, one.payer)
        if held is not None and held < needed:
            aim = "to allow more" if not found else f"and of {one.payer.subject}"
            words = ["reticent", "ledger", "raise", one.payer.subject, "--to", show_nano(needed)]
            found[aim] = shlex.join([*words, *where, "--yes"])
    return found


def _limit_on_record(ledger: Ledger, payer: Payer) -> int | None:
    """What the ledger keeps for the last period of an account; None before its first release."""
    from reticent.ledger.reports import balances

    with ledger.reading() as connection:
        held = [
            one
            for one in balances(connection, subject=payer.subject, provider=payer.provider)
            if one.account.what == payer.what
        ]
    return max(held, key=lambda one: one.account.period).limit if held else None
