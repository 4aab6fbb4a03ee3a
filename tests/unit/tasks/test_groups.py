"""Attitudes have the laws they claim, and each baseline the loss it claims."""

import math

import numpy as np
import pytest

from reticent.data.profiles import FULL_WEIGHT, Profiles
from reticent.errors import ParameterError
from reticent.noise import Source
from reticent.tasks.groups import (
    FUNDAMENTALIST,
    LEVELS,
    PRAGMATIST,
    UNCONCERNED,
    Minimum,
    Sample,
    Threshold,
    assign_groups,
    group_weights,
    naive_members,
    naive_weights,
    people_where,
    slice_levels,
    slice_weights,
)


def club(people: int = 300, items: int = 30) -> Profiles:
    return Profiles.of(np.repeat(np.arange(people), items), np.tile(np.arange(items), people))


def shares(groups: np.ndarray) -> list[float]:
    return [float(np.mean(groups == g)) for g in (FUNDAMENTALIST, PRAGMATIST, UNCONCERNED)]


def test_exact_sizes_are_the_shares() -> None:
    groups = assign_groups(500, fundamentalists=0.34, pragmatists=0.43, source=Source.seeded(1))
    assert np.bincount(groups).tolist() == [115, 215, 170]


def test_exact_sizes_are_a_random_choice() -> None:
    counts = sum(
        assign_groups(20, fundamentalists=0.5, pragmatists=0, source=Source.seeded(seed)) > 0
        for seed in range(400)
    )
    assert np.all(abs(counts - 200) < 5 * math.sqrt(400 * 0.25))


def test_sizes_as_coded_give_pragmatists_only_a_part_of_the_rest() -> None:
    groups = assign_groups(
        40_000,
        fundamentalists=0.6,
        pragmatists=0.2,
        source=Source.seeded(1),
        sizes="as-coded",
    )
    assert shares(groups) == pytest.approx([0.6, 0.4 * 0.2, 0.4 * 0.8], abs=0.01)


def test_refused_shares() -> None:
    source = Source.seeded(1)
    with pytest.raises(ParameterError, match="at most 1 minus"):
        assign_groups(5, fundamentalists=0.6, pragmatists=0.5, source=source)
    with pytest.raises(ParameterError, match="fundamentalists must be"):
        assign_groups(5, fundamentalists=-0.1, pragmatists=0.5, source=source)
    with pytest.raises(ParameterError, match="sizes must be"):
        assign_groups(5, fundamentalists=0, pragmatists=0, source=source, sizes="other")  # type: ignore[arg-type]


@pytest.mark.parametrize("per", ["item", "person"])
def test_weights_follow_the_levels_of_each_group(per: str) -> None:
    profiles = club(900, 40)
    groups = np.arange(900, dtype=np.int8) % 3
    weighted = group_weights(profiles, groups, source=Source.seeded(1), per=per)  # type: ignore[arg-type]
    table = (weighted.weights / FULL_WEIGHT).reshape(900, 40)
    for group, levels in LEVELS.items():
        own = table[groups == group]
        found, counts = np.unique(own if per == "item" else own[:, 0], return_counts=True)
        assert found.tolist() == list(levels)
        n = counts.sum()
        spread = 5 * math.sqrt(n * (1 / len(levels)) * (1 - 1 / len(levels)))
        assert np.all(abs(counts - n / len(levels)) <= spread)
    same = np.all(table == table[:, :1], axis=1)
    assert same.all() if per == "person" else same[groups != UNCONCERNED].mean() < 0.01


@pytest.mark.parametrize(
    ("lowest", "slices", "levels"),
    [
        (0.5, 2, [0.5, 0.75, 1]),
        (0.0, 1, [0, 1]),
        (0.9, 1, [0.9, 1]),
        (0, 4, [0, 0.25, 0.5, 0.75, 1]),
    ],
)
def test_slices(lowest: float, slices: int, levels: list[float]) -> None:
    assert slice_levels(lowest, slices).tolist() == pytest.approx(levels)
    weighted = slice_weights(club(), lowest=lowest, slices=slices, source=Source.seeded(1))
    found, counts = np.unique(weighted.weights / FULL_WEIGHT, return_counts=True)
    assert found.tolist() == pytest.approx(levels, abs=2 / FULL_WEIGHT)
    assert counts / 9000 == pytest.approx(1 / len(levels), abs=0.03)


