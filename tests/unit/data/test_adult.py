"""The bundled sample is the published one: counts, declared categories, licence."""

import hashlib
import subprocess
import sys
from importlib import resources

import pytest

from reticent.data import ADULT_CATEGORIES, ADULT_COLUMNS, ADULT_SIZE, Table, load_adult

BUNDLED = resources.files("reticent.data") / "bundled"


@pytest.fixture(scope="module")
def adult() -> Table:
    return load_adult()


def test_the_published_numbers(adult: Table) -> None:
    assert len(adult) == ADULT_SIZE == 48_842
    records = zip(*(adult[name] for name in ADULT_COLUMNS), strict=True)
    assert sum(None not in record for record in records) == 45_222


def test_the_published_shares_of_income(adult: Table) -> None:
    rich, poor = adult.counts("income", ADULT_CATEGORIES["income"])
    assert rich + poor == ADULT_SIZE
    assert round(100 * rich / ADULT_SIZE, 2) == 23.93  # adult.names


@pytest.mark.parametrize("column", ADULT_CATEGORIES)
def test_every_value_is_a_declared_one(adult: Table, column: str) -> None:
    assert set(adult[column]) - {None} <= set(ADULT_CATEGORIES[column])


def test_the_declared_lists_are_those_of_the_names_file() -> None:
    sizes = {name: len(values) for name, values in ADULT_CATEGORIES.items()}
    assert sizes == {
        "workclass": 8,
        "education": 16,
        "marital-status": 7,
        "occupation": 14,
        "relationship": 6,
        "race": 5,
        "sex": 2,
        "native-country": 41,
        "income": 2,
    }


@pytest.mark.parametrize("column", [c for c in ADULT_COLUMNS if c not in ADULT_CATEGORIES])
def test_the_other_columns_are_numbers(adult: Table, column: str) -> None:
    assert all(type(value) is int for value in adult[column])


def test_the_files_are_as_published() -> None:
    digests = {
        name: hashlib.sha256((BUNDLED / name).read_bytes()).hexdigest()
        for name in ("adult.data.gz", "adult.test.gz")
    }
    assert digests == {
        "adult.data.gz": "171e93e0be014947c678f8e0fd17485ec99e8c273d1a7a0b506bb9139e95800b",
        "adult.test.gz": "88304f2ff4ca392efdb76452aa377e96dde27622ff90070ed0913c464bb7aa32",
    }


def test_the_licence_is_honoured() -> None:
    notice = (BUNDLED / "ATTRIBUTION.md").read_text(encoding="utf-8")
    for words in ("Becker, B. & Kohavi, R. (1996)", "10.24432/C5XW20", "CC BY 4.0"):
        assert words in notice


def test_loading_needs_the_standard_library_only() -> None:
    code = "from reticent.data import load_adult; load_adult(); import sys; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numpy", "scipy", "pandas", "pydantic"} & set(run.stdout.split())
