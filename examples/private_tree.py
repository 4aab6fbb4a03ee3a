"""A decision tree in which no row shows: declare, plan, release, predict."""

# %% What is public about the columns is written down, never read from the rows
import reticent as rt
from reticent.data import load_adult

query = rt.Tree(
    epsilon=1,
    target="income",
    max_depth=3,
    declare={
        "columns": {
            "age": {"bounds": [17, 90], "bins": 73},
            "education-num": {"bounds": [1, 17], "bins": 16},
            "sex": {"categories": ["Female", "Male"]},
        },
        "target": {"classes": ["<=50K", ">50K"]},
    },
)

# %% Plan: known before a row is read
print(query.plan())

# %% Release a tree from two thirds of a public census sample
adult = load_adult()
names = ["age", "education-num", "sex", "income"]
size = len(adult) * 2 // 3
tree = query.release({name: adult[name][:size] for name in names})
print(tree.value.text())
print("spent epsilon", tree.spent, "about one row")

# %% Predictions cost nothing more; rows that are predicted are not protected
others = {name: adult[name][size:] for name in names}
predicted = rt.Predict().release({"tree": tree, "rows": others})
pairs = list(zip(predicted.value["prediction"], others["income"], strict=True))
right = sum(guess == true for guess, true in pairs) / len(pairs)
often = sum(true == "<=50K" for _, true in pairs) / len(pairs)
print(f"right for {right:.1%} of other rows; always the common class: {often:.1%}")
