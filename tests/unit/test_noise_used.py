"""The promise is recomputed from the noise that a release really asked for, call by call.

A mechanism that states one scale and draws another would pass every test of its statements. Here
the source writes down what was drawn; two per cent too little must break each of these.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from reticent.amounts import nano_up
from reticent.data.profiles import Profiles
from reticent.guarantees import RECORD_SUBSTITUTE
from reticent.mechanisms import DiscreteLaplace, Exponential, PermuteAndFlip, SnappedLaplace
from reticent.tasks import blip
from reticent.tasks.blip import Blip
from reticent.tasks.clustering import Gossip
from reticent.tasks.similarity import Similarity
from reticent.testing import RecordingSource

EPSILON = Fraction(3, 7)


def asked(source: RecordingSource, primitive: str, argument: str) -> list[Fraction]:
    found = [call.arguments[argument] for call in source.calls if call.primitive == primitive]
    assert found, f"{primitive} was not called"
    return [Fraction(value) for value in found]


def laplace_loss(mechanism: DiscreteLaplace, source: RecordingSource) -> Fraction:
    (scale,) = asked(source, "discrete_laplace", "scale")
    return mechanism.sensitivity / scale


def snapped_loss(mechanism: SnappedLaplace, source: RecordingSource) -> Fraction:
    (steps,) = asked(source, "discrete_laplace", "scale")
    return mechanism.widened / (steps * mechanism.grid.step)


def selection_loss(mechanism: Any, source: RecordingSource) -> Fraction:
    (rate,) = asked(source, mechanism.name.replace("-", "_"), "rate")
    either_way = 1 if mechanism.monotone else 2
    return rate * either_way * mechanism.widened / mechanism.grid.step


CASES: list[tuple[Any, Callable[[Any, RecordingSource], Fraction]]] = [
    (DiscreteLaplace(epsilon=EPSILON, size=3, sensitivity=5), laplace_loss),
    (SnappedLaplace(epsilon=EPSILON, size=3, sensitivity=2, lower=0, upper=9), snapped_loss),
    (PermuteAndFlip(epsilon=EPSILON, candidates=3, sensitivity=2), selection_loss),
    (PermuteAndFlip(epsilon=EPSILON, candidates=3, sensitivity=2, monotone=True), selection_loss),
    (Exponential(epsilon=EPSILON, candidates=3, sensitivity=2), selection_loss),
    (
        Exponential(epsilon=EPSILON, candidates=3, sensitivity=2, unit=RECORD_SUBSTITUTE),
        selection_loss,
    ),
]


@pytest.mark.parametrize(("mechanism", "loss"), CASES, ids=lambda c: getattr(c, "name", ""))
def test_a_release_draws_what_its_promise_needs(mechanism, loss) -> None:
    source = RecordingSource(seed=1)
    event = mechanism.release([1, 2, 3], source).event
    assert loss(mechanism, source) == EPSILON
    assert event.loss.overall == nano_up(loss(mechanism, source))


def club() -> Profiles:
    people = np.repeat(np.arange(12), 4)
    return Profiles.of(people, (people * 5 + np.tile(np.arange(4), 12) * 3) % 17)


@pytest.mark.parametrize("paper", [False, True])
def test_gossip_draws_what_its_promise_needs(paper: bool) -> None:
    similarity = Similarity(epsilon=EPSILON)
    source = RecordingSource(seed=2)
    Gossip(similarity=similarity, k=3, rounds=3, paper=paper).cluster(club(), source=source)
    scales = asked(source, "discrete_laplace", "scale")
    scales += asked(source, "pair_noise", "scale") if not paper else []
    norm, overlap = 2**20 / similarity.epsilon_norm, 2**20 / similarity.epsilon_overlap
    assert set(scales) == {norm, overlap}
    assert 2**20 / norm + 2**20 / overlap == EPSILON


def test_lists_draw_what_their_promise_needs() -> None:
    similarity = Similarity(epsilon=EPSILON)
    source = RecordingSource(seed=3)
    with patch(
        "reticent.tasks.neighbours.laplace_of_words",
        side_effect=lambda words, low, *, scale, bits: (
            source.note("laplace_of_words", scale=scale) or np.zeros(words.size, dtype=np.int64)
        ),
    ):
        similarity.neighbours(club(), 3, source=source)
    assert set(asked(source, "laplace_of_words", "scale")) == {2**20 / similarity.epsilon_overlap}
    assert asked(source, "discrete_laplace", "scale") == [2**20 / similarity.epsilon_norm]


def test_sketches_flip_as_their_promise_needs() -> None:
    source = RecordingSource(seed=4)
    Blip(epsilon=EPSILON, bits=64, hashes=2).publish(club(), source)
    assert asked(source, "logistic_words", "exponent") == [EPSILON / 2]
    assert asked(source, "bernoulli_thinned", "exponent") == [EPSILON]


@pytest.mark.parametrize("weight", [0.25, 0.5])
def test_items_enter_sketches_as_often_as_their_weight_allows(weight: float) -> None:
    n, epsilon = 400_000, 2.0
    crowd = Profiles.of(np.arange(n), np.zeros(n, dtype=np.int64), weight)
    silent = patch.object(
        blip, "logistic_words", lambda _, shape, source: np.zeros(shape, dtype=np.uint64)
    )
    with silent:  # nothing is flipped, so every bit is an item that entered
        sketches = Blip(epsilon=2, bits=64).publish(crowd, RecordingSource(seed=5))
    share = np.bitwise_count(sketches.words).sum() / n
    allowed = np.expm1(epsilon * weight) / np.expm1(epsilon)
    assert abs(share - allowed) < 5 * np.sqrt(allowed * (1 - allowed) / n)
    thin = np.expm1(epsilon * weight * 1.02) / np.expm1(epsilon)  # the control
    assert abs(share - thin) > 5 * np.sqrt(thin * (1 - thin) / n)
