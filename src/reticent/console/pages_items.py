"""Items and how far each may count, in general and for one provider.

Not here  what a weight does (tasks/terms.py), attributes (pages_who.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response

from reticent.console import people_words as words
from reticent.console.people_visits import Fields, Visit, back, change, told, visit
from reticent.console.views import page
from reticent.preferences.editing import clear_default, clear_item, set_defaults, set_item
from reticent.preferences.problems import amount

router = APIRouter()
MOST = 60


@dataclass(frozen=True, slots=True)
class Row:
    """One item: what its own line says, and what holds without one."""

    item: str
    own: str
    otherwise: str
    chosen: str


@router.get("/me/items")
def items(request: Request, provider: str = "", q: str = "", done: str = "") -> Response:
    """The person's items, or those that are looked for."""
    seen = visit(request)
    return _page(request, seen, provider and seen.provider(provider), q, {}, done=told(done))


@router.post("/me/items")
def items_changed(request: Request, fields: Fields) -> Response:
    """Keep the weights that differ from what was shown."""
    seen = visit(request)
    told_provider, q = fields.get("provider", ""), fields.get("q", "")
    provider = told_provider and seen.provider(told_provider)
    wanted, shown = _sent(fields, "w"), _sent(fields, "s")
    changed = {item: weight for item, weight in wanted.items() if weight != shown[item]}
    default = fields.get("default", "")
    whole = default != fields.get("shown_default", default)
    address = f"/me/items?{urlencode({'provider': provider, 'q': q})}"
    if not changed and not whole:
        return back(address, "none")

    def edit(text: str) -> str:
        if whole and default:
            text = set_defaults(text, items=default, provider=provider or None)
        elif whole:
            text = clear_default(text, "items", provider=provider or None)
        for item, weight in changed.items():
            if weight:
                text = set_item(text, item, weight, provider=provider or None)
            else:
                text = clear_item(text, item, provider=provider or None)
        return text

    known = {"", *words.WEIGHTS, *shown.values(), fields.get("shown_default", "")}
    if not {default, *wanted.values()} <= known:
        unknown = ("Choose one of the weights in the list.",)
        return _page(request, seen, provider, q, fields, problems=unknown, status=422)
    outcome = change(seen, fields, edit)
    if outcome.problems:
        return _page(
            request,
            visit(request),
            provider,
            q,
            fields,
            problems=outcome.problems,
            status=outcome.status,
        )
    return back(address, "saved")


def _sent(fields: Mapping[str, str], kind: str) -> dict[str, str]:
    """By item, the fields of one kind that a form sent."""
    places = [key[1:] for key in fields if key[:1] == "i" and key[1:].isdecimal()][:MOST]
    return {fields[f"i{place}"]: fields.get(f"{kind}{place}", "") for place in places}


def _page(
    request: Request,
    seen: Visit,
    provider: str,
    q: str,
    fields: Mapping[str, str],
    *,
    problems: tuple[str, ...] = (),
    status: int = 200,
    done: str = "",
) -> Response:
    wishes = seen.person.preferences.wishes
    found = _found(seen, provider, q)
    filled = _sent(fields, "w")
    granted = wishes.providers.get(provider)
    own = None if granted is None else granted.item_default
    default = amount(wishes.item_default) if not provider else "" if own is None else amount(own)
    return page(
        request,
        "items.html",
        status=status,
        provider=provider,
        providers=seen.providers,
        named=not provider or granted is not None,
        granted=wishes.providers,
        q=q,
        rows=[_row(seen, item, provider, filled) for item in found[:MOST]],
        more=max(len(found) - MOST, 0),
        total=len(seen.person.items),
        default=fields.get("default", default),
        shown_default=default,
        general=words.weight(wishes.item_default),
        options=[(typed, words.weight(Fraction(typed))) for typed in words.WEIGHTS],
        word=lambda typed: words.weight(Fraction(typed)),
        version=seen.person.version,
        problems=problems,
        done=done,
    )


def _found(seen: Visit, provider: str, q: str) -> list[str]:
    """Own items and items with a line; all of the catalogue when something is looked for."""
    wishes = seen.person.preferences.wishes
    lines = {*wishes.items, *wishes.own_items(provider or None)}
    mine = sorted({*seen.person.items, *lines}, key=str.casefold)
    if not q.strip():
        return mine
    wanted = q.strip().casefold()
    rest = [item for item in seen.world.catalogue.items if item not in mine]
    return [item for item in (*mine, *rest) if wanted in item.casefold()]


def _row(seen: Visit, item: str, provider: str, filled: Mapping[str, str]) -> Row:
    wishes = seen.person.preferences.wishes
    lines = wishes.own_items(provider) if provider else wishes.items
    own = amount(lines[item]) if item in lines else ""
    order = wishes.item_lines(item, provider or None)
    others = [held for _, held in (order[1:] if item in lines else order) if held is not None]
    return Row(item, own, words.weight(others[0]), filled.get(item, own))
