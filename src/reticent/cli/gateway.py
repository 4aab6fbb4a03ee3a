"""``reticent gateway``: set one up, bring people in, say what providers ask for, let people go.

Not here  tokens and sign-in links (gateway_keys.py), running it (serve.py), what it does
          (gateway/).
"""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reticent.cli import gateway_keys
from reticent.cli.failures import Failure
from reticent.cli.files import read_text
from reticent.cli.gateway_open import USUAL, Database, check_ready, gateway_at, named
from reticent.cli.output import Json, progress, say, say_json, talk
from reticent.cli.plan import ask, somebody_to_ask, spelled
from reticent.layout import table

if TYPE_CHECKING:
    from reticent.gateway import Gateway
    from reticent.gateway.imports import Incoming
    from reticent.gateway.offers import Offer
    from reticent.ledger import Connection

app = typer.Typer(
    help="Set up a gateway between people and providers.",
    rich_markup_mode=None,
    no_args_is_help=True,
)
app.command("token")(gateway_keys.token)
app.command("tokens")(gateway_keys.tokens)
app.command("revoke")(gateway_keys.revoke)
app.command("door")(gateway_keys.door)


@app.command("init")
def init(
    catalogue: Annotated[
        Path,
        typer.Option(
            "--catalogue",
            help="Items and attributes, which are public: .csv, .csv.gz or .parquet.",
            metavar="FILE",
        ),
    ],
    mapping: Annotated[
        Path | None,
        typer.Option(
            "--mapping",
            help="What profiles are released through, from reticent release mapping.",
            metavar="FILE",
        ),
    ] = None,
    database: Database = USUAL,
    as_json: Json = False,
) -> None:
    """Make a gateway, or give one another catalogue or mapping.

    What does not go with what providers ask for is refused. The same files change nothing.
    """
    from reticent.data.catalogue_files import read_catalogue
    from reticent.gateway.imports_public import read_mapping, set_public

    items = read_catalogue(catalogue)
    recoding = None if mapping is None else read_mapping(mapping)
    with gateway_at(database, create=True) as gateway:
        changed = set_public(gateway, items, recoding)
        world = gateway.world()
    sizes = {"items": len(world.catalogue), "attributes": len(world.catalogue.attributes)}
    where = gateway.ledger.address
    if as_json:
        facts = {"changed": changed, **sizes, "mapping": world.recoding is not None}
        say_json("gateway-init/1", database=where, **facts)
        return
    say(f"{where}: {sizes['items']:,} items, {sizes['attributes']:,} attributes")
    talk("nothing was new" if not changed else "next: reticent gateway import --help")


@app.command("import")
def import_people(
    profiles: Annotated[
        Path | None,
        typer.Option(
            "--profiles",
            help="Who has which item, columns user and item: .csv, .csv.gz or .parquet.",
            metavar="FILE",
        ),
    ] = None,
    columns: Annotated[
        Path | None,
        typer.Option(
            "--columns",
            help="One line per person, column user and those of the mapping; others are not read.",
            metavar="FILE",
        ),
    ] = None,
    preferences: Annotated[
        Path | None,
        typer.Option(
            "--preferences",
            help="A folder of files PERSON.toml, or one file for everybody who is new.",
            metavar="FILE|DIR",
        ),
    ] = None,
    replace: Annotated[
        bool,
        typer.Option(
            "--replace", help="Also replace preferences that people have here; they may be newer."
        ),
    ] = False,
    database: Database = USUAL,
    as_json: Json = False,
) -> None:
    """Add people, or bring their profiles up to date.

    Everything is checked first: after a mistake in any file nothing is changed. People that no
    file names stay as they are, and so do their preferences unless --replace is given.
    """
    from reticent.gateway.imports import batches, take

    if profiles is None and columns is None and preferences is None:
        raise Failure("nothing to import", why="give --profiles, --columns or --preferences")
    with gateway_at(database) as gateway:
        check_ready(gateway, database)
        incoming = _incoming(gateway, profiles, columns, preferences)
        with progress(batches(incoming)) as advance:
            done = take(gateway, incoming, replace=replace, progress=advance)
    if as_json:
        say_json("gateway-import/1", database=gateway.ledger.address, **asdict(done))
        return
    say(f"{done.added:,} added, {done.changed:,} changed, {done.same:,} as before")
    if done.kept:
        talk(f"note: {done.kept:,} have preferences here, which stay; --replace overwrites them")


def _incoming(
    gateway: Gateway, profiles: Path | None, columns: Path | None, preferences: Path | None
) -> Incoming:
    """All files, read and checked."""
    from reticent.gateway import directory, imports_files
    from reticent.gateway.imports import Incoming

    def note(text: str) -> None:
        talk(f"note: {text}")

    world = gateway.world()
    items = {} if profiles is None else imports_files.read_items(profiles, world.catalogue, note)
    told = {} if columns is None else imports_files.read_columns(columns, world.recoding)
    if preferences is None:
        return Incoming(items, told)
    if preferences.is_dir():
        here = {*gateway.read(directory.people), *items, *told}
        own = imports_files.read_folder(preferences, world.catalogue, here, note)
        return Incoming(items, told, own)
    if not items and not told:
        raise Failure(
            "one preferences file is for people who are new, and nobody is",
            why="give --profiles or --columns with it, or a folder of files PERSON.toml",
        )
    return Incoming(items, told, usual=imports_files.read_usual(preferences))


