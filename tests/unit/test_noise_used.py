"""The promise is recomputed from the noise that a release really asked for, call by call.

A mechanism that states one scale and draws another would pass every test of its statements. Here
the source writes down what was drawn; two per cent too little must break each of these.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as arrow
import pytest

from reticent.amounts import nano_up
from reticent.data.catalogue import Catalogue
from reticent.data.graphs import Graph
from reticent.data.profiles import Profiles
from reticent.guarantees import RECORD_SUBSTITUTE
from reticent.mechanisms import (
    Dampened,
    DiscreteLaplace,
    Exponential,
    Exposure,
    MultiLevel,
    PermuteAndFlip,
    ProfileMapping,
    Scored,
    SnappedLaplace,
    TopDampened,
    Totals,
)
from reticent.mechanisms.dampening import SCORE_BITS
from reticent.mechanisms.local_sensitivity import Tabled
from reticent.mechanisms.multilevel_plan import plan_histogram
from reticent.noise import Source, discrete_laplace
from reticent.optim.distances import hamming
from reticent.optim.mapping import Channel
from reticent.preferences import Preferences
from reticent.tasks import blip, gossip_kernels, paper_gossip_kernels
from reticent.tasks.blip import Blip
from reticent.tasks.clustering import Gossip
from reticent.tasks.histogram_batches import Histograms
from reticent.tasks.influence import Influence
from reticent.tasks.recoding import Recoding
from reticent.tasks.recoding_arrow import ProfileBatches
from reticent.tasks.similarity import Similarity
from reticent.tasks.terms import FULL, HistogramTerms, SimilarityTerms
from reticent.testing import RecordingSource, ScriptedSource
from tests.interpreted import interpret

EPSILON = Fraction(3, 7)


def asked(source: RecordingSource, primitive: str, argument: str) -> list[Fraction]:
    found = [call.arguments[argument] for call in source.calls if call.primitive == primitive]
    assert found, f"{primitive} was not called"
    return [Fraction(value) for value in found]


def laplace_loss(mechanism: DiscreteLaplace, source: RecordingSource) -> Fraction:
    (scale,) = asked(source, "discrete_laplace", "scale")
    return mechanism.sensitivity / scale


def totals_loss(mechanism: Totals, source: RecordingSource) -> Fraction:
    """Of a person with records of the largest value, from the scale that was drawn, in steps."""
    (scale,) = asked(source, "discrete_laplace", "scale")
    largest = max(abs(Fraction(mechanism.lower)), abs(Fraction(mechanism.upper)))
    return mechanism.records * largest / Fraction(mechanism.step) / scale


def snapped_loss(mechanism: SnappedLaplace, source: RecordingSource) -> Fraction:
    (steps,) = asked(source, "discrete_laplace", "scale")
    return mechanism.widened / (steps * mechanism.grid.step)


def selection_loss(mechanism: Any, source: RecordingSource) -> Fraction:
    (rate,) = asked(source, mechanism.name.replace("-", "_"), "rate")
    either_way = 1 if mechanism.monotone else 2
    return rate * either_way * mechanism.widened / mechanism.grid.step


def multilevel_losses(
    mechanism: MultiLevel, source: RecordingSource
) -> tuple[Fraction, list[Fraction]]:
    """Of the most exposed item, and of each attribute alone, from the scale on each coordinate."""
    (call,) = source.calls
    scales = [Fraction(scale) for scale in call.arguments["scale"]]
    films, steps = mechanism.catalogue, mechanism.exposure.steps
    assert films is not None
    items = [
        [abs(int(a)) * films.steps[j] / steps[j] / scales[j] for j, a in enumerate(row)]
        for row in films.dense()
    ]
    return max(map(sum, items)), [max(column) for column in zip(*items, strict=True)]


CASES: list[tuple[Any, Callable[[Any, RecordingSource], Fraction]]] = [
    (DiscreteLaplace(epsilon=EPSILON, size=3, sensitivity=5), laplace_loss),
    (Totals(epsilon=EPSILON, size=3, records=4), totals_loss),
    (Totals(epsilon=EPSILON, size=3, records=2, lower=-5, upper=3, step="0.5"), totals_loss),
    (SnappedLaplace(epsilon=EPSILON, size=3, sensitivity=2, lower=0, upper=9), snapped_loss),
    (PermuteAndFlip(epsilon=EPSILON, candidates=3, sensitivity=2), selection_loss),
    (PermuteAndFlip(epsilon=EPSILON, candidates=3, sensitivity=2, monotone=True), selection_loss),
    (Exponential(epsilon=EPSILON, candidates=3, sensitivity=2), selection_loss),
    (
        Exponential(epsilon=EPSILON, candidates=3, sensitivity=2, unit=RECORD_SUBSTITUTE),
        selection_loss,
    ),
]


@pytest.mark.parametrize(("mechanism", "loss"), CASES, ids=lambda c: getattr(c, "name", ""))
def test_a_release_draws_what_its_promise_needs(mechanism, loss) -> None:
    source = RecordingSource(seed=1)
    event = mechanism.release([1, 2, 3], source).event
    assert loss(mechanism, source) == EPSILON
    assert event.loss.overall == nano_up(loss(mechanism, source))


STEP = 1 << SCORE_BITS  # of a score; one unit moves it by one step of rounding more
SPREAD = Scored([5.0, 1.0, 3.0, 0.0], Tabled.of([[2, 1, 1, 0], [2, 2, 2, 2]]))


def dampened(**given: Any) -> Dampened:
    return Dampened(**{"epsilon": EPSILON, "candidates": 4, "limit": 2, "steps": 2, **given})


@pytest.mark.parametrize("shift", ["none", "left", "right"])
@pytest.mark.parametrize("law", ["exponential", "permute-and-flip"])
@pytest.mark.parametrize("spread", [1, Fraction(9, 7), 2])
def test_dampening_draws_what_its_promise_needs(shift: str, law: str, spread: Fraction) -> None:
    mechanism = dampened(shift=shift, law=law, spread=spread)
    source = RecordingSource(seed=10)
    event = mechanism.release(SPREAD, source).event
    (rate,) = asked(source, law.replace("-", "_"), "rate")
    assert rate * (spread * STEP + 2) == EPSILON  # two scores, each rounded down
    assert event.loss.overall == nano_up(EPSILON)


WIDE, NARROW = Fraction(5, 4), Fraction(8, 7)  # spreads of shifted and of plain scores
TWO_STAND_OUT = Scored([300.0, 1.0, 300.0, 0.0], SPREAD.sensitivity)


@pytest.mark.parametrize("changes", [1, 3])
@pytest.mark.parametrize("law", ["exponential", "permute-and-flip"])
@pytest.mark.parametrize(
    ("epsilon", "way"), [("0.01", "shifted"), ("0.1", "rounds"), (EPSILON * 20, "set")]
)
def test_the_best_few_draw_what_their_promise_needs(
    changes: int, law: str, epsilon: Fraction, way: str
) -> None:
    """The test and k rounds, or the test and a set; for one unit scored, and then for all."""
    total = Fraction(epsilon) * changes
    whole = dampened(epsilon=total, law=law, spread=WIDE)
    plain = dampened(epsilon=total, law=law, steps=0, spread=NARROW)
    top = TopDampened(whole=whole, plain=plain, k=2, test=Fraction(1, 2), changes=changes)
    source = RecordingSource(seed=11)
    event = top.release(TWO_STAND_OUT, source).event
    (scale,) = asked(source, "discrete_laplace", "scale")
    spent = Fraction(STEP + 2) / scale  # the margin, rounded twice
    if way == "set":
        (rate,) = asked(source, "exponential_set", "rate")
        spent += rate * 2 * (NARROW * STEP + 2)  # one gap, and the sum over all of them
    else:
        rates = asked(source, law.replace("-", "_"), "rate")
        assert len(rates) == 2
        spent += sum(rates) * ((WIDE if way == "shifted" else NARROW) * STEP + 2)
    assert len(source.calls) == (2 if way == "set" else 3)  # nothing else was drawn
    assert spent * changes == total
    assert event.loss.overall == nano_up(total)


@pytest.mark.parametrize("within", [False, True])
@pytest.mark.parametrize("centrality", ["ebc", "triangles", "degree"])
def test_influential_nodes_draw_what_their_promise_needs(within: bool, centrality: str) -> None:
    """Beyond the bound one edge counts for three, so a third is spent on each."""
    how = Influence(k=3, epsilon=EPSILON, nodes=30, bound=5, within=within, centrality=centrality)
    graph = Graph.of_edges([(v, (v * v + 1) % 30) for v in range(30)], nodes=30)
    source = RecordingSource(seed=12)
    event = how.release(graph, source).event
    rates = asked(source, "permute_and_flip", "rate")
    assert len(rates) == 3
    # by Lemma 3, D = 5, in quarters: G = 20, no score falls by more than 10, four for rounding
    spread = Fraction(20 + 10 + 4, 20 + 2) if centrality == "ebc" else 1
    spent = sum(rates) * (spread * STEP + 2)
    if centrality != "degree":  # which has no other scores to choose from
        (scale,) = asked(source, "discrete_laplace", "scale")
        spent += Fraction(STEP + 2) / scale
    assert spent * (1 if within else 3) == EPSILON
    assert event.loss.overall == nano_up(EPSILON)


FILMS = Catalogue.of(
    [[1, -0.5, 0], [2, 0, 3], [0, 0.25, 3]], attributes=("Crime", "Drama", "Length")
)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_histogram_draws_what_its_promises_need(weighted: bool) -> None:
    rates = (EPSILON / 2, EPSILON / 3, EPSILON / 5)
    exposure = Exposure.of(FILMS, weighted=weighted)
    per_step = tuple(
        rate * step / own
        for rate, step, own in zip(rates, exposure.steps, FILMS.steps, strict=True)
    )
    mechanism = MultiLevel(exposure, per_step, catalogue=FILMS)
    source = RecordingSource(seed=6)
    event = mechanism.release([1, 0, 1], source).event
    overall, alone = multilevel_losses(mechanism, source)
    assert overall == 2 * rates[0] + rates[2]  # the second film: two steps of Crime, one of Length
    assert event.loss.overall == nano_up(overall)
    assert alone == [2 * rates[0], 2 * rates[1], rates[2]]
    for name, loss in zip(FILMS.attributes, alone, strict=True):
        assert event.loss.attributes[name] == nano_up(loss)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_planned_histogram_draws_within_its_budgets(weighted: bool) -> None:
    budgets = {"Crime": Fraction(1, 7), "Drama": Fraction(1, 5), "Length": Fraction(1, 3)}
    plan = plan_histogram(FILMS, budgets=budgets, epsilon=EPSILON, weighted=weighted)
    source = RecordingSource(seed=7)
    plan.mechanism.release([1, 0, 1], source)
    overall, alone = multilevel_losses(plan.mechanism, source)
    assert Fraction(99_999, 100_000) * EPSILON < overall <= EPSILON
    assert tuple(alone) == plan.spent
    assert all(spent <= budgets[name] for name, spent in zip(budgets, alone, strict=True))
    assert overall * Fraction(102, 100) > EPSILON  # the control: two per cent too little noise


def batch_losses(
    source: RecordingSource, exposure: Exposure
) -> list[tuple[Fraction, list[Fraction]]]:
    """Overall and alone, person by person, of the one call that draws for all of them."""
    (call,) = [call for call in source.calls if call.primitive == "discrete_laplace"]
    drawn = np.broadcast_to(
        np.array(call.arguments["scale"], dtype=object), call.arguments["shape"]
    )
    rates = [[1 / Fraction(scale) for scale in row] for row in drawn.tolist()]
    return [(exposure.overall(row), list(exposure.alone(row))) for row in rates]


@pytest.mark.parametrize("weighted", [False, True])
def test_many_histograms_draw_within_everybodys_budgets(weighted: bool) -> None:
    task = Histograms(FILMS, weighted=weighted)
    budgets = np.array([[0.14, 0.2, 0.33], [0.5, 0.01, 0.1], [1.0, 1.0, 1.0]])
    epsilon, source = np.array([0.4, 0.05, 0.3]), RecordingSource(seed=8)
    task.release([0, 1, 2, 3], [0, 1, 2], budgets=budgets, epsilon=epsilon, source=source)
    for own, eps, (overall, alone) in zip(
        budgets.tolist(), epsilon.tolist(), batch_losses(source, task.exposure), strict=True
    ):
        limit = Fraction(repr(eps))
        assert overall <= limit
        assert all(t <= Fraction(repr(b)) for t, b in zip(alone, own, strict=True))
        assert overall * Fraction(102, 100) > limit  # the control: two per cent too little noise


@pytest.mark.parametrize("weighted", [False, True])
def test_many_histograms_alike_draw_exactly_their_plan(weighted: bool) -> None:
    budgets = {"Crime": Fraction(1, 7), "Drama": Fraction(1, 5), "Length": Fraction(1, 3)}
    plan = plan_histogram(FILMS, budgets=budgets, epsilon=EPSILON, weighted=weighted)
    task, source = Histograms(FILMS, weighted=weighted), RecordingSource(seed=9)
    task.release_alike([0, 1, 2], [0, 1], plan=plan, source=source)
    for overall, alone in batch_losses(source, task.exposure):
        assert nano_up(overall) == plan.mechanism.guarantee().overall
        assert tuple(alone) == plan.spent


WISHES = Preferences.parse(
    """
