"""What a mapping tells on average, recomputed in rationals, beside what it claims.

Theory    docs/theory/mapping.md, Theorem 5 (integer rows), Theorem 7 (guess rate, maximal leakage)
Notation  x_ij = p(output i | input j), P(a, j) = p(secret a, input j), q_i(a) = sum_j P(a, j) x_ij
Not here  worst cases over pairs of inputs (exact.py), how a mapping is found (optim/).

Logarithms are enclosed; what is shown is the upper end, and a claim holds only if that end does not
exceed it by more than ``SLACK``, which is what figures computed in floats may be off by.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

from reticent.errors import require
from reticent.noise.enclosure import log_above, log_below
from reticent.rational import Number, rational

if TYPE_CHECKING:
    from reticent.mechanisms.mapping import ProfileMapping

Table: TypeAlias = Mapping[Any, Mapping[Any, Fraction]]
"""p(output | input) by input, or p(secret, input) by secret."""

SLACK = Fraction(1, 10**12)
_BITS = 160


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of a mapping: its value, exact or enclosed from above, and its claim."""

    name: str
    value: Fraction
    claim: Fraction | None

    @property
    def holds(self) -> bool:
        """Whether nothing more is claimed than is so; a figure without a claim always holds."""
        return self.claim is None or self.value <= self.claim + SLACK

    @property
    def shown(self) -> str:
        """To 12 decimals."""
        plain = f"{Decimal(round(self.value * 10**12)).scaleb(-12):f}"
        return plain.rstrip("0").rstrip(".") if "." in plain else plain


def verify_leak(
    rows: Table,
    joint: Table,
    *,
    claims: Mapping[str, Number],
    distance: Mapping[tuple[Any, Any], Fraction] | None = None,
) -> tuple[Figure, ...]:
    """Recompute what ``rows`` tell about the secret of ``joint``, beside ``claims``.

    Figures are ``bits`` on average, ``maximal_bits``, ``guesses`` after the release and, if there
    is a distance, ``distortion``.

    >>> half = {x: {0: Fraction(1, 2), 1: Fraction(1, 2)} for x in (0, 1)}
    >>> law = {"a": {0: Fraction(1, 2)}, "b": {1: Fraction(1, 2)}}
    >>> [(figure.name, figure.shown) for figure in verify_leak(half, law, claims={"bits": 0})]
    [('bits', '0'), ('maximal_bits', '0'), ('guesses', '0.5')]
    """
    _check(rows, joint)
    moments = _moments(rows, joint)
    prior = {secret: sum(law.values(), Fraction(0)) for secret, law in joint.items()}
    found = {
        "bits": _information(moments, prior),
        "maximal_bits": _maximal(moments, prior),
        "guesses": sum((max(of.values()) for of in moments.values()), Fraction(0)),
    }
    if distance is not None:
        found["distortion"] = sum(
            (
                chance * x * distance[inside, out]
                for law in joint.values()
                for inside, chance in law.items()
                for out, x in rows[inside].items()
            ),
            Fraction(0),
        )
    unknown = [name for name in claims if name not in found]
    require(not unknown, "claims", unknown, f"of {', '.join(found)}")
    return tuple(
        Figure(name, value, rational(claims[name], "claim") if name in claims else None)
        for name, value in found.items()
    )


def mapping_tables(
    mapping: ProfileMapping,
) -> tuple[Table, Table, Mapping[tuple[Any, Any], Fraction]]:
    """Rows, joint law and distances of a mapping, exactly as it holds them."""
    law = mapping.law
    require(law is not None, "mapping", "one learnt from people", "of a declared joint law")
    assert law is not None  # noqa: S101, for the type checker
    rows: dict[Any, dict[Any, Fraction]] = {}
    distance: dict[tuple[Any, Any], Fraction] = {}
    starts, outs = mapping.starts.tolist(), mapping.outs.tolist()
    parts, far = mapping.parts.tolist(), law.far.tolist()
    for j, (low, high) in enumerate(pairwise(starts)):
        rows[j] = {outs[e]: Fraction(parts[e], 1 << 62) for e in range(low, high)}
        distance |= {(j, outs[e]): Fraction(far[e]) for e in range(low, high)}
    exact = [[Fraction(chance) for chance in row] for row in law.joint.tolist()]
    total = sum((chance for row in exact for chance in row), Fraction(0))
    joint = {
        a: {j: chance / total for j, chance in enumerate(row) if chance}
        for a, row in enumerate(exact)
    }
    return rows, {a: row for a, row in joint.items() if row}, distance


def _check(rows: Table, joint: Table) -> None:
    for law in rows.values():
        proper = sum(law.values(), Fraction(0)) == 1 and min(law.values()) >= 0
        require(proper, "rows", "another sum", "probabilities that sum to 1 in each row")
    chances: Sequence[Fraction] = [p for law in joint.values() for p in law.values()]
    proper = sum(chances, Fraction(0)) == 1 and min(chances) >= 0
    require(proper, "joint", "another sum", "probabilities that sum to 1")
    known = all(inside in rows for law in joint.values() for inside in law)
    require(known, "joint", "another input", "of inputs that have a row")


def _moments(rows: Table, joint: Table) -> dict[Any, dict[Any, Fraction]]:
    found: dict[Any, dict[Any, Fraction]] = {}
    for secret, law in joint.items():
        for inside, chance in law.items():
            for out, x in rows[inside].items():
                if chance * x:
                    of = found.setdefault(out, {})
                    of[secret] = of.get(secret, Fraction(0)) + chance * x
    return found


def _information(
    moments: Mapping[Any, Mapping[Any, Fraction]], prior: Mapping[Any, Fraction]
) -> Fraction:
    """The upper end of sum q_i(a) log2(q_i(a) / (p(a) q_i))."""
    nats = Fraction(0)
    for of in moments.values():
        whole = sum(of.values(), Fraction(0))
        for secret, q in of.items():
            ratio = q / (prior[secret] * whole)
            nats += q * log_above(ratio, _BITS) if ratio != 1 else 0
    return _in_bits(nats)


def _maximal(
    moments: Mapping[Any, Mapping[Any, Fraction]], prior: Mapping[Any, Fraction]
) -> Fraction:
    total = sum((max(q / prior[a] for a, q in of.items()) for of in moments.values()), Fraction(0))
    return _in_bits(log_above(total, _BITS)) if total != 1 else Fraction(0)


def _in_bits(nats: Fraction) -> Fraction:
    # information is never negative; its upper end can be, by the width of the enclosure
    return max(nats, Fraction(0)) / log_below(Fraction(2), _BITS)
