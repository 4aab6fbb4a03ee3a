"""A mapping as a query: the search it is made from, what is kept of it, and what its card says."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import reticent as rt
from reticent.errors import ParameterError
from reticent.ledger import open_reading
from reticent.ledger.reports import entries
from reticent.noise import Source
from reticent.queries import publish
from reticent.queries.binding import Given
from reticent.queries.card_checks import recomputed
from reticent.tasks.learnt_mapping import LearntMapping
from reticent.tasks.recoding_files import recoding_from_json
from reticent.tasks.training import Training

RNG = np.random.default_rng(5)
AGE = RNG.choice(["young", "old"], 400)
HOME = RNG.choice(["city", "land", "sea"], 400)
INCOME = np.where((AGE == "old") ^ (RNG.random(400) < 0.2), "high", "low")
HEALTH = np.where((HOME == "sea") ^ (RNG.random(400) < 0.3), "well", "ill")
PEOPLE = {"age": AGE, "home": HOME, "income": INCOME}
QUERY = rt.Mapping(secret="income", delta="0.1")


def read_training(query, data):
    """The search that a query asks for, and the people of a table that it would learn from."""
    tables = Given.of(query.reads({}), data, None).private({})
    terms = query.terms(query.facts(tables))
    return terms.mechanism, terms.training(tables["table"])


def released(query=QUERY, data=PEOPLE, **more):
    return query.release(data, source=Source.seeded(3), **more)


def test_it_is_the_mapping_that_the_search_finds() -> None:
    made = released().value
    alphabet = rt.Alphabet.of(np.column_stack([AGE, HOME]), INCOME)
    found = rt.learn_mapping(
        alphabet, rt.Limits(delta=0.1), columns=["age", "home"], secret="income"
    )
    channel, own = found.recoding.mechanism.channel, made.recoding.mechanism.channel
    assert own.outs.tolist() == channel.outs.tolist()
    assert own.chances == pytest.approx(channel.chances, abs=1e-12)
    assert made.recoding.profiles.tolist() == found.recoding.profiles.tolist()
    assert made.found.untouched == pytest.approx(found.untouched_bits, rel=5e-3)
    assert made.found.least_bits <= found.leak_bits <= made.statement.bits
    assert made.found.exponential > made.statement.distortion


def test_rows_in_another_order_are_the_same_people() -> None:
    order = RNG.permutation(400)
    shuffled = {name: cells[order] for name, cells in PEOPLE.items()}
    assert publish.fields(released()) == publish.fields(released(data=shuffled))


def test_numbers_of_a_file_and_of_a_frame_are_the_same_text(tmp_path) -> None:
    frame = {"age": [20, 30] * 50, "income": ["low", "high", "high", "low", "high"] * 20}
    path = tmp_path / "people.csv"
    lines = [f"{age},{income}" for age, income in zip(*frame.values(), strict=True)]
    path.write_text("\n".join(["age,income", *lines]))
    assert publish.fields(released(data=frame)) == publish.fields(released(data=path))


def test_figures_have_three_digits() -> None:
    """In full precision each would be a fingerprint of the training people's counts."""
    found = released(replace(QUERY, held_out="0.25")).value.plain()["found"]
    reals = [value for value in found.values() if isinstance(value, float)]
    assert len(reals) >= 5
    assert [value for value in reals if float(f"{value:.3g}") != value] == []


def test_the_card_promises_nothing_and_can_be_recomputed() -> None:
    card = released().card
    assert card.promise.kind == "unprotected"
    assert card.scope.protected.startswith("nobody")
    assert recomputed(card.model_copy(update={"event": card.event})) == []
    told = json.loads(card.to_json())
    told["event"]["parameters"]["delta"] = 0.5
    assert any(
        "utility" in problem for problem in recomputed(type(card).from_json(json.dumps(told)))
    )


def test_profiles_are_released_through_the_answer_or_its_file(tmp_path) -> None:
    answer = released()
    path = tmp_path / "mapping.json"
    path.write_text(publish.as_json(answer))
    table = {"person": ["ann", "bob"], "age": ["old", "young"], "home": ["sea", "city"]}
    found = [
        rt.Profile().release({"mapping": held, "table": table}, source=Source.seeded(1)).value
        for held in (answer, path, str(path), answer.value.recoding)
    ]
    assert found[0].keys() == {"ann", "bob"}
    assert all(one == found[0] for one in found)
    with pytest.raises(ParameterError, match="an answer of another query"):
        recoding_from_json(path.read_text().replace('"kind": "mapping"', '"kind": "tree"'))


