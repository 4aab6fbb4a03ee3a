"""Answers that are derived from artefacts, on a cluster: nothing is drawn and nobody pays.

Not here  what is derived (queries/derived.py and each query).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from reticent.errors import require
from reticent.queries.base import Answer, Public, Query
from reticent.queries.binding import Given
from reticent.queries.derived import DerivedTerms, card_of_derived
from reticent.queries.row_batches import RowBatches
from reticent.queries.run import read_given
from reticent.spark.collecting import frame_of
from reticent.spark.folders import pyspark, quoted
from reticent.spark.tables import SparkTable, on_driver
from reticent.spark.workers import in_arrow
from reticent.tasks.batched import arrow

_ID = "id"


def release_derived(query: Query, given: Given, spark: Any, out: str) -> Answer:
    """Rows as a folder of Parquet files, which must not be there yet."""
    public = given.public()
    terms: Any = query.terms(query.facts(public))
    name = next((n for n, one in given.held.items() if isinstance(one, SparkTable)), None)
    if terms.artefact and name is not None:
        terms, rows = _by_rows(query, terms, given, public, name)
    else:
        terms, tables = read_given(query, on_driver(given))
        rows = frame_of(spark, terms.tables(terms.derive(tables, lambda share: None)))
    rows.write.mode("error").parquet(out)
    card = card_of_derived(terms, None)
    return Answer(query, spark.read.parquet(out), card, "0", terms=terms)


def _by_rows(
    query: Query, terms: DerivedTerms, given: Given, public: Mapping[str, Any], name: str
) -> tuple[DerivedTerms, Any]:
    """Each task derives its own rows."""
    frame, inputs = given.held[name].frame, query.reads(public)
    roles = inputs[name].find(name, frame.columns, given.columns_of(name, inputs))
    rule = f"with one that plays {_ID}, as {_ID}=NAME: rows of a DataFrame have no numbers"
    require(_ID in roles, "columns", "others", rule)
    known: Any = terms.informed(query, Public(names=[], tables=public))
    job = RowBatches(query, known, name, roles, tuple(roles.values()))
    kinds = {str: arrow().string(), float: arrow().float64(), int: arrow().int64()}
    fields = zip(known.columns, known.types, strict=True)
    schema = arrow().schema([(column, kinds[kind]) for column, kind in fields])

    def derive(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            table, _ = job.made(batch, 0)
            yield from table.cast(schema).to_batches()

    rows = frame.select(*map(quoted, job.columns))
    return known, in_arrow(rows, derive, pyspark("sql.pandas.types").from_arrow_schema(schema))
