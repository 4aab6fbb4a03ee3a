"""Tables of people: columns of text, ranges of numbers, and errors that show no value."""

import gzip

import numpy as np
import pyarrow
import pyarrow.parquet as parquet
import pytest

from reticent.data.interactions import TableError
from reticent.data.people_tables import in_ranges, read_people
from reticent.errors import ParameterError

CANARY = "canary-9184"
TEXT = f"user, Age ,town\nann,37, Ulm \nbob,,{CANARY}\n"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_cells_are_text_without_spaces_around(table) -> None:
    people = read_people(table)
    assert list(people.columns) == ["user", "Age", "town"]
    assert len(people) == 2
    assert people.rows(["town", "age"], {"AGE": 10}).tolist() == [["Ulm", "30-39"], [CANARY, ""]]
    assert people.only(np.array([True, False])).column("user").tolist() == ["ann"]
    assert CANARY not in repr(people)


def test_packed_and_parquet_files_hold_the_same(table) -> None:
    packed = table.with_suffix(".csv.gz")
    packed.write_bytes(gzip.compress(TEXT.encode()))
    columns = {"user": ["ann", "bob"], "Age": [37, None], "town": ["Ulm", CANARY]}
    parquet.write_table(pyarrow.table(columns), table.with_suffix(".parquet"))
    rows = read_people(table).rows(["user", "age", "town"]).tolist()
    for other in (packed, table.with_suffix(".parquet")):
        assert read_people(other).rows(["user", "age", "town"]).tolist() == rows


@pytest.mark.parametrize(
    ("name", "held", "says"),
    [
        ("a.txt", b"x", "a file named .csv, .csv.gz, .parquet"),
        ("a.csv", b"", "is empty"),
        ("a.csv", b"age,town\n", "has no people"),
        ("a.csv", b"age,Age\n1,2\n", "two columns of the same name"),
        ("a.csv", b"age;town\n1;Ulm\n", "has a single column: is it separated by semicolons?"),
        ("a.csv", b"age\ttown\n1\tUlm\n", "is it separated by tabs?"),
        ("a.csv", b"age,town\n1\n", "as many fields in each line"),
        ("a.csv", f"age,town\n{CANARY},\xff".encode("latin-1"), "text in UTF-8"),
        ("a.csv.gz", b"no gzip", "text in UTF-8"),
        ("a.csv.gz", gzip.compress(TEXT.encode(), mtime=0)[:-14], "text in UTF-8"),
        ("a.csv.gz", gzip.compress(b"", mtime=0)[:10] + b"\xff" * 30, "text in UTF-8"),
        ("a.parquet", b"PAR1 no parquet PAR1", "Parquet"),
    ],
)
def test_a_bad_file_is_an_error_about_its_form(tmp_path, name, held, says) -> None:
    (tmp_path / name).write_bytes(held)
    with pytest.raises(ParameterError) as error:
        read_people(tmp_path / name)
    assert says in str(error.value)
    assert CANARY not in str(error.value)


def test_a_directory_is_no_table(tmp_path) -> None:
    with pytest.raises(TableError, match="is a directory"):
        read_people(tmp_path)


def test_a_missing_column_is_named_as_typed_and_the_header_is_not_shown(tmp_path) -> None:
    headless = tmp_path / "headless.csv"
    headless.write_text(f"{CANARY},37\nbob,40\n", encoding="utf-8")
    with pytest.raises(TableError) as error:
        read_people(headless).column("income")
    assert str(error.value) == (
        "headless.csv has no column called 'income'; its first line must be the header, and names "
        "are compared letter by letter"
    )


def test_a_misspelt_column_is_recognised(table) -> None:
    with pytest.raises(TableError, match="letter by letter"):
        read_people(table).column("twon")


@pytest.mark.parametrize(
    ("text", "width", "range_"),
    [
        ("37", 10, "30-39"),
        ("37.9", 10, "30-39"),
        ("40", 10, "40-49"),
        ("0", 10, "0-9"),
        ("-1", 10, "-10 to -1"),
        ("5", 1, "5"),
        ("0.3", 0.25, "0.25 to below 0.5"),
        ("30-39", 10, "30-39"),
        ("", 10, ""),
        ("?", 10, "?"),
        ("nan", 10, "nan"),
        ("1e400", 10, "1e400"),
        ("1e300", 1e-9, "1e300"),
    ],
)
def test_numbers_become_ranges_and_other_text_stays(text, width, range_) -> None:
    assert in_ranges(np.array([text]), width).tolist() == [range_]


@pytest.mark.parametrize("width", [0, -1, float("nan"), float("inf")])
def test_a_width_is_positive(width) -> None:
    with pytest.raises(ParameterError, match="width must be positive"):
        in_ranges(np.array(["1"]), width)
