"""Reading long tables: formats alike, bad lines withheld, bad files a sentence without data."""

import gzip
import pickle
import sys
from pathlib import Path

import numpy as np
import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from reticent.data.interactions import Columns, TableError, read_profiles
from reticent.data.profiles import FULL_WEIGHT, Profiles
from reticent.errors import MissingExtra, ParameterError

CANARY = "canary-4471"
TEXT = "user,item,weight\nann,Heat,1\nann,Alien,0.5\nbob,Heat,0.25\n"


def write(folder: Path, text: str | bytes, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def lines(profiles: Profiles) -> list[tuple[str, str, float]]:
    return [
        (profiles.people[u], str(profiles.items[i]), w / FULL_WEIGHT)
        for u, i, w in zip(profiles.rows(), profiles.indices, profiles.weights, strict=True)
    ]


EXPECTED = [("ann", "Alien", 0.5), ("ann", "Heat", 1.0), ("bob", "Heat", 0.25)]


def test_csv(tmp_path) -> None:
    assert lines(read_profiles(write(tmp_path, TEXT))) == EXPECTED


def test_gzip(tmp_path) -> None:
    path = write(tmp_path, gzip.compress(TEXT.encode()), "t.csv.gz")
    assert lines(read_profiles(path)) == EXPECTED


@pytest.mark.parametrize("kind", ["string", "large_string", "dictionary"])
def test_parquet(tmp_path, kind) -> None:
    types = {
        "string": arrow.string(),
        "large_string": arrow.large_string(),
        "dictionary": arrow.dictionary(arrow.int32(), arrow.string()),
    }
    people = arrow.array(["ann", "ann", "bob", None, "", "eve"]).cast(types[kind])
    items = arrow.array(["Heat", "Alien", "Heat", "Up", "Up", None]).cast(types[kind])
    weights = arrow.array([1.0, 0.5, 0.25, 1.0, 1.0, 1.0])
    table = arrow.table({"time": [0] * 6, "weight": weights, "item": items, "user": people})
    parquet.write_table(table, tmp_path / "t.parquet", row_group_size=2)
    assert lines(read_profiles(tmp_path / "t.parquet")) == EXPECTED


def test_parquet_of_numbers_and_odd_weights(tmp_path) -> None:
    for weights in (
        [1.0, None, float("nan"), -1.0],
        ["1", None, "much", "-1"],
        [1, None, None, -1],
    ):
        table = arrow.table({"user": [7, 7, 8, 8], "item": [1, 2, 1, 2], "weight": weights})
        parquet.write_table(table, tmp_path / "t.parquet")
        found = lines(read_profiles(tmp_path / "t.parquet"))
        assert found == [("7", "1", 1.0)]


def test_parquet_without_its_extra(tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"reticent\[arrow\]") as raised:
        read_profiles(write(tmp_path, b"", "t.parquet"))
    assert (raised.value.what, raised.value.extra) == ("reading Parquet", "arrow")


def test_matrix(tmp_path) -> None:
    matrix = sparse.csr_matrix(([1, 0.5, 0.0, np.nan, -1], ([0, 0, 1, 1, 1], [0, 1, 0, 1, 2])))
    sparse.save_npz(tmp_path / "t.npz", matrix)
    profiles = read_profiles(tmp_path / "t.npz")
    assert lines(profiles) == [("0", "0", 1.0), ("0", "1", 0.5)]  # a stored 0 withholds
    assert (profiles.people, profiles.items) == (["0", "1"], ["0", "1", "2"])
    declared = read_profiles(tmp_path / "t.npz", people=[7, 0], items=["1"])
    assert (declared.people, lines(declared)) == (["0", "7"], [("0", "1", 0.5)])


@pytest.mark.parametrize(
    ("weight", "kept"),
    [
        ("", 0),
        ("nan", 0),
        ("much", 0),
        ("-1", 0),
        ("-inf", 0),
        ("0,5", 0),
        ("1e400", 1),
        ("7", 1),
        (" 0.5 ", 0.5),
        ("9" * 5000, 1),
    ],
    ids=lambda value: str(value)[:8],
)
def test_weights_that_are_none_withhold(tmp_path, weight, kept) -> None:
    path = write(tmp_path, f'user,item,weight\nann,Heat,"{weight}"\nann,Up,1\n')
    own = [("ann", "Heat", kept)] if kept else []
    assert lines(read_profiles(path)) == [*own, ("ann", "Up", 1.0)]


@pytest.mark.parametrize("weights", [["high", "low"], ["high", ""], ["0,5", "0,7"]])
def test_a_column_of_text_is_no_column_of_weights(tmp_path, weights) -> None:
    """Types are public: refused, where one odd cell among numbers would withhold."""
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = "".join(f'{name},Heat,"{weight}"\n' for name, weight in zip("ab", weights, strict=True))
    path = write(tmp_path, "user,item,weight\n" + rows)
    with pytest.raises(TableError, match="weights that holds text, not numbers from 0 to 1") as bad:
        read_profiles(path)
    assert weights[0] not in str(bad.value)
    table = arrow.table({"user": ["a", "b"], "item": ["x", "x"], "weight": weights})
    parquet.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(ParameterError, match="weights must be numbers from 0 to 1"):
        read_profiles(tmp_path / "t.parquet")
    mixed = write(tmp_path, "user,item,weight\n" + rows + "c,Heat,1\n")
    assert lines(read_profiles(mixed)) == [("c", "Heat", 1.0)]


def test_a_column_of_dates_is_no_column_of_weights(tmp_path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    for kind in (arrow.timestamp("us"), arrow.date32(), arrow.duration("s")):
        weights = arrow.nulls(2, kind)
        table = arrow.table({"user": ["a", "b"], "item": ["x", "x"], "weight": weights})
        parquet.write_table(table, tmp_path / "t.parquet")
        with pytest.raises(ParameterError, match="numbers from 0 to 1"):
            read_profiles(tmp_path / "t.parquet")


def test_repeated_lines_keep_the_least_weight(tmp_path) -> None:
    path = write(tmp_path, TEXT + "ann,Heat,0.125\nann,Heat,1\n")
    assert lines(read_profiles(path))[1] == ("ann", "Heat", 0.125)


def test_lines_without_a_person_or_item_are_left_out(tmp_path) -> None:
    path = write(tmp_path, TEXT + "\n,Heat,1\nann,,1\n\n")
    assert lines(read_profiles(path)) == EXPECTED


def test_without_weights_everything_counts_and_that_is_said(tmp_path) -> None:
    told: list[str] = []
    path = write(tmp_path, "user,item\nann,Heat\n")
    assert lines(read_profiles(path, notice=told.append)) == [("ann", "Heat", 1.0)]
    assert told == ["t.csv has no column of weights: every item counts in full, with weight 1"]


@pytest.mark.parametrize(
    "header", ["USER,Item, Weight ", "\ufeffuser,item,weight", '"user","item","weight"']
)
def test_headers_as_programs_write_them(tmp_path, header) -> None:
    path = write(tmp_path, TEXT.replace("user,item,weight", header).replace("\n", "\r\n"))
    assert lines(read_profiles(path)) == EXPECTED


def test_other_names_of_columns(tmp_path) -> None:
    path = write(tmp_path, "stars,film,who,care\n5,Heat,ann,0.5\n")
    columns = Columns.parse("who, film, care")
    assert lines(read_profiles(path, columns)) == [("ann", "Heat", 0.5)]
    assert lines(read_profiles(path, Columns.parse("who,film"))) == [("ann", "Heat", 1.0)]


@pytest.mark.parametrize("text", ["", "user", "a,b,c,d", "a,a", "a,A,b", "a,,b", ","])
def test_columns_must_be_names(text) -> None:
    with pytest.raises(ParameterError, match="columns must be"):
        Columns.parse(text)


BAD = {
    "empty": "",
    "no header": f"{CANARY},{CANARY},1\n",
    "no item": f"user,weight\n{CANARY},1\n",
    "twice": f"user,item,item\n{CANARY},{CANARY},1\n",
    "short line": f"user,item,weight\nann,{CANARY}\n",
    "long line": f"user,item,weight\nann,{CANARY},1,2\n",
    "open quote": f'user,item,weight\nann,"{CANARY},1\n' + "x" * 200_000,
    "not text": f"user,item\n{CANARY},".encode() + b"\xff\xfe\n",
    "utf-16": f"user,item\n{CANARY},x\n".encode("utf-16"),
}


@pytest.mark.parametrize("text", BAD.values(), ids=BAD.keys())
def test_bad_files_are_named_and_nothing_in_them(tmp_path, text) -> None:
    with pytest.raises(TableError, match=r"^t.csv (must be|has|is empty)") as raised:
        read_profiles(write(tmp_path, text))
    assert CANARY not in str(raised.value)
    assert "got" not in str(raised.value)
    assert raised.value.__cause__ is None
    again = pickle.loads(pickle.dumps(raised.value))
    assert (type(again), str(again)) == (TableError, str(raised.value))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "t.csv is empty"),
        (
            f"{CANARY},item\n",
            "t.csv has no column called 'user'; if it has another name: --columns NAME,NAME,NAME",
        ),
        ("user,item,item\n", "t.csv has more than one column called 'item'"),
    ],
    ids=["empty", "no user", "twice"],
)
def test_what_is_wrong_is_said(tmp_path, text, sentence) -> None:
    with pytest.raises(TableError) as raised:
        read_profiles(write(tmp_path, text))
    assert str(raised.value) == sentence


