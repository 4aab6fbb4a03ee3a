"""Exact discrete Laplace noise by inversion, one rational scale per coordinate.

Theory    docs/theory/noise.md, Theorem 2 (law), Theorem 3 (large scales), Theorem 4 (work)
Notation  t = scale, r = exp(-1/t), P[Z = k] = (1 - r) / (1 + r) * r^|k|, U uniform on [0, 1/2),
          |Z| = 1 + H 2^L + J with J < 2^L, or 0
Not here  sensitivity and privacy (mechanisms/), the grid of real values (grid.py).

|Z| > h 2^L exactly when U < r^(1 + h 2^L) / (1 + r), that is when Y > h for
Y = -(ln U + ln(1 + r) + 1/t) t / 2^L. So H = floor(Y), or Z = 0 when Y < 0, as a function of
infinitely many fair bits. The first 64 of them and double precision settle floor(Y) unless Y is
within a margin of an integer; then, about once in a million draws at most, exact arithmetic does.
Low digits J take the exact path up to four times in a million draws. Theorem 4.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING, TypeAlias, overload

import numpy as np

from reticent.errors import ParameterError, require
from reticent.noise.coins import decide
from reticent.noise.enclosure import Bounds, exp_minus, log_above, log_below
from reticent.noise.exact_array import ExactArray, Scalar
from reticent.noise.source import Bits, Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

Scales: TypeAlias = "Scalar | Sequence[Scalar] | NDArray[np.float64]"

LARGEST_SCALE = 2.0**50
_DIRECT_BITS = 19  # scales from 2**19 on draw their lowest binary digits apart, Theorem 3
_MARGIN = 2.0**-40  # on ln U; the error of double precision is below 2**-44, Lemma 2
_FEW = 1000  # fractions in a tuple whose law is kept
_BLOCK = 1 << 13  # draws at a time: the arrays of one block stay in the cache
_LOG_2_64 = 64 * math.log(2)
_ROUNDING = 1.5 * 2.0**52  # adding and taking it away rounds a smaller float to an integer
_TWO_52 = np.int64(1 << 52)
_FOLDS = (1 << 65, (1 << 65) | (1 << 64) - 1)  # leave the 64 bits of U, or turn them over


@overload
def discrete_laplace(*, scale: Scalar, size: None = None, source: Source) -> np.int64: ...
@overload
def discrete_laplace(
    *, scale: Sequence[Scalar] | NDArray[np.float64], size: None = None, source: Source
) -> NDArray[np.int64]: ...
@overload
def discrete_laplace(
    *, scale: Scales, size: int | tuple[int, ...], source: Source
) -> NDArray[np.int64]: ...
def discrete_laplace(
    *, scale: Scales, size: int | tuple[int, ...] | None = None, source: Source
) -> NDArray[np.int64] | np.int64:
    """Draw integers Z with P[Z = k] proportional to exp(-|k| / scale), exactly.

    ``scale`` is one number or an array that broadcasts to ``size``: integers, fractions, or floats
    (a float means exactly that float). The time taken depends on ``size`` and ``scale`` only.

    >>> from fractions import Fraction
    >>> from reticent.noise import Source, discrete_laplace
    >>> discrete_laplace(scale=[1, Fraction(10, 3), 2.5], source=Source.system()).dtype
    dtype('int64')
    """
    if size is None and isinstance(scale, (int, float, Fraction)) and type(scale) is not bool:
        return _draw_one(scale, source)
    scales, kept_law = _read_scales(scale)
    shape = _shape(scales, size)
    source.note("discrete_laplace", scale=scale, shape=shape)
    drawn = np.empty(math.prod(shape), dtype=np.int64)
    block, law_at = _laws(scales, shape, kept_law)
    for at in range(0, drawn.size, block):
        part = drawn[at : at + block]
        words, low_words = source.long_words(part.size), partial(source.long_words, part.size)
        exact_scale = partial(_at, scales, shape, at)
        part[:] = _draw(words, low_words, law_at(at, part.size), exact_scale, lambda _: source)
    return drawn.reshape(shape)[()]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Law:
    """The constants of Y = (-ln U - shift) * stretch, one per coordinate or one for all."""

    shift: NDArray[np.float64]  # ln(1 + r) + 1/t
    stretch: NDArray[np.float64]  # t / 2^L
    low_bits: NDArray[np.int64]  # L
    doubtful: NDArray[np.uint64]  # 2^32 2^L / t rounded up, 0 where L = 0
    split: bool  # whether any L is above 0

    def first(self, at: int, size: int) -> _Law:
        """Of the first ``size`` coordinates, wherever the block starts."""
        if size == self.shift.size:
            return self
        return _Law(
            self.shift[:size],
            self.stretch[:size],
            self.low_bits[:size],
            self.doubtful[:size],
            self.split,
        )


def _laws(
    scales: ExactArray, shape: tuple[int, ...], kept: _Law | None
) -> tuple[int, Callable[[int, int], _Law]]:
    """How many draws to make at a time, and the constants of those from ``at`` on.

    One scale has one law. Rows that share their scales share the law of some rows, made once.
    """
    wide = scales.approximate
    if scales.size == 1:
        law = _shared_law(float(wide.item()))
        return _BLOCK, lambda at, size: law
    if kept is not None and shape == scales.shape and scales.size <= _BLOCK:
        return _BLOCK, lambda at, size: kept
    width = scales.size
    alike = len(shape) > 1 and scales.shape == shape[-1:] and 0 < width <= _BLOCK < math.prod(shape)
    if alike:
        rows = _BLOCK // width
        law = _law(np.tile(wide, rows))
        return rows * width, law.first
    each = np.broadcast_to(wide, shape).reshape(-1)
    return _BLOCK, lambda at, size: _law(each[at : at + size])


def _law(scales: NDArray[np.float64]) -> _Law:
    inverse = 1 / np.maximum(scales, 1e-300)  # below that the answer is 0 up to exp(-1e300)
    low_bits = np.maximum(np.frexp(scales)[1].astype(np.int64) - _DIRECT_BITS, 0)
    stretch = np.ldexp(scales, -low_bits)
    doubtful = np.where(low_bits > 0, np.ceil(2.0**32 / np.maximum(stretch, 1)), 0)
    return _Law(
        np.log1p(np.exp(-inverse)) + inverse,
        stretch,
        low_bits,
        doubtful.astype(np.uint64),
        bool(low_bits.any()),
    )


def _read_scales(scale: Scales) -> tuple[ExactArray, _Law | None]:
    """Scales, and their law where it is kept: that of a few fractions in a tuple."""
    if isinstance(scale, tuple) and 1 < len(scale) <= _FEW and set(map(type, scale)) == {Fraction}:
        return _kept(scale)
    return _in_range(ExactArray.of(scale, "scale"), scale), None


@lru_cache(maxsize=256)
def _kept(scale: tuple[Fraction, ...]) -> tuple[ExactArray, _Law]:
    scales = _in_range(ExactArray.of(scale, "scale"), scale)
    return scales, _law(scales.approximate)


@lru_cache(maxsize=256)
def _shared_law(scale: float) -> _Law:
    return _law(np.array([scale]))


@dataclass(frozen=True, slots=True)
class _SingleLaw:
    shift: float
    stretch: float
    low_bits: int
    doubtful: int


@lru_cache(maxsize=256)
def _single_law(scale: Scalar) -> _SingleLaw:
    law = _shared_law(float(_in_range(ExactArray.of(scale, "scale"), scale).approximate))
    return _SingleLaw(
        law.shift.item(), law.stretch.item(), law.low_bits.item(), law.doubtful.item()
    )


def _in_range(scales: ExactArray, scale: object) -> ExactArray:
    in_range = scales.size == 0 or 0 < scales.smallest() <= scales.largest() <= LARGEST_SCALE
    require(in_range, "scale", scale, "positive and at most 2**50")
    return scales


def laplace_of_words(
    words: NDArray[np.uint64],
    low_words: Callable[[], NDArray[np.uint64]],
    *,
    scale: Fraction,
    bits: Callable[[int], Bits],
) -> NDArray[np.int64]:
    """The draws that given random words stand for: the same words always give the same draws.

    ``low_words`` gives a second word for each draw where the scale needs one, ``bits(i)`` more
    bits for draw i in the rare case that 64 do not settle it.
    """
    law = _shared_law(float(_in_range(ExactArray.of(scale, "scale"), scale).approximate))
    return _draw(words.copy(), low_words, law, lambda _: scale, bits)


def _draw(
    words: NDArray[np.uint64],
    low_words: Callable[[], NDArray[np.uint64]],
    law: _Law,
    exact_scale: Callable[[int], Fraction],
    bits: Callable[[int], Bits],
) -> NDArray[np.int64]:
    negative = (words >> np.uint64(63)).view(np.int64)
    np.minimum(words, ~words, out=words)  # the top bit was the sign; U = words / 2^64
    middle = words.astype(np.float64) + 0.5
    y = np.maximum((_LOG_2_64 - law.shift - np.log(middle)) * law.stretch, -0.5)
    floor = np.floor(y)
    margin = (_MARGIN + 1 / middle) * law.stretch  # Lemma 2; 1 / middle: U is known to 64 bits
    close = np.abs(y - floor - 0.5) + margin >= 0.5
    whole = floor.astype(np.int64)
    for i in np.flatnonzero(close | (words == 0)).tolist():
        low_bits = int(np.broadcast_to(law.low_bits, words.shape)[i])
        whole[i] = _settle(int(words[i]), exact_scale(i), low_bits, bits(i))
    if law.split:
        low = _low_digits(low_words(), law, exact_scale, bits)
        whole = np.where(whole < 0, -1, (whole << law.low_bits) + low)
    return (whole + 1) * (1 - 2 * negative)


def _draw_one(scale: Scalar, source: Source) -> np.int64:
    """``_draw`` for a single number, several times faster than arrays of one.

    Python is slower with longer integers and fastest with small ones, which a clock can see. So
    what depends on the noise is kept in floats, in NumPy integers, or in integers of one length.
    """
    law = _single_law(scale)
    source.note("discrete_laplace", scale=scale, shape=())
    word = source.padded_bits(64)
    negative = word >> 63 & 1
    word ^= _FOLDS[negative]  # 66 bits; the lowest 64 are U, of which the first is 0
    high, low = word >> 32, (word | 1 << 32) & (1 << 33) - 1  # 34 and 33 bits
    middle = (high - 3 * 2.0**32) * 2.0**32 + (low - 2.0**32 + 0.5)
    y = (_LOG_2_64 - law.shift - math.log(middle)) * law.stretch
    y += (-0.5 - y) * (y < -0.5)
    whole = (y - 0.5 + _ROUNDING) - _ROUNDING  # floor(y), unless y is close to an integer
    margin = (_MARGIN + 1 / middle) * law.stretch
    if abs(y - whole - 0.5) + margin >= 0.5 or middle == 0.5:
        whole = float(_settle(word & (1 << 64) - 1, Fraction(scale), law.low_bits, source))
    sign = 1.0 - 2.0 * negative
    if not law.low_bits:
        return _integer((whole + 1) * sign)
    digits = _low_digits_of_one(law, scale, source)
    if whole < 0:
        return np.int64(0)
    return (_integer(whole) * np.int64(1 << law.low_bits) + digits + 1) * _integer(sign)


def _low_digits_of_one(law: _SingleLaw, scale: Scalar, source: Source) -> np.int64:
    word, mask = source.padded_bits(64), (1 << law.low_bits) - 1
    if word >> 32 < law.doubtful + (1 << 32):
        chance = (word >> 32) - (1 << 32)
        return np.int64(_thin(word & mask, chance, Fraction(scale), law.low_bits, source))
    return np.int64((word | 1 << 62) & (mask | 1 << 62)) - np.int64(1 << 62)


def _integer(value: float) -> np.int64:
    """A float that is an integer below 2**51, by way of a Python integer of 53 bits."""
    return np.int64(int(value + 2.0**52)) - _TWO_52


def _settle(word: int, t: Fraction, low_bits: int, source: Bits) -> int:
    """max(floor(Y), -1) in exact arithmetic, drawing more bits of U until it is certain."""
    width = 64
    while True:
        if word:
            bits = width + 64
            low_r, high_r = exp_minus(1 / t, bits)
            low_u, high_u = Fraction(word, 1 << width), Fraction(word + 1, 1 << width)
            lower = -(log_above(high_u * (1 + high_r), bits) + 1 / t) * t / (1 << low_bits)
            upper = -(log_below(low_u * (1 + low_r), bits) + 1 / t) * t / (1 << low_bits)
            whole = max(math.floor(lower), -1)
            if whole == max(math.floor(upper), -1):
                if whole >= 1 << (60 - low_bits):  # less likely than exp(-2**9), whatever the data
                    raise OverflowError("the noise drawn does not fit 64 bits; draw again")
                return whole
        word, width = word << 64 | source.bits(64), width + 64


def _low_digits(
    words: NDArray[np.uint64],
    law: _Law,
    exact_scale: Callable[[int], Fraction],
    bits: Callable[[int], Bits],
) -> NDArray[np.int64]:
    """J with P[J = j] proportional to exp(-j/t), j < 2^L: uniform, kept with chance exp(-j/t)."""
    upper = words >> np.uint64(32)
    low = words.view(np.int64) & ((1 << law.low_bits) - 1)
    for i in np.flatnonzero(upper < law.doubtful).tolist():
        low_bits = int(np.broadcast_to(law.low_bits, words.shape)[i])
        low[i] = _thin(int(low[i]), int(upper[i]), exact_scale(i), low_bits, bits(i))
    return low


def _thin(low: int, word: int, t: Fraction, low_bits: int, source: Bits) -> int:
    """Keep ``low`` with probability exp(-low/t), else draw afresh until one is kept."""
    while decide(word, _one_minus_exp, low / t, source):
        low, word = source.bits(low_bits), source.bits(32)
    return low


def _one_minus_exp(x: Fraction, bits: int) -> Bounds:
    lower, upper = exp_minus(x, bits)
    return 1 - upper, 1 - lower


def _at(scales: ExactArray, shape: tuple[int, ...], offset: int, i: int) -> Fraction:
    """The exact scale of draw ``i`` of the block that starts at ``offset``."""
    index = np.arange(scales.size).reshape(scales.shape)
    return scales[int(np.broadcast_to(index, shape).flat[offset + i])]


def _shape(scales: ExactArray, size: int | tuple[int, ...] | None) -> tuple[int, ...]:
    if size is None:
        return scales.shape
    shape = size if isinstance(size, tuple) else (size,)
    integral = all(isinstance(n, (int, np.integer)) and n >= 0 for n in shape)
    require(integral, "size", size, "a non-negative integer or a tuple of them")
    try:
        fits = np.broadcast_shapes(scales.shape, shape) == shape
    except ValueError:
        fits = False
    if not fits:
        raise ParameterError("size", f"a shape to which scale, {scales.shape}, broadcasts", size)
    return tuple(int(n) for n in shape)
