import math
from fractions import Fraction

import numpy as np
import pytest

from reticent.errors import ParameterError
from reticent.noise import PairNoise, Source, laplace
from reticent.testing import check_scale, chi_square_quantiles, discrete_laplace_cdf

N = 600
FIRST, SECOND = (a.astype(np.int64) for a in np.triu_indices(N, 1))


def make(scale, seed=1) -> PairNoise:
    return PairNoise(Fraction(scale), Source.seeded(seed))


@pytest.mark.parametrize("scale", [Fraction(1, 3), 10, 1 << 20, 1 << 40])
def test_both_ends_and_every_repeat_see_the_same_draw(scale) -> None:
    noise = make(scale)
    draws = noise.draw(FIRST, SECOND)
    assert (draws == noise.draw(SECOND, FIRST)).all()
    order = np.random.default_rng(2).permutation(FIRST.size)
    assert (draws[order] == noise.draw(FIRST[order], SECOND[order])).all()


@pytest.mark.parametrize("scale", [Fraction(3, 2), 10, 1 << 20, 1 << 45])
def test_the_law_is_discrete_laplace(scale) -> None:
    draws = make(scale).draw(FIRST, SECOND)
    power = check_scale(draws, discrete_laplace_cdf, scale, off="0.05", test=chi_square_quantiles)
    assert power.passed, power


def test_pairs_are_independent_of_those_they_share_a_person_with() -> None:
    table = np.zeros((N, N))
    table[FIRST, SECOND] = table[SECOND, FIRST] = make(1 << 20).draw(FIRST, SECOND)
    ranks = np.argsort(np.argsort(table[:, 1:201], axis=0), axis=0)  # heavy tails do no harm
    correlation = np.corrcoef(ranks.T)[np.triu_indices(200, 1)]
    assert abs(correlation.mean()) < 4 / math.sqrt(correlation.size * N)
    assert correlation.std() == pytest.approx(1 / math.sqrt(N), rel=0.1)


def test_other_keys_give_other_draws() -> None:
    one, other = (make(1 << 20, seed).draw(FIRST, SECOND) for seed in (1, 2))
    assert (one != other).mean() > 0.999
    assert abs(np.corrcoef(np.sign(one), np.sign(other))[0, 1]) < 0.02


def test_one_source_keys_two_releases_apart() -> None:
    source = Source.seeded(3)
    one, other = PairNoise(Fraction(1 << 20), source), PairNoise(Fraction(1 << 20), source)
    assert (one.draw(FIRST, SECOND) != other.draw(FIRST, SECOND)).mean() > 0.999


@pytest.mark.parametrize("scale", [7, 1 << 19, 1 << 30])
def test_the_exact_path_repeats_whatever_the_batch(scale, monkeypatch) -> None:
    plain = make(scale).draw(FIRST[:600], SECOND[:600])
    monkeypatch.setattr(laplace, "_MARGIN", 1.0)  # every draw is too close to call
    noise = make(scale)
    settled = noise.draw(FIRST[:600], SECOND[:600])
    alone = [int(noise.draw(SECOND[i : i + 1], FIRST[i : i + 1])[0]) for i in range(0, 600, 17)]
    assert settled[::17].tolist() == alone
    assert (settled == plain).all()  # and it says what the fast path says


def test_settling_and_thinning_use_different_bits(monkeypatch) -> None:
    noise = make(1 << 30)
    taken = []
    original = type(noise)._words

    def spied(self, labels, turn):
        taken.extend((int(a), int(b), turn) for a, b in labels if turn)
        return original(self, labels, turn)

    monkeypatch.setattr(laplace, "_MARGIN", 2.0**-10)
    monkeypatch.setattr(laplace, "_settle", lambda word, t, low, bits: bits.bits(128) & 15)
    monkeypatch.setattr(laplace, "_thin", lambda low, word, t, bits, more: more.bits(128) & 15)
    monkeypatch.setattr(type(noise), "_words", spied)
    law = laplace._shared_law(float(noise.scale))
    law.doubtful[:] = 1 << 32  # every low part is doubtful
    try:
        noise.draw(FIRST[:50], SECOND[:50])
    finally:
        laplace._shared_law.cache_clear()
    assert taken
    assert len(taken) == len(set(taken))


def test_the_stamp_follows_the_source() -> None:
    assert not make(1).private
    assert PairNoise(Fraction(1), Source.system()).private


@pytest.mark.parametrize("scale", [0, -1, 2**51])
def test_a_bad_scale_is_refused(scale) -> None:
    with pytest.raises(ParameterError, match="^scale must be"):
        make(scale).draw(FIRST[:1], SECOND[:1])


@pytest.mark.parametrize("number", [-1, 1 << 48])
def test_numbers_that_would_collide_are_refused(number) -> None:
    with pytest.raises(ParameterError, match="^second must be numbers from 0 to 2"):
        make(1).draw(np.array([3]), np.array([number]))


def test_lists_of_different_lengths_are_refused() -> None:
    with pytest.raises(ParameterError, match="^second must be of shape"):
        make(1).draw(FIRST[:2], SECOND[:1])


def test_no_pairs_no_draws() -> None:
    assert make(1).draw(FIRST[:0], SECOND[:0]).size == 0
