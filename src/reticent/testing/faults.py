"""Planted faults, each with an honest twin: what the tools must catch, and what they must not.

Theory    docs/theory/auditing.md, "Controls"
Notation  every claim is epsilon 1 about one unit, unless a fault says otherwise
Not here  the tools. A tool that does not catch its fault has shown nothing when it is silent.

The list follows what was found in public libraries: noise too small, noise in floats, sums without
clamping, bounds and domains read off the data, one budget spent twice, errors on odd values, a
wrong sensitivity, weights that are ignored, selection in floats.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from reticent.guarantees import RECORD_SUBSTITUTE
from reticent.mechanisms import DiscreteLaplace, Exponential, SnappedLaplace
from reticent.noise import Source, discrete_laplace
from reticent.testing.audit import audit_epsilon, audit_items
from reticent.testing.exact import Pair, substitute_pairs, verify_law
from reticent.testing.law import fast_path_disagreements
from reticent.testing.mechanism_laws import law_of
from reticent.testing.replay import replay, replay_poison

Subject: TypeAlias = Callable[..., Any]
"""A release, a law or a sampler, as the tool wants it."""

_CAP = 10  # the declared upper bound of a record


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A fault, its honest twin, and the tool that must tell them apart."""

    name: str
    tool: str
    planted: Subject
    honest: Subject
    flags: Callable[[Subject], bool]

    @property
    def caught(self) -> bool:
        """Whether the tool flags the planted fault and passes the honest twin."""
        return self.flags(self.planted) and not self.flags(self.honest)


def little_noise(counts: Any, source: Source) -> Any:
    """Noise 2 % smaller than epsilon 1 needs."""
    return counts + discrete_laplace(scale=Fraction(98, 100), size=len(counts), source=source)


def enough_noise(counts: Any, source: Source) -> Any:
    """Noise as epsilon 1 needs it."""
    return counts + discrete_laplace(scale=1, size=len(counts), source=source)


def float_laplace(values: Any, source: Source) -> Any:
    """Laplace noise as in textbooks: a logarithm of a uniform double, added to a double."""
    words = source.long_words(len(values))
    sign = np.where(words >> np.uint64(63) == 0, 1.0, -1.0)
    uniform = ((words & np.uint64((1 << 53) - 1)) + 1.0) * 2.0**-53
    return values - sign * np.log(uniform)


def snapped_laplace(values: Any, source: Source) -> Any:
    """The same on a grid."""
    size = len(values)
    mechanism = SnappedLaplace(epsilon=1, size=size, sensitivity=1, lower=0, upper=1, coordinates=1)
    return mechanism.release(values, source).value


def unclamped_sum(records: Any, source: Source) -> Any:
    """A sum that trusts its records to be at most 10."""
    return _noisy_sum(sum(records), source)


def clamped_sum(records: Any, source: Source) -> Any:
    """A sum of records clamped to [0, 10]; what is no number counts as 0."""
    return _noisy_sum(sum(_clamp(record) for record in records), source)


def bounds_from_data(records: Any, source: Source) -> Any:
    """A sum whose noise fits the largest record there is."""
    return sum(records) + discrete_laplace(scale=int(max(records)), size=1, source=source)


def domain_from_data(records: Any, source: Source) -> Any:
    """A histogram with a bin for each value there is."""
    counts = np.unique(np.asarray(records), return_counts=True)[1]
    return counts + discrete_laplace(scale=2, size=counts.size, source=source)


def declared_domain(records: Any, source: Source) -> Any:
    """A histogram over the declared values 0..10."""
    counts = np.bincount([_clamp(record) for record in records], minlength=_CAP + 1)
    return counts + discrete_laplace(scale=2, size=counts.size, source=source)


def double_spend(counts: Any, source: Source) -> Any:
    """Two answers, and the epsilon of one is accounted for."""
    return (enough_noise(counts, source) + enough_noise(counts, source)) / 2


def raising_sum(records: Any, source: Source) -> Any:
    """A clamped sum that refuses records that are no numbers, and says which."""
    for record in records:
        if isinstance(record, float) and math.isnan(record):
            raise ValueError(f"{record} is not a number")
    return clamped_sum(records, source)


def counts_of_two(records: tuple[str, ...], *, sensitivity: int) -> dict[str, Fraction]:
    """The law of a histogram over two values, made for ``sensitivity``."""
    mechanism = DiscreteLaplace(epsilon=1, size=2, sensitivity=sensitivity, unit=RECORD_SUBSTITUTE)
    return law_of(mechanism, reach=2)([records.count("a"), records.count("b")])


def weighted(profile: Mapping[str, int], n: int, source: Source) -> Any:
    """A noisy count in which "shown" counts fully, "half" half and "hidden" not at all."""
    return 2 * profile["shown"] + profile["half"] + _steps(n, source)


def unweighted(profile: Mapping[str, int], n: int, source: Source) -> Any:
    """The same with all items alike."""
    return 2 * sum(profile.values()) + _steps(n, source)


def float_selection(scores: tuple[int, ...]) -> dict[str, Fraction]:
    """The law of the exponential mechanism with weights exp(score / 2) in doubles."""
    weights = [math.exp((score - max(scores)) / 2) for score in scores]
    total = sum(map(Fraction, weights))
    return {f"candidate {i}": Fraction(weight) / total for i, weight in enumerate(weights)}


