"""Frames of every library: read alike, made alike, and nothing of them in an error."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from reticent.data.frame_tables import Interactions, graph_of, people_of
from reticent.data.frames import Frame, plain_cells
from reticent.data.interactions import Columns, TableError, read_profiles
from reticent.data.profiles import FULL_WEIGHT, Profiles
from reticent.errors import ParameterError

CANARY = "canary-4471"
Maker = Callable[[Mapping[str, Sequence[Any]]], Any]


def pandas_frame(columns: Mapping[str, Sequence[Any]]) -> Any:
    return pandas.DataFrame(dict(columns))


def pandas_nullable(columns: Mapping[str, Sequence[Any]]) -> Any:
    return pandas_frame(columns).convert_dtypes()


def pandas_arrow(columns: Mapping[str, Sequence[Any]]) -> Any:
    return pandas_frame(columns).convert_dtypes(dtype_backend="pyarrow")


def polars_frame(columns: Mapping[str, Sequence[Any]]) -> Any:
    return polars.DataFrame(dict(columns), strict=False)


def arrow_table(columns: Mapping[str, Sequence[Any]]) -> Any:
    return pyarrow.table(dict(columns))


def arrow_batch(columns: Mapping[str, Sequence[Any]]) -> Any:
    return pyarrow.record_batch(dict(columns))


MAKERS = [pandas_frame, pandas_nullable, pandas_arrow, polars_frame, arrow_table, arrow_batch]
every_kind = pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)


def as_lists(frame: Any) -> dict[Any, list[Any]]:
    """The columns of any frame as plain values, without the help of what is tested."""
    if hasattr(frame, "to_pydict"):
        return frame.to_pydict()
    if hasattr(frame, "to_dicts"):
        return frame.to_dict(as_series=False)
    return {name: frame[name].tolist() for name in frame.columns}


def types(frame: Any) -> list[str]:
    if hasattr(frame, "schema") and hasattr(frame, "num_rows"):
        return [str(kind) for kind in frame.schema.types]
    kinds = frame.dtypes if isinstance(frame.dtypes, list) else frame.dtypes.tolist()
    return [str(kind) for kind in kinds]


LINES = {
    "user": ["ann", "ann", "bob", None, "eve", ""],
    "item": ["Heat", "Alien", "Heat", "Up", None, "Up"],
    "weight": [1.0, 0.5, None, 1.0, 1.0, 1.0],
}


def entries(profiles: Profiles) -> list[tuple[Any, Any, float]]:
    return [
        (profiles.people[u], profiles.items[i], w / FULL_WEIGHT)
        for u, i, w in zip(profiles.rows(), profiles.indices, profiles.weights, strict=True)
    ]


@every_kind
def test_a_long_table_counts_as_in_a_file(make, tmp_path) -> None:
    path = tmp_path / "t.csv"
    rows = zip(*LINES.values(), strict=True)
    text = "\n".join(",".join("" if cell is None else str(cell) for cell in row) for row in rows)
    path.write_text(f"user,item,weight\n{text}\n", encoding="utf-8")
    found = entries(Profiles.from_frame(make(LINES)))
    assert found == entries(read_profiles(path))
    assert found == [("ann", "Alien", 0.5), ("ann", "Heat", 1.0)]


@every_kind
def test_weights_that_are_no_numbers_withhold(make) -> None:
    weights = ["0.5", "much", None, "nan", "7", "-1"]
    frame = make({"user": list("abcdef"), "item": ["x"] * 6, "weight": weights})
    profiles = Profiles.from_frame(frame)
    assert entries(profiles) == [("a", "x", 0.5), ("e", "x", 1)]


@every_kind
def test_a_column_of_text_is_no_column_of_weights(make) -> None:
    frame = make({"user": ["a", "b"], "item": ["x", "x"], "weight": [CANARY, None]})
    with pytest.raises(ParameterError, match="numbers from 0 to 1") as refused:
        Profiles.from_frame(frame)
    assert CANARY not in str(refused.value)


@every_kind
def test_whole_numbers_stay_names_whether_or_not_one_is_missing(make) -> None:
    large = 2**40 + 1
    full = make({"user": [large, 7], "item": [1, 2]})
    gap = make({"user": [large, 7, None], "item": [1, 2, 2]})
    assert list(Profiles.from_frame(full).people) == ["7", str(large)]
    assert entries(Profiles.from_frame(gap)) == entries(Profiles.from_frame(full))


def test_categories_are_read_as_what_they_stand_for() -> None:
    people = ["bob", "ann", None]
    plain = Profiles.from_frame(pyarrow.table({"user": people, "item": [1, 2, 3]}))
    kinds = [
        pandas.DataFrame({"user": pandas.Categorical(people), "item": [1, 2, 3]}),
        polars.DataFrame(
            {"user": polars.Series(people, dtype=polars.Categorical), "item": [1, 2, 3]}
        ),
        polars.DataFrame(
            {"user": polars.Series(people, dtype=polars.Enum(["ann", "bob"])), "item": [1, 2, 3]}
        ),
        pyarrow.table({"user": pyarrow.array(people).dictionary_encode(), "item": [1, 2, 3]}),
    ]
    for frame in kinds:
        assert entries(Profiles.from_frame(frame)) == entries(plain)


@given(
    lines=st.lists(
        st.tuples(
            st.one_of(st.none(), st.integers(0, 5)),
            st.one_of(st.none(), st.sampled_from(["", "Heat", "Up", "Ödipus"])),
            st.one_of(st.none(), st.floats(-1, 2), st.just(float("nan"))),
        ),
        max_size=12,
    )
)
@settings(deadline=None, max_examples=40)
def test_the_same_table_is_the_same_profiles_in_every_library(lines) -> None:
    who, what, weight = (list(part) for part in zip(*lines, strict=True)) if lines else ([],) * 3
    table = pyarrow.table(
        {
            "user": pyarrow.array(who, pyarrow.int64()),
            "item": pyarrow.array(what, pyarrow.string()),
            "weight": pyarrow.array(weight, pyarrow.float64()),
        }
    )
    kinds = [table, table.to_pandas(), polars.from_arrow(table)]
    known = [(u, i, w) for u, i, w in lines if u is not None and i]
    expected = entries(
        Profiles.of([u for u, _, _ in known], [i for _, i, _ in known], [w for _, _, w in known])
    )
    for frame in kinds:
        assert entries(Profiles.from_frame(frame)) == expected


@every_kind
@pytest.mark.parametrize(
    ("user", "item"),
    [
        ("user_id", "item_id"),
        ("userId", "movieId"),
        ("uid", "iid"),
        ("User", "ITEM"),
        ("customer_id", "product_id"),
    ],
)
def test_the_usual_names_are_found(make, user, item) -> None:
    frame = make({user: [7, 8], item: [1, 2], "rating": [0.2, 0.4], "timestamp": [3, 4]})
    lines = Interactions.of(frame)
    assert (lines.user, lines.item, lines.weighted) == (user, item, False)
    assert entries(lines.profiles) == [("7", "1", 1.0), ("8", "2", 1.0)]  # a rating is no weight


def test_the_usual_names_are_found_in_files(tmp_path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("userId,movieId,rating\n1,10,0.5\n", encoding="utf-8")
    told: list[str] = []
    assert entries(read_profiles(path, notice=told.append)) == [("1", "10", 1.0)]
    assert "no column of weights" in told[0]
    with pytest.raises(TableError, match="no column called 'user'"):
        read_profiles(path, Columns.parse("user,item"))  # who names a column means that one


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        (("user_id", "uid", "item"), "more than one column for the user: user_id, uid"),
        (("user", "artist", "track"), "more than one column for the item: artist, track"),
        (("who", "item", "x"), "no column called 'user'; if it has another name: columns="),
        (("user", "USER ", "item"), "more than one column called 'user'"),
    ],
)
def test_what_is_not_clear_is_refused(names, problem) -> None:
    with pytest.raises(TableError, match=problem):
        Profiles.from_frame(arrow_table({name: [CANARY] for name in names}))


def test_a_column_of_anything_names_what_it_can() -> None:
    cells = ["ann", np.int64(7), 7.0, None, float("nan"), ["list"], "", CANARY]
    frame = pandas.DataFrame({"user": pandas.Series(cells, dtype=object), "item": list(range(8))})
    assert list(Profiles.from_frame(frame).people) == ["7", "ann", CANARY]


def test_a_number_and_its_text_are_one_name() -> None:
    """As columns are whose type was guessed piece by piece: nobody becomes two people."""
    cells = pandas.Series([7, "7", 7.0, np.int64(7), "ann"], dtype=object)
    items = pandas.Series([1, "1", "1", "2", 1], dtype=object)
    profiles = Profiles.from_frame(pandas.DataFrame({"user": cells, "item": items}))
    assert entries(profiles) == [("7", "1", 1.0), ("7", "2", 1.0), ("ann", "1", 1.0)]


@every_kind
def test_a_missing_value_that_is_chosen_is_missing_and_no_text(make) -> None:
    frame = make({"t": ["a", None], "n": [1, None]})
    held = Frame.of(frame)
    codes = np.array([1, 0])
    made = held.made(
        {"t": held.chosen("t", ["a", None], codes), "n": held.chosen("n", [None, 2], codes)},
        rows=True,
    )
    lists = as_lists(made)
    assert types(made) == types(frame)
    assert [str(cell) in ("None", "nan", "<NA>") for cell in lists["t"]] == [True, False]
    assert [str(cell) in ("None", "nan", "<NA>") for cell in lists["n"]] == [False, True]
    assert not any(isinstance(cell, str) and cell == "None" for cell in lists["t"])
    assert (lists["t"][1], lists["n"][0]) == ("a", 2)


def test_named_columns_win() -> None:
    frame = arrow_table({"reader": ["ann"], "book": ["Emma"], "wish": [0.25], "user": ["x"]})
    profiles = Profiles.from_frame(frame, Columns("reader", "book", "wish"))
    assert entries(profiles) == [("ann", "Emma", 0.25)]


def frames_that_are_none() -> list[Any]:
    from datetime import date

    return [
        {"user": [CANARY], "item": [1]},
        [[CANARY, 1]],
        np.array([[CANARY, 1]]),
        None,
        polars.LazyFrame({"user": [CANARY], "item": [1]}),
        pyarrow.table({CANARY: [1]}),
        pyarrow.table({"user": [date(2001, 4, 4)], "item": [1]}),
        pyarrow.table({"user": [[CANARY]], "item": [1]}),
        pyarrow.table({"user": [CANARY], "item": [1], "weight": [date(2001, 4, 4)]}),
        pyarrow.Table.from_arrays([pyarrow.array([CANARY])] * 2, names=[CANARY, CANARY]),
    ]


@pytest.mark.parametrize("which", range(10))
def test_errors_speak_of_the_form_only(which) -> None:
    with pytest.raises(ParameterError) as caught:
        Profiles.from_frame(frames_that_are_none()[which])
    assert CANARY not in str(caught.value)
    assert "2001" not in str(caught.value)


@every_kind
def test_lists_come_back_in_the_kind_given(make) -> None:
    frame = make({"user_id": [7, 7, 9], "item_id": ["Heat", "Up", "Up"]})
    lines = Interactions.of(frame)
    made = lines.items(np.array([[1, -1], [0, 1]]), np.array([[0.5, 0.0], [2.0, 1.0]]))
    assert type(made) is type(frame)
    assert as_lists(made) == {
        "user_id": [7, 9, 9],
        "rank": [1, 1, 2],
        "item_id": ["Up", "Heat", "Up"],
        "score": [0.5, 2.0, 1.0],
    }
    assert [types(made)[0], types(made)[2]] == types(frame)
    peers = as_lists(lines.peers(np.array([[1], [0]]), np.array([[0.5], [0.5]])))
    assert peers == {"user_id": [7, 9], "rank": [1, 1], "peer": [9, 7], "score": [0.5, 0.5]}
    wide = lines.by_person(np.array([[1.0, 2.0], [3.0, 4.0]]), ("Crime", "Drama"))
    assert as_lists(wide) == {"user_id": [7, 9], "Crime": [1.0, 3.0], "Drama": [2.0, 4.0]}


@every_kind
def test_a_frame_without_lines(make) -> None:
    full = make({"user": ["ann"], "item": ["Heat"]})
    empty = full.slice(0, 0) if hasattr(full, "slice") else full.iloc[:0]
    lines = Interactions.of(empty)
    assert len(lines.profiles) == 0
    made = lines.by_person(np.empty((0, 1)), ("Drama",))
    assert type(made) is type(full)
    assert as_lists(made) == {"user": [], "Drama": []}


@every_kind
def test_an_attribute_called_like_the_person_is_refused(make) -> None:
    lines = Interactions.of(make({"user": ["ann"], "item": ["Heat"]}))
    with pytest.raises(ParameterError, match="person"):
        lines.by_person(np.zeros((1, 1)), ("user",))


@every_kind
def test_a_table_of_people_is_text_as_in_a_file(make) -> None:
    people = people_of(make({" Town": ["Ulm", None], "age": [37, None], "share": [0.5, 1.0]}))
    assert {name: held.tolist() for name, held in people.columns.items()} == {
        "Town": ["Ulm", ""],
        "age": ["37", ""],
        "share": ["0.5", "1"],
    }
    assert CANARY not in repr(people_of(make({"x": [CANARY]})))


@every_kind
def test_edges(make) -> None:
    graph = graph_of(make({"from": [3, 1, None, 1], "to": [1, 3, 2, 2]}))
    assert (graph.size, graph.n_edges, list(graph.names or ())) == (3, 2, ["1", "2", "3"])
    named = graph_of(make({"a": ["x", "", "y"], "b": ["y", "x", None]}), columns=("A", "b"))
    assert (named.size, named.n_edges) == (2, 1)
    with pytest.raises(TableError, match="source,target"):
        graph_of(make({CANARY: [1], "b": [2]}))


@every_kind
def test_columns_keep_their_type_if_it_holds_the_values(make) -> None:
    frame = make({"n": [1, 2], "t": ["a", "b"], "x": [0.5, 1.5]})
    held = Frame.of(frame)
    codes = np.array([1, 0])
    same = {
        name: held.chosen(name, values, codes)
        for name, values in (("n", [5, 6]), ("t", ["c", "d"]), ("x", [2, 2.5]))
    }
    made = held.made(same, rows=True)
    assert types(made) == types(frame)
    assert as_lists(made) == {"n": [6, 5], "t": ["d", "c"], "x": [2.5, 2.0]}
    other = held.made({"n": held.chosen("n", ["1-2", "3-4"], codes)}, rows=True)
    assert as_lists(other) == {"n": ["3-4", "1-2"]}
    back = held.made({"n": held.chosen("n", ["1", "2"], codes)}, rows=True)
    assert as_lists(back) == {"n": [2, 1]}
    gaps = held.made({"t": held.chosen("t", ["c"], np.array([-1, 0]), gaps=True)}, rows=True)
    missing, there = as_lists(gaps)["t"]
    assert there == "c"
    assert str(missing) in ("None", "nan", "<NA>")


def test_the_type_of_a_column_tells_nothing_that_was_drawn() -> None:
    frame = pandas_frame({"n": [1, 2]})
    held = Frame.of(frame)
    kinds = {
        str(held.made({"n": held.chosen("n", [1, 2], codes, gaps=True)}, rows=True)["n"].dtype)
        for codes in (np.array([0, 1]), np.array([0, -1]))
    }
    assert kinds == {"float64"}


def test_small_integers_are_not_cut_off() -> None:
    held = Frame.of(pyarrow.table({"n": pyarrow.array([1], pyarrow.int8())}))
    made = held.made({"n": held.chosen("n", [1000], np.array([0]))}, rows=True)
    assert made.to_pydict() == {"n": [1000]}


def test_pandas_keeps_index_categories_and_the_name_of_its_columns() -> None:
    town = pandas.Categorical(["Ulm", "Bern"], categories=["Oslo", "Ulm", "Bern"])
    frame = pandas.DataFrame({"town": town}, index=pandas.Index([9, 9], name="id"))
    frame.columns.name = "facts"
    held = Frame.of(frame)
    made = held.made({"town": held.chosen("town", ["Bern", "Rome"], np.array([0, 0]))}, rows=True)
    assert made.index.equals(frame.index)
    assert made.index.name == "id"
    assert made.columns.name == "facts"
    assert made["town"].dtype.categories.tolist() == ["Oslo", "Ulm", "Bern", "Rome"]
    assert made["town"].tolist() == ["Bern", "Bern"]


def test_plain_cells_leave_alone_what_numpy_can_hold() -> None:
    numbers = pandas.DataFrame({"x": [1, 2], "y": [0.5, 1.5]})
    assert plain_cells(numbers) is numbers
    assert plain_cells(CANARY) is CANARY
    mixed = numbers.astype({"x": "Int64"}).assign(t=pandas.Categorical(["a", None]))
    plain = plain_cells(mixed)
    assert plain.to_numpy().tolist() == [[1, 0.5, "a"], [2, 1.5, None]]
    assert plain.columns.tolist() == ["x", "y", "t"]


def test_sparse_there_and_back() -> None:
    matrix = sparse.csr_array(np.array([[40.0, 0, 1.5], [0, 0, 0]]))  # confidences, as implicit
    profiles = Profiles.from_csr(matrix)
    back = profiles.to_csr()
    assert back.toarray().tolist() == [[1, 0, 1], [0, 0, 0]]  # no confidence is a weight
    held = profiles.with_weights([0.25, 0])
    assert held.to_csr().nnz == 2
    kept = held.where(held.weights > 0)
    assert entries(Profiles.from_csr(matrix, held.to_csr().data)) == entries(kept)


def test_arrays_are_not_frames_and_need_none() -> None:
    people, items = np.array([7, 7, 9]), np.array(["Heat", "Up", "Up"])
    frame = arrow_table({"user": people.tolist(), "item": items.tolist()})
    assert entries(Profiles.of(people, items)) == entries(Profiles.from_frame(frame))
