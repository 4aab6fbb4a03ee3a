"""DataFrames as what a query reads: collected in one order, or condensed before that.

Not here  what becomes of rows on the cluster (people.py, pairs.py), roles (queries/binding.py).

A DataFrame has no order: its rows are taken in the order of their cells, so that nothing depends on
how they lie. An answer about the whole depends on which rows there are and how often, so equal rows
come to the driver once, with their number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.data.list_columns import lines_of
from reticent.errors import require
from reticent.queries.base import Answer, Query
from reticent.queries.binding import Condensable, Given
from reticent.queries.inputs import ProfilesTable, Table
from reticent.spark.collecting import table_of
from reticent.spark.folders import pyspark, quoted
from reticent.spark.workers import in_arrow
from reticent.tasks.batched import arrow

if TYPE_CHECKING:
    from numpy.typing import NDArray

_COUNT = "count"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SparkTable(Condensable):
    """A DataFrame."""

    frame: Any

    def __repr__(self) -> str:
        return "SparkTable()"  # rows are private

    @property
    def names(self) -> Sequence[str]:
        """Of its columns."""
        return list(self.frame.columns)

    @property
    def lists(self) -> Sequence[str]:
        """Those of its columns that hold lists."""
        return [one.name for one in self.frame.schema if one.dataType.typeName() == "array"]

    def distinct_rows(self, columns: Sequence[str]) -> tuple[Any, NDArray[np.int64]]:
        """Distinct rows as an Arrow table, in the order of their cells, and their numbers."""
        pyspark()
        plain = [f"c{place}" for place in range(len(columns))]  # whatever they are called
        counted = self.frame.select(*map(quoted, columns)).toDF(*plain).groupBy(*plain).count()
        table = table_of(counted.orderBy(*plain) if plain else counted)
        times = np.asarray(table.column(_COUNT), dtype=np.int64)
        return table.drop_columns([_COUNT]).rename_columns(list(columns)), times

    def added_up(
        self,
        columns: Sequence[str],
        together: str | None,
        work: Callable[[Any], NDArray[np.int64]],
    ) -> NDArray[np.int64]:
        """Each task adds up its part, and the driver the sums of all."""
        named = list(map(quoted, columns)) or ["1 AS row"]  # rows count without columns, too
        rows = self.frame.select(*named) if columns else self.frame.selectExpr(*named)
        rows = rows if together is None else rows.repartition(quoted(together))
        schema = pyspark("sql.pandas.types").to_arrow_schema(rows.schema)
        sums = table_of(in_arrow(rows, _adding(work), "sums array<long>")).column(0)
        nobody = work(arrow().Table.from_batches([], schema))
        return nobody + sum(np.asarray(one.values, dtype=np.int64) for one in sums)

    def collected(self, columns: Sequence[str] | None = None) -> Any:
        """All rows of some columns, or of all, as an Arrow table in the order of their cells."""
        pyspark()
        names = list(self.names if columns is None else columns)
        plain = [f"c{place}" for place in range(len(names))]
        rows = self.frame.select(*map(quoted, names)).toDF(*plain).orderBy(*plain)
        return table_of(rows).rename_columns(names)


def _adding(
    work: Callable[[Any], NDArray[np.int64]],
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    def add(batches: Iterable[Any]) -> Iterator[Any]:
        pa, held = arrow(), list(batches)
        if held:
            sums = [work(pa.Table.from_batches(held))]
            yield pa.RecordBatch.from_arrays([pa.array(sums, pa.list_(pa.int64()))], names=["sums"])

    return add


def is_frame(held: Any) -> bool:
    """Whether something is a DataFrame of Spark, of this process or of a remote session."""
    return any(
        kind.__module__.startswith("pyspark.sql.") and kind.__name__ == "DataFrame"
        for kind in type(held).__mro__
    )


def session_of(data: Any) -> Any:
    """The session of the first DataFrame among what was given, or the one that is active."""
    held = list(data.values()) if isinstance(data, Mapping) else [data]
    values = [one.value if isinstance(one, Answer) else one for one in held]
    for one in filter(is_frame, values):
        return one.sparkSession
    active = pyspark("sql").SparkSession.getActiveSession()
    require(active is not None, "data", "others", "with a DataFrame of a Spark session")
    return active


def given_of(
    query: Query, data: Any, columns: Mapping[str, str] | None, large: str | None, **others: Any
) -> Given:
    """What was given for each input; public DataFrames are read, but not a ``large`` one."""
    inputs, several = query.reads({}), isinstance(data, Mapping)
    held = {name: _wrapped(one) for name, one in data.items()} if several else _wrapped(data)
    more = {name: _wrapped(one) for name, one in others.items()}
    given = Given.of(inputs, held, columns).and_also(**more)
    query.check_given(given.held)
    read = {
        name: one.collected()
        if isinstance(one, SparkTable) and inputs[name].public and name != large
        else one
        for name, one in given.held.items()
    }
    return replace(given, held=read)


def on_driver(given: Given, *, condensed: bool = False) -> Given:
    """Without DataFrames: all rows are here; ``condensed`` leaves tables that can be condensed."""
    held = dict(given.held)
    for name, one in given.held.items():
        about = given.inputs[name]
        if not isinstance(one, SparkTable) or (condensed and isinstance(about, Table)):
            continue
        if isinstance(about, ProfilesTable):
            roles = about.find(name, one.names, given.columns_of(name, given.inputs), one.lists)
            needed = list(roles.values())
            held[name] = lines_of(one.collected(needed), needed[1:])
        else:
            held[name] = one.collected()
    return replace(given, held=held)


def _wrapped(held: Any) -> Any:
    if isinstance(held, Answer) and is_frame(held.value):  # an artefact that Spark released
        columns = table_of(held.value).to_pydict()
        return replace(held, value=type(held.query).of_columns(columns))
    return SparkTable(held) if is_frame(held) else held
