"""The check of admissibility: what it counts, and that it names each kind of counterexample."""

import numpy as np
import pytest

from reticent.errors import ParameterError
from reticent.mechanisms.dampening import SCORE_BITS, Dampened, Scored
from reticent.mechanisms.local_sensitivity import Tabled
from reticent.testing import Pair
from reticent.testing.admissible import check_admissible

STEPS = 3


def mechanism(**given) -> Dampened:
    return Dampened(**{"epsilon": 1, "candidates": 2, "limit": 8, "steps": STEPS, **given})


def cubes(x: int) -> Scored:
    """Utilities x ** 2 and -x for x from 0 to 4, which one unit changes by 2 x + 1 and 1."""
    table = [[min(2 * (x + t) + 1, 7), 1] for t in range(STEPS)]
    return Scored([x * x, -x], Tabled.of(table))


def line() -> list[Pair]:
    return [Pair(x, x + 1) for x in range(4)]


@pytest.mark.parametrize("shift", ["none", "left", "right"])
def test_a_good_one_holds_and_pairs_are_counted_once(shift) -> None:
    found = check_admissible(cubes, line(), mechanism(shift=shift))
    assert found.holds, found.problems
    assert found.pairs == 4
    assert 0 < found.largest_move <= 1 + 2**-SCORE_BITS


def test_no_steps_need_no_sensitivity() -> None:
    nothing = lambda x: Scored([x * x, -x], Tabled.of([[0, 0]]))  # noqa: E731
    assert check_admissible(nothing, line(), mechanism(steps=0)).holds
    assert not check_admissible(nothing, line(), mechanism(steps=1)).holds


@pytest.mark.parametrize(
    ("table", "limit", "sentence"),
    [
        (lambda x: [[7, 1]] * STEPS, 6, "candidate 0 moves by 7, the limit is 6"),
        (lambda x: [[2 * x, 1], [7, 1], [7, 1]], 8, "delta(0) of candidate 0 is"),
        (lambda x: [[7, 1 + x]] * STEPS, 8, "delta(1) of candidate 1 is"),
        (lambda x: [[7, 1], [7, 1], [7, 0.0]], 8, "delta(2) of candidate 1 is"),
    ],
)
def test_every_kind_of_fault_is_named_with_its_neighbours(table, limit, sentence) -> None:
    def bad(x: int) -> Scored:
        return Scored([x * x, -x], Tabled.of(table(x)))

    found = check_admissible(bad, line(), mechanism(limit=limit))
    assert not found.holds
    assert any(p.startswith(sentence) and "; neighbours " in p for p in found.problems)


def test_a_score_that_moves_too_far_is_named() -> None:
    """Below all utilities' own sensitivity, one unit moves a score by two and more."""
    low = lambda x: Scored([x * x, -x], Tabled.of(np.full((STEPS, 2), 0.1)))  # noqa: E731
    found = check_admissible(low, line(), mechanism(shift="none"))
    assert any("more than 1; neighbours" in sentence for sentence in found.problems)
    assert found.largest_move > 1


def test_a_fault_is_seen_from_either_side() -> None:
    """delta(0) is too small at the second of the two only."""

    def bad(x: int) -> Scored:
        return Scored([x, 0], Tabled.of([[0.5 if x == 1 else 1, 1]] * STEPS))

    for pair in (Pair(0, 1), Pair(1, 0)):
        found = check_admissible(bad, [pair], mechanism())
        assert any("neighbours 1 and 0" in sentence for sentence in found.problems)


def test_no_pairs_prove_nothing() -> None:
    with pytest.raises(ParameterError, match="at least one pair"):
        check_admissible(cubes, [], mechanism())
