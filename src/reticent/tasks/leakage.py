"""What a mapping tells about secrets: for each column, each released column, other people.

Theory    docs/theory/mapping.md, Definition 1 (leak), Theorem 10 (a wrong law)
Notation  P(a, j) = p(secret a, profile j), x_ij = chance that profile j is released as i
Not here  the leak that a mapping is made for (mechanisms/mapping.py), attackers (inference.py),
          limits for people held out (held_out.py).

All figures are in bits.
"""

from __future__ import annotations

import math
from dataclasses import replace
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
    return tuple(recoding.mechanism.statement.by_secret) or (recoding.mechanism.secret,)


def secret_bits(recoding: Recoding) -> dict[str, float]:
    """Bits that a release tells about each secret, as the mapping states them."""
    stated = recoding.mechanism.statement
    return dict(stated.by_secret) or {recoding.mechanism.secret: stated.bits}


def each_secret(
    name: str, channel: Channel, joint: NDArray[np.float64], secrets: NDArray[Any]
) -> dict[str, float]:
    """Bits about each of several private columns, rounded up; nothing where there is only one."""
    names = tuple(part.strip() for part in name.split(","))
    if len(names) == 1 or len(names) != secrets.shape[1]:
        return {}
    own = leaks(channel, joint, secrets)
    return {part: float(bits) * (1 + 1e-12) for part, bits in zip(names, own, strict=True)}


def leak_under(channel: Channel, joint: NDArray[Any]) -> float:
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
    recoding: Recoding, secrets: NDArray[Any], public: NDArray[Any], private: NDArray[Any]
) -> tuple[NDArray[np.int64], int]:
    """Other people by secret and profile, [secret, profile], and how many were left out.

    Withheld profiles are the last column. Left out are people with none of the ``secrets``, and
    those whose profile is refused.
    """
    known = {tuple(row): a for a, row in enumerate(secrets.tolist())}
    rows = private.reshape(len(private), -1).tolist()
    kind = np.array([known.get(tuple(row), -1) for row in rows], dtype=np.int64)
    refuses = recoding.unknown == "refuse"
    places = (replace(recoding, unknown="withhold") if refuses else recoding).places(public)
    held = (kind >= 0) & ((places >= 0) | (not refuses))
    counts = np.zeros((len(secrets), len(recoding.profiles) + 1), dtype=np.int64)
    np.add.at(counts, (kind[held], places[held]), 1)  # -1 is the last column
    return counts, int((~held).sum())
