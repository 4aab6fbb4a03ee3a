"""Releases through a ledger in the library: one charge, one answer, and what the card says."""

import contextlib
import sqlite3

import numpy as np
import pytest

from reticent.errors import BudgetExceeded, ParameterError
from reticent.guarantees import RECORD, Event, MutualInformation, PureDP
from reticent.guarantees.card import Scope
from reticent.guarantees.card_views import card_text
from reticent.ledger import KeyReused, open_ledger
from reticent.ledger.reports import balances, entries
from reticent.mechanisms import (
    DiscreteLaplace,
    InnerProduct,
    PermuteAndFlip,
    SnappedLaplace,
    Stretching,
    WeightedProfile,
)
from reticent.mechanisms.decision_tree import Tree
from reticent.noise import Source
from reticent.tasks.charged import Payer, answer_once, new_key, release_once, standings
from reticent.tasks.kept import keep, restore

COUNTS = DiscreteLaplace(epsilon="0.5", size=3)
SURVEY = Payer(subject="data set survey", limit=10**9)
SCOPE = Scope(protected="rows", not_against=("nobody",), model="central")


@pytest.fixture
def ledger(tmp_path):
    with open_ledger(tmp_path / "ledger.db") as held:
        yield held


def release(ledger, key=None, payers=SURVEY, mechanism=COUNTS, data=(5, 2, 9)):
    source = Source.system()
    return release_once(mechanism, data, source, ledger=ledger, payers=payers, key=key)


MECHANISMS = [
    (COUNTS, [5, 2, 9]),
    (SnappedLaplace(epsilon=1, size=2, sensitivity=1, lower=0, upper=9), [3.0, 4.0]),
    (PermuteAndFlip(epsilon=1, candidates=4, sensitivity=1), [1, 2, 3, 9]),
    (
        Stretching(epsilon=1, function=InnerProduct()),
        [WeightedProfile.of([1.0, 1.0], weights=[0.5, 1])] * 2,
    ),
]


@pytest.mark.parametrize(("mechanism", "data"), MECHANISMS, ids=lambda part: type(part).__name__)
def test_the_same_key_repeats_an_equal_release(ledger, mechanism, data) -> None:
    payer = Payer(subject="data set survey")
    first = release(ledger, "1", payer, mechanism, data)
    again = release(ledger, "1", payer, mechanism, data)
    assert (first.replayed, again.replayed) == (False, True)
    assert type(first.value.value) is type(again.value.value)
    assert np.array_equal(first.value.value, again.value.value)
    cards = [one.value.card("t", scope=SCOPE, budget=one.budget) for one in (first, again)]
    assert cards[0].id == cards[1].id
    assert first.budget.spent == again.budget.spent


def test_beyond_the_limit_nothing_is_drawn(ledger, monkeypatch) -> None:
    release(ledger)
    assert release(ledger).budget.spent == "1"
    source = Source.system()
    monkeypatch.setattr(type(source), "bits", lambda *_: pytest.fail("something was drawn"))
    with pytest.raises(BudgetExceeded) as refused:
        release_once(COUNTS, [5, 2, 9], source, ledger=ledger, payers=SURVEY, key="3")
    half = 5 * 10**8
    assert (refused.value.asked, refused.value.left, refused.value.missing) == (half, 0, half)


def test_a_crash_leaves_the_charge_and_the_key_resumes(ledger, monkeypatch) -> None:
    whole = DiscreteLaplace.release

    def crash(*_):
        raise MemoryError

    monkeypatch.setattr(DiscreteLaplace, "release", crash)
    with pytest.raises(MemoryError):
        release(ledger, "1")
    assert standings(ledger, [SURVEY])[0].spent == 5 * 10**8
    monkeypatch.setattr(DiscreteLaplace, "release", whole)
    resumed = release(ledger, "1")
    assert (resumed.replayed, resumed.budget.spent) == (False, "0.5")


def test_a_key_is_for_one_subject_and_one_event(ledger) -> None:
    release(ledger, "1")
    with pytest.raises(KeyReused):
        release(ledger, "1", Payer(subject="data set other", limit=10**9))
    with pytest.raises(KeyReused):
        release(ledger, "1", mechanism=DiscreteLaplace(epsilon="0.4", size=3))


def test_everybody_pays_or_nobody(ledger) -> None:
    poor = Payer(subject="bob", limit=10**8)
    with pytest.raises(BudgetExceeded):
        release(ledger, payers=[Payer(subject="ann", limit=10**9), poor])
    assert [one.spent for one in standings(ledger, [Payer(subject="ann"), poor])] == [0, 0]
    rich = [Payer(subject=f"p{i}", limit=10**9) for i in range(20)]
    release(ledger, payers=rich[:1])
    paid = release(ledger, payers=rich)
    assert paid.budget.spent == "1"
    assert paid.budget.rule == "losses add; the most that any of 20 people has lost"
    assert [one.left for one in standings(ledger, rich)] == [0] + [5 * 10**8] * 19


