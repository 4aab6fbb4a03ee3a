"""A guarantee card as an entry of the public registry of differential privacy deployments.

Not here  the card itself (guarantees/card.py), measurements (exports/opendp.py).

The form is that of ``schemas/deployments-schema.yaml`` in the repository
``opendp/deployments-registry-data`` (commit 057e5d8, 2026), which follows arXiv 2509.13509.
The registry is about deployments and a card is about one release, so much of an entry is not on
any card. What is not known stays None and is listed with what belongs there; nothing is guessed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from reticent.amounts import show_nano
from reticent.errors import CardError
from reticent.guarantees import Event
from reticent.guarantees.card import PRIVATE, Card
from reticent.guarantees.losses import DPLoss, MutualInformation, Spread

SCHEMA = "opendp/deployments-registry-data, schemas/deployments-schema.yaml at 057e5d8"
NOTE = (
    "Made from a guarantee card, which is about one release. Fill in every null or delete its "
    "line where the tier is above yours, check the rest, and validate against the registry's own "
    "schema, which may have changed since."
)
_MOST = 12  # attributes that are named one by one
_UNSEEN = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")  # not in YAML


@dataclass(frozen=True, slots=True)
class Wanted:
    """A field that no card can fill: where it is, from which tier on it is asked for, and what."""

    path: str
    tier: int
    what: str


_WANTED = (
    Wanted("url_slug", 1, "lower-case name of the entry for its address: product-curator-year"),
    Wanted("deployment.basic.data_curators.0.data_curator_name", 1, "who publishes the release"),
    Wanted(
        "deployment.basic.data_curators.0.data_curator_type",
        1,
        "Government, Industry or Nonprofit",
    ),
    Wanted("deployment.basic.description", 1, "what was released, in a few sentences"),
    Wanted("deployment.basic.intended_use", 1, "what it is for"),
    Wanted("deployment.basic.data_product_region", 1, "which region it describes"),
    Wanted(
        "deployment.basic.data_product_sector",
        1,
        "Technology, Healthcare, Education, Government, Energy or Finance",
    ),
    Wanted("deployment.administrative.registry_authors.0", 1, "who fills in this entry"),
    Wanted("deployment.deployment_model.release_type", 2, "One release or Many releases"),
    Wanted("deployment.deployment_model.data_source_type", 2, "Static or Dynamic"),
    Wanted("deployment.deployment_model.access_type", 2, "Interactive or Non-interactive"),
    Wanted("deployment.dp_variant.data_domain", 3, "which data could have been in it"),
    Wanted("deployment.dp_variant.unprotected_quantities", 3, "what is released without noise"),
    Wanted("deployment.privacy_loss.number_of_privacy_units", 3, "how many units there are, about"),
    Wanted("deployment.deployment_model.actors", 3, "who may see the data or the release"),
    Wanted(
        "deployment.deployment_model.release_type_details",
        3,
        "plans for further releases, and when a budget renews",
    ),
    Wanted(
        "deployment.implementation.preprocessing_and_hyperparameter_tuning",
        3,
        "what was done with the data before, and whether it was accounted for",
    ),
    Wanted("deployment.implementation.post_processing", 3, "what was done with the numbers after"),
    Wanted("deployment.implementation.justification", 3, "why these choices were made"),
)
_PRODUCTS = {"tree": "Machine learning model"}
_UNITS = {
    "item": "One item of a person's profile, not everything about the person",
    "edge": "One link, not everything about a node",
    "record": "One record",
    "person": "One person, with all their records",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of the registry as plain data, and what is still to be filled in by hand."""

    fields: Mapping[str, Any]
    wanted: tuple[Wanted, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON: the entry, what it lacks, and where its form is from."""
        lacks = [{"path": w.path, "tier": w.tier, "what": w.what} for w in self.wanted]
        return {"form": SCHEMA, "note": NOTE, "to_fill_in": lacks, "entry": dict(self.fields)}

    def to_yaml(self) -> str:
        """The entry as YAML, the registry's own form, with what it lacks as comments on top."""
        head = [f"# {NOTE}", f"# Form: {SCHEMA}.", "# To fill in, by tier:"]
        head += [f"#   {w.tier}  {w.path}: {w.what}" for w in self.wanted]
        return "\n".join([*head, *_yaml(self.fields, 0)]) + "\n"


def registry_entry(card: Card) -> Entry:
    """The entry that a card gives; a card of no differential privacy gives none."""
    event = card.release_event()
    if not event.private:
        raise CardError("a seeded release promises nothing and has no place in a registry")
    if isinstance(event.loss, MutualInformation):
        raise CardError(
            "the registry is of differential privacy, and this card promises bits on average"
        )
    if not isinstance(event.loss, DPLoss):
        raise CardError("the registry is of differential privacy, and this card promises nothing")
    deployment = {
        "basic": _basic(card, event),
        "dp_variant": {
            "variant_name": "Pure DP",
            "data_domain": None,
            "unprotected_quantities": None,
        },
        "privacy_loss": _privacy_loss(card, event.loss),
        "deployment_model": _model(card),
        "implementation": _implementation(card, event),
        "administrative": {"status": "Draft", "registry_authors": [None], "tier": 2},
    }
    return Entry({"url_slug": None, "deployment": deployment}, _WANTED)


def _basic(card: Card, event: Event) -> dict[str, Any]:
    return {
        "name": card.title,
        "data_curators": [{"data_curator_name": None, "data_curator_type": None}],
        "description": None,
        "intended_use": None,
        "data_product_type": _PRODUCTS.get(event.mechanism, "Summary statistics"),
        "data_product_region": None,
        "data_product_sector": None,
        "publication_date": card.provenance.made,
    }


def _privacy_loss(card: Card, loss: DPLoss) -> dict[str, Any]:
    beyond = f" About {loss.unit.beyond}, twice the loss." if loss.unit.beyond else ""
    return {
        "privacy_unit": _UNITS[loss.unit.thing],
        "privacy_unit_details": f"Adjacent: {loss.unit}. It bounds what can be told about "
        f"{loss.unit.question}.{beyond}",
        "number_of_privacy_units": None,
        "privacy_parameters": {"epsilon": float(show_nano(loss.overall))},  # written as it is
        "privacy_parameters_details": _details(card, loss),
    }


def _details(card: Card, loss: DPLoss) -> str:
    told = [f"Epsilon {show_nano(loss.overall)} is the loss of the most exposed {loss.unit.thing}."]
    if loss.kind == "per-item-dp":
        told.append("An item loses in proportion to the weight its owner gave it, from 0 to 1.")
    if loss.attributes != Spread(loss.overall):
        named = [f"{name} {show_nano(nano)}" for name, nano in loss.attributes.named.items()]
        more = f" and {len(named) - _MOST} more" if len(named) > _MOST else ""
        told.append(f"Who sees one attribute alone: {', '.join(named[:_MOST])}{more}.")
    told.append(card.words.odds)
    return " ".join(told)


def _model(card: Card) -> dict[str, Any]:
    where = {
        "local": "Noise is added on the person's own device, before anything leaves.",
        "central": "Noise is added by whoever holds the data, before anything is published.",
    }
    trust = [
        f"Protected: {card.scope.protected}.",
        f"Against: {card.scope.observer}.",
        f"Not against: {'; '.join(card.scope.not_against)}.",
        f"Assumed: {'; '.join(card.evidence.assumptions)}." if card.evidence.assumptions else "",
    ]
    return {
        "model_name": card.scope.model.capitalize(),
        "model_name_details": where[card.scope.model],
        "trust_assumptions": " ".join(filter(None, trust)),
        "actors": None,
        "release_type": None,
        "release_type_details": None,
        "data_source_type": None,
        "access_type": None,
    }


def _implementation(card: Card, event: Event) -> dict[str, Any]:
    how, origin = card.how, card.provenance
    made = [
        f"Mechanism: {event.mechanism}, by {origin.version}.",
        f"Sensitivity: {how.sensitivity}.",
        f"Bounds: {how.bounds}.",
        f"Floating point: {how.floating_point}.",
        f"Randomness: {origin.randomness}.",
        f"Proved in {card.evidence.theorem}.",
    ]
    return {
        "preprocessing_and_hyperparameter_tuning": None,
        "mechanisms": " ".join(made),
        "composition": _composition(card),
        "post_processing": None,
        "justification": None,
        "utility": f"{card.utility.sentence}; bias: {card.utility.bias}",
        "additional_information": f"Guarantee card {card.id}.",
    }


def _composition(card: Card) -> str:
    budget = card.budget
    if budget is None:
        return "Made without a ledger: nothing bounds what further releases add."
    if budget.spent == PRIVATE:
        return "Losses add in a ledger for each person; what they spent and allow is theirs to see."
    limit = "no limit" if budget.limit == "none" else f"a limit of {budget.limit}"
    return f"{budget.rule}: epsilon {budget.spent} so far, with {limit}, renewed {budget.renews}."


def _yaml(node: Any, depth: int) -> Iterator[str]:
    """Mappings and lists as indented lines; texts in double quotes, as JSON writes them."""
    indent = "  " * depth
    if isinstance(node, Mapping):
        for key, value in node.items():
            if isinstance(value, (Mapping, list)):
                yield f"{indent}{key}:"
                yield from _yaml(value, depth + 1)
            else:
                yield f"{indent}{key}: {_scalar(value)}"
        return
    for value in node:
        if isinstance(value, Mapping):
            first, *rest = _yaml(value, depth + 1)
            yield f"{indent}- {first.strip()}"
            yield from rest
        else:
            yield f"{indent}- {_scalar(value)}"


def _scalar(value: Any) -> str:
    if isinstance(value, float):  # YAML reads 1e-05 as text
        return format(Decimal(repr(value)), "f")
    told = json.dumps(value, ensure_ascii=False)
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", told)
