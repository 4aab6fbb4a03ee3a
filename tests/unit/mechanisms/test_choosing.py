"""Advice: a way for every kind of local sensitivity, its mechanism, and what it promises."""

from typing import get_args

import numpy as np
import pytest

from reticent.errors import ParameterError
from reticent.guarantees import EDGE, PureDP
from reticent.mechanisms import Advice, Scored, choose, compare, ways
from reticent.mechanisms.choosing import Local
from reticent.mechanisms.local_sensitivity import Tabled
from reticent.mechanisms.top_dampened import usual_test
from reticent.noise import Source

EXPECTED = {
    "none": ("permute-and-flip", "left"),
    "unknown": ("permute-and-flip", "left"),
    "alike": ("dampened", "none"),
    "rises": ("adaptive", "left"),
    "falls": ("adaptive", "right"),
}
GIVEN = {"epsilon": "3/7", "candidates": 20, "limit": 6, "steps": 4}


@pytest.mark.parametrize("local", get_args(Local))
def test_every_kind_has_its_way_and_reasons(local) -> None:
    advice = choose(local=local)
    assert (advice.way, advice.shift) == EXPECTED[local]
    assert len(advice.why) == 2
    assert all(sentence and not sentence.endswith(".") for sentence in advice.why)


@pytest.mark.parametrize("k", [1, 5, 20])
@pytest.mark.parametrize("local", get_args(Local))
def test_the_mechanism_is_the_way_that_is_advised(local, k) -> None:
    advice = choose(local=local)
    top = advice.mechanism(k=k, unit=EDGE, **GIVEN)
    assert top.guarantee() == PureDP.of("3/7", EDGE)
    assert top.changes * (top.asked + top.rest) == top.whole.epsilon
    assert top.whole.spread == top.plain.spread == 2  # nothing more is known
    found = ways(top)
    assert advice.way in found
    assert found[advice.way] == top
    steps = 0 if advice.way == "permute-and-flip" else GIVEN["steps"]
    assert (top.k, top.whole.steps, top.whole.shift) == (k, steps, advice.shift)
    assert top.test == (usual_test(k, 20) if advice.way == "adaptive" else 0)


@pytest.mark.parametrize("local", ["rises", "falls"])
def test_the_shift_that_is_advised_finds_more_at_small_budgets(local) -> None:
    """Where sensitivities go with the utility, and where they go against it."""
    utilities = np.zeros(50)
    utilities[7] = 20.0
    steps = 40
    own = np.full(50, 0.5 if local == "rises" else 20.0)
    own[7] = 20.0 if local == "rises" else 0.5
    data = Scored(utilities, Tabled.of(np.tile(own, (steps, 1))))
    given = {"epsilon": 1, "candidates": 50, "limit": 20, "steps": steps}
    top = choose(local=local).mechanism(**given)
    rows = compare(data, top, epsilons=[1], runs=60, source=Source.seeded(1))
    shares = {row.way: row.overlap for row in rows}
    assert shares["adaptive"] > 0.9
    assert shares["permute-and-flip"] < 0.2


def test_a_shared_sensitivity_is_used_unshifted() -> None:
    utilities = np.zeros(50)
    utilities[7] = 20.0
    data = Scored(utilities, Tabled.of(np.full((40, 50), 0.5)))
    top = choose(local="alike").mechanism(epsilon=1, candidates=50, limit=20, steps=40)
    (plain, dampened) = (
        row
        for row in compare(data, top, epsilons=[1], source=Source.seeded(1))
        if row.way in ("permute-and-flip", "dampened")
    )
    assert dampened.overlap > 0.9 > plain.overlap


@pytest.mark.parametrize("local", ["", "up", None, "None"])
def test_other_facts_are_refused(local) -> None:
    with pytest.raises(ParameterError, match="local must be none, alike, rises, falls, unknown"):
        choose(local=local)


@pytest.mark.parametrize(
    "given", [{"epsilon": 0}, {"k": 21}, {"k": 0}, {"limit": 0}, {"steps": -1}, {"candidates": 0}]
)
def test_wrong_parameters(given) -> None:
    with pytest.raises(ParameterError):
        choose(local="rises").mechanism(**{**GIVEN, **given})


def test_advice_is_a_value() -> None:
    assert choose(local="rises") == choose(local="rises")
    assert isinstance(choose(local="none"), Advice)
    with pytest.raises(TypeError):
        choose("rises")  # type: ignore[misc]
