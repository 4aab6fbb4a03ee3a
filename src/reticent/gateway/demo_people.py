"""The people of the demonstration, what each has seen, and what each allows; all invented.

Not here  the films (demo_films.py), the mapping that releases profiles (demo_town.py).

Each preferences file shows another temper. They are read as anybody's are, comments and all.
"""

from __future__ import annotations

from dataclasses import dataclass

CLUB, ADS, ASSISTANT = "filmclub.example", "ads.example", "assistant.example"
COLUMNS = ("age group", "home", "evenings out")
SECRET = "household income"  # noqa: S105, a word for people

NEVER_CHOSEN = "version = 1\n"


@dataclass(frozen=True, slots=True)
class Member:
    """Somebody in the film club: public columns, places of films seen, the preferences file."""

    name: str
    columns: tuple[str, str, str]
    seen: tuple[int, ...]
    preferences: str

    def public(self) -> dict[str, str]:
        """Columns by name."""
        return dict(zip(COLUMNS, self.columns, strict=True))


ANN = """version = 1

# What my films may count for. 0 is as if I had never seen it.
[items]
default = 0.5
"The Clinic at Harrow Bend" = 0    # nobody's business

[attributes]
default = 0.1
Drama = 0.02                       # I see a lot of these, for reasons of my own

[providers."filmclub.example"]
epsilon = 0.4                      # one release, over all genres
total = 2.0
renews = "yearly"

# My profile must not tell what we earn.
[hide]
"household income" = { leak_bits = 0.05 }
"""

BOB = """version = 1

# I do not mind much. Still, there are ends to it.
[attributes]
default = 1.0

[providers."filmclub.example"]
epsilon = 1.0
total = 20
renews = "yearly"

[providers."ads.example"]
epsilon = 2.0
total = 20
renews = "yearly"

[providers."assistant.example"]
epsilon = 1.0
total = 20
renews = "yearly"
"""

DAN = """version = 1

# Anything may count but this one.
[items]
"What the River Kept" = 0

[attributes]
default = 0.5

[providers."filmclub.example"]
epsilon = 0.5
total = 5

[providers."assistant.example"]
epsilon = 0.5
total = 5
"""

EVE = """version = 1

[items]
default = 0.8

[attributes]
default = 0.2

[providers."filmclub.example"]
epsilon = 0.5
total = 4.0
renews = "monthly"

# The club may know that I like horror. Advertisers may not.
[providers."filmclub.example".attributes]
Horror = 0.4

[providers."ads.example"]
epsilon = 0.3
total = 1.5

[providers."ads.example".attributes]
Horror = "withhold"
Romance = "withhold"

[providers."ads.example".items]
default = 0.3
"Quiet as Wool" = 0
"""

FINN = """version = 1

[attributes]
default = 1.0

[providers."filmclub.example"]
epsilon = 0.5

# They asked often. This is all they ever get.
[providers."ads.example"]
epsilon = 0.5
total = 1.0
"""

GITA = """version = 1

# Only what I name. There is no default line, so every other genre is withheld.
[attributes]
Comedy = 0.3
Documentary = 0.3

[providers."filmclub.example"]
epsilon = 0.5
total = 3
renews = "yearly"
"""

HUGO = """version = 1

[attributes]
default = 0.25

[providers."filmclub.example"]
epsilon = 0.25
total = 1
renews = "weekly"                  # four releases a week
"""

INES = """version = 1

# The assistant may compare me with others and have my profile; nobody gets histograms.
[providers."assistant.example"]
epsilon = 0.8
total = 8
renews = "monthly"

[hide]
"household income" = { leak_bits = 0.1 }
"""

JON = """version = 1

[attributes]
default = 0.1

[providers."filmclub.example"]
epsilon = 0.2
total = 1

[providers."assistant.example"]
epsilon = 0.2
total = 1

# Stricter than the club's mapping is: my profile is not released, and nobody can tell.
[hide]
"household income" = { leak_bits = 0.0001 }
"""

KAIA = """version = 1

[attributes]
default = 0.5
Horror = "withhold"                # I only went because of my brother

[providers."filmclub.example"]
epsilon = 0.5
total = 2
renews = "monthly"

[providers."ads.example"]
epsilon = 0.1
total = 0.5
renews = "yearly"
"""

LARS = """version = 1

# Nothing counts unless I say so.
[items]
default = 0
"Granite and Rye" = 1
"Seven Miles of Fence" = 1
"North of the Wire" = 0.5

[attributes]
Western = 0.5

[providers."filmclub.example"]
epsilon = 0.5
total = 5
"""

MEMBERS = (
    Member("ann", ("30-44", "town", "2-3"), (0, 3, 7, 8, 11, 16, 17, 20, 28, 30, 36, 37), ANN),
    Member("bob", ("18-29", "town", "4 or more"), (2, 4, 9, 10, 15, 18, 26, 27, 35, 38), BOB),
    Member("cleo", ("45-64", "country", "0-1"), (1, 6, 14, 17, 31, 33, 37), NEVER_CHOSEN),
    Member("dan", ("30-44", "country", "2-3"), (3, 9, 12, 16, 23, 27, 30, 39), DAN),
    Member("eve", ("18-29", "town", "4 or more"), (5, 7, 22, 25, 32, 34, 36, 39), EVE),
    Member("finn", ("18-29", "country", "2-3"), (4, 13, 19, 21, 24, 26, 29, 38), FINN),
    Member("gita", ("45-64", "town", "2-3"), (1, 2, 10, 14, 15, 28, 31, 33, 35), GITA),
    Member("hugo", ("65 or older", "country", "0-1"), (0, 6, 8, 13, 19, 24), HUGO),
    Member("ines", ("30-44", "town", "4 or more"), (7, 11, 20, 21, 26, 29, 32, 36), INES),
    Member("jon", ("45-64", "town", "0-1"), (3, 8, 12, 16, 28, 30, 37), JON),
    Member("kaia", ("18-29", "country", "2-3"), (2, 4, 10, 22, 25, 34, 35), KAIA),
    Member("lars", ("65 or older", "country", "2-3"), (13, 19, 23, 24, 28, 38), LARS),
)
