"""The engineer's pages: who asks for what, and the way to planning, attacking and the ledger.

Not here  planning and publishing (pages_engineer_plan.py, pages_engineer_publish.py), attacks
          (pages_engineer_attack.py), the ledger and tokens (pages_engineer_ledger.py).

Nothing here names a person; sums and counts are for who runs the gateway, see docs/gateway.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request, Response

from reticent.amounts import show_up
from reticent.console import (
    pages_engineer_attack,
    pages_engineer_ledger,
    pages_engineer_plan,
    pages_engineer_publish,
)
from reticent.console.views import page
from reticent.console.visitors import engineer_of
from reticent.gateway.credentials import tokens
from reticent.gateway.drawing import OWN
from reticent.queries.histogram import Histogram

if TYPE_CHECKING:
    from reticent.gateway import Gateway
    from reticent.gateway.offers import Offer
    from reticent.ledger import Connection

router = APIRouter(include_in_schema=False)
for _pages in (
    pages_engineer_plan,
    pages_engineer_publish,
    pages_engineer_attack,
    pages_engineer_ledger,
):
    router.include_router(_pages.router)


@router.get("/engineer")
def overview(request: Request) -> Response:
    """Providers and what each asks for, in public."""
    engineer_of(request)
    gateway: Gateway = request.app.state.gateway
    world = gateway.world()
    answered, live = gateway.read(_answered), gateway.read(tokens)
    told = [
        {
            "name": name,
            "offers": [_offer(offers[kind]) for kind in sorted(offers)],
            "planned": Histogram.kind in offers,
            "releases": answered.get(name, 0),
            "tokens": sum(one.provider == name and not one.revoked for one in live),
        }
        for name, offers in sorted(world.offers.items())
    ]
    return page(
        request,
        "engineer_overview.html",
        providers=told,
        people=gateway.read(_people),
        items=len(world.catalogue),
        attributes=len(world.catalogue.attributes),
        releases=sum(answered.values()),  # not what the gateway drew for itself, to repeat it
    )


def _offer(offer: Offer) -> dict[str, Any]:
    """What is public of one kind of release."""
    promise = offer.card.promise
    return {
        "title": offer.offering.title,
        "epsilon": promise.epsilon,
        "bits": None if promise.bits is None else show_up(promise.bits, 3),
        "odds": offer.card.words.odds,
        "error": offer.card.words.error,
        "terms": offer.id,
    }


def _people(connection: Connection) -> int:
    return int(connection.execute("SELECT count(*) FROM gateway_person").fetchone()[0])


def _answered(connection: Connection) -> dict[str, int]:
    """How many releases each provider was given."""
    rows = connection.execute(
        "SELECT principal, count(*) FROM spend WHERE principal <> ? GROUP BY principal", (OWN,)
    ).fetchall()
    return {row[0]: int(row[1]) for row in rows}
