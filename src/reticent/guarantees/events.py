"""Events: the record of one release, enough to account for it, with no data in it.

Theory    docs/theory/guarantees.md, Definition 3 (events)
Not here  when, for whom and in which order (the ledger); words for people (card.py).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any, TypeAlias

from reticent.errors import require
from reticent.guarantees.losses import Loss, loss_from_dict, loss_to_dict

Plain: TypeAlias = str | int | float | bool | list[Any] | None


@dataclass(frozen=True, slots=True)
class Event:
    """One release: which mechanism, with which public parameters, at what loss.

    ``private`` is false when a seeded source was used; then nothing is promised.
    """

    mechanism: str
    parameters: Mapping[str, Plain]
    loss: Loss
    private: bool

    def __post_init__(self) -> None:
        named = isinstance(self.mechanism, str) and self.mechanism != ""
        require(named, "mechanism", self.mechanism, "a name")
        require(isinstance(self.private, bool), "private", self.private, "true or false")
        kept = {name: self.parameters[name] for name in sorted(self.parameters)}
        object.__setattr__(self, "parameters", MappingProxyType(kept))

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __reduce__(self) -> tuple[object, ...]:
        return Event, (self.mechanism, dict(self.parameters), self.loss, self.private)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "schema": "event/1",
            "mechanism": self.mechanism,
            "parameters": dict(self.parameters),
            "loss": loss_to_dict(self.loss),
            "private": self.private,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Event:
        """Inverse of ``to_dict``."""
        require(data.get("schema") == "event/1", "schema", data.get("schema"), "'event/1'")
        return cls(
            data["mechanism"], data["parameters"], loss_from_dict(data["loss"]), data["private"]
        )

    def to_json(self) -> str:
        """One line of canonical JSON: equal events give equal bytes."""
        return canonical(self.to_dict())

    @classmethod
    def from_json(cls, text: str) -> Event:
        """Inverse of ``to_json``."""
        return cls.from_dict(json.loads(text))


def canonical(data: object) -> str:
    """JSON with sorted keys and no spaces; NaN and infinities are refused."""
    return json.dumps(
        data, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def plain(value: Fraction) -> str | int:
    """An exact number as a parameter of an event: an integer, or a fraction as text."""
    return int(value) if value.denominator == 1 else str(value)
