"""Histograms under preferences: what leaves, for one person and for many."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reticent as rt
from reticent.data.catalogue import Catalogue
from reticent.errors import NothingGranted, ParameterError, Refused
from reticent.guarantees import ITEM_SUBSTITUTE
from reticent.mechanisms import MultiLevel, WeightedProfile
from reticent.mechanisms.multilevel_plan import plan_histogram
from reticent.mechanisms.verification import verify
from reticent.noise import Source
from reticent.preferences import Preferences, PreferencesError
from reticent.tasks.histogram import clipped, plan_for, possible
from reticent.tasks.histogram_batches import Histograms
from reticent.testing import ScriptedSource

FILMS = Catalogue.of(
    [[1, 1, 0], [0, 1, 0], [0, 1, 1], [0, 0, 0.5]],
    attributes=("Crime", "Drama", "War"),
    items=("Heat", "Up", "Glory", "Ran"),
)
PREFERENCES = """
version = 1
[items]
{items}
[attributes]
default = 0.5
War = {war}
[providers."filmclub.example"]
epsilon = 0.8
[providers."ads.example"]
epsilon = 0.1
"""


def wishes(items: str = "", war: str = "0.2") -> Preferences:
    return Preferences.parse(PREFERENCES.format(items=items, war=war))


@pytest.fixture
def silent(monkeypatch) -> None:
    """No noise: what is released is the histogram itself."""
    nothing = lambda *, scale, size=None, source: np.zeros(size or len(scale), dtype=np.int64)  # noqa: E731
    monkeypatch.setattr("reticent.mechanisms.multilevel.discrete_laplace", nothing)
    monkeypatch.setattr("reticent.noise.rows.discrete_laplace", nothing)


def ask(items, preferences, provider="filmclub.example", source=None, films=FILMS):
    """Ann's histogram, as a query releases it."""
    table = {"profiles": {"person": ["ann"] * len(items), "item": items}, "catalogue": films}
    return rt.Histogram(provider=provider, person="ann").release(
        table, people=["ann"], preferences=preferences, source=source or Source.seeded(1)
    )


def numbers(answer) -> list[float]:
    return list(answer.value["ann"].values())


def test_what_is_released_is_the_histogram_plus_noise(silent) -> None:
    assert numbers(ask(["Heat", "Glory", "Ran"], wishes())) == [1, 2, 1.5]


def test_an_item_named_twice_or_unknown_changes_nothing(silent) -> None:
    once, twice = ask(["Heat"], wishes()), ask(["Heat", "Heat", "Unheard of"], wishes())
    assert numbers(once) == numbers(twice) == [1, 1, 0]


def test_weights_of_preferences_count(silent) -> None:
    by_weight = ask(["Heat", "Up"], wishes(items="Heat = 0\nUp = 0.5"))
    assert numbers(by_weight) == [0, 0.5, 0]


def test_withheld_attributes_are_left_out() -> None:
    released = ask(["Heat"], wishes(war='"withhold"'))
    assert list(released.value["ann"]) == ["Crime", "Drama"]
    assert released.terms.grant.withheld == ("War",)


def test_the_loss_keeps_within_both_budgets() -> None:
    for provider, epsilon in (("filmclub.example", "4/5"), ("ads.example", "1/10")):
        loss = ask(["Heat"], wishes(), provider).card.release_event().loss
        assert loss.overall <= Fraction(epsilon) * 10**9
        assert loss.attributes["War"] <= Fraction(1, 5) * 10**9


def test_who_is_not_named_gets_nothing_and_nothing_is_drawn() -> None:
    with pytest.raises(Refused, match="no line names the provider"):
        ask(["Heat"], wishes(), "spy.example", ScriptedSource())


def test_nothing_is_granted_when_everything_is_withheld() -> None:
    silent_wishes = Preferences.parse("version = 1\n[providers.x]\nepsilon = 1\n")
    with pytest.raises(NothingGranted, match="every attribute is withheld"):
        plan_for(FILMS, silent_wishes, "x")


def test_a_column_of_zeros_is_left_out_unless_it_was_asked_for() -> None:
    films = Catalogue.of([[1, 0]], attributes=("Drama", "unknown"))
    plan, _ = plan_for(
        films,
        Preferences.parse("version = 1\nattributes.default = 0.1\nproviders.x.epsilon = 1\n"),
        "x",
    )
    assert plan.attributes == ("Drama",)
    asked = Preferences.parse(
        "version = 1\n[attributes]\nunknown = 0.1\n[providers.x]\nepsilon = 1\n"
    )
    with pytest.raises(PreferencesError, match="line 3: no item has the attribute unknown"):
        plan_for(films, asked, "x")


def test_the_card_holds_and_does_not_tell_the_weights() -> None:
    source = Source.system()
    cards = [
        ask(["Heat"], wishes(items=items), source=source).card
        for items in ("Heat = 0", "Heat = 0.5")
    ]
    assert [verify(card) for card in cards] == [[], []]
    first, second = (card.to_json() for card in cards)
    assert first == second


def test_the_card_says_what_one_attribute_alone_does_not_mean() -> None:
    card = ask(["Heat"], wishes()).card
    assert any("several attributes at once" in line for line in card.scope.not_against)


# many people


def lists(profiles):
    offsets = np.cumsum([0, *(len(held) for held in profiles)])
    return offsets, np.array([item for held in profiles for item in held], dtype=np.int64)


profiles_of = st.lists(st.lists(st.integers(-1, 5), max_size=6), min_size=1, max_size=4)


