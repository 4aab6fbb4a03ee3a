"""A file to start from for everything that ``reticent verify`` can look at; each of them works.

Not here  how files are read (verify_cases.py).
"""

from __future__ import annotations

EXAMPLES: dict[str, tuple[str, str]] = {
    "query": (
        "a query as a whole, from its tables to what is published, by drawing",
        """\
# Each kind brings small tables that differ in one unit: here all records of a person.
[query]
kind = "counts"           # reticent queries lists them
epsilon = "0.5"
records = 2
""",
    ),
    "discrete-laplace": (
        "counts with whole-number noise, over all tiny tables of records",
        """\
# Two counts with noise: every table of at most 3 people, each of kind a or b.
[mechanism]
name = "discrete-laplace"
epsilon = "0.5"
size = 2

[domain]
records = ["a", "b"]      # or values = [0, 1, 2]: counts, moved by the sensitivity in total
people = 3
relation = "add-remove"   # or "substitute"

# [claim]                 # without this table: what the mechanism itself promises
# epsilon = "0.5"
""",
    ),
    "snapped-laplace": (
        "bounded real values with noise on a grid",
        """\
# A sum of values from 0 to 1, at most 3 of them.
[mechanism]
name = "snapped-laplace"
epsilon = 1
sensitivity = 1
lower = 0
upper = 3

[domain]
records = [0, 0.25, 1]
people = 3
""",
    ),
    "exponential": (
        "one of several candidates, by the exponential mechanism",
        """\
# Scores of three candidates; one unit moves each of them by at most 1, either way.
[mechanism]
name = "exponential"
epsilon = 1
candidates = 3
sensitivity = 1

[domain]
values = [0, 0.5, 1, 2]
""",
    ),
    "permute-and-flip": (
        "one of several candidates, by permute-and-flip",
        """\
# Which of three answers most people gave: counts move one way, which needs half the noise.
[mechanism]
name = "permute-and-flip"
epsilon = 1
candidates = 3
monotone = true

[domain]
records = ["tea", "coffee", "water"]
people = 4
""",
    ),
    "dampened": (
        "one of several candidates, by local sensitivity",
        """\
# Who is at the median of three incomes, in thousands; one of them is replaced by another.
[mechanism]
name = "dampened"
epsilon = 1
candidates = 3
limit = 10
steps = 2
shift = "none"

[domain]
percentile = 0.5
values = [0, 2, 5, 10]
upper = 10
people = 3

# Other domains: [domain.inputs] x = [4, 1, 0] with utilities, whose local sensitivity is then found
# by enumeration; or x = { utilities = [4, 1, 0], sensitivity = [[1, 1, 1]] }, and it is verified.
""",
    ),
    "top-dampened": (
        "the best k candidates, by local sensitivity",
        """\
# The two most liked of four films, from at most 3 people who like one or two each.
[mechanism]
name = "top-dampened"
epsilon = 2
candidates = 4
k = 2
limit = 1
steps = 1
test = 0.25               # share of the budget that decides between plain and shifted scores

[domain]
people = 3

[domain.records]          # what one person adds to the utility of each candidate
heat = [1, 0, 0, 0]
heat_alien = [1, 1, 0, 0]
up = [0, 0, 1, 0]
none = [0, 0, 0, 1]
""",
    ),
    "stretching": (
        "a sum or similarity in which every item has a weight",
        """\
# The inner product of two profiles. An item of weight 0.25 may lose a quarter of epsilon.
[mechanism]
name = "stretching"
epsilon = 1
function = "inner product"   # or "sum" with coefficients, "mean" with size, "squared distance"

[domain.items]               # weights in one profile
Heat = 1
Alien = 0.25
"The Sessions" = 0

[domain.theirs]              # and in the other; the same if left out
Heat = 0.5
Alien = 1
"The Sessions" = 1
""",
    ),
    "multi-level": (
        "a histogram with noise of its own for each attribute",
        """\
# What a profile of three films has of two attributes. Drama is released with less noise.
[mechanism]
name = "multi-level"
weighted = true

[mechanism.attributes]       # what an observer of one attribute alone may learn
Crime = 0.1
Drama = 0.3

[domain.items]
Heat = 1
Alien = 0.5
"The Sessions" = 0

[domain.catalogue]
Heat = { Crime = 1, Drama = 1 }
Alien = { Crime = 1 }
"The Sessions" = { Drama = 1 }
""",
    ),
    "blip": (
        "a Bloom filter of a profile with flipped bits",
        """\
# Three items with weights in a filter of 64 bits, two hashes each.
[mechanism]
name = "blip"
epsilon = 2
bits = 64
hashes = 2

[domain.items]
Heat = 1
Alien = 0.5
"The Sessions" = 0
""",
    ),
    "profile-mapping": (
        "a profile released as another one: the leak in bits, recomputed exactly",
        """\
# Not differential privacy: an average in bits, under the joint law of secret and profile.
[mechanism]
name = "profile-mapping"
secret = "income"
rows = [["3/4", "1/4", 0], ["1/4", "1/2", "1/4"], [0, "1/4", "3/4"]]   # p(released | profile)
joint = [[0.3, 0.1, 0.1], [0.1, 0.1, 0.3]]                             # p(secret, profile)
distance = [[0, 1, 2], [1, 0, 1], [2, 1, 0]]

# [claim]                 # without this table: what the mechanism itself promises
# bits = 0.2
# distortion = 0.5
""",
    ),
    "tree": (
        "a decision tree: cannot be enumerated, so it is audited",
        """\
# A tree of one split on two columns of two codes; a record is [code, code, class].
[mechanism]
name = "tree"
epsilon = 1
sizes = [2, 2]
classes = 2
depth = 1

[domain]
records = [[0, 0, 0], [1, 0, 1], [1, 1, 1]]
people = 2
""",
    ),
    "randomised-response": (
        "a law of your own, as a table of chances",
        """\
# A coin that tells the truth three times in four loses ln 3 = 1.09861228866811 and no less.
[law]
name = "randomised response"

[law.rows]                # p(answer | truth), exact
yes = { yes = "3/4", no = "1/4" }
no = { yes = "1/4", no = "3/4" }

[claim]
epsilon = "1.0986122886682"

# [domain]                # without this table all inputs are neighbours
# neighbours = [["yes", "no"]]
""",
    ),
    "leak": (
        "a law of your own, and what it tells about a secret in bits",
        """\
# What the answer tells about a secret that goes along with the truth.
[law.rows]
yes = { yes = "3/4", no = "1/4" }
no = { yes = "1/4", no = "3/4" }

[law.joint]               # p(secret, truth)
smoker = { yes = 0.2, no = 0.1 }
other = { yes = 0.1, no = 0.6 }

[claim]
epsilon = 1.1
bits = 0.05
maximal_bits = 0.5
""",
    ),
    "python": (
        "a Python function of your own: audited, and only with --run-code",
        """\
# A function f(data, n) that returns n outputs. Run with: reticent verify --run-code FILE
[mechanism]
python = "reticent.testing.own_example:truthful_coin"   # or "file.py:function", beside this file

[domain]
values = [0, 1]           # or records and people, items, inputs

[claim]
epsilon = 1.1
""",
    ),
}
