"""Options of a query as options of a command, from the query's own declaration.

Not here  what the commands do (queries.py), errors (query_failures.py), the declarations
          (queries/).
"""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from reticent.cli.failures import Failure
from reticent.errors import DeclarationError
from reticent.queries.base import Query
from reticent.queries.inputs import Input
from reticent.queries.options import Option, OptionKind

_WHY = "what is public is declared in this file and never read from the table"


def parameter(name: str, hint: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    """A parameter of a command's function."""
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=default, annotation=hint)


def of_inputs(
    query: type[Query], among: Collection[str] | None = None
) -> Iterable[inspect.Parameter]:
    """What it reads, or some of it: an argument if it must be there, else an option."""
    for name, one in query.inputs.items():
        if among is not None and name not in among:
            continue
        sentence, mark, default = one.help.partition("  [")
        usual = f"  [default: {one.usual}, if it is there]" if one.usual else ""
        told = f"{sentence.rstrip('.')}: {one.forms}{_roles(one)}.{mark}{default}{usual}"
        if one.required:
            argument = typer.Argument(help=told, metavar=name.upper())
            yield parameter(f"table_{name}", Annotated[Path, argument])
        elif name == next(iter(query.inputs)):
            argument = typer.Argument(help=told, metavar=name.upper(), show_default=False)
            yield parameter(f"table_{name}", Annotated[Path | None, argument], None)
        else:
            asked = typer.Option(f"--{name}", help=told, metavar="FILE")
            yield parameter(f"table_{name}", Annotated[Path | None, asked], None)


def _roles(table: Input) -> str:
    told = []
    for name, role in table.roles.items():
        others = f" or {', '.join(role.aliases)}" if role.aliases else ""
        own = "; any name if it is the only column" if role.sole else ""
        said = f"{role.help[:1].lower()}{role.help[1:].rstrip('.')}"
        told.append(f"{name}{others} ({said}{own})")
    named = f"{'columns' if len(told) > 1 else 'a column'} {', '.join(told)}" if told else ""
    return "".join(f" and {part}" for part in (named, table.rest) if part)


def of_options(options: Iterable[Option]) -> Iterable[inspect.Parameter]:
    """Options of a command; those that must be given come first."""
    for one in sorted(options, key=lambda option: not option.required):
        asked = typer.Option(
            spelling(one.name),
            help=one.help,
            metavar=None if _listed(one.kind) else one.kind.metavar,
        )
        yield parameter(one.name, Annotated[_hint(one), asked], _default(one))


def of_figures(query: type[Query]) -> Iterable[inspect.Parameter]:
    """The pictures of a plan."""
    for name, told in query.figures.items():
        asked = typer.Option(f"--{name}", help=told, metavar="FILE")
        yield parameter(f"figure_{name}", Annotated[Path | None, asked], None)


def spelling(name: str) -> str:
    """How an option is typed."""
    return f"--{name.replace('_', '-')}"


def _listed(kind: OptionKind) -> bool:
    return bool(kind.choices) or kind.flag


def one_of(name: str, choices: Iterable[str]) -> Any:
    """The type of a word among these; of any text, if there are none."""
    words = {word.replace("-", "_"): word for word in choices}
    return StrEnum(name.title(), words) if words else str


def _hint(one: Option) -> Any:
    if one.kind.flag:
        return bool
    hint = one_of(one.name, one.kind.choices)
    return hint if one.required or one.default is not None else hint | None


def _default(one: Option) -> Any:
    if one.required:
        return inspect.Parameter.empty
    if one.default is None or one.kind.flag or one.kind.choices:
        return one.default
    return str(one.kind.write(one.kind.read(one.default, one.name)))


def asked(query: type[Query], given: Mapping[str, Any]) -> Query:
    """The query that was typed; options that a command does not have are as usual."""
    held = {one.name: given[one.name] for one in query.options() if one.name in given}
    try:
        return query(**{n: str(v) if isinstance(v, StrEnum) else v for n, v in held.items()})
    except DeclarationError as error:
        raise Failure(str(error), why=_WHY, next_command=_form(query, given)) from None


def _form(query: type[Query], given: Mapping[str, Any]) -> str:
    """The command that prints a form of what was wrong."""
    command = next(one.kind.form for one in query.options() if one.kind.form)
    file = given.get(f"table_{next(iter(query.inputs))}")
    return f"{command} --help" if file is None else f"{command} {shlex.quote(str(file))}"


def tables(
    asked: Query, given: Mapping[str, Any], among: Collection[str] | None = None
) -> dict[str, Path]:
    """The files that were typed, by input; usual ones that are there, where they are wanted."""
    found = {}
    for name, one in asked.inputs.items():
        if among is not None and name not in among:
            continue
        path = given.get(f"table_{name}")
        if path is None and one.usual and Path(one.usual).is_file() and asked.wants(name):
            path = Path(one.usual)
        if path is not None:
            found[name] = path
    return found


def chosen(columns: str | None) -> dict[str, str]:
    """``--columns person=who,value=pay`` as a mapping."""
    found = {}
    for pair in columns.split(",") if columns else ():
        role, mark, name = pair.partition("=")
        if not (mark and role.strip() and name.strip()):
            raise Failure(f"--columns must be ROLE=COLUMN, as value=pay, got {pair!r}")
        found[role.strip()] = name.strip()
    return found
