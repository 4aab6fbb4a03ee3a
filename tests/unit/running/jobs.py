"""What the tests of the runner release: a small catalogue, wishes, and people with items."""

from pathlib import Path

import pyarrow as pa

from reticent.data.catalogue import Catalogue
from reticent.ledger.reports import balances
from reticent.preferences import Preferences
from reticent.tasks.histogram_arrow import HistogramBatches

FILMS = Catalogue.of(
    [[1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1]],
    items=("Heat", "Up", "Ran", "Fargo"),
    attributes=("Crime", "Drama", "War"),
)
WISHES = """
version = 1
attributes.default = 0.2
[providers."club.example"]
epsilon = 0.4
"""


def job(limits: str = "", **options) -> HistogramBatches:
    wishes = Preferences.parse(WISHES + limits)
    return HistogramBatches.of(FILMS, wishes, "club.example", **options)


def people(count: int, *, first: int = 0):
    """A person with a list of items in each row; who has what is no secret of the tests."""
    numbers = range(first, first + count)
    items = [[FILMS.items[i] for i in range(4) if (n >> i) & 1] for n in numbers]
    return pa.table({"person": [f"p{n}" for n in numbers], "items": items})


def write(path: Path, table, *, group: int = 100) -> Path:
    import pyarrow.parquet as pq

    pq.write_table(table, path, row_group_size=group)
    return path


def rows_of(out: Path) -> dict:
    """What was released, by person."""
    import pyarrow.parquet as pq

    rows = pq.read_table(out).to_pylist()
    found = {row["person"]: row for row in rows}
    assert len(found) == len(rows), "somebody was released twice"
    return found


def spent(ledger) -> dict[str, int]:
    """What the ledger has counted, by person."""
    with ledger.reading() as connection:
        return {one.account.subject: one.spent for one in balances(connection)}
