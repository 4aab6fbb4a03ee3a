"""The public data sets that Reticent brings along or knows how to read, as facts.

Not here  the commands (data_sets.py), the readers (data/).

Counts are those of the files as published. Nothing is downloaded.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_GROUPLENS = "https://grouplens.org/datasets/"
_SNAP = "https://snap.stanford.edu/data/"
_EDGES = (("edges.csv", "edges.csv.gz", "edges.parquet"),)
_TWO = "two columns of nodes with a header, as reticent release top-nodes reads them"


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSet:
    """A public set; ``files`` are groups of which one name each must be in ``folder``."""

    name: str
    what: str
    counts: str
    licence: str
    home: str
    reads: str
    files: tuple[tuple[str, ...], ...] = ()

    @property
    def bundled(self) -> bool:
        """Whether it comes with the package."""
        return not self.files

    def lacking(self, folder: Path | None) -> list[str]:
        """The files that are not there, by all names they may have; none of a bundled set."""
        return [
            " or ".join(names)
            for names in self.files
            if folder is None or not any((folder / self.name / name).is_file() for name in names)
        ]


KNOWN = (
    DataSet(
        name="adult",
        what="census of 1994: age, job, education, income and more",
        counts="48,842 records, 15 columns",
        licence="CC BY 4.0",
        home="https://doi.org/10.24432/C5XW20",
        reads="reticent.data.load_adult()",
    ),
    DataSet(
        name="musae-github",
        what="who of GitHub's developers follow each other",
        counts="37,700 nodes, 289,003 links",
        licence="MIT",
        home=f"{_SNAP}github-social.html",
        reads="reticent.data.github.load_github()",
    ),
    DataSet(
        name="email-enron",
        what="who wrote e-mail to whom at Enron",
        counts="36,692 nodes, 183,831 links",
        licence="none is stated",
        home=f"{_SNAP}email-Enron.html",
        reads=_TWO,
        files=_EDGES,
    ),
    DataSet(
        name="ca-GrQc",
        what="who wrote papers together",
        counts="5,242 nodes, 14,484 links without loops",
        licence="none is stated",
        home=f"{_SNAP}ca-GrQc.html",
        reads=_TWO,
        files=_EDGES,
    ),
    DataSet(
        name="movielens-100k",
        what="who rated which film; genres",
        counts="943 people, 1,682 films, 100,000 ratings",
        licence="research; may not be passed on",
        home=f"{_GROUPLENS}movielens/100k/",
        reads="reticent.data.sources.movielens.movielens_100k(FOLDER)",
        files=(("u.data", "u.data.gz"), ("u.item", "u.item.gz")),
    ),
    DataSet(
        name="movielens-1m",
        what="who rated which film; genres, gender, age",
        counts="6,040 people, 3,883 films, 1,000,209 ratings",
        licence="research; may not be passed on",
        home=f"{_GROUPLENS}movielens/1m/",
        reads="reticent.data.sources.movielens.movielens_1m(FOLDER)",
        files=(
            ("ratings.dat", "ratings.parquet"),
            ("movies.dat", "movies.parquet"),
            ("users.dat", "users.parquet"),
        ),
    ),
    DataSet(
        name="lastfm-2k",
        what="who played which artist",
        counts="1,892 people, 17,632 artists, 92,834 pairs",
        licence="non-commercial use",
        home=f"{_GROUPLENS}hetrec-2011/",
        reads="reticent.data.sources.lastfm.lastfm_2k(FOLDER)",
        files=(("user_artists.dat", "user_artists.parquet"),),
    ),
    DataSet(
        name="nltcs",
        what="care of the elderly: what people can do themselves",
        counts="21,574 records, 16 columns of 0 and 1",
        licence="on request",
        home="https://www.icpsr.umich.edu/web/NACDA/studies/9681",
        reads="reticent release tree, with a header and declared columns",
        files=(("nltcs_named.parquet",),),
    ),
    DataSet(
        name="dpbench",
        what="histograms with which mechanisms are compared",
        counts="3 histograms of 4,096 cells",
        licence="as published by DPBench",
        home="https://github.com/dpcomp-org/dpcomp_core",
        reads="numpy.load",
        files=tuple((f"{name}.n4096.npy",) for name in ("HEPTH", "INCOME", "PATENT")),
    ),
)
