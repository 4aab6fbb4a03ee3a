"""Recommendations against a slow dictionary count."""

from collections import defaultdict

import numpy as np
import pytest

from reticent.data.profiles import FULL_WEIGHT, Profiles
from reticent.data.synthetic import Communities, below, uniform
from reticent.errors import ParameterError
from reticent.noise import Source
from reticent.tasks.recommendation import recommend


def by_hand(
    profiles: Profiles, neighbours: np.ndarray, scores: np.ndarray, n_items: int
) -> list[list[int]]:
    lists = []
    for person, peers in enumerate(neighbours):
        own = set(profiles.row(person)[profiles.row_weights(person) > 0].tolist())
        sums: dict[int, float] = defaultdict(float)
        for peer, score in zip(peers, scores[person], strict=True):
            if peer < 0:
                continue
            for item, weight in zip(profiles.row(peer), profiles.row_weights(peer), strict=True):
                sums[int(item)] += max(score, 0.0) * int(weight)
        found = [(-total, item) for item, total in sums.items() if total > 0 and item not in own]
        best = [item for _, item in sorted(found)[:n_items]]
        lists.append(best + [-1] * (n_items - len(best)))
    return lists


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_items", [1, 5, 60])
def test_agrees_with_a_slow_count(n_items: int, weighted: bool) -> None:
    source = Source.seeded(5)
    profiles, _ = Communities(people=60, items=80, communities=3, size=12).draw(source)
    profiles = profiles.with_weights(below(3, profiles.indices.size, source) / 2)
    neighbours = below(61, (60, 4), source) - 1
    scores = uniform((60, 4), source) - 0.2 if weighted else np.ones((60, 4))
    given = recommend(profiles, neighbours, n_items=n_items, scores=scores if weighted else None)
    assert given.items.tolist() == by_hand(profiles, neighbours, scores, n_items)


def test_scores_are_sums_of_weights() -> None:
    profiles = Profiles.of([0, 1, 1, 2, 2], ["a", "b", "c", "b", "a"], [1, 1, 0.25, 0.5, 1])
    given = recommend(profiles, np.array([[1, 2], [0, 0], [1, -1]]), n_items=3)
    assert given.items.tolist() == [[1, 2, -1], [0, -1, -1], [2, -1, -1]]
    assert given.scores.tolist() == [[1.5, 0.25, 0], [2.0, 0, 0], [0.25, 0, 0]]


def test_ties_go_to_the_earlier_item() -> None:
    profiles = Profiles.of([0, 1, 2, 2], ["first", "mine", "third", "first"])
    given = recommend(profiles, np.array([[2], [2], [1]]), n_items=2)
    assert given.items[1].tolist() == [0, 2]


def test_items_of_weight_zero_never_leave() -> None:
    """Theorem 1 of docs/theory/recommendation.md: others' lists do not depend on them at all."""
    source = Source.seeded(2)
    profiles, _ = Communities(people=30, items=50, communities=2, size=15).draw(source)
    weights = np.ones(profiles.indices.size)
    hidden = profiles.rows() == 7
    weights[hidden] = 0
    neighbours = below(30, (30, 5), source)
    with_items = recommend(profiles.with_weights(weights), neighbours)
    without = recommend(profiles.where(~hidden), neighbours)
    others = np.arange(30) != 7
    assert np.array_equal(with_items.items[others], without.items[others])
    assert np.array_equal(with_items.scores[others], without.scores[others])
    visible = recommend(profiles, neighbours)  # the control: with weight 1 they do matter
    assert not np.array_equal(visible.items[others], without.items[others])
    assert profiles.weights.max() == FULL_WEIGHT


def test_refuses_what_are_no_neighbours() -> None:
    profiles = Profiles.of([0, 1], ["a", "b"])
    for bad in (np.array([[2], [0]]), np.array([[-2], [0]]), np.array([[0]]), np.array([0, 1])):
        with pytest.raises(ParameterError, match="neighbours must be"):
            recommend(profiles, bad)
    with pytest.raises(ParameterError, match="scores must be"):
        recommend(profiles, np.array([[1], [0]]), scores=np.ones((2, 2)))
    with pytest.raises(ParameterError, match="n_items must be"):
        recommend(profiles, np.array([[1], [0]]), n_items=0)
