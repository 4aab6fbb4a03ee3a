"""Rows of noise, one for each person, whoever draws them and in whichever order.

Theory    docs/theory/noise.md, Theorem 2 (law); docs/theory/parts.md, Theorem 2 (it does not
          matter who draws)
Not here  the law of one draw (laplace.py), what the noise is added to (tasks/).

A system source draws all rows at once, and no two calls share a bit. Of a seeded source the row of
a person is a stream of that person's own, so one process, many processes and a cluster draw the
same, however people were dealt out to them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from reticent.noise.laplace import discrete_laplace
from reticent.noise.source import Source

if TYPE_CHECKING:
    from numpy.typing import NDArray


def laplace_rows(
    scales: Sequence[Fraction] | NDArray[np.float64],
    count: int,
    source: Source,
    people: Callable[[], Sequence[str]] | None = None,
) -> NDArray[np.int64]:
    """Noise[person, column] of one scale per column, or of a row of scales per person.

    ``people`` names the owners of rows; it is asked of a seeded source only, and without it rows
    belong to nobody and follow one another.

    >>> from reticent.noise import Source
    >>> laplace_rows([Fraction(2), Fraction(5)], 3, Source.system()).shape
    (3, 2)
    """
    shape = scales.shape if isinstance(scales, np.ndarray) else (count, len(scales))
    if people is None or source.private:
        return discrete_laplace(scale=scales, size=shape, source=source)
    each = scales if isinstance(scales, np.ndarray) else [scales] * count
    rows = [
        discrete_laplace(scale=own, source=source.child(name))
        for own, name in zip(each, people(), strict=True)
    ]
    return np.array(rows, dtype=np.int64).reshape(shape)
