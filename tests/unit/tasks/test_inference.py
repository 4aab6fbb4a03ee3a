"""Attackers on released profiles: none beats the Bayes rule of what was released."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from reticent.errors import ParameterError
from reticent.noise import Source
from reticent.tasks.inference import (
    as_the_table_says,
    attack,
    bayes_auc,
    bayes_curve,
    bayes_scores,
    measured,
)
from reticent.tasks.profiles import SparseMapping

RNG = np.random.default_rng(1)
PEOPLE = np.array(["a", "b", "c"])[RNG.integers(0, 3, (4000, 3))]
INCOME = ((PEOPLE == "a").sum(axis=1) + RNG.integers(0, 2, 4000) > 1).astype(int)


def release(delta: float):
    mapping = SparseMapping(delta=delta, source=Source.seeded(3)).fit(PEOPLE, INCOME)
    return mapping, mapping.transform(PEOPLE)


@pytest.mark.parametrize("delta", [0.02, 0.12])
def test_theorem_7_no_attacker_beats_bayes(delta) -> None:
    mapping, released = release(delta)
    best = bayes_auc(mapping.learnt_.law)
    train, test = slice(0, 2000), slice(2000, 4000)
    found = attack(
        {"raw": PEOPLE[train], "released": released[train]},
        INCOME[train],
        released[test],
        INCOME[test],
    )
    assert len(found) == 6
    for result in found:
        assert result.low <= best + 0.01, result.attacker
        assert result.low <= result.auc <= result.high


def test_the_best_area_is_that_of_the_bayes_scores() -> None:
    mapping, _ = release(0.05)
    drawn = mapping.mechanism_.release_many(mapping.recoding_.places(PEOPLE), Source.seeded(4))
    measured = roc_auc_score(INCOME, bayes_scores(mapping.learnt_.law, drawn))
    assert measured == pytest.approx(bayes_auc(mapping.learnt_.law), abs=0.02)


def test_the_best_area_tends_to_a_coin_as_the_leak_tends_to_nothing() -> None:
    areas = [bayes_auc(release(delta)[0].learnt_.law) for delta in (0.0, 0.05, 0.15, 0.6)]
    assert areas == sorted(areas, reverse=True)
    assert areas[0] > 0.75
    assert areas[-1] == pytest.approx(0.5, abs=0.03)


def test_secrets_of_two_values_only() -> None:
    with pytest.raises(ParameterError, match="0 and 1"):
        attack({"raw": PEOPLE}, np.zeros(4000), PEOPLE, INCOME)


def test_the_area_and_its_interval() -> None:
    """The area is scikit-learn's; the interval covers the truth about 95 times in 100."""
    rng = np.random.default_rng(7)
    truth_area = 0.7602  # of two normals one standard deviation apart: Phi(1 / sqrt 2)
    covered = 0
    for _ in range(200):
        truth = (rng.random(300) < 0.3).astype(int)
        scores = rng.normal(size=300) + truth
        found = measured("test", "raw", scores, truth)
        assert found.auc == pytest.approx(roc_auc_score(truth, scores), abs=1e-12)
        covered += found.low <= truth_area <= found.high
    assert 180 <= covered <= 198


def test_ties_count_half() -> None:
    found = measured("test", "raw", np.zeros(40), np.arange(40) % 2)
    assert (found.auc, found.low, found.high) == (0.5, 0.5, 0.5)


def test_the_best_curve_is_concave_and_ends_in_the_corners() -> None:
    mapping, _ = release(0.05)
    false_rates, true_rates = bayes_curve(mapping.learnt_.law)
    assert (false_rates[0], true_rates[0]) == (0, 0)
    assert false_rates[-1] == pytest.approx(1)
    assert true_rates[-1] == pytest.approx(1)
    turns = np.diff(true_rates[1:]) * np.diff(false_rates[:-1])
    turns -= np.diff(true_rates[:-1]) * np.diff(false_rates[1:])
    assert (turns <= 1e-12).all()


def test_draws_are_held_to_the_table() -> None:
    """True draws pass; profiles as they are, or another mapping's draws, do not."""
    mapping, _ = release(0.1)
    places = mapping.recoding_.places(PEOPLE)
    source = Source.seeded(11)
    chances = [
        as_the_table_says(
            mapping.mechanism_, places, mapping.mechanism_.release_many(places, source)
        )
        for _ in range(60)
    ]
    assert min(chances) > 1e-4
    assert 15 <= sum(chance > 0.5 for chance in chances) <= 45
    assert as_the_table_says(mapping.mechanism_, places, places) < 1e-9
    other = release(0.05)[0].mechanism_.release_many(places, source)
    assert as_the_table_says(mapping.mechanism_, places, other) < 1e-9
    never = np.full(len(places), 0)
    assert as_the_table_says(mapping.mechanism_, places, never) == 0.0
