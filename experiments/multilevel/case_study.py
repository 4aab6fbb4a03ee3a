"""The case study: recommendations from a profile that a noisy histogram could have come from.

A service trained ``implicit``'s ALS on other people's profiles. A person sends a noisy histogram;
the service finds a 0/1 profile that explains it (films of equal genres by popularity), folds it
into the model and returns scores. The person drops what they have already seen, at home, so that
costs no privacy and is done alike for every series.

Measures are taken on held-out films. "MAE" is that of predicted preferences against the truth over
all films that the person has not seen; nearly all of them are 0, so it hardly depends on the
profile. "MAE, balanced" gives held-out films half of the weight. Stars: see ``stars``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from experiments.harness import stream
from experiments.multilevel.beyond import Others, grown, histograms, released
from experiments.multilevel.datasets import SIMPLEX, Dataset, Scale, budgets
from experiments.multilevel.results import Pool
from reticent.data.profiles import Profiles
from reticent.data.synthetic import uniform
from reticent.noise import Source
from reticent.tasks.groups import people_where
from reticent.tasks.metrics import hold_out, ndcg_at, recall_at
from reticent.tasks.reconstruction import reconstruct

if TYPE_CHECKING:
    from numpy.typing import NDArray

LIST = 20
SHARE = Fraction(1, 5)
MEASURES = (f"recall@{LIST}", f"NDCG@{LIST}", "MAE", "MAE, balanced")
RAW, EXACT, NOISY = "raw profile", "exact histogram", "noisy histogram"
SIZED = "noisy histogram, size declared"
LEARNED, LEARNED_EXACT = "noisy histogram, learned", "exact histogram, learned"
POPULAR, RANDOM, NOTHING = "popularity", "random profile", "nothing is liked"
RIDGE = 10.0


@dataclass(frozen=True, slots=True, eq=False)
class _People:
    """Other people's whole profiles, and of those tested what they send and what they look for."""

    others: Profiles
    sent: Profiles
    wanted: Profiles

    @classmethod
    def of(cls, data: Dataset, tested: int) -> _People:
        assert data.profiles is not None  # noqa: S101
        order = np.argsort(stream("case people", data.name).long_words(len(data.profiles)))
        chosen = np.zeros(len(data.profiles), dtype=bool)
        chosen[order[: min(tested, len(order) // 4)]] = True
        others = people_where(data.profiles, ~chosen)
        sent, wanted = hold_out(
            people_where(data.profiles, chosen), source=stream("split", data.name), share=SHARE
        )
        return cls(others, sent, wanted)


class _Service:
    """What the service knows: other people's profiles, the catalogue, and a model of both."""

    def __init__(self, library: Any, data: Dataset, people: _People, factors: int) -> None:
        self.data, self.people = data, people
        self.table = data.catalogue.dense()
        self.average = Others(histograms(people.others, self.table))
        owners = np.bincount(people.others.indices, minlength=people.others.n_items)
        self.popularity = owners / len(people.others)
        self.model = library.AlternatingLeastSquares(
            factors=factors, iterations=15, num_threads=1, random_state=1
        )
        self.model.fit(_matrix(people.others), show_progress=False)
        self.seen = _matrix(people.sent).toarray() > 0
        self.truth = _matrix(people.wanted).toarray() > 0

    def scores(self, profiles: Any) -> NDArray[np.float32]:
        """Predicted preference for every film, from a 0/1 profile per person."""
        tastes = self.model.recalculate_user(np.arange(profiles.shape[0]), profiles)
        return np.asarray(tastes @ self.model.item_factors.T)

    def explain(
        self, values: NDArray[Any], scales: NDArray[np.float64], sizes: NDArray[np.int64] | None
    ) -> Any:
        """A 0/1 profile for each histogram."""
        found = [
            reconstruct(
                self.table,
                values[person],
                scales[person],
                size=None if sizes is None else int(sizes[person]),
                ranking=self.popularity,
            ).items
            for person in range(len(values))
        ]
        return _listed(found, len(self.table))

    def learn(self, shown: NDArray[np.float64]) -> NDArray[np.float64]:
        """Weights from what other people's histograms show to their tastes, by ridge regression."""
        x = _features(shown)
        penalty = RIDGE * np.eye(x.shape[1])
        return np.asarray(np.linalg.solve(x.T @ x + penalty, x.T @ self.model.user_factors))

    def learned(
        self, weights: NDArray[np.float64], shown: NDArray[np.float64]
    ) -> NDArray[np.float32]:
        """Scores from the tastes that a histogram suggests."""
        return np.asarray(_features(shown) @ weights @ self.model.item_factors.T)

    def judge(self, scores: NDArray[Any]) -> dict[str, NDArray[np.float64]]:
        """All measures, one value per person."""
        hidden = np.where(self.seen, -np.inf, scores)
        lists = np.argsort(-hidden, axis=1, kind="stable")[:, :LIST]
        wrong = np.abs(np.clip(scores, 0, 1) - self.truth)
        unseen = ~self.seen
        rest = unseen & ~self.truth
        with np.errstate(invalid="ignore"):
            liked = (wrong * self.truth).sum(axis=1) / self.truth.sum(axis=1)
        other = (wrong * rest).sum(axis=1) / rest.sum(axis=1)
        return {
            f"recall@{LIST}": recall_at(self.people.wanted, lists),
            f"NDCG@{LIST}": ndcg_at(self.people.wanted, lists),
            "MAE": (wrong * unseen).sum(axis=1) / unseen.sum(axis=1),
            "MAE, balanced": (liked + other) / 2,
        }


def library() -> Any:
    """``implicit.als``, or nothing if it is not installed."""
    try:
        return import_module("implicit.als")
    except ImportError:
        return None


def run(pool: Pool, data: Dataset, scale: Scale, als: Any) -> None:
    """Every series at every epsilon, and what is lost against the raw profile."""
    service = _Service(als, data, _People.of(data, scale.tested), scale.factors)
    held: dict[tuple[str, str], dict[str, NDArray[np.float64]]] = {}
    for series, scores in _fixed(service):
        held[series, ""] = service.judge(scores)
    for epsilon in scale.case_epsilons:
        runs = [_noisy(service, epsilon, number) for number in range(scale.runs)]
        for series in runs[0]:
            held[series, str(epsilon)] = {
                measure: np.mean([run[series][measure] for run in runs], axis=0)
                for measure in MEASURES
            }
    for (series, x), values in held.items():
        for measure in MEASURES:
            pool.add(measure, data.name, series, x, values[measure])
            _lost(pool, (measure, data.name, series, x), values, held[RAW, ""])


def _lost(
    pool: Pool,
    key: tuple[str, str, str, str],
    values: dict[str, NDArray[np.float64]],
    raw: dict[str, NDArray[np.float64]],
) -> None:
    """The ratio to the raw profile, drawn together: intervals are paired."""
    measure, name, series, x = key
    known = ~np.isnan(raw[measure])
    label = f"{measure} over raw", name, series, x
    pool.ratio(label, values[measure][known], raw[measure][known])


def _fixed(service: _Service) -> Iterator[tuple[str, NDArray[Any]]]:
    """Series without noise."""
    people, name = service.people, service.data.name
    exact = histograms(people.sent, service.table)
    even = np.ones(exact.shape)
    sent = _matrix(people.sent)
    yield RAW, service.scores(sent)
    yield EXACT, service.scores(service.explain(exact, even, people.sent.sizes))
    weights = service.learn(histograms(people.others, service.table).astype(float))
    yield LEARNED_EXACT, service.learned(weights, exact.astype(float))
    chosen = [
        np.argsort(uniform(len(service.table), stream("random", name, person)))[:size]
        for person, size in enumerate(people.sent.sizes)
    ]
    yield RANDOM, service.scores(_listed(chosen, len(service.table)))
    shape = len(people.sent), len(service.table)
    yield POPULAR, np.broadcast_to(service.popularity, shape)
    yield NOTHING, np.broadcast_to(-1e-9 * stream("nothing").long_words(shape[1]) / 2**64, shape)


def _noisy(service: _Service, epsilon: float, number: int) -> dict[str, dict[str, Any]]:
    """One run: budgets and noise anew."""
    people, name = service.people, service.data.name
    label = name, epsilon, number
    sent = _release(service, people.sent, epsilon, stream("case", *label))
    others = _release(service, people.others, epsilon, stream("case others", *label))
    weights = service.learn(service.average.weighed(others))
    sizes = people.sent.sizes
    return {
        NOISY: service.judge(service.scores(service.explain(sent.values, sent.scales, None))),
        SIZED: service.judge(service.scores(service.explain(sent.values, sent.scales, sizes))),
        LEARNED: service.judge(service.learned(weights, service.average.weighed(sent))),
    }


def _release(service: _Service, profiles: Profiles, epsilon: float, source: Source) -> Any:
    t = budgets(SIMPLEX, len(profiles), service.table.shape[1], source)
    return released(service.data, profiles, grown(t, epsilon), epsilon, source)


def _features(shown: NDArray[np.float64]) -> NDArray[np.float64]:
    roots = np.sqrt(np.maximum(shown, 0))
    return np.column_stack([np.ones(len(shown)), roots, np.log1p(np.maximum(shown, 0))])


def _matrix(profiles: Profiles) -> Any:
    ones = np.ones(profiles.indices.size, dtype=np.float32)
    shape = (len(profiles), profiles.n_items)
    return sparse.csr_matrix((ones, profiles.indices, profiles.indptr), shape=shape)


def _listed(found: list[NDArray[np.int64]], films: int) -> Any:
    starts = np.cumsum([0, *(len(items) for items in found)])
    columns = np.concatenate(found)
    ones = np.ones(len(columns), dtype=np.float32)
    return sparse.csr_matrix((ones, columns, starts), shape=(len(found), films))
