"""Columns as they are declared: codes of whatever may come, and nothing of it in an error."""

import datetime
import json
from decimal import Decimal

import numpy as np
import pytest

from reticent.errors import ParameterError
from reticent.tasks.columns import Column, encode


def of_objects(*values) -> np.ndarray:
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


def test_categories_that_are_words() -> None:
    pets = Column("pet", categories=("cat", "dog", "owl"))
    assert pets.size == 4
    assert not pets.ordered
    for values in (np.array(["dog", "fish", "cat"]), of_objects("dog", "fish", "cat")):
        assert pets.codes(values).tolist() == [1, 3, 0]
        assert pets.codes(values).dtype == np.uint16
    assert pets.codes(of_objects(None, float("nan"), "", " cat", "Cat", 1)).tolist() == [3] * 6


@pytest.mark.parametrize(
    "categories", [(1, 2), (1.0, 2.0), ("1", "2"), (np.int64(1), np.float64(2))]
)
def test_equal_numbers_are_one_category_however_they_are_held(categories) -> None:
    column = Column("x", categories=categories)
    for values in (
        np.array([1, 2, 3]),
        np.array([1.0, 2.0, np.nan]),
        np.array([1, 2, 3], dtype=np.uint8),
        np.array(["1", "2", "1.5"]),
        of_objects(1, 2.0, None),
        of_objects("1", np.float32(2), Decimal("1.5")),
    ):
        assert column.codes(values).tolist() == [0, 1, 2]


def test_truth_values_are_0_and_1() -> None:
    column = Column("x", categories=(False, True))
    assert column.codes(np.array([True, False])).tolist() == [1, 0]
    assert column.codes(of_objects(True, 0, 1.0, "1", "True")).tolist() == [1, 0, 1, 1, 2]
    assert Column("x", categories=(0, 1)).codes(np.array([True, False])).tolist() == [1, 0]


def test_fractions_are_categories_too() -> None:
    column = Column("x", categories=(0.5, -0.0, 1e300))
    assert column.codes(np.array([0.5, 0.0, 1e300, 0.25, np.inf, -np.inf])).tolist() == [
        0,
        1,
        2,
        3,
        3,
        3,
    ]


def test_numbers_fall_into_bins_and_what_is_outside_into_the_nearest() -> None:
    age = Column.numbers("age", (0, 100), bins=4)
    assert age.ordered
    assert age.size == 5  # with that of the missing
    values = [-np.inf, -1, 0, 24.999, 25, 50, 99, 100, 1e300, np.inf]
    assert age.codes(np.array(values)).tolist() == [0, 0, 0, 0, 1, 2, 3, 3, 3, 3]
    assert age.codes(np.array([3, 30], dtype=np.int8)).tolist() == [0, 1]
    assert age.codes(np.array([True])).tolist() == [0]


def test_what_is_no_number_is_missing() -> None:
    age = Column.numbers("age", (0, 100), bins=4)
    odd = of_objects(None, "x", float("nan"), "", [1], 1j, datetime.date(2020, 1, 1), b"\xff")
    assert age.codes(odd).tolist() == [4] * 8
    assert age.codes(np.array([np.nan, 30.0])).tolist() == [4, 1]
    assert age.codes(of_objects("30", " 60 ", Decimal(80))).tolist() == [1, 2, 3]
    assert age.codes(np.array(["30", "nan", "?"])).tolist() == [1, 4, 4]
    assert age.codes(np.array(["2020-01-01"], dtype="datetime64[D]")).tolist() == [4]


def test_missing_has_a_code_that_no_value_has() -> None:
    """However many bins and categories: it is not merged with the last of them."""
    for bins in (1, 2, 32):
        column = Column.numbers("x", (0, 1), bins=bins)
        values = np.linspace(-1, 2, 200)
        assert set(column.codes(values).tolist()) == set(range(bins))
        assert column.codes(np.array([np.nan])).tolist() == [bins] == [column.size - 1]
    kinds = Column("k", categories=tuple("abc"))
    assert set(kinds.codes(np.array(list("abc"))).tolist()) == {0, 1, 2}
    assert kinds.codes(np.array(["z"])).tolist() == [3] == [kinds.size - 1]


