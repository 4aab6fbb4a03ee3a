"""Compiled loops of growing a tree: codes, counts of all live nodes, and where rows go next.

Notation  codes [n, d] = which value each row has in each column, y [n] = its class, place [n] =
          which live node it is in, or -1; column j's codes begin at ``starts[j]``
Not here  what is counted for (tree.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, boundscheck=False)
def find_bins(values: Any, inner: Any, first: Any, low: float, near: float, found: Any) -> None:
    """How many of the rising edges ``inner`` are not above each value, into ``found``.

    A value is in cell (x - low) near of evenly wide ones, cut off at both ends. ``first`` of a cell
    is how many edges are in cells before it, so that only edges of the same cell are compared with.
    What is no number gets a code of its own, two more than there are edges.
    """
    top = np.float64(first.size - 2)
    for i in range(values.size):
        x = values[i]
        about = (x - low) * near
        about = about if about < top else top
        about = about if about > 0.0 else 0.0
        cell = np.uintp(about)
        k, end = np.int64(first[cell]), np.int64(first[cell + np.uintp(1)])
        while k < end:
            middle = (k + end) >> 1
            if inner[np.uintp(middle)] <= x:
                k = middle + 1
            else:
                end = middle
        found[i] = k if x == x else inner.size + 1


@njit(cache=True, nogil=True, boundscheck=False)
def look_up(values: Any, low: int, codes: Any, found: Any) -> bool:
    """Codes of the whole numbers low, low + 1, ..., into ``found``; False if one is not whole.

    The last two of ``codes`` are for other whole numbers and for what is no number.
    """
    others = codes.size - 2
    for i in range(values.size):
        x = values[i]
        place = others + 1
        if x == x:
            if np.isinf(x) or np.floor(x) != x:
                return False
            away = x - low
            place = int(away) if 0 <= away < others else others
        found[i] = codes[place]
    return True


@njit(cache=True, nogil=True, boundscheck=False)
def count(codes: Any, y: Any, place: Any, starts: Any, shape: tuple[int, int, int]) -> Any:
    """How many rows of each live node have each value of each column, by class."""
    found = np.zeros(shape, np.int32)
    flat = found.reshape(-1)
    classes = shape[2]
    first = starts * classes
    for i in range(codes.shape[0]):
        node = place[i]
        if node >= 0:
            begin = node * shape[1] * classes + y[i]
            for j in range(codes.shape[1]):
                flat[np.uintp(begin + first[j] + np.int64(codes[i, j]) * classes)] += 1
    return found


@njit(cache=True, nogil=True, boundscheck=False)
def count_classes(y: Any, place: Any, nodes: int, classes: int) -> Any:
    """How many rows of each node there are, by class."""
    found = np.zeros((nodes, classes), np.int64)
    for i in range(y.size):
        if place[i] >= 0:
            found[place[i], y[i]] += 1
    return found


@njit(cache=True, nogil=True, boundscheck=False)
def descend(codes: Any, place: Any, column: Any, at: Any, child: Any, kind: Any) -> None:
    """Move each row in ``place`` one level down; in a node without a child it stays.

    ``kind`` 0: to child + code; 1: code <= at goes to child, others next to it; 2: code == at.
    """
    for i in range(place.size):
        node = place[i]
        if node < 0 or child[node] < 0:
            continue
        code = np.int64(codes[i, column[node]])
        away = code - at[node]
        if kind[node] == 0:
            place[i] = child[node] + code
        elif kind[node] == 1:
            place[i] = child[node] + np.int64(away > 0)
        else:
            place[i] = child[node] + np.int64(away != 0)


@njit(cache=True, nogil=True, boundscheck=False)
def largest_changes(a: Any, b: Any, f: Any, distance: int) -> Any:
    """The largest of h over all cells within ``distance`` rows, at 0, 1, ... rows. Lemma 2."""
    found = np.zeros(distance)
    for t in range(distance):
        best = 0.0
        for cell in range(a.size):
            if b[cell] == 0:
                h = f[a[cell] + t]
            else:
                k = min(t, b[cell] - 1)
                h = max(
                    f[a[cell] + t - 1] - f[b[cell] - 1],
                    f[a[cell] + t - 2 * k - 1] - f[b[cell] - k - 1],
                )
            best = max(best, h)
        found[t] = best
    return found
