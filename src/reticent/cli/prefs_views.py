"""What a preferences file allows, in words, as a table and as JSON.

Not here  the commands (prefs.py), the rules (preferences/).

Consequences come first, amounts after. Bounds round up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from reticent.layout import table

if TYPE_CHECKING:
    from reticent.preferences import Preferences, Provider

_NAMES = 12  # names listed one by one before "and more"
_LITTLE = 5  # above this epsilon little is promised in the worst case


def view(preferences: Preferences, attributes: Sequence[str] | None) -> list[str]:
    """The lines to show; with a catalogue's attributes each of them has its row."""
    rows = [
        (provider, what, _amount(epsilon), _odds(epsilon))
        for provider, granted in preferences.providers.items()
        for what, epsilon in _learns(preferences, provider, granted, attributes)
    ]
    heads = ("provider", "may learn about", "epsilon ", "right at most, of 100 ")
    return [
        *_words(preferences),
        *(["", *table(heads, rows)] if rows else []),
        "",
        *_endings(preferences, attributes),
    ]


def fields(preferences: Preferences, attributes: Sequence[str] | None) -> dict[str, Any]:
    """For JSON; amounts are text, so that nothing is rounded."""
    wishes = preferences.wishes
    return {
        "fingerprint": preferences.fingerprint,
        "providers": {
            provider: _provider_fields(preferences, provider, granted, attributes)
            for provider, granted in preferences.providers.items()
        },
        "withheld": _withheld(preferences, attributes, None),
        "unnamed_attributes": _amount(wishes.attribute_default),
        "items": _amounts(wishes.items),
        "unnamed_items": _amount(wishes.item_default),
        "hide": _amounts(wishes.hide),
        "notes": [str(note) for note in preferences.notes()],
    }


def _provider_fields(
    preferences: Preferences, provider: str, granted: Provider, attributes: Sequence[str] | None
) -> dict[str, Any]:
    wishes = preferences.wishes
    budgets = _released(preferences, provider, granted, attributes)
    return {
        "epsilon": _amount(granted.epsilon),
        "right_at_most": _odds(granted.epsilon),
        "total": _amount(granted.total),
        "total_right_at_most": None if granted.total is None else _odds(granted.total),
        "renews": granted.renews,
        "attributes": _amounts(budgets),
        "withheld": _withheld(preferences, attributes, provider),
        "unnamed_attributes": _amount(wishes.unnamed_budget(provider)),
        "items": _amounts(_weights(preferences, provider)),
        "unnamed_items": _amount(wishes.unnamed_weight(provider)),
    }


def _words(preferences: Preferences) -> Iterator[str]:
    if not preferences.providers:
        yield "Nobody may learn anything: no provider is named."
    for provider, granted in preferences.providers.items():
        epsilon = _heaviest(preferences, provider) * granted.epsilon
        little = " This is little worst-case protection." if epsilon > _LITTLE else ""
        yield (
            f"Whoever sees one release to {provider} and was undecided (50 in 100) about whether "
            "an item is in your profile can be right at most "
            f"{_odds(epsilon)} times in 100.{little}"
        )
    if preferences.providers:
        yield "Every other provider gets nothing."


def _heaviest(preferences: Preferences, provider: str) -> Fraction:
    named = _weights(preferences, provider).values()
    return max((preferences.wishes.unnamed_weight(provider), *named))


def _weights(preferences: Preferences, provider: str | None) -> dict[str, Fraction]:
    """The weight of every item that a line names, for a provider or in general."""
    wishes = preferences.wishes
    named = dict.fromkeys([*wishes.items, *wishes.own_items(provider)])
    return {item: wishes.weight(item, provider) for item in named}


def _learns(
    preferences: Preferences, provider: str, granted: Provider, attributes: Sequence[str] | None
) -> Iterator[tuple[str, Fraction]]:
    yield "everything, in one release", granted.epsilon
    if granted.total is not None:
        renews = granted.renews
        span = "for ever" if renews == "never" else f"until it renews ({renews})"
        yield f"everything, {span}", granted.total
    for attribute, budget in _released(preferences, provider, granted, attributes).items():
        yield f"{attribute} alone, in one release", budget
    default = preferences.wishes.unnamed_budget(provider)
    if attributes is None and default is not None:
        yield "any other attribute alone, in one release", min(default, granted.epsilon)


def _released(
    preferences: Preferences, provider: str, granted: Provider, attributes: Sequence[str] | None
) -> dict[str, Fraction]:
    """What each attribute alone can lose: no more than the whole release."""
    names = _named(preferences, attributes, provider)
    budgets = {name: preferences.wishes.budget(name, provider) for name in names}
    return {name: min(t, granted.epsilon) for name, t in budgets.items() if t is not None}


def _withheld(
    preferences: Preferences, attributes: Sequence[str] | None, provider: str | None
) -> list[str]:
    names = _named(preferences, attributes, provider)
    return [name for name in names if preferences.wishes.budget(name, provider) is None]


def _named(
    preferences: Preferences, attributes: Sequence[str] | None, provider: str | None
) -> Sequence[str]:
    """The attributes of a catalogue, else those that a line names."""
    wishes = preferences.wishes
    if attributes is not None:
        return attributes
    return list(dict.fromkeys([*wishes.attributes, *wishes.own_attributes(provider)]))


def _endings(preferences: Preferences, attributes: Sequence[str] | None) -> Iterator[str]:
    if preferences.weighted:
        yield "The table is for an item of weight 1; a lighter one loses its weight times epsilon."
        yield f"weights: {_weights_listed(preferences, None)}"
    yield f"withheld attributes: {_withheld_listed(preferences, attributes, None)}"
    for provider, granted in preferences.providers.items():
        if granted.has_own_items:
            yield f"weights for {provider}: {_weights_listed(preferences, provider)}"
        if granted.has_own_attributes:
            held = _withheld_listed(preferences, attributes, provider)
            yield f"withheld from {provider}: {held}"
    for secret, bits in preferences.hide.items():
        told = f"released profiles may tell {_amount(bits)} bits on average"
        yield f"hidden: {secret}, of which {told}"


def _weights_listed(preferences: Preferences, provider: str | None) -> str:
    weights = _weights(preferences, provider)
    named = [f"{item} {_amount(weight)}" for item, weight in weights.items()]
    other = _amount(preferences.wishes.unnamed_weight(provider))
    return _listed([*named, f"every other item {other}"])


def _withheld_listed(
    preferences: Preferences, attributes: Sequence[str] | None, provider: str | None
) -> str:
    withheld = _withheld(preferences, attributes, provider)
    if attributes is None and preferences.wishes.unnamed_budget(provider) is None:
        withheld.append("every attribute that is not named")
    return _listed(withheld) or "none"


def _listed(names: Sequence[str]) -> str:
    """Names in one line; of a long list the first ones and the last."""
    if len(names) <= _NAMES:
        return ", ".join(names)
    return ", ".join([*names[: _NAMES - 1], f"{len(names) - _NAMES} more", names[-1]])


def _amounts(amounts: Mapping[str, Fraction]) -> dict[str, str | None]:
    return {name: _amount(exact) for name, exact in amounts.items()}


def _amount(exact: Fraction | None) -> Any:
    from reticent.preferences.problems import amount

    return None if exact is None else amount(exact)


def _odds(epsilon: Fraction) -> str:
    from reticent.amounts import nano_up
    from reticent.guarantees.card import right_at_most

    return right_at_most(nano_up(epsilon))
