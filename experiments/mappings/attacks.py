"""Figures 3 and 4: attackers who infer the secret, before and after, and the best any can do.

Not here  attackers themselves (reticent.tasks.inference).

The paper does not say what its attackers were trained on. Here each is trained on half of the
people, once as they are and once as they were released, and ranks the other half's releases.
The mapping is made from all people, as in the paper, and once more from the known half only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from experiments.mappings.curves import EXPONENTIAL, MAPPING, problem
from experiments.mappings.datasets import Instance
from experiments.mappings.results import Pool
from reticent.mechanisms.mapping_law import MappingLaw
from reticent.optim.distances import hamming
from reticent.optim.mapping import Channel, Problem
from reticent.optim.mapping_baselines import exponential_at
from reticent.optim.mapping_newton import solve_mapping
from reticent.optim.mapping_paper import MOST, solve_by_paper
from reticent.tasks.inference import attack, bayes_auc, bayes_curve

if TYPE_CHECKING:
    from numpy.typing import NDArray

UNTOUCHED, BEST, PAPERS = "untouched", "exact Bayes rule", "paper's algorithm, L = 100"
RAW, RELEASED = "raw", "released"
FITTED = "made from the known half"
POINTS = np.linspace(0, 1, 41)  # of a curve that is kept


@dataclass(frozen=True, slots=True, eq=False)
class People:
    """Half of them known to the attacker, half attacked: profiles by number, and secrets."""

    known: NDArray[np.int64]
    known_secrets: NDArray[np.int64]
    met: NDArray[np.int64]
    met_secrets: NDArray[np.int64]

    @classmethod
    def of(cls, case: Instance, most: int, rng: np.random.Generator) -> People:
        """Those the law was counted from, or as many drawn from it; in two halves."""
        if case.counts is None:
            drawn = rng.multinomial(most, case.joint.ravel()).reshape(case.joint.shape)
        else:
            drawn = case.counts
        secrets, places = (np.repeat(which, drawn.ravel()) for which in _cells(drawn))
        order = rng.permutation(len(places))[:most]
        half = len(order) // 2
        first, second = order[:half], order[half:]
        return cls(places[first], secrets[first], places[second], secrets[second])


def _cells(table: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    secrets, places = np.indices(table.shape)
    return secrets.ravel(), places.ravel()


def run(
    pool: Pool,
    case: Instance,
    deltas: Sequence[float],
    *,
    most: int,
    papers: bool,
) -> list[dict[str, object]]:
    """Areas under ROC curves; the curves themselves are given back.

    ``papers`` adds the best attacker on the mapping of the paper's algorithm.
    """
    rng = np.random.default_rng(11)
    people = People.of(case, most, rng)
    curves: list[dict[str, object]] = []
    identity = Channel.identity(len(case.profiles))
    _one(pool, curves, case, people, (UNTOUCHED, 0.0, identity), rng)
    for delta in deltas:
        law = problem(case, delta)
        mapped = solve_mapping(law).channel
        other = exponential_at(law, distortion=delta).channel
        _one(pool, curves, case, people, (MAPPING, delta, mapped), rng)
        _one(pool, curves, case, people, (EXPONENTIAL, delta, other), rng)
        fitted = (FITTED, delta, _fitted(case, people, delta))
        _one(pool, curves, case, people, fitted, rng)
        if papers and len(case.profiles) <= MOST:
            area = bayes_auc(_law(case, solve_by_paper(law, steps=100).channel))
            pool.add("AUC", case.name, f"{PAPERS}: {BEST}", delta, area)
    return curves


def _one(
    pool: Pool,
    curves: list[dict[str, object]],
    case: Instance,
    people: People,
    treated: tuple[str, float, Channel],
    rng: np.random.Generator,
) -> None:
    series, delta, channel = treated
    train = {RAW: case.profiles[people.known]}
    if series != UNTOUCHED:
        train[RELEASED] = case.profiles[_released(channel, people.known, rng)]
    target = case.profiles[_released(channel, people.met, rng)]
    found = attack(train, people.known_secrets, target, people.met_secrets)
    for a in found:
        label = f"{series}: {a.attacker}, trained on {a.trained_on}"
        pool.add("AUC", case.name, label, delta, a.auc, (a.low, a.high))
        kept = np.interp(POINTS, a.false_rates, a.true_rates)
        curves.append(_curve(case, series, delta, f"{a.attacker}, {a.trained_on}", kept))
    law = _law(case, channel)
    pool.add("AUC", case.name, f"{series}: {BEST}", delta, bayes_auc(law))
    curves.append(_curve(case, series, delta, BEST, np.interp(POINTS, *bayes_curve(law))))


def _fitted(case: Instance, people: People, delta: float) -> Channel:
    """A mapping that has not seen those attacked: unknown profiles stand for the nearest known."""
    counts = np.zeros(case.joint.shape, dtype=np.int64)
    np.add.at(counts, (people.known_secrets, people.known), 1)
    kept = np.flatnonzero(counts.sum(axis=0))
    law = Problem.of(counts[:, kept], hamming(case.profiles[kept]), delta)
    channel = solve_mapping(law).channel
    near = [int(np.argmin(case.distance.row(j)[kept])) for j in range(len(case.profiles))]
    rows = [slice(channel.starts[k], channel.starts[k + 1]) for k in near]
    starts = np.concatenate([[0], np.cumsum(channel.support[near])])
    outs = np.concatenate([kept[channel.outs[row]] for row in rows])
    return Channel(starts, outs, np.concatenate([channel.chances[row] for row in rows]))


def _curve(
    case: Instance, series: str, delta: float, attacker: str, kept: NDArray[np.float64]
) -> dict[str, object]:
    true = [round(value, 4) for value in kept.tolist()]
    return {"data": case.name, "series": series, "x": delta, "attacker": attacker, "true": true}


def _law(case: Instance, channel: Channel) -> MappingLaw:
    """The law of what is released, as one of profiles that are not changed any more."""
    moments = channel.moments(case.joint)
    identity = Channel.identity(len(case.profiles))
    return MappingLaw.of(identity, moments.T, case.distance)


def _released(
    channel: Channel, places: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """One draw for each person. Simulated: what is attacked here need not be drawn exactly."""
    found = np.empty(len(places), dtype=np.int64)
    order = np.argsort(places, kind="stable")
    profiles, counts = np.unique(places, return_counts=True)
    ends = np.cumsum(counts)
    for j, end, count in zip(profiles.tolist(), ends.tolist(), counts.tolist(), strict=True):
        row = slice(channel.starts[j], channel.starts[j + 1])
        chances = channel.chances[row] / channel.chances[row].sum()
        found[order[end - count : end]] = rng.choice(channel.outs[row], count, p=chances)
    return found
