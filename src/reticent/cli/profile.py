"""``reticent release profile``: people's profiles through a mapping, one draw for each person.

Not here  learning a mapping (mapping.py), drawing (mechanisms/mapping.py), tables of people in and
          out (profile_tables.py), who was released as what before (once.py).
"""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from reticent.amounts import show_up
from reticent.cli.failures import ExitCode, Failure
from reticent.cli.files import write_atomically
from reticent.cli.mapping import PeopleFile
from reticent.cli.mapping_views import profile_lines, read_mapping, secret_bits
from reticent.cli.once import check_store
from reticent.cli.output import Json, say, say_json, talk
from reticent.cli.plan import DryRun, Plan, Yes, agreement, spelled
from reticent.cli.profile_tables import Profile, ProfileTable
from reticent.cli.release import (
    CARDS,
    TRUSTED,
    CardFile,
    card_fields,
    check_files,
    say_card,
    write_card,
)
from reticent.errors import MissingExtra

if TYPE_CHECKING:
    from reticent.guarantees import card as cards
    from reticent.mechanisms.mapping import ProfileMapping
    from reticent.noise import Source
    from reticent.preferences import Preferences
    from reticent.tasks.recoding import Recoding

TABLES = (".csv", ".parquet")
USUAL_PREFERENCES = Path("preferences.toml")
NEGLIGIBLE = Fraction(1, 10**9)  # bits: what solvers leave of nothing at all
CHEAP = 200_000  # pairs of draws that are looked at to say what two releases tell

NOT_AGAINST = (
    "who knows more about the person than how profiles and secrets go together",
    "conclusions about anything else: the rest of a profile is released nearly as it is",
    "a second draw for the same person, or one through another mapping: together they tell more",
    "people unlike those the mapping was learnt from: about them it may tell more",
)

MappingFile: TypeAlias = Annotated[
    Path,
    typer.Argument(help="A mapping that `reticent fit mapping` wrote, .json.", metavar="MAPPING"),
]
IdColumn: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--id-column",
        help="The column that names people.  [default: user, if there is one]",
        metavar="COLUMN",
    ),
]


