"""Sources for tests: one that says chosen words, one that writes down what was asked of it.

Theory    docs/theory/auditing.md, "Replay"
Not here  what is done with the records (replay.py), with the chosen words (law.py).

Neither is private. Every sampler is a fixed function of the bits it draws, so choosing the bits
chooses the path through the sampler, and equal bits on neighbours expose what depends on data.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from reticent.errors import require
from reticent.noise import Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

MORE = 0x9E3779B97F4A7C15
"""What a script says when its bits have run out, unless told otherwise; 64 bits, over and over."""

_Unsigned = TypeVar("_Unsigned", np.uint32, np.uint64)


class ScriptedSource(Source):
    """Says the words it was given: arrays from ``words``, single draws from ``bits``.

    Arrays run out with an error. Single draws go on with ``more``, so that a uniform number whose
    first 64 bits were chosen is (word + more / (2**64 - 1)) / 2**64 exactly.

    >>> ScriptedSource(words=[5, 6, 7]).long_words(3)
    array([5, 6, 7], dtype=uint64)
    """

    __slots__ = ("_at", "_bits", "_more", "_words")

    def __init__(
        self,
        *,
        words: Iterable[int] | NDArray[np.uint64] = (),
        bits: Iterable[int] = (),
        more: int = MORE,
    ) -> None:
        super().__init__(_seed=bytes(32))
        require(0 < more < 1 << 64, "more", more, "from 1 to 2**64 - 1")
        self._words = np.array(words if isinstance(words, np.ndarray) else list(words), np.uint64)
        self._bits, self._more, self._at = iter(bits), more, 0

    def words(self, shape: int | tuple[int, ...]) -> NDArray[np.uint32]:
        """The next words of the script; they must fit 32 bits."""
        return self._next(shape).astype(np.uint32)

    def long_words(self, shape: int | tuple[int, ...]) -> NDArray[np.uint64]:
        """The next words of the script."""
        return self._next(shape)

    def bits(self, count: int) -> int:
        """The next bits of the script, then the first ``count`` bits of ``more``."""
        chosen = next(self._bits, None)
        return self._more >> (64 - count) if chosen is None else chosen

    def padded_bits(self, count: int) -> int:
        """The same under a leading 1."""
        return 1 << count | self.bits(count)

    def child(self, label: str) -> Source:
        """The script goes on."""
        return self

    def _next(self, shape: int | tuple[int, ...]) -> NDArray[np.uint64]:
        size = math.prod(shape) if isinstance(shape, tuple) else shape
        part = self._words[self._at : self._at + size]
        require(part.size == size, "words", self._words.size, f"enough for {self._at + size}")
        self._at += size
        return part.reshape(shape).copy()


@dataclass(frozen=True, slots=True)
class Call:
    """One use of a primitive: its name, its public arguments, and where in the stream it began."""

    primitive: str
    arguments: Mapping[str, Any]
    at: int

    def __str__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.arguments.items())
        return f"{self.primitive}({shown}) after {self.at} bytes"


class RecordingSource(Source):
    """A seeded source that writes down each primitive called and counts the bytes drawn."""

    __slots__ = ("_calls",)

    def __init__(self, *, seed: int = 0) -> None:
        digest = hashlib.sha256(b"reticent recording source" + seed.to_bytes(16)).digest()
        super().__init__(_seed=digest)
        self._calls: list[Call] = []

    @property
    def calls(self) -> tuple[Call, ...]:
        """What was called so far, in order."""
        return tuple(self._calls)

    @property
    def drawn(self) -> int:
        """Bytes drawn so far."""
        return self._drawn

    def child(self, label: str) -> Source:
        """The same record goes on."""
        return self

    def note(self, primitive: str, **arguments: object) -> None:
        """Told by each primitive what it was asked for."""
        self._calls.append(Call(primitive, MappingProxyType(dict(arguments)), self._drawn))
