"""Searches for mappings, watched: how they go on, and stopped in time or by Ctrl-C.

Not here  the search itself (optim/mapping_newton.py).
"""

from __future__ import annotations

import math
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reticent.cli.output import progress, talk

if TYPE_CHECKING:
    from reticent.optim.mapping import Step

_LEVELS = 60  # of a search: the length of its bar
_MINUTE = 60.0


@dataclass(slots=True)
class Watch:
    """Shows how a search goes on, and stops it for good: after a time, or once interrupted.

    A search that is interrupted gives its best mapping so far, and one of many would go on with the
    next: so each of them is interrupted.
    """

    seconds: float
    show: Callable[[str], None]
    began: float
    why: str = ""
    told: float = 0.0

    def __call__(self, step: Step) -> None:
        """Called by the solver with each step."""
        past = time.monotonic() - self.began
        if past > self.seconds and not self.why:
            self.why = f"stopped after {past:.0f} seconds"
        if self.why:
            raise KeyboardInterrupt
        bits = f"{step.leak / math.log(2):.4g} bits, at least {step.bound / math.log(2):.4g}"
        self.show(f"{past:.0f} s: {bits}")
        if past - self.told > _MINUTE and not sys.stderr.isatty():
            self.told = past
            talk(f"{past:.0f} s: {bits}")

    def stop(self, *_: object) -> None:
        """Called when somebody presses Ctrl-C."""
        self.why = "interrupted"
        raise KeyboardInterrupt


@contextmanager
def watching(seconds: float) -> Iterator[Watch]:
    """A watch that hears Ctrl-C, and a bar on stderr if that is a terminal."""
    with progress(_LEVELS) as show:
        watch = Watch(seconds, show, time.monotonic())
        try:
            before: Any = signal.signal(signal.SIGINT, watch.stop)
        except ValueError:  # not in the main thread
            yield watch
            return
        try:
            yield watch
        finally:
            signal.signal(signal.SIGINT, before)
