"""The one function: a query released about data that are on a cluster.

Theory    docs/theory/parts.md, Theorem 1 (one answer and one charge)
Not here  what each shape does (people.py, lists.py, pairs.py, derived.py).

Spark only carries the work. Terms, promise, card and what is drawn are those of ``Query.release``,
and a seeded source draws the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from reticent.errors import require
from reticent.ledger import Ledger
from reticent.noise import Source
from reticent.queries import run
from reticent.queries.base import Answer, Pays, Query, Shape
from reticent.queries.binding import Given
from reticent.queries.derived import refuse_costs
from reticent.queries.people import PersonTerms
from reticent.queries.run import Told, limit_of, opened, read_given
from reticent.queries.similarity import Similarity
from reticent.rational import Number, whole
from reticent.spark.derived import release_derived
from reticent.spark.folders import pyspark
from reticent.spark.jobs import SparkRequest
from reticent.spark.lists import release_lists
from reticent.spark.pairs import PAIRS, release_pairs
from reticent.spark.people import release_people
from reticent.spark.publishing import Destination
from reticent.spark.scattering import SparkScatter
from reticent.spark.tables import SparkTable, given_of, on_driver, session_of
from reticent.tasks.charged import new_key


def release(
    query: Query,
    data: Any,
    *,
    columns: Mapping[str, str] | None = None,
    people: Any = None,
    preferences: Any = None,
    ledger: Ledger | str | Path | None = None,
    data_set: str | None = None,
    total: Number | None = None,
    key: str | None = None,
    source: Source | None = None,
    out: str | Path | None = None,
    staging: str | Path | None = None,
    shared: str | Path | None = None,
    peers_at_once: int | None = None,
) -> Answer:
    """Release an answer about ``data``, of which tables may be DataFrames; see ``Query.release``.

    An answer for each person or pair is written to ``out``, a folder of Parquet files wherever
    Spark can write, and its value is a DataFrame of that folder. The same ``key`` takes up a
    release that was broken off. ``staging`` is a folder for what nobody may see yet, beside ``out``
    unless you say where. ``shared`` is a folder that all machines see, for profiles of some hundred
    megabytes and more; ``peers_at_once`` makes tasks compare people with so many others at a time,
    which takes less memory.
    """
    pyspark()
    spark = session_of(data)
    others = {"people": people, "preferences": preferences}
    given = given_of(query, data, columns, _large(query), **others)
    if peers_at_once is not None:
        whole(peers_at_once, "peers_at_once", least=1)
    scatter = SparkScatter(spark, shared, peers_at_once)
    _check_out(query, given, out)
    charged: dict[str, Any] = {"ledger": ledger, "data_set": data_set, "total": total, "key": key}
    if out is None:
        require(staging is None, "staging", str(staging), "left out without a folder to make")
        held, told = on_driver(given, condensed=True).held, Told(scatter=scatter)
        return run.release(query, held, columns=columns, source=source, told=told, **charged)
    if query.paid_by(given.held) is Pays.NOBODY:
        refuse_costs(**charged, source=source)
        return release_derived(query, given, spark, str(out))
    limited = ledger is not None or total is None
    require(limited, "total", "one", "left out where there is no ledger to keep it")
    with nullcontext() if ledger is None else opened(ledger) as book:
        request = SparkRequest(
            query=query,
            given=given,
            columns=columns,
            spark=spark,
            destination=Destination(str(out), None if staging is None else str(staging)),
            key=new_key() if key is None else key,
            ledger=book,
            limit=limit_of(query, data_set, total),
            source=Source.system() if source is None else source,
            scatter=scatter,
        )
        return _written(request)


def _written(request: SparkRequest) -> Answer:
    """An answer for each person or pair."""
    query, given = request.query, request.given
    if isinstance(query, Similarity) and isinstance(given.held.get(PAIRS), SparkTable):
        frame, rest = given.held[PAIRS].frame, on_driver(given.without(PAIRS))
        public = rest.public()
        tables = public | rest.private(public, query.reads(public))
        return release_pairs(request, query, frame, tables)
    public = given.public()
    terms = query.terms(query.facts(public))
    if isinstance(terms, PersonTerms):
        return release_people(request, terms, public)
    return release_lists(request, *read_given(query, on_driver(given)))


def _large(query: Query) -> str | None:
    """The public table that stays on the cluster, if it is there."""
    return PAIRS if isinstance(query, Similarity) else None


def _check_out(query: Query, given: Given, out: str | Path | None) -> None:
    """An answer about the whole is one value; others are as many rows as there are people."""
    if query.shape is Shape.PER_PERSON:
        require(out is not None, "out", None, "a folder: there is a row for each person")
    if query.shape is Shape.WHOLE:
        require(out is None, "out", str(out), "left out: the answer comes back by itself")
    if isinstance(given.held.get(_large(query) or ""), SparkTable):
        require(out is not None, "out", None, "a folder: there is a row for each pair")
