"""PostgreSQL: what it must be set to, and what happens when the server goes and comes back."""

import os
import signal
import threading
import time

import psycopg
import pytest

from benchmarks.postgres_server import running
from reticent.ledger import LedgerError, open_ledger, open_reading, period_of, verify_ledger

pytestmark = pytest.mark.postgres

ANN = ("ann", "club", "overall", "")


@pytest.fixture
def ledger(postgres):
    return postgres.open()


def setting(ledger, name: str) -> str:
    return ledger.write(lambda held: held.execute(f"SHOW {name}").fetchone()[0])


@pytest.mark.parametrize(
    ("before", "after"), [("off", "on"), ("local", "on"), ("remote_apply", "remote_apply")]
)
def test_commits_are_synced_whatever_the_database_says(postgres, before, after) -> None:
    name = postgres.address.split("/")[3].split("?")[0]
    postgres.raw((f"ALTER DATABASE {name} SET synchronous_commit = {before}",))
    postgres.raw((f"ALTER DATABASE {name} SET default_transaction_isolation = 'serializable'",))
    postgres.raw((f"ALTER DATABASE {name} SET default_transaction_read_only = on",))
    ledger = postgres.open()
    assert setting(ledger, "synchronous_commit") == after
    assert setting(ledger, "transaction_isolation") == "read committed"


def test_the_server_lets_go_of_a_stalled_writer_and_not_of_a_reader(ledger) -> None:
    name = "idle_in_transaction_session_timeout"
    assert setting(ledger, name) == "1min"
    with ledger.reading() as held:
        assert held.execute(f"SHOW {name}").fetchone()[0] == "0"
        assert held.execute("SHOW transaction_isolation").fetchone()[0] == "repeatable read"


def test_a_server_that_does_not_sync_is_refused() -> None:
    with running("fsync=off") as server, pytest.raises(LedgerError, match="fsync"):
        open_ledger(server.address("postgres"))


@pytest.mark.parametrize("table", ["line", "spend"])
def test_a_damaged_page_is_found(ask, table) -> None:
    with running("max_connections=20") as server:
        address = server.address("postgres")
        with open_ledger(address) as ledger:
            ledger.once_with(ask(), b"x")
        where = f"SELECT pg_relation_filepath('reticent.{table}')"
        page = server.where / "data" / server.execute(where)[0][0]
        server.stop(signal.SIGINT)
        held = bytearray(page.read_bytes())
        held[8000] ^= 1
        page.write_bytes(held)
        server.start()
        with open_reading(address) as connection:
            assert verify_ledger(connection).problems == ("the file is damaged (Damaged)",)


def test_a_server_that_goes_while_it_is_checked_is_no_damage(
    postgres, postgres_server, ledger, ask
) -> None:
    ledger.once_with(ask(), b"x")
    with ledger.reading() as connection:
        postgres_server.crash()
        with pytest.raises(LedgerError, match="could not be read"):
            verify_ledger(connection)
    assert postgres.checked().problems == ()


