"""Theorem 5: a refusal that nobody sees. What is kept instead costs nobody anything."""

import random
import re
import time

import pytest

from reticent.errors import BudgetExceeded, ParameterError
from reticent.ledger import Account, KeyReused, LedgerError, Sealed, many, spending
from tests.unit.ledger.conftest import SqliteStore

ANN = ("ann", "club", "overall", "")
BOB = ("bob", "club", "overall", "")


def test_it_is_kept_where_a_budget_is_exceeded_and_costs_nothing(ledger, store, ask) -> None:
    ledger.once_with(ask(1, nano=8), b"noisy")
    answer = ledger.once_with(ask(2, nano=3), Sealed(b"drawn", b"nothing"))
    assert (answer.value, answer.replayed) == (b"nothing", False)
    assert store.spent() == {ANN: (10, 8)}
    assert store.lines("spend") == 2
    assert store.checked().problems == ()


def test_the_drawn_one_is_kept_where_there_is_a_budget(ledger, store, ask) -> None:
    answer = ledger.once_with(ask(nano=10), Sealed(b"drawn", b"nothing"))
    assert (answer.value, answer.replayed) == (b"drawn", False)
    assert store.spent() == {ANN: (10, 10)}


def test_only_the_account_that_is_exceeded_does_not_rise(ledger, store, ask, charge) -> None:
    ledger.once_with(ask(1, subject="bob", nano=8), b"x")
    both = (charge("ann"), charge("bob"), charge("cid", nano=0))
    answer = ledger.once_with(ask(2, charges=both), Sealed(b"drawn", b"nothing"))
    assert answer.value == b"nothing"
    assert {name: spent for name, (_, spent) in store.spent().items()} == {
        ANN: 4,  # who owns it must not see that another one is used up
        BOB: 8,
        ("cid", "club", "overall", ""): 0,
    }
    assert store.checked().problems == ()


def test_it_replays_also_after_the_budget_was_raised(ledger, open_ledger, store, ask) -> None:
    asked = ask(1, nano=11)
    assert ledger.once_with(asked, Sealed(b"drawn", b"nothing")).value == b"nothing"
    ledger.raise_limit(Account("ann", "club"), 100)
    richer = ask(1, nano=11, limit=100)
    for handle in (ledger, open_ledger()):
        for again in (
            handle.once_with(richer, Sealed(b"other", b"something else")),
            handle.once_with(richer, b"other"),
            handle.once(richer, lambda: b"made"),
        ):
            assert (again.value, again.replayed) == (b"nothing", True)
    assert store.spent() == {ANN: (100, 0)}
    with pytest.raises(KeyReused):
        ledger.once_with(ask(1, nano=11, body=b"other"), Sealed(b"x", b"nothing"))


def test_a_lower_limit_applies_all_the_same(ledger, store, ask) -> None:
    ledger.once_with(ask(1, nano=2), b"x")
    ledger.once_with(ask(2, nano=3, limit=4), Sealed(b"drawn", b"nothing"))
    assert store.spent() == {ANN: (4, 2)}
    with pytest.raises(BudgetExceeded):
        ledger.once_with(ask(3, nano=3, limit=10), b"drawn")
    assert store.checked().problems == ()


