"""Losses: how much a release may tell about one unit, as values that add when they should.

Theory    docs/theory/guarantees.md, Definition 2 (losses), Theorem 1 (composition),
          Theorem 2 (disjoint parts); [DworkRoth2014], [AlagganEtAl2016]
Notation  amounts are integer nano-epsilon, rounded up; v_i = weight of item i
Not here  limits (accountant.py), words for people (card.py).

The differential-privacy losses are one thing seen from far and near: a ``Spread`` of loss over
items and another over attributes. ``PureDP`` spreads it evenly, ``PerItemDP`` by weight,
``MultiLevelDP`` both ways; they add name by name. ``MutualInformation`` is an average under one
prior and does not add.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from types import MappingProxyType
from typing import Any, ClassVar, TypeAlias

from reticent.amounts import nano_up
from reticent.errors import CannotCompose, ParameterError, require
from reticent.guarantees.samples import Sample
from reticent.guarantees.units import ITEM, Unit
from reticent.rational import Number, positive, rational


@dataclass(frozen=True, slots=True)
class Spread:
    """A whole number for every name: a default and the exceptions to it.

    >>> Spread(5, {"b": 1}) + Spread(2)
    Spread(default=7, named={'b': 3})
    """

    default: int = 0
    named: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for amount in (self.default, *self.named.values()):
            whole = isinstance(amount, int) and not isinstance(amount, bool)
            require(whole and amount >= 0, "amount", amount, "a non-negative integer")
        exceptions = {n: self.named[n] for n in sorted(self.named) if self.named[n] != self.default}
        object.__setattr__(self, "named", MappingProxyType(exceptions))

    def __getitem__(self, name: str) -> int:
        return self.named.get(name, self.default)

    def __add__(self, other: Spread) -> Spread:
        return self._merge(other, int.__add__)

    def maximum(self, other: Spread) -> Spread:
        """The larger of the two amounts for each name."""
        return self._merge(other, max)

    def largest(self) -> int:
        """The largest amount of any name, the default included."""
        return max(self.default, *self.named.values()) if self.named else self.default

    def _merge(self, other: Spread, join: Callable[[int, int], int]) -> Spread:
        names = self.named.keys() | other.named.keys()
        return Spread(
            join(self.default, other.default),
            {name: join(self[name], other[name]) for name in names},
        )

    def __hash__(self) -> int:
        return hash((self.default, tuple(self.named.items())))

    def __repr__(self) -> str:
        return f"Spread(default={self.default}, named={dict(self.named)})"

    def __reduce__(self) -> tuple[type[Spread], tuple[int, dict[str, int]]]:
        return Spread, (self.default, dict(self.named))

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {"default": self.default, "named": dict(self.named)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Spread:
        """Inverse of ``to_dict``."""
        return cls(data["default"], dict(data["named"]))


@dataclass(frozen=True, slots=True)
class PureDP:
    """Uniform pure differential privacy: every unit loses at most ``nano`` nano-epsilon.

    >>> from reticent.guarantees import RECORD, PureDP
    >>> PureDP.of(0.1, RECORD).nano
    100000000
    """

    kind: ClassVar[str] = "pure-dp"
    nano: int
    unit: Unit

    def __post_init__(self) -> None:
        Spread(self.nano)  # checks the amount

    @classmethod
    def of(cls, epsilon: Number, unit: Unit) -> PureDP:
        """The loss ``epsilon``, rounded up to whole nano-epsilon."""
        return cls(nano_up(positive(epsilon, "epsilon")), unit)

    @property
    def items(self) -> Spread:
        """What each unit loses."""
        return Spread(self.nano)

    @property
    def attributes(self) -> Spread:
        """What an observer of one attribute alone learns at most."""
        return Spread(self.nano)

    @property
    def overall(self) -> int:
        """What the most exposed unit loses."""
        return self.nano


@dataclass(frozen=True, slots=True)
class PerItemDP:
    """Heterogeneous differential privacy: item i loses at most ``items[i]`` nano-epsilon."""

    kind: ClassVar[str] = "per-item-dp"
    items: Spread
    unit: Unit = ITEM

    def __post_init__(self) -> None:
        require(self.unit.thing == "item", "unit", str(self.unit), "an item unit")

    @classmethod
    def of(
        cls, epsilon: Number, weights: Mapping[str, Number], *, default: Number = 0
    ) -> PerItemDP:
        """The loss epsilon * v_i for weights v_i in [0, 1]; unnamed items weigh ``default``."""
        exact = positive(epsilon, "epsilon")
        return cls(
            Spread(
                nano_up(exact * _weight(default, "default")),
                {item: nano_up(exact * _weight(v, "weight")) for item, v in weights.items()},
            )
        )

    @property
    def attributes(self) -> Spread:
        """What an observer of one attribute alone learns at most."""
        return Spread(self.overall)

    @property
    def overall(self) -> int:
        """What the most exposed item loses."""
        return self.items.largest()


@dataclass(frozen=True, slots=True)
class MultiLevelDP:
    """Losses per item and, for an observer of one attribute alone, per attribute."""

    kind: ClassVar[str] = "multi-level-dp"
    items: Spread
    attributes: Spread
    unit: Unit = ITEM

    @property
    def overall(self) -> int:
        """What the most exposed unit loses to an observer of everything."""
        return self.items.largest()


@dataclass(frozen=True, slots=True)
class MutualInformation:
    """An average leak in bits about ``secret``, under the prior it was computed with.

    ``guesses`` is how often the best guesser is right, before and after the release;
    ``maximal_bits`` is the logarithm of the most that the chance to guess the secret, or a function
    of it alone, is multiplied by. With a ``sample`` all figures are those of its people.
    """

    kind: ClassVar[str] = "mutual-information"
    bits: float
    distortion: float
    secret: str
    prior: str
    guesses: tuple[float, float] | None = None
    maximal_bits: float | None = None
    sample: Sample | None = None

    def __post_init__(self) -> None:
        told = {"bits": self.bits, "distortion": self.distortion}
        if self.maximal_bits is not None:
            told["maximal_bits"] = self.maximal_bits
        for name, value in told.items():
            real = isinstance(value, (int, float)) and not isinstance(value, bool)
            require(
                real and math.isfinite(value) and value >= 0, name, value, "finite and not negative"
            )
        if self.guesses is not None:
            before, after = self.guesses
            require(0 <= before <= after <= 1, "guesses", self.guesses, "chances, the first less")
        for name in ("secret", "prior"):
            text = getattr(self, name)
            require(isinstance(text, str) and text != "", name, text, "a name")


@dataclass(frozen=True, slots=True)
class Unprotected:
    """Nothing is promised: the data of ``whom`` were read without noise."""

    kind: ClassVar[str] = "unprotected"
    whom: str

    def __post_init__(self) -> None:
        require(isinstance(self.whom, str) and self.whom != "", "whom", self.whom, "a name")


DPLoss: TypeAlias = PureDP | PerItemDP | MultiLevelDP
Loss: TypeAlias = DPLoss | MutualInformation | Unprotected


def compose(losses: Iterable[Loss]) -> DPLoss:
    """The loss of several releases about the same units. Theorem 1."""
    return _fold(losses, Spread.__add__)


def compose_disjoint(losses: Iterable[Loss]) -> DPLoss:
    """The loss of releases from parts of the data that share no unit. Theorem 2."""
    together = _fold(losses, Spread.maximum)
    if together.unit.relation != "add-remove":
        raise CannotCompose(
            f"releases from disjoint parts do not compose for {together.unit}: "
            "the replacement may fall into another part. Use an add-remove unit, or add the losses"
        )
    return together


def _fold(losses: Iterable[Loss], join: Callable[[Spread, Spread], Spread]) -> DPLoss:
    parts = [require_dp(loss) for loss in losses]
    if not parts:
        raise ParameterError("losses", "at least one loss", "none")
    units = sorted({str(part.unit) for part in parts})
    if len(units) > 1:
        raise CannotCompose(f"losses about {' and about '.join(units)} do not add")
    return simplest(
        reduce(join, (part.items for part in parts)),
        reduce(join, (part.attributes for part in parts)),
        parts[0].unit,
    )


def require_dp(loss: Loss) -> DPLoss:
    """``loss`` itself if it is a differential-privacy loss, which alone adds."""
    if isinstance(loss, MutualInformation):
        raise CannotCompose(
            "mutual information does not add: two releases about one person can leak more "
            "together than the sum of their averages under each prior; compute the joint leak"
        )
    if isinstance(loss, Unprotected):
        raise CannotCompose(f"{loss.whom} are not protected: there is no loss that could add")
    return loss


def simplest(items: Spread, attributes: Spread, unit: Unit) -> DPLoss:
    """The plainest loss with these spreads."""
    if attributes == Spread(items.largest()):
        return PerItemDP(items, unit) if items.named else PureDP(items.default, unit)
    return MultiLevelDP(items, attributes, unit)


def loss_to_dict(loss: Loss) -> dict[str, Any]:
    """A loss as plain data for JSON; amounts stay integers of nano-epsilon."""
    if isinstance(loss, MutualInformation):
        return {
            "kind": loss.kind,
            "bits": loss.bits,
            "distortion": loss.distortion,
            "secret": loss.secret,
            "prior": loss.prior,
            "guesses": None if loss.guesses is None else list(loss.guesses),
            "maximal_bits": loss.maximal_bits,
            "sample": None if loss.sample is None else loss.sample.to_dict(),
        }
    if isinstance(loss, Unprotected):
        return {"kind": loss.kind, "whom": loss.whom}
    return {
        "kind": loss.kind,
        "unit": {"thing": loss.unit.thing, "relation": loss.unit.relation},
        "items": loss.items.to_dict(),
        "attributes": loss.attributes.to_dict(),
    }


def loss_from_dict(data: Mapping[str, Any]) -> Loss:
    """Inverse of ``loss_to_dict``."""
    if data["kind"] == MutualInformation.kind:
        guesses, sample = data["guesses"], data.get("sample")  # 0.1 wrote none
        return MutualInformation(
            data["bits"],
            data["distortion"],
            data["secret"],
            data["prior"],
            None if guesses is None else (guesses[0], guesses[1]),
            data["maximal_bits"],
            None if sample is None else Sample.from_dict(sample),
        )
    if data["kind"] == Unprotected.kind:
        return Unprotected(data["whom"])
    unit = Unit(data["unit"]["thing"], data["unit"]["relation"])
    items, attributes = Spread.from_dict(data["items"]), Spread.from_dict(data["attributes"])
    kinds: dict[str, DPLoss] = {
        PureDP.kind: PureDP(items.default, unit),
        MultiLevelDP.kind: MultiLevelDP(items, attributes, unit),
    }
    if unit.thing == "item":
        kinds[PerItemDP.kind] = PerItemDP(items, unit)
    loss = kinds.get(data["kind"])
    if loss is None or loss_to_dict(loss) != dict(data):
        raise ParameterError("kind", "one that its amounts and unit fit", data["kind"])
    return loss


def _weight(value: Number, name: str) -> Fraction:
    weight = rational(value, name)
    require(0 <= weight <= 1, name, value, "from 0 to 1")
    return weight
