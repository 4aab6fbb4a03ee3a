"""Answers about everybody that depend on everybody, drawn on the driver and written by a cluster.

Not here  maps over people (people.py), how it is published (publishing.py).

What is read must fit into one machine. The heavy part of the work may be shared out
(scattering.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from reticent.errors import ParameterError
from reticent.queries.base import Answer, Terms
from reticent.spark.collecting import frame_of
from reticent.spark.jobs import Asked, QueryJob
from reticent.spark.publishing import CHARGE, publish
from reticent.tasks.batched import PERSON


def release_lists(asked: Asked, terms: Terms, tables: Mapping[str, Any]) -> Answer:
    """Rows for each person; everybody who is in the terms is charged."""
    own = terms.scattered(asked.scatter)
    job = QueryJob(asked, own, tables)
    due = own.payers(asked.limit)
    if not due:  # nothing is released that nobody pays for
        raise ParameterError("data", "with people who can be charged", "others")

    def drawn() -> Any:
        kept = own.draw(tables, asked.source, lambda share: None)
        return frame_of(asked.spark, own.tables(kept))

    def charges(_: Any) -> Any:
        rows = [(payer.subject, nano) for payer, nano in due]
        return asked.spark.createDataFrame(rows, f"{PERSON} string, {CHARGE} long")

    first, *rest = own.columns
    released = publish(
        job,
        asked.spark,
        drawn,
        replace(asked.where, by=(first,), then=tuple(rest)),
        key=asked.key,
        ledger=asked.ledger,
        source=asked.source,
        charges=charges,
        limit=asked.limit,
    )
    return asked.answer(released, own)
