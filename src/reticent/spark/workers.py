"""The Python of Spark's workers: this one on the same machine, else one that has Reticent.

Not here  what workers are sent (publishing.py and others).

Spark starts its workers with the ``python3`` of the path, which need not be the one that runs here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from reticent._version import __version__
from reticent.errors import ReticentError
from reticent.spark.folders import pyspark

_CHOSEN = ("spark.pyspark.python", "spark.pyspark.driver.python")
_seen: set[str] = set()  # applications whose workers were asked


class WorkersError(ReticentError):
    """Workers cannot run what they would be sent; the text says what they need."""


def in_arrow(frame: Any, function: Callable[..., Any], schema: Any) -> Any:
    """``frame.mapInArrow``, once it is known that workers can run it."""
    _make_ready(frame.sparkSession)
    return frame.mapInArrow(function, schema)


def _make_ready(spark: Any) -> None:
    try:
        context = spark._jsparkSession and spark.sparkContext
        name, local = str(context.applicationId), _is_local(str(context.master))
    except AttributeError:  # a remote session
        name, local = str(spark.session_id), False
    if local:
        chosen = "PYSPARK_PYTHON" in os.environ or any(map(context.getConf().contains, _CHOSEN))
        context.pythonExec = context.pythonExec if chosen else sys.executable
    elif name not in _seen:
        check_workers(spark)
        _seen.add(name)


def _is_local(master: str) -> bool:
    return master == "local" or master.startswith("local[")


def check_workers(spark: Any) -> None:
    """Ask one worker for its Reticent; an error says what is missing."""
    functions = pyspark()
    asked = functions.udf(_own_version, "string")
    one = spark.range(1, numPartitions=1).select(asked(functions.col("id")).alias("version"))
    needed = f"install 'reticent[spark]' {__version__} there, or name its Python in PYSPARK_PYTHON"
    try:
        version = one.collect()[0].version
    except pyspark("errors").PythonException as error:  # it lacks what Spark itself needs
        raise WorkersError(f"workers cannot run Reticent in their Python: {needed}") from error
    if version != __version__:
        held = f"have reticent {version}" if version else "have no reticent in their Python"
        raise WorkersError(f"workers {held}: {needed}")


def _own_version(_: int) -> str:
    """Runs where Reticent may be missing, so it is sent as it stands."""
    from importlib import metadata

    try:
        return metadata.version("reticent")
    except metadata.PackageNotFoundError:
        return ""


_own_version.__module__ = "__main__"  # else it would be sent as a name in this module
_own_version.__annotations__.clear()  # which are names of this module, too
