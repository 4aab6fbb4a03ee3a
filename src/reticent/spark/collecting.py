"""What a driver reads of a DataFrame and gives to one: Arrow batches, some at a time, in order.

Not here  what is made of them.

Each batch travels as one cell, which every version of Spark can send and a driver reads a hundred
times faster than rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from reticent.spark.folders import pyspark
from reticent.spark.workers import in_arrow
from reticent.tasks.batched import arrow

_CELL = "packed"


def batches_of(frame: Any) -> Iterator[Any]:
    """The rows of a frame in its order; a part of the frame is in memory at a time."""
    for row in in_arrow(frame, _packed, f"{_CELL} binary").toLocalIterator():
        yield from _unpacked(row[_CELL])


def table_of(frame: Any) -> Any:
    """All rows of a frame, of which there must be few enough for a driver."""
    packed = in_arrow(frame, _packed, f"{_CELL} binary").collect()  # by all tasks at once
    found = [batch for row in packed for batch in _unpacked(row[_CELL])]
    schema = None if found else pyspark("sql.pandas.types").to_arrow_schema(frame.schema)
    return arrow().Table.from_batches(found, schema)


def frame_of(spark: Any, tables: Iterable[Any]) -> Any:
    """Arrow tables, of which there is one or more, as a DataFrame."""
    held = list(tables)
    schema = pyspark("sql.pandas.types").from_arrow_schema(held[0].schema)
    cells = [(_cell(batch),) for table in held for batch in table.to_batches()]
    frame = spark.createDataFrame(cells, f"{_CELL} binary")
    return in_arrow(frame, _each_unpacked, schema)


def _packed(batches: Iterable[Any]) -> Iterator[Any]:
    for batch in batches:
        cell = arrow().array([_cell(batch)], arrow().binary())
        yield arrow().RecordBatch.from_arrays([cell], names=[_CELL])


def _each_unpacked(batches: Iterable[Any]) -> Iterator[Any]:
    for batch in batches:
        for cell in batch.column(0).to_pylist():
            yield from _unpacked(cell)


def _cell(batch: Any) -> bytes:
    sink = arrow().BufferOutputStream()
    with arrow().ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    found: bytes = sink.getvalue().to_pybytes()
    return found


def _unpacked(cell: Any) -> Iterator[Any]:
    with arrow().ipc.open_stream(bytes(cell)) as stream:
        yield from stream
