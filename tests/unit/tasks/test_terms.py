"""Releases on public terms: losses by enumeration, and preferences that do not show."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reticent.amounts import NANO
from reticent.data.catalogue import Catalogue
from reticent.errors import ParameterError
from reticent.mechanisms.multilevel_plan import plan_histogram
from reticent.noise import Source
from reticent.preferences import Preferences
from reticent.tasks.similarity import Similarity
from reticent.tasks.terms import FULL, Allowance, HistogramTerms, SimilarityTerms, item_weights

FILMS = Catalogue.of(
    [[1, 1, 0], [0, 2, 1], [3, 0, 0], [0, -1, 1]],
    attributes=("Crime", "Drama", "Comedy"),
    items=("Heat", "Up", "Alien", "Big"),
)
CLUB = "club.example"


def terms(epsilon: str = "1") -> HistogramTerms:
    budgets = {"Crime": "0.5", "Drama": "0.7", "Comedy": "0.3"}
    return HistogramTerms(plan_histogram(FILMS, budgets=budgets, epsilon=epsilon, weighted=True))


def wishes(text: str) -> Preferences:
    return Preferences.parse("version = 1\n" + text)


def exact_loss(made: HistogramTerms, one: np.ndarray, two: np.ndarray, kept: Allowance) -> Fraction:
    """The largest log-ratio of two releases' laws: each step of attribute j costs its rate."""
    far = np.abs(made.stretched(one, kept) - made.stretched(two, kept))
    rates = [Fraction(rate) for rate in made.plan.mechanism.rates]
    return sum((int(n) * y for n, y in zip(far, rates, strict=True)), Fraction(0))


AMOUNTS = st.sampled_from(["0.001", "0.05", "0.2", "0.5", "3", None])
WEIGHTS = st.sampled_from(["0", "0.3", "0.5", "1"])


@settings(deadline=None, max_examples=60)
@given(
    epsilon=st.sampled_from(["0.01", "0.3", "1", "9"]),
    budgets=st.tuples(AMOUNTS, AMOUNTS, AMOUNTS),
    weights=st.tuples(WEIGHTS, WEIGHTS, WEIGHTS, WEIGHTS),
)
def test_theorem_1_losses(
    epsilon: str, budgets: tuple[str | None, ...], weights: tuple[str, ...]
) -> None:
    withhold = '"withhold"'
    amounts = ", ".join(
        f"{name} = {withhold if t is None else t}"
        for name, t in zip(FILMS.attributes, budgets, strict=True)
    )
    items = ", ".join(f"{name} = {v}" for name, v in zip(FILMS.items, weights, strict=True))
    asked = wishes(
        f'attributes = {{{amounts}}}\nitems = {{{items}}}\nproviders."{CLUB}".epsilon = {epsilon}\n'
    )
    made = terms()
    kept = made.allowance(asked, CLUB)
    assert Fraction(kept.nano, NANO) <= Fraction(epsilon) + Fraction(1, NANO)
    assert kept.nano <= made.plan.mechanism.guarantee().overall
    for j, most in enumerate(budgets):
        assert Fraction(kept.alone[j], NANO) <= Fraction(most or 0) + Fraction(1, NANO)
    for held in product((0, 1), repeat=4):
        for i, weight in enumerate(weights):
            if held[i]:
                one = np.array(held)
                two = one.copy()
                two[i] = 0
                assert exact_loss(made, one, two, kept) <= Fraction(weight) * Fraction(
                    kept.nano, NANO
                )


def test_theorem_1_is_tight_and_the_common_factor_is_needed() -> None:
    """The most exposed item loses the whole charge; without step 2 it would lose more."""
    made = terms()
    asked = wishes(f'attributes.default = 9\nproviders."{CLUB}".epsilon = 0.2\n')
    kept = made.allowance(asked, CLUB)
    nothing = np.zeros(4, dtype=np.int64)
    losses = [exact_loss(made, row, nothing, kept) for row in np.eye(4, dtype=np.int64)]
    assert max(losses) > Fraction(kept.nano, NANO) * Fraction(9999, 10000)
    whole = replace(kept, factors=np.full(3, FULL))
    assert max(exact_loss(made, row, nothing, whole) for row in np.eye(4, dtype=np.int64)) > (
        Fraction(kept.nano, NANO)
    )


