"""What a mapping file and a card tell of training people: no joint table, no unkeyed digest of it.

Who knows all training people but one, and has a card, must not find that one's secret by trying.
"""

import hashlib
import json
from dataclasses import replace

import numpy as np
import pytest

from reticent.errors import ParameterError
from reticent.guarantees.card import Scope
from reticent.mechanisms.mapping_law import MappingLaw
from reticent.noise import Source
from reticent.tasks.learning import Learnt, Limits, learn_mapping
from reticent.tasks.recoding import Alphabet, ReleaseOnce
from reticent.tasks.recoding_files import recoding_from_json, recoding_to_json

RNG = np.random.default_rng(8)
PEOPLE = np.array(["a", "b", "c"])[RNG.integers(0, 3, (3000, 2))]
SECRET = np.where((PEOPLE[:, 0] == "a") ^ (RNG.random(3000) < 0.3), "canary-rich", "canary-poor")
VALUES = ("canary-rich", "canary-poor")
SCOPE = Scope(protected="everybody", not_against=("nobody",), model="local")


def learnt(secret: np.ndarray, delta: float = 0.0) -> Learnt:
    return learn_mapping(
        Alphabet.of(PEOPLE, secret), Limits(delta=delta), columns=["x", "y"], secret="income"
    )


def worlds(times: int = 1) -> list[Learnt]:
    """The same people but for the secret of one of them; with delta 0 they are drawn for alike."""
    found = []
    for value in VALUES:
        many = Alphabet.of(PEOPLE, SECRET)
        counts = times * many.counts
        place = np.flatnonzero((many.profiles == PEOPLE[17]).all(axis=1))[0]
        counts[many.secrets[:, 0] == SECRET[17], place] -= 1
        counts[many.secrets[:, 0] == value, place] += 1
        people = Alphabet(many.profiles, many.secrets, counts)
        found.append(learn_mapping(people, Limits(delta=0.0), columns=["x", "y"], secret="income"))
    return found


def without_nonce(text: str) -> dict[str, object]:
    keyed = ("nonce", "sha256", "file_sha256")
    return {name: value for name, value in json.loads(text).items() if name not in keyed}


def old_digest(law: MappingLaw) -> str:
    """The fingerprint of version 0.1: unkeyed, over the table and the joint law."""
    digest = hashlib.sha256()
    for array in (law.starts, law.outs, law.parts):
        digest.update(array.astype("<i8").tobytes())
    digest.update(law.joint.astype("<f8").tobytes())
    return digest.hexdigest()


def numbers(value: object) -> list[float]:
    if isinstance(value, dict):
        return [found for part in value.values() for found in numbers(part)]
    if isinstance(value, list):
        return [found for part in value for found in numbers(part)]
    return [value] if isinstance(value, (int, float)) else []


def holds_joint(data: dict[str, object], law: MappingLaw) -> bool:
    """Whether the numbers of P(a, j) are in the data, one after the other."""
    wanted, found = law.joint.reshape(-1), np.array(numbers(data))
    windows = np.lib.stride_tricks.sliding_window_view(found, len(wanted))
    return bool((abs(windows - wanted).max(axis=1) < 1e-3).any())


def test_files_of_two_worlds_are_equal_but_for_the_nonce() -> None:
    one, other = worlds(times=10_000)
    texts = [recoding_to_json(world.recoding) for world in (one, other)]
    assert without_nonce(texts[0]) == without_nonce(texts[1])
    assert json.loads(texts[0])["nonce"] != json.loads(texts[1])["nonce"]
    assert (one.law.joint != other.law.joint).any()  # what 0.1 wrote tells them apart


def test_with_few_people_only_figures_differ_and_by_one_step() -> None:
    """Three digits are a limit and no protection: among 3,000 people one may show in the third."""
    texts = [without_nonce(recoding_to_json(world.recoding)) for world in worlds()]
    stated = [text.pop("statement") for text in texts]
    assert texts[0] == texts[1]
    one, other = (np.array(numbers(figures)) for figures in stated)
    assert (abs(one - other) <= 0.0101 * one).all()


def test_a_file_holds_no_joint_table_and_no_value_of_the_secret() -> None:
    for delta in (0.0, 0.1):
        made = learnt(SECRET, delta)
        text = recoding_to_json(made.recoding)
        data = json.loads(text)
        assert not holds_joint(data, made.law)
        assert "canary" not in text
        planted = {**data, "joint": made.law.joint.tolist()}
        assert holds_joint(planted, made.law)  # the check sees one
        assert not hasattr(made.recoding.mechanism, "joint")
        assert made.recoding.mechanism.law is None


