"""A decision tree in which no row shows: declare, train, read, predict."""

# %% What is public about the columns is written down, never read from the rows
import numpy as np

from reticent import Source
from reticent.data import load_adult
from reticent.tasks.columns import Column
from reticent.tasks.trained_tree import Declared, train

declared = Declared(
    columns=(
        Column.numbers("age", (17, 90), bins=73),
        Column.numbers("education-num", (1, 17), bins=16),
        Column("sex", categories=("Female", "Male")),
    ),
    classes=("<=50K", ">50K"),
)

# %% Plan: known before a row is read
mechanism = declared.mechanism(epsilon=1, depth=3)
print("error to expect:", mechanism.utility().sentence)

# %% Train on two thirds of a public census sample
adult = load_adult()
values = [np.asarray(adult[column.name]) for column in declared.columns]
income = np.asarray(adult["income"])
size = len(income) * 2 // 3
trained, release = train(
    declared,
    [column[:size] for column in values],
    income[:size],
    mechanism=mechanism,
    source=Source.system(),
)
print("spent epsilon", release.event.loss.overall / 1e9, "about one row")

# %% Predictions cost nothing more; rows that are predicted are not protected
guesses = trained.shares([column[size:] for column in values]).argmax(axis=1)
truth = np.asarray(declared.classes)[guesses] == income[size:]
often = np.mean(income[size:] == "<=50K")
print(f"right for {truth.mean():.1%} of other rows; always the common class: {often:.1%}")
