import itertools
import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from scipy import sparse

from reticent.data.profiles import FULL_WEIGHT, Profiles
from reticent.errors import ParameterError
from reticent.noise import Source, discrete_laplace
from reticent.noise.laplace import laplace_of_words
from reticent.tasks import kernels, neighbours, overlaps
from reticent.tasks.crowds import Buckets, head_reach, largest_noise
from reticent.tasks.neighbours import BLOCK_ROWS, merge_nearest, nearest, nearest_between
from reticent.tasks.similarity import Similarity

MEASURES = {"overlap": kernels.OVERLAP, "cosine": kernels.COSINE, "jaccard": kernels.JACCARD}
PEOPLE, K = 60, 3
RUNS, CONTROL_RUNS, BRUTE_RUNS = 500, 250, 1000  # with fewer, too few cells can be compared
SCALE = Fraction(FULL_WEIGHT)


def sparse_profiles(people=PEOPLE, items=90, share=0.04, seed=1) -> Profiles:
    generator = np.random.default_rng(seed)
    has = generator.random((people, items)) < share
    weights = generator.choice([0.0, 0.25, 0.5, 1.0], int(has.sum()))
    return Profiles.from_csr(sparse.csr_array(has.astype(float)), weights)


def some_norms(profiles: Profiles) -> np.ndarray:
    """Unequal within each of two buckets, so that a smaller draw may well make a better score."""
    return np.random.default_rng(2).uniform(1, 4, len(profiles)) * FULL_WEIGHT


def true_units(profiles: Profiles) -> np.ndarray:
    n = len(profiles)
    first, second = (a.ravel() for a in np.meshgrid(np.arange(n), np.arange(n), indexing="ij"))
    units = np.empty(first.size, dtype=np.int64)
    kernels.overlaps_with(
        first, second, profiles.indptr, profiles.indices, profiles.weights, False, units
    )
    return units.reshape(n, n)


def score_table(measure: int, units: np.ndarray, norms: np.ndarray) -> np.ndarray:
    """Written apart from the kernels, in NumPy."""
    own, other = norms[:, None], norms[None]
    if measure == kernels.COSINE:
        return units / np.sqrt(own * other)
    if measure == kernels.JACCARD:
        both = own + other
        return np.where(
            2 * units > both, 2 * units / both, units / (both - np.minimum(units, both / 2))
        )
    return units.astype(float)


def brute_force(units, k, measure, norms, noise) -> tuple[np.ndarray, np.ndarray]:
    """Noise for every pair, then the k best: what ``nearest`` must have the law of."""
    table = score_table(measure, units + noise, norms)
    everybody = np.arange(len(units))
    table[..., everybody, everybody] = -np.inf
    best = np.argsort(-table, axis=-1, kind="stable")[..., :k]
    return best, np.take_along_axis(table, best, axis=-1)


def run(profiles, k=K, measure=kernels.COSINE, norms=None, scale=SCALE, seed=0):
    norms = np.full(len(profiles), float(FULL_WEIGHT)) if norms is None else norms
    return nearest(
        profiles,
        k,
        measure=measure,
        product=False,
        norms=norms,
        scale=scale,
        source=Source.seeded(seed),
    )


def inclusion(lists, people: int) -> tuple[np.ndarray, np.ndarray]:
    """How often each peer is in each list, and the scores of each place."""
    counts = np.zeros((people, people))
    scores = []
    for best, found in lists:
        np.add.at(counts, (np.arange(people)[:, None], best), 1)
        scores.append(found)
    return counts, np.array(scores)


def z_scores(a: np.ndarray, runs: int, b: np.ndarray, other_runs: int) -> np.ndarray:
    """Difference of two inclusion frequencies, cell by cell, in standard deviations."""
    share = (a + b) / (runs + other_runs)
    used = (share > 20 / runs) & (share < 1 - 20 / runs)
    a, b, share = a[used] / runs, b[used] / other_runs, share[used]
    return (a - b) / np.sqrt(share * (1 - share) * (1 / runs + 1 / other_runs))


@cache
def brute_counts(measure: int, share: float = 0.04) -> tuple[np.ndarray, np.ndarray]:
    profiles, source = sparse_profiles(share=share), Source.seeded(77)
    noise = discrete_laplace(scale=SCALE, size=(BRUTE_RUNS, PEOPLE, PEOPLE), source=source)
    found = brute_force(true_units(profiles), K, measure, some_norms(profiles), noise)
    return inclusion(zip(*found, strict=True), PEOPLE)


