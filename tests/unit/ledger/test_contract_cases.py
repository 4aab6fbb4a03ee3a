"""One table of what a request charges, whom it covers and what is kept, for every store and path.

SQLite and PostgreSQL each decide twice: in a few statements for every account, and in a few for all
accounts together. All four must decide as the table says, and as a model of a few lines does for
requests made up by Hypothesis. Controls: the rule that was (an account that is short is charged
nothing, its owner's others are) planted in each of the four is caught.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reticent.errors import BudgetExceeded
from reticent.ledger import Charge, Sealed, many, postgres_functions, spending
from reticent.ledger.accounts import LARGEST
from reticent.ledger.reports import entries

PAID, COVER = b"paid ", b"cover "
Place = tuple[str, str]  # subject and what


def places(**amounts: int) -> dict[Place, int]:
    """``ann_tea=3`` is 3 to ann's account for tea."""
    return {(name.split("_")[0], name.split("_")[1]): nano for name, nano in amounts.items()}


@dataclass(frozen=True)
class Case:
    """What was spent before, what is asked for, and what must come of it.

    ``needs`` are whose payment each value needs; none for an answer that all must pay for.
    ``kept`` tells of each value whether it is kept (or ``BudgetExceeded``), ``payers`` who paid.
    """

    name: str
    asked: dict[Place, int]
    charged: dict[Place, int]
    kept: tuple[bool, ...] | type[Exception]
    payers: str = ""
    needs: tuple[str, ...] | None = None
    spent: dict[Place, int] = field(default_factory=dict)
    limits: dict[Place, int] = field(default_factory=dict)  # 10 where none is given
    then: dict[Place, int] = field(default_factory=dict)  # limits that come with the request


ONE_SHORT = places(ann_all=8)
BOTH = places(ann_all=3, ann_tea=1, bob_all=4)
NOBODY = dict.fromkeys(BOTH, 0)
CROWD = [f"p{n:02}" for n in range(63)]
CASES = [
    Case("all can pay", BOTH, BOTH, (True,), "ann bob"),
    Case("one account short, no cover", BOTH, {}, BudgetExceeded, spent=ONE_SHORT),
    Case("one account short", BOTH, NOBODY | places(bob_all=4), (False,), "bob",
         needs=("ann bob",), spent=ONE_SHORT),
    Case("one account of the only person short", places(ann_all=3, ann_tea=1),
         places(ann_all=0, ann_tea=0), (False,), "", needs=("ann",), spent=ONE_SHORT),
    Case("all can pay, with a cover", BOTH, BOTH, (True,), "ann bob", needs=("ann bob",)),
    Case("each for themselves", BOTH, NOBODY | places(bob_all=4), (False, True), "bob",
         needs=("ann", "bob"), spent=ONE_SHORT),
    Case("each, the last one by name short", BOTH, BOTH | places(bob_all=0), (True, False), "ann",
         needs=("ann", "bob"), spent=places(bob_all=7)),
    Case("each can pay", BOTH, BOTH, (True, True), "ann bob", needs=("ann", "bob")),
    Case("nobody can pay", BOTH, NOBODY, (False, False), "", needs=("ann", "bob"),
         spent=places(ann_tea=10, bob_all=10)),
    Case("pairs", places(ann_all=3, bob_all=3, cid_all=3), places(ann_all=3, bob_all=0, cid_all=3),
         (False, True, False), "ann cid", needs=("ann bob", "ann cid", "bob cid"),
         spent=places(bob_all=8)),
    Case("a value that nobody pays for", BOTH, NOBODY, (True, False), "", needs=("", "ann"),
         spent=places(ann_all=10, bob_all=10)),
    Case("the value's people are a few of those who pay", BOTH, BOTH | places(bob_all=0), (True,),
         "ann", needs=("ann",), spent=places(bob_all=7)),
    Case("who is charged nothing can always pay", places(ann_all=0, bob_all=1),
         places(ann_all=0, bob_all=0), (True, False), "ann", needs=("ann", "bob"),
         limits=places(ann_all=0, bob_all=0)),
    Case("nothing here and too much there", places(ann_all=0, ann_tea=3),
         places(ann_all=0, ann_tea=0), (False,), "", needs=("ann",), spent=places(ann_tea=8)),
    Case("all that is left", places(ann_all=2, ann_tea=10), places(ann_all=2, ann_tea=10), (True,),
         "ann", needs=("ann",), spent=ONE_SHORT),
    Case("one more than is left", places(ann_all=2, ann_tea=10), places(ann_all=0, ann_tea=0),
         (False,), "", needs=("ann",), spent=places(ann_all=8, ann_tea=1)),
    Case("a limit that is lowered now", places(ann_all=3, ann_tea=1),
         places(ann_all=0, ann_tea=0), (False,), "", needs=("ann",), spent=places(ann_all=4),
         then=places(ann_all=6)),
    Case("a limit below what was spent", places(ann_all=1, ann_tea=1),
         places(ann_all=0, ann_tea=0), (False,), "", needs=("ann",), spent=places(ann_all=4),
         then=places(ann_all=2)),
    Case("a limit that is raised by the request is not raised", places(ann_all=3, ann_tea=1),
         places(ann_all=0, ann_tea=0), (False,), "", needs=("ann",), spent=ONE_SHORT,
         then=places(ann_all=100)),
    Case("a first account with too low a limit", places(ann_all=3, ann_tea=1),
         places(ann_all=0, ann_tea=0), (False,), "", needs=("ann",), limits=places(ann_all=2)),
    Case("names that begin alike", places(a_all=3, ab_all=3, ab_tea=3, abc_all=3),
         places(a_all=3, ab_all=0, ab_tea=0, abc_all=3), (True, False, True), "a abc",
         needs=("a", "ab", "abc"), spent=places(ab_tea=8)),
    Case("names and accounts in another order", places(bob_tea=1, ann_tea=1, bob_all=3, ann_all=3),
         places(bob_tea=0, ann_tea=1, bob_all=0, ann_all=3), (False, True), "ann",
         needs=("bob", "ann"), spent=places(bob_all=8)),
    Case("the largest amounts", places(ann_all=LARGEST, ann_tea=1),
         places(ann_all=0, ann_tea=0), (False,), "", needs=("ann",),
         spent=places(ann_all=1), limits=places(ann_all=LARGEST)),
    Case("63 people", {(one, "all"): 3 for one in CROWD},
         {(one, "all"): 0 if one in ("p00", "p40", "p62") else 3 for one in CROWD},
         tuple(one not in ("p00", "p40", "p62") for one in CROWD),
         " ".join(one for one in CROWD if one not in ("p00", "p40", "p62")), needs=tuple(CROWD),
         spent={("p00", "all"): 8, ("p40", "all"): 10, ("p62", "all"): 8}),
]  # fmt: skip


