"""The mapping mechanism: a profile is released as another one, drawn from a table of chances.

Theory    docs/theory/mapping.md, Theorem 5 (integer rows); [SalamatianEtAl2014],
          [CalmonFawaz2012]
Notation  profile j becomes i with chance n_e / 2**62 for its entries e
Not here  drawing from the table (mapping_rows.py), what it leaks under a law (mapping_law.py), how
          it is found (optim/mapping*.py), learning it from people (tasks/learning.py).

The promise is an average over people, in bits. Under a declared law it is computed from the integer
chances that are really used. Where the law was counted among people, the mechanism holds the
figures that were computed from it, and not the law: drawing does not need it.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping as MappingType
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from reticent.amounts import show_up
from reticent.errors import ParameterError, require
from reticent.guarantees import MutualInformation
from reticent.guarantees.card import Evidence, How, Utility
from reticent.guarantees.samples import Sample
from reticent.mechanisms.base import Mechanism, Release
from reticent.mechanisms.mapping_law import MappingLaw
from reticent.mechanisms.mapping_rows import WHOLE, Rows, check_table
from reticent.mechanisms.mapping_statement import Statement, cover_of
from reticent.noise import Source
from reticent.optim.mapping import Channel

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_DRAWS = 1 << 18  # at a time
_NO_WORD = np.empty(0, dtype=np.uint64)
_PRINTED = 4096  # entries of a table that fits on a card
_NONCE_BITS = 128
_DECLARED = "the joint law the mapping was made for"


@dataclass(frozen=True, eq=False, repr=False)  # no slots: cached properties need a dictionary
class ProfileMapping(Mechanism[int]):
    """Release profile j as another one; profiles are numbers from 0 here.

    ``cover`` is how often each profile is released, to three digits. ``law`` is a declared joint
    law, which cards carry; None where it was counted among people. Then ``nonce``, drawn at random,
    enters the fingerprint: a card that names the mapping cannot be used to try laws until one fits.

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
    cover: NDArray[np.float64]
    statement: Statement
    secret: str
    prior: str = _DECLARED
    unit_of_distortion: str = "share of attributes changed"
    law: MappingLaw | None = None
    nonce: str = ""

    def __post_init__(self) -> None:
        count = len(self.starts) - 1
        check_table(self.starts, self.outs, self.parts)
        law = self.cover.shape == (count,) and bool(np.isfinite(self.cover).all())
        law = law and bool((self.cover >= 0).all()) and float(self.cover.sum()) > 0
        require(law, "cover", "other", f"{count} weights, not all of them 0")

    @classmethod
    def of(
        cls,
        channel: Channel,
        joint: ArrayLike,
        distance: Any,
        *,
        secret: str,
        prior: str = _DECLARED,
        unit_of_distortion: str = "share of attributes changed",
    ) -> ProfileMapping:
        """A mapping under a declared joint law, which is public and printed on cards."""
        return cls.under(MappingLaw.of(channel, joint, distance), secret, prior, unit_of_distortion)

    @classmethod
    def under(
        cls,
        law: MappingLaw,
        secret: str,
        prior: str = _DECLARED,
        unit_of_distortion: str = "share of attributes changed",
    ) -> Self:
        """The same from the law of a table of whole chances."""
        table = (law.starts, law.outs, law.parts, cover_of(law), Statement.exact(law))
        return cls(*table, secret, prior, unit_of_distortion, law)

    @classmethod
    def learnt(
        cls,
        law: MappingLaw,
        sample: Sample,
        *,
        secret: str,
        by_secret: MappingType[str, float],
        unit_of_distortion: str,
        source: Source,
    ) -> Self:
        """A mapping whose law was counted among people: it is left behind, its figures are kept."""
        prior = f"the counts of the {sample.people} people it was learnt from"
        stated = Statement.learnt(law, sample, by_secret)
        table = (law.starts, law.outs, law.parts, cover_of(law), stated)
        nonce = f"{source.bits(_NONCE_BITS):0{_NONCE_BITS // 4}x}"
        return cls(*table, secret, prior, unit_of_distortion, None, nonce)

    @cached_property
    def channel(self) -> Channel:
        """The table as floats."""
        return Channel(self.starts, self.outs, self.parts / WHOLE)

    @property
    def bits(self) -> float:
        """Leakage about the secret on average, as stated."""
        return self.statement.bits

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
        """Bits on average under the joint law, of the integer table."""
        stated = self.statement
        return MutualInformation(
            stated.bits,
            stated.distortion,
            self.secret,
            self.prior,
            guesses=stated.guesses,
            maximal_bits=stated.maximal_bits,
            sample=stated.sample,
        )

    @cached_property
    def sha256(self) -> str:
        """A fingerprint of the table, keyed by the nonce, and of the law if that is declared."""
        digest = hashlib.sha256(self.nonce.encode())
        for array in (self.starts, self.outs, self.parts):
            digest.update(array.astype("<i8").tobytes())
        if self.law is not None:
            digest.update(self.law.joint.astype("<f8").tobytes())
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
        if self.law is not None and len(self.outs) <= _PRINTED:
            told["starts"] = self.starts.tolist()
            told["outs"] = self.outs.tolist()
            told["parts"] = [str(part) for part in self.parts.tolist()]
            told["far"] = self.law.far.tolist()
            told["joint"] = self.law.joint.tolist()
        return told

    @classmethod
    def from_parameters(cls, parameters: MappingType[str, Any]) -> Self:
        """The mechanism with these ``parameters()``, if its table was printed."""
        if "parts" not in parameters:
            raise ParameterError(
                "parts", "printed: the card names its table by fingerprint only", None
            )
        law = MappingLaw(
            np.array(parameters["starts"], dtype=np.int64),
            np.array(parameters["outs"], dtype=np.int64),
            np.array([int(part) for part in parameters["parts"]], dtype=np.int64),
            np.array(parameters["far"], dtype=np.float64),
            np.array(parameters["joint"], dtype=np.float64),
        )
        return cls.under(
            law, parameters["secret"], parameters["prior"], parameters["unit_of_distortion"]
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ProfileMapping) or self.sha256 != other.sha256:
            return False
        return (self.secret, self.prior) == (other.secret, other.prior)

    def __hash__(self) -> int:
        return hash(self.sha256)

    def utility(self) -> Utility:
        """Distortion on average over the joint law."""
        stated = self.statement
        among = "" if stated.sample is None else ", counted among the people it was learnt from"
        return Utility(
            sentence=(
                f"on average {show_up(stated.distortion)} ({self.unit_of_distortion}); "
                f"{100 * stated.unchanged:.3g} of 100 profiles are released as they are{among}"
            ),
            mean_absolute_error=stated.distortion,
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
        if self.statement.sample is None:
            about = "people come from the joint law the mapping was made for"
        else:
            about = "the figures are those of the people it was learnt from"
        return Evidence(
            theorem="docs/theory/mapping.md, Theorem 5",
            assumptions=(
                about,
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
