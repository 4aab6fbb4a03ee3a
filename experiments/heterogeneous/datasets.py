"""The data sets of the experiments, and plain reasons for those that are not there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from experiments.harness import stream
from reticent.data.profiles import Profiles
from reticent.data.sources import DataMissing
from reticent.data.sources.lastfm import lastfm_2k
from reticent.data.sources.movielens import movielens_100k
from reticent.data.synthetic import DENSE, SPARSE
from reticent.tasks.groups import people_where


@dataclass(frozen=True, slots=True)
class Dataset:
    """Profiles with the public facts a sketch may be fitted to."""

    name: str
    real: bool
    profiles: Profiles
    typical_size: int  # declared, for the number of bits

    def sample(self, people: int, seed: int) -> Profiles:
        """So many people at random, in file order; everybody if there are no more."""
        if people >= len(self.profiles):
            return self.profiles
        order = np.argsort(stream("people", self.name, seed).long_words(len(self.profiles)))
        stays = np.zeros(len(self.profiles), dtype=bool)
        stays[order[:people]] = True
        return people_where(self.profiles, stays)


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is run."""

    seeds: int
    people: int
    slices: tuple[int, ...]
    epsilons: tuple[float, ...]
    shares: tuple[tuple[float, float], ...]  # Fundamentalists, Pragmatists
    alphas: tuple[float, ...]
    loss_seeds: int
    totals: tuple[int, ...]
    per_comparison: tuple[float, ...]


POLL = (0.34, 0.43)
FULL = Scale(
    seeds=2,
    people=500,
    slices=(1, 3, 10),
    epsilons=(0.1, 0.5, 1, 2, 3),
    shares=((0.1, 0.2), (0.2, 0.2), (0.6, 0.2), (0.7, 0.2), (0.8, 0.1), POLL),
    alphas=(0, 0.2, 0.4, 0.6, 0.8, 1),
    loss_seeds=3,
    totals=(1, 3, 10),
    per_comparison=(0.1, 1, 3),
)
QUICK = Scale(
    seeds=1,
    people=120,
    slices=(1, 3),
    epsilons=(0.5, 3),
    shares=((0.2, 0.2), POLL),
    alphas=(0, 1),
    loss_seeds=1,
    totals=(3,),
    per_comparison=(1,),
)


def load(folder: Path | None, *, quick: bool) -> tuple[list[Dataset], list[str]]:
    """The data sets that are there, and a sentence for each that is not."""
    made: list[Dataset] = []
    skipped: list[str] = []
    for name, reader, size in (
        ("movielens-100k", lambda path: movielens_100k(path, least_rating=4), 40),
        ("lastfm-2k", lastfm_2k, 50),
    ):
        if folder is None:
            skipped.append(f"{name}: no --data DIR and RETICENT_DATA is not set")
            continue
        try:
            made.append(Dataset(name, True, reader(folder / name), size))
        except DataMissing as missing:
            skipped.append(f"{name}: {missing}")
    for name, setting in (("made dense", DENSE), ("made sparse", SPARSE)):
        if quick:
            few = {"people": QUICK.people, "communities": 4, "items": setting.items // 4}
            setting = replace(setting, size=setting.size // 4, **few)
        profiles, _ = setting.draw(stream("generator", name))
        made.append(Dataset(name, False, profiles, setting.size * 2 // 3))
    return made, skipped
