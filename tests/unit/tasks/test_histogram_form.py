"""The form of a histogram tells nothing of weights: numbers, columns, plan and card are alike.

Two inputs that the promise says are indistinguishable, one with an item of weight 0 and one
without, get the same noise here and must give the same bytes on every path.
"""

import json

import numpy as np
import pytest

import reticent as rt
from reticent.data.catalogue import Catalogue
from reticent.errors import ParameterError
from reticent.guarantees import ITEM, ITEM_SUBSTITUTE
from reticent.mechanisms.multilevel_plan import plan_histogram
from reticent.noise import Source
from reticent.preferences import Preferences
from reticent.tasks.histogram import plan_for
from reticent.tasks.histogram_arrow import HistogramBatches
from reticent.tasks.histogram_batches import Histograms

pa = pytest.importorskip("pyarrow")

FILMS = Catalogue.of(
    [[1, 1], [0, 1], [1, 0]], attributes=("Crime", "Drama"), items=("Heat", "Up", "Secret")
)
HEAD = """
version = 1
attributes = {Drama = 0.5, Crime = 0.5}
providers = {"p" = {epsilon = 1}}
"""
WORLDS = ((["Heat"], HEAD), (["Heat", "Secret"], HEAD + "[items]\nSecret = 0\n"))


def asked(have: list[str], wishes: Preferences, source: Source) -> rt.Answer:
    table = {"profiles": {"person": ["ann"] * len(have), "item": have}, "catalogue": FILMS}
    query = rt.Histogram(provider="p", person="ann")
    return query.release(table, preferences=wishes, source=source)


def alone(have: list[str], text: str) -> str:
    made = asked(have, Preferences.parse(text), Source.seeded(5))
    return repr((made.value, made.card.to_json()))


def batch(have: list[str], text: str) -> str:
    people = pa.record_batch({"person": ["ann"], "items": [have]})
    job = HistogramBatches.of(FILMS, Preferences.parse(text), "p")
    drawn = job.draw(people, Source.seeded(5))
    event = job.event(Source.seeded(5)).to_json()
    return repr((drawn.batch.schema.to_string(), drawn.batch.to_pydict(), drawn.nano, event))


def arrays(have: list[str], text: str) -> str:
    wishes = Preferences.parse(text)
    plan, _ = plan_for(FILMS, wishes, "p")
    task = Histograms(FILMS, weighted=plan.mechanism.exposure.weighted)
    places = [FILMS.places[item] for item in have]
    weights = [float(weight) for weight in wishes.weights(have, provider="p")]
    made = task.release_alike(
        [0, len(places)], places, plan=plan, weights=weights, source=Source.seeded(5)
    )
    return repr((made.values.tolist(), made.scales.tolist()))


def as_it_was(have: list[str], text: str) -> str:
    """The control: steps are those of whole numbers unless somebody uses a weight."""
    wishes = Preferences.parse(text)
    weighted = wishes.weighted_for("p")
    plan = plan_histogram(
        FILMS, budgets={"Crime": "0.5", "Drama": "0.5"}, epsilon=1, weighted=weighted
    )
    task = Histograms(FILMS, weighted=weighted)
    places = [FILMS.places[item] for item in have]
    weights = [float(wishes.weight(item)) for item in have] if weighted else None
    made = task.release_alike(
        [0, len(places)], places, plan=plan, weights=weights, source=Source.seeded(5)
    )
    return repr(made.values.tolist())


@pytest.mark.parametrize("path", [alone, batch, arrays])
def test_an_item_of_weight_0_changes_no_byte(path) -> None:
    assert path(*WORLDS[0]) == path(*WORLDS[1])


def test_the_check_sees_the_form_as_it_was() -> None:
    assert as_it_was(*WORLDS[0]) != as_it_was(*WORLDS[1])


@pytest.mark.parametrize("items", ["", "[items]\nUp = 0.5\n", "[items]\ndefault = 0\n"])
def test_plan_and_card_speak_of_weights_whatever_they_are(items: str) -> None:
    """With the operating system's noise: the words alone."""
    wishes = Preferences.parse(HEAD + items)
    made = asked(["Heat"], wishes, Source.system())
    card = json.loads(made.card.to_json())
    assert card["scope"]["protected"].endswith("by its weight")
    assert card["preferences"]["public"] is False
    assert card["evidence"]["theorem"].endswith("Theorem 2")
    assert made.terms.mechanism == plan_for(FILMS, Preferences.parse(HEAD), "p")[0].mechanism


def test_all_paths_have_one_lattice() -> None:
    wishes = Preferences.parse(HEAD)
    gateway = plan_histogram(
        FILMS, budgets={"Crime": "0.5", "Drama": "0.5"}, epsilon=1, weighted=True
    )
    one, _ = plan_for(FILMS, wishes, "p")
    many = HistogramBatches.of(FILMS, wishes, "p").plan
    assert one.mechanism == many.mechanism == gateway.mechanism


def test_whole_items_are_counted_exactly_on_the_finer_lattice() -> None:
    plan, _ = plan_for(FILMS, Preferences.parse(HEAD), "p")
    units = plan.mechanism.histogram(np.array([1.0, 1.0, 0.0]))
    steps = [float(step) for step in plan.mechanism.exposure.steps]
    assert (units * steps).tolist() == [1.0, 2.0]


def test_replaced_items_have_no_weights() -> None:
    wishes, light = (Preferences.parse(text) for _, text in WORLDS)
    with pytest.raises(ParameterError, match="where items have weights"):
        plan_for(FILMS, light, "p", unit=ITEM_SUBSTITUTE)
    with pytest.raises(ParameterError, match="without weights"):
        HistogramBatches.of(FILMS, wishes, "p", unit=ITEM_SUBSTITUTE, own=("weights",))
    assert not plan_for(FILMS, wishes, "p", unit=ITEM_SUBSTITUTE)[0].mechanism.exposure.weighted
    assert HistogramBatches.of(FILMS, wishes, "p", unit=ITEM, own=("weights",)).task.weighted