def misfit(measure: int = kernels.COSINE, share: float = 0.04, runs: int = CONTROL_RUNS) -> float:
    """Root mean square of the z-scores of fewer runs, for controls."""
    profiles = sparse_profiles(share=share)
    norms = some_norms(profiles)
    lists = (run(profiles, measure=measure, norms=norms, seed=s) for s in range(runs))
    ours, _ = inclusion(lists, PEOPLE)
    z = z_scores(ours, runs, brute_counts(measure, share)[0], BRUTE_RUNS)
    return float(np.sqrt((z**2).mean()))


@pytest.mark.parametrize(
    ("measure", "per_place"),
    [("overlap", 2.0), ("cosine", 0.05), ("jaccard", 2.0)],
)
def test_theorem_1_the_law_is_that_of_noise_for_everyone(measure, per_place, monkeypatch) -> None:
    monkeypatch.setattr(neighbours, "_PER_PLACE", per_place)  # few: then more levels are opened
    profiles = sparse_profiles()
    norms = some_norms(profiles)
    known = (true_units(profiles) > 0).mean()
    assert 0.03 < known < 0.5  # friends and strangers both matter
    lists = (run(profiles, measure=MEASURES[measure], norms=norms, seed=s) for s in range(RUNS))
    ours, our_scores = inclusion(lists, PEOPLE)
    theirs, their_scores = brute_counts(MEASURES[measure])
    z = z_scores(ours, RUNS, theirs, BRUTE_RUNS)
    assert z.size > 300
    assert np.sqrt((z**2).mean()) < 1.05  # chi-square over cells: rms 1 but for chance
    assert np.abs(z).max() < 5.5
    spread = their_scores.std(axis=0) * math.sqrt(1 / RUNS + 1 / BRUTE_RUNS)
    shift = (our_scores.mean(axis=0) - their_scores.mean(axis=0)) / spread
    assert np.sqrt((shift**2).mean()) < 1.35  # scores of each place, person by person


def test_control_a_search_that_stops_too_early_is_caught(monkeypatch) -> None:
    monkeypatch.setattr(neighbours, "_PER_PLACE", 0.05)
    assert misfit() < 1.1
    monkeypatch.setattr(neighbours, "largest_noise", lambda x, scale: np.zeros(x.shape))
    assert misfit() > 1.5


@pytest.mark.parametrize("measure", MEASURES)
def test_control_strangers_without_noise_are_caught(measure, monkeypatch) -> None:
    def words_for_0(_, zeros, anew):
        return np.full(zeros.size, (1 << 63) - 1, dtype=np.uint64)  # U close to 1/2

    monkeypatch.setattr(neighbours._Search, "_words", words_for_0)
    assert misfit(MEASURES[measure], runs=100) > 3


def test_control_friends_dismissed_too_soon_are_caught(monkeypatch) -> None:
    assert misfit(share=0.1) < 1.1  # many friends
    monkeypatch.setattr(neighbours, "head_reach", lambda scale: head_reach(scale) / 2)
    assert misfit(share=0.1) > 1.5


def test_control_a_list_that_prefers_friends_in_ties_is_caught() -> None:
    """Equal scores must not be settled by who was looked at first."""
    n = 6
    people, items = [0, 1, 2, 3, 4, 5, 5], [9, 9, 9, 9, 9, 8, 9]
    there = Profiles.of(people, items).in_catalogue(range(n), range(10))
    profiles = there.with_weights([0, 0, 0, 0, 1, 1, 2.0**-20])
    best, scores = run(profiles, k=5, measure=kernels.OVERLAP, scale=Fraction(1, 40))
    # number 5 shares one unit with 4 only; everyone else is equal and goes by number
    assert best[5].tolist() == [4, 0, 1, 2, 3]
    assert scores[5].tolist() == [1, 0, 0, 0, 0]
    assert best[0].tolist() == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("k", [1, 5, PEOPLE - 1])
def test_almost_no_noise_gives_the_true_neighbours(measure, k) -> None:
    profiles = sparse_profiles(share=0.3)
    norms = some_norms(profiles)
    best, scores = run(profiles, k, MEASURES[measure], norms, scale=Fraction(1, 60))
    expected, their_scores = brute_force(true_units(profiles), k, MEASURES[measure], norms, 0)
    assert best.tolist() == expected.tolist()
    assert scores == pytest.approx(their_scores)


