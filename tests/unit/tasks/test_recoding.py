"""Releasing through a mapping, without scikit-learn: alphabets, unknown rows, files, learning."""

import json
import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import numpy as np
import pytest

from reticent.errors import ParameterError
from reticent.noise import Source
from reticent.optim.mapping import Channel
from reticent.tasks.leakage import (
    counted,
    features,
    leak_if_wrong,
    leak_under,
)
from reticent.tasks.learning import Limits, learn_mapping, trade_off
from reticent.tasks.recoding import Alphabet, Measure, Recoding, ReleaseOnce
from reticent.tasks.recoding_files import recoding_from_json, recoding_to_json

RNG = np.random.default_rng(3)
PEOPLE = np.array([["a", "b", "c"][i] for i in RNG.integers(0, 3, 3000)]).reshape(-1, 3)
SECRET = ((PEOPLE == "a").sum(axis=1) + RNG.integers(0, 2, 1000) > 1).astype(int)
ALPHABET = Alphabet.of(PEOPLE, SECRET)


def learnt(**limits):
    return learn_mapping(ALPHABET, Limits(**limits), columns=["x", "y", "z"], secret="income")


def test_files_give_the_same_recoding_back() -> None:
    recoding = learnt(delta=0.1).recoding
    text = recoding_to_json(recoding)
    again = recoding_from_json(text)
    assert again.mechanism == recoding.mechanism
    assert again.columns == ("x", "y", "z")
    assert again.profiles.tolist() == recoding.profiles.tolist()
    assert again.mechanism.statement == recoding.mechanism.statement
    assert again.fingerprint == recoding.fingerprint
    assert recoding_to_json(again) == text
    assert again.mechanism.guarantee() == recoding.mechanism.guarantee()
    same = recoding.release(PEOPLE[0], Source.seeded(1)).value
    assert again.release(PEOPLE[0], Source.seeded(1)).value == same


def test_numbers_stay_numbers_in_files() -> None:
    points = RNG.integers(0, 5, (200, 2)).astype(float)
    alphabet = Alphabet.of(points, (points[:, 0] > 2).astype(int))
    made = learn_mapping(alphabet, Limits(delta=0.4), measure=Measure("squared"))
    again = recoding_from_json(recoding_to_json(made.recoding))
    assert again.profiles.dtype == np.float64
    assert again.release([1.2, 0.1], Source.system()).value is not None


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.pop("parts"),
        lambda data: data["parts"].__setitem__(0, "1"),
        lambda data: data["outs"].__setitem__(0, 10**6),
        lambda data: data["cover"].__setitem__(0, 0.5),
        lambda data: data["statement"].__setitem__("bits", 0.0),
        lambda data: data["statement"].pop("sample"),
        lambda data: data.__setitem__("nonce", ""),
        lambda data: data["profiles"].pop(),
        lambda data: data.__setitem__("schema", "other/1"),
        lambda data: data.__setitem__("unknown", "guess"),
        lambda data: data["measure"].__setitem__("kind", "l7"),
        lambda data: data["columns"].pop(),
        lambda data: data["starts"].reverse(),
    ],
)
def test_a_changed_file_is_an_error(change) -> None:
    data = json.loads(recoding_to_json(learnt(delta=0.1).recoding))
    change(data)
    with pytest.raises(ParameterError):
        recoding_from_json(json.dumps(data))


def test_what_is_no_file_is_an_error() -> None:
    for text in ("", "[]", "{", "3", '{"schema": "profile-mapping/1"}'):
        with pytest.raises(ParameterError, match="mapping must be"):
            recoding_from_json(text)


def test_a_function_cannot_be_written() -> None:
    made = learn_mapping(
        ALPHABET, Limits(delta=0.1), measure=Measure(lambda a, b: float((a != b).sum()))
    )
    with pytest.raises(ParameterError, match="hamming or squared in a file"):
        recoding_to_json(made.recoding)


def test_rare_profiles_count_at_the_nearest_common_one() -> None:
    people = np.array([["a", "a"]] * 10 + [["b", "b"]] * 10 + [["b", "c"]])
    alphabet = Alphabet.of(people, np.array([0] * 10 + [1] * 11))
    common = alphabet.at_least(5, Measure())
    assert len(common.profiles) == 2
    assert common.counts.sum() == 21
    assert common.counts[1].max() == 11
    assert common.moved == pytest.approx(0.5 / 21)
    made = learn_mapping(common, Limits(delta=0))
    assert made.recoding.release(["b", "c"], Source.system()).value == ("b", "b")
    with pytest.raises(ParameterError, match="all are rarer"):
        alphabet.at_least(11, Measure())


