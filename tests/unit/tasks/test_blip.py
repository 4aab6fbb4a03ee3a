import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import stats

from reticent.amounts import show_up
from reticent.data.profiles import Profiles
from reticent.errors import ParameterError
from reticent.guarantees import Event, PerItemDP, Spread
from reticent.guarantees.card import Scope, make_card
from reticent.noise import Source
from reticent.noise.coins import bernoulli_thinned, logistic_words
from reticent.noise.enclosure import logistic_minus, thinned
from reticent.tasks.blip import Blip, Sketches, _best_load, _variance

ITEMS = ["Heat", "Alien", "Up"]
WEIGHTS = [None, Fraction(0), Fraction(1, 4), Fraction(1)]  # None: the item is not there


def people(n: int, items: list[str], weights: list[float]) -> Profiles:
    who = np.repeat(np.arange(n), len(items))
    return Profiles.of(who, items * n, np.tile(weights, n))


# --- Theorems 1 and 2: the law of the published bits, exactly -----------------------------------


def dyadic(bounds: tuple[Fraction, Fraction]) -> Fraction:
    return Fraction(math.floor(bounds[0] * (1 << 128)), 1 << 128)


def law(
    weights: tuple[Fraction | None, ...], positions: np.ndarray, flip: Fraction, keep: dict
) -> dict[tuple[int, ...], Fraction]:
    """Chance of every pattern on the bits that any item touches; the others carry noise only."""
    touched = sorted(set(positions.ravel().tolist()))
    chances = dict.fromkeys(itertools.product((0, 1), repeat=len(touched)), Fraction(0))
    for chosen in itertools.product((False, True), repeat=len(weights)):
        chance = Fraction(1)
        for kept, weight in zip(chosen, weights, strict=True):
            share = Fraction(0) if weight is None else keep[weight]
            chance *= share if kept else 1 - share
        if not chance:
            continue
        on = {int(b) for kept, row in zip(chosen, positions, strict=True) if kept for b in row}
        for pattern in chances:
            flips = sum(bit != (at in on) for bit, at in zip(pattern, touched, strict=True))
            chances[pattern] += chance * flip**flips * (1 - flip) ** (len(touched) - flips)
    return chances


def worst_excess(
    blip: Blip, *, flip_factor: Fraction = Fraction(1), weighted: bool = True
) -> float:
    """Largest realised loss minus eps v over all profiles, items and changes of them."""
    epsilon = Fraction(blip.epsilon)
    flip = dyadic(logistic_minus(blip.exponent, 140)) * flip_factor
    keep = {
        v: dyadic(thinned(epsilon, v, 140)) if weighted else Fraction(1)
        for v in WEIGHTS
        if v is not None
    }
    positions = blip.positions(ITEMS)
    laws = {w: law(w, positions, flip, keep) for w in itertools.product(WEIGHTS, repeat=3)}
    worst = -math.inf
    for before, chances in laws.items():
        for item, weight in itertools.product(range(3), WEIGHTS):
            after = (*before[:item], weight, *before[item + 1 :])
            allowed = epsilon * max(before[item] or 0, weight or 0)
            ratio = max(chances[pattern] / laws[after][pattern] for pattern in chances)
            if allowed:
                worst = max(worst, math.log(ratio) - float(allowed))
            elif ratio != 1:  # an item of weight 0 shows
                return math.inf
    return worst


@pytest.mark.parametrize(("epsilon", "hashes"), [(0.5, 1), (2, 1), (3, 2)])
def test_theorems_1_and_2_every_item_loses_at_most_its_share(epsilon, hashes) -> None:
    excess = worst_excess(Blip(epsilon=epsilon, bits=64, hashes=hashes))
    assert -1e-12 < excess < 1e-12  # and an item of weight 1 loses all of it


def test_the_bound_holds_when_items_share_bits() -> None:
    def colliding(blip: Blip) -> bool:
        return len(set(blip.positions(ITEMS).ravel().tolist())) == 4

    salts = (Blip(epsilon=1, bits=64, hashes=2, salt=str(s)) for s in itertools.count())
    assert worst_excess(next(blip for blip in salts if colliding(blip))) < 1e-12


def test_control_flipping_two_per_cent_too_rarely_is_caught() -> None:
    blip = Blip(epsilon=1, bits=64)
    assert worst_excess(blip, flip_factor=Fraction(98, 100)) > 0.02


