"""What a file that can be used may still not mean: unknown names, and lines that undo others.

Not here  rules that a file breaks (reading.py).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from reticent.preferences.lines import KeyPath
from reticent.preferences.model import Budget, Lack, Provider, Wishes
from reticent.preferences.problems import Fault, amount, dotted, meant, spelt

_COMPARED = 50_000  # pairs of an unknown and a known name that are compared for one text


def unknown(
    wishes: Wishes,
    attributes: Collection[str],
    items: Collection[str] | None,
    empty: Collection[str],
) -> list[Fault]:
    """Names that a catalogue lacks or has no use for, of providers' own lines too."""
    faults, useless = list[Fault](), set(empty)
    spellings, columns = _Spellings(), dict.fromkeys(attributes)
    for path, budgets in _tables(wishes, "attributes"):
        faults += _lacking("attribute", path, budgets, columns, spellings)
        for attribute, budget in budgets.items():
            if attribute in useless and budget is not None:
                says = f"no item has the attribute {spelt(attribute)}; delete the line"
                faults.append(Fault((*path, attribute), says))
    there = None if items is None else dict.fromkeys(items)
    for path, weights in _tables(wishes, "items"):
        faults += [] if there is None else _lacking("item", path, weights, there, spellings)
    return faults


class _Spellings:
    """Looks for the known name that was meant, as long as it costs little."""

    def __init__(self) -> None:
        self._left = _COMPARED

    def meant(self, wrong: str, known: Collection[str], otherwise: str) -> str:
        self._left -= len(known)
        return meant(wrong, known if self._left >= 0 else (), otherwise)


def _tables(wishes: Wishes, part: str) -> Iterator[tuple[KeyPath, Mapping[str, Budget]]]:
    """The general table of this name and those of providers, each with where it stands."""
    yield (part,), getattr(wishes, part)
    for provider, granted in wishes.providers.items():
        yield ("providers", provider, part), getattr(granted, part)


def _lacking(
    kind: str,
    path: KeyPath,
    named: Collection[str],
    known: Collection[str],
    spellings: _Spellings,
) -> list[Fault]:
    faults = list[Fault]()
    for wrong in (name for name in named if name not in known):
        end = spellings.meant(wrong, known, "delete the line, or name one that is there")
        says = f"the catalogue has no {kind} {spelt(wrong)}; {end}"
        faults.append(Fault((*path, wrong), says))
    return faults


def doubts(wishes: Wishes) -> list[Fault]:
    """What is allowed, and yet probably not meant."""
    found = []
    if not wishes.providers:
        found.append(Fault((), "no provider is named, so nothing is released to anybody"))
    if all(budget is None for budget in _budgets(wishes)):
        says = "no attribute has an epsilon, so histograms of attributes release nothing"
        found.append(Fault(("attributes",), says))
    for provider, granted in wishes.providers.items():
        found += _provider_doubts(("providers", provider), granted)
        found += _undone(wishes, provider, granted)
    return found


def _budgets(wishes: Wishes) -> Iterator[Budget]:
    yield from (wishes.attribute_default, *wishes.attributes.values())
    for granted in wishes.providers.values():
        yield from granted.attributes.values()
        if not isinstance(granted.attribute_default, Lack):
            yield granted.attribute_default


def _provider_doubts(path: tuple[str, str], granted: Provider) -> list[Fault]:
    if granted.total is None and granted.renews != "never":
        says = f"{dotted(path)} renews {granted.renews} but has no total, so there is no limit"
        return [Fault((*path, "renews"), f"{says} over time")]
    if granted.total is not None and granted.total < granted.epsilon:
        amounts = f"total {amount(granted.total)} and epsilon {amount(granted.epsilon)}"
        says = f"{dotted(path)} has {amounts}: a release that needs all of epsilon would be refused"
        return [Fault((*path, "total"), says)]
    return []


def _undone(wishes: Wishes, provider: str, granted: Provider) -> Iterator[Fault]:
    """Lines that give one provider what is kept, by name, from all others."""
    for part in ("attributes", "items"):
        general, own = getattr(wishes, part), getattr(granted, part)
        for name in (name for name in own if own[name] and not general.get(name, 1)):
            path = ("providers", provider, part, name)
            kept = dotted((part, name))
            says = f"{dotted(path)} gives this provider what {kept} keeps from all others"
            yield Fault(path, says)
