"""Names of people and items: always text, in an order that no table decides.

Notation  a code = the number of a name in a list of names; -1 where a name is missing
Not here  what has the names (profiles.py), names that are declared (declared.py), frames
          (frames.py).

7, 7.0 and "7" are one name. The order of names is canonical: whole numbers by size, then other
names letter by letter. So the order in which lines stand in a private table never shows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.errors import ParameterError, require

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def text_of(label: object) -> str | None:
    """The name that a label stands for: 7, 7.0 and "7" are one; what is no name is missing.

    >>> text_of(7), text_of(7.0), text_of("7"), text_of(None), text_of("")
    ('7', '7', '7', None, None)
    """
    if type(label) is str:
        return label or None
    if type(label) is int:
        return str(label)
    if isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, float):
        if math.isnan(label):
            return None
        label = int(label) if label.is_integer() else label
    if isinstance(label, bytes):
        label = label.decode("utf-8", "backslashreplace")
    return (str(label) or None) if isinstance(label, (str, int, float)) else None


def in_order(name: object) -> tuple[bool, int, str]:
    """The key of the canonical order: whole numbers by size, then other names by their letters.

    >>> sorted(["b", "10", "9", "a"], key=in_order)
    ['9', '10', 'a', 'b']
    """
    text = str(name)
    return (False, len(text), text) if text.isascii() and text.isdigit() else (True, 0, text)


def codes_of(
    labels: ArrayLike | Sequence[str | None], name: str
) -> tuple[NDArray[np.int64], list[str]]:
    """A code for each label, and the distinct names as text, in any order.

    The type of a column of integers or texts is public. Anything else is named one by one, so
    that no label decides how another one is read.
    """
    array = labels if isinstance(labels, np.ndarray) else None
    if array is None or array.dtype.kind not in "iu":
        return _named(labels, name)
    distinct, codes = _numbered(array, name)
    return codes, list(map(str, distinct.tolist()))


def canonical(
    occurring: NDArray[np.int64], names: Sequence[str], declared: Sequence[str] | None = None
) -> tuple[NDArray[np.int64], list[str]]:
    """The names that occur, in canonical order, or the declared ones; and the place of each code.

    ``occurring`` are codes. What does not occur or is not declared has place -1, and so has -1.
    """
    if declared is not None:
        return np.append(places_of(names, declared, "names"), -1), list(declared)
    found = np.flatnonzero(np.bincount(occurring[occurring >= 0], minlength=len(names))).tolist()
    found.sort(key=lambda code: in_order(names[code]))
    places = np.full(len(names) + 1, -1, dtype=np.int64)
    places[found] = np.arange(len(found))
    return places, [names[code] for code in found]


def _named(labels: Any, name: str) -> tuple[NDArray[np.int64], list[str]]:
    one_by_one = labels.tolist() if hasattr(labels, "tolist") else labels
    if not isinstance(one_by_one, (list, tuple, range)) or getattr(labels, "ndim", 1) != 1:
        raise ParameterError(name, "one label per line", f"shape {np.shape(labels)}")
    places: dict[str, int] = {}
    codes = np.empty(len(one_by_one), dtype=np.int64)
    for line, label in enumerate(one_by_one):
        text = text_of(label)
        codes[line] = -1 if text is None else places.setdefault(text, len(places))
    return codes, list(places)


def _numbered(array: NDArray[Any], name: str) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The distinct numbers, and for each line the place of its number among them."""
    if array.ndim != 1:
        raise ParameterError(name, "one label per line", f"shape {array.shape}")
    if array.size == 0:
        return array, np.empty(0, dtype=np.int64)
    low, high = int(array.min()), int(array.max())
    if high - low >= 4 * array.size or high >= 1 << 62 or low <= -(1 << 62):
        return np.unique(array, return_inverse=True)
    above = array.astype(np.int64) - low  # close together: no need to sort
    there = np.bincount(above) > 0
    return np.flatnonzero(there) + low, (np.cumsum(there) - 1)[above]


def texts_of(labels: Iterable[Any], name: str) -> list[str]:
    """Names given one by one, as text, each once; a missing one is refused."""
    listed = [text_of(label) for label in labels]
    found = [text for text in listed if text is not None]
    require(len(found) == len(listed), name, "something else", "names: text or numbers")
    require(len(set(found)) == len(found), name, "repeated labels", "distinct")
    return found


def ordered(labels: Iterable[Any] | None, name: str) -> list[str] | None:
    """Declared names as text in canonical order; None if nothing is declared."""
    return None if labels is None else sorted(texts_of(labels, name), key=in_order)


def places_of(labels: Iterable[Any], declared: Iterable[Any], name: str) -> NDArray[np.int64]:
    """Where each label stands among the declared ones, or -1."""
    places = {label: i for i, label in enumerate(texts_of(declared, name))}
    found = [places.get(text_of(label) or "", -1) for label in labels]
    return np.array(found, dtype=np.int64)
