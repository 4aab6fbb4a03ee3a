"""``reticent release profile``: people's profiles through a mapping, one draw for each person.

Not here  learning a mapping (mapping.py), drawing (mechanisms/mapping.py), tables of people in and
          out (profile_tables.py), who was released as what before (once.py), what preferences
          allow (profile_wishes.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from reticent.cli.charging import LEDGER, KeyOption, LedgerOption, Purse
from reticent.cli.charging_words import NOTED
from reticent.cli.failures import Failure
from reticent.cli.files import write_atomically
from reticent.cli.mapping import IdColumn, PeopleFile
from reticent.cli.mapping_files import profile_lines, read_mapping
from reticent.cli.mapping_numbers import up
from reticent.cli.once import check_store
from reticent.cli.output import Json, say, say_json, talk
from reticent.cli.plan import DryRun, Outlook, Yes, agreement, published
from reticent.cli.profile_plan import BitsPlan
from reticent.cli.profile_tables import Profile, ProfileTable
from reticent.cli.profile_wishes import Asked, kept_limits, read_wishes
from reticent.cli.release import (
    CARDS,
    CardFile,
    card_fields,
    check_files,
    say_card,
    write_card,
)
from reticent.errors import MissingExtra

if TYPE_CHECKING:
    from reticent.guarantees.card import Scope
    from reticent.mechanisms.base import Release
    from reticent.mechanisms.mapping import ProfileMapping
    from reticent.noise import Source
    from reticent.tasks.recoding import Recoding

TABLES = (".csv", ".parquet")

MappingFile: TypeAlias = Annotated[
    Path,
    typer.Argument(help="A mapping that `reticent fit mapping` wrote, .json.", metavar="MAPPING"),
]

HidingFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--preferences",
        help="A preferences file whose [hide] limits must be kept.  [default: "
        "preferences.toml, if there is one]",
        metavar="FILE",
    ),
]


def profile(
    context: typer.Context,
    mapping: MappingFile,
    path: PeopleFile,
    person: Annotated[
        str | None,
        typer.Option("--person", help="Only this person of the table.", metavar="ID"),
    ] = None,
    id_column: IdColumn = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Write everybody's released profile here, .csv or .parquet.",
            metavar="FILE",
        ),
    ] = None,
    once: Annotated[
        Path | None,
        typer.Option(
            "--once",
            help="Remember here who was released as what, .json, and repeat the answer when asked "
            "again: a second draw would tell more.",
            metavar="STORE",
        ),
    ] = None,
    preferences: HidingFile = None,
    provider: Annotated[
        str | None,
        typer.Option(
            "--provider",
            help="Who gets the profile; needed with a preferences file, which must name it.",
            metavar="PROVIDER",
        ),
    ] = None,
    own_device: Annotated[
        bool,
        typer.Option(
            "--own-device",
            help="You are this person and the table never left your device: the card then says "
            "that nobody else sees the profile.",
        ),
    ] = False,
    card: CardFile = None,
    ledger: LedgerOption = LEDGER,
    key: KeyOption = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """A profile that tells little about a secret.

    Of one person or, with --out, of everybody, through a mapping from reticent fit mapping.
    Only the columns of the mapping leave, and the column that names people; the secret itself plays
    no part. A profile that the mapping does not know is released as the mapping's rule says. Bits
    on average do not add as epsilon does: the ledger notes the release of each person, at cost 0.
    """
    from reticent.noise import Source
    from reticent.tasks.leakage import secret_bits

    check_files(card, suffixes=CARDS)
    check_files(out, suffixes=TABLES)
    check_store(once)
    files = [file.resolve() for file in (out, card, once) if file is not None]
    if len(set(files)) < len(files):
        raise Failure("--out, --card and --once name the same file", why="one would overwrite it")
    for wanted, option in ((person, "--person"), (own_device, "--own-device")):
        if out is not None and wanted:
            raise Failure(f"{option} is for one person and --out for everybody: give one of them")
    if out is not None and out.suffix == ".parquet" and find_spec("pyarrow") is None:
        raise MissingExtra("writing Parquet", "arrow")
    recoding = read_mapping(mapping)
    wishes = read_wishes(preferences, provider)
    asked = Asked(recoding, mapping, path, readable=not dry_run)
    cautions = [*asked.cautions(wishes), *_repeats(recoding, once)]
    whose = f"profile of {person or 'one person'}" if out is None else "everybody's profile"
    whom = "" if provider is None else f" for {provider}"
    secret = recoding.mechanism.secret
    agreed = BitsPlan(
        "release-profile",
        f"{whose}{whom}, hiding {secret}",
        {},
        recoding.mechanism.utility().sentence,
        "; ".join(cautions),
        secret_bits(recoding),
        recoding.mechanism.statement.guesses,
        recoding.mechanism.statement.sample,
    )
    purse = Purse(ledger, key, quiet=as_json)
    if dry_run:
        facts = {"ledger": purse.where, "allowed": True}
        noted = Outlook(f"ledger: {purse.where}: {NOTED}", facts)
        agreed.say(as_json, noted)
        return
    agree = agreement(context, yes)
    table = ProfileTable.read(path, id_column, recoding)
    table = table.one(person) if out is None else table.each_once()
    agree(agreed)
    source = Source.system()
    paid = purse.pay(
        context,
        recoding.mechanism.event(source),
        table.payers(recoding, provider),
        lambda: table.released(recoding, source, once),
        out=out,
    )
    values, repeated = paid.value
    if out is not None:
        write_atomically(out, table.file(values, out))
    made = _whole(recoding.mechanism, values, source).card(
        agreed.title,
        scope=scope_of(recoding, own_device),
        budget=paid.budget,
        preferences=kept_limits(wishes),
        command=published(context),
    )
    write_card(made, card)
    withheld = sum(value is None for value in values)
    if as_json:
        told = {"out": str(out)} if out is not None else {"values": table.named(values[0])}
        facts = {"people": len(values), "withheld": withheld, "repeated": repeated}
        cost = {**agreed.fields(), **paid.fields(), **card_fields(made, card)}
        say_json("release-profile/1", provider=provider, **facts, **told, **cost)
        return
    if out is None:
        for line in profile_lines(recoding.columns, values[0]):
            say(line)
    else:
        say(f"{len(values)} people, {len(recoding.columns)} columns: {out}")
        if wishes is not None:
            talk("the same preferences were applied to all of them")
    if withheld and out is not None:
        talk(f"withheld: {withheld}; that they are tells that the mapping does not know them")
    if repeated:
        talk(f"repeated: {repeated} of {len(values)} were released before and got that answer")
    talk(f"told {agreed.cost()}")
    say_card(made, card)


def _repeats(recoding: Recoding, once: Path | None) -> list[str]:
    """What a second draw for the same person would tell, unless the first is repeated."""
    if once is not None:
        return []
    both = recoding.mechanism.statement.two_releases
    more = "tells more" if both is None else f"and this one tell {up(both)} bits together"
    return [f"a second draw for the same person {more}; --once STORE.json repeats the first"]


def _whole(mechanism: ProfileMapping, values: Sequence[Profile], source: Source) -> Release[Any]:
    """Everybody's profile as one release."""
    from reticent.mechanisms.base import Release

    told: Any = [list(value) if value is not None else None for value in values]
    return Release(told, mechanism.event(source), mechanism)


def scope_of(recoding: Recoding, own_device: bool) -> Scope:
    """For whom a card of released profiles speaks."""
    from reticent.guarantees import promises

    hiding = recoding.mechanism
    return promises.profile(
        hiding.secret, hiding.prior, unknown=recoding.unknown, own_device=own_device
    )
