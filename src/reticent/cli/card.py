"""``reticent card``: show a guarantee card, check it, export it, print its schema.

Not here  what makes a card hold (guarantees/card.py, queries/card_checks.py), how it is shown
          (guarantees/card_views.py), the forms of other tools (exports/).
"""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict, dataclass
from enum import StrEnum
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reticent.cli.failures import ExitCode, Failure
from reticent.cli.files import read_text, write_atomically
from reticent.cli.output import Json, say, say_json, talk
from reticent.errors import CardError, ReticentError

if TYPE_CHECKING:
    from reticent.guarantees.card import Card
    from reticent.tasks.recoding import Recoding

app = typer.Typer(
    help="Show and check guarantee cards.", rich_markup_mode=None, no_args_is_help=True
)

RECOMPUTED = (
    "recomputed: words, promise, scope, error, method, theorem, id. The id is a fingerprint, not a "
    "signature: names, which lists were declared, budget, preferences and audit are as the maker "
    "states them"
)
SCHEMA_FILE = "guarantee-card-1.schema.json"


class Format(StrEnum):
    """How a card is shown."""

    text = "text"
    markdown = "markdown"
    html = "html"
    json = "json"


class ExportFormat(StrEnum):
    """What a card is turned into."""

    registry = "registry"
    opendp = "opendp"
    html = "html"
    md = "md"
    txt = "txt"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of checking one file."""

    file: str
    is_card: bool
    id: str | None
    title: str | None
    problems: tuple[str, ...]
    next: str | None = None
    unproved: bool = False

    @property
    def holds(self) -> bool:
        """Whether this is a card and everything on it that can be recomputed was found again."""
        return self.is_card and not self.problems


@app.command("show")
def show(
    file: Annotated[
        Path,
        typer.Argument(
            help="A card as JSON, or an answer with its card; - reads standard input.",
            metavar="FILE",
        ),
    ],
    form: Annotated[Format, typer.Option("--format", help="How to show it.")] = Format.text,
    as_json: Json = False,
) -> None:
    """Show a card as text, Markdown, HTML or JSON.

    Exit code 1 and a warning if what it says does not follow from its own event.
    """
    card = _read(file)
    problems = _problems(card, str(file))
    say(_shown(card, Format.json if as_json else form).removesuffix("\n"))
    if problems:
        talk(f"warning: do not rely on this card: {'; '.join(problems)}")
        talk(f"  next: reticent card verify {file}")
        raise typer.Exit(ExitCode.FOUND)


@app.command("verify")
def verify(
    files: Annotated[
        list[Path], typer.Argument(help="Cards as JSON, or answers with theirs.", metavar="FILE")
    ],
    mapping: Annotated[
        Path | None,
        typer.Option(
            "--mapping",
            help="The mapping that released profiles, .json: their cards name it by its "
            "fingerprint only, and cannot be recomputed without.",
            metavar="FILE",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Recompute what cards say and list what differs.

    Exit code 0 if all hold, 1 if something differs or cannot be recomputed, 2 if a file is no card.
    """
    from reticent.cli.mapping_files import read_mapping

    recoding = None if mapping is None else read_mapping(mapping)
    verdicts = [_verdict(file, recoding) for file in files]
    if as_json:
        cards = [{**asdict(verdict), "holds": verdict.holds} for verdict in verdicts]
        say_json("card-verify/1", holds=all(v.holds for v in verdicts), cards=cards)
    else:
        for verdict in verdicts:
            _say_verdict(verdict)
        if any(verdict.is_card and not verdict.unproved for verdict in verdicts):
            talk(RECOMPUTED)
        for following in dict.fromkeys(verdict.next for verdict in verdicts if verdict.next):
            talk(f"  next: {following}")
    if not all(verdict.is_card for verdict in verdicts):
        raise typer.Exit(ExitCode.USAGE)
    if not all(verdict.holds for verdict in verdicts):
        raise typer.Exit(ExitCode.FOUND)


@app.command("export")
def export(
    file: Annotated[
        Path,
        typer.Argument(
            help="A card as JSON, or an answer with its card; - reads standard input.",
            metavar="FILE",
        ),
    ],
    form: Annotated[
        ExportFormat,
        typer.Option(
            "--format",
            help="registry: an entry for the public registry of DP deployments, as YAML. opendp: a "
            "Python program that makes the mechanism an OpenDP measurement. html, md, txt: a page.",
        ),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", help="Write it here instead.", metavar="FILE")
    ] = None,
    as_json: Json = False,
) -> None:
    """Turn a card into the form of another tool, or into a page.

    A registry entry lists what no card knows and must be filled in by hand. Nothing is exported
    from a card that does not hold.
    """
    from reticent.queries.card_checks import is_unprinted

    card = _read(file)
    problems = _problems(card, str(file))
    if not problems and not is_unprinted(card):
        problems = _mechanism_problems(card, None)
    if problems:
        raise Failure(
            f"{file} does not hold, and is not exported",
            why="; ".join(problems),
            next_command=shlex.join(["reticent", "card", "verify", str(file)]),
        )
    text, more = _exported(card, form)
    if out is not None:
        write_atomically(out, text)
    if as_json:
        told = {"content": text} if out is None else {"out": str(out)}
        say_json("card-export/1", format=form.value, id=card.id, **told, **more)
    elif out is None:
        say(text.removesuffix("\n"))
    else:
        talk(f"written: {out}")
    if more and not as_json:
        talk(f"{len(more['to_fill_in'])} fields are not on any card: the first lines list them")