def test_the_levels_of_a_large_crowd_are_opened_to_the_end() -> None:
    n = 3000
    nobody_knows_anybody = Profiles.of(range(n), range(n))
    best, scores = run(nobody_knows_anybody, k=10, measure=kernels.OVERLAP, seed=5)
    assert (best != np.arange(n)[:, None]).all()
    assert all(len(set(row)) == 10 for row in best.tolist())
    counts = np.bincount(best.ravel(), minlength=n)
    assert counts.mean() == 10
    assert counts.var() == pytest.approx(10, rel=0.15)
    # the j-th largest of N draws of Laplace(1): its tail count 2 exp(-x) is Beta, so E is harmonic
    tails = np.exp(-scores / FULL_WEIGHT) / 2 * n
    assert tails.mean(axis=0) == pytest.approx(np.arange(1, 11), rel=0.05)


def test_few_levels_serve_a_crowd_as_large_as_its_list() -> None:
    n = 25
    profiles = Profiles.of(range(n), range(n))
    best, _ = run(profiles, k=n - 1, measure=kernels.OVERLAP)
    assert [sorted(row) for row in best.tolist()] == [
        [p for p in range(n) if p != u] for u in range(n)
    ]


def test_blocks_do_not_change_the_law_or_the_padding(monkeypatch) -> None:
    profiles = sparse_profiles()
    monkeypatch.setattr(overlaps, "_BLOCK_POSTINGS", 1)
    best, scores = run(profiles, scale=Fraction(1, 60))
    equal = np.full(PEOPLE, float(FULL_WEIGHT))
    expected, _ = brute_force(true_units(profiles), K, kernels.COSINE, equal, 0)
    assert best.tolist() == expected.tolist()
    assert np.isfinite(scores).all()


def test_progress_is_told_of_every_block() -> None:
    told: list[tuple[int, int]] = []
    nearest(
        Profiles.of(range(1100), range(1100)),
        2,
        measure=kernels.OVERLAP,
        product=False,
        norms=np.ones(1100),
        scale=SCALE,
        source=Source.seeded(1),
        progress=lambda done, of: told.append((done, of)),
    )
    assert told == [(512, 1100), (1024, 1100), (1100, 1100)]


# Theorem 3: rows and peers in parts


def between(profiles, rows, peers, k=K, measure=kernels.COSINE, seed=0, threads=1, scale=SCALE):
    return nearest_between(
        profiles,
        k,
        rows=rows,
        peers=peers,
        measure=measure,
        product=False,
        norms=some_norms(profiles),
        scale=scale,
        source=Source.seeded(seed),
        threads=threads,
    )


