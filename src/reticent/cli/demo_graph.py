"""The graph of ``reticent demo``: ten influential developers, so that no single link shows.

Theory    docs/theory/influence.md, Lemma 1; docs/theory/dampening.md
Not here  the other steps, the attack on them (demo_attacks.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reticent.amounts import NANO
from reticent.cli.demo_tour import PUBLIC, Planned, Step, Tour
from reticent.data.github import GITHUB_SIZE, load_github
from reticent.guarantees import promises
from reticent.mechanisms.comparison import compare
from reticent.report.document import Grid, Picture, Section
from reticent.report.selection_figures import overlap_figure
from reticent.tasks.charged import Payer, release_once
from reticent.tasks.influence import Influence

if TYPE_CHECKING:
    from reticent.mechanisms.dampening import Scored

K, EPSILON = 10, "0.5"
LIMIT = NANO  # what the graph may lose in all
EPSILONS = ("0.01", "0.05", "0.1", "0.5")


def influence(fast: bool) -> Influence:
    """Nobody can have more links than there are others, so the bound needs no look at data."""
    return Influence(
        k=K,
        epsilon=EPSILON,
        nodes=GITHUB_SIZE,
        bound=GITHUB_SIZE - 1,
        within=True,
        centrality="degree" if fast else "ebc",  # which has to be compiled first
    )


def planned(fast: bool) -> list[Planned]:
    """What the list would tell."""
    mechanism = influence(fast).mechanism
    return [Planned.of("Ten influential nodes", mechanism, "depends on the graph")]


def influencers(tour: Tour) -> Step:
    """The ten developers who stand most between others, or in a hurry: who have most links."""
    wish, graph = influence(tour.fast), load_github()
    scored = wish.scored(graph)
    payer = Payer(subject=tour.subject("data set GitHub"), limit=LIMIT)
    paid = release_once(wish.mechanism, scored, tour.source(), ledger=tour.ledger, payers=payer)
    chosen = sorted(paid.value.value)
    tour.cards["influencers"] = paid.value.card(
        "Ten influential developers",
        scope=promises.demo_top_nodes(),
        budget=paid.budget,
        command=tour.command,
        made=tour.made,
    )
    values = np.asarray(scored.utilities)
    best = np.argsort(-values, kind="stable")[:K].tolist()
    right = len(set(best) & set(chosen))
    what = "have most links" if tour.fast else "stand most between others"
    lines = [
        f"{GITHUB_SIZE:,} developers, whose links are private. The ten who {what}:",
        f"{', '.join(map(str, chosen))}; right: {right} of {K}.",
    ]
    words = [
        f"Nodes are public, links are private: ten of {GITHUB_SIZE:,} developers who {what} are "
        f"chosen so that no single link shows. {right} of them are among the true ten. {PUBLIC}",
    ]
    heads = ("developer ", "score ", "rank by true scores ")
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[np.argsort(-values, kind="stable")] = np.arange(1, len(values) + 1)
    rows = [(str(node), f"{values[node]:,.0f}", f"{ranks[node]:,}") for node in chosen]
    section = Section(
        title="Selection: ten influential developers",
        words=words,
        pictures=[_picture(tour, scored, wish)],
        grids=[Grid("The developers chosen; their order means nothing", heads, rows)],
    )
    fields = {"influencers": {"chosen": chosen, "right": right, "centrality": wish.centrality}}
    return Step(lines=lines, fields=fields, section=section, cards=("influencers",))


def _picture(tour: Tour, scored: Scored, wish: Influence) -> Picture:
    """How many of the true ten are found at other budgets; nothing of this would be released."""
    ours = "permute-and-flip" if tour.fast else "adaptive"
    runs = 5 if tour.fast else 10
    compared = compare(
        scored,
        wish.mechanism,
        epsilons=EPSILONS,
        runs=runs,
        source=tour.source(),
        only=("exponential", ours),
    )
    drawn = overlap_figure(compared, what="the ten that stand out most", chance=K / GITHUB_SIZE)
    caption = (
        f"The share of the true ten that is found, against epsilon, {runs} runs each: the way that "
        f"was used ({ours}) beside the exponential mechanism. Only public data allow such a look."
    )
    return Picture(drawn, caption)
