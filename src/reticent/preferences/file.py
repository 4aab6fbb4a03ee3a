"""The preferences file: read it, ask it who gets what, and why.

Not here  what its lines mean (model.py), its rules and grammar (reading.py, syntax.py), which line
          decides (decisions.py), names and lines in doubt (doubts.py), what is spent (the ledger).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType

from reticent.errors import Refused
from reticent.preferences.decisions import Book, Decision
from reticent.preferences.doubts import doubts, unknown
from reticent.preferences.lines import key_lines
from reticent.preferences.model import (
    DEFAULT,
    VERSION,
    Budget,
    Lack,
    Provider,
    Sendable,
    Wishes,
)
from reticent.preferences.problems import PreferencesError, Problem, locate, nearest
from reticent.preferences.reading import read_wishes
from reticent.preferences.syntax import parse_toml, read_text
from reticent.rational import Number, budget


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Grant(Sendable):
    """What a provider may get of a catalogue in one release, before any noise is planned."""

    provider: str
    epsilon: Fraction
    budgets: Mapping[str, Fraction]
    withheld: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "budgets", MappingProxyType(dict(self.budgets)))

    @property
    def fingerprint(self) -> str:
        """SHA-256 of this grant, for its owner alone: others could try wishes until one fits.

        It is made from epsilon and budgets, and never from weights of items.
        """
        budgets = {name: str(amount) for name, amount in self.budgets.items()}
        told = [self.provider, str(self.epsilon), budgets, list(self.withheld)]
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Preferences:
    """What one person allows; make one with ``read`` or ``parse``.

    >>> prefs = Preferences.parse('''
    ... version = 1
    ... [items]
    ... "The Sessions" = 0
    ... [attributes]
    ... Drama = 0.02
    ... [providers."filmclub.example"]
    ... epsilon = 0.4
    ... ''')
    >>> grant = prefs.grant("filmclub.example", attributes=("Comedy", "Drama"))
    >>> dict(grant.budgets), grant.withheld
    ({'Drama': Fraction(1, 50)}, ('Comedy',))
    >>> prefs.weights(["The Sessions", "Heat"])
    [Fraction(0, 1), Fraction(1, 1)]
    """

    wishes: Wishes
    file: str = field(compare=False)
    text: str = field(repr=False, compare=False)

    @classmethod
    def read(cls, path: str | Path) -> Preferences:
        """From a file; ``PreferencesError`` says all that is wrong with it."""
        return cls.parse(read_text(Path(path), str(path)), name=str(path))

    @classmethod
    def parse(cls, text: str, name: str = "preferences.toml") -> Preferences:
        """From text; ``name`` is what errors call the file."""
        wishes, faults = read_wishes(parse_toml(text, name))
        if faults:
            raise PreferencesError(locate(faults, text, name))
        return cls(wishes=wishes, file=name, text=text)

    @classmethod
    def alike(
        cls, provider: str, epsilon: Number, attributes: Mapping[str, Number] | None = None
    ) -> Preferences:
        """One budget for all together, and for each attribute that or its own; items count in full.

        ``default`` stands for attributes that are not named; without it they are withheld.
        """
        most = budget(epsilon, "epsilon")
        each = {name: budget(own, "attributes") for name, own in dict(attributes or {}).items()}
        usual = each.pop(DEFAULT, None) if attributes else most
        named = {provider: Provider(epsilon=most)}
        wishes = Wishes(attributes=each, attribute_default=usual, providers=named)
        return cls(wishes=wishes, file="", text="")

    @property
    def providers(self) -> Mapping[str, Provider]:
        """Who may get anything, and how much."""
        return self.wishes.providers

    @property
    def hide(self) -> Mapping[str, Fraction]:
        """What must not become inferable from released profiles: bits that may leak."""
        return self.wishes.hide

    @property
    def weighted(self) -> bool:
        """Whether any item can have a weight other than 1, in general or for some provider."""
        return self.weighted_for(None) or any(map(self.weighted_for, self.providers))

    def weighted_for(self, provider: str | None) -> bool:
        """Whether any item can have a weight other than 1 for this provider."""
        named = {*self.wishes.items, *self.wishes.own_items(provider)}
        weights = (self.wishes.weight(item, provider) for item in named)
        return self.wishes.unnamed_weight(provider) != 1 or any(weight != 1 for weight in weights)

    def weight(self, item: str, *, provider: str | None = None) -> Fraction:
        """The weight of an item, from 0 to 1, for a provider or in general."""
        return self.wishes.weight(item, provider)

    def weights(self, items: Iterable[str], *, provider: str | None = None) -> list[Fraction]:
        """The weights of items, in their order."""
        return [self.wishes.weight(item, provider) for item in items]

    def grant(self, provider: str, *, attributes: Iterable[str]) -> Grant:
        """What a provider may get of these attributes; ``Refused`` if no line names it."""
        if provider not in self.providers:
            near = nearest(provider, self.providers)
            raise Refused(provider, self.file, nearest=near)
        budgets = {attribute: self.wishes.budget(attribute, provider) for attribute in attributes}
        released = {key: budget for key, budget in budgets.items() if budget is not None}
        return Grant(
            provider=provider,
            epsilon=self.providers[provider].epsilon,
            budgets=released,
            withheld=tuple(key for key, budget in budgets.items() if budget is None),
        )

    def check_against(
        self,
        *,
        attributes: Collection[str],
        items: Collection[str] | None = None,
        empty: Collection[str] = (),
    ) -> None:
        """Raise ``PreferencesError`` for names that a catalogue lacks or has no use for.

        ``empty`` are attributes that no item has: an epsilon for one would buy nothing.
        """
        faults = unknown(self.wishes, attributes, items, empty)
        if faults:
            raise PreferencesError(locate(faults, self.text, self.file))

    def notes(self) -> tuple[Problem, ...]:
        """What is allowed, and yet probably not meant."""
        return locate(doubts(self.wishes), self.text, self.file)

    def explain(
        self, provider: str, attribute: str | None = None, item: str | None = None
    ) -> Decision:
        """Which line decides about a provider, and about an attribute and an item if given."""
        return Book(self.wishes, key_lines(self.text), self.file).decide(provider, attribute, item)

    @property
    def fingerprint(self) -> str:
        """SHA-256 of what the file means; comments, order and layout do not matter."""
        text = json.dumps(_content(self.wishes), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


def find_problems(
    text: str,
    *,
    name: str = "preferences.toml",
    attributes: Collection[str] | None = None,
    items: Collection[str] | None = None,
    empty: Collection[str] = (),
) -> tuple[Problem, ...]:
    """All that is wrong with a text, also against a catalogue if its attributes are given."""
    try:
        wishes, faults = read_wishes(parse_toml(text, name))
    except PreferencesError as error:
        return error.problems
    if attributes is not None:
        faults = [*faults, *unknown(wishes, attributes, items, empty)]
    return locate(faults, text, name)


def _content(wishes: Wishes) -> dict[str, object]:
    return {
        "version": VERSION,
        "items": _texts(wishes.items),
        "item_default": str(wishes.item_default),
        "attributes": _texts(wishes.attributes),
        "attribute_default": str(wishes.attribute_default),
        "providers": {
            provider: [str(granted.epsilon), str(granted.total), granted.renews, *_own(granted)]
            for provider, granted in wishes.providers.items()
        },
        "hide": _texts(wishes.hide),
    }


def _own(granted: Provider) -> list[object]:
    """A provider's own lines; nothing without any, as before there were such lines."""
    attributes, items = _texts(granted.attributes), _texts(granted.items)
    lines: dict[str, object] = {}
    if attributes:
        lines["attributes"] = attributes
    if not isinstance(granted.attribute_default, Lack):
        lines["attribute_default"] = str(granted.attribute_default)
    if items:
        lines["items"] = items
    if granted.item_default is not None:
        lines["item_default"] = str(granted.item_default)
    return [lines] if lines else []


def _texts(amounts: Mapping[str, Budget]) -> dict[str, str]:
    return {entry: str(exact) for entry, exact in amounts.items()}