@pytest.mark.parametrize("weights", [[None, Fraction(1, 4)], [None, Fraction(0)]])
def test_control_ignoring_weights_is_caught(weights, monkeypatch) -> None:
    monkeypatch.setitem(globals(), "WEIGHTS", weights)
    assert worst_excess(Blip(epsilon=1, bits=64)) < 1e-12
    assert worst_excess(Blip(epsilon=1, bits=64), weighted=False) > 0.7


@pytest.mark.parametrize(("flip_factor", "matches"), [(1.0, True), (0.98, False)])
def test_what_is_published_follows_that_law(flip_factor, matches) -> None:
    blip, n = Blip(epsilon=1, bits=64, hashes=2), 400_000
    weights = (Fraction(1, 4), None, Fraction(1))
    published = blip.publish(people(n, ["Heat", "Up"], [0.25, 1.0]), Source.seeded(5)).words[:, 0]
    flip = Fraction(blip.flip * flip_factor)
    keep = {v: dyadic(thinned(Fraction(1), v, 140)) for v in WEIGHTS if v is not None}
    positions = blip.positions(ITEMS)
    chances = law(weights, positions, flip, keep)
    touched = sorted(set(positions.ravel().tolist()))
    digits = np.stack([published >> np.uint64(at) & np.uint64(1) for at in touched], axis=1)
    code = digits.astype(np.int64) @ (1 << np.arange(len(touched))[::-1])
    expected = np.array([float(chances[p]) for p in chances]) * n
    p_value = stats.chisquare(np.bincount(code, minlength=expected.size), expected).pvalue
    assert bool(p_value > 1e-4) is matches


# --- coins --------------------------------------------------------------------------------------


@pytest.mark.parametrize("x", [Fraction(0), Fraction(1, 3), Fraction(7), Fraction(90)])
def test_enclosures_hold_and_are_tight(x) -> None:
    with mpmath.workdps(80):
        lower, upper = logistic_minus(x, 120)
        truth = 1 / (1 + mpmath.exp(mpmath.mpf(x.numerator) / x.denominator))
        assert mpmath.mpf(lower.numerator) / lower.denominator <= truth * (
            1 + mpmath.mpf(10) ** -70
        )
        assert upper >= lower
        assert upper - lower < Fraction(1, 1 << 110)
        for share in (Fraction(1, 1 << 20), Fraction(1, 2), Fraction(1048575, 1048576)):
            if x:
                exact = mpmath.expm1(
                    mpmath.mpf((x * share).numerator) / (x * share).denominator
                ) / mpmath.expm1(mpmath.mpf(x.numerator) / x.denominator)
                low, high = thinned(x, share, 120)
                assert mpmath.mpf(low.numerator) / low.denominator <= exact
                assert exact <= mpmath.mpf(high.numerator) / high.denominator
                assert high - low < Fraction(1, 1 << 100)


