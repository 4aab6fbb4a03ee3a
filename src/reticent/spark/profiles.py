"""Profiles from which a secret is hard to guess, of all people of a DataFrame.

Theory    docs/theory/mapping.md, Theorem 2 (certificate), Theorem 5 (integer rows)
Not here  learning (tasks/learning.py), what is drawn (tasks/recoding_arrow.py), how it is published
          (publishing.py).

The cluster counts how often profiles and secrets go together, the driver learns the mapping from
these counts, of which there are as many as kinds of people, and the mapping goes to all tasks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from reticent.errors import require
from reticent.ledger import Ledger
from reticent.noise import Source
from reticent.spark.collecting import table_of
from reticent.spark.folders import pyspark, quoted
from reticent.spark.publishing import Released, release
from reticent.tasks.batched import PERSON
from reticent.tasks.charged import ANYONE
from reticent.tasks.learning import Learnt, Limits, learn_mapping
from reticent.tasks.recoding import Alphabet, Measure, Recoding, Unknown
from reticent.tasks.recoding_arrow import ProfileBatches

_COUNT = "_people"


def count_profiles(frame: Any, public: Sequence[str], private: Sequence[str]) -> Alphabet:
    """How often profiles and secrets go together; a missing cell is a value of its own.

    Profiles stand in one order, however the rows of the frame lie.
    """
    pyspark()
    names = [*public, *private]
    require(len(public) > 0 and len(private) > 0, "columns", "none", "one or more of either kind")
    for name in names:
        require(name in frame.columns, "frame", "another", f"with a column {name!r}")
    counted = frame.groupBy(*map(quoted, names)).count()
    counted = counted.toDF(*(f"c{at}" for at in range(len(names))), _COUNT)
    table = table_of(counted.orderBy(*(f"c{at}" for at in range(len(names)))))
    require(table is not None, "frame", "without rows", "with some")
    cells = np.empty((table.num_rows, len(names)), dtype=object)
    for at in range(len(names)):
        cells[:, at] = [None if cell != cell else cell for cell in table.column(at).to_pylist()]
    counts = np.asarray(table.column(_COUNT), dtype=np.int64)
    return Alphabet.of_counts(cells[:, : len(public)], cells[:, len(public) :], counts)


def learn_profiles(
    frame: Any,
    public: Sequence[str],
    private: Sequence[str],
    limits: Limits,
    *,
    at_least: int = 1,
    measure: Measure | None = None,
    unknown: Unknown = "nearest",
    radius: float = math.inf,
) -> Learnt:
    """The mapping that tells least, or distorts least, among the people of a DataFrame.

    Profiles of fewer people than ``at_least`` count at the nearest of the others.
    """
    alphabet = count_profiles(frame, public, private)
    if at_least > 1:
        alphabet = alphabet.at_least(at_least, Measure() if measure is None else measure)
    return learn_mapping(
        alphabet,
        limits,
        measure=measure,
        columns=public,
        secret=", ".join(private),
        unknown=unknown,
        radius=radius,
    )


def release_profiles(
    frame: Any,
    recoding: Recoding,
    out: str,
    *,
    key: str,
    ledger: Ledger | None,
    person: str = PERSON,
    provider: str = ANYONE,
    source: Source | None = None,
    staging: str | None = None,
) -> Released:
    """One draw through a mapping for everybody of a DataFrame with a row for each person."""
    job = ProfileBatches(recoding, person=person, provider=provider, coded=False)
    return release(job, frame, out, key=key, ledger=ledger, source=source, staging=staging)
