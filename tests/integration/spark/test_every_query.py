"""Every kind of query on Spark: what Python releases, at the same promise and the same charge."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import reticent as rt
from reticent.errors import ParameterError
from reticent.ledger import open_ledger
from reticent.noise import Source
from reticent.queries import registry
from reticent.queries.base import Answer, Pays, Query, Shape
from reticent.queries.inputs import Artefact, MappingFile
from tests.unit.queries import test_own_query, test_person_batches
from tests.unit.queries.test_registry import MADE, MAPPING, SAMPLES, named, promise

from .same_results import ON_SPARK, spent

pytestmark = ON_SPARK
KINDS = list(registry.queries())
_TYPES = {int: "long", float: "double", str: "string"}


def columns(heads: tuple[str, ...], lines: list[tuple[Any, ...]]) -> dict[str, list[Any]]:
    return {name: [line[place] for line in lines] for place, name in enumerate(heads)}


def frame(spark: Any, held: dict[str, list[Any]]) -> Any:
    """A DataFrame whose rows lie in another order."""
    kinds = [max({type(cell) for cell in cells}, key=list(_TYPES).index) for cells in held.values()]
    lines = zip(*held.values(), strict=True)
    typed = [tuple(kind(cell) for kind, cell in zip(kinds, line, strict=True)) for line in lines]
    heads = [f"`{name}` {_TYPES[kind]}" for name, kind in zip(held, kinds, strict=True)]
    return spark.createDataFrame(typed[::-1], ", ".join(heads)).repartition(3)


def tables(kind: str, made: Callable[[dict[str, list[Any]]], Any]) -> dict[str, Any]:
    """The sample of a kind; artefacts were released in Python."""
    found: dict[str, Any] = {}
    for name, one in registry.query_of(kind).inputs.items():
        if isinstance(one, MappingFile):
            found[name] = str(MAPPING)
        if isinstance(one, Artefact) and one.required:
            parent = MADE[one.kind]
            found[name] = parent.release(tables(one.kind, dict), source=Source.seeded(7))
    return found | {name: made(columns(*sample)) for name, sample in SAMPLES[kind][1].items()}


def paid(query: Query, ledger: Any) -> dict[str, Any]:
    if query.pays is Pays.NOBODY:
        return {}
    return {"source": Source.seeded(7), "ledger": ledger, "key": "k", **named(query)}


def rows(answer: Answer) -> list[tuple[Any, ...]]:
    if answer.query.shape is Shape.PER_PERSON and hasattr(answer.value, "collect"):
        return [tuple(row) for row in answer.value.collect()]
    return answer.terms.rows(answer.value)


@pytest.mark.parametrize("kind", KINDS)
def test_python_and_spark_release_the_same(spark: Any, kind: str, tmp_path: Path) -> None:
    query = SAMPLES[kind][0]
    where = {"out": tmp_path / "out"} if query.shape is Shape.PER_PERSON else {}
    with open_ledger(tmp_path / "a.db") as one, open_ledger(tmp_path / "b.db") as other:
        alone = query.release(tables(kind, dict), **paid(query, one))
        held = tables(kind, lambda held: frame(spark, held))
        found = rt.spark.release(query, held, **paid(query, other), **where)
        assert sorted(map(str, rows(found))) == sorted(map(str, rows(alone)))
        cards = [json.loads(answer.card.to_json()) for answer in (alone, found)]
        assert promise(cards[0]) == promise(cards[1])
        assert cards[0]["budget"] == cards[1]["budget"]
        assert (found.spent, found.key, found.replayed) == (alone.spent, alone.key, False)
        assert spent(one) == spent(other)
        if query.pays is not Pays.NOBODY:
            again = rt.spark.release(query, held, **paid(query, other), **where)
            assert again.replayed
            assert again.card.to_json() == found.card.to_json()
            assert spent(one) == spent(other)


def test_another_source_draws_something_else(spark: Any, tmp_path: Path) -> None:
    """The control: samples that answer the same whatever is drawn would agree anyway."""
    differs = set()
    for kind in KINDS:
        query = SAMPLES[kind][0]
        if query.pays in (Pays.NOBODY, Pays.NOTED):
            continue
        for seed in range(1, 6):
            one, other = (
                query.release(tables(kind, dict), source=Source.seeded(n)) for n in (0, seed)
            )
            if rows(one) != rows(other):
                differs.add(kind)
    assert differs == {
        kind for kind in KINDS if SAMPLES[kind][0].pays not in (Pays.NOBODY, Pays.NOTED)
    }


def test_the_query_of_contributing_is_on_spark(spark: Any, tmp_path: Path, monkeypatch) -> None:
    """As the page builds it: released, charged and repeated, with the value that Python has."""
    monkeypatch.setattr(registry, "_added", {})
    names: dict[str, Any] = {"__name__": "a package of one's own"}
    for example in test_own_query.examples():
        exec(compile(example.source, "CONTRIBUTING.md", "single"), names)
    query = names["Coverage"](epsilon=9, size=40)
    held = columns(test_own_query.LINES[0], test_own_query.LINES[1:])
    given = {"source": Source.seeded(5), "key": "1", "total": 12}
    with open_ledger(tmp_path / "a.db") as one, open_ledger(tmp_path / "b.db") as other:
        alone = query.release(held, ledger=one, **given)
        lines = frame(spark, held)
        found = rt.spark.release(query, lines, out=tmp_path / "out", ledger=other, **given)
        again = rt.spark.release(query, lines, out=tmp_path / "out", ledger=other, **given)
        assert sorted(rows(found)) == rows(alone)
        assert promise(json.loads(found.card.to_json())) == promise(
            json.loads(alone.card.to_json())
        )
        assert (found.spent, again.spent, again.replayed) == ("9", "0", True)
        assert spent(one) == spent(other) == {"ann": 9 * 10**9, "bob": 9 * 10**9}
        more = {**given, "key": "2", "out": tmp_path / "more"}
        with pytest.raises(rt.BudgetExceeded):
            rt.spark.release(query, lines, ledger=other, **more)
    registry.queries.cache_clear()


class Median(rt.Quantile):
    """A query of one's own about the whole."""

    kind = "median"


