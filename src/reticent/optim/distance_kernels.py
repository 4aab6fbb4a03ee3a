"""Distances inside compiled loops: a block of them at a time, so that the machine can pair them up.

Theory    docs/theory/mapping.md, Definition 2 (distortion)
Not here  how distances are made (distances.py).
"""

from __future__ import annotations

from typing import Any

from numba import njit, types
from numba.extending import intrinsic


def _popcount(context: Any, word: Any) -> Any:
    """How many bits of a 64-bit word are set: one machine instruction."""
    del context, word

    def code(_: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        del signature
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), code


popcount: Any = intrinsic(_popcount)


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def fill_distances(own: Any, j: Any, to: Any, first: Any, count: Any, out: Any) -> None:
    """out[b] = d(j, first + b) for b < count: from a profile of ``own`` to those of ``to``."""
    kind, words, codes, points, matrix, scale = to
    if kind == 0:
        for b in range(count):
            out[b] = matrix[j, first + b]
    elif kind == 1 and words.shape[1] == 1:
        word = own[1][j, 0]
        for b in range(count):
            out[b] = scale * popcount(words[first + b, 0] ^ word)
    elif kind == 1:
        for b in range(count):
            bits = popcount(words[first + b, 0] ^ own[1][j, 0])
            for w in range(1, words.shape[1]):
                bits += popcount(words[first + b, w] ^ own[1][j, w])
            out[b] = scale * bits
    elif kind == 2:
        for b in range(count):
            total = 0.0
            for k in range(codes.shape[1]):
                if codes[first + b, k] != own[2][j, k]:
                    total += points[0, k]
            out[b] = total
    else:
        for b in range(count):
            total = 0.0
            for k in range(points.shape[1]):
                way = points[first + b, k] - own[3][j, k]
                total += way * way
            out[b] = scale * total
