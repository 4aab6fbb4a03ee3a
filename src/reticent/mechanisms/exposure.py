"""What one unit of a profile can move in a histogram, reduced to the rows that matter.

Theory    docs/theory/multilevel.md, Definition 2 (exposure), Lemma 1 (maximal rows)
Notation  rows r_k in units of step_j: |a_ij| for an item that comes or goes, |a_ij - a_lj| for one
          that is replaced; C_j = largest entry of column j; y_j = loss per step
Not here  how the loss is shared among attributes (multilevel_plan.py), the noise (multilevel.py).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.data.catalogue import UNIT_BITS, Catalogue
from reticent.errors import ParameterError, require
from reticent.guarantees import ITEM, ITEM_SUBSTITUTE, Unit, plain
from reticent.optim.rows import distinct_rows, maximal_rows
from reticent.rational import positive, whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_WEIGHTED = 1 << 20  # attributes of a weighted histogram, Lemma 4
_MOST_ENTRIES = 20_000_000  # of rows that come from outside
_MOST_DISTINCT = 3000  # different items of which all pairs are compared


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Exposure:
    """The public facts on which a multi-level guarantee rests: no item of it is named.

    ``weighted`` profiles count parts of items, so their histogram has finer steps. A replaced item
    and its replacement are both of the catalogue, and how many a profile has of it is public.
    """

    attributes: tuple[str, ...]
    steps: tuple[Fraction, ...]
    rows: NDArray[np.int64]
    unit: Unit = ITEM
    weighted: bool = False
    made_of: str = field(default="", init=False, repr=False)  # fingerprint of the catalogue

    def __post_init__(self) -> None:
        shape = self.rows.ndim == 2 and self.rows.shape[1] == len(self.attributes)
        require(shape, "rows", f"shape {self.rows.shape}", "one number per attribute in each row")
        good = shape and bool(
            (self.rows >= 0).all() and (self.rows.max(axis=0, initial=0) > 0).all()
        )
        require(good, "rows", "other", "not negative, with something in each column")
        distinct = len(set(self.attributes)) == len(self.attributes)
        require(distinct, "attributes", "a name twice", "distinct names")
        require(len(self.steps) == len(self.attributes), "steps", len(self.steps), "one each")
        require(self.unit.thing == "item", "unit", str(self.unit), "an item unit")
        require(isinstance(self.weighted, bool), "weighted", self.weighted, "true or false")
        whole_items = self.unit == ITEM or not self.weighted
        require(whole_items, "weighted", self.weighted, "false when items are replaced")
        few = not self.weighted or len(self.attributes) <= _MOST_WEIGHTED
        require(few, "attributes", len(self.attributes), f"at most {_MOST_WEIGHTED} with weights")
        self.rows.flags.writeable = False

    @classmethod
    def of(cls, catalogue: Catalogue, *, unit: Unit = ITEM, weighted: bool = False) -> Exposure:
        """What one item of ``catalogue`` can move."""
        empty = catalogue.empty
        if empty:
            raise ParameterError("attributes", "attributes that some item has", empty[0])
        table = catalogue.dense()
        rows = _replacements(table) if unit == ITEM_SUBSTITUTE else np.abs(table)
        rows = maximal_rows(rows)
        if not len(rows) or not rows.max(axis=0).all():
            raise ParameterError("unit", "one that can change every attribute", str(unit))
        finer = [_finer(int(most)) if weighted else 0 for most in rows.max(axis=0)]
        steps = tuple(step / (1 << b) for step, b in zip(catalogue.steps, finer, strict=True))
        found = cls(catalogue.attributes, steps, rows << np.array(finer), unit, weighted)
        object.__setattr__(found, "made_of", _fingerprint(catalogue))
        return found

    def fits(self, catalogue: Catalogue) -> bool:
        """Whether this is the exposure of ``catalogue``, on which every promise rests."""
        if self.made_of == _fingerprint(catalogue):
            return True
        return self == Exposure.of(catalogue, unit=self.unit, weighted=self.weighted)

    @property
    def largest(self) -> NDArray[np.int64]:
        """C_j: the most that one unit can move attribute j, in steps."""
        return np.asarray(self.rows.max(axis=0))

    def entries(self, catalogue: Catalogue) -> NDArray[np.int64]:
        """Values of a catalogue that fits, in the steps of this exposure, in its own order."""
        pairs = zip(catalogue.steps, self.steps, strict=True)
        finer = np.array([math.floor(own / step) for own, step in pairs], dtype=np.int64)
        return np.asarray(catalogue.units * finer[catalogue.columns])

    def losses(self, rates: Sequence[Fraction]) -> tuple[Fraction, ...]:
        """What each row loses when a step of attribute j costs ``rates[j]``, exactly."""
        common = math.lcm(*(rate.denominator for rate in rates))
        parts = np.array([int(rate * common) for rate in rates], dtype=object)
        return tuple(Fraction(int(total), common) for total in self.rows.astype(object) @ parts)

    def overall(self, rates: Sequence[Fraction]) -> Fraction:
        """What the most exposed unit loses. Theorem 1."""
        return max(self.losses(rates))

    def alone(self, rates: Sequence[Fraction]) -> tuple[Fraction, ...]:
        """What an observer of one attribute alone learns, attribute by attribute. Theorem 1."""
        return tuple(int(c) * rate for c, rate in zip(self.largest, rates, strict=True))

    def parameters(self) -> dict[str, Any]:
        """As plain data."""
        rows = [[[int(j), int(row[j])] for j in np.flatnonzero(row)] for row in self.rows]
        return {
            "attributes": list(self.attributes),
            "steps": [plain(step) for step in self.steps],
            "rows": rows,
            "unit": [self.unit.thing, self.unit.relation],
            "weighted": self.weighted,
        }

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> Exposure:
        """Inverse of ``parameters``."""
        names = tuple(parameters["attributes"])
        size = len(parameters["rows"]) * len(names)  # may be far more than was read
        require(size <= _MOST_ENTRIES, "rows", size, f"at most {_MOST_ENTRIES} entries")
        rows = np.zeros((len(parameters["rows"]), len(names)), dtype=np.int64)
        for k, row in enumerate(parameters["rows"]):
            for pair in row:
                require(len(pair) == 2, "rows", pair, "pairs of an attribute and a number")
                require(whole(pair[0], "rows", least=0) < len(names), "rows", pair, "in range")
                rows[k, pair[0]] = whole(pair[1], "rows", least=1)
        steps = tuple(positive(step, "steps") for step in parameters["steps"])
        return cls(names, steps, rows, Unit(*parameters["unit"]), parameters["weighted"])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Exposure) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        rows = self.rows.astype("<i8").tobytes()
        return self.attributes, self.steps, rows, self.unit, self.weighted


def _fingerprint(catalogue: Catalogue) -> str:
    digest = hashlib.sha256(repr((catalogue.attributes, catalogue.steps)).encode())
    for part in (catalogue.starts, catalogue.rows, catalogue.units):
        digest.update(part.astype("<i8").tobytes())
    return digest.hexdigest()


def _finer(largest: int) -> int:
    """By how many binary digits a column is refined so that parts of an item can count."""
    return max(0, UNIT_BITS - largest.bit_length())


def _replacements(table: NDArray[np.int64]) -> NDArray[np.int64]:
    """|a_i - a_l| for all pairs of different items, reduced as they are made."""
    kinds = distinct_rows(table)[0]
    if len(kinds) > _MOST_DISTINCT:
        raise ParameterError(
            "unit",
            f"add-remove for a catalogue with more than {_MOST_DISTINCT} different items; at "
            "twice the loss it covers a replacement",
            str(ITEM_SUBSTITUTE),
        )
    kept = np.zeros((1, table.shape[1]), dtype=np.int64)
    for at in range(0, len(kinds), 64):
        block = kinds[at : at + 64, None, :] - kinds[None, at:, :]
        pairs = np.abs(block).reshape(-1, table.shape[1])
        kept = maximal_rows(np.concatenate([kept, pairs])) if pairs.any() else kept
    return kept
