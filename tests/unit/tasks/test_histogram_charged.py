"""A person's histogram through a ledger, and without one."""

import numpy as np
import pytest

import reticent as rt
from reticent.data.catalogue import Catalogue
from reticent.errors import BudgetExceeded, ParameterError
from reticent.guarantees.card_views import card_text
from reticent.ledger import open_ledger
from reticent.mechanisms.multilevel import MultiLevel
from reticent.preferences import Preferences
from reticent.tasks.charged import Payer, standings
from reticent.tasks.histogram import payer_of

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


def release(provider=CLUB, wishes=WISHES, person="ann", **options):
    table = {"profiles": {"person": [person], "item": ["Heat"]}, "catalogue": FILMS}
    query = rt.Histogram(provider=provider, person=person)
    return query.release(table, preferences=wishes, **options)


def test_without_a_ledger_the_card_says_so() -> None:
    card = release().card
    assert card.budget is None
    assert "Made without a ledger" in " ".join(card_text(card).split())


def test_the_card_states_the_budget_without_being_told(ledger) -> None:
    release(ledger=ledger)
    budget = release(ledger=ledger).card.budget
    assert (budget.spent, budget.limit, budget.renews) == ("0.2", "0.25", "monthly")


def test_a_total_is_enforced_and_nothing_is_drawn(ledger, monkeypatch) -> None:
    for _ in range(2):
        release(ledger=ledger)
    monkeypatch.setattr(MultiLevel, "release", lambda *_: pytest.fail("something was drawn"))
    with pytest.raises(BudgetExceeded) as refused:
        release(ledger=ledger)
    tenth = 10**8
    assert (refused.value.asked, refused.value.left) == (tenth, tenth // 2)
    assert refused.value.missing == tenth // 2


def test_accounts_are_of_one_person_with_one_provider(ledger) -> None:
    release(ledger=ledger)
    release(person="bob", ledger=ledger)
    shop = release("shop.example", ledger=ledger)
    assert shop.budget.limit == "none"
    payers = [payer_of(name, WISHES, CLUB) for name in ("ann", "bob", "cid")]
    payers.append(Payer(subject="ann", provider="shop.example"))
    assert [one.spent for one in standings(ledger, payers)] == [10**8, 10**8, 0, 10**8]


def test_the_same_key_repeats_it(ledger) -> None:
    first, again = (release(ledger=ledger, key="1") for _ in range(2))
    assert first.value == again.value
    assert (first.replayed, again.replayed) == (False, True)
    assert again.budget.spent == "0.1"


def test_a_key_without_a_ledger_is_a_mistake() -> None:
    with pytest.raises(ParameterError, match="key must be left out"):
        release(key="1")


def test_weights_are_those_of_the_provider(monkeypatch) -> None:
    nothing = lambda *, scale, size=None, source: np.zeros(size or len(scale), dtype=np.int64)  # noqa: E731
    monkeypatch.setattr("reticent.mechanisms.multilevel.discrete_laplace", nothing)
    table = {"profiles": {"person": ["ann"], "item": ["Up"]}, "catalogue": FILMS}
    for provider, seen in ((CLUB, 1), ("shop.example", 0)):
        query = rt.Histogram(provider=provider, person="ann")
        assert query.release(table, preferences=WISHES).value["ann"] == {"Drama": seen}
