"""What a preferences file means: its lines, and which of them holds for whom.

Notation  weight v_i of item i; epsilon t_j of attribute j; docs/preferences.md
Not here  grammar (syntax.py), from data to these values (reading.py), where lines stand (lines.py).

The more exact line holds: a provider's line about a name, then the general line about the name or
the provider's default, then the general default. Neither of the middle two is more exact than the
other, so the smaller amount holds: a default never undoes what a name withholds, nor the reverse.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import Enum
from fractions import Fraction
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from reticent.preferences.lines import KeyPath

VERSION = 1
RENEWALS = ("never", "daily", "weekly", "monthly", "yearly")
WITHHOLD = "withhold"
DEFAULT = "default"
TABLES = ("items", "attributes", "providers", "hide")
OWN_TABLES = ("attributes", "items")
"""Tables that a provider may have of its own."""


class Lack(Enum):
    """That there is no line, where None says that a line withholds."""

    NO_LINE = "no line"


NO_LINE: Final = Lack.NO_LINE

Budget: TypeAlias = Fraction | None
"""The epsilon of an attribute; None withholds it."""
Line: TypeAlias = tuple[KeyPath, Budget]
"""A line as it counts: its key, and its amount."""


class Sendable:
    """Values whose mappings nobody may change, which can yet be sent to other processes."""

    __slots__ = ()

    def __reduce__(self) -> tuple[object, ...]:
        held = {one.name: getattr(self, one.name) for one in fields(self)}  # type: ignore[arg-type]
        plain = {
            name: dict(value) if isinstance(value, MappingProxyType) else value
            for name, value in held.items()
        }
        return _received, (type(self), plain)


def _received(kind: type[Sendable], held: dict[str, object]) -> Sendable:
    return kind(**held)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Provider(Sendable):
    """What one provider may get: per release, in all, and when that starts anew.

    Its own lines about attributes and items hold instead of the general ones. ``item_default`` is
    None if there is no such line.
    """

    epsilon: Fraction
    total: Fraction | None = None
    renews: str = "never"
    attributes: Mapping[str, Budget] = field(default_factory=dict, hash=False)
    attribute_default: Budget | Literal[Lack.NO_LINE] = NO_LINE
    items: Mapping[str, Fraction] = field(default_factory=dict, hash=False)
    item_default: Fraction | None = None

    def __post_init__(self) -> None:
        for part in OWN_TABLES:
            object.__setattr__(self, part, MappingProxyType(dict(getattr(self, part))))

    @property
    def has_own_attributes(self) -> bool:
        """Whether any line is about what this provider may learn of attributes."""
        return bool(self.attributes) or not isinstance(self.attribute_default, Lack)

    @property
    def has_own_items(self) -> bool:
        """Whether any line is about what items weigh for this provider."""
        return bool(self.items) or self.item_default is not None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Wishes(Sendable):
    """The content of a file; an attribute that maps to None is withheld.

    Without a provider, or for one that the file does not name, the general lines are asked.
    """

    items: Mapping[str, Fraction] = field(default_factory=dict)
    item_default: Fraction = Fraction(1)
    attributes: Mapping[str, Budget] = field(default_factory=dict)
    attribute_default: Budget = None
    providers: Mapping[str, Provider] = field(default_factory=dict)
    hide: Mapping[str, Fraction] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for part in TABLES:
            object.__setattr__(self, part, MappingProxyType(dict(getattr(self, part))))

    def weight(self, item: str, provider: str | None = None) -> Fraction:
        """How much of a provider's epsilon an item may lose."""
        own = self._own(provider)
        if own is None:
            return self.items.get(item, self.item_default)
        if item in own.items:
            return own.items[item]
        if own.item_default is None:
            return self.items.get(item, self.item_default)
        return min(own.item_default, self.items.get(item, own.item_default))

    def budget(self, attribute: str, provider: str | None = None) -> Budget:
        """What an attribute alone may lose; None if it is withheld."""
        return self.attribute_lines(attribute, provider)[0][1]

    def own_items(self, provider: str | None) -> Mapping[str, Fraction]:
        """The items that a provider has lines of its own for."""
        own = self._own(provider)
        return {} if own is None else own.items

    def own_attributes(self, provider: str | None) -> Mapping[str, Budget]:
        """The attributes that a provider has lines of its own for."""
        own = self._own(provider)
        return {} if own is None else own.attributes

    def unnamed_weight(self, provider: str | None = None) -> Fraction:
        """The weight of the items that no line names."""
        own = self._own(provider)
        return self.item_default if own is None or own.item_default is None else own.item_default

    def unnamed_budget(self, provider: str | None = None) -> Budget:
        """What an attribute alone may lose that no line names."""
        own = self._own(provider)
        if own is None or isinstance(own.attribute_default, Lack):
            return self.attribute_default
        return own.attribute_default

    def item_lines(self, item: str, provider: str | None = None) -> list[Line]:
        """The lines about an item, the one that holds first; the last need not be in the file."""
        own = self._own(provider)
        general = (("items", DEFAULT), self.item_default)
        if own is None:
            return [*_named(("items",), self.items, item), general]
        path = ("providers", str(provider), "items")
        default = [] if own.item_default is None else [((*path, DEFAULT), own.item_default)]
        between = [*_named(("items",), self.items, item), *default]
        return [*_named(path, own.items, item), *sorted(between, key=_amount), general]

    def attribute_lines(self, attribute: str, provider: str | None = None) -> list[Line]:
        """The lines about an attribute, in the same manner."""
        own = self._own(provider)
        general = (("attributes", DEFAULT), self.attribute_default)
        if own is None:
            return [*_named(("attributes",), self.attributes, attribute), general]
        path, set_default = ("providers", str(provider), "attributes"), own.attribute_default
        default = [] if isinstance(set_default, Lack) else [((*path, DEFAULT), set_default)]
        between = [*_named(("attributes",), self.attributes, attribute), *default]
        return [*_named(path, own.attributes, attribute), *sorted(between, key=_amount), general]

    def _own(self, provider: str | None) -> Provider | None:
        return None if provider is None else self.providers.get(provider)


def _named(path: KeyPath, amounts: Mapping[str, Budget], name: str) -> list[Line]:
    return [((*path, name), amounts[name])] if name in amounts else []


def _amount(line: Line) -> Fraction:
    return line[1] or Fraction(0)
