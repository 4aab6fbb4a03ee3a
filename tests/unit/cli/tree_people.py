"""People of whom trees are grown, what is declared about them, and the commands that do so."""

import csv

import numpy as np

CANARY = "canary-9186"
SECRET = "73521"  # a value that no message may hold
DECLARED = """\
[columns.age]
bounds = [0, 100]
bins = 20

[columns.pet]
categories = ["cat", "dog", "owl"]

[columns.kids]
categories = [0, 1, 2]

[target]
classes = ["no", "yes"]
"""
TRAIN = (
    *("release", "tree", "people.csv", "--target", "votes", "--declare", "columns.toml"),
    *("--epsilon", "1"),
)
GROW = (*TRAIN, "--yes")
SURE = (*GROW, "--epsilon", "5000", "--max-depth", "2")  # the noise is next to nothing


def people(rows=300) -> list[tuple[str, ...]]:
    """Who is over fifty votes yes; some cells hold what is not declared."""
    rng = np.random.default_rng(5)
    found = []
    for i in range(rows):
        age, pet, kids = (int(rng.integers(n)) for n in (100, 3, 3))
        row = (f"w{i}", str(age), ("cat", "dog", "owl")[pet], f"{kids}.0")
        found.append((*row, "yes" if age >= 50 else "no", "blue"))
    odd = [("", CANARY, "x", "yes"), ("nan", "", "nan", "no"), (SECRET, "OWL", "1e9", CANARY)]
    return [*found, *((f"o{i}", *row, "red") for i, row in enumerate(odd))]


def written(path, rows, heads=("who", "age", "pet", "kids", "Votes", "hair")) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([heads, *rows])


def set_out(folder, monkeypatch):
    """A folder with the table and the declaration, as the one where commands run."""
    monkeypatch.chdir(folder)
    written(folder / "people.csv", people())
    (folder / "columns.toml").write_text(DECLARED, encoding="utf-8")
    return folder