@pytest.mark.parametrize("mixed", [False, True])
def test_counts_give_the_alphabet_of_the_people(mixed: bool) -> None:
    """Also where a pair was counted in two places; of mixed types, in the order of the people."""
    rng = np.random.default_rng(8)
    public, private = rng.integers(0, 4, (500, 2)), rng.integers(0, 2, (500, 2))
    if mixed:
        public = np.array([[int(a), f"t{b}"] for a, b in public.tolist()], dtype=object)
        private = np.array([[None if a else "x", int(b)] for a, b in private.tolist()], object)
    pairs: dict[tuple[object, ...], int] = {}
    for row in zip(map(tuple, public.tolist()), map(tuple, private.tolist()), strict=True):
        pairs[row] = pairs.get(row, 0) + 1
    rows = [[*pairs][i] for i in (range(len(pairs)) if mixed else rng.permutation(len(pairs)))]
    counts = [pairs[row] for row in rows]
    split = max(range(len(rows)), key=counts.__getitem__)  # counted in two places
    rows, counts = [*rows, rows[split]], [*counts, 1]
    counts[split] -= 1
    whole = Alphabet.of(public, private)
    kind = object if mixed else np.int64
    counted = Alphabet.of_counts(
        np.array([row[0] for row in rows], kind), np.array([row[1] for row in rows], kind), counts
    )
    assert counted.profiles.tolist() == whole.profiles.tolist()
    assert counted.secrets.tolist() == whole.secrets.tolist()
    assert counted.counts.tolist() == whole.counts.tolist()


@pytest.mark.parametrize("counts", [[1, 0, 2], [1, -1, 2], [1.0, 1.0, 1.0], [1, 2]])
def test_wrong_counts_are_refused(counts) -> None:
    with pytest.raises(ParameterError, match="counts must be"):
        Alphabet.of_counts(PEOPLE[:3], SECRET[:3], counts)


def test_numbers_of_any_kind_are_their_values() -> None:
    """NumPy's own numbers in a table of objects, and the same numbers as Python's."""
    recoding = learn_mapping(
        Alphabet.of(np.arange(12).reshape(6, 2), np.arange(6) % 2), Limits(delta=0)
    ).recoding
    rows = np.empty((3, 2), dtype=object)
    rows[:] = [[np.int64(4), np.int64(5)], [np.float64(8), 9], [0, True]]
    assert recoding.places(rows).tolist() == [2, 4, 0]


def test_one_person_is_drawn_once_also_when_withheld() -> None:
    made = learn_mapping(ALPHABET, Limits(delta=0.3), unknown="withhold", radius=0.4)
    once = ReleaseOnce(made.recoding, Source.system())
    first = once.release("ann", PEOPLE[0])
    assert all(once.release("ann", row) == first for row in PEOPLE[:40])
    assert once.release("bob", ["q", "q", "q"]) is None
    assert once.release("bob", PEOPLE[0]) is None


def test_threads_draw_once_too() -> None:
    recoding = learnt(delta=0.3).recoding
    for _ in range(30):
        once, start = ReleaseOnce(recoding, Source.system()), Barrier(4)

        def ask(once=once, start=start) -> object:
            start.wait()
            return once.release("ann", PEOPLE[0])

        with ThreadPoolExecutor(4) as pool:
            assert len({future.result() for future in [pool.submit(ask) for _ in range(4)]}) == 1


def test_a_store_knows_which_mapping_answered() -> None:
    """The same table for another column is another recoding."""
    one = learnt(delta=0.3).recoding
    other = replace(one, columns=("p", "q", "r"))
    assert one.fingerprint != other.fingerprint
    store: dict[str, object] = {}
    ReleaseOnce(one, Source.system(), store).release("ann", PEOPLE[0])
    ReleaseOnce(other, Source.system(), store).release("ann", PEOPLE[0])
    assert len(store) == 2
    with pytest.raises(ParameterError, match="person must be text"):
        ReleaseOnce(one, Source.system()).release(1, PEOPLE[0])  # type: ignore[arg-type]


