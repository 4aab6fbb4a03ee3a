"""Our mechanisms lose exactly what they say, on every tiny database."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from reticent.errors import ParameterError
from reticent.guarantees import RECORD_SUBSTITUTE
from reticent.mechanisms import DiscreteLaplace, Exponential, PermuteAndFlip, SnappedLaplace
from reticent.noise import Source
from reticent.testing import (
    Pair,
    add_remove_pairs,
    as_pmf,
    chi_square,
    law_of,
    substitute_pairs,
    verify_law,
)

SLIGHTLY_LESS = Fraction(999_999, 1_000_000)


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(5)])
def test_a_count_loses_epsilon_and_no_less(epsilon: Fraction) -> None:
    law = law_of(DiscreteLaplace(epsilon=epsilon, size=1))
    pairs = list(add_remove_pairs("ab", most=3))
    assert verify_law(lambda d: law([len(d)]), pairs, claim=epsilon).holds
    assert not verify_law(lambda d: law([len(d)]), pairs, claim=epsilon * SLIGHTLY_LESS).holds


@pytest.mark.parametrize(("sensitivity", "holds"), [(1, False), (2, True)])
def test_a_histogram_under_replacement_needs_sensitivity_2(sensitivity: int, holds: bool) -> None:
    mechanism = DiscreteLaplace(epsilon=1, size=2, sensitivity=sensitivity, unit=RECORD_SUBSTITUTE)
    law = law_of(mechanism, reach=3)
    result = verify_law(
        lambda d: law([d.count("a"), d.count("b")]), substitute_pairs("ab", size=3), claim=1
    )
    assert result.holds is holds


def test_snapped_values_lose_epsilon_and_no_more() -> None:
    mechanism = SnappedLaplace(epsilon=1, size=1, sensitivity="0.5", lower=0, upper=2)
    law = law_of(mechanism)
    pairs = list(add_remove_pairs([0.1, 0.3, 0.5], most=3))
    assert verify_law(lambda d: law([sum(d)]), pairs, claim=1).holds
    assert not verify_law(lambda d: law([sum(d)]), pairs, claim=SLIGHTLY_LESS).holds


def score_pairs() -> list[Pair[tuple[float, ...]]]:
    vectors = list(product([0, 0.3, 1, 1.7], repeat=3))
    close = ((a, b) for a in vectors for b in vectors)
    return [Pair(a, b) for a, b in close if all(abs(x - y) <= 1 for x, y in zip(a, b, strict=True))]


@pytest.mark.parametrize("kind", [Exponential, PermuteAndFlip])
def test_selection_keeps_its_epsilon_on_all_score_vectors(kind) -> None:
    mechanism = kind(epsilon=1, candidates=3, sensitivity=1)
    assert verify_law(law_of(mechanism), score_pairs(), claim=1).holds


@pytest.mark.parametrize("kind", [Exponential, PermuteAndFlip])
def test_monotone_selection_keeps_its_epsilon_on_counts_only(kind) -> None:
    law = law_of(kind(epsilon=1, candidates=3, sensitivity=1, monotone=True))
    counted = verify_law(
        lambda d: law([d.count(c) for c in "abc"]), add_remove_pairs("abc", most=4), claim=1
    )
    assert counted.holds
    assert not verify_law(law, score_pairs(), claim=1).holds  # the declaration matters


def test_permute_and_flip_is_tight() -> None:
    law = law_of(PermuteAndFlip(epsilon=1, candidates=2, sensitivity=1))
    pairs = [Pair((x, 0), (x + 1, -1)) for x in range(-4, 5)]
    assert verify_law(law, pairs, claim=1).holds
    assert not verify_law(law, pairs, claim="0.999").holds


@pytest.mark.parametrize("kind", [Exponential, PermuteAndFlip])
def test_the_law_is_what_is_drawn(kind) -> None:
    mechanism = kind(epsilon=2, candidates=4, sensitivity=1)
    scores = (0.0, 0.5, 2.0, 2.25)
    source = Source.seeded(1)
    drawn = np.array([mechanism.release(scores, source).value for _ in range(3_000)])
    law = list(law_of(mechanism)(scores).values())
    assert chi_square(drawn, as_pmf(law)).p_value > 1e-6
    other = list(law_of(mechanism)((0.0, 0.5, 2.0, 1.75)).values())
    assert chi_square(drawn, as_pmf(other)).p_value < 1e-15


def test_only_known_laws_are_given() -> None:
    with pytest.raises(ParameterError, match="mechanism must be one whose law is known"):
        law_of("mechanism")


def test_what_is_no_whole_count_is_read_as_a_release_reads_it() -> None:
    """0.5 is released as 0 and 1.5 as 2, so that one apart is two apart: the law says so, too."""
    mechanism, source = DiscreteLaplace(epsilon=50, size=1), Source.seeded(3)
    law = law_of(mechanism)
    for count in (0.5, 1.5, 2.5, -0.6, 0.9):
        likeliest = max(law([count]).items(), key=lambda held: held[1])[0]
        assert likeliest == str(mechanism.release([count], source).value[0])
    halves = [Pair((0.5,), (1.5,))]
    assert not verify_law(law_of(DiscreteLaplace(epsilon=1, size=1)), halves, claim=1).holds
