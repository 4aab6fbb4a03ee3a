"""Answers that are derived from artefacts, on a cluster: nothing is drawn and nobody pays.

Not here  what is derived (queries/derived.py and each query).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from reticent.queries.base import Answer, Query
from reticent.queries.binding import Given
from reticent.queries.derived import answer_of, check_unused
from reticent.queries.inputs import Input
from reticent.queries.run import release_given
from reticent.spark.folders import pyspark, quoted
from reticent.spark.lists import frame_of
from reticent.spark.tables import SparkTable, on_driver
from reticent.spark.workers import in_arrow
from reticent.tasks.batched import arrow


def release_derived(
    query: Query, given: Given, spark: Any, out: str, unused: Mapping[str, object]
) -> Answer:
    """Rows as a folder of Parquet files, which must not be there yet."""
    check_unused(unused)
    terms: Any
    public = given.public()
    mapped = getattr(query.terms(query.facts(public)), "mapped", None)
    if mapped is not None and isinstance(given.held.get(mapped), SparkTable):
        rows, terms = _mapped(query, given, public, mapped)
    else:
        nothing: dict[str, Any] = dict.fromkeys(unused)
        made = release_given(query, on_driver(given), **nothing)
        rows, terms = frame_of(spark, made.terms, made.value), made.terms
    rows.write.mode("error").parquet(out)
    return answer_of(query, terms, spark.read.parquet(out))


def _mapped(query: Query, given: Given, public: Mapping[str, Any], name: str) -> tuple[Any, Any]:
    """Rows, derived task by task, and their terms."""
    frame, table = given.held[name].frame, query.reads(public)[name]
    chosen = given.chosen(query.reads(public)).get(name, {})
    roles = table.columns_in(name, frame.columns, chosen)
    read = _reading(table, name, roles)
    rows = frame.select(*map(quoted, roles.values()))
    types = pyspark("sql.pandas.types")
    empty = arrow().Table.from_batches([], types.to_arrow_schema(rows.schema))
    terms: Any = query.terms(query.facts({**public, name: read(empty)}))
    terms.derive({**public, name: read(empty)}, lambda share: None)  # what is wrong is told early
    kinds = {str: arrow().string(), float: arrow().float64(), int: arrow().int64()}
    fields = zip(terms.columns, (str, *terms.types), strict=True)
    schema = arrow().schema([(column, kinds[kind]) for column, kind in fields])

    def derive(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            tables = {**public, name: read(arrow().Table.from_batches([batch]))}
            made = terms.rows(terms.show(terms.derive(tables, lambda share: None)))
            columns = [
                arrow().array([row[place] for row in made], field.type)
                for place, field in enumerate(schema)
            ]
            yield arrow().RecordBatch.from_arrays(columns, schema=schema)

    return in_arrow(rows, derive, types.from_arrow_schema(schema)), terms


def _reading(table: Input, name: str, roles: Mapping[str, str]) -> Callable[[Any], Any]:
    """Rows of a DataFrame, which have no numbers of their own."""
    return lambda held: replace(table.read(name, held, roles, {}), numbered=False)
