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
from reticent.guarantees.card import Card, right_at_most
from reticent.guarantees.card_facts import card_facts
from reticent.ledger import OVERALL, period_of
from reticent.ledger.accounts import LARGEST
from reticent.ledger.reports import Released, balances

router = APIRouter()
SPANS = {"7": "the last 7 days", "30": "the last 30 days", "all": "all time"}
MOST = 200
KINDS = {"histogram": "Histogram", "similarity": "Comparison", "profile": "Coded profile"}


@dataclass(frozen=True, slots=True)
class Line:
    """One number or word that left, beside the true one."""

    name: str
    released: str
    true: str
    off: str


@dataclass(frozen=True, slots=True)
class Departure:
    """One release as the person sees it."""

    spend: int
    at: int
    provider: str
    kind: str
    nano: int
    lines: tuple[Line, ...]
    carded: bool
    used_up: bool = False

    @property
    def noise_only(self) -> bool:
        """Whether nothing of the person was in it."""
        return self.nano == 0 and self.kind != "profile"

    @property
    def title(self) -> str:
        """The kind in a word or two."""
        return KINDS.get(self.kind, "Release")


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
        numbers=any(one.kind == "histogram" for one in shown),
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
    facts = card_facts(Card.from_json(text))
    said: tuple[str, ...]
    if answer["kind"] == "profile":
        said = ("It was drawn once, and every later request of this mapping repeats it.",)
    elif found.nano == 0:
        said = ("This release was noise only: nothing of you was in it, and it cost nothing.",)
    else:
        said = (
            f"Whoever was undecided (50 in 100) about one item of yours is right at most "
            f"{right_at_most(found.nano)} times in 100 after this release, if the item counts in "
            f"full (epsilon {words.epsilon(found.nano)}). The card states the most for anybody.",
        )
    return page(request, "card.html", facts=facts, own=said, up="/me/left", up_name="What they got")


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
    kind, value = str(answer.get("kind", "")), answer.get("value")
    lines: tuple[Line, ...] = ()
    if kind == "histogram" and isinstance(value, Mapping):
        lines = _numbers(value, true_counts(seen.world.catalogue, seen.known.held))
    elif kind == "profile" and isinstance(value, Mapping):
        lines = tuple(
            Line(name, str(sent), str(true), "same" if str(sent) == str(true) else "different")
            for name, sent in value.items()
            for true in [seen.person.columns.get(name, words.NONE)]
        )
    elif kind == "similarity" and isinstance(value, (int, float)):
        lines = (
            Line("Comparison with another person", words.number(value), "not shown", words.NONE),
        )
    return Departure(
        one.spend, one.at, one.provider, kind, one.nano, lines, bool(answer.get("terms")), used_up
    )


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
    costs = [
        seen.allowance(provider, kind, seen.person.preferences).nano
        for kind in seen.offers(provider)
        if kind != "profile"
    ]
    least = min((cost for cost in costs if cost), default=0)
    ever = sum(one.spent for one in found)
    return Standing(provider, spent, total, renews, period, least, ever)
