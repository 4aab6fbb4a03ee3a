"""Which line decides: worked cases, and the amounts against the rules said another way."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
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


LINES = st.none() | st.sampled_from(["0.01", "0.05", "0.5", "1"])
BUDGETS = LINES | st.just('"withhold"')
WEIGHED = LINES | st.just("0")


def table(header: str, named: str, lines) -> list[str]:
    shown = zip((named, "default"), lines, strict=True)
    return [f"[{header}]", *(f"{name} = {value}" for name, value in shown if value is not None)]


def oracle(own_name, own_default, name, default):
    """The rules in words: names of the provider, then the smaller of two, then the default."""

    def size(line) -> Fraction:
        return Fraction(0) if line == '"withhold"' else Fraction(line)

    if own_name is not None:
        return size(own_name)
    if own_default is not None and name is not None:
        return min(size(own_default), size(name))
    for line in (own_default, name, default):
        if line is not None:
            return size(line)
    return None


@settings(max_examples=400, deadline=None)
@given(
    st.tuples(BUDGETS, BUDGETS, BUDGETS, BUDGETS),
    st.tuples(WEIGHED, WEIGHED, WEIGHED, WEIGHED),
    st.sampled_from(["0.02", "0.3", "2"]),
)
def test_the_more_exact_line_holds(budgets, weights, epsilon) -> None:
    rows = ["version = 1", *table("attributes", "Drama", budgets[2:])]
    rows += [*table("items", "Heat", weights[2:]), "[providers.club]", f"epsilon = {epsilon}"]
    rows += table("providers.club.attributes", "Drama", budgets[:2])
    rows += table("providers.club.items", "Heat", weights[:2])
    prefs = Preferences.parse("\n".join(rows))
    budget, weight = oracle(*budgets) or Fraction(0), oracle(*weights)
    weight = Fraction(1) if weight is None else weight
    assert (prefs.wishes.budget("Drama", "club") or 0) == budget
    assert prefs.weight("Heat", provider="club") == weight
    assert prefs.wishes.item_lines("Heat", "club")[0][1] == weight
    assert prefs.grant("club", attributes=["Drama"]).budgets.get("Drama", 0) == budget
    alone = oracle(None, None, *weights[2:])
    assert prefs.weight("Heat") == (Fraction(1) if alone is None else alone)
    decision = prefs.explain("club", "Drama", "Heat")
    assert decision.epsilon == weight * min(budget, Fraction(epsilon))
    for rule in (decision.decided, *decision.beats):
        assert rule.line is None or rule.says.endswith(rows[rule.line - 1])
    told = [rule for rule in (decision.decided, *decision.beats) if "Drama" in rule.says]
    assert len([rule for rule in told if rule.line]) == sum(
        line is not None for line in (budgets[0], budgets[2])
    )


OWN = f"""{TEXT}
[providers.club.attributes]
Drama = 0.01
Western = 0.3
default = 0.05
[providers.club.items]
Heat = 0
default = 0.8
[providers.other]
epsilon = 0.4
"""
EXCEPTIONS = Preferences.parse(OWN)


@pytest.mark.parametrize(
    ("attribute", "item", "epsilon", "decided", "beats", "weighed"),
    [
        ("Drama", None, "1/100", 15, [8, 17, 7, 12], None),
        ("Western", None, "3/10", 16, [10, 17, 7, 12], None),
        ("Comedy", None, "1/20", 17, [9, 7, 12], None),
        ("Action", None, "1/20", 17, [7, 12], None),
        (None, "Heat", "0", 19, [20, 5, 3, 12], None),
        (None, "The Sessions", "0", 4, [20, 3, 12], None),
        (None, "Alien", "8/25", 12, [], 20),
    ],
)
def test_lines_of_a_provider(attribute, item, epsilon, decided, beats, weighed) -> None:
    decision = EXCEPTIONS.explain("club", attribute, item)
    assert decision.epsilon == Fraction(epsilon)
    assert decision.decided.line == decided
    assert [rule.line for rule in decision.beats] == beats
    assert (decision.weighed and decision.weighed.line) == weighed


@pytest.mark.parametrize("attribute", [None, "Drama", "Western", "Action"])
@pytest.mark.parametrize("item", [None, "Heat", "The Sessions", "Alien"])
def test_lines_of_one_provider_are_nothing_to_another(attribute, item) -> None:
    before, after = (
        PREFS.explain("club", attribute, item),
        EXCEPTIONS.explain("other", attribute, item),
    )
    assert (after.outcome, after.epsilon) == (before.outcome, before.epsilon)


def test_a_provider_line_reads_as_it_is_typed() -> None:
    decided = EXCEPTIONS.explain("club", "Drama").decided
    assert str(decided) == "preferences.toml, line 15 (providers.club.attributes.Drama = 0.01)"
