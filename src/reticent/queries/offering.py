"""What providers and people read of a kind of release that a gateway offers.

Not here  what is drawn (public_terms.py), pages and routes (console/).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from reticent.queries.base import Query


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
