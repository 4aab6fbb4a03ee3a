"""The entries of the catalogue: the papers' figures and tables, and what we measured beyond them.

Not here  how they are looked up (catalogue.py).

A row belongs to an entry if its figure, or its figure::data, matches one of the entry's patterns.
"""

from __future__ import annotations

from typing import Any

from experiments.sets import DAMP, HDP, MULTI, SPPM, TREE, Entry

DIGG = (
    "Digg, Delicious and the news survey may not be passed on; MovieLens 100K, Last.fm 2K and two "
    "made sets of about the size of Digg and Delicious stand in"
)
YELP_MSNBC = "Yelp and MSNBC: a made catalogue like Yelp's, and one attribute per item as in MSNBC"
TAGS = "the paper's 31 genres came from tags that are not public; MovieLens has 18"
DBLP = "DBLP is not among the sets at hand; ca-GrQc, co-authors too, stands in"
ACS = "ACS is had from IPUMS by each person alone; Adult and NLTCS are run"
SCHEME = "a drawing of who sends what to whom: nothing is measured"
TIMES = "running times differ between machines: shown, not compared"


_CLUBS = ("movielens-100k", "lastfm-2k", "made")
_PEOPLE = ("movielens-1m", "movielens-100k", "made")
_CASES = ("census", "movielens-1m")
_GRAPHS = ("email-enron", "musae-github", "ca-GrQc")


def _of(paper: str, module: str, about: tuple[str, str, str], *rows: str, **others: Any) -> Entry:
    name, where, title = about
    return Entry(id=f"{paper}/{name}", where=where, title=title, module=module, rows=rows, **others)


def _hdp(name: str, where: str, title: str, *rows: str, **others: Any) -> Entry:
    about = (name, where, title)
    return _of("heterogeneous", HDP, about, *rows, data=_CLUBS, instead=DIGG, **others)


def _multi(name: str, where: str, title: str, *rows: str, **others: Any) -> Entry:
    return _of("multilevel", MULTI, (name, where, title), *rows, **others)


def _map(name: str, where: str, title: str, *rows: str, **others: Any) -> Entry:
    return _of("mappings", SPPM, (name, where, title), *rows, **{"data": _CASES, **others})


def _damp(name: str, where: str, title: str, *rows: str, **others: Any) -> Entry:
    about = (name, where, title)
    return _of("dampening", DAMP, about, *rows, **{"data": ("made",), **others})


def _tree(name: str, where: str, title: str, *rows: str, **others: Any) -> Entry:
    about = (name, where, title)
    return _of("dampening", TREE, about, *rows, data=("census", "nltcs"), **others)


HETEROGENEOUS = (
    _hdp("fig-1", "Figure 1", "recall against the lowest weight u", "1", "1e"),
    _hdp("fig-2", "Figure 2", "recall against slices", "2"),
    _hdp("fig-3", "Figure 3", "recall by group of privacy attitude", "3", "3i"),
    _hdp(
        "fig-4", "Figure 4", "heterogeneous against Naive", "4", claims=("The same, counting only",)
    ),
    _hdp("fig-5", "Figure 5", "Naive against the share of people removed", "5"),
    _hdp(
        "equal-loss",
        "",
        "the authors' protocol and ours at equal total loss",
        *("recall", "recall@20", "NDCG@20", "groups *"),
        claims=("A node meets", "Ours: "),
    ),
)

MULTILEVEL = (
    Entry(
        id="multilevel/fig-1",
        where="Figure 1",
        title="perturbation on a device",
        not_reproduced=SCHEME,
    ),
    Entry(
        id="multilevel/tab-1",
        where="Table 1",
        title="notations",
        not_reproduced="a list of symbols: nothing is measured; ours are in docs/notation.md",
    ),
    _multi(
        "fig-2",
        "Figure 2",
        "error of all attributes against epsilon",
        *("MAE, s*", "MSE, s*", "advantage, *", "excess MAE, *", "excess MSE, *"),
        *("threshold, *", "lost above the threshold"),
        data=("movielens-1m", "made"),
        instead=YELP_MSNBC,
        claims=("The smaller epsilon", "MSE is the best goal", "Above the threshold"),
    ),
    _multi(
        "fig-3",
        "Figure 3",
        "loss of single attributes, and KL divergence",
        "MAEL, *",
        "KL, *",
        "excess MAEL, *",
        "kept*",
        data=("movielens-1m", "made"),
        instead=YELP_MSNBC,
        claims=("It lowers all attributes",),
    ),
    _multi(
        "fig-4",
        "Figure 4",
        "running time",
        parts=("costs",),
        data=("movielens-1m", "made"),
        instead=f"{YELP_MSNBC}; one computer, no telephone",
        not_compared=TIMES,
    ),
    _multi(
        "case-study",
        "Section 5.3",
        "recommendations from a noisy histogram",
        "recall@20*",
        "NDCG@20*",
        "MAE",
        "MAE over raw",
        "MAE, balanced*",
        "stars*",
        data=_PEOPLE,
        claims=("Case study",),
    ),
    _multi(
        "beyond",
        "",
        "whole numbers, and keeping to what can be true",
        "lattice",
        "lower bound",
        "post-processing*",
        data=_PEOPLE,
        claims=("Theorem 3", "Ours: keeping"),
    ),
)


