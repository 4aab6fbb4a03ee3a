"""Noise of pairs belongs to one state of the profiles: used on another, it would cancel."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest

from reticent.data.profiles import Profiles
from reticent.errors import ParameterError
from reticent.noise import PairNoise, Source
from reticent.tasks.similarity import Similarity

PEOPLE, ITEMS = ["ann", "bob", "cid"], ["Alien", "Heat", "Up"]
ANN, BOB = np.array([0]), np.array([1])
SIMILARITY = Similarity(epsilon="0.01", measure="overlap", norms="none")


def club(*more: tuple[str, str, float]) -> Profiles:
    """Ann and Bob have Heat in common, and whatever is added."""
    lines = [("ann", "Heat", 1.0), ("bob", "Heat", 1.0), ("bob", "Up", 0.5), *more]
    who, what, weights = zip(*lines, strict=True)
    return Profiles.of(who, what, weights).in_catalogue(PEOPLE, ITEMS)


def score(profiles: Profiles, noise: PairNoise, similarity: Similarity = SIMILARITY) -> float:
    return float(similarity.pairs(profiles, ANN, BOB, norms=np.ones(3), noise=noise)[0])


def test_other_profiles_are_refused_and_the_same_ones_are_not() -> None:
    noise = SIMILARITY.pair_noise(Source.system())
    first = score(club(), noise)
    assert score(club(), noise) == first  # equal, another object
    for changed in (
        club(("ann", "Up", 0.5)),
        club(("cid", "Up", 1.0)),
        club(("ann", "Up", 2**-20)),
    ):
        with pytest.raises(ParameterError, match="make new noise, and charge a new release"):
            score(changed, noise)
    assert score(club(), noise) == first


def test_without_the_check_the_difference_is_exact(monkeypatch) -> None:
    """The control: what the refusal is against."""
    monkeypatch.setattr(PairNoise, "bind", lambda *_: True)
    noise = SIMILARITY.pair_noise(Source.system())
    assert score(club(("ann", "Up", 0.5)), noise) - score(club(), noise) == 0.5


def test_another_weighting_of_the_same_profiles_is_refused() -> None:
    """The least of two weights less their product is as exact as a difference of two states."""
    noise, profiles = SIMILARITY.pair_noise(Source.system()), club(("ann", "Up", 0.5))
    score(profiles, noise)
    with pytest.raises(ParameterError, match="weighting"):
        score(profiles, noise, replace(SIMILARITY, weighting="product"))


def test_items_of_weight_0_do_not_show_by_a_refusal() -> None:
    noise = SIMILARITY.pair_noise(Source.system())
    first = score(club(), noise)
    assert score(club(("ann", "Alien", 0.0), ("cid", "Up", 0.0)), noise) == first


def test_the_error_names_nobody_and_no_item() -> None:
    noise = SIMILARITY.pair_noise(Source.system())
    score(club(), noise)
    with pytest.raises(ParameterError) as refused:
        score(club(("ann", "Up", 1.0)), noise)
    assert not any(word in str(refused.value) for word in (*PEOPLE, *ITEMS))


def test_what_is_kept_is_under_the_key_and_costs_no_randomness() -> None:
    source = Source.seeded(3)
    noise, other = SIMILARITY.pair_noise(source), SIMILARITY.pair_noise(source)
    following = source.bits(64)
    score(club(), noise)
    score(club(), other)
    assert noise._seal != other._seal  # not a digest of the profiles that others could make
    again = Source.seeded(3)
    for _ in range(2):
        score(club(), SIMILARITY.pair_noise(again))
    assert again.bits(64) == following


@pytest.mark.parametrize("twin", [copy.copy, copy.deepcopy, pickle.dumps])
def test_noise_has_no_copy_that_other_profiles_could_meet(twin) -> None:
    noise = SIMILARITY.pair_noise(Source.system())
    with pytest.raises(TypeError, match="cannot be copied"):
        twin(noise)
