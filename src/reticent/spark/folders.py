"""What Spark's own readers and writers can do with folders, wherever these are.

Notation  a note = a little JSON in a folder of its own, written and read as a table of text
Not here  what is in the folders (publishing.py).

Files of a cluster may be anywhere, and a session may be remote, so that only tables can be asked
for; a session of this machine can ask files themselves. Of a remote session ``drop`` leaves an
empty folder behind.
"""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

from reticent.errors import MissingExtra
from reticent.running.staging import StagingError

SCHEMA = "release-on-spark/4"


def pyspark(module: str = "sql.functions") -> Any:
    """A module of PySpark, or what to install."""
    try:
        return import_module(f"pyspark.{module}")
    except ImportError:
        raise MissingExtra("Spark", "spark") from None


def quoted(name: str) -> str:
    """A name that may hold dots and spaces, as Spark wants it."""
    return "`" + name.replace("`", "``") + "`"


def there(spark: Any, path: str) -> bool:
    """Whether a file or folder is there; Spark's own readers warn of what they do not find."""
    found = _file_system(spark, path)
    if found is not None:
        system, place = found
        return bool(system.exists(place))
    try:
        _ = spark.read.format("binaryFile").load(path).schema
    except pyspark("errors").AnalysisException as error:
        if _condition(error) == "PATH_NOT_FOUND":
            return False
        raise
    return True


def read_note(spark: Any, path: str) -> dict[str, Any] | None:
    """What was noted here, or nothing; a note that was broken off counts as nothing."""
    if not there(spark, path):
        return None
    texts = [row.value for row in spark.read.text(path, wholetext=True).collect()]
    if not texts:
        return None
    try:
        held = json.loads(texts[0]) if len(texts) == 1 else None
    except ValueError:
        held = None
    if not isinstance(held, dict) or held.get("schema") != SCHEMA:
        raise StagingError("a note of this release is damaged, or of another version")
    return held


def write_note(spark: Any, path: str, told: dict[str, Any]) -> bool:
    """Note something; False if somebody has noted something here before."""
    text = json.dumps({"schema": SCHEMA, **told}, ensure_ascii=False)
    functions = pyspark()
    note = spark.range(1, numPartitions=1).select(functions.lit(text).alias("value"))
    broken = there(spark, path) and read_note(spark, path) is None
    try:
        note.write.mode("overwrite" if broken else "error").text(path)
    except pyspark("errors").AnalysisException as error:
        if _condition(error) == "PATH_ALREADY_EXISTS":
            return False
        raise
    return True


def drop(spark: Any, path: str) -> None:
    """Remove a folder and all in it."""
    found = _file_system(spark, path)
    if found is None:
        spark.range(0).write.mode("overwrite").parquet(path)
        return
    system, place = found
    system.delete(place, True)


def _file_system(spark: Any, path: str) -> tuple[Any, Any] | None:
    """Where a path is and the path itself; of a remote session, which has tables only, nothing."""
    try:
        jvm, session = spark._jvm, spark._jsparkSession
    except AttributeError:
        return None
    place = jvm.org.apache.hadoop.fs.Path(path)
    return place.getFileSystem(session.sessionState().newHadoopConf()), place


def _condition(error: Any) -> str | None:
    """The name of what went wrong, which Spark 3 and 4 tell by different methods."""
    told = getattr(error, "getCondition", None) or error.getErrorClass
    found: str | None = told()
    return found
