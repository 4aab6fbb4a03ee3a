"""What must not be inferred from released profiles, and whether the mapping keeps to it.

Theory    docs/theory/terms.md, Theorem 4 (profiles)
Not here  how a mapping is learnt (tasks/learning.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from fastapi import APIRouter, Request, Response

from reticent.amounts import show_up
from reticent.console.people_choices import from_zero
from reticent.console.people_effects import profile_state
from reticent.console.people_visits import FINE, Fields, Visit, Wrong, back, change, told, visit
from reticent.console.views import page
from reticent.preferences.editing import clear_hidden, set_hidden
from reticent.preferences.problems import amount
from reticent.tasks.terms import NEGLIGIBLE, ProfileTerms

router = APIRouter()


@dataclass(frozen=True, slots=True)
class Secret:
    """One thing to hide: the limit, what the mapping tells of it, and what comes of that."""

    name: str
    limit: str
    tells: str
    state: str
    sentence: str


@router.get("/me/hidden")
def hidden(request: Request, done: str = "") -> Response:
    """All that the person or the mapping hides."""
    return _page(request, visit(request), "", "", done=told(done))


@router.post("/me/hidden")
def hidden_changed(request: Request, fields: Fields) -> Response:
    """Hide something, change how well, or hide it no longer."""
    seen = visit(request)
    secret, bits = fields.get("secret", "").strip(), fields.get("leak_bits", "").strip()
    clear = fields.get("do") == "clear"
    wrong = {}
    if not secret:
        wrong["secret"] = "What must not be inferred", "say what it is"
    if not clear and not from_zero(bits):
        wrong["leak_bits"] = "In bits", "write a number from 0 on, such as 0.05"
    if wrong:
        return _page(request, seen, secret, bits, wrong=Wrong(wrong), status=422)
    if clear:
        outcome = change(seen, fields, lambda text: clear_hidden(text, secret))
    else:
        outcome = change(seen, fields, lambda text: set_hidden(text, secret, bits))
    if outcome.problems:
        again = visit(request)
        return _page(request, again, secret, bits, problems=outcome.problems, status=outcome.status)
    return back("/me/hidden", "saved")


def _page(
    request: Request,
    seen: Visit,
    secret: str,
    bits: str,
    *,
    wrong: Wrong = FINE,
    problems: tuple[str, ...] = (),
    status: int = 200,
    done: str = "",
) -> Response:
    asking = [provider for provider in seen.providers if seen.profile(provider)]
    states = [(provider, profile_state(seen, provider)) for provider in asking]
    secrets = _secrets(seen)
    names = {one.name for one in secrets}
    return page(
        request,
        "hidden.html",
        status=status,
        secrets=secrets,
        columns=() if seen.world.recoding is None else seen.world.recoding.columns,
        values=seen.person.columns,
        unchanged=_unchanged(seen),
        asking=states,
        typed=secret,
        typed_bits=bits,
        new_secret="" if secret in names else secret,
        known=secret in names,
        version=seen.person.version,
        wrong=wrong,
        problems=(*wrong.says, *problems),
        done=done,
    )


def _unchanged(seen: Visit) -> str:
    """How often the mapping sends this person's own profile as it is."""
    recoding = seen.world.recoding
    if recoding is None:
        return ""
    profile = [seen.person.columns.get(name) for name in recoding.columns]
    chance = ProfileTerms(recoding).unchanged(profile)
    if not chance:
        return "Yours is never sent as it is: another one is drawn in its place."
    if chance >= 1:
        return "Yours is sent as it is: the mapping changes profiles of other people only."
    return (
        f"With a chance of {show_up(100 * chance, 2)} in 100 the one that is drawn is your own, "
        "and is sent as it is."
    )


def _secrets(seen: Visit) -> list[Secret]:
    recoding, hide = seen.world.recoding, seen.person.preferences.hide
    told_bits = {} if recoding is None else ProfileTerms(recoding).secrets
    columns = () if recoding is None else recoding.columns
    folded = {name.casefold(): (name, bits) for name, bits in told_bits.items()}
    shown = {name.casefold() for name in hide}
    found = [
        _secret(name, limit, folded.get(name.casefold()), columns) for name, limit in hide.items()
    ]
    rest = [
        Secret(
            name,
            "",
            show_up(bits, 3),
            "open",
            "You have set no limit of your own. The mapping was made to hide it, for everybody.",
        )
        for name, bits in told_bits.items()
        if name.casefold() not in shown
    ]
    return found + rest


def _secret(
    name: str, limit: Fraction, known: tuple[str, float] | None, columns: tuple[str, ...]
) -> Secret:
    most = amount(limit)
    if name.casefold() in {column.casefold() for column in columns}:
        said = "Released profiles show it outright, so your own profile is not used."
        return Secret(name, most, "", "broken", said)
    if known is None:
        said = "The mapping was not made to hide it, so your own profile is not used."
        return Secret(name, most, "", "broken", said)
    tells = show_up(known[1], 3)
    if Fraction(known[1]) <= limit + NEGLIGIBLE:
        said = (
            f"Kept: a released profile tells {tells} bits about it on average, {most} are allowed. "
            "That is counted among the people the mapping was learnt from."
        )
        return Secret(name, most, tells, "kept", said)
    said = (
        f"A released profile would tell {tells} bits about it on average, and you allow {most}. "
        "So your own profile is not used: one of nobody in particular is sent instead."
    )
    return Secret(name, most, tells, "broken", said)
