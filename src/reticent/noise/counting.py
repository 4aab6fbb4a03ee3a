"""Exact counts of heads among many fair coins, by blocks instead of one by one.

Theory    docs/theory/noise.md, Theorem 9 (law and work)
Notation  N = coins, n = 2^m = coins of a block, F(j) = P[at most j heads of a block]
Not here  coins that are not fair (coins.py).

N coins are blocks of 2^16, at most one block of each smaller power of two, and fewer than 2^8
coins. A block takes one word, compared with the floors of 2^64 F(j); a word that equals a floor,
at most once in 2^50 blocks, is settled by more bits. The few coins left are bits of words, counted.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

from reticent.errors import require
from reticent.noise.source import Bits, Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LEAST, _LARGEST = 8, 16  # exponents of the blocks: below, counting bits is as fast
_STEPS = 12  # of a search among the thresholds of a block: there are fewer than 2^12
_MOST_COINS = 1 << 40


def count_heads(coins: NDArray[np.int64], *, source: Source) -> NDArray[np.int64]:
    """For each number of fair coins how many show heads: exactly Binomial(coins, 1/2).

    >>> import numpy as np
    >>> from reticent.noise import Source
    >>> int(count_heads(np.array([0, 10**9]), source=Source.system())[0])
    0
    """
    flat = np.ascontiguousarray(coins, dtype=np.int64).reshape(-1)
    fits = flat.size == 0 or (int(flat.min()) >= 0 and int(flat.max()) <= _MOST_COINS)
    require(fits, "coins", "other numbers", "from 0 to 2**40")
    source.note("count_heads", shape=coins.shape)
    words = source.long_words(_words_for(flat))
    heads = np.empty(flat.size, dtype=np.int64)
    doubtful = np.empty((words.size, 2), dtype=np.int64)
    for at, exponent in doubtful[: _count(flat, words, *_tables(), heads, doubtful)].tolist():
        entry, word = divmod(at, words.size)
        heads[entry] += settle(exponent, int(words[word]), source)
    return heads.reshape(coins.shape)


def settle(exponent: int, word: int, source: Bits) -> int:
    """The heads of a block whose first 64 bits are ``word``, drawing more until it is certain."""
    width = 64
    while True:
        word, width = word << 64 | source.bits(64), width + 64
        known = floors(exponent, width)
        heads = bisect_right(known, word)
        if heads == 0 or known[heads - 1] != word:
            return heads


def floors(exponent: int, width: int) -> list[int]:
    """The floor of 2^width F(j) for each j below 2^exponent. Theorem 9."""
    guard = 2 * exponent + 64
    while (known := _floors(exponent, width, guard)) is None:
        guard *= 2
    return known


def _floors(exponent: int, width: int, guard: int) -> list[int] | None:
    """``floors`` by integers of width + guard bits after the point, or None if they are too few."""
    half = 1 << exponent - 1
    error = 0 if width + guard >= 2 * half else 4 * half * half
    lower, upper = [], []  # F(0), F(1), ... below one half, and what they say about 1 - F
    for total in accumulate(reversed(_chances(half, 1 << width + guard))):
        floor = total >> guard
        if error and (total + error) >> guard != floor:
            return None
        if error and total and (total - 1) >> guard != floor:
            return None
        whole = not error and total == floor << guard
        lower.append(floor)
        upper.append((1 << width) - floor - (not whole))
    return lower + upper[::-1]


def _chances(half: int, one: int) -> list[int]:
    """Of half - 1, ... 1, 0 heads among twice half coins, each rounded down; ``one`` is certain."""
    chance = one
    for i in range(1, half + 1):
        chance = chance * (2 * i - 1) // (2 * i)
    chances = []
    for i in range(1, half + 1):
        chance = chance * (half - i + 1) // (half + i)
        chances.append(chance)
    return chances


@cache
def _tables() -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Floors for 64 bits, a row for each size of a block, and the j that each row begins with.

    Of the floors 0 the last one is kept, and the row is filled up with 2^64 - 1: a word that equals
    one of those left out equals one of these.
    """
    rows = np.full((_LARGEST - _LEAST + 1, 1 << _STEPS), 2**64 - 1, dtype=np.uint64)
    firsts = np.empty(len(rows), dtype=np.int64)
    for at, exponent in enumerate(range(_LEAST, _LARGEST + 1)):
        table = np.array(floors(exponent, 64), dtype=np.uint64)
        firsts[at] = first = int(np.searchsorted(table, np.uint64(0), side="right")) - 1
        last = int(np.searchsorted(table, np.uint64(2**64 - 1), side="left"))
        rows[at, : last - first] = table[first:last]
    return rows, firsts


@njit(cache=True, nogil=True)
def ones(word: Any) -> Any:
    """How many bits are set; LLVM knows the pattern and makes it one instruction."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True, nogil=True)
def _words_for(coins: Any) -> Any:
    """How many words the blocks and the rest take: a function of the numbers of coins alone."""
    words = np.int64(0)
    for number in coins:
        words += number >> _LARGEST
        words += ones(np.uint64(number) & np.uint64((1 << _LARGEST) - (1 << _LEAST)))
        words += ((number & ((1 << _LEAST) - 1)) + 63) >> 6
    return words


@njit(cache=True, nogil=True)
def _of_block(word: Any, thresholds: Any) -> Any:
    """How many thresholds are at most ``word``: a fixed number of steps, none of them a branch."""
    found = np.uint64(0)
    for step in range(_STEPS):
        half = np.uint64(1 << (_STEPS - 1)) >> np.uint64(step)
        found += half * np.uint64(thresholds[found + half - np.uint64(1)] <= word)
    return found


@njit(cache=True, nogil=True)
def _count(coins: Any, words: Any, thresholds: Any, firsts: Any, heads: Any, doubtful: Any) -> int:
    """Heads of all blocks that 64 bits decide, and of the rest; which blocks they do not decide."""
    used, doubts = 0, 0
    for entry in range(coins.size):
        left, total = coins[entry], np.int64(0)
        exponent = _LARGEST
        while exponent >= _LEAST:
            if left < np.int64(1) << exponent:
                exponent -= 1
                continue
            left -= np.int64(1) << exponent
            word = words[used]
            table = exponent - _LEAST
            found = _of_block(word, thresholds[table])  # at least 1: the first threshold is 0
            if thresholds[table, found - np.uint64(1)] == word:
                doubtful[doubts, 0] = entry * words.size + used
                doubtful[doubts, 1] = exponent
                doubts += 1
            else:
                total += firsts[table] + np.int64(found)
            used += 1
        while left > 0:
            word = words[used]
            if left < 64:
                word = word & ((np.uint64(1) << np.uint64(left)) - np.uint64(1))
            total += ones(word)
            used += 1
            left -= 64
        heads[entry] = total
    return doubts
