"""Noise for pairs of people: one draw per unordered pair, repeatable, with nothing stored.

Theory    docs/theory/noise.md, Theorem 8 (keyed draws are as good as fresh ones)
Not here  which pairs are compared and what that costs (tasks/).

The random words of a pair are AES-256 of the pair under a key drawn for the release. Both ends,
every repeat and every worker see the same draw, so asking again averages nothing away. Added to two
states of the data the same draw would cancel: the key is bound to the first state it is used for.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cache, partial
from typing import TYPE_CHECKING, NoReturn

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from reticent.errors import require
from reticent.noise.laplace import laplace_of_words
from reticent.noise.source import Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ROUND_SHIFT = np.uint64(48)  # people are numbered below 2**48; the bits above count rounds
_BLOCK = 1 << 14
_NO_PAIR = (1 << 64) - 1  # as a first word: no pair and no round has it with a second below it


class PairNoise:
    """Discrete Laplace noise of one scale for every unordered pair of whole numbers.

    >>> from fractions import Fraction
    >>> import numpy as np
    >>> from reticent.noise import PairNoise, Source
    >>> noise = PairNoise(Fraction(10), Source.system())
    >>> ann, bob = np.array([3]), np.array([7])
    >>> bool(noise.draw(ann, bob) == noise.draw(bob, ann))
    True
    """

    __slots__ = ("_bound", "_cipher", "_seal", "private", "scale")

    def __init__(self, scale: Fraction, source: Source) -> None:
        source.note("pair_noise", scale=scale)
        self.scale = scale
        self.private = source.private
        key = source.bits(256).to_bytes(32, "little")
        self._cipher = Cipher(algorithms.AES(key), modes.ECB())  # noqa: S305  # a PRF on distinct blocks
        self._bound: tuple[object, str] = (None, "")
        self._seal: bytes | None = None

    def bind(self, data: object, function: str, state: Callable[[], Iterable[bytes]]) -> bool:
        """Bind the key to a function of a state of the data; False if it is bound to another one.

        ``state`` tells what the function reads. Kept of it is a digest under the key; and ``data``,
        a frozen value, so that the same value need not be read again.
        """
        if data is self._bound[0] and function == self._bound[1]:
            return True
        blocks = np.array([[_NO_PAIR, 0], [_NO_PAIR, 1]], dtype=np.uint64)
        seal = hmac.new(self._cipher.encryptor().update(blocks.tobytes()), digestmod="sha256")
        for part in (function.encode(), *state()):
            seal.update(len(part).to_bytes(8, "big"))
            seal.update(part)
        if self._seal is None:
            self._seal = seal.digest()
        if not hmac.compare_digest(self._seal, seal.digest()):
            return False
        self._bound = data, function
        return True

    def __reduce__(self) -> NoReturn:
        """A copy would not be bound with this one, and could meet other data with the same key."""
        raise TypeError("noise of pairs cannot be copied: make one for each release")

    def draw(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.int64]:
        """One draw for each pair (first[i], second[i]), in either order."""
        require(first.shape == second.shape, "second", second.shape, f"of shape {first.shape}")
        for name, numbers in (("first", first), ("second", second)):
            inside = not numbers.size or (numbers.min() >= 0 and numbers.max() < 1 << 48)
            require(bool(inside), name, "others", "numbers from 0 to 2**48 - 1")
        drawn = np.empty(first.size, dtype=np.int64)
        for at in range(0, first.size, _BLOCK):
            part = slice(at, at + _BLOCK)
            labels = np.empty((drawn[part].size, 2), dtype=np.uint64)
            np.minimum(first[part], second[part], out=labels[:, 0], casting="unsafe")
            np.maximum(first[part], second[part], out=labels[:, 1], casting="unsafe")
            words = self._words(labels, 0)
            drawn[part] = laplace_of_words(
                words[:, 0],
                partial(words.__getitem__, (slice(None), 1)),
                scale=self.scale,
                # one stream per pair, however often it is asked for: no bit is used twice
                bits=cache(lambda i, labels=labels: _More(self, labels[i : i + 1])),
            )
        return drawn

    def _words(self, labels: NDArray[np.uint64], turn: int) -> NDArray[np.uint64]:
        blocks = labels.copy()
        blocks[:, 0] |= np.uint64(turn) << _ROUND_SHIFT
        encrypted = self._cipher.encryptor().update(blocks.tobytes())
        return np.frombuffer(encrypted, dtype=np.uint64).reshape(-1, 2)


class _More:
    """More bits for one pair, from further rounds of its own block."""

    def __init__(self, noise: PairNoise, label: NDArray[np.uint64]) -> None:
        self._noise, self._label, self._turn, self._held, self._count = noise, label, 0, 0, 0

    def bits(self, count: int) -> int:
        """A uniform integer of ``count`` bits."""
        while self._count < count:
            self._turn += 1
            block = self._noise._words(self._label, self._turn).tobytes()
            self._held |= int.from_bytes(block, "little") << self._count
            self._count += 128
        taken = self._held & (1 << count) - 1
        self._held >>= count
        self._count -= count
        return taken
