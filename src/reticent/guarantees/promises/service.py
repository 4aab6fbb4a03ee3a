"""Promises of the HTTP service: to a provider, on public terms.

Theory    docs/theory/terms.md
Not here  what a provider asks for (gateway/asks.py), the same kinds without it (profiles.py).
"""

from __future__ import annotations

from typing import Final

from reticent.guarantees.card import Scope
from reticent.guarantees.promises.caveats import HISTOGRAM, PROFILE, similarity_caveats
from reticent.guarantees.promises.profiles import provider_first
from reticent.guarantees.promises.stated import LEAK, states

GATEWAY: Final = "whoever runs the gateway: it holds profiles and preferences and is trusted"
QUIET: Final = (
    "what a person allows: only how far their data counts, which the noise covers in each number "
    "but not in the mean of many"
)
_NEVER_MORE: Final = "it is less than the promise says, and never more"


@states("item")
def service_histogram(provider: str) -> Scope:
    """One person's histogram."""
    return Scope(
        protected="the person, for every item of their profile; by weight, and by what they "
        f"allow, {_NEVER_MORE}",
        observer=provider_first(provider),
        not_against=(GATEWAY, QUIET, *HISTOGRAM),
        model="central",
    )


@states("item")
def service_similarity(provider: str, *, norms: str) -> Scope:
    """A comparison of two people; ``norms`` is how sizes of profiles enter."""
    return Scope(
        protected="both people, each for every item of their profile; by weight, and by what "
        f"they allow, {_NEVER_MORE}",
        observer=provider_first(provider),
        not_against=(GATEWAY, QUIET, *similarity_caveats(norms)),
        model="central",
    )


@states(LEAK)
def service_profile(provider: str) -> Scope:
    """One person's profile: a promise on average, so about who knows the law of it."""
    return Scope(
        protected="the person, for what must not be inferred, on average over people",
        observer=f"anyone who sees one release, {provider} first, and knows the mapping and its "
        "law",
        not_against=(GATEWAY, *PROFILE),
        model="central",
    )
