"""From the data of a TOML text to wishes, with a sentence for every rule that is broken.

Not here  what the wishes mean (model.py), grammar (syntax.py), the JSON Schema of the same rules
          (schema.py).

Decimals are exact: 0.1 is one tenth. What is not allowed in so many words is withheld.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

from reticent.errors import ParameterError
from reticent.preferences.lines import KeyPath
from reticent.preferences.model import (
    DEFAULT,
    NO_LINE,
    OWN_TABLES,
    RENEWALS,
    TABLES,
    VERSION,
    WITHHOLD,
    Budget,
    Provider,
    Wishes,
)
from reticent.preferences.problems import Fault, dotted, meant, quoted, shown, spelt
from reticent.rational import rational

MOST = 10**6  # an epsilon beyond which nothing is promised anyway
_DIGITS = 100  # of a decimal; more could not be printed again

Table: TypeAlias = Mapping[str, Any]
Faults: TypeAlias = list[Fault]


def read_wishes(data: Table) -> tuple[Wishes, Faults]:
    """The content of parsed TOML, and every rule that it breaks; wrong entries are left out."""
    faults: Faults = []
    if not data:
        says = "the file is empty; write version = 1, then who may learn what"
        return Wishes(), [Fault((), says)]
    _check_version(data, faults)
    _check_names(data, ("version", *TABLES), (), faults)
    items = _items(data, (), faults)
    attributes = _attributes(data, (), faults)
    wishes = Wishes(
        item_default=items.pop(DEFAULT, Fraction(1)),
        items=items,
        attribute_default=attributes.pop(DEFAULT, None),
        attributes=attributes,
        providers=_providers(_table(data, ("providers",), faults), faults),
        hide=_hide(_table(data, ("hide",), faults), faults),
    )
    return wishes, faults


def _check_version(data: Table, faults: Faults) -> None:
    found = data.get("version")
    if "version" not in data:
        says = f"version is missing; write version = {VERSION} as the first line"
        faults.append(Fault((), says))
    elif type(found) is not int or found != VERSION:
        fix = f"write version = {VERSION}; a file of a later version needs a later Reticent"
        says = f"version must be {VERSION}, got {shown(found)}; {fix}"
        faults.append(Fault(("version",), says))


def _check_names(data: Table, known: Collection[str], path: KeyPath, faults: Faults) -> None:
    for unknown in (entry for entry in data if entry not in known):
        where = dotted(path) if path else "the file"
        end = meant(unknown, known, f"it may hold {', '.join(known)}, so delete this line")
        says = f"{where} has no {_kind(data[unknown])} {spelt(unknown)}; {end}"
        faults.append(Fault((*path, unknown), says))


def _kind(entry: object) -> str:
    return "table" if isinstance(entry, dict) else "key"


def _table(data: Table, path: KeyPath, faults: Faults) -> Table:
    """The table that the last part of the path names in the data of the others."""
    found = data.get(path[-1], {})
    if isinstance(found, dict):
        return found
    faults.append(_must(path, "a table", found, f"write [{dotted(path)}] and its lines below"))
    return {}


def _items(data: Table, above: KeyPath, faults: Faults) -> dict[str, Fraction]:
    table = (*above, "items")
    fix = "0 lets it influence nothing, 1 counts it in full"
    weights: dict[str, Fraction] = {}
    for item, found in _table(data, table, faults).items():
        exact = exact_decimal(found)
        if exact is not None and 0 <= exact <= 1:
            weights[item] = exact
        else:
            path = (*table, item)
            faults.append(_must(path, "a weight from 0 to 1", found, _unquoted(found) or fix))
    return weights


def _attributes(data: Table, above: KeyPath, faults: Faults) -> dict[str, Budget]:
    table = (*above, "attributes")
    budgets: dict[str, Budget] = {}
    for attribute, found in _table(data, table, faults).items():
        path = (*table, attribute)
        about = "attributes not named" if attribute == DEFAULT else "it"
        fix = f'to release nothing about {about} write {spelt(attribute)} = "{WITHHOLD}"'
        if found == WITHHOLD:
            budgets[attribute] = None
        elif (exact := _epsilon(path, found, _unquoted(found) or fix, faults)) is not None:
            budgets[attribute] = exact
    return budgets


def _providers(table: Table, faults: Faults) -> dict[str, Provider]:
    providers: dict[str, Provider] = {}
    for provider, found in table.items():
        read = _provider(("providers", provider), found, faults)
        if read is not None:
            providers[provider] = read
    return providers


def _provider(path: KeyPath, found: object, faults: Faults) -> Provider | None:
    header = f"[providers.{spelt(path[-1])}]"
    if not isinstance(found, dict):
        faults.append(_must(path, "a table", found, f"write {header} and below it epsilon = 0.1"))
        return None
    inner = next((part for part, entry in found.items() if _astray(part, entry)), None)
    if inner is not None and "epsilon" not in found:
        whole = quoted(f"{path[-1]}.{inner}")
        says = f"{dotted(path)} has no epsilon but a table {spelt(inner)}; a name with a dot needs "
        faults.append(Fault(path, f"{says}quotes, as in [providers.{whole}]"))
        return None
    _check_names(found, ("epsilon", "total", "renews", *OWN_TABLES), path, faults)
    return _provider_entries(path, found, header, faults)


def _astray(part: str, entry: object) -> bool:
    """Whether a table within a provider's is a provider itself, whose name has a dot."""
    return isinstance(entry, dict) and (part not in OWN_TABLES or "epsilon" in entry)