def test_figures_in_a_file_have_three_digits() -> None:
    made = learnt(SECRET, 0.1)
    stated = made.recoding.mechanism.statement
    for value in (stated.bits, stated.distortion, stated.maximal_bits, *stated.guesses):
        assert float(f"{value:.3g}") == value
    assert stated.bits >= made.leak_bits
    assert stated.distortion >= made.distortion
    assert float(f"{made.leak_bits:.3g}") != made.leak_bits  # in full precision they are a digest


def test_a_card_confirms_nobodys_secret() -> None:
    truth, other = worlds(times=10_000)
    card = truth.recoding.release(PEOPLE[0], Source.system()).card("A profile", scope=SCOPE)
    told = json.dumps(dict(card.release_event().parameters))
    tried = worlds(times=10_000)  # all but one person are known
    for guess in tried:
        assert guess.recoding.mechanism.sha256 not in told
        assert guess.recoding.fingerprint not in told
        bare = replace(guess.recoding.mechanism, nonce="")
        assert bare.sha256 not in told
        assert old_digest(guess.law) not in told
    losses = {str(guess.recoding.mechanism.guarantee()) for guess in tried}
    assert losses == {str(card.release_event().loss)}
    # the fingerprint of 0.1 on the same card confirms the one true guess
    matches = [old_digest(guess.law) == old_digest(truth.law) for guess in tried]
    assert matches == [True, False]
    assert old_digest(truth.law) != old_digest(other.law)


def test_the_fingerprint_still_names_the_mapping() -> None:
    made = learnt(SECRET, 0.1).recoding
    again = recoding_from_json(recoding_to_json(made))
    assert again.fingerprint == made.fingerprint
    assert again.mechanism.sha256 == made.mechanism.sha256
    assert len(made.mechanism.nonce) == 32
    changed = replace(made.mechanism, parts=np.roll(made.mechanism.parts, 0), nonce="0" * 32)
    assert changed.sha256 != made.mechanism.sha256
    once = ReleaseOnce(made, Source.system())
    first = once.release("ann", ["a", "b"])
    later = ReleaseOnce(again, Source.system(), once.store)
    assert all(later.release("ann", row) == first for row in PEOPLE[:50].tolist())


def test_what_stands_in_for_who_withholds_is_what_is_released_in_all() -> None:
    made = learnt(SECRET, 0.1)
    assert made.recoding.mechanism.cover == pytest.approx(made.law.released, rel=0.005)


def test_profiles_stand_in_the_order_of_their_values() -> None:
    rows = np.empty((4, 2), dtype=object)
    rows[:] = [["b", 2], ["a", 10], ["b", None], ["a", 9]]
    secrets = np.array([0, 1, 0, 1])
    orders = [np.arange(4), np.array([3, 1, 2, 0]), np.array([2, 0, 3, 1])]
    made = [Alphabet.of(rows[order], secrets[order]) for order in orders]
    assert len({str(alphabet.profiles.tolist()) for alphabet in made}) == 1
    assert len({str(alphabet.counts.tolist()) for alphabet in made}) == 1
    assert rows[orders[0]].tolist() != rows[orders[1]].tolist()  # as they came, they differ


def test_a_file_of_the_first_version_is_refused_with_what_to_do() -> None:
    with pytest.raises(ParameterError, match="learnt again with reticent release mapping") as error:
        recoding_from_json('{"schema": "profile-mapping/1", "joint": [[0.5], [0.5]]}')
    assert "delete that file" in str(error.value)


def test_a_mapping_of_a_declared_law_is_not_written_as_a_learnt_one() -> None:
    made = learnt(SECRET).recoding
    law = made.under(np.ones((2, len(made.profiles)), dtype=np.int64))
    declared = type(made.mechanism).under(law, "income")
    with pytest.raises(ParameterError, match="learnt from people"):
        recoding_to_json(replace(made, mechanism=declared))


def test_withholding_has_no_worst_case() -> None:
    """A profile from outside is withheld for certain, one from inside never."""
    limits = Limits(delta=0.1, epsilon=1)
    alphabet = Alphabet.of(PEOPLE, SECRET)
    floored = learn_mapping(alphabet, limits).recoding
    assert floored.worst_case_epsilon() <= 1
    for rule in ("withhold", "refuse"):
        with pytest.raises(ParameterError, match="nearest where epsilon is given"):
            learn_mapping(alphabet, limits, unknown=rule, radius=0.1)
    withholding = replace(floored, unknown="withhold", radius=0.1)
    assert withholding.worst_case_epsilon() == float("inf")
    assert withholding.mechanism.worst_case_epsilon() <= 1  # what 0.1 printed
    rows = np.array([["z", "z"], ["a", "a"]])
    seen = [[None in row for row in withholding.release_many(rows, Source.system())]]
    assert seen == [[True, False]]
