"""A mechanism of somebody else's, as ``reticent verify`` takes it: a function that draws.

Theory    docs/theory/auditing.md, Theorem 1 (audit bound)
Not here  audits (searched.py), the command (cli/verify.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reticent.noise import Source, bernoulli

if TYPE_CHECKING:
    from numpy.typing import NDArray


def truthful_coin(data: int, n: int) -> NDArray[np.int64]:
    """Answers to a question with yes or no, true three times in four: epsilon is ln 3.

    >>> sorted(set(truthful_coin(1, 1000).tolist()))
    [0, 1]
    """
    honest = bernoulli(np.full(n, 0.75), source=Source.system())
    return np.where(honest, data, 1 - data)
