"""Limits, periods and the ends of the range; and many random requests against a simple model."""

import random
import time

import pytest

from reticent.errors import BudgetExceeded, ParameterError
from reticent.ledger import Account, KeyReused
from reticent.ledger.accounts import LARGEST

ANN = ("ann", "club", "overall", "")
JANUARY = 1_800_000_000  # 15 January 2027
DAY = 86_400


@pytest.fixture
def clock(monkeypatch):
    def turn(to: int) -> None:
        monkeypatch.setattr(time, "time", lambda: float(to))

    return turn


def test_a_lower_limit_applies_and_a_higher_one_does_not(ledger, store, ask) -> None:
    ledger.once_with(ask(1, nano=1, limit=10), b"x")
    ledger.once_with(ask(2, nano=1, limit=5), b"x")
    assert store.spent() == {ANN: (5, 2)}
    ledger.once_with(ask(3, nano=1, limit=100), b"x")
    assert store.spent() == {ANN: (5, 3)}
    with pytest.raises(BudgetExceeded):
        ledger.once_with(ask(4, nano=3, limit=100), b"x")
    assert store.lines("limit") == 1


def test_raising_a_limit_is_written_down(ledger, store, ask) -> None:
    ledger.once_with(ask(1, nano=10), b"x")
    ledger.raise_limit(Account("ann", "club"), 20)
    assert store.spent() == {ANN: (20, 10)}
    assert store.lines("limit") == 1
    ledger.once_with(ask(2, nano=10, limit=20), b"x")
    assert store.checked().problems == ()


@pytest.mark.parametrize("limit", [-1, LARGEST + 1, 1.5, True, "10"])
def test_limits_that_cannot_be(ledger, ask, limit) -> None:
    ledger.once_with(ask(), b"x")
    with pytest.raises(ParameterError):
        ledger.raise_limit(Account("ann", "club"), limit)


def test_a_limit_below_what_is_spent_becomes_what_is_spent(ledger, store, ask) -> None:
    ledger.once_with(ask(1, nano=8), b"x")
    ledger.once_with(ask(2, nano=0, limit=3), b"x")
    assert store.spent() == {ANN: (8, 8)}
    ledger.raise_limit(Account("ann", "club"), 2)
    assert store.spent() == {ANN: (8, 8)}
    assert store.checked().problems == ()


def test_a_refused_request_leaves_no_trace(ledger, store, ask) -> None:
    ledger.once_with(ask(1), b"x")
    before = store.checked().head
    with pytest.raises(BudgetExceeded):
        ledger.once_with(ask(2, nano=1, limit=4), b"x")
    with pytest.raises(BudgetExceeded):
        ledger.once_with(ask(3, subject="new", nano=11), b"x")
    assert store.spent() == {ANN: (10, 4)}
    assert store.checked().head == before


def test_amounts_at_the_end_of_the_range(ledger, store, ask) -> None:
    ledger.once_with(ask(1, nano=LARGEST, limit=LARGEST), b"x")
    for nano in (1, LARGEST):
        with pytest.raises(BudgetExceeded):
            ledger.once_with(ask(2, nano=nano, limit=LARGEST), b"x")
    assert store.spent() == {ANN: (LARGEST, LARGEST)}
    assert store.checked().problems == ()


@pytest.mark.parametrize(
    ("renews", "length"), [("daily", 1), ("weekly", 7), ("monthly", 31), ("yearly", 366)]
)
def test_a_new_period_has_a_new_budget(ledger, ask, clock, renews, length) -> None:
    clock(JANUARY)
    ledger.once_with(ask(1, nano=10, renews=renews), b"x")
    with pytest.raises(BudgetExceeded):
        ledger.once_with(ask(2, nano=1, renews=renews), b"x")
    clock(JANUARY + length * DAY)
    assert ledger.once_with(ask(3, nano=10, renews=renews), b"x").value == b"x"


