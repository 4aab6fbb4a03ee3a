"""What the paper leaves out: noise on whole numbers, and knowing what can be true.

Both cost nothing in privacy. Whole numbers: the noise really used has a mean absolute error of
1 / sinh(t'), not 1 / t'. What can be true: a histogram is a sum of rows of the catalogue, each at
most as often as it occurs; the nearest such sum, each attribute weighed by its noise, is taken.
Who knows other people's histograms can do without it: their mean alone is a guess, and the best
linear mixture of guess and release is another. Both are there so that gains are not overrated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from experiments.harness import stream
from experiments.multilevel.datasets import EPSILONS, SIMPLEX, Dataset, Scale, budgets
from experiments.multilevel.results import Pool
from experiments.multilevel.utility import spent
from reticent.data.catalogue import Catalogue
from reticent.data.profiles import Profiles
from reticent.mechanisms.multilevel_plan import plan_many
from reticent.noise import Source
from reticent.tasks.groups import people_where
from reticent.tasks.histogram import clipped, possible
from reticent.tasks.histogram_batches import Histograms, ManyHistograms

if TYPE_CHECKING:
    from numpy.typing import NDArray

FACTORS = (1, 10, 30)
POST_EPSILONS = (0.05, 0.1, 0.4, 2.0)
LARGEST = 0.4  # the paper's largest epsilon; beyond it budgets grow with epsilon
RAW, CLIPPED, BOXED = "as released", "not below 0", "between 0 and most"
PROJECTED, SIZED = "what can be true", "what can be true, size declared"
SHRUNK, AVERAGE = "weighed with other people's", "nothing released: other people's mean"
TREATED = (RAW, CLIPPED, BOXED, PROJECTED, SIZED, SHRUNK, AVERAGE)


def lattice(pool: Pool, data: Dataset, scale: Scale) -> None:
    """The error of whole-number noise over that of the Laplace formula, both at their optimum.

    And over the paper's lower bound, where epsilon is large enough for both to spend all of t.
    """
    attributes = len(data.exposure.attributes)
    t = budgets(SIMPLEX, scale.people, attributes, stream("lattice", data.name))
    for factor in FACTORS:
        bound = "lower bound", data.name, f"budgets x {factor}", ""
        pool.ratio(bound, (1 / np.sinh(t * factor)).mean(axis=1), (1 / (t * factor)).mean(axis=1))
        for epsilon in EPSILONS:
            grown, eps = t * factor, epsilon * factor
            plans = plan_many(
                data.exposure, budgets=grown, epsilon=np.full(len(t), eps), goal="mae"
            )
            used = (1 / np.sinh(1 / plans.scales)).mean(axis=1)
            formula = data.exposure.largest / spent(data.exposure, grown, eps, "MAE")
            label = "lattice", data.name, f"budgets x {factor}", epsilon
            pool.ratio(label, used, formula.mean(axis=1))


def histograms(profiles: Profiles, table: NDArray[np.int64]) -> NDArray[np.int64]:
    """One row per person."""
    has = sparse.csr_array(
        (np.ones(profiles.indices.size, dtype=np.int64), profiles.indices, profiles.indptr),
        shape=(len(profiles), profiles.n_items),
    )
    return np.asarray(has @ table)


def grown(t: NDArray[np.float64], epsilon: float) -> NDArray[np.float64]:
    """Budgets that keep up with an epsilon beyond the paper's."""
    return t * max(1.0, epsilon / LARGEST)


def released(
    data: Dataset, profiles: Profiles, t: NDArray[np.float64], epsilon: float, source: Source
) -> ManyHistograms:
    """Histograms as they are released, with goal MSE."""
    every = np.full(len(t), epsilon)
    return Histograms(data.catalogue).release(
        profiles.indptr, profiles.indices.astype(np.int64), budgets=t, epsilon=every, source=source
    )


class Others:
    """Mean and covariance of other people's histograms, as a service may have them."""

    def __init__(self, exact: NDArray[np.int64]) -> None:
        self.mean = exact.mean(axis=0)
        self.spread = np.cov(exact, rowvar=False)

    def weighed(self, noisy: ManyHistograms) -> NDArray[np.float64]:
        """The best linear guess from a release, not below 0."""
        noise = 2 * noisy.scales[:, :, None] ** 2 * np.eye(len(self.mean))
        surprise = (noisy.values - self.mean)[:, :, None]
        moved = self.spread @ np.linalg.solve(self.spread + noise, surprise)
        return np.asarray(np.maximum(self.mean + moved[:, :, 0], 0))


def post_processing(pool: Pool, data: Dataset, scale: Scale) -> None:
    """Mean absolute error on the profiles there are, after each treatment."""
    assert data.profiles is not None  # noqa: S101  (only films come here)
    table = data.catalogue.dense()
    chosen = np.zeros(len(data.profiles), dtype=bool)
    order = np.argsort(stream("post", data.name).long_words(len(chosen)))
    chosen[order[: min(scale.post, len(order) // 2)]] = True
    people = people_where(data.profiles, chosen)
    exact = histograms(people, table)
    others = Others(histograms(people_where(data.profiles, ~chosen), table))
    t = budgets(SIMPLEX, len(people), table.shape[1], stream("post budgets", data.name))
    for epsilon in POST_EPSILONS:
        errors: dict[str, list[NDArray[np.float64]]] = {name: [] for name in TREATED}
        for number in range(scale.post_runs):
            source = stream("post noise", data.name, epsilon, number)
            noisy = released(data, people, grown(t, epsilon), epsilon, source)
            treated = _treated(noisy, data.catalogue, people.sizes, others)
            for name, values in zip(TREATED, treated, strict=True):
                errors[name].append(np.abs(values - exact).mean(axis=1))
        means = {name: np.mean(runs, axis=0) for name, runs in errors.items()}
        for name, error in means.items():
            pool.add("post-processing", data.name, name, epsilon, error)
            pool.ratio(("post-processing gain", data.name, name, epsilon), means[RAW], error)


def _treated(
    noisy: ManyHistograms, catalogue: Catalogue, sizes: NDArray[np.int64], others: Others
) -> tuple[NDArray[np.float64], ...]:
    """In the order of ``TREATED``."""
    return (
        noisy.values,
        np.maximum(noisy.values, 0),
        clipped(noisy.values, catalogue),
        possible(noisy.values, noisy.scales, catalogue),
        possible(noisy.values, noisy.scales, catalogue, size=sizes.tolist()),
        others.weighed(noisy),
        others.mean,
    )
