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
    """I(A; B) of counts in bits: as they are, and less the bias that small counts make.

    The plug-in estimate is too large by about (cells - rows - columns + 1) / 2n nats, where cells,
    rows and columns are those that occur; at least 0.
    """
    law = counts / counts.sum()
    plain = information(law.T, np.asarray(law.sum(axis=1)))
    cells = int((counts > 0).sum())
    rows, columns = int(counts.any(axis=1).sum()), int(counts.any(axis=0).sum())
    bias = (cells - rows - columns + 1) / (2 * counts.sum())
    return plain * BITS, max(0.0, plain - bias) * BITS
