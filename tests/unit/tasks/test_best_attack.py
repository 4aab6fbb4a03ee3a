"""Exact and counting attackers, without scikit-learn but for one comparison with it."""

import numpy as np
import pytest
import sklearn.metrics as metrics

from reticent.errors import ParameterError
from reticent.tasks.best_attack import best_curve, count_attack, measured

RNG = np.random.default_rng(5)
LAW = np.array([[0.3, 0.05], [0.2, 0.1], [0.1, 0.15], [0.02, 0.08]])  # [output, secret]


def drawn(people: int):
    cells = RNG.choice(LAW.size, size=people, p=LAW.ravel())
    return cells // 2, cells % 2


def test_the_best_curve_is_the_most_over_all_tests() -> None:
    false_rates, true_rates = best_curve(LAW)
    conditional = LAW / LAW.sum(axis=0)
    for chosen in range(1 << len(LAW)):
        kept = [(chosen >> output) & 1 == 1 for output in range(len(LAW))]
        wrong, found = conditional[kept].sum(axis=0)
        assert found <= np.interp(wrong, false_rates, true_rates) + 1e-12


def test_counting_comes_near_the_best_and_not_above() -> None:
    seen, known = drawn(40_000)
    target, truth = drawn(40_000)
    attack = count_attack(seen, known, target, truth)
    best = float(np.trapezoid(*reversed(best_curve(LAW))))
    assert attack.low <= best <= attack.high + 0.01
    assert attack.auc == pytest.approx(best, abs=0.02)


def test_counting_finds_nothing_where_there_is_nothing() -> None:
    """Each shuffle orders profiles by chance, up or down; on average none is better than a coin."""
    (seen, known), (target, truth) = drawn(5_000), drawn(5_000)
    found = [count_attack(seen, RNG.permutation(known), target, truth).auc for _ in range(60)]
    assert np.mean(found) == pytest.approx(0.5, abs=0.15)


def test_a_profile_that_was_never_seen_is_ranked_in_the_middle() -> None:
    seen, known = np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1])
    attack = count_attack(seen, known, np.array([0, 1, 2, 2]), np.array([0, 1, 0, 1]))
    assert attack.auc == pytest.approx((1 + 1 + 1 + 0.5) / 4)


def test_the_curve_is_that_of_scikit_learn() -> None:
    scores, truth = RNG.integers(0, 12, 500) / 12, RNG.integers(0, 2, 500)
    ours = measured("a", "b", scores, truth)
    false_rates, true_rates, _ = metrics.roc_curve(truth, scores)
    assert np.allclose(ours.false_rates, false_rates)
    assert np.allclose(ours.true_rates, true_rates)
    assert ours.auc == pytest.approx(metrics.roc_auc_score(truth, scores))


def test_secrets_of_one_value_are_refused() -> None:
    places = np.zeros(4, dtype=np.int64)
    with pytest.raises(ParameterError, match="both of them"):
        count_attack(places, np.zeros(4), places, np.array([0, 1, 0, 1]))
