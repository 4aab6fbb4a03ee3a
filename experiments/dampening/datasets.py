"""The graphs and values of the experiments, how much is run, and what is not there.

The paper's DBLP graph is not among them; ca-GrQc, also of co-authors, stands in for it. Percentiles
are those of the three DPBench histograms, whose 4,096 counts are people's values, as in the code
published with the paper.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from experiments.harness import stream
from reticent.data.graphs import Graph, read_graph
from reticent.data.sources import DataMissing, find
from reticent.data.synthetic import uniform
from reticent.noise import Source
from reticent.tasks.centrality import egocentric_betweenness

if TYPE_CHECKING:
    from numpy.typing import NDArray

T = TypeVar("T")
NETWORKS = {"Enron": "email-enron", "GitHub": "musae-github", "ca-GrQc": "ca-GrQc"}
HISTOGRAMS = ("HEPTH", "INCOME", "PATENT")
LEVELS = (0.25, 0.5, 0.75)  # which percentiles
GROUP = 4  # people who all know each other, of made graphs


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """A graph and everybody's egocentric betweenness in it."""

    name: str
    graph: Graph
    truth: NDArray[np.float64]

    @property
    def largest(self) -> int:
        """The largest degree: the bound that is declared, though nobody could know it."""
        return int(self.graph.degrees.max())


@dataclass(frozen=True, slots=True, eq=False)
class People:
    """One value for each person."""

    name: str
    values: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is run."""

    runs: int
    focus_runs: int
    ks: tuple[int, ...]
    epsilons: tuple[float, ...]
    dropped: int  # the bound beyond which edges of the first graph are dropped
    percentile_epsilons: tuple[float, ...]
    edges: tuple[int, ...]
    candidates: tuple[int, ...]


def _half_decades(first: int, last: int) -> tuple[float, ...]:
    return tuple(float(f"{10 ** (half / 2):.3g}") for half in range(2 * first, 2 * last + 1))


FULL = Scale(
    runs=100,
    focus_runs=1000,
    ks=(5, 10, 20),
    epsilons=_half_decades(-3, 4),
    dropped=300,
    percentile_epsilons=(0.1, 0.2, 0.5, 1, 2, 5, 10),
    edges=(50_000, 100_000, 200_000, 400_000, 800_000),
    candidates=(100_000, 200_000, 500_000, 1_000_000),
)
QUICK = Scale(
    runs=30,
    focus_runs=60,
    ks=(5, 10),
    epsilons=_half_decades(-1, 4)[::2],
    dropped=60,
    percentile_epsilons=(0.1, 1, 10),
    edges=(10_000, 20_000, 40_000),
    candidates=(100_000, 200_000),
)


def load(folder: Path | None, *, quick: bool) -> tuple[list[Network], list[People], list[str]]:
    """What is there, or else one made graph and made values; a sentence for what is not there."""
    skipped: list[str] = []
    networks = [
        _network(name, graph)
        for name, place in NETWORKS.items()
        if (graph := _tried(folder, place, _graph, skipped)) is not None
    ]
    people = [
        People(name, values)
        for name in HISTOGRAMS
        if (values := _tried(folder, f"dpbench/{name}", _counts, skipped)) is not None
    ]
    size = (3_000, 15_000) if quick else (30_000, 150_000)
    if not networks:
        networks = [_network("made graph", made(*size, stream("graph", quick)))]
    return networks, people or [People("made values", _values(500))], skipped


def _tried(
    folder: Path | None, place: str, read: Callable[[Path], T], skipped: list[str]
) -> T | None:
    if folder is None:
        skipped.append(f"{place}: no --data DIR and RETICENT_DATA is not set")
        return None
    try:
        return read(folder / place)
    except DataMissing as missing:
        skipped.append(f"{place}: {missing}")
        return None


def _network(name: str, graph: Graph) -> Network:
    return Network(name, graph, egocentric_betweenness(graph))


def _graph(folder: Path) -> Graph:
    names = ("edges.parquet", "edges.csv.gz", "edges.csv")
    return read_graph(find(folder, names, dataset=f"{folder.name} as a table of edges"))


def _counts(place: Path) -> NDArray[np.int64]:
    file = f"{place.name}.n4096.npy"
    found = find(place.parent, (file,), dataset=f"{place.name} of DPBench, 4,096 cells")
    return np.asarray(np.load(found), dtype=np.int64)


def _values(count: int) -> NDArray[np.int64]:
    """Few large ones, as histograms have."""
    return (100 * uniform(count, stream("values")) ** -0.5).astype(np.int64)


def made(nodes: int, edges: int, source: Source, skew: float = 2.2) -> Graph:
    """About so many edges in groups whose members all know each other; few are in most groups."""
    count = int(1.15 * edges / (GROUP * (GROUP - 1) // 2))
    members = (nodes * uniform((count, GROUP), source) ** skew).astype(np.int64)
    one, other = np.triu_indices(GROUP, 1)
    pairs = np.stack([members[:, one], members[:, other]], axis=2).reshape(-1, 2)
    return Graph.of_edges(pairs, nodes=nodes)
