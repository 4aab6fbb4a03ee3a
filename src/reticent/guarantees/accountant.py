"""The accountant: adds losses, refuses what would go over a limit or does not add.

Theory    docs/theory/guarantees.md, Theorem 1 (composition), Theorem 2 (disjoint parts),
          Theorem 3 (refusal)
Notation  everything is integer nano-epsilon; charges round up, limits round down
Not here  durability, people and providers (the ledger).

Only sums are kept, so the order of releases leaves no trace and equal histories have equal states.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reticent.amounts import nano_down
from reticent.errors import BudgetExceeded, CannotCompose, require
from reticent.guarantees.events import Event
from reticent.guarantees.losses import (
    DPLoss,
    Spread,
    compose_disjoint,
    require_dp,
    simplest,
)
from reticent.guarantees.units import Unit
from reticent.rational import Number, rational


class Accountant:
    """Spends a budget about one unit: over everything, and per attribute and item where limited.

    >>> from reticent.guarantees import RECORD, Accountant, Event, PureDP
    >>> accountant = Accountant(unit=RECORD, limit=1)
    >>> event = Event("example", {}, PureDP.of(0.4, RECORD), private=True)
    >>> accountant.compose(event); accountant.compose(event)
    >>> accountant.would_exceed(event)
    True
    >>> accountant.remaining
    200000000
    """

    def __init__(
        self,
        *,
        unit: Unit,
        limit: Number,
        attributes: Mapping[str, Number] | None = None,
        items: Mapping[str, Number] | None = None,
    ) -> None:
        self._unit = unit
        self._limit = _limit(limit, "limit")
        self._attribute_limits = {
            name: _limit(value, "attribute limit") for name, value in (attributes or {}).items()
        }
        self._item_limits = {
            name: _limit(value, "item limit") for name, value in (items or {}).items()
        }
        self._items, self._attributes = Spread(), Spread()
        self._releases, self._private = 0, True

    @property
    def unit(self) -> Unit:
        """What the budget is about."""
        return self._unit

    @property
    def limit(self) -> int:
        """The overall limit in nano-epsilon."""
        return self._limit

    @property
    def spent(self) -> DPLoss:
        """The composed loss of everything charged so far."""
        return simplest(self._items, self._attributes, self._unit)

    @property
    def remaining(self) -> int:
        """Nano-epsilon left overall."""
        return self._limit - self._items.largest()

    @property
    def private(self) -> bool:
        """False once a release from a seeded source was charged: then nothing is promised."""
        return self._private

    def would_exceed(self, event: Event) -> bool:
        """Whether ``compose`` would refuse for want of budget; nothing is charged."""
        return self._shortfall(self._loss(event)) is not None

    def compose(self, event: Event) -> None:
        """Charge one release, or raise ``BudgetExceeded`` and charge nothing."""
        self._charge(self._loss(event), releases=1, private=event.private)

    def compose_disjoint(self, events: Mapping[str, Event]) -> None:
        """Charge releases from parts that the caller declares to share no unit. Theorem 2."""
        loss = compose_disjoint(self._loss(event) for event in events.values())
        private = all(event.private for event in events.values())
        self._charge(loss, releases=len(events), private=private)

    def state(self) -> dict[str, Any]:
        """Plain data for JSON: the same whatever the order of releases."""
        return {
            "schema": "accountant/1",
            "unit": {"thing": self._unit.thing, "relation": self._unit.relation},
            "limit": self._limit,
            "attribute_limits": dict(sorted(self._attribute_limits.items())),
            "item_limits": dict(sorted(self._item_limits.items())),
            "items": self._items.to_dict(),
            "attributes": self._attributes.to_dict(),
            "releases": self._releases,
            "private": self._private,
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Accountant:
        """Inverse of ``state``."""
        schema = state.get("schema")
        require(schema == "accountant/1", "schema", schema, "'accountant/1'")
        unit = Unit(state["unit"]["thing"], state["unit"]["relation"])
        accountant = cls(unit=unit, limit=0)
        accountant._limit = _whole(state["limit"])
        accountant._attribute_limits = {n: _whole(v) for n, v in state["attribute_limits"].items()}
        accountant._item_limits = {n: _whole(v) for n, v in state["item_limits"].items()}
        accountant._items = Spread.from_dict(state["items"])
        accountant._attributes = Spread.from_dict(state["attributes"])
        accountant._releases = _whole(state["releases"])
        require(isinstance(state["private"], bool), "private", state["private"], "true or false")
        accountant._private = state["private"]
        return accountant

    def _loss(self, event: Event) -> DPLoss:
        loss = require_dp(event.loss)
        if loss.unit != self._unit:
            raise CannotCompose(
                f"this budget is about {self._unit}, the release about {loss.unit}: "
                "their losses do not add"
            )
        return loss

    def _charge(self, loss: DPLoss, *, releases: int, private: bool) -> None:
        refusal = self._shortfall(loss)
        if refusal is not None:
            raise refusal
        self._items += loss.items
        self._attributes += loss.attributes
        self._releases += releases
        self._private &= private

    def _shortfall(self, loss: DPLoss) -> BudgetExceeded | None:
        """Theorem 3: the first limit that the charge would break, in a fixed order."""
        if (self._items + loss.items).largest() > self._limit:
            return BudgetExceeded("overall budget", loss.overall, self.remaining)
        for what, limits, spent, asked in (
            ("attribute", self._attribute_limits, self._attributes, loss.attributes),
            ("item", self._item_limits, self._items, loss.items),
        ):
            for name, limit in sorted(limits.items()):
                if spent[name] + asked[name] > limit:
                    return BudgetExceeded(
                        f"budget of {what} {name!r}", asked[name], limit - spent[name]
                    )
        return None


def _whole(amount: int) -> int:
    return Spread(amount).default  # a Spread takes non-negative integers only


def _limit(value: Number, name: str) -> int:
    exact = rational(value, name)
    require(exact >= 0, name, value, "finite and not negative")
    return nano_down(exact)