def test_edges_are_taken_as_they_are() -> None:
    column = Column.numbers("gain", (0, 1, 10, 1000), bins=32)
    assert column.edges == (0.0, 1.0, 10.0, 1000.0)
    assert column.size == 4
    assert column.codes(np.array([0, 1, 9.99, 10, 5000, np.nan])).tolist() == [0, 1, 1, 2, 2, 3]


def test_one_bin_and_one_category() -> None:
    assert Column.numbers("x", (0, 1), bins=1).codes(np.array([0.5, 7, np.nan])).tolist() == [
        0,
        0,
        1,
    ]
    assert Column("x", categories=("a",)).codes(np.array(["a", "b"])).tolist() == [0, 1]
    empty = np.array([], dtype=float)
    assert Column.numbers("x", (0, 1), bins=1).codes(empty).tolist() == []
    assert Column("x", categories=("a",)).codes(np.array([], dtype="U1")).tolist() == []


def test_a_column_of_one_value() -> None:
    assert Column.numbers("x", (0, 1), bins=4).codes(np.full(5, 0.3)).tolist() == [1] * 5


def test_codes_in_words() -> None:
    age = Column.numbers("age", (0, 100), bins=4)
    assert [age.told(code) for code in (0, 3, 4)] == ["0 to 25", "75 to 100", "missing"]
    pets = Column("pet", categories=("cat", 7))
    assert [pets.told(code) for code in range(3)] == ["cat", "7", "missing"]


@pytest.mark.parametrize(
    "column",
    [
        Column("a", categories=("x", 1, 2.5)),
        Column.numbers("b", (0, 1), bins=3),
        Column("c", edges=(0.0, 0.1, 5.0)),
    ],
    ids=["categories", "bins", "edges"],
)
def test_plain_data_make_an_equal_column(column) -> None:
    assert Column.of_plain(json.loads(json.dumps(column.plain()))) == column


@pytest.mark.parametrize(
    "make",
    [
        lambda: Column("x"),
        lambda: Column("x", categories=("a",), edges=(0.0, 1.0)),
        lambda: Column("x", categories=("a", "b", "a")),
        lambda: Column("x", categories=(1, 1.0)),
        lambda: Column("x", categories=(1, "1")),
        lambda: Column("x", categories=(True, 1)),
        lambda: Column("x", categories=tuple(range(1 << 15))),
        lambda: Column("x", edges=(0.0,)),
        lambda: Column("x", edges=(0.0, 0.0)),
        lambda: Column("x", edges=(1.0, 0.0)),
        lambda: Column("x", edges=(0.0, float("inf"))),
        lambda: Column("x", edges=(0.0, float("nan"))),
        lambda: Column.numbers("x", (0,), bins=3),
        lambda: Column.numbers("x", (1, 0), bins=3),
        lambda: Column.numbers("x", (0, float("nan")), bins=3),
        lambda: Column.numbers("x", (0, 2, 1, 3), bins=3),
        lambda: Column.numbers("x", (0, 1), bins=0),
        lambda: Column.numbers("x", (0, 1), bins=2.5),
        lambda: Column.numbers("x", (0, 1), bins=1 << 15),
        lambda: Column.numbers("x", (0, 5e-324), bins=3),
    ],
)
def test_wrong_declarations(make) -> None:
    with pytest.raises(ParameterError):
        make()


def test_a_table_is_coded_column_by_column() -> None:
    columns = (Column.numbers("x", (0, 1), bins=2), Column("k", categories=("a", "b")))
    codes = encode(columns, [np.array([0.1, 0.9, np.nan]), np.array(["b", "?", "a"])])
    assert codes.tolist() == [[0, 1], [1, 2], [2, 0]]
    assert encode(columns, [np.array([]), np.array([])]).shape == (0, 2)


