"""Errors that sentences state are never too small: each is held against the law of its noise."""

import math
import re
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

from reticent.amounts import show_up
from reticent.data.catalogue import Catalogue
from reticent.mechanisms import (
    Dampened,
    DiscreteLaplace,
    Exponential,
    InnerProduct,
    PermuteAndFlip,
    SnappedLaplace,
    Stretching,
    Totals,
)
from reticent.mechanisms.base import Mechanism
from reticent.mechanisms.dampening import SCORE_BITS, Scored
from reticent.mechanisms.local_sensitivity import Tabled
from reticent.mechanisms.multilevel_plan import plan_histogram
from reticent.mechanisms.top_dampened import TopDampened, usual_test
from reticent.noise import Source
from reticent.tasks.similarity import Similarity

EPSILONS = [Fraction(k, 100) for k in range(1, 400, 14)]
FILMS = Catalogue.of([[1, 1], [0, 1]], attributes=("Crime", "Drama"))


def mechanisms(epsilon: Fraction) -> Iterator[Mechanism | Similarity]:
    yield Stretching(epsilon=epsilon, function=InnerProduct())
    yield DiscreteLaplace(epsilon=epsilon, size=2)
    yield Totals(epsilon=epsilon, size=2, records=3)
    yield SnappedLaplace(epsilon=epsilon, size=1, sensitivity="0.3", lower=0, upper=7)
    yield Exponential(epsilon=epsilon, candidates=7, sensitivity="0.3")
    yield PermuteAndFlip(epsilon=epsilon, candidates=7, sensitivity="0.3")
    yield Dampened(epsilon=epsilon, candidates=7, limit="0.3", steps=2)
    yield Similarity(epsilon=epsilon, measure="overlap", norms="none")
    for weighted in (False, True):
        budgets = {"Crime": epsilon, "Drama": epsilon}
        yield plan_histogram(FILMS, budgets=budgets, epsilon=epsilon, weighted=weighted).mechanism


def stated(sentence: str) -> float:
    """The largest number after 'within', 'to' or 'than'."""
    found = re.findall(r"(?:within|to|than) ([0-9.]+(?:e-?\d+)?)", sentence)
    return max(map(float, found))


def test_every_sentence_states_at_least_the_error() -> None:
    for epsilon in EPSILONS:
        for mechanism in mechanisms(epsilon):
            utility = mechanism.utility()
            assert utility.within_95 is not None
            assert stated(utility.sentence) >= utility.within_95, mechanism


def test_the_check_sees_numbers_that_are_rounded_to_nearest() -> None:
    """The control: half of them are too small."""
    within = [math.log(20) / float(epsilon) for epsilon in EPSILONS]
    false = [stated(f"within {exact:.4g} of the value") < exact for exact in within]
    assert sum(false) > len(false) / 4
    assert not any(stated(f"within {show_up(exact)} of") < exact for exact in within)


def test_a_stretched_value_is_off_by_more_at_most_5_times_in_100() -> None:
    for k in range(1, 400):
        sentence = Stretching(epsilon=Fraction(k, 100), function=InnerProduct()).utility().sentence
        assert math.exp(-stated(sentence) * k / 100) <= 0.05


# The best k, by three ways: the sentence must hold whichever is taken.

N = 400


def edge(k: int, gap: float) -> Scored:
    """The best k are a little more than ``gap`` above all others: the worst for a choice."""
    utilities = np.concatenate([np.full(k, 1.01 * gap), np.zeros(N - k)])
    return Scored(utilities, Tabled.of(np.full((2, N), 0.25)))


def top(epsilon: int, k: int) -> TopDampened:
    whole = Dampened(epsilon=epsilon, candidates=N, limit=1, steps=2, spread="0.5")
    return TopDampened(whole=whole, k=k, test=usual_test(k, N))


def broken(epsilon: int, k: int, within: float, runs: int = 120) -> dict[str, float]:
    """How often a score left out is further above one that was chosen, by each way."""
    mechanism, data, seen = top(epsilon, k), edge(k, within), {}
    for way in ("shifted", "rounds", "set") if k > 1 else ("shifted", "rounds"):
        one = mechanism.round if way == "shifted" else mechanism.plain_round
        scores = one.scores(data) / (1 << SCORE_BITS)
        forced, source, off = only(mechanism, way), Source.seeded(7), 0
        for _ in range(runs):
            chosen = list(forced.release(data, source).value)
            off += float(np.delete(scores, chosen).max() - scores[chosen].min()) > within
        seen[way] = off / runs
    return seen


def only(mechanism: TopDampened, way: str) -> TopDampened:
    """The same mechanism on a way that is given."""
    kind = type("Only", (TopDampened,), {"way": lambda *_: way, "__slots__": ()})
    made: TopDampened = kind(
        whole=mechanism.whole, k=mechanism.k, plain=mechanism.plain, test=mechanism.test
    )
    return made


@pytest.mark.parametrize(("epsilon", "k"), [(4, 1), (100, 1), (4, 5), (100, 5)])
def test_the_error_of_the_best_k_holds_on_every_way(epsilon: int, k: int) -> None:
    utility = top(epsilon, k).utility()
    assert utility.within_95 is not None
    assert stated(utility.sentence) >= utility.within_95
    assert max(broken(epsilon, k, stated(utility.sentence)).values()) <= 0.05


@pytest.mark.parametrize("k", [1, 5])
def test_the_check_sees_the_error_of_one_way_quoted_for_all(k: int) -> None:
    """The control: of rounds by shifted scores, whose spread is a quarter of that of plain ones."""
    quoted = top(100, k).round.utility().within_95
    assert quoted is not None
    found = broken(100, k, quoted, runs=50)
    assert found["shifted"] <= 0.05 * k + 0.1
    assert found["rounds"] > 0.7
