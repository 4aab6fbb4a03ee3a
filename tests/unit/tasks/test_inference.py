"""Attackers on released profiles: none beats the Bayes rule of what was released."""

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.metrics import roc_auc_score

from reticent.errors import ParameterError
from reticent.noise import Source
from reticent.tasks.inference import attack, bayes_auc, bayes_scores
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
    best = bayes_auc(mapping.mechanism_)
    train, test = slice(0, 2000), slice(2000, 4000)
    found = attack(
        {"raw": PEOPLE[train], "released": released[train]},
        INCOME[train],
        released[test],
        INCOME[test],
        resamples=50,
    )
    assert len(found) == 6
    for result in found:
        assert result.low <= best + 0.01, result.attacker
        assert result.low <= result.auc <= result.high


def test_the_best_area_is_that_of_the_bayes_scores() -> None:
    mapping, _ = release(0.05)
    drawn = mapping.mechanism_.release_many(mapping.recoding_.places(PEOPLE), Source.seeded(4))
    measured = roc_auc_score(INCOME, bayes_scores(mapping.mechanism_, drawn))
    assert measured == pytest.approx(bayes_auc(mapping.mechanism_), abs=0.02)


def test_the_best_area_tends_to_a_coin_as_the_leak_tends_to_nothing() -> None:
    areas = [bayes_auc(release(delta)[0].mechanism_) for delta in (0.0, 0.05, 0.15, 0.6)]
    assert areas == sorted(areas, reverse=True)
    assert areas[0] > 0.75
    assert areas[-1] == pytest.approx(0.5, abs=0.03)


def test_secrets_of_two_values_only() -> None:
    with pytest.raises(ParameterError, match="0 and 1"):
        attack({"raw": PEOPLE}, np.zeros(4000), PEOPLE, INCOME)
