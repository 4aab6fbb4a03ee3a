"""What they got: every release about a person, beside what is true, with its cost and its card.

Not here  how releases are made and kept (gateway/service.py, ledger/).

What a comparison with somebody else would truly say is never shown: it tells about them too.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from fastapi import APIRouter, Request, Response

from reticent.amounts import nano_down
from reticent.console import people_words as words
from reticent.console.people_effects import true_counts
from reticent.console.people_visits import Visit, told, visit
from reticent.console.problems import Problem
from reticent.console.views import page
from reticent.gateway import directory
from reticent.gateway.credentials import DAY
from reticent.guarantees.card import Audience, Budget, Card, right_at_most
from reticent.guarantees.card_facts import card_facts
from reticent.ledger import OVERALL, period_of
from reticent.ledger.accounts import LARGEST
from reticent.ledger.reports import Released, balances
from reticent.queries.base import Shape
from reticent.queries.offered import derived_from
from reticent.queries.offering import Lasts, Offering
from reticent.queries.registry import queries

router = APIRouter()
SPANS = {"7": "the last 7 days", "30": "the last 30 days", "all": "all time"}
MOST = 200
_SHOWN = 24  # letters of a long text


@dataclass(frozen=True, slots=True)
class Line:
    """One number or word that left, beside the true one."""

    name: str
    released: str
    true: str
    off: str


@dataclass(frozen=True, slots=True)
class Departure:
    """One release as the person sees it; ``nano`` is what it cost, now or when it was drawn."""

    spend: int
    at: int
    provider: str
    nano: int
    lines: tuple[Line, ...]
    carded: bool
    offering: Offering
    of_two: bool = False
    read_off: bool = False
    used_up: bool = False

    @property
    def noise_only(self) -> bool:
        """Whether nothing of the person was in it."""
        other = self.read_off or self.offering.lasts is Lasts.MAPPING
        return self.nano == 0 and not other

    @property
    def repeats(self) -> bool:
        """Whether one draw is repeated to the service."""
        return self.offering.lasts is Lasts.TERMS

    @property
    def title(self) -> str:
        """The kind in a word or two."""
        return self.offering.title


@dataclass(frozen=True, slots=True)
class Standing:
    """What a service has used of a person's total in this period, and ``ever``.

    ``least`` costs one release.
    """

    provider: str
    spent: int
    total: int | None
    renews: str
    period: str
    least: int
    ever: int

    @property
    def left(self) -> int:
        """What is left of it."""
        return max((self.total or 0) - self.spent, 0)

    @property
    def over(self) -> bool:
        """Whether no release fits into what is left."""
        return self.total is not None and self.left < max(self.least, 1)

    @property
    def together(self) -> str:
        """What all releases together allow; nothing if none tells anything."""
        return words.together(self.total, self.renews, self.ever) if self.least else ""

    @property
    def unlimited(self) -> bool:
        """Whether releases tell something, and nothing limits them over time."""
        return self.total is None and bool(self.least)

    @property
    def budget(self) -> Budget:
        """As the person's copy of a card states it."""
        limit = "none" if self.total is None else words.remaining(self.total)
        return Budget(spent=words.epsilon(self.spent), limit=limit, renews=self.renews)

    def over_at(self, at: int) -> bool:
        """Whether it is over, and was in the period that holds now."""
        return self.over and period_of(self.renews, at) == self.period  # type: ignore[arg-type]


@router.get("/me/left")
def left(request: Request, days: str = "7", provider: str = "", done: str = "") -> Response:
    """By day, newest first."""
    seen = visit(request)
    span = days if days in SPANS else "7"
    only = provider if provider in seen.providers else ""
    since = None if span == "all" else int(time.time()) - int(span) * DAY
    found = seen.gateway.left(seen.person.id, provider=only or None, since=since, most=MOST + 1)
    standings = {name: standing(seen, name) for name in seen.providers}
    ended = _ended(found, standings)
    shown = [_departure(seen, one, used_up=one.spend in ended) for one in found[:MOST]]
    grouped = groupby(shown, key=lambda one: words.day(one.at))
    return page(
        request,
        "left.html",
        days=[(name, list(those)) for name, those in grouped],
        count=len(shown),
        more=len(found) > MOST,
        quiet=sum(1 for one in shown if one.noise_only),
        standings=[one for name, one in standings.items() if not only or name == only],
        numbers=any(one.offering.beside == "attributes" for one in shown),
        spans=SPANS,
        span=span,
        only=only,
        providers=seen.providers,
        named=seen.person.preferences.providers,
        words=words,
        done=told(done),
    )


