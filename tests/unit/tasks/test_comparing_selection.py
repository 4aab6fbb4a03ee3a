"""Ways to choose, by budget: against laws written out, and at budgets where they are sure."""

import numpy as np
import pytest

from reticent.data.graphs import Graph
from reticent.errors import ParameterError
from reticent.noise import Source
from reticent.tasks.comparing_selection import (
    DEGREE,
    influencer_curves,
    influencer_ways,
    percentile_curves,
    percentile_ways,
)
from reticent.tasks.comparing_similarity import similarity_curves
from reticent.tasks.influence import Influence
from reticent.tasks.similarity import Similarity
from reticent.testing import exponential_law, permute_and_flip_law

LAWS = {"exponential": exponential_law, "permute-and-flip": permute_and_flip_law}
VALUES = [3.0, 10.0, 40.0, 55.0, 90.0]


def star() -> Graph:
    links = [("hub", f"n{i}") for i in range(8)] + [("n0", "n1"), ("n0", "n2"), ("n3", "n2")]
    return Graph.of_edges(links, nodes=["hub", *(f"n{i}" for i in range(8))])


def influence(**given) -> Influence:
    return Influence(**{"k": 1, "epsilon": 1, "nodes": 9, "bound": 8, **given})


def found(one, **given):
    usual = {"what": "it", "epsilons": [1], "runs": 5, "source": Source.seeded(1)}
    return influencer_curves(star(), one, **{**usual, **given})


@pytest.mark.parametrize("way", ["exponential", "permute-and-flip"])
@pytest.mark.parametrize("epsilon", [1, 20])
def test_the_error_of_a_percentile_is_that_of_its_law(way, epsilon) -> None:
    """Scores are minus the distance to the median over the largest change of it, times 2."""
    curves = percentile_curves(VALUES, 0.5, upper=100, epsilons=[epsilon])
    off = [abs(value - 40) for value in VALUES]
    steps = 10**6
    scores = [-round(steps * far / 100) for far in off]
    law = LAWS[way](scores, rate=epsilon / (2 * steps))
    expected = sum(float(p) * far for p, far in zip(law, off, strict=True))
    assert curves.at(way, float(epsilon)).value == pytest.approx(expected, rel=1e-4)


def test_percentiles_are_found_at_once_with_large_budgets() -> None:
    curves = percentile_curves(VALUES, 0.5, upper=100, epsilons=["0.001", 100_000])
    assert curves.ways == percentile_ways()
    for way in ("exponential", "permute-and-flip"):
        assert curves.at(way, 100_000.0).value == pytest.approx(0, abs=1e-9)
    for way in curves.ways:
        assert curves.at(way, 0.001).value == pytest.approx(curves.reference, rel=1e-2)
    assert curves.reference == pytest.approx(np.mean([37, 30, 0, 15, 50]))


def test_only_one_way_is_the_same_as_among_others() -> None:
    given = {"upper": 100, "epsilons": [1, 5]}
    whole = percentile_curves(VALUES, 0.5, **given)
    alone = percentile_curves(VALUES, 0.5, ways=["shifted"], **given)
    assert alone == whole.only(["shifted"])


def test_nodes_are_all_found_at_large_budgets_and_by_chance_at_small_ones() -> None:
    """Exponential choices of one node at epsilon near 0 are uniform, so right one time in nine."""
    one = influence(within=True)
    curves = found(one, epsilons=["0.000001", 100_000])
    assert set(curves.ways) == set(influencer_ways(one))
    for way in ("exponential", "permute-and-flip", "shifted", DEGREE):
        assert curves.at(way, 100_000.0).value == pytest.approx(1)
        assert curves.at(way, 0.000001).value == pytest.approx(1 / 9, rel=1e-3)
    assert curves.reference == pytest.approx(1 / 9)


def test_what_is_drawn_has_an_interval_and_what_is_computed_has_none() -> None:
    curves = found(influence(k=2))
    assert curves.runs == 5
    for row in curves.rows:
        assert 0 <= row.low <= row.value <= row.high <= 1
        assert row.more["overlap"] == row.value
    computed = found(influence()).only(["exponential"]).rows[0]
    assert (computed.low, computed.high, computed.more["runs"]) == (None, None, 0)


def test_a_way_alone_draws_the_same_as_among_others() -> None:
    """Every way gets the same streams, whatever else is compared."""
    whole = found(influence(k=2), epsilons=[1, 4])
    for way in ("shifted", DEGREE):
        assert found(influence(k=2), epsilons=[1, 4], ways=[way]).rows == whole.only([way]).rows
    assert found(influence(k=2), epsilons=[1, 4], source=Source.seeded(2)) != whole


def test_degrees_have_no_baseline() -> None:
    one = influence(centrality="degree")
    assert influencer_ways(one) == ("exponential", "permute-and-flip")
    with pytest.raises(ParameterError, match="method must be one of"):
        found(one, ways=[DEGREE])


@pytest.mark.parametrize("measure", ["cosine", "overlap"])
def test_the_error_of_an_overlap_is_that_of_its_noise(measure) -> None:
    """Outcome by outcome, in units of 2**-20; a cosine leaves three quarters for the overlap."""
    norms = "none" if measure == "overlap" else "private"
    curves = similarity_curves([Similarity(epsilon=400, measure=measure, norms=norms)])
    rate = (400 if measure == "overlap" else 300) / 2**20
    z = np.arange(1, 400_000)
    chances = np.exp(-rate * z)
    expected = (z * chances).sum() * 2 / (1 + 2 * chances.sum()) / 2**20
    assert curves.rows[0].value == pytest.approx(expected, rel=1e-9)
    assert curves.runs == 0


def test_a_sweep_of_similarities_is_of_one_kind() -> None:
    with pytest.raises(ParameterError, match="of one measure"):
        similarity_curves([Similarity(epsilon=1), Similarity(epsilon=1, measure="jaccard")])
    size = similarity_curves([Similarity(epsilon=2)]).rows[0].more["size_error"]
    assert size == pytest.approx(2, rel=1e-6)  # a quarter of 2 is for the size
    exact = similarity_curves([Similarity(epsilon=2, norms="public")]).rows[0].more
    assert exact["size_error"] is None
