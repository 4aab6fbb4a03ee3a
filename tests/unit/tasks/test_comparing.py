"""The form of comparisons: what is refused, how runs are paired, what intervals hold."""

import numpy as np
import pytest

from reticent.errors import ParameterError
from reticent.noise import Source
from reticent.tasks.comparing import Curves, Point, chosen_ways, mean_interval, paired, seeds


def curves(**given) -> Curves:
    rows = [Point(way=way, x=x, value=x) for way in "ab" for x in (2.0, 1.0)]
    usual = {"what": "it", "x": "epsilon", "y": "error", "better": "lower", "rows": rows}
    return Curves(**{**usual, **given})


def test_what_is_told_is_what_was_measured() -> None:
    told = curves(runs=3, reference=0.5, reference_name="none", more={"k": 2}).fields()
    assert told["rows"][0] == {"way": "a", "x": 2.0, "value": 2.0, "low": None, "high": None}
    assert (told["k"], told["runs"], told["reference"]) == (2, 3, 0.5)
    assert [*told][:7] == ["what", "x", "y", "better", "reference", "reference_name", "runs"]


def test_ways_and_places() -> None:
    found = curves()
    assert (found.ways, found.places) == (("a", "b"), (1.0, 2.0))
    assert found.only(["b"]).ways == ("b",)
    assert found.at("a", 1.0).value == 1
    assert found.at("a", 3.0) is None


@pytest.mark.parametrize(
    "given",
    [
        {"rows": []},
        {"better": "best"},
        {"rows": [Point(way="a", x=1.0, value=float("nan"))]},
        {"rows": [Point(way="a", x=1.0, value=1.0), Point(way="a", x=1.0, value=2.0)]},
    ],
)
def test_what_is_no_measurement_is_refused(given) -> None:
    with pytest.raises(ParameterError):
        curves(**given)


def test_unknown_ways_are_refused() -> None:
    assert chosen_ways("abc", None) == ("a", "b", "c")
    assert chosen_ways("abc", ["c", "a"]) == ("a", "c")
    with pytest.raises(ParameterError, match="method must be one of a, b, c, got 'd'"):
        chosen_ways("abc", ["d"])


def test_seeds_are_those_of_the_source() -> None:
    assert seeds(Source.seeded(1), 3) == seeds(Source.seeded(1), 3)
    assert len({*seeds(Source.system(), 3), *seeds(Source.system(), 3)}) == 6
    with pytest.raises(ParameterError):
        seeds(Source.seeded(1), 0)


def test_intervals_hold_the_mean_95_times_in_100() -> None:
    """Against the true mean; one of half the width would hold it far less often."""
    rng = np.random.default_rng(3)
    held = narrow = 0
    for _ in range(2000):
        mean, low, high = mean_interval(rng.normal(7, 2, size=6))
        held += low <= 7 <= high
        narrow += abs(mean - 7) <= (high - low) / 4
    assert 0.935 <= held / 2000 <= 0.965
    assert narrow / 2000 < 0.85


def test_one_run_and_runs_that_agree_have_no_interval() -> None:
    assert mean_interval(np.array([0.5])) == (0.5, None, None)
    assert mean_interval(np.array([1.0, 1.0, 1.0])) == (1.0, None, None)


def test_pairs_show_differences_that_single_means_hide() -> None:
    rng = np.random.default_rng(4)
    luck = rng.normal(0, 1, size=20)
    points = paired(1.0, {"a": luck, "b": luck + rng.normal(0.1, 0.02, size=20)})
    first, second = points
    assert first.low < second.value < first.high  # alone they cannot be told apart
    assert second.more["gain_low"] > 0.05
    assert second.more["gain_high"] < 0.15


def test_shares_stay_shares() -> None:
    (point,) = paired(1.0, {"a": np.array([0.9, 1.0, 1.0])}, ends=(0.0, 1.0))
    assert point.high == 1.0
    assert 0 < point.low < point.value
