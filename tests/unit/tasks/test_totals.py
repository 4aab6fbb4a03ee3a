"""Totals by category: a person moves them by no more than the bound says, however tables lie."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

import reticent as rt
from reticent.errors import ParameterError
from reticent.guarantees import PERSON, RECORD, PureDP
from reticent.guarantees.card import Card
from reticent.mechanisms import Totals, verify
from reticent.noise import Source
from reticent.tasks.totals import counting, in_steps, places_in, totals
from reticent.testing import Pair, law_of, verify_law

RECORDS = [(place, step) for place in (-1, 0, 1) for step in (-1, 0, 2)]


def bounded(table, most: int) -> np.ndarray:
    people = np.array([person for person, _ in table], dtype=object)
    places = np.array([record[0] for _, record in table], dtype=np.int64)
    steps = np.array([record[1] for _, record in table], dtype=np.int64)
    kept = counting(people, places, steps, most)
    return totals(np.where(kept, places, -1), steps, 2)


def worlds():
    """Tables of ann with up to three records, beside bob with two."""
    bob = [("bob", (0, 2)), ("bob", (1, -1))]
    for size in range(4):
        for own in itertools.combinations_with_replacement(RECORDS, size):
            yield [("ann", record) for record in own], bob


@pytest.mark.parametrize("most", [1, 2])
def test_theorem_3_a_person_moves_totals_by_at_most_the_bound(most) -> None:
    worst = max(
        np.abs(bounded(own + others, most) - bounded(others, most)).sum()
        for own, others in worlds()
    )
    assert worst == most * 2  # reached, and never more
    control = max(
        np.abs(bounded(own + others, 99) - bounded(others, 99)).sum() for own, others in worlds()
    )
    assert control > most * 2


def test_a_person_loses_epsilon_and_no_less() -> None:
    """The exact law on all small tables, from the records to the released counts."""
    mechanism = Totals(epsilon=1, size=2, records=2)
    law = law_of(mechanism, reach=3)
    counted = [(own, others) for own, others in worlds() if all(r[1] == 2 for _, r in own)]
    ones = [([(p, (at, 1)) for p, (at, _) in own], [("bob", (0, 1))]) for own, _ in counted]
    pairs = [Pair(tuple(own + others), tuple(others), "person") for own, others in ones]

    def released(table, most: int = 2) -> dict:
        return law(bounded(list(table), most).tolist())

    assert verify_law(released, pairs, claim=1).holds
    assert not verify_law(released, pairs, claim=Fraction(98, 100)).holds
    assert not verify_law(lambda table: released(table, 3), pairs, claim=1).holds


@pytest.mark.parametrize("most", [1, 2])
def test_the_order_of_records_changes_nothing(most) -> None:
    for own, others in worlds():
        table = own + others
        expected = bounded(table, most).tolist()
        for order in itertools.islice(itertools.permutations(table), 7):
            assert bounded(list(order), most).tolist() == expected


def test_no_category_is_favoured_when_some_records_do_not_count() -> None:
    table = [(f"p{n}", (place, 1)) for n in range(2000) for place in (0, 1)]
    found = bounded(table, 1)
    assert found.sum() == 2000
    assert abs(found[0] - 1000) < 120  # 5 standard deviations


def test_a_record_of_nobody_or_of_no_category_does_not_count() -> None:
    assert bounded([(None, (0, 2)), ("ann", (-1, 2)), ("ann", (1, 2))], 1).tolist() == [0, 2]
    assert places_in(np.array(["b", None, "c"], dtype=object), ["a", "b"]).tolist() == [1, -1, -1]


def test_values_are_clamped_and_whole_numbers_of_steps() -> None:
    given = np.array([-5.0, 0.26, 9.0, np.nan, np.inf, -np.inf])
    found = in_steps(given, Fraction(0), Fraction(2), Fraction(1, 10))
    assert found.tolist() == [0, 3, 20, 0, 20, 0]


def test_cards_hold_and_tell_errors_in_what_is_added_up() -> None:
    data = {"person": ["a", "a", "b"], "value": [3.0, 800.0, 40.0]}
    answer = rt.Counts(epsilon=1, records=2, upper=500).release(data)
    card = Card.from_json(answer.card.to_json())
    assert verify(card) == []
    assert card.release_event().loss == PureDP.of(1, PERSON)
    scale = 2 * 500
    assert card.utility.within_95 == pytest.approx(scale * np.log(20), rel=1e-3)
    assert "of the true sum" in card.utility.sentence
    assert "if nobody has more than 2 records, no value is outside 0 to 500" in card.words.error
    assert card.utility.bias == (
        "records of a person beyond 2 are left out; values outside 0 to 500 are clamped"
    )
    assert "by at most 1000 in total" in card.how.sensitivity


def test_noise_is_that_of_the_bound() -> None:
    """The law itself is DiscreteLaplace's, tested there; here: which scale a query takes."""
    for query, scale, unit in (
        (rt.Counts(epsilon="0.5", records=3), 6, PERSON),
        (rt.Counts(epsilon="0.5", unit="record"), 2, RECORD),
        (rt.Counts(epsilon=1, upper=50, lower=-200, records=2), 2 * 200, PERSON),
    ):
        assert query.plan().epsilon == ("0.5" if scale < 10 else "1")
        terms = query.terms(query.facts({}))
        assert terms.mechanism.noise.scale * query.step == scale
        assert terms.mechanism.unit == unit


def test_counts_by_category_come_in_the_declared_order() -> None:
    table = {"person": [1, 2, 3, 4], "category": ["b", "a", "a", "z"]}
    query = rt.Counts(epsilon=50)
    given = {"table": table, "categories": ["c", "b", "a"]}
    answer = query.release(given, source=Source.seeded(2))
    assert answer.value == {"c": 0, "b": 1, "a": 2}
    assert answer.terms.rows(answer.value) == [("c", 0), ("b", 1), ("a", 2)]
    assert rt.Counts(epsilon=50, unit="record").release({"value": [1, 2]}).value == 2


@pytest.mark.parametrize(
    ("options", "data", "said"),
    [
        ({}, {"category": ["a"]}, "plays person"),
        ({"upper": 9}, {"person": ["a"]}, "plays value"),
        ({"unit": "record"}, {"table": {"value": [1]}, "categories": ["x"]}, "plays category"),
        ({}, {"table": {"person": ["a"], "category": ["x"]}, "categories": [None]}, "names some"),
    ],
)
def test_columns_that_are_needed(options, data, said) -> None:
    with pytest.raises(ParameterError, match=said):
        rt.Counts(epsilon=1, **options).release(data)


def test_options_that_do_not_go_together() -> None:
    for wrong in ({"unit": "record", "records": 2}, {"lower": 1}, {"upper": 0}):
        with pytest.raises(ParameterError):
            rt.Counts(epsilon=1, **wrong)
