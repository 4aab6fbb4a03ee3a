"""Goodness of fit with proven power: the right law is accepted, and one a little wrong is not.

Theory    docs/theory/auditing.md, "Goodness of fit"; [Pearson1900], [Kolmogorov1933]
Notation  n = number of samples, D = largest distance between distribution functions
Not here  the laws compared with (closed_forms.py), bounds on a loss (audit.py).

A test that cannot fail proves nothing. ``check_scale`` therefore tests the same samples against a
scale that is 1 % too large and one that is 1 % too small, and passes only if both are rejected.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy import special

from reticent.errors import ParameterError, require
from reticent.rational import Number, positive, rational

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from reticent.testing.closed_forms import Cdf, Pmf

    Law: TypeAlias = Callable[[NDArray[np.int64]], NDArray[np.float64]]
    Test: TypeAlias = "Callable[[NDArray[np.int64], Law], Fit]"

ACCEPT_ABOVE = 1e-6
REJECT_BELOW = 1e-15
_LEAST = 20.0  # expected count of the outermost cell; cells double inwards ...
_CELLS = 64  # ... until they hold this part of the samples
_WIDEST = 1 << 24  # values a chi-square test may span; wider laws are for ``kolmogorov``


@dataclass(frozen=True, slots=True)
class Fit:
    """How well samples fit a law: ``p_value`` is the chance of a worse fit if the law is right."""

    statistic: float
    dof: int | None
    p_value: float


@dataclass(frozen=True, slots=True)
class Power:
    """A fit to the right law beside the fits to two wrong ones; the better of those counts."""

    right: Fit
    wrong: Fit

    @property
    def passed(self) -> bool:
        """Whether the right law is accepted and the wrong one rejected."""
        return self.right.p_value > ACCEPT_ABOVE and self.wrong.p_value < REJECT_BELOW

    def __str__(self) -> str:
        verdict = "passed" if self.passed else "FAILED"
        return f"{verdict}: right law p={self.right.p_value:.3g}, wrong p={self.wrong.p_value:.3g}"


def chi_square(samples: ArrayLike, pmf: Pmf) -> Fit:
    """Pearson's test of integer samples against a probability mass function.

    Values are pooled into some 64 cells of like probability with finer ones in the tails, none
    expected to hold fewer than 20 samples. The pools depend on the law only.
    """
    values = _integers(samples)
    first, chances = _window(values, pmf)
    counts = np.bincount(values - first, minlength=chances.size).astype(np.float64)
    if bool((counts[chances == 0] > 0).any()):
        return Fit(np.inf, None, 0.0)  # an outcome that the law excludes
    starts = _pool(chances * values.size)
    seen = np.add.reduceat(counts, starts)
    expected = np.add.reduceat(chances, starts) * values.size
    return _pearson(float((((seen - expected) ** 2) / expected).sum()), starts.size - 1)


def chi_square_quantiles(samples: ArrayLike, cdf: Cdf) -> Fit:
    """Pearson's test of integer samples of any width, in cells between quantiles of the law."""
    values = _integers(samples)
    tails = np.minimum(_LEAST / values.size * 2.0 ** np.arange(1, 48), 1 / _CELLS)
    levels = np.unique(np.concatenate([tails, np.arange(1, _CELLS) / _CELLS, 1 - tails]))
    ends = np.unique(_quantiles(levels, cdf))
    cells = np.diff(np.concatenate([[0.0], cdf(ends), [1.0]]))
    starts = _pool(cells * values.size)
    counts = np.bincount(np.searchsorted(ends, values), minlength=cells.size)
    seen, expected = np.add.reduceat(counts, starts), np.add.reduceat(cells, starts) * values.size
    return _pearson(float((((seen - expected) ** 2) / expected).sum()), starts.size - 1)


def two_sample_chi_square(a: ArrayLike, b: ArrayLike) -> Fit:
    """Pearson's test that two samples, of numbers or of labels, come from one law."""
    first, second = np.asarray(a).reshape(-1), np.asarray(b).reshape(-1)
    for name, sample in (("a", first), ("b", second)):
        require(sample.size > 0, name, "none", "at least one sample")
    _, index = np.unique(np.concatenate([first, second]), return_inverse=True)
    of_first = np.bincount(index[: first.size], minlength=int(index.max()) + 1)
    of_second = np.bincount(index[first.size :], minlength=of_first.size)
    share = min(first.size, second.size) / index.size
    starts = _pool(np.asarray((of_first + of_second) * share, dtype=np.float64))
    x, y = np.add.reduceat(of_first, starts), np.add.reduceat(of_second, starts)
    ratio = np.sqrt(first.size / second.size)
    return _pearson(float(((x / ratio - y * ratio) ** 2 / (x + y)).sum()), starts.size - 1)


