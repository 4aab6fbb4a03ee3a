"""Laws of choices by local sensitivity: they are what is drawn, and a planted fault shows."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

from reticent.errors import ParameterError
from reticent.mechanisms.dampening import Dampened, Scored
from reticent.mechanisms.local_sensitivity import Tabled
from reticent.mechanisms.top_dampened import TopDampened
from reticent.noise import Source
from reticent.testing import Pair, as_pmf, chi_square, law_of, verify_law
from reticent.testing.local_laws import Utilities, dampened_scores
from reticent.testing.neighbourhoods import Databases, local_sensitivities

ADDS = {"a": (2, 0, 0), "b": (0, 1, 1), "c": (1, 0, 2)}
PEOPLE = Databases(tuple(ADDS), 3)


def squares(data: tuple[str, ...]) -> tuple[Fraction, ...]:
    """Utilities whose sensitivity grows with what is there already."""
    return tuple(Fraction(sum(ADDS[r][j] for r in data)) ** 2 for j in range(3))


UTILITIES = {data: squares(data) for data in map(PEOPLE.data, range(PEOPLE.size))}


def views(steps: int, part: Fraction = Fraction(1)) -> dict[tuple[str, ...], Utilities]:
    local = local_sensitivities(PEOPLE, UTILITIES, steps)
    return {
        data: Utilities(
            tuple(map(float, own)),
            tuple(tuple(float(x * part) for x in row) for row in local[data]),
        )
        for data, own in UTILITIES.items()
    }


def dampened(**changes) -> Dampened:
    given = {"epsilon": 1, "candidates": 3, "limit": 20, "steps": 2, "shift": "none"}
    return Dampened(**{**given, **changes})


def scored(data: Utilities) -> Scored:
    return Scored(np.array(data.utilities), Tabled.of(np.array(data.sensitivity)))


@pytest.mark.parametrize("shift", ["none", "left", "right"])
def test_scores_are_those_of_the_mechanism(shift: str) -> None:
    mechanism = dampened(shift=shift, steps=3)
    for data in views(3).values():
        assert dampened_scores(mechanism, data) == mechanism.scores(scored(data)).tolist()
    odd = Utilities((-2.7, 0.0, 31.3), ((0.4, 0.1, 3.0), (1.0, 0.2, 40.0)))
    assert dampened_scores(mechanism, odd) == mechanism.scores(scored(odd)).tolist()


def test_a_score_is_the_definition_by_hand() -> None:
    """Utility 5 with sensitivities 2, then 4: one whole step and three quarters of the next."""
    one = Utilities((5.0, 0.0, 0.0), ((2.0,) * 3, (4.0,) * 3))
    score = dampened_scores(dampened(limit=8), one)[0]
    assert score / 2**20 == pytest.approx(1.75, abs=1e-5)


@pytest.mark.parametrize("law", ["permute-and-flip", "exponential"])
@pytest.mark.parametrize("shift", ["none", "left", "right"])
def test_local_sensitivity_by_enumeration_keeps_epsilon(shift: str, law: str) -> None:
    known, chances = views(2), law_of(dampened(shift=shift, law=law))
    found = verify_law(lambda data: chances(known[data]), PEOPLE.pairs(), claim=1)
    assert found.holds
    assert float(found.worst["record"].loss) > 0.2


def test_a_sensitivity_that_is_too_small_is_found_with_its_neighbours() -> None:
    low, chances = views(6, Fraction(1, 8)), law_of(dampened(steps=6))
    right = views(6)
    assert verify_law(lambda data: chances(right[data]), PEOPLE.pairs(), claim=1).holds
    found = verify_law(lambda data: chances(low[data]), PEOPLE.pairs(), claim=1)
    assert not found.holds
    pair = found.worst["record"].pair
    assert abs(len(pair.a) - len(pair.b)) == 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Hasty(Dampened):
    """A rate 2 % too large."""

    @property
    def rate(self) -> Fraction:
        return Dampened.rate.fget(self) * Fraction(102, 100)


def test_a_rate_2_percent_too_large_is_found() -> None:
    pairs = [
        Pair(Utilities((float(x), 0.0)), Utilities((float(x + 1), -1.0))) for x in range(-5, 6)
    ]
    plain = {"epsilon": 1, "candidates": 2, "limit": 1, "steps": 0}
    assert verify_law(law_of(Dampened(**plain)), pairs, claim=1).holds
    assert not verify_law(law_of(Hasty(**plain)), pairs, claim=1).holds


def drawn(mechanism, data: Utilities, count: int) -> list:
    source, held = Source.seeded(5), scored(data)
    return [mechanism.release(held, source).value for _ in range(count)]


def test_the_law_of_a_choice_is_what_is_drawn() -> None:
    one, other = views(2)[("a", "b")], views(2)[("a", "c")]
    mechanism = dampened(epsilon=4)
    values = np.array(drawn(mechanism, one, 2000))
    assert chi_square(values, as_pmf(list(law_of(mechanism)(one).values()))).p_value > 1e-6
    assert chi_square(values, as_pmf(list(law_of(mechanism)(other).values()))).p_value < 1e-15


@pytest.mark.parametrize(("test", "high"), [(0, 0), ("0.4", 0), ("0.4", 10), ("0.4", 20)])
def test_the_law_of_the_best_k_is_what_is_drawn(test, high: int) -> None:
    """At these utilities each of the three ways is taken: shifted, rounds, the set at once."""
    mechanism = TopDampened(whole=dampened(epsilon=4, limit=2, shift="left"), k=2, test=test)
    data = Utilities((3.0 + high, 1.5 + high, 2.0 + high), ((1.0, 2.0, 1.5), (2.0, 2.0, 2.0)))
    law = law_of(mechanism)(data)
    assert sum(law.values()) == pytest.approx(1, abs=1e-15)
    places = {name: i for i, name in enumerate(law)}
    values = drawn(mechanism, data, 1000)
    seen = np.array([places[f"candidates {', '.join(map(str, value))}"] for value in values])
    chances = list(law.values())
    assert chi_square(seen, as_pmf(chances)).p_value > 1e-6
    other = law_of(mechanism)(Utilities(tuple(u + 7 * (high < 20) for u in data.utilities[::-1])))
    wrong = [other.get(name, Fraction(0)) for name in law]
    assert chi_square(seen, as_pmf(wrong)).p_value < 1e-6


def test_rounds_against_all_orders_written_out() -> None:
    """Two rounds of the exponential law, by the product of two softmax chances in floats."""
    whole = dampened(epsilon=2, limit=1, steps=0, shift="left", law="exponential")
    mechanism = TopDampened(whole=whole, k=2)
    utilities = (1.0, 0.0, 2.5)
    law = law_of(mechanism)(Utilities(utilities))
    for first, second in permutations(range(3), 2):
        weights = np.exp(np.array(utilities) * 0.5)  # epsilon 1 for each round, spread 2
        chance = weights[first] / weights.sum() * weights[second]
        chance /= weights.sum() - weights[first]
        assert float(law[f"candidates {first}, {second}"]) == pytest.approx(chance, rel=1e-5)


def test_the_best_k_keep_epsilon_and_a_wrong_count_of_changes_does_not() -> None:
    pairs = [
        Pair(Utilities(tuple(map(float, u))), Utilities(tuple(float(x + 1) for x in u)))
        for u in product((0, 3, 6), repeat=3)
    ]
    apart = [
        Pair(Utilities((float(x), 0.0, 1.0)), Utilities((float(x + 2), -2.0, 1.0)))
        for x in range(5)
    ]

    def best(changes: int) -> TopDampened:
        whole = Dampened(epsilon=1, candidates=3, limit=1, steps=0)
        return TopDampened(whole=whole, k=2, test="0.25", changes=changes)

    assert verify_law(law_of(best(1)), pairs, claim=1).holds
    assert verify_law(law_of(best(2)), apart, claim=1).holds
    broken = verify_law(law_of(best(1)), apart, claim=1)
    assert not broken.holds
    assert broken.worst["any"].pair in apart or broken.worst["any"].pair.b in [p.a for p in apart]


def test_data_of_another_size_are_refused() -> None:
    with pytest.raises(ParameterError, match="3 candidates"):
        law_of(dampened())(Utilities((1.0,)))
