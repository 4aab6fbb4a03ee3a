"""Places of whole numbers, for millions of them at a time: a hash table in arrays.

Notation  a slot = a place of the table; a number's first slot is its product with 2**64 times the
          golden section, by the leading bits; others follow one by one
Not here  what the numbers stand for (recoding_places.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

NEW = -2
"""What is found for a number that is not in the table."""
_EMPTY = -1  # numbers are not negative
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_ROOM = 4  # slots for each number, at least


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Numbers:
    """Numbers and their places. What was found is not changed by adding more."""

    numbers: NDArray[np.int64]  # by slot
    places: NDArray[np.int64]
    count: int

    @classmethod
    def of(cls, numbers: NDArray[np.int64], places: NDArray[np.int64]) -> Numbers:
        """A table; of a number that is given twice one place is kept.

        >>> table = Numbers.of(np.array([70, 5]), np.array([0, 1]))
        >>> table.find(np.array([5, 6, 70])).tolist()
        [1, -2, 0]
        """
        slots = 1 << (_ROOM * max(len(numbers), 1) - 1).bit_length()
        empty = np.full(slots, _EMPTY, dtype=np.int64)
        return cls(empty, np.full(slots, NEW, dtype=np.int64), 0)._put(numbers, places)

    def __len__(self) -> int:
        return self.count

    def with_more(self, numbers: NDArray[np.int64], places: NDArray[np.int64]) -> Numbers:
        """A table that has these, too."""
        if _ROOM * (self.count + len(numbers)) <= len(self.numbers):
            return Numbers(self.numbers.copy(), self.places.copy(), self.count)._put(
                numbers, places
            )
        held = self.numbers != _EMPTY
        return Numbers.of(
            np.concatenate([self.numbers[held], numbers]),
            np.concatenate([self.places[held], places]),
        )

    def find(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """The place of each, or NEW."""
        slots = self._first(numbers)
        held = self.numbers.take(slots)
        found = self.places.take(slots)
        rows = np.flatnonzero((held != numbers) & (held != _EMPTY))
        slots = slots[rows]
        while len(rows):
            slots = (slots + 1) & (len(self.numbers) - 1)
            held = self.numbers.take(slots)
            found[rows] = self.places.take(slots)
            on = (held != numbers[rows]) & (held != _EMPTY)
            rows, slots = rows[on], slots[on]
        return found

    def _first(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        bits = len(self.numbers).bit_length() - 1
        mixed = numbers.view(np.uint64) * _GOLDEN
        mixed >>= np.uint64(64 - bits)
        return mixed.view(np.int64)

    def _put(self, numbers: NDArray[np.int64], places: NDArray[np.int64]) -> Numbers:
        """Fill empty slots, of which several numbers may want the same one."""
        slots, count = self._first(numbers), self.count
        while len(numbers):
            free = self.numbers[slots] == _EMPTY
            self.numbers[slots[free]] = numbers[free]
            done = self.numbers[slots] == numbers
            self.places[slots[done]] = places[done]
            count += len(np.unique(slots[done & free]))
            on = ~done
            numbers, places = numbers[on], places[on]
            slots = (slots[on] + 1) & (len(self.numbers) - 1)
        return Numbers(self.numbers, self.places, count)
