"""``reticent prefs set``: change one line of a preferences file and keep all the others.

Not here  how the text is changed (preferences/editing.py), the other commands (prefs.py).
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from reticent.cli.failures import Failure, allowing
from reticent.cli.files import write_atomically
from reticent.cli.output import Json, say, say_json, talk

_HOW = (
    "one of --item with --weight, --attribute with --epsilon, --provider with --epsilon, --total "
    "or --renews"
)


def set_line(
    file: Annotated[Path, typer.Argument(help="A preferences file, TOML.", metavar="FILE")],
    provider: Annotated[
        str | None,
        typer.Option("--provider", help="For whom; without it for all.", metavar="PROVIDER"),
    ] = None,
    attribute: Annotated[
        str | None, typer.Option("--attribute", help="About what.", metavar="ATTRIBUTE")
    ] = None,
    item: Annotated[str | None, typer.Option("--item", help="About which item.")] = None,
    epsilon: Annotated[
        str | None,
        typer.Option("--epsilon", help="What the attribute or provider may learn.", metavar="E"),
    ] = None,
    total: Annotated[
        str | None,
        typer.Option(
            "--total", help="What the provider may learn in all its releases.", metavar="E"
        ),
    ] = None,
    renews: Annotated[
        str | None,
        typer.Option(
            "--renews",
            help="When that starts anew: never, daily, weekly, monthly or yearly.",
            metavar="WHEN",
        ),
    ] = None,
    weight: Annotated[
        str | None, typer.Option("--weight", help="The item's weight, 0 to 1.", metavar="W")
    ] = None,
    withhold: Annotated[
        bool,
        typer.Option(
            "--withhold",
            help="Nothing of the attribute or item; alone with --provider, delete its tables.",
        ),
    ] = False,
    clear: Annotated[
        bool, typer.Option("--clear", help="Delete the line about the attribute or item.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Change one line of a preferences file, and keep the others.

    Comments stay. The file is changed in place, and only if it can be used before and after.
    """
    from reticent.preferences import Preferences, PreferencesError
    from reticent.preferences.syntax import read_text

    if item is None and attribute is None and (total is not None or renews is not None):
        edit = _edit_provider(provider, epsilon, total, renews, weight is None, withhold or clear)
    elif total is not None or renews is not None:
        raise Failure("--total and --renews are of a provider", why="leave out the rest")
    else:
        edit = _edit(provider, attribute, item, epsilon, weight, withhold, clear)
    text = read_text(file, str(file))
    try:
        edited = edit(text)
    except PreferencesError as error:
        named = PreferencesError(replace(problem, file=str(file)) for problem in error.problems)
        allow = "" if provider is None else _naming(text, file, provider)
        why = "the file is as it was"
        raise Failure(str(named), why=why, next_command=allow) from None
    there = file.resolve()
    if edited != text:
        write_atomically(there, edited, private=not there.stat().st_mode & 0o077)
    changed = _changed(text, edited)
    if as_json:
        fingerprint = Preferences.parse(edited).fingerprint
        say_json("prefs-set/1", file=str(file), changed=changed, fingerprint=fingerprint)
        return
    for line in changed:
        say(_printable(line))
    if not changed:
        talk(f"{file} says so already")
    if provider is not None and item is None and attribute is None and epsilon is not None:
        _talk_total(edited, provider)


def _naming(text: str, file: Path, provider: str) -> str:
    """The command that names a provider which is not there, if it would work."""
    from reticent.preferences import Preferences, PreferencesError, editing

    try:
        editing.set_provider(text, provider, epsilon="1")
        known = provider in Preferences.parse(text).wishes.providers
    except PreferencesError:
        return ""
    return "" if known else allowing(file, provider)


def _talk_total(text: str, provider: str) -> None:
    """Say so if nothing limits what all releases to a provider tell together."""
    from reticent.preferences import Preferences

    granted = Preferences.parse(text).wishes.providers[provider]
    if granted.total is None:
        talk(f"note: no total: {provider} may ask for ever; --total E limits it")


def _edit(
    provider: str | None,
    attribute: str | None,
    item: str | None,
    epsilon: str | None,
    weight: str | None,
    withhold: bool,
    clear: bool,
) -> Callable[[str], str]:
    """The change that the options ask for, which must be exactly one."""
    from reticent.preferences import editing

    amounts = [epsilon is not None, weight is not None, withhold, clear]
    if sum(amounts) != 1 or (attribute is not None and item is not None):
        raise Failure("it is not clear what to set", why=f"give {_HOW}, or --withhold or --clear")
    if item is not None and epsilon is None:
        to = "0" if weight is None else weight
        if clear:
            return lambda text: editing.clear_item(text, item, provider=provider)
        return lambda text: editing.set_item(text, item, to, provider=provider)
    if attribute is not None and weight is None:
        if clear:
            return lambda text: editing.clear_attribute(text, attribute, provider=provider)
        return lambda text: editing.set_attribute(text, attribute, epsilon, provider=provider)
    if item is None and attribute is None and provider is not None:
        if epsilon is not None:
            return lambda text: editing.set_provider(text, provider, epsilon=epsilon)
        if withhold:
            return lambda text: editing.remove_provider(text, provider)
    raise Failure("these options do not go together", why=f"give {_HOW}")


def _edit_provider(
    provider: str | None,
    epsilon: str | None,
    total: str | None,
    renews: str | None,
    alone: bool,
    withheld: bool,
) -> Callable[[str], str]:
    """A change of what a provider may learn in one release, in all, and until when."""
    from reticent.preferences import editing

    if provider is None or not alone or withheld:
        raise Failure("--total and --renews go with --provider and --epsilon only")
    given = {"epsilon": epsilon, "total": total, "renews": renews}
    changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    return lambda text: editing.set_provider(text, provider, **changes)


def _changed(text: str, edited: str) -> list[str]:
    """The lines that went, after a minus, and those that came, after a plus."""
    old, new = text.splitlines(), edited.splitlines()
    told = list(difflib.unified_diff(old, new, n=0, lineterm=""))[2:]
    lines = [line for line in told if not line.startswith("@@") and line[1:].strip()]
    return [f"{line[0]} {line[1:]}" for line in lines]


def _printable(text: str) -> str:
    from reticent.guarantees.card_facts import printable

    return " ".join(map(printable, text.split(" ")))