def exact_selection(scores: tuple[int, ...]) -> dict[str, Fraction]:
    """The law of the exponential mechanism as it is sampled here."""
    return law_of(Exponential(epsilon=1, candidates=len(scores), sensitivity=1))(scores)


def hasty_laplace(*, scale: Fraction, source: Source, size: int | None = None) -> Any:
    """Discrete Laplace noise by double precision alone, with no margin."""
    words = np.array([source.bits(64)], np.uint64) if size is None else source.long_words(size)
    magnitude = np.minimum(words, ~words).astype(np.float64) + 0.5
    shift = math.log1p(math.exp(-1 / scale)) + float(1 / scale)
    y = (64 * math.log(2) - shift - np.log(magnitude)) * float(scale)
    drawn = np.maximum(np.floor(y) + 1, 0).astype(np.int64)
    drawn = np.where(words >> np.uint64(63) == 0, drawn, -drawn)
    return drawn[0] if size is None else drawn


def _audited(release: Subject, samples: int = 2_000_000) -> bool:
    def draws(value: int) -> Callable[[int], Any]:
        source = Source.seeded(value)
        return lambda n: release(np.full(n, value), source)

    return audit_epsilon(draws(0), draws(1), samples=samples, claim=1).violated


def _items_audited(release: Subject) -> bool:
    profile = {"shown": 1, "half": 0, "hidden": 1}
    claims = {"shown": Fraction(1), "half": Fraction(1, 2), "hidden": Fraction(0)}
    source = Source.seeded(2)
    audits = audit_items(
        lambda profile, n: release(profile, n, source), profile, claims, samples=200_000
    )
    return bool(audits.violated)


def _replayed(release: Subject) -> bool:
    return not replay(release, [1, 2, 3, 9], [1, 2, 3, 1000], sensitivity=_CAP, claim=1).same


def _binned(release: Subject) -> bool:
    return not replay(release, [1, 2, 3, 9], [1, 2, 3, 3], sensitivity=2, claim=1).same


def _accounted(release: Subject) -> bool:
    counts, more = np.array([3, 4]), np.array([3, 5])
    return not replay(release, counts, more, sensitivity=1, claim=1).same


def _poisoned(release: Subject) -> bool:
    return not replay_poison(release, [1, 2, 3]).same


def _substituted(law: Subject) -> bool:
    return not verify_law(law, substitute_pairs("ab", size=2), claim=1).holds


def _selected(law: Subject) -> bool:
    ladders = [(0, gap) for gap in range(1480, 1500)]
    return not verify_law(law, [Pair(a, b) for a, b in pairwise(ladders)], claim=1).holds


def _hurried(sampler: Subject) -> bool:
    return fast_path_disagreements(Fraction(37, 10), sampler=sampler) > 0


def _noisy_sum(total: Any, source: Source) -> Any:
    return total + discrete_laplace(scale=_CAP, size=1, source=source)


def _clamp(record: Any) -> int:
    try:
        value = float(record)
    except OverflowError:
        return _CAP if record > 0 else 0
    except (TypeError, ValueError):
        return 0
    return 0 if math.isnan(value) else int(min(max(value, 0), _CAP))


def _steps(n: int, source: Source) -> Any:
    return discrete_laplace(scale=2, size=n, source=source)


FAULTS: tuple[Fault, ...] = (
    Fault(
        name="noise 2 % too small",
        tool="audit_epsilon",
        planted=little_noise,
        honest=enough_noise,
        flags=_audited,
    ),
    Fault(
        name="Laplace noise in floats",
        tool="audit_epsilon",
        planted=float_laplace,
        honest=snapped_laplace,
        flags=lambda release: _audited(release, 100_000),
    ),
    Fault(
        name="sum without clamping",
        tool="replay",
        planted=unclamped_sum,
        honest=clamped_sum,
        flags=_replayed,
    ),
    Fault(
        name="bounds from the data",
        tool="replay",
        planted=bounds_from_data,
        honest=clamped_sum,
        flags=_replayed,
    ),
    Fault(
        name="domain from the data",
        tool="replay",
        planted=domain_from_data,
        honest=declared_domain,
        flags=_binned,
    ),
    Fault(
        name="one budget spent twice",
        tool="replay",
        planted=double_spend,
        honest=enough_noise,
        flags=_accounted,
    ),
    Fault(
        name="error on NaN",
        tool="replay_poison",
        planted=raising_sum,
        honest=clamped_sum,
        flags=_poisoned,
    ),
    Fault(
        name="wrong sensitivity",
        tool="verify_law",
        planted=lambda records: counts_of_two(records, sensitivity=1),
        honest=lambda records: counts_of_two(records, sensitivity=2),
        flags=_substituted,
    ),
    Fault(
        name="weights ignored",
        tool="audit_items",
        planted=unweighted,
        honest=weighted,
        flags=_items_audited,
    ),
    Fault(
        name="selection in floats",
        tool="verify_law",
        planted=float_selection,
        honest=exact_selection,
        flags=_selected,
    ),
    Fault(
        name="noise without a margin",
        tool="fast_path_disagreements",
        planted=hasty_laplace,
        honest=discrete_laplace,
        flags=_hurried,
    ),
)
"""Every planted fault."""
