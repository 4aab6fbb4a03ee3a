"""Figures 1 to 5: recall against weights, slices, groups, and the Naive baseline.

As the authors' program: the streaming split, people without held-out items count as 0, weights of
groups one per person, all recalls of all people, runs and epsilons pooled. As the paper's text:
about 500 people, exact shares of groups. Every figure is run by the authors' protocol ("paper") and
by one published sketch ("ours") at the total loss that protocol promises an item of weight 1:
epsilon times the mean number of distinct peers met.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from experiments.harness import stream
from experiments.heterogeneous import methods
from experiments.heterogeneous.datasets import POLL, Dataset, Scale
from experiments.heterogeneous.results import Pool
from reticent.data.profiles import Profiles
from reticent.tasks.groups import (
    FUNDAMENTALIST,
    PRAGMATIST,
    UNCONCERNED,
    assign_groups,
    group_weights,
    naive_members,
    naive_weights,
    people_where,
    slice_weights,
)
from reticent.tasks.metrics import hold_out, recall

if TYPE_CHECKING:
    from numpy.typing import NDArray

LOWEST = (0.0, 0.5, 0.9)
GROUPS = {
    "Fundamentalists": FUNDAMENTALIST,
    "Pragmatists": PRAGMATIST,
    "Unconcerned": UNCONCERNED,
}
ALPHA_SHARES = (0.6, 0.2)


class Runs:
    """One sample of people with its split; methods in, recalls out."""

    def __init__(self, data: Dataset, scale: Scale, seed: int) -> None:
        self.data, self.seed = data, seed
        self.people = data.sample(scale.people, seed)
        source = stream("split", data.name, seed)
        self.train, self.test = hold_out(self.people, source=source, streaming=True)

    def found(
        self, peers: NDArray[np.int32], stays: NDArray[np.bool_] | None
    ) -> NDArray[np.float64]:
        """Recall of everybody, or of those who stayed; 0 for people without held-out items."""
        full, test = self.people, self.test
        if stays is not None:
            full, test = people_where(full, stays), people_where(test, stays)
        return np.nan_to_num(recall(test, full, peers))

    def both(
        self,
        weighted: Profiles,
        epsilon: float,
        label: tuple[object, ...],
        *,
        usual: float,
        stays: NDArray[np.bool_] | None = None,
    ) -> dict[str, NDArray[np.float64]]:
        """Recalls by the authors' protocol, and by a sketch at the total loss it promises."""
        if stays is not None:
            weighted = people_where(weighted, stays)
        source = stream(*label, self.data.name, self.seed, epsilon)
        run = methods.paper(weighted, epsilon, source)
        total = epsilon * float(run.contacts.mean())
        ours = methods.sketch(weighted, total, self.data.typical_size, source, usual)
        return {"paper": self.found(run.peers, stays), "ours": self.found(ours, stays)}


def slices(pool: Pool, data: Dataset, scale: Scale) -> None:
    """Figures 1 and 2, with baseline and random."""
    for seed in range(scale.seeds):
        runs = Runs(data, scale, seed)
        source = stream("ends", data.name, seed)
        for name, find in (
            ("baseline", methods.exact_gossip),
            ("random", methods.at_random),
            ("all pairs", methods.exact),
            ("largest profiles", methods.largest),
        ):
            values = runs.found(find(runs.train, source), None)
            pool.add("1", data.name, name, "", values, seed)
        for u in LOWEST:
            for count in scale.slices:
                label = ("slices", u, count)
                source = stream("weights", *label, data.name, seed)
                weighted = slice_weights(runs.train, lowest=u, slices=count, source=source)
                for epsilon in scale.epsilons:
                    found = runs.both(weighted, epsilon, label, usual=max(u, 0.5))
                    for method, values in found.items():
                        pool.add("1", data.name, method, u, values, seed)
                        pool.add("2", data.name, f"{method} u={u}", count, values, seed)
                        pool.add("1e", data.name, f"{method} u={u}", epsilon, values, seed)


def groups(pool: Pool, data: Dataset, scale: Scale) -> None:
    """Figures 3 and 4: each group's recall, and everybody's against the Naive baseline."""
    for seed in range(scale.seeds):
        runs = Runs(data, scale, seed)
        for strict, middle in scale.shares:
            label = ("groups", strict, middle)
            source = stream("weights", *label, data.name, seed)
            group = assign_groups(
                len(runs.train), fundamentalists=strict, pragmatists=middle, source=source
            )
            weighted = group_weights(runs.train, group, source=source, per="person")
            by_item = group_weights(runs.train, group, source=source, per="item")
            stays = naive_members(group, alpha=1, source=source)
            for epsilon in scale.epsilons:
                x = f"{strict:.0%} / {middle:.0%}"
                for method, values in runs.both(weighted, epsilon, label, usual=0.5).items():
                    for name, number in GROUPS.items():
                        pool.add(
                            "3", data.name, f"{method} {name}", x, values[group == number], seed
                        )
                    pool.add("4", data.name, f"{method} HDP", x, values, seed)
                    pool.add(
                        "4", data.name, f"{method} HDP, those who stay", x, values[stays], seed
                    )
                for method, values in runs.both(
                    naive_weights(runs.train), epsilon, ("naive", *label), usual=0.5, stays=stays
                ).items():
                    pool.add("4", data.name, f"{method} Naive", x, values, seed)
                if (strict, middle) == POLL:
                    found = runs.both(by_item, epsilon, ("item", *label), usual=0.5)
                    for method, values in found.items():
                        for name, number in GROUPS.items():
                            own = values[group == number]
                            pool.add("3i", data.name, f"{method} {name}", x, own, seed)


def alphas(pool: Pool, data: Dataset, scale: Scale) -> None:
    """Figure 5: the Naive baseline against the share of Fundamentalists it removes."""
    for seed in range(scale.seeds):
        runs = Runs(data, scale, seed)
        strict, middle = ALPHA_SHARES
        source = stream("alpha", data.name, seed)
        group = assign_groups(
            len(runs.train), fundamentalists=strict, pragmatists=middle, source=source
        )
        for alpha in scale.alphas:
            stays = naive_members(group, alpha=alpha, source=source)
            for epsilon in scale.epsilons:
                label = ("alpha", alpha)
                weighted = naive_weights(runs.train)
                found = runs.both(weighted, epsilon, label, usual=0.5, stays=stays)
                for method, values in found.items():
                    pool.add("5", data.name, f"{method} Naive", alpha, values, seed)
