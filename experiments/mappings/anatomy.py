"""Figures 1, 5 and 7 and Table 1: which profiles and which features a mapping changes, and to what.

Not here  how much leaks in all (curves.py), who infers what from it (attacks.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from experiments.mappings.curves import EXPONENTIAL, MAPPING, problem, solved
from experiments.mappings.datasets import Instance, adult_sample, synthetic
from experiments.mappings.dealt_secrets import adjusted_bits
from experiments.mappings.results import Pool
from reticent.mechanisms.mapping_law import MappingLaw, joint_leak
from reticent.optim.mapping import Channel
from reticent.optim.mapping_baselines import exponential_at
from reticent.optim.mapping_newton import solve_mapping
from reticent.tasks.leakage import BITS, features

if TYPE_CHECKING:
    from numpy.typing import NDArray

PICTURED = (1 / 1024, 1 / 256, 1 / 64)  # Delta over n^2
NEIGHBOURS = 24
BANDS = ((1, 1), (2, 3), (4, 10), (11, 30), (31, 10**9))
TABLE_1 = {  # the paper's, in the order of datasets.ATTRIBUTES: before, after
    "age": (0.1064, 0.0408),
    "education": (0.1502, 0.0702),
    "marital-status": (0.1241, 0.0440),
    "occupation": (0.1126, 0.0367),
    "race": (0.0192, 0.0084),
    "sex": (0.0123, 0.0082),
    "native-country": (0.0470, 0.0203),
}


def by_feature(pool: Pool, case: Instance, delta: float) -> None:
    """Table 1: bits that each feature alone tells about the secret, before and after."""
    whole = Channel.identity(len(case.profiles))
    mapped = solve_mapping(problem(case, delta)).channel
    for when, channel in (("before", whole), ("after", mapped)):
        found = features(channel, case.joint, case.profiles)
        for column, value in zip(case.columns, found.tolist(), strict=True):
            pool.add("features", case.name, column, when, value)
    pool.add("Delta of features", case.name, MAPPING, "", delta)
    if case.counts is not None:
        plain, corrected = adjusted_bits(case.counts)
        pool.add("all features", case.name, "plug-in", "", plain)
        pool.add("all features", case.name, "corrected", "", corrected)


def sampled(pool: Pool, records: int, draws: int) -> None:
    """Table 1 before, and I(A; B), over many samples of records."""
    found, whole = [], []
    for seed in range(draws):
        case = adult_sample(records, seed)
        identity = Channel.identity(len(case.profiles))
        found.append(features(identity, case.joint, case.profiles))
        whole.append(problem(case, 0.0).untouched)
    name = f"census, {records} records, {draws} samples"
    for column, values in zip(case.columns, np.array(found).T, strict=True):
        _spread(pool, name, column, "before", values)
        paper = TABLE_1[column][0]
        off = abs(paper - float(values.mean())) / float(values.std())
        pool.add("sampled", name, column, "paper off, in sd", off)
    _spread(pool, name, "I(A; B)", "nats", np.array(whole))


def _spread(pool: Pool, name: str, series: str, x: str, values: NDArray[np.float64]) -> None:
    low, high = np.quantile(values, [0.025, 0.975])
    pool.add("sampled", name, series, x, float(values.mean()), (float(low), float(high)))


def pictures(pool: Pool, bits: int) -> list[list[list[float]]]:
    """Figure 1: tables [output][input] of the example at three distortions."""
    case, tables = synthetic(bits), []
    size = len(case.profiles)
    deltas = [share * size**2 for share in PICTURED]
    for share, solution in zip(PICTURED, solved(case, deltas), strict=True):
        table = solution.channel.dense()
        tables.append(np.round(table, 4).tolist())
        pool.add("kept", case.name, "chance to stay", share, float(np.diag(table).mean()))
        stay = float((np.diag(table) > 0.999).mean())
        pool.add("kept", case.name, "stay for certain", share, stay)
        pool.add("kept", case.name, "support", share, float(solution.channel.support.mean()))
    return tables


def by_rank(pool: Pool, bits: int) -> None:
    """Figure 5: the chance to become the k-th closest point, over all points."""
    case = synthetic(bits)
    size = len(case.profiles)
    law = problem(case, size**2 / 256)
    far = case.distance.dense()
    order = np.argsort(far, axis=1, kind="stable")[:, :NEIGHBOURS]
    mine, other = solve_mapping(law), exponential_at(law, distortion=law.delta)
    for series, channel in ((MAPPING, mine.channel), (EXPONENTIAL, other.channel)):
        chances = np.take_along_axis(channel.dense().T, order, axis=1)
        for k in range(NEIGHBOURS):
            mean, spread = float(chances[:, k].mean()), float(chances[:, k].std())
            pool.add("by rank", case.name, series, k, mean, (mean - spread, mean + spread))


def supports(pool: Pool, case: Instance, deltas: Sequence[float]) -> None:
    """Figure 7: how many profiles one profile may become."""
    for delta, solution in zip(deltas, solved(case, deltas), strict=False):
        sizes = solution.channel.support
        for low, high in BANDS:
            share = float(((sizes >= low) & (sizes <= high)).mean())
            pool.add("support", case.name, band(low, high), delta, share)
        pool.add("support", case.name, "mean", delta, float(sizes.mean()))
        pool.add("support", case.name, "largest", delta, float(sizes.max()))
        pool.add("support", case.name, "leak left", delta, solution.leak / solution.untouched)


def band(low: int, high: int) -> str:
    """The name of a group of sizes."""
    return str(low) if low == high else f"{low} to {high}" if high < 10**9 else f"over {low - 1}"


def beyond_average(pool: Pool, case: Instance, delta: float, releases: int) -> None:
    """What an average does not say: guesses, worst cases, several releases."""
    solution = solve_mapping(problem(case, delta))
    law = MappingLaw.of(solution.channel, case.joint, case.distance)
    before, after = law.guess_rates()
    pool.add("worst", case.name, "best guess right, before", delta, before)
    pool.add("worst", case.name, "best guess right, after", delta, after)
    untouched = problem(case, 0.0).posteriors.T * problem(case, 0.0).profiles
    pool.add("worst", case.name, "best guess right, untouched", delta, untouched.max(axis=0).sum())
    pool.add("worst", case.name, "maximal leakage, bits", delta, law.maximal_leakage())
    moments = law.moments[law.moments.sum(axis=1) > 0]
    posterior = moments / moments.sum(axis=1, keepdims=True)
    sure = float(moments.sum(axis=1)[posterior.max(axis=1) > 0.95].sum())
    pool.add("worst", case.name, "found out with 95 %", delta, sure)
    for count in range(1, releases + 1):
        pool.add("releases", case.name, MAPPING, count, joint_leak(law, count))
    pool.add("releases", case.name, "untouched", 1, solution.untouched * BITS)
