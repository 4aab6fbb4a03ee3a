"""Curves of ways, groups, depths and reproductions: what they say, show and refuse."""

import re
from xml.etree import ElementTree

import pytest

from reticent.errors import ParameterError
from reticent.report.attack_figures import promise_roc_figure
from reticent.report.curve_figures import Point, curve_figure, looks
from reticent.report.reproduction_figures import Reproduced, reproduction_figure
from reticent.report.roc import Measured
from reticent.report.selection_figures import Displaced, displacement_figure, rank_displacement
from reticent.report.similarity_figures import RecallAt, recall_figure, similarity_error_figure
from reticent.report.tree_figures import AccuracyAt, accuracy_figure

pytestmark = pytest.mark.figures

HOSTILE = '<script>alert("$x^{")</script> & \x00'
EPSILONS = (0.01, 1.0, 100.0)


def points(*ways, far=1.0) -> list[Point]:
    return [
        Point(way, epsilon, far**-place * (n + 1), 0.9 * far**-place * (n + 1), 1e3)
        for n, way in enumerate(ways)
        for place, epsilon in enumerate(EPSILONS)
    ]


def curves(name="adaptive", **changes) -> str:
    told = {"what": f"the median of {name}", "y": "error", "runs": 20, "reference": 0.5} | changes
    return curve_figure(points(name, "exponential"), **told)


def recalls(name="Pragmatist", **changes) -> str:
    rows = [
        RecallAt(group, epsilon, share * top, share * top - 0.01, share * top + 0.01)
        for group, share in ((name, 0.5), ("Fundamentalist", 0.2))
        for epsilon, top in zip(EPSILONS, (0.2, 0.5, 0.9), strict=True)
    ]
    told = {"sizes": {name: 1200, "Fundamentalist": 30}, "runs": 7, "reference": 0.5} | changes
    return recall_figure(rows, what=f"neighbours {name}", **told)


def accuracies(name="income", **changes) -> str:
    rows = [
        AccuracyAt(depth, epsilon, 60 + depth + place, 59.0 + depth, 62.0 + depth + place)
        for depth in (2, 5)
        for place, epsilon in enumerate(EPSILONS)
    ]
    told = {"runs": 50, "reference": {2: 70.0, 5: 80.5}, "commonest": 55.0} | changes
    return accuracy_figure(rows, what=f"trees for {name}", **told)


def reproduced(name="HDP", **changes) -> str:
    one = {"x": EPSILONS, "printed": (0.1, 0.2, 0.4), "ours": (0.1, 0.21, 0.43)}
    told = {"x": "epsilon", "y": "recall", "tolerance": 0.02, "runs": 10} | changes
    return reproduction_figure([Reproduced(name=name, **one)], what=f"Figure 3 {name}", **told)


def displaced(name="adaptive", **changes) -> str:
    rows = [
        Displaced(name, e, p, p / 2, p * 2, 100) for e, p in zip(EPSILONS, (90, 9, 0), strict=True)
    ]
    return displacement_figure(rows, what=f"nodes {name}", **({"chance": 400.0} | changes))


def roc(name="the best test", **changes) -> str:
    fair = {"false_rates": [0, 0.3, 1], "true_rates": [0, 0.5, 1], "negatives": 500}
    before = {"false_rates": [0, 0, 1], "true_rates": [0, 1, 1], "negatives": 500}
    curve = Measured(name=name, positives=500, **fair)
    told = {"epsilon": 1, "before": [Measured(name=f"raw {name}", positives=500, **before)]}
    return promise_roc_figure([curve], **(told | changes))


FIGURES = [curves, recalls, accuracies, reproduced, displaced, roc]
EVERY = pytest.mark.parametrize("draw", FIGURES, ids=lambda draw: draw.__name__)


def says(drawing) -> str:
    return str(ElementTree.fromstring(drawing).get("aria-label"))


def shown(drawing) -> list[str]:
    texts = ElementTree.fromstring(drawing).iter("{http://www.w3.org/2000/svg}text")
    return ["".join(text.itertext()) for text in texts]