def test_what_never_renews_does_not(ledger, ask, clock) -> None:
    clock(JANUARY)
    ledger.once_with(ask(1, nano=10), b"x")
    clock(JANUARY + 10_000 * DAY)
    with pytest.raises(BudgetExceeded):
        ledger.once_with(ask(2, nano=1), b"x")


def test_a_clock_turned_back_opens_no_period_again(
    ledger, open_ledger, store, ask, charge, clock
) -> None:
    clock(JANUARY)
    ledger.once_with(ask(1, nano=4, renews="daily"), b"x")
    clock(JANUARY + DAY)
    ledger.once_with(ask(2, nano=10, renews="daily"), b"x")
    clock(JANUARY)
    for handle in (ledger, open_ledger()):
        assert handle.left(charge(renews="daily")) == 0
        with pytest.raises(BudgetExceeded):
            handle.once_with(ask(3, nano=1, renews="daily"), b"x")
    assert [key[3] for key in store.spent()] == ["2027-01-15", "2027-01-16"]
    assert store.checked().problems == ()


def test_a_clock_turned_far_forward_starts_one_period_only(ledger, ask, clock) -> None:
    clock(JANUARY + 400 * DAY)
    ledger.once_with(ask(1, nano=10, renews="yearly"), b"x")
    clock(JANUARY)
    with pytest.raises(BudgetExceeded):
        ledger.once_with(ask(2, nano=1, renews="yearly"), b"x")


def test_a_retry_in_the_next_period_is_the_same_request(ledger, store, ask, clock) -> None:
    clock(JANUARY)
    ledger.once_with(ask(1, renews="daily"), b"x")
    clock(JANUARY + DAY)
    assert ledger.once_with(ask(1, renews="daily"), b"y").value == b"x"
    assert len(store.spent()) == 1


class Model:
    """A ledger without durability: what each request must do."""

    def __init__(self) -> None:
        self.accounts: dict[str, list[int]] = {}
        self.answers: dict[tuple[str, str], tuple[bytes, bytes]] = {}

    def ask(self, request, answer):
        kept = self.answers.get((request.principal, request.key))
        if kept is not None:
            return kept[1] if kept[0] == request.body else KeyReused
        after = {name: list(held) for name, held in self.accounts.items()}
        for one in request.charges:
            held = after.setdefault(one.subject, [one.limit, 0])
            if one.limit < held[0]:
                held[0] = max(one.limit, held[1])
            held[1] += one.nano
            if held[1] > held[0]:
                return BudgetExceeded
        self.accounts = after
        self.answers[request.principal, request.key] = (request.body, answer)
        return answer


def test_thousands_of_random_requests_against_a_model(ledger, store, ask, charge) -> None:
    choice, model, waiting = random.Random(8), Model(), []

    def settle() -> None:
        for future, expected in waiting:
            error = future.exception()
            assert (type(error) if error else future.result().value) == expected
        waiting.clear()

    for number in range(3000):
        people = choice.sample(range(60), choice.randint(1, 3))
        charges = tuple(
            charge(str(p), nano=choice.choice((0, 1, 5, 40)), limit=choice.choice((90, 100, 400)))
            for p in people
        )
        asked = ask(
            choice.randrange(1200),
            principal=choice.choice("ab"),
            body=choice.choice((b"body",) * 9 + (b"other",)),
            charges=charges,
        )
        answer = str(number).encode()
        if choice.random() < 0.006:
            settle()
            name, raised = str(people[0]), choice.randrange(500)
            if name in model.accounts:
                ledger.raise_limit(Account(name, "club"), raised)
                model.accounts[name][0] = max(raised, model.accounts[name][1])
        waiting.append((ledger.submit(asked, answer), model.ask(asked, answer)))
        if len(waiting) > 300:
            settle()
    settle()
    assert {key[0]: list(held) for key, held in store.spent().items()} == model.accounts
    checked = store.checked()
    assert checked.problems == ()
    assert checked.spends == len(model.answers)