@app.command("provider")
def provider(
    name: Annotated[str, typer.Argument(help="As preferences name it.", metavar="NAME")],
    asks: Annotated[
        Path | None,
        typer.Option(
            "--asks",
            help="What it asks for, .toml or .json; without it, what it asks for now is shown.",
            metavar="FILE",
        ),
    ] = None,
    database: Database = USUAL,
    as_json: Json = False,
) -> None:
    """Say in public what a provider asks for, or see it.

    Shown is what it gets for that. Terms are for everybody alike. People who allow less count for
    less; a provider cannot tell.
    """
    from reticent.gateway.imports_public import set_asks

    told = None if asks is None else _asks(asks)
    with gateway_at(database) as gateway:
        check_ready(gateway, database)
        if told is None:
            offers = dict(gateway.world().offers.get(name, {}))
        else:
            offers = set_asks(gateway, name, told)
    if not offers:
        why = "--asks FILE says in public what a new one asks for"
        raise Failure(f"there is no provider called {name!r}", why=why)
    if as_json:
        rows = [_offer(one) for one in offers.values()]
        say_json("gateway-provider/1", provider=name, offers=rows)
        return
    for one in offers.values():
        say(f"{one.kind}  {one.card.words.error}")
        say(f"  {one.card.words.odds}")
    if told is not None:
        talk(f"next: reticent gateway token {shlex.quote(name)}{named(database)}")


def _asks(path: Path) -> dict[str, Any]:
    from reticent.preferences.problems import place
    from reticent.preferences.scanning import TooMuch, bounded_toml

    text = read_text(path)
    try:
        if path.suffix == ".json":
            found = json.loads(text, parse_float=str)
        else:
            found = bounded_toml(text, parse_float=str)
    except TooMuch as error:
        raise Failure(f"{place(str(path), error.line)}: {error}") from None
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        where = f", line {line}" if line else ""
        kind = "JSON" if path.suffix == ".json" else "TOML"
        raise Failure(f"{path}{where} is not {kind}") from None
    if not isinstance(found, dict):
        raise Failure(f"{path} is no table of what is asked for")
    return found


def _offer(offer: Offer) -> dict[str, Any]:
    words = offer.card.words
    return {"kind": offer.kind, "terms": offer.id, "error": words.error, "odds": words.odds}


@app.command("people")
def people(database: Database = USUAL, as_json: Json = False) -> None:
    """Who is here, with how many items and which preferences."""
    from reticent.gateway.directory import WITHHELD
    from reticent.guarantees.card_facts import printable

    def find(connection: Connection) -> list[Any]:
        return connection.execute(
            "SELECT p.id, (SELECT count(*) FROM gateway_item i WHERE i.person = p.id),"
            " p.preferences FROM gateway_person p ORDER BY p.id"
        ).fetchall()

    with gateway_at(database) as gateway:
        found = [(row[0], row[1], row[2] != WITHHELD) for row in gateway.read(find)]
    if as_json:
        rows = [dict(zip(("person", "items", "preferences"), row, strict=True)) for row in found]
        say_json("gateway-people/1", database=gateway.ledger.address, people=rows)
        return
    if not found:
        talk("nobody is here yet; next: reticent gateway import --help")
        return
    lines = [
        (printable(name), f"{items:,}", "some" if own else "none") for name, items, own in found
    ]
    for line in table(("person", "items ", "preferences"), lines):
        say(line)


@app.command("forget")
def forget(
    context: typer.Context,
    person: Annotated[str, typer.Argument(help="Whom to delete.", metavar="PERSON")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    database: Database = USUAL,
    as_json: Json = False,
) -> None:
    """Delete a person, in the ledger too.

    Profile, preferences, links, and names and answers in the ledger. Amounts that were spent stay,
    and are of nobody. Backups are not changed.
    """
    with gateway_at(database) as gateway:
        if not yes:
            _ask(context)
        found = gateway.forget(person)
    if not found:
        check = f"reticent gateway people{named(database)}"
        raise Failure("nobody of that name is here", next_command=check)
    if as_json:
        say_json("gateway-forget/1", forgotten=True)
        return
    say("deleted")
    talk("backups made before still hold this person: delete those too, or let them expire")


def _ask(context: typer.Context) -> None:
    if not somebody_to_ask():
        why = "it cannot be undone, and there is nobody here to ask"
        raise Failure("nobody was deleted", why=why, next_command=spelled(context, "--yes"))
    question = "This deletes all that is known of this person, and cannot be undone."
    ask(question, otherwise="nobody was deleted")