@EVERY
def test_equal_input_gives_equal_bytes(draw) -> None:
    assert draw() == draw()


@EVERY
def test_a_hostile_name_is_a_name(draw) -> None:
    drawing = draw(HOSTILE)
    assert "<script" not in drawing
    assert 'alert("' in says(drawing) + " ".join(shown(drawing))
    assert not re.search("[\x00-\x08]", drawing)


@EVERY
def test_figures_fit_a_page_and_no_label_is_a_formula(draw) -> None:
    drawing = draw()
    width = re.search(r'width="([\d.]+)pt"', drawing)
    assert width is not None
    assert float(width[1]) <= 1.1 * 5.6 * 72
    assert "mathdefault" not in drawing
    assert ElementTree.fromstring(drawing).get("role") == "img"


@EVERY
def test_how_many_runs_there_were_is_told(draw) -> None:
    assert re.search(r"[\d,]+ (runs|trials)", " ".join(shown(draw())))


# Curves of ways


def test_the_finding_is_where_ways_differ_most() -> None:
    rows = [Point("a", 1, 5), Point("b", 1, 4), Point("a", 9, 3), Point("b", 9, 1)]
    low = says(curve_figure(rows, what="a sum", y="error"))
    assert low == "For a sum, ways differ most at epsilon 9. Error: 1 by b, the best, 3 by a."
    high = says(curve_figure(rows, what="a sum", y="recall", better="higher", reference=7))
    assert "3 by a, the best, 1 by b; without privacy: 7." in high
    same = [Point("a", 1, 5), Point("b", 1, 5)]
    assert "all ways are alike. Error: 5." in says(curve_figure(same, what="x", y="error"))
    alone = says(curve_figure(rows[::2], what="x", y="error", runs=3))
    assert alone == "For x, a, error: 5 at epsilon 1 and 3 at epsilon 9."


def test_axes_have_decades_in_plain_numbers() -> None:
    labels = shown(curve_figure(points("a", far=30), what="x", y="error"))
    assert {"0.01", "0.1", "1", "10", "100", "0.001"} <= set(labels)
    near = shown(curve_figure([Point("a", 2, 1), Point("a", 4, 2)], what="x", x="depth", y="e"))
    assert "depth" in near
    assert "computed exactly" in near


def test_the_reference_is_dotted_and_named() -> None:
    drawing = curves(reference_name="the true median", reference=2.5)
    assert "the true median: 2.5" in shown(drawing)
    assert "stroke-dasharray" in drawing
    assert any("without privacy" in text for text in shown(curves(reference_name="")))


def test_every_way_has_a_look_of_its_own() -> None:
    found = looks(["adaptive", "one", "two", "exponential", "three"])
    assert len(set(found)) == 5
    assert len({marker for _, marker in found}) == 5
    assert len(looks([str(n) for n in range(30)])) == 30


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [Point("a", 0, 1)],
        [Point("a", -1, 1)],
        [Point("a", float("nan"), 1)],
        [Point("a", 1, float("inf"))],
        [Point("a", 1, 1, 2, 3)],
    ],
)
def test_what_cannot_be_drawn_is_refused(rows) -> None:
    with pytest.raises(ParameterError):
        curve_figure(rows, what="x", y="y")
    with pytest.raises(ParameterError):
        similarity_error_figure(rows, what="x")


@pytest.mark.parametrize("change", [{"better": "more"}, {"reference": float("nan")}])
def test_other_words_are_refused(change) -> None:
    with pytest.raises(ParameterError):
        curves(**change)


def test_the_error_of_a_similarity_has_its_name() -> None:
    drawing = similarity_error_figure([Point("a", 1, 2), Point("b", 1, 3)], what="a cosine")
    assert "Mean absolute error of the similarity: 2 by a" in says(drawing)


# Groups


def test_group_sizes_are_in_the_legend_and_the_worst_is_drawn_alone() -> None:
    drawing = recalls()
    assert "Pragmatist (1,200 people)" in shown(drawing)
    assert "Fundamentalist (30 people)" in shown(drawing)
    assert "the worst group" in " ".join(shown(drawing))
    assert says(drawing).endswith(
        "at epsilon 100 the worst group, Fundamentalist, has recall 0.180 and the best, "
        "Pragmatist, 0.450; without privacy it is 0.500."
    )


