"""Change one line of a preferences file; comments, order and layout of all others stay.

Not here  where the line goes (splicing.py), whole new files (starting.py), writing files (cli).

Texts in, texts out. Every change is read again, and refused unless it changed what was asked for
and nothing else. Amounts are exact: a decimal that is typed is written as it was typed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from enum import Enum
from fractions import Fraction
from typing import Any, Final, Literal, TypeAlias

from reticent.preferences.file import Preferences
from reticent.preferences.lines import KeyPath
from reticent.preferences.model import (
    DEFAULT,
    NO_LINE,
    RENEWALS,
    WITHHOLD,
    Budget,
    Lack,
    Provider,
    Wishes,
)
from reticent.preferences.problems import PreferencesError, Problem, amount, dotted, quoted
from reticent.preferences.reading import exact_decimal
from reticent.preferences.splicing import drop, put

Amount: TypeAlias = Fraction | str
"""An exact amount, or a decimal as it was typed."""
Part: TypeAlias = Literal["items", "attributes"]


class Unchanged(Enum):
    """That an argument was not given, where None has a meaning."""

    UNCHANGED = "unchanged"


UNCHANGED: Final = Unchanged.UNCHANGED
Same: TypeAlias = Literal[Unchanged.UNCHANGED]

_TYPED = re.compile(r"(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
_FILE = "preferences.toml"


def set_item(text: str, item: str, weight: Amount, *, provider: str | None = None) -> str:
    r"""Give an item a weight, for one provider or in general.

    >>> print(set_item("version = 1\n[items] # weights\ndefault = 1 # all", "Heat", "0.50"))
    version = 1
    [items] # weights
    default = 1 # all
    Heat = 0.50
    """
    return _set(text, "items", _nameable("items", item), weight, provider)


def clear_item(text: str, item: str, *, provider: str | None = None) -> str:
    """Delete the line about an item, if there is one."""
    return _clear(text, "items", _nameable("items", item), provider)


def set_attribute(
    text: str, attribute: str, epsilon: Amount | None, *, provider: str | None = None
) -> str:
    """Give an attribute an epsilon, or withhold it (None), for one provider or in general."""
    return _set(text, "attributes", _nameable("attributes", attribute), epsilon, provider)


def clear_attribute(text: str, attribute: str, *, provider: str | None = None) -> str:
    """Delete the line about an attribute, if there is one."""
    return _clear(text, "attributes", _nameable("attributes", attribute), provider)


def set_defaults(
    text: str,
    *,
    items: Amount | Same = UNCHANGED,
    attributes: Amount | Same | None = UNCHANGED,
    provider: str | None = None,
) -> str:
    """Say what holds for names without a line; None withholds the attributes."""
    if items is not UNCHANGED:
        text = _set(text, "items", DEFAULT, items, provider)
    if attributes is not UNCHANGED:
        text = _set(text, "attributes", DEFAULT, attributes, provider)
    return text


def clear_default(text: str, part: Part, *, provider: str | None = None) -> str:
    """Delete the line about what is not named, if there is one."""
    return _clear(text, part, DEFAULT, provider)


def set_provider(
    text: str,
    provider: str,
    *,
    epsilon: Amount | Same = UNCHANGED,
    total: Amount | Same | None = UNCHANGED,
    renews: str | Same | None = UNCHANGED,
) -> str:
    """Name a provider, which needs an epsilon, or change its lines; None deletes the line."""
    wishes = Preferences.parse(text).wishes
    path = ("providers", _writable(provider))
    changes: dict[str, Any] = {}
    if epsilon is not UNCHANGED:
        shown = _written((*path, "epsilon"), epsilon)
        text, changes["epsilon"] = put(text, (*path, "epsilon"), shown), Fraction(shown)
    elif provider not in wishes.providers:
        raise _wrong(path, f"{dotted(path)} is not there; give it an epsilon to allow it anything")
    if total is None:
        text, changes["total"] = drop(text, (*path, "total")), None
    elif total is not UNCHANGED:
        shown = _written((*path, "total"), total)
        text, changes["total"] = put(text, (*path, "total"), shown), Fraction(shown)
    if renews is None:
        text, changes["renews"] = drop(text, (*path, "renews")), RENEWALS[0]
    elif renews is not UNCHANGED:
        text, changes["renews"] = put(text, (*path, "renews"), quoted(renews)), renews
    before = wishes.providers.get(provider, Provider(epsilon=Fraction(1)))
    return _checked(text, path, _with_provider(wishes, provider, replace(before, **changes)))


def remove_provider(text: str, provider: str) -> str:
    """Delete a provider's tables, if there are any; from then on it gets nothing."""
    wishes = Preferences.parse(text).wishes
    left = {name: granted for name, granted in wishes.providers.items() if name != provider}
    path = ("providers", provider)
    return _checked(drop(text, path), path, replace(wishes, providers=left))


