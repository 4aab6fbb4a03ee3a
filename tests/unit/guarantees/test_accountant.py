import json
import math
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reticent.errors import BudgetExceeded, CannotCompose, ParameterError
from reticent.guarantees import (
    EDGE,
    ITEM,
    RECORD,
    Accountant,
    Event,
    MultiLevelDP,
    MutualInformation,
    PerItemDP,
    PureDP,
    Spread,
    canonical,
)


def event(loss, *, private: bool = True) -> Event:
    return Event("test", {}, loss, private)


def pure(epsilon) -> Event:
    return event(PureDP.of(epsilon, RECORD))


def test_ten_tenths_are_one() -> None:
    accountant = Accountant(unit=RECORD, limit=1)
    for _ in range(10):
        accountant.compose(pure(0.1))
    assert accountant.remaining == 0
    assert accountant.spent == PureDP.of(1, RECORD)
    assert accountant.would_exceed(pure("1e-9"))


def test_charges_round_up_and_limits_down() -> None:
    accountant = Accountant(unit=RECORD, limit="0.0000000019")
    assert accountant.limit == 1
    accountant.compose(pure("1e-15"))
    assert accountant.remaining == 0


def test_a_refusal_says_asked_left_missing_and_charges_nothing() -> None:
    accountant = Accountant(unit=RECORD, limit=1.25)
    accountant.compose(pure(1))
    before = accountant.state()
    with pytest.raises(BudgetExceeded, match=r"asked for epsilon 1, 0\.25 is left, 0\.75 is") as e:
        accountant.compose(pure(1))
    assert (e.value.asked, e.value.left, e.value.missing) == (10**9, 25 * 10**7, 75 * 10**7)
    assert accountant.state() == before


def test_the_order_of_releases_leaves_no_trace() -> None:
    charges = [
        event(PureDP.of(0.1, ITEM)),
        event(PerItemDP.of(0.3, {"a": 0.5, "b": 1}, default=0.1)),
        event(MultiLevelDP(Spread(5, {"a": 9}), Spread(0, {"Drama": 3}))),
        event(PerItemDP.of(0.2, {"c": 1})),
    ]
    states = set()
    for order in permutations(charges):
        accountant = Accountant(unit=ITEM, limit=1, attributes={"Drama": 1}, items={"a": 1})
        for charge in order:
            accountant.compose(charge)
        states.add(canonical(accountant.state()))
    assert len(states) == 1


@given(st.lists(st.integers(1, 10**8), max_size=30), st.integers(0, 10**9))
def test_theorem_3_limits_hold_whatever_is_asked(charges, limit) -> None:
    accountant = Accountant(unit=RECORD, limit=0)
    accountant = Accountant.from_state(accountant.state() | {"limit": limit})
    spent = 0
    for nano in charges:
        charge = event(PureDP(nano, RECORD))
        fits = spent + nano <= limit
        assert accountant.would_exceed(charge) is not fits
        if fits:
            accountant.compose(charge)
            spent += nano
    assert accountant.spent.overall == spent <= limit


def test_state_round_trips_byte_equal() -> None:
    accountant = Accountant(unit=ITEM, limit=2, attributes={"b": 1, "a": 0.5}, items={"x": 0.1})
    accountant.compose(event(PerItemDP.of(0.3, {"y": 0.5, "x": 0.2})))
    text = canonical(accountant.state())
    again = Accountant.from_state(json.loads(text))
    assert canonical(again.state()) == text
    assert again.spent == accountant.spent


def test_items_and_attributes_have_their_own_limits() -> None:
    accountant = Accountant(unit=ITEM, limit=1, attributes={"Drama": 0.1}, items={"film": 0.2})
    drama = event(MultiLevelDP(Spread(10**8), Spread(0, {"Drama": 10**8})))
    accountant.compose(drama)
    with pytest.raises(BudgetExceeded, match="budget of attribute 'Drama'"):
        accountant.compose(drama)
    comedy = event(MultiLevelDP(Spread(0, {"film": 10**8}), Spread(0, {"Comedy": 10**8})))
    accountant.compose(comedy)
    with pytest.raises(BudgetExceeded, match="budget of item 'film'"):
        accountant.compose(comedy)


def test_items_with_disjoint_weights_do_not_use_up_each_other() -> None:
    accountant = Accountant(unit=ITEM, limit=1)
    accountant.compose(event(PerItemDP.of(1, {"a": 1})))
    accountant.compose(event(PerItemDP.of(1, {"b": 1})))
    assert accountant.remaining == 0
    with pytest.raises(BudgetExceeded):
        accountant.compose(event(PerItemDP.of(1, {"a": "1e-9"})))


def test_declared_disjoint_parts_cost_the_largest() -> None:
    accountant = Accountant(unit=RECORD, limit=1)
    accountant.compose_disjoint({"north": pure(0.6), "south": pure(0.9)})
    assert accountant.spent == PureDP.of(0.9, RECORD)
    assert accountant.state()["releases"] == 2
    with pytest.raises(BudgetExceeded):
        accountant.compose_disjoint({"north": pure(0.05), "south": pure(0.2)})


def test_what_does_not_add_is_refused_by_name() -> None:
    accountant = Accountant(unit=RECORD, limit=1)
    with pytest.raises(CannotCompose, match=r"about one record.*about one edge of a graph"):
        accountant.compose(event(PureDP.of(0.1, EDGE)))
    with pytest.raises(CannotCompose, match="mutual information does not add"):
        accountant.would_exceed(event(MutualInformation(0.1, 0.1, "gender", "prior")))


def test_a_seeded_release_voids_the_promise() -> None:
    accountant = Accountant(unit=RECORD, limit=1)
    accountant.compose(pure(0.1))
    assert accountant.private
    accountant.compose(event(PureDP.of(0.1, RECORD), private=False))
    assert not accountant.private
    assert accountant.state()["private"] is False


@pytest.mark.parametrize("limit", [-1, math.nan, math.inf, "much", None, True])
def test_bad_limits_are_refused(limit) -> None:
    with pytest.raises(ParameterError, match="^limit must be"):
        Accountant(unit=RECORD, limit=limit)


@pytest.mark.parametrize(
    "change", [{"limit": -1}, {"limit": 1.5}, {"releases": "3"}, {"private": 1}, {"schema": "x"}]
)
def test_a_broken_state_is_refused(change) -> None:
    state = Accountant(unit=RECORD, limit=1).state()
    with pytest.raises(ParameterError):
        Accountant.from_state(state | change)
