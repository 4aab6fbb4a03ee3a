"""Tables on other machines: equal rows come once, or only sums come; answers are the same."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import reticent as rt
from reticent.errors import ParameterError
from reticent.noise import Source
from reticent.queries.binding import Condensable

DRAW = np.random.default_rng(5)
LINES = {
    "person": [f"p{n}" for n in DRAW.integers(0, 30, 200)],
    "category": ["xyz"[n] for n in DRAW.integers(0, 3, 200)],
    "value": DRAW.integers(0, 9, 200).tolist(),
    "note": ["private"] * 200,
}
PEOPLE = {
    "person": [f"p{n}" for n in range(200)],
    "home": [("town", "land", "")[n % 3] for n in range(200)],
    "age": [20 + n * n % 30 for n in range(200)],
    "rich": [("low", "high", "")[n * 7 % 20 % 3] for n in range(200)],
}

LEARNT = rt.Mapping(secret="rich", delta="0.2", bins={"age": 10})


@dataclass
class Elsewhere(Condensable):
    """Columns that are read by rows once each, or in parts, and by nothing else."""

    columns: dict[str, list[Any]]
    read: set[str]
    parts: int = 3

    @property
    def names(self) -> Sequence[str]:
        return list(self.columns)

    def distinct_rows(self, columns: Sequence[str]) -> tuple[Any, Any]:
        self.read |= set(columns)
        lines = zip(*(self.columns[name] for name in columns), strict=True)
        counted = sorted(Counter(lines).items())
        held = zip(*(line for line, _ in counted), strict=True)
        table = pa.table(dict(zip(columns, map(list, held), strict=True)))
        return table, np.array([times for _, times in counted])

    def added_up(self, columns: Sequence[str], together: str | None, work: Callable) -> Any:
        self.read |= set(columns)
        keys = self.columns[together] if together else range(len(self.columns[columns[0]]))
        dealt = [hash(key) % self.parts for key in keys]
        held = [list(zip(dealt, self.columns[name], strict=True)) for name in columns]
        return sum(work(_part(columns, held, part)) for part in range(self.parts))


def _part(columns: Sequence[str], held: list[list[Any]], part: int) -> Any:
    cells = [[cell for at, cell in column if at == part] for column in held]
    return pa.table(dict(zip(columns, cells, strict=True)))


@pytest.mark.parametrize(
    ("query", "held", "roles", "read"),
    [
        (rt.Quantile(epsilon=1, upper=9), LINES, {"value": "value"}, {"value"}),
        (rt.Counts(epsilon=1, records=2, upper=8), LINES, {}, {"person", "category", "value"}),
        (rt.Counts(epsilon=1, unit="record"), LINES, {}, {"person", "category", "value"}),
        (
            rt.Percentile(epsilon=1, upper=50),
            dict(sorted(PEOPLE.items())) | {"person": [f"p{n:03}" for n in range(200)]},
            {"value": "age"},
            {"person", "age"},
        ),
        (
            rt.Mapping(secret="rich", delta="0.2", bins={"age": 10}),
            PEOPLE,
            {},
            {*PEOPLE} - {"person"},
        ),
    ],
)
def test_condensed_rows_answer_the_same(query, held, roles, read) -> None:
    given = {"columns": roles, "source": Source.seeded(4)}
    there = Elsewhere(held, set())
    found = query.release({"table": there}, **given)
    given["source"] = Source.seeded(4)
    alone = query.release({"table": held}, **given)
    assert found.terms.rows(found.value) == alone.terms.rows(alone.value)
    assert found.card.promise == alone.card.promise
    assert there.read == read  # and nothing else


def test_people_held_out_of_condensed_rows() -> None:
    """As many, though not the same: rows elsewhere have no order."""
    query = rt.Mapping(secret="rich", delta="0.2", bins={"age": 10}, held_out="0.25")
    found, alone = (
        query.release({"table": held}).value for held in (Elsewhere(PEOPLE, set()), PEOPLE)
    )
    known = sum(cell != "" for cell in PEOPLE["rich"])
    for one in (found, alone):
        assert one.people + one.held_out.people == known
        assert one.held_out.people == round(known / 4)
    assert found.found.without_secret == alone.found.without_secret


def test_a_person_in_two_parts_would_count_twice() -> None:
    """The control: sums are over parts in which all rows of a person are."""

    class Torn(Elsewhere):
        def added_up(self, columns, together, work):
            return super().added_up(columns, None, work)

    exact = {"source": Source.seeded(4)}
    query = rt.Counts(epsilon=100, records=1)
    alone = query.release({"table": LINES}, **exact).value
    assert query.release({"table": Elsewhere(LINES, set())}, **exact).value == alone
    assert query.release({"table": Torn(LINES, set())}, **exact).value > alone


def test_rows_elsewhere_have_no_numbers() -> None:
    query = rt.Percentile(epsilon=1, upper=50)
    with pytest.raises(ParameterError, match="person=NAME"):
        query.release({"table": Elsewhere({"age": [1, 2]}, set())}, columns={"value": "age"})
