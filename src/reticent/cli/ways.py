"""How candidates are chosen, as an option of commands that compare ways of choosing.

Not here  the ways (mechanisms/comparison.py).
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from reticent.cli.failures import Failure

if TYPE_CHECKING:
    from reticent.mechanisms.top_dampened import TopDampened


class Way(StrEnum):
    """How candidates are chosen."""

    adaptive = "adaptive"
    shifted = "shifted"
    dampened = "dampened"
    permute_and_flip = "permute-and-flip"
    exponential = "exponential"


def way_of(mechanism: TopDampened, name: str) -> TopDampened:
    """The mechanism that chooses in the way of this name, with the same promise."""
    from reticent.mechanisms.comparison import ways

    found = ways(mechanism)
    if name not in found:
        why = f"the ways are {', '.join(found)}"
        raise Failure(f"--way {name} does not go with what is chosen here", why=why)
    return found[name]