@pytest.mark.parametrize("change", [{"sizes": {"Pragmatist": 1}}, {"runs": 0}])
def test_groups_without_sizes_or_runs_are_refused(change) -> None:
    with pytest.raises(ParameterError):
        recalls(**change)


# Depths


def test_depths_are_held_against_trees_without_privacy() -> None:
    drawing = accuracies()
    assert "depth 5 without privacy: 80.5" in shown(drawing)
    assert "always the commonest class: 55.0" in shown(drawing)
    assert says(drawing).endswith(
        "depth 5 is right for 65.0 of 100 at epsilon 0.01 and depth 5 is right for 67.0 of 100 at "
        "epsilon 100; without privacy the best reaches 80.5."
    )


@pytest.mark.parametrize("change", [{"reference": {2: 101.0}}, {"runs": 0}, {"commonest": -1.0}])
def test_shares_and_runs_are_checked(change) -> None:
    with pytest.raises(ParameterError):
        accuracies(**change)


# Reproductions


def test_a_reproduction_counts_what_agrees() -> None:
    assert says(reproduced()).endswith(
        "2 of 3 printed points are reproduced within 0.02; the largest difference is 0.03, HDP at "
        "epsilon 100."
    )
    relative = says(reproduced(tolerance=0.06, relative=True))
    assert "2 of 3 printed points are reproduced within 6 %" in relative
    assert "HDP: printed" in shown(reproduced())
    assert "grey: tolerance of 0.02; ours: 10 runs" in shown(reproduced())


def test_reproductions_that_cannot_be_drawn_are_refused() -> None:
    with pytest.raises(ParameterError):
        Reproduced(name="x", x=[1], printed=[1, 2], ours=[1])
    with pytest.raises(ParameterError):
        Reproduced(name="x", x=[1], printed=[float("nan")], ours=[1])
    with pytest.raises(ParameterError):
        reproduced(tolerance=0)
    with pytest.raises(ParameterError):
        reproduction_figure([], what="x", x="x", y="y", tolerance=1)
    zero = Reproduced(name="x", x=[1], printed=[0], ours=[1])
    with pytest.raises(ParameterError):
        reproduction_figure([zero], what="x", x="x", y="y", tolerance=1, relative=True)


# Places


@pytest.mark.parametrize(
    ("chosen", "places"), [([0, 1], 0.0), ([1, 2], 0.0), ([0, 3], 1.5), ([3, 4], 3.5)]
)
def test_displacement_counts_places_and_no_ties(chosen, places) -> None:
    assert rank_displacement([9, 9, 9, 3, 1], chosen) == places


@pytest.mark.parametrize("chosen", [[], [[0]], [0, 1, 2, 0]])
def test_displacement_of_no_choice_is_refused(chosen) -> None:
    with pytest.raises(ParameterError):
        rank_displacement([1, 2, 3], chosen)


def test_displacement_is_drawn_with_a_choice_at_random() -> None:
    assert "a choice at random: 400" in shown(displaced())


# The promised ceiling


def test_the_ceiling_is_drawn_and_what_is_above_it_named() -> None:
    drawing = roc()
    assert 'id="ceiling"' in drawing
    assert 'id="forbidden"' in drawing
    assert says(drawing).endswith(
        "before, raw the best test had 1.000. The ceiling promised at epsilon 1 has 0.732; no "
        "curve is above it."
    )
    above = Measured(
        name="leak", false_rates=[0, 0, 1], true_rates=[0, 1, 1], negatives=500, positives=500
    )
    told = says(promise_roc_figure([above], epsilon=1, delta=0.01))
    assert "at epsilon 1, delta 0.01 has" in told
    assert told.endswith("Above it, which must not be: leak.")
    best = ([0, 0.4, 1], [0, 0.6, 1])
    assert "best possible test: 0.600" in shown(roc(best=best))
    with pytest.raises(ParameterError):
        promise_roc_figure([], epsilon=1)
