"""``reticent compare influencers``: how many of the best nodes each way finds, at each budget.

Not here  the comparison (tasks/comparing_selection.py), releases (queries/top_nodes.py).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from reticent.cli.compare import (
    EpsilonsOption,
    PlotFile,
    PublicFlag,
    RunsOption,
    SeedOption,
    check_public,
    drawn,
    percent,
    show,
    source_of,
)
from reticent.cli.compare_graphs import (
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
from reticent.cli.compare_points import points
from reticent.cli.output import Json, progress

if TYPE_CHECKING:
    from fractions import Fraction

    from reticent.data.graphs import Graph
    from reticent.tasks.comparing import Curves

HALF_DECADES = "0.001,0.003,0.01,0.03,0.1,0.3,1,3,10,30,100,300,1000,3000,10000"
_LOOKING = 50  # parts of the bar for centralities


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
    runs: RunsOption = 100,
    seed: SeedOption = None,
    plot: PlotFile = None,
    as_json: Json = False,
) -> None:
    """How many of the most influential nodes each way finds.

    On a public graph. Shown are shares of the true best, of 100, with 95 % intervals. Besides the
    ways of release top-nodes there is one that just takes the nodes of highest degree.
    """
    check_public(context, public, plot)
    wish, sizes = GraphWish(k, bound, within, centrality), points(epsilons, "--epsilon")
    graph = read_edges(path, columns, read_nodes(nodes, node_column))
    curves = found_nodes(wish, graph, sizes, runs, seed, None)
    show_found(curves, "compare-influencers/1", plot, as_json)


def found_nodes(
    wish: GraphWish,
    graph: Graph,
    epsilons: list[Fraction],
    runs: int,
    seed: int | None,
    ways: Collection[str] | None,
) -> Curves:
    """What each way finds of the best of the whole graph."""
    from reticent.tasks.comparing_selection import influencer_curves, influencer_ways

    influence = wish.influence(1, graph.size)
    steps = len(epsilons) * len(ways or influencer_ways(influence))
    with progress(steps + _LOOKING) as advance:
        looking = _shares(advance, f"looking at {graph.size:,} nodes")
        return influencer_curves(
            graph,
            influence,
            what=wish.what,
            epsilons=epsilons,
            runs=runs,
            source=source_of(seed),
            ways=ways,
            looking=looking,
            progress=advance,
        )


def _shares(advance: Callable[[str], None], doing: str) -> Callable[[float], None]:
    """A callback that takes the share of the looking that is done, on a bar that goes on after."""
    shown = 0

    def step(done: float) -> None:
        nonlocal shown
        while shown < int(_LOOKING * done):
            shown += 1
            advance(doing)

    return step


def show_found(curves: Curves, schema: str, plot: Path | None, as_json: bool) -> None:
    """Shares of the best, of 100."""
    show(
        curves,
        schema,
        plot=plot,
        as_json=as_json,
        cell=percent,
        title=f"Found of 100 that are among {curves.what}, of {curves.more['nodes']:,}",
        notes=(f"{drawn(curves)}; a choice at random finds {100 * curves.more['chance']:.3g}",),
    )
