"""The attacker's view of a provider's terms: what the best test finds, before and after noise.

Theory    docs/theory/item-attack.md, Theorem 2 (a curve that none is above), Theorem 3 (alarm)
Not here  the attack (tasks/item_attack.py), the picture (charts.py).

Profiles are made up and the noise is drawn from a seeded source: no real profile is read here, and
nothing on this page is a release.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from fastapi import APIRouter, Request, Response

from reticent.amounts import nano_down, nano_up, show_up
from reticent.console.charts import Line, legend_mark, roc_chart
from reticent.console.pages_engineer_amounts import three_digits
from reticent.console.pages_engineer_plan import terms_of
from reticent.console.problems import Problem
from reticent.console.views import page
from reticent.console.visitors import engineer_of
from reticent.errors import ParameterError
from reticent.guarantees.card import right_at_most
from reticent.noise import Source
from reticent.queries.histogram import Histogram
from reticent.rational import budget
from reticent.tasks.item_attack import (
    MOST_RELEASES,
    Curve,
    ItemAttack,
    Run,
    attack_item,
    most_exposed,
)
from reticent.tasks.terms import HistogramTerms

if TYPE_CHECKING:
    from reticent.gateway import Gateway
    from reticent.gateway.offers import Offer

LOG = logging.getLogger("reticent.gateway")
router = APIRouter(include_in_schema=False)
WEIGHTS = {"1": Fraction(1), "half": Fraction(1, 2), "0": Fraction(0)}
_WORDS = {"1": "1", "half": "½", "0": "0"}
_RELEASES = ("1", "10", "total")
_TOTAL = "2"
_SUGGESTED = 100
_SEED = 20160  # any: the simulation is to be the same each time
_FALSE = (0.01, 0.05, 0.1, 0.25, 0.5)
_SHOWN = np.linspace(0, 1, 101) ** 2  # denser where false alarms are few


@dataclass(frozen=True, slots=True)
class Asked:
    """One attack; the terms follow from their id."""

    offer: str
    item: str
    weight: Fraction
    releases: int
    terms: HistogramTerms = field(compare=False)


@dataclass(frozen=True, slots=True, eq=False)
class Attacked:
    """An attack that was computed and simulated."""

    attack: ItemAttack
    run: Run
    alarms: tuple[str, ...]


@router.get("/engineer/attack")
def attack(request: Request) -> Response:
    """One provider, one item, one weight, some releases."""
    engineer_of(request)
    gateway: Gateway = request.app.state.gateway
    offers = {
        name: own[Histogram.kind]
        for name, own in sorted(gateway.world().offers.items())
        if Histogram.kind in own
    }
    if not offers:
        return page(request, "engineer_attack_nobody.html")
    fields = dict(request.query_params)
    name = fields.get("provider", next(iter(offers)))
    if name not in offers:
        raise Problem(404)
    return page(
        request,
        "engineer_attack.html",
        known=list(offers),
        provider=name,
        legend_mark=legend_mark,
        **_view(offers[name], fields),
    )


def _view(offer: Offer, fields: Mapping[str, str]) -> dict[str, Any]:
    terms = terms_of(offer)
    catalogue = terms.plan.mechanism.catalogue
    assert catalogue is not None  # noqa: S101, HistogramTerms requires one
    suggested = most_exposed(terms, _SUGGESTED)
    wanted = fields.get("item", "").strip()
    item, unknown = _item(wanted, catalogue.places, suggested[0])
    weight = fields.get("weight", "1") if fields.get("weight") in WEIGHTS else "1"
    total, wrong = _total(fields.get("total", _TOTAL))
    cost = terms.plan.mechanism.guarantee().overall
    fits = nano_down(total) // cost
    until = min(max(fits, 1), MOST_RELEASES)
    chosen = fields.get("releases", "1") if fields.get("releases") in _RELEASES else "1"
    releases = until if chosen == "total" else int(chosen)
    asked = Asked(offer.id, item, WEIGHTS[weight], releases, terms)
    found = _attacked(asked)
    return {
        "item": item,
        "unknown": unknown,
        "suggested": suggested,
        "weight": weight,
        "weight_words": _WORDS,
        "chosen": chosen,
        "releases": releases,
        "total": _TOTAL if wrong else fields.get("total", _TOTAL),
        "wrong_total": wrong,
        "fits": fits,
        "capped": fits > MOST_RELEASES,
        "most": MOST_RELEASES,
        "found": found,
        "loss": three_digits(nano_up(found.attack.loss)),
        "guessed": _up(100 * found.attack.best.guess),
        "odds": right_at_most(nano_up(found.attack.loss)),
        "chart": _chart(found),
        "lines": _lines(found),
        "false_alarms": [f"{round(100 * rate)}" for rate in _FALSE],
        "table": _table(found),
        "weights": _weights(asked),
        "repeated": _repeated(asked, until),
    }


@lru_cache(maxsize=512)
def _exact(asked: Asked) -> ItemAttack:
    return attack_item(asked.terms, asked.item, weight=asked.weight, releases=asked.releases)


@lru_cache(maxsize=512)
def _attacked(asked: Asked) -> Attacked:
    made = _exact(asked)
    run = made.run(Source.seeded(_SEED))
    alarms = made.alarms(run)
    if alarms:
        LOG.error(
            "the attacker's view failed: terms %s, weight %s, %d releases: %s",
            asked.offer,
            asked.weight,
            asked.releases,
            "; ".join(alarms),
        )
    return Attacked(made, run, alarms)


def _item(wanted: str, places: Mapping[str, int], usual: str) -> tuple[str, str]:
    """The item that is meant, and what was not understood."""
    if not wanted or wanted in places:
        return wanted or usual, ""
    alike = [name for name in places if name.casefold() == wanted.casefold()]
    return (alike[0], "") if alike else (usual, wanted)


def _total(text: str) -> tuple[Fraction, bool]:
    try:
        return budget(text.strip(), "total"), False
    except ParameterError:
        return Fraction(_TOTAL), True


def _lines(found: Attacked) -> list[Line]:
    made, run = found.attack, found.run
    times = "one release" if made.releases == 1 else f"{made.releases} releases"
    raw = ([0.0, 0.0, 1.0], [0.0, 1.0, 1.0]) if made.certain else ([0.0, 1.0], [0.0, 1.0])
    ceiling = made.ceiling
    return [
        Line("coin", "a coin: nothing is learnt", [0, 1], [0, 1]),
        Line("raw", f"without noise: AUC {1.0 if made.certain else 0.5:g}", *raw),
        Line(
            "ceiling",
            f"promised ceiling of {times}: area {_up(ceiling.area)}",
            ceiling.false_rates.tolist(),
            ceiling.true_rates.tolist(),
        ),
        Line("best", f"best possible test of {times}: AUC {made.best.area:.3f}", *_thin(made.best)),
        Line("run", f"the same test, simulated: AUC {_interval(run)}", *_thin(run.curve)),
    ]


def _thin(curve: Curve) -> tuple[list[float], list[float]]:
    start = float(curve.true_rates[curve.false_rates == 0].max())
    return [0.0, *_SHOWN.tolist()], [0.0, start, *curve.at(_SHOWN[1:]).tolist()]


def _chart(found: Attacked) -> Any:
    made, run = found.attack, found.run
    before = "for certain" if made.certain else "not at all, as it moves nothing"
    says = (
        f"Without noise {made.item} is found {before}. On the terms the best test has AUC "
        f"{made.best.area:.3f}, simulated {_interval(run)}; "
    )
    says += "ALARM: above what is possible." if found.alarms else "below the promised ceiling."
    return roc_chart(_lines(found), says=says)


def _table(found: Attacked) -> list[tuple[str, list[str]]]:
    """Findings in 100 at some rates of false alarms, and areas."""
    made, run, rates = found.attack, found.run, np.array(_FALSE)
    raw = ["100"] * len(_FALSE) if made.certain else [f"{100 * rate:.3g}" for rate in _FALSE]
    best, seen, most = made.best, run.curve, made.ceiling
    return [
        ("Without noise", [*raw, "1" if made.certain else "0.5"]),
        ("Promised ceiling", [*(_tenths(100 * t) for t in most.at(rates)), _up(most.area)]),
        ("Best possible test", [*(f"{100 * t:.1f}" for t in best.at(rates)), f"{best.area:.3f}"]),
        ("Simulated", [*(f"{100 * t:.1f}" for t in seen.at(rates)), _interval(run)]),
    ]


def _weights(asked: Asked) -> list[tuple[str, str, str, str, str]]:
    """What each weight loses, promises and comes to; computed, not simulated."""
    return [
        (word, *_numbers(replace(asked, weight=WEIGHTS[name]))) for name, word in _WORDS.items()
    ]


def _repeated(asked: Asked, until: int) -> list[tuple[str, str, str, str, str]]:
    """The same for releases that are put together."""
    counts = {1: "1", 10: "10", until: f"{until}, then the total is used up"}
    counts.setdefault(100, "100, if there were no total")
    return [(counts[count], *_numbers(replace(asked, releases=count))) for count in sorted(counts)]


def _numbers(asked: Asked) -> tuple[str, str, str, str]:
    made = _exact(asked)
    nano, best = nano_up(made.loss), made.best
    return three_digits(nano), right_at_most(nano), _up(100 * best.guess), f"{best.area:.3f}"


def _interval(run: Run) -> str:
    return f"{run.area:.3f} ({run.low:.3f} to {run.high:.3f})"


def _tenths(value: float) -> str:
    """A bound, to as many digits as what is below it, and never too small."""
    return f"{math.ceil(10 * float(value) * (1 - 1e-12)) / 10:.1f}"


def _up(value: float) -> str:
    """A bound, to three digits and never too small."""
    return show_up(float(value) * (1 - 1e-12), 3)
