"""The classifier: scikit-learn's battery, what it does with odd tables, what it refuses."""

import pickle
from fractions import Fraction

import numpy as np
import pandas
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator

from reticent.errors import ParameterError
from reticent.guarantees import RECORD, RECORD_SUBSTITUTE, PureDP
from reticent.noise import Source
from reticent.queries.tree_classifier import PrivateTreeClassifier

RNG = np.random.default_rng(0)
X = RNG.uniform(0, 10, (600, 3))
Y = ((X[:, 0] > 5) & (X[:, 1] < 7)).astype(int)
TOWNS = np.array(["Ulm", "Bern", "Oslo"])[RNG.integers(0, 3, 600)]


def tree(*, seed=1, **given) -> PrivateTreeClassifier:
    settings = {"epsilon": 20, "bounds": (0, 10), "bins": 10, "source": Source.seeded(seed)}
    return PrivateTreeClassifier(**{**settings, **given})


def mixed() -> np.ndarray:
    found = np.empty((600, 2), dtype=object)
    found[:, 0], found[:, 1] = TOWNS, X[:, 0]
    return found


RANDOM = "every fit draws noise, so two of them differ"
EXPECTED = {
    "check_classifier_data_not_an_array": RANDOM,
    "check_supervised_y_2d": RANDOM,
    "check_fit_idempotent": RANDOM,
}


def test_scikit_learns_battery() -> None:
    results = check_estimator(
        PrivateTreeClassifier(epsilon=20, bounds=(-10, 10)),
        expected_failed_checks=EXPECTED,
        on_fail=None,
        on_skip=None,
    )
    assert len(results) >= 50
    assert [r["check_name"] for r in results if r["status"] == "failed"] == []
    assert {r["check_name"] for r in results if r["status"] == "xfail"} <= set(EXPECTED)
    skipped = [r["check_name"] for r in results if r["status"] == "skipped"]
    assert len(skipped) <= 3, skipped


@pytest.mark.parametrize(
    "given",
    [
        {"criterion": "accuracy"},
        {"criterion": "entropy", "rows": 10_000},
        {"method": "exponential", "relation": "substitute"},
    ],
    ids=["accuracy", "entropy", "replaced"],
)
def test_scikit_learns_battery_with_other_settings(given) -> None:
    """Budgets are large here: the battery asks for accuracy on tables of few rows."""
    results = check_estimator(
        PrivateTreeClassifier(epsilon=200, bounds=(-10, 10), max_depth=3, **given),
        expected_failed_checks=EXPECTED,
        on_fail=None,
        on_skip=None,
    )
    assert len(results) >= 50
    assert [r["check_name"] for r in results if r["status"] == "failed"] == []


def test_with_a_seeded_source_a_fit_can_be_repeated() -> None:
    one, two = tree(seed=3).fit(X, Y), tree(seed=3).fit(X, Y)
    assert one.trained_.plain() == two.trained_.plain()
    assert tree(seed=4).fit(X, Y).trained_.plain() != one.trained_.plain()
    assert tree(source=None).fit(X, Y).answer_.card.release_event().loss.overall == 20 * 10**9


def test_a_table_is_learnt_and_predictions_are_of_the_classes() -> None:
    fitted = tree().fit(X, Y)
    assert fitted.score(X, Y) > 0.95
    assert fitted.classes_.tolist() == [0, 1]
    assert set(fitted.predict(X).tolist()) == {0, 1}
    assert fitted.feature_importances_.shape == (3,)
    assert fitted.feature_importances_[2] < 0.1
    assert "x0" in fitted.export_text()


def test_probabilities_are_of_noisy_counts() -> None:
    fitted = tree(epsilon=1).fit(X, Y)
    shares = fitted.predict_proba(X)
    assert shares.sum(axis=1) == pytest.approx(np.ones(600))
    assert shares.min() >= 0
    released = fitted.trained_.tree
    assert {tuple(row) for row in shares.tolist()} <= {
        tuple(row) for row in released.shares().tolist()
    }
    assert (released.counts[0] != np.bincount(Y)).any()  # noise, in all likelihood
    assert (fitted.predict(X) == shares.argmax(axis=1)).all()


