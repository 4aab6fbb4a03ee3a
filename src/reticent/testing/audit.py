"""Audits: a lower bound on the epsilon a mechanism really has, from its outputs alone.

Theory    docs/theory/auditing.md, Theorem 1 (audit bound); [ClopperPearson1934],
          [DingEtAl2018], [JagielskiEtAl2020]
Notation  P, Q = laws of the output on two neighbours, S = an event, p = P(S), q = Q(S)
Not here  proofs that a loss is at most something (exact.py); an audit only finds that it is more.

Events are picked on one part of the samples, a fifth, and bounded on the rest, so that the pick
costs no confidence. A view such as the fineness of a float is post-processing: what is lost by it
was lost by the output.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy import special

from reticent.errors import ParameterError, require
from reticent.rational import Number, rational, whole

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Outputs: TypeAlias = NDArray[Any]

Draw: TypeAlias = "Callable[[int], ArrayLike]"
"""Draws n independent outputs on fixed data."""

Profile: TypeAlias = Mapping[str, int]

_MOST_THRESHOLDS = 4096


@dataclass(frozen=True, slots=True)
class Audit:
    """A lower bound on epsilon, right with probability ``confidence``, beside what was claimed."""

    bound: float
    claim: Fraction
    event: str
    samples: int
    confidence: float
    hits: tuple[int, int]

    @property
    def violated(self) -> bool:
        """Whether the claim is refuted, at the stated confidence."""
        return self.bound > self.claim

    def __str__(self) -> str:
        verdict = "VIOLATED" if self.violated else "not refuted"
        return (
            f"epsilon >= {self.bound:.4f} by the event {self.event} "
            f"({self.hits[0]} against {self.hits[1]} times); claim {float(self.claim):g} {verdict}"
        )


@dataclass(frozen=True, slots=True)
class ItemAudits:
    """One audit per item of a profile, each against the item's own claim."""

    items: Mapping[str, Audit]

    @property
    def violated(self) -> tuple[str, ...]:
        """The items whose claim is refuted."""
        return tuple(item for item, audit in self.items.items() if audit.violated)

    def __str__(self) -> str:
        return "\n".join(f"{item}: {audit}" for item, audit in self.items.items())


def audit_epsilon(
    draw_a: Draw, draw_b: Draw, *, samples: int, claim: Number, confidence: float = 0.9999
) -> Audit:
    """Bound the epsilon between two neighbours from below, with ``samples`` draws on each.

    Events are all thresholds of numbers, single values, and for floats how fine they are. Each
    call of a draw must be independent of the one before, so do not start a source anew in it.

    >>> import numpy as np
    >>> from reticent.mechanisms import DiscreteLaplace
    >>> from reticent.noise import Source
    >>> def draw(count):
    ...     source = Source.system()
    ...     def released(n):
    ...         return DiscreteLaplace(epsilon=1, size=n).release(np.full(n, count), source).value
    ...     return released
    >>> audit_epsilon(draw(0), draw(1), samples=2000, claim=1).violated
    False
    """
    fifth = whole(samples, "samples", least=5) // 5
    rest = samples - fifth
    exact = rational(claim, "claim")
    require(exact >= 0, "claim", claim, "finite and not negative")
    require(0 < confidence < 1, "confidence", confidence, "between 0 and 1")
    event = _pick(_outputs(draw_a, fifth), _outputs(draw_b, fifth), 1 - confidence)
    hits = event.count(_outputs(draw_a, rest)), event.count(_outputs(draw_b, rest))
    likelier, rarer = hits if event.first else hits[::-1]
    bound = _log_ratio(likelier, rarer, rest, (1 - confidence) / 2)
    return Audit(bound, exact, str(event), samples, confidence, hits)


def audit_items(
    release: Callable[[Profile, int], ArrayLike],
    profile: Profile,
    claims: Mapping[str, Number],
    *,
    samples: int,
    confidence: float = 0.9999,
) -> ItemAudits:
    """Flip each item of a 0/1 profile in turn and audit it against its own claim.

    ``release(profile, n)`` draws n outputs. An item that must not matter has claim 0. The
    confidence holds for all items together.
    """
    if set(profile) != set(claims) or not profile:
        raise ParameterError("claims", "one epsilon for each item of the profile", len(claims))
    each = 1 - (1 - confidence) / len(profile)
    audits = {
        item: audit_epsilon(
            lambda n: release(profile, n),
            lambda n, item=item: release(_flipped(profile, item), n),  # type: ignore[misc]
            samples=samples,
            claim=claims[item],
            confidence=each,
        )
        for item in profile
    }
    return ItemAudits(MappingProxyType(audits))


