"""What is written to a ledger in PostgreSQL, each by one function: reserve, settle, forget.

Theory    docs/theory/ledger.md, Theorem 1 (never more than the limit), Theorem 2 (one key, one
          answer, one charge), Theorem 4 (periods do not come again), Theorem 5 (a refusal that
          nobody sees), Theorem 6 (nothing is charged for a stale draw)
Notation  amounts in nano-epsilon; moment = seconds since 1970, never less than any seen before
Not here  the tables (postgres_tables.py), who calls (postgres.py).

They do what spending.py does, line by line and byte by byte: one check replays both. A refusal is
an outcome and no error, so that it spoils nothing of what else is in the transaction.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache

LOCK = int.from_bytes(b"reticent", "big")  # of the one who writes, as an advisory lock


@dataclass(frozen=True, slots=True)
class Function:
    """A function by name, what stands before its text, and the text as the server keeps it."""

    name: str
    head: str
    text: str
    kind: str = "LANGUAGE plpgsql"

    def statement(self) -> str:
        """As it is made."""
        return f"CREATE FUNCTION {self.name}{self.head} {self.kind} AS $${self.text}$$"


# Only what is built in: a backup that is read back has no search path.
NAMES_OF = Function(
    "names_of",
    "(subject text, provider text, what text, period text) RETURNS bytea",
    """
BEGIN
  RETURN sha256(
    int8send(octet_length(subject)) || convert_to(subject, 'UTF8')
    || int8send(octet_length(provider)) || convert_to(provider, 'UTF8')
    || int8send(octet_length(what)) || convert_to(what, 'UTF8') || convert_to(period, 'UTF8'));
END
""",
    "LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE",
)

_ALONE = Function(
    "write_alone",
    "() RETURNS void",
    f"""
BEGIN
  PERFORM pg_advisory_xact_lock({LOCK});
END
""",
)

_PERIOD_OF = Function(
    "period_of",
    "(renews text, moment bigint) RETURNS text",
    """
BEGIN
  RETURN CASE renews WHEN 'never' THEN '' ELSE to_char(
    to_timestamp(moment) AT TIME ZONE 'UTC',
    CASE renews WHEN 'yearly' THEN 'YYYY' WHEN 'monthly' THEN 'YYYY-MM'
      WHEN 'weekly' THEN 'IYYY-"W"IW' WHEN 'daily' THEN 'YYYY-MM-DD' END) END;
END
""",
)

_COMMITMENT = Function(
    "commitment",
    "(salt bytea, VARIADIC parts bytea[]) RETURNS text",
    """
DECLARE
  whole bytea := salt;
  part bytea;
BEGIN
  FOREACH part IN ARRAY parts LOOP
    whole := whole || int8send(octet_length(part)) || part;
  END LOOP;
  RETURN encode(sha256(whole), 'hex');
END
""",
)

_SEAL = Function(
    "seal",
    "(number bigint) RETURNS bytea",
    """
BEGIN
  RETURN (SELECT sha256(string_agg(salt, ''::bytea ORDER BY account.id) || int8send(number))
    FROM charge JOIN account ON account.id = charge.account WHERE charge.spend = number);
END
""",
)

_APPEND = Function(
    "append_line",
    "(kind text, body text) RETURNS void",
    """
DECLARE
  last bigint;
  before bytea;
BEGIN
  SELECT line.seq, line.chain INTO last, before FROM line ORDER BY line.seq DESC LIMIT 1;
  IF NOT FOUND THEN
    last := 0;
    SELECT sha256(convert_to(value, 'UTF8')) INTO STRICT before FROM meta WHERE name = 'ledger';
  END IF;
  INSERT INTO line VALUES (last + 1, kind, body, sha256(
    before || convert_to(kind, 'UTF8') || '\\x00'::bytea || convert_to(body, 'UTF8')));
END
""",
)

_SET_LIMIT = Function(
    "set_limit",
    "(number bigint, wanted bigint) RETURNS bigint",
    """
DECLARE
  before bigint;
  after bigint;
BEGIN
  SELECT lim, greatest(wanted, spent) INTO STRICT before, after FROM account WHERE id = number;
  IF after <> before THEN
    UPDATE account SET lim = after WHERE id = number;
    PERFORM append_line('limit', format('{"account":%s,"from":%s,"to":%s}', number, before, after));
  END IF;
  RETURN after;
