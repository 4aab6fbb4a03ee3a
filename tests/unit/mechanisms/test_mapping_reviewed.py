"""What a review of drawing through mappings found, each as a test that failed before."""

from decimal import Decimal

import numpy as np
import pytest

from reticent.errors import ParameterError
from reticent.mechanisms.mapping_rows import WHOLE, Rows
from reticent.noise import Source
from reticent.tasks.recoding_places import Coded, Places

FAIR = Rows.of(np.array([0, 2, 4]), np.array([0, 1, 0, 1]), np.full(4, WHOLE // 2))


@pytest.mark.parametrize("count", [10, 5000])
@pytest.mark.parametrize("wrong", [-1, 2, 10**6])
def test_a_number_that_is_no_profile_reads_no_memory(count, wrong) -> None:
    profiles = np.zeros(count, dtype=np.int64)
    profiles[-1] = wrong
    with pytest.raises(ParameterError, match="from 0 to 1") as error:
        FAIR.draw(profiles, np.zeros(count, dtype=np.uint64))
    assert str(10**6) not in str(error.value)


@pytest.mark.parametrize("count", [50, 5000])
def test_every_draw_needs_a_word_of_its_own(count) -> None:
    with pytest.raises(ParameterError, match="one for each profile"):
        FAIR.draw(np.zeros(count, dtype=np.int64), np.zeros(1, dtype=np.uint64))


def test_short_numbers_do_not_wrap() -> None:
    rows = Rows.of(np.arange(257), np.arange(256), np.full(256, WHOLE))
    assert rows.draw(np.array([255], dtype=np.uint8), np.zeros(1, np.uint64)).tolist() == [255]


def test_cells_that_cannot_be_compared_do_not_break_a_column() -> None:
    column = Coded.of([Decimal(1), np.int64(1), [1], "a", "a"])
    assert column.codes.tolist() == [0, 1, 2, 3, 3]
    profiles = np.empty((1, 1), dtype=object)
    profiles[0, 0] = ["a"]
    with pytest.raises(ParameterError, match="looked up"):
        Places.of(profiles)


def test_nan_is_like_no_other_whatever_object_it_is() -> None:
    one = float("nan")
    assert (
        Coded.of([one, one, "x"]).codes.tolist()
        == Coded.of([one, float("nan"), "x"]).codes.tolist()
    )


def test_labels_that_differ_have_streams_that_differ() -> None:
    source = Source.seeded(1)
    assert source.child("a\ud800").bits(64) != source.child("a?").bits(64)