@dataclass(frozen=True, slots=True)
class _Event:
    view: str
    relation: str
    value: Any
    first: bool  # whether it is the more likely under the first law

    def count(self, outputs: Outputs) -> int:
        seen = _VIEWS[self.view](outputs)
        return int(np.count_nonzero(_RELATIONS[self.relation](seen, self.value)))

    def __str__(self) -> str:
        return f"{self.view} {self.relation} {self.value}"


def _itself(outputs: Outputs) -> Outputs:
    """The outputs, with NaN as the largest number so that thresholds see it."""
    return np.where(np.isnan(outputs), np.inf, outputs) if outputs.dtype.kind == "f" else outputs


def _fineness(outputs: Outputs) -> Outputs:
    """The exponent of the lowest bit that is set in each float, as in [HaneyEtAl2022]."""
    mantissa, exponent = np.frexp(np.where(np.isfinite(outputs), outputs, 0.0))
    scaled = np.abs(np.ldexp(mantissa, 53)).astype(np.int64)
    lowest = np.frexp((scaled & -scaled).astype(np.float64))[1]
    return np.asarray(np.where(scaled == 0, 2000, exponent + lowest - 54), dtype=np.int64)


_VIEWS: Mapping[str, Callable[[Outputs], Outputs]] = MappingProxyType(
    {"output": _itself, "lowest bit of the output": _fineness}
)

_RELATIONS: Mapping[str, Callable[[Outputs, Any], Outputs]] = MappingProxyType(
    {"<=": np.less_equal, ">": np.greater, "=": np.equal}
)


def _outputs(draw: Draw, count: int) -> Outputs:
    outputs = np.asarray(draw(count))
    if outputs.shape != (count,):
        raise ParameterError("draw(n)", f"a vector of n = {count} outputs", outputs.shape)
    return outputs


def _pick(a: Outputs, b: Outputs, risk: float) -> _Event:
    """The event with the largest bound on these samples, over all views and either way round."""
    best, picked = -np.inf, _Event("output", "=", a[0], first=True)
    for view in _VIEWS if a.dtype.kind == "f" else ("output",):
        seen_a, seen_b = _VIEWS[view](a), _VIEWS[view](b)
        values, index = np.unique(np.concatenate([seen_a, seen_b]), return_inverse=True)
        counts_a = np.bincount(index[: a.size], minlength=values.size)
        counts_b = np.bincount(index[a.size :], minlength=values.size)
        for relation, hits_a, hits_b, at in _candidates(values, counts_a, counts_b):
            for first, p, q in ((True, hits_a, hits_b), (False, hits_b, hits_a)):
                scores = _rough_log_ratio(p, q, a.size, risk)
                top = int(scores.argmax())
                if scores[top] > best:
                    best, picked = scores[top], _Event(view, relation, values[at[top]], first)
    return picked


def _candidates(
    values: Outputs, counts_a: NDArray[np.intp], counts_b: NDArray[np.intp]
) -> list[tuple[str, NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]]:
    """Relation, hits under either law, and which value it is with."""
    every = max(1, values.size // _MOST_THRESHOLDS)
    at = np.arange(values.size)[::every]
    singles = ("=", counts_a[at], counts_b[at], at)
    if values.dtype.kind not in "iuf":
        return [singles]
    upto_a, upto_b = np.cumsum(counts_a), np.cumsum(counts_b)
    return [
        ("<=", upto_a[at], upto_b[at], at),
        (">", upto_a[-1] - upto_a[at], upto_b[-1] - upto_b[at], at),
        singles,
    ]


def _rough_log_ratio(
    p_hits: NDArray[np.intp], q_hits: NDArray[np.intp], trials: int, risk: float
) -> NDArray[np.float64]:
    """The bound to expect, by Wilson's approximation, for picking only."""
    z = float(special.ndtri(1 - risk / 2))
    ends = []
    for hits, sign in ((p_hits, -1), (q_hits, 1)):
        share = hits / trials
        spread = z * np.sqrt(share * (1 - share) / trials + z**2 / (4 * trials**2))
        ends.append((share + z**2 / (2 * trials) + sign * spread) / (1 + z**2 / trials))
    return np.asarray(np.log(np.maximum(ends[0], 1e-300) / np.maximum(ends[1], 1e-300)))


def _log_ratio(p_hits: int, q_hits: int, trials: int, risk: float) -> float:
    """max(0, ln(lower end of p / upper end of q)), each end wrong with chance ``risk``."""
    # [ClopperPearson1934]: quantiles of beta laws
    low = float(special.betaincinv(p_hits, trials - p_hits + 1, risk)) if p_hits else 0.0
    high = 1.0
    if q_hits < trials:
        high = float(special.betaincinv(q_hits + 1, trials - q_hits, 1 - risk))
    return max(0.0, float(np.log(low / high))) if low > 0 else 0.0


def _flipped(profile: Profile, item: str) -> dict[str, int]:
    return {**profile, item: 1 - profile[item]}
