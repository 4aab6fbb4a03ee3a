"""The best that any attacker can make of released profiles, and one who learns by counting.

Theory    docs/theory/mapping.md, Theorem 7 (guess rate and maximal leakage); "What this promise is
          not"
Notation  AUC = chance that a person with the secret is ranked above one without it
Not here  attackers that learn with scikit-learn (inference.py), what is released (recoding.py).

No attacker beats the exact Bayes rule of the released joint law, which is computed here from the
mapping. One who only counts what people with a known secret were released as comes near it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.errors import require
from reticent.mechanisms.mapping import ProfileMapping
from reticent.mechanisms.mapping_law import MappingLaw

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FEWEST = 5  # people expected in a cell of a chi-square test
_USUAL = 1.96


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Attack:
    """One attacker on one release: the ROC curve and its area, with a 95 % interval."""

    attacker: str
    trained_on: str
    auc: float
    low: float
    high: float
    false_rates: NDArray[np.float64]
    true_rates: NDArray[np.float64]


def count_attack(
    seen: NDArray[np.int64],
    known: NDArray[Any],
    target: NDArray[np.int64],
    truth: NDArray[Any],
    *,
    trained_on: str = "released profiles",
) -> Attack:
    """An attacker who counts, for each profile, how many known people released as it have a secret.

    ``seen`` and ``target`` are places of profiles; ``known`` and ``truth`` the secrets, 0 or 1, of
    those whom the attacker learns from and of those who are attacked.

    >>> places, secrets = np.array([0, 0, 1, 1] * 50), np.array([0, 0, 1, 1] * 50)
    >>> count_attack(places, secrets, places, secrets).auc
    1.0
    """
    check_secrets(known=known, truth=truth)
    size = int(max(seen.max(), target.max())) + 1
    people = np.bincount(seen, minlength=size)
    holders = np.bincount(seen, weights=known, minlength=size)
    share = float(np.mean(known))
    chances = (holders + share) / (people + 1)  # a profile that was never seen tells nothing
    return measured("counting", trained_on, chances[target], truth)


def check_secrets(**secrets: NDArray[Any]) -> None:
    """Refuse secrets of other values than 0 and 1, or of one of them only."""
    for name, held in secrets.items():
        values = set(np.unique(held).tolist())
        require(values == {0, 1}, name, sorted(values), "0 and 1, both of them")


def measured(
    name: str, trained_on: str, scores: NDArray[np.float64], truth: NDArray[Any]
) -> Attack:
    """The ROC curve of scores, its area, and the area's interval by [DeLongEtAl1988]."""
    false_rates, true_rates = _curve(scores, truth)
    ones, zeros = scores[truth == 1], scores[truth == 0]
    above = _below(ones, zeros)  # of each person with the secret: the share of others below
    under = 1 - _below(zeros, ones)
    area = float(above.mean())
    spread = _USUAL * float(np.sqrt(_variance(above) / len(ones) + _variance(under) / len(zeros)))
    low, high = max(0.0, area - spread), min(1.0, area + spread)
    return Attack(name, trained_on, area, low, high, false_rates, true_rates)


def _curve(
    scores: NDArray[np.float64], truth: NDArray[Any]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """False and true rates at every threshold, without the points inside a straight piece."""
    levels, place = np.unique(-scores, return_inverse=True)
    found = [
        np.cumsum(np.bincount(place[truth == value], minlength=len(levels))) for value in (0, 1)
    ]
    wrong, right = (np.concatenate([[0], counts]) for counts in found)
    bends = (np.diff(wrong, 2) != 0) | (np.diff(right, 2) != 0)
    kept = np.concatenate([[True], bends, [True]])
    return wrong[kept] / wrong[-1], right[kept] / right[-1]


def _below(scores: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each score the share of others below it, equal ones counting half."""
    order = np.sort(others)
    lower = np.searchsorted(order, scores, side="left")
    return np.asarray((lower + np.searchsorted(order, scores, side="right")) / (2 * len(order)))


def _variance(values: NDArray[np.float64]) -> float:
    return float(values.var(ddof=1)) if len(values) > 1 else 0.25


def bayes_scores(law: MappingLaw, released: NDArray[np.int64]) -> NDArray[np.float64]:
    """p(secret 1 | released profile) under the joint law: no ranking of releases is better."""
    moments = law.moments
    require(moments.shape[1] == 2, "law", moments.shape[1], "one of a secret with two values")
    mass = moments.sum(axis=1)
    chances = np.where(mass > 0, moments[:, 1] / np.where(mass > 0, mass, 1), 0.5)
    return np.asarray(chances[released])


def bayes_curve(law: MappingLaw) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """False and true rates of the best attacker on releases, exactly: no curve is above."""
    return best_curve(law.moments)


def best_curve(
    moments: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """False and true rates of the best attacker under the joint law p(output, secret).

    One row per output, that of secret 0 first; the transpose of a mapping's ``joint`` is that of
    profiles as they are. Outputs are taken in order of p(secret 1 | output), the Neyman-Pearson
    order.
    """
    held = moments[moments.sum(axis=1) > 0]
    require(held.shape[1] == 2, "mapping", held.shape[1], "one of a secret with two values")
    order = np.argsort(-held[:, 1] / held.sum(axis=1), kind="stable")
    rates = np.cumsum(held[order], axis=0) / held.sum(axis=0)
    rates = np.concatenate([np.zeros((1, 2)), rates])
    return rates[:, 0], rates[:, 1]


def bayes_auc(law: MappingLaw) -> float:
    """The area under ``bayes_curve``; people at the same place count half."""
    false_rates, true_rates = bayes_curve(law)
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
