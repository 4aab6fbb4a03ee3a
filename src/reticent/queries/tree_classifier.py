"""A private decision tree as a scikit-learn classifier.

Theory    docs/theory/tree.md, Theorem 1 (privacy), "What is kept"; [FriedmanSchuster2010],
          [FariasEtAl2020]
Not here  growing (mechanisms/tree.py), declarations (tasks/columns.py), the query (tree.py).

``fit`` releases the query ``Tree`` and spends epsilon once. ``predict``, ``predict_proba``, the
text and the importances use only what ``fit`` released, so they cost nothing more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np

from reticent.data.frames import plain_cells
from reticent.errors import MissingExtra, ParameterError, require
from reticent.noise import Source
from reticent.queries.tree import Tree
from reticent.rational import Number
from reticent.tasks.columns import Bounds, Column
from reticent.tasks.trained_tree import Declared

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    raise MissingExtra("a tree for scikit-learn", "learn") from None

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import ArrayLike, NDArray

    from reticent.tasks.trained_tree import TrainedTree

Named: TypeAlias = str | int
"""A column by its name or by its place."""


class PrivateTreeClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A decision tree that hides whether any one row was in the training table.

    Every column is declared: ``categories`` maps a column to its categories, ``bounds`` to the ends
    of its range or to all edges of its bins; a single pair is the range of every other column, cut
    into ``bins``. Nothing of it is read from the data. ``classes`` are the labels; if they are not
    declared, those that occur are taken to be public. ``rows`` is a bound that no table exceeds,
    which entropy needs and from which, with epsilon, a depth is chosen unless ``max_depth`` is
    given. Missing values are a value of their own; unknown categories count as missing.

    ``method`` is "permute-and-flip" or "exponential", or with entropy and multiway splits
    "dampened" or "shifted" by local sensitivity. ``relation`` "substitute" hides what one row says
    where "add-remove" hides whether it is there, at half the budget for everything.

    With a ``ledger``, the file or address of one, every ``fit`` is charged to ``data_set``, up to
    ``total`` if you give one, and the same ``key`` repeats its tree at no further charge. The
    answer with its guarantee card is ``answer_``.

    >>> ages = np.array([[20], [30], [60], [70]] * 100)
    >>> works = np.array([1, 1, 0, 0] * 100)
    >>> tree = PrivateTreeClassifier(epsilon=4, bounds=(0, 100), bins=10, max_depth=1)
    >>> tree.fit(ages, works).predict([[25], [65]]).tolist()
    [1, 0]
    """

    def __init__(
        self,
        *,
        epsilon: Number = 1.0,
        max_depth: int | None = None,
        method: str = "permute-and-flip",
        criterion: str = "gini",
        split: str = "binary",
        categories: Mapping[Named, Sequence[Any]] | None = None,
        bounds: Mapping[Named, Bounds] | Bounds | None = None,
        bins: int = 32,
        classes: Sequence[Any] | None = None,
        rows: int | None = None,
        class_weight: Mapping[Any, float] | None = None,
        leaf_share: Number = 0.25,
        growth: Number = 1.5,
        stop: str | None = None,
        relation: str = "add-remove",
        ledger: str | Path | None = None,
        data_set: str | None = None,
        total: Number | None = None,
        key: str | None = None,
        source: Source | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.max_depth = max_depth
        self.method = method
        self.criterion = criterion
        self.split = split
        self.categories = categories
        self.bounds = bounds
        self.bins = bins
        self.classes = classes
        self.rows = rows
        self.class_weight = class_weight
        self.leaf_share = leaf_share
        self.growth = growth
        self.stop = stop
        self.relation = relation
        self.ledger = ledger
        self.data_set = data_set
        self.total = total
        self.key = key
        self.source = source

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:  # noqa: N803, scikit-learn's name
        """Grow the tree; this is what epsilon is spent on."""
        table, labels = self._checked(X, y)
        self.classes_ = np.unique(labels if self.classes is None else np.asarray(self.classes))
        declared = Declared(
            columns=self._columns(),
            classes=tuple(self.classes_.tolist()),
            weights=self._weights(),
        )
        names = [column.name for column in declared.columns]
        target = _unlike("label", names)
        query = Tree(
            epsilon=self.epsilon,
            target=target,
            declare=declared,
            rows=self.rows,
            max_depth=self.max_depth,
            relation=self.relation,
            criterion=self.criterion,
            split=self.split,
            method=self.method,
            leaf_share=self.leaf_share,
            growth=self.growth,
            stop=self.stop,
        )
        columns = {name: table[:, j] for j, name in enumerate(names)}
        self.answer_ = query.release(
            {"table": {**columns, target: labels}},
            ledger=self.ledger,
            data_set=self.data_set,
            total=self.total,
            key=self.key,
            source=self.source,
        )
        self.trained_ = self.answer_.value
        self.mechanism_ = self.answer_.terms.mechanism
        self.guarantee_ = self.mechanism_.guarantee()
        self.feature_importances_ = self.trained_.tree.importances(table.shape[1])
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:  # noqa: N803
        """The likeliest class of each row."""
        shares = self.predict_proba(X)
        return np.asarray(self.classes_[shares.argmax(axis=1)])

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:  # noqa: N803
        """The share of each class, from noisy counts: inside the guarantee."""
        check_is_fitted(self)
        table = validate_data(self, _cells(X), reset=False, dtype=None, ensure_all_finite=False)
        held: TrainedTree = self.trained_
        return held.shares([table[:, j] for j in range(table.shape[1])])

    def export_text(self) -> str:
        """The tree as indented lines."""
        check_is_fitted(self)
        held: TrainedTree = self.trained_
        return held.text()

    def _checked(self, X: ArrayLike, y: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:  # noqa: N803
        """A table and labels. With declared classes no label raises: what is none is left out."""
        cells = _cells(X)
        if self.classes is None:
            table, labels = validate_data(self, cells, y, dtype=None, ensure_all_finite=False)
            if labels.dtype.kind not in "iub":  # whole numbers are classes, and looking costs time
                check_classification_targets(labels)
            return table, labels
        table = validate_data(self, cells, dtype=None, ensure_all_finite=False)
        labels = _list(y) if isinstance(y, (list, tuple)) else np.asarray(y)
        good = labels.ndim == 1 and len(labels) == len(table)
        require(good, "y", f"shape {labels.shape}", f"a list of {len(table)} labels")
        return table, labels

    def _weights(self) -> tuple[float, ...] | None:
        if self.class_weight is None:
            return None
        if not isinstance(self.class_weight, Mapping):
            rule = "a weight for each class: how many rows each has is private, so none is balanced"
            raise ParameterError("class_weight", rule, self.class_weight)
        labels = self.classes_.tolist()
        unknown = [label for label in self.class_weight if label not in labels]
        require(not unknown, "class_weight", f"{len(unknown)} others", "weights of classes")
        return tuple(float(self.class_weight.get(label, 1.0)) for label in labels)

    def _columns(self) -> tuple[Column, ...]:
        """Every column as it was declared, by name or by place."""
        names = [str(name) for name in getattr(self, "feature_names_in_", [])]
        names = names or [f"x{j}" for j in range(self.n_features_in_)]
        by_column = isinstance(self.bounds, Mapping)
        bounds = dict(self.bounds) if isinstance(self.bounds, Mapping) else {}
        categories = dict(self.categories or {})
        found = []
        for j, name in enumerate(names):
            of_kind = _taken(categories, name, j)
            of_range = _taken(bounds, name, j)
            if of_kind is None and of_range is None and not by_column:
                of_range = self.bounds
            if (of_kind is None) == (of_range is None):
                rule = "categories or bounds, one of them, declared: they are not read from data"
                raise ParameterError(
                    f"column {name!r}", rule, "none" if of_kind is None else "both"
                )
            if of_kind is not None:
                found.append(Column(name, categories=tuple(of_kind)))
            else:
                found.append(Column.numbers(name, of_range, bins=self.bins))
        left = [str(key) for key in (*categories, *bounds)]
        require(not left, "declared columns", ", ".join(left[:3]), "columns of the table")
        return tuple(found)

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn should know: it is random, takes categories and missing values."""
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _cells(table: ArrayLike) -> ArrayLike:
    """Rows of a list, cell by cell: NumPy would read all of them as text if one of them is."""
    if not isinstance(table, (list, tuple)):
        return plain_cells(table)  # type: ignore[no-any-return]
    rows = [_list(row) if isinstance(row, (list, tuple)) else row for row in table]
    widths = {len(row) for row in rows if isinstance(row, np.ndarray) and row.ndim == 1}
    if len(widths) != 1 or not all(isinstance(row, np.ndarray) for row in rows):
        return table  # no table: what is wrong with it is scikit-learn's to say
    return np.array([row.astype(object) for row in rows]).reshape(len(rows), -1)


def _list(values: Sequence[Any]) -> NDArray[Any]:
    """Values as they are, whatever stands beside them."""
    found = np.empty(len(values), dtype=object)
    found[:] = [None if isinstance(value, (list, tuple)) else value for value in values]
    return found


def _unlike(name: str, others: Sequence[str]) -> str:
    """A name that no column has."""
    taken = {other.strip().casefold() for other in others}
    while name in taken:
        name += "_"
    return name


def _taken(declared: dict[Any, Any], name: str, place: int) -> Any:
    """What is declared for a column, taken out: what is left over was meant for no column."""
    by_name = declared.pop(name, None)
    by_place = declared.pop(place, None)
    return by_place if by_name is None else by_name
