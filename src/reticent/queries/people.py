"""A map over people: what is drawn for one of them depends on nobody else.

Theory    docs/theory/parts.md, Theorem 2 (it does not matter who draws)
Not here  lists that depend on everybody (neighbours.py), who feeds people (run.py, running/).

One person, a frame, files of any size, a cluster and the gateway call the same ``each``. A seeded
source gives each person a stream of their own, so that all of them draw the same.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from reticent.errors import require
from reticent.queries.base import Progress, Public, Query, Terms

if TYPE_CHECKING:
    from reticent.noise import Source
    from reticent.tasks.batched import Batched
    from reticent.tasks.charged import Payer


class PersonTerms(Terms):
    """Terms of a map over people; the first of its ``columns`` is ``person``."""

    __slots__ = ()
    query: Query
    known: Public

    @abstractmethod
    def each(self, tables: Mapping[str, Any], people: Sequence[str], source: Source) -> Any:
        """A sequence with an entry for each of ``people``, who are some of those in ``tables``.

        An entry is what a ledger keeps of one person, and what ``show`` is given: the cells after
        their name, or the one cell where there is one; None if they are withheld.
        """

    @abstractmethod
    def payer(self, person: str) -> Payer:
        """Whose account is charged: the same for everybody, but for their name."""

    @property
    def types(self) -> tuple[type, ...]:
        """What the columns hold, after the first: ``float``, ``int`` or ``str``."""
        return (float,) * (len(self.columns) - 1)

    def payers(self, limit: int | None) -> list[tuple[Payer, int]] | None:
        """Everybody, up to ``limit`` and to what they allow; None where nobody knows who it is."""
        if self.known.names is None:
            return None
        alike, nano = self.payer("anybody").up_to(limit), self.words().charge
        return [(replace(alike, subject=name), nano) for name in self.known.names]

    def drawn(self, tables: Mapping[str, Any], people: Sequence[str], source: Source) -> Any:
        """``each``, where a seeded source gives each person a stream of their own."""
        import numpy as np

        if source.private:
            return self._checked(self.each(tables, people, source), len(people))
        found = [
            self._checked(self.each(tables, [name], source.child(name)), 1)[0] for name in people
        ]
        return np.array(found) if found and isinstance(found[0], np.ndarray) else found

    def _checked(self, found: Any, count: int) -> Any:
        """Entries as they were promised, before anybody keeps them."""
        rule = f"{count} entries, one for each person, in a list or an array"
        good = hasattr(found, "__len__") and hasattr(found, "__getitem__") and len(found) == count
        require(good, "draw", type(found).__name__, rule)
        width = len(self.columns) - 1
        for entry in () if hasattr(found, "dtype") else found:
            cells = (
                len(entry) if isinstance(entry, (list, tuple)) else width if entry is None else 1
            )
            require(cells == width, "draw", cells, f"{width} cells for each person, as columns say")
        return found

    def batches(self, columns: Mapping[str, str]) -> Batched:
        """See ``Terms``; every map over people can be taken batch by batch."""
        from reticent.queries.person_batches import PersonBatches

        return PersonBatches.of(self, columns)

    def draw(self, tables: Mapping[str, Any], source: Source, progress: Progress) -> Any:
        """An entry for everybody, in the order of their names."""
        return self.drawn(tables, list(self.known.names or ()), source)