version = 1
items = {"0" = 0.5}
attributes = {Crime = 0.05, Drama = 0.2, Length = 0.1}
providers = {"club.example" = {epsilon = 0.1}}
"""
)


def test_a_histogram_on_public_terms_draws_what_its_charge_needs() -> None:
    """The charge is that of the noise drawn, for what preferences let one item move."""
    budgets = {"Crime": Fraction(1, 7), "Drama": Fraction(1, 5), "Length": Fraction(1, 3)}
    plan = plan_histogram(FILMS, budgets=budgets, epsilon=EPSILON, weighted=True)
    terms, source = HistogramTerms(plan), RecordingSource(seed=13)
    kept = terms.allowance(WISHES, "club.example")
    released, cover = terms.draw(np.array([1, 0, 1]), kept, source)
    (call,) = source.calls  # one draw for both, of which one leaves
    rates = [1 / Fraction(scale) for scale in call.arguments["scale"]]
    factors = [Fraction(int(factor), FULL) for factor in kept.factors]
    used = [rate * factor for rate, factor in zip(rates, factors, strict=True)]
    overall, alone = plan.mechanism.exposure.overall(used), plan.mechanism.exposure.alone(used)
    assert nano_up(overall) == kept.nano <= 100_000_000
    assert tuple(map(nano_up, alone)) == kept.alone
    assert nano_up(overall * Fraction(102, 100)) > kept.nano  # the control
    assert overall * Fraction(102, 100) > Fraction(1, 10)  # less noise would break the wish
    steps = np.array([float(step) for step in plan.mechanism.exposure.steps])
    moved = (released - cover) / steps
    assert moved.tolist() == terms.stretched(np.array([1, 0, 1]), kept).tolist()


def test_a_comparison_on_public_terms_draws_what_its_charge_needs() -> None:
    similarity = Similarity(epsilon=EPSILON)
    terms, source = SimilarityTerms(similarity), RecordingSource(seed=14)
    kept = terms.allowance(WISHES, "club.example", FILMS.places)
    held = np.array([1, 0, 1])
    terms.draw((held, kept), (held, kept), source)
    norms = asked(source, "discrete_laplace", "scale")
    overlaps = asked(source, "pair_noise", "scale")
    assert (len(norms), len(overlaps)) == (2, 2)  # for the two people, and for two empty profiles
    for norm, overlap in zip(norms, overlaps, strict=True):
        lost = (2**20 / norm + 2**20 / overlap) * Fraction(int(kept.weights.max()), FULL)
        assert nano_up(lost) <= kept.nano <= 100_000_000 < nano_up(lost * Fraction(102, 100))


def test_a_law_that_is_kept_is_the_law() -> None:
    """A tuple of fractions draws as a list of them does, bit by bit."""
    scales = [Fraction(7, 3), Fraction(2**21, 5), Fraction(1, 9)]
    drawn = [
        [discrete_laplace(scale=kind(scales), source=source).tolist() for _ in range(50)]
        for kind, source in ((list, Source.seeded(3)), (tuple, Source.seeded(3)))
    ]
    assert drawn[0] == drawn[1]


def leak_of(counts: np.ndarray, joint: np.ndarray) -> float:
    """I(A; released) in bits of counts[profile, output], for the law of secret and profile."""
    moments = joint @ (counts / counts.sum(axis=1, keepdims=True))
    outer = moments.sum(axis=1, keepdims=True) * moments.sum(axis=0)
    used = moments > 0
    return float((moments[used] * np.log2(moments[used] / outer[used])).sum())


def test_profiles_in_batches_are_drawn_as_their_promise_needs() -> None:
    """Words spread evenly for each profile: the table that is drawn from tells no more."""
    joint = np.array([[0.3, 0.15, 0.05], [0.05, 0.15, 0.3]])
    table = np.array([[0.4, 0.35, 0.25], [0.3, 0.4, 0.3], [0.25, 0.35, 0.4]])
    channel = Channel(np.arange(4) * 3, np.tile(np.arange(3), 3), table.reshape(-1))
    names = np.array([["a"], ["b"], ["c"]])
    mechanism = ProfileMapping.of(channel, joint, hamming(names), secret="income")
    recoding = Recoding(("x",), names, mechanism)
    each = 2000
    words = np.tile((np.arange(each, dtype=np.uint64) * 2 + 1) << np.uint64(52), 3) // each * 2**11
    batch = arrow.record_batch(
        {"person": [str(i) for i in range(3 * each)], "x": names[:, 0].repeat(each)}
    )
    drawn = ProfileBatches(recoding).draw(batch, ScriptedSource(words=words)).batch.column("x")
    outs = np.searchsorted(names[:, 0], np.array(drawn.to_pylist()))
    counts = np.array([np.bincount(part, minlength=3) for part in outs.reshape(3, each)])
    promised = mechanism.guarantee().bits
    assert leak_of(counts, joint) == pytest.approx(promised, rel=0.005)
    less = counts + np.diag(counts.sum(axis=1) // 50)  # the control: two per cent keep their own
    assert leak_of(less, joint) > 1.1 * promised


def club() -> Profiles:
    people = np.repeat(np.arange(12), 4)
    return Profiles.of(people, (people * 5 + np.tile(np.arange(4), 12) * 3) % 17)


@pytest.mark.parametrize("paper", [False, True])
def test_gossip_draws_what_its_promise_needs(monkeypatch: pytest.MonkeyPatch, paper: bool) -> None:
    interpret(monkeypatch, gossip_kernels, paper_gossip_kernels)
    similarity = Similarity(epsilon=EPSILON)
    source = RecordingSource(seed=2)
    with np.errstate(over="ignore"):  # random words wrap around
        Gossip(similarity=similarity, k=3, rounds=3, paper=paper).cluster(club(), source=source)
    scales = asked(source, "discrete_laplace", "scale")
    scales += asked(source, "pair_noise", "scale") if not paper else []
    norm, overlap = 2**20 / similarity.epsilon_norm, 2**20 / similarity.epsilon_overlap
    assert set(scales) == {norm, overlap}
    assert 2**20 / norm + 2**20 / overlap == EPSILON


def test_lists_draw_what_their_promise_needs() -> None:
    similarity = Similarity(epsilon=EPSILON)
    source = RecordingSource(seed=3)
    with patch(
        "reticent.tasks.neighbours.laplace_of_words",
        side_effect=lambda words, low, *, scale, bits: (
            source.note("laplace_of_words", scale=scale) or np.zeros(words.size, dtype=np.int64)
        ),
    ):
        similarity.neighbours(club(), 3, source=source)
    assert set(asked(source, "laplace_of_words", "scale")) == {2**20 / similarity.epsilon_overlap}
    assert asked(source, "discrete_laplace", "scale") == [2**20 / similarity.epsilon_norm]


def test_sketches_flip_as_their_promise_needs() -> None:
    source = RecordingSource(seed=4)
    Blip(epsilon=EPSILON, bits=64, hashes=2).publish(club(), source)
    assert asked(source, "logistic_words", "exponent") == [EPSILON / 2]
    assert asked(source, "bernoulli_thinned", "exponent") == [EPSILON]


@pytest.mark.parametrize("weight", [0.25, 0.5])
def test_items_enter_sketches_as_often_as_their_weight_allows(weight: float) -> None:
    n, epsilon = 400_000, 2.0
    crowd = Profiles.of(np.arange(n), np.zeros(n, dtype=np.int64), weight)
    silent = patch.object(
        blip, "logistic_words", lambda _, shape, source: np.zeros(shape, dtype=np.uint64)
    )
    with silent:  # nothing is flipped, so every bit is an item that entered
        sketches = Blip(epsilon=2, bits=64).publish(crowd, RecordingSource(seed=5))
    share = np.bitwise_count(sketches.words).sum() / n
    allowed = np.expm1(epsilon * weight) / np.expm1(epsilon)
    assert abs(share - allowed) < 5 * np.sqrt(allowed * (1 - allowed) / n)
    thin = np.expm1(epsilon * weight * 1.02) / np.expm1(epsilon)  # the control
    assert abs(share - thin) > 5 * np.sqrt(thin * (1 - thin) / n)
