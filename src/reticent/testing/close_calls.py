"""Close calls: coins and selections at the very words where double precision cannot decide.

Theory    docs/theory/noise.md, Theorem 1 (coins), Lemma 3 (margins), Theorems 6 and 7 (selection)
Notation  U = (word + f) / 2^64 where f is what a script goes on with; c = rate, d = gap of scores
Not here  the discrete Laplace sampler (law.py).

For two candidates the word that makes a tie is known in closed form. Words on both sides of it, at
distances from nothing to far beyond any margin, must be decided as 70-digit arithmetic does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from reticent.noise import Source, bernoulli_exp, exponential, permute_and_flip
from reticent.testing.precise import REST, decimal, precisely
from reticent.testing.sources import ScriptedSource

_OFFSETS = (0, *(sign << n for n in (0, 1, 8, 16, 24, 32, 40, 48) for sign in (-1, 1)))

Choose: TypeAlias = Callable[..., int]
"""Called as the selections of reticent.noise are: ``choose(scores, rate=..., source=...)``."""

Flip: TypeAlias = Callable[..., object]
"""Called as ``bernoulli_exp`` is: ``flip(exponents, source=...)``."""

_Noise: TypeAlias = Callable[[Decimal], Decimal]
_Tie: TypeAlias = Callable[[Decimal, Decimal], Decimal]


def coin_disagreements(trials: int = 1000, *, seed: int = 0, flip: Flip = bernoulli_exp) -> int:
    """On how many words near its threshold a coin exp(-x) differs from exact arithmetic; 0."""
    source = Source.seeded(seed)
    exponents = [Fraction(source.bits(24), 1 << source.bits(5)) for _ in range(trials)]
    wrong = 0
    for offset in range(-3, 4):
        words, heads = _coins(exponents, offset)
        drawn = flip(exponents, source=ScriptedSource(words=words))
        wrong += int(np.count_nonzero(np.asarray(drawn) != heads))
    return wrong


def exponential_disagreements(
    trials: int = 50, *, seed: int = 0, choose: Choose = exponential
) -> int:
    """On how many words that all but tie ``choose`` departs from the exponential mechanism; 0."""
    return _wrong(choose, _near_ties(_gumbel, _gumbel_tie, trials, seed))


def permute_and_flip_disagreements(
    trials: int = 50, *, seed: int = 0, choose: Choose = permute_and_flip
) -> int:
    """On how many words that all but tie ``choose`` departs from permute-and-flip; 0."""
    return _wrong(choose, _near_ties(_wait, _wait_tie, trials, seed))


@dataclass(frozen=True, slots=True)
class _NearTie:
    """Two candidates, the second ``gap`` ahead of the first, and words that all but tie."""

    words: tuple[int, int]
    gap: int
    rate: Fraction
    winner: int


def _wrong(choose: Choose, calls: list[_NearTie]) -> int:
    wrong = 0
    for call in calls:
        source = ScriptedSource(words=call.words)
        wrong += choose(np.array([0, call.gap]), rate=call.rate, source=source) != call.winner
    return wrong


@precisely
def _coins(exponents: list[Fraction], offset: int) -> tuple[list[int], list[bool]]:
    words, heads = [], []
    for x in exponents:
        chance = decimal(-x).exp() * (1 << 32)
        word = min(max(int(chance) + offset, 0), (1 << 32) - 1)
        words.append(word)
        heads.append(word + REST < chance)
    return words, heads


@precisely
def _near_ties(noise: _Noise, tie: _Tie, trials: int, seed: int) -> list[_NearTie]:
    source = Source.seeded(seed)
    calls = []
    for _ in range(trials):
        gap, rate = source.bits(20), Fraction(1 + source.bits(10), 1 << 25)
        behind = decimal(rate * gap)
        first = source.bits(64) >> source.bits(4)
        at = int(tie(_uniform(first), behind.exp()) * (1 << 64))
        for second in (at + offset for offset in _OFFSETS):
            if 0 <= second < 1 << 64 and (gap or first != second):
                ahead = noise(_uniform(first)) - behind > noise(_uniform(second))
                calls.append(_NearTie((first, second), gap, rate, 0 if ahead else 1))
    return calls


def _wait(u: Decimal) -> Decimal:
    """Exponential noise, -ln u."""
    return -u.ln()


def _wait_tie(u: Decimal, growth: Decimal) -> Decimal:
    """The v with -ln v = -ln u - x, where growth = exp(x); it may be above 1."""
    return u * growth


def _gumbel(u: Decimal) -> Decimal:
    """Gumbel noise, -ln(-ln u)."""
    return -_wait(u).ln()


def _gumbel_tie(u: Decimal, growth: Decimal) -> Decimal:
    """The v with -ln(-ln v) = -ln(-ln u) - x."""
    return (-_wait(u) * growth).exp()


def _uniform(word: int) -> Decimal:
    return (word + REST) / (1 << 64)
