"""Figures of ways to choose: what they say and show, and names that are hostile."""

import math
import re
from xml.etree import ElementTree

import pytest

from reticent.errors import ParameterError
from reticent.mechanisms.comparison import Compared
from reticent.report.selection_figures import ErrorAt, error_figure, overlap_figure

pytestmark = pytest.mark.figures

HOSTILE = '<script>alert("$x^{")</script> & \x00'
SHARES = {"exponential": (0.0, 0.1, 1.0), "adaptive": (0.1, 0.9, 1.0), "degree": (0.1, 0.8, 0.9)}
EPSILONS = (0.001, 1.0, 10000.0)


def rows(extra=(), runs=50) -> list[Compared]:
    ways = SHARES | dict.fromkeys(extra, (0.2, 0.3, 0.4))
    return [
        Compared(
            way=way,
            epsilon=epsilon,
            overlap=share,
            low=max(share - 0.05, 0),
            high=min(share + 0.05, 1),
            loss=0.0,
            runs=runs,
        )
        for way, shares in ways.items()
        for epsilon, share in zip(EPSILONS, shares, strict=True)
    ]


def errors(name="shifted") -> list[ErrorAt]:
    return [
        ErrorAt("exponential", 0.1, 1000.0),
        ErrorAt("exponential", 10.0, 900.0),
        ErrorAt(name, 0.1, 990.0),
        ErrorAt(name, 10.0, 400.0),
    ]


def says(drawing) -> str:
    return str(ElementTree.fromstring(drawing).get("aria-label"))


def shown(drawing) -> list[str]:
    texts = ElementTree.fromstring(drawing).iter("{http://www.w3.org/2000/svg}text")
    return ["".join(text.itertext()) for text in texts]


def test_equal_input_gives_equal_bytes_in_any_order_of_budgets() -> None:
    assert overlap_figure(rows(), what="x") == overlap_figure(rows(), what="x")
    assert error_figure(errors(), what="x") == error_figure(errors(), what="x")
    turned = sorted(rows(), key=lambda row: (list(SHARES).index(row.way), -row.epsilon))
    assert overlap_figure(turned, what="x") == overlap_figure(rows(), what="x")


@pytest.mark.parametrize("name", ["plain", HOSTILE, "a" * 500, "", "two\nlines", "\ud800"])
def test_figures_hold_any_name_and_need_nothing_else(name) -> None:
    drawings = (
        overlap_figure(rows([name, f"{name} 2", f"{name} 3"]), what=name),
        error_figure(errors(name), what=name),
    )
    for drawing in drawings:
        assert ElementTree.fromstring(drawing).get("role") == "img"
        assert "<script" not in drawing
        assert not re.search(r'(href|src)="(?!#)', drawing)


def test_the_finding_is_said() -> None:
    told = says(overlap_figure(rows(), what="the 5 best"))
    assert told == (
        "Of the 5 best, ways differ most at epsilon 1: adaptive finds 90 of 100, exponential 10."
    )
    told = says(error_figure(errors(), what="the median"))
    assert "at epsilon 10: shifted is off by 400 on average, exponential by 900." in told


def test_what_is_shown() -> None:
    words = shown(overlap_figure(rows(), what="the 5 best", chance=0.01))
    for text in ("the 5 best", "epsilon", "0.001", "10,000", "a choice at random", *SHARES):
        assert text in words
    assert "bands: 95 % intervals of 50 runs" in words
    assert "2" not in words  # decades only
    computed = shown(overlap_figure(rows(runs=0), what="the best"))
    assert not [text for text in computed if "intervals" in text]
    assert {"0.1", "0.2", "5", "10", "1,000"} <= set(shown(error_figure(errors(), what="x")))


def test_each_way_has_a_line_a_marker_and_a_band() -> None:
    drawing = overlap_figure(rows(), what="x")
    assert len(re.findall(r'id="FillBetweenPolyCollection_\d+"', drawing)) == len(SHARES)
    assert "stroke-dasharray" in drawing  # the baseline


@pytest.mark.parametrize("epsilons", [(1.0,), (2.0, 3.0), (1e-6, 1e6)])
def test_few_and_many_budgets(epsilons) -> None:
    some = [ErrorAt("exponential", epsilon, 0.0) for epsilon in epsilons]
    assert "expected absolute error" in shown(error_figure(some, what="x"))


@pytest.mark.parametrize(
    "bad",
    [[], [ErrorAt("a", 0.0, 1.0)], [ErrorAt("a", 1.0, math.nan)], [ErrorAt("a", math.inf, 1.0)]],
)
def test_what_cannot_be_drawn_is_refused(bad) -> None:
    with pytest.raises(ParameterError, match="rows"):
        error_figure(bad, what="x")
