import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reticent.errors import ParameterError
from reticent.guarantees import RECORD, PureDP
from reticent.mechanisms import Exponential, PermuteAndFlip
from reticent.noise import Source
from reticent.testing import law_of

BOTH = pytest.mark.parametrize("kind", [Exponential, PermuteAndFlip])


@BOTH
@given(
    epsilon=st.fractions(Fraction(1, 1000), 100),
    sensitivity=st.fractions(Fraction(1, 1000), 1000),
    monotone=st.booleans(),
)
def test_the_loss_is_recomputed_from_the_rate_used(kind, epsilon, sensitivity, monotone) -> None:
    mechanism = kind(epsilon=epsilon, candidates=3, sensitivity=sensitivity, monotone=monotone)
    steps = mechanism.widened / mechanism.grid.step  # how far one unit can move a score
    assert mechanism.rate * steps * (1 if monotone else 2) == epsilon
    assert mechanism.guarantee() == PureDP.of(epsilon, RECORD)
    assert mechanism.widened <= sensitivity * (1 + Fraction(1, 2**20))


@BOTH
def test_theorem_3_the_chosen_score_is_near_the_best(kind) -> None:
    scores = np.arange(50.0)
    mechanism = kind(epsilon=1, candidates=50, sensitivity=1)
    source = Source.seeded(6)
    regrets = [49 - mechanism.release(scores, source).value for _ in range(1500)]
    assert np.mean(np.array(regrets) <= mechanism.utility().within_95) >= 0.95


def test_permute_and_flip_is_never_worse_on_average() -> None:
    """By the exact laws of both; that they are what is drawn is tested in test_mechanism_laws."""
    for scores in ((0, 3, 5, 9, 10), (0, 0, 0), (0, 1), (1, 2, 2, 7)):
        regret = {}
        for kind in (Exponential, PermuteAndFlip):
            law = law_of(kind(epsilon=1, candidates=len(scores), sensitivity=1))(scores)
            missed = zip(law.values(), scores, strict=True)
            regret[kind] = sum(chance * (max(scores) - score) for chance, score in missed)
        equal = len(set(scores)) == 1
        assert regret[PermuteAndFlip] < regret[Exponential] or (equal and not any(regret.values()))


@BOTH
def test_scores_that_are_no_numbers_are_the_lowest(kind) -> None:
    mechanism = kind(epsilon=1, candidates=5, sensitivity=1)
    for seed in range(20):
        chosen = mechanism.release([math.nan, None, 0, -math.inf, "x"], Source.seeded(seed)).value
        assert chosen == 2


@BOTH
def test_one_candidate_is_always_chosen(kind) -> None:
    assert kind(epsilon=1, candidates=1, sensitivity=1).release([5], Source.system()).value == 0


@BOTH
@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("epsilon", v) for v in (0, -1, math.nan, math.inf, "a", None)),
        *(("sensitivity", v) for v in (0, -1, math.nan, math.inf, None)),
        *(("candidates", v) for v in (0, -1, 1.5, None)),
        ("monotone", 1),
        ("unit", None),
    ],
)
def test_bad_parameters_are_refused(kind, name, value) -> None:
    good = {"epsilon": 1, "candidates": 3, "sensitivity": 1}
    with pytest.raises(ParameterError, match=f"^{name} must be .+, got "):
        kind(**good | {name: value})
