"""What a preferences file allows, in words, as a table and as JSON.

Not here  the commands (prefs.py), the rules (preferences/).

Consequences come first, amounts after. Bounds round up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from reticent.cli.output import table

if TYPE_CHECKING:
    from reticent.preferences import Preferences, Provider

_NAMES = 12  # names listed one by one before "and more"
_LITTLE = 5  # above this epsilon little is promised in the worst case


def view(preferences: Preferences, attributes: Sequence[str] | None) -> list[str]:
    """The lines to show; with a catalogue's attributes each of them has its row."""
    rows = [
        (provider, what, _amount(epsilon), _odds(epsilon))
        for provider, granted in preferences.providers.items()
        for what, epsilon in _learns(preferences, granted, attributes)
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
            provider: _provider_fields(preferences, granted, attributes)
            for provider, granted in preferences.providers.items()
        },
        "withheld": _withheld(preferences, attributes),
        "unnamed_attributes": _amount(wishes.attribute_default),
        "items": _amounts(wishes.items),
        "unnamed_items": _amount(wishes.item_default),
        "hide": _amounts(wishes.hide),
        "notes": [str(note) for note in preferences.notes()],
    }


def _provider_fields(
    preferences: Preferences, granted: Provider, attributes: Sequence[str] | None
) -> dict[str, Any]:
    budgets = _released(preferences, granted, attributes)
    return {
        "epsilon": _amount(granted.epsilon),
        "right_at_most": _odds(granted.epsilon),
        "total": _amount(granted.total),
        "total_right_at_most": None if granted.total is None else _odds(granted.total),
        "renews": granted.renews,
        "attributes": _amounts(budgets),
    }


def _words(preferences: Preferences) -> Iterator[str]:
    if not preferences.providers:
        yield "Nobody may learn anything: no provider is named."
    for provider, granted in preferences.providers.items():
        epsilon = _heaviest(preferences) * granted.epsilon
        little = " This is little worst-case protection." if epsilon > _LITTLE else ""
        yield (
            f"Whoever sees one release to {provider} and was undecided (50 in 100) about whether "
            "an item is in your profile can be right at most "
            f"{_odds(epsilon)} times in 100.{little}"
        )
    if preferences.providers:
        yield "Every other provider gets nothing."


def _heaviest(preferences: Preferences) -> Fraction:
    return max((preferences.wishes.item_default, *preferences.wishes.items.values()))


def _learns(
    preferences: Preferences, granted: Provider, attributes: Sequence[str] | None
) -> Iterator[tuple[str, Fraction]]:
    yield "everything, in one release", granted.epsilon
    if granted.total is not None:
        renews = granted.renews
        span = "for ever" if renews == "never" else f"until it renews ({renews})"
        yield f"everything, {span}", granted.total
    for attribute, budget in _released(preferences, granted, attributes).items():
        yield f"{attribute} alone, in one release", budget
    default = preferences.wishes.attribute_default
    if attributes is None and default is not None:
        yield "any other attribute alone, in one release", min(default, granted.epsilon)


def _released(
    preferences: Preferences, granted: Provider, attributes: Sequence[str] | None
) -> dict[str, Fraction]:
    """What each attribute alone can lose: no more than the whole release."""
    names = preferences.wishes.attributes if attributes is None else attributes
    budgets = {name: preferences.wishes.budget(name) for name in names}
    return {name: min(t, granted.epsilon) for name, t in budgets.items() if t is not None}


def _withheld(preferences: Preferences, attributes: Sequence[str] | None) -> list[str]:
    names = preferences.wishes.attributes if attributes is None else attributes
    return [name for name in names if preferences.wishes.budget(name) is None]


def _endings(preferences: Preferences, attributes: Sequence[str] | None) -> Iterator[str]:
    wishes = preferences.wishes
    if preferences.weighted:
        yield "The table is for an item of weight 1; a lighter one loses its weight times epsilon."
        named = [f"{item} {_amount(weight)}" for item, weight in wishes.items.items()]
        yield f"weights: {_listed([*named, f'every other item {_amount(wishes.item_default)}'])}"
    withheld = _withheld(preferences, attributes)
    if attributes is None and wishes.attribute_default is None:
        withheld.append("every attribute that is not named")
    yield f"withheld attributes: {_listed(withheld) or 'none'}"
    for secret, bits in wishes.hide.items():
        told = f"released profiles may tell {_amount(bits)} bits on average"
        yield f"hidden: {secret}, of which {told}"


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
