"""Heavy work of one draw in parts that other machines may share.

Not here  the parts (centrality.py, similarity.py), the machines (spark/scattering.py), parts on
          several threads of this machine (threads.py).

What comes back is exact or sealed, so private: it goes into the draw and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol


class Scatter(Protocol):
    """Runs the parts of some work elsewhere."""

    @property
    def peers_at_once(self) -> int | None:
        """How many peers a part looks at together where it compares people; all, if None."""

    def __call__(self, work: Callable[[Any, int], Any], data: Any, parts: int) -> list[Any]:
        """``work(data, part)`` for each part, in order; all of these can be pickled."""
