"""What a release would cost, said before it is drawn, and how it is agreed to.

Not here  what is released (queries.py).

A release is agreed to before it is drawn: on a terminal by an answer, elsewhere by ``--yes``.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeAlias

import typer

from reticent.cli.failures import Failure, Refusal
from reticent.cli.output import say, say_json, talk
from reticent.layout import table

if TYPE_CHECKING:
    from reticent.queries.plans import Plan as QueryPlan

DryRun: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="Say cost, error and odds, and whether it would be refused; read and release nothing.",
    ),
]
Yes: TypeAlias = Annotated[bool, typer.Option("--yes", help="Spend without asking.")]


class Agreeable(Protocol):
    """What is agreed to: what it is, what follows, what it costs."""

    @property
    def title(self) -> str:
        """What would be released, as a sentence starts."""

    def consequence(self) -> str:
        """What who looks can gain."""

    def warnings(self) -> list[str]:
        """What is said before anything is spent."""

    def cost(self) -> str:
        """In one line."""

    def fields(self) -> dict[str, Any]:
        """For JSON."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a ledger says before a release: in one line, and for JSON."""

    line: str
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Plan:
    """What a release would cost and how wrong it would be; made without looking at any table.

    ``losses`` are those of an item of weight 1, in nano-epsilon, by who looks; None if unknown.
    ``caution`` and ``note`` are said before anything is spent.
    """

    kind: str
    what: str
    losses: Mapping[str, int | None]
    error: str
    caution: str = ""
    note: str = field(default="", kw_only=True)

    @property
    def title(self) -> str:
        """What would be released, as a sentence starts."""
        return self.what[:1].upper() + self.what[1:]

    @property
    def charge(self) -> int | None:
        """What everybody concerned would be charged: the largest loss; None if it is unknown."""
        known = list(self.losses.values())
        return None if None in known else max((nano or 0 for nano in known), default=0)

    def lines(self) -> list[str]:
        """As a table and a sentence."""
        heads = ("who looks", "epsilon ", "right at most, of 100 ")
        unknown = "needs --people or --population"
        costs = [
            (who, *((unknown, unknown) if nano is None else _told(nano)))
            for who, nano in self.losses.items()
        ]
        return [
            self.title,
            "",
            *table(heads, costs),
            "",
            f"error to expect: {self.error}",
            *self.warnings(),
        ]

    def warnings(self) -> list[str]:
        """The caution and the note, as far as there are any."""
        told = {"caution": self.caution, "note": self.note}
        return [f"{kind}: {text}" for kind, text in told.items() if text]

    def fields(self) -> dict[str, Any]:
        """For JSON; amounts are text, so that nothing is rounded."""
        known = {who: None if nano is None else _told(nano) for who, nano in self.losses.items()}
        return {
            "losses": {_key(who): told and told[0] for who, told in known.items()},
            "right_at_most": {_key(who): told and told[1] for who, told in known.items()},
            "error": self.error,
            **({"caution": self.caution} if self.caution else {}),
            **({"note": self.note} if self.note else {}),
        }

    def cost(self) -> str:
        """In one line."""
        amounts = (
            f"epsilon {_told(nano)[0]} ({who})"
            for who, nano in self.losses.items()
            if nano is not None
        )
        return ", ".join(amounts)

    def odds(self) -> str:
        """In one line."""
        chances = (
            f"{_told(nano)[1]} times in 100 ({who})"
            for who, nano in self.losses.items()
            if nano is not None
        )
        return f"right at most {', '.join(chances)}"

    def consequence(self) -> str:
        """What who looks can gain, as a sentence."""
        return f"Who looks for one item can be {self.odds()}."

    def say(self, as_json: bool, outlook: Outlook) -> None:
        """Answer a dry run, with what the ledger says of those who would be charged."""
        if as_json:
            told = {**self.fields(), **outlook.fields}
            say_json("plan/1", kind=self.kind, what=self.what, **told)
            return
        for line in self.lines():
            say(line)
        talk(outlook.line)
        talk(self.after())

    def after(self) -> str:
        """What a dry run has not done."""
        return "nothing was read or released"


def say_plan(
    made: QueryPlan, seen: Outlook | None, as_json: bool, figures: Collection[Path] = ()
) -> None:
    """What a release would cost, and what a ledger says to it; ``figures`` were drawn."""
    if as_json:
        told = {**made.fields(), **({} if seen is None else seen.fields)}
        say_json("plan/1", kind=made.kind, what=made.what, **told)
        return
    for line in made.lines():
        say(line)
    for line in (*made.warnings(), *(f"figure: {path}" for path in figures)):
        talk(line)
    if seen is not None:
        talk(seen.line)
    talk("nothing private was read and nothing was released")


def _key(who: str) -> str:
    return who.replace(" ", "_")


def _told(nano: int) -> tuple[str, str]:
    from reticent.amounts import show_nano
    from reticent.guarantees.card import right_at_most

    return show_nano(nano), right_at_most(nano)


def spelled(
    context: typer.Context,
    *more: str,
    without: Collection[str] = (),
    instead: Mapping[str, str] | None = None,
) -> str:
    """The command being run, as one could type it; what the environment set is left to it."""
    words, given = context.command_path.split(), {**context.params, **(instead or {})}
    for parameter in context.command.params:
        name = parameter.name or ""
        value = given.get(name)
        if value is None or value is False or value == parameter.default or name in without:
            continue
        if getattr(context.get_parameter_source(name), "name", "") == "ENVIRONMENT":
            continue
        option = [] if parameter.param_type_name == "argument" else [parameter.opts[0]]
        words += option if value is True else [*option, str(value)]
    return shlex.join([*words, *more])


def published(context: typer.Context) -> str:
    """The command for a card: where and under which key it was counted is nobody else's matter."""
    return spelled(context, without=("ledger", "key"))


def somebody_to_ask() -> bool:
    """Whether this runs on a terminal."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


def agreement(context: typer.Context, yes: bool) -> Callable[[Agreeable], None]:
    """How this run is agreed to: already, or by an answer once the cost is known."""
    if yes:
        return _warn
    if somebody_to_ask():
        return partial(_ask, look=spelled(context, "--dry-run"))
    raise Failure(
        "a release spends, and there is nobody here to ask",
        why="--yes agrees to it; --dry-run says what it would cost",
        next_command=spelled(context, "--yes"),
    )


def _warn(plan: Agreeable) -> None:
    for line in plan.warnings():
        talk(line)


def _ask(plan: Agreeable, *, look: str) -> None:
    talk(f"{plan.title}. {plan.consequence()}")
    _warn(plan)
    ask(f"This spends {plan.cost()}.", otherwise="nothing was released", look=look)


def ask(question: str, *, otherwise: str, look: str = "") -> None:
    """Go on after a yes at the terminal only; ``otherwise`` says what then did not happen.

    ``look`` is a command that shows more of it and changes nothing.
    """
    talk(f"{question} Go on? [y/N]")
    if sys.stdin.readline().strip().casefold() not in ("y", "yes"):
        raise Refusal("it was not agreed to", why=otherwise, next_command=look)
