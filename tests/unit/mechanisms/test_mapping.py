"""Profile mappings: integer chances, exact draws, and the leak of what is really used."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from reticent.errors import ParameterError
from reticent.guarantees.card import Scope
from reticent.mechanisms import MappingLaw, ProfileMapping, joint_leak, rebuild, verify
from reticent.mechanisms.mapping_rows import _FEW, BITS, Rows, integer_rows
from reticent.noise import Source
from reticent.optim.distances import hamming
from reticent.optim.mapping import Channel, Problem
from reticent.optim.mapping_newton import solve_mapping
from reticent.testing import ScriptedSource

WHOLE = 1 << BITS
PROFILES = np.array(list(itertools.product([0, 1], repeat=3)))
DISTANCE = hamming(PROFILES)


def some_joint(seed: int = 1, secrets: int = 2) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.full(8 * secrets, 0.7)).reshape(secrets, 8)


def some_mapping(delta: float = 0.1, seed: int = 1, secrets: int = 2) -> ProfileMapping:
    joint = some_joint(seed, secrets)
    solution = solve_mapping(Problem.of(joint, DISTANCE, delta))
    return ProfileMapping.of(solution.channel, joint, DISTANCE, secret="income")


def exact_rows(mapping: ProfileMapping) -> list[dict[int, Fraction]]:
    rows = []
    for j in range(len(mapping.starts) - 1):
        part = slice(mapping.starts[j], mapping.starts[j + 1])
        pairs = zip(mapping.outs[part].tolist(), mapping.parts[part].tolist(), strict=True)
        rows.append({i: Fraction(n, WHOLE) for i, n in pairs})
    return rows


def leak_of(moments: dict[object, np.ndarray], prior: np.ndarray) -> float:
    total = 0.0
    for q in moments.values():
        for a in range(len(prior)):
            if q[a] > 0:
                total += q[a] * math.log2(q[a] / (prior[a] * q.sum()))
    return total


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.floats(0, 1), min_size=1, max_size=5), min_size=1, max_size=4))
def test_theorem_5_rows_are_whole_and_close(rows) -> None:
    rows = [[max(x, 1e-12) for x in row] for row in rows]
    size = max(len(rows), *(len(row) for row in rows))
    rows += [[1.0]] * (size - len(rows))
    starts = np.cumsum([0, *(len(row) for row in rows)])
    outs = np.concatenate([np.arange(len(row)) for row in rows])
    chances = np.concatenate([np.array(row) / sum(row) for row in rows])
    begins, kept, parts = integer_rows(Channel(starts, outs, chances))
    for j, row in enumerate(rows):
        own = parts[begins[j] : begins[j + 1]].tolist()
        assert sum(own) == WHOLE
        assert min(own) > 0
        places = kept[begins[j] : begins[j + 1]].tolist()
        moved = sum(
            abs(Fraction(n, WHOLE) - Fraction(row[i]) / sum(map(Fraction, row)))
            for i, n in zip(places, own, strict=True)
        )
        assert moved <= Fraction(len(row) + 2, 2**50)


def test_the_leak_is_that_of_the_rounded_table() -> None:
    """The reported bits against a sum over exact fractions, within 1e-9 and not below."""
    for seed, secrets in ((1, 2), (2, 3), (3, 5)):
        mapping = some_mapping(seed=seed, secrets=secrets)
        moments = {i: np.zeros(secrets) for i in range(8)}
        for j, row in enumerate(exact_rows(mapping)):
            for i, chance in row.items():
                moments[i] = moments[i] + float(chance) * mapping.law.joint[:, j]
        bits = leak_of(moments, mapping.law.joint.sum(axis=1))
        assert bits - 1e-12 <= mapping.guarantee().bits <= bits + 1e-9


def test_the_distortion_is_that_of_the_rounded_table() -> None:
    mapping, dense = some_mapping(), DISTANCE.dense()
    mass = mapping.law.joint.sum(axis=0)
    far = sum(
        float(chance) * dense[j, i] * mass[j]
        for j, row in enumerate(exact_rows(mapping))
        for i, chance in row.items()
    )
    assert mapping.guarantee().distortion == pytest.approx(far, abs=1e-12)
    assert mapping.guarantee().distortion <= 0.1 + 1e-9


def test_draws_follow_the_table_exactly() -> None:
    """Every border of a row: the last word below it and the first one at it."""
    mapping = some_mapping()
    for j, row in enumerate(exact_rows(mapping)):
        edge = 0
        for i, chance in row.items():
            below, edge = edge, edge + int(chance * WHOLE)
            for word in (below, edge - 1):
                source = ScriptedSource(words=[word << (64 - BITS)])
                assert mapping.release(j, source).value == i


def test_draws_of_many_are_draws_of_each() -> None:
    mapping, profiles = some_mapping(), np.arange(8).repeat(3)
    many = mapping.release_many(profiles, Source.seeded(5))
    words = Source.seeded(5).long_words(24)
    one = [
        mapping.release(int(j), ScriptedSource(words=[int(word)])).value
        for j, word in zip(profiles, words, strict=True)
    ]
    assert many.tolist() == one


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 40), st.integers(0, 2**32))
def test_compiled_draws_are_the_draws_of_few(widest: int, seed: int) -> None:
    """Rows of all lengths, and words on the borders of each: the first and the last of an entry."""
    rng = np.random.default_rng(seed)
    size = max(widest, 5)
    lengths = rng.integers(1, widest + 1, size)
    lengths[0] = widest
    starts = np.append(0, np.cumsum(lengths))
    outs = np.concatenate([rng.permutation(size)[:length] for length in lengths])
    parts = np.concatenate([_parts(rng, int(length)) for length in lengths])
    rows = Rows.of(starts, outs, parts)
    profiles = np.repeat(np.arange(size), lengths)
    ends = np.concatenate([np.cumsum(parts[a:b]) for a, b in itertools.pairwise(starts)])
    for words in (ends - 1, ends - parts):
        shifted = words.astype(np.uint64) << np.uint64(64 - BITS)
        repeats = 2 + _FEW // len(words)
        many = rows.draw(np.tile(profiles, repeats), np.tile(shifted, repeats))
        assert len(many) > _FEW >= len(words)
        assert many.tolist() == np.tile(outs, repeats).tolist()
        assert rows.draw(profiles, shifted).tolist() == outs.tolist()


def _parts(rng: np.random.Generator, length: int) -> np.ndarray:
    cuts = np.sort(rng.choice(2**40, length - 1, replace=False)) * 2**21 + 1
    return np.diff(np.concatenate([[0], cuts, [WHOLE]])).astype(np.int64)


def test_compiled_draws_take_the_words_of_few_draws() -> None:
    """A seed gives the same releases, however many are drawn at a time."""
    mapping, profiles = some_mapping(delta=0.2), np.arange(9000) % 8
    source = Source.seeded(6)
    parts = [mapping.release_many(part, source) for part in np.array_split(profiles, 9)]
    assert mapping.release_many(profiles, Source.seeded(6)).tolist() == [*np.concatenate(parts)]


def test_people_of_a_seeded_source_have_streams_of_their_own() -> None:
    mapping, names = some_mapping(delta=0.2), [f"p{i}" for i in range(40)]
    profiles = np.arange(40) % 8
    drawn = mapping.release_each(profiles, names, Source.seeded(6))
    alone = [
        mapping.release(int(own), Source.seeded(6).child(name)).value
        for own, name in zip(profiles, names, strict=True)
    ]
    assert drawn.tolist() == alone
    assert len(mapping.release_each(profiles[:0], [], Source.seeded(6))) == 0


def test_draws_pass_chi_square_and_a_wrong_table_does_not() -> None:
    mapping = some_mapping(delta=0.2)
    widest = int(np.argmax(mapping.channel.support))
    drawn = mapping.release_many(np.full(200_000, widest), Source.seeded(7))
    row = exact_rows(mapping)[widest]
    seen = np.array([(drawn == i).sum() for i in row])
    expected = np.array([float(chance) for chance in row.values()]) * len(drawn)
    assert seen.sum() == len(drawn)
    big = expected >= 5
    fair = stats.chisquare(seen[big], expected[big] * seen[big].sum() / expected[big].sum())
    assert fair.pvalue > 1e-4
    largest = expected[big] == expected[big].max()
    tilted = expected[big] * np.where(largest, 0.97, 1.0)
    wrong = stats.chisquare(seen[big], tilted * seen[big].sum() / tilted.sum())
    assert wrong.pvalue < 1e-4


def test_theorem_6_several_releases_are_computed_together() -> None:
    mapping = some_mapping(delta=0.15)
    rows, prior = exact_rows(mapping), mapping.law.joint.sum(axis=1)
    for releases in (1, 2, 3):
        moments: dict[object, np.ndarray] = {}
        for j, row in enumerate(rows):
            for draws in itertools.product(row.items(), repeat=releases):
                outcome = tuple(i for i, _ in draws)
                chance = math.prod(float(c) for _, c in draws)
                held = moments.setdefault(outcome, np.zeros(len(prior)))
                moments[outcome] = held + chance * mapping.law.joint[:, j]
        assert joint_leak(mapping.law, releases) == pytest.approx(leak_of(moments, prior), abs=1e-9)
    assert joint_leak(mapping.law, 2) > joint_leak(mapping.law, 1)


def test_theorem_7_the_best_guesser() -> None:
    mapping = some_mapping(secrets=3)
    before, after = mapping.law.guess_rates()
    assert before == pytest.approx(mapping.law.joint.sum(axis=1).max())
    best = 0.0
    for guesses in itertools.product(range(3), repeat=8):  # every rule that guesses
        right = sum(mapping.law.moments[i, a] for i, a in enumerate(guesses))
        best = max(best, right)
    assert after == pytest.approx(best)
    assert after >= before - 1e-12
    assert math.log2(after / before) <= mapping.law.maximal_leakage() + 1e-12


def test_worst_case_epsilon_is_infinite_unless_outputs_are_shared() -> None:
    assert some_mapping().worst_case_epsilon() == math.inf
    table = np.full((8, 8), 0.05) + np.eye(8) * 0.6
    shared = Channel(np.arange(9) * 8, np.tile(np.arange(8), 8), table.reshape(-1))
    mapping = ProfileMapping.of(shared, some_joint(), DISTANCE, secret="income")
    assert mapping.worst_case_epsilon() == pytest.approx(math.log(0.65 / 0.05))


def test_perfect_privacy_leaks_exactly_nothing() -> None:
    same = Channel(np.arange(9) * 8, np.tile(np.arange(8), 8), np.full(64, 0.125))
    assert ProfileMapping.of(same, some_joint(), DISTANCE, secret="x").guarantee().bits < 1e-12


@pytest.mark.parametrize(
    "joint",
    [
        some_joint() * 1e-6,
        np.where(np.arange(8) == 3, -0.1, some_joint()),
        np.where(np.arange(8) == 3, np.nan, some_joint()),
    ],
    ids=["another sum", "negative", "no number"],
)
def test_a_law_that_is_none_is_refused(joint) -> None:
    """A promise computed from it would mean nothing."""
    mapping = some_mapping()
    with pytest.raises(ParameterError, match="probabilities that sum to 1"):
        replace(mapping.law, joint=joint)


def test_an_output_twice_in_a_row_is_refused() -> None:
    half = np.array([1 << 61, 1 << 61] * 8)
    outs = np.repeat(np.arange(8), 2)
    with pytest.raises(ParameterError, match="distinct in each row"):
        MappingLaw(np.arange(9) * 2, outs, half, np.zeros(16), some_joint())
    good = some_mapping()
    with pytest.raises(ParameterError, match="distinct in each row"):
        replace(good, starts=np.arange(9) * 2, outs=outs, parts=half)


def test_cards_hold_and_changed_ones_do_not() -> None:
    mapping = some_mapping()
    release = mapping.release(3, Source.system())
    scope = Scope(protected="everybody", not_against=("anyone with another prior",), model="local")
    card = release.card("A profile", scope=scope)
    assert verify(card) == []
    assert rebuild(release.event) == mapping
    assert "average" in " ".join(card.words.also)
    parts = [*release.event.parameters["parts"]]
    changed = {**release.event.parameters, "parts": [str(int(parts[0]) - 1), *parts[1:]]}
    with pytest.raises(ParameterError, match="whole"):
        ProfileMapping.from_parameters(changed)


def test_a_table_too_long_for_a_card_is_named_by_its_fingerprint() -> None:
    size = 80
    full = Channel(
        np.arange(size + 1) * size, np.tile(np.arange(size), size), np.full(size**2, 1 / size)
    )
    joint = np.random.default_rng(1).dirichlet(np.ones(2 * size)).reshape(2, size)
    mapping = ProfileMapping.of(full, joint, hamming(np.arange(size)[:, None]), secret="x")
    told = mapping.parameters()
    assert "parts" not in told
    assert told["sha256"] == mapping.sha256
    with pytest.raises(ParameterError, match="by fingerprint only"):
        ProfileMapping.from_parameters(told)


@pytest.mark.parametrize("odd", [-1, 8, 10**9, None, "x", math.nan, 2.5])
def test_what_is_no_profile_is_released_by_a_fixed_rule(odd) -> None:
    """Private values never raise: they count as the first profile."""
    mapping = some_mapping()
    first = mapping.release(0, Source.seeded(3)).value
    assert mapping.release(odd, Source.seeded(3)).value == first


def test_wrong_tables_are_refused() -> None:
    good = some_mapping()
    with pytest.raises(ParameterError, match="probabilities"):
        ProfileMapping.of(good.channel, some_joint()[:, :7], DISTANCE, secret="x")
    with pytest.raises(ParameterError, match="releases"):
        joint_leak(good.law, 0)