def test_letters_that_cannot_hold_names_are_refused(postgres, postgres_server) -> None:
    postgres_server.execute("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    with pytest.raises(LedgerError, match="UTF8"):
        open_ledger(postgres_server.address("latin"))
    postgres_server.execute("DROP DATABASE latin")


@pytest.mark.parametrize("renews", ["never", "yearly", "monthly", "weekly", "daily"])
def test_periods_are_named_alike(ledger, renews) -> None:
    moments = [n * 86_400 * 11 + n for n in range(3000)] + [1_798_761_599, 1_798_761_600]
    with ledger.reading() as held:
        many = ",".join(map(str, moments))
        rows = held.execute(
            f"SELECT at, period_of(?, at) FROM unnest(CAST('{{{many}}}' AS bigint[])) AS t (at)",
            (renews,),
        )
        found = dict(rows.fetchall())
    assert found == {at: period_of(renews, at) for at in moments}


def test_truncating_is_refused(postgres, ledger, ask) -> None:
    ledger.once_with(ask(), b"x")
    for table in ("account", "spend", "charge", "line"):
        with pytest.raises(psycopg.errors.IntegrityConstraintViolation):
            postgres.raw((f"TRUNCATE {table} CASCADE",))


def test_answers_are_bytes(ledger, ask) -> None:
    with pytest.raises(TypeError, match="bytes"):
        ledger.once_with(ask(), "text")
    with pytest.raises(TypeError, match="bytes"):
        ledger.once(ask(), lambda: "text")


def test_a_deleted_answer_cannot_come_back(postgres, ledger, ask) -> None:
    ledger.once_with(ask(), b"x")
    ledger.forget("ann")
    with pytest.raises(psycopg.errors.IntegrityConstraintViolation):
        postgres.raw(("UPDATE spend SET answer = x'00'",))


def test_rows_of_a_forgotten_person_are_swept(postgres, ledger, ask) -> None:
    ledger.once_with(ask(), b"verschwiegen")
    ledger.forget("ann")
    dead = "SELECT sum(n_dead_tup) FROM pg_stat_user_tables WHERE relname IN ('account', 'spend')"
    with psycopg.connect(postgres.address, autocommit=True) as held:
        for _ in range(100):
            held.execute("SELECT pg_stat_clear_snapshot()")
            if held.execute(dead).fetchone() == (0,):
                return
            time.sleep(0.05)
    pytest.fail("dead rows are left")


def begun(ledger):
    """A piece of work that is in the server's hands, and what lets it go on."""
    inside, go = threading.Event(), threading.Event()

    def work(held) -> None:
        held.execute("UPDATE meta SET value = '5' WHERE name = 'clock'")
        inside.set()
        go.wait(30)
        held.execute("SELECT 1")

    future = ledger._writer.submit(work)
    assert inside.wait(10)
    return future, go


def test_a_crash_in_the_middle_of_a_batch(postgres, postgres_server, ledger, ask) -> None:
    """Nobody waits for ever, nothing of the batch is kept, and the same keys go on."""
    ledger.once_with(ask(0, nano=1), b"before")
    assert postgres.spent() == {ANN: (10, 1)}  # leaves a reader that the crash ends, too
    future, go = begun(ledger)
    postgres_server.stop()
    waiting = [ledger.submit(ask(n, nano=1), b"x") for n in range(1, 4)]
    go.set()
    with pytest.raises(LedgerError, match="same key"):
        future.result(20)
    for one in waiting:  # with the first, or after it while there is no server
        assert isinstance(one.exception(20), LedgerError)
    with pytest.raises(LedgerError, match="cannot be reached"):
        ledger.once_with(ask(1, nano=1), b"x")
    postgres_server.start()
    assert postgres.spent() == {ANN: (10, 1)}
    for n in range(1, 4):
        assert not ledger.once_with(ask(n, nano=1), b"again").replayed
    assert ledger.once_with(ask(0, nano=1), b"n").value == b"before"
    assert postgres.spent() == {ANN: (10, 4)}
    assert postgres.checked().problems == ()


def test_a_restart_between_batches_is_not_noticed(postgres_server, ledger, ask) -> None:
    ledger.once_with(ask(1, nano=1), b"x")
    postgres_server.crash()
    assert ledger.once_with(ask(2, nano=1), b"y").value == b"y"
    assert ledger.once_with(ask(1, nano=1), b"n").value == b"x"


def test_a_backend_that_is_killed(postgres, ledger, ask) -> None:
    future, go = begun(ledger)
    pid = ledger._writer._commits._held.info.backend_pid
    os.kill(pid, signal.SIGKILL)
    go.set()
    with pytest.raises(LedgerError):
        future.result(20)
    end = time.monotonic() + 30
    while True:
        try:
            assert ledger.once_with(ask(), b"x").value == b"x"
            break
        except LedgerError:  # it recovers
            assert time.monotonic() < end
            time.sleep(0.1)
    assert postgres.checked().problems == ()


def test_another_ledger_in_its_place_is_refused(postgres, ledger, ask) -> None:
    ledger.once_with(ask(), b"x")
    postgres.raw(("DROP SCHEMA reticent CASCADE",))
    open_ledger(postgres.address).close()
    ledger._writer._commits._held.close()
    with pytest.raises(LedgerError, match="another ledger"):
        ledger.once_with(ask(2), b"x")


def test_an_error_that_work_swallowed_is_not_taken_for_success(postgres, ledger, ask) -> None:
    def work(held) -> str:
        with pytest.raises(psycopg.Error):
            held.execute("SELECT 1 / 0")
        return "all is well"

    with pytest.raises(LedgerError, match="aborted"):
        ledger.write(work)
    assert ledger.once_with(ask(), b"x").value == b"x"


def test_work_that_ends_the_transaction_itself_is_told(ledger, ask) -> None:
    with pytest.raises(LedgerError):
        ledger.write(lambda held: held.execute("ROLLBACK"))
    assert ledger.once_with(ask(), b"x").value == b"x"


def test_two_writers_wait_for_each_other(postgres, ledger, ask) -> None:
    second = postgres.open()
    future, go = begun(ledger)
    waiting = second.submit(ask(), b"x")
    with pytest.raises(TimeoutError):
        waiting.result(0.3)
    go.set()
    future.result(10)
    assert waiting.result(10).value == b"x"


def test_many_readers_at_once_and_few_are_kept(ledger) -> None:
    open_now = [ledger.reading() for _ in range(9)]
    for one in open_now:
        one.__enter__().execute("SELECT 1").fetchall()
    for one in open_now:
        one.__exit__(None, None, None)
    assert len(ledger._readers._idle) == 4
    ledger.close()
    assert len(ledger._readers._idle) == 0


def test_functions_of_another_version_are_replaced(postgres, ask) -> None:
    """As those of 0.1 are: under the same names, with other arguments and another text."""
    ledger = postgres.open()
    ledger.once_with(ask(1), b"x")
    head = postgres.checked().head
    reserve = ledger.write(
        lambda held: held.execute("SELECT CAST(CAST('reserve' AS regproc) AS regprocedure)")
    ).fetchone()[0]
    postgres.raw(
        (f"DROP FUNCTION {reserve}",),
        ("CREATE FUNCTION reserve(text) RETURNS int LANGUAGE sql AS 'SELECT 1'",),
    )
    assert postgres.checked().problems != ()
    postgres.open()
    assert postgres.checked().problems != ()  # the control: what was changed by hand stays
    postgres.raw(("DELETE FROM meta WHERE name = 'functions'",))
    with open_ledger(postgres.address, create=False) as renewed:
        assert renewed.once_with(ask(1), b"y").value == b"x"
        assert renewed.once_with(ask(2), b"y").value == b"y"
    assert postgres.checked(head).problems == ()
