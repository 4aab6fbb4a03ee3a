"""Learning a mapping from people: limits, unknown profiles, repeats, scikit-learn's battery."""

import math
from fractions import Fraction

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import check_estimator

from reticent.errors import ParameterError
from reticent.ledger import open_reading
from reticent.ledger.reports import entries
from reticent.noise import Source
from reticent.optim.mapping import Channel
from reticent.tasks.leakage import counted, leak_under, leaks
from reticent.tasks.learning import floored
from reticent.tasks.profiles import SparseMapping
from reticent.tasks.recoding import ReleaseOnce

RNG = np.random.default_rng(1)
PEOPLE = np.array([["a", "b", "c"][i] for i in RNG.integers(0, 3, 3000)]).reshape(-1, 3)
INCOME = ((PEOPLE == "a").sum(axis=1) + RNG.integers(0, 2, 1000) > 1).astype(int)
HEALTH = ((PEOPLE == "b").sum(axis=1) + RNG.integers(0, 2, 1000) > 1).astype(int)


def fitted(**parameters):
    return SparseMapping(source=Source.seeded(1), **parameters).fit(PEOPLE, INCOME)


def test_the_leak_falls_and_the_distortion_is_kept() -> None:
    bits = []
    for delta in (0.0, 0.02, 0.1):
        mapping = fitted(delta=delta)
        assert mapping.distortion_ <= delta + 1e-9
        bits.append(mapping.leak_bits_)
        assert mapping.learnt_.solution.relative_gap <= 1e-3
    assert bits == sorted(bits, reverse=True)
    assert bits[0] == pytest.approx(fitted(delta=0).untouched_bits_, abs=1e-9)


def test_a_limit_on_the_leak_is_kept_with_little_distortion() -> None:
    mapping = fitted(leak_bits=0.05)
    assert mapping.leak_bits_ <= 0.05
    less = fitted(delta=0.9 * mapping.distortion_)
    assert less.leak_bits_ > 0.05


def test_each_private_column_has_its_own_limit() -> None:
    secrets = np.column_stack([INCOME, HEALTH])
    mapping = SparseMapping(leak_bits=[0.05, 0.2]).fit(PEOPLE, secrets)
    joint = mapping.learnt_.alphabet.joint
    own = leaks(mapping.mechanism_.channel, joint, mapping.learnt_.alphabet.secrets)
    assert own[0] <= 0.05 + 1e-9
    assert own[1] <= 0.2 + 1e-9


def test_released_profiles_are_of_the_alphabet_and_follow_the_table() -> None:
    mapping = fitted(delta=0.1)
    released = mapping.transform(PEOPLE)
    known = {tuple(row) for row in mapping.recoding_.profiles.tolist()}
    assert {tuple(row) for row in released.tolist()} <= known
    moved = (released != PEOPLE).mean()
    assert moved == pytest.approx(mapping.distortion_, abs=0.02)


def test_an_epsilon_floor_is_a_worst_case_and_costs_distortion() -> None:
    mapping = fitted(delta=0.05, epsilon=6.0)
    assert mapping.mechanism_.worst_case_epsilon() <= 6.0 + 1e-9
    assert mapping.learnt_.cost_of_epsilon > 0
    assert mapping.distortion_ == pytest.approx(0.05 + mapping.learnt_.cost_of_epsilon, abs=1e-6)
    whole = floored(Channel.identity(5), 2.0).dense()
    assert 2 - 2e-5 <= math.log(whole.max() / whole.min()) <= 2
    assert np.allclose(whole.sum(axis=0), 1)


@pytest.mark.parametrize("epsilon", [0.01, 1, 10, 29.99])
def test_an_epsilon_floor_holds_for_the_integer_table(epsilon) -> None:
    assert fitted(delta=0.05, epsilon=epsilon).mechanism_.worst_case_epsilon() <= epsilon


def test_profiles_outside_the_alphabet() -> None:
    odd = np.array([["a", "b", "z"]])
    near = fitted(delta=0).transform(odd)[0]
    assert near.tolist()[:2] == ["a", "b"]
    far = np.array([["x", "y", "z"]])
    withheld = fitted(delta=0, unknown="withhold", radius=0.5)
    assert withheld.transform(far)[0].tolist() == [None, None, None]
    assert withheld.transform(odd)[0].tolist()[:2] == ["a", "b"]
    with pytest.raises(ParameterError, match="declared radius"):
        fitted(delta=0, unknown="refuse", radius=0.5).transform(far)


def test_a_person_is_released_once() -> None:
    once = ReleaseOnce(SparseMapping(delta=0.2).fit(PEOPLE, INCOME).recoding_, Source.system())
    first = once.release("ann", PEOPLE[0])
    assert all(once.release("ann", row) == first for row in PEOPLE[:50])
    assert len(once.store) == 1