def test_private_values_never_reach_a_message() -> None:
    points = np.arange(6.0)[:, None]
    numbers = learn_mapping(
        Alphabet.of(points, np.arange(6) % 2), Limits(delta=0.5), measure=Measure("squared")
    ).recoding
    for odd in ("CANARY", None, ["CANARY"], {"CANARY": 1}, b"CANARY"):
        assert numbers.release([odd], Source.system()).value is not None
        assert learnt(delta=0.1).recoding.release([odd] * 3, Source.system()).value is not None
    with pytest.raises(ParameterError) as caught:
        numbers.release(["CANARY", "CANARY"], Source.system())
    assert "CANARY" not in str(caught.value)


def test_nothing_about_one_of_two_secrets() -> None:
    """The limit 0 on one column costs no more than telling nothing of both."""
    other = (PEOPLE == "b").any(axis=1).astype(int)
    both = Alphabet.of(PEOPLE, np.column_stack([SECRET, other]))
    none = learn_mapping(both, Limits(leak_bits=0.0)).distortion
    assert learn_mapping(both, Limits(leak_bits=[0.3, 0.0])).distortion <= none + 1e-9


def test_least_distortion_within_a_leak() -> None:
    """Theorem 8: the limit is kept, and a little less distortion would break it."""
    made = learnt(leak_bits=0.05)
    assert made.leak_bits <= 0.05
    assert learnt(delta=0.97 * made.distortion).leak_bits > 0.05 - 1e-3 * made.untouched_bits
    assert learnt(leak_bits=10).distortion == 0


def test_no_leak_at_all() -> None:
    made = learnt(leak_bits=0)
    assert made.leak_bits < 1e-12
    assert learnt(delta=0.95 * made.distortion).leak_bits > 1e-5
    many = np.arange(700)[:, None]
    crowd = Alphabet.of(many, (many[:, 0] % 2))
    with pytest.raises(ParameterError, match="more than 600 profiles"):
        learn_mapping(crowd, Limits(leak_bits=0))


def test_a_curve_falls() -> None:
    found = trade_off(ALPHABET, [0.02, 0.05, 0.1])
    assert [s.leak for s in found] == sorted([s.leak for s in found], reverse=True)
    assert all(s.relative_gap <= 1e-3 for s in found)


def test_columns_alone_tell_less_than_all() -> None:
    made = learnt(delta=0.1)
    channel, joint = made.recoding.mechanism.channel, ALPHABET.joint
    own = features(channel, joint, ALPHABET.profiles)
    assert (own <= made.leak_bits + 1e-12).all()
    by_hand = np.zeros((2, 3))
    moments = channel.moments(joint)
    for profile, moment in zip(ALPHABET.profiles.tolist(), moments, strict=True):
        by_hand[:, "abc".index(profile[0])] += moment
    mass = by_hand.sum(axis=0)
    prior = by_hand.sum(axis=1, keepdims=True)
    assert own[0] == pytest.approx((by_hand * np.log2(by_hand / (prior * mass))).sum())


def test_theorem_10_a_wrong_law_changes_the_leak_by_little() -> None:
    made = learnt(delta=0.1)
    channel = made.recoding.mechanism.channel
    rng = np.random.default_rng(0)
    for share in (0.001, 0.01, 0.1):
        for _ in range(50):
            other = rng.dirichlet(np.full(ALPHABET.counts.size, 0.05)).reshape(
                ALPHABET.counts.shape
            )
            law = (1 - share) * ALPHABET.joint + share * other
            wrong = 0.5 * np.abs(law - ALPHABET.joint).sum()
            assert leak_under(channel, law) <= leak_if_wrong(made.leak_bits, wrong, 2)
    assert leak_if_wrong(0.1, 0, 2) == 0.1
    with pytest.raises(ParameterError, match="wrong must be"):
        leak_if_wrong(0.1, 0.6, 2)


def test_a_search_that_is_stopped_says_so() -> None:
    made = learn_mapping(ALPHABET, Limits(leak_bits=0.05, seconds=0.0))
    assert not made.finished
    assert made.solution.interrupted
    assert made.leak_bits <= 0.05
    whole = learnt(leak_bits=0.05)
    assert whole.finished
    assert 0 < whole.least_distortion <= whole.distortion
    assert learnt(delta=0.9 * whole.least_distortion).leak_bits > 0.05


def test_cards_of_learnt_mappings_carry_a_fingerprint_only() -> None:
    recoding = learnt(delta=0.1).recoding
    release = recoding.release(PEOPLE[0], Source.system())
    told = json.dumps(dict(release.event.parameters))
    assert "joint" not in told
    assert "parts" not in told
    assert release.event.parameters["sha256"] == recoding.mechanism.sha256


