"""Replay sees what moves between neighbours, and nothing else."""

import sys
import warnings
from fractions import Fraction

import numpy as np
import pytest

from reticent.mechanisms import DiscreteLaplace, Exponential, PermuteAndFlip, SnappedLaplace
from reticent.noise import Source, discrete_laplace
from reticent.testing import POISON, poisoned, replay, replay_poison

COUNTS = DiscreteLaplace(epsilon=1, size=3)


def noise(source: Source, *, scale: int = 1, size: int = 1) -> np.ndarray:
    return discrete_laplace(scale=scale, size=size, source=source)


def test_an_honest_count_replays() -> None:
    result = replay(COUNTS.release, [1, 2, 3], [1, 2, 4], sensitivity=1, claim=1)
    assert result.same
    assert result.difference == 1
    assert [call.primitive for call in result.calls] == ["discrete_laplace"]


def test_values_on_a_grid_differ_by_the_widened_sensitivity_at_most() -> None:
    mechanism = SnappedLaplace(epsilon=1, size=2, sensitivity="0.3", lower=0, upper=9)
    steps = {"sensitivity": mechanism.widened / mechanism.grid.step, "step": mechanism.grid.step}
    for seed in range(50):
        low = seed / 7
        result = replay(
            mechanism.release, [low, 1.0], [low + 0.3, 1.0], seed=seed, claim=1, **steps
        )
        assert result.same, result.explain()
    more = replay(mechanism.release, [1.0, 1.0], [1.3, 1.1], claim=1, **steps)
    assert "outputs differ by 0.4, the sensitivity is 0.3" in more.explain()


@pytest.mark.parametrize("kind", [Exponential, PermuteAndFlip])
def test_selection_replays(kind) -> None:
    mechanism = kind(epsilon=1, candidates=3, sensitivity=1)
    for seed in range(50):
        assert replay(mechanism.release, [1, 2, 3], [2, 1, 4], seed=seed).same


LEAKS = {
    "scale": (lambda d, s: noise(s, scale=max(d)), "primitive: discrete_laplace(scale=3"),
    "size": (lambda d, s: noise(s, size=d[-1]), "form of the output: array of int64, shape (3,)"),
    "number": (lambda d, s: [noise(s) for _ in d[: d[-1]]], "number of primitives: 3 against 4"),
    "bits": (lambda d, s: s.bits(8 * d[-1]), "bytes drawn: 3 against 4"),
    "type": (lambda d, s: 1 if d[-1] == 3 else 1.0, "form of the output: int against float"),
    "error": (lambda d, s: 1 // (d[-1] - 4), "one returns, the other raises ZeroDivisionError"),
    "text": (lambda d, s: [][d[-1] : 1 // 0], "ZeroDivisionError"),
    "exit": (lambda d, s: sys.exit(d[-1]), "one exits with 3, the other exits with 4"),
    "warning": (lambda d, s: warnings.warn(str(d[-1]), stacklevel=1), "warnings: ['UserWarning"),
    "event": (
        lambda d, s: DiscreteLaplace(epsilon=d[-1], size=1).release([1], s),
        "the events differ",
    ),
    "sensitivity": (lambda d, s: 7 * d[-1] + noise(s), "outputs differ by 7"),
    "cost": (lambda d, s: noise(s) + noise(s), "primitives cost epsilon 2, the claim is 1"),
    "labels": (lambda d, s: "label", "the outputs are not numbers"),
}


@pytest.mark.parametrize("leak", [name for name in LEAKS if name != "text"])
def test_each_kind_of_leak_is_named(leak: str) -> None:
    release, message = LEAKS[leak]
    wants = {"sensitivity": 1, "claim": 1} if leak in ("sensitivity", "cost", "labels") else {}
    result = replay(release, [1, 2, 3, 3], [1, 2, 3, 4], **wants)
    assert not result.same
    assert message in result.explain()


def test_an_error_that_is_the_same_on_both_is_no_leak() -> None:
    assert replay(LEAKS["text"][0], [1], [2]).same


def test_noise_per_coordinate_costs_by_its_smallest_scale() -> None:
    def release(data: list[int], source: Source) -> np.ndarray:
        return data + discrete_laplace(scale=[Fraction(1, 2), 4], source=source)

    assert replay(release, [1, 1], [1, 2], sensitivity=1, claim=2).same
    assert not replay(release, [1, 1], [1, 2], sensitivity=1, claim="1.99").same


def test_poison_keeps_the_length_and_covers_the_list() -> None:
    variants = dict(poisoned([1, 2, 3]))
    assert len(variants) == 3 * len(POISON) + 2
    assert all(len(variant) == 3 for variant in variants.values())
    assert variants["duplicates"] == [1, 1, 1]
    assert variants["None at 2"] == [1, 2, None]


def test_poison_that_raises_is_named() -> None:
    def release(data: list[object], source: Source) -> float:
        return sum(float(value) for value in data)

    result = replay_poison(release, [1, 2])
    assert "None at 1: one returns, the other raises TypeError" in result.explain()
    assert not any(line.startswith("1e308 at 0:") for line in result.divergences)


def test_a_value_read_by_its_neighbours_is_named() -> None:
    def release(data: list[object], source: Source) -> np.ndarray:
        if any(value is None for value in data):  # one odd value and all count as missing
            return np.zeros(len(data)) + noise(source, size=len(data))
        return np.array([1.0] * len(data)) + noise(source, size=len(data))

    result = replay_poison(release, [1, 2])
    assert any(
        line == "None at 0: a value that was not touched is read differently"
        for line in result.divergences
    )


def test_the_same_bytes_give_the_same_noise_on_both() -> None:
    result = replay(COUNTS.release, [5, 5, 5], [5, 5, 5], sensitivity=1)
    assert result.difference == 0
    assert result.explain() == (
        "the same 1 primitives with the same arguments; outputs differ by 0"
    )
