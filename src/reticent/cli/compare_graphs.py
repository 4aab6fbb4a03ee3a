"""Graphs as the commands read them: edges from a table, nodes from a list, and what is asked.

Not here  reading a table of edges (data/graphs.py), the commands (compare_influencers.py,
          sweep_public.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from reticent.cli.declared import read_names
from reticent.cli.failures import Failure
from reticent.cli.ways import Way, way_of

if TYPE_CHECKING:
    from reticent.data.graphs import Graph
    from reticent.mechanisms.top_dampened import TopDampened
    from reticent.rational import Number
    from reticent.tasks.influence import Influence

_USUAL = "node"


class CentralityName(StrEnum):
    """What makes a node influential."""

    ebc = "ebc"
    degree = "degree"
    triangles = "triangles"


_CALLED = {
    CentralityName.ebc: "egocentric betweenness",
    CentralityName.degree: "degree",
    CentralityName.triangles: "triangles",
}

EdgesFile: TypeAlias = Annotated[
    Path,
    typer.Argument(
        help="Who is linked to whom: .csv, .csv.gz or .parquet with a header line and the columns "
        "source and target, from and to, u and v, or id_1 and id_2. Loops, repeated links and "
        "directions do not count.",
        metavar="EDGES",
    ),
]
KOption: TypeAlias = Annotated[int, typer.Option("--k", help="How many nodes.", min=1)]
BoundOption: TypeAlias = Annotated[
    int,
    typer.Option(
        "--bound",
        help="Links that a node can have at most. It is public: take what you knew before you saw "
        "the graph, not its largest degree. Links beyond it are dropped by a public rule.",
        min=1,
        metavar="D",
    ),
]
WithinOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--within",
        help="You state that no graph that could be met exceeds the bound. Without it one link "
        "counts three times, for the links that it pushes out. If it is not true, nothing is "
        "promised.",
    ),
]
NodesFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--nodes",
        help="The nodes, which are public: a text file with a name in each line, or a table (.csv, "
        ".csv.gz, .parquet) with a column of names. Links of others are dropped.  [default: the "
        "nodes that have a link, which says that this set is public]",
        metavar="FILE",
    ),
]
NodeColumn: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--node-column",
        help="The column of --nodes, if that is a table.  [default: node, or the only one]",
        metavar="COLUMN",
    ),
]
EndColumns: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--columns", help="Other names of the two columns, as source,target.", metavar="NAMES"
    ),
]
CentralityOption: TypeAlias = Annotated[
    CentralityName,
    typer.Option(
        "--centrality",
        help="What makes a node influential: egocentric betweenness (how often it stands between "
        "two of its neighbours), its degree, or the triangles through it.",
    ),
]


@dataclass(frozen=True, slots=True)
class GraphWish:
    """The options that say what is looked for in a graph."""

    k: int
    bound: int
    within: bool
    centrality: CentralityName

    @property
    def what(self) -> str:
        """What is looked for, in words."""
        nodes = "node" if self.k == 1 else f"{self.k} nodes"
        return f"the {nodes} of highest {_CALLED[self.centrality]}"

    def influence(self, epsilon: Number, nodes: int) -> Influence:
        """How it is chosen, among so many nodes."""
        from reticent.tasks.influence import Influence

        if nodes < 2:
            raise Failure("there are fewer than two nodes", why="there is nothing to choose")
        if self.k > nodes:
            raise Failure(f"--k must be at most the number of nodes, {nodes}, got {self.k}")
        return Influence(
            k=self.k,
            epsilon=epsilon,
            nodes=nodes,
            bound=self.bound,
            within=self.within,
            centrality=self.centrality.value,
        )

    def way_name(self, way: Way | None) -> str:
        """The way that is taken: degrees are as sensitive everywhere, and need no other."""
        usual = Way.permute_and_flip if self.centrality is CentralityName.degree else Way.adaptive
        return (way or usual).value

    def mechanism(self, influence: Influence, way: Way | None) -> TopDampened:
        """The mechanism that chooses in this way."""
        return way_of(influence.mechanism, self.way_name(way))


def check_columns(columns: str | None) -> tuple[str, str] | None:
    """The two columns that are named."""
    if columns is None:
        return None
    names = [name.strip() for name in columns.split(",")]
    if len(names) != 2 or not all(names) or names[0].casefold() == names[1].casefold():
        raise Failure(f"--columns must be two names, as source,target, got {columns!r}")
    return names[0], names[1]


def read_nodes(path: Path | None, column: str | None) -> list[str] | None:
    """The nodes that a file declares, each once; None if there is no file."""
    if path is None:
        if column is not None:
            raise Failure("--node-column needs --nodes", why="it names a column of that table")
        return None
    return read_names(path, "nodes", usual=_USUAL, column=column, option="--node-column")


def read_edges(path: Path, columns: str | None, nodes: list[str] | None) -> Graph:
    """The graph of a table, over the declared nodes if there are any."""
    from reticent.data.graphs import read_graph

    return read_graph(path, columns=check_columns(columns), nodes=nodes)
