"""Registry entries: of the registry's form once they are filled in, and nothing guessed."""

import copy
import json
from datetime import date
from typing import Any

import jsonschema
import pytest
import yaml

from reticent.data.catalogue import Catalogue
from reticent.errors import CardError
from reticent.exports.registry import Entry, registry_entry
from reticent.guarantees import MutualInformation, Unprotected
from reticent.guarantees.card import Budget, Card, Scope
from reticent.mechanisms import DiscreteLaplace, Exposure, InnerProduct, MultiLevel, Stretching
from reticent.mechanisms.modular import WeightedProfile
from reticent.noise import Source

SCOPE = Scope(protected="each person", not_against=("the holder of the data",), model="central")
FILMS = Catalogue.of([[1, 1], [0, 1]], attributes=("Crime", "Drama"))
TEXT, TEXTS = {"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}


def part(required: str = "", **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": required.split(),
        "properties": properties,
    }


def one_of(*values: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(values)}


# Fields, types and choices of schemas/deployments-schema.yaml, read off by hand.
FORM = part(
    "url_slug deployment",
    url_slug=TEXT,
    deployment=part(
        "basic administrative",
        basic=part(
            "name data_curators description intended_use data_product_type data_product_region "
            "publication_date",
            name=TEXT,
            data_curators={
                "type": "array",
                "minItems": 1,
                "items": part(
                    "data_curator_name data_curator_type",
                    data_curator_name=TEXT,
                    data_curator_type=one_of("Government", "Industry", "Nonprofit"),
                ),
            },
            description=TEXT,
            intended_use=TEXT,
            data_product_type=one_of(
                *("Summary statistics", "Machine learning model", "Dataset", "Synthetic data"),
                *("Interactive API", "SQL queries"),
            ),
            data_product_region=TEXT,
            data_product_sector=one_of(
                "Technology", "Healthcare", "Education", "Government", "Energy", "Finance"
            ),
            publication_date={"type": "string", "format": "date"},
        ),
        dp_variant=part(
            variant_name=one_of(
                "Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom"
            ),
            data_domain=TEXT,
            unprotected_quantities=TEXT,
        ),
        privacy_loss=part(
            privacy_unit=TEXT,
            privacy_unit_details=TEXT,
            number_of_privacy_units={"type": "integer"},
            privacy_parameters=part(
                epsilon={"type": "number"},
                delta={"type": ["number", "string"]},
                rho={"type": "number"},
            ),
            privacy_parameters_details={},
        ),
        deployment_model=part(
            model_name=one_of("Local", "Central", "Shuffle", "Federated", "Varies"),
            model_name_details=TEXT,
            trust_assumptions=TEXT,
            actors={},
            release_type=one_of("One release", "Many releases"),
            release_type_details=TEXT,
            data_source_type=one_of("Static", "Dynamic"),
            data_source_type_details=TEXT,
            access_type=one_of("Interactive", "Non-interactive"),
            access_type_details=TEXT,
        ),
        implementation=part(
            preprocessing_and_hyperparameter_tuning=TEXT,
            mechanisms=TEXT,
            composition=TEXT,
            post_processing=TEXT,
            justification=TEXT,
            utility={},
            additional_information={},
        ),
        administrative=part(
            "status registry_authors tier",
            evidence_sources={"type": "object"},
            status=one_of(
                *("Converted", "Draft", "Pending", "Changes Required", "Approved"),
                *("Approved (Update Requested)", "Approved (Pending)"),
            ),
            registry_authors=TEXTS,
            tier={"type": "integer", "enum": [1, 2, 3]},
        ),
    ),
)


def card(mechanism=None, data=(1, 2, 3), source=None, **more) -> Card:
    mechanism = mechanism or DiscreteLaplace(epsilon=0.5, size=3)
    release = mechanism.release(list(data), source or Source.system())
    made = {"made": date(2026, 11, 16), "scope": SCOPE, **more}
    return release.card('Visits: "town"', **made)


def filled(entry: Entry) -> dict[str, Any]:
    """The entry as somebody would fill it in, by what the list of wants says belongs there."""
    fields = copy.deepcopy(json.loads(json.dumps(entry.fields)))
    for want in entry.wanted:
        *path, last = [int(p) if p.isdigit() else p for p in want.path.split(".")]
        node = fields
        for step in path:
            node = node[step]
        assert node[last] is None, want.path
        choices = want.what.split(" or ")[0].split(", ")[0]
        node[last] = 100 if last == "number_of_privacy_units" else choices
    return fields


def nulls(node: Any) -> int:
    if isinstance(node, dict):
        return sum(map(nulls, node.values()))
    if isinstance(node, list):
        return sum(map(nulls, node))
    return node is None


MECHANISMS = [
    (DiscreteLaplace(epsilon=0.5, size=3), (1, 2, 3)),
    (MultiLevel(exposure=Exposure.of(FILMS), rates=(0.1, 0.3), catalogue=FILMS), (1, 0)),
    (
        Stretching(epsilon=1, function=InnerProduct()),
        [WeightedProfile.of([1], [1]), WeightedProfile.of([1], [0.5])],
    ),
]


@pytest.mark.parametrize(
    ("mechanism", "data"), MECHANISMS, ids=lambda held: getattr(held, "name", "")
)
def test_a_filled_entry_has_the_form_of_the_registry(mechanism, data) -> None:
    entry = registry_entry(card(mechanism, data))
    check = jsonschema.Draft7Validator(FORM)
    assert list(check.iter_errors(filled(entry))) == []
    assert list(check.iter_errors(dict(entry.fields)))  # as it is, it cannot be taken for finished


@pytest.mark.parametrize(
    ("mechanism", "data"), MECHANISMS, ids=lambda held: getattr(held, "name", "")
)
def test_every_gap_is_listed_and_nothing_else(mechanism, data) -> None:
    entry = registry_entry(card(mechanism, data))
    assert nulls(entry.fields) == len(entry.wanted)
    assert nulls(filled(entry)) == 0


def test_what_the_card_knows_is_there() -> None:
    made = card(budget=Budget(spent="0.5", limit="2"))
    deployment = registry_entry(made).fields["deployment"]
    assert deployment["basic"]["name"] == 'Visits: "town"'
    assert deployment["basic"]["publication_date"] == "2026-11-16"
    assert deployment["privacy_loss"]["privacy_parameters"] == {"epsilon": 0.5}
    assert deployment["privacy_loss"]["privacy_unit"] == "One record"
    assert deployment["deployment_model"]["model_name"] == "Central"
    assert "epsilon 0.5 so far, with a limit of 2" in deployment["implementation"]["composition"]
    assert made.id in deployment["implementation"]["additional_information"]


def test_losses_that_differ_are_told() -> None:
    told = registry_entry(card(*MECHANISMS[1])).fields["deployment"]["privacy_loss"]
    assert told["privacy_parameters"] == {"epsilon": 0.4}
    assert "Crime 0.1, Drama 0.3" in told["privacy_parameters_details"]
    assert "not everything about the person" in told["privacy_unit"]
    weighed = registry_entry(card(*MECHANISMS[2])).fields["deployment"]["privacy_loss"]
    assert "in proportion to the weight" in weighed["privacy_parameters_details"]


def test_a_seeded_release_has_no_entry() -> None:
    with pytest.raises(CardError, match="seeded"):
        registry_entry(card(source=Source.seeded(1)))


@pytest.mark.parametrize(
    ("loss", "says"),
    [
        (MutualInformation(0.1, 0.2, "income", "a prior"), "bits on average"),
        (Unprotected("somebody"), "promises nothing"),
    ],
)
def test_what_is_no_differential_privacy_has_no_entry(monkeypatch, loss, says) -> None:
    made = card()
    event = made.release_event()
    object.__setattr__(event, "loss", loss)
    monkeypatch.setattr(Card, "release_event", lambda self: event)
    with pytest.raises(CardError, match=says):
        registry_entry(made)


def test_the_yaml_says_the_same() -> None:
    entry = registry_entry(card(*MECHANISMS[1]))
    assert yaml.safe_load(entry.to_yaml()) == json.loads(json.dumps(entry.fields))


def test_the_yaml_is_readable_line_by_line() -> None:
    lines = registry_entry(card()).to_yaml().splitlines()
    assert "url_slug: null" in lines
    assert '    name: "Visits: \\"town\\""' in lines
    assert "      - data_curator_name: null" in lines
    assert sum(line.startswith("#   ") for line in lines) == len(registry_entry(card()).wanted)
    assert all("\t" not in line for line in lines)


def test_small_amounts_are_numbers_in_yaml() -> None:
    made = card(DiscreteLaplace(epsilon=0.00001, size=1), (1,))
    assert "      epsilon: 0.00001" in registry_entry(made).to_yaml().splitlines()


def test_letters_that_yaml_does_not_hold_are_escaped() -> None:
    fields = {"name": "a\x7fb\x85c\u2028d\ufeffe 😀"}
    assert yaml.safe_load(Entry(fields, ()).to_yaml()) == fields
