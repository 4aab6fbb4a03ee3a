"""Which line of the file decides about a provider, an attribute and an item, and what it beats.

Not here  what the lines say (model.py).

Among lines about an attribute, or about an item, the more exact one holds (model.py). Between a
provider's epsilon and an attribute's the smaller one binds, and an item's weight multiplies it.
Whatever no line allows is withheld.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from reticent.preferences.lines import KeyPath
from reticent.preferences.model import WITHHOLD, Line, Wishes
from reticent.preferences.problems import amount, dotted, line_of, place, quoted

Outcome: TypeAlias = Literal["released", "withheld", "refused"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of a file, or the lack of one (``line`` is None then)."""

    file: str
    line: int | None
    says: str

    def __str__(self) -> str:
        return f"{place(self.file, self.line)} ({self.says})"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Decision:
    """What may leave, and by which line.

    ``epsilon`` is the most that the item (of weight 1 if none was asked about) can lose to who
    sees the attribute alone, or the whole release if no attribute was asked about; 0 unless it
    is released. ``weighed`` is the line of the item's weight, when that is not what decided.
    """

    provider: str
    attribute: str | None
    item: str | None
    outcome: Outcome
    epsilon: Fraction
    weight: Fraction
    decided: Rule
    beats: tuple[Rule, ...]
    weighed: Rule | None = None

    def fields(self) -> dict[str, Any]:
        """For JSON; amounts are text, so that nothing is rounded."""
        return {
            "provider": self.provider,
            "attribute": self.attribute,
            "item": self.item,
            "outcome": self.outcome,
            "epsilon": amount(self.epsilon),
            "weight": amount(self.weight),
            "decided": _rule_fields(self.decided),
            "beats": [_rule_fields(rule) for rule in self.beats],
            "weighed": None if self.weighed is None else _rule_fields(self.weighed),
        }


def _rule_fields(rule: Rule) -> dict[str, Any]:
    return {"file": rule.file, "line": rule.line, "says": rule.says}


@dataclass(frozen=True, slots=True)
class Book:
    """The content of a file together with its lines."""

    wishes: Wishes
    lines: Mapping[KeyPath, int]
    file: str

    def decide(self, provider: str, attribute: str | None, item: str | None) -> Decision:
        """What these three get; None asks about the whole release, or an item of weight 1."""
        weight = Fraction(1) if item is None else self.wishes.weight(item, provider)
        weighed, narrowed = self._weights(item, provider), self._budgets(attribute, provider)
        about = {"provider": provider, "attribute": attribute, "item": item, "weight": weight}
        granted = self.wishes.providers.get(provider)
        if granted is None:
            lack = Rule(self.file, None, f"no line names the provider {quoted(provider)}")
            return _decision(about, "refused", [lack])
        offered = [self._rule(("providers", provider, "epsilon"), granted.epsilon)]
        budget = granted.epsilon if attribute is None else self.wishes.budget(attribute, provider)
        if budget is None:
            return _decision(about, "withheld", [*narrowed, *offered])
        if weight == 0:
            return _decision(about, "withheld", [*weighed, *narrowed, *offered])
        order = [*narrowed, *offered] if budget < granted.epsilon else [*offered, *narrowed]
        most = weight * min(budget, granted.epsilon)
        return _decision(about, "released", order, most, weighed)

    def _weights(self, item: str | None, provider: str) -> list[Rule]:
        """The lines about an item, the one that holds first."""
        if item is None:
            return []
        rules = self._rules(self.wishes.item_lines(item, provider))
        return rules or [Rule(self.file, None, f"no line weighs the item {quoted(item)}")]

    def _budgets(self, attribute: str | None, provider: str) -> list[Rule]:
        """The lines about an attribute, the one that holds first."""
        if attribute is None:
            return []
        rules = self._rules(self.wishes.attribute_lines(attribute, provider))
        return rules or [Rule(self.file, None, f"no line allows the attribute {quoted(attribute)}")]

    def _rules(self, lines: Sequence[Line]) -> list[Rule]:
        return [self._rule(path, exact) for path, exact in lines if path in self.lines]

    def _rule(self, path: KeyPath, exact: Fraction | None) -> Rule:
        shown = quoted(WITHHOLD) if exact is None else amount(exact)
        return Rule(self.file, line_of(self.lines, path), f"{dotted(path)} = {shown}")


def _decision(
    about: Mapping[str, Any],
    outcome: Outcome,
    rules: Sequence[Rule],
    epsilon: Fraction = Fraction(0),
    weighed: Sequence[Rule] = (),
) -> Decision:
    return Decision(
        **about,
        outcome=outcome,
        epsilon=epsilon,
        decided=rules[0],
        beats=tuple(rules[1:]),
        weighed=weighed[0] if weighed else None,
    )
