"""Profiles that hide a secret: learn a mapping from people, then release profiles through it.

Theory    docs/theory/mapping.md, Theorems 2, 5 and 6; "What this promise is not"
Notation  B = public profile, A = secret, d = distortion, Delta = its limit
Not here  the solver (optim/mapping_newton.py), drawing (mechanisms/mapping.py), who tries to infer
          the secret afterwards (inference.py).

``SparseMapping`` is a scikit-learn transformer: ``fit(public, private)`` estimates how profiles and
secrets go together and finds the mapping that tells least at a given distortion, or distorts least
at a given leak; ``transform(public)`` releases. Every release of one person adds to what is known
about them, so ``ReleaseOnce`` draws once for each person and repeats the answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

import numpy as np

from reticent.errors import MissingExtra, ParameterError, require
from reticent.mechanisms.mapping import ProfileMapping
from reticent.noise import Source
from reticent.optim.distances import Distance, distance_matrix, hamming, squared_euclidean
from reticent.optim.mapping import Channel, Problem, Progress, Solution, information
from reticent.optim.mapping_newton import solve_mapping

try:
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    raise MissingExtra("learning a mapping", "learn") from None

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Measure: TypeAlias = "Literal['hamming', 'squared'] | Callable[[Any, Any], float]"
Unknown: TypeAlias = Literal["nearest", "withhold", "refuse"]
_MOST_FLOORED = 3000  # with a floor every profile may become every other: n^2 chances
_ROUNDS = 12  # of bisection between two distortions
_NAT = 1 / math.log(2)  # bits


@dataclass(frozen=True, slots=True, eq=False)
class Alphabet:
    """The distinct profiles and secrets of a table, and how often they go together."""

    profiles: NDArray[Any]
    secrets: NDArray[Any]
    counts: NDArray[np.int64]  # [secret, profile]

    @classmethod
    def of(cls, public: NDArray[Any], private: NDArray[Any]) -> Alphabet:
        """Count pairs; several private columns are one secret, their combination."""
        profiles, which = _distinct(public)
        secrets, kind = _distinct(private.reshape(len(private), -1))
        counts = np.zeros((len(secrets), len(profiles)), dtype=np.int64)
        np.add.at(counts, (kind, which), 1)
        return cls(profiles, secrets, counts)

    def only(self, kept: NDArray[np.int64]) -> Alphabet:
        """Some of the profiles."""
        return Alphabet(self.profiles[kept], self.secrets, self.counts[:, kept])


class SparseMapping(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Release profiles from which a secret cannot be inferred well, changing them little.

    Give ``delta``, the distortion that is allowed on average (least leak), or ``leak_bits``, what
    may leak on average (least distortion); a sequence of limits, one per private column, limits
    each column's leak. A row outside the alphabet stands for the nearest profile; with ``unknown``
    "withhold" or "refuse" one beyond ``radius`` is released as None or is an error, and either
    tells that it was unknown. ``epsilon`` adds a worst-case floor: with that local-DP epsilon, at a
    price that ``cost_of_epsilon_`` states.

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
        measure: Measure = "hamming",
        column_weights: Sequence[float] | None = None,
        epsilon: float | None = None,
        unknown: Unknown = "nearest",
        radius: float = math.inf,
        relative_gap: float = 1e-3,
        seconds: float = math.inf,
        source: Source | None = None,
        secret: str = "the private columns",  # noqa: S107, what a card calls it
    ) -> None:
        self.delta = delta
        self.leak_bits = leak_bits
        self.measure = measure
        self.column_weights = column_weights
        self.epsilon = epsilon
        self.unknown = unknown
        self.radius = radius
        self.relative_gap = relative_gap
        self.seconds = seconds
        self.source = source
        self.secret = secret

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
        self._check_parameters()
        distance = self._distance(alphabet.profiles)
        joint = alphabet.counts / alphabet.counts.sum()
        solution = self._solve(joint, alphabet, distance, progress)
        channel = solution.channel
        self.cost_of_epsilon_ = 0.0
        if self.epsilon is not None:
            channel = floored(channel, float(self.epsilon))
            self.cost_of_epsilon_ = _distortion(channel, joint, distance) - solution.distortion
        self.n_features_in_ = alphabet.profiles.shape[1]
        self.alphabet_, self.distance_, self.solution_ = alphabet, distance, solution
        self.mechanism_ = ProfileMapping.of(
            channel,
            joint,
            distance,
            secret=self.secret,
            prior=f"counts of {int(alphabet.counts.sum())} people",
            unit_of_distortion=_UNITS.get(str(self.measure), "distance"),
        )
        self.leak_bits_, self.distortion_ = self.mechanism_.bits, self.mechanism_.distortion
        self.untouched_bits_, self.corrected_bits_ = corrected_bits(alphabet.counts)
        return self

    def transform(self, X: ArrayLike) -> NDArray[Any]:  # noqa: N803
        """Release each row once; what is outside the alphabet by the rule ``unknown``."""
        check_is_fitted(self)
        public = _table(self, X, reset=False)
        source = Source.system() if self.source is None else self.source
        places = self.places(public)
        drawn = self.mechanism_.release_many(np.maximum(places, 0), source)
        released = self.alphabet_.profiles[drawn]
        if (places < 0).any():
            released = released.astype(object)
            released[places < 0] = None
        return np.asarray(released)

    def places(self, public: NDArray[Any]) -> NDArray[np.int64]:
        """The profile of the alphabet that each row stands for, or -1 where it is withheld."""
        known = {tuple(row): place for place, row in enumerate(self.alphabet_.profiles.tolist())}
        rows = [tuple(row) for row in public.tolist()]
        places = np.array([known.get(row, -1) for row in rows], dtype=np.int64)
        for j in np.flatnonzero(places < 0).tolist():
            far = self._to_all(public[j])
            best = int(np.argmin(far))
            if self.unknown != "withhold" or far[best] <= self.radius:
                places[j] = best
            if self.unknown == "refuse" and far[best] > self.radius:
                raise ParameterError("X", "profiles within the declared radius", "another one")
        return places

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn should know: it is random, and reads categories."""
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.target_tags.required = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _check_parameters(self) -> None:
        one = (self.delta is None) is not (self.leak_bits is None)
        require(one, "delta", self.delta, "given, or leak_bits given instead")
        if self.delta is not None:
            require(0 <= self.delta < math.inf, "delta", self.delta, "at least 0 and finite")
        if self.epsilon is not None:
            require(0 < self.epsilon < math.inf, "epsilon", self.epsilon, "positive and finite")
        rules = ("nearest", "withhold", "refuse")
        require(self.unknown in rules, "unknown", self.unknown, ", ".join(rules))

    def _distance(self, profiles: NDArray[Any]) -> Distance:
        if callable(self.measure):
            return distance_matrix(self.measure, list(profiles))
        if self.measure == "squared":
            return squared_euclidean(profiles)
        require(self.measure == "hamming", "measure", self.measure, "hamming, squared or callable")
        return hamming(profiles, weights=self.column_weights)

    def _to_all(self, row: NDArray[Any]) -> NDArray[np.float64]:
        """Distances of one row outside the alphabet to all profiles in it."""
        profiles = self.alphabet_.profiles
        if callable(self.measure):
            return np.array([self.measure(row, other) for other in profiles])
        if self.measure == "squared":
            return np.asarray(((profiles.astype(float) - row.astype(float)) ** 2).sum(axis=1))
        weights = np.ones(len(row)) if self.column_weights is None else self.column_weights
        return np.asarray((profiles != row) @ (np.asarray(weights) / np.sum(weights)))

    def _solve(
        self,
        joint: NDArray[np.float64],
        alphabet: Alphabet,
        distance: Distance,
        progress: Progress | None,
    ) -> Solution:
        limits: dict[str, Any] = {
            "relative_gap": self.relative_gap,
            "seconds": self.seconds,
            "progress": progress,
        }
        if self.delta is not None:
            return solve_mapping(Problem.of(joint, distance, float(self.delta)), **limits)
        bits = np.atleast_1d(np.asarray(self.leak_bits, dtype=np.float64))
        good = bool(np.isfinite(bits).all() and (bits >= 0).all())
        require(good, "leak_bits", self.leak_bits, "not negative")
        columns = alphabet.secrets.shape[1]
        require(bits.size in (1, columns), "leak_bits", bits.size, f"one limit or {columns}")
        return _least_distortion(joint, alphabet.secrets, distance, bits, limits)


