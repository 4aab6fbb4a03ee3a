"""Public data that are compared and swept over, and the commands that do so quickly."""

import csv

import numpy as np

GRAPH = ("compare", "top-nodes", "links.csv", "--bound", "9", "--within", "--k", "2")
TABLE = ("compare", "percentile", "pay.csv", "--upper", "100", "--columns", "value=pay")
CLUB = ("compare", "neighbours", "club.csv", "--k", "2", "--profile-size", "5")
PEOPLE = ("compare", "mapping", "people.csv", "--secret", "income")
TREE = ("compare", "tree", "people.csv", "--target", "income", "--declare", "columns.toml")
FILMS = ("compare", "histogram", "films.csv", "--provider", "club.example")
FEW = ("--epsilons", "1,1000,0.01", "--runs", "5")
SECRET = "73519"
DECLARED = """\
[columns.age]
bounds = [0, 100]
bins = 10
[columns.job]
categories = ["clerk", "smith"]
[target]
classes = ["high", "low"]
"""
PREFERENCES = """\
version = 1
[attributes]
default = 0.1
Drama = 0.02
[providers."club.example"]
epsilon = 0.06
"""
CATALOGUE = "item,attribute\nHeat,Crime\nHeat,Drama\nUp,Drama\nGlory,Drama\nGlory,War\n"
QUICK = {
    "top-nodes": (*GRAPH, *FEW),
    "percentile": (*TABLE, "--epsilons", "1,2"),
    "neighbours": (*CLUB, "--epsilons", "1,30", "--runs", "2"),
    "mapping": (*PEOPLE, "--delta", "0.05,0.1"),
    "tree": (*TREE, "--epsilons", "1,1000", "--runs", "3"),
    "histogram": FILMS,
}
PUBLIC = [name for name in QUICK if name != "histogram"]


def flag(name: str) -> str:
    """How one states that data are public."""
    return "--public-data" if name == "mapping" else "--public"


def people() -> list[tuple[object, ...]]:
    rng = np.random.default_rng(4)
    found = []
    for number in range(300):
        age, job = int(rng.integers(2, 9)) * 10, ("clerk", "smith")[number % 2]
        rich = age + 20 * (number % 2) + rng.normal(0, 5) > 60
        found.append((f"p{number}", age, job, "high" if rich else "low"))
    return found


def club() -> list[tuple[object, ...]]:
    return [
        (f"u{u}", f"film {8 * (u % 2) + (u * u + i) % 8}", (1, 0.5, 0)[(u // 4 + i % 2) % 3])
        for u in range(12)
        for i in range(5)
    ]


def set_out(folder, monkeypatch):
    """A folder with all of it, as the one where commands run."""
    monkeypatch.chdir(folder)
    star = [("n0", f"n{i}") for i in range(1, 9)] + [("n1", f"n{i}") for i in range(9, 15)]
    for name, lines in (
        ("links.csv", [("source", "target"), *star, ("n0", "n1"), ("n3", "n3"), ("n2", "n0")]),
        ("pay.csv", [("pay",), *((str(pay),) for pay in [*range(20), SECRET, "nan", ""])]),
        ("people.csv", [("user", "age", "job", "income"), *people()]),
        ("club.csv", [("user", "item", "weight"), *club()]),
    ):
        with (folder / name).open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(lines)
    for name, text in (
        ("films.csv", CATALOGUE),
        ("preferences.toml", PREFERENCES),
        ("columns.toml", DECLARED),
    ):
        (folder / name).write_text(text, encoding="utf-8")
    return folder
