"""The leak of a mapping, exactly: against mutual information by hand, and claims too low."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from reticent.errors import ParameterError
from reticent.mechanisms.mapping import ProfileMapping
from reticent.optim.distances import distance_matrix
from reticent.optim.mapping import Channel
from reticent.testing.leaks import mapping_tables, verify_leak

F = Fraction
ROWS = {"x": {0: F(3, 4), 1: F(1, 4)}, "y": {0: F(1, 4), 1: F(3, 4)}}
JOINT = {"s": {"x": F(1, 5), "y": F(1, 10)}, "t": {"x": F(1, 10), "y": F(3, 5)}}


def by_hand(rows, joint) -> float:
    """I(secret; output) in bits, from the full joint table in floats."""
    table = np.array(
        [
            [sum(float(p * rows[x][out]) for x, p in law.items()) for out in (0, 1)]
            for law in joint.values()
        ]
    )
    outer = table.sum(axis=1, keepdims=True) @ table.sum(axis=0, keepdims=True)
    return float((table * np.log2(table / outer)).sum())


def figures(claims, rows=ROWS, joint=JOINT):
    return {figure.name: figure for figure in verify_leak(rows, joint, claims=claims)}


def test_bits_are_mutual_information() -> None:
    bits = by_hand(ROWS, JOINT)
    found = figures({"bits": bits + 1e-9})
    assert float(found["bits"].value) == pytest.approx(bits, rel=1e-12)
    assert found["bits"].holds
    assert not figures({"bits": bits - 1e-9})["bits"].holds
    assert found["guesses"].value == F(7, 10)
    assert found["guesses"].claim is None


def test_a_channel_that_tells_everything_tells_the_entropy() -> None:
    rows = {"x": {0: F(1)}, "y": {1: F(1)}}
    joint = {"s": {"x": F(1, 2)}, "t": {"y": F(1, 2)}}
    found = figures({"bits": 1, "maximal_bits": 1}, rows, joint)
    assert found["bits"].shown == found["maximal_bits"].shown == "1"
    assert found["bits"].holds
    assert found["guesses"].value == 1


def mapping() -> ProfileMapping:
    table = np.array([[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.0, 0.5, 0.5]])
    starts = np.concatenate([[0], np.cumsum((table > 0).sum(axis=1))])
    channel = Channel(starts, np.nonzero(table)[1], table[table > 0])
    far = distance_matrix(np.array([[0.0, 1, 2], [1, 0, 1], [2, 1, 0]]))
    return ProfileMapping.of(channel, [[0.3, 0.1, 0.1], [0.1, 0.1, 0.3]], far, secret="income")


def test_our_mapping_claims_what_is_so() -> None:
    one = mapping()
    loss = one.guarantee()
    rows, joint, distance = mapping_tables(one)
    claims = {
        "bits": F(loss.bits),
        "maximal_bits": F(loss.maximal_bits),
        "guesses": F(loss.guesses[1]),
        "distortion": F(loss.distortion),
    }
    found = verify_leak(rows, joint, claims=claims, distance=distance)
    assert all(figure.holds for figure in found)
    for figure in found:
        assert float(figure.value) == pytest.approx(float(claims[figure.name]), rel=1e-9)
        low = {**claims, figure.name: claims[figure.name] * F(98, 100)}
        wrong = verify_leak(rows, joint, claims=low, distance=distance)
        assert [w.name for w in wrong if not w.holds] == [figure.name]


def test_a_table_that_was_changed_leaks_more_than_its_card_says() -> None:
    honest = mapping()
    parts = honest.parts.copy()
    parts[0], parts[1] = parts[0] + parts[1] // 2, parts[1] - parts[1] // 2
    rows, joint, _ = mapping_tables(replace(honest, parts=parts))
    (bits, *_) = verify_leak(rows, joint, claims={"bits": F(honest.guarantee().bits)})
    assert not bits.holds


def test_what_is_no_law_is_refused() -> None:
    with pytest.raises(ParameterError, match="sum to 1 in each row"):
        figures({}, {**ROWS, "x": {0: F(1, 2)}})
    with pytest.raises(ParameterError, match="joint must be probabilities"):
        figures({}, ROWS, {"s": {"x": F(1, 2)}})
    with pytest.raises(ParameterError, match="inputs that have a row"):
        figures({}, ROWS, {"s": {"z": F(1)}})
    with pytest.raises(ParameterError, match="claims must be of bits"):
        figures({"epsilon": 1})
    assert math.isclose(by_hand(ROWS, JOINT), 0.0428402, rel_tol=1e-5)
