"""Selection: both laws, on every path; huge gaps; nothing shown of the scores."""

from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from reticent.errors import ParameterError
from reticent.noise import Source, exponential, permute_and_flip, selection
from reticent.testing.closed_forms import exponential_law, permute_and_flip_law
from reticent.testing.sources import RecordingSource, ScriptedSource

Select = Callable[..., int]

LAWS = {exponential: exponential_law, permute_and_flip: permute_and_flip_law}
VECTORS = [
    ([0, 1, 2, 3], Fraction(1, 2)),
    ([7, 7, -20, 5, 0], Fraction(1, 10)),
    ([0, 0, 0, 0, 4], Fraction(1, 3)),
]
both = pytest.mark.parametrize("select", [exponential, permute_and_flip])


def draws(select: Select, scores: list[int], rate: Fraction, count: int, seed: int) -> np.ndarray:
    source, vector = Source.seeded(seed), np.array(scores)
    return np.array([select(vector, rate=rate, source=source) for _ in range(count)])


def p_value(drawn: np.ndarray, law: list[Fraction]) -> float:
    expected = np.array([float(chance) for chance in law]) * drawn.size
    return float(stats.chisquare(np.bincount(drawn, minlength=len(law)), expected).pvalue)


def oracle(select: Select, words: list[int], scores: list[int], rate: Fraction) -> int:
    """The winner by mpmath, for U in the middle of its word."""
    with mpmath.workprec(300):
        c = mpmath.mpf(rate.numerator) / rate.denominator
        u = [(mpmath.mpf(word) + 0.5) / 2**64 for word in words]
        noise = [-mpmath.log(x) for x in u]
        if select is exponential:
            noise = [-mpmath.log(x) for x in noise]
        sums = [n + c * score for n, score in zip(noise, scores, strict=True)]
        return max(range(len(sums)), key=lambda i: sums[i])


# The laws


@both
@pytest.mark.parametrize(("scores", "rate"), VECTORS)
def test_the_law_is_the_closed_form(select: Select, scores: list[int], rate: Fraction) -> None:
    drawn = draws(select, scores, rate, 4_000, seed=1)
    law = LAWS[select](scores, rate=rate)
    assert p_value(drawn, law) > 1e-6
    steeper = LAWS[select](scores, rate=rate * Fraction(4, 3))
    assert p_value(drawn, steeper) < 1e-6


def test_the_two_laws_are_told_apart() -> None:
    scores, rate = VECTORS[0]
    drawn = draws(permute_and_flip, scores, rate, 4_000, seed=2)
    assert p_value(drawn, exponential_law(scores, rate=rate)) < 1e-6
    drawn = draws(exponential, scores, rate, 4_000, seed=2)
    assert p_value(drawn, permute_and_flip_law(scores, rate=rate)) < 1e-6


@both
def test_permuting_candidates_permutes_the_law(select: Select) -> None:
    scores, rate = [0, 3, 1, 6, 2], Fraction(1, 3)
    order = [3, 0, 4, 2, 1]
    law = LAWS[select](scores, rate=rate)
    drawn = draws(select, [scores[i] for i in order], rate, 3_000, seed=3)
    assert p_value(np.array(order)[drawn], law) > 1e-6


@both
def test_permuting_words_with_candidates_permutes_the_winner(select: Select) -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        scores = rng.integers(-50, 50, 30)
        words = rng.integers(0, 2**64, 30, dtype=np.uint64)
        order = rng.permutation(30)
        winner = select(scores, rate=Fraction(1, 9), source=ScriptedSource(words=words))
        moved = select(
            scores[order], rate=Fraction(1, 9), source=ScriptedSource(words=words[order])
        )
        assert order[moved] == winner


@both
def test_adding_a_constant_changes_nothing(select: Select) -> None:
    scores = np.array([5, 9, -3, 0])
    for seed in range(50):
        chosen = {
            select(scores + shift, rate=Fraction(1, 7), source=Source.seeded(seed))
            for shift in (0, 1000, -(2**60), 2**62)
        }
        assert len(chosen) == 1


@both
def test_ties_are_fair(select: Select) -> None:
    drawn = draws(select, [4] * 8, Fraction(3), 3_000, seed=4)
    assert p_value(drawn, [Fraction(1, 8)] * 8) > 1e-6


@both
def test_a_single_candidate_is_chosen(select: Select) -> None:
    source = Source.seeded(5)
    assert {select(np.array([-7]), rate=Fraction(1), source=source) for _ in range(20)} == {0}
    for word in (0, 1, 2**64 - 1):
        script = ScriptedSource(words=[word])
        assert select(np.array([3]), rate=Fraction(1), source=script) == 0


