"""Caveats: against what a release does not protect, as far as several promises say so.

Not here  who holds the data and is trusted, caveats of one promise only (beside that promise).

A caveat is part of a list that begins with "not against", so it has no capital and no full stop.
"""

from __future__ import annotations

from itertools import product
from typing import Final

GROUPS: Final = "facts about groups that hold without this person"
COMPARED: Final = (GROUPS, "other releases about the same people: losses add up")
HISTOGRAM: Final = (
    "who sees several attributes at once: for them the loss of the whole release counts",
    "an attribute that tells about another one: a copy of a column is a copy of its secret",
    "providers who pool what they got: their losses add up",
    "conclusions about other facts that go with the items, hidden ones among them",
    GROUPS,
)
PROFILE: Final = (
    "who knows more about the person than how profiles and secrets go together",
    "conclusions about anything else: the rest of a profile is released nearly as it is",
    "a second draw for the same person, or one through another mapping: together they tell more",
    "people unlike those the mapping was learnt from: about them it may tell more",
)
HOLDER: Final = "whoever holds the profiles and runs the release: they see them raw and are trusted"
COUNTED: Final = (
    "how much a person's items count: noise covers that in one answer, not in the mean of many"
)
_WITHHELD: Final = (
    "who sees that a profile is withheld: they know that the mapping does not know it"
)
_SIZES: Final = (
    "sizes of profiles: they enter exactly and are not protected",
    "knowledge that an item is there: with exact sizes a small weight does not lessen that",
)
_TREATED: Final = "this is treated as public"


def profile_caveats(unknown: str) -> tuple[str, ...]:
    """Those of a profile; ``unknown`` is the mapping's rule for profiles that it does not know.

    What is withheld with certainty says that it was.
    """
    return PROFILE if unknown == "nearest" else (*PROFILE, _WITHHELD)


def similarity_caveats(norms: str, public: str) -> tuple[str, ...]:
    """Those of a comparison; ``public`` is what is said about who is in the table.

    ``norms`` is how sizes of profiles enter: "private", "public" or "none".
    """
    return (*(_SIZES if norms == "public" else (COUNTED,)), public, *COMPARED)


def public_lists(*, people: bool, items: bool, catalogue: bool = False) -> str:
    """What is public of a table, by what was declared; with a ``catalogue`` items are anyway."""
    if people:
        known = "the people and items" if items or catalogue else "the people"
        told = f"knowledge of {known} that were declared: these lists are public"
        occurring = "; which items occur in the table is treated as public, too"
        return told + ("" if items or catalogue else occurring)
    if catalogue:
        return f"knowledge of who is in the table: {_TREATED} (--people declares them instead)"
    if items:
        return (
            f"knowledge of who is in the table: {_TREATED} (--people declares them instead), "
            "and so are the items that were declared"
        )
    return (
        f"knowledge of who is in the table and which items occur in it: {_TREATED} (--people "
        "and --items declare them instead)"
    )


PUBLIC_LISTS: Final = frozenset(
    public_lists(people=people, items=items, catalogue=catalogue)
    for people, items, catalogue in product((False, True), repeat=3)
)
"""Every sentence about lists that are public."""