def test_ends_of_the_sampling_coin_are_certain() -> None:
    assert thinned(Fraction(1), Fraction(0), 1) == (0, 0)
    assert thinned(Fraction(1), Fraction(1), 1) == (1, 1)
    coins = bernoulli_thinned(
        np.repeat([0.0, 1.0], 1000), exponent=Fraction(3), source=Source.seeded(1)
    )
    assert coins.tolist() == [False] * 1000 + [True] * 1000
    nearly = np.full(1000, 1 - 2.0**-20)  # e^(-2^10): a huge exponent must not be cut short
    assert not bernoulli_thinned(nearly, exponent=Fraction(1 << 30), source=Source.seeded(1)).any()


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(4), Fraction(5000)])
def test_coins_have_their_probabilities(epsilon) -> None:
    n = 200_000
    for share in (0.1, 0.5):
        heads = bernoulli_thinned(np.full(n, share), exponent=epsilon, source=Source.seeded(2))
        chance = math.exp(-float(epsilon) * (1 - share)) * (
            math.expm1(-float(epsilon) * share) / math.expm1(-float(epsilon))
        )
        assert abs(heads.sum() - n * chance) <= 4.5 * math.sqrt(n * chance) + 1e-9
    words = logistic_words(epsilon, n // 64, source=Source.seeded(3))
    chance = float(logistic_minus(epsilon, 60)[0]) if epsilon < 40 else 0.0
    heads = int(np.bitwise_count(words).sum())
    assert abs(heads - n * chance) <= 4.5 * math.sqrt(n * chance) + 1e-9


def test_each_of_the_64_coins_of_a_word_is_independent_of_the_others() -> None:
    words = logistic_words(Fraction(1, 2), 1 << 16, source=Source.seeded(4))
    bits = (words[:, None] >> np.arange(64, dtype=np.uint64) & np.uint64(1)).astype(float)
    correlation = np.corrcoef(bits.T)
    assert np.abs(correlation - np.eye(64)).max() < 6 / 256


def test_exponents_of_coins_are_checked() -> None:
    with pytest.raises(ParameterError, match="exponent must be"):
        logistic_words(Fraction(-1), 1, source=Source.seeded(1))
    with pytest.raises(ParameterError, match="exponent must be"):
        bernoulli_thinned(np.ones(1), exponent=Fraction(0), source=Source.seeded(1))


# --- publication --------------------------------------------------------------------------------


def test_a_weight_of_0_is_invisible_and_of_1_certain() -> None:
    certain = Blip(epsilon=4000, bits=128)  # no bit is ever flipped
    hidden = certain.publish(people(50, ITEMS, [0, 0, 0]), Source.seeded(1))
    assert not hidden.words.any()
    shown = certain.publish(people(50, ITEMS, [0, 0, 1]), Source.seeded(1))
    assert (shown.ones() == 1).all()


def test_bits_of_an_item_depend_on_its_name_only() -> None:
    blip = Blip(epsilon=1, bits=1024, hashes=3)
    assert (blip.positions(ITEMS[::-1]) == blip.positions(ITEMS)[::-1]).all()
    # pinned: sketches of one version must compare with those of the next
    assert Blip(epsilon=1, bits=1024, hashes=2).positions(["Heat"]).tolist() == [[234, 988]]
    assert (Blip(epsilon=1, bits=1024, salt="x").positions(ITEMS) != blip.positions(ITEMS)).any()


def test_the_event_says_what_was_promised() -> None:
    blip = Blip(epsilon=0.3, bits=64, hashes=3)
    event = blip.publish(people(2, ITEMS, [1, 1, 1]), Source.seeded(1)).event
    assert event.loss == PerItemDP(Spread(300_000_000)) == blip.guarantee()
    assert event.private is False
    assert blip.publish(people(2, ITEMS, [1, 1, 1]), Source.system()).event.private is True
    assert Blip(**blip.parameters()) == blip


def test_the_same_seed_gives_the_same_bits() -> None:
    blip, club = Blip(epsilon=1, bits=256), people(20, ITEMS, [1, 0.5, 0.1])
    first, second, other = (blip.publish(club, Source.seeded(s)).words for s in (1, 1, 2))
    assert (first == second).all()
    assert (first != other).any()


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": 1e-9}, "epsilon"),
        ({"bits": 100}, "bits"),
        ({"bits": 1 << 21}, "bits"),
        ({"hashes": 0}, "hashes"),
        ({"hashes": 65}, "hashes"),
        ({"salt": 3}, "salt"),
    ],
)
def test_bad_parameters_are_refused(changes, name) -> None:
    with pytest.raises(ParameterError, match=f"^{name} must be"):
        Blip(**({"epsilon": 1, "bits": 64} | changes))


# --- Theorem 3: what can be read off ------------------------------------------------------------


def pairs_of(size: int, common: int) -> Profiles:
    """Two people with so many items each and so many in common."""
    items = [f"a{i}" for i in range(size)] + [f"a{i}" for i in range(common)]
    items += [f"b{i}" for i in range(size - common)]
    return Profiles.of(np.repeat([0, 1], size), items)


def test_theorem_3_shared_bits_are_unbiased() -> None:
    club, blip = pairs_of(30, 12), Blip(epsilon=2, bits=128)
    filters = Blip(epsilon=4000, bits=128).publish(club, Source.seeded(1))
    truth = int(np.bitwise_count(filters.words[0] & filters.words[1]).sum())
    source, zero, one = Source.seeded(9), np.array([0]), np.array([1])
    guesses = [blip.publish(club, source).shared_bits(zero, one)[0] for _ in range(800)]
    assert abs(np.mean(guesses) - truth) < 4 * np.std(guesses) / math.sqrt(800)


@pytest.mark.parametrize(("common", "hashes"), [(0, 1), (15, 1), (45, 1), (15, 2)])
def test_theorem_3_overlap_takes_collisions_off(common, hashes) -> None:
    guesses = []
    for salt in range(150):
        blip = Blip(epsilon=4, bits=512, hashes=hashes, salt=str(salt))
        sketches = blip.publish(pairs_of(60, common), Source.seeded(salt))
        guesses.append(sketches.overlap(np.array([0]), np.array([1]))[0])
    assert abs(np.mean(guesses) - common) < 4 * np.std(guesses) / math.sqrt(150) + 0.02 * common