def test_what_was_reserved_and_paid_gets_what_was_drawn(ledger, store, ask) -> None:
    with pytest.raises(ZeroDivisionError):
        ledger.once(ask(nano=10), lambda: bytes([1 // 0]))
    answer = ledger.once_with(ask(nano=10), Sealed(b"drawn", b"nothing"))
    assert answer.value == b"drawn"
    assert store.spent() == {ANN: (10, 10)}


def test_empty_bytes_are_an_answer_too(ledger, ask) -> None:
    assert ledger.once_with(ask(nano=11), Sealed(b"drawn", b"")).value == b""
    assert ledger.once_with(ask(nano=11), Sealed(b"drawn", b"x")).value == b""


def test_a_thousand_at_random_charge_what_was_drawn_and_no_more(ledger, store, ask, charge) -> None:
    choice, spent, waiting = random.Random(4), dict.fromkeys("abcdef", 0), []
    for key in range(1000):
        people = choice.sample("abcdef", choice.randint(1, 3))
        amounts = {one: choice.choice((0, 1, 7)) for one in people}
        charges = tuple(charge(one, nano=nano, limit=150) for one, nano in amounts.items())
        fits = {one: spent[one] + nano <= 150 for one, nano in amounts.items()}
        for one, nano in amounts.items():
            spent[one] += nano * fits[one]
        sent = ledger.submit(ask(key, charges=charges), Sealed(b"drawn", b"nothing"))
        waiting.append((sent, b"drawn" if all(fits.values()) else b"nothing"))
    assert {expected for _, expected in waiting} == {b"drawn", b"nothing"}
    assert [sent.result().value for sent, _ in waiting] == [expected for _, expected in waiting]
    assert {name[0]: held for name, (_, held) in store.spent().items()} == spent
    assert store.checked().problems == ()


# For each


@pytest.fixture
def both(charge):
    """Ann has two accounts, of which one is short; bob can pay."""
    return (charge("ann", nano=11), charge("ann", what="item: tea"), charge("bob"))


OF_EACH = (Sealed(b"ann", b"-", ("ann",)), Sealed(b"bob", b"--", ("bob",)))


def test_who_paid_is_told_and_repeated(ledger, open_ledger, store, ask, both) -> None:
    first = ledger.once_each(ask(1, charges=both), OF_EACH)
    assert (first.values, first.payers, first.replayed) == ((b"-", b"bob"), {"bob"}, False)
    ledger.raise_limit(Account("ann", "club"), 100)
    for handle in (ledger, open_ledger()):
        again = handle.once_each(ask(1, charges=both[1:]), [Sealed(b"other", b"new")] * 2)
        assert (again.values, again.payers, again.replayed) == (first.values, first.payers, True)
    assert {name[::2]: spent for name, (_, spent) in store.spent().items()} == {
        ("ann", "overall"): 0,
        ("ann", "item: tea"): 0,
        ("bob", "overall"): 4,
    }
    assert store.checked().problems == ()


def test_it_goes_with_any_of_its_people(ledger, store, ask, both, charge) -> None:
    ledger.once_each(ask(1, charges=both), OF_EACH)
    ledger.once_each(ask(2, charges=(charge("bob"),)), OF_EACH[1:])
    ledger.forget("ann")
    with pytest.raises(LedgerError, match="deleted"):
        ledger.once_each(ask(1, charges=both), OF_EACH)
    assert ledger.once_each(ask(2, charges=(charge("bob"),)), OF_EACH[1:]).payers == {"bob"}
    with ledger.reading() as held:
        answers = [row[0] for row in held.execute("SELECT answer FROM spend ORDER BY id")]
    assert answers[0] is None
    assert b"ann" not in answers[1]
    assert store.checked().problems == ()


def test_it_is_repeated_to_who_asks_for_as_much(ledger, ask, both) -> None:
    ledger.once_each(ask(1, charges=both), OF_EACH)
    ledger.once_with(ask(2, charges=both[2:]), b"whole")
    with pytest.raises(KeyReused):
        ledger.once_each(ask(1, charges=both), OF_EACH[:1])
    with pytest.raises(KeyReused):
        ledger.once_each(ask(2, charges=both[2:]), OF_EACH[1:])


def test_all_who_were_reserved_have_paid(ledger, store, ask, charge) -> None:
    asked = ask(charges=(charge("ann", nano=10), charge("bob", nano=10)))
    with pytest.raises(ZeroDivisionError):
        ledger.once(asked, lambda: bytes([1 // 0]))
    answer = ledger.once_each(asked, OF_EACH)
    assert (answer.values, answer.payers) == ((b"ann", b"bob"), {"ann", "bob"})
    assert store.spent() == {ANN: (10, 10), BOB: (10, 10)}


def test_names_and_values_of_any_bytes(ledger, ask, charge) -> None:
    names = ["é", "\U0001f600", "\x01", "reticent-each/1\n", "x" * 500]
    values = [b"", b"\0" * 9, b"\xff", b"reticent-each/1\n", bytes(10**5)]
    charges = tuple(charge(name, nano=11 * (n == 1)) for n, name in enumerate(names))
    sealed = [Sealed(value, b"cover", (name,)) for name, value in zip(names, values, strict=True)]
    answer = ledger.once_each(ask(charges=charges), sealed)
    assert answer.values == (values[0], b"cover", *values[2:])
    assert answer.payers == set(names) - {names[1]}


def test_only_of_people_who_are_charged(ledger, store, ask) -> None:
    for call in (ledger.once_with, lambda asked, one: ledger.once_each(asked, [one])):
        with pytest.raises(ParameterError, match="whom the request charges"):
            call(ask(), Sealed(b"x", b"y", ("bob",)))
    with pytest.raises(TypeError):
        Sealed("text", b"y")
    assert store.checked().spends == 0


# What the file tells


def shape(store, ledger):
    """Tables and lines without names, digests, salts and amounts."""
    with ledger.reading() as held:
        counts = [
            held.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in ("account", "spend", "charge", "line", "meta")
        ]
        lines = held.execute("SELECT kind, body FROM line ORDER BY seq").fetchall()
        sizes = held.execute("SELECT length(answer) FROM spend ORDER BY id").fetchall()
    assert store.checked().problems == ()
    return counts, sizes, [(kind, re.sub(r"[0-9a-f]{64}|\d+", "", body)) for kind, body in lines]


def asked_twice(ledger, ask, charge, limit, people):
    """Ann, with two accounts, has 2 left of 10, or enough of 20; then all are asked."""
    ledger.once_with(ask(1, charges=(charge("ann", nano=8, limit=limit),)), b"before")
    others = tuple(charge(f"p{n}") for n in range(people))
    charges = (charge("ann", limit=limit), charge("ann", what="item: tea"), *others)
    kept = ledger.once_with(ask(2, charges=charges), Sealed(b"drawn", b"cover")).value
    each = [Sealed(b"a", b"-", ("ann",)), *(Sealed(b"p", b"-", (one.subject,)) for one in others)]
    return kept, ledger.once_each(ask(3, charges=charges), each).payers


@pytest.mark.parametrize("people", [3, 80])
def test_a_refusal_writes_what_a_charge_writes(make_store, ask, charge, people) -> None:
    found = []
    for limit in (10, 20):
        store = make_store()
        ledger = store.open()
        kept, payers = asked_twice(ledger, ask, charge, limit, people)
        assert (kept == b"drawn", "ann" in payers) == (limit == 20, limit == 20)
        assert len(payers - {"ann"}) == people
        found.append(shape(store, ledger))
    assert found[0] == found[1]


def both_ways(tmp_path, ask, charge, people):
    """Statements, without what they hold, and shape where ann cannot pay, and where she can."""
    for limit in (10, 20):
        store, told = SqliteStore(tmp_path / f"{people}.{limit}.db"), list[str]()
        ledger = store.open()
        try:
            ledger._connection.set_trace_callback(told.append)
            asked_twice(ledger, ask, charge, limit, people)
            ledger._connection.set_trace_callback(None)
            found = [re.sub(r"x?'(?:[^']|'')*'|\d+", "", one) for one in told]
            yield found, shape(store, ledger)
        finally:  # also where the control fails
            store.close()


@pytest.mark.parametrize("people", [3, 80])
def test_a_refusal_takes_the_same_statements(tmp_path, ask, charge, people, monkeypatch) -> None:
    monkeypatch.setattr(time, "time", lambda: 1.8e9)  # a new second is written down, once
    short, rich = both_ways(tmp_path, ask, charge, people)
    assert short == rich
    assert len(short[0]) > 20


def test_work_that_is_left_out_is_seen(tmp_path, ask, charge, monkeypatch) -> None:
    """The control: nothing is added where it is 0, in one of the two ways each."""
    monkeypatch.setattr(time, "time", lambda: 1.8e9)
    add, spent = spending._add, many._spent
    monkeypatch.setattr(spending, "_add", lambda *given: given[2] and add(*given))
    monkeypatch.setattr(
        many, "_spent", lambda *given: spent(*given[:3], given[3][given[3][:, 1] > 0])
    )
    short, rich = both_ways(tmp_path, ask, charge, 3)
    assert short[0] != rich[0]
    with pytest.raises(AssertionError, match="its charges"):
        list(both_ways(tmp_path, ask, charge, 80))
