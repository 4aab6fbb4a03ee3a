"""The tables of a ledger in PostgreSQL, with the same rules as in SQLite.

Not here  the hash chain (tables.py), what is written (postgres_functions.py).

All of it stands in a schema of its own. Conditions of triggers stand in functions, whose text the
server keeps as it was given: ``broken_rules`` compares it. ``blob`` is for tables of others, whose
SQL is that of both engines.
"""

from __future__ import annotations

from collections.abc import Iterator

from reticent.ledger.interface import Connection
from reticent.ledger.postgres_functions import FUNCTIONS, NAMES_OF, Function

PLACE = "reticent"  # the schema that holds it
_TABLES = """
CREATE DOMAIN blob AS bytea;
CREATE TABLE meta (name text COLLATE "C" PRIMARY KEY, value text NOT NULL);
CREATE TABLE account (
  id bigint PRIMARY KEY,
  subject text COLLATE "C", provider text COLLATE "C", what text COLLATE "C",
  period text COLLATE "C" NOT NULL,
  salt bytea,
  lim bigint NOT NULL,
  spent bigint NOT NULL DEFAULT 0,
  names bytea UNIQUE GENERATED ALWAYS AS (names_of(subject, provider, what, period)) STORED,
  CONSTRAINT account_within CHECK (0 <= spent AND spent <= lim)
) WITH (fillfactor = 70);
CREATE INDEX account_subject ON account USING hash (subject);
CREATE TABLE spend (
  id bigint PRIMARY KEY,
  principal text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL, fingerprint text NOT NULL,
  state text NOT NULL CONSTRAINT spend_state CHECK (state IN ('reserved', 'settled')),
  at bigint NOT NULL,
  event text NOT NULL,
  answer bytea,
  UNIQUE (principal, key)
);
CREATE TABLE charge (
  spend bigint NOT NULL REFERENCES spend, account bigint NOT NULL REFERENCES account,
  nano bigint NOT NULL CONSTRAINT charge_nano CHECK (nano >= 0),
  PRIMARY KEY (spend, account)
);
CREATE INDEX charge_account ON charge (account, spend);
CREATE TABLE line (
  seq bigint PRIMARY KEY, kind text NOT NULL, body text NOT NULL, chain bytea NOT NULL
)
"""
_FIXED = {  # what may not be done to a row
    "line": "true",
    "charge": "true",
    "account": "TG_OP = 'DELETE' OR new.spent < old.spent",
    "spend": """TG_OP = 'DELETE' OR new.id <> old.id
    OR new.principal <> old.principal OR new.key <> old.key OR new.at <> old.at
    OR (new.fingerprint <> old.fingerprint AND new.fingerprint <> '')
    OR (new.event <> old.event AND new.event <> '')
    OR (old.state = 'settled' AND (new.state <> 'settled'
      OR (new.answer IS NOT NULL AND new.answer IS DISTINCT FROM old.answer)))""",
}
_GUARD = """
BEGIN
  IF {when} THEN
    RAISE EXCEPTION 'what is written in {table} stays'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NULL;
END
"""
_KEPT = Function(
    "kept_whole",
    "() RETURNS trigger",
    """
BEGIN
  RAISE EXCEPTION 'what is written stays' USING ERRCODE = 'integrity_constraint_violation';
END
""",
)
_GUARDS = tuple(
    Function(f"{table}_guard", "() RETURNS trigger", _GUARD.format(table=table, when=when))
    for table, when in _FIXED.items()
)
_INDEXES = [
    "meta_pkey",
    "account_pkey",
    "account_names_key",
    "account_subject",
    "spend_pkey",
    "spend_principal_key_key",
    "charge_pkey",
    "charge_account",
    "line_pkey",
]
_CHECKS = {
    "account_within": "CHECK (((0 <= spent) AND (spent <= lim)))",
    "spend_state": "CHECK ((state = ANY (ARRAY['reserved'::text, 'settled'::text])))",
    "charge_nano": "CHECK ((nano >= 0))",
    "charge_spend_fkey": "FOREIGN KEY (spend) REFERENCES spend(id)",
    "charge_account_fkey": "FOREIGN KEY (account) REFERENCES account(id)",
    "meta_pkey": "PRIMARY KEY (name)",
    "account_pkey": "PRIMARY KEY (id)",
    "account_names_key": "UNIQUE (names)",
    "spend_pkey": "PRIMARY KEY (id)",
    "spend_principal_key_key": "UNIQUE (principal, key)",
    "charge_pkey": "PRIMARY KEY (spend, account)",
    "line_pkey": "PRIMARY KEY (seq)",
}


