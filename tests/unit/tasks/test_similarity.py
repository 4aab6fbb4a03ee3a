import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from reticent.data.profiles import FULL_WEIGHT, Profiles
from reticent.errors import CannotCompose, ParameterError
from reticent.guarantees import ITEM, ITEM_SUBSTITUTE, Accountant, PerItemDP, Spread, compose
from reticent.noise import PairNoise, Source
from reticent.tasks import kernels
from reticent.tasks.clustering import Gossip
from reticent.tasks.similarity import Neighbours, Similarity
from reticent.testing import RecordingSource

PRIVATE = [
    {"measure": "overlap", "norms": "none"},
    {"measure": "cosine", "norms": "private"},
    {"measure": "jaccard", "norms": "private"},
]
PUBLIC = [{"measure": "cosine", "norms": "public"}, {"measure": "jaccard", "norms": "public"}]
EPSILON = Fraction(1, 2)


# Exact verification: one person for every profile of three items and weights, all pairs of them.

STATES = (None, 0.0, 0.25, 0.5, 1.0)  # an item is absent, or there with a weight
TINY = list(product(STATES, repeat=3))


def everybody(weight=lambda v: v) -> Profiles:
    lines = [
        (u, i, weight(v)) for u, t in enumerate(TINY) for i, v in enumerate(t) if v is not None
    ]
    people, items, weights = zip(*lines, strict=True)
    there = Profiles.of(people, items).in_catalogue(range(len(TINY)), range(3))
    return there.with_weights(weights)  # reading would leave out items of weight 0


def all_overlaps(profiles: Profiles, weighting: str) -> np.ndarray:
    n = len(profiles)
    first, second = (a.ravel() for a in np.meshgrid(np.arange(n), np.arange(n), indexing="ij"))
    units = np.empty(first.size, dtype=np.int64)
    kernels.overlaps_with(
        first,
        second,
        profiles.indptr,
        profiles.indices,
        profiles.weights,
        weighting == "product",
        units,
    )
    return units.reshape(n, n)


def neighbouring() -> list[tuple[int, int, Fraction]]:
    """Profiles that differ in one item, its weight, or both; and the larger weight."""
    number = {t: u for u, t in enumerate(TINY)}
    found = []
    for t, i, other in product(TINY, range(3), STATES):
        changed = (*t[:i], other, *t[i + 1 :])
        if number[t] < number[changed]:
            found.append((number[t], number[changed], Fraction(max(t[i] or 0, other or 0))))
    return found


def worst_losses(similarity, profiles, thin=Fraction(1)) -> dict[Fraction, Fraction]:
    """For each larger weight the exact loss of a peer who sees overlap and norm together."""
    source = RecordingSource()
    similarity.release_norms(profiles, source)
    similarity.pair_noise(source)
    scales = {call.primitive: Fraction(call.arguments["scale"]) for call in source.calls}
    overlaps = all_overlaps(profiles, similarity.weighting)
    sizes = profiles.weighted_sizes()
    worst: dict[Fraction, Fraction] = {}
    for a, b, weight in neighbouring():
        moved = int(np.abs(overlaps[a] - overlaps[b]).max())  # over every profile of the peer
        loss = Fraction(moved) / (scales["pair_noise"] * thin)
        if "discrete_laplace" in scales:
            loss += abs(int(sizes[a]) - int(sizes[b])) / (scales["discrete_laplace"] * thin)
        worst[weight] = max(worst.get(weight, Fraction(0)), loss)
    return worst


@pytest.mark.parametrize("weighting", ["min", "product"])
@pytest.mark.parametrize("mode", PRIVATE, ids=lambda m: m["measure"])
def test_theorem_1_no_item_loses_more_than_epsilon_times_its_weight(mode, weighting) -> None:
    similarity = Similarity(epsilon=EPSILON, weighting=weighting, **mode)
    worst = worst_losses(similarity, everybody())
    assert worst == {w: EPSILON * w for w in worst}  # exactly: never more, and tight
    assert set(worst) == {0, Fraction(1, 4), Fraction(1, 2), 1}


@pytest.mark.parametrize("mode", PRIVATE, ids=lambda m: m["measure"])
def test_controls_planted_faults_are_caught(mode) -> None:
    similarity = Similarity(epsilon=EPSILON, **mode)
    ignored = worst_losses(similarity, everybody(weight=lambda _: 1))
    assert ignored[Fraction(0)] == EPSILON  # weights ignored
    thin = worst_losses(similarity, everybody(), thin=Fraction(98, 100))
    assert thin[Fraction(1)] > EPSILON  # noise 2 % too small
    profiles = everybody()
    heavy = everybody()
    object.__setattr__(heavy, "weights", profiles.weights * 3)  # past the constructor's clamp
    assert worst_losses(similarity, heavy)[Fraction(1)] > EPSILON  # weights not clamped