def test_a_limit_on_record_holds_for_those_who_set_none(ledger) -> None:
    release(ledger, payers=Payer(subject="ann", limit=6 * 10**8))
    assert standings(ledger, [Payer(subject="ann")])[0].limit == 6 * 10**8
    with pytest.raises(BudgetExceeded):
        release(ledger, payers=Payer(subject="ann"))


def test_a_period_that_has_passed_does_not_count(ledger, monkeypatch) -> None:
    yearly = Payer(subject="ann", limit=6 * 10**8, renews="yearly")
    release(ledger, payers=yearly)
    with pytest.raises(BudgetExceeded):
        release(ledger, payers=yearly)
    year = 366 * 24 * 3600
    now = __import__("time").time
    monkeypatch.setattr("time.time", lambda: now() + year)
    assert standings(ledger, [yearly])[0].spent == 0
    assert release(ledger, payers=yearly).budget.spent == "0.5"
    monkeypatch.setattr("time.time", now)  # set back: the ledger stays in the later year
    assert standings(ledger, [yearly])[0].spent == 5 * 10**8


def test_bits_on_average_are_written_down_at_no_cost(ledger) -> None:
    event = Event("mapping", {}, MutualInformation(0.1, 0.2, "secret", "people"), private=True)
    payer = Payer(subject="ann", what="profile: 1f")
    paid = answer_once(event, lambda: ("a", None), ledger=ledger, payers=payer, key="1")
    assert (paid.value, paid.budget.spent) == (("a", None), "0")
    with ledger.reading() as connection:
        (entry,) = entries(connection)
    assert (entry.mechanism, entry.nano, entry.account.what) == ("mapping", 0, "profile: 1f")


def test_the_ledger_holds_no_data(ledger, tmp_path) -> None:
    event = Event("noisy count", {}, PureDP.of(1, RECORD), private=True)
    answer_once(event, lambda: 7, ledger=ledger, payers=SURVEY, key="1", about="canary-5521")
    with contextlib.closing(sqlite3.connect(tmp_path / "ledger.db")) as held:
        assert "canary-5521" not in "\n".join(held.iterdump())


def test_keys_are_new() -> None:
    assert len({new_key() for _ in range(100)}) == 100
    assert len(new_key()) == 16


def test_without_payers_nothing_is_released(ledger) -> None:
    with pytest.raises(ParameterError, match="one or more"):
        release(ledger, payers=[])
    with ledger.reading() as connection:
        assert list(balances(connection)) == []


# What is kept


TREE = Tree(*(np.array([n]) for n in (0, 0, 0, -1, 0)), np.array([[3, -4]]), 2.5)
VALUES = [
    *(None, True, 3, -(2**70), 0.1, 1e300, float("inf"), float("-inf"), "é", [], [1, [2.5]]),
    *((1, "a", None), {"a": (1,), "float": 2}, [("x", None), None]),
    *(np.array([0.1, -np.inf]), np.arange(6, dtype=np.int32).reshape(2, 3), np.zeros((0, 2))),
    *(np.array([True, False]), np.array(3.5)),
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_what_is_kept_comes_back_equal(value) -> None:
    back = restore(keep(value))
    assert type(back) is type(value)
    if isinstance(value, np.ndarray):
        assert (back.dtype, back.shape) == (value.dtype, value.shape)
        assert back.tobytes() == value.tobytes()
    else:
        assert back == value


def test_not_a_number_and_numbers_of_numpy() -> None:
    assert np.isnan(restore(keep(float("nan"))))
    assert restore(keep([np.int64(3), np.float64(0.5)])) == [3, 0.5]


def test_a_tree_is_kept() -> None:
    assert restore(keep(TREE)).plain() == TREE.plain()


@pytest.mark.parametrize(
    "value",
    [object(), {1: 2}, np.array(["a"]), {1, 2}, b"x"],
    ids=lambda value: type(value).__name__,
)
def test_other_kinds_are_refused_by_name_only(value) -> None:
    with pytest.raises(ParameterError, match="of a kind that a ledger can keep") as error:
        keep(value)
    assert type(value).__name__ in str(error.value)


def test_a_card_without_a_limit_says_so(ledger) -> None:
    paid = release(ledger, payers=Payer(subject="data set survey"))
    text = card_text(paid.value.card("t", scope=SCOPE, budget=paid.budget))
    assert "ε 0.5 without a limit (does not renew; losses add)" in " ".join(text.split())
    bare = " ".join(card_text(paid.value.card("t", scope=SCOPE)).split())
    assert "Made without a ledger: nothing was recorded" in bare
    assert "nothing bounds what further releases add" in bare