@pytest.mark.parametrize("epsilon", [1, "0.1", 0.3, Fraction(1, 3)])
@pytest.mark.parametrize(
    ("relation", "unit"), [("add-remove", RECORD), ("substitute", RECORD_SUBSTITUTE)]
)
def test_the_guarantee_is_the_one_asked_for(epsilon, relation, unit) -> None:
    fitted = tree(epsilon=epsilon, relation=relation).fit(X, Y)
    asked = Fraction(str(epsilon))
    assert fitted.guarantee_ == PureDP.of(asked, unit)
    assert fitted.answer_.card.release_event().loss.overall == fitted.guarantee_.nano


def test_predicting_draws_nothing() -> None:
    fitted = tree().fit(X, Y)
    before = fitted.trained_.tree.plain()
    assert (fitted.predict_proba(X) == fitted.predict_proba(X)).all()
    assert fitted.trained_.tree.plain() == before


def test_unknown_categories_count_as_missing() -> None:
    table = mixed()
    fitted = tree(categories={0: ["Ulm", "Bern"]}, epsilon=1000).fit(table, TOWNS == "Oslo")
    shares = fitted.predict_proba(table)
    assert ((shares.argmax(axis=1) == 1) == (TOWNS == "Oslo")).all()  # the only one left over
    odd = np.array([["Rome", 1.0], [None, 1.0], [7, 1.0], [float("nan"), 1.0]], dtype=object)
    assert fitted.predict(odd).tolist() == [True] * 4


def test_missing_numbers_are_a_value_of_their_own() -> None:
    table = X.copy()
    table[::3, 0] = np.nan
    labels = np.isnan(table[:, 0]).astype(int)
    fitted = tree(epsilon=1000).fit(table, labels)
    assert (fitted.predict(table) == labels).all()
    assert fitted.predict([[np.nan, 1, 1], [1, 1, 1]]).tolist() == [1, 0]


def test_values_outside_the_bounds_count_as_the_nearest_end() -> None:
    fitted = tree(epsilon=1000).fit(X, Y)
    inside = fitted.predict([[10, 0, 5], [0, 10, 5]])
    assert fitted.predict([[1e300, -1e300, 5], [-7, 12, 5]]).tolist() == inside.tolist()


def test_infinities_count_as_the_nearest_end() -> None:
    table = X.copy()
    table[0, 0] = np.inf
    fitted = tree(epsilon=1000).fit(table, Y)
    assert fitted.predict([[np.inf, -np.inf, 5]]).tolist() == fitted.predict([[10, 0, 5]]).tolist()


@pytest.mark.parametrize("odd", [None, float("nan"), 0.5], ids=["none", "nan", "half"])
def test_one_label_that_was_not_declared_does_not_raise(odd) -> None:
    labels = Y.astype(object if odd is None else float)
    labels[0] = odd
    fitted = tree(classes=[0, 1]).fit(X, labels)
    assert fitted.classes_.tolist() == [0, 1]


def test_words_as_labels_and_values() -> None:
    labels = np.where(TOWNS == "Ulm", "yes", "no")
    fitted = tree(categories={0: ["Ulm", "Bern", "Oslo"]}, epsilon=1000).fit(mixed(), labels)
    assert (fitted.predict(mixed()) == labels).all()
    assert fitted.classes_.tolist() == ["no", "yes"]
    words = np.column_stack([TOWNS, X[:, 0].round(3).astype(str)])
    fitted = tree(categories={0: ["Ulm", "Bern", "Oslo"]}, epsilon=1000).fit(words, labels)
    assert (fitted.predict(words) == labels).all()


