"""What ``reticent init`` writes: a commented preferences file and small invented tables.

Not here  the command (init.py), which commands use them (examples.py).

The people are invented by arithmetic: nothing here is anybody's data, and equal calls give equal
files.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from reticent.cli.verify_examples import EXAMPLES as VERIFIED

PREFERENCES = """\
# What may leave, and to whom. Change a line, then: reticent prefs check preferences.toml
version = 1

[items]                    # weight: 0 = may never influence anything, 1 = counts in full
default = 1
"The Sessions" = 0

[attributes]               # epsilon that one release may tell about an attribute alone
default = 1
Drama = 0.5                # tell less about this one
# Crime = "withhold"       # tell nothing about this one

[providers."club.example"] # who is not named gets nothing
epsilon = 2                # for one release, over all attributes
total = 6                  # for all releases together, until it renews: three, then refusals
renews = "yearly"

[hide]                     # what profiles that are released must not tell
income = { leak_bits = 0.05 }
"""
DECLARED = """\
# What is public about voters.csv, known before anybody looked at it.
[columns.age]
bounds = [0, 100]
bins = 20

[columns.pet]
categories = ["cat", "dog", "none"]

[columns.children]
categories = [0, 1, 2, 3]

[target]
classes = ["no", "yes"]
"""
ASKS = """\
# What a provider asks for, in public; see reticent gateway provider --help.
[histogram]
epsilon = 0.5
attributes = { default = 0.2 }

[similarity]
epsilon = 1
"""
PEOPLE = ("ann", "bob", "cid", "dot", "eve", "fay", "gus", "hal", "ivy", "joe", "kim", "leo")
FILMS = {
    "Heat": ("Crime", "Drama"),
    "Up": ("Family", "Comedy"),
    "M": ("Crime",),
    "Amelie": ("Comedy", "Romance"),
    "Big": ("Comedy", "Family"),
    "Clue": ("Comedy", "Crime"),
    "The Sessions": ("Drama", "Romance"),
    "Brazil": ("Drama", "Comedy"),
}
MANUAL = """\
Start here. Every table in this folder is invented; change what you like.

    preferences.toml  what one person allows, and to whom
    films.csv         which film has which attributes; public
    club.csv          who has seen which film
    people.csv        one line per person, with an income to hide
    links.csv         who knows whom
    pay.csv           what people earn
    voters.csv        rows to learn a tree from; columns.toml says what is public about them,
                      and new-voters.csv are others to predict
    asks.toml         what a provider asks a gateway for
    mechanism.toml    a mechanism to be verified over a small domain

Type these in this folder, in this order:

"""


def files(commands: Sequence[str]) -> dict[str, str]:
    """Every file by its name; ``commands`` are listed in START.txt."""
    return {
        "START.txt": MANUAL + "".join(f"    {command}\n" for command in commands),
        "preferences.toml": PREFERENCES,
        "films.csv": _table(("item", "attribute"), _attributes()),
        "club.csv": _table(("user", "item"), _seen()),
        "people.csv": _table(("user", "town", "job", "income"), map(_person, range(600))),
        "links.csv": _table(("source", "target"), _links()),
        "pay.csv": _table(("who", "pay"), ((f"w{i}", 12 + 37 * i % 83) for i in range(60))),
        "voters.csv": _table(("age", "pet", "children", "votes"), map(_voter, range(300))),
        "new-voters.csv": _table(("age", "pet", "children"), [(33, "cat", 1), (71, "none", 0)]),
        "columns.toml": DECLARED,
        "asks.toml": ASKS,
        "mechanism.toml": VERIFIED["discrete-laplace"][1],
    }


def _table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([heads, *rows])
    return text.getvalue()


def _attributes() -> list[tuple[str, str]]:
    return [(film, attribute) for film, own in FILMS.items() for attribute in own]


def _seen() -> list[tuple[str, str]]:
    """Everybody has seen some films; who is next to whom in the list has some in common."""
    films = list(FILMS)
    return [
        (person, film)
        for place, person in enumerate(PEOPLE)
        for number, film in enumerate(films)
        if (place + number) % 4 < 2 or (place * number) % 7 == 3
    ]


def _person(i: int) -> tuple[str, str, str, str]:
    """Towns and jobs of which a high income is more frequent in some."""
    town, job = ("north", "south", "west")[i % 3], ("teacher", "banker")[i // 3 % 2]
    high = i // 6 % 10 < 2 + 5 * (job == "banker") + 2 * (town == "west")
    return f"p{i}", town, job, "high" if high else "low"


def _links() -> list[tuple[str, str]]:
    """A ring of forty in which every eighth knows five more."""
    ring = [(f"n{i}", f"n{(i + 1) % 40}") for i in range(40)]
    hubs = [(f"n{i}", f"n{(i + step) % 40}") for i in range(0, 40, 8) for step in range(3, 18, 3)]
    return [*ring, *hubs]


def _voter(i: int) -> tuple[int, str, int, str]:
    """Who is over fifty votes yes, but for one in eleven."""
    age = 18 + 53 * i % 71
    votes = (age >= 50) is not (i % 11 == 5)
    return age, ("cat", "dog", "none")[i % 3], i * 3 % 4, "yes" if votes else "no"