MAPPINGS = (
    _map(
        "fig-1",
        "Figure 1",
        "optimal mappings of the example",
        "kept",
        parts=("pictures",),
        data=("made",),
    ),
    _map(
        "fig-2",
        "Figure 2",
        "leak against distortion, and the number of steps",
        *("leak", "needed", "times", "left", "untouched", "gap", "promise", "peers", "solved"),
        *("by length", "excess", "perfect privacy"),
        instead=TAGS,
        claims=(
            "The example: 100 steps",
            "500 steps gain",
            "Census: a distortion",
            "Census: the exp",
            "Films: 0.03 takes",
            "Perfect or near",
            "The exponential mechanism leaks",
        ),
    ),
    _map(
        "fig-3",
        "Figure 3",
        "naive Bayes on the census",
        "AUC::census*",
        data=("census",),
        parts=("rocs",),
    ),
    _map(
        "fig-4",
        "Figure 4",
        "logistic regression on films",
        "AUC::*films*",
        parts=("rocs",),
        data=("movielens-1m",),
        instead=TAGS,
        claims=("Whatever the attacker",),
    ),
    _map("fig-5", "Figure 5", "where points go", "by rank", data=("made",)),
    _map("fig-6", "Figure 6", "running time", "time", data=("made",), not_compared=TIMES),
    _map(
        "fig-7",
        "Figure 7",
        "outputs of a profile",
        "support",
        data=("movielens-1m", "made"),
        instead=TAGS,
    ),
    _map(
        "tab-1",
        "Table 1",
        "what single features tell, before and after",
        "features",
        "all features",
        "Delta of features",
        "sampled",
        instead=TAGS,
        claims=("Films: single features",),
    ),
    _map(
        "method",
        "Section 3",
        "the paper's algorithm, its gradient and its steps",
        "gradient",
        "rises",
        "L times excess",
        data=("made",),
        claims=(
            "The printed gradient",
            "The method may start",
            "The leak falls",
            "The excess falls",
            "Variables grow",
        ),
    ),
    _map(
        "other-people",
        "",
        "people whom the mapping was not made from, and several releases",
        "halves",
        "shifted",
        "worst",
        "releases",
        claims=("The leak found for the law",),
    ),
)


DAMPENING = (
    Entry(
        id="dampening/fig-1",
        where="Figure 1",
        title="without a caption",
        not_reproduced="the paper's text neither mentions nor describes a Figure 1",
    ),
    _damp(
        "fig-2",
        "Figure 2",
        "influential nodes found against epsilon",
        *("overlap*", "budget*", "factor*", "correlation", "without noise", "focus"),
        data=_GRAPHS,
        instead=DBLP,
        claims=(
            "As accurate as",
            "Permute-and-flip",
            "All do worse",
            "The exponential mechanism is the worst",
            "Shifted dampening outperforms",
            "The gain comes",
            "Ours: as good",
            "Ours: nowhere",
            "Ours: with the one",
        ),
    ),
    _tree(
        "fig-3",
        "Figure 3",
        "accuracy of decision trees against epsilon",
        "accuracy*",
        "over *",
        "no noise*",
        instead=ACS,
        claims=(
            "Dampening improves",
            "by up to 5",
            "Shifted",
            "On Adult",
            "Though no set",
            "Ours: ",
        ),
    ),
    _damp(
        "percentiles",
        "Section 1.2",
        "error of percentiles",
        "value error*",
        "rank error*",
        "less *",
        data=("dpbench",),
        instead="the paper shows no figure of its percentiles; DPBench's sets are run",
        claims=("Percentiles: up to", "Ours: at epsilon 1 the person"),
    ),
    _damp(
        "running-time",
        "Section 1.2",
        "running time",
        "time",
        "growth",
        claims=("Running time",),
        not_compared=TIMES,
    ),
    _damp(
        "counterexamples",
        "Sections 3 and 4.3",
        "lemmas on cases small enough to enumerate",
        *("one score moves", "loss", "range of scores", "chance of the best", "gaps out of order"),
        claims=(
            "Lemma ",
            "With Delta",
            "Percentiles with L",
            "Local sensitivity is",
            "Corollary 1",
        ),
    ),
    _tree(
        "tree-bounds",
        "Section 5.2",
        "the sensitivity of information gain",
        "fact",
        claims=("The sensitivity of information", "It may be capped", "It may be computed"),
    ),
    _tree(
        "tree-choices",
        "",
        "our tree with one choice changed at a time",
        "ablation*",
    ),
)

ENTRIES = (*HETEROGENEOUS, *MULTILEVEL, *MAPPINGS, *DAMPENING)
