"""Who may learn what: the grid of attributes and providers, and one page for each cell.

Not here  a provider as a whole (pages_provider.py), what a choice does (people_effects.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request, Response

from reticent.console import people_words as words
from reticent.console.people_choices import STEPS, Choice, chosen
from reticent.console.people_effects import (
    Effect,
    effects,
    profile_state,
    share_of,
)
from reticent.console.people_visits import FINE, Fields, Visit, Wrong, back, change, told, visit
from reticent.console.problems import Problem
from reticent.console.views import named, page, part
from reticent.preferences import Preferences, PreferencesError
from reticent.preferences.editing import clear_attribute, set_attribute, set_defaults
from reticent.queries.histogram import Histogram

router = APIRouter()
NOT_A_NUMBER = "write a number above 0, such as 0.1, or leave it empty to withhold"


@dataclass(frozen=True, slots=True)
class Square:
    """One cell of the grid: a word, a symbol, an address."""

    state: str
    detail: str
    address: str

    @property
    def symbol(self) -> str:
        """Beside the word, never instead of it."""
        return words.SYMBOLS[self.state]


@router.get("/me/who")
def who(request: Request, done: str = "") -> Response:
    """The grid; on a narrow screen a list for each provider."""
    return _grid(request, visit(request), done=told(done))


@router.post("/me/who")
def general_changed(request: Request, fields: Fields) -> Response:
    """Set what holds for attributes without a line of their own."""
    seen, typed = visit(request), fields.get("general", "").strip()
    choice = Choice(typed)
    if not choice.valid:
        wrong = Wrong({"general": ("Any other attribute", NOT_A_NUMBER)})
        return _grid(request, seen, typed=typed, wrong=wrong, status=422)
    outcome = change(seen, fields, lambda text: set_defaults(text, attributes=typed or None))
    if outcome.problems:
        again = visit(request)
        return _grid(request, again, typed=typed, problems=outcome.problems, status=outcome.status)
    return back("/me/who", "saved")


def _grid(
    request: Request,
    seen: Visit,
    *,
    typed: str | None = None,
    wrong: Wrong = FINE,
    problems: tuple[str, ...] = (),
    status: int = 200,
    done: str = "",
) -> Response:
    general = Choice.of(seen.person.preferences.wishes.attribute_default)
    return page(
        request,
        "who.html",
        status=status,
        rows=_rows(seen),
        providers=seen.providers,
        granted=seen.person.preferences.providers,
        meanings=words.MEANINGS,
        symbols=words.SYMBOLS,
        general=general.typed if typed is None else typed,
        version=seen.person.version,
        wrong=wrong,
        problems=(*wrong.says, *problems),
        done=done,
    )


def _rows(seen: Visit) -> list[tuple[str, str, list[Square]]]:
    """Name, note and cells of each row."""
    wishes = seen.person.preferences
    tables = [effects(seen, provider, wishes) for provider in seen.providers]
    rows = []
    for name in seen.world.catalogue.attributes:
        line = [
            _square(provider, table[name])
            for provider, table in zip(seen.providers, tables, strict=True)
        ]
        rows.append((name, "", line))
    by_items = {
        offer.kind: offer.offering for name in seen.providers for offer in seen.by_items(name)
    }
    for kind, offering in sorted(by_items.items()):
        line = [_by_items(seen, provider, kind) for provider in seen.providers]
        rows.append((offering.title, offering.about, line))
    if any(seen.profile(provider) for provider in seen.providers):
        states = [(provider, profile_state(seen, provider)) for provider in seen.providers]
        line = [
            Square(state, "", "" if state == "not asked" else "/me/hidden") for _, state in states
        ]
        rows.append(
            ("Profile", ", ".join(seen.world.recoding.columns if seen.world.recoding else ()), line)
        )
    return rows


def _square(provider: str, effect: Effect) -> Square:
    asked = effect.state != "not asked"
    address = f"/me/who/{part(provider)}/{part(effect.attribute)}" if asked else ""
    return Square(effect.state, effect.counts if effect.state == "noisy" else "", address)


def _by_items(seen: Visit, provider: str, kind: str) -> Square:
    offer = seen.offers(provider).get(kind)
    if offer is None:
        return Square("not asked", "", "")
    share = share_of(seen, offer, seen.person.preferences)
    address = f"/me/who/{part(provider)}"
    return Square("noisy" if share else "withheld", words.counts(share) if share else "", address)


@router.get("/me/who/{provider}/{attribute}")
def cell(
    request: Request, provider: str, attribute: str, fragment: str = "", done: str = ""
) -> Response:
    """One attribute and one provider; with ``epsilon`` or ``step`` as it would be then."""
    seen = visit(request)
    name, column = _place(seen, provider, attribute)
    now = Choice.of(seen.person.preferences.wishes.budget(column, name))
    asked = {
        key: value for key, value in request.query_params.items() if key in ("epsilon", "step")
    }
    choice = chosen(asked, now)
    if fragment:
        return page(request, "who_effect.html", **_tried(seen, name, column, choice, live=fragment))
    return _cell(request, seen, name, column, choice, done=told(done))


@router.post("/me/who/{provider}/{attribute}")
def cell_changed(request: Request, provider: str, attribute: str, fields: Fields) -> Response:
    """Save, show the effect, or let the general rule hold."""
    seen = visit(request)
    name, column = _place(seen, provider, attribute)
    now = Choice.of(seen.person.preferences.wishes.budget(column, name))
    choice, what = chosen(fields, now), fields.get("do", "save")
    if what == "show":
        return _cell(request, seen, name, column, choice)
    if what == "general":
        outcome = change(seen, fields, lambda text: clear_attribute(text, column, provider=name))
    elif not choice.valid:
        return _cell(request, seen, name, column, choice, status=422)
    else:
        outcome = change(seen, fields, lambda text: _edited(text, name, column, choice))
    if outcome.problems:
        return _cell(
            request, seen, name, column, choice, problems=outcome.problems, status=outcome.status
        )
    address = f"/me/who/{part(name)}/{part(column)}"
    return back(address, "general" if what == "general" else "saved")


def _place(seen: Visit, provider: str, attribute: str) -> tuple[str, str]:
    name, column = seen.provider(named(provider)), named(attribute)
    if column not in seen.world.catalogue.attributes:
        raise Problem(404)
    return name, column


def _edited(text: str, provider: str, attribute: str, choice: Choice) -> str:
    return set_attribute(text, attribute, choice.typed or None, provider=provider)


def _cell(
    request: Request,
    seen: Visit,
    provider: str,
    attribute: str,
    choice: Choice,
    *,
    problems: tuple[str, ...] = (),
    status: int = 200,
    done: str = "",
) -> Response:
    person = visit(request).person if status == 409 else seen.person
    wishes = person.preferences
    wrong = FINE if choice.valid else Wrong({"epsilon": ("As a number", NOT_A_NUMBER)})
    return page(
        request,
        "who_cell.html",
        status=status,
        kind=Histogram.kind,
        **_tried(seen, provider, attribute, choice),
        version=person.version,
        named=provider in wishes.providers,
        own=attribute in wishes.wishes.own_attributes(provider),
        decision=wishes.explain(provider, attribute),
        now=Choice.of(wishes.wishes.budget(attribute, provider)),
        steps=STEPS,
        wrong=wrong,
        problems=(*wrong.says, *problems),
        done=done,
    )


def _tried(
    seen: Visit, provider: str, attribute: str, choice: Choice, *, live: str = ""
) -> dict[str, Any]:
    """The effect of a choice that is not saved yet."""
    wishes, trouble = seen.person.preferences, ""
    if provider in wishes.providers:
        try:
            if not choice.valid:
                trouble = f"{NOT_A_NUMBER[:1].upper()}{NOT_A_NUMBER[1:]}."
            else:
                edited = _edited(wishes.text, provider, attribute, choice)
                wishes = Preferences.parse(edited, name="your preferences")
        except PreferencesError as error:
            trouble = error.problems[0].says
    effect = effects(seen, provider, wishes)[attribute]
    whole = words.odds("all that one release tells", effect.whole)
    return {
        "provider": provider,
        "attribute": attribute,
        "choice": choice,
        "effect": effect,
        "trouble": trouble,
        "sentence": (trouble if live else "") if trouble else _sentence(provider, effect),
        "whole": whole,
        "words": words,
        "live": live,
    }


def _sentence(provider: str, effect: Effect) -> str:
    name = effect.attribute
    if effect.state == "not asked":
        return f"{provider} does not ask for {name}, so it learns nothing about it."
    if effect.state == "withheld":
        return f"Withheld: about {name}, {provider} gets noise only. Nothing of you is in it."
    return words.odds(f"{name} in one release", effect.alone)
