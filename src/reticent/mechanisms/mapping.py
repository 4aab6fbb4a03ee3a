"""The mapping mechanism: a profile is released as another one, drawn from a table of chances.

Theory    docs/theory/mapping.md, Theorem 5 (integer rows), Theorem 6 (several releases),
          Theorem 7 (guess rate and maximal leakage); [SalamatianEtAl2014], [CalmonFawaz2012]
Notation  profile j becomes i with chance n_e / 2**62 for its entries e; P(a, j) = p(secret a,
          profile j); q_i(a) = sum_j P(a, j) x_ij
Not here  drawing from the table (mapping_rows.py), how it is found (optim/mapping*.py), learning it
          from people (tasks/profiles.py).

The promise is an average over the people that the joint law describes, in bits, and relative to
that law. It is computed from the integer chances that are really used.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping as MappingType
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from reticent.amounts import show_up
from reticent.errors import ParameterError, require
from reticent.guarantees import MutualInformation
from reticent.guarantees.card import Evidence, How, Utility
from reticent.mechanisms.base import Mechanism, Release
from reticent.mechanisms.mapping_rows import WHOLE, Rows, integer_rows
from reticent.noise import Source
from reticent.optim.mapping import Channel, information

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_DRAWS = 1 << 18  # at a time
_NO_WORD = np.empty(0, dtype=np.uint64)
_PRINTED = 4096  # entries of a table that fits on a card


@dataclass(frozen=True, eq=False)  # no slots: cached properties need a dictionary
class ProfileMapping(Mechanism[int]):
    """Release profile j as another one; profiles are numbers from 0 here.

    >>> import numpy as np
    >>> from reticent.noise import Source
    >>> from reticent.optim.distances import hamming
    >>> from reticent.optim.mapping import Channel
    >>> joint = np.array([[0.4, 0.1], [0.1, 0.4]])
    >>> half = Channel(np.array([0, 2, 4]), np.array([0, 1, 0, 1]), np.full(4, 0.5))
    >>> mechanism = ProfileMapping.of(half, joint, hamming([[0], [1]]), secret="income")
    >>> mechanism.guarantee().bits < 1e-12, mechanism.guarantee().distortion
    (True, 0.5)
    >>> mechanism.release(0, Source.system()).value in (0, 1)
    True
    """

    name: ClassVar[str] = "profile-mapping"
    starts: NDArray[np.int64]
    outs: NDArray[np.int64]
    parts: NDArray[np.int64]  # chances times 2**62
    far: NDArray[np.float64]  # distance of each entry
    joint: NDArray[np.float64]
    secret: str
    prior: str = "the joint law the mapping was made for"
    unit_of_distortion: str = field(default="share of attributes changed")
    printed: bool = (
        True  # whether cards carry table and law; not where they were learnt from people
    )

    def __post_init__(self) -> None:
        count = len(self.starts) - 1
        shape = self.joint.ndim == 2 and self.joint.shape[1] == count
        require(shape, "joint", f"shape {self.joint.shape}", f"rows of {count} probabilities")
        sizes = {len(self.outs), len(self.parts), len(self.far), int(self.starts[-1])}
        require(len(sizes) == 1, "parts", "other", "one for each entry")
        inside = bool(((self.outs >= 0) & (self.outs < count)).all() and (self.parts > 0).all())
        require(inside, "outs", "other", "profiles of the alphabet, each with a chance")
        rows = np.diff(self.starts)
        require(bool((rows > 0).all()), "starts", "other", "rising: a chance for each profile")
        whole = np.add.reduceat(self.parts.astype(object), self.starts[:-1])  # cannot overflow
        require(bool((whole == WHOLE).all()), "parts", "other", "whole: 2**62 for each profile")
        law = bool(np.isfinite(self.joint).all() and (self.joint >= 0).all())
        law = law and abs(float(self.joint.sum()) - 1) <= 1e-9
        require(law, "joint", "other", "probabilities that sum to 1")
        near = bool(np.isfinite(self.far).all() and (self.far >= 0).all())
        require(near, "far", "other", "finite distances, not negative")
        pairs = np.unique(self.channel.inputs * count + self.outs)
        require(len(pairs) == len(self.outs), "outs", "twice the same", "distinct in each row")

    @classmethod
    def of(
        cls,
        channel: Channel,
        joint: ArrayLike,
        distance: Any,
        *,
        secret: str,
        prior: str = "the joint law the mapping was made for",
        unit_of_distortion: str = "share of attributes changed",
        printed: bool = True,
    ) -> ProfileMapping:
        """Round a channel down to parts of 2**62 and give the rest to each largest chance."""
        starts, outs, parts = integer_rows(channel)
        rounded = Channel(starts, outs, parts / WHOLE)
        table = np.asarray(joint, dtype=np.float64)
        return cls(
            starts,
            outs,
            parts,
            rounded.distances(distance),
            table / table.sum(),
            secret,
            prior,
            unit_of_distortion,
            printed,
        )

    @cached_property
    def channel(self) -> Channel:
        """The table as floats."""
        return Channel(self.starts, self.outs, self.parts / WHOLE)

    @cached_property
    def moments(self) -> NDArray[np.float64]:
        """q_i(a), one row per output."""
        return self.channel.moments(self.joint)

    @cached_property
    def bits(self) -> float:
        """I(A; released) in bits, of the rounded table, rounded up. Theorem 5."""
        prior, used = self.joint.sum(axis=1), self.moments.any(axis=1)
        if (prior > 0).sum() == 1 or used.sum() == 1:
            return 0.0  # one secret, or one release
        slack = self.moments.size * 2.0**-52  # each term is at most 1 and errs by less
        return (information(self.moments, prior) + slack) / math.log(2) * (1 + 1e-12)

    @cached_property
    def distortion(self) -> float:
        """E[d] of the rounded table."""
        mass = self.joint.sum(axis=0)[self.channel.inputs]
        return float(np.sum(mass * self.channel.chances * self.far))

    def guess_rates(self) -> tuple[float, float]:
        """How often the best guesser is right about the secret, before and after. Theorem 7."""
        return float(self.joint.sum(axis=1).max()), float(self.moments.max(axis=1).sum())

    def maximal_leakage(self) -> float:
        """log2 sum_i max_a p(i | a): the most any guess about any secret can gain. Theorem 7."""
        prior = self.joint.sum(axis=1)
        given = self.moments[:, prior > 0] / prior[prior > 0]
        return math.log2(float(given.max(axis=1).sum()))

    def worst_case_epsilon(self) -> float:
        """The local-DP epsilon of the table: infinite unless all profiles share their outputs."""
        size = len(self.starts) - 1
        least, most = np.full(size, np.inf), np.zeros(size)
        np.minimum.at(least, self.outs, self.parts / WHOLE)
        np.maximum.at(most, self.outs, self.parts / WHOLE)
        everywhere = np.bincount(self.outs, minlength=size) == size
        used = most > 0
        if not everywhere[used].all():
            return math.inf
        return float(np.log(most[used] / least[used]).max())

    def guarantee(self) -> MutualInformation:
        """Bits on average under the joint law, from the integer table."""
        before, after = self.guess_rates()
        return MutualInformation(
            self.bits,
            self.distortion,
            self.secret,
            self.prior,
            guesses=(min(1.0, before), min(1.0, max(before, after))),  # floats may err by an ulp
            maximal_bits=max(0.0, self.maximal_leakage()),
        )

    @cached_property
    def sha256(self) -> str:
        """A fingerprint of the table and the joint law."""
        digest = hashlib.sha256()
        for array in (self.starts, self.outs, self.parts):
            digest.update(array.astype("<i8").tobytes())
        digest.update(self.joint.astype("<f8").tobytes())
        return digest.hexdigest()

    def parameters(self) -> dict[str, Any]:
        """Public parameters as plain data; a table not printed is named by its fingerprint."""
        told: dict[str, Any] = {
            "secret": self.secret,
            "prior": self.prior,
            "unit_of_distortion": self.unit_of_distortion,
            "profiles": len(self.starts) - 1,
            "sha256": self.sha256,
        }
        if self.printed and len(self.outs) <= _PRINTED:
            told["starts"] = self.starts.tolist()
            told["outs"] = self.outs.tolist()
            told["parts"] = [str(part) for part in self.parts.tolist()]
            told["far"] = self.far.tolist()
            told["joint"] = self.joint.tolist()
        return told

    @classmethod
    def from_parameters(cls, parameters: MappingType[str, Any]) -> Self:
        """The mechanism with these ``parameters()``, if its table was printed."""
        if "parts" not in parameters:
            raise ParameterError(
                "parts", "printed: the card names its table by fingerprint only", None
            )
        return cls(
            np.array(parameters["starts"], dtype=np.int64),
            np.array(parameters["outs"], dtype=np.int64),
            np.array([int(part) for part in parameters["parts"]], dtype=np.int64),
            np.array(parameters["far"], dtype=np.float64),
            np.array(parameters["joint"], dtype=np.float64),
            parameters["secret"],
            parameters["prior"],
            parameters["unit_of_distortion"],
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ProfileMapping) or self.sha256 != other.sha256:
            return False
        return (self.secret, self.prior) == (other.secret, other.prior)

    def __hash__(self) -> int:
        return hash(self.sha256)

    @cached_property
    def unchanged(self) -> float:
        """The share of people whose profile is released as it is."""
        inputs = self.channel.inputs
        return float(
            self.joint.sum(axis=0)[inputs] @ (self.channel.chances * (self.outs == inputs))
        )

    def utility(self) -> Utility:
        """Distortion on average over the joint law."""
        return Utility(
            sentence=(
                f"on average {show_up(self.distortion)} ({self.unit_of_distortion}); "
                f"{100 * self.unchanged:.3g} of 100 profiles are released as they are"
            ),
            mean_absolute_error=self.distortion,
        )

    def how(self) -> How:
        """Method and floating-point measure."""
        return How(
            sensitivity="none: the promise is an average over the joint law, not a worst case",
            bounds=f"an alphabet of {len(self.starts) - 1} profiles",
            floating_point="chances are whole numbers of 2**-62; drawing is exact",
        )

    def evidence(self) -> Evidence:
        """Theorem and assumptions."""
        return Evidence(
            theorem="docs/theory/mapping.md, Theorem 5",
            assumptions=(
                "people come from the joint law the mapping was made for",
                "a person's profile is released once",
                "AES-256 is not broken",
            ),
        )

    def release(self, data: int, source: Source) -> Release[int]:
        """One draw for profile number ``data``; what is no profile counts as the first one."""
        count = len(self.starts) - 1
        known = isinstance(data, (int, np.integer)) and 0 <= data < count
        row = np.array([int(data) if known else 0])
        return Release.by(self, int(self.release_many(row, source)[0]), source)

    def release_many(self, profiles: NDArray[np.int64], source: Source) -> NDArray[np.int64]:
        """One draw for each of many profiles of the alphabet, without cards.

        The search takes as many steps as the longest row needs, whichever profile it is for.
        """
        released = np.empty(len(profiles), dtype=np.int64)
        for at in range(0, len(profiles), _DRAWS):
            own = profiles[at : at + _DRAWS]
            released[at : at + _DRAWS] = self._rows.draw(own, source.long_words(len(own)))
        return released

    def release_each(
        self, profiles: NDArray[np.int64], people: Sequence[str], source: Source
    ) -> NDArray[np.int64]:
        """The same with a stream of their own for each person, whoever else is drawn for."""
        words = [source.child(name).long_words(1) for name in people]
        return self._rows.draw(profiles, np.concatenate([*words, _NO_WORD]))

    @cached_property
    def _rows(self) -> Rows:
        return Rows.of(self.starts, self.outs, self.parts)


def joint_leak(mapping: ProfileMapping, releases: int) -> float:
    """Bits that ``releases`` independent draws for one person tell together. Theorem 6."""
    require(releases >= 1, "releases", releases, "at least 1")
    size, secrets = len(mapping.starts) - 1, mapping.joint.shape[0]
    channel = mapping.channel
    seen: dict[tuple[int, ...], NDArray[np.float64]] = {}
    for j in range(size):
        row = slice(channel.starts[j], channel.starts[j + 1])
        draws = list(zip(channel.outs[row].tolist(), channel.chances[row].tolist(), strict=True))
        for outcome, chance in _multisets(draws, releases):
            seen.setdefault(outcome, np.zeros(secrets))
            seen[outcome] += chance * mapping.joint[:, j]
    moments = np.array(list(seen.values()))
    return information(moments, np.asarray(mapping.joint.sum(axis=1))) / math.log(2)


def _multisets(
    draws: list[tuple[int, float]], count: int, first: int = 0
) -> list[tuple[tuple[int, ...], float]]:
    """Outcomes of independent draws without their order, and their chances."""
    if count == 0:
        return [((), 1.0)]
    if first == len(draws):
        return []
    out, chance = draws[first]
    found = []
    for times in range(count + 1):
        ways = math.comb(count, times) * chance**times
        for rest, other in _multisets(draws, count - times, first + 1):
            found.append((tuple(sorted((out,) * times + rest)), ways * other))
    return found
