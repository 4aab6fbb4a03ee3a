"""Mappings at the same distortion: leaks counted from dense tables, the least one certified."""

import math

import numpy as np
import pytest

from reticent.errors import ParameterError
from reticent.tasks.comparing_mapping import (
    EXPONENTIAL,
    LEAST,
    PERFECT,
    RESPONSE,
    WAYS,
    mapping_curves,
)
from reticent.tasks.recoding import Alphabet, Measure


def people() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2)
    public = np.array([[a, b] for a in ("x", "y", "z") for b in ("u", "v") for _ in range(40)])
    likely = np.repeat([0.9, 0.8, 0.6, 0.4, 0.2, 0.1], 40)
    return public, np.where(rng.random(240) < likely, "rich", "poor")


def curves(**given):
    return mapping_curves(Alphabet.of(*people()), Measure(), secret="income", **given)


def bits(joint: np.ndarray, channel: np.ndarray) -> float:
    """I(secret; release) in bits, cell by cell."""
    both = joint @ channel
    total = 0.0
    for a in range(both.shape[0]):
        for i in range(both.shape[1]):
            if both[a, i] > 0:
                total += both[a, i] * math.log2(both[a, i] / (both[a].sum() * both[:, i].sum()))
    return total


def law() -> tuple[np.ndarray, np.ndarray]:
    """Joint law and distances, from the table itself."""
    public, private = people()
    rows = sorted({tuple(row) for row in public.tolist()})
    kinds = sorted(set(private.tolist()))
    joint = np.zeros((2, 6))
    for row, kind in zip(public.tolist(), private.tolist(), strict=True):
        joint[kinds.index(kind), rows.index(tuple(row))] += 1 / 240
    far = np.array(
        [[sum(a != b for a, b in zip(r, s, strict=True)) / 2 for s in rows] for r in rows]
    )
    return joint, far


def test_randomised_response_from_its_table() -> None:
    joint, far = law()
    for delta in (0.05, 0.2, 0.5):
        keep = 1.0
        mass = joint.sum(axis=0)
        for keep in np.linspace(1, 1 / 6, 200_001):  # the first that changes so much
            if (1 - keep) / 5 * float(mass @ far.sum(axis=1)) >= delta - 1e-9:
                break
        channel = np.full((6, 6), (1 - keep) / 5)
        np.fill_diagonal(channel, keep)
        found = curves(distortions=[delta]).at(RESPONSE, delta)
        assert found.value == pytest.approx(bits(joint, channel), abs=1e-4)
        assert found.more["distortion"] <= delta + 1e-12


def test_the_exponential_mechanism_from_its_table() -> None:
    joint, far = law()
    found = curves(distortions=[0.1]).at(EXPONENTIAL, 0.1)
    low, high = 0.0, 200.0
    for _ in range(100):
        beta = (low + high) / 2
        channel = np.exp(-beta * far)
        channel /= channel.sum(axis=1, keepdims=True)
        changed = float(joint.sum(axis=0) @ (channel * far).sum(axis=1))
        low, high = (beta, high) if changed > 0.1 else (low, beta)
    assert found.value == pytest.approx(bits(joint, channel), abs=1e-6)


def test_the_least_leak_is_least_and_certified() -> None:
    found = curves()
    for x in found.places:
        least = found.at(LEAST, x)
        assert least.more["bound"] <= least.value <= found.reference + 1e-9
        assert least.value - least.more["bound"] <= 2e-3 * found.reference
        assert least.more["distortion"] <= x + 1e-9
        for way in (EXPONENTIAL, RESPONSE):
            assert found.at(way, x).value >= least.more["bound"] - 1e-12
    middle = found.places[4]
    assert found.at(LEAST, middle).value < 0.5 * found.at(EXPONENTIAL, middle).value


def test_nothing_changed_tells_all_and_enough_changed_nothing() -> None:
    found = curves()
    joint, _ = law()
    assert found.reference == pytest.approx(bits(joint, np.eye(6)))
    for way in (LEAST, EXPONENTIAL, RESPONSE):
        assert found.at(way, 0.0).value == pytest.approx(found.reference)
    (nothing,) = [row for row in found.rows if row.way == PERFECT]
    assert nothing.value == pytest.approx(0, abs=1e-6)
    assert nothing.x == found.places[-1]


def test_a_sweep_is_the_same_with_one_way() -> None:
    given = {"distortions": ["0.05", "0.1"]}
    assert curves(ways=[LEAST], **given).rows == curves(**given).only([LEAST]).rows
    assert curves(**given).ways == WAYS


@pytest.mark.parametrize("wrong", [["-0.1"], [2], ["x"]])
def test_wrong_distortions(wrong) -> None:
    with pytest.raises(ParameterError, match="delta must be"):
        curves(distortions=wrong)
