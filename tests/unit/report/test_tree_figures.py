"""Pictures of trees: what they say and show, however large the tree and hostile its names."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from reticent.noise import Source
from reticent.report.tree_figures import tree_figure
from reticent.tasks.columns import Column
from reticent.tasks.trained_tree import Declared, TrainedTree

pytestmark = pytest.mark.figures

HOSTILE = '<script>alert("$x^{")</script> & \x00'
MULTIWAY = {"split": "multiway", "stop": "size"}


def grown(name="age", classes=("no", "yes"), values=30, weights=None, **options) -> TrainedTree:
    columns = (
        Column.numbers(name, (0, 100), bins=10),
        Column(f"{name} 2", categories=tuple(f"{name} {i}" for i in range(values))),
    )
    declared = Declared(columns=columns, classes=classes, rows=6000, weights=weights)
    rng = np.random.default_rng(2)
    ages = rng.integers(0, 100, 6000).astype(float)
    pets = np.array([columns[1].categories[i] for i in rng.integers(0, values, 6000)])
    labels = np.array(classes)[(ages >= 70).astype(int)]
    mechanism = declared.mechanism(**{"epsilon": 500, "depth": 2, **options})
    rows = declared.coded([ages, pets], labels)
    return TrainedTree(declared, mechanism.release(rows, Source.seeded(1)).value)


def says(drawing) -> str:
    return str(ElementTree.fromstring(drawing).get("aria-label"))


def shown(drawing) -> list[str]:
    texts = ElementTree.fromstring(drawing).iter("{http://www.w3.org/2000/svg}text")
    return ["".join(text.itertext()) for text in texts]


def height(drawing) -> float:
    return float(ElementTree.fromstring(drawing).get("height").removesuffix("pt"))


def test_equal_trees_give_equal_bytes() -> None:
    assert tree_figure(grown(), target="x") == tree_figure(grown(), target="x")


def test_splits_classes_shares_and_rows_are_shown() -> None:
    drawing = tree_figure(grown(depth=1), target="votes")
    texts = shown(drawing)
    for text in ("votes?", "age", "below 70", "70 or more, or missing", "no", "yes", "100 %"):
        assert text in texts
    assert says(drawing).startswith("A tree for votes with 2 leaves, from about 6,00")
    assert "It splits by age first; its largest leaf, of about 4," in says(drawing)


def test_a_leaf_alone() -> None:
    drawing = tree_figure(grown(depth=0), target="votes")
    assert "without a split" in says(drawing)
    assert "no" in shown(drawing)


@pytest.mark.parametrize("depth", [4, 5, 7])
def test_what_is_below_four_levels_is_summed_up(depth) -> None:
    made = grown(depth=depth)
    drawing = tree_figure(made, target="votes")
    texts = shown(drawing)
    summed = [text for text in texts if re.search(r"… \d+ leaves", text)]
    levels = [0]
    for parent in made.tree.parents.tolist()[1:]:
        levels.append(levels[parent] + 1)
    inner = [level for level, child in zip(levels, made.tree.child, strict=True) if child >= 0]
    assert len(summed) == inner.count(4)
    assert (depth == 4) == (not summed)
    boxes = sum(level < 4 for level in inner)
    assert texts.count("age") + texts.count("age 2") == boxes
    assert height(drawing) < 700


@pytest.mark.parametrize("values", [3, 30, 3000])
def test_nodes_of_many_branches_stay_on_a_page(values) -> None:
    drawing = tree_figure(grown(values=values, **MULTIWAY), target="votes")
    assert height(drawing) < 1200
    assert any("more values" in text for text in shown(drawing))  # age alone has 11


def test_many_classes_are_the_likeliest_against_the_others() -> None:
    texts = shown(tree_figure(grown(classes=tuple(f"class {i}" for i in range(9))), target="x"))
    assert "all others" in texts
    assert "class 1" in texts


def test_the_class_of_a_leaf_is_the_one_that_is_predicted() -> None:
    trained = grown(depth=0, weights=(1.0, 99.0))
    assert trained.shares([np.array([1.0]), np.array(["?"])]).argmax() == 1
    drawing = tree_figure(trained, target="x")
    assert "% yes" in says(drawing)
    assert shown(drawing).count("yes") == 2  # the leaf and the legend
    assert shown(drawing).count("no") == 1


@pytest.mark.parametrize(
    "name", ["plain", HOSTILE, "a" * 500, "", "two\nlines", "\ud800", "年" * 40]
)
def test_any_name_can_be_drawn_and_nothing_else_is_needed(name) -> None:
    trained = grown(name, classes=(f"{name}1", f"{name}2"), depth=3)
    drawing = tree_figure(trained, target=name)
    assert ElementTree.fromstring(drawing).get("role") == "img"
    assert "<script" not in drawing
    assert not re.search(r'(href|src)="(?!#)', drawing)
    assert max(map(len, shown(drawing))) < 70
