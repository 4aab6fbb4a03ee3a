"""The generator's communities are there, and its draws are uniform."""

import numpy as np
import pytest

from reticent.data.synthetic import (
    DENSE,
    SPARSE,
    Communities,
    below,
    multi_hot_catalogue,
    uniform,
)
from reticent.errors import ParameterError
from reticent.noise import Source


def test_draws_are_in_range_and_uniform() -> None:
    source = Source.seeded(1)
    draws = uniform(40_000, source)
    assert draws.min() >= 0
    assert draws.max() < 1
    assert abs(draws.mean() - 0.5) < 5 * (1 / 12 / 40_000) ** 0.5
    counts = np.bincount(below(7, 70_000, source), minlength=7)
    assert np.all(abs(counts - 10_000) < 5 * (10_000 * 6 / 7) ** 0.5)


def test_members_share_more_than_strangers() -> None:
    setting = Communities(people=120, items=3_000, communities=6, size=60)
    profiles, community = setting.draw(Source.seeded(1))
    has = np.zeros((120, 3_000))
    has[profiles.rows(), profiles.indices] = 1
    shared = has @ has.T
    np.fill_diagonal(shared, np.nan)
    together = community[:, None] == community[None, :]
    assert np.nanmean(shared[together]) > 2 * np.nanmean(shared[~together])


def test_no_focus_means_no_community() -> None:
    setting = Communities(people=120, items=3_000, communities=6, size=60, focus=0)
    profiles, community = setting.draw(Source.seeded(1))
    has = np.zeros((120, 3_000))
    has[profiles.rows(), profiles.indices] = 1
    shared = has @ has.T
    np.fill_diagonal(shared, np.nan)
    together = community[:, None] == community[None, :]
    assert np.nanmean(shared[together]) == pytest.approx(np.nanmean(shared[~together]), rel=0.1)


@pytest.mark.parametrize(("setting", "low", "high"), [(DENSE, 0.15, 0.3), (SPARSE, 0.001, 0.01)])
def test_settings_have_their_density(setting: Communities, low: float, high: float) -> None:
    profiles, _ = setting.draw(Source.seeded(1))
    assert len(profiles) == setting.people
    assert profiles.n_items == setting.items
    assert low < profiles.indices.size / (setting.people * setting.items) < high


def test_the_same_seed_gives_the_same_people() -> None:
    first, second = (SPARSE.draw(Source.seeded(4))[0] for _ in range(2))
    assert np.array_equal(first.indices, second.indices)
    assert np.array_equal(first.indptr, second.indptr)


def test_bad_settings_are_refused() -> None:
    with pytest.raises(ParameterError, match="communities must be at most"):
        Communities(people=3, items=10, communities=4, size=2)
    with pytest.raises(ParameterError, match="focus must be"):
        Communities(people=3, items=10, communities=2, size=2, focus=2)
    with pytest.raises(ParameterError, match="bound must be"):
        below(0, 3, Source.seeded(1))


def test_catalogues_have_the_attributes_asked_for() -> None:
    table = multi_hot_catalogue(20_000, 21, Source.seeded(1)).dense()
    counts = table.sum(axis=1)
    assert set(np.unique(table)) == {0, 1}
    assert (counts.min(), counts.max()) == (1, 6)
    assert counts.mean() == pytest.approx(1.65, abs=0.02)
    assert table.sum(axis=0).min() > 0
    assert np.corrcoef(np.arange(21), table.sum(axis=0))[0, 1] < -0.7
    single = multi_hot_catalogue(300, 17, Source.seeded(1), mean=1).dense()
    assert (single.sum(axis=1) == 1).all()
    assert (single[:17] == np.eye(17)).all()


@pytest.mark.parametrize(
    ("items", "attributes", "named"),
    [(5, 6, {}), (20, 4, {}), (20, 8, {"mean": 0.5}), (20, 8, {"mean": 7})],
)
def test_impossible_catalogues_are_refused(items: int, attributes: int, named: dict) -> None:
    with pytest.raises(ParameterError):
        multi_hot_catalogue(items, attributes, Source.seeded(1), **named)
