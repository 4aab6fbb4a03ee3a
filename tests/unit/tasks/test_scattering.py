"""Heavy work in parts: what one process computes, whoever shares it out."""

import pickle
from dataclasses import dataclass, field

import numpy as np
import pytest

from reticent.data.graphs import Graph
from reticent.data.profiles import Profiles
from reticent.noise import Source
from reticent.tasks import similarity
from reticent.tasks.centrality import SCATTERED, egocentric_betweenness, scattered_betweenness
from reticent.tasks.influence import Influence
from reticent.tasks.neighbours import BLOCK_ROWS
from reticent.tasks.similarity import Similarity


@dataclass
class Elsewhere:
    """Runs parts backwards, as other processes would: all that goes there is pickled."""

    peers_at_once: int | None = None
    parts: list[int] = field(default_factory=list)

    def __call__(self, work, data, parts):
        self.parts.append(parts)
        sent = pickle.dumps((work, data))
        made = {}
        for part in reversed(range(parts)):
            own, held = pickle.loads(sent)
            made[part] = pickle.loads(pickle.dumps(own(held, part)))
        return [made[part] for part in range(parts)]


def test_betweenness_is_the_same() -> None:
    edges = np.random.default_rng(1).integers(0, 50, (200, 2))
    graph, scatter = Graph.of_edges(edges, nodes=50), Elsewhere()
    assert np.array_equal(scattered_betweenness(graph, scatter), egocentric_betweenness(graph))
    assert scatter.parts == [SCATTERED]
    influence = Influence(k=2, epsilon=1, nodes=50, bound=6)
    one, other = influence.scored(graph), influence.scored(graph, scatter=scatter)
    assert np.array_equal(one.utilities, other.utilities)


@pytest.fixture
def club() -> Profiles:
    draw = np.random.default_rng(2)
    return Profiles.of(np.repeat(np.arange(700), 4), draw.integers(0, 60, 2800))


def test_lists_are_the_same(club, monkeypatch) -> None:
    monkeypatch.setattr(similarity, "SCATTERED_ROWS", BLOCK_ROWS)
    like, scatter = Similarity(epsilon=50), Elsewhere()
    one = like.neighbours(club, 3, source=Source.seeded(1))
    other = like.neighbours(club, 3, source=Source.seeded(1), scatter=scatter)
    assert scatter.parts == [2]
    assert np.array_equal(one.peers, other.peers)
    assert np.array_equal(one.scores, other.scores)
    assert one.event == other.event


def test_peers_some_at_a_time_are_all_met(club) -> None:
    like = Similarity(epsilon=10**6)  # next to no noise
    one = like.neighbours(club, 3, source=Source.system())
    other = like.neighbours(club, 3, source=Source.system(), scatter=Elsewhere(peers_at_once=300))
    np.testing.assert_allclose(one.scores, other.scores, atol=1e-3)
