"""A release over many people as a function from Arrow batch to Arrow batch.

Theory    docs/theory/parts.md, Theorem 2 (it does not matter who draws)
Notation  nano = nano-epsilon that a person loses by it
Not here  what is released (histogram_arrow.py, recoding_arrow.py), who feeds batches (running/,
          spark/).

A ``Batched`` is a small value of plain data: it can be sent to other processes, and what it draws
for a person depends on that person's row and on the source, not on who else is in the batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from reticent.errors import MissingExtra, ParameterError, require
from reticent.guarantees import Event
from reticent.noise import Source
from reticent.tasks.charged import Payer

if TYPE_CHECKING:
    from numpy.typing import NDArray

LONGEST = 500
"""Letters of a name that a ledger takes."""
PERSON = "person"
"""The column that says whose row it is, in everything that is released."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Drawn:
    """What was drawn for a batch: a record batch whose first column is ``person``, and the losses.

    ``nano`` has what each of its people loses, in the order of rows.
    """

    batch: Any
    nano: NDArray[np.int64]


class Batched(Protocol):
    """What a runner needs to know of a release."""

    @property
    def person(self) -> str:
        """The column of the input that names people."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the input that are read: who first, then what."""

    @property
    def numbers(self) -> Mapping[str, bool]:
        """The columns that hold numbers, where others hold names or text.

        True where a line without a positive one is as if it were not there.
        """

    @property
    def fingerprint(self) -> str:
        """Of everything that decides what is released, besides the data and the source."""

    def event(self, source: Source, people: int | None = None) -> Event:
        """The record of releasing so many people: nobody loses more than it says."""

    def payer(self, person: str) -> Payer:
        """Whose account is charged: the same for everybody, but for their name."""

    def draw(self, batch: Any, source: Source) -> Drawn:
        """The release of a batch; rows without a person are left out."""

    def absent(self, people: Any) -> Any:
        """Rows as a table would have them of people, an Arrow column, who have nothing."""


def arrow() -> Any:
    """The Arrow library, or what to install."""
    try:
        return import_module("pyarrow")
    except ImportError:
        raise MissingExtra("Arrow batches", "arrow") from None


def compute() -> Any:
    """Arrow's functions on arrays."""
    arrow()
    return import_module("pyarrow.compute")


def with_people(batch: Any, person: str) -> Any:
    """The rows that say whose they are, with names as whole numbers or as text."""
    pa = arrow()
    has = person in batch.schema.names
    require(has, "batch", "another", f"with a column {person!r}: it says whose row it is")
    names = batch.column(person)
    if pa.types.is_dictionary(names.type):
        names = names.dictionary_decode()
    if pa.types.is_large_string(names.type) or pa.types.is_string_view(names.type):
        names = names.cast(pa.string())
    kind = names.type
    if not (pa.types.is_integer(kind) or pa.types.is_string(kind)):
        raise ParameterError("person", "a column of whole numbers or of text", str(kind))
    if pa.types.is_integer(kind):  # of one width, whoever else is in the output
        try:
            names = names.cast(pa.int64())
        except pa.ArrowInvalid:
            raise ParameterError("person", "whole numbers below 2**63", "larger ones") from None
    place = batch.schema.get_field_index(person)
    batch = batch.set_column(place, person, names)
    there = names.is_valid()
    if pa.types.is_string(kind):
        there = compute().and_kleene(there, compute().not_equal(names, "")).fill_null(False)
        require(_proper(names), "person", "others", f"names of at most {LONGEST} letters")
    return batch if there.true_count == len(there) else batch.filter(there)


def _proper(names: Any) -> bool:
    """Whether a ledger can hold these names: text without zero bytes that is not too long."""
    try:
        names.validate(full=True)  # a file may say that any bytes are text
    except arrow().ArrowInvalid:
        return False
    longest = compute().max(compute().utf8_length(names)).as_py() or 0
    zeros = compute().any(compute().match_substring(names, "\0")).as_py()
    return longest <= LONGEST and not zeros


def names_of(people: Any) -> list[str]:
    """People as the ledger names them."""
    return [str(name) for name in people.to_pylist()]