END
""",
)

_OPEN = Function(
    "open_account",
    "(its_subject text, its_provider text, its_what text, its_period text, wanted bigint,"
    " seed bytea, OUT number bigint, OUT room bigint)",
    """
DECLARE
  held bigint;
  used bigint;
  fresh bytea;
BEGIN
  SELECT id, lim, spent INTO number, held, used FROM account
    WHERE names = names_of(its_subject, its_provider, its_what, its_period);
  IF NOT FOUND THEN
    SELECT coalesce(max(id), 0) + 1 INTO number FROM account;
    fresh := substr(sha256(seed || int8send(number)), 1, 16);
    held := wanted;
    used := 0;
    INSERT INTO account (id, subject, provider, what, period, salt, lim)
      VALUES (number, its_subject, its_provider, its_what, its_period, fresh, wanted);
    PERFORM append_line('open', format('{"account":%s,"limit":%s,"of":"%s","period":"%s"}',
      number, wanted, commitment(fresh, convert_to(its_subject, 'UTF8'),
      convert_to(its_provider, 'UTF8'), convert_to(its_what, 'UTF8')), its_period));
  ELSIF wanted < held THEN
    held := set_limit(number, wanted);
  END IF;
  room := held - used;
END
""",
)

_SETTLE = Function(
    "settle",
    "(number bigint, given bytea, OUT outcome text, OUT kept bytea)",
    """
BEGIN
  PERFORM write_alone();
  UPDATE spend SET state = 'settled', answer = given WHERE id = number AND state = 'reserved';
  IF FOUND THEN
    PERFORM append_line('answer', format('{"answer":"%s","spend":%s}',
      commitment(seal(number), given), number));
    outcome := 'answered';
    kept := given;
    RETURN;
  END IF;
  SELECT answer INTO kept FROM spend WHERE id = number;
  outcome := CASE WHEN kept IS NULL THEN 'deleted' ELSE 'replayed' END;
END
""",
)

_CHOOSE = Function(
    "choose_parts",
    "(parts bytea[], covers bytea[], needs bigint[], short bigint) RETURNS bytea",
    """
DECLARE
  whole bytea := '';
BEGIN
  FOR n IN 1 .. cardinality(parts) LOOP
    whole := whole || CASE WHEN needs[n] & short <> 0 THEN covers[n] ELSE parts[n] END;
  END LOOP;
  RETURN whole;
END
""",
)

_RESERVE = Function(
    "reserve",
    "(by_principal text, by_key text, print text, told text, now bigint, seed bytea,"
    " subjects text[], providers text[], whats text[], renewals text[], amounts bigint[],"
    " limits bigint[], unchanged boolean, given bytea, parts bytea[], covers bytea[],"
    " needs bigint[], whose bigint[], OUT outcome text, OUT number bigint, OUT kept bytea,"
    " OUT place int, OUT remaining bigint)",
    """
DECLARE
  known_print text;
  known_state text;
  seen bigint;
  moment bigint;
  one bigint;
  room bigint;
  short bigint := 0;  -- a bit for each subject who cannot pay
  accounts bigint[] := ARRAY[]::bigint[];
  pairs text[] := ARRAY[]::text[];
  sealed bytea;
