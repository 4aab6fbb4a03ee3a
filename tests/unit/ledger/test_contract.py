"""What every ledger promises: Theorems 1 and 2 of docs/theory/ledger.md."""

from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import Barrier

import pytest

from reticent.errors import BudgetExceeded, ParameterError
from reticent.guarantees import RECORD, Event, PureDP
from reticent.ledger import Account, KeyReused, LedgerError

ANN = ("ann", "club", "overall", "")
BOB = ("bob", "club", "overall", "")


def never() -> bytes:
    raise AssertionError("nothing may be computed")


def test_an_answer_is_kept_and_charged(ledger, store, ask) -> None:
    answer = ledger.once(ask(), lambda: b"noisy")
    assert (answer.value, answer.replayed) == (b"noisy", False)
    assert store.spent() == {ANN: (10, 4)}
    assert store.checked().problems == ()


def test_the_budget_is_refused_before_anything_is_computed(ledger, store, ask) -> None:
    ledger.once(ask(1, nano=10), lambda: b"x")
    with pytest.raises(BudgetExceeded):
        ledger.once(ask(2, nano=1), never)
    with pytest.raises(BudgetExceeded):
        ledger.once_with(ask(2, nano=1), b"drawn")
    assert store.spent() == {ANN: (10, 10)}
    assert store.lines("spend") == 1


def test_the_last_unit_can_be_spent_and_no_more(ledger, ask) -> None:
    for key in range(10):
        ledger.once_with(ask(key, nano=1), b"x")
    with pytest.raises(BudgetExceeded):
        ledger.once_with(ask(10, nano=1), b"x")
    assert ledger.once_with(ask(11, nano=0), b"free").value == b"free"


def test_several_accounts_all_or_none(ledger, store, ask, charge) -> None:
    ledger.once_with(ask(1, subject="bob", nano=8), b"x")
    both = (charge("ann"), charge("bob"), charge("cid"))
    with pytest.raises(BudgetExceeded):
        ledger.once(ask(2, charges=both), never)
    assert store.spent() == {BOB: (10, 8)}
    ledger.once_with(ask(3, charges=(charge("ann"), charge("bob", nano=2))), b"x")
    assert store.spent() == {ANN: (10, 4), BOB: (10, 10)}


def test_a_refused_key_may_be_used_again(ledger, ask) -> None:
    with pytest.raises(BudgetExceeded):
        ledger.once(ask(1, nano=11), never)
    assert not ledger.once(ask(1, nano=3), lambda: b"x").replayed


@pytest.mark.parametrize("first", ["once", "once_with"])
@pytest.mark.parametrize("second", ["once", "once_with"])
def test_the_same_key_gets_the_same_answer(ledger, open_ledger, store, ask, first, second) -> None:
    def call(handle, name, value):
        return (
            handle.once(ask(), lambda: value) if name == "once" else handle.once_with(ask(), value)
        )

    call(ledger, first, b"first")
    for handle in (ledger, open_ledger()):
        again = call(handle, second, b"second")
        assert (again.value, again.replayed) == (b"first", True)
    assert store.spent() == {ANN: (10, 4)}


@pytest.mark.parametrize("value", [b"", b"\0\xff" * 100, b"x" * 2**20])
def test_answers_come_back_byte_for_byte(ledger, ask, value) -> None:
    ledger.once(ask(), lambda: value)
    assert ledger.once(ask(), never).value == value


def test_a_replay_needs_no_budget(ledger, ask) -> None:
    ledger.once_with(ask(1, nano=10), b"x")
    assert ledger.once(ask(1, nano=10, limit=0), never).value == b"x"


def test_another_body_is_refused(ledger, store, ask) -> None:
    ledger.once_with(ask(), b"x")
    other = Event("another", {}, PureDP(1, RECORD), private=True)
    for changed in (ask(body=b"other"), ask(body=b""), ask(event=other)):
        with pytest.raises(KeyReused):
            ledger.once(changed, never)
        with pytest.raises(KeyReused):
            ledger.once_with(changed, b"y")
    assert store.spent() == {ANN: (10, 4)}


def test_another_principal_may_use_the_same_key(ledger, store, ask) -> None:
    ledger.once_with(ask(principal="club"), b"x")
    answer = ledger.once_with(ask(principal="shop", body=b"other"), b"y")
    assert (answer.value, answer.replayed) == (b"y", False)
    assert store.spent() == {ANN: (10, 8)}


