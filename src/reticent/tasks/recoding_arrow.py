"""Profiles through a mapping, from Arrow batches of people to Arrow batches of released profiles.

Theory    docs/theory/mapping.md, Theorem 5 (integer rows), Theorem 6 (several releases)
Not here  which profile a row stands for (recoding.py, recoding_places.py), drawing
          (mechanisms/mapping.py), files and processes (running/, spark/).

In: who (``person``) and the columns of the mapping, of any type; others stay behind. Out:
``person`` and the columns of the mapping, of the types of the profiles and not of the batch. A
profile that the rule "withhold" keeps back is missing in every column. Who is in two batches is
drawn for twice, and two draws tell more: whoever feeds batches must see to it.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.data.frames import Frame
from reticent.errors import ParameterError, require
from reticent.guarantees import Event, canonical
from reticent.noise import Source
from reticent.tasks.batched import PERSON, Drawn, arrow, names_of, with_people
from reticent.tasks.charged import ANYONE, Payer
from reticent.tasks.recoding import Recoding
from reticent.tasks.recoding_places import Coded, Met

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_READ = 1 << 14  # cells of a column that are remembered as the mapping reads them


@dataclass(frozen=True, eq=False)  # no slots: cached properties need a dictionary
class ProfileBatches:
    """What a provider gets of many people through one mapping.

    Text leaves as a dictionary and its codes, which is what Parquet holds.

    >>> import pyarrow as pa
    >>> from reticent.tasks.learning import Limits, learn_mapping
    >>> from reticent.tasks.recoding import Alphabet
    >>> people = np.array([["young", "city"], ["young", "land"], ["old", "city"]] * 20)
    >>> alphabet = Alphabet.of(people, np.array([1, 0, 1] * 20))
    >>> learnt = learn_mapping(alphabet, Limits(delta=0), columns=["age", "home"])
    >>> release = ProfileBatches(learnt.recoding, person="id")
    >>> batch = pa.record_batch({"id": [7, 9], "home": ["land", "city"], "age": ["young", "old"]})
    >>> release.draw(batch, Source.system()).batch.to_pylist()[1]
    {'person': 9, 'age': 'old', 'home': 'city'}
    """

    recoding: Recoding
    person: str = PERSON
    provider: str = ANYONE

    def __post_init__(self) -> None:
        free = not {self.person, PERSON} & set(self.recoding.columns)
        require(free, "person", self.person, "no column of the mapping: it says who it is")

    def __getstate__(self) -> dict[str, Any]:
        """What is sent to other processes: not what was met here."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def columns(self) -> tuple[str, ...]:
        """What is read of the input."""
        return (self.person, *self.recoding.columns)

    @property
    def numbers(self) -> dict[str, bool]:
        """None: a mapping reads all cells as text."""
        return {}

    @cached_property
    def fingerprint(self) -> str:
        """Of the mapping, the provider and the column that names people."""
        told = canonical([self.recoding.fingerprint, self.provider, self.person])
        return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()

    def event(self, source: Source, people: int | None = None) -> Event:
        """One draw through the mapping."""
        return self.recoding.mechanism.event(source)

    def payer(self, person: str) -> Payer:
        """In whose name a draw through this mapping is noted; bits on average cost nothing."""
        what = f"profile: {self.recoding.fingerprint}"
        return Payer(subject=person, provider=self.provider, what=what)

    def draw(self, batch: Any, source: Source) -> Drawn:
        """A released profile for each person; an average in bits adds nothing to what they lost."""
        batch = with_people(batch, self.person)
        people = batch.column(self.person)
        places = self.places(batch)
        drawn = self.recoding.draw(places, source, lambda: names_of(people))
        made = self.made(people, drawn, private=source.private)
        return Drawn(made, np.zeros(len(people), dtype=np.int64))

    def absent(self, people: Any) -> Any:
        """Refused: who has no row has no profile that a mapping could change."""
        rule = "people of the table: who has no line there has no profile to release"
        raise ParameterError("person", rule, "another")

    def places(self, batch: Any) -> NDArray[np.int64]:
        """The profile that each row stands for, or -1 where it is withheld."""
        columns = [self._column(at, batch) for at in range(len(self.recoding.columns))]
        return self.recoding.alphabet.find(columns, self.recoding, self._met)

    def made(self, people: Any, drawn: NDArray[np.int64], *, private: bool) -> Any:
        """A record batch with a profile for each person, by number; nothing where that is -1."""
        gaps = bool((drawn < 0).any())
        return arrow().RecordBatch.from_arrays(
            [people, *(column.taken(drawn, gaps) for column in self._made)],
            names=[PERSON, *self.recoding.columns],
            metadata={
                "reticent.provider": self.provider,
                "reticent.private": json.dumps(private),
            },
        )

    def _column(self, at: int, batch: Any) -> Coded:
        """A column of the batch as the mapping reads it: each distinct value is read once."""
        name = self.recoding.columns[at]
        if name not in batch.schema.names:
            name = Frame.of(batch.slice(0, 0)).named(name)
        values, codes = _distinct(batch.column(batch.schema.names.index(name)))
        read = self._read.setdefault((at, str(values.type)), {})
        cells = values.to_pylist()
        new = [place for place, cell in enumerate(cells) if cell not in read]
        if not new:
            return Coded([read[cell] for cell in cells], codes)
        frame = Frame.of(arrow().table([values.take(new)], names=["cells"]))
        found = self.recoding.column(at, frame, "cells")
        told = dict(zip(new, (found.cells[code] for code in found.codes.tolist()), strict=True))
        whole = [told[i] if i in told else read[cell] for i, cell in enumerate(cells)]
        if len(read) + len(new) <= _READ:
            read.update((cells[i], cell) for i, cell in told.items())
        return Coded(whole, codes)

    @cached_property
    def _read(self) -> dict[tuple[int, str], dict[Any, Any]]:
        """Cells met before, by column and type, as the mapping reads them."""
        return {}

    @cached_property
    def _met(self) -> Met:
        """Rows met before that are outside the alphabet."""
        return Met()

    @cached_property
    def _made(self) -> list[_Made]:
        known = self.recoding.alphabet
        return [
            _Made.of(list(cells), codes)
            for cells, codes in zip(known.cells, known.codes.T, strict=True)
        ]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Made:
    """A column of the profiles, ready to be taken from; the last place is for what is withheld."""

    cells: NDArray[Any]  # of each profile: a number, or the place of a text
    there: NDArray[np.bool_]
    texts: Any = None

    @classmethod
    def of(cls, values: Sequence[Any], codes: NDArray[np.int64]) -> _Made:
        """Numbers where all values are; else text."""
        values = [value.item() if isinstance(value, np.generic) else value for value in values]
        missing = np.array([value is None for value in values])
        there = np.append(~missing[codes], False)
        held = [value for value in values if value is not None]
        kind = _kind(held)
        if kind is not None:
            numbers = np.array([kind(0) if value is None else value for value in values], kind)
            return cls(np.append(numbers[codes], kind(0)), there)
        renamed = np.cumsum(~missing) - 1
        index = np.min_scalar_type(-max(len(held), 1))
        texts = arrow().array([str(value) for value in held], arrow().string())
        return cls(np.append(renamed[codes], 0).clip(min=0).astype(index), there, texts)

    def taken(self, drawn: NDArray[np.int64], gaps: bool) -> Any:
        """The cells of drawn profiles; with ``gaps`` some are withheld."""
        pa = arrow()
        whole = not gaps and bool(self.there[:-1].all())
        cells = pa.array(self.cells[drawn], mask=None if whole else ~self.there[drawn])
        if self.texts is None:
            return cells
        return pa.DictionaryArray.from_arrays(cells, self.texts, safe=False)


