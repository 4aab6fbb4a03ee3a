"""A map over people, batch by batch: for each person what a release in memory draws."""

import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest

import reticent as rt
from reticent.data.catalogue import Catalogue
from reticent.errors import ParameterError
from reticent.guarantees import RECORD, promises
from reticent.mechanisms import DiscreteLaplace
from reticent.noise import Source
from reticent.queries.base import Pays, Public, Query, Shape
from reticent.queries.inputs import PEOPLE, Cells, Role, Table
from reticent.queries.people import PersonTerms
from reticent.queries.person_batches import PersonBatches
from reticent.queries.plans import public_terms
from reticent.tasks.charged import Payer
from reticent.tasks.recoding_files import recoding_from_json

FILMS = Catalogue.of(
    [[1, 1, 0], [0, 1, 0], [0, 1, 1]],
    attributes=("Crime", "Drama", "War"),
    items=("Heat", "Up", "7"),
)
LINES = {
    "who": ["bob", "ann", "ann", "cid", "bob", "9", "ann"],
    "what": ["7", "Heat", "Up", "Unheard of", "Heat", "Up", "Up"],
    "how much": [1.0, 0.5, 1.0, 1.0, 0.25, 1.0, 0.75],
}
ROLES = {"person": "who", "item": "what", "weight": "how much"}
MAPPING = recoding_from_json(
    (files("reticent.gateway") / "demo_mapping.json").read_text(encoding="utf-8")
)
TOWN = {
    "who": [*"abcdef"],
    "age group": ["18-29", "65 or older", "30-44"] * 2,
    "home": ["town", "country", "town"] * 2,
    "evenings out": ["4 or more", "0-1", "0-1"] * 2,
}


def lists(lines: Mapping[str, list]) -> Any:
    """The same, with a row for each person."""
    names = list(dict.fromkeys(lines["who"]))
    held = {
        column: [
            [cell for cell, who in zip(cells, lines["who"], strict=True) if who == name]
            for name in names
        ]
        for column, cells in lines.items()
        if column != "who"
    }
    return pa.record_batch({"who": names, **held})


@dataclass(frozen=True, kw_only=True)
class Spent(Query):
    """A query of one's own: a whole number and a word for each person, by several lines."""

    kind: ClassVar[str] = "spent"
    shape: ClassVar[Shape] = Shape.PER_PERSON
    pays: ClassVar[Pays] = Pays.PERSON
    inputs: ClassVar = {
        "table": Table(
            "What was bought.",
            {"person": Role(Cells.NAME, "Who."), "price": Role(Cells.NUMBER, "How much.")},
            several=True,
        ),
        "people": PEOPLE,
    }

    def terms(self, public: Public) -> "SpentTerms":
        return SpentTerms(self, public, DiscreteLaplace(epsilon=1, size=1))

    def facts(self, tables: Mapping[str, Any]) -> Public:
        if "table" not in tables:
            return Public(tables=tables)
        names = sorted(set(tables["table"]["person"].tolist()))
        return Public(len(names), names, tables=tables)


@dataclass(frozen=True)
class SpentTerms(PersonTerms):
    query: Spent
    known: Public
    mechanism: Any
    columns: ClassVar[tuple[str, ...]] = ("person", "total", "word")
    what = "spent"
    public = ()
    types = (int, str)

    def scope(self) -> Any:
        return promises.counts(RECORD, records=1)

    def payer(self, person: str) -> Payer:
        return Payer(subject=person)

    def each(self, tables, people, source) -> list:
        table = tables["table"]
        found = []
        for name in people:
            total = int(table["price"][table["person"] == name].sum())
            drawn = int(self.mechanism.release([total], source).value[0])
            found.append(None if drawn < 0 else [drawn, f"about {drawn}"])
        return found

    def show(self, kept: Any) -> Any:
        return kept

    def rows(self, value: Any) -> list:
        return value


CASES = {
    "histogram": (rt.Histogram(epsilon=2), {"catalogue": FILMS}, LINES, ROLES),
    "moved": (rt.Histogram(epsilon=2, possible=True), {"catalogue": FILMS}, LINES, ROLES),
    "replaced": (
        rt.Histogram(epsilon=2, replace=True),
        {"catalogue": FILMS.only(["Crime", "War"])},
        {name: LINES[name] for name in ("who", "what")},
        {"person": "who", "item": "what"},
    ),
    "sketches": (rt.Sketches(epsilon=4, profile_size=3), {}, LINES, ROLES),
    "profile": (rt.Profile(), {"mapping": MAPPING}, TOWN, {"person": "who"}),
}


def job_of(query: Query, public: Mapping[str, Any], roles: Mapping[str, str]) -> Any:
    """Pickled, as it goes to other processes."""
    terms = public_terms(query, public, None, None)
    read = query.reads(terms.known.tables)[next(n for n in query.inputs if n not in public)]
    whole = {role: roles.get(role, role) for role in read.roles if role in roles or role in TOWN}
    return pickle.loads(pickle.dumps(terms.batches(whole)))