def test_held_out_people_are_told_about_more() -> None:
    half = SparseMapping(delta=0.05).fit(PEOPLE[:500], INCOME[:500])
    known = half.learnt_.alphabet.secrets
    counts, left = counted(half.recoding_, known, PEOPLE[500:], INCOME[500:])
    assert counts.sum() + left == 500
    assert leak_under(half.mechanism_.channel, half.learnt_.alphabet.counts) == pytest.approx(
        half.leak_bits_
    )
    assert leak_under(half.mechanism_.channel, counts[:, :-1]) > half.leak_bits_


@pytest.mark.parametrize(
    ("parameters", "problem"),
    [
        ({}, "delta must be given"),
        ({"delta": 0.1, "leak_bits": 0.1}, "delta must be given"),
        ({"delta": -1}, "delta must be"),
        ({"leak_bits": -1}, "leak_bits must be"),
        ({"leak_bits": [0.1, 0.1]}, "one limit or 1"),
        ({"delta": 0.1, "epsilon": 0}, "epsilon must be"),
        ({"delta": 0.1, "epsilon": 31}, "epsilon must be"),
        ({"delta": 0.1, "at_least": 5, "unknown": "withhold"}, "unknown must be"),
        ({"delta": 0.1, "unknown": "guess"}, "unknown must be"),
        ({"delta": 0.1, "epsilon": 1, "unknown": "withhold", "radius": 0.1}, "nearest where eps"),
        ({"delta": 0.1, "epsilon": 1, "unknown": "refuse", "radius": 0.1}, "nearest where eps"),
        ({"delta": 0.1, "measure": "l7"}, "measure must be"),
    ],
)
def test_wrong_parameters(parameters, problem) -> None:
    with pytest.raises(ParameterError, match=problem):
        SparseMapping(**parameters).fit(PEOPLE, INCOME)


def test_other_distances() -> None:
    points = RNG.integers(0, 4, (300, 2)).astype(float)
    secret = (points[:, 0] > 1).astype(int)
    squared = SparseMapping(delta=0.3, measure="squared").fit(points, secret)
    given = SparseMapping(delta=0.3, measure=lambda a, b: float(((a - b) ** 2).sum()))
    given.fit(points, secret)
    assert squared.leak_bits_ == pytest.approx(given.leak_bits_, abs=2e-3)
    heavy = fitted(delta=0.05, column_weights=[1, 0, 0])
    assert heavy.leak_bits_ < fitted(delta=0.05).leak_bits_


RANDOM = "every release is drawn anew, so two calls differ"
EXPECTED = {
    "check_estimators_pickle": RANDOM,
    "check_fit_idempotent": RANDOM,
}


def test_scikit_learns_battery() -> None:
    results = check_estimator(
        SparseMapping(delta=0.1), expected_failed_checks=EXPECTED, on_fail=None, on_skip=None
    )
    assert len(results) >= 40
    failed = [r["check_name"] for r in results if r["status"] == "failed"]
    assert failed == []
    declared = {r["check_name"] for r in results if r["status"] == "xfail"}
    assert declared <= set(EXPECTED)


def test_a_ledger_notes_what_was_learnt_and_charges_nothing(tmp_path) -> None:
    where = {"ledger": tmp_path / "l.db", "data_set": "census"}
    SparseMapping(delta=0.2, column_weights=[1, 2, 3], **where).fit(PEOPLE, INCOME)
    with open_reading(tmp_path / "l.db") as connection:
        (line,) = entries(connection)
        assert (line.nano, line.answered) == (0, True)
    for wrong in ({"ledger": where["ledger"]}, {"data_set": "census"}):
        with pytest.raises(ParameterError, match="data_set must be a name"):
            SparseMapping(delta=0.2, **wrong).fit(PEOPLE, INCOME)


def test_a_ledger_notes_numbers_of_whatever_type(tmp_path) -> None:
    where = {"ledger": tmp_path / "l.db", "data_set": "census"}
    numbers = {"delta": np.float32(0.2), "at_least": np.int64(2), "seconds": Fraction(100)}
    SparseMapping(**numbers, **where).fit(PEOPLE, INCOME)
    with open_reading(tmp_path / "l.db") as connection:
        assert [line.answered for line in entries(connection)] == [True]


def test_a_stopped_search_warns() -> None:
    with pytest.warns(ConvergenceWarning, match="stopped"):
        SparseMapping(leak_bits=0.05, seconds=0).fit(PEOPLE, INCOME)


def test_columns_keep_their_names() -> None:
    mapping = fitted(delta=0.1)
    assert mapping.get_feature_names_out(["x", "y", "z"]).tolist() == ["x", "y", "z"]
