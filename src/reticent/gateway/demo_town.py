"""The made-up town from which the demonstration's mapping was learnt: some hundred people.

Not here  how a mapping is learnt (tasks/learning.py), who is in the film club (demo_people.py).

The people are drawn from a seeded source, so that the mapping is the same everywhere. Nothing is
released here: a mapping is public, and what goes through it is drawn by the gateway. The mapping is
kept as a file: right after installation learning would first have to be compiled, for some seconds.
"""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.data.synthetic import uniform
from reticent.gateway.demo_people import COLUMNS, SECRET
from reticent.noise import Source
from reticent.tasks.recoding import Alphabet
from reticent.tasks.recoding_files import recoding_from_json

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reticent.tasks.recoding import Recoding

FILE = "demo_mapping.json"
PEOPLE = 600
LEAK_BITS = 0.03
_SEED = 20_261_116
_AGES = ("18-29", "30-44", "45-64", "65 or older")
_HOMES = ("town", "country")
_EVENINGS = ("0-1", "2-3", "4 or more")
_INCOMES = ("low", "middle", "high")


def townspeople() -> tuple[NDArray[Any], NDArray[Any]]:
    """Public columns and the secret of everybody in town, always the same."""
    chances = uniform((PEOPLE, 4), Source.seeded(_SEED))
    age = (chances[:, 0] * len(_AGES)).astype(int)
    home = (chances[:, 1] > 0.6).astype(int)
    thrift = chances[:, 2] + 0.1 * (age == 0) - 0.1 * (age == 3)
    evenings = np.clip((thrift * len(_EVENINGS)).astype(int), 0, 2)
    means = 0.5 * chances[:, 3] + 0.2 * evenings + 0.15 * (home == 0) + 0.1 * (age % 3 != 0)
    income = np.digitize(means, (0.4, 0.7))
    public = np.empty((PEOPLE, len(COLUMNS)), dtype=object)
    for at, (names, which) in enumerate(((_AGES, age), (_HOMES, home), (_EVENINGS, evenings))):
        public[:, at] = [names[k] for k in which]
    return public, np.array([_INCOMES[k] for k in income])


def mapping() -> Recoding:
    """The mapping that was learnt from the town, from its file."""
    return recoding_from_json(files("reticent.gateway").joinpath(FILE).read_text(encoding="utf-8"))


def learn() -> Recoding:
    """The mapping that tells at most ``LEAK_BITS`` about incomes, on average over the town."""
    from reticent.tasks.learning import Limits, learn_mapping

    public, incomes = townspeople()
    alphabet = Alphabet.of(public, incomes)
    limits = Limits(leak_bits=LEAK_BITS, relative_gap=0.01)
    return learn_mapping(alphabet, limits, columns=COLUMNS, secret=SECRET).recoding
