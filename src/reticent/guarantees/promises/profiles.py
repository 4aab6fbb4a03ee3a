"""Promises about people's profiles: histograms, profiles through a mapping, comparisons, lists.

Theory    docs/theory/guarantees.md, Theorem 4 (odds); docs/theory/neighbours.md, Theorem 2 (who
          sees which lists)
Not here  caveats that they share (caveats.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from reticent.amounts import show_nano
from reticent.guarantees.card import ANYONE, Scope, right_at_most
from reticent.guarantees.promises.caveats import (
    COMPARED,
    COUNTED,
    HISTOGRAM,
    HOLDER,
    profile_caveats,
    similarity_caveats,
)
from reticent.guarantees.promises.stated import LEAK, states

UNPROTECTED_ITEMS: Final = (
    "the recommended items are not covered by the guarantee: they come from the neighbours' raw "
    "profiles, and nothing bounds what they tell, except that an item of weight 0 adds nothing"
)
_EVERY_ITEM: Final = "every item of their profile, by its weight"


@states("item")
def histogram(
    provider: str,
    *,
    weighted: bool,
    model: Literal["local", "central"],
    public: Sequence[str] = (),
) -> Scope:
    """One person's histogram for a provider; ``public`` is what else it does not protect.

    ``weighted`` says that items count by weight. In the local model nobody else holds the profile.
    """
    trusted, counted = () if model == "local" else (HOLDER,), (COUNTED,) if weighted else ()
    return Scope(
        protected=f"the person, for every item of their profile{', by its weight' * weighted}",
        observer=f"anyone who sees it, {provider} first, whatever they know",
        not_against=(*trusted, *counted, *public, *HISTOGRAM),
        model=model,
    )


@states("item")
def items(*, public: str) -> Scope:
    """A value for each person that is drawn from their items by weight.

    ``public`` is what is said about who is in the table.
    """
    return Scope(
        protected=f"each person, for {_EVERY_ITEM}",
        observer=ANYONE,
        not_against=(HOLDER, COUNTED, public, *COMPARED),
        model="central",
    )


@states(LEAK)
def profile(secret: str, prior: str, *, unknown: str, own_device: bool) -> Scope:
    """People's profiles through a mapping that hides a secret.

    ``prior`` is what an observer knows of how profiles and secrets go together, ``unknown`` the
    mapping's rule for profiles that it does not know.
    """
    return Scope(
        protected=f"each person who is released, for {secret}",
        observer=f"Anyone who sees one release of a person, and knows the mapping and {prior}",
        not_against=(*(() if own_device else (HOLDER,)), *profile_caveats(unknown)),
        model="local" if own_device else "central",
    )


@states("item")
def similarity(*, norms: str, public: str) -> Scope:
    """A comparison of two people.

    ``norms`` is how sizes of profiles enter: "private", "public" or "none". ``public`` is what is
    said about who is in the table; both mean the same below.
    """
    return Scope(
        protected=f"both people, each for {_items(norms)}",
        observer=ANYONE + _beyond_sizes(norms),
        not_against=(HOLDER, *similarity_caveats(norms, public)),
        model="central",
    )


@states("item")
def neighbours_direct(*, norms: str, public: str, one: int, others: int) -> Scope:
    """Lists of neighbours with noise of their own, to a reader of all; who sees fewer learns less.

    ``one`` and ``others`` are what an item loses to one other person and to all others together,
    in units of 1e-9.
    """
    return Scope(
        protected=f"everybody in the table, for {_items(norms)}. If each "
        "list goes to its owner only, an item of weight 1 loses less: to one other person "
        f"alone at most ε = {show_nano(one)} (right at most {right_at_most(one)} times in "
        f"100), to all others together {show_nano(others)}",
        observer="Anyone who reads all lists, whatever else they know" + _beyond_sizes(norms),
        not_against=(HOLDER, *similarity_caveats(norms, public)),
        model="central",
    )


@states("item")
def neighbours_gossip(*, norms: str, public: str) -> Scope:
    """Lists of neighbours from meetings; comparisons need a trusted party."""
    return Scope(
        protected=f"everybody in the table, for {_items(norms)}",
        observer="Anyone who sees all lists and who met whom; one other person is counted as "
        "everybody, for whom one meets depends on what others saw" + _beyond_sizes(norms),
        not_against=(
            HOLDER,
            "whoever makes the comparisons: a trusted party, or a protocol that shows both "
            "ends nothing but the noisy score",
            *similarity_caveats(norms, public),
        ),
        model="central",
    )


@states("item")
def neighbours_sketches(*, public: str) -> Scope:
    """Published filters and the lists read off them; people could make the filters themselves."""
    return Scope(
        protected=f"each person, for {_EVERY_ITEM}",
        observer="Anyone who sees the filters or all lists, whatever else they know",
        not_against=(
            HOLDER,
            "a second publication of the same profile: it adds up",
            public,
            *COMPARED,
        ),
        model="central",
    )


@states()
def read_off_sketches(sketches: Scope, *, card: str) -> Scope:
    """What is computed from released sketches: their own promise, of which ``card`` speaks."""
    return sketches.model_copy(
        update={
            "protected": f"{sketches.protected}, as the card of the sketches promises ({card}): "
            "nothing but the sketches and public lists was read",
        }
    )


@states()
def behind_recommendations(lists: Scope) -> Scope:
    """The promise of neighbour lists, where it could be taken for one of recommendations."""
    return lists.model_copy(
        update={
            "observer": f"{lists.observer}. Of the neighbour lists only, not the recommendations",
            "not_against": (
                f"whoever sees the recommendations: {UNPROTECTED_ITEMS}",
                *lists.not_against,
            ),
        }
    )


def _items(norms: str) -> str:
    """What of a profile is protected: with exact sizes an exchange of items, not their number."""
    if norms == "public":
        return "which items are in their profile, given how many, by the larger of two weights"
    return _EVERY_ITEM


def _beyond_sizes(norms: str) -> str:
    """The limit of the observer's sentence when sizes are exact."""
    return ", beyond what exact sizes tell" if norms == "public" else ""
