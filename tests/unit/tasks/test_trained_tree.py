"""A tree with names: declared, trained, read aloud, kept, files that lie."""

import json
from fractions import Fraction

import numpy as np
import pytest

from reticent.data.adult import ADULT_CATEGORIES, ADULT_SIZE, load_adult
from reticent.errors import ParameterError
from reticent.guarantees import RECORD_SUBSTITUTE
from reticent.mechanisms.decision_tree import BELOW, EACH, ONE, Tree
from reticent.noise import Source
from reticent.tasks.columns import Column
from reticent.tasks.trained_tree import Declared, TrainedTree

AGE = Column.numbers("age", (0, 100), bins=4)
PET = Column("pet", categories=("cat", "dog"))
DECLARED = Declared(columns=(AGE, PET), classes=("no", "yes"))
RNG = np.random.default_rng(0)
PEOPLE = [RNG.integers(0, 100, 400).astype(float), RNG.choice(["cat", "dog", "owl"], 400)]
LABELS = np.where((PEOPLE[0] >= 50) & (PEOPLE[1] == "dog"), "yes", "no")


def train(declared, table, labels, *, mechanism, source):
    """A tree with its names, and its release."""
    release = mechanism.release(declared.coded(table, labels), source)
    return TrainedTree(declared, release.value), release


def trained(declared=DECLARED, *, epsilon=10_000, seed=0, **options):
    mechanism = declared.mechanism(epsilon=epsilon, **options)
    return train(declared, PEOPLE, LABELS, mechanism=mechanism, source=Source.seeded(seed))


def by_hand() -> TrainedTree:
    """Age below 50; else whether there is an age; else which pet."""
    tree = Tree(
        column=np.array([0, 0, 0, 1, 0, 0, 0, 0]),
        at=np.array([1, 0, 3, 0, 0, 0, 0, 0]),
        kind=np.array([BELOW, EACH, BELOW, EACH, EACH, EACH, EACH, EACH]),
        child=np.array([1, -1, 3, 5, -1, -1, -1, -1]),
        branches=np.array([2, 0, 2, 3, 0, 0, 0, 0]),
        leaf_counts=np.array(
            [[0, 0], [1200, 100], [0, 0], [0, 0], [3, 3], [-5, 2], [10, 90], [0, 0]]
        ),
        scale=1.0,
    )
    return TrainedTree(DECLARED, tree)


def test_a_table_with_much_budget_is_learnt() -> None:
    found, release = trained()
    assert release.value is found.tree
    shares = found.shares(PEOPLE)
    assert (np.array(DECLARED.classes)[shares.argmax(axis=1)] == LABELS).all()
    assert shares.sum(axis=1) == pytest.approx(np.ones(400))
    assert found.tree.counts[0].tolist() == [(LABELS == "no").sum(), (LABELS == "yes").sum()]


def test_labels_that_were_not_declared_are_left_out() -> None:
    labels = LABELS.astype(object)
    labels[:50] = ["other", None, 7, float("nan"), b"yes"] * 10
    mechanism = DECLARED.mechanism(epsilon=10_000)
    found, _ = train(DECLARED, PEOPLE, labels, mechanism=mechanism, source=Source.seeded(0))
    assert found.tree.counts[0].tolist() == [
        (LABELS[50:] == "no").sum(),
        (LABELS[50:] == "yes").sum(),
    ]


def test_a_class_that_does_not_occur_has_a_small_share() -> None:
    wider = Declared(columns=(AGE, PET), classes=("no", "never", "yes"))
    found, _ = trained(wider)
    assert found.tree.counts[0, 1] == 0
    assert found.shares(PEOPLE)[:, 1].max() < 0.01


def test_the_text_names_columns_and_classes() -> None:
    lines = by_hand().text().splitlines()
    assert lines[0] == "age below 50"
    assert lines[1] == "  no (92% of about 1,300 rows)"
    assert lines[2:4] == ["age 50 or more, or missing", "  age is there"]
    assert [line.strip() for line in lines[4:9:2]] == ["pet: cat", "pet: dog", "pet: missing"]
    assert lines[10] == "  age is missing"
    assert len(lines) == 12


def test_a_category_against_the_rest_in_words() -> None:
    one = by_hand()
    tree = Tree(
        *(np.array(x) for x in ([1, 0, 0], [1, 0, 0], [ONE, 0, 0], [1, -1, -1], [2, 0, 0])),
        np.array([[0, 0], [1, 2], [3, 4]]),
        1.0,
    )
    assert TrainedTree(one.declared, tree).text().splitlines()[::2] == [
        "pet is dog",
        "pet is not dog",
    ]


