"""The most influential nodes of a graph, so that no single link shows.

Theory    docs/theory/influence.md, Theorem 1 (graphs beyond the bound)
Not here  how nodes are chosen (tasks/influence.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from reticent.errors import require
from reticent.queries.base import Progress, Public, Terms, WholeQuery
from reticent.queries.inputs import Cells, Role, Table
from reticent.queries.options import BUDGET, FLAG, choice, count, option, perhaps
from reticent.queries.trials import Comparison, Trial
from reticent.queries.worlds import World
from reticent.rational import Number

if TYPE_CHECKING:
    from reticent.data.graphs import Graph
    from reticent.guarantees.card import Scope
    from reticent.mechanisms.top_dampened import TopDampened
    from reticent.noise import Source
    from reticent.queries.binding import Bound
    from reticent.tasks.comparing import Curves
    from reticent.tasks.influence import Influence
    from reticent.tasks.scattering import Scatter

CALLED = {"ebc": "egocentric betweenness", "degree": "degree", "triangles": "triangles"}
_MANY = 200  # nodes of a small world
UNKNOWN = "not known without the number of nodes, which count would tell"
FROM_EDGES = (
    "the nodes are those that have a link, and using them says that this set is public: a first or "
    "last link of a node is then not protected; a table of nodes declares them"
)


@dataclass(frozen=True, kw_only=True)
class TopNodes(WholeQuery):
    """The k most influential nodes of a graph; no link shows.

    Links are private; nodes and the bound are public. Loops, repeated links and directions do not
    count. The answer is a set: the order of names means nothing.
    """

    kind: ClassVar[str] = "top-nodes"
    counted: ClassVar[str] = "nodes"
    inputs: ClassVar[Mapping[str, Table]] = {
        "edges": Table(
            "A line for each link.",
            {
                "source": Role(Cells.NAME, "One end.", aliases=("from", "u", "id_1")),
                "target": Role(Cells.NAME, "The other end.", aliases=("to", "v", "id_2")),
            },
        ),
        "nodes": Table(
            "The nodes, which are public; links of others are dropped.  [default: the nodes that "
            "have a link, which says that this set is public]",
            {"node": Role(Cells.NAME, "Its name.", sole=True)},
            public=True,
            required=False,
        ),
    }

    comparison: ClassVar[Comparison] = Comparison(
        compared="0.001,0.003,0.01,0.03,0.1,0.3,1,3,10,30,100,300,1000,3000,10000",
        methods=(
            *("exponential", "permute-and-flip", "dampened", "shifted", "adaptive"),
            "degree",  # what others must beat
        ),
        runs=100,
    )

    epsilon: Number = option("Privacy budget of this release.", BUDGET)
    bound: int = option(
        "Links that a node can have at most. It is public: take what you knew before you saw the "
        "graph, not its largest degree. Links beyond it are dropped by a public rule.",
        count(metavar="D"),
    )
    k: int = option("How many nodes.", count(metavar="K"), default=10)
    within: bool = option(
        "You state that no graph that could be met exceeds the bound. Without it one link counts "
        "three times, for the links that it pushes out. If it is not true, nothing is promised.",
        FLAG,
        default=False,
    )
    centrality: str = option(
        "What makes a node influential: how often it stands between two of its neighbours (ebc), "
        "its degree, or the triangles through it.",
        choice(*CALLED),
        default="ebc",
    )
    method: str | None = option(
        "How nodes are chosen; all promise the same.  [default: adaptive, or permute-and-flip for "
        "degree]",
        perhaps(choice("adaptive", "shifted", "dampened", "permute-and-flip", "exponential")),
        default=None,
    )

    def terms(self, public: Public) -> TopNodesTerms:
        """See ``Query``."""
        from reticent.mechanisms.comparison import ways
        from reticent.tasks.influence import Influence

        nodes = max(self.k, self.bound + 2) if public.count is None else public.count
        require(nodes >= 2, "nodes", nodes, "two or more: else there is nothing to choose")
        require(self.k <= nodes, "k", self.k, f"at most the number of nodes, {nodes}")
        influence = Influence(
            k=self.k,
            epsilon=self.epsilon,
            nodes=nodes,
            bound=self.bound,
            within=self.within,
            centrality=self.centrality,  # type: ignore[arg-type]
        )
        known, method = ways(influence.mechanism), self.usual_method()
        require(method in known, "method", method, f"one of {', '.join(known)} for this centrality")
        return TopNodesTerms(self, public, influence, known[method])

    def usual_method(self) -> str:
        """Degrees are as sensitive everywhere, and need no local sensitivity."""
        return self.method or ("permute-and-flip" if self.centrality == "degree" else "adaptive")

    def curves(self, tables: Mapping[str, Bound], trial: Trial) -> Curves:
        """The share of the best nodes of the whole graph that each method finds."""
        from reticent.tasks.comparing_selection import influencer_curves

        known = self.facts(tables)
        terms = replace(self, method=None).terms(known)
        return influencer_curves(
            _graph(tables, list(known.names or ())),
            terms.influence,
            what=f"{terms.what}, of {known.count:,}",
            epsilons=trial.values,
            runs=trial.runs,
            source=trial.source,
            ways=trial.methods,
            progress=trial.progress,
        )

    def worlds(self) -> tuple[World, ...]:
        """The third link of a triangle, there or not: each centrality sees it."""
        many = max(self.k + 1, min(10 * self.k, _MANY), 5)  # of which few are chosen
        nodes = [f"node {number}" for number in range(many)]
        a, b, c, d, e, *_ = nodes
        ends = [(a, b), (b, c), (d, e), (a, c)]
        first, second = (
            {"edges": {"source": [one for one, _ in held], "target": [two for _, two in held]}}
            for held in (ends, ends[:-1])
        )
        shown = {"nodes": nodes}
        return (World("a link", {**first, **shown}, {**second, **shown}),)

    def facts(self, tables: Mapping[str, Bound]) -> Public:
        """The nodes, declared or found."""
        if "nodes" in tables:
            names = [name for name in tables["nodes"]["node"].tolist() if name is not None]
            distinct = list(dict.fromkeys(names))
            require(bool(distinct), "nodes", "an empty table", "a table that names some")
            return Public(len(distinct), distinct, declared=True)
        if "edges" not in tables:
            return Public()
        names = [str(name) for name in _graph(tables, None).names or ()]
        return Public(len(names), names)


@dataclass(frozen=True, slots=True)
class TopNodesTerms(Terms):
    """Names of a public list are released."""

    query: TopNodes
    known: Public
    influence: Influence
    mechanism: TopDampened
    scatter: Scatter | None = None
    columns: ClassVar[tuple[str, ...]] = ("node",)

    def scattered(self, scatter: Scatter) -> TopNodesTerms:
        """Centralities are computed elsewhere."""
        return replace(self, scatter=scatter)

    @property
    def what(self) -> str:
        """In words."""
        nodes = "node" if self.query.k == 1 else f"{self.query.k} nodes"
        return f"the {nodes} of highest {CALLED[self.query.centrality]}"

    @property
    def error(self) -> str:
        """It depends on how many nodes there are."""
        return UNKNOWN if self.known.count is None else self.mechanism.utility().sentence

    @property
    def cautions(self) -> tuple[str, ...]:
        """Nodes that nobody declared."""
        return () if self.known.declared else (FROM_EDGES,)

    @property
    def public(self) -> tuple[str, ...]:
        """The nodes, the bound."""
        bound, count = self.query.bound, self.known.count
        told = [f"the {'' if count is None else f'{count:,} '}nodes, their names and number"]
        if self.influence.price > 1:
            told.append(
                f"the bound of {bound:,} links of a node; links beyond it are dropped by a public "
                f"rule, and one link counts {self.influence.price} times for that"
            )
        elif bound == self.influence.bound:
            told.append(
                f"that no node can have more than {bound:,} links: you state it, and if it is not "
                "true nothing is promised"
            )
        return tuple(told)

    def scope(self) -> Scope:
        """See ``promises``."""
        from reticent.guarantees import promises

        bound, price = self.influence.bound, self.influence.price
        inside = bound < self.influence.nodes - 1 and price == 1
        return promises.top_nodes(bound=bound, inside=inside, declared=self.known.declared)

    def draw(self, tables: Mapping[str, Bound], source: Source, progress: Progress) -> list[str]:
        """Names in the order of the list of nodes, which says nothing."""
        graph = _graph(tables, list(self.known.names or ()))
        scored = self.influence.scored(graph, progress, self.scatter)
        names = graph.names or ()
        return [str(names[place]) for place in sorted(self.mechanism.release(scored, source).value)]

    def show(self, kept: list[str]) -> list[str]:
        """The names."""
        return kept

    def rows(self, value: list[str]) -> list[tuple[Any, ...]]:
        """One for each node."""
        return [(name,) for name in value]


def _graph(tables: Mapping[str, Bound], nodes: list[str] | None) -> Graph:
    from reticent.data.graphs import Graph

    edges = tables["edges"]
    pairs = zip(edges["source"].tolist(), edges["target"].tolist(), strict=True)
    return Graph.of_edges(pairs, nodes=nodes)
