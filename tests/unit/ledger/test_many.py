"""One spend that charges many: the promises of a spend that charges a few, and their control."""

import random
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest

from reticent.errors import BudgetExceeded, ParameterError
from reticent.ledger import KeyReused, LedgerError, Sealed, many
from reticent.ledger.reports import entries
from reticent.ledger.tables import SCHEMA, SCHEMA_MANY


@pytest.fixture
def people(charge):
    """Charges of so many people."""

    def build(count, first=0, **others):
        return tuple(charge(f"p{n:06}", **others) for n in range(first, first + count))

    return build


def sums(store):
    """How many accounts have spent how much."""
    found: dict[int, int] = {}
    for _, spent in store.spent().values():
        found[spent] = found.get(spent, 0) + 1
    return found


def value(ledger, name):
    with ledger.reading() as held:
        rows = held.execute("SELECT value FROM meta WHERE name = ?", (name,))
        return rows.fetchone()[0]


def test_many_are_charged_with_one_line(ledger, store, ask, people) -> None:
    answer = ledger.once_with(ask(1, charges=people(10_000)), b"x")
    assert (answer.value, answer.replayed) == (b"x", False)
    assert ledger.once_with(ask(1, charges=people(10_000)), b"y").value == b"x"
    ledger.once_with(ask(2, charges=people(10_000, 100, nano=5)), b"z")
    assert sums(store) == {4: 100, 9: 9900, 5: 100}
    assert [store.lines(kind) for kind in ("open", "opened", "limit", "spend")] == [0, 2, 0, 2]
    checked = store.checked()
    assert (checked.problems, checked.spends, checked.accounts) == ((), 2, 10_100)
    with ledger.reading() as held:
        assert sum(one.nano for one in entries(held)) == 90_000
        assert max(len(row[0]) for row in held.execute("SELECT body FROM line")) < 500


def test_another_body_is_refused(ledger, ask, people) -> None:
    ledger.once_with(ask(1, charges=people(100)), b"x")
    with pytest.raises(KeyReused):
        ledger.once_with(ask(1, charges=people(100), body=b"other"), b"x")


def test_one_of_ten_thousand_has_nothing_left(ledger, store, ask, people, charge) -> None:
    ledger.once_with(ask(1, charges=(charge("p007000", nano=8),)), b"x")
    head = store.checked().head
    with pytest.raises(BudgetExceeded) as refused:
        ledger.once_with(ask(2, charges=people(10_000)), b"y")
    assert (refused.value.asked, refused.value.left) == (4, 2)
    with pytest.raises(BudgetExceeded):
        ledger.once(ask(2, charges=people(10_000)), lambda: b"y")
    assert (sums(store), store.checked().head) == ({8: 1}, head)
    ledger.once_with(ask(2, charges=people(7000)), b"the key was not used up")
    assert sums(store) == {8: 1, 4: 7000}
    assert store.checked().problems == ()


def test_one_of_ten_thousand_and_nobody_sees_it(ledger, store, ask, people, charge) -> None:
    ledger.once_with(ask(1, charges=(charge("p007000", nano=8),)), b"x")
    asked = ask(2, charges=people(10_000))
    assert ledger.once_with(asked, Sealed(b"y", b"nothing")).value == b"nothing"
    assert sums(store) == {8: 1, 4: 9999}
    again = ledger.once_with(asked, b"y")
    assert (again.value, again.replayed) == (b"nothing", True)
    assert store.checked().problems == ()


def test_the_first_by_name_is_told(ledger, ask, people, charge) -> None:
    wrong = (charge("b", "shop", nano=11), charge("a", "other", nano=12, limit=3))
    with pytest.raises(BudgetExceeded, match="'other'") as refused:
        ledger.once_with(ask(charges=(*people(100), *wrong)), b"x")
    assert (refused.value.asked, refused.value.left) == (12, 3)