@router.get("/me/left/{spend:int}/card")
def card(request: Request, spend: int) -> Response:
    """The card of a release of one's own; anybody else's is not there."""
    seen = visit(request)
    own = seen.gateway.left(seen.person.id, most=1_000_000)
    found = next((one for one in own if one.spend == spend), None)
    answer = {} if found is None else _answer(found)
    text = seen.gateway.read(lambda c: directory.card_of(c, str(answer.get("terms", ""))))
    if found is None or text is None:
        raise Problem(404)
    budget = standing(seen, found.provider).budget
    facts = card_facts(Card.from_json(text).copy_for(Audience.PERSON, budget))
    said = _said(_departure(seen, found, used_up=False))
    return page(request, "card.html", facts=facts, own=said, up="/me/left", up_name="What they got")


def _said(one: Departure) -> tuple[str, ...]:
    """What a release was for the person, where the card states the most for anybody."""
    if one.offering.lasts is Lasts.MAPPING:
        return ("It was drawn once, and every later request of this mapping repeats it.",)
    if one.read_off:
        return ("It was read off what this service had got before, and cost nothing more.",)
    if one.noise_only:
        return ("This release was noise only: nothing of you was in it, and it cost nothing.",)
    once = ("It was drawn once, and every later request of this service repeats it.",)
    return (
        f"Whoever was undecided (50 in 100) about one item of yours is right at most "
        f"{right_at_most(one.nano)} times in 100 after this release, if the item counts in "
        f"full (epsilon {words.epsilon(one.nano)}). The card states the most for anybody.",
        *(once if one.repeats else ()),
    )


def _answer(one: Released) -> dict[str, Any]:
    told_answer = json.loads(one.answer) if one.answer else {}
    return told_answer if isinstance(told_answer, dict) else {}


def _ended(found: Iterable[Released], standings: Mapping[str, Standing]) -> set[int]:
    """Releases, newest first, that cost nothing as the total of this period was used up."""
    charged: set[str] = set()
    ended = set()
    for one in found:
        if one.nano:
            charged.add(one.provider)
        elif one.provider in standings.keys() - charged and standings[one.provider].over_at(one.at):
            ended.add(one.spend)
    return ended


def _departure(seen: Visit, one: Released, *, used_up: bool) -> Departure:
    answer = _answer(one)
    kind, terms = str(answer.get("kind", "")), str(answer.get("terms", ""))
    query = queries().get(kind)  # one that is installed no more is a release all the same
    offering = Offering(name="release") if query is None else query.offering.of(query)
    nano = one.nano
    if offering.lasts is Lasts.TERMS:
        nano = seen.gateway.paid_once(seen.person, terms) or 0
    return Departure(
        one.spend,
        one.at,
        one.provider,
        nano,
        _lines(seen, offering, answer.get("value")),
        bool(terms),
        offering,
        of_two=query is not None and query.shape is Shape.PER_PAIR,
        read_off=query is not None and derived_from(query) is not None,
        used_up=used_up and offering.lasts is Lasts.REQUEST,
    )


def _lines(seen: Visit, offering: Offering, value: Any) -> tuple[Line, ...]:
    """What was sent, part by part; a list may name other people, so it is only counted."""
    if value is None:
        return ()
    if offering.beside == "attributes":
        return _numbers(value, true_counts(seen.world.catalogue, seen.known.held))
    if offering.beside == "columns":
        return tuple(
            Line(name, str(sent), str(true), "same" if str(sent) == str(true) else "different")
            for name, sent in value.items()
            for true in [seen.person.columns.get(name, words.NONE)]
        )
    if isinstance(value, (int, float)):
        shown = words.number(value)
    elif isinstance(value, str):
        rest = f" … ({len(value):,} letters)" if len(value) > _SHOWN else ""
        shown = f"{value[:_SHOWN]}{rest}"
    else:
        shown = f"{len(value)} entries"
    return (Line(offering.title, shown, "not shown", words.NONE),)


def _numbers(value: Mapping[str, Any], true: Mapping[str, float]) -> tuple[Line, ...]:
    lines = []
    for name, sent in value.items():
        held = true.get(name)
        own, off = words.NONE, words.NONE
        if held is not None:
            own, off = words.number(held), words.number(abs(float(sent) - held))
        lines.append(Line(name, words.number(float(sent)), own, off))
    return tuple(lines)


def standing(seen: Visit, provider: str) -> Standing:
    """What a service has used up by now."""
    granted = seen.person.preferences.providers.get(provider)
    renews = "never" if granted is None else granted.renews
    period = period_of(renews, int(time.time()))  # type: ignore[arg-type]
    found = seen.gateway.read(
        lambda c: [
            one
            for one in balances(c, subject=seen.person.id, provider=provider)
            if one.account.what == OVERALL
        ]
    )
    spent = sum(one.spent for one in found if one.account.period == period)
    limit = None if granted is None else granted.total
    total = None if limit is None else min(nano_down(limit), LARGEST)
    wishes, offers = seen.person.preferences, seen.offers(provider).values()
    costs = [seen.allowance(offer, wishes).nano for offer in offers]
    least = min((cost for cost in costs if cost), default=0)
    ever = sum(one.spent for one in found)
    return Standing(provider, spent, total, renews, period, least, ever)
