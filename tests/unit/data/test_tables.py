"""Tables count and sum by declared domains, and nothing about values reaches an error."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reticent.data import Table
from reticent.errors import ParameterError

CANARY = "canary-5521"


def test_counts_follow_the_declared_order() -> None:
    table = Table({"x": ["b", "a", "b", None, CANARY]})
    assert table.counts("x", ["a", "b", "c"]) == [1, 2, 0]


@given(st.lists(st.integers()), st.integers(-50, 50), st.integers(0, 100))
def test_sums_are_clamped_whatever_the_values(values: list[int], lower: int, width: int) -> None:
    upper = lower + width
    total = Table({"x": values}).clamped_sum("x", lower=lower, upper=upper)
    assert lower * len(values) <= total <= upper * len(values)


@given(st.lists(st.integers(0, 300), min_size=1), st.integers(0, 10))
def test_one_record_moves_a_sum_by_at_most_the_bound(values: list[int], at: int) -> None:
    fewer = values[: at % len(values)] + values[at % len(values) + 1 :]
    sums = [Table({"x": v}).clamped_sum("x", lower=1, upper=99) for v in (values, fewer)]
    assert abs(sums[0] - sums[1]) <= 99


def test_what_is_no_number_adds_nothing() -> None:
    assert Table({"x": [1, None, "7", 2]}).clamped_sum("x", lower=0, upper=9) == 3


def test_tables_are_frozen_and_show_no_values() -> None:
    table = Table({"x": [CANARY], "y": [1]})
    assert repr(table) == "Table(x, y)"
    with pytest.raises(dataclasses.FrozenInstanceError):
        table.columns = {}  # type: ignore[misc]
    with pytest.raises(TypeError):
        table.columns["x"] = ()  # type: ignore[index]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda table: table["z"],
        lambda table: table.counts("x", ["a", "a"]),
        lambda table: table.clamped_sum("x", lower=2, upper=1),
        lambda table: Table({"x": [CANARY], "y": []}),
        lambda table: Table({}),
    ],
)
def test_errors_speak_of_parameters_only(wrong: object) -> None:
    with pytest.raises(ParameterError) as caught:
        wrong(Table({"x": [CANARY]}))  # type: ignore[operator]
    assert CANARY not in str(caught.value)