def test_nobody_twice(ask, people) -> None:
    with pytest.raises(ParameterError, match="one for each account"):
        ask(charges=(*people(1000), *people(1, 500, nano=1)))


def test_a_failure_stays_charged_and_the_key_resumes(ledger, store, ask, people) -> None:
    asked = ask(charges=people(500))
    with pytest.raises(ZeroDivisionError):
        ledger.once(asked, lambda: bytes([1 // 0]))
    assert sums(store) == {4: 500}
    assert store.checked().problems == ()
    assert ledger.once_with(asked, b"at last").value == b"at last"
    assert ledger.once(ask(2, charges=people(500)), lambda: b"two").value == b"two"
    assert sums(store) == {8: 500}
    assert store.checked().problems == ()


def test_names_of_any_letters(ledger, store, ask, charge) -> None:
    odd = ['"', "\\", "\n", "\t", "\x01", "\x7f", "'", "{}", "[1,2]", "\\u0041", "A", "\u2028"]
    odd += ["é", "e\u0301", "\U0001f600", "%s", "?", "null", "1", "01", " ", "\\x00", "x" * 400]
    charges = [charge(f"{a}{b}", what=f"item: {b}") for a in odd for b in odd[:9]]
    for key in (1, 2):
        ledger.once_with(ask(key, charges=tuple(charges)), b"x")
    assert set(store.spent()) == {(one.subject, "club", one.what, "") for one in charges}
    assert sums(store) == {8: len(charges)}
    assert [ledger.left(one) for one in charges] == [2] * len(charges)
    assert ledger.short(charges) == len(charges)
    assert store.checked().problems == ()


def test_large_amounts_and_limits_of_their_own(ledger, store, ask, charge) -> None:
    limits = [2**60 - n * n for n in range(5000)]
    charges = tuple(charge(f"p{n}", nano=one, limit=one) for n, one in enumerate(limits))
    ledger.once_with(ask(charges=charges), b"x")
    assert {(limit, spent) for limit, spent in store.spent().values()} == {(n, n) for n in limits}
    assert store.checked().problems == ()
    with pytest.raises(BudgetExceeded):
        ledger.once_with(ask(2, charges=(*charges[:500], charge("new", nano=1))), b"x")


def test_numbers_do_not_tell_the_order_of_names(ledger, store, ask, people) -> None:
    ledger.once_with(ask(charges=people(1000)), b"x")
    with ledger.reading() as held:
        rows = held.execute("SELECT subject FROM account ORDER BY id").fetchall()
    places = [int(subject[1:]) for (subject,) in rows]
    after = sum(here < there for here, there in pairwise(places))
    assert 400 < after < 600
    assert sorted(places) == list(range(1000))


def use(monkeypatch, ledger, least) -> None:
    """From how many charges on a spend is one of many."""
    monkeypatch.setattr(f"{type(ledger).__module__}.MANY", least)


def told(ledger, asked, answer):
    try:
        return ledger.once_with(asked, answer)
    except (BudgetExceeded, LedgerError) as error:
        return type(error).__name__, str(error)


def test_the_same_as_one_by_one(make_store, monkeypatch, ask, charge) -> None:
    """Whatever is asked, in whatever order: same outcomes, and the same in the tables."""
    ways = [(make_store(), least) for least in (1, 10**9)]
    ledgers = [(store.open(), least) for store, least in ways]
    choice, day = random.Random(7), 20_000
    subjects, whats = [f"p{n}" for n in range(12)], ["overall", "item: tea", "attribute: age"]
    for key in range(150):
        day += choice.random() < 0.1
        monkeypatch.setattr(time, "time", lambda day=day: float(day * 86_400))
        names = {(choice.choice(subjects), choice.choice(whats)) for _ in range(6)}
        renews = choice.choice(("never", "never", "daily", "weekly"))
        charges = tuple(
            charge(
                who,
                choice.choice(("club", "shop")),
                what=what,
                nano=choice.choice((0, 1, 5, 30)),
                limit=choice.choice((20, 40, 60, 80)),
                renews=renews,
            )
            for who, what in names
        )
        asked = ask(choice.randrange(key + 1), charges=charges, body=b"%d" % choice.randrange(40))
        answer = choice.choice((b"x", Sealed(b"x", b"nothing")))
        forgotten = choice.choice(subjects) if choice.random() < 0.05 else None
        outcomes = []
        for ledger, least in ledgers:
            use(monkeypatch, ledger, least)
            outcomes.append(told(ledger, asked, answer))
            if forgotten is not None:
                outcomes[-1] = outcomes[-1], ledger.forget(forgotten)
        assert outcomes[0] == outcomes[1]
    (one, _), (other, _) = ways
    assert one.spent() == other.spent()
    assert one.checked().problems == other.checked().problems == ()
    assert one.lines("opened") > 5
    assert one.lines("limit") == other.lines("limit") > 5
    assert other.lines("opened") == 0


def test_how_many_would_not_fit(ledger, store, ask, people, charge, monkeypatch) -> None:
    ledger.once_with(ask(1, charges=people(300)), b"x")
    ledger.once_with(ask(2, charges=people(300, 200, nano=9)), Sealed(b"x", b"nothing"))
    head = store.checked().head
    choice = random.Random(5)
    charges = [
        charge(
            f"p{n:06}",
            nano=choice.choice((1, 3, 6, 11)),
            limit=choice.choice((2, 5, 10, 20)),
            renews=choice.choice(("never", "daily")),
        )
        for n in range(600)
    ]
    alone = sum(one.nano > ledger.left(one) for one in charges)
    assert ledger.short(iter(charges)) == alone > 100
    assert ledger.short(charges * 20) == 20 * alone  # more than go into one question
    assert ledger.short([]) == 0
    assert store.checked().head == head


def test_two_writers_and_the_last_units(store, ask, people) -> None:
    handles = [store.open(), store.open()]

    def call(key):
        try:
            handles[key % 2].once_with(ask(key, charges=people(500, key % 3)), b"x")
        except BudgetExceeded:
            return 0
        return 1

    with ThreadPoolExecutor(6) as threads:
        answered = sum(threads.map(call, range(12)))
    assert answered == 2  # of 4 from 10, to people who are in all of them
    assert store.checked().problems == ()


def test_only_a_spend_of_many_changes_the_version(ledger, store, ask, people) -> None:
    ledger.once_with(ask(1), b"x")
    ledger.forget("ann")
    assert (value(ledger, "schema"), store.lines("forgotten")) == (SCHEMA, 0)
    with pytest.raises(BudgetExceeded):
        ledger.once_with(ask(2, charges=people(many.MANY, nano=11)), b"x")
    assert value(ledger, "schema") == SCHEMA
    ledger.once_with(ask(2, charges=people(many.MANY)), b"x")
    assert value(ledger, "schema") == SCHEMA_MANY
    again = store.open()
    again.once_with(ask(3), b"x")
    again.forget("ann")
    assert store.lines("forgotten") == 1
    assert store.checked().problems == ()


def test_what_was_read_is_not_trusted(ledger, store, ask, people, monkeypatch) -> None:
    """Were an account changed after it was looked up, the condition of the statement holds."""
    ledger.once_with(ask(1, charges=people(1, nano=8)), b"x")
    kind = type(ledger._rows)

    class Forgetful(kind):  # type: ignore[misc, valid-type]
        def find(self, *arguments):
            return [(*names, 0, salt) for *names, _, salt in super().find(*arguments)]

    monkeypatch.setattr(type(ledger), "_rows", Forgetful())
    with pytest.raises(LedgerError, match="changed meanwhile"):
        ledger.once_with(ask(2, charges=people(500)), b"x")
    assert sums(store) == {8: 1}
    assert store.checked().problems == ()