def test_permute_and_flip_is_never_worse() -> None:
    scores, rate = [0, 1, 2, 5], Fraction(1, 2)
    better, worse = (LAWS[select](scores, rate=rate) for select in (permute_and_flip, exponential))
    assert better[3] > worse[3]
    assert (draws(permute_and_flip, scores, rate, 2000, 6) == 3).mean() > (
        draws(exponential, scores, rate, 2000, 6) == 3
    ).mean()


# Many candidates and large gaps


@both
@pytest.mark.parametrize("size", [selection._BLOCK - 1, selection._BLOCK + 1, 30_000])
def test_blocks_do_not_show(select: Select, size: int) -> None:
    rng = np.random.default_rng(size)
    scores = rng.integers(0, 40, size)
    words = rng.integers(2**40, 2**64 - 2**40, size, dtype=np.uint64)
    noise = -np.log(words.astype(np.float64) * 2.0**-64)
    if select is exponential:
        noise = -np.log(noise)
    expected = int((noise + scores / 4).argmax())
    assert select(scores, rate=Fraction(1, 4), source=ScriptedSource(words=words)) == expected


@both
def test_gaps_up_to_a_million(select: Select) -> None:
    scores = [10**6, 10**6 - 1, 10**6 - 10, 10**5, 0]
    drawn = draws(select, scores, Fraction(1, 4), 3_000, seed=7)
    law = LAWS[select](scores[:3], rate=Fraction(1, 4))
    assert set(np.unique(drawn)) <= {0, 1, 2}
    assert p_value(drawn, law) > 1e-6


@pytest.mark.parametrize("behind", [50, 200, 700])
def test_no_candidate_is_out_of_reach(behind: int) -> None:
    """The last candidate wins although its chance is exp(-behind), which floats call 0 or lose."""
    scores = np.array([behind, behind, 0])
    zeros = [0] * (3 * (behind * 3 // 2 // 64 + 1))
    middle = 2**63
    script = ScriptedSource(words=[middle, middle, 0], bits=zeros)
    assert permute_and_flip(scores, rate=Fraction(1), source=script) == 2
    script = ScriptedSource(words=[middle, middle, 2**64 - 1], bits=[2**64 - 1] * len(zeros))
    assert exponential(scores, rate=Fraction(1), source=script) == 2


@both
def test_the_widest_scores(select: Select) -> None:
    scores = np.array([-(2**63), 2**63 - 1, 2**63 - 2])
    source = Source.seeded(8)
    drawn = {select(scores, rate=Fraction(1, 4), source=source) for _ in range(300)}
    assert drawn == {1, 2}
    tiny = Fraction(1, 2**66)  # the whole range of 64 bits is a quarter
    drawn = np.array([select(scores, rate=tiny, source=source) for _ in range(2000)])
    law = LAWS[select](scores.tolist(), rate=tiny)
    assert p_value(drawn, law) > 1e-6


@both
@pytest.mark.parametrize("rate", [Fraction(10**400), Fraction(10**300), Fraction(1, 10**400)])
def test_extreme_rates_warn_of_nothing(select: Select, rate: Fraction) -> None:
    scores = np.array([0, 3, -(2**60), 3])
    source = Source.seeded(9)
    drawn = {select(scores, rate=rate, source=source) for _ in range(200)}
    assert drawn == ({1, 3} if rate > 1 else {0, 1, 2, 3})


# The paths through the sampler


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.one_of(
                st.integers(0, 2**64 - 1),
                st.integers(0, 2**33),
                st.integers(2**64 - 2**33, 2**64 - 1),
            ),
            st.integers(-60, 60),
        ),
        min_size=2,
        max_size=12,
    ),
    st.fractions(min_value=Fraction(1, 50), max_value=2, max_denominator=1000),
)
@pytest.mark.parametrize("select", [exponential, permute_and_flip])
def test_every_word_gives_what_mpmath_says(
    select: Select, candidates: list[tuple[int, int]], rate: Fraction
) -> None:
    words, scores = [list(part) for part in zip(*candidates, strict=True)]
    if len(set(candidates)) < len(candidates):
        return  # two equal candidates with equal words: a coin decides
    script = ScriptedSource(words=words, more=1 << 63)  # U is exactly the middle of its word
    assert select(np.array(scores), rate=rate, source=script) == oracle(select, words, scores, rate)


@both
def test_a_vague_favourite_does_not_hide_rounding_far_behind(select: Select) -> None:
    """All others are so far behind that floats no longer resolve their noise."""
    scores = [2**60, 0, 0, 0, -3]
    low = 0 if select is exponential else 2**64 - 1  # the worst luck the favourite can have
    for seed in range(20):
        words = [low, *Source.seeded(seed).long_words(4).tolist()]
        script = ScriptedSource(words=words, more=1 << 63)
        assert select(np.array(scores), rate=Fraction(1), source=script) == 0
        worse = [-(2**60), *scores[1:]]  # without the favourite: 2**60 is what the others differ by
        script = ScriptedSource(words=words, more=1 << 63)
        assert select(np.array(worse), rate=Fraction(1, 3), source=script) == oracle(
            select, words, worse, Fraction(1, 3)
        )


