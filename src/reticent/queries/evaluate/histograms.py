"""What is tried with histograms: how a budget is shared, and how well one item can be told.

Theory    docs/theory/item-attack.md, Theorem 1 (law of the best test)
Not here  the errors (tasks/comparing_histogram.py), the best test (tasks/item_attack.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from reticent.data.catalogue import Catalogue
from reticent.queries.base import Public
from reticent.queries.histogram import Histogram
from reticent.queries.profile_tables import read_catalogue_of
from reticent.queries.trials import Trial, points
from reticent.queries.worlds import World
from reticent.tasks.comparing import Curves
from reticent.tasks.comparing_histogram import alike_curves, histogram_curves
from reticent.tasks.item_attack import attack_item, most_exposed
from reticent.tasks.terms import HistogramTerms

USUAL = "0.01:10:log"
"""Budgets that are compared, besides the one that is granted."""


def sharing_curves(query: Histogram, tables: Mapping[str, Any], trial: Trial) -> Curves:
    """Errors by how the provider's budget is shared; without preferences all may lose the same."""
    given: dict[str, Any] = {"ways": trial.methods, "progress": trial.progress}
    usual = trial.at or points(USUAL, "epsilon")
    if "preferences" not in tables:
        made = [replace(query, epsilon=one).terms(Public(tables=tables)).made for one in usual]
        return alike_curves(tables["catalogue"], made, **given)
    plan = replace(query, epsilon=None).terms(Public(tables=tables)).made
    sizes = trial.at or sorted({*usual, plan.epsilon})
    found = histogram_curves(tables["catalogue"], plan, epsilons=sizes, **given)
    granted = f"the preferences grant epsilon {float(plan.epsilon):g}"
    return replace(found, notes=(*found.notes, granted))


def exposed_world(query: Histogram, catalogue: Catalogue) -> World:
    """The item of a catalogue that loses most, there or not."""
    (item,) = most_exposed(_terms(query, catalogue))
    you = query.person or "you"
    shown = {"catalogue": catalogue, "people": [you]}
    first, second = (
        {"profiles": {"person": [you] * len(items), "item": items}, **shown}
        for items in ([item], [])
    )
    return World(f"item {item}", first, second)


def best_guess(query: Histogram, world: World) -> float:
    """The accuracy of the best test about the one item that differs, to many digits."""
    catalogue = world.first["catalogue"]
    if not isinstance(catalogue, Catalogue):
        catalogue = read_catalogue_of("catalogue", catalogue)
    item = world.first["profiles"]["item"][0]
    return attack_item(_terms(query, catalogue), item, weight=world.weight).best.guess


def _terms(query: Histogram, catalogue: Catalogue) -> HistogramTerms:
    """The plan, as attacks on items take it."""
    return HistogramTerms(query.terms(Public(tables={"catalogue": catalogue})).made)