def test_naive_drops_only_fundamentalists_and_exactly_alpha_of_them() -> None:
    groups = np.repeat(np.array([0, 1, 2], dtype=np.int8), [10, 20, 50])
    for alpha, dropped in ((0, 0), (0.2, 10), (1, 50)):
        stays = naive_members(groups, alpha=alpha, source=Source.seeded(1))
        assert stays[:30].all()
        assert np.count_nonzero(~stays) == dropped
    assert set(naive_weights(club(3, 4)).weights.tolist()) == {FULL_WEIGHT // 2}


def test_people_where_keeps_names_items_and_weights() -> None:
    profiles = Profiles.of(["a", "a", "b", "c"], ["x", "y", "y", "x"], [1, 0.5, 0.25, 1])
    kept = people_where(profiles, np.array([True, False, True]))
    assert kept.people == ["a", "c"]
    assert kept.items == profiles.items
    assert [kept.row(i).tolist() for i in range(2)] == [[0, 1], [0]]
    assert kept.row_weights(0).tolist() == [FULL_WEIGHT, FULL_WEIGHT // 2]


WEIGHTS = [0.0, 0.25, 0.5, 0.75, 1.0]


@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0, 30.0])
@pytest.mark.parametrize("threshold", [0.5, 1.0])
def test_sampling_loses_what_it_says(weight: float, epsilon: float, threshold: float) -> None:
    """Theorem 2: both likelihood ratios of the worst mechanism stay within eps * share."""
    sample = Sample(threshold=threshold, epsilon=epsilon)
    p, inner = sample.chance(weight), epsilon * threshold
    # Worst eps-DP answer to "is it there?": randomised response with loss ``inner``.
    yes, no = 1 / (1 + math.exp(-inner)), 1 / (1 + math.exp(inner))
    seen_yes, seen_no = p * yes + (1 - p) * no, p * no + (1 - p) * yes
    loss = max(math.log(seen_yes / no), math.log(yes / seen_no))
    assert loss <= epsilon * sample.loss_share(weight) * (1 + 1e-9) + 1e-12
    assert sample.loss_share(weight) <= weight
    if 0 < weight <= threshold:  # and no larger chance would do
        assert loss >= epsilon * weight * (1 - 1e-6)


@pytest.mark.parametrize("weight", WEIGHTS)
def test_minimum_and_threshold_never_lose_more_than_asked(weight: float) -> None:
    source = Source.seeded(1)
    one = Profiles.of([0], ["x"], [weight])
    for baseline in (Minimum(least=0.5), Threshold(threshold=0.5)):
        given = baseline.apply(one, source)
        released = int(given.weights.sum()) / FULL_WEIGHT
        assert released == baseline.loss_share(weight)
        assert baseline.loss_share(weight) <= weight


def test_sample_keeps_with_the_stated_chance() -> None:
    profiles = club(400, 50)
    weights = np.tile([0.25, 1.0], 10_000)
    sample = Sample(threshold=1, epsilon=2)
    kept = sample.apply(profiles.with_weights(weights), Source.seeded(1))
    assert set(kept.weights.tolist()) == {FULL_WEIGHT}
    low = kept.indices.size - 10_000
    p = sample.chance(0.25)
    assert abs(low - 10_000 * p) < 5 * math.sqrt(10_000 * p * (1 - p))


def test_bad_baselines_are_refused() -> None:
    with pytest.raises(ParameterError, match="threshold must be positive"):
        Sample(threshold=0, epsilon=1)
    with pytest.raises(ParameterError, match="least must be from 0 to 1"):
        Minimum(least=2)
    with pytest.raises(ParameterError, match="epsilon must be"):
        Sample(threshold=1, epsilon=0)
