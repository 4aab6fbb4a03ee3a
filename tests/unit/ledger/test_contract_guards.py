"""Theorem 6: nothing is charged for a stale draw."""

import threading

import pytest

from reticent.errors import ParameterError
from reticent.ledger import Guard, KeyReused, Sealed, Stale

ANN, BOB = ("ann", 3), ("bob", 1)
MAKE = (
    "CREATE TABLE gateway_person (id TEXT PRIMARY KEY, version BIGINT NOT NULL)",
    "INSERT INTO gateway_person VALUES ('ann', 3), ('bob', 1)",
)
CHANGES = (
    "UPDATE gateway_person SET version = version + 1 WHERE id = 'ann'",
    "DELETE FROM gateway_person WHERE id = 'ann'",
    "UPDATE gateway_person SET id = 'eve' WHERE id = 'ann'",
)


@pytest.fixture(params=["few", "many"])
def ledger(request, open_ledger, monkeypatch):
    made = open_ledger()
    least = 1 if request.param == "many" else 10**9
    monkeypatch.setattr(f"{type(made).__module__}.MANY", least)
    for statement in MAKE:
        write(made, statement)
    return made


def write(ledger, statement) -> None:
    ledger.write(lambda held: held.execute(statement))


def guard(*rows):
    return Guard(table="gateway_person", columns=("id", "version"), rows=rows)


CALLS = {
    "once": lambda ledger, asked: ledger.once(asked, lambda: b"x").value,
    "with": lambda ledger, asked: ledger.once_with(asked, b"x").value,
    "cover": lambda ledger, asked: ledger.once_with(asked, Sealed(b"x", b"y")).value,
    "each": lambda ledger, asked: ledger.once_each(asked, [Sealed(b"x", b"y")]).values[0],
}


@pytest.fixture(params=CALLS)
def call(request):
    return CALLS[request.param]


def test_who_is_as_before_is_charged(ledger, store, ask, call) -> None:
    assert call(ledger, ask(guard=guard(ANN))) == b"x"
    assert call(ledger, ask(2, guard=guard(BOB, ANN))) == b"x"
    assert store.spent() == {("ann", "club", "overall", ""): (10, 8)}


@pytest.mark.parametrize("change", CHANGES, ids=["changed", "gone", "another"])
def test_who_is_not_is_not(ledger, store, ask, call, change) -> None:
    write(ledger, change)
    head = store.checked().head
    for asked in (ask(guard=guard(ANN)), ask(guard=guard(BOB, ANN))):
        with pytest.raises(Stale):
            call(ledger, asked)
    assert (store.spent(), store.checked().head) == ({}, head)
    assert call(ledger, ask(guard=guard(BOB))) == b"x"  # the key was not used up


def test_without_a_guard_it_is_kept(ledger, ask, call) -> None:
    """The control."""
    write(ledger, CHANGES[0])
    assert call(ledger, ask()) == b"x"


def test_what_was_kept_before_the_change_is_repeated(ledger, ask, call) -> None:
    asked = ask(guard=guard(ANN))
    assert call(ledger, asked) == b"x"
    write(ledger, CHANGES[1])
    assert call(ledger, asked) == b"x"
    with pytest.raises(KeyReused):
        call(ledger, ask(body=b"other", guard=guard(ANN)))


def test_what_was_reserved_is_not_settled_with_a_stale_draw(ledger, store, ask) -> None:
    asked = ask(guard=guard(ANN))
    with pytest.raises(ZeroDivisionError):
        ledger.once(asked, lambda: bytes([1 // 0]))
    write(ledger, CHANGES[0])
    for given in (b"x", Sealed(b"x", b"y")):
        with pytest.raises(Stale):
            ledger.once_with(asked, given)
    assert ledger.once_with(ask(guard=guard(("ann", 4))), b"again").value == b"again"
    assert store.spent() == {("ann", "club", "overall", ""): (10, 4)}


def test_a_change_of_the_same_moment_is_seen(ledger, ask) -> None:
    """One transaction: charge, change, charge."""
    go = threading.Event()
    ledger._writer.submit(lambda held: go.wait(30))
    before = ledger.submit(ask(1, guard=guard(ANN)), b"x")
    change = ledger._writer.submit(lambda held: held.execute(CHANGES[0]).rowcount)
    after = [ledger.submit(ask(key, guard=guard(ANN)), b"x") for key in (2, 3)]
    others = ledger.submit(ask(4, guard=guard(BOB), nano=1), b"y")
    go.set()
    assert (before.result().value, change.result(), others.result().value) == (b"x", 1, b"y")
    for one in after:
        with pytest.raises(Stale):
            one.result()


def test_a_change_by_another_process_is_seen(ledger, open_ledger, ask) -> None:
    write(open_ledger(), CHANGES[0])
    with pytest.raises(Stale):
        ledger.once_with(ask(guard=guard(ANN)), b"x")


def test_many_rows(ledger, ask) -> None:
    rows = [(f"p{n:03}", n) for n in range(350)]
    values = ", ".join(f"('{name}', {version})" for name, version in rows)
    write(ledger, f"INSERT INTO gateway_person VALUES {values}")
    assert ledger.once_with(ask(guard=guard(*rows)), b"x").value == b"x"
    for n in (0, 99, 100, 349):
        changed = [*rows[:n], (rows[n][0], -1), *rows[n + 1 :]]
        with pytest.raises(Stale):
            ledger.once_with(ask(f"other {n}", guard=guard(*changed)), b"x")


@pytest.mark.parametrize(
    "wrong",
    [
        {"table": "gateway_person; DROP TABLE spend"},
        {"columns": ("id", "version = version OR 1")},
        {"rows": ()},
        {"rows": (ANN, ANN)},
        {"rows": (("ann",),)},
        {"rows": (("a\0", 1),)},
        {"rows": (("\ud800", 1),)},
        {"rows": (("ann", 2**63),)},
        {"rows": (("ann", 1.5),)},
    ],
)
def test_guards_are_names_and_values(wrong) -> None:
    whole = {"table": "gateway_person", "columns": ("id", "version"), "rows": (ANN,)}
    with pytest.raises(ParameterError):
        Guard(**whole | wrong)
