"""Which ledger an address means; and no password in any message."""

import subprocess
import sys

import pytest

from reticent.ledger import LedgerError, SqliteLedger, open_ledger, open_reading
from reticent.ledger.postgres_connection import shown, translated

SECRET = "hunter2"


def test_files(tmp_path, ask) -> None:
    for address in (tmp_path / "one.db", str(tmp_path / "two.db")):
        with open_ledger(address) as ledger:
            assert isinstance(ledger, SqliteLedger)
            assert ledger.address == str(address)
            ledger.once_with(ask(), b"x")
        with open_reading(address) as held:
            assert held.execute("SELECT spent FROM account").fetchone() == (4,)
    with pytest.raises(LedgerError, match="there is no ledger"):
        open_ledger(tmp_path / "none.db", create=False)


@pytest.mark.postgres
def test_servers(postgres, ask) -> None:
    for short in ("postgresql://", "postgres://"):
        address = postgres.address.replace("postgresql://", short)
        with open_ledger(address) as ledger:
            assert ledger.once_with(ask(), b"x").value == b"x"
            assert ledger.address.startswith("postgresql://postgres@/test_")
    with open_reading(postgres.address) as held:
        assert held.execute("SELECT spent FROM account").fetchone() == (4,)


@pytest.mark.postgres
def test_none_is_made_unless_asked_for(postgres) -> None:
    for opened in (lambda: open_ledger(postgres.address, create=False), None):
        with pytest.raises(LedgerError, match=r"postgresql://postgres@/test_\d+"):
            opened() if opened else open_reading(postgres.address).__enter__()
    with pytest.raises(postgres.refusal):
        postgres.raw(("SELECT * FROM meta",))


@pytest.mark.postgres
def test_a_schema_of_somebody_else(postgres) -> None:
    postgres.raw(("CREATE SCHEMA reticent",), ("CREATE TABLE reticent.theirs (x int)",))
    with pytest.raises(LedgerError, match="no ledger"):
        open_ledger(postgres.address)
    postgres.raw(("DROP TABLE theirs",))
    open_ledger(postgres.address).close()
    postgres.raw(("UPDATE meta SET value = 'reticent-ledger/9' WHERE name = 'schema'",))
    with pytest.raises(LedgerError, match="version"):
        open_ledger(postgres.address)


def test_the_same_without_the_driver(tmp_path) -> None:
    code = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from reticent.errors import MissingExtra\n"
        "from reticent.ledger import open_ledger\n"
        "open_ledger(sys.argv[1]).close()\n"
        "try:\n    open_ledger('postgresql://host/name')\n"
        "except MissingExtra as error:\n    print(error)"
    )
    command = [sys.executable, "-c", code, tmp_path / "ledger.db"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "pip install 'reticent[postgres]'" in run.stdout


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://ann:{SECRET}@localhost:1/name",
        f"postgresql://ann@localhost:1/name?password={SECRET}",
        f"postgresql://ann:1/{SECRET}@localhost:1/name",
        f"postgresql://ann:1?{SECRET}@localhost:1/name",
        f"postgresql://ann:1#{SECRET}@localhost:1/name",
        f"postgresql://ann:@{SECRET}@@localhost:1/name",
        f"postgresql://ann:[{SECRET}@localhost:1/name",
        f"postgresql://ann:%zz{SECRET}@localhost:1/name",
        f"postgresql://ann:x@localhost:{SECRET}/name",
        f"postgresql://ann:x@localhost:1/name?{SECRET}",
    ],
)
def test_no_password_in_messages(address) -> None:
    with pytest.raises(LedgerError) as caught:
        open_ledger(address)
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    assert SECRET not in shown(address)


def test_an_address_as_it_is_shown() -> None:
    assert shown("postgres://ann:x@db.org:77/n?sslmode=require") == "postgresql://ann@db.org:77/n"
    assert shown("postgresql:///n") == "postgresql:///n"


@pytest.mark.postgres
def test_why_a_server_refuses_is_told(postgres) -> None:
    with pytest.raises(LedgerError, match='database "none_such" does not exist'):
        open_ledger(
            postgres.address.replace("/test_", "/none_such?x=").split("?")[0]
            + ("?" + postgres.address.split("?")[1])
        )


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT ?, ?", "SELECT %s, %s"),
        ("SELECT '?', x % ?", "SELECT '?', x %% %s"),
        ("SELECT 'it''s ?%' || ?", "SELECT 'it''s ?%%' || %s"),
        ('SELECT "odd?%" FROM t WHERE x = ?', 'SELECT "odd?%%" FROM t WHERE x = %s'),
    ],
)
def test_values_in_both_languages(sql, expected) -> None:
    assert translated(sql) == expected
