"""A map over people on a cluster: each task draws its people.

Theory    docs/theory/parts.md, Theorem 2 (it does not matter who draws)
Not here  what is drawn (``Terms.batches``), how it is published (publishing.py).

Lines of a person are brought together first. Names of people are text, as everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from reticent.data.profiles import FULL_WEIGHT
from reticent.errors import ParameterError, require
from reticent.noise import Source
from reticent.queries.base import Answer
from reticent.queries.inputs import Input, ProfilesTable
from reticent.queries.people import PersonTerms
from reticent.queries.person_batches import WHO, streamed
from reticent.spark.folders import pyspark, quoted
from reticent.spark.jobs import PersonJob, SparkRequest
from reticent.spark.publishing import CHARGE
from reticent.spark.tables import SparkTable
from reticent.spark.workers import in_arrow
from reticent.tasks.batched import Batched, arrow

_WHOLE = ("byte", "short", "integer", "long")
_ROW = "row"


def release_people(request: SparkRequest, terms: PersonTerms, public: Mapping[str, Any]) -> Answer:
    """A row for each person of the private table, or of those who are declared."""
    query = request.query
    name, table = streamed(query, public)
    held = request.given.held[name]
    rule = f"a DataFrame: what everybody has is read on the cluster ({name})"
    require(isinstance(held, SparkTable), "data", type(held).__name__, rule)
    chosen = request.given.columns_of(name, query.reads(public))
    roles = table.find(name, held.names, chosen, held.lists)
    batches = terms.batches(roles)
    job = PersonJob(request, terms, public, batches, decides=batches.fingerprint)

    def drawn() -> Any:
        rows = _rows(held.frame, table, roles, terms.known.names)
        own = rows.select(*map(quoted, batches.columns))
        return in_arrow(own, _drawing(batches, request.source), _schema(batches, own))

    return request.publish(job, drawn)


def _rows(
    frame: Any, table: Input, roles: Mapping[str, str], declared: Sequence[str] | None
) -> Any:
    """A row for each person, with lists where they may have several lines."""
    functions = pyspark()
    names = [roles[WHO], *(column for role, column in roles.items() if role != WHO)]
    for name in names:
        require(name in frame.columns, "frame", "another", f"with a column {name!r}")
    kind = frame.select(quoted(names[0])).schema[0].dataType.typeName()
    if kind not in (*_WHOLE, "string"):
        raise ParameterError("person", "a column of whole numbers or of text", kind)
    plain = [WHO, *(f"c{place}" for place in range(1, len(names)))]  # whatever they are called
    rows = frame.select(*map(quoted, names)).toDF(*plain)
    rows = rows.withColumn(WHO, functions.col(WHO).cast("string")).where(f"{WHO} <> ''")
    lists = len(plain) > 1 and rows.schema[1].dataType.typeName() == "array"
    if table.several and not lists:
        places = {role: plain[names.index(column)] for role, column in roles.items()}
        profiles = isinstance(table, ProfilesTable)
        rows = _profiles(rows, places) if profiles else _gathered(rows, plain[1:])
    else:
        twice = rows.groupBy(WHO).count().where("count > 1")
        if twice.limit(1).count():
            raise ParameterError("frame", "one row for each person", "somebody in two rows")
    if declared is not None:
        rows = _declared(rows, declared, table)
    return rows.toDF(*names)


def _profiles(lines: Any, places: Mapping[str, str]) -> Any:
    """Lists of items, each once and with its least weight; an item of weight 0 is not there."""
    functions, item, weight = pyspark(), places["item"], places.get("weight")
    known = functions.col(item).isNotNull()
    if lines.schema[item].dataType.typeName() == "string":
        known &= functions.col(item) != ""
    lines = lines.where(known)
    if weight is None:
        return _gathered(lines.distinct(), [item])
    number = functions.expr(f"try_cast({weight} AS double)")
    least = functions.min(functions.when(functions.isnan(number), 0.0).otherwise(number))
    every = functions.min(number.isNotNull())  # what is no number withholds
    held = lines.groupBy(WHO, item).agg(least.alias(weight), every.alias("every"))
    there = held.where((functions.col(weight) * FULL_WEIGHT >= 1) & functions.col("every"))
    return _gathered(there.drop("every"), [item, weight])


def _gathered(lines: Any, columns: Sequence[str]) -> Any:
    """A row for each person, with a list of each column, all in one order."""
    functions = pyspark()
    whole = functions.sort_array(functions.collect_list(functions.struct(*columns)))
    rows = lines.groupBy(WHO).agg(whole.alias(_ROW))
    return rows.select(WHO, *(functions.col(_ROW)[name].alias(name) for name in columns))


def _declared(rows: Any, declared: Sequence[str], table: Input) -> Any:
    """Rows of those who are declared; who has none gets one, where nothing is a row, too."""
    functions = pyspark()
    names = rows.sparkSession.createDataFrame([(name,) for name in declared], f"{WHO} string")
    if not table.several:
        found = rows.join(names, WHO, "left_semi")
        there = found.count() == len(declared)
        rule = "people of the table: who has no line there has nothing to release"
        require(there, "people", "others", rule)
        return found
    rows = names.join(rows, WHO, "left")
    lists = [field for field in rows.schema if field.dataType.typeName() == "array"]
    for field in lists:
        nothing = functions.expr(f"CAST(array() AS {field.dataType.simpleString()})")
        rows = rows.withColumn(field.name, functions.coalesce(field.name, nothing))
    return rows


def _plain(drawn: Any) -> Any:
    """A batch whose columns every Spark can read: no dictionaries, names as text."""
    pa = arrow()
    columns = [
        column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
        for column in drawn.columns
    ]
    return pa.RecordBatch.from_arrays(columns, names=drawn.schema.names)


def _schema(job: Batched, rows: Any) -> Any:
    """Columns of the draw, by drawing nobody; also what is wrong with the input, told early."""
    pa, types = arrow(), pyspark("sql.pandas.types")
    nobody = pa.RecordBatch.from_pylist([], types.to_arrow_schema(rows.schema))
    drawn = _plain(job.draw(nobody, Source.system()).batch).schema
    names = [CHARGE, *(name.lower() for name in drawn.names)]
    rule = "names that differ by more than case, and no " + CHARGE
    require(len(set(names)) == len(names), "columns of the release", "others", rule)
    return types.from_arrow_schema(drawn.append(pa.field(CHARGE, pa.int64())))


def _drawing(job: Batched, source: Source) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """What a task does with its batches."""

    def draw(batches: Iterable[Any]) -> Iterator[Any]:
        # Each attempt takes a key of its own; a seeded source gives each person a stream.
        own = Source.system() if source.private else source
        for batch in batches:
            drawn = job.draw(batch, own)
            plain = _plain(drawn.batch)
            charges = arrow().array(drawn.nano, arrow().int64())
            yield arrow().RecordBatch.from_arrays(
                [*plain.columns, charges], names=[*plain.schema.names, CHARGE]
            )

    return draw
