"""What the views of a guarantee card show, in which order and in which words.

Not here  what a card says and whether it holds (card.py), text, Markdown and HTML (card_views.py).

Consequences come first, parameters after. A card that does not hold says so before anything else,
and where nothing is promised there is no figure to draw.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from reticent.amounts import show_nano, show_up
from reticent.guarantees.losses import DPLoss, Spread, Unprotected

if TYPE_CHECKING:
    from reticent.guarantees.card import Card

_NAMES = 12  # items or attributes listed one by one before "and more"
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


@dataclass(frozen=True, slots=True)
class Facts:
    """What all views show, in order; every text is already printable on one line."""

    title: str
    kind: str
    warnings: tuple[str, ...]
    words: tuple[str, ...]
    chance: Decimal | None  # of 100, for the picture; None when there is nothing to promise
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    marks: tuple[tuple[str, str], ...]


def card_facts(card: Card) -> Facts:
    """The texts and the one figure that a view of ``card`` consists of."""
    problems = card.problems()
    holds = card.promise.worst_case and not card.provenance.seeded and not problems
    warnings = (f"Do not rely on this card. {'; '.join(problems)}.",) if problems else ()
    return Facts(
        title=printable(card.title),
        kind=f"Guarantee card · {_kind(card)}",
        warnings=tuple(map(printable, warnings)),
        words=tuple(map(printable, _words(card, problems))),
        chance=_chance(card.words.right_at_most) if holds else None,
        rows=tuple(_printable_rows(card)),
        marks=tuple((name, printable(value)) for name, value in _marks(card)),
    )


def _printable_rows(card: Card) -> Iterator[tuple[str, tuple[str, ...]]]:
    for label, lines in _rows(card):
        shown = tuple(printable(line) for line in lines)
        if shown:
            yield label, shown


def printable(text: str) -> str:
    """``text`` on one line, with control, direction and broken characters written out."""
    return visible(" ".join(text.split()))


def visible(line: str) -> str:
    """A line as it is laid out, with such characters written out."""
    return "".join(_visible(character) for character in line)


def _visible(character: str) -> str:
    hidden = unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") or character in _BIDI
    return character.encode("unicode_escape").decode("ascii") if hidden else character


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _kind(card: Card) -> str:
    if card.provenance.seeded:
        return "no promise (seeded experiment)"
    if card.promise.kind == Unprotected.kind:
        return "no promise (not protected)"
    if card.promise.worst_case:
        return "worst-case promise (differential privacy)"
    return "promise on average (mutual information)"


def _words(card: Card, problems: list[str]) -> tuple[str, ...]:
    odds = f"The card claims: {card.words.odds}" if problems else card.words.odds
    return (odds, *card.words.also, f"Error to expect: {card.words.error}.")


def _chance(right_at_most: str) -> Decimal | None:
    try:
        chance = Decimal(right_at_most)
        return chance if 50 <= chance <= 100 else None
    except InvalidOperation:  # not a number: the promise is not a chance
        return None


def _rows(card: Card) -> list[tuple[str, Iterable[str]]]:
    how = card.how
    return [
        *_scope(card),
        ("Where noise is added", [_place(card)]),
        ("Privacy loss of this release", _loss(card)),
        *_spreads(card),
        ("Spent so far", _budget(card)),
        ("How it was made", map(_capital, [_mechanism(card), how.sensitivity, how.floating_point])),
        ("Bounds", [_capital(how.bounds)]),
        ("Error to expect", map(_capital, _error(card))),
        ("Preferences", _preferences(card)),
        ("Choices of others", _others(card)),
        ("Checked by", [card.evidence.audit or "No measurement is recorded on this card"]),
        ("Made with", _made(card)),
        ("Rely on", _evidence(card)),
    ]


def _scope(card: Card) -> list[tuple[str, Iterable[str]]]:
    if card.provenance.seeded:
        return [("Who is protected", ["Nobody: whoever knows the seed can take the noise away"])]
    return [
        ("Who is protected", [_capital(card.scope.protected)]),
        ("Against whom", [_capital(card.scope.observer)]),
        ("Not against", map(_capital, card.scope.not_against)),
    ]


_PLACES = {
    "local": "On the person's own device, before anything leaves (local)",
    "central": "By whoever holds the data, before anything is published (central)",
}


def _place(card: Card) -> str:
    return "Nowhere" if card.promise.kind == Unprotected.kind else _PLACES[card.scope.model]


def _loss(card: Card) -> list[str]:
    promise = card.promise
    if promise.kind == Unprotected.kind:
        return ["Nothing is promised"]
    if not promise.worst_case:
        bits = "an unknown number of" if promise.bits is None else show_up(promise.bits)
        return [f"At most {bits} bits on average, under the prior {promise.prior}"]
    amount = f"ε = {promise.epsilon}, δ = {promise.delta}, about {promise.unit}"
    if card.provenance.seeded:
        return ["Nothing is promised", f"With a system source it would be {amount}"]
    return [amount]


def _spreads(card: Card) -> list[tuple[str, list[str]]]:
    loss = card.release_event().loss
    if not isinstance(loss, DPLoss):
        return []
    attributes = loss.attributes if loss.attributes != Spread(loss.overall) else Spread()
    return [
        ("Loss of each item", _spread(loss.items)),
        ("Loss to who sees one attribute", _spread(attributes)),
    ]


def _spread(spread: Spread) -> list[str]:
    if not spread.named:
        return []
    named = [f"{name}: ε = {show_nano(amount)}" for name, amount in spread.named.items()]
    more = [f"and {len(named) - _NAMES} more"] if len(named) > _NAMES else []
    return [*named[:_NAMES], *more, f"Every other: ε = {show_nano(spread.default)}"]


def _budget(card: Card) -> list[str]:
    budget = card.budget
    if budget is None:
        return [
            "Made without a ledger: nothing was recorded",
            "So nothing bounds what further releases add",
        ]
    if card.promise.kind == Unprotected.kind:
        return ["Written down in a ledger; nothing is promised, so no sum is kept"]
    if not card.promise.worst_case:
        return ["Written down in a ledger; bits on average do not add up, so no sum is kept"]
    if budget.spent == "private":
        return [
            "Counted in a ledger for each person; what they spent and allow is theirs to see",
            "Who has nothing left is released as noise alone, and that does not show",
        ]
    renewal = "does not renew" if budget.renews == "never" else f"renews {budget.renews}"
    limit = "without a limit" if budget.limit == "none" else f"of {budget.limit}"
    return [f"ε {budget.spent} {limit} ({renewal}; {budget.rule})"]


def _mechanism(card: Card) -> str:
    return card.release_event().mechanism.replace("-", " ").replace("laplace", "Laplace")


def _error(card: Card) -> list[str]:
    utility = card.utility
    lines = [utility.sentence]
    if utility.mean_absolute_error is not None:
        lines.append(f"on average off by {show_up(utility.mean_absolute_error, 3)}")
    return [*lines, "no known bias" if utility.bias == "none" else f"bias: {utility.bias}"]


def _preferences(card: Card) -> list[str]:
    wishes = card.preferences
    if wishes is None:
        return []
    return [
        *_withheld(card, wishes.withheld),
        "The settings are public" if wishes.public else "Some settings, as weights, are private",
        *([f"Terms, by fingerprint: {wishes.rules_sha256}"] if wishes.rules_sha256 else []),
    ]


def _withheld(card: Card, count: int) -> list[str]:
    """How many left themselves out; that it was nobody is news only of a release about many."""
    loss = card.release_event().loss
    many = isinstance(loss, DPLoss) and loss.unit.thing != "item"
    if not count and not many:
        return []
    return ["1 person withheld everything" if count == 1 else f"{count} people withheld everything"]


def _others(card: Card) -> list[str]:
    if card.preferences is None:
        return []
    if card.preferences.others_change_your_risk:
        return ["What other people choose changes the noise, and so what can be told about you"]
    return ["The noise does not depend on what other people choose"]


def _made(card: Card) -> list[str]:
    origin = card.provenance
    command = [f"Command: {origin.command}"] if origin.command is not None else []
    return [f"{origin.version}, {_day(origin.made)}", _capital(origin.randomness), *command]


def _evidence(card: Card) -> list[str]:
    assumed = "; ".join(card.evidence.assumptions)
    return [card.evidence.theorem, *([f"Assuming: {assumed}"] if assumed else [])]


def _day(iso: str) -> str:
    try:
        day = date.fromisoformat(iso)
    except ValueError:
        return iso
    months = "January February March April May June July August September October November December"
    return f"{day.day} {months.split()[day.month - 1]} {day.year}"


def _marks(card: Card) -> list[tuple[str, str]]:
    return [("Card", card.id)]
