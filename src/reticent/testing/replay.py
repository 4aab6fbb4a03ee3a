"""Record and replay: run a release on two neighbours with equal bits, and see what moves.

Theory    docs/theory/auditing.md, Theorem 3 (replay); [CebereEtAl2026]
Notation  D = declared sensitivity, in steps of the noise; t = scale and c = rate of a primitive
Not here  whether the noise has its law (law.py); whether the loss is small (exact.py, audit.py).

With equal bits every primitive returns equal noise. So the primitives called, their public
arguments, the bits drawn, the event, warnings and errors must be the same on neighbours, and the
outputs may differ by the sensitivity and no more.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Any, TypeAlias, TypeVar

import numpy as np

from reticent.guarantees import Event
from reticent.mechanisms import Release
from reticent.noise import Source
from reticent.rational import Number, rational
from reticent.testing.sources import Call, RecordingSource

Data = TypeVar("Data")
ReleaseFunction: TypeAlias = Callable[[Data, Source], object]
"""Releases data with a source: a bound ``mechanism.release``, a task, a command."""

POISON: tuple[tuple[str, object], ...] = (
    ("NaN", float("nan")),
    ("infinity", float("inf")),
    ("minus infinity", float("-inf")),
    ("minus zero", -0.0),
    ("least subnormal", 5e-324),
    ("large subnormal", 2.2e-308),
    ("1e308", 1e308),
    ("-1e308", -1e308),
    ("2**53 + 1", 2**53 + 1),
    ("-2**63", -(2**63)),
    ("2**64", 2**64),
    ("10**400", 10**400),
    ("empty text", ""),
    ("text", "seven"),
    ("text of a number", "1e400"),
    ("text with a NUL", "1\x00"),
    ("lone surrogate", "\ud800"),
    ("bytes", b"\xff"),
    ("None", None),
    ("true", True),
    ("complex", 1 + 2j),
    ("tuple", (1, 2)),
    ("list", [1]),
    ("array", np.array([1.0])),
    ("signalling NaN", Decimal("sNaN")),
    ("10**400 / 3", Fraction(10**400, 3)),
    ("no time", np.datetime64("NaT", "s")),
    ("mapping", MappingProxyType({"a": [1]})),
    ("object", object()),
)
"""Values that no profile or table should hold and that one will, with a name for each."""


@dataclass(frozen=True, slots=True)
class Replay:
    """What moved between two neighbours that must not, in words; empty when nothing did."""

    divergences: tuple[str, ...]
    calls: tuple[Call, ...]
    difference: Fraction | None

    @property
    def same(self) -> bool:
        """Whether control flow, arguments, errors and sensitivity are all as they should be."""
        return not self.divergences

    def explain(self) -> str:
        """The divergences, one per line, or what was compared."""
        if self.divergences:
            return "\n".join(self.divergences)
        moved = "" if self.difference is None else f"; outputs differ by {float(self.difference):g}"
        return f"the same {len(self.calls)} primitives with the same arguments{moved}"


def replay(
    release: ReleaseFunction[Data],
    data: Data,
    neighbour: Data,
    *,
    seed: int = 0,
    sensitivity: Number | None = None,
    step: Number = 1,
    claim: Number | None = None,
) -> Replay:
    """Run ``release`` on both with equal bits and compare all that can be seen.

    Given the ``sensitivity`` in steps of the noise, and the size of a ``step`` in the output, the
    outputs may differ by no more (sum of absolute values). Given a ``claim`` too, the primitives
    that were called may not cost more: D/t for Laplace noise, 2 c D for a selection.

    >>> from reticent.mechanisms import DiscreteLaplace
    >>> mechanism = DiscreteLaplace(epsilon=1, size=2)
    >>> replay(mechanism.release, [3, 4], [3, 5], sensitivity=1, claim=1).explain()
    'the same 1 primitives with the same arguments; outputs differ by 1'
    """
    a, b = _run(release, data, seed), _run(release, neighbour, seed)
    difference = _difference(a.value, b.value)
    divergences = [*_compare(a, b)]
    if sensitivity is not None:
        exact = rational(sensitivity, "sensitivity")
        divergences += _exceeded(difference, exact * rational(step, "step"))
        if claim is not None:
            divergences += _overspent(a.calls, exact, rational(claim, "claim"))
    return Replay(tuple(divergences), a.calls, difference)


def replay_poison(
    release: ReleaseFunction[list[object]], data: Sequence[object], *, seed: int = 0
) -> Replay:
    """Replay clean data against every poisoned variant of it; divergences name the poison.

    Where a number is released for each value, one that was not poisoned may not move: how a value
    is read must not depend on the others.
    """
    clean = _run(release, list(data), seed)
    divergences = []
    for name, variant in poisoned(data):
        run = _run(release, variant, seed)
        kept = [i for i, value in enumerate(variant) if value is data[i]]
        found = [*_compare(clean, run), *_moved(clean.value, run.value, kept, len(data))]
        divergences += [f"{name}: {divergence}" for divergence in found]
    return Replay(tuple(divergences), clean.calls, None)


def poisoned(data: Sequence[object]) -> Iterator[tuple[str, list[object]]]:
    """Variants of ``data``, of the same length, with their names."""
    for name, poison in POISON:
        for i in sorted({0, len(data) - 1}):
            variant = list(data)
            variant[i] = poison
            yield f"{name} at {i}", variant
        yield f"{name} throughout", [poison] * len(data)
    yield "duplicates", [data[0]] * len(data)
    yield "mixture", [POISON[i % len(POISON)][1] for i in range(len(data))]


@dataclass(frozen=True, slots=True)
class _Run:
    """One run: what was called, drawn, released, warned of and raised."""

    calls: tuple[Call, ...]
    drawn: int
    value: object
    event: Event | None
    warned: tuple[str, ...]
    ended: str


def _run(release: ReleaseFunction[Data], data: Data, seed: int) -> _Run:
    source = RecordingSource(seed=seed)
    value: object = None
    ended = "returns"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value = release(data, source)
        except SystemExit as leaving:
            ended = f"exits with {leaving.code!r}"
        except Exception as error:  # whatever it is, it must be the same on both
            ended = f"raises {type(error).__name__}: {error}"
    event = value.event if isinstance(value, Release) else None
    value = value.value if isinstance(value, Release) else value
    warned = tuple(f"{w.category.__name__}: {w.message}" for w in caught)
    return _Run(source.calls, source.drawn, value, event, warned, ended)


def _compare(a: _Run, b: _Run) -> Iterator[str]:
    if a.ended != b.ended:
        yield f"one {a.ended}, the other {b.ended}"
    if a.warned != b.warned:
        yield f"warnings: {list(a.warned)} against {list(b.warned)}"
    for one, other in zip(a.calls, b.calls, strict=False):
        if str(one) != str(other) or not _equal(one.arguments, other.arguments):
            yield f"primitive: {one} against {other}"
    if len(a.calls) != len(b.calls):
        yield f"number of primitives: {len(a.calls)} against {len(b.calls)}"
    if a.drawn != b.drawn:
        yield f"bytes drawn: {a.drawn} against {b.drawn}"
    if a.event != b.event:
        yield "the events differ"
    if _form(a.value) != _form(b.value):
        yield f"form of the output: {_form(a.value)} against {_form(b.value)}"


def _moved(a: object, b: object, kept: list[int], size: int) -> Iterator[str]:
    one, other = np.asarray(a), np.asarray(b)
    if one.shape == other.shape == (size,) and not np.array_equal(one[kept], other[kept]):
        yield "a value that was not touched is read differently"


def _equal(a: Any, b: Any) -> bool:
    return a.keys() == b.keys() and all(
        type(a[name]) is type(b[name]) and np.array_equal(a[name], b[name]) for name in a
    )


def _form(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"array of {value.dtype}, shape {value.shape}"
    return type(value).__name__


def _difference(a: object, b: object) -> Fraction | None:
    """The exact sum of absolute differences; None when the outputs are not arrays of numbers."""
    arrays = [np.asarray(value) for value in (a, b)]
    if any(array.dtype.kind not in "iuf" or not np.isfinite(array).all() for array in arrays):
        return None
    if arrays[0].shape != arrays[1].shape:
        return None
    pairs = zip(arrays[0].reshape(-1).tolist(), arrays[1].reshape(-1).tolist(), strict=True)
    return sum((abs(Fraction(x) - Fraction(y)) for x, y in pairs), Fraction(0))


def _exceeded(difference: Fraction | None, most: Fraction) -> Iterator[str]:
    if difference is None:
        yield "the outputs are not numbers that can be compared"
    elif difference > most:
        yield f"outputs differ by {float(difference):g}, the sensitivity is {float(most):g}"


def _overspent(calls: Sequence[Call], sensitivity: Fraction, claim: Fraction) -> Iterator[str]:
    spent = sum((_cost(call, sensitivity) for call in calls), Fraction(0))
    if spent > claim:
        yield f"primitives cost epsilon {float(spent):g}, the claim is {float(claim):g}"


def _cost(call: Call, sensitivity: Fraction) -> Fraction:
    if "scale" in call.arguments:
        scales = np.asarray(call.arguments["scale"], dtype=object).reshape(-1).tolist()
        return sensitivity / min(map(Fraction, scales))
    if "rate" in call.arguments:
        return 2 * sensitivity * Fraction(call.arguments["rate"])
    return Fraction(0)
