"""Names, amounts and spellings as they are shown."""

import tomllib
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reticent.preferences.problems import amount, dotted, meant, nearest


@given(st.decimals(0, 10**6, places=12))
def test_amounts_read_back_exactly(decimal) -> None:
    shown = amount(Fraction(decimal))
    assert Fraction(Decimal(shown)) == Fraction(decimal)
    assert Fraction(tomllib.loads(f"x = {shown}", parse_float=Decimal)["x"]) == Fraction(decimal)


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=20), min_size=1, max_size=3))
def test_keys_can_be_typed_as_they_are_shown(path) -> None:
    shown = dotted(tuple(path)).replace("\x7f", "\\u007f")
    part = tomllib.loads(f"{shown} = 1")
    for name in path:
        part = part[name]
    assert part == 1


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("Dramma", "Drama"), ("drama", "Drama"), ("DRAMA", "Drama"), ("xyz", None), ("", None)],
)
def test_the_nearest_name(wrong, right) -> None:
    assert nearest(wrong, ("Comedy", "Drama", "Western")) == right


def test_without_a_near_name_there_is_another_way_out() -> None:
    assert meant("xyz", ("Drama",), "delete the line") == "delete the line"
    assert meant("Film noir", ("Film Noir",), "") == 'did you mean "Film Noir"?'


def test_among_very_many_names_only_capitals_are_forgiven() -> None:
    many = [f"Item {n}" for n in range(20_001)]
    assert nearest("item 7", many) == "Item 7"
    assert nearest("Itme 7", many) is None
