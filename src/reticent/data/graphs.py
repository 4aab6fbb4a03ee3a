"""Graphs of who is connected with whom: undirected, without loops, as sorted sparse rows.

Notation  n = nodes, m = edges, D = cap on degrees; nodes are numbered from 0 and may have names
Not here  published data sets (sources/), what is computed or released from graphs (tasks/).

The node set is public and the edges are private: one edge is the unit. Loops, repeated edges and
edges of nodes that were not declared are dropped without a word. Without a declaration the nodes
are those that edges name, and to use them is to say that this set is public.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy import sparse

from reticent.data.interactions import TableError
from reticent.data.labels import in_order, places_of, text_of, texts_of
from reticent.data.text_tables import read_lines
from reticent.errors import ParameterError, require
from reticent.rational import whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

Nodes: TypeAlias = int | Sequence[Any] | None
"""How many nodes, numbered from 0; or their names; or those of the edges."""

STABILITY = 3
"""Adding or removing one edge of a graph changes at most so many edges of ``bounded``."""

GRAPH_FORMATS = (".csv", ".csv.gz", ".parquet")
HEADERS = (("source", "target"), ("from", "to"), ("u", "v"), ("id_1", "id_2"))
_SALT = b"reticent edges 1"  # public and fixed: the same graph is always cut alike
_LARGEST = 1 << 31


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Graph:
    """Node v has neighbours ``neighbours[indptr[v]:indptr[v + 1]]``, sorted and distinct.

    >>> pairs = [("ann", "bob"), ("bob", "ann"), ("bob", "bob")]
    >>> graph = Graph.of_edges(pairs, nodes=["ann", "bob", "cid"])
    >>> graph.size, graph.n_edges, graph.degrees.tolist()
    (3, 1, [1, 1, 0])
    """

    indptr: NDArray[np.int64]
    neighbours: NDArray[np.int32]
    names: Sequence[Any] | None = None

    def __post_init__(self) -> None:
        n = self.indptr.size - 1
        if self.names is not None:
            named = len(self.names) == n and len(set(self.names)) == n
            require(named, "names", "others", "distinct and one for each node")
        require(_symmetric(self.indptr, self.neighbours), "neighbours", "others", _RULE)

    def __repr__(self) -> str:
        return f"Graph({self.size} nodes)"  # how many edges is private

    @classmethod
    def of_edges(cls, edges: Any, nodes: Nodes = None) -> Graph:
        """From an array [m, 2] of whole numbers or from pairs of names, in any order.

        A pair in which a name is missing (None or NaN) is left out.
        """
        if isinstance(edges, np.ndarray) and edges.dtype.kind in "iu":
            require(
                edges.ndim == 2 and edges.shape[1] == 2,
                *("edges", f"shape {edges.shape}", "rows of two nodes"),
            )
            if isinstance(nodes, (int, np.integer)):
                n = whole(nodes, "nodes", least=0)
                return cls._numbered(np.where(edges < n, edges.astype(np.int64), -1), n)
            distinct, codes = np.unique(edges, return_inverse=True)
            return cls._coded(codes.reshape(-1, 2), distinct.tolist(), nodes)
        numbers: dict[Any, int] = {}
        codes = np.array([_numbers(edge, numbers) for edge in edges], dtype=np.int64)
        return cls._coded(codes.reshape(-1, 2), list(numbers), nodes)

    @classmethod
    def of_sparse(cls, matrix: Any, names: Sequence[Any] | None = None) -> Graph:
        """From a square scipy sparse matrix; an entry that is not 0 is an edge, either way round.

        >>> Graph.of_sparse(sparse.csr_array([[0, 2], [0, 0]])).degrees.tolist()
        [1, 1]
        """
        held = matrix.tocoo()
        square = held.shape[0] == held.shape[1]
        require(square, "matrix", f"shape {held.shape}", "square")
        kept = held.data != 0
        pairs = np.column_stack([held.row[kept], held.col[kept]])
        return cls._numbered(pairs.astype(np.int64), held.shape[0], names)

    @classmethod
    def of_networkx(cls, graph: Any) -> Graph:
        """From anything with ``nodes()`` and ``edges()``; directions and attributes are dropped."""
        return cls.of_edges((edge[:2] for edge in graph.edges()), nodes=list(graph.nodes()))

    @classmethod
    def _coded(cls, codes: NDArray[np.int64], labels: list[Any], nodes: Nodes) -> Graph:
        """From pairs of places in ``labels``, where -1 is missing; 7 and "7" are one node."""
        given = sorted(labels, key=in_order) if nodes is None else _declared(nodes)
        plain = all(isinstance(name, int) and name == i for i, name in enumerate(given))
        names = texts_of(given, "nodes")
        places = np.append(places_of(labels, names, "nodes"), -1)
        return cls._numbered(places[codes], len(names), None if plain else names)

    @classmethod
    def _numbered(
        cls, pairs: NDArray[np.int64], n: int, names: Sequence[Any] | None = None
    ) -> Graph:
        """From pairs of nodes, of which negative ones are missing."""
        require(n < _LARGEST, "nodes", n, f"fewer than {_LARGEST}")
        one, other = pairs[(pairs[:, 0] != pairs[:, 1]) & (pairs >= 0).all(axis=1)].T
        keys = np.sort(np.concatenate([one * n + other, other * n + one]))
        keys = keys[np.diff(keys, prepend=-1) > 0]  # np.unique hashes, which takes 50 times as long
        rows, neighbours = np.divmod(keys, max(n, 1))
        indptr = np.zeros(n + 1, dtype=np.int64)
        np.cumsum(np.bincount(rows, minlength=n), out=indptr[1:])
        return cls(indptr, neighbours.astype(np.int32), names)

    @property
    def size(self) -> int:
        """How many nodes there are; public."""
        return self.indptr.size - 1

    @property
    def n_edges(self) -> int:
        """How many edges there are; private."""
        return self.neighbours.size // 2

    @property
    def degrees(self) -> NDArray[np.int64]:
        """How many neighbours each node has."""
        return np.diff(self.indptr)

    @property
    def edges(self) -> NDArray[np.int64]:
        """Each edge once, [m, 2], as numbers with the smaller first, in order."""
        rows = np.repeat(np.arange(self.size), self.degrees)
        upwards = rows < self.neighbours
        return np.column_stack([rows[upwards], self.neighbours[upwards].astype(np.int64)])

    def of(self, node: int) -> NDArray[np.int32]:
        """Neighbours of one node."""
        return self.neighbours[self.indptr[node] : self.indptr[node + 1]]

    def bounded(self, cap: int) -> Graph:
        """A part of the graph in which no degree exceeds ``cap``: same nodes, fewer edges.

        Every pair of nodes has a public priority, a hash of its two names. An edge is kept if it is
        among the ``cap`` first of its edges at *both* ends. So who is kept depends on names alone,
        not on the order of nodes or edges, and a graph within the cap stays as it is.

        One edge more changes at most ``STABILITY`` = 3 edges of the result. Let e = {u, v} be
        added. The order of pairs is fixed, so at u the set of the first ``cap`` gains at most e and
        loses at most one f; at v at most e and one g; at other nodes nothing moves. An edge's fate
        depends on these sets at its own ends, so only e, f and g can change. Removing is the same
        read backwards. All three do change where e is early and u and v are full. Taking f and g
        away before e is put in, the three steps stay within the cap: a sensitivity proved for
        graphs within the cap may be multiplied by 3.

        No rule does better that leaves graphs within the cap alone: an exhaustive search for one
        that changes at most two edges finds none for 4 nodes and cap 2, nor for 5 nodes and cap 2
        or 3. Two simpler ones do worse. Adding edges in the order of priority where there is room
        lets one edge push a chain of others, however long; keeping an edge only if both degrees
        are within the cap lets one edge remove 2 ``cap``.
        """
        whole(cap, "cap", least=1)
        pairs = self.edges
        m = len(pairs)
        rank = np.empty(m, dtype=np.int64)
        rank[np.argsort(self._priorities(pairs), kind="stable")] = np.arange(m)
        ends = pairs.T.ravel()
        slots = np.argsort(ends * m + np.tile(rank, 2))  # by node, and by priority there
        late = np.arange(2 * m) - self.indptr[ends[slots]] >= cap
        kept = np.ones(m, dtype=bool)
        kept[slots[late] % max(m, 1)] = False
        return self._numbered(pairs[kept], self.size, self.names)

    def _priorities(self, pairs: NDArray[np.int64]) -> NDArray[np.uint64]:
        """The same for both directions; equal ones, of chance 2**-64 a pair, go by number."""
        names = range(self.size) if self.names is None else self.names
        digests = b"".join(_digest(str(name)) for name in names)
        keys = np.sort(np.frombuffer(digests, dtype="<u8").astype(np.uint64)[pairs], axis=1)
        return _mixed(keys[:, 0] ^ _mixed(keys[:, 1]))


_RULE = "sorted and distinct in each row, without loops, each edge from both ends"


def read_graph(
    path: str | Path, *, columns: tuple[str, str] | None = None, nodes: Nodes = None
) -> Graph:
    """A graph from a table of edges with a header line: .csv, .csv.gz or .parquet.

    The two ends are the columns called source and target, from and to, u and v, or id_1 and id_2,
    whichever pair is there first, or else ``columns``; capitals do not matter, and other columns
    are not used. Nodes are named by text, without the spaces around it; a line in which one is
    empty is left out.
    """
    path = Path(path)
    if not path.name.casefold().endswith(GRAPH_FORMATS):
        if path.is_dir():
            raise TableError(path.name, "is a directory")
        raise ParameterError("graph", f"a file named {', '.join(GRAPH_FORMATS)}", path.name)
    header, lines = read_lines(path)
    one, other = _ends(path, header, columns)
    pairs = ((line[one].strip() or None, line[other].strip() or None) for line in lines)
    if nodes is not None:
        nodes = texts_of(_declared(nodes), "nodes")
    return Graph.of_edges(pairs, nodes)


def _ends(path: Path, header: list[str], columns: tuple[str, str] | None) -> tuple[int, int]:
    """Where the two ends stand in a line."""
    names = [name.strip().casefold() for name in header]
    for one, other in HEADERS if columns is None else (columns,):
        wanted = one.strip().casefold(), other.strip().casefold()
        if [names.count(name) for name in wanted] == [1, 1]:
            return names.index(wanted[0]), names.index(wanted[1])
    known = " or ".join(",".join(pair) for pair in (HEADERS if columns is None else (columns,)))
    raise TableError(path.name, f"must have two columns called {known}")


def _declared(nodes: int | Sequence[Any]) -> Sequence[Any]:
    if isinstance(nodes, (int, np.integer)):
        return range(whole(nodes, "nodes", least=0))
    return list(nodes)


def _numbers(edge: Iterable[Any], numbers: dict[Any, int]) -> tuple[int, int]:
    """Both ends by the order of first appearance; a missing one is -1."""
    try:
        one, other = edge
    except (TypeError, ValueError):
        raise ParameterError("edges", "pairs of nodes", "something else") from None
    ends = text_of(one), text_of(other)
    if None in ends:
        return -1, -1
    return numbers.setdefault(ends[0], len(numbers)), numbers.setdefault(ends[1], len(numbers))


def _symmetric(indptr: NDArray[np.int64], neighbours: NDArray[np.int32]) -> bool:
    n = indptr.size - 1
    proper = n >= 0 and indptr[0] == 0 and indptr[-1] == neighbours.size
    if not proper or (np.diff(indptr) < 0).any():
        return False
    if not neighbours.size:
        return True
    if neighbours.min() < 0 or neighbours.max() >= n:
        return False
    rows = np.repeat(np.arange(n), np.diff(indptr))
    if (rows == neighbours).any() or (np.diff(rows * n + neighbours) <= 0).any():
        return False
    marks = np.ones(neighbours.size, dtype=np.int8)
    turned = sparse.csr_array((marks, neighbours, indptr), shape=(n, n)).tocsc()
    return np.array_equal(turned.indptr, indptr) and np.array_equal(turned.indices, neighbours)


def _digest(name: str) -> bytes:
    return blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8, key=_SALT).digest()


def _mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A one-to-one map in which every bit depends on all: the last step of splitmix64."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