def test_a_constant_column_is_of_no_importance() -> None:
    table = X.copy()
    table[:, 2] = 4.0
    fitted = tree(epsilon=1000).fit(table, Y)
    assert fitted.feature_importances_[2] == 0
    alone = tree(epsilon=1000).fit(np.full((50, 1), 3.0), Y[:50])
    assert len(set(alone.predict(X[:, :1]).tolist())) <= 2


def test_one_class() -> None:
    fitted = tree().fit(X, np.ones(600, dtype=int))
    assert fitted.predict(X).tolist() == [1] * 600
    assert fitted.predict_proba(X).tolist() == [[1.0]] * 600


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_very_few_rows(rows) -> None:
    for given in ({}, {"stop": "size"}, {"criterion": "entropy", "rows": 10}):
        fitted = tree(classes=[0, 1], epsilon=1, **given).fit(X[:rows], Y[:rows])
        assert fitted.predict_proba(X).shape == (600, 2)


def test_a_fold_without_a_declared_class() -> None:
    fitted = tree(classes=["a", "b", "c"]).fit(X, np.where(Y, "a", "b"))
    assert fitted.classes_.tolist() == ["a", "b", "c"]
    assert fitted.predict_proba(X).shape == (600, 3)
    none = tree(classes=["x", "y"]).fit(X, np.where(Y, "a", "b"))  # no row is of a declared class
    assert abs(none.trained_.tree.counts[0]).max() < 600
    assert set(none.predict(X).tolist()) <= {"x", "y"}


def test_labels_that_are_not_declared_are_dropped() -> None:
    labels = np.where(Y, "a", "b").astype(object)
    labels[X[:, 2] > 9] = "?"
    fitted = tree(classes=["b", "a"], epsilon=10**5).fit(X, labels)
    assert fitted.classes_.tolist() == ["a", "b"]
    kept = X[:, 2] <= 9
    assert fitted.trained_.tree.counts[0].tolist() == [(labels[kept] == c).sum() for c in "ab"]


def test_a_wide_table() -> None:
    wide = np.concatenate([RNG.uniform(0, 10, (300, 499)), 10.0 * Y[:300, None]], axis=1)
    fitted = tree(epsilon=50, max_depth=2).fit(wide, Y[:300])
    assert fitted.feature_importances_.argmax() == 499
    assert fitted.score(wide, Y[:300]) > 0.95


def test_names_of_a_frame_declare_its_columns() -> None:
    frame = pandas.DataFrame({"town": TOWNS, "age": X[:, 0], "sick": X[:, 1] > 5})
    fitted = tree(
        categories={"town": ["Ulm", "Bern", "Oslo"], "sick": [False, True]},
        bounds={"age": (0, 10)},
        epsilon=1000,
    ).fit(frame, X[:, 1] > 5)
    assert fitted.feature_names_in_.tolist() == ["town", "age", "sick"]
    assert (fitted.predict(frame) == (X[:, 1] > 5)).all()
    assert fitted.feature_importances_.argmax() == 2
    assert "sick is" in fitted.export_text()
    by_place = tree(
        categories={0: ["Ulm", "Bern", "Oslo"], 2: [False, True]}, bounds=(0, 10), epsilon=1000
    ).fit(frame, X[:, 1] > 5)
    assert (by_place.predict(frame) == (X[:, 1] > 5)).all()
    frame.loc[0, "town"] = None
    assert fitted.predict(frame).shape == (600,)
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(frame[["age", "town", "sick"]])


@pytest.mark.parametrize("town", ["str", "category"])
@pytest.mark.parametrize("number", ["Int64", "boolean"])
def test_kinds_of_columns_of_a_frame(town, number) -> None:
    numbers = pandas.Series([1, None, 0] * 200, dtype=number)
    frame = pandas.DataFrame({"town": pandas.Series(TOWNS).astype(town), "n": numbers})
    labels = numbers.isna().to_numpy() & (TOWNS != "Ulm")
    made = tree(categories={"town": ["Bern", "Ulm", "Oslo"]}, epsilon=1000, max_depth=3)
    assert (made.fit(frame, labels).predict(frame) == labels).all()


