"""What a review found: each was a leak once, and is the test of its repair."""

from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
from scipy import stats

from reticent.data.profiles import Profiles
from reticent.errors import ParameterError
from reticent.noise import PairNoise, Source, discrete_laplace
from reticent.tasks import neighbours
from reticent.tasks.blip import Blip
from reticent.tasks.clustering import Gossip
from reticent.tasks.groups import Sample
from reticent.tasks.similarity import Similarity

EVERYBODY = Similarity(epsilon="0.05", measure="overlap", norms="none")


def sharing(people: int) -> Profiles:
    """Everybody has the one item: there are no strangers."""
    return Profiles.of(np.arange(people), np.zeros(people, dtype=np.int64))


@pytest.mark.parametrize("k", [1, 2, 4, 8])
def test_friends_are_drawn_once(k: int) -> None:
    club, source = sharing(64), Source.seeded(k)
    drawn = neighbours._Search._keep_friends
    with patch.object(neighbours._Search, "_keep_friends", autospec=True, side_effect=drawn) as spy:
        for _ in range(20):
            peers = EVERYBODY.neighbours(club, k, source=source).peers
            assert all(len(set(row)) == k for row in peers.tolist())
    assert spy.call_count == 20


def test_the_best_of_many_friends_has_the_law_of_the_largest_noise() -> None:
    club, source = sharing(64), Source.seeded(5)
    best = np.concatenate(
        [EVERYBODY.neighbours(club, 1, source=source).scores[:, 0] for _ in range(60)]
    )
    scale = EVERYBODY.scale
    noise = discrete_laplace(scale=scale, size=(len(best), 63), source=Source.seeded(6))
    assert stats.ks_2samp(best, 1 + noise.max(axis=1) / 2**20).pvalue > 1e-4


def test_no_label_decides_how_another_is_read() -> None:
    plain = Profiles.of(["a", "b", "c"], [1, 2, 3])
    for odd in (0.5, float("nan"), None, "x", 10**30):
        more = Profiles.of(["a", "b", "c", "c"], [1, 2, 3, odd], [1, 1, 1, 0])
        assert list(more.items)[:3] == list(plain.items) == ["1", "2", "3"]
    column = np.array([1.0, 2.0, 3.0, np.nan])  # as a data frame reads integers with a gap
    assert list(Profiles.of(["a", "b", "c", "c"], column).items) == ["1", "2", "3"]


def test_missing_labels_are_left_out() -> None:
    club = Profiles.of(["a", None, "b", "b"], ["x", "y", None, "z"])
    assert (list(club.people), club.sizes.tolist()) == (["a", "b"], [1, 1])


def test_names_of_any_letters_can_be_published() -> None:
    club = Profiles.of(["a", "b"], ["x", "\ud800"], [1, 0])
    Blip(epsilon=1, bits=64).publish(club, Source.system())


def test_a_seeded_sample_is_stamped_wherever_it_goes() -> None:
    club = Profiles.of(["a", "b", "b"], ["x", "x", "y"], [0.5, 0.5, 1])
    sample = Sample(threshold=1, epsilon=1)
    source = Source.system()
    for maker, private in ((Source.seeded(1), False), (Source.system(), True)):
        sampled = sample.apply(club, maker).in_catalogue(["a", "b"], ["x", "y"])
        lists = Similarity(epsilon=1).neighbours(sampled, 1, source=source)
        gossip = Gossip(similarity=Similarity(epsilon=1), k=1, rounds=1)
        events = [
            Blip(epsilon=1, bits=64).publish(sampled, source).event,
            lists.event,
            gossip.cluster(sampled, source=source).event,
        ]
        assert [event.private for event in events] == [private] * 3


def test_noise_of_another_scale_is_refused() -> None:
    club, similarity = sharing(2), Similarity(epsilon=1)
    with pytest.raises(ParameterError, match="^noise must be of scale"):
        similarity.pairs(
            club,
            np.array([0]),
            np.array([1]),
            norms=np.ones(2),
            noise=PairNoise(Fraction(1), Source.system()),
        )


def test_lists_are_charged_for_both_draws_of_a_pair() -> None:
    lists = EVERYBODY.neighbours(sharing(2), 1, source=Source.seeded(9))
    assert lists.scores[0, 0] != lists.scores[1, 0]
    assert lists.event.loss == EVERYBODY.guarantee(comparisons=2)


def test_hand_made_profiles_are_clamped_and_checked() -> None:
    indptr, one = np.array([0, 1]), np.array([0], dtype=np.int32)
    heavy = Profiles(indptr, one, np.array([1 << 26], dtype=np.int32), ["a"], ["x"])
    assert heavy.weights.tolist() == [1 << 20]
    twice = np.zeros(2, dtype=np.int32)
    with pytest.raises(ParameterError, match="sorted and distinct"):
        Profiles(np.array([0, 2]), twice, twice, ["a"], ["x"])