@both
def test_double_precision_is_as_near_as_the_margin_assumes(select: Select) -> None:
    """Lemma 3: sums of words away from both ends are within 2**-29, half the margin."""
    noise = selection.gumbel if select is exponential else selection._exponential
    ends = [selection._END, selection._END + 1, 2**63, 2**64 - 2**58, 2**64 - 2**58 - 1]
    words = np.concatenate(
        [
            np.array([*ends, *(2**64 - 1 - w for w in ends)], dtype=np.uint64),
            np.uint64(1) << np.arange(31, 64, dtype=np.uint64),
            ~(np.uint64(1) << np.arange(31, 64, dtype=np.uint64)),
            Source.seeded(10).long_words(500),
            ~(Source.seeded(11).long_words(500) >> np.uint64(6)),
        ]
    )
    for word, computed in zip(words.tolist(), noise(words).tolist(), strict=True):
        if not selection._END <= word < 2**64 - selection._END:
            continue
        with mpmath.workprec(200):
            for u in (mpmath.mpf(word), mpmath.mpf(word + 1)):
                true = -mpmath.log(u / 2**64)
                true = -mpmath.log(true) if select is exponential else true
                assert abs(true - computed) < selection._MARGIN / 4


@both
def test_equal_words_and_scores_are_settled_by_more_bits(select: Select) -> None:
    scores, same = np.array([3, 3]), [2**62 + 5] * 2
    first = select(scores, rate=Fraction(1), source=ScriptedSource(words=same, bits=[9, 5]))
    second = select(scores, rate=Fraction(1), source=ScriptedSource(words=same, bits=[5, 9]))
    third = select(
        scores, rate=Fraction(1), source=ScriptedSource(words=same, bits=[7, 7, 0, 0, 9, 5])
    )
    # -ln U falls with U and -ln(-ln U) rises with it
    assert (first, second, third) == ((0, 1, 0) if select is exponential else (1, 0, 1))


@both
@pytest.mark.parametrize(("scores", "rate"), VECTORS)
def test_settling_exactly_changes_nothing(
    select: Select, scores: list[int], rate: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    fast = draws(select, scores, rate, 600, seed=12)
    settled: list[int] = []
    settle = selection.settle

    def counting(prefixes: dict[int, int], *rest: object) -> int:
        settled.append(len(prefixes))
        return settle(prefixes, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(selection, "settle", counting)
    monkeypatch.setattr(selection, "_MARGIN", 0.25)
    slow = draws(select, scores, rate, 600, seed=12)
    assert len(settled) > 60, "the exact path was not taken"
    assert (slow == fast).all()


@both
def test_the_law_holds_when_most_draws_are_settled_exactly(
    select: Select, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selection, "_MARGIN", 4.0)
    scores, rate = [0, 1, 2], Fraction(1)
    drawn = draws(select, scores, rate, 400, seed=13)
    assert p_value(drawn, LAWS[select](scores, rate=rate)) > 1e-6


@both
def test_bits_drawn_depend_on_the_number_of_candidates_only(select: Select) -> None:
    drawn = set()
    for seed in range(40):
        source = RecordingSource(seed=seed)
        select(np.arange(100) * seed, rate=Fraction(1, 5), source=source)
        drawn.add(source.drawn)
    assert drawn == {800}


@both
def test_what_is_noted_is_public(select: Select) -> None:
    source = RecordingSource()
    select(np.array([1, 2, 3]), rate=Fraction(1, 5), source=source)
    assert source.calls[0].primitive == select.__name__
    assert dict(source.calls[0].arguments) == {"rate": Fraction(1, 5), "candidates": 3}


# Refusals


@both
@pytest.mark.parametrize(
    "scores",
    [
        np.zeros(0, dtype=np.int64),
        np.full((2, 2), 987654321),
        np.array(987654321),
        np.array([987654321.0, 2.0]),
        np.array([987654321, 2], dtype=np.int32),
        np.array([987654321, 2], dtype=np.uint64),
        np.array([True, False]),
        np.array([987654321, None], dtype=object),
    ],
)
def test_bad_scores_are_refused_unseen(select: Select, scores: np.ndarray) -> None:
    with pytest.raises(
        ParameterError, match="^scores must be a non-empty vector of int64"
    ) as caught:
        select(scores, rate=Fraction(1), source=Source.seeded(14))
    assert "987654321" not in str(caught.value)
    assert str(scores.dtype) in str(caught.value)


@both
@pytest.mark.parametrize("rate", [Fraction(0), Fraction(-1, 3)])
def test_bad_rates_are_refused(select: Select, rate: Fraction) -> None:
    with pytest.raises(ParameterError, match="^rate must be positive, got"):
        select(np.array([1, 2]), rate=rate, source=Source.seeded(15))