BEGIN
  PERFORM write_alone();
  SELECT id, fingerprint, state, answer INTO number, known_print, known_state, kept
    FROM spend WHERE principal = by_principal AND key = by_key;
  IF FOUND THEN
    IF known_state = 'settled' AND kept IS NULL THEN
      outcome := 'deleted';
    ELSIF known_print <> print THEN
      outcome := 'reused';
      kept := NULL;
    ELSIF kept IS NOT NULL THEN
      outcome := 'replayed';
    ELSIF NOT unchanged THEN
      outcome := 'stale';
    ELSIF given IS NULL AND parts IS NULL THEN
      outcome := 'reserved';
    ELSE
      SELECT settled.outcome, settled.kept INTO outcome, kept
        FROM settle(number, coalesce(given, choose_parts(parts, covers, needs, 0))) AS settled;
    END IF;
    RETURN;
  END IF;
  IF NOT unchanged THEN
    outcome := 'stale';
    RETURN;
  END IF;
  SELECT value::bigint INTO STRICT seen FROM meta WHERE name = 'clock';
  moment := greatest(seen, now);
  BEGIN  -- all or nothing: what fails in here is as if it had not been
    FOR n IN 1 .. cardinality(subjects) LOOP
      SELECT opened.number, opened.room INTO one, room FROM open_account(subjects[n], providers[n],
        whats[n], period_of(renewals[n], moment), limits[n], seed) AS opened;
      IF amounts[n] > room THEN
        IF place IS NULL THEN
          place := n;
          remaining := room;
        END IF;
        short := short | whose[n];
      END IF;
      accounts := accounts || one;
    END LOOP;
    IF parts IS NOT NULL THEN  -- the same work whoever is short, Theorem 5
      given := choose_parts(parts, covers, needs, short);
      FOR n IN 1 .. cardinality(whose) LOOP
        amounts[n] := CASE WHEN whose[n] & short <> 0 THEN 0 ELSE amounts[n] END;
      END LOOP;
    ELSIF place IS NOT NULL THEN
      RAISE EXCEPTION SQLSTATE 'RT001';
    END IF;
    FOR n IN 1 .. cardinality(subjects) LOOP
      UPDATE account SET spent = spent + amounts[n]
        WHERE id = accounts[n] AND spent + amounts[n] <= lim;
      IF NOT FOUND THEN
        RAISE EXCEPTION 'an account was changed meanwhile';
      END IF;
      pairs := pairs || format('[%s,%s]', accounts[n], amounts[n]);
    END LOOP;
    IF moment > seen THEN
      UPDATE meta SET value = moment::text WHERE name = 'clock';
    END IF;
    SELECT coalesce(max(id), 0) + 1 INTO number FROM spend;
    INSERT INTO spend VALUES (number, by_principal, by_key, print,
      CASE WHEN given IS NULL THEN 'reserved' ELSE 'settled' END, moment, told, given);
    INSERT INTO charge SELECT number, pair.account, pair.nano
      FROM unnest(accounts, amounts) AS pair (account, nano);
    sealed := seal(number);
    PERFORM append_line('spend', format(
      '{%s"at":%s,"by":"%s","charges":[%s],"of":"%s","spend":%s}',
      CASE WHEN given IS NOT NULL THEN format('"answer":"%s",', commitment(sealed, given)) END,
      moment,
      commitment(''::bytea, convert_to(by_principal, 'UTF8'), convert_to(by_key, 'UTF8')),
      array_to_string(pairs, ','),
      commitment(sealed, convert_to(print, 'UTF8'), convert_to(told, 'UTF8')),
      number));
    kept := given;
    outcome := CASE WHEN given IS NULL THEN 'reserved' ELSE 'answered' END;
  EXCEPTION WHEN SQLSTATE 'RT001' THEN
    outcome := 'refused';
    number := NULL;
  END;
END
""",
)

_LIFT = Function(
    "lift_limit",
    "(its_subject text, its_provider text, its_what text, its_period text, wanted bigint)"
    " RETURNS boolean",
    """
DECLARE
  number bigint;
BEGIN
  PERFORM write_alone();
  SELECT id INTO number FROM account
    WHERE names = names_of(its_subject, its_provider, its_what, its_period);
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  PERFORM set_limit(number, wanted);
  RETURN true;
END
""",
)

_FORGET = Function(
    "forget",
    "(person text) RETURNS int",
    """
DECLARE
  numbers bigint[];
BEGIN
  PERFORM write_alone();
  SELECT array_agg(id ORDER BY id) INTO numbers FROM account WHERE subject = person;
  IF numbers IS NULL THEN
    RETURN 0;
  END IF;
  UPDATE spend SET state = 'settled', answer = NULL, event = '', fingerprint = ''
    WHERE id IN (SELECT spend FROM charge WHERE account = ANY (numbers));
  UPDATE account SET subject = NULL, provider = NULL, what = NULL, salt = NULL
    WHERE id = ANY (numbers);
  PERFORM append_line('forget', format('{"accounts":[%s]}', array_to_string(numbers, ',')));
  RETURN cardinality(numbers);
END
""",
)

FUNCTIONS = (
    *(_ALONE, _PERIOD_OF, _COMMITMENT, _SEAL, _APPEND, _SET_LIMIT),
    *(_OPEN, _SETTLE, _CHOOSE, _RESERVE, _LIFT, _FORGET),
)


@cache
def version() -> str:
    """What the functions say, in short: a database that holds others gets these."""
    return hashlib.sha256("".join(one.statement() for one in FUNCTIONS).encode()).hexdigest()
