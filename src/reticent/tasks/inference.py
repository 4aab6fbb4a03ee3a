"""Attackers that learn with scikit-learn to infer a secret from released profiles.

Theory    docs/theory/mapping.md, Theorem 7 (guess rate and maximal leakage); "What this promise is
          not"
Notation  AUC = chance that a person with the secret is ranked above one without it
Not here  the best that any of them can do (best_attack.py), what is released (profiles.py).

An attacker is trained on people whose secrets are known and ranks others. One trained on raw
profiles is what exists today; one trained on released profiles is the honest opponent. No attacker
beats the exact Bayes rule of the released joint law, which follows from the mapping.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from reticent.errors import MissingExtra
from reticent.tasks.best_attack import (
    Attack,
    as_the_table_says,
    bayes_auc,
    bayes_curve,
    bayes_scores,
    check_secrets,
    measured,
)

try:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import CategoricalNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder
except ImportError:
    raise MissingExtra("attacking releases", "learn") from None

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "Attack",
    "as_the_table_says",
    "attack",
    "attackers",
    "bayes_auc",
    "bayes_curve",
    "bayes_scores",
    "measured",
]


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
    check_secrets(known=known, truth=truth)
    found = []
    for trained_on, profiles in train.items():
        for name, model in attackers(seed).items():
            model.fit(profiles, known)
            scores = model.predict_proba(target)[:, 1]
            found.append(measured(name, trained_on, scores, truth))
    return found