FULLY = f'attributes.default = 9\nproviders."{CLUB}".epsilon = 9\n'
QUIET = {
    "not named": 'attributes.default = 9\nproviders."other.example".epsilon = 9\n',
    "withheld": f'attributes.default = "withhold"\nproviders."{CLUB}".epsilon = 9\n',
    "weights 0": f"items.default = 0\n{FULLY}",
}


def drawn(asked: str, held: list[int], seed: int = 5) -> tuple[list[float], list[float]]:
    made = terms()
    kept = made.allowance(wishes(asked), CLUB)
    released, cover = made.draw(np.array(held), kept, Source.seeded(seed))
    return released.tolist(), cover.tolist()


@pytest.mark.parametrize("asked", QUIET.values(), ids=QUIET.keys())
def test_theorem_2_preferences_do_not_show(asked: str) -> None:
    released, cover = drawn(asked, [1, 1, 1, 1])
    assert released == cover == drawn(FULLY, [0, 0, 0, 0])[0]
    more = FULLY.replace("= 9\n", "= 77\n")
    assert drawn(FULLY, [1, 0, 1, 1]) == drawn(more, [1, 0, 1, 1])


def test_theorem_2_values_differ_by_what_is_stretched() -> None:
    made = terms()
    half = made.allowance(wishes("items.default = 0.5\n" + FULLY), CLUB)
    whole = made.allowance(wishes(FULLY), CLUB)
    held = np.array([1, 1, 0, 1])
    assert half.nano == whole.nano  # of an item of weight 1
    one, cover = made.draw(held, half, Source.seeded(3))
    two, same = made.draw(held, whole, Source.seeded(3))
    assert cover.tolist() == same.tolist()
    np.testing.assert_allclose((two - cover) / 2, one - cover, atol=1e-4)
    np.testing.assert_allclose(two - cover, held @ FILMS.values(), atol=1e-4)


def test_terms_need_weights() -> None:
    plain = plan_histogram(FILMS, budgets={"Crime": 1}, epsilon=1)
    with pytest.raises(ParameterError, match="weighted"):
        HistogramTerms(plain)


def test_provider_lines_weigh_items() -> None:
    asked = wishes(
        f'items = {{Heat = 0.5, default = 0.25}}\nproviders."{CLUB}" = {{epsilon = 1, '
        "items = {Up = 0}}\n"
    )
    found = item_weights(asked, CLUB, FILMS.places) / FULL
    assert found.tolist() == [0.5, 0, 0.25, 0.25]
    assert (item_weights(asked, "x", FILMS.places) / FULL).tolist() == [0.5, 0.25, 0.25, 0.25]


def test_theorem_3_similarity() -> None:
    compared = SimilarityTerms(Similarity(epsilon="0.5", measure="overlap", norms="none"))
    asked = wishes(f'items.Heat = 0.5\nproviders."{CLUB}".epsilon = 0.25\n')
    kept = compared.allowance(asked, CLUB, FILMS.places)
    assert kept.nano == NANO // 4
    assert (kept.weights / FULL).tolist() == [0.25, 0.5, 0.5, 0.5]
    nobody = compared.allowance(asked, "else", FILMS.places)
    assert nobody.nano == 0
    assert not nobody.weights.any()
    held = np.array([1, 1, 0, 0])
    released, _ = compared.draw((held, nobody), (held, kept), Source.seeded(1))
    empty, _ = compared.draw((0 * held, kept), (0 * held, kept), Source.seeded(1))
    assert released == empty
    both, _ = compared.draw((held, kept), (held, kept), Source.seeded(1))
    assert both - empty == pytest.approx(0.75)


def test_similarity_with_exact_sizes_has_no_terms() -> None:
    with pytest.raises(ParameterError, match="private"):
        SimilarityTerms(Similarity(epsilon=1, norms="public"))