def _provider_entries(path: KeyPath, found: Table, header: str, faults: Faults) -> Provider | None:
    before = len(faults)
    epsilon, total = None, None
    if "epsilon" in found:
        fix = f"to release nothing to it delete {header}"
        epsilon = _epsilon((*path, "epsilon"), found["epsilon"], fix, faults)
    else:
        says = f"{dotted(path)} has no epsilon; add a line such as epsilon = 0.1 for one release"
        faults.append(Fault(path, says))
    if "total" in found:
        fix = "to set no limit over time delete the line"
        total = _epsilon((*path, "total"), found["total"], fix, faults)
    renews = _renewal((*path, "renews"), found.get("renews", "never"), faults)
    attributes, items = _attributes(found, path, faults), _items(found, path, faults)
    if epsilon is None or len(faults) > before:
        return None
    return Provider(
        epsilon=epsilon,
        total=total,
        renews=renews,
        attribute_default=attributes.pop(DEFAULT, NO_LINE),
        attributes=attributes,
        item_default=items.pop(DEFAULT, None),
        items=items,
    )


def _renewal(path: KeyPath, found: object, faults: Faults) -> str:
    if isinstance(found, str) and found in RENEWALS:
        return found
    rule = f"one of {', '.join(map(quoted, RENEWALS))}"
    end = meant(found, RENEWALS, "choose one") if isinstance(found, str) else "choose one"
    faults.append(_must(path, rule, found, end))
    return "never"


def _hide(table: Table, faults: Faults) -> dict[str, Fraction]:
    limits: dict[str, Fraction] = {}
    for secret, found in table.items():
        path = ("hide", secret)
        example = f"write {spelt(secret)} = {{ leak_bits = 0.05 }}"
        if not isinstance(found, dict) or not found:
            faults.append(_must(path, "a limit in bits", found, example))
            continue
        _check_names(found, ("leak_bits",), path, faults)
        exact = exact_decimal(found.get("leak_bits"))
        if exact is not None and 0 <= exact <= MOST:
            limits[secret] = exact
        elif "leak_bits" in found:
            rule = f"a number of bits from 0 to {MOST}"
            faults.append(_must((*path, "leak_bits"), rule, found["leak_bits"], example))
    return limits


def _epsilon(path: KeyPath, found: object, fix: str, faults: Faults) -> Fraction | None:
    exact = exact_decimal(found)
    if exact is not None and 0 < exact <= MOST:
        return exact
    large = exact is not None and exact > MOST
    rule = f"a positive epsilon of at most {MOST}" if large else "a positive epsilon"
    faults.append(_must(path, rule, found, fix))
    return None


def exact_decimal(found: object) -> Fraction | None:
    """A number of the file as a fraction; None for anything else, and beyond all bounds."""
    if not isinstance(found, (int, Decimal)):
        return None
    if isinstance(found, Decimal) and len(found.as_tuple().digits) > _DIGITS:
        return None
    try:
        return rational(found, "value")
    except ParameterError:  # a boolean, not finite, or with an exponent out of all bounds
        return None


def _must(path: KeyPath, rule: str, found: object, fix: str) -> Fault:
    return Fault(path, f"{dotted(path)} must be {rule}, got {shown(found)}; {fix}")


def _unquoted(found: object) -> str:
    """What to do about a table that comes of a dot in a name without quotes."""
    return "a name with a dot needs quotes" if isinstance(found, dict) else ""
