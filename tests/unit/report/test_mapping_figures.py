"""Figures of a mapping: what they say, what they hold to, and names that are hostile."""

import re
from dataclasses import dataclass, replace
from xml.etree import ElementTree

import numpy as np
import pytest

from reticent.errors import ParameterError
from reticent.optim.mapping import Channel
from reticent.report.attack_figures import above_ceiling, feature_figure, roc_figure
from reticent.report.mapping_figures import (
    column_labels,
    mapping_figure,
    short_labels,
    shown_chances,
)

pytestmark = pytest.mark.figures

HOSTILE = '<script>alert("$x^{")</script> & \x00'
# 0 stays; 1 becomes 0, 1 or 3; 2 becomes 3; 3 stays
CHANNEL = Channel(
    np.array([0, 1, 4, 5, 6]), np.array([0, 0, 1, 3, 3, 3]), np.array([1, 0.2, 0.5, 0.3, 1, 1])
)
SHARES = np.array([0.2, 0.5, 0.25, 0.05])
LABELS = ["young, city", "young, land", "old, city", "old, land"]


@dataclass(frozen=True)
class Curve:
    """What a figure reads of an attack; the real one needs scikit-learn."""

    attacker: str = "naive Bayes"
    trained_on: str = "released"
    auc: float = 0.6
    low: float = 0.58
    high: float = 0.62
    false_rates: tuple = (0.0, 0.4, 1.0)
    true_rates: tuple = (0.0, 0.6, 1.0)


CEILING = (np.array([0.0, 0.4, 1.0]), np.array([0.0, 0.65, 1.0]))  # area 0.625


def drawings(name="plain"):
    attacks = [Curve(attacker=name), Curve(attacker=name, trained_on=name)]
    return (
        mapping_figure(CHANNEL, [f"{name} {j}" for j in range(4)], SHARES, most=3),
        roc_figure(attacks, ceiling=CEILING, before=[Curve(attacker=name, auc=0.62)]),
        feature_figure([name, "age"], [0.1, 0.2], [0.0, 0.1]),
    )


def says(drawing) -> str:
    return str(ElementTree.fromstring(drawing).get("aria-label"))


def shown(drawing) -> str:
    """All text that is drawn, words of one figure in a row."""
    texts = ElementTree.fromstring(drawing).iter("{http://www.w3.org/2000/svg}text")
    return " | ".join("".join(text.itertext()) for text in texts)


def test_equal_input_gives_equal_bytes() -> None:
    assert drawings() == drawings()


@pytest.mark.parametrize("name", ["plain", HOSTILE, "a" * 500, "", "two\nlines", "収入", "\ud800"])
def test_figures_hold_any_name_and_need_nothing_else(name) -> None:
    for drawing in drawings(name):
        root = ElementTree.fromstring(drawing)
        assert root.get("role") == "img"
        assert root.get("aria-label")
        assert "<script" not in drawing
        assert not re.search(r'(href|src)="(?!#)', drawing)


def test_names_are_shown_as_they_are() -> None:
    drawing = feature_figure(["<b>", "$a$", "x & y"], [1, 2, 3], [0, 1, 2])
    assert shown(drawing).count("$a$") == 1
    assert "&lt;b&gt;" in drawing
    assert "x & y" in says(drawing)


def test_rows_sum_to_1_with_others() -> None:
    profiles, table = shown_chances(CHANNEL, SHARES, most=2)
    assert profiles.tolist() == [2, 3]
    assert table == pytest.approx(np.array([[0, 1, 0], [0, 1, 0]]))
    assert table.sum(axis=1) == pytest.approx([1, 1])
    profiles, table = shown_chances(CHANNEL, SHARES)
    assert profiles.tolist() == [2, 3, 1, 0]
    assert table.shape == (4, 4)
    assert table.sum(axis=1) == pytest.approx(np.ones(4))


def test_the_commonest_changes_are_shown_with_both_ends() -> None:
    """The most frequent profile stays as it is, and tells nothing about the mapping."""
    shares = np.array([0.7, 0.1, 0.15, 0.05])
    profiles, _ = shown_chances(CHANNEL, shares, most=2)
    assert profiles.tolist() == [2, 3]
    drawing = mapping_figure(CHANNEL, LABELS, shares, most=2)
    assert "the commonest changes, between 2 of 4 profiles" in shown(drawing)
    assert "commonest" not in shown(mapping_figure(CHANNEL, LABELS, shares))
    still, _ = shown_chances(Channel.identity(4), shares, most=2)
    assert still.tolist() == [0, 2]


def test_the_heat_map_says_what_is_kept_and_prints_chances() -> None:
    drawing = mapping_figure(CHANNEL, LABELS, SHARES, most=3)
    told = says(drawing)
    assert "80 % of people have one of the 3 profiles shown, of 4, those of the commonest" in told
    assert "37.5 % of these people are released as they are, 12.5 % as a profile not shown" in told
    assert "The one kept least, old, city, is kept with chance 0." in told
    assert shown(drawing).count("0.50") == 1
    assert "others" in shown(drawing)
    assert "others" not in shown(mapping_figure(CHANNEL, LABELS, SHARES))


def test_chances_are_printed_up_to_12_profiles() -> None:
    for size, printed in ((12, 12), (13, 0)):
        drawing = mapping_figure(
            Channel.identity(size), ["x"] * size, np.full(size, 1 / size), most=size
        )
        assert shown(drawing).count("1.00") == printed


def test_a_chance_that_rounds_to_nothing_is_not_printed_as_0() -> None:
    channel = Channel(np.array([0, 2, 3]), np.array([0, 1, 1]), np.array([0.999, 0.001, 1]))
    assert "<.01" in shown(mapping_figure(channel, ["a", "b"], np.array([0.5, 0.5])))