def cells(batch: Any) -> dict:
    """Cells by person."""
    return {
        row["person"]: [row[name] for name in batch.schema.names[1:]] for row in batch.to_pylist()
    }


def in_memory(case: str) -> dict:
    query, public, lines, roles = CASES[case]
    name = next(n for n in query.inputs if n not in public)
    answer = query.release({name: lines, **public}, columns=roles, source=Source.seeded(3))
    return {str(row[0]): list(row[1:]) for row in answer.terms.rows(answer.value)}


@pytest.mark.parametrize("case", CASES)
def test_a_batch_of_lists_is_the_release_in_memory(case: str) -> None:
    query, public, lines, roles = CASES[case]
    batch = pa.record_batch(lines) if case == "profile" else lists(lines)
    job = job_of(query, public, roles)
    drawn = job.draw(batch, Source.seeded(3))
    assert cells(drawn.batch) == in_memory(case)
    charge = public_terms(query, public, None, None).words().charge
    assert drawn.nano.tolist() == [charge] * batch.num_rows
    assert cells(job.draw(batch, Source.seeded(4)).batch) != in_memory(case)


@pytest.mark.parametrize("case", [case for case in CASES if case != "profile"])
def test_lines_and_any_cut_of_them_are_the_same(case: str) -> None:
    """The generic batches take lines, too; who is in another batch changes nothing."""
    query, public, lines, roles = CASES[case]
    terms: Any = public_terms(query, public, None, None)
    job = PersonBatches.of(terms, roles)
    whole = pa.record_batch(lines)
    assert cells(job.draw(whole, Source.seeded(3)).batch) == in_memory(case)
    told = {}
    for name in dict.fromkeys(lines["who"]):
        own = whole.filter(pa.array([who == name for who in lines["who"]]))
        told |= cells(job.draw(own, Source.seeded(3)).batch)
    assert told == in_memory(case)


def test_whoever_has_nothing_has_a_row() -> None:
    for case in ("histogram", "moved", "sketches"):
        query, public, lines, roles = CASES[case]
        job = job_of(query, public, roles)
        nobody = job.draw(job.absent(pa.array(["zoe"])), Source.seeded(3)).batch
        name = next(iter(query.inputs))
        given = {"source": Source.seeded(3), "columns": roles, "people": ["ann", "zoe"]}
        answer = query.release({name: lines, **public}, **given)
        found = {row[0]: list(row[1:]) for row in answer.terms.rows(answer.value)}
        assert cells(nobody) == {"zoe": found["zoe"]}
    with pytest.raises(ParameterError, match="people of the table"):
        job_of(*CASES["profile"][:2], CASES["profile"][3]).absent(pa.array(["zoe"]))


def test_a_query_of_ones_own_is_taken_batch_by_batch() -> None:
    lines = {"who": ["a", "b", "a", "c"] * 5, "cost": [3, 4, 5, 6] * 5}
    query, roles = Spent(), {"person": "who", "price": "cost"}
    own = query.release({"table": lines}, columns=roles, source=Source.seeded(3))
    job = query.terms(Public()).batches(roles)
    drawn = job.draw(lists(lines), Source.seeded(3))
    assert drawn.batch.schema.types == [pa.string(), pa.int64(), pa.string()]
    assert list(cells(drawn.batch).values()) == [one or [None, None] for one in own.value]
    assert drawn.nano.tolist() == [10**9] * 3
    assert job.draw(lists(lines).slice(0, 0), Source.system()).batch.schema == drawn.batch.schema


def test_what_decides_the_release_decides_the_fingerprint() -> None:
    query, public, _, roles = CASES["sketches"]
    told = {
        job_of(rt.Sketches(epsilon=4, profile_size=3), {}, roles).fingerprint,
        job_of(query, public, roles).fingerprint,
    }
    assert len(told) == 1
    others = [
        job_of(rt.Sketches(epsilon=5, profile_size=3), {}, roles),
        job_of(query, {}, {"person": "who", "item": "what"}),
        job_of(query, {"items": ["Heat"]}, roles),
    ]
    assert len({one.fingerprint for one in others} | told) == 4


def test_batches_need_their_columns() -> None:
    query, public, lines, roles = CASES["sketches"]
    with pytest.raises(ParameterError, match="the column of profiles.item"):
        query.terms(Public()).batches({"person": "who"})
    with pytest.raises(ParameterError, match="roles of profiles"):
        query.terms(Public()).batches({**roles, "colour": "red"})
    wrong = lists(lines).set_column(2, "how much", pa.array([[1.0]] * 4))
    with pytest.raises(ParameterError, match="lists as long as those of what"):
        job_of(query, public, roles).draw(wrong, Source.system())
    with pytest.raises(ParameterError, match="a map over people"):
        rt.Quantile(epsilon=1, upper=9).terms(Public()).batches({})


def test_sketches_of_a_batch_are_noisy() -> None:
    query, public, lines, roles = CASES["sketches"]
    job = job_of(query, public, roles)
    first, second = (cells(job.draw(lists(lines), Source.system()).batch) for _ in range(2))
    assert first != second
    assert np.all([len(one[0]) == len(second["bob"][0]) for one in first.values()])
