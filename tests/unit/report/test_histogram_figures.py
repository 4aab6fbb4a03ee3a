"""Figures of a plan: equal bytes, a sentence for who does not see them, nothing fetched."""

import re
from xml.etree import ElementTree

import pytest

from reticent.data.catalogue import Catalogue
from reticent.mechanisms.multilevel_plan import plan_histogram
from reticent.report.histogram_figures import noise_figure, sharing_figure

pytestmark = pytest.mark.figures

FILMS = Catalogue.of([[1, 1], [0, 1]], attributes=("Crime & more", "Drama"))


def plan(epsilon):
    return plan_histogram(FILMS, budgets={"Crime & more": 0.1, "Drama": 1}, epsilon=epsilon)


def drawings():
    return (
        noise_figure(plan(0.4), withheld=("War",)),
        sharing_figure([plan(epsilon) for epsilon in (0.1, 0.4, 1.6)]),
    )


def test_equal_input_gives_equal_bytes() -> None:
    assert drawings() == drawings()


def test_figures_say_what_they_show_and_need_nothing_else() -> None:
    for drawing in drawings():
        root = ElementTree.fromstring(drawing)
        assert root.get("role") == "img"
        assert root.get("aria-label")
        assert not re.search(r'(href|src)="(?!#)', drawing)


def test_withheld_attributes_are_listed() -> None:
    noise, sharing = drawings()
    assert ">War<" in noise
    assert "withheld" in noise
    assert "from here every attribute" in sharing
    says = ElementTree.fromstring(sharing).get("aria-label")
    assert "from 1.1 on nothing is lost" in str(says)
