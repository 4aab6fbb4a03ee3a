"""Promises about tables and graphs as a whole: quantiles, people at a rank, trees, top nodes.

Theory    docs/theory/percentile.md; docs/theory/tree.md, Theorem 1; docs/theory/influence.md,
          Theorem 1 (graphs beyond the bound)
Not here  promises about people's profiles (profiles.py).
"""

from __future__ import annotations

from typing import Final

from reticent.guarantees.card import ANYONE, Scope
from reticent.guarantees.promises.caveats import COMPARED
from reticent.guarantees.promises.stated import NOBODY, states
from reticent.guarantees.units import PERSON, RECORD, Unit

_SEVERAL: Final = "people of whom there are several records: the loss is that of one record"
_PREDICTED: Final = (
    "knowledge of rows that are given to the tree to be predicted: they are not protected by it"
)
_ONE_ROW: Final = (
    "whoever runs this command and holds the table: they see all rows and are trusted",
    "knowledge of the columns, their values, and the classes: they are declared and public",
    _PREDICTED,
    "people of whom there are several rows: the loss is that of one row",
    "facts about groups that hold without this row",
    "other releases about the same rows: losses add up",
)
_FIRST_LINKS: Final = (
    "a node's first or last link: nodes are those that have a link, so it decides who is one"
)
_ONE_LINK: Final = (
    "whoever holds the graph and makes the release: they see all links and are trusted",
    "knowledge of who is a node: the list of nodes is public",
    "conclusions about several links together, as all those of a node: their losses add up",
    "facts about groups that hold without this link",
    "other releases about the same graph: losses add up",
)


@states("person", "record")
def counts(unit: Unit, *, records: int) -> Scope:
    """Counts or sums by category; of a person ``records`` count at most."""
    whole = "every person in the table, for all their records together: whether they are in it"
    return Scope(
        protected=whole if unit == PERSON else "every record of the table, for whether it is there",
        observer=f"{ANYONE}, also all other records",
        not_against=(
            "whoever holds the table and makes the release: they see all records and are trusted",
            "knowledge of the categories and the range of values: they are declared and public",
            *(() if unit == PERSON else (_SEVERAL,)),
            *COMPARED,
        ),
        model="central",
    )


@states(NOBODY)
def mapping(secret: str) -> Scope:
    """A mapping learnt from people as they are; cards of who is released through it promise."""
    return Scope(
        protected="nobody: the people it is learnt from are counted without noise",
        observer="nobody",
        not_against=(
            "whoever has the mapping: which profiles people have, and how they go with "
            f"{secret}, shaped it",
            "whoever holds the table and learns from it: they see all of it and are trusted",
            "whoever sees profiles released through it: cards of those releases say what they tell",
        ),
        model="central",
    )


@states("record")
def quantile() -> Scope:
    """A number near a quantile of everybody's values."""
    return Scope(
        protected="every person's value, replaced by any other one",
        observer=f"{ANYONE}, also all other values",
        not_against=(
            "whoever holds the table and makes the release: they see all values and are trusted",
            "knowledge of who is in the table, and of how many: both are public",
            *COMPARED,
        ),
        model="central",
    )


@states("record")
def percentile() -> Scope:
    """A person near a rank: what a number near it promises."""
    return quantile()


@states("record")
def tree(unit: Unit) -> Scope:
    """A decision tree; ``unit`` is a record that is there or not, or one that is replaced."""
    what = "whether it is there" if unit == RECORD else "what it says"
    return Scope(
        protected=f"every row of the table, for {what}",
        observer="Anyone who sees the tree (its splits and noisy counts) or what is computed from "
        "it, as predictions and pictures, whatever else they know, also all other rows",
        not_against=_ONE_ROW,
        model="central",
    )


@states()
def predictions(tree: Scope, *, card: str) -> Scope:
    """What a released tree says of other rows: its own promise, of which ``card`` speaks."""
    return Scope(
        protected="those whose rows the tree was grown from, as the tree's card promises them "
        f"({card}: {tree.protected}); not the rows that are predicted here",
        observer=tree.observer,
        not_against=(
            "whoever sees these predictions, for the rows that are predicted: each tells about its "
            "row, and nothing here protects it",
            *(caveat for caveat in tree.not_against if caveat != _PREDICTED),
        ),
        model=tree.model,
    )


@states("edge")
def top_nodes(*, bound: int, inside: bool, declared: bool) -> Scope:
    """The most influential nodes of a graph.

    ``inside`` says that the promise holds only for graphs whose nodes have at most ``bound`` links,
    ``declared`` that the nodes were listed, not taken from the links.
    """
    stated = f", if no node can have more than {bound:,} links, as was stated"
    return Scope(
        protected=f"every link of the graph, one at a time{stated if inside else ''}",
        observer="Anyone who sees the names, whatever else they know, also all other links",
        not_against=_ONE_LINK if declared else (*_ONE_LINK[:2], _FIRST_LINKS, *_ONE_LINK[2:]),
        model="central",
    )
