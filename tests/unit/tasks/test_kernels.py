import math

import numpy as np
import pytest
from scipy import sparse, stats

from reticent.data.profiles import FULL_WEIGHT, Profiles
from reticent.noise import Source
from reticent.tasks import kernels, stranger_kernels


def some_profiles(people=40, items=30, share=0.2, seed=1) -> tuple[Profiles, np.ndarray]:
    generator = np.random.default_rng(seed)
    has = generator.random((people, items)) < share
    weights = np.floor(generator.random((people, items)) * FULL_WEIGHT).astype(np.int64) * has
    matrix = sparse.csr_array(has.astype(float))
    profiles = Profiles.from_csr(matrix, weights[has] / FULL_WEIGHT)
    return profiles, weights


def dense_overlaps(weights: np.ndarray, product: bool) -> np.ndarray:
    left, right = weights[:, None], weights[None]
    return ((left * right) >> 20 if product else np.minimum(left, right)).sum(axis=2)


@pytest.mark.parametrize("product", [False, True])
@pytest.mark.parametrize("share", [0.0, 0.05, 0.3, 1.0])
def test_overlaps_agree_with_dense_arithmetic(product, share) -> None:
    profiles, weights = some_profiles(share=share)
    n = len(profiles)
    expected = dense_overlaps(weights, product)
    low, high = 5, 25
    room = n * (high - low)
    offsets = np.empty(high - low + 1, dtype=np.int64)
    peers, units = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int64)
    filled = kernels.overlaps_of(
        low,
        high,
        profiles.indptr,
        profiles.indices,
        profiles.weights,
        *profiles.transposed(),
        product,
        np.arange(n, dtype=np.int32)[::-1].copy(),  # whatever was left there
        offsets,
        peers,
        units,
    )
    assert filled == offsets[-1]
    shared = (weights > 0).astype(int) @ (weights > 0).T.astype(int)
    for u in range(low, high):
        part = slice(offsets[u - low], offsets[u - low + 1])
        known = set(np.flatnonzero(shared[u]).tolist()) - {u}
        assert sorted(peers[part].tolist()) == sorted(known)
        assert units[part].tolist() == expected[u, peers[part]].tolist()


@pytest.mark.parametrize("product", [False, True])
def test_overlaps_of_given_pairs_agree_with_dense_arithmetic(product) -> None:
    profiles, weights = some_profiles()
    first, second = (a.ravel() for a in np.meshgrid(np.arange(40), np.arange(40)))
    units = np.empty(first.size, dtype=np.int64)
    kernels.overlaps_with(
        first, second, profiles.indptr, profiles.indices, profiles.weights, product, units
    )
    assert units.tolist() == dense_overlaps(weights, product)[first, second].tolist()


def draw_strangers(known, met, wanted, free, groups, seed) -> tuple[int, np.ndarray]:
    """For one person, number 0, among the members of ``groups``."""
    sizes = [len(g) for g in groups]
    members = np.concatenate(groups).astype(np.int32)
    chosen = np.full(sum(wanted), -1, dtype=np.int32)
    used = stranger_kernels.strangers(
        np.array([0]),
        np.array([wanted]),
        np.array([free]),
        members,
        np.concatenate([[0], np.cumsum(sizes)]),
        np.array([0, len(known)]),
        np.array(known, dtype=np.int32),
        np.array([0, len(met)]),
        np.array(met, dtype=np.int32),
        np.zeros(members.size + 1, dtype=np.uint8),
        Source.seeded(seed).long_words(512),
        chosen,
    )
    return used, chosen


@pytest.mark.parametrize("known", [[3, 7], list(range(1, 14)), []], ids=["few", "most", "nobody"])
def test_strangers_are_uniform_distinct_and_new(known) -> None:
    groups = np.arange(20).reshape(4, 5)  # the person is in the first group
    met = [15, 16]
    free = [sum(p not in {0, *known, *met} for p in group) for group in groups]
    wanted = [min(f, 2) for f in free]
    pairs: dict[tuple[int, ...], int] = {}
    runs = 4000
    for seed in range(runs):
        used, chosen = draw_strangers(known, met, wanted, free, groups, seed)
        assert used > 0
        assert len(set(chosen.tolist())) == chosen.size == sum(wanted)
        assert not set(chosen.tolist()) & {0, *known, *met}
        last = tuple(sorted(chosen[-wanted[3] :].tolist()))
        assert set(last) <= set(groups[3].tolist())
        pairs[last] = pairs.get(last, 0) + 1
    cells = math.comb(free[3], wanted[3])
    assert len(pairs) == cells
    assert stats.chisquare(list(pairs.values())).pvalue > 1e-4


def test_strangers_without_words_say_so() -> None:
    assert (
        stranger_kernels.strangers(
            np.array([0]),
            np.array([[1]]),
            np.array([[3]]),
            np.arange(4, dtype=np.int32),
            np.array([0, 4]),
            np.array([0, 0]),
            np.empty(0, dtype=np.int32),
            np.array([0, 0]),
            np.empty(0, dtype=np.int32),
            np.zeros(5, dtype=np.uint8),
            np.empty(0, dtype=np.uint64),
            np.empty(1, dtype=np.int32),
        )
        == -1
    )


@pytest.mark.parametrize("measure", [kernels.OVERLAP, kernels.COSINE, kernels.JACCARD])
def test_scores_grow_with_the_overlap_and_never_tie(measure) -> None:
    units = np.linspace(-30, 30, 601)
    for own, other in [(1.0, 1.0), (4.0, 9.0), (1.0, 20.0)]:
        row = [kernels.score(measure, u, own, other) for u in units]
        assert (np.diff(row) > 0).all()


def test_scores_are_what_they_are_called() -> None:
    assert kernels.score(kernels.COSINE, 6.0, 4.0, 9.0) == 1
    assert kernels.score(kernels.JACCARD, 2.0, 4.0, 4.0) == pytest.approx(1 / 3)
    assert kernels.score(kernels.JACCARD, 4.0, 4.0, 4.0) == 1
    assert kernels.score(kernels.JACCARD, 8.0, 4.0, 4.0) == 2  # noise beyond identity
    assert kernels.score(kernels.OVERLAP, 2.0, 4.0, 9.0) == 2
    pairs = kernels.score_pairs(kernels.COSINE, *np.array([[6.0], [4.0], [9.0]]))
    table = kernels.scores(kernels.COSINE, np.array([[6.0]]), np.array([4.0]), np.array([9.0]))
    assert pairs.tolist() == table[0].tolist() == [1]


def test_the_best_are_kept_in_order_and_ties_go_by_number() -> None:
    generator = np.random.default_rng(3)
    units = generator.integers(0, 6, 50)  # many ties
    peers = generator.permutation(50).astype(np.int32)
    expected = [p for _, p in sorted(zip(-units, peers, strict=True))][:8]
    for order in (np.arange(50), np.arange(50)[::-1], generator.permutation(50)):
        best, scores = np.full((1, 8), -1, dtype=np.int32), np.full((1, 8), -np.inf)
        for part in np.array_split(order, 3):
            kernels.keep_best(
                kernels.OVERLAP,
                np.array([0]),
                np.ones(50),
                np.array([0, part.size]),
                peers[part],
                units[part],
                best,
                scores,
            )
        assert best[0].tolist() == [int(p) for p in expected]
        assert (np.diff(scores[0]) <= 0).all()