def test_what_was_kept_is_shown_again() -> None:
    made = released().value
    again = LearntMapping.of_plain(json.loads(json.dumps(made.plain())))
    assert again.plain() == made.plain()
    for lacking in ("found", "mapping"):
        with pytest.raises((ParameterError, KeyError)):
            LearntMapping.of_plain({k: v for k, v in made.plain().items() if k != lacking})
    with pytest.raises(ParameterError, match="a whole answer"):
        LearntMapping.of_plain({**made.plain(), "found": {"values": 2, "wide": []}})


def test_columns_are_known_by_role_name_or_by_rest() -> None:
    named = {"who": [f"p{n}" for n in range(400)], **PEOPLE, "health": HEALTH}
    with pytest.raises(rt.ReticentError, match="different for every person, who"):
        released(data=named)
    all_others = released(data=named, columns={"person": "who"})
    assert all_others.value.recoding.columns == ("age", "home", "health")
    chosen = released(rt.Mapping(secret="INCOME", delta="0.1", public="Home,age"), data=named)
    assert chosen.value.recoding.columns == ("Home", "age")
    users = {"user": named["who"], **PEOPLE}
    assert released(data=users).value.recoding.columns == ("age", "home")
    users = {"user": AGE, "home": HOME, "income": INCOME}
    own = released(rt.Mapping(secret="income", delta="0.1", public="user,home"), data=users)
    assert own.value.recoding.columns == ("user", "home")


def test_each_of_two_secrets_has_its_own_limit() -> None:
    data = {**PEOPLE, "health": HEALTH}
    asked = rt.Mapping(secret="income,health", leak={"Health": "0.05", "income": "0.1"})
    told = released(asked, data).value.statement.by_secret
    assert (told["income"] <= 0.1, told["health"] <= 0.05) == (True, True)
    assert asked.to_plain()["leak"] == {"Health": "0.05", "income": "0.1"}
    assert asked == rt.Mapping(secret=["income", "health"], leak="income=0.1,Health=1/20")


def test_people_held_out_are_others() -> None:
    search, people = read_training(replace(QUERY, held_out="0.25"), PEOPLE)
    assert (len(people.profiles), len(people.others[0])) == (300, 100)
    assert search.held_out == 0.25
    made = released(replace(QUERY, held_out="0.25")).value
    assert (made.people, made.held_out.people + made.held_out.left_out) == (300, 100)


def test_a_ledger_notes_it_and_a_key_repeats_it(tmp_path) -> None:
    given = {"ledger": tmp_path / "l.db", "data_set": "census", "key": "1"}
    first, again = released(**given), released(**given)
    assert (first.spent, again.replayed) == ("0", True)
    assert publish.as_json(first) == publish.as_json(again)
    with pytest.raises(ParameterError, match="total must be left out"):
        released(**given, total=1)
    with open_reading(given["ledger"]) as connection:
        (line,) = entries(connection)
        assert (line.nano, line.answered) == (0, True)


def test_a_plan_reads_nobody() -> None:
    plan = rt.Mapping(secret="income", leak="0.05").plan()
    assert plan.epsilon == "0"
    assert "Nothing bounds" in str(plan)
    assert "as little as 0.05 bits" in plan.error