def test_a_directory(tmp_path) -> None:
    with pytest.raises(TableError, match="is a directory"):
        read_profiles(tmp_path)


@pytest.mark.parametrize("name", ["t.csv.gz", "t.parquet", "t.npz"])
@pytest.mark.parametrize(
    "held", [b"", CANARY.encode(), b"\x1f\x8bxx", b"PK\x03\x04xx", b"PAR1PAR1"]
)
def test_bad_archives(tmp_path, name, held) -> None:
    with pytest.raises(TableError, match=f"^{name} (must be |is empty)") as raised:
        read_profiles(write(tmp_path, held, name))
    assert CANARY not in str(raised.value)


def test_a_cut_archive(tmp_path) -> None:
    packed = gzip.compress((TEXT * 1000).encode())
    with pytest.raises(ParameterError, match="packed by gzip"):
        read_profiles(write(tmp_path, packed[: len(packed) // 2], "t.csv.gz"))


@pytest.mark.parametrize("wrong", ["column", "row", "format", "pickle", "array", "complex"])
def test_bad_matrices(tmp_path, wrong) -> None:
    path = tmp_path / "t.npz"
    parts = {"format": b"csr", "shape": (2, 3), "data": np.ones(2), "indptr": [0, 1, 2]}
    parts["indices"] = np.array([0, 3 if wrong == "column" else 1])
    if wrong == "row":
        parts["indptr"] = [0, 9, 2]
    if wrong == "format":
        parts["format"] = b"dia"
    if wrong == "pickle":
        parts["data"] = np.array([CANARY, None], dtype=object)
    if wrong == "complex":
        parts["data"] = np.ones(2, dtype=complex)
    with path.open("wb") as file:
        if wrong == "array":
            np.save(file, np.ones(3))
        else:
            np.savez(file, **parts)
    with pytest.raises(ParameterError, match="t.npz must be a CSR matrix") as raised:
        read_profiles(path)
    assert CANARY not in str(raised.value)


def test_files_that_are_not_there_or_have_another_name(tmp_path) -> None:
    for name in ("t.csv", "t.csv.gz", "t.parquet", "t.npz"):
        with pytest.raises(OSError, match=name):
            read_profiles(tmp_path / name)
    with pytest.raises(ParameterError, match="table must be a file named .csv"):
        read_profiles(tmp_path / "t.xls")


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(tmp_path_factory, held) -> None:
    path = write(tmp_path_factory.getbasetemp(), b"user,item,weight\n" + held, "any.csv")
    try:
        profiles = read_profiles(path)
    except ParameterError as error:
        assert str(error).startswith(("any.csv must be ", "any.csv has a column of weights that"))
    else:
        assert ((profiles.weights >= 0) & (profiles.weights <= FULL_WEIGHT)).all()


def test_many_lines_are_read_whatever_one_field_holds(tmp_path) -> None:
    body = "".join(f"p{i % 50_021},film {i % 20_011},0.5\n" for i in range(200_000))
    path = write(tmp_path, f"user,item,weight\n{body}p,{'x' * 100_000},{'9' * 100_000}\n")
    profiles = read_profiles(path)
    assert (len(profiles), profiles.n_items) == (50_022, 20_012)
