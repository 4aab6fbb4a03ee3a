"""People held out: a limit that covers the truth whatever it is, and a correction that does not."""

import math

import numpy as np
import pytest

from reticent.guarantees.samples import CONFIDENCE
from reticent.optim.mapping import Channel
from reticent.tasks import held_out as module
from reticent.tasks.held_out import held_out, leak_limit
from reticent.tasks.leakage import BITS, leak_under
from reticent.tasks.learning import Limits, learn_mapping
from reticent.tasks.recoding import Alphabet

RUNS = 300


def some_channel(size: int, rng: np.random.Generator) -> Channel:
    """Each profile stays, or becomes one of two others."""
    others = (np.arange(size)[:, None] + np.arange(3)) % size
    chances = rng.dirichlet([4, 1, 1], size)
    return Channel(np.arange(size + 1) * 3, others.reshape(-1), chances.reshape(-1))


def near_independence(secrets: int, size: int, rng: np.random.Generator) -> np.ndarray:
    return rng.dirichlet(np.full(secrets * size, 20.0)).reshape(secrets, size)


def told_by_one_column(secrets: int, size: int, rng: np.random.Generator) -> np.ndarray:
    """The profile names the secret, and much else: nearly every profile is one person's."""
    owner = np.arange(size) % secrets
    return np.where(owner == np.arange(secrets)[:, None], 1 / size, 0.0)


def rare_secret(secrets: int, size: int, rng: np.random.Generator) -> np.ndarray:
    law = rng.dirichlet(np.full(size, 1.0), secrets)
    return law * np.array([0.97, *np.full(secrets - 1, 0.03 / (secrets - 1))])[:, None]


LAWS = {
    "independent": (near_independence, 2, 30, 400),
    "three secrets": (near_independence, 3, 10, 300),
    "near-unique profiles": (told_by_one_column, 2, 2000, 400),
    "a rare secret": (rare_secret, 2, 12, 600),
    "few people": (rare_secret, 3, 6, 60),
}


def corrected(channel: Channel, counts: np.ndarray) -> float:
    """What version 0.1 printed: less the mean if secrets had nothing to do with profiles."""
    people, held = int(counts.sum()), counts.sum(axis=0)
    moved = held[channel.inputs] * channel.chances
    mass = np.bincount(channel.outs, weights=moved, minlength=len(held))
    squares = np.bincount(channel.outs, weights=moved * channel.chances, minlength=len(held))
    used = mass > 0
    spread = float((squares[used] / mass[used]).sum()) - float(mass.sum() / people)
    chance = (int(counts.any(axis=1).sum()) - 1) * spread / (2 * max(people - 1, 1))
    return max(0.0, leak_under(channel, counts) - chance * BITS)


