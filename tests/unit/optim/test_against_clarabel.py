"""A general solver, made as exact as it gets, finds nothing better on programs of every kind."""

from collections import Counter

import pytest

from benchmarks.clarabel_peer import GOALS, KINDS, answer, instances
from reticent.optim.allocation import allocate
from reticent.optim.objectives import PowerError


@pytest.mark.solvers
def test_clarabel_finds_nothing_better() -> None:
    """Up to 12,000 items and 64 attributes; the benchmark runs a thousand of these."""
    seen = Counter()
    for instance in instances(120, seed=11):
        program = instance.program
        other = answer(program)
        assert other.gap <= 1e-8  # otherwise it proves nothing
        for compiled in (True, False):
            found = allocate(
                program.rows,
                caps=program.caps,
                budget=program.budget,
                objective=PowerError(program.exponent, program.weights),
                compiled=compiled,
            )
            assert abs(found.error[0] - other.value) <= 1e-8 * other.value
            assert found.gap[0] <= 1e-9
            assert other.bound <= found.error[0] * (1 + 1e-12)
            assert found.bound[0] <= other.value * (1 + 1e-12)
            assert (instance.matrix @ found.x[0]).max() <= program.budget * (1 + 1e-14)
        seen[instance.kind, instance.goal, program.budget >= instance.threshold] += 1
    assert {(kind, goal) for kind, goal, _ in seen} == {(k, g) for k in KINDS for g in GOALS}
    assert any(nothing_lost for _, _, nothing_lost in seen)
