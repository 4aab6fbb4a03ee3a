"""Releases over any number of people on one machine: all cores, bounded memory, one answer each.

Theory    docs/theory/parts.md, Theorem 1 (one answer and one charge)

A table is cut into parts (``inputs``, or ``gathering`` for tables with a line per item), processes
(``workers``) draw them into a folder that nobody else may read (``staging``, ``drawing``),
everybody is charged by key (``merging``), and then one rename shows the whole (``making``). After a
crash the same key goes on where it stopped: what was drawn is not drawn again, who was charged is
not charged again.
"""

from reticent.running.local import run
from reticent.running.making import Described, Ran

__all__ = ["Described", "Ran", "run"]