# Theorem 2: weight 0 is invisible, to the last bit


def club(withheld: bool, people=30, items=20) -> Profiles:
    """The same people with or without ten more items of weight 0 each for three of them."""
    generator = np.random.default_rng(8)
    lines = [
        (u, i, generator.random())
        for u, i in product(range(people), range(items))
        if generator.random() < 0.2 and not (u < 3 and i < 10)
    ]
    if withheld:
        lines += [(u, i, 0.0) for u in range(3) for i in range(10)]
    who, what, weights = zip(*sorted(lines), strict=True)
    there = Profiles.of(who, what).in_catalogue(range(people), range(items))
    return there.with_weights(weights)  # reading would leave out items of weight 0


def everything_released(mode, profiles: Profiles) -> list[bytes]:
    similarity = Similarity(epsilon=1, **mode)
    source = Source.seeded(12)
    norms = similarity.release_norms(profiles, source)
    first, second = (a.astype(np.int64) for a in np.triu_indices(len(profiles), 1))
    noise = similarity.pair_noise(source)
    pairs = similarity.pairs(profiles, first, second, norms=norms, noise=noise)
    lists = similarity.neighbours(profiles, 5, source=source)
    return [a.tobytes() for a in (norms, pairs, lists.peers, lists.scores)]


@pytest.mark.parametrize("weighting", ["min", "product"])
@pytest.mark.parametrize("mode", PRIVATE, ids=lambda m: m["measure"])
def test_theorem_2_weight_0_changes_no_bit(mode, weighting) -> None:
    mode = mode | {"weighting": weighting}
    assert everything_released(mode, club(True)) == everything_released(mode, club(False))


@pytest.mark.parametrize("mode", PUBLIC, ids=lambda m: m["measure"])
def test_control_the_papers_norms_show_items_of_weight_0(mode) -> None:
    with_items, without = (everything_released(mode, club(there)) for there in (True, False))
    assert all(a != b for a, b in zip(with_items, without, strict=True))


def test_control_weight_above_0_is_not_invisible() -> None:
    light = club(True)
    light = light.with_weights(np.maximum(light.weights / FULL_WEIGHT, 0.1))
    assert everything_released(PRIVATE[1], light) != everything_released(PRIVATE[1], club(False))


# Sizes


def test_sizes_private_norms_are_weighted_sizes_plus_noise() -> None:
    people = 20_000
    profiles = Profiles.of(np.repeat(np.arange(people), 40), np.tile(np.arange(40), people), 0.5)
    similarity = Similarity(epsilon=1, norm_share="0.5")
    norms = similarity.release_norms(profiles, Source.seeded(2))
    assert similarity.epsilon_norm == Fraction(1, 2)
    assert norms.mean() == pytest.approx(20, abs=0.1)
    assert np.abs(norms - 20).mean() == pytest.approx(2, rel=0.03)  # scale 1 / epsilon_norm
    assert norms.min() >= 1


def test_sizes_public_norms_are_exact_and_cost_nothing() -> None:
    profiles = Profiles.of(["a", "a", "b"], [1, 2, 3]).with_weights([0, 0, 1])
    similarity = Similarity(epsilon=1, norms="public")
    assert similarity.release_norms(profiles, Source.seeded(1)).tolist() == [2, 1]
    assert similarity.epsilon_norm == 0
    assert similarity.epsilon_overlap == 1


# Theorem 4: exact sizes, so exchanges only


def exchanges() -> list[tuple[int, int, Fraction]]:
    """Profiles that differ by one item for another one; and the larger of the two weights."""
    number = {t: u for u, t in enumerate(TINY)}
    found = []
    for t, i, j, weight in product(TINY, range(3), range(3), STATES[1:]):
        if t[i] is not None and t[j] is None:
            after = list(t)
            after[i], after[j] = None, weight
            found.append((number[t], number[tuple(after)], Fraction(max(t[i], weight))))
    return found


@pytest.mark.parametrize("weighting", ["min", "product"])
@pytest.mark.parametrize("mode", PUBLIC, ids=lambda m: m["measure"])
def test_theorem_4_an_exchange_loses_epsilon_times_the_larger_weight(mode, weighting) -> None:
    similarity = Similarity(epsilon=EPSILON, weighting=weighting, **mode)
    profiles, source = everybody(), RecordingSource()
    norms = similarity.release_norms(profiles, source)
    similarity.pair_noise(source)
    (scale,) = (Fraction(call.arguments["scale"]) for call in source.calls)
    overlaps = all_overlaps(profiles, weighting)
    worst: dict[Fraction, Fraction] = {}
    for a, b, weight in exchanges():
        assert norms[a] == norms[b]
        loss = int(np.abs(overlaps[a] - overlaps[b]).max()) / scale
        worst[weight] = max(worst.get(weight, Fraction(0)), loss)
    assert worst == {w: EPSILON * w for w in (0, Fraction(1, 4), Fraction(1, 2), 1)}