def kolmogorov(samples: ArrayLike, cdf: Cdf) -> Fit:
    """Kolmogorov's test against a distribution function: of integers, or of a continuous law.

    For integer samples the law is taken to live on the integers; the test is then conservative.
    """
    array = np.asarray(samples).reshape(-1)
    require(array.size > 0, "samples", "none", "at least one sample")
    values, counts = np.unique(array, return_counts=True)
    upto = np.cumsum(counts)
    before = values - 1 if values.dtype.kind in "iu" else values
    above = np.abs(upto / array.size - cdf(values)).max()
    below = np.abs((upto - counts) / array.size - cdf(before)).max()
    distance = float(max(above, below))
    root = np.sqrt(array.size)  # [Stephens1970]: the limit law, corrected for finite n
    return Fit(distance, None, float(special.kolmogorov((root + 0.12 + 0.11 / root) * distance)))


def check_scale(
    samples: ArrayLike,
    family: Callable[[Fraction], Law],
    scale: Number,
    *,
    off: Number = "0.01",
    test: Test = chi_square,
) -> Power:
    """Test samples against ``family(scale)``, and against scales wrong by ``off`` either way.

    >>> from reticent.noise import Source, discrete_laplace
    >>> from reticent.testing import check_scale, discrete_laplace_pmf
    >>> samples = discrete_laplace(scale=3, size=1_000_000, source=Source.seeded(1))
    >>> check_scale(samples, discrete_laplace_pmf, 3, off=0.03).passed
    True
    """
    exact, wrong = positive(scale, "scale"), rational(off, "off")
    require(0 < wrong < 1, "off", off, "between 0 and 1")
    array = np.asarray(samples)
    misfits = [test(array, family(exact * factor)) for factor in (1 + wrong, 1 - wrong)]
    return Power(test(array, family(exact)), max(misfits, key=lambda fit: fit.p_value))


def _pearson(statistic: float, dof: int) -> Fit:
    # one cell holds everything under every law: nothing was tested and nothing is rejected
    return Fit(statistic, dof, float(special.chdtrc(dof, statistic)) if dof else 1.0)


def _integers(samples: ArrayLike) -> NDArray[np.int64]:
    array: NDArray[Any] = np.asarray(samples).reshape(-1)
    if array.size == 0 or array.dtype.kind not in "iu":
        raise ParameterError("samples", "a non-empty array of integers", array.dtype)
    return array.astype(np.int64)


def _window(values: NDArray[np.int64], pmf: Pmf) -> tuple[int, NDArray[np.float64]]:
    """The first value of a range that holds all samples and, but for less than one, the law."""
    first, last = int(values.min()), int(values.max())
    reach = max(1, last - first)
    while True:
        require(last - first < _WIDEST, "samples", last - first, f"within {_WIDEST} of each other")
        chances = pmf(np.arange(first, last + 1))
        missing = 1 - float(chances.sum())
        if missing * values.size < 0.01 or last - first + 2 * reach >= _WIDEST:
            break
        first, last = first - reach, last + reach
    chances[-1] += max(missing, 0.0)
    return first, chances


def _quantiles(levels: NDArray[np.float64], cdf: Cdf) -> NDArray[np.int64]:
    """The least integer with cdf >= level, for each level, by bisection of the 62-bit integers."""
    low = np.full(levels.size, -(1 << 62), dtype=np.int64)
    high = np.full(levels.size, 1 << 62, dtype=np.int64)
    for _ in range(64):
        middle = (low >> 1) + (high >> 1)
        enough = cdf(middle) >= levels
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return high


def _pool(expected: NDArray[np.float64]) -> NDArray[np.intp]:
    """Where cells start. From each end inwards a cell is twice the one before, up to a limit."""
    middle = int(np.searchsorted(np.cumsum(expected), expected.sum() / 2))
    left = _edges(expected[: middle + 1])
    right = expected.size - np.array(_edges(expected[:middle:-1]), dtype=np.intp)
    starts = np.union1d([0, *left], right).astype(np.intp)
    starts = starts[starts < expected.size]
    while starts.size > 1:  # what is left over in the middle joins its neighbour
        held = np.add.reduceat(expected, starts)
        poorest = int(held.argmin())
        if held[poorest] >= _LEAST:
            break
        starts = np.delete(starts, max(poorest, 1))
    return starts


def _edges(expected: NDArray[np.float64]) -> list[int]:
    """Ends of cells that hold at least 20, 40, 80 ... of what is expected."""
    upto = np.cumsum(expected)
    edges: list[int] = []
    done, need = 0.0, _LEAST
    most = 2 * float(upto[-1]) / _CELLS if upto.size else 0.0
    while True:
        edge = int(np.searchsorted(upto, done + need)) + 1
        if edge > upto.size:
            return edges
        edges.append(edge)
        done, need = float(upto[edge - 1]), max(_LEAST, min(2 * need, most))
