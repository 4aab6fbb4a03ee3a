"""Profiles that hide a secret, as a scikit-learn transformer.

Theory    docs/theory/mapping.md, Theorems 2 and 5; "What this promise is not"
Notation  B = public profile, A = secret, Delta = the distortion allowed on average
Not here  learning (learning.py), releasing (recoding.py), the opponent (inference.py).

``fit(public, private)`` estimates how profiles and secrets go together and finds the mapping that
tells least at a given distortion, or distorts least at a given leak; ``transform(public)`` releases
each row once.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from reticent.data.frames import plain_cells
from reticent.errors import MissingExtra, require
from reticent.ledger import open_ledger
from reticent.noise import Source
from reticent.optim.mapping import Progress
from reticent.tasks.charged import Payer, answer_once
from reticent.tasks.learning import Learnt, Limits, learn_mapping
from reticent.tasks.mapping_search import MappingSearch
from reticent.tasks.recoding import Alphabet, Kind, Measure, Unknown
from reticent.tasks.recoding_files import KIND

try:
    from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    raise MissingExtra("learning a mapping with scikit-learn", "learn") from None

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class SparseMapping(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Release profiles from which a secret cannot be inferred well, changing them little.

    Give ``delta``, the distortion that is allowed on average (least leak), or ``leak_bits``, what
    may leak on average (least distortion); a sequence of limits, one per private column, limits
    each column's leak. A row outside the alphabet stands for the nearest profile; with ``unknown``
    "withhold" or "refuse" one beyond ``radius`` is released as None or is an error, and either
    tells that it was unknown. ``epsilon`` adds a worst-case floor: with that local-DP epsilon, at a
    price that ``learnt_.cost_of_epsilon`` states. Profiles of fewer than ``at_least`` people are
    treated as the nearest other one. With a ``ledger``, the file or address of one, every ``fit``
    is noted for ``data_set``, at no cost: the people it learns from are not protected.

    >>> people = np.array([["young", "city"], ["young", "land"], ["old", "city"]] * 20)
    >>> income = np.array([1, 0, 1] * 20)
    >>> mapping = SparseMapping(delta=0.2).fit(people, income)
    >>> mapping.transform(people).shape, mapping.leak_bits_ < mapping.untouched_bits_
    ((60, 2), True)
    """

    def __init__(
        self,
        *,
        delta: float | None = None,
        leak_bits: float | Sequence[float] | None = None,
        measure: Kind = "hamming",
        column_weights: Sequence[float] | None = None,
        epsilon: float | None = None,
        at_least: int = 1,
        unknown: Unknown = "nearest",
        radius: float = math.inf,
        relative_gap: float = 1e-3,
        seconds: float = math.inf,
        source: Source | None = None,
        secret: str = "the private columns",  # noqa: S107, what a card calls it
        ledger: str | Path | None = None,
        data_set: str | None = None,
    ) -> None:
        self.delta = delta
        self.leak_bits = leak_bits
        self.measure = measure
        self.column_weights = column_weights
        self.epsilon = epsilon
        self.at_least = at_least
        self.unknown = unknown
        self.radius = radius
        self.relative_gap = relative_gap
        self.seconds = seconds
        self.source = source
        self.secret = secret
        self.ledger = ledger
        self.data_set = data_set

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:  # noqa: N803, scikit-learn's name
        """Learn from public profiles X and private values y of the same people."""
        public = _table(self, X, reset=True)
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        private = np.asarray(y)
        if len(private) != len(public):
            raise ValueError(f"X has {len(public)} rows and y has {len(private)}")
        return self.fit_joint(Alphabet.of(public, private))

    def fit_joint(self, alphabet: Alphabet, *, progress: Progress | None = None) -> Self:
        """Learn from a joint law that is already known."""
        limits = Limits(self.delta, self.leak_bits, self.epsilon, self.relative_gap, self.seconds)
        weights = None if self.column_weights is None else tuple(self.column_weights)
        measure = Measure(self.measure, weights)
        nearest = self.at_least <= 1 or self.unknown == "nearest"
        require(nearest, "unknown", self.unknown, "nearest where rare profiles are left out")
        if self.at_least > 1:
            alphabet = alphabet.at_least(self.at_least, measure)
        self.n_features_in_ = alphabet.profiles.shape[1]
        names = getattr(self, "feature_names_in_", None)
        columns = None if names is None else tuple(map(str, names))
        search = MappingSearch(
            secrets=(self.secret,),
            columns=columns,
            delta=_real(self.delta),
            leak=tuple(limits.bits.tolist()) or None,
            epsilon=_real(self.epsilon),
            measure="a function" if callable(self.measure) else self.measure,
            weights=tuple(_by_column(columns, weights)),
            at_least=int(self.at_least),
            unknown=self.unknown,
            radius=None if math.isinf(self.radius) else _real(self.radius),
            seconds=None if math.isinf(self.seconds) else _real(self.seconds),
        )
        self.learnt_ = self._noted(
            search,
            lambda: learn_mapping(
                alphabet,
                limits,
                measure=measure,
                columns=columns,
                secret=self.secret,
                unknown=self.unknown,
                radius=self.radius,
                progress=progress,
            ),
        )
        self.recoding_, self.mechanism_ = self.learnt_.recoding, self.learnt_.recoding.mechanism
        self.leak_bits_, self.distortion_ = self.learnt_.leak_bits, self.learnt_.distortion
        self.untouched_bits_ = self.learnt_.untouched_bits
        if not self.learnt_.finished:
            told = "the search was stopped: a mapping of less distortion or leak may exist"
            warnings.warn(told, ConvergenceWarning, stacklevel=2)
        return self

    def _noted(self, search: MappingSearch, learn: Callable[[], Learnt]) -> Learnt:
        """What was learnt, once a ledger has noted it."""
        named = isinstance(self.data_set, str) and self.data_set.strip() != ""
        together = named if self.ledger is not None else self.data_set is None
        require(together, "data_set", self.data_set, "a name, given together with a ledger")
        if self.ledger is None:
            return learn()
        found: list[Learnt] = []

        def make() -> int:
            found.append(learn())
            return len(found)

        payer = Payer(subject=f"data set {self.data_set}", what=KIND)
        with open_ledger(self.ledger) as book:
            answer_once(search.event(Source.system()), make, ledger=book, payers=payer)
        return found[0]

    def transform(self, X: ArrayLike) -> NDArray[Any]:  # noqa: N803
        """Release each row once; what is outside the alphabet by the rule ``unknown``."""
        check_is_fitted(self)
        public = _table(self, X, reset=False)
        source = Source.system() if self.source is None else self.source
        return self.recoding_.release_many(public, source)

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn should know: it is random, and reads categories."""
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.target_tags.required = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _real(value: float | None) -> float | None:
    """A number of whatever type, as a ledger writes it down."""
    return None if value is None else float(value)


def _by_column(
    columns: Sequence[str] | None, weights: Sequence[float] | None
) -> Iterator[tuple[str, float]]:
    """Weights by column; columns without a name are counted."""
    for place, weight in enumerate(weights or ()):
        yield (f"column {place + 1}" if columns is None else columns[place]), float(weight)


def _table(estimator: SparseMapping, X: ArrayLike, *, reset: bool) -> NDArray[Any]:  # noqa: N803
    cells = plain_cells(X)
    return np.asarray(
        validate_data(estimator, cells, reset=reset, dtype=None, ensure_all_finite=True)
    )
