"""What a mapping tells about people it was not learnt from: counted, and an upper limit for all.

Theory    docs/theory/mapping.md, Theorem 11 (people held out); [YangBarron1998] for the ratio of
          divergences
Notation  m = people held out, K = values of the secret, R = 1 / least chance of one of them,
          I = leakage of the population, I^ = that of the counts, all in nats here
Not here  the split (training.py), what is said of it (guarantees/average_words.py).

No correction is made for few people: what counts show by chance cannot be told from what is so.
The limit holds whatever the law of the population is, and is wide where people are few.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.guarantees.samples import CONFIDENCE, HeldOut
from reticent.mechanisms.mapping_statement import up
from reticent.optim.mapping import Channel, information
from reticent.tasks.leakage import BITS, counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reticent.tasks.recoding import Alphabet, Recoding

_WRONG = 1 - CONFIDENCE
_DENSITY, _PRIOR, _RARE = 0.6 * _WRONG, 0.2 * _WRONG, 0.2 * _WRONG  # how often each part may fail
_RAREST = 1e-6  # share of a secret that is aimed at
_ORDERS = np.linspace(0.01, 0.9, 90)  # of the divergence, less than 1


def held_out(
    recoding: Recoding, training: Alphabet, public: NDArray[Any], private: NDArray[Any]
) -> HeldOut:
    """Leakage among people with these profiles and secrets; secrets are those in ``training``.

    A profile that is withheld counts as a release of its own: whoever sees it sees that.
    """
    secrets = training.secrets
    counts, left_out = counted(recoding, secrets, public, private)
    channel = recoding.mechanism.channel
    withheld = Channel(
        np.append(channel.starts, channel.starts[-1] + 1),
        np.append(channel.outs, len(recoding.profiles)),
        np.append(channel.chances, 1.0),
    )
    most = math.log2(len(secrets)) if len(secrets) > 1 else 0.0
    if not counts.any():
        return HeldOut(0, left_out, 0.0, up(most))
    rarest = float(training.joint.sum(axis=1).min())
    bits, limit = leak_limit(withheld, counts, expected=recoding.mechanism.bits, rarest=rarest)
    return HeldOut(int(counts.sum()), left_out, up(bits), max(up(bits), up(limit)))


def leak_limit(
    channel: Channel, counts: NDArray[np.int64], *, expected: float, rarest: float
) -> tuple[float, float]:
    """Bits that leak about people counted [secret, profile], and an upper limit for all others.

    The limit holds in ``CONFIDENCE`` of samples, whatever is ``expected`` (in bits) and how rare
    the ``rarest`` secret is thought to be: there it is tightest. Both are to be known before these
    people are looked at, as from training people. Theorem 11.

    >>> counts = np.array([[400, 100], [100, 400]])
    >>> bits, limit = leak_limit(Channel.identity(2), counts, expected=0.3, rarest=0.5)
    >>> round(bits, 3), round(limit, 2)
    (0.278, 0.38)
    """
    people, values = int(counts.sum()), len(counts)
    law = counts / people
    plain = information(channel.moments(law), np.asarray(law.sum(axis=1)))
    most = math.log(values)
    least = min(_at_least(int(of), people, _RARE / values) for of in counts.sum(axis=1))
    if least <= 0 or values == 1:
        return plain * BITS, most * BITS
    prior = _prior_distance(people, values)
    density = math.log(1 / _DENSITY) / people
    aimed = _against_order(1 / max(rarest, _RAREST)) * (expected / BITS + prior + density / _ORDERS)
    best = int(np.argmin(aimed))  # of what was known before: chosen by these people, it would fail
    factor = float(_against_order(1 / least)[best])
    limit = factor * (plain + prior + density / float(_ORDERS[best]))
    return plain * BITS, min(limit, most) * BITS


def _against_order(ratio: float) -> NDArray[np.float64]:
    """The most that D_1 exceeds D_(1-s) by, for s in ``_ORDERS``, if dP/dQ is at most ``ratio``."""
    if ratio <= 1 + 1e-6:
        return np.asarray(1 / (1 - _ORDERS))
    top = ratio * math.log(ratio) - ratio + 1
    below = (1 - ratio ** (1 - _ORDERS) + (1 - _ORDERS) * (ratio - 1)) / _ORDERS
    return np.asarray(top / below)


def _prior_distance(people: int, values: int) -> float:
    """What KL(counted secrets, true ones) is at most, but for ``_PRIOR`` of samples.

    P(m KL >= x) <= exp(-y) (e y / (K-1))^(K-1), y = x - (K-1) ln 2; for two values 2 exp(-x).
    """
    more = values - 1
    if more == 1:
        return math.log(2 / _PRIOR) / people
    low, high = float(more), more + 10 * (math.log(1 / _PRIOR) + more)
    for _ in range(100):
        y = (low + high) / 2
        small = -y + more * (1 + math.log(y / more)) <= math.log(_PRIOR)
        low, high = (low, y) if small else (y, high)
    return (high + more * math.log(2)) / people


def _at_least(held: int, people: int, wrong: float) -> float:
    """What the chance is at least of what ``held`` of so many people have [ClopperPearson1934]."""
    from scipy.special import betaincinv

    return float(betaincinv(held, people - held + 1, wrong)) if held else 0.0
