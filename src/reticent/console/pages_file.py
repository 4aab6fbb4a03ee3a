"""The preferences file itself, to read, take along and edit; and how to leave for good.

Not here  what its lines mean (preferences/), changing one line by a form (the other pages).
"""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse

from reticent.console.people_visits import FINE, Fields, Visit, Wrong, back, change, told, visit
from reticent.console.views import page
from reticent.console.visitors import end_session
from reticent.preferences import Problem, find_problems

router = APIRouter()
WORD = "delete"
_NAME = "your preferences"


@router.get("/me/file")
def file(request: Request, done: str = "") -> Response:
    """The file with the numbers of its lines, and what is probably not meant in it."""
    seen = visit(request)
    wishes = seen.person.preferences
    return page(
        request,
        "file.html",
        lines=wishes.text.splitlines(),
        notes=[*wishes.notes(), *_unknown(seen, wishes.text)],
        done=told(done),
    )


@router.get("/me/file/preferences.toml")
def download(request: Request) -> Response:
    """The file to take along."""
    named = {"content-disposition": 'attachment; filename="preferences.toml"'}
    return PlainTextResponse(visit(request).person.preferences.text, headers=named)


@router.get("/me/file/edit")
def edit(request: Request) -> Response:
    """The file in a field."""
    seen = visit(request)
    return _editor(request, seen, seen.person.preferences.text)


@router.post("/me/file/edit")
def edited(request: Request, fields: Fields) -> Response:
    """Keep a file that can be used; otherwise list all that is wrong with it."""
    seen = visit(request)
    text = fields.get("text", "").replace("\r\n", "\n")
    found = find_problems(text, name=_NAME)
    if found:
        return _editor(request, seen, text, found=found, status=422)
    outcome = change(seen, fields, lambda _: text)
    if outcome.problems:
        again = visit(request)
        return _editor(request, again, text, problems=outcome.problems, status=outcome.status)
    return back("/me/file", "saved")


@router.get("/me/leave-gateway")
def leave(request: Request) -> Response:
    """What would be deleted and what would stay."""
    return _leave(request, visit(request))


@router.post("/me/leave-gateway")
def left_for_good(request: Request, fields: Fields) -> Response:
    """Delete everything about the person who typed the word."""
    seen = visit(request)
    if fields.get("word", "").strip().casefold() != WORD:
        wrong = Wrong({"word": ("To go on", f"type the word “{WORD}”")})
        return _leave(request, seen, wrong, 422)
    seen.gateway.forget(seen.person.id)
    answer = page(request, "gone.html", role="")
    end_session(answer, secure=request.app.state.secure)
    return answer


def _unknown(seen: Visit, text: str) -> tuple[Problem, ...]:
    catalogue = seen.world.catalogue
    return find_problems(
        text,
        name=_NAME,
        attributes=catalogue.attributes,
        items=catalogue.items,
        empty=catalogue.empty,
    )


def _editor(
    request: Request,
    seen: Visit,
    text: str,
    *,
    found: tuple[Problem, ...] = (),
    problems: tuple[str, ...] = (),
    status: int = 200,
) -> Response:
    return page(
        request,
        "file_edit.html",
        status=status,
        text=text,
        rows=min(max(len(text.splitlines()) + 2, 12), 40),
        found=found,
        problems=problems,
        now=seen.person.preferences.text if status == 409 else "",
        version=seen.person.version,
    )


def _leave(request: Request, seen: Visit, wrong: Wrong = FINE, status: int = 200) -> Response:
    return page(
        request,
        "leave.html",
        status=status,
        word=WORD,
        items=len(seen.person.items),
        wrong=wrong,
    )
