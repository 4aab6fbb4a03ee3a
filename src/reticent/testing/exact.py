"""Exact verification: the largest loss of a finite mechanism, over all tiny data, in rationals.

Theory    docs/theory/auditing.md, Theorem 2 (exact verification)
Notation  p, q = probabilities of one outcome on two neighbours; the loss is ln(p / q)
Not here  the laws verified (mechanism_laws.py, or yours), bounds from samples (audit.py).

No float takes part: p <= exp(claim) q is decided by enclosing exp(-claim) until it is certain.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import ceil
from typing import Any, Generic, TypeAlias, TypeVar

from reticent.errors import ParameterError, require
from reticent.noise.enclosure import exp_minus, log_above
from reticent.rational import Number, rational, whole

Data = TypeVar("Data")
Record = TypeVar("Record")
LawFunction: TypeAlias = Callable[[Data], Mapping[Any, Fraction]]
"""From data to the probability of each outcome."""

ENCLOSED = Fraction(1, 1 << 150)
"""What a loss may exceed its claim by when laws are right to a relative 2**-200 only."""

_MOST_HELD = 1 << 18  # probabilities of laws that are kept: some hundred megabytes at most


@dataclass(frozen=True, slots=True)
class Pair(Generic[Data]):
    """Two neighbours and the name of the unit in which they differ."""

    a: Data
    b: Data
    unit: Hashable = "any"


@dataclass(frozen=True, slots=True)
class Witness:
    """The outcome that tells the most about two neighbours: probability p on a, q on b."""

    pair: Pair[Any]
    outcome: Any
    p: Fraction
    q: Fraction
    claim: Fraction

    @property
    def loss(self) -> str:
        """ln(p / q) to 12 decimals, rounded up."""
        if self.q == 0:
            return "infinite"
        trillionths = ceil(log_above(self.p / self.q, 128) * 10**12)
        return f"{Decimal(trillionths).scaleb(-12):f}"


@dataclass(frozen=True, slots=True)
class Verification:
    """The worst case found over all pairs, per unit, and every unit whose claim is broken."""

    worst: Mapping[Hashable, Witness]
    broken: tuple[Hashable, ...]
    pairs: int

    @property
    def holds(self) -> bool:
        """Whether no outcome on any pair loses more than was claimed."""
        return not self.broken

    def explain(self) -> str:
        """The worst case of each unit, in words."""
        lines = [f"{self.pairs} pairs of neighbours, all outcomes"]
        for unit, witness in self.worst.items():
            verdict = "BROKEN" if unit in self.broken else "holds"
            lines.append(
                f"{unit}: loss {witness.loss}, claim {float(witness.claim):.12g} {verdict}; worst "
                f"at outcome {witness.outcome!r} on {witness.pair.a!r} against {witness.pair.b!r}"
            )
        return "\n".join(lines)


def verify_law(
    law: LawFunction[Data],
    pairs: Iterable[Pair[Data]],
    *,
    claim: Number | Mapping[Hashable, Number],
    tolerance: Fraction = ENCLOSED,
) -> Verification:
    """Compare the loss of every outcome on every pair, both ways, with ``claim``.

    ``claim`` is one epsilon, or one for each unit that pairs name. Laws that are exact rationals
    can be held to ``tolerance=0``.

    >>> truth = Fraction(3, 4)
    >>> def response(bit): return {bit: truth, 1 - bit: 1 - truth}
    >>> verify_law(response, [Pair(0, 1)], claim="1.0987").holds
    True
    >>> verify_law(response, [Pair(0, 1)], claim="1.0986").holds
    False
    """
    worst: dict[Hashable, Witness] = {}
    known = _Known(law)
    count = 0
    for pair in pairs:
        count += 1
        claimed = _claim_of(pair.unit, claim)
        for one, other in ((pair.a, pair.b), (pair.b, pair.a)):
            witness = _worst(
                known.law_on(one),
                known.law_on(other),
                Pair(one, other, pair.unit),
                claimed,
            )
            if pair.unit not in worst or _exceeds(witness, worst[pair.unit]):
                worst[pair.unit] = witness
    require(count > 0, "pairs", "none", "at least one pair of neighbours")
    broken = tuple(u for u, witness in worst.items() if not _within(witness, tolerance))
    return Verification(worst, broken, count)


def databases(values: Sequence[Record], *, most: int) -> Iterator[tuple[Record, ...]]:
    """All databases of at most ``most`` records drawn from ``values``, order set aside."""
    for size in range(whole(most, "most", least=0) + 1):
        yield from combinations_with_replacement(values, size)


def add_remove_pairs(values: Sequence[Record], *, most: int) -> Iterator[Pair[tuple[Record, ...]]]:
    """Every database of at most ``most`` records with every one that has one record less."""
    for database in databases(values, most=most):
        for i in range(len(database)):
            yield Pair(database, database[:i] + database[i + 1 :], "record")


def substitute_pairs(values: Sequence[Record], *, size: int) -> Iterator[Pair[tuple[Record, ...]]]:
    """Every database of ``size`` records with every one in which a record is replaced."""
    for database in product(values, repeat=whole(size, "size", least=1)):
        for i, other in product(range(size), values):
            if other != database[i]:
                yield Pair(database, (*database[:i], other, *database[i + 1 :]), "record")


def profile_pairs(items: Sequence[str]) -> Iterator[Pair[tuple[int, ...]]]:
    """Every 0/1 profile over ``items`` with one item turned on, named by that item."""
    require(len(items) > 0, "items", "none", "at least one name")
    for profile in product((0, 1), repeat=len(items)):
        for i, item in enumerate(items):
            if profile[i] == 0:
                yield Pair(profile, (*profile[:i], 1, *profile[i + 1 :]), item)


def _claim_of(unit: Hashable, claim: Number | Mapping[Hashable, Number]) -> Fraction:
    if not isinstance(claim, Mapping):
        exact = rational(claim, "claim")
    elif unit in claim:
        exact = rational(claim[unit], "claim")
    else:
        raise ParameterError("claim", "one epsilon for each unit", f"none for {unit!r}")
    require(exact >= 0, "claim", exact, "not negative")
    return exact


class _Known:
    """Laws that were computed, the oldest forgotten: a large domain needs no more memory."""

    __slots__ = ("_held", "_law", "_laws")

    def __init__(self, law: LawFunction[Any]) -> None:
        self._law, self._laws, self._held = law, dict[Any, Mapping[Any, Fraction]](), 0

    def law_on(self, data: Any) -> Mapping[Any, Fraction]:
        if data not in self._laws:
            found = self._law(data)
            total = sum(found.values(), Fraction(0))
            proper = abs(total - 1) < ENCLOSED and min(found.values()) >= 0
            require(proper, "law(data)", float(total), "probabilities that sum to 1")
            self._laws[data] = found
            self._held += len(found)
            while self._held > _MOST_HELD and len(self._laws) > 2:
                self._held -= len(self._laws.pop(next(iter(self._laws))))
            return found
        return self._laws[data]


def _worst(
    on_a: Mapping[Any, Fraction], on_b: Mapping[Any, Fraction], pair: Pair[Any], claim: Fraction
) -> Witness:
    nothing = Fraction(0)
    best, above, below = None, 0, 1  # p / q of the best so far
    for outcome, p in on_a.items():
        if not p:
            continue
        q = on_b.get(outcome, nothing)
        # whole numbers: products of fractions would be reduced each time
        up, down = p.numerator * q.denominator, q.numerator * p.denominator
        if best is None or up * below > above * down:
            best, above, below = outcome, up, down
    return Witness(pair, best, on_a[best], on_b.get(best, nothing), claim)


def _exceeds(one: Witness, other: Witness) -> bool:
    left = one.p.numerator * other.q.numerator * other.p.denominator * one.q.denominator
    right = other.p.numerator * one.q.numerator * one.p.denominator * other.q.denominator
    return left > right


def _within(witness: Witness, tolerance: Fraction) -> bool:
    """Whether p exp(-claim) <= q, with more bits until it is certain."""
    if not witness.q:  # no claim allows it, and a large one has no exponential in few bits
        return not witness.p
    bits = 256
    while True:
        lower, upper = exp_minus(witness.claim + tolerance, bits)
        if witness.p * upper <= witness.q:
            return True
        if witness.p * lower > witness.q:
            return False
        bits *= 2
