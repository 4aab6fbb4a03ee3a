"""Histograms from Arrow batches: what a batch holds, what leaves, and what nobody can change."""

import pickle
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reticent.amounts import nano_up
from reticent.data.catalogue import Catalogue
from reticent.errors import ParameterError
from reticent.noise import Source
from reticent.preferences import Preferences
from reticent.tasks.histogram_arrow import OWN, HistogramBatches
from reticent.tasks.histogram_batches import Histograms
from reticent.testing.sources import RecordingSource

FILMS = Catalogue.of(
    [[1, 1, 0], [0, 1, 0], [0, 1, 1], [0, 0, 0.5]],
    attributes=("Crime", "Drama", "War"),
    items=("Heat", "Up", "Glory", "Ran"),
)
PREFERENCES = """
version = 1
[items]
{items}
[attributes]
default = 0.5
War = {war}
[providers."filmclub.example"]
epsilon = 0.8
"""


def release(items: str = "", war: str = "0.2", **options) -> HistogramBatches:
    wishes = Preferences.parse(PREFERENCES.format(items=items, war=war))
    return HistogramBatches.of(FILMS, wishes, "filmclub.example", **options)


def numbers(batch) -> list[list[float]]:
    return [list(row.values())[1:] for row in batch.to_pylist()]


@pytest.fixture
def silent(monkeypatch) -> None:
    """No noise: what is released is the histogram itself."""

    def nothing(*, scale, size=None, source):
        return np.zeros(size or len(scale), dtype=np.int64)

    monkeypatch.setattr("reticent.noise.rows.discrete_laplace", nothing)


TABLE = pa.table(
    {
        "person": ["ann", "bob", "cid", "dot"],
        "items": [["Heat", "Heat", "Ran"], None, ["Nowhere"], ["Up", None, "Glory"]],
    }
)
COUNTS = [[1, 1, 0.5], [0, 0, 0], [0, 0, 0], [0, 2, 1]]


def test_batches_do_not_depend_on_where_they_are_cut(silent) -> None:
    for size in (1, 3, 4):
        batches = TABLE.to_batches(max_chunksize=size)
        drawn = [release().draw(batch, Source.system()) for batch in batches]
        assert [row for one in drawn for row in numbers(one.batch)] == COUNTS
        assert [name for one in drawn for name in one.batch.column(0).to_pylist()] == [
            *("ann", "bob", "cid", "dot")
        ]


def test_names_dictionaries_and_long_lists_are_read_alike(silent) -> None:
    (batch,) = TABLE.to_batches()
    listed = batch.column("items")
    coded = pa.array(listed.to_pylist(), pa.list_(pa.dictionary(pa.int32(), pa.string())))
    for items in (
        listed.cast(pa.large_list(pa.large_string())),
        coded,
        listed.cast(pa.list_(pa.string_view())),
    ):
        other = batch.set_column(1, "items", items)
        assert numbers(release().draw(other, Source.system()).batch) == COUNTS


def test_numbers_have_one_type_and_withheld_attributes_are_left_out() -> None:
    drawn = release(war='"withhold"').draw(TABLE.to_batches()[0], Source.system())
    assert drawn.batch.schema.names == ["person", "Crime", "Drama"]
    assert {drawn.batch.schema.field(name).type for name in ("Crime", "Drama")} == {pa.float64()}
    assert drawn.nano.tolist() == [drawn.nano[0]] * 4
    assert drawn.batch.schema.metadata[b"reticent.private"] == b"true"


def test_limits_of_their_own_narrow_and_never_widen(silent) -> None:
    batch = pa.record_batch(
        {
            "person": [1, 2, 3],
            "items": pa.array([["Heat", "Up"], ["Ran"], ["Heat"]]),
            "weights": pa.array([[0.5, 1.0], [0.0], [1.0]]),
            "epsilon": pa.array([0.3, None, 9.0]),
            "budgets": pa.array([[0.1, 0.2, 0.3]] * 3),
        }
    )
    drawn = release(items="default = 0.5", own=OWN).draw(batch, Source.system())
    assert drawn.nano.tolist() == [300_000_000, 800_000_000, 800_000_000]
    assert numbers(drawn.batch)[0] == [0.5, 1.0, 0], "an own weight above the preferences' counted"
    assert "scale" not in str(drawn.batch.schema.metadata)


