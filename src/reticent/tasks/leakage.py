"""What a mapping tells about secrets: for each column, for other people, less the bias of counts.

Theory    docs/theory/mapping.md, Definition 1 (leak), Theorem 10 (a wrong law)
Notation  P(a, j) = p(secret a, profile j), x_ij = chance that profile j is released as i
Not here  the leak that a mapping is made for (mechanisms/mapping.py), attackers (inference.py).

All figures are in bits.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.errors import require
from reticent.optim.mapping import Channel, information

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reticent.tasks.recoding import Recoding

BITS = 1 / math.log(2)  # of one nat


def leaks(
    channel: Channel, joint: NDArray[np.float64], secrets: NDArray[Any]
) -> NDArray[np.float64]:
    """Bits that leak about each private column, [one per column]."""
    moments = channel.moments(joint)
    merged = (_merged(moments, secrets[:, column]) for column in range(secrets.shape[1]))
    return np.array([information(found, found.sum(axis=0)) * BITS for found in merged])


def features(
    channel: Channel, joint: NDArray[np.float64], profiles: NDArray[Any]
) -> NDArray[np.float64]:
    """Bits that each released column alone tells about the secret, [one per column]."""
    moments = channel.moments(joint)
    merged = (_merged(moments.T, profiles[:, column]).T for column in range(profiles.shape[1]))
    prior = np.asarray(joint.sum(axis=1))
    return np.array([information(found, prior) * BITS for found in merged])


def _merged(moments: NDArray[np.float64], values: NDArray[Any]) -> NDArray[np.float64]:
    """Columns of equal ``values`` added up."""
    numbers: dict[Any, int] = {}
    kind = np.array([numbers.setdefault(value, len(numbers)) for value in values.tolist()])
    merged = np.zeros((len(moments), len(numbers)))
    np.add.at(merged.T, kind, moments.T)
    return merged


def secret_names(recoding: Recoding) -> tuple[str, ...]:
    """The columns that a mapping hides; a name of another origin counts as one."""
    names = tuple(name.strip() for name in recoding.mechanism.secret.split(","))
    return names if len(names) == recoding.secrets.shape[1] else (recoding.mechanism.secret,)


def secret_bits(recoding: Recoding) -> dict[str, float]:
    """Bits that a release tells about each secret, rounded up."""
    names, mechanism = secret_names(recoding), recoding.mechanism
    if len(names) == 1:
        return {names[0]: mechanism.bits}
    own = leaks(mechanism.channel, mechanism.joint, recoding.secrets)
    return {name: float(bits) * (1 + 1e-12) for name, bits in zip(names, own, strict=True)}


def leak_under(channel: Channel, joint: NDArray[np.float64]) -> float:
    """Bits that a mapping leaks under another joint law, such as that of people held out."""
    law = joint / joint.sum()
    return information(channel.moments(law), np.asarray(law.sum(axis=1))) * BITS


def leak_if_wrong(bits: float, wrong: float, secrets: int) -> float:
    """The most bits that leak if the law is ``wrong`` by so much in total variation. Theorem 10.

    >>> round(leak_if_wrong(0.05, 0.001, 2), 3)
    0.074
    """
    require(0 <= wrong <= 0.5, "wrong", wrong, "from 0 to 1/2")
    if wrong == 0:
        return bits
    unsure = -wrong * math.log2(wrong) - (1 - wrong) * math.log2(1 - wrong)
    return bits + wrong * math.log2(secrets) + 2 * unsure


def counted(
    recoding: Recoding, public: NDArray[Any], private: NDArray[Any]
) -> tuple[NDArray[np.int64], int]:
    """Other people by secret and profile, [secret, profile], and how many were left out.

    Left out are those who are withheld, and those whose secret the mapping does not know.
    """
    known = {tuple(row): a for a, row in enumerate(recoding.secrets.tolist())}
    rows = private.reshape(len(private), -1).tolist()
    kind = np.array([known.get(tuple(row), -1) for row in rows], dtype=np.int64)
    places = recoding.places(public)
    held = (kind >= 0) & (places >= 0)
    counts = np.zeros((len(recoding.secrets), len(recoding.profiles)), dtype=np.int64)
    np.add.at(counts, (kind[held], places[held]), 1)
    return counts, int((~held).sum())


def corrected_bits(counts: NDArray[np.int64]) -> tuple[float, float]:
    """I(A; B) of counts in bits: as they are, and less what they would show by chance; at least 0.

    Chance is the exact mean over all ways to deal the same secrets to the same people
    [VinhEtAl2010]: with few people per profile it is nearly all there is.
    """
    law = counts / counts.sum()
    plain = information(law.T, np.asarray(law.sum(axis=1)))
    return plain * BITS, max(0.0, plain - _by_chance(counts)) * BITS


def less_chance(channel: Channel, counts: NDArray[np.int64]) -> tuple[float, float]:
    """Bits that a mapping leaks about people counted, plain and less what it would by chance.

    Were secrets dealt anew, q_i(a) would spread about p(a) |q_i| with a variance that the
    hypergeometric law gives; half of its sum over p(a) |q_i| is what leaks by chance, to second
    order.
    """
    plain = leak_under(channel, counts / counts.sum())
    people, held = int(counts.sum()), counts.sum(axis=0)
    moved = held[channel.inputs] * channel.chances
    size = len(held)
    mass = np.bincount(channel.outs, weights=moved, minlength=size)
    squares = np.bincount(channel.outs, weights=moved * channel.chances, minlength=size)
    used = mass > 0
    spread = float((squares[used] / mass[used]).sum()) - float(mass.sum() / people)
    values = int(counts.any(axis=1).sum())
    chance = (values - 1) * spread / (2 * max(people - 1, 1))
    return plain, max(0.0, plain - chance * BITS)


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