@pytest.mark.parametrize(
    "column", [Column.numbers("x", (0, 1), bins=2), Column("k", categories=(1, 2))], ids=["n", "k"]
)
def test_whole_numbers_beyond_all_floats_do_not_raise(column) -> None:
    assert column.codes(of_objects(10**5000, 1)).tolist()[0] in range(column.size)


def test_missing_values_are_no_words() -> None:
    column = Column("x", categories=("nan", "None", "a"))
    assert column.codes(of_objects(float("nan"), None, "a")).tolist() == [3, 3, 2]
    assert column.codes(np.array([np.nan])).tolist() == [3]


@pytest.mark.parametrize("bounds", [("a", "b"), (None, 1), 5])
def test_bounds_that_are_no_numbers_are_named(bounds) -> None:
    try:
        Column.numbers("x", bounds, bins=3)
    except ParameterError:
        return
    except (TypeError, ValueError) as error:
        pytest.fail(str(error))


def by_search(edges, values) -> list[int]:
    """How many inner edges are not above each value; one more bin for what is no number."""
    found = np.searchsorted(np.array(edges[1:-1]), values, side="right")
    return np.where(np.isnan(values), len(edges) - 1, found).tolist()


@pytest.mark.parametrize("seed", range(4))
def test_bins_are_those_of_a_search_to_the_last_bit(seed) -> None:
    """Of random edges, near and far, and of the floats next to each of them."""
    rng = np.random.default_rng(seed)
    for scale in (1e-300, 1e-9, 1.0, 1e15, 1e300):
        for made in (
            rng.uniform(-scale, scale, 40),
            scale * rng.uniform(0, 1, 9) ** 30,
            np.linspace(-scale, scale / 3, 33),
            1.0 + np.arange(5) * np.spacing(1.0),
        ):
            edges = np.unique(made)
            next_to = [np.nextafter(edges, end) for end in (-np.inf, np.inf)]
            far = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e308, -1e308, 5e-324]
            some = rng.uniform(-scale, scale, 200)
            values = np.concatenate([edges, *next_to, far, some])
            column = Column("x", edges=tuple(edges.tolist()))
            assert column.codes(values).tolist() == by_search(edges, values)


@pytest.mark.parametrize(
    "column",
    [
        Column.numbers("x", (-5, 5), bins=7),
        Column("x", categories=tuple(range(-5, 4))),
        Column("x", categories=(3, "a", 0, "nan", 10**9)),
        Column("x", categories=tuple(f"{n}" for n in range(300))),
        Column("x", categories=("a", "b", 2.5)),
    ],
    ids=["bins", "near", "far", "many", "words"],
)
def test_long_tables_are_coded_as_value_by_value(column) -> None:
    """Whatever the kind of array, and where odd values come late."""
    rng = np.random.default_rng(1)
    whole = rng.integers(-6, 6, 9000)
    reals = whole.astype(float)
    reals[8000:] = rng.choice([2.5, np.nan, 1e9, -0.0, np.inf], 1000)
    mixed = whole.astype(object)
    mixed[7000:] = rng.choice(np.array(["a", "b", None, "3", 2.5, True], dtype=object), 2000)
    for values in (whole, reals, mixed, whole.astype(np.int8), whole > 0, whole.astype(str)):
        alone = {repr(value): value for value in values.tolist()}
        of = {name: int(column.codes(of_objects(value))[0]) for name, value in alone.items()}
        exact = [of[repr(value)] for value in values.tolist()]
        assert column.codes(values).tolist() == exact
        other = Column.numbers("y", (0, 1), bins=400 if column.size > 9 else 4)
        both = encode((other, column), [np.zeros(9000), values])
        assert both[:, 1].tolist() == exact
        assert both[:, 0].tolist() == [0] * 9000
