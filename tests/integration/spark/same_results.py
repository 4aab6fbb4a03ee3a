"""What is released on Spark at sizes that need several tasks, against one process."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import reticent as rt
from reticent.errors import ParameterError
from reticent.ledger.reports import balances
from reticent.noise import Source
from reticent.queries.base import Answer
from reticent.tasks import similarity
from reticent.tasks.neighbours import BLOCK_ROWS
from reticent.tasks.similarity import Similarity

ON_SPARK = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore:distutils Version classes:DeprecationWarning"),  # Spark 3.5
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),  # Spark 3.5
]
"""The tier, and what PySpark warns of."""


def spent(ledger: Any) -> dict[str, int]:
    with ledger.reading() as connection:
        return {one.account.subject: one.spent for one in balances(connection)}


def rows(spark: Any, out: str) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in spark.read.parquet(out).collect())


def workers(spark: Any) -> tuple[Any, dict[str, list[Any]]]:
    people = [
        (i, ("young", "old")[i % 2], ("city", "land", None)[i % 3], (i * i % 7) < 3 + 2 * (i % 2))
        for i in range(300)
    ]
    frame = spark.createDataFrame(people, "person int, age string, `the home` string, rich boolean")
    heads = ("person", "age", "the home", "rich")
    return frame.repartition(4), dict(zip(heads, map(list, zip(*people, strict=True)), strict=True))


def profiles(spark: Any, folder: Path, ledger: Any) -> None:
    """Learnt from counts that the cluster makes, held out or not, then released by tasks."""
    frame, held = workers(spark)
    given = {"ledger": ledger, "data_set": "x"}
    for share in ("0", "0.2"):
        query = rt.Mapping(secret="rich", delta="0.3", held_out=share)
        found = rt.spark.release(query, frame, **given, source=Source.seeded(2))
        alone = query.release(held, source=Source.seeded(2))
        assert found.value.people == alone.value.people
        if share == "0":
            one, other = (answer.terms.rows(answer.value) for answer in (found, alone))
            assert one == other
    query = rt.Profile()
    asked = {"ledger": ledger, "key": "k", "source": Source.seeded(5)}
    made = rt.spark.release(query, {"table": frame, "mapping": found}, out=folder / "out", **asked)
    alone = query.release({"table": held, "mapping": found}, source=Source.seeded(5))
    assert written(made) == [tuple(map(str, row)) for row in alone.terms.rows(alone.value)]
    assert len(spent(ledger)) == 301


def written(answer: Answer) -> list[tuple[str, ...]]:
    """Rows as text, by name as a number."""
    held = [tuple(map(str, row)) for row in answer.value.collect()]
    return sorted(held, key=lambda row: int(row[0]))


def betweenness(spark: Any, folder: Path, ledger: Any) -> None:
    draw = np.random.default_rng(2)
    edges = [tuple(map(int, pair)) for pair in draw.integers(0, 60, (200, 2))]
    frame = spark.createDataFrame([*edges, (1, None), edges[0]], "source long, target long")
    source, target = zip(*edges, strict=True)
    nodes = list(range(60))
    for bound in (59, 6):
        query = rt.TopNodes(epsilon=5, k=3, bound=bound)
        with pytest.MonkeyPatch.context() as patched:
            alone = query.release(
                {"edges": {"source": source, "target": target}, "nodes": nodes},
                source=Source.seeded(1),
            )
            patched.setattr("reticent.tasks.influence.egocentric_betweenness", None)  # not here
            data = {"edges": frame, "nodes": nodes}
            found = rt.spark.release(query, data, source=Source.seeded(1))
        assert found.value == alone.value
        assert found.card.release_event() == alone.card.release_event()


def club(spark: Any, people: int) -> tuple[Any, pd.DataFrame]:
    draw = np.random.default_rng(4)
    lines = [(f"p{i:04}", int(j)) for i in range(people) for j in draw.integers(0, 40, 6)]
    schema = "person string, item long"
    frame = spark.createDataFrame([*lines, ("p0001", None)], schema).repartition(3)
    return frame, pd.DataFrame(lines, columns=["person", "item"])


def neighbours(spark: Any, folder: Path, ledger: Any, **options: Any) -> None:
    frame, held = club(spark, 1100)
    query = rt.Neighbours(epsilon=200, k=3, method="direct")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(similarity, "SCATTERED_ROWS", BLOCK_ROWS)
        asked = {"ledger": ledger, "key": "k", "source": Source.seeded(9), **options}
        made = rt.spark.release(query, frame, out=folder / "out", **asked)
    alone = query.release(held, source=Source.seeded(9))
    assert rows(spark, str(folder / "out")) == sorted(alone.terms.rows(alone.value))
    assert made.card.release_event() == alone.card.release_event()
    assert set(spent(ledger).values()) == {alone.terms.loss().overall}
    assert len(spent(ledger)) == 1100
    assert not list(folder.glob("*.pickle"))


def neighbours_in_a_file(spark: Any, folder: Path, ledger: Any) -> None:
    neighbours(spark, folder, ledger, shared=folder)


def neighbours_of_lists(spark: Any, folder: Path, ledger: Any) -> None:
    """A row for each person with a list, and columns that nobody asked for."""
    frame, held = club(spark, 20)
    lists = frame.dropna().groupBy("person").agg({"item": "collect_list"})
    lists = lists.toDF("person", "item").selectExpr("*", "map('private', 1) AS other")
    query = rt.Neighbours(epsilon=5, k=2)
    rt.spark.release(query, lists, out=folder / "out", source=Source.seeded(9))
    alone = query.release(held, source=Source.seeded(9))
    assert rows(spark, str(folder / "out")) == sorted(alone.terms.rows(alone.value))


def peers_some_at_a_time(spark: Any, folder: Path, ledger: Any) -> None:
    frame, held = club(spark, 90)
    query = rt.Neighbours(epsilon=10**6, k=4, method="direct")
    made = rt.spark.release(query, frame, out=folder / "out", peers_at_once=25)
    alone = query.release(held)
    # next to no noise: scores agree, and peers where scores do not tie
    found, wanted = rows(spark, str(folder / "out")), sorted(alone.terms.rows(alone.value))
    assert [row[:2] for row in found] == [row[:2] for row in wanted]
    np.testing.assert_allclose([row[3] for row in found], [row[3] for row in wanted], atol=1e-3)
    assert made.card.release_event().private
    with pytest.raises(ParameterError, match="peers_at_once"):
        rt.spark.release(query, frame, out=folder / "b", peers_at_once=0)


def pairs(spark: Any, folder: Path, ledger: Any, **options: Any) -> None:
    frame, held = club(spark, 50)
    names = sorted(set(held["person"]))
    asked = [(names[0], names[j]) for j in range(1, 30)] + [(names[j], names[0]) for j in (3, 4)]
    asked += [(names[0], names[0]), ("", names[1]), (None, names[1])]
    listed = spark.createDataFrame(asked, "first string, second string").repartition(3)
    query, out = rt.Similarity(epsilon=1), {"out": folder / "out", "key": "k", **options}
    data = {"profiles": frame, "pairs": listed}
    made = rt.spark.release(query, data, ledger=ledger, source=Source.seeded(6), **out)
    wanted = {"person": [names[0]] * 29, "other": names[1:30]}
    alone = query.release({"profiles": held, "pairs": wanted}, source=Source.seeded(6))
    assert rows(spark, str(folder / "out")) == alone.terms.rows(alone.value)
    assert made.card.promise == alone.card.promise
    assert made.card.release_event() == alone.card.release_event()
    one, all_ = (Similarity(epsilon=1).guarantee(comparisons=count).overall for count in (1, 29))
    assert spent(ledger) == {names[0]: all_, **{names[j]: one for j in range(1, 30)}}
    data["pairs"] = listed.limit(5)
    with pytest.raises(rt.ReticentError, match="another release"):
        rt.spark.release(query, data, ledger=ledger, source=Source.seeded(6), **out)
    data["pairs"] = spark.createDataFrame([("nobody", names[1])], listed.schema)
    with pytest.raises(ParameterError, match="pair must be people of the table"):
        rt.spark.release(query, data, out=folder / "b")


def pairs_in_a_file(spark: Any, folder: Path, ledger: Any) -> None:
    pairs(spark, folder, ledger, shared=folder)
    assert not list(folder.glob("*.pickle"))


def counts(spark: Any, folder: Path, ledger: Any) -> None:
    """Added up by tasks; of a person so many records count, wherever they lie."""
    draw = np.random.default_rng(3)
    lines = [(int(a), "xyz"[b], int(c)) for a, b, c in draw.integers(0, (40, 3, 9), (500, 3))]
    lines += [(None, "x", 1), (1, None, 2)]
    frame = spark.createDataFrame(lines, "person int, category string, value int").repartition(7)
    held = dict(zip(frame.columns, map(list, zip(*lines, strict=True)), strict=True))
    shown = {"categories": ["x", "y"]}
    for query, more in (
        (rt.Counts(epsilon=1, records=2), shown),
        (rt.Counts(epsilon=1, records=3, upper=5), shown),
        (rt.Counts(epsilon=1, unit="record"), {}),
    ):
        found = rt.spark.release(query, {"table": frame, **more}, source=Source.seeded(1))
        assert found.value == query.release({"table": held, **more}, source=Source.seeded(1)).value
    query, more = rt.Counts(epsilon=1, unit="record"), {"source": Source.seeded(1)}
    bare = rt.spark.release(query, {"table": frame.toDF("a", "b", "c")}, **more).value
    assert bare == found.value
    assert isinstance(rt.spark.release(query, frame.limit(0)).value, int)


CHECKS: dict[str, Callable[[Any, Path, Any], None]] = {
    "counts": counts,
    "profiles": profiles,
    "betweenness": betweenness,
    "neighbours": neighbours,
    "neighbours of lists": neighbours_of_lists,
    "neighbours in a file": neighbours_in_a_file,
    "peers some at a time": peers_some_at_a_time,
    "pairs": pairs,
    "pairs in a file": pairs_in_a_file,
}