class Book:
    """A ledger and its store, asked by subject and what."""

    def __init__(self, store: Any, ledger: Any, ask: Callable[..., Any]) -> None:
        self.store, self.ledger, self._ask, self._keys = store, ledger, ask, count()

    def request(self, asked: dict[Place, int], limits: dict[Place, int], key: object = None) -> Any:
        charges = tuple(
            Charge(
                subject=subject,
                provider="club",
                what=what,
                nano=nano,
                limit=limits.get((subject, what), 10),
            )
            for (subject, what), nano in asked.items()
        )
        return self._ask(f"key {next(self._keys)}" if key is None else key, charges=charges)

    def spend(self, spent: dict[Place, int], limits: dict[Place, int]) -> None:
        if spent:
            self.ledger.once_with(self.request(spent, limits), b"before")

    def balances(self) -> dict[Place, tuple[int, int]]:
        return {(name[0], name[2]): held for name, held in self.store.spent().items()}

    def charged(self, key: str) -> dict[Place, int]:
        """What the last spend charged, if this key is its."""
        with self.ledger.reading() as held:
            row = held.execute("SELECT id FROM spend WHERE key = ?", (key,)).fetchone()
            return {
                (one.account.subject, one.account.what): one.nano
                for one in entries(held)
                if row is not None and one.spend == row[0]
            }

    def outcome(self, request: Any, needs: tuple[str, ...] | None) -> Any:
        """What is kept of each value, and who paid; or the error."""
        try:
            if needs is None:
                kept = self.ledger.once_with(request, PAID).value
                return (kept == PAID,), frozenset(one.subject for one in request.charges)
            sealed = [
                Sealed(PAID + b"%d" % n, COVER + b"%d" % n, tuple(one.split()))
                for n, one in enumerate(needs)
            ]
            answer = self.ledger.once_each(request, sealed)
        except BudgetExceeded:
            return BudgetExceeded
        values = zip(answer.values, sealed, strict=True)
        assert all(value in (one.value, one.cover) for value, one in values)
        kept = tuple(value.startswith(PAID) for value in answer.values)
        return kept, answer.payers


@pytest.fixture(params=["few", "many"])
def path(request: Any) -> Any:
    """Whether a spend is one of many accounts."""
    return request.param


@pytest.fixture
def book(path, store, ask, monkeypatch) -> Book:
    ledger = store.open()
    least = 1 if path == "many" else 10**9
    monkeypatch.setattr(f"{type(ledger).__module__}.MANY", least)
    return Book(store, ledger, ask)