def test_own_budgets_are_drawn_with_noise_of_their_own() -> None:
    """The scales that are drawn keep every person's own budgets, and the event covers them all."""
    batch = pa.record_batch(
        {
            "person": ["a", "b"],
            "items": [["Heat"], ["Up"]],
            "epsilon": [0.05, 9.0],
            "budgets": [[0.5, 0.01, 0.2], [9.0, 9.0, 9.0]],
        }
    )
    task, source = release(own=("epsilon", "budgets")), RecordingSource(seed=1)
    drawn = task.draw(batch, source)
    exposure = task.task.exposure
    scales = [call.arguments["scale"] for call in source.calls]
    for own, limits, nano in zip(
        scales, ((0.05, [0.5, 0.01, 0.2]), (0.8, [0.5, 0.5, 0.2])), drawn.nano, strict=True
    ):
        rates = tuple(1 / Fraction(float(scale)) for scale in np.ravel(own))
        overall, alone = exposure.overall(rates), exposure.alone(rates)
        assert nano_up(overall) <= nano == nano_up(limits[0])
        assert all(t <= Fraction(repr(b)) for t, b in zip(alone, limits[1], strict=True))
        assert overall * Fraction(102, 100) > Fraction(repr(limits[0]))  # the control
    loss = task.event(source).loss
    assert loss.overall == 800_000_000
    assert dict(loss.attributes.named) == {"Crime": 5 * 10**8, "Drama": 5 * 10**8, "War": 2 * 10**8}


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ({"items": [[0]]}, "'person'"),
        ({"person": [1]}, "'items'"),
        ({"person": [1.5], "items": [[0]]}, "whole numbers or of text"),
        ({"person": [1], "items": ["Heat"]}, "a column of lists"),
        ({"person": [1], "items": [[0]], "budgets": [[0.1]]}, "a list of 3 for each"),
        ({"person": [1], "items": [[0]], "epsilon": [-1.0]}, "positive"),
        ({"person": [1], "items": [[0]], "weights": [[0.5, 0.5]]}, "as long as items"),
    ],
)
def test_batches_of_another_form(columns, problem) -> None:
    own = tuple(name for name in OWN if name in columns)
    with pytest.raises(ParameterError, match=problem):
        release(own=own).draw(pa.record_batch(columns), Source.seeded(1))


def test_a_column_that_was_not_declared_changes_nothing(silent) -> None:
    batch = pa.record_batch({"person": ["a"], "items": [["Heat"]], "weights": [[0.0]]})
    assert numbers(release().draw(batch, Source.system()).batch) == [[1, 1, 0]]
    with pytest.raises(ParameterError, match="some of weights, epsilon, budgets"):
        release(own=("limits",))


@settings(deadline=None, max_examples=25)
@given(st.permutations(range(6)), st.integers(1, 6))
def test_a_seeded_persons_noise_is_theirs_alone(order, cut) -> None:
    table = pa.table({"person": [f"p{n}" for n in range(6)], "items": [["Heat"]] * 6})
    whole = release().draw(table.to_batches()[0], Source.seeded(9)).batch
    expected = {row["person"]: row for row in whole.to_pylist()}
    shuffled = table.take(list(order)).combine_chunks()
    for batch in shuffled.to_batches(max_chunksize=cut):
        for row in release().draw(batch, Source.seeded(9)).batch.to_pylist():
            assert row == expected[row["person"]]
    assert len({tuple(list(row.values())[1:]) for row in expected.values()}) > 1


def test_a_system_source_draws_anew_each_time() -> None:
    (batch,) = TABLE.to_batches()
    first, second = (numbers(release().draw(batch, Source.system()).batch) for _ in range(2))
    assert first != second


def test_what_travels_is_small_and_arrives_whole() -> None:
    sent = release(items="Heat = 0.5")
    packed = pickle.dumps(sent)
    assert len(packed) < 20_000
    arrived = pickle.loads(packed)
    assert arrived.fingerprint == sent.fingerprint
    (batch,) = TABLE.to_batches()
    assert arrived.draw(batch, Source.seeded(3)).batch == sent.draw(batch, Source.seeded(3)).batch


def test_the_fingerprint_tells_releases_apart() -> None:
    others = [
        release(),
        release(war="0.1"),
        release(items="Heat = 0.5"),
        release(items="Heat = 0.25"),
        release(goal="mae"),
        release(own=("epsilon",)),
        release(person="who"),
    ]
    assert len({one.fingerprint for one in others}) == len(others)


def test_alike_rows_have_exactly_the_noise_of_the_plan() -> None:
    task, source = release(), RecordingSource(seed=4)
    (batch,) = TABLE.to_batches()
    task.draw(batch, source)
    assert len(source.calls) == 4
    for call in source.calls:
        rates = tuple(1 / scale for scale in call.arguments["scale"])
        assert nano_up(task.task.exposure.overall(rates)) == task.event(source).loss.overall


def test_equal_to_the_arrays_behind_it(silent) -> None:
    task = Histograms(FILMS, weighted=True)
    plan = release().plan
    own = task.release_alike([0, 1, 3], [3, 0, 2], plan=plan, source=Source.system())
    batch = pa.record_batch({"person": ["a", "b"], "items": [["Ran"], ["Heat", "Glory"]]})
    assert numbers(release().draw(batch, Source.system()).batch) == own.values.tolist()
