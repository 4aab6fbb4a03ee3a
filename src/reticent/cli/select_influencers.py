"""``reticent select influencers``: the most influential nodes, so that no single link shows.

Theory    docs/theory/influence.md, Theorem 1 (graphs beyond the bound)
Not here  options and files of graphs (select_graphs.py), how nodes are chosen (tasks/influence.py).
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reticent.cli.charging import (
    LEDGER,
    DataSetOption,
    KeyOption,
    LedgerOption,
    Purse,
    TotalOption,
    of_data_set,
)
from reticent.cli.files import write_atomically
from reticent.cli.output import Json, say, say_json, talk
from reticent.cli.plan import DryRun, Yes, agreement, published
from reticent.cli.ranked_lists import check_out
from reticent.cli.release import CardFile, card_fields, say_card, write_card
from reticent.cli.select import EpsilonOption, OutFile, SelectPlan, Way, cautions, shares
from reticent.cli.select_graphs import (
    BoundOption,
    CentralityName,
    CentralityOption,
    EdgesFile,
    EndColumns,
    GraphWish,
    KOption,
    NodeColumn,
    NodesFile,
    WithinOption,
    check_columns,
    read_edges,
    read_nodes,
)

if TYPE_CHECKING:
    from reticent.guarantees.card import Scope
    from reticent.tasks.influence import Influence

SCHEMA = "select-influencers/1"
FROM_EDGES = (
    "the nodes are those that have a link, and using them says that this set is public: a first or "
    "last link of a node is then not protected; --nodes FILE declares them"
)
UNKNOWN = "not known without the number of nodes, which --nodes FILE would tell"
UNORDERED = "their order means nothing: what is released is a set"


def influencers(
    context: typer.Context,
    path: EdgesFile,
    epsilon: EpsilonOption,
    bound: BoundOption,
    k: KOption = 10,
    within: WithinOption = False,
    nodes: NodesFile = None,
    node_column: NodeColumn = None,
    columns: EndColumns = None,
    centrality: CentralityOption = CentralityName.ebc,
    way: Annotated[
        Way | None,
        typer.Option(
            "--way",
            help="How nodes are chosen, all with the same promise; reticent compare influencers "
            "shows on public graphs what each is worth.  [default: adaptive, or permute-and-flip "
            "for degree]",
        ),
    ] = None,
    out: OutFile = None,
    card: CardFile = None,
    ledger: LedgerOption = LEDGER,
    key: KeyOption = None,
    data_set: DataSetOption = None,
    total: TotalOption = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """The k most influential nodes of a graph; no link shows.

    Nodes and the bound are public, links are private. The result is a set: the order of names means
    nothing.
    """
    from reticent.mechanisms.base import Release
    from reticent.noise import Source

    wish = GraphWish(k, bound, within, centrality)
    check_out(out, card)
    check_columns(columns)
    named = read_nodes(nodes, node_column)
    declared = None if named is None else len(named)
    before = _plan(wish, way, epsilon, declared, declared=named is not None)
    purse, payers = Purse(ledger, key, quiet=as_json), of_data_set(path, data_set, total)
    if dry_run:
        before.say(as_json, purse.outlook(payers, before.charge))
        return
    agree = agreement(context, yes)
    graph = read_edges(path, columns, named)
    plan = _plan(wish, way, epsilon, graph.size, declared=named is not None)
    agree(plan)
    influence = wish.influence(epsilon, graph.size)
    mechanism = wish.mechanism(influence, way)
    source = Source.system()
    names = range(graph.size) if graph.names is None else graph.names

    def choose() -> list[str]:
        with shares(f"looking at {graph.size:,} nodes") as progress:
            scored = influence.scored(graph, progress)
        return [str(names[place]) for place in sorted(mechanism.release(scored, source).value)]

    paid = purse.pay(context, mechanism.event(source), payers, choose)
    found = paid.value
    whole: Release[Any] = Release(found, mechanism.event(source), mechanism)
    made = whole.card(
        plan.title,
        scope=_scope(influence, named is not None),
        budget=paid.budget,
        command=published(context),
    )
    if out is not None:
        _write(found, out)
    write_card(made, card)
    if as_json:
        told = {"nodes": found} if out is None else {"out": str(out)}
        facts = {"k": k, "centrality": centrality.value, "way": wish.way_name(way)}
        cost = {**plan.fields(), **paid.fields(), **card_fields(made, card)}
        say_json(SCHEMA, **facts, **told, ordered=False, **cost)
        return
    say(str(out) if out is not None else _csv(found).removesuffix("\n"))
    talk(UNORDERED)
    talk(paid.cost(plan.cost()))
    say_card(made, card)


def _plan(
    wish: GraphWish, way: Way | None, epsilon: str, nodes: int | None, *, declared: bool
) -> SelectPlan:
    """What it would cost; what it costs does not depend on the number of nodes, the error does."""
    influence = wish.influence(epsilon, max(wish.k, wish.bound + 2) if nodes is None else nodes)
    mechanism = wish.mechanism(influence, way)
    loss = mechanism.guarantee()
    return SelectPlan(
        "select-influencers",
        wish.what,
        {"anyone": loss.overall},
        UNKNOWN if nodes is None else mechanism.utility().sentence,
        cautions(loss.overall, *([] if declared else [FROM_EDGES])),
        loss.unit.question,
        _public(influence, wish, nodes),
        "no link",
    )


def _public(influence: Influence, wish: GraphWish, nodes: int | None) -> tuple[str, ...]:
    """What the promise takes as public."""
    names = "the nodes" if nodes is None else f"the {nodes:,} nodes"
    told = [f"{names}, their names and number"]
    if influence.price > 1:
        told.append(
            f"the bound of {wish.bound:,} links of a node; links beyond it are dropped by a public "
            f"rule, and one link counts {influence.price} times for that"
        )
    elif wish.bound == influence.bound:
        told.append(
            f"that no node can have more than {wish.bound:,} links: you state it, and if it is not "
            "true nothing is promised"
        )
    return tuple(told)


def _scope(influence: Influence, declared: bool) -> Scope:
    from reticent.guarantees import promises

    inside = influence.bound < influence.nodes - 1 and influence.price == 1
    return promises.top_nodes(bound=influence.bound, inside=inside, declared=declared)


def _csv(found: Sequence[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([("node",), *((name,) for name in found)])
    return text.getvalue()


def _write(found: Sequence[str], out: Path) -> None:
    """As the file is named."""
    if out.suffix == ".csv":
        write_atomically(out, _csv(found))
    elif out.suffix == ".json":
        told = {"schema": SCHEMA, "nodes": list(found), "ordered": False}
        write_atomically(out, json.dumps(told, indent=2, ensure_ascii=False) + "\n")
    else:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
        held = io.BytesIO()
        parquet.write_table(arrow.table({"node": arrow.array(list(found), arrow.string())}), held)
        write_atomically(out, held.getvalue())
