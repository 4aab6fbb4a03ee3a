"""Numbers for names: to deal people out to parts, and to see whether somebody comes twice; order.

Not here  who they are to the ledger (tasks/batched.py).

Two names may share a number, once in 10**19 pairs; then the names themselves decide.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.tasks.batched import arrow, compute, names_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


def numbers_of(people: Any) -> NDArray[np.uint64]:
    """A number for each person of an Arrow column without gaps: of whole numbers, or of text."""
    pa = arrow()
    if pa.types.is_integer(people.type):
        return np.asarray(people.cast(pa.int64(), safe=False)).view(np.uint64)
    from reticent.running.people_kernels import number_texts  # loads Numba

    numbers = np.empty(len(people), dtype=np.uint64)
    _, starts, letters = people.buffers()
    if len(people) and letters is not None:
        offsets = np.frombuffer(starts, np.int32)[people.offset : people.offset + len(people) + 1]
        number_texts(offsets, np.frombuffer(letters, np.uint8), numbers)
    elif len(people):  # all of them empty
        numbers[:] = 0
    return numbers


def buckets_of(people: Any, count: int) -> NDArray[np.int64]:
    """The bucket, 0 to ``count`` - 1, of each person: the same for the same name, anywhere."""
    mixed = numbers_of(people) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(32)
    return (mixed % np.uint64(count)).astype(np.int64)


def canonical_order(people: Any) -> NDArray[np.int64]:
    """The rows of an Arrow column of names in canonical order (data/labels.py)."""
    pa, functions = arrow(), compute()
    if pa.types.is_integer(people.type):
        if not len(people) or functions.min(people).as_py() >= 0:
            return np.argsort(np.asarray(people), kind="stable")
        people = people.cast(pa.string())
    digits = functions.match_substring_regex(people, "^[0-9]+$")
    length = functions.if_else(digits, functions.utf8_length(people), 0)
    keys = pa.table({"other": functions.invert(digits), "length": length, "name": people})
    by = [(name, "ascending") for name in keys.column_names]
    return np.asarray(functions.sort_indices(keys, sort_keys=by), dtype=np.int64)


def comes_twice(
    numbers: Sequence[NDArray[np.uint64]], columns: Callable[[], Iterable[Any]]
) -> bool:
    """Whether some name stands in two rows; ``columns`` gives the names again if that is likely."""
    whole = np.concatenate([np.empty(0, np.uint64), *numbers])
    whole.sort()
    suspects = np.unique(whole[1:][whole[1:] == whole[:-1]])
    if not suspects.size:
        return False
    return any(count > 1 for count in Counter(_suspected(columns(), suspects)).values())


def _suspected(columns: Iterable[Any], suspects: NDArray[np.uint64]) -> Iterator[str]:
    for column in columns:
        marked = np.isin(numbers_of(column), suspects)
        yield from names_of(column.filter(arrow().array(marked)))