def test_values_hold_no_people_when_they_are_printed() -> None:
    assert "city" not in repr(read_training(QUERY, PEOPLE)[1])
    assert "city" not in repr(released())
    assert isinstance(read_training(QUERY, PEOPLE)[1], Training)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({}, "delta must be given"),
        ({"delta": 0.1, "leak": 0.1}, "delta must be given"),
        ({"delta": 2}, "delta must be a share"),
        ({"leak": -1}, "leak must be bits"),
        ({"leak": {"health": 1}}, "leak must be bits for each secret"),
        ({"delta": 0, "leak": 0.1}, "not both, got 'given'"),
        ({"leak": [1, 2]}, "leak must be a finite number, or names with numbers"),
        ({"leak": float("nan")}, "leak must be a finite number, or names with numbers"),
        ({"leak": 10**400}, "leak must be numbers between"),
        ({"leak": {"income": 10**400}}, "leak must be numbers between"),
        ({"delta": 0.1, "seconds": 10**400}, "seconds must be numbers between"),
        ({"delta": 0.1, "epsilon": 10**400}, "epsilon must be numbers between"),
        ({"delta": 0.1, "weights": {"age": Fraction(1, 10**400)}}, "weights must be numbers betw"),
        ({"delta": 0.1, "bins": {"age": Fraction(1, 10**400)}}, "bins must be numbers between"),
        ({"delta": 0.1, "bins": {"age": 0}}, "bins must be names with numbers above 0"),
        ({"delta": 0.1, "public": []}, "public must be names"),
        ({"delta": 0.1, "public": "age", "bins": {"home": 2}}, "bins must be of columns"),
        ({"delta": 0.1, "public": "age,Income"}, "public must be without the secret"),
        ({"delta": 0.1, "secret": "income,Income"}, "secret must be columns, each named once"),
        ({"delta": 0.1, "held_out": 1}, "held_out must be a share"),
        ({"delta": 0.1, "seconds": -1}, "seconds must be 0 or more"),
        ({"delta": 0.1, "unknown": "refuse", "radius": -1}, "radius must be 0 or more"),
    ],
)
def test_what_no_mapping_can_be_asked_for(options, says) -> None:
    with pytest.raises(ParameterError, match=says):
        rt.Mapping(**{"secret": "income", **options})


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"at_least": 401}, "at_least must be less: no profile .* profiles more common, got 401"),
        ({"held_out": "0.9"}, "held_out must be a smaller share: the people left"),
        ({"delta": None, "leak": 0}, "leak must be above 0, as 0.001, with more than 5 profiles"),
        ({"epsilon": 1}, "epsilon must be left out with more than 5 profiles"),
        ({"epsilon": 31}, "epsilon must be positive and at most 30"),
    ],
)
def test_people_that_nothing_can_be_learnt_from_are_refused_before_it_is_noted(
    options, says, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr("reticent.optim.mapping_baselines.MOST_PERFECT", 5)
    monkeypatch.setattr("reticent.tasks.learning.MOST_FLOORED", 5)
    alone = np.where(np.arange(400) == 0, "high", "low")
    data = PEOPLE | {"income": alone} if "held_out" in options else PEOPLE
    query, ledger = replace(QUERY, **options), tmp_path / "l.db"
    with pytest.raises(ParameterError, match=says):
        released(query, data, ledger=ledger, data_set="census")
    assert not ledger.exists()


def test_a_card_says_what_else_changes_profiles() -> None:
    """Control: of a mapping that has no floor and replaces no profile, the share is all."""
    made = released(replace(QUERY, delta="0.01", epsilon="0.1", at_least=2))
    assert made.value.statement.distortion > 0.1
    more = "; replacing rare profiles or bounding the worst case (epsilon 0.1) changes more"
    assert made.card.utility.sentence.endswith(more)
    plain = released(replace(QUERY, delta="0.10001"))
    assert plain.card.utility.sentence == (
        "profiles change by at most 10.1 %, on average over the people it is learnt from"
    )


def test_a_card_names_the_limit_of_each_secret() -> None:
    query = rt.Mapping(secret="income,health", leak={"health": 0.02, "income": 0.01})
    limits = "0.01 bits about income, 0.02 bits about health allow"
    assert limits in query.plan().error
    together = rt.Mapping(secret="income,health", leak=0.02)
    assert "0.02 bits about income, health allow" in together.plan().error


def test_a_card_protects_nobody_against_nobody() -> None:
    card = released().card
    assert card.scope.observer == "nobody"
    assert any(one.startswith("whoever has the mapping") for one in card.scope.not_against)


def test_columns_may_be_called_by_numbers() -> None:
    data = {0: AGE, 1: INCOME}
    assert released(replace(QUERY, secret="1"), data).value.recoding.columns == ("0",)
    with pytest.raises(ParameterError, match="columns of different names"):
        released(data={**PEOPLE, 1: AGE, "1": AGE})


def test_a_released_profile_is_never_said_to_help_more_than_the_true_one() -> None:
    """Control: to the nearest, the figure of the true one would be below that of the released."""
    below = 0
    for many in range(381, 400, 3):
        cut = {"age": AGE[:many], "home": HOME[:many], "health": HEALTH[:many]}
        made = released(rt.Mapping(secret="health", delta=0), cut).value
        assert made.hides_nothing
        assert made.found.guessed == made.statement.guesses[1]
        pairs, counts = np.unique(np.column_stack(list(cut.values())), axis=0, return_counts=True)
        best = {}
        for (age, home, _), count in zip(pairs.tolist(), counts.tolist(), strict=True):
            best[age, home] = max(best.get((age, home), 0), count)
        below += float(f"{sum(best.values()) / many:.3g}") < made.statement.guesses[1]
    assert below > 0
