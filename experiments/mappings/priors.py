"""What is left of the promise when people are not as the law says.

Not here  the promise under the law itself (curves.py).

A mapping is made from half of the people and judged on the other half, whose profiles that it does
not know are taken for the nearest known ones. The leak of few people counted as it is comes out
too large: what a secret that has nothing to do with profiles would seem to leak, the same secrets
dealt anew to the same people, is taken off. From below, the leak is at least what an attacker
gains who believes the law of the first half (in bits of log-likelihood; this may be negative).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from experiments.mappings.curves import EXPONENTIAL, MAPPING, problem
from experiments.mappings.datasets import Instance
from experiments.mappings.results import Pool
from reticent.optim.distances import hamming
from reticent.optim.mapping import Channel
from reticent.optim.mapping_baselines import exponential_at
from reticent.optim.mapping_newton import solve_mapping
from reticent.tasks.leakage import BITS, leak_under

if TYPE_CHECKING:
    from numpy.typing import NDArray

UNTOUCHED = "untouched"
PROMISED, HELD_OUT, CORRECTED = "same people", "other people", "other people, less chance"
BELIEVED = "other people, at least"
DEALS = 10


def halves(pool: Pool, case: Instance, delta: float, splits: int, gap: float = 1e-3) -> None:
    """Leaks in bits on the half a mapping was made from, and on the other."""
    found: dict[tuple[str, str], list[float]] = {}
    unknown = []
    for seed in range(splits):
        rng = np.random.default_rng([17, seed])
        own, other, half, missed = _split(case, rng)
        unknown.append(missed)
        law = problem(half, delta)
        channels = {
            UNTOUCHED: Channel.identity(len(half.profiles)),
            MAPPING: solve_mapping(law, relative_gap=gap).channel,
        }
        for series, channel in channels.items():
            for x, value in _judged(channel, own, other, rng).items():
                found.setdefault((series, x), []).append(value)
    for (series, x), values in found.items():
        ends = min(values), max(values)
        pool.add("halves", case.name, series, x, float(np.mean(values)), ends)
    pool.add("halves", case.name, "profiles", "unknown", float(np.mean(unknown)))
    pool.add("halves", case.name, "Delta", "", delta)


def _split(
    case: Instance, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64], Instance, float]:
    """Counts of both halves over profiles of the first, its law, and the share unknown to it."""
    assert case.counts is not None  # noqa: S101  (only data come here)
    total = int(case.counts.sum())
    drawn = rng.multivariate_hypergeometric(case.counts.ravel(), total // 2, method="marginals")
    own = drawn.reshape(case.counts.shape)
    other = case.counts - own
    kept = np.flatnonzero(own.sum(axis=0))
    moved = other[:, kept].copy()
    strange = np.flatnonzero((own.sum(axis=0) == 0) & (other.sum(axis=0) > 0))
    for j in strange.tolist():
        moved[:, int(np.argmin(case.distance.row(j)[kept]))] += other[:, j]
    rows = case.profiles[kept]
    half = _instance(case, rows, own[:, kept])
    return own[:, kept], moved, half, float(other[:, strange].sum() / other.sum())


def _instance(case: Instance, rows: NDArray[np.generic], counts: NDArray[np.int64]) -> Instance:
    return Instance(
        case.name, rows, counts / counts.sum(), hamming(rows), counts, case.columns, case.secret
    )


def _judged(
    channel: Channel, own: NDArray[np.int64], other: NDArray[np.int64], rng: np.random.Generator
) -> dict[str, float]:
    plain, less = less_chance(channel, other, rng)
    return {
        PROMISED: leak_under(channel, own / own.sum()),
        HELD_OUT: plain,
        CORRECTED: less,
        BELIEVED: _gain(channel, own, other),
    }


def less_chance(
    channel: Channel, counts: NDArray[np.int64], rng: np.random.Generator
) -> tuple[float, float]:
    """Bits that leak about these people as counted, and less what dealt secrets seem to leak."""
    plain = leak_under(channel, counts / counts.sum())
    chance = float(np.mean([leak_under(channel, _dealt(counts, rng)) for _ in range(DEALS)]))
    return plain, max(0.0, plain - chance)


def _dealt(counts: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.float64]:
    """The same people with secrets dealt anew."""
    people = counts.sum(axis=0)
    rich = rng.multivariate_hypergeometric(people, int(counts[1].sum()), method="marginals")
    return np.asarray(np.array([people - rich, rich]) / counts.sum())


def _gain(channel: Channel, own: NDArray[np.int64], other: NDArray[np.int64]) -> float:
    """Bits per person by which believed posteriors beat the prior, on the other half.

    One person's worth of the prior is added to every output, so that no posterior is 0.
    """
    prior = own.sum(axis=1) / own.sum()
    moments = channel.moments(own.astype(np.float64)) + prior
    believed = moments / moments.sum(axis=1, keepdims=True)
    met = channel.moments(other / other.sum())
    return float((met * np.log(believed / prior)).sum() * BITS)


def shifted(pool: Pool, case: Instance, delta: float, column: str | None) -> None:
    """Leaks in bits under other laws than the one the mapping was made for."""
    law = problem(case, delta)
    channels = {
        UNTOUCHED: Channel.identity(len(case.profiles)),
        MAPPING: solve_mapping(law).channel,
        EXPONENTIAL: exponential_at(law, distortion=delta).channel,
    }
    laws = {"as assumed": case.joint}
    for name, factor in (("odds of the secret halved", 0.5), ("odds of the secret doubled", 2.0)):
        laws[name] = case.joint * np.array([[1.0], [factor]])
    if column is not None:
        held = case.profiles[:, case.columns.index(column)]
        for value in np.unique(held).tolist():
            laws[f"{column} {value} only"] = case.joint * (held == value)
    for x, joint in laws.items():
        for series, channel in channels.items():
            pool.add("shifted", case.name, series, x, leak_under(channel, joint))
