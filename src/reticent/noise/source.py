"""Where randomness comes from: one key, AES-256 in counter mode, nothing global.

Theory    docs/theory/noise.md, "Source": the promise is computational, as strong as AES-256.
Not here  what is made of the bits (laplace.py, coins.py, selection.py).

A system source takes its key from the operating system when it is made, and again in a forked
child or a process it was sent to, so no two processes share bits. A seeded source is for
experiments and tests; everything it touches is stamped ``private: false``.
"""

from __future__ import annotations

import hashlib
import os
import threading
from typing import TYPE_CHECKING, Protocol

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from reticent.errors import require

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers import CipherContext
    from numpy.typing import NDArray


class Bits(Protocol):
    """Whatever can give a few more fair bits."""

    def bits(self, count: int) -> int:
        """A uniform integer of ``count`` bits."""


_ZEROS = memoryview(bytes(1 << 19))


class Source:
    """A stream of random words. Make one for each release: ``Source.system()``.

    >>> from reticent.noise import Source
    >>> Source.system().words(3).shape
    (3,)
    >>> Source.seeded(7).private
    False
    """

    __slots__ = ("_cipher", "_drawn", "_lock", "_pid", "_seed")

    def __init__(self, *, _seed: bytes | None = None, _drawn: int = 0) -> None:
        self._seed = _seed
        self._start(_drawn)

    @classmethod
    def system(cls) -> Source:
        """A source keyed by the operating system; the only kind that makes a release private."""
        return cls()

    @classmethod
    def seeded(cls, seed: int) -> Source:
        """A repeatable source for experiments and tests. What it touches is not private."""
        require(
            isinstance(seed, int) and not isinstance(seed, bool) and 0 <= seed < 1 << 128,
            "seed",
            seed,
            "an integer from 0 to 2**128 - 1",
        )
        return cls(_seed=hashlib.sha256(b"reticent seeded source" + seed.to_bytes(16)).digest())

    def child(self, label: str) -> Source:
        """A source for one part of a release: a person, a batch, a block of pairs.

        Of a system source it is another one with a key of its own. Of a seeded source it is the
        same stream for the same label, wherever and in whichever order parts are drawn.

        >>> Source.seeded(7).child("ann").bits(64) == Source.seeded(7).child("ann").bits(64)
        True
        """
        if self._seed is None:
            return Source()
        named = hashlib.sha256(
            b"reticent part" + self._seed + label.encode("utf-8", "surrogatepass")
        )
        return Source(_seed=named.digest())

    @property
    def private(self) -> bool:
        """Whether what is drawn here protects anybody: false for a seeded source."""
        return self._seed is None

    def words(self, shape: int | tuple[int, ...]) -> NDArray[np.uint32]:
        """Independent uniform 32-bit words."""
        words = np.empty(shape, dtype=np.uint32)
        self._fill(words)
        return words

    def long_words(self, shape: int | tuple[int, ...]) -> NDArray[np.uint64]:
        """Independent uniform 64-bit words."""
        words = np.empty(shape, dtype=np.uint64)
        self._fill(words)
        return words

    def bits(self, count: int) -> int:
        """A uniform integer of ``count`` bits, for single draws and exact decisions."""
        return self.padded_bits(count) - (1 << count)

    def padded_bits(self, count: int) -> int:
        """``bits`` under a leading 1: of one length whatever is drawn, so as slow to work with."""
        size = (count + 7) // 8
        with self._ready():
            drawn = self._cipher.update(_ZEROS[:size])
            self._drawn += size
        return int.from_bytes(drawn + b"\1", "little") >> (-count % 8)

    def note(self, primitive: str, **arguments: object) -> None:
        """Told by each primitive what it was asked for; ``testing.replay`` listens here."""

    def __reduce__(self) -> tuple[object, ...]:
        # A key never travels: a pickled system source is a new one where it arrives.
        return _restore, (type(self), self._seed, self._drawn if self._seed else 0)

    def __repr__(self) -> str:
        return "Source.system()" if self.private else "Source.seeded(...)  # not private"

    def _start(self, drawn: int) -> None:
        key = os.urandom(32) if self._seed is None else self._seed
        block, rest = divmod(drawn, 16)
        self._cipher: CipherContext = Cipher(
            algorithms.AES(key), modes.CTR(block.to_bytes(16))
        ).encryptor()
        self._cipher.update(bytes(rest))
        self._drawn = drawn
        self._pid = os.getpid()
        self._lock = threading.Lock()

    def _ready(self) -> threading.Lock:
        if self._pid != os.getpid():  # a forked child has the parent's key: it must not use it
            self._start(self._drawn if self._seed else 0)
        return self._lock

    def _fill(self, words: NDArray[np.uint32] | NDArray[np.uint64]) -> None:
        view = words.reshape(-1).view(np.uint8).data
        with self._ready():
            for at in range(0, len(view), len(_ZEROS)):
                part = view[at : at + len(_ZEROS)]
                self._cipher.update_into(_ZEROS[: len(part)], part)
            self._drawn += len(view)


def _restore(kind: type[Source], seed: bytes | None, drawn: int) -> Source:
    return kind(_seed=seed, _drawn=drawn)
