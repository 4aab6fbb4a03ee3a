"""Joint laws of a secret and a profile: the census, films, and made ones.

Not here  what is done with them.

Census: the seven attributes of the paper, age by decade, an unknown value as a category of its own,
the published training part only. Films: the paper expands the genres of MovieLens with tags that
are not public, so the 18 genres of MovieLens itself take their place, by the same recipe.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.data import load_adult
from reticent.data.sources import DataMissing, find
from reticent.data.sources.columns import read_fields, read_parquet
from reticent.data.sources.movielens import movielens_1m, movielens_1m_genres
from reticent.optim.distances import Distance, hamming, squared_euclidean

if TYPE_CHECKING:
    from numpy.typing import NDArray

ATTRIBUTES = ("age", "education", "marital-status", "occupation", "race", "sex", "native-country")
TRAINED = 32_561  # records of the published training part, which come first
ON = 6  # genres of a profile
REAL = "movielens-1m"


@dataclass(frozen=True, slots=True, eq=False)
class Instance:
    """A law of secret and profile, how far profiles are apart, and the people it came from."""

    name: str
    profiles: NDArray[Any]
    joint: NDArray[np.float64]  # [secret, profile], sums to 1
    distance: Distance
    counts: NDArray[np.int64] | None = None  # people, [secret, profile]
    columns: tuple[str, ...] = ()  # names of the columns of profiles
    secret: str = "a made bit"  # noqa: S105, what it is called


def adult(most: int | None = 300) -> Instance:
    """The ``most`` most probable tuples of seven attributes, or all; the secret is the income.

    Of tuples met equally often those met first are kept.
    """
    records, rich = _census()
    kept = {tuple_ for tuple_, _ in Counter(records).most_common(most)}
    name = "census, all" if most is None else f"census, {most} most probable"
    pairs = [(r, s) for r, s in zip(records, rich, strict=True) if r in kept]
    return _counted(name, pairs, ATTRIBUTES, "income over 50,000")


def adult_sample(records: int = 300, seed: int = 0) -> Instance:
    """The tuples of so many records drawn without replacement."""
    tuples, rich = _census()
    drawn = np.random.default_rng(seed).choice(len(tuples), records, replace=False)
    pairs = [(tuples[i], rich[i]) for i in drawn.tolist()]
    return _counted(f"census, {records} records", pairs, ATTRIBUTES, "income over 50,000")


def movielens(folder: Path) -> Instance:
    """Each person's six most preferred of 18 genres; the secret is the gender (1: female).

    Preference is the share of a person's films that are of the genre, over the number of films of
    that genre. Of equal preferences the genre that is first in the alphabet wins.
    """
    films, seen = movielens_1m_genres(folder), movielens_1m(folder)
    rated = seen.in_catalogue(seen.people, films.items)
    genres = films.dense()
    picks = np.add.reduceat(genres[rated.indices], rated.indptr[:-1])
    preference = picks / rated.sizes[:, None] / genres.sum(axis=0)
    best = np.argsort(-preference, axis=1, kind="stable")[:, :ON]
    bits = np.zeros(preference.shape, dtype=np.int64)
    np.put_along_axis(bits, best, 1, axis=1)
    women = _women(folder)
    pairs = [
        (tuple(row), int(person in women)) for row, person in zip(bits, seen.people, strict=True)
    ]
    return _counted("films, 18 genres", pairs, tuple(films.attributes), "gender")


def film_like(
    size: int = 3717, bits: int = 31, on: int = ON, secrets: int = 2, seed: int = 0
) -> Instance:
    """So many random vectors with ``on`` ones, as the paper's films have, logistic posteriors."""
    rng = np.random.default_rng(seed)
    chosen = np.empty((0, on), dtype=np.int64)
    while len(chosen) < size:
        more = np.sort(rng.random((2 * size, bits)).argsort(axis=1)[:, :on], axis=1)
        chosen = np.unique(np.concatenate([chosen, more]), axis=0)
    rows = np.zeros((size, bits), dtype=np.int64)
    np.put_along_axis(rows, chosen[np.sort(rng.permutation(len(chosen))[:size])], 1, axis=1)
    joint = _logistic(rows, rng.gamma(0.7, size=size), secrets, 0.3, rng)
    columns = tuple(f"tag {k + 1}" for k in range(bits))
    return Instance(f"made like films, {size}", rows, joint, hamming(rows), columns=columns)


def cube(bits: int, secrets: int = 2, seed: int = 0) -> Instance:
    """All vectors of so many bits with random weights, noisy logistic posteriors."""
    rng = np.random.default_rng(seed)
    rows = (np.arange(2**bits)[:, None] >> np.arange(bits)) & 1
    joint = _logistic(rows, rng.gamma(1.0, size=len(rows)), secrets, 0.5, rng)
    columns = tuple(f"bit {k + 1}" for k in range(bits))
    return Instance(f"cube, {bits} bits", rows, joint, hamming(rows), columns=columns)


