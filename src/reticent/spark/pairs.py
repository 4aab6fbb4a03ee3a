"""A map over pairs of people on a cluster: each task compares its pairs.

Theory    docs/theory/similarity.md, Theorem 1 (a pair), Theorem 3 (many pairs)
Not here  the mechanism (tasks/similarity.py), how it is published (publishing.py).

Pairs may be as many as a cluster holds; profiles go to every task. Sizes of profiles are drawn
once, by the driver. A pair that is named twice, in either order, is released once, and which of the
two is named first is decided by their names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from reticent.data.profiles import Profiles
from reticent.noise import Source
from reticent.queries.base import Answer
from reticent.queries.similarity import Similarity, check_known, compared
from reticent.spark.folders import pyspark, quoted
from reticent.spark.jobs import QueryJob, SparkRequest
from reticent.spark.publishing import CHARGE
from reticent.spark.workers import in_arrow
from reticent.tasks.batched import PERSON, arrow, compute
from reticent.tasks.similarity import Similarity as Comparison

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Data: TypeAlias = tuple[Profiles, NDArray[np.float64]]

PAIRS = "pairs"
_FIRST, _SECOND = "person", "other"


def release_pairs(
    request: SparkRequest, query: Similarity, frame: Any, tables: Mapping[str, Any]
) -> Answer:
    """A row for each distinct pair of a DataFrame; ``tables`` are all other inputs."""
    chosen = request.given.columns_of(PAIRS, query.inputs)
    pairs = _distinct_pairs(frame, query.inputs[PAIRS].find(PAIRS, frame.columns, chosen))
    counts = _peers(pairs)
    listed = pairs.selectExpr("count(*)", f"bit_xor(xxhash64({_FIRST}, {_SECOND}))")
    number, digest = listed.first()
    most = counts.selectExpr("max(count)").first()[0] or 0
    terms = query.listed_elsewhere(query.facts(tables), number, most)
    names = {row[PERSON] for row in counts.select(PERSON).toLocalIterator()}
    check_known(names, terms.known)
    some = compared(tables["profiles"].profiles, names)
    comparison, while_drawn = terms.mechanism, ExitStack()

    def drawn() -> Any:
        norms = comparison.release_norms(some, request.source)
        work = _Scores(comparison, request.source, terms.columns)
        schema = ", ".join(f"{name} string" for name in terms.columns[:2])
        carried = while_drawn.enter_context(request.scatter.carried((some, norms)))
        return in_arrow(pairs, work.reading(carried), f"{schema}, {terms.columns[2]} double")

    def charges(held: Any) -> Any:
        return in_arrow(_peers(held), _losses(comparison), f"{PERSON} string, {CHARGE} long")

    job = QueryJob(request, terms, tables, decides=f"{number} {most} {digest}")
    with while_drawn:
        return request.publish(job, drawn, by=(_FIRST, _SECOND), charges=charges)


def _distinct_pairs(frame: Any, roles: Mapping[str, str]) -> Any:
    """Unordered pairs of two people, each once."""
    functions = pyspark()
    ends = (functions.col(quoted(roles[role])).cast("string") for role in (_FIRST, _SECOND))
    both = frame.select(*ends).toDF("a", "b").where("a <> '' AND b <> '' AND a <> b")
    return both.selectExpr(f"least(a, b) AS {_FIRST}", f"greatest(a, b) AS {_SECOND}").distinct()


def _peers(pairs: Any) -> Any:
    """How many distinct peers everybody has."""
    others = pairs.selectExpr(f"{_SECOND} AS {PERSON}")
    return pairs.selectExpr(f"{_FIRST} AS {PERSON}").union(others).groupBy(PERSON).count()


def _losses(comparison: Comparison) -> Callable[[Iterable[Any]], Iterator[Any]]:
    def lost(batches: Iterable[Any]) -> Iterator[Any]:
        @cache
        def nano(peers: int) -> int:
            return comparison.guarantee(comparisons=peers).overall

        for batch in batches:
            amounts = [nano(count) for count in batch.column("count").to_pylist()]
            charges = arrow().array(amounts, arrow().int64())
            yield arrow().RecordBatch.from_arrays(
                [batch.column(PERSON), charges], names=[PERSON, CHARGE]
            )

    return lost


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Scores:
    """What a task does with its pairs."""

    comparison: Comparison
    source: Source
    columns: tuple[str, ...]

    def reading(self, carried: Callable[[], Data]) -> Callable[[Iterable[Any]], Iterator[Any]]:
        """Pairs in, scores out; ``carried`` gets profiles and their sizes."""

        def scores(batches: Iterable[Any]) -> Iterator[Any]:
            profiles, norms = carried()
            own = Source.system() if self.source.private else self.source
            noise = self.comparison.pair_noise(own)  # every pair is here once: tasks need not agree
            names = arrow().array(profiles.people, arrow().string())
            for batch in batches:
                one, two = (
                    np.asarray(compute().index_in(column, value_set=names), dtype=np.int64)
                    for column in batch.columns
                )
                score = self.comparison.pairs(profiles, one, two, norms=norms, noise=noise)
                yield arrow().RecordBatch.from_arrays(
                    [*batch.columns, arrow().array(score)], names=list(self.columns)
                )

        return scores