def test_weights_of_classes_move_predictions() -> None:
    labels = (RNG.uniform(size=600) < 0.2).astype(int)
    plain = tree(epsilon=100, max_depth=1).fit(X, labels)
    heavy = tree(epsilon=100, max_depth=1, class_weight={1: 16.0}).fit(X, labels)
    assert plain.predict(X).mean() < 0.1
    assert heavy.predict(X).mean() > 0.9
    assert heavy.mechanism_.weights == (Fraction(1, 16), Fraction(1))
    assert heavy.guarantee_ == plain.guarantee_


def test_weights_leave_the_choice_of_a_split_to_chance() -> None:
    """At epsilon 0.1 one row more or less must not turn a chance of 1 in 4 into certainty."""
    for rows in range(3, 12):
        table = np.array([[0.0, 1.0]] * (rows - 1) + [[1.0, 1.0]])
        chosen = set()
        for seed in range(30):
            made = tree(seed=seed, epsilon=0.1, bounds=(0, 2), bins=2, max_depth=1)
            made.set_params(classes=[0, 1], class_weight={0: 1.0, 1: 0.3})
            found = made.fit(table, np.ones(rows, dtype=int)).trained_.tree
            chosen.add((int(found.column[0]), int(found.at[0])))
        assert len(chosen) == 4


def test_the_depth_follows_rows_and_budget_unless_given() -> None:
    assert tree().fit(X, Y).mechanism_.depth == 5
    assert tree(epsilon=1, rows=4000).fit(X, Y).mechanism_.depth == 3
    assert tree(epsilon=1, rows=600, max_depth=2).fit(X, Y).mechanism_.depth == 2
    assert tree(max_depth=0).fit(X, Y).predict(X).tolist() == [0] * 600


@pytest.mark.parametrize("mechanism", ["dampened", "shifted", "exponential", "permute-and-flip"])
def test_all_mechanisms_learn(mechanism) -> None:
    town = mixed()[:, :1]
    fitted = tree(
        method=mechanism,
        criterion="entropy",
        split="multiway",
        stop="size",
        rows=600,
        epsilon=30,
        max_depth=1,
        bounds=None,
        categories={0: ["Ulm", "Bern", "Oslo"]},
    ).fit(town, TOWNS == "Ulm")
    assert (fitted.predict(town) == (TOWNS == "Ulm")).all()
    local = mechanism in ("dampened", "shifted")
    assert fitted.mechanism_.scores == (mechanism if local else "plain")
    assert local or fitted.mechanism_.law == mechanism


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"bounds": None}, "column 'x0' must be categories or bounds"),
        ({"bounds": {0: (0, 1), 1: (0, 1)}}, "column 'x2' must be categories or bounds"),
        ({"bounds": {0: (0, 1), 1: (0, 1), 2: (0, 1), 7: (0, 1)}}, "columns of the table"),
        ({"categories": {"town": ["a"]}}, "columns of the table"),
        ({"categories": {9: ["a"]}}, "columns of the table"),
        ({"bounds": dict.fromkeys(range(3), (0, 1)), "categories": {0: ["a"]}}, "got 'both'"),
        ({"bounds": (1, 0)}, "x0 must be"),
        ({"categories": {0: ["a", "a"]}}, "distinct categories"),
        ({"categories": {0: []}}, "x0 must be"),
        ({"bins": 0}, "bins must be"),
        ({"epsilon": 0}, "epsilon must be"),
        ({"epsilon": float("nan")}, "epsilon must be"),
        ({"max_depth": -1}, "depth must be"),
        ({"max_depth": 40}, "depth must be"),
        ({"criterion": "entropy"}, "rows must be declared for entropy"),
        ({"criterion": "mse"}, "criterion must be"),
        ({"method": "laplace"}, "method must be"),
        ({"method": "dampened"}, "method must be"),
        ({"split": "multiway", "stop": "depth"}, "stop must be"),
        ({"relation": "both"}, "relation must be"),
        ({"class_weight": "balanced"}, "class_weight must be .* private"),
        ({"class_weight": {"secret-one": 0}}, "weights must be"),
        ({"classes": []}, "classes must be"),
        ({"leaf_share": 0}, "leaf_share must be"),
        ({"growth": -1}, "growth must be"),
        ({"rows": 0, "max_depth": 2}, "rows must be"),
    ],
)
def test_wrong_parameters_are_named_and_nothing_of_the_table_is(given, problem) -> None:
    table = np.full((20, 3), 7.654321)
    labels = np.array(["secret-one", "secret-two"] * 10)
    with pytest.raises(ParameterError, match=problem) as caught:
        tree(**given).fit(table, labels)
    assert "7.654" not in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_weight_of_a_class_that_does_not_exist_is_named() -> None:
    with pytest.raises(ParameterError, match="class_weight"):
        tree(class_weight={"Yes": 10}, classes=[0, 1]).fit(X, Y)


