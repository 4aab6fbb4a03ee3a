"""A search finds the neighbours that tell the most, and an audit of them refutes what is false."""

from fractions import Fraction

import numpy as np
import pytest

from reticent.errors import ParameterError
from reticent.noise import Source, bernoulli, discrete_laplace
from reticent.testing.neighbourhoods import Listed, Profiles, Vectors
from reticent.testing.own_example import truthful_coin
from reticent.testing.searched import audit_world

F = Fraction
SOURCE = Source.seeded(77)


def noisy(scale: Fraction):
    def draw(data, n: int):
        noise = discrete_laplace(scale=scale, size=(n, len(data)), source=SOURCE)
        return np.array([int(x) for x in data]) + noise

    return draw


WORLD = Vectors((F(0), F(1)), 2, F(1))


def test_noise_2_percent_too_small_is_found_and_honest_noise_is_not() -> None:
    claims = {"record": F(1)}
    honest = audit_world(noisy(F(1)), WORLD, claims, samples=1_000_000)["record"]
    thin = audit_world(noisy(F(98, 100)), WORLD, claims, samples=1_000_000)["record"]
    assert not honest.audit.violated
    assert honest.audit.bound > 0.97
    assert thin.audit.violated


def test_the_worst_pair_is_found_among_many() -> None:
    """One input of twelve is answered more truly than the others."""
    names = tuple("abcdefghijkl")

    def coin(told: float):
        def draw(data: str, n: int):
            chance = told if data == "h" else 0.5
            return bernoulli(np.full(n, chance), source=SOURCE).astype(np.int64)

        return draw

    world, claims = Listed(names), {"any": F(1)}
    alike = audit_world(coin(0.5), world, claims, samples=20_000, most_pairs=66)["any"]
    assert alike.audit.bound < 0.1
    found = audit_world(coin(0.95), world, claims, samples=20_000, most_pairs=66)["any"]
    assert "h" in (found.pair.a, found.pair.b)
    assert found.audit.violated
    assert found.audit.bound > 2


def test_labels_and_rows_are_looked_at_together() -> None:
    """Two fair bits whose parity is the secret: no number alone tells anything."""

    def draw(data: str, n: int):
        first = bernoulli(np.full(n, 0.5), source=SOURCE).astype(np.int64)
        return np.stack([first, first ^ (data == "odd")], axis=1)

    found = audit_world(draw, Listed(("even", "odd")), {"any": F(1)}, samples=5000)["any"]
    assert found.view == "everything together"
    assert found.audit.violated


def test_units_share_the_confidence() -> None:
    world = Vectors((F(0), F(1)), 1, F(1))
    found = audit_world(noisy(F(1)), world, {"record": F(1)}, samples=5000, confidence=0.99)
    assert found["record"].audit.confidence == pytest.approx(0.99)


def test_the_coin_of_the_example_costs_ln_3() -> None:
    world = Vectors((F(0), F(1)), 1, F(1))

    def draw(data, n: int):
        return truthful_coin(int(data[0]), n)

    low = audit_world(draw, world, {"record": F(1)}, samples=100_000)["record"]
    assert low.audit.violated
    high = audit_world(draw, world, {"record": F("1.0987")}, samples=100_000)["record"]
    assert not high.audit.violated


def test_a_world_without_neighbours_is_refused() -> None:
    with pytest.raises(ParameterError, match="at least one pair"):
        audit_world(noisy(F(1)), Listed(("one",)), {"any": F(1)}, samples=1000)


def test_every_unit_that_is_claimed_is_audited() -> None:
    """Only the last item of twelve is told: a search among the first ones would not see it."""
    items = tuple(f"item {j}" for j in range(12))

    def draw(data, n: int):
        return np.full(n, int(data[0][-1]))

    claims = dict.fromkeys(items, F(1))
    found = audit_world(draw, Profiles(items), claims, samples=1000)
    assert set(found) == set(items)
    assert [unit for unit, one in found.items() if one.audit.violated] == ["item 11"]
    with pytest.raises(ParameterError, match="all 13 units"):
        audit_world(draw, Profiles(items), {**claims, "another": F(1)}, samples=1000)
