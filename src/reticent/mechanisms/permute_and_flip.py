"""Permute-and-flip: never a larger expected error than the exponential mechanism.

Theory    docs/theory/selection.md, Theorem 2 (privacy); [McKennaSheldon2020]
Not here  scores, grid and error (selection.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from reticent.mechanisms.selection import Selection
from reticent.noise import Source, permute_and_flip

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class PermuteAndFlip(Selection):
    """Choose one candidate by permute-and-flip.

    >>> from reticent.mechanisms import PermuteAndFlip
    >>> from reticent.noise import Source
    >>> mechanism = PermuteAndFlip(epsilon=1, candidates=3, sensitivity=1)
    >>> mechanism.release([0, 0, 1000], Source.system()).value
    2
    """

    name: ClassVar[str] = "permute-and-flip"
    page: ClassVar[str] = "docs/theory/selection.md, Theorem 2"

    def _choose(self, scores: NDArray[np.int64], source: Source) -> int:
        return permute_and_flip(scores, rate=self.rate, source=source)