def synthetic(bits: int) -> Instance:
    """The paper's example: 2**m numbers, all alike; the secret tells the lower half from the upper.

    Distances are squared differences.
    """
    size = 2**bits
    points = np.arange(1, size + 1, dtype=np.float64)[:, None]
    joint = np.zeros((2, size))
    joint[0, : size // 2] = joint[1, size // 2 :] = 1 / size
    return Instance(f"example, {size}", points, joint, squared_euclidean(points))


def _logistic(
    rows: NDArray[np.int64],
    weights: NDArray[np.float64],
    secrets: int,
    noise: float,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """A joint law whose log-odds are linear in the bits, but for noise."""
    scores = rows @ (0.8 * rng.normal(size=(rows.shape[1], secrets - 1)))
    scores = scores - scores.mean(axis=0) + noise * rng.normal(size=scores.shape)
    odds = np.exp(np.column_stack([np.zeros(len(rows)), scores]))
    return np.asarray(
        (odds / odds.sum(axis=1, keepdims=True) * (weights / weights.sum())[:, None]).T
    )


@cache
def _census() -> tuple[list[tuple[str, ...]], list[int]]:
    table = load_adult()
    decades = [f"{age // 10}0s" for age in table["age"][:TRAINED] if isinstance(age, int)]
    others = [["?" if c is None else str(c) for c in table[n][:TRAINED]] for n in ATTRIBUTES[1:]]
    rich = [int(income == ">50K") for income in table["income"][:TRAINED]]
    return list(zip(decades, *others, strict=True)), rich


def _women(folder: Path) -> set[str]:
    path = find(folder, ("users.dat", "users.parquet"), dataset="MovieLens 1M (ml-1m)")
    if path.suffix == ".dat":
        return {fields[0] for fields in read_fields(path, separator="::") if fields[1] == "F"}
    held = read_parquet(path, ("user", "gender"))
    return set(map(str, held["user"][held["gender"] == "F"].tolist()))


def _counted(
    name: str, pairs: Sequence[tuple[Hashable, int]], columns: tuple[str, ...], secret: str
) -> Instance:
    """Distinct profiles in the order of how many people have them, then of first appearance."""
    order = [profile for profile, _ in Counter(p for p, _ in pairs).most_common()]
    place = {profile: at for at, profile in enumerate(order)}
    counts = np.zeros((2, len(order)), dtype=np.int64)
    for profile, kind in pairs:
        counts[kind, place[profile]] += 1
    rows = np.array(order)
    return Instance(name, rows, counts / counts.sum(), hamming(rows), counts, columns, secret)


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is run."""

    points: int  # of a curve
    shares: tuple[float, ...]  # Delta over n^2 at which L is varied,
    length: int  # bits of that example,
    steps: int  # and the largest L
    excess: tuple[int, ...]  # bits of examples on which its 100 steps are judged
    census_excess: tuple[float, ...]  # Delta at which they are judged on the census
    sizes: tuple[int, ...]  # bits of examples that are timed
    papers: int  # bits up to which the paper's algorithm is timed,
    general: int  # a general solver,
    peers: int  # and Frank-Wolfe
    cubes: tuple[int, ...]  # bits of cubes that are timed
    cube_peers: int
    draws: int  # samples of records
    people: int  # attacked at most
    census_attacks: tuple[float, ...]
    film_attacks: tuple[float, ...]
    splits: int
    releases: int


FULL = Scale(
    points=16,
    shares=(1 / 1024, 1 / 256, 1 / 128, 1 / 64, 1 / 32, 1 / 20),
    length=7,
    steps=500,
    excess=(6, 7, 8, 9),
    census_excess=(0.02, 0.05, 0.1),
    sizes=(5, 6, 7, 8, 9, 10, 11),
    papers=9,
    general=8,
    peers=8,
    cubes=(6, 8, 10, 12, 14),
    cube_peers=10,
    draws=200,
    people=1 << 30,
    census_attacks=(0.02, 0.14, 0.44),
    film_attacks=(0.04, 0.13, 0.22),
    splits=5,
    releases=3,
)
QUICK = Scale(
    points=7,
    shares=(1 / 1024, 1 / 64),
    length=5,
    steps=100,
    excess=(5,),
    census_excess=(0.05,),
    sizes=(4, 5, 6, 8),
    papers=5,
    general=5,
    peers=6,
    cubes=(4, 6, 8),
    cube_peers=6,
    draws=20,
    people=2000,
    census_attacks=(0.05,),
    film_attacks=(0.05,),
    splits=1,
    releases=2,
)


def load_films(folder: Path | None, *, quick: bool) -> tuple[Instance, list[str]]:
    """Real films, or made ones; a sentence for what is not there."""
    made = film_like(300, 16, 4) if quick else film_like()
    if folder is None:
        return made, [f"{REAL}: no --data DIR and RETICENT_DATA is not set"]
    try:
        return movielens(folder / REAL), []
    except DataMissing as missing:
        return made, [f"{REAL}: {missing}"]
