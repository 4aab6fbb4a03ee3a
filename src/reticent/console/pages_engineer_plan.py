"""Planning a provider's histogram: sliders, expected errors, odds.

Not here  amounts of sliders (pages_engineer_amounts.py), people (pages_engineer_counts.py),
          publishing (pages_engineer_publish.py), the noise (mechanisms/multilevel_plan.py).

The state of a plan is its address. Nothing changes for anybody until terms are published.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request, Response

from reticent.amounts import nano_up, show_nano, show_up
from reticent.console.charts import Dot, dot_chart
from reticent.console.pages_engineer_amounts import (
    MOST,
    Sliders,
    read_sliders,
    three_digits,
)
from reticent.console.pages_engineer_counts import count_people
from reticent.console.problems import Problem
from reticent.console.views import page
from reticent.console.visitors import engineer_of
from reticent.errors import ParameterError
from reticent.gateway.directory import providers
from reticent.gateway.offers import Asks, Offer, offers_of, read_asks
from reticent.guarantees.card import right_at_most
from reticent.queries.histogram import Histogram
from reticent.queries.public_terms import AttributeTerms

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reticent.data.catalogue import Catalogue
    from reticent.gateway import Gateway
    from reticent.mechanisms.multilevel_plan import HistogramPlan
    from reticent.tasks.terms import HistogramTerms

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Stand:
    """What one provider asks for now, and where the sliders are."""

    asks: Asks
    sliders: Sliders


@router.get("/engineer/plan")
def plan(request: Request) -> Response:
    """The sliders and what follows from them."""
    engineer_of(request)
    gateway: Gateway = request.app.state.gateway
    known = [name for name, _ in gateway.read(providers)]
    if not known:
        return page(request, "engineer_plan_nobody.html")
    fields = dict(request.query_params)
    stand = stand_of(gateway, fields, fields.get("provider", known[0]))
    done = "The terms are published." if fields.get("done") == "published" else ""
    return page(
        request,
        "engineer_plan.html",
        known=known,
        sliders=stand.sliders,
        most=MOST,
        counting="count" in fields,
        live=False,
        done=done,
        **_result(gateway, stand, counting="count" in fields),
    )


@router.get("/engineer/plan/result")
def result(request: Request) -> Response:
    """What follows from the sliders, as a part of the page."""
    engineer_of(request)
    gateway: Gateway = request.app.state.gateway
    fields = dict(request.query_params)
    stand = stand_of(gateway, fields, fields.get("provider", ""))
    found = _result(gateway, stand, counting=False)
    counting = "count" in fields
    return page(
        request,
        "engineer_plan_result.html",
        sliders=stand.sliders,
        live=True,
        counting=counting,
        **found,
    )


def stand_of(gateway: Gateway, fields: Mapping[str, str], provider: str) -> Stand:
    """Sliders of a form or an address, for a provider that is here."""
    found = dict(gateway.read(providers))
    if provider not in found:
        raise Problem(404)
    catalogue = gateway.world().catalogue
    empty = set(catalogue.empty)
    names = tuple(name for name in catalogue.attributes if name not in empty)
    asks = read_asks(found[provider])
    own: Any = asks.get(Histogram.kind)
    return Stand(asks, read_sliders(provider, own, names, fields))


def offer_of(gateway: Gateway, provider: str, ask: Histogram) -> Offer | None:
    """What would be offered; None if no noise can do it."""
    try:
        return _made(gateway.world().catalogue, provider, ask)
    except ParameterError:
        return None


@lru_cache(maxsize=128)
def _made(catalogue: Catalogue, provider: str, ask: Histogram) -> Offer:
    return offers_of(provider, {ask.kind: ask}, catalogue, None)[ask.kind]


def terms_of(offer: Offer) -> HistogramTerms:
    """The mathematics of a histogram's terms."""
    assert isinstance(offer.terms, AttributeTerms)  # noqa: S101, of a histogram
    return offer.terms.maths


def plan_of(offer: Offer) -> HistogramPlan:
    """The plan of a histogram's terms."""
    return terms_of(offer).plan


def _result(gateway: Gateway, stand: Stand, *, counting: bool) -> dict[str, Any]:
    """All that the page says about the amounts."""
    ask = stand.sliders.ask
    offer = None if ask is None else offer_of(gateway, stand.sliders.provider, ask)
    if offer is None:
        return {"offer": None, "summary": "Nothing is asked for.", "people": None}
    made = plan_of(offer)
    loss = made.mechanism.guarantee()
    odds = right_at_most(loss.overall)
    rows = _rows(made, stand.sliders)
    counts = None
    if counting:
        counts = count_people(gateway, terms_of(offer), stand.sliders.provider)
    return {
        "offer": offer,
        "summary": f"All together: ε {three_digits(loss.overall)} — a suspicion of 50 % about one "
        f"item can grow to at most {odds} %.",
        "chart": _chart(rows),
        "rows": rows,
        "odds": odds,
        "loss": show_nano(loss.overall),
        "lost": made.nothing_lost,
        "threshold": three_digits(nano_up(made.threshold)),
        "advantage": f"{made.advantage:.3g}",
        "certified": made.certified,
        "same": ask == stand.asks.get(Histogram.kind) or _same(gateway, stand, offer),
        "people": counts,
    }


def _same(gateway: Gateway, stand: Stand, offer: Offer) -> bool:
    own = gateway.world().offers[stand.sliders.provider].get(Histogram.kind)
    return own is not None and own.id == offer.id


def _rows(made: HistogramPlan, sliders: Sliders) -> list[dict[str, Any]]:
    """One row per attribute of the catalogue, in its order; None where it is not asked for."""
    mechanism = made.mechanism
    alone = mechanism.guarantee().attributes
    numbers = zip(
        made.attributes,
        mechanism.mean_absolute_errors().tolist(),
        mechanism.within_95().tolist(),
        made.proportional.within_95().tolist(),
        strict=True,
    )
    found = {
        name: {
            "name": name,
            "mean": mean,
            "end": within,
            "error": show_up(within, 3),
            "alike": show_up(alike, 3),
            "spent": three_digits(alone[name]),
            "odds": right_at_most(alone[name]),
        }
        for name, mean, within, alike in numbers
    }
    return [found.get(one.name, {"name": one.name, "mean": None}) for one in sliders.attributes]


def _chart(rows: list[dict[str, Any]]) -> Any:
    shown = [row for row in rows if row["mean"] is not None]
    least, most = min(shown, key=_end), max(shown, key=_end)
    says = (
        f"Error to expect, 95 times in 100: from ±{least['error']} ({least['name']}) to "
        f"±{most['error']} ({most['name']}); {len(rows) - len(shown)} attributes not asked for."
    )
    dots = [
        Dot(row["name"], row["mean"], row["end"], f"±{row['error']}")
        if row["mean"] is not None
        else Dot(row["name"], None, None, "not asked for")
        for row in rows
    ]
    return dot_chart(dots, says=says)


def _end(row: dict[str, Any]) -> float:
    return float(row["end"])
