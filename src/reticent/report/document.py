"""What a report says, as values: summary, sections of figures, tables and cards, how to redo it.

Not here  its HTML (page.py), figures (one file per subject), what is made of a command's results
          (runs.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from reticent.guarantees.card import Card


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure as SVG, and the caption under it: what was measured, on what, in how many runs."""

    svg: str
    caption: str


@dataclass(frozen=True, slots=True)
class Grid:
    """A table; a column under a head that ends in a space holds numbers and is set to the right."""

    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One part of a report: what was found in words, then pictures, tables and the card.

    ``listing`` holds lines that are shown as they are, such as a file.
    ``failures`` says what must not be, such as an attack above its ceiling: the report shows them
    first and counts as failed.
    """

    title: str
    words: Sequence[str] = ()
    listing: Sequence[str] = ()
    pictures: Sequence[Picture] = ()
    grids: Sequence[Grid] = ()
    cards: Sequence[Card] = ()
    failures: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A whole report. ``again`` are the commands that make it anew, one per line.

    ``notes`` end it: where data come from and under which licence.
    """

    title: str
    summary: Sequence[str]
    sections: Sequence[Section]
    again: Sequence[str]
    versions: dict[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()

    @property
    def failures(self) -> list[str]:
        """Everything that must not be, in the order of the sections."""
        return [failure for section in self.sections for failure in section.failures]