def test_labels_lose_what_all_share_and_what_is_too_long() -> None:
    names, common = short_labels(["x, y" + "z" * 90 + ", UK", "w, y, UK"])
    assert common == "UK"
    assert all(len(line) <= 28 for name in names for line in name.split("\n"))
    assert names[0].endswith("…")
    assert short_labels(["a, b", "a, b"]) == (["a, b", "a, b"], "")
    assert short_labels(["a, b", "a"]) == (["a, b", "a"], "")


def test_only_an_area_far_above_the_ceiling_counts() -> None:
    """A 95 % interval is above by chance one time in forty; 4.9 standard errors hardly ever."""
    assert not above_ceiling(Curve(auc=0.65, low=0.63, high=0.67), CEILING)
    assert above_ceiling(Curve(auc=0.68, low=0.66, high=0.70), CEILING)
    assert not above_ceiling(Curve(auc=0.68, low=0.66, high=0.70), CEILING, slack=0.01)


def test_the_roc_figure_says_who_is_above_the_ceiling() -> None:
    before = Curve("boosting", "raw", 0.9, 0.88, 0.92)
    fine = says(roc_figure([Curve()], ceiling=CEILING, before=[before]))
    assert "naive Bayes, has AUC 0.600 (0.580 to 0.620)" in fine
    assert "before, boosting had 0.900 (0.880 to 0.920)" in fine
    assert "The exact Bayes rule has 0.625; no attack is above it." in fine
    broken = says(roc_figure([Curve(), before], ceiling=CEILING))
    assert "Above it, which must not be: boosting trained on raw 0.900" in broken
    assert "naive Bayes trained" not in broken
    assert "Bayes rule" not in says(roc_figure([Curve()], ceiling=None))


def test_the_roc_legend_holds_every_area_and_its_interval() -> None:
    attacks = [Curve(), Curve("boosting", "raw", 0.61, 0.59, 0.63)]
    drawing = roc_figure(attacks, ceiling=CEILING, before=[Curve(auc=0.615)])
    told = shown(drawing)
    for words in (
        "naive Bayes: 0.615 (0.580 to 0.620)",
        "after, learnt from: released",
        "boosting: 0.610 (0.590 to 0.630)",
        "can be above: 0.625",
    ):
        assert words in told
    assert 'id="ceiling"' in drawing
    assert 'id="ceiling"' not in roc_figure(attacks, ceiling=None)


def test_columns_are_sorted_by_what_they_told_before() -> None:
    drawing = feature_figure(["a", "b", "c"], [0.1, 0.3, 0.2], [0.05, 0.1, 0.25])
    words = shown(drawing).split(" | ")
    assert [word for word in words if word in "abc"] == ["a", "c", "b"]
    assert says(drawing) == (
        "b tells most about the secret before, 0.3 bits, and 0.1 after; after, c tells most, "
        "0.25 bits. 1 of 3 columns tell more than before."
    )


def test_bare_values_stand_beside_the_names_of_their_columns() -> None:
    profiles = np.array([["20 to 29", "Ulm"], ["30-39", "Bern"]])
    assert column_labels(["age", "town"], profiles) == ["age 20-29, Ulm", "age 30-39, Bern"]


def test_degenerate_input_that_can_be_drawn_is_drawn() -> None:
    assert mapping_figure(Channel.identity(1), ["all"], np.array([1.0]))
    assert feature_figure(["a"], [0], [0])
    rounded = (np.array([0, 1 + 4e-16]), np.array([0, 1 + 4e-16]))
    assert roc_figure([Curve()], ceiling=rounded)


@pytest.mark.parametrize(
    "change",
    [
        {"channel": Channel.identity(0), "labels": [], "shares": np.zeros(0)},
        {"channel": replace(CHANNEL, chances=CHANNEL.chances / 2)},
        {"labels": LABELS[1:]},
        {"shares": SHARES[1:]},
        {"shares": np.zeros(4)},
        {"shares": np.array([1, -1, 1, 1])},
        {"most": 0},
        {"most": 61},
    ],
)
def test_a_mapping_that_cannot_be_is_refused(change) -> None:
    with pytest.raises(ParameterError):
        mapping_figure(**{"channel": CHANNEL, "labels": LABELS, "shares": SHARES} | change)


@pytest.mark.parametrize(
    "change",
    [
        {"attacks": []},
        {"attacks": [Curve(low=0.7)]},
        {"attacks": [Curve(false_rates=(0.0, 1.0))]},
        {"attacks": [Curve(false_rates=(0.0, 0.5, 0.4))]},
        {"attacks": [Curve(true_rates=(0.0, 0.5, float("nan")))]},
        {"before": [Curve(false_rates=(), true_rates=())]},
        {"ceiling": (np.array([0.1, 1]), np.array([0, 1]))},
        {"ceiling": (np.array([0, 1]), np.array([0, 2]))},
    ],
)
def test_rates_that_cannot_be_are_refused(change) -> None:
    with pytest.raises(ParameterError):
        roc_figure(**{"attacks": [Curve()], "ceiling": CEILING} | change)


@pytest.mark.parametrize(
    ("names", "before", "after"),
    [
        ([], [], []),
        (["a"], [1, 2], [1]),
        (["a"], [1], []),
        (["a"], [-1], [0]),
        (["a"], [1], [np.nan]),
    ],
)
def test_columns_that_cannot_be_are_refused(names, before, after) -> None:
    with pytest.raises(ParameterError):
        feature_figure(names, before, after)
