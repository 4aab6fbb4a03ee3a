"""``reticent prefs``: check a preferences file, show what it allows, explain which line decides.

Not here  the file and its rules (preferences/), the words of `show` (prefs_views.py), `set`
          (prefs_set.py).
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from reticent.cli.failures import ExitCode, Failure
from reticent.cli.output import Json, say, say_json, talk
from reticent.cli.prefs_set import set_line

if TYPE_CHECKING:
    from reticent.preferences import Decision, Preferences, Problem

app = typer.Typer(
    help="Check, explain and change a preferences file.",
    rich_markup_mode=None,
    no_args_is_help=True,
)

SCHEMA_FILE = "preferences-1.schema.json"

PreferencesPath: TypeAlias = Annotated[
    Path, typer.Argument(help="A preferences file, TOML.", metavar="FILE")
]
CataloguePath: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--catalogue", help="Also compare names with this catalogue of items.", metavar="CATALOGUE"
    ),
]


@app.command("check")
def check(file: PreferencesPath, catalogue: CataloguePath = None, as_json: Json = False) -> None:
    """List everything that is wrong with a preferences file.

    Exit code 0 if nothing is, 1 if something is, 2 if the file cannot be read.
    """
    from reticent.preferences import Preferences, find_problems
    from reticent.preferences.syntax import read_text

    text = read_text(file, str(file))
    problems = find_problems(text, name=str(file), **_names(catalogue))
    preferences = None if problems else Preferences.parse(text, name=str(file))
    if as_json:
        _say_check(str(file), problems, preferences)
    elif preferences is not None:
        say(f"{_one_line(str(file))} holds: {_counted(preferences)}")
        _talk_notes(preferences)
    else:
        for problem in problems:
            say(_one_line(str(problem)))
        talk(f"{len(problems)} to correct")
    if problems:
        raise typer.Exit(ExitCode.FOUND)


@app.command("show")
def show(file: PreferencesPath, catalogue: CataloguePath = None, as_json: Json = False) -> None:
    """Say what each provider may learn, in words and as a table.

    With a catalogue, every attribute that an item of it has is listed.
    """
    from reticent.cli.prefs_views import fields, view

    preferences = _read(file)
    names = _names(catalogue)
    if names:
        _check_against(preferences, names, file)
    attributes = _in_use(names)
    if as_json:
        say_json("prefs-show/1", file=str(file), **fields(preferences, attributes))
        return
    for line in view(preferences, attributes):
        say(_one_line(line, keep=True))
    _talk_notes(preferences)


@app.command("explain")
def explain(
    file: PreferencesPath,
    provider: Annotated[str, typer.Option("--provider", help="Who asks.", metavar="PROVIDER")],
    attribute: Annotated[
        str | None, typer.Option("--attribute", help="About what.", metavar="ATTRIBUTE")
    ] = None,
    item: Annotated[str | None, typer.Option("--item", help="About which item.")] = None,
    as_json: Json = False,
) -> None:
    """Say which line decides, and what it beats.

    About a provider, and also an attribute, an item, or both.
    """
    preferences = _read(file)
    decision = preferences.explain(provider, attribute=attribute, item=item)
    if as_json:
        facts = {**decision.fields(), **_total_fields(preferences, provider)}
        say_json("prefs-explain/1", **facts, right_at_most=_odds(decision))
    else:
        for line in _told(decision, preferences):
            say(_one_line(line, keep=True))
    if decision.outcome == "refused":
        _talk_refusal(preferences, provider)
    if item is not None:
        _talk_unnamed(preferences, item)


app.command("set")(set_line)


@app.command("schema")
def schema(as_json: Json = False) -> None:
    """Print the JSON Schema of a preferences file.

    It is JSON with or without --json.
    """
    say((resources.files("reticent.preferences") / SCHEMA_FILE).read_text(encoding="utf-8").strip())


def _read(file: Path) -> Preferences:
    from reticent.preferences import Preferences, PreferencesError

    try:
        return Preferences.read(file)
    except PreferencesError as error:
        raise unusable(error, file) from None


def _check_against(preferences: Preferences, names: dict[str, Any], file: Path) -> None:
    from reticent.preferences import PreferencesError

    try:
        preferences.check_against(**names)
    except PreferencesError as error:
        raise unusable(error, file) from None


def unusable(error: Exception, file: Path, *more: str) -> Failure:
    """What is wrong with a preferences file; the check that lists all of it, if it is text."""
    words = ("reticent", "prefs", "check", str(file), *more)
    return Failure(str(error), next_command=shlex.join(words) if _is_text(file) else "")


def _is_text(file: Path) -> bool:
    try:
        return bool(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return False


def _names(catalogue: Path | None) -> dict[str, Any]:
    """What a catalogue calls its attributes and items; nothing without one."""
    if catalogue is None:
        return {}
    from reticent.data.catalogue_files import read_catalogue

    read = read_catalogue(catalogue)
    return {"attributes": read.attributes, "items": read.items, "empty": read.empty}


def _in_use(names: dict[str, Any]) -> list[str] | None:
    """The attributes of a catalogue that some item has."""
    if not names:
        return None
    empty = set(names["empty"])
    return [attribute for attribute in names["attributes"] if attribute not in empty]


def _say_check(file: str, problems: Sequence[Problem], preferences: Preferences | None) -> None:
    say_json(
        "prefs-check/1",
        file=file,
        holds=not problems,
        problems=[_problem_fields(problem) for problem in problems],
        notes=[_problem_fields(note) for note in preferences.notes()] if preferences else [],
        fingerprint=preferences.fingerprint if preferences else None,
    )


def _problem_fields(problem: Problem) -> dict[str, Any]:
    return {"line": problem.line, "key": problem.key, "says": problem.says}


def _counted(preferences: Preferences) -> str:
    wishes = preferences.wishes
    counts = [
        (len(wishes.providers), "provider"),
        (len(wishes.attributes), "attribute"),
        (len(wishes.items), "item"),
        (len(wishes.hide), "secret"),
    ]
    own = sum(len(granted.attributes) + len(granted.items) for granted in wishes.providers.values())
    counts += [(own, "exception")] if own else []
    named = ", ".join(f"{n} {what}{'' if n == 1 else 's'}" for n, what in counts)
    return f"{named}; fingerprint {preferences.fingerprint[:12]}"


def _talk_notes(preferences: Preferences) -> None:
    for note in preferences.notes():
        talk(f"note: {note}")


def _talk_refusal(preferences: Preferences, provider: str) -> None:
    from reticent.preferences import Refused

    try:
        preferences.grant(provider, attributes=())
    except Refused as refusal:
        talk(f"note: {refusal}")
        if refusal.nearest is not None:
            talk(f"  did you mean {refusal.nearest}?")


def _talk_unnamed(preferences: Preferences, item: str) -> None:
    """Say so if no line names an item; names are compared with those of the file alone."""
    wishes = preferences.wishes
    known = {*wishes.items, *(name for one in wishes.providers.values() for name in one.items)}
    if item in known:
        return
    folded = {name.casefold(): name for name in sorted(known)}
    near = get_close_matches(item.casefold(), folded, n=1)
    meant = f"; did you mean {folded[near[0]]}?" if near else ""
    talk(f"note: no line names the item {item}{meant}")


def _total_fields(preferences: Preferences, provider: str) -> dict[str, Any]:
    """What all releases to a provider may tell together, for JSON; null where nothing limits it."""
    from reticent.preferences.problems import amount

    granted = preferences.wishes.providers.get(provider)
    total = None if granted is None or granted.total is None else amount(granted.total)
    return {"total": total, "renews": None if granted is None else granted.renews}


def _in_all(preferences: Preferences, provider: str) -> str:
    """What all releases to a provider may tell together, in words."""
    found = _total_fields(preferences, provider)
    if found["total"] is None:
        return "in all releases together: no limit, for the provider has no total"
    until = "for ever" if found["renews"] == "never" else f"until it renews ({found['renews']})"
    return f"in all releases together: at most epsilon {found['total']}, {until}"


def _told(decision: Decision, preferences: Preferences) -> list[str]:
    pad = " " * len("withheld   ")
    lines = [f"{decision.outcome:<{len(pad)}}{decision.decided}"]
    lines += [f"{pad}beats {rule}" for rule in decision.beats]
    if decision.weighed is not None:
        lines.append(f"{pad}times the weight in {decision.weighed}")
    if decision.outcome == "released":
        lines.append(f"{pad}{_consequence(decision)}")
        lines.append(f"{pad}{_in_all(preferences, decision.provider)}")
    return lines


def _consequence(decision: Decision) -> str:
    from reticent.preferences.problems import amount

    sees = "one release" if decision.attribute is None else f"{decision.attribute} in one release"
    what = "an item of weight 1 is" if decision.item is None else f"{decision.item} is"
    return (
        f"at most epsilon {amount(decision.epsilon)}: who sees {sees} and was undecided (50 in "
        f"100) about whether {what} in your profile can be right at most {_odds(decision)} times "
        "in 100"
    )


def _odds(decision: Decision) -> str:
    from reticent.amounts import nano_up
    from reticent.guarantees.card import right_at_most

    return right_at_most(nano_up(decision.epsilon))


def _one_line(text: str, *, keep: bool = False) -> str:
    """Printable text; ``keep`` leaves spaces alone, which set columns."""
    from reticent.guarantees.card_facts import printable

    return " ".join(map(printable, text.split(" "))) if keep else printable(text)
