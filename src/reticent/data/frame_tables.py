"""Long tables, tables of people and tables of edges in frames, as the readers of files have them.

Not here  the libraries (frames.py), files (interactions.py, people_tables.py, graphs.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.data.frames import CALLED, Frame
from reticent.data.graphs import HEADERS, Graph, Nodes
from reticent.data.interactions import Columns, TableError, find_columns
from reticent.data.people_tables import People
from reticent.data.profiles import Profiles, weight_units
from reticent.errors import require

if TYPE_CHECKING:
    from numpy.typing import NDArray

_HINT = "if it has another name: columns=Columns(user=..., item=..., weight=...)"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Interactions:
    """A long table in a frame, as profiles, and what its columns are called.

    ``weighted`` is whether it has a column of weights; without one every item counts in full.
    """

    frame: Frame
    profiles: Profiles
    user: Any
    item: Any
    weighted: bool

    @classmethod
    def of(
        cls,
        frame: Any,
        columns: Columns | None = None,
        *,
        people: Iterable[Any] | None = None,
        items: Iterable[Any] | None = None,
        hint: str = _HINT,
    ) -> Interactions:
        """From a frame with a line per person and item; who and what there is may be declared."""
        held = Frame.of(frame)
        header = [str(name) for name in held.names]
        found = find_columns(CALLED, header, columns or Columns(), hint=hint, lists=held.lists)
        user, item, weight = found
        names = held.names
        if header[item] in held.lists:  # a row for each person, who may have nothing
            people = held.labels(names[user])[1] if people is None else people
            held = held.exploded([header[at] for at in found[1:] if at is not None])
        who, what = held.labels(names[user]), held.labels(names[item])
        units = weight_units(1.0 if weight is None else held.weights(names[weight]))
        profiles = Profiles.of_codes(
            who, what, np.broadcast_to(units, who[0].shape), people=people, items=items
        )
        return cls(held, profiles, names[user], names[item], weight is not None)

    def __repr__(self) -> str:
        return f"Interactions({self.profiles!r})"  # who has what is private

    def by_person(self, numbers: NDArray[np.float64], names: Sequence[str]) -> Any:
        """A frame of the kind given: a row for each person, one column of numbers per name."""
        require(str(self.user) not in names, "names", str(self.user), "others than the person's")
        everyone = np.arange(len(self.profiles))
        who = self.frame.chosen(self.user, self.profiles.people, everyone)
        columns = {name: numbers[:, j] for j, name in enumerate(names)}
        return self.frame.made({self.user: who, **columns}, rows=False)

    def peers(self, places: NDArray[Any], scores: NDArray[np.float64]) -> Any:
        """Lists of neighbours as a long frame: person, rank, peer, score; -1 is left out."""
        return self._ranked(places, scores, "peer", self.user, self.profiles.people)

    def items(self, places: NDArray[Any], scores: NDArray[np.float64]) -> Any:
        """Lists of items as a long frame: person, rank, item, score; -1 is left out."""
        return self._ranked(places, scores, self.item, self.item, self.profiles.items)

    def _ranked(
        self, places: NDArray[Any], scores: NDArray[np.float64], head: Any, like: Any, names: Any
    ) -> Any:
        who, at = np.nonzero(places >= 0)
        columns = {
            self.user: self.frame.chosen(self.user, self.profiles.people, who),
            "rank": at + 1,
            head: self.frame.chosen(like, names, places[who, at]),
            "score": scores[who, at],
        }
        return self.frame.made(columns, rows=False)


def people_of(frame: Any) -> People:
    """A table of people, one line each, as columns of text, as ``read_people`` reads files."""
    held = Frame.of(frame)
    require(bool(held.names), "frame", "no columns", "a table with columns")
    names = [str(name).strip() for name in held.names]
    if len({name.casefold() for name in names}) < len(names):
        raise TableError(CALLED, "has two columns of the same name")
    columns = {name: held.texts(own) for name, own in zip(names, held.names, strict=True)}
    return People(CALLED, columns)


def graph_of(frame: Any, *, columns: tuple[str, str] | None = None, nodes: Nodes = None) -> Graph:
    """A graph from a table of edges, as ``read_graph`` finds its two columns in a file.

    Nodes keep the names they have; a line in which one is missing or empty is left out.
    """
    held = Frame.of(frame)
    spelt = [str(name).strip().casefold() for name in held.names]
    wanted = HEADERS if columns is None else (columns,)
    for one, other in wanted:
        pair = one.strip().casefold(), other.strip().casefold()
        if [spelt.count(name) for name in pair] == [1, 1]:
            ends = [held.labels(held.names[spelt.index(name)]) for name in pair]
            named = [np.array([*names, None], dtype=object)[codes] for codes, names in ends]
            return Graph.of_edges(zip(*named, strict=True), nodes)
    known = " or ".join(",".join(pair) for pair in wanted)
    raise TableError(CALLED, f"must have two columns called {known}")
