"""Similarity of given pairs, and everybody's nearest neighbours, on a cluster.

Theory    docs/theory/similarity.md, Theorem 1 (a pair), Theorem 3 (many pairs);
          docs/theory/neighbours.md, Theorem 3 (blocks)
Not here  the mechanism (tasks/similarity.py, tasks/neighbours.py), how it is published
          (publishing.py).

Profiles go to every task, in the task itself or, if they are large, in a file that all machines can
read. Norms are drawn once, by the driver. Each task makes the lists of some people; with
``peers_at_once`` it looks at so many peers at a time, which takes less memory.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from reticent.data.profiles import Profiles
from reticent.errors import require
from reticent.guarantees import Event, canonical
from reticent.guarantees.losses import require_dp
from reticent.ledger import Ledger
from reticent.noise import Source
from reticent.rational import whole
from reticent.spark.collecting import table_of
from reticent.spark.folders import pyspark, quoted
from reticent.spark.publishing import CHARGE, Released, publish
from reticent.spark.workers import in_arrow
from reticent.tasks.batched import PERSON, arrow
from reticent.tasks.charged import Payer, new_key
from reticent.tasks.neighbours import BLOCK_ROWS, merge_nearest
from reticent.tasks.similarity import Similarity

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Data: TypeAlias = tuple[Profiles, NDArray[np.float64]]

ROWS = 4 * BLOCK_ROWS
"""People of a task: whole blocks, each with a stream of its own."""


def profiles_of(
    frame: Any,
    person: str,
    item: str,
    weight: str | None = None,
    *,
    people: Iterable[Any] | None = None,
    items: Iterable[Any] | None = None,
) -> Profiles:
    """Profiles of a DataFrame with a row for each person and item; they must fit into a machine.

    ``people`` and ``items`` declare who and what there is, as in ``Profiles.of``.
    """
    pyspark()
    names = [person, item, *([] if weight is None else [weight])]
    for name in names:
        require(name in frame.columns, "frame", "another", f"with a column {name!r}")
    kept = frame.select(*map(quoted, names)).dropna(subset=[quoted(person), quoted(item)])
    table = table_of(kept)
    require(table is not None, "frame", "without rows", "with some")
    who, what = (table.column(name).to_pylist() for name in (person, item))
    weights = 1.0 if weight is None else table.column(weight).to_pylist()
    return Profiles.of(who, what, weights, people=people, items=items)


@dataclass(frozen=True, eq=False)
class _Comparison:
    """What is asked of profiles, and who pays; ``most`` is the peers of whoever has most."""

    similarity: Similarity
    told: tuple[Any, ...]
    private: bool
    most: int
    limit: int | None

    @property
    def fingerprint(self) -> str:
        told = canonical([self.similarity.parameters(), *self.told])
        return hashlib.sha256(told.encode()).hexdigest()

    def event(self, source: Source) -> Event:
        return self.similarity.pairs_event(self.most, private=source.private and self.private)

    def payer(self, person: str) -> Payer:
        return Payer(subject=person, limit=self.limit)


@dataclass(frozen=True, eq=False)
class _Lists(_Comparison):
    people: int
    k: int

    def event(self, source: Source) -> Event:
        private = source.private and self.private
        return self.similarity.neighbours_event(self.people, self.k, private=private)


def release_neighbours(
    spark: Any,
    profiles: Profiles,
    similarity: Similarity,
    k: int,
    out: str,
    *,
    key: str,
    ledger: Ledger | None,
    limit: int | None = None,
    source: Source | None = None,
    staging: str | None = None,
    shared: str | Path | None = None,
    peers_at_once: int | None = None,
) -> Released:
    """For everybody the k most similar others: ``person``, ``peers``, ``scores``, best first.

    Each list is for its owner's eyes; see ``Neighbours``. ``limit`` is what anybody may lose in
    all, in nano-epsilon. ``shared`` is a folder that all machines see, for large profiles. With a
    seeded source and all peers at once the lists are those of ``similarity.neighbours``.
    """
    functions = pyspark()
    whole(k, "k", least=1)
    own, count = (Source.system() if source is None else source), len(profiles)
    step = count if peers_at_once is None else whole(peers_at_once, "peers_at_once", least=1)
    told = ("neighbours", k, peers_at_once)
    job = _Lists(similarity, told, profiles.private, 0, limit, count, k)
    lost = require_dp(job.event(own).loss).overall
    carried = _Carried(shared)

    def drawn() -> Any:
        norms = similarity.release_norms(profiles, own)
        named = own.child(f"neighbours {own.bits(128)}")
        data = carried.data(profiles, norms)
        blocks = max(-(-count // ROWS), 1)
        most = min(k, max(count - 1, 1))
        tasks = spark.range(blocks, numPartitions=blocks)
        lists = in_arrow(
            tasks,
            _lists(similarity, most, data, named, max(step, 1)),
            f"{PERSON} string, peers array<string>, scores array<double>",
        )
        return lists.withColumn(CHARGE, functions.lit(lost).cast("long"))

    with carried:
        return publish(job, spark, drawn, out, key=key, ledger=ledger, source=own, staging=staging)


def release_pairs(
    frame: Any,
    profiles: Profiles,
    similarity: Similarity,
    out: str,
    *,
    key: str,
    ledger: Ledger | None,
    ends: tuple[str, str] = ("first", "second"),
    limit: int | None = None,
    source: Source | None = None,
    staging: str | None = None,
    shared: str | Path | None = None,
) -> Released:
    """Noisy similarity of pairs of people named in a DataFrame: ``first``, ``second``, ``score``.

    A pair that is named twice, in either order, is released once, and pairs with somebody who has
    no profile are left out. Which pairs are asked for is public, and everybody is charged for the
    number of their distinct peers. With a seeded source scores are those of ``similarity.pairs``.
    """
    functions, spark = pyspark(), frame.sparkSession
    own = Source.system() if source is None else source
    asked = _distinct_pairs(frame, profiles, ends)
    counts = _peers(asked)
    most = counts.agg(functions.max("count")).first()[0] or 0
    job = _Comparison(similarity, ("pairs",), profiles.private, most, limit)
    carried = _Carried(shared)

    def drawn() -> Any:
        norms = similarity.release_norms(profiles, own)
        data = carried.data(profiles, norms)
        schema = "first string, second string, score double"
        return in_arrow(asked, _scores(similarity, data, own), schema)

    def charges(held: Any) -> Any:
        schema = f"{PERSON} string, {CHARGE} long"
        return in_arrow(_peers(held), _losses(similarity), schema)

    with carried:
        return publish(
            job,
            spark,
            drawn,
            out,
            key=key,
            ledger=ledger,
            source=own,
            charges=charges,
            staging=staging,
        )


def _names(profiles: Profiles) -> Any:
    return arrow().array(profiles.people, arrow().string())


def _distinct_pairs(frame: Any, profiles: Profiles, ends: tuple[str, str]) -> Any:
    """Unordered pairs of two people, each once."""
    functions = pyspark()
    for name in ends:
        require(name in frame.columns, "frame", "another", f"with a column {name!r}")
    one, other = (functions.col(quoted(name)).cast("string") for name in ends)
    found = frame.select(
        functions.least(one, other).alias("first"), functions.greatest(one, other).alias("second")
    )
    return found.where("first <> second").distinct()


def _peers(pairs: Any) -> Any:
    """How many distinct peers everybody has."""
    both = pairs.selectExpr(f"first AS {PERSON}").union(pairs.selectExpr(f"second AS {PERSON}"))
    return both.groupBy(PERSON).count()


def _losses(similarity: Similarity) -> Callable[[Iterable[Any]], Iterator[Any]]:
    def lost(batches: Iterable[Any]) -> Iterator[Any]:
        @cache
        def nano(peers: int) -> int:
            return require_dp(similarity.guarantee(comparisons=peers)).overall

        for batch in batches:
            amounts = [nano(count) for count in batch.column("count").to_pylist()]
            charges = arrow().array(amounts, arrow().int64())
            yield arrow().RecordBatch.from_arrays(
                [batch.column(PERSON), charges], names=[PERSON, CHARGE]
            )

    return lost


def _scores(
    similarity: Similarity, data: Callable[[], Data], source: Source
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    def scores(batches: Iterable[Any]) -> Iterator[Any]:
        profiles, norms = data()
        own = Source.system() if source.private else source
        noise = similarity.pair_noise(own)  # every pair is here once: tasks need not agree
        names = _names(profiles)
        for batch in batches:
            found = [arrow().compute.index_in(batch.column(at), value_set=names) for at in (0, 1)]
            known = arrow().compute.and_(found[0].is_valid(), found[1].is_valid())
            one, two = (np.asarray(place.filter(known), dtype=np.int64) for place in found)
            kept = batch.filter(known)
            score = similarity.pairs(profiles, one, two, norms=norms, noise=noise)
            yield arrow().RecordBatch.from_arrays(
                [kept.column(0), kept.column(1), arrow().array(score)],
                names=["first", "second", "score"],
            )

    return scores


def _lists(
    similarity: Similarity, k: int, data: Callable[[], Data], source: Source, step: int
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    def lists(batches: Iterable[Any]) -> Iterator[Any]:
        profiles, norms = data()
        own = Source.system() if source.private else source
        names, count = _names(profiles), len(profiles)
        for batch in batches:
            for block in batch.column(0).to_pylist():
                rows = range(block * ROWS, min((block + 1) * ROWS, count))
                parts = [
                    similarity.neighbours_between(
                        profiles,
                        k,
                        rows=rows,
                        peers=range(at, min(at + step, count)),
                        norms=norms,
                        source=own,
                        threads=1,
                    )
                    for at in range(0, count, step)
                ]
                peers, scores = parts[0] if len(parts) == 1 else merge_nearest(parts, k)
                yield _listed(names, rows, peers, scores)

    return lists


def _listed(names: Any, rows: range, peers: Any, scores: Any) -> Any:
    """A row for each person: names of peers and scores, best first."""
    pa = arrow()
    there = peers >= 0
    starts = pa.array(np.concatenate([[0], np.cumsum(there.sum(axis=1))]), pa.int32())
    chosen = names.take(pa.array(peers[there]))
    return pa.RecordBatch.from_arrays(
        [
            names.slice(rows.start, len(rows)),
            pa.ListArray.from_arrays(starts, chosen),
            pa.ListArray.from_arrays(starts, pa.array(scores[there])),
        ],
        names=[PERSON, "peers", "scores"],
    )


class _Carried:
    """How tasks get at profiles: as a part of them, or in a file that is removed in the end."""

    def __init__(self, shared: str | Path | None) -> None:
        name = f"profiles-{new_key()}.npz"
        self.path = None if shared is None else Path(shared).absolute() / name

    def __enter__(self) -> None:
        """Nothing is written yet."""

    def __exit__(self, *_: object) -> None:
        if self.path is not None:
            self.path.unlink(missing_ok=True)

    def data(self, profiles: Profiles, norms: NDArray[np.float64]) -> Callable[[], Data]:
        """What a task calls."""
        if self.path is None:
            return lambda: (profiles, norms)
        np.savez(
            self.path,
            norms=norms,
            people=np.array(profiles.people, dtype=str),
            indptr=profiles.indptr,
            indices=profiles.indices,
            weights=profiles.weights,
        )
        path, private = str(self.path), profiles.private
        return lambda: _read(path, private)


@cache
def _read(path: str, private: bool) -> Data:
    with np.load(path) as held:
        people = held["people"].tolist()
        rows = (held["indptr"], held["indices"], held["weights"])
        items = list(map(str, range(int(rows[1].max(initial=-1)) + 1)))
        return Profiles(*rows, people, items, private), held["norms"]