def test_all_kinds_of_trees_have_a_text() -> None:
    multiway = {"split": "multiway", "stop": "size", "epsilon": 200}
    for options in ({"epsilon": 1}, {"epsilon": 1, "depth": 0}, multiway):
        for seed in range(5):
            found, _ = trained(seed=seed, **options)
            leaves = (found.tree.child < 0).sum()
            assert sum("rows)" in line for line in found.text().splitlines()) == leaves


@pytest.mark.parametrize("options", [{}, {"split": "multiway", "stop": "size"}, {"depth": 0}])
def test_plain_data_make_the_same_tree(options) -> None:
    for declared in (DECLARED, Declared(columns=(AGE, PET), classes=("no", "yes"), rows=500)):
        found, _ = trained(declared, epsilon=50, **options)
        again = TrainedTree.of_plain(json.loads(json.dumps(found.plain())))
        assert again.declared == declared
        assert again.text() == found.text()
        assert (again.shares(PEOPLE) == found.shares(PEOPLE)).all()
    heavy = Declared(columns=(AGE, PET), classes=("no", "yes"), weights=(1.0, 4.0))
    found, _ = trained(heavy, epsilon=50, **options)
    again = TrainedTree.of_plain(json.loads(json.dumps(found.plain())))
    assert again.declared == heavy
    assert (again.shares(PEOPLE) == found.shares(PEOPLE)).all()


def lied(**changes) -> dict:
    held = by_hand().plain()
    held["tree"] = {**held["tree"], **changes}
    return held


LIES = {
    "a column that does not exist": {"column": [0, 0, 0, 7, 0, 0, 0, 0]},
    "a column before the first": {"column": [0, 0, 0, -1, 0, 0, 0, 0]},
    "other classes": {"leaf_counts": [[1, 2, 3]] * 8},
    "fewer children than codes": {"branches": [2, 0, 2, 2, 0, 0, 0, 0]},
    "three sides of a cut": {"branches": [3, 0, 2, 3, 0, 0, 0, 0]},
    "a loop": {"child": [1, -1, 0, 5, -1, -1, -1, -1]},
    "a node below itself": {"child": [0, -1, 3, 5, -1, -1, -1, -1]},
    "lengths": {"at": [0]},
}


@pytest.mark.parametrize("lie", LIES)
def test_a_file_that_lies_is_refused(lie) -> None:
    with pytest.raises(ParameterError):
        TrainedTree.of_plain(lied(**LIES[lie]))


@pytest.mark.parametrize(
    "changes",
    [
        {"at": [99, 0, 3, 0, 0, 0, 0, 0]},
        {"at": [-9, 0, 3, 0, 0, 0, 0, 0]},
        {"kind": [BELOW, 0, BELOW, 7, 0, 0, 0, 0], "branches": [2, 0, 2, 2, 0, 0, 0, 0]},
    ],
    ids=["beyond", "before", "kind"],
)
def test_a_file_of_splits_that_do_not_exist_is_refused(changes) -> None:
    with pytest.raises(ParameterError):
        TrainedTree.of_plain(lied(**changes))


def test_a_file_with_an_order_of_categories_is_refused() -> None:
    held = lied(
        column=[1] * 3, at=[0] * 3, kind=[BELOW, 0, 0], child=[1, -1, -1], branches=[2, 0, 0]
    )
    held["tree"]["leaf_counts"] = [[0, 0], [1, 2], [3, 4]]
    with pytest.raises(ParameterError):
        TrainedTree.of_plain(held)


@pytest.mark.parametrize("weights", [[1, 2, 3], [-1, 1], [0, 1], [float("nan"), 1]])
def test_a_file_with_wrong_weights_is_refused(weights) -> None:
    with pytest.raises(ParameterError):
        TrainedTree.of_plain({**by_hand().plain(), "weights": weights})


@pytest.mark.parametrize(
    "given",
    [
        {"columns": ()},
        {"columns": (AGE, AGE)},
        {"classes": ()},
        {"classes": ("a", "a")},
    ],
)
def test_wrong_declarations(given) -> None:
    with pytest.raises(ParameterError):
        Declared(**{"columns": (AGE,), "classes": ("a", "b"), **given})


def test_classes_that_read_alike_are_refused_when_declared() -> None:
    with pytest.raises(ParameterError):
        Declared(columns=(AGE,), classes=(1, "1"))