_UNITS = {"hamming": "share of attributes changed", "squared": "squared distance"}


def leaks(
    channel: Channel, joint: NDArray[np.float64], secrets: NDArray[Any]
) -> NDArray[np.float64]:
    """Bits that leak about each private column, [one per column]."""
    moments, found = channel.moments(joint), []
    for column in range(secrets.shape[1]):
        values, kind = np.unique(secrets[:, column], return_inverse=True)
        merged = np.zeros((len(moments), len(values)))
        for a, k in enumerate(kind.reshape(-1).tolist()):
            merged[:, k] += moments[:, a]
        found.append(information(merged, merged.sum(axis=0)) * _NAT)
    return np.array(found)


def leak_under(mapping: ProfileMapping, joint: NDArray[np.float64]) -> float:
    """Bits that the mapping leaks under another joint law, as that of people held out."""
    law = joint / joint.sum()
    return information(mapping.channel.moments(law), np.asarray(law.sum(axis=1))) * _NAT


def corrected_bits(counts: NDArray[np.int64]) -> tuple[float, float]:
    """I(A; B) of counts in bits: as they are, and less the bias that small counts make.

    The plug-in estimate is too large by about (cells - rows - columns + 1) / 2n nats, where cells,
    rows and columns are those that occur; at least 0.
    """
    law = counts / counts.sum()
    plain = information(law.T, np.asarray(law.sum(axis=1)))
    cells = int((counts > 0).sum())
    rows, columns = int(counts.any(axis=1).sum()), int(counts.any(axis=0).sum())
    bias = (cells - rows - columns + 1) / (2 * counts.sum())
    return plain * _NAT, max(0.0, plain - bias) * _NAT


