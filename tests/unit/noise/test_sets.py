"""Sets at once: the law against all sets, ties, exact settling, one unit."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from reticent.errors import ParameterError
from reticent.noise import Source, exponential_set, selection, sets
from reticent.testing import ScriptedSource, exponential_law, substitute_pairs, verify_law

RATE = Fraction(1, 2)


def sets_of(scores, k):
    return list(combinations(range(len(scores)), k))


def gap(scores, chosen) -> int:
    outside = [scores[i] for i in range(len(scores)) if i not in chosen]
    return int(min(scores[i] for i in chosen) - max(outside))


@pytest.mark.parametrize(
    ("scores", "k"),
    [([5, 3, 3, 1, 0], 2), ([4, 4, 4], 1), ([9, 2, 1, 0, 0, 0], 3), ([1, 2], 1), ([0, 7, 3, 7], 3)],
)
def test_theorem_7_the_law_is_that_of_all_sets(scores, k) -> None:
    sets = sets_of(scores, k)
    law = exponential_law([gap(scores, chosen) for chosen in sets], rate=RATE)
    source, draws = Source.seeded(1), 3000
    found = dict.fromkeys(sets, 0)
    for _ in range(draws):
        drawn = exponential_set(np.array(scores), k, rate=RATE, source=source)
        found[tuple(sorted(drawn))] += 1
    expected = [draws * float(chance) for chance in law]
    statistic = sum((n - e) ** 2 / e for n, e in zip(found.values(), expected, strict=True))
    freedom = len(sets) - 1
    assert statistic < freedom + 5 * np.sqrt(2 * freedom) + 5


def test_a_steep_rate_gives_the_best_set() -> None:
    scores = np.arange(3000)
    found = exponential_set(scores, 7, rate=Fraction(50), source=Source.system())
    assert sorted(found) == list(range(2993, 3000))
    everybody = exponential_set(scores[:4], 4, rate=RATE, source=Source.system())
    assert sorted(everybody) == [0, 1, 2, 3]


def test_the_loss_of_votes() -> None:
    """Scores are votes, of which one voter moves each by at most one: the gap moves by two."""

    def law_on(data):
        scores = np.bincount(data, minlength=4)
        sets = sets_of(scores, 2)
        law = exponential_law([gap(scores, chosen) for chosen in sets], rate=Fraction(1, 4))
        return dict(zip(sets, law, strict=True))

    pairs = list(substitute_pairs(range(4), size=3))
    assert verify_law(law_on, pairs, claim=1).holds
    assert not verify_law(law_on, pairs, claim=Fraction(1, 4)).holds


@pytest.mark.parametrize(("scores", "k"), [([50, 31, 30, 12, 0, 0], 2), ([9, 2, 1, 0, 0, 0], 3)])
def test_settling_exactly_changes_nothing(scores, k, monkeypatch) -> None:
    """Doubles decide as exact arithmetic does: a slope two per cent off would not."""
    table, rate = np.array(scores), Fraction(1, 7)

    def draws() -> list[list[int]]:
        sources = map(Source.seeded, range(300))
        return [exponential_set(table, k, rate=rate, source=source) for source in sources]

    fast = draws()
    settled, exact = [], sets.settle
    monkeypatch.setattr(
        sets, "settle", lambda prefixes, *rest: settled.append(1) or exact(prefixes, *rest)
    )
    monkeypatch.setattr(selection, "_MARGIN", 1.0)  # what 2 % can turn round is much closer
    assert draws() == fast
    assert len(settled) > 100


def test_equal_noise_is_settled_by_the_scores() -> None:
    """Where doubles cannot tell sums apart, exact arithmetic does."""
    scores = np.array([2, 3, 0], dtype=np.int64)
    source = ScriptedSource(words=[1 << 63] * 3)
    assert exponential_set(scores, 1, rate=Fraction(1, 1 << 40), source=source) == [1]


def test_equal_noise_is_settled_by_the_number_of_sets() -> None:
    """Scores alike: the class of most sets wins, and within it every set may be drawn."""
    scores = np.zeros(6, dtype=np.int64)
    found = {
        tuple(sorted(exponential_set(scores, 3, rate=RATE, source=Source.seeded(s))))
        for s in range(400)
    }
    assert len(found) == 20


@pytest.mark.parametrize(("scores", "k"), [([1, 2], 0), ([1, 2], 3), ([[1, 2]], 1), ([1.0], 1)])
def test_wrong_parameters(scores, k) -> None:
    with pytest.raises(ParameterError):
        exponential_set(np.array(scores), k, rate=RATE, source=Source.system())