def test_a_failure_stays_charged_and_the_key_resumes(ledger, open_ledger, store, ask) -> None:
    with pytest.raises(ZeroDivisionError):
        ledger.once(ask(nano=10), lambda: bytes([1 // 0]))
    assert store.spent() == {ANN: (10, 10)}
    assert store.checked().problems == ()
    with pytest.raises(BudgetExceeded):
        ledger.once(ask(2, nano=1), never)
    answer = open_ledger().once(ask(nano=10), lambda: b"at last")
    assert (answer.value, answer.replayed) == (b"at last", False)
    assert store.spent() == {ANN: (10, 10)}
    assert store.checked().problems == ()


def test_what_was_reserved_is_finished_by_an_answer_at_hand(ledger, store, ask) -> None:
    with pytest.raises(ZeroDivisionError):
        ledger.once(ask(), lambda: bytes([1 // 0]))
    assert ledger.once_with(ask(), b"drawn").value == b"drawn"
    assert ledger.once(ask(), never).value == b"drawn"
    assert store.spent() == {ANN: (10, 4)}


def test_one_key_from_many_threads_at_once(ledger, open_ledger, store, ask) -> None:
    handles, numbers, together = [ledger, open_ledger()], count(), Barrier(16)

    def call(n):
        together.wait()
        if n % 3:
            return handles[n % 2].once(ask(), lambda: str(next(numbers)).encode()).value
        return handles[n % 2].once_with(ask(), str(next(numbers)).encode()).value

    with ThreadPoolExecutor(16) as threads:
        values = set(threads.map(call, range(16)))
    assert len(values) == 1
    assert store.spent() == {ANN: (10, 4)}
    assert store.lines("spend") == 1
    assert store.checked().problems == ()


def test_many_keys_from_many_threads_never_overspend(ledger, open_ledger, store, ask) -> None:
    handles = [ledger, open_ledger(), open_ledger()]

    def call(n):
        try:
            return handles[n % 3].once(ask(n, nano=1, limit=50), lambda: b"x") is not None
        except BudgetExceeded:
            return False

    with ThreadPoolExecutor(12) as threads:
        assert sum(threads.map(call, range(120))) == 50
    assert store.spent() == {ANN: (50, 50)}
    assert store.checked().problems == ()


def test_a_refusal_takes_nothing_of_its_neighbours_in_a_commit(ledger, store, ask) -> None:
    futures = [ledger.submit(ask(n, nano=3), str(n).encode()) for n in range(40)]
    futures += [ledger.submit(ask(n, subject="bob", nano=1), b"b") for n in range(100, 110)]
    refused = sum(isinstance(one.exception(), BudgetExceeded) for one in futures)
    assert refused == 37
    assert store.spent() == {ANN: (10, 9), BOB: (10, 10)}
    assert store.checked().problems == ()


def test_what_is_left(ledger, ask, charge) -> None:
    assert ledger.left(charge()) == 10
    ledger.once_with(ask(), b"x")
    assert ledger.left(charge()) == 6
    assert ledger.left(charge(limit=5)) == 1
    assert ledger.left(charge(limit=3)) == 0
    assert ledger.left(charge(limit=99)) == 6


def test_a_closed_ledger_says_so(ledger, ask) -> None:
    ledger.close()
    ledger.close()
    with pytest.raises(LedgerError, match="closed"):
        ledger.once(ask(), never)
    with pytest.raises(LedgerError, match="closed"):
        ledger.submit(ask(), b"x")


def test_what_was_handed_in_is_finished_on_closing(ledger, open_ledger, store, ask) -> None:
    futures = [ledger.submit(ask(n, nano=0), b"x") for n in range(50)]
    ledger.close()
    assert all(one.result().value == b"x" for one in futures)
    open_ledger()
    assert store.lines("spend") == 50


def test_forgetting_deletes_names_and_answers_and_keeps_amounts(ledger, store, ask) -> None:
    ledger.once_with(ask(1), b"x")
    ledger.once_with(ask(2, what="attribute: age"), b"y")
    ledger.once_with(ask(3, subject="bob"), b"z")
    assert ledger.forget("ann") == 2
    assert ledger.forget("ann") == 0
    assert ledger.forget("nobody") == 0
    assert store.spent() == {BOB: (10, 4)}
    assert store.checked().problems == ()
    assert ledger.once_with(ask(3, subject="bob"), b"n").value == b"z"
    for body in (b"body", b"other"):
        with pytest.raises(LedgerError, match="deleted with its subject"):
            ledger.once(ask(1, body=body), never)


def test_forgotten_while_computing(ledger, store, ask) -> None:
    def make() -> bytes:
        ledger.forget("ann")
        return b"x"

    with pytest.raises(LedgerError, match="deleted with its subject"):
        ledger.once(ask(), make)
    assert store.checked().problems == ()


@pytest.mark.parametrize(
    "changed",
    [
        {"nano": -1},
        {"nano": 1.0},
        {"nano": True},
        {"nano": 2**60 + 1},
        {"limit": -1},
        {"limit": float("nan")},
        {"limit": 2**63},
        {"subject": ""},
        {"subject": "x" * 501},
        {"subject": "\ud800"},
        {"provider": None},
        {"renews": "hourly"},
    ],
    ids=str,
)
def test_charges_that_cannot_be(charge, changed) -> None:
    with pytest.raises(ParameterError):
        charge(**changed)


def test_requests_that_cannot_be(ask, charge) -> None:
    for changed in ({"charges": ()}, {"charges": (charge(), charge(nano=1))}, {"principal": ""}):
        with pytest.raises(ParameterError):
            ask(**changed)
    for key in ("", "k" * 201, "\ud800"):
        with pytest.raises(ParameterError):
            ask(key)


def test_no_such_account(ledger) -> None:
    with pytest.raises(LedgerError, match="no such account"):
        ledger.raise_limit(Account("ann", "club"), 10)
