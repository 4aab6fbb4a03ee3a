"""Histograms for a provider, of all people of a DataFrame.

Theory    docs/theory/multilevel.md, Theorems 1 and 2
Not here  what is drawn (tasks/histogram_arrow.py), how it is published (publishing.py).
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from reticent.data.catalogue import Catalogue
from reticent.errors import require
from reticent.guarantees import ITEM, Unit
from reticent.ledger import Ledger
from reticent.mechanisms.multilevel_plan import Goal
from reticent.noise import Source
from reticent.preferences import Preferences
from reticent.spark.folders import pyspark, quoted
from reticent.spark.publishing import Released, release
from reticent.tasks.batched import PERSON
from reticent.tasks.histogram_arrow import ITEMS, HistogramBatches

Rows: TypeAlias = Literal["people", "items"]
"""What a row of the DataFrame is: a person, or one item of a person."""


def release_histograms(
    frame: Any,
    catalogue: Catalogue,
    preferences: Preferences,
    provider: str,
    out: str,
    *,
    key: str,
    ledger: Ledger | None,
    rows: Rows = "people",
    person: str = PERSON,
    items: str = ITEMS,
    own: tuple[str, ...] = (),
    goal: Goal = "mse",
    unit: Unit = ITEM,
    source: Source | None = None,
    staging: str | None = None,
) -> Released:
    """What a provider gets of everybody, under one file of preferences.

    ``items`` is a column of lists, or with ``rows="items"`` of single items in a table with a row
    for each. ``own`` are the columns, of ``OWN``, with what people set themselves.
    """
    job = HistogramBatches.of(
        catalogue,
        preferences,
        provider,
        goal=goal,
        unit=unit,
        own=own,
        person=person,
        items=items,
    )
    require(rows in ("people", "items"), "rows", rows, "people or items")
    if rows == "items":
        require(not own, "own", own, "left out of a table with a row for each item")
        frame = gathered(frame, person, items)
    return release(job, frame, out, key=key, ledger=ledger, source=source, staging=staging)


def gathered(frame: Any, person: str, item: str) -> Any:
    """A row for each person with a list of distinct items, of a table with a row for each item."""
    for name in (person, item):
        require(name in frame.columns, "frame", "another", f"with a column {name!r}")
    functions = pyspark()
    held = frame.select(quoted(person), quoted(item)).where(functions.col(quoted(item)).isNotNull())
    lists = functions.collect_set(functions.col(quoted(item))).alias(item)
    return held.groupBy(quoted(person)).agg(lists)