@pytest.mark.parametrize("mode", PUBLIC, ids=lambda m: m["measure"])
def test_theorem_4_control_adding_an_item_of_weight_0_shows(mode) -> None:
    norms = Similarity(epsilon=EPSILON, **mode).release_norms(everybody(), Source.seeded(1))
    number = {t: u for u, t in enumerate(TINY)}
    assert norms[number[1.0, None, None]] != norms[number[1.0, 0.0, None]]


def test_theorem_4_the_unit_says_so_and_the_accountant_follows() -> None:
    exact, noisy = Similarity(epsilon=1, norms="public"), Similarity(epsilon=1)
    assert exact.guarantee(3) == PerItemDP(Spread(3_000_000_000), ITEM_SUBSTITUTE)
    assert noisy.guarantee().unit == ITEM
    gossip = Gossip(similarity=exact, max_contacts=4, total_epsilon=2)
    lists = exact.neighbours(club(False), 3, source=Source.seeded(1)).event
    clusters = gossip.cluster(club(False), source=Source.seeded(1)).event
    assert lists.loss.unit == clusters.loss.unit == ITEM_SUBSTITUTE
    assert compose([lists.loss, clusters.loss]).overall == 60_000_000_000
    accountant = Accountant(unit=ITEM_SUBSTITUTE, limit=60)
    for event in (lists, clusters):
        accountant.compose(event)
    assert accountant.spent.overall == 60_000_000_000
    with pytest.raises(CannotCompose):
        compose([lists.loss, noisy.guarantee()])
    with pytest.raises(CannotCompose):
        Accountant(unit=ITEM, limit=60).compose(lists)


# Theorem 3: many comparisons


def test_theorem_3_norms_are_paid_once_and_overlaps_once_a_peer() -> None:
    similarity = Similarity(epsilon=1)
    for peers in (0, 1, 7, 300):
        nano = 250_000_000 + peers * 750_000_000
        assert similarity.guarantee(comparisons=peers) == PerItemDP(Spread(nano))
    lists = similarity.neighbours(club(False), 4, source=Source.seeded(3))
    assert lists.event.loss == similarity.guarantee(comparisons=2 * 29)
    assert lists.event.parameters["people"] == 30
    assert not lists.event.private


def test_theorem_3_asking_again_averages_nothing_away() -> None:
    profiles = club(False)
    similarity = Similarity(epsilon=1)
    norms = similarity.release_norms(profiles, Source.seeded(4))
    noise = similarity.pair_noise(Source.seeded(5))
    first, second = np.zeros(50, dtype=np.int64), np.full(50, 7, dtype=np.int64)
    there = similarity.pairs(profiles, first, second, norms=norms, noise=noise)
    back = similarity.pairs(profiles, second, first, norms=norms, noise=noise)
    assert len(set(there.tolist() + back.tolist())) == 1


@pytest.mark.parametrize("mode", PRIVATE + PUBLIC, ids=lambda m: f"{m['measure']} {m['norms']}")
@pytest.mark.parametrize("weighting", ["min", "product"])
def test_without_much_noise_scores_are_the_similarities(mode, weighting) -> None:
    profiles = club(False)
    similarity = Similarity(epsilon=10**6, weighting=weighting, **mode)
    weights = np.zeros((30, 20))
    weights[profiles.rows(), profiles.indices] = profiles.weights / FULL_WEIGHT
    left, right = weights[:, None], weights[None]
    overlap = (left * right if weighting == "product" else np.minimum(left, right)).sum(axis=2)
    sizes = profiles.sizes if mode["norms"] == "public" else weights.sum(axis=1)
    norms = np.maximum(sizes, 1.0)
    expected = {
        "overlap": overlap,
        "cosine": overlap / np.sqrt(norms[:, None] * norms),
        "jaccard": overlap / (norms[:, None] + norms - overlap),
    }[mode["measure"]]
    lists = similarity.neighbours(profiles, 29, source=Source.seeded(6))
    rows = np.arange(30)[:, None]
    assert lists.scores == pytest.approx(expected[rows, lists.peers], abs=1e-3)
    first, second = (a.astype(np.int64) for a in np.triu_indices(30, 1))
    noise = similarity.pair_noise(Source.seeded(7))
    released = similarity.release_norms(profiles, Source.seeded(8))
    pairs = similarity.pairs(profiles, first, second, norms=released, noise=noise)
    assert pairs == pytest.approx(expected[first, second], abs=1e-3)