def test_depth_grows_with_the_budget_and_the_bound_on_rows() -> None:
    none = Declared(columns=(AGE,), classes=(0, 1))
    assert {none.depth(epsilon) for epsilon in (0.001, 1, 1000)} == {5}
    found = [
        [
            Declared(columns=(AGE,), classes=(0, 1), rows=rows).depth(eps)
            for eps in (0.01, 0.1, 1, 10)
        ]
        for rows in (1, 100, 10_000, 10**9)
    ]
    assert found == [sorted(row) for row in found]
    assert np.array(found).min() == 1
    assert np.array(found).max() == 8
    assert (np.diff(np.array(found), axis=0) >= 0).all()
    assert none.mechanism(epsilon=1, depth=2).depth == 2


@pytest.mark.parametrize("epsilon", [float("nan"), float("inf"), "x", None])
def test_a_wrong_epsilon_is_named_also_where_it_decides_the_depth(epsilon) -> None:
    declared = Declared(columns=(AGE,), classes=(0, 1), rows=100)
    try:
        declared.mechanism(epsilon=epsilon)
    except ParameterError:
        return
    except (TypeError, ValueError, OverflowError) as error:
        pytest.fail(str(error))


def test_options_reach_the_mechanism() -> None:
    declared = Declared(columns=(AGE, PET), classes=("a", "b"), rows=99, weights=(1.0, 4.0))
    made = declared.mechanism(
        epsilon=2, criterion="entropy", growth=2, leaf_share=0.5, unit=RECORD_SUBSTITUTE
    )
    assert made.sizes == (5, 3)
    assert made.ordered == (True, False)
    assert made.weights == (Fraction(1, 4), Fraction(1))
    assert (made.rows, made.growth, made.leaf_share) == (99, 2, Fraction(1, 2))
    assert made.price == 2
    for weights in ((0.0, 1.0), (-1.0, 1.0)):
        with pytest.raises(ParameterError, match="weights must be"):
            Declared(columns=(AGE,), classes=(0, 1), weights=weights).mechanism(epsilon=1)
    with pytest.raises(ParameterError, match="weights must be"):
        Declared(columns=(AGE,), classes=(0, 1), weights=(1.0,)).mechanism(epsilon=1)


def test_only_ratios_of_weights_matter() -> None:
    alike = Declared(columns=(AGE, PET), classes=("no", "yes"), weights=(7.0, 7.0))
    with_weights, _ = trained(alike, epsilon=1, seed=3)
    without, _ = trained(epsilon=1, seed=3)
    assert with_weights.tree.plain() == without.tree.plain()
    assert with_weights.shares(PEOPLE) == pytest.approx(without.shares(PEOPLE))


@pytest.fixture(scope="module")
def adult():
    table = load_adult()
    bounds = {
        "age": (17, 90),
        "education-num": (1, 16),
        "capital-gain": (0, 1, 3000, 5000, 7000, 10_000, 20_000),
        "capital-loss": (0, 1, 1500, 2000, 2500, 4000),
        "hours-per-week": (1, 99),
    }
    columns = tuple(
        Column.numbers(name, ends, bins=16)
        if (ends := bounds.get(name))
        else Column(name, categories=ADULT_CATEGORIES[name])
        for name in (*bounds, "marital-status", "relationship", "occupation", "sex", "education")
    )
    values = [np.array(table[column.name], dtype=object) for column in columns]
    return columns, values, np.array(table["income"])


def test_adult_at_epsilon_1_is_predicted_far_better_than_by_the_majority(adult) -> None:
    columns, values, labels = adult
    declared = Declared(columns=columns, classes=("<=50K", ">50K"), rows=ADULT_SIZE)
    some = np.random.default_rng(0).permutation(ADULT_SIZE)
    fit, test = some[:36_000], some[36_000:]
    mechanism = declared.mechanism(epsilon=1)
    assert mechanism.depth == 6
    found, release = train(
        declared,
        [column[fit] for column in values],
        labels[fit],
        mechanism=mechanism,
        source=Source.seeded(1),
    )
    shares = found.shares([column[test] for column in values])
    right = np.mean(np.array(declared.classes)[shares.argmax(axis=1)] == labels[test])
    majority = np.mean(labels[test] == "<=50K")
    assert majority < 0.77
    assert right > 0.83
    assert release.event.loss.overall == 10**9
    brier = np.mean((shares[:, 1] - (labels[test] == ">50K")) ** 2)
    assert brier < 0.13  # probabilities are of use, too: 0.18 for the share of all rows
    random = declared.mechanism(epsilon="0.0001", depth=6)
    noise, _ = train(
        declared,
        [column[fit] for column in values],
        labels[fit],
        mechanism=random,
        source=Source.seeded(1),
    )
    poor = noise.shares([column[test] for column in values]).argmax(axis=1)
    assert np.mean(np.array(declared.classes)[poor] == labels[test]) < 0.8  # the control
