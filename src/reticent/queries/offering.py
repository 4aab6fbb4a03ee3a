"""What a query declares to be offered over HTTP: its words, its options, its public terms.

Not here  what is drawn (public_terms.py), which kinds are offered (offered.py), pages and routes
          (console/).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from reticent.errors import require

if TYPE_CHECKING:
    from reticent.queries.base import Query
    from reticent.queries.public_terms import PublicTerms


class Lasts(StrEnum):
    """For how long a gateway repeats one draw instead of making another."""

    REQUEST = "each request has a draw of its own"
    TERMS = "all requests of a provider on the same terms repeat one draw"
    MAPPING = "all requests of all providers through one mapping repeat one draw"


@dataclass(frozen=True, slots=True, kw_only=True)
class Offering:
    """The words for a release, the form of its value, and how long a draw lasts.

    ``name`` is a release in a word or two, ``gets`` what a service gets that asks for some, and
    ``about`` what that tells of a person. ``value`` is a JSON Schema. ``beside`` is what of a
    person the value has a part for each of. What is left out is made from the kind and its
    documentation.
    """

    name: str = ""
    gets: str = ""
    about: str = ""
    value: Mapping[str, Any] = field(default_factory=dict)
    beside: Literal["", "attributes", "columns"] = ""
    lasts: Lasts = Lasts.REQUEST

    def of(self, query: type[Query]) -> Offering:
        """All of it, for the query that it belongs to."""
        name = self.name or query.kind.replace("-", " ")
        gets, about = self.gets or f"{name}, with noise", self.about or query.about().rstrip(".")
        return replace(self, name=name, gets=gets, about=about)

    @property
    def title(self) -> str:
        """The name, as a heading starts."""
        return self.name[:1].upper() + self.name[1:]


class Offerable:
    """What a query declares to be asked for from outside."""

    kind: ClassVar[str]
    offering: ClassVar[Offering] = Offering()

    def to_request(self) -> dict[str, Any]:
        """What somebody outside writes to ask for it: options that are not as usual."""
        query: Any = self
        told = query.to_plain()
        usual = {one.name: one.default for one in query.options() if not one.local}
        return {name: told[name] for name in usual if getattr(self, name) != usual[name]}

    @classmethod
    def of_request(cls, told: Mapping[str, Any]) -> Self:
        """From ``to_request``; options that only whoever runs a release may set are refused."""
        made: Any = cls
        local = sorted(one.name for one in made.options() if one.local and one.name in told)
        rule = f"left out of what is asked for: {', '.join(local)}"
        require(not local, cls.kind, "more", rule)
        lacks = [one.name for one in made.options() if one.required and one.name not in told]
        require(not lacks, cls.kind, "less", f"given with {', '.join(lacks)}")
        found: Self = made.of_plain(told)
        return found

    def on_terms(self, provider: str, held: Mapping[str, Any]) -> PublicTerms:
        """What a gateway draws for one request of a provider; ``held`` are its public tables.

        Usually people's items are stretched as far as they allow, which their loss follows; or it
        is read off what the gateway drew for the provider before.
        """
        from reticent.queries.public_terms import usual_terms

        query: Any = self
        return usual_terms(query, held)
