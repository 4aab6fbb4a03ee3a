"""Theorem 5: a refusal that nobody sees. What is kept instead costs nobody anything."""

import random

import pytest

from reticent.errors import BudgetExceeded
from reticent.ledger import Account, KeyReused

ANN = ("ann", "club", "overall", "")
BOB = ("bob", "club", "overall", "")


def test_it_is_kept_where_a_budget_is_exceeded_and_costs_nothing(ledger, store, ask) -> None:
    ledger.once_with(ask(1, nano=8), b"noisy")
    answer = ledger.once_with(ask(2, nano=3), b"drawn", otherwise=b"nothing")
    assert (answer.value, answer.replayed) == (b"nothing", False)
    assert store.spent() == {ANN: (10, 8)}
    assert store.lines("spend") == 2
    assert store.checked().problems == ()


def test_the_drawn_one_is_kept_where_there_is_a_budget(ledger, store, ask) -> None:
    answer = ledger.once_with(ask(nano=10), b"drawn", otherwise=b"nothing")
    assert (answer.value, answer.replayed) == (b"drawn", False)
    assert store.spent() == {ANN: (10, 10)}


def test_only_the_account_that_is_exceeded_does_not_rise(ledger, store, ask, charge) -> None:
    ledger.once_with(ask(1, subject="bob", nano=8), b"x")
    both = (charge("ann"), charge("bob"), charge("cid", nano=0))
    answer = ledger.once_with(ask(2, charges=both), b"drawn", otherwise=b"nothing")
    assert answer.value == b"nothing"
    assert {name: spent for name, (_, spent) in store.spent().items()} == {
        ANN: 4,  # who owns it must not see that another one is used up
        BOB: 8,
        ("cid", "club", "overall", ""): 0,
    }
    assert store.checked().problems == ()


def test_it_replays_also_after_the_budget_was_raised(ledger, open_ledger, store, ask) -> None:
    asked = ask(1, nano=11)
    assert ledger.once_with(asked, b"drawn", otherwise=b"nothing").value == b"nothing"
    ledger.raise_limit(Account("ann", "club"), 100)
    richer = ask(1, nano=11, limit=100)
    for handle in (ledger, open_ledger()):
        for again in (
            handle.once_with(richer, b"other", otherwise=b"something else"),
            handle.once_with(richer, b"other"),
            handle.once(richer, lambda: b"made"),
        ):
            assert (again.value, again.replayed) == (b"nothing", True)
    assert store.spent() == {ANN: (100, 0)}
    with pytest.raises(KeyReused):
        ledger.once_with(ask(1, nano=11, body=b"other"), b"x", otherwise=b"nothing")


def test_a_lower_limit_applies_all_the_same(ledger, store, ask) -> None:
    ledger.once_with(ask(1, nano=2), b"x")
    ledger.once_with(ask(2, nano=3, limit=4), b"drawn", otherwise=b"nothing")
    assert store.spent() == {ANN: (4, 2)}
    with pytest.raises(BudgetExceeded):
        ledger.once_with(ask(3, nano=3, limit=10), b"drawn")
    assert store.checked().problems == ()


def test_what_was_reserved_and_paid_gets_what_was_drawn(ledger, store, ask) -> None:
    with pytest.raises(ZeroDivisionError):
        ledger.once(ask(nano=10), lambda: bytes([1 // 0]))
    answer = ledger.once_with(ask(nano=10), b"drawn", otherwise=b"nothing")
    assert answer.value == b"drawn"
    assert store.spent() == {ANN: (10, 10)}


def test_empty_bytes_are_an_answer_too(ledger, ask) -> None:
    assert ledger.once_with(ask(nano=11), b"drawn", otherwise=b"").value == b""
    assert ledger.once_with(ask(nano=11), b"drawn", otherwise=b"x").value == b""


def test_a_thousand_at_random_charge_what_was_drawn_and_no_more(ledger, store, ask, charge) -> None:
    choice, spent, waiting = random.Random(4), dict.fromkeys("abcdef", 0), []
    for key in range(1000):
        people = choice.sample("abcdef", choice.randint(1, 3))
        amounts = {one: choice.choice((0, 1, 7)) for one in people}
        charges = tuple(charge(one, nano=nano, limit=150) for one, nano in amounts.items())
        fits = {one: spent[one] + nano <= 150 for one, nano in amounts.items()}
        for one, nano in amounts.items():
            spent[one] += nano * fits[one]
        sent = ledger.submit(ask(key, charges=charges), b"drawn", otherwise=b"nothing")
        waiting.append((sent, b"drawn" if all(fits.values()) else b"nothing"))
    assert {expected for _, expected in waiting} == {b"drawn", b"nothing"}
    assert [sent.result().value for sent, _ in waiting] == [expected for _, expected in waiting]
    assert {name[0]: held for name, (_, held) in store.spent().items()} == spent
    assert store.checked().problems == ()
