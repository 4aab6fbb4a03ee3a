"""Pricing by blocks gives what a look at every pair gives."""

import numpy as np
import pytest

from reticent.optim.distances import distance_matrix, hamming, squared_euclidean
from reticent.optim.pricing import Lists, Pricing, in_order, near_order


def instances():
    rng = np.random.default_rng(5)
    wide = rng.integers(0, 9, (230, 12))
    return {
        "one word": hamming(rng.integers(0, 3, (300, 6))),
        "two words": hamming(wide),
        "weights": hamming(rng.integers(0, 4, (250, 5)), weights=[1, 2, 0.5, 3, 0]),
        "line": squared_euclidean(rng.normal(size=(200, 1))),
        "plane": squared_euclidean(rng.normal(size=(333, 2))),
        "matrix": distance_matrix(1 - np.eye(130)),
        "below one block": hamming(rng.integers(0, 3, (17, 4))),
    }


INSTANCES = instances()


@pytest.mark.parametrize("name", INSTANCES)
@pytest.mark.parametrize("secrets", [2, 4])
def test_blocks_lose_nothing(name: str, secrets: int) -> None:
    """Theorem 9: least costs and candidates are those of all pairs."""
    given = INSTANCES[name]
    rng = np.random.default_rng(secrets)
    distance = in_order(given, near_order(given))
    n = distance.size
    pi = rng.dirichlet(np.ones(secrets), size=n)
    g = rng.normal(size=(n, secrets)) * 0.3
    for lam, width in ((0.1, 0.2), (3.0, 0.5), (40.0, 1.0)):
        costs = pi @ g.T + lam * distance.dense()
        pricing = Pricing(distance)
        lists, least = pricing.cheapest(pi, g, lam, width, n)
        assert np.allclose(least, costs.min(axis=1), atol=1e-12)
        found = np.zeros((n, n), dtype=bool)
        found[lists.inputs, lists.outs] = True
        sure = np.abs(costs - costs.min(axis=1, keepdims=True) - width) > 1e-9
        assert (found == (costs <= costs.min(axis=1, keepdims=True) + width))[sure].all()
        assert np.allclose(lists.dist, distance.dense()[lists.inputs, lists.outs])
        _, alone = pricing.cheapest(pi, g, lam, 0.0, 0)
        assert np.allclose(alone, least, atol=1e-12)


@pytest.mark.parametrize("name", INSTANCES)
def test_some_inputs_and_some_outputs(name: str) -> None:
    distance = INSTANCES[name]
    rng = np.random.default_rng(9)
    n = distance.size
    kept, rows = np.flatnonzero(rng.random(n) < 0.6), np.flatnonzero(rng.random(n) < 0.5)
    pi, g = rng.dirichlet(np.ones(3), size=n)[rows], rng.normal(size=(n, 3))
    costs = pi @ g.T + 2.0 * distance.dense()[rows]
    lists, least = Pricing(distance, kept).cheapest(pi, g, 2.0, 0.0, 1, rows)
    assert np.allclose(least, costs[:, kept].min(axis=1))
    assert np.allclose(costs[np.arange(len(rows)), lists.outs], least)
    assert np.isin(lists.outs, kept).all()
    assert np.allclose(lists.dist, distance.dense()[rows, lists.outs])


def test_far_blocks_are_passed_over() -> None:
    line = squared_euclidean(np.arange(4096.0)[:, None])
    pricing = Pricing(line)
    rng = np.random.default_rng(0)
    pi = rng.dirichlet(np.ones(2), size=4096)
    pricing.cheapest(pi, 0.1 * rng.normal(size=(4096, 2)), 0.01, 0.1, 50)
    assert pricing.looked < 4096**2 / 20


def test_a_cap_keeps_the_cheapest_and_the_own_profile() -> None:
    distance = INSTANCES["matrix"]
    lists, _ = Pricing(distance).cheapest(np.full((130, 2), 0.5), np.zeros((130, 2)), 0.0, 1.0, 10)
    assert (np.diff(lists.starts) == 10).all()
    assert all(j in lists.outs[lists.starts[j] : lists.starts[j + 1]] for j in range(130))


def test_near_profiles_stand_together() -> None:
    for distance in INSTANCES.values():
        order = near_order(distance)
        assert sorted(order.tolist()) == list(range(distance.size))
        moved = in_order(distance, order)
        assert np.array_equal(moved.dense(), distance.dense()[np.ix_(order, order)])


def test_lists_are_joined_and_cut() -> None:
    first = Lists(np.array([0, 1, 3]), np.array([0, 0, 1]), np.array([0.0, 1.0, 0.0]))
    second = Lists(np.array([0, 1, 2]), np.array([1, 1]), np.array([1.0, 0.0]))
    both = first.union(second)
    assert both.starts.tolist() == [0, 2, 4]
    assert both.outs.tolist() == [0, 1, 0, 1]
    assert both.dist.tolist() == [0, 1, 1, 0]
    cut = both.only(np.array([True, False, False, True]))
    assert cut.starts.tolist() == [0, 1, 2]
    assert cut.outs.tolist() == [0, 1]


def test_pairs_are_rows() -> None:
    for distance in INSTANCES.values():
        rng = np.random.default_rng(1)
        first, second = rng.integers(0, distance.size, (2, 50))
        rows = [distance.row(j)[i] for j, i in zip(first, second, strict=True)]
        assert np.allclose(distance.pairs(first, second), rows)