def hold(book: Book, case: Case) -> None:
    """The ledger decides as the case says, and again when the key comes back."""
    book.spend(case.spent, case.limits)
    before = book.balances()
    request = book.request(case.asked, case.limits | case.then)
    found = book.outcome(request, case.needs)
    refused = case.kept is BudgetExceeded
    assert found == (BudgetExceeded if refused else (case.kept, frozenset(case.payers.split())))
    assert book.charged(request.key) == ({} if refused else case.charged)
    after = book.balances()
    assert {place: spent for place, (_, spent) in after.items()} == (
        {place: spent for place, (_, spent) in before.items()}
        if refused
        else {
            place: before.get(place, (0, 0))[1] + case.charged.get(place, 0)
            for place in before.keys() | case.charged.keys()
        }
    )
    if refused:
        assert after == before
    elif case.needs is not None:  # whatever comes with the key again
        richer = book.request(dict.fromkeys(case.asked, 0), {}, request.key)
        assert book.outcome(richer, case.needs) == found
    assert book.store.checked().problems == ()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.replace(" ", "-"))
def test_every_case(book, case) -> None:
    hold(book, case)


# The old rule, planted


def edited(function: Any, before: str, after: str) -> Any:
    text = inspect.getsource(function)
    assert text.count(before) == 1
    scope = dict(vars(inspect.getmodule(function)))
    exec(text.replace(before, after), scope)
    return scope[function.__name__]


def plant(book: Book, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An account that is short is charged nothing; the others of its owner are."""
    if path == "many":
        wrong = edited(many._short, "return found", "return short")
        monkeypatch.setattr(many, "_short", wrong)
    elif "postgres" in type(book.ledger).__module__:
        reserve = next(one for one in postgres_functions.FUNCTIONS if one.name == "reserve")
        text = reserve.statement().replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION")
        for before, after in (
            ("short := short | whose[n];", "short := short | whose[n]; amounts[n] := 0;"),
            ("CASE WHEN whose[n] & short <> 0 THEN 0 ELSE amounts[n] END", "amounts[n]"),
        ):
            assert text.count(before) == 1
            text = text.replace(before, after)
        book.store.raw((text,))
    else:
        wrong = edited(
            spending.reserve,
            "0 if charge.subject in short else charge.nano)\n"
            "        for charge, (account, _, _) in",
            "0 if charge.nano > room else charge.nano)\n        for charge, (account, room, _) in",
        )
        monkeypatch.setattr("reticent.ledger.sqlite.reserve", wrong)


def test_accounts_charged_one_by_one_are_caught(book, path, monkeypatch) -> None:
    plant(book, path, monkeypatch)
    case = next(one for one in CASES if one.name == "one account of the only person short")
    with pytest.raises(AssertionError):
        hold(book, case)


# A model


class Model:
    """The rules, in plain Python and one after the other."""

    def __init__(self) -> None:
        self.accounts: dict[Place, tuple[int, int]] = {}

    def ask(self, asked, limits, needs):
        after, short = dict(self.accounts), set()
        for place, nano in asked.items():
            limit, spent = after.get(place, (limits[place], 0))
            limit = max(min(limit, limits[place]), spent)
            after[place] = limit, spent
            if spent + nano > limit:
                short.add(place[0])
        if short and needs is None:
            return BudgetExceeded
        for place, nano in asked.items():
            limit, spent = after[place]
            after[place] = limit, spent + (0 if place[0] in short else nano)
        self.accounts = after
        people = {subject for subject, _ in asked}
        kept = (True,) if needs is None else tuple(not short & set(one.split()) for one in needs)
        return kept, frozenset(people - short)


PEOPLE, WHATS = ("ann", "bob", "cid"), ("all", "tea", "age")
AMOUNTS = st.integers(0, 6)
LIMITS = st.integers(0, 12)


@st.composite
def requests(draw):
    asked = draw(
        st.dictionaries(
            st.tuples(st.sampled_from(PEOPLE), st.sampled_from(WHATS)),
            st.tuples(AMOUNTS, LIMITS),
            min_size=1,
            max_size=7,
        )
    )
    people = sorted({subject for subject, _ in asked})
    some = st.lists(st.sampled_from(people), max_size=2, unique=True).map(" ".join)
    needs = draw(st.none() | st.lists(some, min_size=1, max_size=4).map(tuple))
    amounts = {place: nano for place, (nano, _) in asked.items()}
    return amounts, {place: limit for place, (_, limit) in asked.items()}, needs


NUMBERS = count()


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(asks=st.lists(requests(), min_size=1, max_size=6))
def test_as_the_model_decides(book, asks) -> None:
    model, number = Model(), next(NUMBERS)  # every list has people of its own
    for amounts, limits, needs in asks:
        mine = {own(number, place): nano for place, nano in amounts.items()}
        least = {own(number, place): limit for place, limit in limits.items()}
        names = needs and tuple(" ".join(f"{number}-{n}" for n in one.split()) for one in needs)
        assert book.outcome(book.request(mine, least), names) == model.ask(mine, least, names)
    held = {
        place: both for place, both in book.balances().items() if place[0].startswith(f"{number}-")
    }
    assert held == model.accounts


def own(number: int, place: Place) -> Place:
    return f"{number}-{place[0]}", place[1]
