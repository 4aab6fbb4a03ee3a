"""A person's histogram through a ledger, and without one."""

import numpy as np
import pytest

from reticent.data.catalogue import Catalogue
from reticent.errors import BudgetExceeded, ParameterError
from reticent.guarantees.card_views import card_text
from reticent.ledger import open_ledger
from reticent.mechanisms.modular import WeightedProfile
from reticent.mechanisms.multilevel import MultiLevel
from reticent.noise import Source
from reticent.preferences import Preferences
from reticent.tasks.charged import Payer, standings
from reticent.tasks.histogram import payer_of, profile_of, release_histogram

FILMS = Catalogue.of([[1], [1]], attributes=["Drama"], items=["Heat", "Up"])
TOML = """version = 1
attributes = {Drama = 0.1}
[providers."club.example"]
epsilon = 0.4
total = 0.25
renews = "monthly"
[providers."shop.example"]
epsilon = 0.4
items = {Up = 0}
"""
CLUB = "club.example"
WISHES = Preferences.parse(TOML)


@pytest.fixture
def ledger(tmp_path):
    with open_ledger(tmp_path / "ledger.db") as held:
        yield held


def release(provider=CLUB, wishes=WISHES, **options):
    source = Source.system()
    return release_histogram(["Heat"], FILMS, wishes, provider=provider, source=source, **options)


def test_without_a_ledger_the_card_says_so() -> None:
    made = release()
    assert made.budget is None
    card = made.card("Ann's films")
    assert card.budget is None
    assert "Made without a ledger" in " ".join(card_text(card).split())


def test_the_card_states_the_budget_without_being_told(ledger) -> None:
    release(ledger=ledger, subject="ann")
    budget = release(ledger=ledger, subject="ann").card("Ann's films").budget
    assert (budget.spent, budget.limit, budget.renews) == ("0.2", "0.25", "monthly")


def test_a_total_is_enforced_and_nothing_is_drawn(ledger, monkeypatch) -> None:
    for _ in range(2):
        release(ledger=ledger, subject="ann")
    monkeypatch.setattr(MultiLevel, "release", lambda *_: pytest.fail("something was drawn"))
    with pytest.raises(BudgetExceeded) as refused:
        release(ledger=ledger, subject="ann")
    tenth = 10**8
    assert (refused.value.asked, refused.value.left) == (tenth, tenth // 2)
    assert refused.value.missing == tenth // 2


def test_accounts_are_of_one_person_with_one_provider(ledger) -> None:
    release(ledger=ledger, subject="ann")
    release(ledger=ledger, subject="bob")
    shop = release("shop.example", ledger=ledger, subject="ann")
    assert shop.budget.limit == "none"
    payers = [payer_of(name, WISHES, CLUB) for name in ("ann", "bob", "cid")]
    payers.append(Payer(subject="ann", provider="shop.example"))
    assert [one.spent for one in standings(ledger, payers)] == [10**8, 10**8, 0, 10**8]


def test_the_same_key_repeats_it(ledger) -> None:
    first, again = (release(ledger=ledger, subject="ann", key="1") for _ in range(2))
    assert np.array_equal(first.values, again.values)
    assert (first.replayed, again.replayed) == (False, True)
    assert again.budget.spent == "0.1"


@pytest.mark.parametrize("options", [{"subject": "ann"}, {"key": "1"}])
def test_a_subject_or_key_without_a_ledger_is_a_mistake(options) -> None:
    with pytest.raises(ParameterError, match="ledger must be given"):
        release(**options)


def test_a_ledger_needs_a_subject(ledger) -> None:
    with pytest.raises(ParameterError, match="subject must be the person"):
        release(ledger=ledger)


def test_weights_are_those_of_the_provider() -> None:
    assert isinstance(profile_of(["Up"], FILMS, WISHES, provider=CLUB), np.ndarray)
    shop = profile_of(["Up"], FILMS, WISHES, provider="shop.example")
    assert isinstance(shop, WeightedProfile)
    assert shop.weights.tolist() == [1 << 20, 0]
