"""Artefacts: stored answers with their card, read again so that others can be derived from them.

Not here  what a kind takes for its value (``Query.restore``), what is derived (derived.py).

Reading runs nothing and trusts nothing. A file whose card does not hold, whose card is of another
query, or whose value that query could not have released is refused. It is no signature: who can
write a file that fits can make up an answer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from reticent.errors import ReticentError
from reticent.guarantees.card import Card
from reticent.noise import Source
from reticent.queries.base import Answer, Terms
from reticent.queries.card_checks import is_in_own_words, recomputed
from reticent.queries.folders import read_folder
from reticent.queries.publish import SCHEMA
from reticent.queries.registry import query_of

LARGEST = 1 << 28
"""Bytes of the longest file that is read."""
_PARTS = ("query", "value", "card")
_BROKEN = (
    *(KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError),
    *(ZeroDivisionError, RecursionError, ReticentError),
)


class ArtefactError(ReticentError):
    """A file or other data that are no artefact of the ``kind`` asked for; ``why`` says it."""

    def __init__(self, called: str, kind: str, why: str) -> None:
        self.called, self.kind, self.why = called, kind, why
        super().__init__(f"{called} is no {kind} that can be used: {why}")

    def __reduce__(self) -> tuple[type[ArtefactError], tuple[str, str, str]]:
        return ArtefactError, (self.called, self.kind, self.why)


def read_answer(held: Any, kind: str, called: str) -> Answer:
    """The answer in a file, in what the publisher wrote, or as it is."""
    if isinstance(held, Answer):
        if held.query.kind != kind:
            raise ArtefactError(called, kind, f"it is an answer of {held.query.kind}")
        return held
    if isinstance(held, Path) or (isinstance(held, str) and not held.lstrip().startswith("{")):
        called = str(held)
        path = Path(held)
        if path.is_dir():
            return _answer(_folder(path, kind), called, kind)
        held = _text(path, kind)
    return _answer(_parsed(held, called, kind) if isinstance(held, str) else held, called, kind)


def _folder(path: Path, kind: str) -> dict[str, Any]:
    """What a published folder holds, as the publisher writes an answer in one file."""
    try:
        about, columns = read_folder(path)
        value = query_of(kind).of_columns(columns)
        return {"schema": SCHEMA, "query": about["query"], "value": value, "card": about["card"]}
    except (*_BROKEN, OSError):
        why = f"it is no folder that `reticent release {kind} --out NAME.parquet` made"
        raise ArtefactError(str(path), kind, why) from None


def _text(path: Path, kind: str) -> str:
    with path.open("rb") as file:
        packed = file.read(LARGEST + 1)
    if len(packed) > LARGEST:
        raise ArtefactError(str(path), kind, f"it is longer than {LARGEST:,} bytes")
    try:
        return packed.decode("utf-8")
    except UnicodeDecodeError:
        raise ArtefactError(str(path), kind, "it is not text in UTF-8") from None


def _parsed(text: str, called: str, kind: str) -> Any:
    try:
        return json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise ArtefactError(called, kind, f"no JSON, line {error.lineno}: {error.msg}") from None
    except (ValueError, RecursionError):  # NaN, a number of thousands of digits, deep nesting
        raise ArtefactError(called, kind, "no JSON: too long, too deep or no number") from None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _answer(told: Any, called: str, kind: str) -> Answer:
    """An answer that its own query could have given, with a card that holds."""
    try:
        _check_kind(told, kind)
        query = query_of(kind).of_plain(told["query"])
        value = query.restore(told["value"])
        terms = query.terms(query.told_by(value))
        card = Card.from_json(json.dumps(told["card"]))
        _check_card(card, terms)
        return Answer(query, value, card, "0", terms=terms)
    except _Refused as error:
        raise ArtefactError(called, kind, str(error)) from None
    except _BROKEN:
        why = "its parts do not fit: it is no whole answer with its card"
        raise ArtefactError(called, kind, why) from None


class _Refused(Exception):
    """What is wrong, in words of ours: no text of the file is repeated."""


def _check_kind(told: Any, kind: str) -> None:
    schema = told.get("schema") if isinstance(told, Mapping) else None
    name, _, version = schema.partition("/") if isinstance(schema, str) else ("", "", "")
    if name == SCHEMA.partition("/")[0] and schema != SCHEMA and version.isdecimal():
        raise _Refused(f"it is of version {version[:9]}, and this version reads {SCHEMA}")
    if schema != SCHEMA or not set(_PARTS) <= told.keys():
        raise _Refused(f"it is another file, not one of schema {SCHEMA} with its card")
    if not isinstance(told["query"], Mapping) or told["query"].get("kind") != kind:
        raise _Refused("it is an answer of another query")


def _check_card(card: Card, terms: Terms) -> None:
    """That the card speaks of this query, and that all of it that can be recomputed holds."""
    event = card.release_event()
    own = replace(terms.event(Source.system()), private=event.private)
    if event.to_json() != own.to_json():
        raise _Refused("its card is that of another query")
    if recomputed(card) or is_in_own_words(card):
        raise _Refused("its card does not hold; reticent card verify says why")
