"""The two tables of the experiment as codes, how much is run, and what is not there.

Adult as the paper's author prepares it: rows with something missing dropped, 12 predictors, four of
them numbers in bins of one width between public bounds. NLTCS has 16 columns of yes and no; the
paper does not name the class. Columns are in the order of the file that others pass on (a0 to a15)
and the last is the class, as in one of the author's programs. The paper's third table, of the ACS,
is left out: 93 % of its rows are of one class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.harness import stream
from reticent.data import load_adult
from reticent.data.adult import ADULT_CATEGORIES, ADULT_COLUMNS
from reticent.data.sources import DataMissing, find
from reticent.data.sources.columns import read_parquet
from reticent.data.synthetic import uniform
from reticent.tasks.columns import Column, encode

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Codes = NDArray[np.uint16]
    Values = NDArray[Any]

EPSILONS = (0.01, 0.05, 0.1, 0.5, 1.0, 2.0)
TABLED = (0.05, 0.1, 0.5, 1.0)
PAPERS, OURS = "paper's", "ours"  # two codings of one table
PAPERS_BINS, OUR_BINS = 20, 32
RANGES = {
    "age": (17, 91),
    "education-num": (1, 17),
    "capital-gain": (0, 100_000),
    "capital-loss": (0, 5_000),
    "hours-per-week": (1, 100),
}
PREDICTORS = tuple(n for n in ADULT_COLUMNS if n not in ("fnlwgt", "education", "income"))
MARRIED = ("Married-civ-spouse", "Married-AF-spouse")
NLTCS = (
    "telephoning",
    "taking medicine",
    "managing money",
    "traveling",
    "eating",
    "grocery shopping",
    "cooking",
    "laundry",
    "light house work",
    "heavy house work",
    "using toilet",
    "bathing",
    "dressing",
    "getting around inside",
    "getting in/out of bed",
    "getting about outside",
)


@dataclass(frozen=True, slots=True, eq=False)
class Coding:
    """Codes [n, d], how many each column has, and which are in an order."""

    codes: Codes
    sizes: tuple[int, ...]
    ordered: tuple[bool, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """A table: the class of each row, a declared bound of rows, and codings by name."""

    name: str
    target: str
    y: NDArray[np.int64]
    rows: int
    columns: dict[str, Values] = field(repr=False)
    held: dict[tuple[str, int], Coding] = field(default_factory=dict, repr=False)

    def coding(self, how: str = PAPERS, bins: int | None = None) -> Coding:
        """The codes of this table; made once. Nothing is missing, so no code is kept for it."""
        wanted = (PAPERS_BINS if how == PAPERS else OUR_BINS) if bins is None else bins
        if (how, wanted) not in self.held:
            declared = [_declared(name, how, wanted) for name in self.columns]
            values = [_values(name, how, some) for name, some in self.columns.items()]
            self.held[how, wanted] = Coding(
                encode(declared, values),
                tuple(column.size - 1 for column in declared),
                tuple(column.ordered for column in declared),
            )
        return self.held[how, wanted]

    @property
    def majority(self) -> float:
        """The share of the most frequent class."""
        return float(np.bincount(self.y).max() / len(self.y))


def _declared(name: str, how: str, bins: int) -> Column:
    if name == "education-num":
        return Column.numbers(name, RANGES[name], bins=16)
    if name in RANGES:
        return Column.numbers(name, RANGES[name], bins=bins)
    if name == "marital-status" and how == PAPERS:
        return Column(name, categories=(0, 1))
    return Column(name, categories=ADULT_CATEGORIES.get(name, (0, 1)))


def _values(name: str, how: str, values: Values) -> Values:
    if name == "marital-status" and how == PAPERS:
        return np.isin(values, MARRIED).astype(np.int64)
    return values


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is run; ``rows`` is the most of a table that is used."""

    runs: int
    ablation_runs: int
    folds: int
    epsilons: tuple[float, ...]
    tabled: tuple[float, ...]
    depths: tuple[int, ...]
    rows: int | None
    peer_runs: int
    exact_folds: int


FULL = Scale(10, 5, 10, EPSILONS, TABLED, (2, 5), None, 5, 5)
QUICK = Scale(2, 1, 3, (0.1, 2.0), (0.1, 2.0), (2, 3), 9_000, 1, 2)


def load(folder: Path | None, scale: Scale) -> tuple[list[Dataset], list[str]]:
    """Adult, which is bundled, and NLTCS or a made table; a sentence for what is not there."""
    adult = _adult(scale.rows)
    if folder is None:
        reason = "nltcs: no --data DIR and RETICENT_DATA is not set"
        return [adult, _made(scale.rows or 20_000)], [reason]
    try:
        return [adult, _nltcs(folder / "nltcs", scale.rows)], []
    except DataMissing as missing:
        return [adult, _made(scale.rows or 20_000)], [f"nltcs: {missing}"]


def _adult(most: int | None) -> Dataset:
    table = load_adult()
    held = {name: table[name] for name in (*PREDICTORS, "income")}
    whole = [all(cell is not None for cell in row) for row in zip(*held.values(), strict=True)]
    chosen = _some(np.flatnonzero(whole), most)
    kept = {name: np.array(cells, dtype=object)[chosen] for name, cells in held.items()}
    y = (kept.pop("income") == ">50K").astype(np.int64)
    columns = {n: v.astype(np.int64 if n in RANGES else np.str_) for n, v in kept.items()}
    return Dataset("Adult", "income above 50K", y, 50_000 if most is None else most, columns)


def _nltcs(folder: Path, most: int | None) -> Dataset:
    names = ("nltcs_named.parquet",)
    found = find(folder, names, dataset="NLTCS, 16 columns of 0 and 1 with their names")
    held = read_parquet(found, NLTCS)
    chosen = _some(np.arange(len(held[NLTCS[0]])), most)
    columns = {name: held[name][chosen].astype(np.int64) for name in NLTCS}
    y = columns.pop(NLTCS[-1])
    return Dataset("NLTCS", NLTCS[-1], y, 25_000 if most is None else most, columns)


def _some(places: NDArray[np.int64], most: int | None) -> NDArray[np.int64]:
    """All of them, or so many at random."""
    if most is None or most >= len(places):
        return places
    order = np.argsort(uniform(len(places), stream("some", len(places))), kind="stable")
    return places[np.sort(order[:most])]


def _made(rows: int) -> Dataset:
    """Sixteen answers of people who are more or less well, the last of them the class."""
    well = uniform(rows, stream("well"))
    easy = np.linspace(0.15, 0.85, 16)[np.argsort(uniform(16, stream("easy")))]
    noise = uniform((rows, 16), stream("answers"))
    answers = (well[:, None] + 0.35 * (noise - 0.5) > easy).astype(np.int64)
    columns = {f"q{j}": answers[:, j] for j in range(15)}
    return Dataset("made answers", "q15", answers[:, 15], rows, columns)


def folds(rows: int, count: int, run: int) -> Sequence[NDArray[np.int64]]:
    """Places of the rows that are tested in each fold of one run, at random."""
    order = np.argsort(uniform(rows, stream("folds", rows, run)), kind="stable")
    return [np.sort(part) for part in np.array_split(order, count)]
