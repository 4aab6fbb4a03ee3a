"""What a review of the histograms found, each as a test that failed before it was mended."""

import numpy as np
import pyarrow as arrow
import pytest

import reticent as rt
from reticent.data.catalogue import Catalogue
from reticent.errors import BudgetExceeded, ParameterError
from reticent.mechanisms.multilevel_plan import plan_histogram, plan_many
from reticent.noise import Source
from reticent.preferences import Preferences, PreferencesError
from reticent.tasks.histogram import plan_for
from reticent.tasks.histogram_arrow import OWN, HistogramBatches
from reticent.tasks.histogram_batches import Histograms

FILMS = Catalogue.of([[1, 1], [0, 1]], attributes=("Crime", "Drama"), items=("Heat", "Up"))
WISHES = """version = 1
[items]
{items}
[attributes]
default = 0.1
{attributes}
[providers.x]
epsilon = 0.4
{provider}
"""


def wishes(items: str = "", attributes: str = "", provider: str = "") -> Preferences:
    return Preferences.parse(WISHES.format(items=items, attributes=attributes, provider=provider))


def asked(items, preferences, *, source):
    table = {"profiles": {"person": ["a"] * len(items), "item": items}, "catalogue": FILMS}
    query = rt.Histogram(provider="x", person="a")
    return query.release(table, preferences=preferences, source=source)


def released(columns, *, preferences=None):
    own = tuple(name for name in OWN if name in columns)
    release = HistogramBatches.of(FILMS, preferences or wishes(), "x", own=own)
    return release.draw(arrow.record_batch(columns), Source.seeded(1)).batch


@pytest.mark.parametrize("budgets", [[[0.001], [5.0, 5.0, 0.001]], [None, [5.0, 5.0, 0.1, 0.1]]])
def test_budgets_of_one_person_never_move_to_another(budgets) -> None:
    with pytest.raises(ParameterError, match="a list of 2 for each person"):
        released({"person": ["a", "b"], "items": [["Heat"], ["Up"]], "budgets": budgets})


def test_one_release_never_exceeds_the_total() -> None:
    with pytest.raises(BudgetExceeded, match="total of x"):
        plan_for(FILMS, wishes(provider="total = 0.1"), "x")
    plan_for(FILMS, wishes(provider="total = 0.2"), "x")


def test_a_misspelt_item_is_an_error_and_not_a_full_weight() -> None:
    with pytest.raises(PreferencesError, match="Heet"):
        plan_for(FILMS, wishes(items="Heet = 0"), "x")


def test_numbers_moved_together_are_not_called_unbiased() -> None:
    plan, _ = plan_for(FILMS, wishes(), "x")
    from dataclasses import replace

    assert "moved together" not in plan.mechanism.utility().bias
    assert "moved together" in replace(plan.mechanism, together=True).utility().bias


def test_private_weights_are_not_called_public() -> None:
    source = Source.seeded(1)
    light, plain = (
        asked(["Heat"], wishes(items=items), source=source).card for items in ("Heat = 0.5", "")
    )
    assert not light.preferences.public
    assert not plain.preferences.public  # that there are none is private, too
    assert any("trusted" in line for line in plain.scope.not_against)
    assert light.evidence.theorem.endswith("Theorem 2")


def test_theorem_6_no_plan_is_worse_than_scaling_alike() -> None:
    hard = Catalogue.of([[1, 0.5, 0.002, 1, 1, 0.01]])
    budgets = {"0": 0.004, "1": 7.2e-5, "2": 0.003, "3": 0.018, "4": 120.0, "5": 9.4e-5}
    plan = plan_histogram(hard, epsilon=45, goal="mael", budgets=budgets)
    assert plan.advantage >= 1


def test_nobodys_noise_depends_on_what_others_choose() -> None:
    exposure = Histograms(Catalogue.of([[1, 3]])).exposure
    budgets, epsilon = np.array([[8.0, 8.0], [90.0, 90.0]]), np.array([9.0, 100.0])
    together = plan_many(exposure, budgets=budgets, epsilon=epsilon, goal="mae").scales
    alone = plan_many(exposure, budgets=budgets[:1], epsilon=epsilon[:1], goal="mae").scales
    assert np.array_equal(together[0], alone[0])


def test_batches_leave_withheld_attributes_out() -> None:
    batch = released(
        {"person": ["a"], "items": [["Heat"]]},
        preferences=wishes(attributes='Drama = "withhold"'),
    )
    assert batch.schema.names == ["person", "Crime"]


def test_items_of_any_whole_number_type_and_other_types() -> None:
    for kind in (arrow.uint8(), arrow.uint64(), arrow.int16()):
        items = arrow.array([[0, None, 200]], arrow.list_(kind))
        assert released({"person": ["a"], "items": items}).num_rows == 1
    with pytest.raises(ParameterError, match="lists of names"):
        released({"person": ["a"], "items": arrow.array([[b"\xff"]], arrow.list_(arrow.binary()))})


def test_a_batch_of_nobody() -> None:
    empty = {
        "person": arrow.array([], arrow.string()),
        "items": arrow.array([], arrow.list_(arrow.string())),
        "epsilon": arrow.array([], arrow.float64()),
    }
    assert released(empty).num_rows == 0


def test_what_is_no_name_is_no_item() -> None:
    odd = ["Heat", None, 3, 2.5]
    made = asked(odd, wishes(), source=Source.seeded(1))
    assert made.value == asked(["Heat"], wishes(), source=Source.seeded(1)).value


def test_a_noisy_comparison_does_not_forbid_a_plan() -> None:
    budgets = {"Crime": 1e5, "Drama": 1e-6}
    plan = plan_histogram(FILMS, budgets=budgets, epsilon=1e-3, weighted=True)
    assert plan.advantage >= 1