def _least_distortion(
    joint: NDArray[np.float64],
    secrets: NDArray[Any],
    distance: Distance,
    bits: NDArray[np.float64],
    limits: dict[str, Any],
) -> Solution:
    """Bisection on Delta: the leak falls with it. One limit is on all columns together."""

    def within(solution: Solution) -> bool:
        if bits.size == 1:
            return solution.leak * _NAT <= float(bits[0])
        return bool((leaks(solution.channel, joint, secrets) <= bits).all())

    best = solve_mapping(Problem.of(joint, distance, 0.0), **limits)
    if within(best):
        return best
    low, high, found = 0.0, 1e-3, None
    while found is None:
        tried = solve_mapping(Problem.of(joint, distance, high), **limits)
        if within(tried):
            found = tried
        elif tried.distortion < 0.9 * high:  # more distortion does not help any more
            raise ParameterError(
                "leak_bits", f"at least {tried.leak * _NAT:.3g}, what the solver reaches", bits[0]
            )
        else:
            low, high = high, 2 * high
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        tried = solve_mapping(Problem.of(joint, distance, middle), **limits)
        if within(tried):
            found, high = tried, middle
        else:
            low = middle
    return found


def floored(channel: Channel, epsilon: float) -> Channel:
    """Mixed with a uniform choice until no output tells two profiles apart by more than epsilon.

    With share s of uniform chances, chances lie in [s/n, 1 - s + s/n]: their ratio is e^epsilon at
    s = n / (n - 1 + e^epsilon).
    """
    n = len(channel.starts) - 1
    require(n <= _MOST_FLOORED, "epsilon", epsilon, f"left out for over {_MOST_FLOORED} profiles")
    share = n / (n - 1 + math.exp(min(epsilon, 700.0)))
    table = (1 - share) * channel.dense() + share / n
    return Channel(np.arange(n + 1) * n, np.tile(np.arange(n), n), table.T.reshape(-1))


def _distortion(channel: Channel, joint: NDArray[np.float64], distance: Distance) -> float:
    mass = joint.sum(axis=0)[channel.inputs]
    return float(mass @ (channel.chances * channel.distances(distance)))


@dataclass(slots=True, eq=False)
class ReleaseOnce:
    """One draw per person: asked again, the first answer is repeated, whatever the profile is now.

    ``store`` may be any mapping that outlives the program.
    """

    mapping: SparseMapping
    store: MutableMapping[Hashable, Any] = field(default_factory=dict)

    def release(self, person: Hashable, profile: Sequence[Any]) -> tuple[Any, ...]:
        """The released profile of a person."""
        if person not in self.store:
            row = np.empty((1, len(profile)), dtype=object)
            row[0] = list(profile)
            self.store[person] = tuple(self.mapping.transform(row)[0])
        return tuple(self.store[person])


def _distinct(table: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Distinct rows in order, and the number of each row's; also for columns of mixed types."""
    if table.dtype != object:
        rows, which = np.unique(table, axis=0, return_inverse=True)
        return rows, which.reshape(-1)
    places: dict[tuple[Any, ...], int] = {}
    which = np.array([places.setdefault(tuple(row), len(places)) for row in table.tolist()])
    rows = np.empty((len(places), table.shape[1]), dtype=object)
    for row, place in places.items():
        rows[place] = row
    return rows, which


def _table(estimator: SparseMapping, X: ArrayLike, *, reset: bool) -> NDArray[Any]:  # noqa: N803
    return np.asarray(validate_data(estimator, X, reset=reset, dtype=None, ensure_all_finite=True))
