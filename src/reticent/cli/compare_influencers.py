"""``reticent compare influencers``: how many of the best nodes each way finds, at each budget.

Not here  the comparison (mechanisms/comparison.py), releases (select_influencers.py).
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reticent.cli.compare import (
    EpsilonsOption,
    PlotFile,
    PublicFlag,
    budgets,
    by_budget,
    check_public,
    percent,
)
from reticent.cli.files import write_atomically
from reticent.cli.output import Json, progress, say, say_json, talk
from reticent.cli.select import shares
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
    read_edges,
    read_nodes,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from reticent.data.graphs import Graph
    from reticent.mechanisms.comparison import Compared

HALF_DECADES = "0.001,0.003,0.01,0.03,0.1,0.3,1,3,10,30,100,300,1000,3000,10000"
DEGREE = "degree"
SEED = 0  # the same command shows the same figures: nothing private rests on it


def influencers(
    context: typer.Context,
    path: EdgesFile,
    bound: BoundOption,
    public: PublicFlag = False,
    k: KOption = 10,
    within: WithinOption = False,
    nodes: NodesFile = None,
    node_column: NodeColumn = None,
    columns: EndColumns = None,
    centrality: CentralityOption = CentralityName.ebc,
    epsilons: EpsilonsOption = HALF_DECADES,
    runs: Annotated[int, typer.Option("--runs", help="Draws of each way.", min=1)] = 100,
    plot: PlotFile = None,
    as_json: Json = False,
) -> None:
    """How many of the k most influential nodes each way finds, on a public graph.

    Shown are shares of the true best, of 100, with 95 % intervals. Besides the ways of select
    influencers there is one that just takes the nodes of highest degree.
    """
    check_public(context, public, plot)
    wish, sizes = GraphWish(k, bound, within, centrality), budgets(epsilons)
    graph = read_edges(path, columns, read_nodes(nodes, node_column))
    rows = _compared(wish, graph, sizes, runs)
    chance = k / graph.size
    if plot is not None:
        from reticent.report.selection_figures import overlap_figure

        write_atomically(plot, overlap_figure(rows, what=wish.what, chance=chance))
    if as_json:
        facts = {"nodes": graph.size, "k": k, "centrality": centrality.value, "bound": bound}
        told = {"chance": chance, "rows": [asdict(row) for row in rows]}
        say_json("compare-influencers/1", **facts, within=within, runs=runs, **told)
        return
    say(f"Found of 100 that are among {wish.what}, of {graph.size:,}")
    say()
    ways = list(dict.fromkeys(row.way for row in rows))
    cells = {(row.way, row.epsilon): percent(row) for row in rows}
    for line in by_budget(cells, ways, [float(size) for size in sizes]):
        say(line)
    talk(f"in brackets: 95 % intervals of {runs} runs; a choice at random finds {100 * chance:.3g}")
    if plot is not None:
        talk(f"figure: {plot}")


def _compared(
    wish: GraphWish, graph: Graph, epsilons: Sequence[Fraction], runs: int
) -> list[Compared]:
    """Every way, and degrees, by how many they find of the best of the whole graph."""
    from reticent.mechanisms.comparison import compare, ways
    from reticent.noise import Source

    influence = wish.influence(1, graph.size)
    whole = influence if influence.price == 1 else replace(influence, within=True)
    with shares(f"looking at {graph.size:,} nodes") as step:
        truth = whole.scored(graph, step).utilities
    with shares(f"looking at {graph.size:,} nodes within the bound") as step:
        data = influence.scored(graph, step)
    given: dict[str, Any] = {"epsilons": epsilons, "runs": runs, "truth": truth}
    given["source"] = Source.seeded(SEED)
    steps = len(epsilons) * (len(ways(influence.mechanism)) + 2)
    with progress(steps) as advance:
        found = list(compare(data, influence.mechanism, progress=advance, **given))
        if wish.centrality is CentralityName.degree:
            return found
        other = replace(influence, centrality="degree")
        scored = other.scored(graph)
        rows = compare(scored, other.mechanism, progress=advance, **given)
    return found + [replace(row, way=DEGREE) for row in rows if row.way == "permute-and-flip"]