def _exported(card: Card, form: ExportFormat) -> tuple[str, dict[str, Any]]:
    """The text, and for programs what else there is to say."""
    if form is ExportFormat.registry:
        from reticent.exports.registry import registry_entry

        entry = registry_entry(card)
        return entry.to_yaml(), entry.to_dict()
    if form is ExportFormat.opendp:
        from reticent.exports.opendp import measurement_script

        return measurement_script(card.release_event()), {}
    pages = {ExportFormat.html: Format.html, ExportFormat.md: Format.markdown}
    return _shown(card, pages.get(form, Format.text)), {}


@app.command("schema")
def schema(as_json: Json = False) -> None:
    """Print the JSON Schema of a card.

    It is JSON with or without --json.
    """
    say((resources.files("reticent.guarantees") / SCHEMA_FILE).read_text(encoding="utf-8").strip())


def _read(file: Path) -> Card:
    from reticent.guarantees.card import SCHEMA, Card

    try:
        return Card.from_json(_within(read_text(file)))
    except CardError as error:
        if str(error).startswith(f"not a {SCHEMA}: the file: Invalid JSON"):
            why = "this is not JSON; give the .json file of the card"
            raise Failure(f"{file} is no guarantee card", why=why) from None
        raise _no_card(str(file), str(error)) from None


def _within(text: str) -> str:
    """The card of an answer that was written whole; other text as it is."""
    from reticent.queries.publish import SCHEMA

    if f'"{SCHEMA}"' not in text[:_HEAD]:
        return text
    try:
        held = json.loads(text)
    except (ValueError, RecursionError):
        return text
    whole = isinstance(held, dict) and held.get("schema") == SCHEMA and "card" in held
    return json.dumps(held["card"]) if whole else text


_HEAD = 200  # letters, within which a file of ours says what it is
_BROKEN = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def _problems(card: Card, file: str) -> list[str]:
    """What does not follow from the card's own event; a card without an event is none."""
    try:
        return card.problems()
    except ReticentError as error:
        raise _no_card(file, str(error)) from None
    except (*_BROKEN, RecursionError) as error:
        raise _no_card(file, f"its figures cannot be computed ({type(error).__name__})") from None


def _no_card(file: str, why: str) -> Failure:
    return Failure(f"{file} is no guarantee card", why=why, next_command="reticent card schema")


def _verdict(file: Path, recoding: Recoding | None) -> Verdict:
    from reticent.guarantees.card_facts import printable
    from reticent.queries.card_checks import UNPRINTED, is_in_own_words
    from reticent.queries.scope_checks import OWN_WORDS

    name = str(file)
    try:
        card = _read(file)
        problems = _problems(card, name)
    except Failure as failure:
        why = failure.why or failure.what
        following = failure.next_command or "reticent card verify --help"
        return Verdict(name, False, None, None, (printable(why),), following)
    own = [OWN_WORDS] if is_in_own_words(card) else []
    told = list(dict.fromkeys([*problems, *_mechanism_problems(card, recoding), *own]))
    wrong = [one for one in told if one not in (UNPRINTED, OWN_WORDS)]
    words = ["reticent", "card", "show", name]
    if UNPRINTED in told and not wrong:
        words = ["reticent", "card", "verify", name, "--mapping", "MAPPING.json"]
    look = shlex.join(words) if told else None
    found = tuple(map(printable, told))
    return Verdict(name, True, card.id, card.title, found, look, bool(told) and not wrong)


def _mechanism_problems(card: Card, recoding: Recoding | None) -> list[str]:
    from reticent.queries.card_checks import recomputed

    try:
        return recomputed(card, None if recoding is None else recoding.mechanism)
    except ReticentError as error:
        return [f"mechanism: {error}"]
    except (ArithmeticError, TypeError, ValueError, RecursionError) as error:
        return [f"mechanism: its figures cannot be computed ({type(error).__name__})"]


def _say_verdict(verdict: Verdict) -> None:
    from reticent.guarantees.card_facts import printable

    word = "holds" if verdict.holds else "DIFFERS" if verdict.is_card else "NO CARD"
    word = "UNKNOWN" if verdict.unproved else word
    title = f"  {printable(verdict.title)}" if verdict.title is not None else ""
    say(f"{word:<8}{printable(verdict.file)}{title}")
    for problem in verdict.problems:
        say(f"        {problem}")


def _shown(card: Card, form: Format) -> str:
    if form is Format.json:
        return card.to_json()
    from reticent.guarantees import card_views

    views = {
        Format.text: card_views.card_text,
        Format.markdown: card_views.card_markdown,
        Format.html: card_views.card_html,
    }
    return views[form](card)
