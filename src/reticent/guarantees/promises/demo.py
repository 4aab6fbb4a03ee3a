"""Promises of ``reticent demo``, in the words of its people and data.

Not here  those of the queries (profiles.py, tables.py).
"""

from __future__ import annotations

from reticent.guarantees.card import Scope
from reticent.guarantees.promises.stated import LEAK, states


@states("item")
def demo_similarity() -> Scope:
    """Films that two members have in common."""
    return Scope(
        protected="Ann and the other member; whether one film is on a list, by its weight",
        not_against=(
            "whoever compares the lists: they see both and are trusted",
            "what several comparisons tell together: their losses add up",
        ),
        model="central",
    )


@states(LEAK)
def demo_profile() -> Scope:
    """A census profile that hides income."""
    return Scope(
        protected="the person, against conclusions about income, on average over the people",
        observer="Anyone who sees one release of a person, and knows the mapping and how the "
        "people are on average; not who knows more about this one",
        not_against=(
            "whoever holds the record and draws: they see it",
            "conclusions about anything else: the rest is released nearly as it is",
            "a second draw for the same person: together they tell more",
        ),
        model="central",
    )


@states("record")
def demo_census() -> Scope:
    """A percentile of the census and a tree grown from it."""
    return Scope(
        protected="every person in the sample, whatever their record says",
        not_against=(
            "whoever holds the data, and a break-in there",
            "facts about groups that hold with or without you",
            "what other people tell about you",
        ),
        model="central",
    )


@states("edge")
def demo_top_nodes() -> Scope:
    """Influential developers, none of whose links shows."""
    return Scope(
        protected="every link of the graph, one at a time",
        observer="Anyone who sees the list, whatever else they know, also all other links",
        not_against=(
            "whoever holds the graph: they see all links and are trusted",
            "knowledge of who is a developer: the list of nodes is public",
            "conclusions about all links of a developer together: their losses add up",
        ),
        model="central",
    )
