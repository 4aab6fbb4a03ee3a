"""One service: what one release and all of them may cost, and how to let it have nothing.

Not here  single attributes (pages_who.py), what has left (pages_left.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from reticent.amounts import nano_up
from reticent.console import people_words as words
from reticent.console.pages_left import standing
from reticent.console.people_choices import STEPS, Choice, chosen, positive
from reticent.console.people_effects import (
    effects,
    items_loss,
    profile_state,
    summary,
)
from reticent.console.people_figure import figure
from reticent.console.people_visits import (
    CHANGED_BEFORE_STOP,
    Fields,
    Visit,
    Wrong,
    back,
    change,
    told,
    visit,
)
from reticent.console.problems import Problem
from reticent.console.views import named, page, part
from reticent.gateway.offers import Offer
from reticent.guarantees.card import Audience, right_at_most
from reticent.guarantees.card_facts import card_facts
from reticent.preferences import Preferences, PreferencesError
from reticent.preferences.editing import UNCHANGED, remove_provider, set_provider
from reticent.queries.public_terms import RecodedTerms

router = APIRouter()
NOT_A_NUMBER = "write a number above 0, such as 0.2; to give nothing, let this service have nothing"


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
    if _wrong(choice, fields):
        return _page(request, seen, name, choice, fields, status=422)
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
    outcome = change(
        seen, fields, lambda text: remove_provider(text, name), changed=CHANGED_BEFORE_STOP
    )
    if outcome.problems:
        return _stop(request, visit(request), name, outcome.problems, outcome.status)
    return back("/me/who", "stopped")


@router.get("/me/who/{provider}/terms/{kind}")
def terms(request: Request, provider: str, kind: str) -> Response:
    """The guarantee card that a provider's releases carry."""
    seen = visit(request)
    name = seen.provider(named(provider))
    offer = seen.offers(name).get(kind)
    if offer is None:
        raise Problem(404)
    return page(
        request,
        "card.html",
        facts=card_facts(offer.card.copy_for(Audience.PERSON, standing(seen, name).budget)),
        own=(_for_you(seen, offer),),
        up=f"/me/who/{part(name)}",
        up_name=name,
    )


def _for_you(seen: Visit, offer: Offer) -> str:
    """What such a release tells of this person, who may allow less than it asks for."""
    if isinstance(offer.terms, RecodedTerms):
        if profile_state(seen, offer.provider) == "coded":
            return "A profile is drawn for you once, as this card says."
        return "Your own profile is not used: this service gets one of nobody in particular."
    if offer.parent is not None:
        return f"It is read off each {offer.parent.offering.name}, and costs nothing more."
    nano = seen.allowance(offer, seen.person.preferences).nano
    if not nano:
        return "As your file stands, these releases are noise only: nothing of you is in them."
    return (
        "Whoever was undecided (50 in 100) about one item of yours is right at most "
        f"{right_at_most(nano)} times in 100 after one such release, if the item counts in full "
        f"(epsilon {words.epsilon(nano)}). The card states the most for anybody."
    )


def _wrong(choice: Choice, fields: Mapping[str, str]) -> Wrong:
    """What of the form cannot be kept."""
    found = {}
    total, renews = fields.get("total", "").strip(), fields.get("renews", "never")
    if not choice.valid:
        found["epsilon"] = "As a number", NOT_A_NUMBER
    if total and not positive(total):
        found["total"] = "In all, at most", "write a number such as 2, or leave it empty"
    if renews not in words.RENEWALS:
        found["renews"] = "It starts anew", "choose one of the list"
    return Wrong(found)


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
    wrong, stands = _wrong(choice, fields), standing(seen, provider)
    return page(
        request,
        "provider.html",
        status=status,
        **_tried(seen, provider, choice),
        version=person.version,
        granted=granted,
        standing=stands,
        over=stands.over,
        now=_now(seen, provider),
        total=fields.get("total", total),
        renews=fields.get("renews", "never" if granted is None else granted.renews),
        renewals=words.RENEWALS,
        summary=summary(seen, provider),
        figure=figure(table.values()),
        effects=[effect for effect in table.values() if effect.state != "not asked"],
        kinds=[(kind, offer.offering.name) for kind, offer in seen.offers(provider).items()],
        steps=STEPS,
        wrong=wrong,
        problems=(*wrong.says, *problems),
        done=done,
    )


def _tried(seen: Visit, provider: str, choice: Choice, *, live: str = "") -> dict[str, Any]:
    """What a choice that is not saved yet would do."""
    wishes, trouble, epsilon = seen.person.preferences, "", 0
    try:
        if not choice.valid:
            trouble = f"{NOT_A_NUMBER[:1].upper()}{NOT_A_NUMBER[1:]}."
        elif choice.typed:
            edited = set_provider(wishes.text, provider, epsilon=choice.typed)
            wishes = Preferences.parse(edited, name="your preferences")
            epsilon = nano_up(wishes.providers[provider].epsilon)
    except PreferencesError as error:
        trouble = error.problems[0].says
    table = effects(seen, provider, wishes).values() if epsilon else ()
    compared, other = items_loss(seen, provider, wishes) if epsilon else (0, "")
    counted = max([0, *(effect.whole for effect in table)])
    unset = bool(epsilon and not counted and seen.histogram(provider))
    nano = max(compared, counted)
    return {
        "provider": provider,
        "choice": choice,
        "trouble": trouble,
        "nano": nano,
        "epsilon_nano": epsilon,
        "asked": bool(seen.offers(provider)),
        "sentence": (trouble if live else "")
        if trouble
        else _sentence(seen, provider, epsilon, nano, unset=unset, other=other),
        "unset": unset,
        "least": right_at_most(-(-nano // 2)),
        "words": words,
        "live": live,
    }


def _sentence(
    seen: Visit, provider: str, epsilon: int, nano: int, *, unset: bool, other: str
) -> str:
    if not seen.offers(provider):
        return "Whatever you choose, it gets nothing as long as it asks for nothing."
    if nano and unset:
        rest = "Numbers about attributes stay noise only: no line allows an attribute yet."
        return f"{words.odds(f'one {other}', nano)} {rest}"
    if nano:
        return words.odds("one release", nano)
    if unset:
        return f"Nothing of you is in what {provider} gets: no line allows an attribute yet."
    if epsilon and seen.profile(provider):
        return f"{provider} asks for a profile only; what that tells is limited under Inferences."
    return f"Nothing of you: {provider} gets noise only."
