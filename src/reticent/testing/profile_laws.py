"""The laws of what is released about profiles, as fractions: stretched values, histograms, filters.

Theory    docs/theory/stretching.md, Lemmas 1 and 3; docs/theory/multilevel.md, Theorems 1 and 2,
          Lemma 4; docs/theory/blip.md, Theorems 1 and 2
Notation  d_i = value, v_i = weight, 2**-16 and 2**-20 = the grids of values and of weights
Not here  the comparison with a claim (exact.py).

Values are read here once more, in Python's own whole numbers; only the scale of the noise, which
the law is to expose if it is wrong, is the mechanism's. Noise has infinitely many outcomes: all
below what any profile can give are one, all above are one. Beyond these cuts p/q is constant.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, product
from math import ceil, floor, isqrt, prod
from typing import TYPE_CHECKING, TypeAlias

from reticent.errors import require
from reticent.mechanisms.modular import (
    InnerProduct,
    Mean,
    Modular,
    SquaredDistance,
    WeightedSum,
)
from reticent.noise.enclosure import exp_minus
from reticent.testing.closed_forms import LAW_BITS, discrete_laplace_law

if TYPE_CHECKING:
    from reticent.mechanisms.multilevel import MultiLevel
    from reticent.mechanisms.stretching import Stretching
    from reticent.tasks.blip import Blip

Weighted: TypeAlias = tuple[tuple[float, ...], tuple[float, ...]]
"""Values of a profile, and weights of its items."""

_V, _W = 1 << 16, 1 << 20
_BETWEEN = 3  # cuts within what profiles can give; they tell nothing more, but show the law


@lru_cache(maxsize=4096)
def cells(scale: Fraction, around: int, cuts: tuple[int, ...]) -> Mapping[str, Fraction]:
    """Noise of ``scale`` around a whole number, between cuts; not to be changed."""
    return discrete_laplace_law(scale, around=around, cuts=cuts)


def stretching_law(mechanism: Stretching, data: Sequence[Weighted]) -> dict[str, Fraction]:
    """The stretched value plus noise, in cells."""
    function, step = mechanism.function, mechanism.function.step
    least, most = _reach(function, len(data[0][0]))
    low, high = floor(least / step), ceil(most / step) + 1
    inside = [low + (high - low) * n // (_BETWEEN + 1) for n in range(1, _BETWEEN + 1)]
    cuts = tuple(sorted({low, *inside, high}))
    law = cells(mechanism.scale / step, _stretched(function, data), cuts)
    return dict(zip(named_cells([cut * step for cut in cuts]), law.values(), strict=True))


def _reach(function: Modular, items: int) -> tuple[Fraction, Fraction]:
    """What the function of no profile of so many items is below, or above."""
    if isinstance(function, WeightedSum):
        negative = sum((a for a in function.coefficients if a < 0), Fraction(0))
        return negative, sum((a for a in function.coefficients if a > 0), Fraction(0))
    if isinstance(function, Mean):
        return Fraction(0), Fraction(items, function.size)
    known = isinstance(function, (InnerProduct, SquaredDistance))
    require(known, "function", function.name, "one whose law is known in closed form")
    return Fraction(0), Fraction(items)


def _stretched(function: Modular, data: Sequence[Weighted]) -> int:
    """The function of stretched profiles in its steps, from Lemmas 1 and 3."""
    read = [([_grid(d, _V) for d in ds], [_grid(v, _W) for v in vs]) for ds, vs in data]
    require(len(read) == function.people, "data", len(read), f"{function.people} profiles")
    values, weights = read[0]
    if isinstance(function, Mean):
        return sum(d * v for d, v in zip(values, weights, strict=True))
    if isinstance(function, WeightedSum):
        largest = max(map(abs, function.coefficients))
        parts = [floor(abs(a) / largest * _W) for a in function.coefficients]
        signs = [-1 if a < 0 else 1 for a in function.coefficients]
        together = zip(signs, parts, weights, values, strict=True)
        return sum(sign * min(part, v) * d for sign, part, v, d in together)
    others, theirs = read[1]
    if isinstance(function, SquaredDistance):
        mine = [_shrunk(v) * d // _V for d, v in zip(values, weights, strict=True)]
        other = [_shrunk(v) * d // _V for d, v in zip(others, theirs, strict=True)]
        return sum((x - y) ** 2 for x, y in zip(mine, other, strict=True))
    assert isinstance(function, InnerProduct)  # noqa: S101, no other is left after _reach
    least = function.weighting == "min"
    joint = [min(v, w) if least else v * w // _W for v, w in zip(weights, theirs, strict=True)]
    return sum(j * (x * y // _V) for j, x, y in zip(joint, values, others, strict=True))


def _grid(number: float, whole: int) -> int:
    return floor(min(max(Fraction(number), Fraction(0)), Fraction(1)) * whole)


def _shrunk(weight: int) -> int:
    """The largest a with a (2 - a) <= v on the grid: W - a is the root of W (W - v), rounded up."""
    square = _W * (_W - weight)
    root = isqrt(square)
    return _W - root - (root * root < square)


def histogram_in_steps(mechanism: MultiLevel, profile: Weighted) -> list[int]:
    """h_j in steps: items count by weight, or wholly. Theorem 2, Lemma 4."""
    catalogue, exposure = mechanism.catalogue, mechanism.exposure
    require(catalogue is not None, "catalogue", None, "given: the law is that of its items")
    assert catalogue is not None  # noqa: S101, for the type checker
    finer = [own / step for own, step in zip(catalogue.steps, exposure.steps, strict=True)]
    table = [
        [int(unit * fine) for unit, fine in zip(row, finer, strict=True)]
        for row in catalogue.dense().tolist()
    ]
    values, weights = profile
    parts = [
        _part(mechanism, row, value, weight)
        for row, value, weight in zip(table, values, weights, strict=True)
    ]
    return [
        sum(_signed(a, part) for a, part in zip(column, parts, strict=True))
        for column in zip(*table, strict=True)
    ]


def _signed(units: int, part: int) -> int:
    return (1 if units >= 0 else -1) * (abs(units) * part // _W)


def _part(mechanism: MultiLevel, row: Sequence[int], value: float, weight: float) -> int:
    """2**20 times the part of an item that counts."""
    if not mechanism.exposure.weighted:
        return _W * round(min(max(Fraction(value), Fraction(0)), Fraction(1)))
    rates = [Fraction(rate) for rate in mechanism.rates]
    overall = max(
        sum((int(a) * rate for a, rate in zip(exposed, rates, strict=True)), Fraction(0))
        for exposed in mechanism.exposure.rows.tolist()
    )
    largest = [max(column) for column in zip(*mechanism.exposure.rows.tolist(), strict=True)]
    own = sum((abs(a) * rate for a, rate in zip(row, rates, strict=True)), Fraction(0))
    room = min(
        (Fraction(most, abs(a)) for a, most in zip(row, largest, strict=True) if a),
        default=Fraction(1),
    )
    room = min(room, overall / own, Fraction(_W)) if own else Fraction(1)
    kept = max(floor(room * (1 - Fraction(1, 1 << 40)) * _W), _W)
    factor = min(_grid(weight, _W) * kept // _W, _W)
    return factor * _grid(value, _V) // _V


def multilevel_law(
    mechanism: MultiLevel, profile: Weighted, *, only: int | None = None
) -> dict[str, Fraction]:
    """All attributes together, or one of them alone; three cells each."""
    histogram, catalogue = histogram_in_steps(mechanism, profile), mechanism.catalogue
    assert catalogue is not None  # noqa: S101, asked for above
    chosen = range(len(histogram)) if only is None else (only,)
    laws: list[dict[str, Fraction]] = []
    for j in chosen:
        ratio = catalogue.steps[j] / mechanism.exposure.steps[j]
        column = [int(unit * ratio) for unit in catalogue.dense()[:, j].tolist()]
        low, high = sum(a for a in column if a < 0), sum(a for a in column if a > 0) + 1
        law = cells(1 / Fraction(mechanism.rates[j]), histogram[j], (low, high))
        step, name = mechanism.exposure.steps[j], mechanism.exposure.attributes[j]
        heads = [f"{name} {cell}" for cell in named_cells([low * step, high * step])]
        laws.append(dict(zip(heads, law.values(), strict=True)))
    return joint_law(laws)


def blip_law(
    mechanism: Blip, profile: Weighted, items: Sequence[Hashable]
) -> dict[tuple[int, ...], Fraction]:
    """The bits that some item sets, flipped; all others are noise whatever the profile is."""
    places = mechanism.positions(items).tolist()
    used = sorted({place for own in places for place in own})
    exponent = Fraction(mechanism.epsilon) / mechanism.hashes
    flipped = _exp(exponent) / (1 + _exp(exponent))
    law: dict[tuple[int, ...], Fraction] = {}
    enters = [
        _thinned(Fraction(mechanism.epsilon), Fraction(_grid(v, _W), _W)) if d else Fraction(0)
        for d, v in zip(*profile, strict=True)
    ]
    for inside in product((0, 1), repeat=len(items)):
        chance = prod(
            (p if i else 1 - p for i, p in zip(inside, enters, strict=True)), start=Fraction(1)
        )
        if not chance:
            continue
        lit = {place for i, own in zip(inside, places, strict=True) if i for place in own}
        for bits in product((0, 1), repeat=len(used)):
            wrong = sum(bit != (place in lit) for bit, place in zip(bits, used, strict=True))
            own = chance * flipped**wrong * (1 - flipped) ** (len(used) - wrong)
            law[bits] = law.get(bits, Fraction(0)) + own
    return law


def joint_law(laws: Sequence[Mapping[str, Fraction]]) -> dict[str, Fraction]:
    """Independent outcomes together."""
    return {
        ", ".join(names): prod(
            (law[name] for law, name in zip(laws, names, strict=True)), start=Fraction(1)
        )
        for names in product(*laws)
    }


def named_cells(cuts: Sequence[Fraction]) -> list[str]:
    """Names of the cells between cuts, tails included."""
    shown = [f"{float(cut):.6g}" for cut in cuts]
    inside = [f"{one} to {other}" for one, other in pairwise(shown)]
    return [f"below {shown[0]}", *inside, f"from {shown[-1]}"]


def _exp(x: Fraction) -> Fraction:
    bits = LAW_BITS + 64 + ceil(x * 3 / 2)
    return Fraction(floor(exp_minus(x, bits)[0] * (1 << bits)), 1 << bits)


def _thinned(epsilon: Fraction, share: Fraction) -> Fraction:
    """(exp(eps v) - 1) / (exp(eps) - 1)."""
    if share in (0, 1):
        return share
    return _exp(epsilon * (1 - share)) * (1 - _exp(epsilon * share)) / (1 - _exp(epsilon))
