"""One provider: what one release and all of them may cost, and how to let it have nothing.

Not here  single attributes (pages_who.py), what has left (pages_left.py).
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from reticent.amounts import nano_up
from reticent.console import people_words as words
from reticent.console.people_choices import STEPS, Choice, chosen
from reticent.console.people_effects import effects, similarity_loss, summary
from reticent.console.people_figure import figure
from reticent.console.people_visits import Fields, Visit, back, change, told, visit
from reticent.console.problems import Problem
from reticent.console.views import named, page, part
from reticent.guarantees.card import right_at_most
from reticent.guarantees.card_facts import card_facts
from reticent.preferences import Preferences, PreferencesError
from reticent.preferences.editing import UNCHANGED, remove_provider, set_provider

router = APIRouter()
NOT_A_NUMBER = (
    "Write a number above 0, such as 0.2; to give nothing, let this provider have nothing."
)


@router.get("/me/who/{provider}")
def provider_page(request: Request, provider: str, fragment: str = "", done: str = "") -> Response:
    """All about one provider; with ``epsilon`` or ``step`` as it would be then."""
    seen = visit(request)
    name = seen.provider(named(provider))
    asked = {
        key: value for key, value in request.query_params.items() if key in ("epsilon", "step")
    }
    choice = chosen(asked, _now(seen, name))
    if fragment:
        return page(request, "provider_effect.html", **_tried(seen, name, choice, live=fragment))
    return _page(request, seen, name, choice, {}, done=told(done))


@router.post("/me/who/{provider}")
def provider_changed(request: Request, provider: str, fields: Fields) -> Response:
    """Save or show the effect; the left end of the slider asks whether to stop."""
    seen = visit(request)
    name = seen.provider(named(provider))
    choice, what = chosen(fields, _now(seen, name)), fields.get("do", "save")
    if what == "show":
        return _page(request, seen, name, choice, fields)
    if not choice.typed:
        return RedirectResponse(f"/me/stop/{part(name)}", status_code=303)
    if not choice.valid:
        return _page(request, seen, name, choice, fields, problems=(NOT_A_NUMBER,), status=422)
    total, renews = fields.get("total", "").strip(), fields.get("renews", "never")
    granted = seen.person.preferences.providers.get(name)

    def edit(text: str) -> str:
        """Touch the lines that were changed, and no other."""
        kept = granted is not None and choice == _now(seen, name)
        same_total = granted is not None and total == Choice.of(granted.total).typed
        same_renews = granted is not None and renews == granted.renews
        return set_provider(
            text,
            name,
            epsilon=UNCHANGED if kept else choice.typed,
            total=UNCHANGED if same_total else total or None,
            renews=UNCHANGED if same_renews else None if renews == "never" else renews,
        )

    outcome = change(seen, fields, edit)
    if outcome.problems:
        return _page(
            request, seen, name, choice, fields, problems=outcome.problems, status=outcome.status
        )
    return back(f"/me/who/{part(name)}", "saved")


@router.get("/me/stop/{provider}")
def stop_asked(request: Request, provider: str) -> Response:
    """Whether to let a provider have nothing, before it is done."""
    return _stop(request, visit(request), named(provider))


@router.post("/me/stop/{provider}")
def stop(request: Request, provider: str, fields: Fields) -> Response:
    """Delete a provider's lines."""
    seen = visit(request)
    name = seen.provider(named(provider))
    outcome = change(seen, fields, lambda text: remove_provider(text, name))
    if outcome.problems:
        return _stop(request, visit(request), name, outcome.problems, outcome.status)
    return back("/me/who", "stopped")


@router.get("/me/who/{provider}/terms/{kind}")
def terms(request: Request, provider: str, kind: str) -> Response:
    """The guarantee card that a provider's releases carry."""
    seen = visit(request)
    offer = seen.offers(seen.provider(named(provider))).get(kind)
    if offer is None:
        raise Problem(404)
    return page(request, "card.html", facts=card_facts(offer.card), own=(), up="")


def _stop(
    request: Request,
    seen: Visit,
    told_name: str,
    problems: tuple[str, ...] = (),
    status: int = 200,
) -> Response:
    name = seen.provider(told_name)
    granted = seen.person.preferences.providers.get(name)
    own = 0 if granted is None else len(granted.attributes) + len(granted.items)
    return page(
        request,
        "stop.html",
        status=status,
        provider=name,
        named=granted is not None,
        own=own,
        version=seen.person.version,
        problems=problems,
    )


def _now(seen: Visit, provider: str) -> Choice:
    granted = seen.person.preferences.providers.get(provider)
    return Choice.of(None if granted is None else granted.epsilon)


def _page(
    request: Request,
    seen: Visit,
    provider: str,
    choice: Choice,
    fields: dict[str, str],
    *,
    problems: tuple[str, ...] = (),
    status: int = 200,
    done: str = "",
) -> Response:
    person = visit(request).person if status == 409 else seen.person
    granted = person.preferences.providers.get(provider)
    total = Choice.of(None if granted is None else granted.total).typed
    table = effects(seen, provider, person.preferences)
    return page(
        request,
        "provider.html",
        status=status,
        **_tried(seen, provider, choice),
        version=person.version,
        granted=granted,
        now=_now(seen, provider),
        total=fields.get("total", total),
        renews=fields.get("renews", "never" if granted is None else granted.renews),
        renewals=words.RENEWALS,
        summary=summary(seen, provider),
        figure=figure(table.values()),
        effects=[effect for effect in table.values() if effect.state != "not asked"],
        kinds=list(seen.offers(provider)),
        steps=STEPS,
        problems=problems,
        done=done,
    )


def _tried(seen: Visit, provider: str, choice: Choice, *, live: str = "") -> dict[str, Any]:
    """What a choice that is not saved yet would do."""
    wishes, trouble, epsilon = seen.person.preferences, "", 0
    try:
        if not choice.valid:
            trouble = NOT_A_NUMBER
        elif choice.typed:
            edited = set_provider(wishes.text, provider, epsilon=choice.typed)
            wishes = Preferences.parse(edited, name="your preferences")
            epsilon = nano_up(wishes.providers[provider].epsilon)
    except PreferencesError as error:
        trouble = error.problems[0].says
    table = effects(seen, provider, wishes).values() if epsilon else ()
    _, compared = similarity_loss(seen, provider, wishes) if epsilon else (0.0, 0)
    nano = max([compared, *(effect.whole for effect in table)])
    return {
        "provider": provider,
        "choice": choice,
        "trouble": trouble,
        "nano": nano,
        "epsilon_nano": epsilon,
        "sentence": trouble or _sentence(provider, choice, nano),
        "least": right_at_most(-(-nano // 2)),
        "words": words,
        "live": live,
    }


def _sentence(provider: str, choice: Choice, nano: int) -> str:
    if nano:
        return words.odds("one release", nano)
    if choice.typed:
        return (
            f"Nothing of you is in what {provider} gets: no line allows an attribute yet. Open one "
            "below, or set the general rule."
        )
    return f"Nothing of you: {provider} gets noise only."
