"""The Adult census sample, bundled as published: 48,842 records of 1994, public.

Source    Becker, B. & Kohavi, R. (1996). Adult. UCI Machine Learning Repository,
          https://doi.org/10.24432/C5XW20, CC BY 4.0 (bundled/ATTRIBUTION.md)
Not here  what is released about it (cli/demo.py, tasks).

Categories are the ones that ``adult.names`` declares, in its order, not those met in the records.
"""

from __future__ import annotations

import csv
import gzip
import io
import sys
from collections.abc import Iterator
from importlib import resources
from types import MappingProxyType

from reticent.data.tables import Cell, Table

ADULT_SIZE = 48_842
"""How many records there are, as published: a public number."""

ADULT_COLUMNS = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
)

ADULT_CATEGORIES = MappingProxyType(
    {
        "workclass": (
            "Private",
            "Self-emp-not-inc",
            "Self-emp-inc",
            "Federal-gov",
            "Local-gov",
            "State-gov",
            "Without-pay",
            "Never-worked",
        ),
        "education": (
            "Bachelors",
            "Some-college",
            "11th",
            "HS-grad",
            "Prof-school",
            "Assoc-acdm",
            "Assoc-voc",
            "9th",
            "7th-8th",
            "12th",
            "Masters",
            "1st-4th",
            "10th",
            "Doctorate",
            "5th-6th",
            "Preschool",
        ),
        "marital-status": (
            "Married-civ-spouse",
            "Divorced",
            "Never-married",
            "Separated",
            "Widowed",
            "Married-spouse-absent",
            "Married-AF-spouse",
        ),
        "occupation": (
            "Tech-support",
            "Craft-repair",
            "Other-service",
            "Sales",
            "Exec-managerial",
            "Prof-specialty",
            "Handlers-cleaners",
            "Machine-op-inspct",
            "Adm-clerical",
            "Farming-fishing",
            "Transport-moving",
            "Priv-house-serv",
            "Protective-serv",
            "Armed-Forces",
        ),
        "relationship": (
            "Wife",
            "Own-child",
            "Husband",
            "Not-in-family",
            "Other-relative",
            "Unmarried",
        ),
        "race": (
            "White",
            "Asian-Pac-Islander",
            "Amer-Indian-Eskimo",
            "Other",
            "Black",
        ),
        "sex": ("Female", "Male"),
        "native-country": (
            "United-States",
            "Cambodia",
            "England",
            "Puerto-Rico",
            "Canada",
            "Germany",
            "Outlying-US(Guam-USVI-etc)",
            "India",
            "Japan",
            "Greece",
            "South",
            "China",
            "Cuba",
            "Iran",
            "Honduras",
            "Philippines",
            "Italy",
            "Poland",
            "Jamaica",
            "Vietnam",
            "Mexico",
            "Portugal",
            "Ireland",
            "France",
            "Dominican-Republic",
            "Laos",
            "Ecuador",
            "Taiwan",
            "Haiti",
            "Columbia",
            "Hungary",
            "Guatemala",
            "Nicaragua",
            "Scotland",
            "Thailand",
            "Yugoslavia",
            "El-Salvador",
            "Trinadad&Tobago",
            "Peru",
            "Hong",
            "Holand-Netherlands",
        ),
        "income": (">50K", "<=50K"),
    }
)
"""The declared values of each column that is not a number, as ``adult.names`` lists them."""

_PARTS = ("adult.data.gz", "adult.test.gz")
_MISSING = "?"


def load_adult() -> Table:
    """All records, the published training and test parts one after the other.

    >>> from reticent.data import load_adult
    >>> load_adult()["education"][:2]
    ('Bachelors', 'Bachelors')
    """
    records = [record for part in _PARTS for record in _records(part)]
    columns = zip(*records, strict=True)
    return Table(
        {name: _column(name, cells) for name, cells in zip(ADULT_COLUMNS, columns, strict=True)}
    )


def _records(part: str) -> Iterator[list[str]]:
    packed = (resources.files("reticent.data") / "bundled" / part).read_bytes()
    lines = io.StringIO(gzip.decompress(packed).decode("ascii"))
    for cells in csv.reader(lines, skipinitialspace=True):
        if len(cells) == len(ADULT_COLUMNS):  # not an empty line, nor the remark atop adult.test
            yield cells


def _column(name: str, cells: tuple[str, ...]) -> list[Cell]:
    if name not in ADULT_CATEGORIES:
        return [None if cell == _MISSING else int(cell) for cell in cells]
    # the test part ends its labels with a full stop; equal texts are kept once
    return [None if cell == _MISSING else sys.intern(cell.rstrip(".")) for cell in cells]
