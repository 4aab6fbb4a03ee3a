"""Which line decides: worked cases, and the amounts against the rules said another way."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reticent.preferences import Preferences
from reticent.preferences.problems import amount

TEXT = """\
version = 1
[items]
default = 0.5
"The Sessions" = 0
Heat = 1
[attributes]
default = 0.1
Drama = 0.02
Comedy = 7
Western = "withhold"
[providers.club]
epsilon = 0.4
"""
PREFS = Preferences.parse(TEXT)


@pytest.mark.parametrize(
    ("attribute", "item", "outcome", "epsilon", "decided", "beats"),
    [
        (None, None, "released", "2/5", 12, []),
        ("Drama", None, "released", "1/50", 8, [7, 12]),
        ("Comedy", None, "released", "2/5", 12, [9, 7]),
        ("Action", None, "released", "1/10", 7, [12]),
        ("Western", None, "withheld", "0", 10, [7, 12]),
        (None, "Heat", "released", "2/5", 12, []),
        (None, "Alien", "released", "1/5", 12, []),
        (None, "The Sessions", "withheld", "0", 4, [3, 12]),
        ("Drama", "The Sessions", "withheld", "0", 4, [3, 8, 7, 12]),
        ("Drama", "Alien", "released", "1/100", 8, [7, 12]),
        ("Western", "The Sessions", "withheld", "0", 10, [7, 12]),
        ("default", "default", "released", "1/20", 7, [12]),
    ],
)
def test_worked_cases(attribute, item, outcome, epsilon, decided, beats) -> None:
    decision = PREFS.explain("club", attribute, item)
    assert (decision.outcome, decision.epsilon) == (outcome, Fraction(epsilon))
    assert decision.decided.line == decided
    assert [rule.line for rule in decision.beats] == beats


def test_the_weight_has_its_line() -> None:
    assert PREFS.explain("club", item="Heat").weighed.line == 5
    assert PREFS.explain("club", item="Alien").weighed.line == 3
    assert PREFS.explain("club", "Drama").weighed is None
    bare = Preferences.parse("version = 1\n[providers.club]\nepsilon = 1")
    decision = bare.explain("club", item="Heat")
    assert (decision.weight, decision.weighed.line) == (1, None)
    assert str(decision.weighed) == 'preferences.toml (no line weighs the item "Heat")'


def test_a_rule_reads_as_the_line_does() -> None:
    decided = PREFS.explain("club", "Drama").decided
    assert str(decided) == "preferences.toml, line 8 (attributes.Drama = 0.02)"
    withheld = PREFS.explain("club", "Western").decided
    assert str(withheld) == 'preferences.toml, line 10 (attributes.Western = "withhold")'
    assert decided.says in TEXT.replace("Drama =", "attributes.Drama =")


def test_what_no_line_allows_is_withheld() -> None:
    bare = Preferences.parse("version = 1\n[providers.club]\nepsilon = 1")
    decision = bare.explain("club", "Drama")
    assert (decision.outcome, decision.decided.line) == ("withheld", None)
    refused = bare.explain("other", "Drama", "Heat")
    assert (refused.outcome, refused.epsilon, refused.beats) == ("refused", 0, ())


AMOUNTS = st.integers(1, 10**7).map(lambda n: Fraction(n, 10**4))
WEIGHTS = st.integers(0, 100).map(lambda n: Fraction(n, 100))


@given(AMOUNTS, st.none() | AMOUNTS, st.none() | AMOUNTS, st.none() | WEIGHTS, st.none() | WEIGHTS)
def test_explain_agrees_with_grant_and_weight(epsilon, named, default, weight, other) -> None:
    rows = ["version = 1", "[providers.club]", f"epsilon = {amount(epsilon)}", "[attributes]"]
    rows += [f"Drama = {amount(named)}"] if named is not None else []
    rows += [f"default = {amount(default)}"] if default is not None else []
    rows += ["[items]", *([f"Heat = {amount(weight)}"] if weight is not None else [])]
    rows += [f"default = {amount(other)}"] if other is not None else []
    prefs = Preferences.parse("\n".join(rows))
    decision = prefs.explain("club", "Drama", "Heat")
    budgets = prefs.grant("club", attributes=("Drama",)).budgets
    least = min(budgets.get("Drama", Fraction(0)), epsilon) * prefs.weight("Heat")
    assert decision.epsilon == least
    assert (decision.outcome == "released") is (least > 0)
    where = decision.decided.line
    assert where is None or rows[where - 1] in f"{decision.decided.says}"