def _kind(held: Sequence[Any]) -> type[Any] | None:
    """The type of numbers that holds all values as they are, if there is one."""
    kinds = {type(value) for value in held}
    if kinds == {bool}:
        return np.bool_
    if kinds == {int} and all(-(1 << 63) <= value < 1 << 63 for value in held):
        return np.int64
    if kinds and kinds <= {int, float} and all(_fits(value) for value in held):
        return np.float64
    return None


def _fits(value: float) -> bool:
    return isinstance(value, float) or abs(value) <= 1 << 53


def _distinct(column: Any) -> tuple[Any, NDArray[np.int64]]:
    """Distinct values of a column, a missing one among them if any is, and which each row has."""
    pa = arrow()
    if pa.types.is_dictionary(column.type) and len(column.dictionary) > len(column):
        column = column.dictionary_decode()  # the dictionary is that of a larger table
    if not pa.types.is_dictionary(column.type):
        try:
            column = column.dictionary_encode()
        except pa.ArrowNotImplementedError:
            rule = "with columns of plain values"
            raise ParameterError("batch", rule, str(column.type)) from None
    values, codes = column.dictionary, column.indices
    if codes.null_count:
        values = pa.concat_arrays([values, pa.nulls(1, values.type)])
        codes = codes.cast(pa.int64()).fill_null(len(values) - 1)
    return values, codes.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
