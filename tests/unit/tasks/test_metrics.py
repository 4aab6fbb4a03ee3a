"""Measures against cases small enough to count by hand, and the laws of the split."""

import math

import numpy as np
import pytest
from scipy import stats

from reticent.data.profiles import Profiles
from reticent.errors import ParameterError
from reticent.noise import Source
from reticent.tasks.metrics import Mean, hold_out, ndcg_at, precision_at, recall, recall_at

# person 0 has items 0 1, person 1 has 1 2, person 2 has 3, person 3 nothing that is held out
FULL = Profiles.of([0, 0, 1, 1, 2, 3], [0, 1, 1, 2, 3, 0])
HELD_OUT = Profiles.of([0, 0, 1, 2], [0, 1, 2, 3]).in_catalogue(range(4), range(4))


def test_recall_counts_what_some_neighbour_has() -> None:
    neighbours = np.array([[1, 2], [2, -1], [0, 1], [0, 1]])
    found = recall(HELD_OUT, FULL, neighbours)
    # 0 looks for 0 and 1: person 1 has 1. 1 looks for 2: person 2 lacks it. 2 looks for 3: no.
    assert found[:3].tolist() == [0.5, 0.0, 0.0]
    assert math.isnan(found[3])


def test_recall_reads_neighbours_full_profiles() -> None:
    neighbours = np.array([[3, 1], [1, 1], [2, 2], [0, 0]])  # also oneself, for the count
    assert recall(HELD_OUT, FULL, neighbours)[:3].tolist() == [1.0, 1.0, 1.0]


def test_no_neighbours_find_nothing() -> None:
    assert recall(HELD_OUT, FULL, np.full((4, 2), -1))[:3].tolist() == [0, 0, 0]


def test_lists_against_a_hand_count() -> None:
    recommended = np.array([[1, 3], [0, 2], [0, 1], [0, 1]])
    assert recall_at(HELD_OUT, recommended)[:3].tolist() == [0.5, 1.0, 0.0]
    assert precision_at(HELD_OUT, recommended)[:3].tolist() == [0.5, 0.5, 0.0]
    gains = ndcg_at(HELD_OUT, recommended)
    second = 1 / math.log2(3)
    assert gains[0] == pytest.approx(1 / (1 + second))  # one of two, at rank 1
    assert gains[1] == pytest.approx(second)  # the only one, at rank 2
    assert gains[2] == 0
    for measure in (recall_at, precision_at, ndcg_at):
        assert math.isnan(measure(HELD_OUT, recommended)[3])


def test_padding_is_never_a_hit() -> None:
    recommended = np.full((4, 3), -1)
    assert recall_at(HELD_OUT, recommended)[:3].tolist() == [0, 0, 0]
    recommended[1, 0] = 2
    assert precision_at(HELD_OUT, recommended)[1] == pytest.approx(1 / 3)


def test_a_perfect_list_has_ndcg_one() -> None:
    recommended = np.array([[0, 1], [2, 0], [3, 0], [0, 1]])
    assert ndcg_at(HELD_OUT, recommended)[:3] == pytest.approx(1.0)


def test_mean_agrees_with_scipy() -> None:
    values = np.array([0.1, 0.4, 0.35, np.nan, 0.8])
    known = values[~np.isnan(values)]
    low, high = stats.t.interval(0.99, 3, loc=known.mean(), scale=stats.sem(known))
    mean = Mean.of(values)
    assert (mean.value, mean.count) == (pytest.approx(known.mean()), 4)
    assert mean.half_width == pytest.approx((high - low) / 2)


def test_mean_of_little() -> None:
    assert Mean.of([]).count == 0
    assert Mean.of([0.5]).half_width == math.inf


def test_the_interval_covers_as_often_as_it_says() -> None:
    source = Source.seeded(3)
    samples = (source.long_words((4000, 12)) >> np.uint64(11)) * 2.0**-53
    means = [Mean.of(row, confidence=0.9) for row in samples]
    covered = np.mean([abs(mean.value - 0.5) <= mean.half_width for mean in means])
    assert abs(covered - 0.9) < 4 * math.sqrt(0.9 * 0.1 / 4000) + 0.005


def club(people: int = 200, items: int = 40) -> Profiles:
    who, what = np.divmod(np.arange(people * items // 2), items // 2)
    return Profiles.of(who, (what * 2 + who) % items)


def test_hold_out_is_a_partition_with_the_right_share() -> None:
    profiles = club()
    train, held_out = hold_out(profiles, source=Source.seeded(1), share=0.1)
    assert np.array_equal(train.sizes + held_out.sizes, profiles.sizes)
    n = profiles.indices.size
    assert abs(held_out.indices.size - n / 10) < 5 * math.sqrt(n * 0.09)
    again = np.concatenate(
        [train.rows() * 40 + train.indices, held_out.rows() * 40 + held_out.indices]
    )
    assert np.array_equal(np.sort(again), profiles.rows() * 40 + profiles.indices)


def test_only_shared_items_are_held_out() -> None:
    profiles = Profiles.of([0, 1, 0, 1], ["both", "both", "mine", "yours"])
    _, held_out = hold_out(profiles, source=Source.seeded(1), share=1)
    assert held_out.indices.tolist() == [0, 0]


def test_streaming_never_holds_out_for_the_first_owner() -> None:
    profiles = Profiles.of([0, 1, 0, 1, 2], ["both", "both", "mine", "yours", "both"])
    _, held_out = hold_out(profiles, source=Source.seeded(1), share=1, streaming=True)
    assert held_out.sizes.tolist() == [0, 1, 1]


def test_people_must_match() -> None:
    with pytest.raises(ParameterError, match="neighbours must be 4 people"):
        recall(HELD_OUT, FULL, np.zeros((3, 1), dtype=int))
    with pytest.raises(ParameterError, match="recommended must be one list"):
        recall_at(HELD_OUT, np.zeros(4, dtype=int))
    with pytest.raises(ParameterError, match="share must be from 0 to 1"):
        hold_out(FULL, source=Source.seeded(1), share=2)
