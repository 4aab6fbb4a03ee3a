"""``reticent sweep`` over public data: nodes, percentiles, mappings and trees, by budget.

Not here  sweeps that need no data (sweep.py), the same with several ways (compare_influencers.py
          and its like), what is computed (tasks/comparing.py and its like).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from reticent.cli.compare import (
    USUAL_EPSILONS,
    EpsilonsOption,
    PlotFile,
    PublicFlag,
    RunsOption,
    SeedOption,
    check_public,
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
from reticent.cli.compare_influencers import found_nodes, show_found
from reticent.cli.compare_mapping import (
    BinsOption,
    DistortionsOption,
    ProfileColumns,
    SecondsOption,
    SecretOption,
    show_told,
    told,
)
from reticent.cli.compare_percentile import expected, show_expected
from reticent.cli.compare_points import points
from reticent.cli.compare_tree import (
    DeclareFile,
    HeldOut,
    RowsBound,
    TargetOption,
    judged,
    public_rows,
    show_judged,
)
from reticent.cli.compare_values import ColumnOption, POption, UpperOption, ValuesFile
from reticent.cli.data_columns import RowsFile
from reticent.cli.failures import Failure
from reticent.cli.mapping_files import IdColumn, PeopleFile
from reticent.cli.output import Json
from reticent.cli.ways import Way
from reticent.queries.tree import DEEPEST


class Growing(StrEnum):
    """How splits of a tree are chosen."""

    permute_and_flip = "permute-and-flip"
    exponential = "exponential"
    multiway = "multiway-exponential"
    dampened = "multiway-dampened"
    shifted = "multiway-shifted"


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
    way: Annotated[
        Way | None,
        typer.Option(
            "--way",
            help="How nodes are chosen.  [default: adaptive, or permute-and-flip for degrees]",
        ),
    ] = None,
    epsilons: EpsilonsOption = USUAL_EPSILONS,
    runs: RunsOption = 100,
    seed: SeedOption = None,
    plot: PlotFile = None,
    as_json: Json = False,
) -> None:
    """How many of the most influential nodes are found, by budget.

    On a public graph. Shown are shares of the true best, of 100, with 95 % intervals.
    """
    check_public(context, public, plot)
    wish, sizes = GraphWish(k, bound, within, centrality), points(epsilons, "--epsilon")
    graph = read_edges(path, columns, read_nodes(nodes, node_column))
    wish.mechanism(wish.influence(1, graph.size), way)  # refuses a way that does not go with it
    curves = found_nodes(wish, graph, sizes, runs, seed, [wish.way_name(way)])
    show_found(curves, "sweep-influencers/1", plot, as_json)


def percentile(
    context: typer.Context,
    path: ValuesFile,
    upper: UpperOption,
    public: PublicFlag = False,
    p: POption = 0.5,
    column: ColumnOption = None,
    way: Annotated[
        Way,
        typer.Option(
            "--way",
            help="How a person is chosen: shifted, dampened, permute-and-flip or exponential.",
        ),
    ] = Way.shifted,
    epsilons: EpsilonsOption = USUAL_EPSILONS,
    plot: PlotFile = None,
    as_json: Json = False,
) -> None:
    """How far off the chosen person is expected to be, by budget.

    On a public table: expected absolute errors in value, computed from the law of the choice.
    """
    check_public(context, public, plot)
    if way is Way.adaptive:
        why = "the ways are shifted, dampened, permute-and-flip and exponential"
        raise Failure("--way adaptive does not go with what is chosen here", why=why)
    curves = expected(path, upper, p, column, epsilons, [way.value])
    show_expected(curves, "sweep-percentile/1", plot, as_json)


def mapping(
    context: typer.Context,
    path: PeopleFile,
    secret: SecretOption,
    public: PublicFlag = False,
    columns: ProfileColumns = None,
    id_column: IdColumn = None,
    bins: BinsOption = None,
    distortions: DistortionsOption = None,
    seconds: SecondsOption = 300.0,
    plot: PlotFile = None,
    as_json: Json = False,
) -> None:
    """The least that a mapping tells of a secret, by distortion.

    In bits, on a public table, with what is proved about any mapping.
    """
    from reticent.tasks.comparing_mapping import LEAST

    check_public(context, public, plot)
    curves = told(path, secret, columns, id_column, bins, distortions, seconds, [LEAST])
    show_told(curves, "sweep-mapping/1", plot, as_json)


def tree(
    context: typer.Context,
    path: RowsFile,
    target: TargetOption,
    declare: DeclareFile,
    public: PublicFlag = False,
    rows: RowsBound = None,
    depths: Annotated[
        str,
        typer.Option(
            "--depths",
            help="Depths to try, as 2,4,6, besides the one that goes by epsilon and rows.",
            metavar="D,D,...",
        ),
    ] = "2,4,6",
    way: Annotated[
        Growing, typer.Option("--way", help="How splits are chosen.")
    ] = Growing.permute_and_flip,
    epsilons: EpsilonsOption = USUAL_EPSILONS,
    held_out: HeldOut = 0.2,
    runs: RunsOption = 10,
    seed: SeedOption = None,
    plot: PlotFile = None,
    as_json: Json = False,
) -> None:
    """How often a tree is right, by budget and depth.

    Judged on rows of a public table that the tree never saw.
    """
    from reticent.tasks.comparing_tree import by_depth

    check_public(context, public, plot)
    tried = by_depth(_depths(depths), way.value)
    sizes = points(epsilons, "--epsilon")
    found = public_rows(path, target, declare, rows)
    curves = judged(found, tried, target, sizes, held_out, runs, seed)
    show_judged(curves, "sweep-tree/1", plot, as_json)


def _depths(text: str) -> list[int]:
    """The depths of a list, each once."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    good = all(part.isascii() and part.isdigit() and len(part) < 4 for part in parts)
    found = sorted({int(part) for part in parts}) if good else []
    if not good or not all(depth <= DEEPEST for depth in found):
        raise Failure(f"--depths must be whole numbers up to {DEEPEST}, as 2,4,6, got {text!r}")
    return found
