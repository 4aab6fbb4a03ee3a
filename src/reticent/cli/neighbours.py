"""``reticent neighbours``: for everybody the most similar others, by one of three methods.

Not here  the methods and what they lose (neighbour_methods.py), their cards (neighbour_cards.py),
          files of lists (ranked_lists.py), what every release shares (release.py, plan.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from reticent.amounts import NANO
from reticent.cli.charging import LEDGER, KeyOption, LedgerOption, Paid, Purse, of_people
from reticent.cli.charging import TotalOption as InAllOption
from reticent.cli.declared import Declared, DeclaredItems, DeclaredPeople
from reticent.cli.failures import Failure
from reticent.cli.neighbour_cards import card_of
from reticent.cli.neighbour_methods import Direct, Found, Gossiped, Method, Published
from reticent.cli.output import Json, progress, say_json, talk
from reticent.cli.plan import DryRun, Plan, Yes, agreement, published
from reticent.cli.ranked_lists import Lists, check_out, say_lists
from reticent.cli.release import (
    CardFile,
    ColumnNames,
    Measure,
    MeasureOption,
    Norms,
    NormsOption,
    TableFile,
    Weighting,
    WeightingOption,
    card_fields,
    check_epsilon,
    comparison,
    say_card,
    warn_unused_preferences,
    weight_column,
    write_card,
)

if TYPE_CHECKING:
    from reticent.data.profiles import Profiles
    from reticent.noise import Source

MUCH = 5 * NANO
"""Nano-epsilon above which a promise to all others together is little."""


class MethodName(StrEnum):
    """How neighbours are found."""

    blip = "blip"
    direct = "direct"
    gossip = "gossip"


KOption: TypeAlias = Annotated[
    int, typer.Option("--k", help="How many neighbours of each person.", min=1)
]
EpsilonOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--epsilon",
        help="What an item of weight 1 may lose: in all (blip), or in one comparison (direct, "
        "gossip).",
        metavar="E",
    ),
]
MethodOption: TypeAlias = Annotated[
    MethodName,
    typer.Option(
        "--method",
        help="blip: compare noisy filters, published once; direct: compare everybody with "
        "everybody; gossip: meet a few.",
    ),
]
TotalOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--total-epsilon",
        help="For gossip: what an item of weight 1 may lose in all; needs --max-contacts.",
        metavar="T",
    ),
]
ContactsOption: TypeAlias = Annotated[
    int | None,
    typer.Option("--max-contacts", help="For gossip: how many others one may meet.", min=1),
]
SizeOption: TypeAlias = Annotated[
    int,
    typer.Option(
        "--profile-size",
        help="For blip: how many items a profile is expected to have. Do not count them.",
        min=1,
    ),
]
PopulationOption: TypeAlias = Annotated[
    int | None,
    typer.Option("--population", help="For --dry-run: how many people the table has.", min=2),
]
OutFile: TypeAlias = Annotated[
    Path | None,
    typer.Option("--out", help="Write the lists here: .csv, .json or .parquet.", metavar="FILE"),
]


@dataclass(frozen=True, slots=True)
class Wish:
    """The options that decide how neighbours are found."""

    k: int
    epsilon: str | None
    measure: Measure
    norms: Norms | None
    weighting: Weighting
    method: MethodName
    total_epsilon: str | None
    max_contacts: int | None
    profile_size: int

    def made(self, command: str) -> Method:
        """The method asked for."""
        if self.method is not MethodName.gossip:
            for name in ("total_epsilon", "max_contacts"):
                if getattr(self, name) is not None:
                    raise Failure(f"--{name.replace('_', '-')} is for --method gossip only")
        if self.total_epsilon is not None and self.max_contacts is None:
            raise Failure("--total-epsilon needs --max-contacts", why="the total is split by it")
        epsilon = self.epsilon or self.total_epsilon
        if epsilon is None:
            raise Failure(f"{command} needs --epsilon", why="what an item of weight 1 may lose")
        if self.method is MethodName.blip:
            return self._published(epsilon)
        similarity = comparison(epsilon, self.measure, self.norms, self.weighting)
        if self.method is MethodName.direct:
            return Direct(similarity, self.k)
        from reticent.tasks.clustering import Gossip

        total, most = self.total_epsilon, self.max_contacts
        return Gossiped(
            Gossip(similarity=similarity, k=self.k, total_epsilon=total, max_contacts=most)
        )

    def _published(self, epsilon: str) -> Published:
        from reticent.tasks.blip import Blip

        usual = (Measure.cosine, None, Weighting.min)
        given = (self.measure, self.norms, self.weighting)
        names = ("--measure", "--norms", "--weighting")
        other = [name for name, a, b in zip(names, given, usual, strict=True) if a != b]
        if other:
            raise Failure(
                f"{' and '.join(other)} cannot be used with --method blip",
                why="it estimates the cosine from filters; --method direct and gossip take them",
            )
        check_epsilon(epsilon, Fraction(1, 1 << 20))
        return Published(Blip.fitted(epsilon=epsilon, profile_size=self.profile_size), self.k)


def search(
    context: typer.Context,
    purse: Purse,
    method: Method,
    profiles: Profiles,
    total: str | None,
    out: Path | None,
) -> tuple[Found, Paid[Any]]:
    """Charge everybody, then find neighbours with noise of the operating system."""
    from reticent.noise import Source

    source = Source.system()
    event = method.event(len(profiles), private=source.private and profiles.private)

    def make() -> tuple[Any, Any]:
        found = _found(method, profiles, source)
        assert found.event == event  # noqa: S101, what was charged is what was drawn
        return found.peers, found.scores

    paid = purse.pay(context, event, of_people(profiles.people, total), make, out=out)
    return Found(*paid.value, event), paid


def _found(method: Method, profiles: Profiles, source: Source) -> Found:
    """Find neighbours, and show how far it has come."""
    parts, shown = 50, 0
    with progress(parts) as advance:

        def step(done: int, of: int) -> None:
            nonlocal shown
            while shown < parts * done // max(of, 1):
                shown += 1
                advance("comparing")

        return method.find(profiles, source, step)


def community(path: Path, columns: str | None, declared: Declared) -> Profiles:
    """The profiles in a file, if there are people to compare."""
    profiles = declared.profiles(path, columns)
    if len(profiles) < 2:
        raise Failure(f"{path} has one person only", why="there is nobody to compare")
    return profiles


def check_population(population: int | None, dry_run: bool) -> None:
    """Refuse a number of people where a table or a list says how many there are."""
    if population is not None and not dry_run:
        raise Failure("--population is for --dry-run only", why="otherwise the table is counted")


def plan_of(kind: str, wish: Wish, method: Method, people: int | None) -> Plan:
    """What the lists would cost; says so if there are fewer others than were asked for."""
    k, losses = wish.k, method.losses(people)
    if people is not None and people - 1 < k:
        k = people - 1
        most = "at most " if wish.method is MethodName.gossip else ""
        talk(f"note: only {k} other{'s' if k > 1 else ''}: lists have {most}{k}")
    what = f"the {k} nearest of each person by noisy {wish.measure.value} ({wish.method.value})"
    return Plan(kind, what, losses, method.utility().sentence, _cautions(wish, method, losses))


def _cautions(wish: Wish, method: Method, losses: Mapping[str, int | None]) -> str:
    """What to think of before this is spent; from public parameters only."""
    noise, size = method.overlap_noise(), wish.profile_size
    told = [_caution(wish, losses)]
    if 2 * noise > size:
        from reticent.amounts import show_up

        told.append(
            f"noise of about {show_up(noise, 3)} common items hides who is near whom among "
            f"profiles of {size} items (--profile-size): ranks are mostly chance"
        )
    return "; ".join(filter(None, told))


def _caution(wish: Wish, losses: Mapping[str, int | None]) -> str:
    """About a total to all others together that promises little."""
    total = losses.get("all others together", losses.get("anyone"))
    if total is None or total <= MUCH:
        return ""
    from reticent.rational import rational

    asked = wish.epsilon or wish.total_epsilon or "1"
    better = asked if rational(asked, "epsilon") * NANO <= MUCH else "1"
    return (
        "this is little worst-case protection against all others together; "
        f"better: --method blip --epsilon {better}"
    )


def neighbours(
    context: typer.Context,
    path: TableFile,
    k: KOption = 10,
    epsilon: EpsilonOption = None,
    method: MethodOption = MethodName.blip,
    total_epsilon: TotalOption = None,
    max_contacts: ContactsOption = None,
    profile_size: SizeOption = 100,
    measure: MeasureOption = Measure.cosine,
    norms: NormsOption = None,
    weighting: WeightingOption = Weighting.min,
    columns: ColumnNames = None,
    out: OutFile = None,
    card: CardFile = None,
    ledger: LedgerOption = LEDGER,
    key: KeyOption = None,
    total: InAllOption = None,
    people: DeclaredPeople = None,
    items: DeclaredItems = None,
    population: PopulationOption = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """For everybody the k most similar others.

    Each list is meant for its owner; whoever runs this sees all of them and is trusted. What is
    lost to one other person and to all together is said before and after.
    """
    wish = Wish(
        k, epsilon, measure, norms, weighting, method, total_epsilon, max_contacts, profile_size
    )
    way = wish.made("neighbours")
    check_population(population, dry_run)
    check_out(out, card)
    declared = Declared.read(people, items)
    warn_unused_preferences(path, weight_column(columns))
    purse = Purse(ledger, key, quiet=as_json)
    if dry_run:
        planned = plan_of("neighbours", wish, way, declared.count or population)
        planned.say(as_json, purse.outlook(None))
        return
    agree = agreement(context, yes)
    profiles = community(path, columns, declared)
    plan = plan_of("neighbours", wish, way, len(profiles))
    agree(plan)
    found, paid = search(context, purse, way, profiles, total, out)
    lists = Lists.of(
        ("person", "rank", "peer", "score"), profiles, found.peers, found.scores, profiles.people
    )
    made = card_of(
        f"Neighbours: {plan.what}",
        way,
        found,
        len(profiles),
        declared.public(),
        budget=paid.budget,
        command=published(context),
    )
    write_card(made, card)
    if as_json:
        if out is not None:
            lists.write(out, "neighbour-lists/1")
        told = {"lists": lists.by_person() if out is None else str(out)}
        facts = {"method": method.value, "k": k, "people": len(profiles), **plan.fields()}
        say_json("neighbours/1", **facts, **told, **paid.fields(), **card_fields(made, card))
        return
    say_lists(lists, out, "neighbour-lists/1")
    talk(paid.cost(plan.cost()))
    say_card(made, card)
