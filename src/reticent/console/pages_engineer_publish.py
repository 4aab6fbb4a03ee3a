"""Publishing a provider's terms: what would change for people first, then the change.

Not here  how the amounts were found (pages_engineer_plan.py), what terms are (gateway/offers.py).
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse

from reticent.amounts import nano_up, show_nano
from reticent.console.pages_engineer_amounts import three_digits
from reticent.console.pages_engineer_plan import offer_of, plan_of, stand_of
from reticent.console.problems import Problem
from reticent.console.views import page
from reticent.console.visitors import engineer_of, form_of
from reticent.gateway.credentials import digest
from reticent.gateway.directory import providers, set_provider
from reticent.gateway.offers import Asks, Offer, read_asks, write_asks
from reticent.guarantees import canonical
from reticent.guarantees.card import right_at_most
from reticent.queries.histogram import Histogram

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reticent.gateway import Gateway
    from reticent.ledger import Connection
    from reticent.mechanisms.multilevel_plan import HistogramPlan

router = APIRouter(include_in_schema=False)
_TOTAL = 2 * 10**9  # nano: an example, to say how long a total lasts


@router.get("/engineer/plan/publish")
def ask_first(request: Request) -> Response:
    """What would change for people; nothing does yet."""
    engineer_of(request)
    fields = dict(request.query_params)
    return _confirm(request, fields, "")


@router.post("/engineer/plan/publish")
async def publish(request: Request) -> Response:
    """Keep new terms, and say so, in one transaction."""
    engineer_of(request)
    return await run_in_threadpool(_publish, request, await form_of(request))


def _publish(request: Request, fields: Mapping[str, str]) -> Response:
    gateway: Gateway = request.app.state.gateway
    name = fields.get("provider", "")
    stand = stand_of(gateway, fields, name)
    ask = stand.sliders.ask
    if ask is None or offer_of(gateway, name, ask) is None:
        raise Problem(422, "these amounts cannot be asked for")
    after = {**stand.asks, ask.kind: ask}

    def work(connection: Connection) -> bool:
        now = read_asks(dict(providers(connection)).get(name, {}))
        if _seen(now) != fields.get("seen"):
            return False
        set_provider(connection, name, write_asks(after))
        gateway.changed(connection)
        return True

    if not gateway.write(work):
        return _confirm(request, fields, "Somebody published other terms meanwhile. Look again.")
    target = urlencode({"provider": name, "done": "published"})
    return RedirectResponse(f"/engineer/plan?{target}", status_code=303)


def _confirm(request: Request, fields: Mapping[str, str], notice: str) -> Response:
    gateway: Gateway = request.app.state.gateway
    name = fields.get("provider", "")
    stand = stand_of(gateway, fields, name)
    ask = stand.sliders.ask
    offer = None if ask is None else offer_of(gateway, name, ask)
    if ask is None or offer is None:
        raise Problem(422, "these amounts cannot be asked for")
    before = gateway.world().offers.get(name, {}).get(Histogram.kind)
    return page(
        request,
        "engineer_publish.html",
        sliders=stand.sliders,
        seen=_seen(stand.asks),
        same=before is not None and before.id == offer.id,
        notice=notice,
        before=None if before is None else _told(before),
        after=_told(offer),
        rows=_changes(None if before is None else plan_of(before), plan_of(offer)),
    )


def _told(offer: Offer) -> dict[str, Any]:
    loss = plan_of(offer).mechanism.guarantee().overall
    return {
        "nano": loss,
        "loss": three_digits(loss),
        "odds": right_at_most(loss),
        "lasts": _TOTAL // loss,
    }


def _changes(before: HistogramPlan | None, after: HistogramPlan) -> list[tuple[str, str, str]]:
    """Attributes whose amount changes: name, before, after."""
    old = {} if before is None else dict(zip(before.attributes, before.budgets, strict=True))
    new = dict(zip(after.attributes, after.budgets, strict=True))
    names = dict.fromkeys([*new, *old])
    rows = [(name, _asked(old.get(name)), _asked(new.get(name))) for name in names]
    return [row for row in rows if row[1] != row[2]]


def _asked(amount: Fraction | None) -> str:
    return "not asked for" if amount is None else f"ε {show_nano(nano_up(amount))}"


def _seen(asks: Asks) -> str:
    """A mark of what was asked for when somebody looked."""
    return digest(canonical(write_asks(asks)))
