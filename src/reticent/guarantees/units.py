"""Units: what one neighbour can change, and what a promise is therefore about.

Theory    docs/theory/guarantees.md, Definition 1 (neighbours)
Not here  how much is lost (losses.py).

A loss means nothing without its unit. The same epsilon says "whether this film is on your list"
for an item and "whether you took part" for a record, so units never mix in a sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from reticent.errors import require

Thing: TypeAlias = Literal["item", "edge", "record", "person"]
Relation: TypeAlias = Literal["add-remove", "substitute"]


@dataclass(frozen=True, slots=True)
class Unit:
    """One item of a profile, edge of a graph, record of a table or person, and how it may differ.

    ``add-remove``: it is there or it is not (an item's value may also move within [0, 1]).
    ``substitute``: it is replaced by another one; how many there are stays the same.
    """

    thing: Thing
    relation: Relation

    def __post_init__(self) -> None:
        require(self.thing in get_args(Thing), "thing", self.thing, "item, edge, record or person")
        require(
            self.relation in get_args(Relation),
            "relation",
            self.relation,
            "add-remove or substitute",
        )

    def __str__(self) -> str:
        noun = {
            "item": "item of a profile",
            "edge": "edge of a graph",
            "record": "record",
            "person": "person with all their records",
        }
        verb = {"add-remove": "added or removed", "substitute": "replaced by another"}
        return f"one {noun[self.thing]}, {verb[self.relation]}"

    @property
    def question(self) -> str:
        """What an observer may be undecided about, in the words of the person protected."""
        return _QUESTIONS[self.thing, self.relation]

    @property
    def beyond(self) -> str | None:
        """A question that needs two steps from neighbour to neighbour, so costs twice the loss."""
        return _BEYOND.get((self.thing, self.relation))


_QUESTIONS: dict[tuple[Thing, Relation], str] = {
    ("item", "add-remove"): "whether one given item is in your profile",
    ("item", "substitute"): "which of two given items of the catalogue is in your profile",
    ("edge", "add-remove"): "whether one given link exists",
    ("edge", "substitute"): "which of two given links exists",
    ("record", "add-remove"): "whether your record is in the data",
    ("record", "substitute"): "which of two given values your record holds",
    ("person", "add-remove"): "whether you are in the data",
    ("person", "substitute"): "which of two given sets of records is yours",
}

_BEYOND: dict[tuple[Thing, Relation], str] = {
    ("item", "add-remove"): "which of two given items is in your profile",
    ("edge", "add-remove"): "which of two given links exists",
    ("record", "add-remove"): "which of two given values your record holds",
    ("person", "add-remove"): "which of two given sets of records is yours",
}

ITEM = Unit("item", "add-remove")
ITEM_SUBSTITUTE = Unit("item", "substitute")
EDGE = Unit("edge", "add-remove")
RECORD = Unit("record", "add-remove")
RECORD_SUBSTITUTE = Unit("record", "substitute")
PERSON = Unit("person", "add-remove")
