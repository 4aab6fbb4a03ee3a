"""What files, frames and arrays are to a query; cells never raise and are never said."""

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

import reticent as rt
from reticent.errors import ReticentError
from reticent.noise import Source
from reticent.queries.binding import Given

PAY = [20.0, 35.0, 41.0, 58.0, 90.0]
QUERY = rt.Quantile(epsilon=2, upper=100)
CANARY = "canary-4711"


def answer(data, **more) -> float:
    return QUERY.release(data, source=Source.seeded(3), **more).value


def test_whatever_holds_the_values_the_answer_is_the_same(tmp_path) -> None:
    frame = pandas.DataFrame({"name": list("abcde"), "pay": PAY})
    frame.to_csv(tmp_path / "pay.csv", index=False)
    pyarrow.parquet.write_table(pyarrow.table({"pay": PAY}), tmp_path / "pay.parquet")
    columns = {"value": "pay"}
    found = {
        answer(PAY),
        answer(np.array(PAY)),
        answer({"value": PAY}),
        answer(frame, columns=columns),
        answer(polars.from_pandas(frame), columns=columns),
        answer(tmp_path / "pay.csv", columns={"value": "PAY"}),
        answer(str(tmp_path / "pay.parquet")),
        answer({"table": frame}, columns={"table.value": "pay"}),
    }
    assert len(found) == 1


@pytest.mark.parametrize(
    "data",
    [
        np.array([CANARY, "2"]),
        pandas.DataFrame({"value": [CANARY, "2"]}),
        polars.DataFrame({"value": [CANARY, "2"]}),
    ],
    ids=["array", "pandas", "polars"],
)
def test_a_column_of_text_is_refused_before_it_is_read(data) -> None:
    with pytest.raises(ReticentError, match="numbers where they are declared") as caught:
        answer({"value": data} if isinstance(data, np.ndarray) else data)
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize("cells", [[CANARY, "2"], [CANARY, 5], [5, None]])
def test_a_column_without_a_type_is_read_cell_by_cell(cells) -> None:
    """Whether all cells are text must not decide: one person could change it."""
    frame = pandas.DataFrame({"value": pandas.Series(cells, dtype=object)})
    assert 0 <= answer(frame) <= 100


def test_cells_of_a_file_never_raise(tmp_path) -> None:
    path = tmp_path / "pay.csv"
    path.write_text(f"pay\n{CANARY}\n\nnan\n-1e999\n40\n")
    assert 0 <= answer(path) <= 100


@pytest.mark.parametrize(
    ("data", "columns", "said"),
    [
        ({"a": PAY, "b": PAY}, None, "has no column called 'value'"),
        ({"a": PAY, "b": PAY}, {"value": "c"}, "has no column called 'c'"),
        ({"a": PAY}, {"worth": "a"}, "roles of columns"),
        ({"a": PAY, "A": PAY}, None, "columns of different names"),
        ({"a": PAY, "b": PAY[:2]}, {"value": "a"}, "columns of one length"),
        ("none.csv", None, "none.csv"),
    ],
)
def test_what_is_wrong_with_columns_is_a_sentence(data, columns, said) -> None:
    with pytest.raises((ReticentError, OSError), match=said):
        answer(data, columns=columns)


def test_one_column_is_no_table_of_links() -> None:
    with pytest.raises(ReticentError, match="a table with source, target"):
        rt.TopNodes(epsilon=1, bound=3).release(["a", "b"])


def test_whether_anybody_is_in_a_table_is_private_unless_their_number_is_public(tmp_path) -> None:
    path = tmp_path / "empty.csv"
    path.write_text("person,category,value\n")
    for data in (path, {"person": [], "category": [], "value": []}):
        released = rt.Counts(epsilon=9).release(data, source=Source.seeded(1))
        assert abs(released.value) < 9
        given = {"edges": {"source": [], "target": []}, "nodes": ["a", "b"]}
        assert len(rt.TopNodes(epsilon=9, bound=3, k=1).release(given).value) == 1
        with pytest.raises(ReticentError, match="one with some people"):
            QUERY.release(data)
    with pytest.raises(ReticentError, match="one with some people"):
        rt.Percentile(epsilon=1, upper=9).release(path)


def test_records_are_counted_without_any_column() -> None:
    counted = rt.Counts(epsilon=60, unit="record")
    assert counted.release({"a": [1, 2], "b": [3, 4]}).value == 2


def test_bound_tables_show_no_cells() -> None:
    held = Given.of(QUERY.inputs, {"value": PAY}, None).private({})["table"]
    assert "20" not in repr(held)
    assert len(held) == 5
    assert "value" in held