@dataclass(frozen=True, slots=True)
class BitsPlan(Plan):
    """What a release through a mapping would tell: an average in bits, and right guesses."""

    bits: Mapping[str, float] = field(default_factory=dict)
    guesses: tuple[float, float] = (1.0, 1.0)

    def lines(self) -> list[str]:
        """As sentences."""
        caution = [f"caution: {self.caution}"] if self.caution else []
        told = f"tells {self.cost()}"
        return [self.title, "", self.consequence(), told, f"changes {self.error}", *caution]

    def fields(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "bits": dict(self.bits),
            "right_guesses": {"before": self.guesses[0], "after": self.guesses[1]},
            "error": self.error,
            **({"caution": self.caution} if self.caution else {}),
        }

    def cost(self) -> str:
        """In one line."""
        told = (f"{show_up(bits)} bits about {name}" for name, bits in self.bits.items())
        return f"{', '.join(told)}, on average"

    def consequence(self) -> str:
        """What who looks can gain."""
        before, after = (show_up(100 * chance, 3) for chance in self.guesses)
        return (
            f"The best guess of {', '.join(self.bits)} is right for {after} of 100 people who are "
            f"released, and for {before} of whom nothing is known."
        )


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
    preferences: Annotated[
        Path | None,
        typer.Option(
            "--preferences",
            help="A preferences file whose [hide] limits must be kept.  [default: "
            "preferences.toml, if there is one]",
            metavar="FILE",
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
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """A person's profile, or everybody's, changed so that it tells little about a secret.

    Only the columns of the mapping leave, and the column that names people; the secret itself is
    not read. A profile that the mapping does not know is released as the mapping's rule says.
    """
    from reticent.noise import Source

    check_files(card, suffixes=CARDS)
    check_files(out, suffixes=TABLES)
    check_store(once)
    for wanted, option in ((person, "--person"), (own_device, "--own-device")):
        if out is not None and wanted:
            raise Failure(f"{option} is for one person and --out for everybody: give one of them")
    if out is not None and out.suffix == ".parquet" and find_spec("pyarrow") is None:
        raise MissingExtra("writing Parquet", "arrow")
    recoding = read_mapping(mapping)
    wishes = _wishes(preferences)
    cautions = [*_checked(recoding, wishes, mapping, path), *_repeats(recoding, once)]
    whose = f"profile of {person or 'one person'}" if out is None else "everybody's profile"
    secret = recoding.mechanism.secret
    agreed = BitsPlan(
        "release-profile",
        f"{whose}, hiding {secret}",
        {},
        recoding.mechanism.utility().sentence,
        "; ".join(cautions),
        secret_bits(recoding),
        recoding.mechanism.guarantee().guesses or (1.0, 1.0),
    )
    if dry_run:
        agreed.say(as_json)
        return
    agree = agreement(context, yes)
    table = ProfileTable.read(path, id_column, recoding)
    if out is None:
        table = table.one(person)
    agree(agreed)
    source = Source.system()
    values, repeated = table.released(recoding, source, once)
    if out is not None:
        write_atomically(out, table.file(values, out))
    made = _card(recoding.mechanism, values, source, agreed.title, own_device, wishes, context)
    write_card(made, card)
    withheld = sum(value is None for value in values)
    if as_json:
        told = {"out": str(out)} if out is not None else {"values": table.named(values[0])}
        facts = {"people": len(values), "withheld": withheld, "repeated": repeated}
        cost = {**agreed.fields(), **card_fields(made, card)}
        say_json("release-profile/1", **facts, **told, **cost)
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
    talk(f"told {agreed.cost()}{', of each person' if out is not None else ''}")
    say_card(made, card)


def _wishes(path: Path | None) -> Preferences | None:
    from reticent.preferences import Preferences, PreferencesError

    if path is None and not USUAL_PREFERENCES.is_file():
        return None
    file = USUAL_PREFERENCES if path is None else path
    try:
        return Preferences.read(file)
    except PreferencesError as error:
        words = ("reticent", "prefs", "check", str(file))
        following = shlex.join(words) if file.is_file() else ""
        raise Failure(str(error), next_command=following) from None


def _checked(
    recoding: Recoding, wishes: Preferences | None, mapping: Path, path: Path
) -> list[str]:
    """What the preferences leave open; a limit that the mapping breaks is refused."""
    if wishes is None:
        return []
    from reticent.preferences.problems import amount

    released = {name.casefold() for name in recoding.columns}
    hidden = {name.casefold(): bits for name, bits in secret_bits(recoding).items()}
    notes = []
    for secret, limit in wishes.hide.items():
        key = secret.casefold()
        if key in released:
            others = [name for name in recoding.columns if name.casefold() != key]
            both = [*secret_bits(recoding), secret]
            why = f"the mapping {mapping} releases that very column; learn one without it"
            _refuse(f"{wishes.file} hides {secret}", why, _fit(path, both, others, recoding, limit))
        if key not in hidden:
            notes.append(f"hide.{secret} is not kept: the mapping was not made for it")
        elif Fraction(hidden[key]) > limit + NEGLIGIBLE:
            what = f"{wishes.file} allows {amount(limit)} bits about {secret} to be told"
            why = f"the mapping {mapping} tells {show_up(hidden[key])} on average"
            _refuse(
                what,
                why,
                _fit(path, list(secret_bits(recoding)), recoding.columns, recoding, limit),
            )
    listed = {secret.casefold() for secret in wishes.hide}
    for name in secret_bits(recoding):
        if name.casefold() not in listed:
            notes.append(f"{wishes.file} sets no limit for {name}: the mapping's own is kept")
    return notes


def _fit(
    path: Path, secrets: Sequence[str], columns: Sequence[str], recoding: Recoding, limit: Fraction
) -> str:
    """The command that learns a mapping which keeps a limit."""
    from reticent.preferences.problems import amount

    words = ["reticent", "fit", "mapping", str(path), "--secret", ",".join(secrets)]
    words += ["--public", ",".join(columns)]
    widths = {name: width for name, width in recoding.widths.items() if name in columns}
    if widths:
        words += ["--bins", ",".join(f"{name}={width:g}" for name, width in widths.items())]
    return shlex.join([*words, "--leak", amount(limit), "--out", "stricter.json"])


def _refuse(what: str, why: str, next_command: str) -> None:
    talk(f"refused: {what}")
    talk(f"  {why}")
    talk(f"  next: {next_command}")
    raise typer.Exit(ExitCode.REFUSED)


def _repeats(recoding: Recoding, once: Path | None) -> list[str]:
    """What a second draw for the same person would tell, unless the first is repeated."""
    from reticent.mechanisms.mapping import joint_leak

    if once is not None:
        return []
    support = recoding.mechanism.channel.support
    more = "tells more"
    if int((support * (support + 1) // 2).sum()) <= CHEAP:
        both = show_up(max(joint_leak(recoding.mechanism, 2), recoding.mechanism.bits))
        more = f"and this one tell {both} bits together"
    return [f"a second draw for the same person {more}; --once STORE.json repeats the first"]


def _card(
    mechanism: ProfileMapping,
    values: Sequence[Profile],
    source: Source,
    title: str,
    own_device: bool,
    wishes: Preferences | None,
    context: typer.Context,
) -> cards.Card:
    from reticent.guarantees import card as cards
    from reticent.mechanisms.base import Release

    model: Literal["local", "central"] = "local" if own_device else "central"
    scope = cards.Scope(
        protected=f"each person who is released, for {mechanism.secret}",
        observer="Anyone who sees one release of a person, and knows the mapping and "
        f"{mechanism.prior}",
        not_against=NOT_AGAINST if own_device else (TRUSTED, *NOT_AGAINST),
        model=model,
    )
    told = [list(value) if value is not None else None for value in values]
    whole: Release[Any] = Release(told, mechanism.event(source), mechanism)
    return whole.card(title, scope=scope, preferences=_kept(wishes), command=spelled(context))


def _kept(wishes: Preferences | None) -> cards.Preferences | None:
    """The limits that were kept, by fingerprint: of [hide] alone, which the card states anyway."""
    from reticent.guarantees import card as cards

    if wishes is None or not wishes.hide:
        return None
    limits = {name: str(limit) for name, limit in wishes.hide.items()}
    digest = hashlib.sha256(json.dumps(limits, sort_keys=True).encode()).hexdigest()
    return cards.Preferences(
        rules_sha256=digest, withheld=0, public=True, others_change_your_risk=False
    )
