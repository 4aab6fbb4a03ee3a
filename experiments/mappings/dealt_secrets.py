"""What counts would show by chance: I(A; B) less its mean if secrets were dealt anew.

Not here  leaks that mappings are judged by (reticent.tasks.leakage).

An adjustment for comparing data sets of many profiles and few people, of [VinhEtAl2010]. It is no
estimate of the leakage: where profiles are nearly unique it takes off all there is, also what is
true. The product states no such figure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reticent.optim.mapping import information
from reticent.tasks.leakage import BITS

if TYPE_CHECKING:
    from numpy.typing import NDArray


def adjusted_bits(counts: NDArray[np.int64]) -> tuple[float, float]:
    """I(A; B) of counts in bits: as they are, and less what they show by chance; at least 0.

    Chance is the exact mean over all ways to deal the same secrets to the same people.
    """
    law = counts / counts.sum()
    plain = information(law.T, np.asarray(law.sum(axis=1)))
    return plain * BITS, max(0.0, plain - _by_chance(counts)) * BITS


def _by_chance(counts: NDArray[np.int64]) -> float:
    """The mean of sum n_aj/N ln(N n_aj / (n_a n_j)) where each n_aj is hypergeometric, in nats."""
    people, mean = int(counts.sum()), 0.0
    sizes, often = np.unique(counts.sum(axis=0), return_counts=True)
    for secret in counts.sum(axis=1).tolist():
        for size, times in zip(sizes.tolist(), often.tolist(), strict=True):
            held = np.arange(max(1, size + secret - people), min(size, secret) + 1)
            terms = held / people * np.log(people * held / (secret * size or 1))
            mean += times * float(_hypergeometric(held, size, secret, people) @ terms)
    return mean


def _hypergeometric(
    held: NDArray[np.int64], size: int, secret: int, people: int
) -> NDArray[np.float64]:
    """The chance that ``held`` of ``size`` people are among the ``secret`` of all ``people``."""
    logs = _log_choose(size, held) + _log_choose(people - size, secret - held)
    return np.exp(logs - _log_choose(people, np.array(secret)))


def _log_choose(many: int, some: NDArray[np.int64]) -> NDArray[np.float64]:
    from scipy.special import gammaln

    return np.asarray(gammaln(many + 1) - gammaln(some + 1) - gammaln(many - some + 1))
