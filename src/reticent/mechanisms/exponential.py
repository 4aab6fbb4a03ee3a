"""The exponential mechanism: each candidate with probability proportional to exp(c score).

Theory    docs/theory/selection.md, Theorem 1 (privacy); [McSherryTalwar2007]
Not here  scores, grid and error (selection.py). ``PermuteAndFlip`` is never worse; this law is for
          those who need it, for composition by bounded range or for comparison.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from reticent.mechanisms.selection import Selection
from reticent.noise import Source, exponential

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Exponential(Selection):
    """Choose one candidate by the exponential mechanism.

    >>> from reticent.mechanisms import Exponential
    >>> from reticent.noise import Source
    >>> mechanism = Exponential(epsilon=1, candidates=3, sensitivity=1)
    >>> mechanism.release([0, 0, 1000], Source.system()).value
    2
    """

    name: ClassVar[str] = "exponential"
    page: ClassVar[str] = "docs/theory/selection.md, Theorem 1"

    def _choose(self, scores: NDArray[np.int64], source: Source) -> int:
        return exponential(scores, rate=self.rate, source=source)