def set_hidden(text: str, secret: str, leak_bits: Amount) -> str:
    """Hide a secret, of which released profiles may tell so many bits."""
    wishes = Preferences.parse(text).wishes
    path = ("hide", _writable(secret))
    shown = _written((*path, "leak_bits"), leak_bits)
    if secret in wishes.hide:
        edited = put(text, (*path, "leak_bits"), shown)
    else:
        edited = put(text, path, f"{{ leak_bits = {shown} }}")
    hide = {**wishes.hide, secret: Fraction(shown)}
    return _checked(edited, path, replace(wishes, hide=hide))


def clear_hidden(text: str, secret: str) -> str:
    """Hide a secret no longer."""
    wishes = Preferences.parse(text).wishes
    left = {name: bits for name, bits in wishes.hide.items() if name != secret}
    return _checked(drop(text, ("hide", secret)), ("hide", secret), replace(wishes, hide=left))


def _set(text: str, part: Part, name: str, exact: Amount | None, provider: str | None) -> str:
    wishes = Preferences.parse(text).wishes
    path = (*_above(wishes, provider), part, name)
    shown = quoted(WITHHOLD) if exact is None else _written(path, exact)
    held = None if exact is None else Fraction(shown)
    return _checked(put(text, path, shown), path, _with_line(wishes, part, name, held, provider))


def _clear(text: str, part: Part, name: str, provider: str | None) -> str:
    wishes = Preferences.parse(text).wishes
    path = (*_above(wishes, provider), part, name)
    return _checked(drop(text, path), path, _with_line(wishes, part, name, NO_LINE, provider))


def _above(wishes: Wishes, provider: str | None) -> KeyPath:
    if provider is None:
        return ()
    path = ("providers", provider)
    if provider not in wishes.providers:
        says = f"{dotted(path)} is not there, so it gets nothing; first give it an epsilon"
        raise _wrong(path, says)
    return path


def _with_line(
    wishes: Wishes, part: Part, name: str, held: Budget | Lack, provider: str | None
) -> Wishes:
    """The wishes after one line of items or attributes was set or deleted."""
    holder: Wishes | Provider = wishes if provider is None else wishes.providers[provider]
    change: dict[str, Any]
    if name == DEFAULT:
        key = f"{part.removesuffix('s')}_default"
        change = {key: _LACKING[provider is None, part] if isinstance(held, Lack) else held}
    else:
        lines: Mapping[str, Budget] = getattr(holder, part)
        left = {other: exact for other, exact in lines.items() if other != name}
        change = {part: left if isinstance(held, Lack) else {**left, name: held}}
    if provider is None:
        return replace(wishes, **change)
    return _with_provider(wishes, provider, replace(wishes.providers[provider], **change))


_LACKING: Mapping[tuple[bool, Part], Budget | Lack] = {
    (True, "items"): Fraction(1),
    (True, "attributes"): None,
    (False, "items"): None,
    (False, "attributes"): NO_LINE,
}  # what a default is without a line, in general or not


def _with_provider(wishes: Wishes, provider: str, granted: Provider) -> Wishes:
    return replace(wishes, providers={**wishes.providers, provider: granted})


def _checked(text: str, path: KeyPath, expected: Wishes) -> str:
    if Preferences.parse(text).wishes != expected:
        says = f"{dotted(path)} cannot be changed alone in this layout; change it by hand"
        raise _wrong(path, says)
    return text


def _nameable(part: Part, name: str) -> str:
    if name == DEFAULT:
        says = f'{part} called "{DEFAULT}" cannot be named; that line is for all others'
        raise _wrong((part, name), says)
    return _writable(name)


def _writable(name: str) -> str:
    try:
        name.encode()
    except UnicodeEncodeError:
        says = f"{name!a} is not text that a file can hold; give another name"
        raise _wrong((), says) from None
    return name


def _written(path: KeyPath, exact: Amount) -> str:
    """An amount as TOML, without exponents; refused if it is no decimal."""
    if isinstance(exact, str) and _TYPED.fullmatch(exact):
        return exact
    try:
        value = exact_decimal(Decimal(exact)) if isinstance(exact, str) else Fraction(exact)
    except InvalidOperation:
        value = None
    if value is None or not _ends(value):
        raise _wrong(path, f"{dotted(path)} must be a decimal, got {exact}; write it as in 0.5")
    return format(Decimal(amount(value)), "f")


def _ends(value: Fraction) -> bool:
    """Whether a number has finitely many decimals."""
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return rest == 1


def _wrong(path: KeyPath, says: str) -> PreferencesError:
    return PreferencesError([Problem(_FILE, None, dotted(path), says)])