def merged(profiles, cuts, **more) -> tuple[np.ndarray, np.ndarray]:
    """Everybody's lists from parts: two ranges of rows, as many of peers as cuts make."""
    n = len(profiles)
    ends = [0, *cuts, n]
    parts = [range(a, b) for a, b in itertools.pairwise(ends)]
    halves = []
    for rows in (range(n // 3), range(n // 3, n)):
        lists = [between(profiles, rows, peers, **more) for peers in reversed(parts)]
        halves.append(merge_nearest(lists, K))
    return tuple(np.concatenate(side) for side in zip(*halves, strict=True))


@pytest.mark.parametrize("measure", ["jaccard"])  # merging does not look at what scores mean
def test_theorem_3_merged_parts_have_the_law_of_noise_for_everyone(measure) -> None:
    profiles, runs = sparse_profiles(), CONTROL_RUNS
    lists = (merged(profiles, (7, 40), measure=MEASURES[measure], seed=s) for s in range(runs))
    ours, _ = inclusion(lists, PEOPLE)
    theirs, _ = brute_counts(MEASURES[measure])
    z = z_scores(ours, runs, theirs, BRUTE_RUNS)
    assert np.sqrt((z**2).mean()) < 1.1


def test_theorem_3_control_parts_that_forget_a_range_are_caught() -> None:
    profiles, runs = sparse_profiles(), 100
    rest = range(PEOPLE // 2, PEOPLE)
    lists = (between(profiles, range(PEOPLE), rest, seed=s) for s in range(runs))
    ours, _ = inclusion(lists, PEOPLE)
    z = z_scores(ours, runs, brute_counts(kernels.COSINE)[0], BRUTE_RUNS)
    assert np.sqrt((z**2).mean()) > 1.5


@pytest.mark.parametrize("measure", MEASURES)
def test_merged_parts_without_noise_are_the_true_neighbours(measure) -> None:
    profiles = sparse_profiles(share=0.3)
    tiny = {"measure": MEASURES[measure], "scale": Fraction(1, 60)}
    best, scores = merged(profiles, (1, 20, 21, 59), **tiny)
    expected, their_scores = brute_force(
        true_units(profiles), K, MEASURES[measure], some_norms(profiles), 0
    )
    assert best.tolist() == expected.tolist()
    assert scores == pytest.approx(their_scores)


def test_merging_does_not_depend_on_the_order_of_parts() -> None:
    generator = np.random.default_rng(4)
    parts = [
        (
            np.sort(generator.permutation(10)[:6] + 10 * j).astype(np.int32)[None].repeat(5, 0),
            -np.sort(-generator.integers(0, 3, (5, 6)), axis=1).astype(float),  # many ties
        )
        for j in range(3)
    ]
    peers, scores = merge_nearest(parts, 6)
    for order in itertools.permutations(parts):
        again = merge_nearest(order, 6)
        assert again[0].tolist() == peers.tolist()
        assert again[1].tolist() == scores.tolist()
    twice = merge_nearest([merge_nearest(parts[:2], 6), parts[2]], 6)
    assert twice[0].tolist() == peers.tolist()
    with pytest.raises(ParameterError, match="at least 7 places"):
        merge_nearest(parts, 7)  # the seventh of one part may be among the seven best


def test_lists_do_not_depend_on_threads_or_on_who_makes_which() -> None:
    n = 2 * BLOCK_ROWS + 200
    generator = np.random.default_rng(5)
    profiles = Profiles.of(np.repeat(np.arange(n), 5), generator.integers(0, 3000, 5 * n))
    everybody = range(n)
    best, scores = between(profiles, everybody, everybody, threads=1)
    for threads in (2, 3):
        again = between(profiles, everybody, everybody, threads=threads)
        assert again[0].tolist() == best.tolist()
        assert again[1].tolist() == scores.tolist()
    parts = [range(BLOCK_ROWS), range(BLOCK_ROWS, n)]
    apart = [between(profiles, rows, everybody) for rows in reversed(parts)][::-1]
    assert np.concatenate([b for b, _ in apart]).tolist() == best.tolist()
    other, _ = between(profiles, everybody, everybody, seed=1)
    assert other.tolist() != best.tolist()


def test_every_release_draws_anew() -> None:
    club = sparse_profiles()
    similarity, source = Similarity(epsilon=1), Source.seeded(1)
    first, second = (similarity.neighbours(club, 3, source=source).scores for _ in range(2))
    assert (first != second).mean() > 0.9
    assert (similarity.neighbours(club, 3, source=Source.seeded(1)).scores == first).all()


@pytest.mark.parametrize("rows", [range(0), range(5, 9)])
@pytest.mark.parametrize("peers", [range(0), range(1), range(5, 7), range(6, 7)])
def test_few_rows_and_few_peers(rows, peers) -> None:
    best, scores = between(EDGES["one item for all"], rows, peers)
    for u, own, found in zip(rows, best.tolist(), scores.tolist(), strict=True):
        others = sorted(set(peers) - {u})[:K]
        assert sorted(own[: len(others)]) == others
        assert own[len(others) :] == [-1] * (K - len(others))
        assert np.isfinite(found[: len(others)]).all()


@pytest.mark.parametrize("wrong", [range(10), range(-1, 3), range(0, 6, 2), range(4, 2)])
@pytest.mark.parametrize("name", ["rows", "peers"])
def test_ranges_outside_are_refused(name, wrong) -> None:
    ranges = {"rows": range(9), "peers": range(9), name: wrong}
    with pytest.raises(ParameterError, match=f"{name} must be a range"):
        between(EDGES["all equal"], **ranges)


def test_a_thread_that_fails_ends_the_release(monkeypatch) -> None:
    def fail(*_):
        raise RuntimeError("no words")

    monkeypatch.setattr(neighbours._Search, "_words", fail)
    crowd = Profiles.of(range(2000), range(2000))
    with pytest.raises(RuntimeError, match="no words"):
        between(crowd, range(2000), range(2000), threads=2)


@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
def test_no_bucket_dismisses_a_friend_who_could_reach_the_list(measure) -> None:
    """What is dismissed by the least norm of a bucket scores less, and hardly anything else."""
    generator = np.random.default_rng(6)
    for _ in range(2000):
        own, other = generator.uniform(1, 50, 2)
        last = generator.uniform(-0.99, 3)
        least = kernels.least_units(measure, last, own, other)
        room = abs(least) * 2.0**-44
        assert kernels.score(measure, least - room, own, other) < last
        assert kernels.score(measure, least + 2**6 * room, own, other) >= last
        larger = other * generator.uniform(1, 2)
        if least > room:
            assert kernels.score(measure, least - room, own, larger) < last
    for hopeless in (-np.inf, -1.5):
        if measure == kernels.JACCARD or hopeless == -np.inf:
            assert kernels.least_units(measure, hopeless, 2.0, 3.0) == -np.inf


# Edges

EDGES = {
    "all equal": Profiles.of(np.repeat(np.arange(9), 4), np.tile(np.arange(4), 9)),
    "all strangers": Profiles.of(range(9), range(9)),
    "empty profiles": Profiles.of([0], [0]).in_catalogue(range(9), range(3)),
    "everything withheld": Profiles.of(
        np.repeat(np.arange(9), 4), np.tile(np.arange(4), 9)
    ).with_weights([0] * 36),
    "one item for all": Profiles.of(range(9), [0] * 9),
    "two people": Profiles.of([0, 1], [0, 0]),
    "two strangers": Profiles.of([0, 1], [0, 1]),
}


@pytest.mark.parametrize("name", EDGES)
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("k", [1, 8, 20])
def test_edges_give_distinct_others_and_pad_with_minus_one(name, measure, k) -> None:
    profiles = EDGES[name]
    n = len(profiles)
    best, scores = run(profiles, k, MEASURES[measure])
    held = min(k, n - 1)
    for u in range(n):
        assert len(set(best[u, :held].tolist()) - {u}) == held
    assert (best[:, held:] == -1).all()
    assert (scores[:, held:] == -np.inf).all()
    assert (np.diff(scores[:, :held]) <= 0).all()


@pytest.mark.parametrize("n", [0, 1])
def test_nobody_to_compare_with(n) -> None:
    best, _ = run(Profiles.of(range(n), range(n)), k=2)
    assert best.tolist() == [[-1, -1]] * n


def test_buckets_hold_norms_within_a_factor_of_two() -> None:
    norms = np.array([1.0, 1.9, 2.0, 700.0, 1.5, 513.0])
    buckets = Buckets.by(norms)
    assert buckets.sizes.tolist() == [3, 1, 2]
    assert buckets.least_norm.tolist() == [1, 2, 513]
    assert sorted(buckets.members.tolist()) == list(range(6))
    for g in range(3):
        members = buckets.members[buckets.starts[g] : buckets.starts[g + 1]]
        assert norms[members].max() < 2 * norms[members].min()
        assert (buckets.of[members] == g).all()


def test_no_level_is_skipped_that_could_have_reached_the_list() -> None:
    """The bound on what was not drawn, against the sampler itself at the edge of each level."""
    for scale in (Fraction(1, 2), Fraction(3), Fraction(FULL_WEIGHT), Fraction(1 << 45)):
        for level in range(1, 40):
            edge = np.array([1 << (64 - level)] * 50, dtype=np.uint64)  # least U not below 2^-b
            source = Source.seeded(level)
            most = laplace_of_words(
                edge, lambda s=source: s.long_words(50), scale=scale, bits=lambda _, s=source: s
            ).max()
            bound = float(largest_noise(np.array(level * math.log(2)), scale))
            assert most <= bound <= float(scale) * (level * math.log(2) + 2.0**-17) + 1


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(FULL_WEIGHT), Fraction(1 << 45)])
def test_no_friend_is_skipped_who_could_have_reached_the_list(scale) -> None:
    reach = head_reach(scale)
    assert reach[0] == np.inf
    assert (reach >= 0).all()
    source = Source.seeded(3)
    for head in range(1, 256):
        words = np.full(50, head << 56, dtype=np.uint64)  # the least U with these bits, or the most
        words[25:] |= np.uint64((1 << 56) - 1)
        most = laplace_of_words(
            words, lambda: source.long_words(50), scale=scale, bits=lambda _: source
        ).max()
        assert most <= reach[head]
        assert head >= 128 or reach[head] <= most + 2.0**-15 * float(scale) + 3
