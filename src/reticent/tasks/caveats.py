"""Against what a release does not protect, by kind: one list for cards of every surface.

Not here  who holds the data and is trusted (each surface says its own), what is promised
          (guarantees/, mechanisms/).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from reticent.tasks.recoding import Recoding
    from reticent.tasks.similarity import Similarity

HISTOGRAM: Final = (
    "who sees several attributes at once: for them the loss of the whole release counts",
    "an attribute that tells about another one: a copy of a column is a copy of its secret",
    "providers who pool what they got: their losses add up",
    "conclusions about other facts that go with the items, hidden ones among them",
    "facts about groups that hold without this person",
)
PROFILE: Final = (
    "who knows more about the person than how profiles and secrets go together",
    "conclusions about anything else: the rest of a profile is released nearly as it is",
    "a second draw for the same person, or one through another mapping: together they tell more",
    "people unlike those the mapping was learnt from: about them it may tell more",
)
_WITHHELD: Final = (
    "who sees that a profile is withheld: they know that the mapping does not know it",
)
PEOPLE_ARE_PUBLIC: Final = "knowledge of whose data are held: the list of people is public"
COMPARED: Final = (
    "facts about groups that hold without this person",
    "other releases about the same people: losses add up",
)
_SIZES: Final = (
    "sizes of profiles: they enter exactly and are not protected",
    "knowledge that an item is there: with exact sizes a small weight does not lessen that",
)


def profile_caveats(recoding: Recoding) -> tuple[str, ...]:
    """Those of a profile; what is withheld with certainty says that it was."""
    return PROFILE if recoding.unknown == "nearest" else (*PROFILE, *_WITHHELD)


def unprotected_sizes(mechanism: Similarity) -> tuple[str, ...]:
    """What is added where sizes are exact."""
    return _SIZES if mechanism.norms == "public" else ()


def similarity_caveats(mechanism: Similarity, public: str = PEOPLE_ARE_PUBLIC) -> tuple[str, ...]:
    """Those of a comparison; ``public`` is what is said about who is in the table."""
    return (*unprotected_sizes(mechanism), public, *COMPARED)