# People, labels and lists of every kind


@pytest.mark.parametrize(
    ("people", "items"),
    [
        (["ann", "bob", "ann"], ["Heat", "Heat", "Up"]),
        ([10**12, -5, 10**12], [3, 3, 4]),
        (np.array(["x", "y", "x"], dtype=object), np.array([1.5, 1.5, 2.5])),
    ],
)
def test_any_labels_serve(people, items) -> None:
    lists = Similarity(epsilon=1).neighbours(Profiles.of(people, items), 3, source=Source.seeded(1))
    assert lists.peers.tolist() == [[1], [0]]


@pytest.mark.parametrize("mode", PRIVATE, ids=lambda m: m["measure"])
def test_one_person_or_none(mode) -> None:
    similarity = Similarity(epsilon=1, **mode)
    alone = similarity.neighbours(Profiles.of(["a"], ["x"]), 4, source=Source.seeded(1))
    assert alone.peers.tolist() == [[-1]]
    nobody = similarity.neighbours(Profiles.of([], []), 4, source=Source.seeded(1))
    assert nobody.peers.shape[0] == 0
    assert isinstance(nobody, Neighbours)


def test_odd_weights_and_repeated_unsorted_lines_do_no_harm() -> None:
    weights = [math.nan, -1, 1e300, 0.5, 0.5, "secret", None]
    people, items = ["b", "a", "b", "a", "c", "c", "a"], [9, 3, 9, 1, 1, 3, 1]
    messy = Profiles.of(people, items, np.array(weights, dtype=object))
    clean = Profiles.of(["b", "a", "a", "c", "c"], [9, 3, 1, 1, 3], [0, 0, 0, 0.5, 0])
    catalogue = ["a", "b", "c"], [1, 3, 9]
    found = [
        Similarity(epsilon=1).neighbours(p.in_catalogue(*catalogue), 2, source=Source.seeded(4))
        for p in (messy, clean)
    ]
    assert found[0].scores.tolist() == found[1].scores.tolist()
    assert found[0].peers.tolist() == found[1].peers.tolist()


def test_no_message_shows_a_person_an_item_or_a_weight() -> None:
    def attempts():
        yield lambda: Profiles.of(["Secretly"], ["Secretly", "Secretly"])
        yield lambda: Profiles.of(np.array([["Secretly"]]), ["Secretly"])
        yield lambda: Profiles.of(["Secretly"], ["Secretly"], [0.987654, 0.987654])
        yield lambda: Profiles.of(["Secretly"], ["x"]).in_catalogue(["Secretly"] * 2, ["x"])
        yield lambda: Profiles.of(["Secretly"], ["x"]).with_weights([0.987654] * 3)
        yield lambda: Similarity(epsilon=1).neighbours(
            Profiles.of(["Secretly"], ["Secretly"], [0.987654]), 0, source=Source.seeded(1)
        )

    for attempt in attempts():
        with pytest.raises(ParameterError) as refused:
            attempt()
        assert "Secretly" not in str(refused.value)
        assert "987654" not in str(refused.value)


# Parameters


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("epsilon", v) for v in (0, -1, math.nan, math.inf, None, "x", 1e-12, True)),
        *(("measure", v) for v in ("dice", None, 3, ["cosine"])),
        *(("norms", v) for v in ("none", "exact", None)),
        *(("weighting", v) for v in ("max", None)),
        *(("norm_share", v) for v in (0, 1, -1, math.nan, "x")),
    ],
)
def test_bad_parameters_are_refused(name, value) -> None:
    with pytest.raises(ParameterError, match=f"^{name} must be .+, got "):
        Similarity(**{"epsilon": 1} | {name: value})


def test_a_share_too_small_for_its_noise_is_refused_at_once() -> None:
    with pytest.raises(ParameterError, match="^epsilon must be large enough"):
        Similarity(epsilon=1, norm_share=Fraction(1, 1 << 40))


def test_overlap_has_no_norms() -> None:
    with pytest.raises(ParameterError, match="^norms must be 'none' for overlap"):
        Similarity(epsilon=1, measure="overlap")


@pytest.mark.parametrize("k", [0, -1, 1.5, None, True])
def test_bad_k_is_refused(k) -> None:
    with pytest.raises(ParameterError, match="^k must be a whole number"):
        Similarity(epsilon=1).neighbours(club(False), k, source=Source.seeded(1))


def test_the_event_rebuilds_the_similarity() -> None:
    similarity = Similarity(epsilon="0.3", weighting="product", norm_share="1/3")
    assert Similarity(**similarity.parameters()) == similarity
    assert isinstance(similarity.pair_noise(Source.system()), PairNoise)
