"""The one publisher: an answer as text, JSON, CSV or Parquet, in a form fixed by its terms.

Not here  what is in an answer (each query), guarantee cards as pages (guarantees/card_views.py).
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from reticent.errors import MissingExtra
from reticent.queries.folders import Folder

if TYPE_CHECKING:
    from reticent.queries.base import Answer, Terms

SCHEMA = "answer/1"


def as_csv(answer: Answer) -> str:
    """A header line and the rows; of a folder, where it is."""
    if isinstance(answer.value, Folder):
        return f"{answer.value.people:,} people: {answer.value.path}\n"
    text = io.StringIO()
    rows = answer.terms.rows(answer.value)
    csv.writer(text, lineterminator="\n").writerows([answer.terms.columns, *rows])
    return text.getvalue()


def as_text(answer: Answer) -> list[str]:
    """Lines for a terminal."""
    from reticent.guarantees.card_facts import visible

    folder = isinstance(answer.value, Folder)
    own = None if folder else answer.terms.lines(answer.value)
    return [visible(line) for line in (as_csv(answer).splitlines() if own is None else own)]


def fields(answer: Answer) -> dict[str, Any]:
    """For JSON: what was asked and what was answered."""
    value = answer.value
    told = value.plain() if isinstance(value, Folder) else answer.terms.plain(value)
    return {"query": answer.query.to_plain(), "value": told}


def as_json(answer: Answer) -> str:
    """The answer with its card."""
    card = answer.card.model_dump(mode="json", by_alias=True)
    told = {"schema": SCHEMA, **fields(answer), "card": card}
    return json.dumps(told, indent=2, ensure_ascii=False) + "\n"


def as_table(terms: Terms, value: Any) -> Any:
    """The rows as an Arrow table; types follow from the terms, as every answer has its columns."""
    arrow = import_module("pyarrow")
    rows = terms.rows(value)
    columns = [arrow.array([row[j] for row in rows]) for j in range(len(terms.columns))]
    blank = [arrow.types.is_null(column.type) for column in columns]  # nothing but withheld cells
    held = [c.cast(arrow.string()) if b else c for c, b in zip(columns, blank, strict=True)]
    return arrow.table(held, names=list(terms.columns))


def as_parquet(answer: Answer) -> bytes:
    """The rows in one file."""
    packed = io.BytesIO()
    import_module("pyarrow.parquet").write_table(as_table(answer.terms, answer.value), packed)
    return packed.getvalue()


_FORMS: dict[str, Callable[[Answer], str | bytes]] = {
    ".csv": as_csv,
    ".json": as_json,
    ".parquet": as_parquet,
}
FORMATS = tuple(_FORMS)


def check(suffix: str) -> None:
    """Say what is missing for files of this form, before anything is spent on one."""
    if suffix == ".parquet" and find_spec("pyarrow") is None:
        raise MissingExtra("writing Parquet", "arrow")


def packed(answer: Answer, suffix: str) -> str | bytes:
    """What a file of this form holds."""
    return _FORMS[suffix](answer)
