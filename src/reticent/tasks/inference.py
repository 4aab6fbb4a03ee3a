"""Attackers that try to infer a secret from released profiles, and the best any of them can do.

Theory    docs/theory/mapping.md, Theorem 7 (guess rate and maximal leakage); "What this promise is
          not"
Notation  AUC = chance that a person with the secret is ranked above one without it
Not here  what is released (profiles.py).

An attacker is trained on people whose secrets are known and ranks others. One trained on raw
profiles is what exists today; one trained on released profiles is the honest opponent. No attacker
beats the exact Bayes rule of the released joint law, which is computed here from the mapping.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.errors import MissingExtra, require
from reticent.mechanisms.mapping import ProfileMapping

try:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_curve
    from sklearn.naive_bayes import CategoricalNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder
except ImportError:
    raise MissingExtra("attacking releases", "learn") from None

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FEWEST = 5  # people expected in a cell of a chi-square test


@dataclass(frozen=True, slots=True, eq=False)
class Attack:
    """One attacker on one release: the ROC curve and its area, with a 95 % interval."""

    attacker: str
    trained_on: str
    auc: float
    low: float
    high: float
    false_rates: NDArray[np.float64]
    true_rates: NDArray[np.float64]


def attackers(seed: int = 0) -> dict[str, Any]:
    """Naive Bayes, logistic regression and gradient boosting over categories."""
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    return {
        "naive Bayes": make_pipeline(_Codes(), CategoricalNB()),
        "logistic regression": make_pipeline(
            OneHotEncoder(handle_unknown="ignore"), LogisticRegression(max_iter=1000)
        ),
        "gradient boosting": make_pipeline(
            codes, HistGradientBoostingClassifier(random_state=seed, max_iter=60)
        ),
    }


class _Codes(OrdinalEncoder):  # type: ignore[misc]
    """Categories as numbers from 1; what was never seen is 0, as naive Bayes needs it."""

    def __init__(self) -> None:
        super().__init__(handle_unknown="use_encoded_value", unknown_value=-1)

    def transform(self, X: Any) -> Any:  # noqa: N803, scikit-learn's name
        """Codes, one higher."""
        return super().transform(X) + 1


def attack(
    train: Mapping[str, NDArray[Any]],
    known: NDArray[Any],
    target: NDArray[Any],
    truth: NDArray[Any],
    *,
    seed: int = 0,
) -> list[Attack]:
    """Every attacker, trained on each of ``train``, against the released profiles ``target``.

    ``known`` and ``truth`` are the secrets, 0 or 1, of those in ``train`` and in ``target``.
    """
    for name, secrets in (("known", known), ("truth", truth)):
        values = set(np.unique(secrets).tolist())
        require(values == {0, 1}, name, sorted(values), "0 and 1, both of them")
    found = []
    for trained_on, profiles in train.items():
        for name, model in attackers(seed).items():
            model.fit(profiles, known)
            scores = model.predict_proba(target)[:, 1]
            found.append(measured(name, trained_on, scores, truth))
    return found


def measured(
    name: str, trained_on: str, scores: NDArray[np.float64], truth: NDArray[Any]
) -> Attack:
    """The ROC curve of scores, its area, and the area's interval by [DeLongEtAl1988]."""
    false_rates, true_rates, _ = roc_curve(truth, scores)
    ones, zeros = scores[truth == 1], scores[truth == 0]
    above = _below(ones, zeros)  # of each person with the secret: the share of others below
    under = 1 - _below(zeros, ones)
    area = float(above.mean())
    spread = 1.96 * float(np.sqrt(_variance(above) / len(ones) + _variance(under) / len(zeros)))
    low, high = max(0.0, area - spread), min(1.0, area + spread)
    return Attack(name, trained_on, area, low, high, false_rates, true_rates)


def _below(scores: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each score the share of others below it, equal ones counting half."""
    order = np.sort(others)
    lower = np.searchsorted(order, scores, side="left")
    return np.asarray((lower + np.searchsorted(order, scores, side="right")) / (2 * len(order)))


def _variance(values: NDArray[np.float64]) -> float:
    return float(values.var(ddof=1)) if len(values) > 1 else 0.25


def bayes_scores(mapping: ProfileMapping, released: NDArray[np.int64]) -> NDArray[np.float64]:
    """p(secret 1 | released profile) under the joint law: no ranking of releases is better."""
    moments = mapping.moments
    require(moments.shape[1] == 2, "mapping", moments.shape[1], "one of a secret with two values")
    mass = moments.sum(axis=1)
    chances = np.where(mass > 0, moments[:, 1] / np.where(mass > 0, mass, 1), 0.5)
    return np.asarray(chances[released])


def bayes_curve(mapping: ProfileMapping) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """False and true rates of the best attacker, exactly, under the joint law: no curve is above.

    Releases are taken in order of p(secret 1 | release), which is the Neyman-Pearson order.
    """
    moments = mapping.moments[mapping.moments.sum(axis=1) > 0]
    require(moments.shape[1] == 2, "mapping", moments.shape[1], "one of a secret with two values")
    order = np.argsort(-moments[:, 1] / moments.sum(axis=1), kind="stable")
    rates = np.cumsum(moments[order], axis=0) / moments.sum(axis=0)
    rates = np.concatenate([np.zeros((1, 2)), rates])
    return rates[:, 0], rates[:, 1]


def bayes_auc(mapping: ProfileMapping) -> float:
    """The area under ``bayes_curve``; people at the same place count half."""
    false_rates, true_rates = bayes_curve(mapping)
    return min(1.0, float(np.trapezoid(true_rates, false_rates)))


def as_the_table_says(
    mapping: ProfileMapping, places: NDArray[np.int64], released: NDArray[np.int64]
) -> float:
    """How likely releases at least so far from the mapping's chances are: a chi-square test.

    Cells of fewer than five expected people are put together row by row. 0 if a profile was
    released as one that it never becomes.
    """
    from scipy.special import chdtrc

    size = len(mapping.starts) - 1
    keys = mapping.channel.inputs * size + mapping.outs
    order = np.argsort(keys)
    found = np.searchsorted(keys[order], places * size + released)
    known = found < len(keys)
    known[known] = keys[order][found[known]] == (places * size + released)[known]
    if not known.all():
        return 0.0
    seen = np.zeros(len(keys))
    np.add.at(seen, order[found], 1)
    held = np.bincount(places, minlength=size)[mapping.channel.inputs]
    expected = held * mapping.channel.chances
    small = expected < _FEWEST
    groups = np.where(small, mapping.channel.inputs, size + np.arange(len(keys)))
    names, group = np.unique(groups, return_inverse=True)
    counted, meant = np.bincount(group, weights=seen), np.bincount(group, weights=expected)
    good = meant >= _FEWEST
    rows = np.where(names < size, names, mapping.channel.inputs[np.maximum(names - size, 0)])[good]
    freedom = int(good.sum()) - len(np.unique(rows))
    if freedom <= 0:
        return 1.0
    statistic = float(((counted - meant)[good] ** 2 / meant[good]).sum())
    return float(chdtrc(freedom, statistic))