def covered(name: str, limit) -> float:
    """How often a limit is not below the truth."""
    make, secrets, size, people = LAWS[name]
    rng = np.random.default_rng(5)
    law = make(secrets, size, rng)
    law /= law.sum()
    good = 0
    for channel in (some_channel(size, rng), Channel.identity(size)):
        truth = leak_under(channel, law)
        for _ in range(RUNS // 2):
            counts = rng.multinomial(people, law.reshape(-1)).reshape(law.shape)
            good += limit(channel, counts) >= truth - 1e-9
    return good / RUNS


@pytest.mark.parametrize("name", LAWS)
def test_theorem_11_the_limit_covers_the_truth(name) -> None:
    found = covered(
        name, lambda channel, counts: leak_limit(channel, counts, expected=0.05, rarest=0.3)[1]
    )
    assert found >= CONFIDENCE


def test_the_correction_of_version_0_1_does_not() -> None:
    assert covered("near-unique profiles", corrected) == 0
    assert covered("independent", corrected) < 0.8
    assert covered("few people", corrected) < 0.8


def test_no_correction_is_offered_and_none_could_tell_these_apart() -> None:
    """A column of near-unique values beside one that is the secret: 1 bit, whatever counts say."""
    rng = np.random.default_rng(0)
    for values in (1, 10, 100, 1000, 10**6):
        secret, other = rng.integers(0, 2, 1000), rng.integers(0, values, 1000)
        alphabet = Alphabet.of(np.column_stack([secret, other]), secret)
        channel = Channel.identity(len(alphabet.profiles))
        plain, limit = leak_limit(channel, alphabet.counts, expected=0.1, rarest=0.5)
        assert plain == pytest.approx(1.0, abs=0.01)
        assert limit >= plain
    assert corrected(channel, alphabet.counts) < 0.3  # what was printed


def test_the_limit_is_of_use_where_people_are_many() -> None:
    rng = np.random.default_rng(3)
    law = near_independence(2, 20, rng)
    counts = rng.multinomial(20_000, law.reshape(-1)).reshape(law.shape)
    plain, limit = leak_limit(some_channel(20, rng), counts, expected=0.005, rarest=0.5)
    assert plain < limit < 3 * plain + 0.005


def test_a_secret_nobody_held_out_has_leaves_no_limit_but_the_number_of_values() -> None:
    counts = np.array([[50, 10], [10, 50], [0, 0]])
    assert leak_limit(Channel.identity(2), counts, expected=0.1, rarest=0.5)[1] == pytest.approx(
        math.log2(3)
    )


@pytest.mark.parametrize("most", [1.5, 4.0, 50.0])
def test_divergences_of_lower_order_bound_that_of_order_one(most) -> None:
    """For laws whose ratio is at most R, and tight for one that attains it in the limit."""
    rng = np.random.default_rng(1)
    factors = module._against_order(most)
    for _ in range(300):
        q = rng.dirichlet(np.full(4, 0.5)) + 1e-12
        q /= q.sum()
        p = q * np.exp(rng.uniform(-3, 1, 4))
        p /= p.sum()
        if (p / q).max() > most:
            continue
        one = float((p * np.log(p / q)).sum())
        for order, factor in zip(module._ORDERS, factors, strict=True):
            lower = -math.log(float((p ** (1 - order) * q**order).sum())) / order
            assert one <= factor * lower + 1e-12
    tiny = 1e-7
    p, q = np.array([tiny * most, 1 - tiny * most]), np.array([tiny, 1 - tiny])
    one = float((p * np.log(p / q)).sum())
    lower = -math.log(float((p**0.5 * q**0.5).sum())) / 0.5
    half = float(factors[np.argmin(abs(module._ORDERS - 0.5))])
    assert one / lower == pytest.approx(half, rel=0.05)


@pytest.mark.parametrize("law", [[0.5, 0.5], [0.9, 0.1], [0.7, 0.2, 0.1], [0.25] * 4])
def test_counted_secrets_are_as_near_as_is_assumed(law) -> None:
    rng = np.random.default_rng(2)
    counts = rng.multinomial(200, law, 20_000) / 200
    with np.errstate(divide="ignore", invalid="ignore"):
        far = np.nansum(np.where(counts > 0, counts * np.log(counts / law), 0), axis=1)
    assert (far > module._prior_distance(200, len(law))).mean() <= module._PRIOR


def test_people_who_are_withheld_count_as_a_release_of_its_own() -> None:
    public = np.array([["a"], ["b"]] * 200)
    private = np.array([0, 1, 1, 0] * 100)
    learnt = learn_mapping(
        Alphabet.of(public, private), Limits(delta=0), unknown="withhold", radius=0.0
    )
    strange = np.array([["z"], ["a"]] * 100)
    training = learnt.alphabet
    found = held_out(learnt.recoding, training, strange, np.array([1, 0] * 100))
    assert (found.people, found.left_out, found.bits) == (200, 0, 1.0)  # withheld means secret 1
    none = held_out(learnt.recoding, training, strange, np.full(200, 7))
    assert (none.people, none.left_out, none.at_most) == (0, 200, 1.0)


def test_what_is_found_goes_with_the_mapping() -> None:
    public = np.array([["a"], ["b"]] * 200)
    learnt = learn_mapping(Alphabet.of(public, np.array([0, 1, 1, 0] * 100)), Limits(delta=0))
    found = held_out(learnt.recoding, learnt.alphabet, public, np.array([0, 1] * 200))
    tested = learnt.tested(found)
    loss = tested.recoding.mechanism.guarantee()
    assert loss.sample is not None
    assert loss.sample.held_out == found
    assert tested.recoding.fingerprint == learnt.recoding.fingerprint  # the same draws