@pytest.mark.parametrize("weight", [float("nan"), float("inf")])
def test_a_weight_that_is_no_number_is_named(weight) -> None:
    try:
        tree(class_weight={0: weight}).fit(X, Y)
    except ParameterError:
        return
    except (ValueError, OverflowError) as error:
        pytest.fail(str(error))


def test_tables_of_another_width_and_no_fit() -> None:
    with pytest.raises(NotFittedError):
        tree().predict(X)
    with pytest.raises(NotFittedError):
        tree().export_text()
    with pytest.raises(ValueError, match="features"):
        tree().fit(X, Y).predict(X[:, :2])


def test_copies_and_pickles() -> None:
    made = tree(epsilon=3, max_depth=2, categories={0: ["a"]}, source=None)
    assert clone(made).get_params() == made.get_params()
    assert made.get_params()["epsilon"] == 3
    assert made.set_params(epsilon=4).epsilon == 4
    fitted = tree(source=None).fit(X, Y)
    again = pickle.loads(pickle.dumps(fitted))
    assert (again.predict_proba(X) == fitted.predict_proba(X)).all()
    assert again.guarantee_ == fitted.guarantee_


def test_in_a_search_and_in_a_pipeline() -> None:
    search = GridSearchCV(
        tree(source=None, epsilon=50), {"max_depth": [0, 3]}, cv=3, error_score="raise"
    ).fit(X, Y)
    assert search.best_params_ == {"max_depth": 3}
    line = make_pipeline(FunctionTransformer(), tree(source=None, epsilon=50))
    assert cross_val_score(line, X, Y, cv=3, error_score="raise").mean() > 0.9


@pytest.mark.parametrize("odd", ["x", None, float("inf"), 10**5000, [1, 2]], ids=type)
def test_one_cell_does_not_change_how_the_others_are_read(odd) -> None:
    """NumPy makes text of a list in which one value is text; every row would then be missing."""
    rows, labels = [[1.0], [2.0]] * 500, [0, 1] * 500
    made = tree(epsilon=1000, categories={0: [1, 2]}, bounds=None, classes=[0, 1], max_depth=1)
    counts = made.fit([*rows, [odd]], [*labels, 0]).trained_.tree.leaf_counts
    assert abs(counts.max(axis=0) - [500, 500]).max() < 5


@pytest.mark.parametrize("odd", ["x", None, float("nan"), [1]], ids=type)
def test_one_label_does_not_change_how_the_others_are_read(odd) -> None:
    rows = [[1.0], [2.0]] * 500 + [[1.0]]
    made = tree(epsilon=1000, bounds=(0, 3), classes=[0, 1], max_depth=0)
    counts = made.fit(rows, [*[0.0, 1.0] * 500, odd]).trained_.tree.leaf_counts
    assert abs(counts[0] - [500, 500]).max() < 5
