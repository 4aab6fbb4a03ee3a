"""Answers about everybody that depend on everybody, drawn on the driver and written by a cluster.

Not here  maps over people (people.py), how it is published (publishing.py).

What is read must fit into one machine. The heavy part of the work may be shared out
(scattering.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reticent.errors import ParameterError
from reticent.guarantees import canonical
from reticent.queries.base import Answer, Terms
from reticent.spark.collecting import frame_of
from reticent.spark.jobs import QueryJob, SparkRequest
from reticent.spark.publishing import CHARGE
from reticent.tasks.batched import PERSON


def release_lists(request: SparkRequest, terms: Terms, tables: Mapping[str, Any]) -> Answer:
    """Rows for each person; everybody who is in the terms is charged."""
    own = terms.scattered(request.scatter)
    due = own.payers(request.limit)
    if not due:  # nothing is released that nobody pays for
        raise ParameterError("data", "with people who can be charged", "others")
    paid = canonical(
        [[payer.subject, nano] for payer, nano in due]
    )  # another draw's would be others
    job = QueryJob(request, own, tables, decides=paid, account=due[0][0])

    def drawn() -> Any:
        kept = own.draw(tables, request.source, lambda share: None)
        return frame_of(request.spark, own.tables(kept))

    def charges(_: Any) -> Any:
        rows = [(payer.subject, nano) for payer, nano in due]
        return request.spark.createDataFrame(rows, f"{PERSON} string, {CHARGE} long")

    first, *rest = own.columns
    return request.publish(job, drawn, by=(first,), then=rest, charges=charges)
