"""The first pages: what everybody may learn at a glance, and three questions to begin with.

Not here  the questions and the files they lead to (preferences/starting.py).
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from fastapi import APIRouter, Request, Response

from reticent.console.pages_left import standing
from reticent.console.people_effects import summary
from reticent.console.people_visits import (
    CHANGED_BEFORE_START,
    Fields,
    Visit,
    back,
    change,
    told,
    visit,
)
from reticent.console.views import page
from reticent.gateway.credentials import DAY
from reticent.preferences.starting import QUESTIONS, Starting, starting_profiles, suggest

router = APIRouter()
COUNTED = 500  # answers of a week that are counted; beyond it the page says "more than"


@router.get("/me")
def overview(request: Request, done: str = "") -> Response:
    """Each service in one sentence, what was sent in a week, what to do next."""
    seen = visit(request)
    found = seen.gateway.left(seen.person.id, since=int(time.time()) - 7 * DAY, most=COUNTED + 1)
    left = found[:COUNTED]
    standings = {name: standing(seen, name) for name in seen.providers}
    return page(
        request,
        "overview.html",
        providers=sorted(
            (summary(seen, provider) for provider in seen.providers), key=lambda one: not one.named
        ),
        over={name for name, one in standings.items() if one.over},
        standings=standings,
        left=len(left),
        more=len(found) > COUNTED,
        costly=sum(1 for one in left if one.nano),
        items=len(seen.person.items),
        began=bool(seen.person.preferences.providers),
        hidden=seen.person.preferences.hide,
        done=told(done),
    )


@router.get("/me/start")
def start(request: Request) -> Response:
    """Three questions."""
    return _questions(request, visit(request), {}, "")


@router.post("/me/start")
def start_answered(request: Request, fields: Fields) -> Response:
    """The file that the answers lead to, to be read before it holds; then keep it."""
    seen = visit(request)
    do = fields.get("do", "propose")
    if do == "propose":
        answers = [_answer(fields.get(f"q{place}", "")) for place in range(len(QUESTIONS))]
        if None in answers:
            missing = "Answer all three, or decide later; an open question counts as withholding."
            return _questions(request, seen, fields, missing)
        return _proposal(request, seen, suggest(answers))
    found = {starting.name: starting for starting in starting_profiles()}
    starting = found.get(fields.get("starting", ""))
    if starting is None:
        return _questions(request, seen, fields, "Choose one of the three first.")
    if do == "look":
        return _proposal(request, seen, starting)
    outcome = change(seen, fields, lambda _: _text(seen, starting), changed=CHANGED_BEFORE_START)
    if outcome.problems:
        return _proposal(request, visit(request), starting, outcome.problems, outcome.status)
    return back("/me", "started")


def _answer(told_text: str) -> int | None:
    return int(told_text) if told_text in ("0", "1", "2") else None


def _text(seen: Visit, starting: Starting) -> str:
    return starting.text(sorted(seen.world.offers), seen.world.catalogue.attributes)


def _questions(request: Request, seen: Visit, fields: Mapping[str, str], missing: str) -> Response:
    return page(
        request,
        "start.html",
        status=422 if missing else 200,
        questions=QUESTIONS,
        fields=fields,
        missing=missing,
        began=bool(seen.person.preferences.providers),
    )


def _proposal(
    request: Request,
    seen: Visit,
    starting: Starting,
    problems: tuple[str, ...] = (),
    status: int = 200,
) -> Response:
    return page(
        request,
        "proposal.html",
        status=status,
        starting=starting,
        others=starting_profiles(),
        lines=_text(seen, starting).splitlines(),
        providers=sorted(seen.world.offers),
        began=bool(seen.person.preferences.providers),
        version=seen.person.version,
        problems=problems,
    )