@settings(deadline=None)
@given(profiles_of, st.data())
def test_many_people_are_one_person_many_times(profiles, data) -> None:
    """Theorem 2 in the compiled loop: the same parts of items as ``MultiLevel``."""
    plan = plan_histogram(
        FILMS, budgets={"Crime": 0.5, "Drama": 0.5, "War": 0.2}, epsilon=0.3, weighted=True
    )
    weights = [[data.draw(st.floats(0, 1)) for _ in held] for held in profiles]
    task = Histograms(FILMS, weighted=True)
    people = task._people(*lists(profiles), [v for person in weights for v in person])
    rates = np.tile([float(rate) for rate in plan.mechanism.rates], (len(profiles), 1))
    found = task._sums(people, rates)
    for held, own, sums in zip(profiles, weights, found, strict=True):
        values, least = np.zeros(4), np.ones(4)
        for item, weight in zip(held, own, strict=True):
            if 0 <= item < 4:
                least[item] = min(least[item], weight) if values[item] else weight
                values[item] = 1
        expected = plan.mechanism.histogram(WeightedProfile.of(values, least))
        assert sums.tolist() == expected.tolist()


@pytest.mark.parametrize("unit", [None, ITEM_SUBSTITUTE])
def test_everybody_has_their_own_budgets(unit) -> None:
    task = Histograms(FILMS) if unit is None else Histograms(FILMS, unit=unit)
    rng = np.random.default_rng(3)
    budgets, epsilon = rng.dirichlet([1] * 3, 40) + 1e-3, rng.uniform(0.05, 0.5, 40)
    released = task.release(
        *lists([[0, 1]] * 40), budgets=budgets, epsilon=epsilon, source=Source.seeded(1)
    )
    steps = [float(step) for step in task.exposure.steps]
    for scales, own, limit in zip(released.scales, budgets, epsilon, strict=True):
        rates = [1 / Fraction(float(s / step)) for s, step in zip(scales, steps, strict=True)]
        assert task.exposure.overall(rates) <= Fraction(repr(float(limit)))
        alone = task.exposure.alone(rates)
        assert all(t <= Fraction(repr(float(b))) for t, b in zip(alone, own, strict=True))
    assert (released.gap <= 1e-9).all()
    assert not released.private


# post-processing


def test_possible_histograms_are_histograms_of_profiles() -> None:
    """Brute force: no zero-one profile is nearer, and what is possible already stays."""
    table, scales = FILMS.values(), np.array([2.0, 5.0, 1.0])
    rng = np.random.default_rng(1)
    profiles = np.array(list(itertools.product([0, 1], repeat=4)))
    true = profiles @ table
    assert np.allclose(possible(true, scales, FILMS), true, atol=1e-6)
    noisy = true + rng.laplace(size=true.shape) * scales
    found = possible(noisy, scales, FILMS)
    best = min_distance(noisy, true, scales)
    assert (distance(noisy, found, scales) <= best + 1e-9).all()
    assert (found >= -1e-9).all()
    assert (found <= table.sum(axis=0) + 1e-9).all()


def test_a_declared_size_is_kept_to() -> None:
    found = possible(np.array([9.0, 9.0, 9.0]), [1, 1, 1], FILMS, size=1)
    assert found.max() <= 1 + 1e-9
    assert np.allclose(possible(np.array([9.0, 9.0, 9.0]), [1, 1, 1], FILMS, size=0), 0)


def test_clipping_keeps_to_what_all_items_can_make() -> None:
    signed = Catalogue.of([[1, -2], [3, 4]])
    assert clipped(np.array([[-5.0, -5.0], [9.0, 9.0]]), signed).tolist() == [[0, -2], [4, 4]]


def test_post_processing_sees_no_profile() -> None:
    """Equal releases give equal results whatever the profile was: it is never an argument."""
    source = [Source.seeded(5) for _ in range(2)]
    plan, _ = plan_for(FILMS, wishes(), "filmclub.example")
    first = plan.mechanism.release([1, 0, 0, 0], source[0]).value
    again = plan.mechanism.release([1, 0, 0, 0], source[1]).value
    scales = [float(scale) for scale in plan.mechanism.scales]
    assert possible(first, scales, FILMS).tolist() == possible(again, scales, FILMS).tolist()


def distance(a, b, scales):
    return (((a - b) / scales) ** 2).sum(axis=-1)


def min_distance(noisy, true, scales):
    return distance(noisy[:, None], true[None], scales).min(axis=1)


def test_a_plan_made_for_another_catalogue_is_refused() -> None:
    plan = plan_histogram(FILMS.only(["Drama"]), budgets={"Drama": 1}, epsilon=1)
    with pytest.raises(ParameterError, match="made for this catalogue"):
        Histograms(FILMS).release_alike([0, 0], [], plan=plan, source=Source.seeded(1))


def test_mechanism_without_a_catalogue_promises_but_does_not_release() -> None:
    plan, _ = plan_for(FILMS, wishes(), "filmclub.example")
    rebuilt = MultiLevel.from_parameters(plan.mechanism.parameters())
    assert rebuilt == plan.mechanism
    assert rebuilt.guarantee() == plan.mechanism.guarantee()
    with pytest.raises(ParameterError, match="catalogue"):
        rebuilt.release([0, 0, 0, 0], Source.seeded(1))


def test_seven_and_its_text_are_one_item(silent) -> None:
    """Names from a file are text; a list of whole numbers must not be noise that is charged for."""
    films = Catalogue.of([[1], [1], [0]], attributes=["Drama"], items=["7", "12", "Heat"])
    wishes = Preferences.parse("version = 1\nattributes.default = 0.1\nproviders.club.epsilon = 1")
    for items in (["7", "12"], [7, 12, 7]):
        assert numbers(ask(items, wishes, "club", films=films)) == [2]
    assert numbers(ask([8, 9], wishes, "club", films=films)) == [0]
