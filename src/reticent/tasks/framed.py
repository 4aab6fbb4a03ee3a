"""What is released about a frame: another frame of its kind, and the release behind it.

Not here  how frames are read and made (data/frames.py), what is released (the tasks).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from reticent.mechanisms.base import Release


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FramedRelease:
    """A released frame, and the release with event and card.

    The event is about one person: everybody in the frame loses what it says, from their own data.
    """

    frame: Any
    release: Release[Any]

    def __repr__(self) -> str:
        return f"FramedRelease({type(self.frame).__name__} of {len(self.frame)} rows)"
