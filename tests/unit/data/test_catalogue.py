"""Catalogues: exact values, names, and files of two forms."""

from fractions import Fraction

import numpy as np
import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from reticent.data.catalogue import UNIT_BITS, Catalogue
from reticent.data.catalogue_files import read_catalogue
from reticent.data.interactions import TableError
from reticent.errors import ParameterError


def _plain(value: float) -> bool:
    return value == 0 or abs(value) > 1e-100


def exact(catalogue: Catalogue) -> list[list[Fraction]]:
    return [
        [int(unit) * step for unit, step in zip(row, catalogue.steps, strict=True)]
        for row in catalogue.dense()
    ]


@given(arrays(np.int64, (4, 3), elements=st.integers(-(2**25), 2**25)))
def test_whole_numbers_are_kept_as_they_are(matrix) -> None:
    kept = exact(Catalogue.of(matrix))
    assert kept == [[Fraction(int(value)) for value in row] for row in matrix]


@given(
    arrays(np.float64, (4, 2), elements=st.floats(-1e6, 1e6, allow_subnormal=False).filter(_plain))
)
def test_definition_1_catalogue(matrix) -> None:
    catalogue = Catalogue.of(matrix)
    largest = np.abs(matrix).max(axis=0)
    for row, given_row in zip(exact(catalogue), matrix, strict=True):
        for value, true, most in zip(row, given_row, largest, strict=True):
            assert abs(value - Fraction(float(true))) <= Fraction(float(most)) / 2**UNIT_BITS
    assert np.abs(catalogue.units).max(initial=0) <= 1 << UNIT_BITS


def test_a_common_divisor_becomes_the_step() -> None:
    catalogue = Catalogue.of([[10, 0.5], [-20, 0.25], [0, 0]])
    assert catalogue.steps == (10, Fraction(1, 4))
    assert catalogue.dense().tolist() == [[1, 2], [-2, 1], [0, 0]]


def test_dense_and_sparse_are_the_same() -> None:
    matrix = np.array([[0, 1.5], [2, 0], [0, 0]])
    dense, thin = Catalogue.of(matrix), Catalogue.of(sparse.csr_array(matrix))
    assert dense.sha256 == thin.sha256
    assert np.array_equal(thin.values(), matrix)


def test_attributes_that_no_item_has_are_named() -> None:
    catalogue = Catalogue.of([[1, 0, 0], [1, 0, 1]], attributes=("Drama", "unknown", "War"))
    assert catalogue.empty == ("unknown",)


def test_only_some_attributes_in_another_order() -> None:
    catalogue = Catalogue.of([[1, 2, 3], [0, 0, 6]], attributes=tuple("abc"))
    some = catalogue.only(["c", "a"])
    assert some.values().tolist() == [[3, 1], [6, 0]]
    with pytest.raises(ParameterError, match="attributes of the catalogue"):
        catalogue.only(["d"])


@pytest.mark.parametrize(
    ("matrix", "names", "problem"),
    [
        ([[1, np.nan]], None, "finite"),
        ([1, 2], None, "one row per item"),
        ([[1, 2]], ("a",), "2 names"),
        ([[1, 2]], ("a", "a"), "distinct"),
        ([[1e300]], None, "within"),
    ],
)
def test_wrong_matrices(matrix, names, problem) -> None:
    with pytest.raises(ParameterError, match=problem):
        Catalogue.of(matrix, attributes=names)


LONG = "item,attribute\nHeat,Crime\nHeat,Drama\nUp,Drama\nNothing,\n"
WIDE = "item,Crime,Drama\nHeat,1,1\nUp,,1\nNothing,0,false\n"


@pytest.mark.parametrize("text", [LONG, WIDE])
def test_both_forms_give_the_same_catalogue(tmp_path, text) -> None:
    path = tmp_path / "films.csv"
    path.write_text(text, encoding="utf-8")
    catalogue = read_catalogue(path)
    assert catalogue.items == ("Heat", "Up", "Nothing")
    assert catalogue.attributes == ("Crime", "Drama")
    assert catalogue.values().tolist() == [[1, 1], [0, 1], [0, 0]]


def test_values_and_parquet(tmp_path) -> None:
    table = arrow.table({"item": ["a", "b"], "attribute": ["x", "x"], "value": [0.5, -2.0]})
    parquet.write_table(table, tmp_path / "films.parquet")
    assert read_catalogue(tmp_path / "films.parquet").values().tolist() == [[0.5], [-2.0]]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is empty"),
        ("film,genre\n", "must have columns"),
        ("item,attribute,weight\na,b,1\n", "must have columns item and attribute"),
        ("item,attribute\na,b\na,b\n", "twice, in row 3"),
        ("item,attribute\na,\n", "no item with an attribute"),
        ("item,x\n", "has no items"),
        ("item,x\na,1\na,1\n", "names an item twice"),
        ("item,x\na,one\n", "no number in row 2"),
        ("item,x\na,nan\n", "no number in row 2"),
        ("item,x,X\na,1,1\n", "two columns"),
        ("item,x\na,1,2\n", "as many fields"),
    ],
)
def test_wrong_files(tmp_path, text, problem) -> None:
    path = tmp_path / "films.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(TableError, match=problem):
        read_catalogue(path)


def test_files_that_are_none(tmp_path) -> None:
    with pytest.raises(ParameterError, match=r"\.csv"):
        read_catalogue(tmp_path / "films.xlsx")
    (tmp_path / "films.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(TableError, match="UTF-8"):
        read_catalogue(tmp_path / "films.csv")