def test_queries_of_ones_own(spark: Any, tmp_path: Path) -> None:
    """Declared in one file, and on Spark at once: a map over people, and one about the whole."""
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(test_person_batches)  # workers have no tests
    lines = {"who": [f"p{n % 7}" for n in range(60)], "cost": [n % 11 for n in range(60)]}
    roles = {"person": "who", "price": "cost"}
    given = {"columns": roles, "source": Source.seeded(3)}
    query, held = test_person_batches.Spent(), frame(spark, lines)
    with open_ledger(tmp_path / "ledger.db") as ledger:
        made = rt.spark.release(query, held, out=tmp_path / "out", ledger=ledger, **given)
        assert spent(ledger) == {f"p{n}": 10**9 for n in range(7)}
    alone = query.release(lines, **given)
    names = alone.terms.known.names
    wanted = [
        (name, *(cells or (None, None))) for name, cells in zip(names, alone.value, strict=True)
    ]
    assert sorted(rows(made)) == wanted
    half, given = Median(epsilon=1, upper=10), {"columns": {"value": "cost"}}
    found = rt.spark.release(half, held, source=Source.seeded(2), **given)
    assert found.value == half.release(lines, source=Source.seeded(2), **given).value


def test_one_value_needs_no_folder_and_many_need_one(spark: Any) -> None:
    for kind in ("quantile", "sketches"):
        query, whole = SAMPLES[kind][0], kind == "quantile"
        where = {"out": "somewhere"} if whole else {}
        with pytest.raises(ParameterError, match="out must be"):
            rt.spark.release(query, tables(kind, lambda held: frame(spark, held)), **where)


def test_rows_without_numbers_need_names(spark: Any, tmp_path: Path) -> None:
    pay = frame(spark, {"value": [20, 35, 41]})
    with pytest.raises(ParameterError, match="person=NAME"):
        rt.spark.release(rt.Percentile(epsilon=1, upper=100), pay)
    held = tables("predict", lambda held: frame(spark, held))
    held["rows"] = held["rows"].drop("id")
    with pytest.raises(ParameterError, match="id=NAME"):
        rt.spark.release(rt.Predict(), held, out=tmp_path / "out")


def test_sketches_that_spark_released_are_an_artefact(spark: Any, tmp_path: Path) -> None:
    held = tables("sketches", lambda held: frame(spark, held))
    query = SAMPLES["sketches"][0]
    made = rt.spark.release(query, held, source=Source.seeded(7), out=tmp_path / "a")
    near = rt.spark.release(rt.Neighbours(k=2), {"sketches": made}, out=tmp_path / "b")
    alone = query.release(tables("sketches", dict), source=Source.seeded(7))
    wanted = rt.Neighbours(k=2).release({"sketches": alone})
    assert rows(near) == wanted.terms.rows(wanted.value)
    with pytest.raises(ParameterError, match="key must be left out"):
        rt.spark.release(rt.Neighbours(k=2), {"sketches": made}, out=tmp_path / "c", key="k")