def test_sizes_are_estimated() -> None:
    n = 2000
    who = np.concatenate([np.repeat(np.arange(n // 2), 10), np.repeat(np.arange(n // 2, n), 60)])
    club = Profiles.of(who, Source.seeded(1).words(who.size) % 5000)
    sizes = Blip(epsilon=3, bits=512).publish(club, Source.seeded(2)).sizes()
    assert sizes[: n // 2].mean() == pytest.approx(10, abs=2)
    assert sizes[n // 2 :].mean() == pytest.approx(60, abs=2)


@pytest.mark.parametrize("shrink", [True, False])
def test_nearest_is_the_best_of_all_pairs(shrink) -> None:
    n, k = 300, 5
    who = np.repeat(np.arange(n), 20)
    club = Profiles.of(who, Source.seeded(3).words(who.size) % 200)
    sketches = Blip(epsilon=3, bits=192).publish(club, Source.seeded(4))
    a, b = (side.ravel() for side in np.indices((n, n)))
    table = sketches.similarity(a, b).reshape(n, n)
    if shrink:
        noise, mu, tau2 = sketches._shrinkage()
        table = mu + (table - mu) * tau2 / (tau2 + np.outer(noise, noise))
    np.fill_diagonal(table, -np.inf)
    nearest = sketches.nearest(k, shrink=shrink)
    assert np.allclose(nearest.scores, np.sort(table, axis=1)[:, : -k - 1 : -1])
    assert np.allclose(np.take_along_axis(table, nearest.peers.astype(int), 1), nearest.scores)


def test_similar_people_are_found() -> None:
    n, groups = 400, 20
    who = np.repeat(np.arange(n), 40)
    group = who % groups
    club = Profiles.of(who, group * 60 + Source.seeded(5).words(who.size) % 60)
    sketches = Blip.fitted(epsilon=3, profile_size=40).publish(club, Source.seeded(6))
    found = sketches.nearest(10).peers % groups == np.arange(n)[:, None] % groups
    assert found.mean() > 0.9


@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_people_are_no_trouble(n) -> None:
    club = people(n, ITEMS, [1, 1, 1])
    nearest = Blip(epsilon=1, bits=64).publish(club, Source.seeded(1)).nearest(4)
    assert nearest.peers.shape == nearest.scores.shape == (n, 4)
    assert (nearest.peers >= 0).sum() == n * (n - 1)
    assert (np.isfinite(nearest.scores) == (nearest.peers >= 0)).all()


def test_people_without_items_publish_noise_like_others() -> None:
    club = people(3, ITEMS, [1, 1, 1])
    club = club.where(club.rows() != 1)
    sketches = Blip(epsilon=0.1, bits=64).publish(club, Source.seeded(1))
    assert (sketches.ones() > 0).all()
    assert np.isfinite(sketches.nearest(2).scores).all()


# --- Theorem 5: noise of a cosine and ranking ---------------------------------------------------


@pytest.mark.parametrize(
    ("epsilon", "size", "hashes"), [(1, 30, 1), (3, 30, 1), (6, 60, 1), (4, 30, 2)]
)
def test_theorem_5_the_error_of_an_overlap(epsilon, size, hashes) -> None:
    guesses = []
    for salt in range(300):
        blip = Blip(epsilon=epsilon, bits=512, hashes=hashes, salt=str(salt))
        sketches = blip.publish(pairs_of(size, 0), Source.seeded(salt))
        guesses.append(sketches.overlap(np.array([0]), np.array([1]))[0])
    assert np.std(guesses) == pytest.approx(blip.overlap_error(size), rel=0.15)


def test_the_error_of_nearly_empty_filters_is_that_of_flipping() -> None:
    blip = Blip(epsilon=2, bits=1024, hashes=2)
    p = blip.flip
    assert blip.overlap_error() == pytest.approx(32 * p * (1 - p) / (1 - 2 * p) ** 2 / 2)
    assert blip.overlap_error(50) > blip.overlap_error(10) > blip.overlap_error()


def test_moments_of_the_cosine_are_found() -> None:
    club = uneven_club()
    sketches = Blip(epsilon=5, bits=1024).publish(club, Source.seeded(8))
    noise, mu, tau2 = sketches._shrinkage()
    a, b = np.triu_indices(len(club), 1)
    weights = 1 / (noise[a] * noise[b])
    without_noise = Blip(epsilon=4000, bits=1 << 14).publish(club, Source.seeded(8))
    truth = without_noise.similarity(a, b)
    mean = np.average(truth, weights=weights)
    assert mu == pytest.approx(mean, abs=0.02)
    assert tau2 == pytest.approx(np.average((truth - mean) ** 2, weights=weights), rel=0.25)


def uneven_club(n: int = 400, groups: int = 8) -> Profiles:
    """Groups with a taste of their own and profiles of 5 to 100 items."""
    sizes = np.tile([5, 10, 20, 40, 100], n // 5)
    who = np.repeat(np.arange(n), sizes)
    words = Source.seeded(7).words(who.size)
    own = words % 3 > 0
    return Profiles.of(who, np.where(own, who % groups * 200 + words // 3 % 200, words % 2000))


@pytest.mark.parametrize("epsilon", [1, 2, 3])
def test_shrinking_finds_more_true_neighbours_when_sizes_differ(epsilon) -> None:
    club, k = uneven_club(), 10
    truth = Blip(epsilon=4000, bits=1 << 14).publish(club, Source.seeded(1)).nearest(k).peers
    blip = Blip.fitted(epsilon=epsilon, profile_size=35)
    rates = {}
    for shrink in (True, False):
        found = 0
        for seed in range(4):
            peers = blip.publish(club, Source.seeded(seed)).nearest(k, shrink=shrink).peers
            found += (peers[:, :, None] == truth[:, None, :]).sum()
        rates[shrink] = found / (4 * truth.size)
    assert rates[True] > 1.3 * rates[False]


def test_ranks_use_published_bits_only() -> None:
    blip = Blip(epsilon=2, bits=256)
    sketches = blip.publish(uneven_club(), Source.seeded(9))
    event = Event(blip.name, blip.parameters(), blip.guarantee(), private=False)
    again = Sketches(sketches.words.copy(), event, Blip(**blip.parameters()))
    first, second = sketches.nearest(10), again.nearest(10)
    assert (first.peers == second.peers).all()
    assert (first.scores == second.scores).all()


def test_ranks_remain_when_nothing_but_noise_is_seen() -> None:
    sketches = Blip(epsilon=0.01, bits=64).publish(uneven_club(), Source.seeded(10))
    scores = sketches.nearest(5).scores
    assert (np.diff(scores, axis=1) < 0).any(axis=1).mean() > 0.99


# --- the card -----------------------------------------------------------------------------------


def test_the_card_is_made_from_public_parameters() -> None:
    blip = Blip(epsilon=2, bits=1024)
    utility = blip.utility()
    assert f"about {show_up(blip.overlap_error(), 3)} items" in utility.sentence
    assert "weight 1/2 in both profiles, 0.072 counts" in utility.bias  # 1 / (1 + e)^2
    assert "at most 1 of 1024 bits" in blip.how().sensitivity
    assert blip.evidence().theorem == "docs/theory/blip.md, Theorem 2"
    event = blip.publish(people(3, ITEMS, [1, 1, 1]), Source.seeded(1)).event
    scope = Scope(protected="everybody", not_against=("nobody",), model="local")
    card = make_card(
        "Sketches",
        event,
        scope=scope,
        how=blip.how(),
        utility=utility,
        evidence=blip.evidence(),
    )
    assert card.problems() == []


@pytest.mark.parametrize("epsilon", [Fraction(1, 1 << 20), 10**6])
def test_the_card_holds_at_the_ends(epsilon) -> None:
    utility = Blip(epsilon=epsilon, bits=64).utility()
    assert "items" in utility.sentence
    assert "nan" not in utility.sentence + utility.bias


# --- Theorem 4: how many bits -------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1, 2, 3, 5])
def test_theorem_4_the_load_is_the_best_one(epsilon) -> None:
    q, p = _variance(Fraction(epsilon)), 1 / (1 + math.exp(epsilon))
    assert q == pytest.approx(p * (1 - p) / (1 - 2 * p) ** 2, rel=1e-9)
    t = np.geomspace(1e-3, 1, 100_000)
    gain = t * np.exp(-4 * t) / (np.exp(-t) * -np.expm1(-t) + q) ** 2
    assert _best_load(q) == pytest.approx(t[gain.argmax()], rel=1e-3)


def test_more_privacy_wants_fewer_bits() -> None:
    bits = [Blip.fitted(epsilon=e, profile_size=50).bits for e in (0.1, 1, 2, 3, 5, 50)]
    assert bits == sorted(bits)
    assert bits[0] == 256
    assert Blip.fitted(epsilon=50, profile_size=50, catalogue=100).bits == 832