def script() -> Iterator[str]:
    """All that is made, in order."""
    yield NAMES_OF.statement()
    yield from _TABLES.split(";")
    for one in (*FUNCTIONS, *_GUARDS, _KEPT):
        yield one.statement()
    for table in _FIXED:
        yield (
            f"CREATE TRIGGER {table}_fixed AFTER UPDATE OR DELETE ON {table}"
            f" FOR EACH ROW EXECUTE FUNCTION {table}_guard()"
        )
        yield (
            f"CREATE TRIGGER {table}_kept BEFORE TRUNCATE ON {table}"
            " FOR EACH STATEMENT EXECUTE FUNCTION kept_whole()"
        )


def broken_rules(connection: Connection) -> bool:
    """Whether functions, triggers, checks or keys are not those that were made.

    What other packages add beside them is theirs, under names that begin with ``gateway_``.
    """
    return any(
        {tuple(row) for row in connection.execute(sql, (PLACE,))} != expected
        for sql, expected in _expected()
    )


def _expected() -> Iterator[tuple[str, set[tuple[object, ...]]]]:
    own = (
        " FROM pg_class AS r JOIN pg_namespace AS n ON n.oid = r.relnamespace AND n.nspname = ?"
        " AND left(r.relname, 8) <> 'gateway_'"
    )
    made = (NAMES_OF, *FUNCTIONS, *_GUARDS, _KEPT)
    tables = ("meta", "account", "spend", "charge", "line")
    yield (
        "SELECT proname, prosrc FROM pg_proc JOIN pg_namespace AS n ON n.oid = pronamespace"
        " AND nspname = ? AND left(proname, 8) <> 'gateway_'",
        {(one.name, one.text) for one in made},
    )
    yield f"SELECT r.relname{own} WHERE r.relkind IN ('r', 'p', 'v', 'm')", {(t,) for t in tables}
    yield (
        f"SELECT i.relname, indisvalid AND indpred IS NULL{own} JOIN pg_index"
        " ON indrelid = r.oid JOIN pg_class AS i ON i.oid = indexrelid",
        {(name, True) for name in _INDEXES},
    )
    yield (
        f"SELECT conname, pg_get_constraintdef(c.oid), convalidated{own} JOIN pg_constraint AS c"
        " ON conrelid = r.oid AND contype IN ('c', 'f', 'p', 'u', 'x')",
        {(name, text, True) for name, text in _CHECKS.items()},
    )
    rows, whole = 1 | 8 | 16, 2 | 32  # each row, on deleting and updating; before truncating
    yield (
        f"SELECT r.relname, tgname, tgtype, CAST(tgenabled AS text), proname, tgqual IS NULL{own}"
        " JOIN pg_trigger ON tgrelid = r.oid AND NOT tgisinternal"
        " JOIN pg_proc ON pg_proc.oid = tgfoid",
        {
            row
            for table in _FIXED
            for row in (
                (table, f"{table}_fixed", rows, "O", f"{table}_guard", True),
                (table, f"{table}_kept", whole, "O", "kept_whole", True),
            )
        },
    )
    yield (
        f"SELECT attname, CAST(attgenerated AS text), pg_get_expr(adbin, adrelid){own} JOIN"
        " pg_attribute ON attrelid = r.oid AND NOT attisdropped AND attgenerated <> ''"
        " JOIN pg_attrdef ON adrelid = r.oid AND adnum = attnum",
        {("names", "s", "names_of(subject, provider, what, period)")},
    )
    yield (f"SELECT r.relname{own} JOIN pg_rewrite ON ev_class = r.oid", set())
