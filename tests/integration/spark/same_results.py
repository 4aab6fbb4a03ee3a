"""What tasks release on Spark, against what they release in one process."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from reticent.data.graphs import Graph
from reticent.errors import ParameterError
from reticent.ledger.reports import balances
from reticent.noise import Source
from reticent.spark import (
    learn_profiles,
    release_influential,
    release_neighbours,
    release_pairs,
    release_profiles,
)
from reticent.spark import similarity as on_spark
from reticent.spark.influence import graph_of, scored
from reticent.spark.similarity import profiles_of
from reticent.tasks.influence import Influence
from reticent.tasks.learning import Limits
from reticent.tasks.neighbours import BLOCK_ROWS
from reticent.tasks.recoding import Alphabet
from reticent.tasks.recoding_arrow import ProfileBatches
from reticent.tasks.similarity import Similarity


def spent(ledger: Any) -> dict[str, int]:
    with ledger.reading() as connection:
        return {one.account.subject: one.spent for one in balances(connection)}


def rows(spark: Any, out: str) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in spark.read.parquet(out).collect())


def workers(spark: Any) -> Any:
    people = [
        (i, ("young", "old")[i % 2], ("city", "land", None)[i % 3], (i * i % 7) < 3 + 2 * (i % 2))
        for i in range(300)
    ]
    return spark.createDataFrame(people, "id int, age string, `the home` string, rich boolean")


def profiles(spark: Any, folder: Path, ledger: Any) -> None:
    frame, public = workers(spark).repartition(4), ["age", "the home"]
    learnt = learn_profiles(frame, public, ["rich"], Limits(delta=0.3))
    held = [tuple(row) for row in workers(spark).collect()]
    assert counted(learnt.alphabet) == Counter(row[1:] for row in held)
    assert learnt.leak_bits < learnt.untouched_bits
    assert learnt.recoding.columns == tuple(public)
    same = learn_profiles(workers(spark).coalesce(1), public, ["rich"], Limits(delta=0.3))
    assert same.recoding.profiles.tolist() == learnt.recoding.profiles.tolist()
    for part in ("starts", "outs", "parts", "cover"):
        one, other = (getattr(found.recoding.mechanism, part) for found in (same, learnt))
        assert one.tolist() == other.tolist()
    assert same.recoding.fingerprint != learnt.recoding.fingerprint  # keyed, each by its own nonce
    made = release_profiles(
        frame,
        learnt.recoding,
        str(folder / "out"),
        key="k",
        ledger=ledger,
        person="id",
        source=Source.seeded(5),
    )
    job = ProfileBatches(learnt.recoding, person="id")
    people, ages, homes, _ = zip(*held, strict=True)
    batch = pa.record_batch(
        [pa.array(people, pa.int32()), pa.array(ages), pa.array(homes)], names=["id", *public]
    )
    drawn = job.draw(batch, Source.seeded(5)).batch.to_pylist()
    shown = {row.person: tuple(row)[1:] for row in spark.read.parquet(made.out).collect()}
    assert shown == {row["person"]: tuple(row.values())[1:] for row in drawn}
    assert len(spent(ledger)) == 300


def counted(alphabet: Alphabet) -> Counter[tuple[Any, ...]]:
    found: Counter[tuple[Any, ...]] = Counter()
    for a, secret in enumerate(alphabet.secrets.tolist()):
        for j, profile in enumerate(alphabet.profiles.tolist()):
            found[*profile, *secret] += int(alphabet.counts[a, j])
    return +found


def betweenness(spark: Any, folder: Path, ledger: Any) -> None:
    draw = np.random.default_rng(2)
    edges = [tuple(map(int, pair)) for pair in draw.integers(0, 60, (200, 2))]
    frame = spark.createDataFrame([*edges, (1, None)], "a long, b long")
    graph, wanted = graph_of(frame, ("a", "b"), nodes=60), Graph.of_edges(edges, nodes=60)
    assert (graph.indptr == wanted.indptr).all()
    for bound in (59, 6):
        influence = Influence(k=3, epsilon=5, nodes=60, bound=bound)
        found, alone_ = scored(spark, graph, influence, parts=3), influence.scored(graph)
        assert np.array_equal(found.utilities, alone_.utilities)
        assert found.sensitivity.degrees.tolist() == alone_.sensitivity.degrees.tolist()
        chosen = release_influential(spark, graph, influence, Source.seeded(1), parts=2)
        assert chosen.value == influence.release(graph, Source.seeded(1)).value
    with pytest.raises(ParameterError, match="ebc"):
        scored(spark, graph, Influence(k=1, epsilon=1, nodes=60, bound=9, centrality="degree"))


def club(spark: Any, people: int) -> Any:
    draw = np.random.default_rng(4)
    lines = [(f"p{i:04}", int(j)) for i in range(people) for j in draw.integers(0, 40, 6)]
    lines += [("p0001", None)]
    return spark.createDataFrame(lines, "person string, item long")


def neighbours(spark: Any, folder: Path, ledger: Any, *, shared: bool = False) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(on_spark, "ROWS", BLOCK_ROWS)
        by_blocks(spark, folder, ledger, shared=shared)


def neighbours_in_a_file(spark: Any, folder: Path, ledger: Any) -> None:
    neighbours(spark, folder, ledger, shared=True)


def by_blocks(spark: Any, folder: Path, ledger: Any, *, shared: bool) -> None:
    people, like = profiles_of(club(spark, 1100), "person", "item"), Similarity(epsilon=200)
    assert list(people.people) == sorted(people.people)
    made = release_neighbours(
        spark,
        people,
        like,
        3,
        str(folder / "out"),
        key="k",
        ledger=ledger,
        source=Source.seeded(9),
        shared=folder if shared else None,
    )
    wanted = like.neighbours(people, 3, source=Source.seeded(9))
    found = rows(spark, made.out)
    names = people.people
    assert [row[0] for row in found] == list(names)
    assert [row[1] for row in found] == [[names[j] for j in peers] for peers in wanted.peers]
    assert [row[2] for row in found] == wanted.scores.tolist()
    assert made.event == wanted.event
    assert set(spent(ledger).values()) == {wanted.event.loss.overall}
    assert not list(folder.glob("*.npz"))


def peers_some_at_a_time(spark: Any, folder: Path, ledger: Any) -> None:
    people, like = profiles_of(club(spark, 90), "person", "item"), Similarity(epsilon=10**6)
    made = release_neighbours(
        spark, people, like, 4, str(folder / "out"), key="k", ledger=None, peers_at_once=25
    )
    wanted = like.neighbours(people, 4, source=Source.system())
    found = rows(spark, made.out)
    # next to no noise: scores agree, and peers where scores do not tie
    np.testing.assert_allclose([row[2] for row in found], wanted.scores, atol=1e-3)
    assert made.event.private


def pairs(spark: Any, folder: Path, ledger: Any) -> None:
    people, like = profiles_of(club(spark, 50), "person", "item"), Similarity(epsilon=1)
    names = list(people.people)
    asked = [(names[0], names[j]) for j in range(1, 30)] + [(names[j], names[0]) for j in (3, 4)]
    asked += [(names[0], names[0]), ("nobody", names[1]), (None, names[1])]
    frame = spark.createDataFrame(asked, "a string, b string").repartition(3)
    made = release_pairs(
        frame,
        people,
        like,
        str(folder / "out"),
        key="k",
        ledger=ledger,
        ends=("a", "b"),
        source=Source.seeded(6),
    )
    source = Source.seeded(6)
    norms, second = like.release_norms(people, source), np.arange(1, 30)
    wanted = like.pairs(
        people,
        np.zeros_like(second),
        second,
        norms=norms,
        noise=like.pair_noise(source),
    )
    shown = rows(spark, made.out)
    assert [row[:2] for row in shown] == [(names[0], names[j]) for j in range(1, 30)]
    assert [row[2] for row in shown] == wanted.tolist()
    one, all_ = (like.guarantee(comparisons=count).overall for count in (1, 29))
    assert spent(ledger) == {names[0]: all_, **{names[j]: one for j in range(1, 30)}}
    assert (made.people, made.event.loss.overall) == (30, all_)


CHECKS: dict[str, Callable[[Any, Path, Any], None]] = {
    "profiles": profiles,
    "betweenness": betweenness,
    "neighbours": neighbours,
    "neighbours in a file": neighbours_in_a_file,
    "peers some at a time": peers_some_at_a_time,
    "pairs": pairs,
}
