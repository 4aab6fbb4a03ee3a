"""Selection against NumPy's, with ties, infinities and values that are none."""

import numpy as np
import pytest

from reticent.optim.order_kernels import kth_smallest


@pytest.mark.parametrize("kinds", [2, 5, 10_000])
def test_it_is_what_sorting_would_put_there(kinds) -> None:
    draws = np.random.default_rng(kinds)
    for _ in range(200):
        values = draws.integers(0, kinds, draws.integers(1, 40)) / 7
        values[draws.random(values.size) < 0.1] = np.inf
        size = int(draws.integers(1, values.size + 1))
        before = values.copy()
        for k in range(size):
            assert kth_smallest(values, size, k) == np.sort(values[:size])[k]
        assert (values == before).all()


def test_values_that_are_none_end_it_too() -> None:
    values = np.array([np.nan, 1.0, np.nan, 0.5, np.nan])
    for k in range(values.size):
        kth_smallest(values, values.size, k)