def test_people_of_other_kinds_are_left_out_of_counts() -> None:
    made = learn_mapping(ALPHABET, Limits(delta=0.1), unknown="withhold", radius=0.4)
    public = np.array([["a", "b", "c"], ["q", "q", "q"], ["a", "a", "a"]])
    private = np.array([0, 1, 7])
    counts, left = counted(made.recoding, ALPHABET.secrets, public, private)
    assert (counts[:, :-1].sum(), counts[1, -1], left) == (1, 1, 1)  # withheld is seen
    refusing = replace(made.recoding, unknown="refuse")
    counts, left = counted(refusing, ALPHABET.secrets, public, private)
    assert (counts[:, :-1].sum(), counts[:, -1].sum(), left) == (1, 0, 2)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Measure("l7"),
        lambda: Measure("squared", (1.0,)),
        lambda: Limits(),
        lambda: Limits(delta=math.inf),
        lambda: Limits(delta=0.1, epsilon=-1),
        lambda: Limits(leak_bits=math.nan),
        lambda: learn_mapping(ALPHABET, Limits(delta=0.1), columns=["x"]),
        lambda: learn_mapping(ALPHABET, Limits(delta=0.1), unknown="guess"),
        lambda: learn_mapping(ALPHABET, Limits(delta=0.1), radius=-1),
        lambda: learn_mapping(ALPHABET, Limits(leak_bits=[0.1, 0.1])),
    ],
)
def test_wrong_parameters(make) -> None:
    with pytest.raises(ParameterError):
        make()


class TestDegenerate:
    """One class, one profile, nothing allowed, everything allowed, what never occurs."""

    def test_one_class(self) -> None:
        made = learn_mapping(Alphabet.of(PEOPLE, np.zeros(1000)), Limits(delta=0.1))
        assert made.leak_bits == 0
        assert made.distortion == 0

    def test_one_profile(self) -> None:
        made = learn_mapping(Alphabet.of(np.array([["a"]] * 4), np.arange(4) % 2), Limits(delta=1))
        assert made.leak_bits == 0
        assert made.recoding.release(["a"], Source.system()).value == ("a",)

    def test_no_distortion(self) -> None:
        made = learnt(delta=0)
        assert made.leak_bits == pytest.approx(made.untouched_bits, abs=1e-9)
        assert (made.recoding.release_many(PEOPLE, Source.system()) == PEOPLE).all()

    def test_more_distortion_than_perfect_privacy_needs(self) -> None:
        made = learnt(delta=1.0)
        assert made.leak_bits <= 1e-3 * made.untouched_bits
        assert made.distortion == pytest.approx(learnt(leak_bits=0).distortion)

    def test_what_never_occurs_is_released_as_it_is(self) -> None:
        counts = np.array([[5, 0, 1], [1, 0, 5], [0, 0, 0]])
        alphabet = Alphabet(np.array([["a"], ["b"], ["c"]]), np.array([[0], [1], [2]]), counts)
        made = learn_mapping(alphabet, Limits(delta=0.2))
        assert made.recoding.release(["b"], Source.system()).value == ("b",)
        assert 0 < made.leak_bits < made.untouched_bits
        assert leak_under(Channel.identity(3), counts) == pytest.approx(made.untouched_bits)

    def test_profiles_given_twice(self) -> None:
        """Two equal profiles are one: the leak is that of the merged law, or less."""
        counts = np.array([[5, 1, 0], [0, 1, 5]])
        twice = Alphabet(np.array([["a"], ["a"], ["b"]]), np.array([[0], [1]]), counts)
        merged = np.array([[6, 0], [1, 5]])
        once = Alphabet(np.array([["a"], ["b"]]), np.array([[0], [1]]), merged)
        delta = Limits(delta=0.05)
        gap = 1e-3 * leak_under(Channel.identity(3), counts)
        made = learn_mapping(twice, delta)
        assert made.leak_bits <= learn_mapping(once, delta).leak_bits + gap
        assert len(made.recoding.profiles) == 2
        with pytest.raises(ParameterError, match="distinct"):
            replace(made.recoding, profiles=np.array([["a"], ["a"]]))

    def test_no_row_at_all(self) -> None:
        made = learnt(delta=0.1)
        assert len(made.recoding.release_many(PEOPLE[:0], Source.system())) == 0


def test_a_recoding_checks_its_parts() -> None:
    made = learnt(delta=0.1).recoding
    with pytest.raises(ParameterError, match="profiles must be"):
        Recoding(made.columns, made.profiles[1:], made.mechanism)
