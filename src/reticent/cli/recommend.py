"""``reticent recommend``: items that private neighbours have and a person lacks.

Theory    docs/theory/recommendation.md, Theorem 1 (weight 0)
Not here  who the neighbours are (neighbours.py), how items are ranked (tasks/recommendation.py).

The neighbours are found under differential privacy. The recommendations are not: they are read off
the neighbours' raw profiles. The card is that of the neighbour lists and says so.
"""

from __future__ import annotations

from typing import Annotated

import typer

from reticent.cli.charging import LEDGER, KeyOption, LedgerOption, Purse
from reticent.cli.charging import TotalOption as InAllOption
from reticent.cli.declared import Declared, DeclaredItems, DeclaredPeople
from reticent.cli.failures import Failure
from reticent.cli.neighbour_cards import card_of
from reticent.cli.neighbours import (
    ContactsOption,
    EpsilonOption,
    KOption,
    MethodName,
    MethodOption,
    OutFile,
    PopulationOption,
    SizeOption,
    TotalOption,
    Wish,
    check_population,
    community,
    plan_of,
    search,
)
from reticent.cli.output import Json, say_json, talk
from reticent.cli.plan import DryRun, Yes, agreement, published, somebody_to_ask, spelled
from reticent.cli.ranked_lists import Lists, check_out, say_lists
from reticent.cli.release import (
    CardFile,
    ColumnNames,
    Measure,
    MeasureOption,
    NormsOption,
    TableFile,
    Weighting,
    WeightingOption,
    card_fields,
    say_card,
    warn_unused_preferences,
    weight_column,
    write_card,
)


def recommend(
    context: typer.Context,
    path: TableFile,
    k: KOption = 10,
    n_items: Annotated[
        int, typer.Option("--n-items", help="How many items for each person.", min=1)
    ] = 10,
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
    trusted_gateway: Annotated[
        bool,
        typer.Option(
            "--trusted-gateway",
            help="Required: the items, which the guarantee does not cover, stay where raw profiles "
            "may be seen.",
        ),
    ] = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Items that private neighbours have and a person lacks.

    The neighbours are found under differential privacy, and the card is theirs. The recommended
    items are not covered by the guarantee: they come from the neighbours' raw profiles, and no
    epsilon bounds what they tell. Keep them inside a trusted gateway, and say so by
    --trusted-gateway.
    """
    from reticent.guarantees import promises

    wish = Wish(
        k, epsilon, measure, norms, weighting, method, total_epsilon, max_contacts, profile_size
    )
    way = wish.made("recommend")
    check_population(population, dry_run)
    check_out(out, card)
    declared = Declared.read(people, items)
    warn_unused_preferences(path, weight_column(columns))
    purse = Purse(ledger, key, quiet=as_json)
    if dry_run:
        planned = plan_of("recommend", wish, way, declared.count or population)
        planned.say(as_json, purse.outlook(None))
        talk(f"warning: {promises.UNPROTECTED_ITEMS}")
        return
    if not trusted_gateway:
        raise _not_covered(context, yes)
    agree = agreement(context, yes)
    profiles = community(path, columns, declared)
    plan = plan_of("recommend", wish, way, len(profiles))
    talk(f"warning: {promises.UNPROTECTED_ITEMS}")
    agree(plan)
    from reticent.tasks import recommendation

    found, paid = search(context, purse, way, profiles, total, out)
    best = recommendation.recommend(profiles, found.peers, n_items=n_items)
    heads = ("person", "rank", "item", "score")
    lists = Lists.of(heads, profiles, best.items, best.scores, profiles.items)
    made = card_of(
        f"Neighbours behind recommendations, not the recommendations: {plan.what}",
        way,
        found,
        len(profiles),
        declared.public(),
        scope=promises.behind_recommendations(way.scope(len(profiles), declared.public())),
        budget=paid.budget,
        command=published(context),
    )
    write_card(made, card)
    if as_json:
        if out is not None:
            lists.write(out, "recommendation-lists/1")
        told = {"lists": lists.by_person() if out is None else str(out)}
        facts = {"method": method.value, "k": k, "people": len(profiles), **plan.fields()}
        say_json(
            "recommend/1",
            items_protected=False,
            warning=promises.UNPROTECTED_ITEMS,
            **facts,
            **told,
            **paid.fields(),
            **card_fields(made, card),
        )
        return
    say_lists(lists, out, "recommendation-lists/1")
    talk(paid.cost(f"{plan.cost()}, on the neighbour lists"))
    say_card(made, card)


def _not_covered(context: typer.Context, yes: bool) -> Failure:
    from reticent.guarantees import promises

    agreed = yes or somebody_to_ask()
    return Failure(
        "recommend needs --trusted-gateway",
        why=f"{promises.UNPROTECTED_ITEMS}. The flag says that they stay where raw profiles may be "
        "seen",
        next_command=spelled(context, "--trusted-gateway", *([] if agreed else ["--yes"])),
    )
