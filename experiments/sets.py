"""The data sets, the experiments that read them, and what an entry of the catalogue is.

Not here  the entries (entries.py).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Data:
    """A public set: in which folder, which files (one of each group), where it is had."""

    name: str
    folder: str = ""
    files: tuple[tuple[str, ...], ...] = ()
    home: str = ""
    terms: str = ""


@dataclass(frozen=True, slots=True)
class Work:
    """An experiment: one module, one run, one page of the docs; ``options`` are its own."""

    module: str
    page: str
    paper: str
    command: str
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A figure or table: what reproduces it, or why nothing does.

    ``where`` is its name in the paper, empty if it is ours; ``parts`` are results that are not
    rows; ``instead`` says what stands in for data of the paper, ``not_compared`` why no point is.
    """

    id: str
    where: str
    title: str
    module: str = ""
    rows: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    data: tuple[str, ...] = ()
    instead: str = ""
    claims: tuple[str, ...] = ()
    not_reproduced: str = ""
    not_compared: str = ""


GROUPLENS = "https://grouplens.org/datasets/"
SNAP = "https://snap.stanford.edu/data/"
EDGES = (("edges.parquet", "edges.csv.gz", "edges.csv"),)
DATA = (
    Data("census", home="bundled with Reticent", terms="CC BY 4.0"),
    Data("made", home="made by the experiment itself"),
    Data(
        "movielens-100k",
        "movielens-100k",
        (("u.data", "u.data.gz"), ("u.item", "u.item.gz")),
        f"{GROUPLENS}movielens/100k/",
        "may not be passed on",
    ),
    Data(
        "movielens-1m",
        "movielens-1m",
        (
            ("ratings.dat", "ratings.parquet"),
            ("movies.dat", "movies.parquet"),
            ("users.dat", "users.parquet"),
        ),
        f"{GROUPLENS}movielens/1m/",
        "may not be passed on",
    ),
    Data(
        "lastfm-2k",
        "lastfm-2k",
        (("user_artists.dat", "user_artists.parquet"),),
        f"{GROUPLENS}hetrec-2011/",
        "non-commercial use",
    ),
    Data("email-enron", "email-enron", EDGES, f"{SNAP}email-Enron.html", "as published by SNAP"),
    Data("musae-github", "musae-github", EDGES, f"{SNAP}github-social.html", "MIT"),
    Data("ca-GrQc", "ca-GrQc", EDGES, f"{SNAP}ca-GrQc.html", "as published by SNAP"),
    Data(
        "dpbench",
        "dpbench",
        tuple((f"{name}.n4096.npy",) for name in ("HEPTH", "INCOME", "PATENT")),
        "https://github.com/dpcomp-org/dpcomp_core",
        "as published by DPBench",
    ),
    Data(
        "nltcs",
        "nltcs",
        (("nltcs_named.parquet",),),
        "https://www.icpsr.umich.edu/web/NACDA/studies/9681",
        "on request",
    ),
)

HDP, MULTI = "experiments.heterogeneous", "experiments.multilevel"
SPPM, DAMP, TREE = "experiments.mappings", "experiments.dampening", "experiments.dampening.tree"
_RUN = "reticent reproduce run"
EXPERIMENTS = (
    Work(HDP, "heterogeneous", "1 Heterogeneous DP", f"{_RUN} heterogeneous --record --data DIR"),
    Work(MULTI, "multilevel", "2 Multi-level controls", f"{_RUN} multilevel --record --data DIR"),
    Work(SPPM, "mappings", "3 Sparse mappings", f"{_RUN} mappings --record --data DIR"),
    Work(DAMP, "dampening", "4 Local dampening", f"{_RUN} dampening/fig-2 --record --data DIR"),
    Work(
        TREE,
        "trees",
        "4 Local dampening: trees",
        f"{_RUN} dampening/fig-3 --record --data DIR --diffprivlib PYTHON",
        ("--diffprivlib",),
    ),
)
