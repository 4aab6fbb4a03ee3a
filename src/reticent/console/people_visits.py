"""A person who looks at their own pages: what is known of them, and how a change is kept.

Not here  who they are (visitors.py), what stands on the pages (pages_*.py).

Nothing that a person typed is lost: a change that cannot be kept is told on the same page, with
the fields as they were filled in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, TypeAlias

from fastapi import Depends, Request
from fastapi.responses import RedirectResponse

from reticent.console.problems import Problem
from reticent.console.visitors import form_of, person_of
from reticent.gateway import Changed, Gateway, Person
from reticent.gateway.memory import Known, World
from reticent.gateway.offers import Offer
from reticent.preferences import Preferences, PreferencesError
from reticent.queries.public_terms import AttributeTerms, ReadOff, RecodedTerms
from reticent.tasks.terms import Allowance, HistogramTerms, ProfileTerms

CHANGED = (
    "Your preferences were changed meanwhile, perhaps in another window. What you chose is still "
    "filled in below: look at what holds now, and save again if you still want it."
)
CHANGED_BEFORE_STOP = (
    "Your preferences were changed meanwhile, perhaps in another window. Nothing was stopped yet: "
    "look again, and stop it if you still want to."
)
CHANGED_BEFORE_START = (
    "Your preferences were changed meanwhile, perhaps in another window. The file below is not "
    "used yet: look at the one you have first."
)
DONE = {
    "saved": "Saved. It holds from the next release on.",
    "general": "The general rule holds here again.",
    "started": "Your file is in place. It holds from the next release on.",
    "later": "Nothing was changed: what no line allows is withheld.",
    "stopped": "Stopped. From now on this service gets noise only, nothing new of you.",
    "none": "There was nothing to change.",
}


async def _posted(request: Request) -> dict[str, str]:
    return await form_of(request)


Fields: TypeAlias = Annotated[dict[str, str], Depends(_posted)]
"""The fields of one of our own forms."""


@dataclass(frozen=True, slots=True, eq=False)
class Visit:
    """One person and what is public, as they are now."""

    gateway: Gateway
    world: World
    known: Known

    @property
    def person(self) -> Person:
        """Everything about the person."""
        return self.known.person

    def histogram(self, provider: str) -> HistogramTerms | None:
        """The terms of a provider's histogram, if it asks for one."""
        found = (offer.terms for offer in self.offers(provider).values())
        return next((one.maths for one in found if isinstance(one, AttributeTerms)), None)

    def profile(self, provider: str) -> ProfileTerms | None:
        """The terms of a provider's profiles, if it asks for them."""
        found = (offer.terms for offer in self.offers(provider).values())
        return next((one.maths for one in found if isinstance(one, RecodedTerms)), None)

    def by_items(self, provider: str) -> list[Offer]:
        """What it asks for in which a person's items count by weight, whatever their attributes."""
        others = (AttributeTerms, RecodedTerms, ReadOff)
        return [one for one in self.offers(provider).values() if not isinstance(one.terms, others)]

    def offers(self, provider: str) -> Mapping[str, Offer]:
        """What a provider asks for, by kind."""
        return self.world.offers.get(provider, {})

    def allowance(self, offer: Offer, wishes: Preferences) -> Allowance:
        """What wishes come to on a provider's terms; those that hold are worked out only once."""
        if wishes is self.person.preferences:
            return self.known.allowance(offer)
        return offer.terms.allowance(wishes, offer.provider, self.world.catalogue.places)

    @property
    def providers(self) -> list[str]:
        """All that ask for something here, or that the person has named."""
        return sorted({*self.world.offers, *self.person.preferences.providers})

    def provider(self, told: str) -> str:
        """A provider of that name, or no page."""
        if told not in self.providers:
            raise Problem(404)
        return told


@dataclass(frozen=True, slots=True)
class Wrong:
    """Fields of a form that hold something else than they ask for, and what to write instead."""

    fields: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """By the id of a field: its label, and what to do."""

    def __bool__(self) -> bool:
        return bool(self.fields)

    @property
    def says(self) -> tuple[str, ...]:
        """A sentence for each, for the top of the page."""
        return tuple(f"{label}: {what}." for label, what in self.fields.values())

    def at(self, name: str) -> str:
        """The sentence at a field; empty if it is right."""
        _, what = self.fields.get(name, ("", ""))
        return what and f"{what[:1].upper()}{what[1:]}."


FINE = Wrong()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a change: problems to tell, or none."""

    problems: tuple[str, ...] = ()
    status: int = 303


def visit(request: Request) -> Visit:
    """Whose pages these are; nobody else's are here."""
    name = person_of(request)
    gateway: Gateway = request.app.state.gateway
    return Visit(gateway, gateway.world(), gateway.known(name))


def change(
    seen: Visit,
    fields: Mapping[str, str],
    edit: Callable[[str], str],
    *,
    changed: str = CHANGED,
) -> Outcome:
    """Keep an edited file, unless it has problems or was changed since the form was made."""
    version = fields.get("version", "")
    try:
        text = edit(seen.person.preferences.text)
        at = int(version) if version.isascii() and version.isdecimal() and len(version) < 16 else -1
        seen.gateway.set_preferences(seen.person.id, text, seen=at)
    except PreferencesError as error:
        return Outcome(tuple(problem.says for problem in error.problems), 422)
    except Changed:
        return Outcome((changed,), 409)
    return Outcome()


def back(address: str, done: str) -> RedirectResponse:
    """To a page that says in a fixed sentence what was done."""
    joined = "&" if "?" in address else "?"
    return RedirectResponse(f"{address}{joined}done={done}", status_code=303)


def told(code: str) -> str:
    """The sentence of a code; nothing for any other text in an address."""
    return DONE.get(code, "")
