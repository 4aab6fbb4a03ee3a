"""All methods at the same total loss per item, with everybody, and a split without its defect.

The total is what an item of weight 1 loses against all peers met, colluding. For the authors'
protocol that is epsilon times the number of distinct peers; the *mean* over people is used, which
favours it, for the best-connected people lose several times as much, and its exact profile sizes
are free. "Realised" counts only peers who have the item, so it is known to an auditor only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from experiments.harness import stream
from experiments.heterogeneous import methods
from experiments.heterogeneous.datasets import POLL, Dataset, Scale
from experiments.heterogeneous.figures import GROUPS
from experiments.heterogeneous.results import Pool
from reticent.data.profiles import Profiles
from reticent.tasks.groups import Threshold, assign_groups, group_weights
from reticent.tasks.metrics import hold_out, ndcg_at, recall, recall_at
from reticent.tasks.recommendation import recommend

if TYPE_CHECKING:
    from numpy.typing import NDArray

LIST = 20
CAPS = (20, 50)


@dataclass(frozen=True, slots=True)
class Cost:
    """What the authors' protocol cost at one epsilon per comparison, over all runs."""

    data: str
    epsilon: float
    contacts: float
    most_contacts: int
    promised: float
    realised: float
    most_realised: float


class _Trial:
    def __init__(self, pool: Pool, data: Dataset, seed: int, most: int) -> None:
        self.pool, self.data, self.seed = pool, data, seed
        self.people = data.sample(most, seed)
        source = stream("equal", data.name, seed)
        self.train, self.test = hold_out(self.people, source=source)

    def measured(self, peers: NDArray[np.int32]) -> dict[str, NDArray[np.float64]]:
        lists = recommend(self.train, peers, n_items=LIST).items
        return {
            "recall": recall(self.test, self.people, peers),
            f"recall@{LIST}": recall_at(self.test, lists),
            f"NDCG@{LIST}": ndcg_at(self.test, lists),
        }

    def note(self, series: str, x: str, peers: NDArray[np.int32]) -> None:
        for figure, values in self.measured(peers).items():
            self.pool.add(figure, self.data.name, series, x, values, self.seed)


def at_totals(pool: Pool, data: Dataset, scale: Scale, most: int) -> None:
    """Every method at each total, all items of weight 1."""
    for seed in range(scale.loss_seeds):
        trial = _Trial(pool, data, seed, most)
        train = trial.train
        source = stream("totals", data.name, seed)
        for name, find in (
            ("no privacy: all pairs", methods.exact),
            ("no privacy: authors' gossip", methods.exact_gossip),
            ("random", methods.at_random),
            ("largest profiles", methods.largest),
        ):
            trial.note(name, "", find(train, source))
        contacts = methods.paper(train, 0.01, source).contacts.mean()
        for total in scale.totals:
            x = f"total {total}"
            trial.note("paper", x, methods.paper(train, total / contacts, source).peers)
            trial.note("sketch", x, methods.sketch(train, total, data.typical_size, source))
            trial.note("all pairs", x, methods.direct(train, total, source))
            for cap in CAPS:
                peers = methods.capped(train, total, cap, source)
                trial.note(f"capped gossip, {cap}", x, peers)
            _by_group(trial, total, contacts)


def _by_group(trial: _Trial, total: int, contacts: float) -> None:
    """The poll's groups, weights drawn per item: for everybody and for each group."""
    data, seed = trial.data, trial.seed
    source = stream("groups at", total, data.name, seed)
    group = assign_groups(
        len(trial.train), fundamentalists=POLL[0], pragmatists=POLL[1], source=source
    )
    weighted = group_weights(trial.train, group, source=source)

    def sketch(profiles: Profiles, usual: float) -> NDArray[np.int32]:
        return methods.sketch(profiles, total, data.typical_size, source, usual)

    for series, peers in (
        ("paper", methods.paper(weighted, total / contacts, source).peers),
        ("sketch", sketch(weighted, 0.5)),
        ("sketch, Sample at 1", sketch(weighted, 1.0)),
        ("sketch, Threshold 1/2", sketch(Threshold(threshold=0.5).apply(weighted, source), 0.5)),
        ("sketch, Threshold 1", sketch(Threshold(threshold=1).apply(weighted, source), 1.0)),
    ):
        for figure, values in trial.measured(peers).items():
            trial.pool.add(f"groups {figure}", data.name, series, f"total {total}", values, seed)
            for name, number in GROUPS.items():
                own = np.where(group == number, values, np.nan)
                x = f"total {total}, {name}"
                trial.pool.add(f"groups {figure}", data.name, series, x, own, seed)


def at_epsilons(pool: Pool, data: Dataset, scale: Scale, most: int) -> list[Cost]:
    """The authors' epsilons, and sketches at the total that was promised and that was realised."""
    costs = []
    for epsilon in scale.per_comparison:
        seen: list[tuple[float, int, float, float]] = []
        for seed in range(scale.loss_seeds):
            trial = _Trial(pool, data, seed, most)
            source = stream("epsilons", data.name, seed, epsilon)
            run = methods.paper(trial.train, epsilon, source)
            spent = _mean_and_most(run.spent(trial.train))
            seen.append((float(run.contacts.mean()), int(run.contacts.max()), *spent))
            x = f"epsilon {epsilon}"
            size = data.typical_size
            trial.note("paper", x, run.peers)
            for name, total in (("promised", epsilon * seen[-1][0]), ("realised", spent[0])):
                trial.note(f"sketch, {name}", x, methods.sketch(trial.train, total, size, source))
        contacts, most_contacts, realised, most_realised = zip(*seen, strict=True)
        mean = float(np.mean(contacts))
        costs.append(
            Cost(
                data.name,
                epsilon,
                mean,
                max(most_contacts),
                epsilon * mean,
                float(np.mean(realised)),
                max(most_realised),
            )
        )
    return costs


def _mean_and_most(spent: NDArray[np.float64]) -> tuple[float, float]:
    return float(spent.mean()), float(spent.max())


__all__ = ["CAPS", "LIST", "Cost", "at_epsilons", "at_totals"]
