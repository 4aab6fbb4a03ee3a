"""Exact verification finds the worst pair and outcome, and compares without floats."""

from fractions import Fraction
from math import comb

import pytest

from reticent.errors import ParameterError
from reticent.testing import (
    Pair,
    add_remove_pairs,
    databases,
    discrete_laplace_law,
    profile_pairs,
    substitute_pairs,
    verify_law,
)

BIT = [Pair(0, 1)]


def response(truth: Fraction):
    return lambda bit: {bit: truth, 1 - bit: 1 - truth}


def test_randomised_response_has_the_loss_it_has() -> None:
    result = verify_law(
        response(Fraction(3, 4)), BIT, claim="1.0986122886682", tolerance=Fraction(0)
    )
    witness = result.worst["any"]
    assert (witness.p, witness.q) == (Fraction(3, 4), Fraction(1, 4))
    assert witness.loss == "1.098612288669"  # ln 3 = 1.0986122886681098...
    assert result.holds
    assert not verify_law(response(Fraction(3, 4)), BIT, claim="1.0986122886681").holds


def test_a_hair_too_much_is_seen() -> None:
    """Float comparison would call these equal: the claim is ln 2 to 50 digits, rounded down."""
    ln2 = "0.69314718055994530941723212145817656807550013436025"
    fair = response(Fraction(2, 3))
    assert not verify_law(fair, BIT, claim=ln2, tolerance=Fraction(0)).holds
    assert verify_law(fair, BIT, claim=ln2[:-1] + "6", tolerance=Fraction(0)).holds


def test_an_outcome_that_only_one_side_has_is_an_infinite_loss() -> None:
    result = verify_law(
        lambda bit: {"x": Fraction(1)} if bit else {"x": Fraction(1, 2), "y": Fraction(1, 2)},
        BIT,
        claim=100,
    )
    assert not result.holds
    assert result.worst["any"].loss == "infinite"
    assert "BROKEN; worst at outcome 'y' on 0 against 1" in result.explain()


def test_claim_zero_means_equal_laws() -> None:
    half = response(Fraction(1, 2))
    assert verify_law(half, BIT, claim=0, tolerance=Fraction(0)).holds
    almost = response(Fraction(1, 2) + Fraction(1, 10**40))
    assert not verify_law(almost, BIT, claim=0, tolerance=Fraction(0)).holds


def test_items_have_their_own_claims() -> None:
    def law(profile: tuple[int, ...]) -> dict[str, Fraction]:
        steps = 2 * profile[0] + profile[1]
        return discrete_laplace_law(2, around=steps, cuts=range(-3, 7))

    pairs = list(profile_pairs(["shown", "half", "hidden"]))
    claims = {"shown": 1, "half": Fraction(1, 2), "hidden": 0}
    result = verify_law(law, pairs, claim=claims)
    assert result.holds
    assert {unit: witness.loss[:3] for unit, witness in result.worst.items()} == {
        "shown": "1.0",
        "half": "0.5",
        "hidden": "0.0",
    }
    tight = verify_law(law, pairs, claim={**claims, "half": "0.499999999"})
    assert tight.broken == ("half",)
    assert "12 pairs of neighbours" in tight.explain()


def test_generators_enumerate_everything() -> None:
    assert len(list(databases("abc", most=3))) == sum(comb(n + 2, 2) for n in range(4))
    pairs = list(add_remove_pairs("ab", most=2))
    assert Pair(("a", "b"), ("a",), "record") in pairs
    assert all(len(pair.a) == len(pair.b) + 1 for pair in pairs)
    assert len(pairs) == 2 + 3 * 2
    swaps = list(substitute_pairs("abc", size=2))
    assert len(swaps) == 9 * 2 * 2
    assert all(sum(x != y for x, y in zip(p.a, p.b, strict=True)) == 1 for p in swaps)
    flips = list(profile_pairs(["x", "y", "z"]))
    assert len(flips) == 3 * 4
    assert {pair.unit for pair in flips} == {"x", "y", "z"}


def test_a_law_must_be_a_law() -> None:
    with pytest.raises(ParameterError, match="probabilities that sum to 1"):
        verify_law(lambda bit: {0: Fraction(1, 2)}, BIT, claim=1)
    with pytest.raises(ParameterError, match="probabilities that sum to 1"):
        verify_law(lambda bit: {0: Fraction(3, 2), 1: Fraction(-1, 2)}, BIT, claim=1)


def test_parameters_are_checked() -> None:
    half = response(Fraction(1, 2))
    with pytest.raises(ParameterError, match="pairs must be at least one pair"):
        verify_law(half, [], claim=1)
    with pytest.raises(ParameterError, match="claim must be not negative"):
        verify_law(half, BIT, claim=-1)
    with pytest.raises(ParameterError, match="claim must be one epsilon for each unit"):
        verify_law(half, BIT, claim={"other": 1})
    with pytest.raises(ParameterError, match="items must be at least one name"):
        list(profile_pairs([]))


def test_what_one_side_only_gives_is_broken_at_any_claim_and_at_once() -> None:
    """exp(-10**9) has no bit among the first thousand million, so none are asked for."""
    sure = verify_law(response(Fraction(1)), BIT, claim=10**9)
    assert sure.broken == ("any",)
    assert sure.worst["any"].loss == "infinite"
    assert verify_law(response(Fraction(99, 100)), BIT, claim=10**9).holds


def test_no_loss_is_written_as_a_plain_number() -> None:
    half = verify_law(response(Fraction(1, 2)), BIT, claim=0)
    assert half.holds
    assert half.worst["any"].loss == "0.000000000000"
