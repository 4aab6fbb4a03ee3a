"""Discrete Laplace: the law, on every path through the sampler; shapes and refusals."""

import math
from collections.abc import Iterator
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from reticent.errors import ParameterError
from reticent.noise import LARGEST_SCALE, Source, discrete_laplace, laplace
from reticent.testing.closed_forms import discrete_laplace_cdf, discrete_laplace_pmf
from reticent.testing.sources import RecordingSource, ScriptedSource
from reticent.testing.statistics import chi_square, kolmogorov

SCALES = [1e-3, 0.2, 0.5, 1, 2.5, Fraction(10, 3), 10, 333.25, 2**18, 2**19, 2**20 + 1, 1e9, 2**50]


def magnitude_oracle(u: Fraction, scale: Fraction) -> int:
    """|Z| = number of k >= 0 with U < r^(k + 1) / (1 + r), by mpmath."""
    with mpmath.workprec(600):
        t = mpmath.mpf(scale.numerator) / scale.denominator
        r = mpmath.exp(-1 / t)
        y = -(mpmath.log(mpmath.mpf(u.numerator) / u.denominator) + mpmath.log1p(r)) * t
        return max(int(mpmath.floor(y)), 0)


# The law


@pytest.mark.parametrize("scale", [0.2, 1, Fraction(10, 3), 25])
def test_vectors_follow_the_law(scale: float | Fraction) -> None:
    drawn = discrete_laplace(scale=scale, size=300_000, source=Source.seeded(1))
    assert chi_square(drawn, discrete_laplace_pmf(scale)).p_value > 1e-6
    assert (
        chi_square(drawn, discrete_laplace_pmf(Fraction(scale) * Fraction(11, 10))).p_value < 1e-6
    )


@pytest.mark.parametrize("scale", [1, 7.5])
def test_single_numbers_follow_the_law(scale: float) -> None:
    source = Source.seeded(2)
    drawn = np.array([discrete_laplace(scale=scale, source=source) for _ in range(20_000)])
    assert chi_square(drawn, discrete_laplace_pmf(scale)).p_value > 1e-6
    assert chi_square(drawn, discrete_laplace_pmf(scale * 1.2)).p_value < 1e-6


@pytest.mark.parametrize("scale", [2**21, 2**40, 1e12 + 0.5])
def test_large_scales_follow_the_law(scale: float) -> None:
    drawn = discrete_laplace(scale=scale, size=300_000, source=Source.seeded(3))
    assert kolmogorov(drawn, discrete_laplace_cdf(scale)).p_value > 1e-6
    assert kolmogorov(drawn, discrete_laplace_cdf(scale * 1.1)).p_value < 1e-6
    low_byte = np.bincount(np.abs(drawn) & 255, minlength=256)
    expected = drawn.size / 256
    assert ((low_byte - expected) ** 2 / expected).sum() < 255 + 6 * np.sqrt(510)


def test_each_coordinate_has_its_own_law() -> None:
    scales = [0.5, 3, Fraction(100, 7), 2**21]
    drawn = discrete_laplace(scale=scales, size=(100_000, 4), source=Source.seeded(4))
    for column, scale in enumerate(scales[:3]):
        assert chi_square(drawn[:, column], discrete_laplace_pmf(scale)).p_value > 1e-6
    assert kolmogorov(drawn[:, 3], discrete_laplace_cdf(2**21)).p_value > 1e-6


@pytest.mark.parametrize("scale", [0.5, 3.0, 40.0, 2.0**22])
def test_moments(scale: float) -> None:
    n = 1_000_000
    drawn = discrete_laplace(scale=scale, size=n, source=Source.seeded(5)).astype(float)
    r = math.exp(-1 / scale)
    variance = 2 * r / math.expm1(-1 / scale) ** 2
    absolute = 2 * r / -math.expm1(-2 / scale)
    assert abs(drawn.mean()) < 6 * math.sqrt(variance / n)
    assert abs(np.abs(drawn).mean() - absolute) < 6 * math.sqrt(variance / n)
    assert drawn.var() == pytest.approx(variance, rel=0.03)


def test_signs_are_fair_and_neighbours_independent() -> None:
    drawn = discrete_laplace(scale=10, size=1_000_000, source=Source.seeded(6))
    signs = np.sign(drawn)
    assert abs(int(signs.sum())) < 6_000
    assert abs(int((signs[1:] * signs[:-1]).sum())) < 6_000
    assert abs(float(np.corrcoef(np.abs(drawn[1:]), np.abs(drawn[:-1]))[0, 1])) < 0.006


# The paths through the sampler


@settings(max_examples=80, deadline=None)
@given(
    st.integers(1, 2**63 - 1),
    st.fractions(min_value=Fraction(1, 50), max_value=2**17, max_denominator=10**6),
    st.booleans(),
)
def test_every_word_gives_what_mpmath_says(word: int, scale: Fraction, flip: bool) -> None:
    sign, said = (-1, word ^ (2**64 - 1)) if flip else (1, word)
    middle = Fraction(2 * word + 1, 1 << 65)
    expected = sign * magnitude_oracle(middle, scale)
    more = 1 << 63  # if more bits are needed, U is exactly the middle of its word
    assert discrete_laplace(scale=scale, source=ScriptedSource(bits=[said], more=more)) == expected
    script = ScriptedSource(words=[said], more=more)
    assert discrete_laplace(scale=scale, size=1, source=script) == [expected]


@settings(max_examples=80, deadline=None)
@given(
    st.floats(0, 43),
    st.fractions(min_value=1, max_value=2**17, max_denominator=10**6),
    st.booleans(),
)
def test_the_sampler_steps_where_the_law_does(far: float, scale: Fraction, below: bool) -> None:
    k = int(far * scale)
    with mpmath.workprec(600):
        r = mpmath.exp(-mpmath.mpf(scale.denominator) / scale.numerator)
        step = int(mpmath.floor(r ** (k + 1) / (1 + r) * mpmath.mpf(2) ** 256))
    u = step - 1 if below else step + 1  # U on one side of P[|Z| > k] / 2, by 2**-256
    assume(u >> 192 > 0)  # words of zeros have their own test
    chunks = [(u >> shift) & (2**64 - 1) for shift in (192, 128, 64, 0)]
    expected = k + 1 if below else k
    assert discrete_laplace(scale=scale, source=ScriptedSource(bits=chunks)) == expected
    script = ScriptedSource(words=chunks[:1], bits=chunks[1:])
    assert discrete_laplace(scale=scale, size=1, source=script) == [expected]


@pytest.mark.parametrize("scale", SCALES)
def test_single_numbers_equal_vectors_word_for_word(scale: float | Fraction) -> None:
    one, many = Source.seeded(7), Source.seeded(7)
    for _ in range(60):
        assert discrete_laplace(scale=scale, source=one) == discrete_laplace(
            scale=scale, size=1, source=many
        )


@pytest.mark.parametrize("size", [1, 1000, laplace._BLOCK, laplace._BLOCK + 1, 30_000])
def test_blocks_do_not_show(size: int) -> None:
    whole = discrete_laplace(scale=5, size=size, source=Source.seeded(8))
    words = Source.seeded(8)
    singles = [discrete_laplace(scale=5, source=words) for _ in range(min(size, 9000))]
    assert whole[:9000].tolist() == singles
    same = discrete_laplace(scale=np.full(size, 5.0), source=Source.seeded(8))
    assert (same == whole).all()


@pytest.mark.parametrize("scale", [0.5, 3, Fraction(50, 3)])
def test_settling_exactly_changes_nothing(
    scale: float | Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    fast = discrete_laplace(scale=scale, size=1000, source=Source.seeded(9))
    settled: list[int] = []
    settle = laplace._settle

    def counting(word: int, *rest: object) -> int:
        settled.append(word)
        return settle(word, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(laplace, "_settle", counting)
    monkeypatch.setattr(laplace, "_MARGIN", 0.4 / float(scale))  # eight draws in ten are "close"
    slow = discrete_laplace(scale=scale, size=1000, source=Source.seeded(9))
    assert len(settled) > 350
    assert (slow == fast).all()
    source = Source.seeded(9)
    assert [discrete_laplace(scale=scale, source=source) for _ in range(200)] == fast[:200].tolist()


def test_the_law_holds_when_most_draws_are_settled_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laplace, "_MARGIN", 0.4 / 3)
    drawn = discrete_laplace(scale=3, size=1500, source=Source.seeded(10))
    assert chi_square(drawn, discrete_laplace_pmf(3)).p_value > 1e-6
    assert chi_square(drawn, discrete_laplace_pmf(4)).p_value < 1e-6


@pytest.fixture
def few_direct_bits(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Low digits drawn apart from scale 4 on, so that they are thinned in one draw of three."""
    for cached in (laplace._shared_law, laplace._single_law):
        cached.cache_clear()
    monkeypatch.setattr(laplace, "_DIRECT_BITS", 2)
    yield
    for cached in (laplace._shared_law, laplace._single_law):
        cached.cache_clear()


@pytest.mark.usefixtures("few_direct_bits")
def test_thinned_low_digits_follow_the_law(monkeypatch: pytest.MonkeyPatch) -> None:
    thinned: list[int] = []
    thin = laplace._thin

    def counting(low: int, *rest: object) -> int:
        thinned.append(low)
        return thin(low, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(laplace, "_thin", counting)
    drawn = discrete_laplace(scale=20, size=20_000, source=Source.seeded(11))
    assert len(thinned) > 4000
    assert chi_square(drawn, discrete_laplace_pmf(20)).p_value > 1e-6
    assert chi_square(drawn, discrete_laplace_pmf(22)).p_value < 1e-6
    low_digits = np.bincount((np.abs(drawn[drawn != 0]) - 1) % 8)
    assert low_digits[0] > 1.2 * low_digits[7], "the low digits were not thinned"


@pytest.mark.usefixtures("few_direct_bits")
def test_thinned_low_digits_of_single_numbers_and_of_mixed_scales() -> None:
    source = Source.seeded(12)
    drawn = np.array([discrete_laplace(scale=50, source=source) for _ in range(8_000)])
    assert chi_square(drawn, discrete_laplace_pmf(50)).p_value > 1e-6
    scales = [2, 50, Fraction(200, 3)]
    mixed = discrete_laplace(scale=scales, size=(6_000, 3), source=Source.seeded(13))
    for column, scale in enumerate(scales):
        assert chi_square(mixed[:, column], discrete_laplace_pmf(scale)).p_value > 1e-6


@pytest.mark.parametrize("scale", [1, Fraction(7, 2), 1000])
@pytest.mark.parametrize("zeros", [1, 2, 3])
def test_words_of_zeros_are_continued(scale: int | Fraction, zeros: int) -> None:
    tail = 0x123456789ABCDEF0
    u = Fraction(tail, 1 << 64 * (zeros + 1))
    expected = magnitude_oracle(u + Fraction(1, 1 << 64 * (zeros + 2)), Fraction(scale))
    bits = [*[0] * (zeros - 1), tail]
    positive = discrete_laplace(scale=scale, size=1, source=ScriptedSource(words=[0], bits=bits))
    negative = discrete_laplace(
        scale=scale, size=1, source=ScriptedSource(words=[2**64 - 1], bits=bits)
    )
    single = discrete_laplace(scale=scale, source=ScriptedSource(bits=[0, *bits]))
    assert positive.tolist() == [expected] == [-negative[0]] == [single]


def test_what_does_not_fit_64_bits_is_an_error_without_data() -> None:
    source = ScriptedSource(bits=[0] * 40)
    with pytest.raises(OverflowError, match="^the noise drawn does not fit 64 bits; draw again$"):
        discrete_laplace(scale=2**50, source=source)


def test_tiny_scales_give_zero() -> None:
    for scale in (1e-3, 1e-200, 5e-324, Fraction(1, 10**400)):
        assert discrete_laplace(scale=scale, source=Source.seeded(14)) == 0
        assert not discrete_laplace(scale=scale, size=20, source=Source.seeded(14)).any()


# Shapes and types


@pytest.mark.parametrize(
    ("scale", "size", "shape"),
    [
        (3, None, ()),
        (3, (), ()),
        (3, 0, (0,)),
        (3, 5, (5,)),
        (3, (2, 3), (2, 3)),
        (3, (2, 0), (2, 0)),
        (3, np.int64(4), (4,)),
        ([3], None, (1,)),
        ([3, 4], None, (2,)),
        ([[1], [2]], (2, 5), (2, 5)),
        ([1, 2, 3], (4, 3), (4, 3)),
        ([], None, (0,)),
        (np.zeros((0, 2)) + 1, None, (0, 2)),
        (np.array(2.5), None, ()),
        (np.float32(2.5), 3, (3,)),
        ([Fraction(1, 3)] * 2, (2, 2), (2, 2)),
    ],
)
def test_shapes(scale: object, size: object, shape: tuple[int, ...]) -> None:
    drawn = discrete_laplace(scale=scale, size=size, source=Source.seeded(15))  # type: ignore[call-overload]
    assert drawn.shape == shape
    assert drawn.dtype == np.int64


def test_a_scalar_is_a_numpy_integer() -> None:
    drawn = discrete_laplace(scale=3, source=Source.system())
    assert isinstance(drawn, np.int64)


def test_broadcasting_repeats_scales_in_the_right_places() -> None:
    scales = np.array([[1e-3], [2.0**40]])
    drawn = discrete_laplace(scale=scales, size=(2, 1000), source=Source.seeded(16))
    assert not drawn[0].any()
    assert (np.abs(drawn[1]) > 2**20).mean() > 0.99
    turned = discrete_laplace(scale=scales.T, size=(1000, 2), source=Source.seeded(16))
    assert not turned[:, 0].any()
    assert turned[:, 1].all()


@pytest.mark.parametrize("scale", [3, 3.0, Fraction(3), np.float64(3), np.int16(3), [3]])
def test_equal_scales_draw_equal_noise(scale: object) -> None:
    expected = discrete_laplace(scale=3, size=100, source=Source.seeded(17))
    drawn = discrete_laplace(scale=scale, size=100, source=Source.seeded(17))  # type: ignore[call-overload]
    assert (drawn == expected).all()


def test_seeds_repeat_and_system_sources_do_not() -> None:
    first, second = (
        discrete_laplace(scale=1000, size=50, source=Source.seeded(18)) for _ in range(2)
    )
    assert (first == second).all()
    third = discrete_laplace(scale=1000, size=50, source=Source.system())
    assert (first != third).any()


def test_what_is_noted_is_public() -> None:
    source = RecordingSource()
    discrete_laplace(scale=3, source=source)
    discrete_laplace(scale=Fraction(1, 2), size=(2, 3), source=source)
    assert [(call.primitive, dict(call.arguments)) for call in source.calls] == [
        ("discrete_laplace", {"scale": 3, "shape": ()}),
        ("discrete_laplace", {"scale": Fraction(1, 2), "shape": (2, 3)}),
    ]


@pytest.mark.parametrize("scale", [1, 1000, 2**45])
def test_bits_drawn_depend_on_size_and_scale_only(scale: int) -> None:
    drawn = set()
    for seed in range(30):
        source = RecordingSource(seed=seed)
        discrete_laplace(scale=scale, size=100, source=source)
        discrete_laplace(scale=scale, source=source)
        drawn.add(source.drawn)
    assert len(drawn) == 1


# Refusals


@pytest.mark.parametrize("size", [None, 3])
@pytest.mark.parametrize(
    "bad",
    [
        0,
        0.0,
        -1,
        -0.5,
        Fraction(-1, 3),
        Fraction(-1, 10**400),
        math.nan,
        math.inf,
        -math.inf,
        2**51,
        LARGEST_SCALE * 1.001,
        10**400,
        True,
        "3",
        None,
        1j,
        [1, 2, 0],
        [1, -2, 3],
        [1, math.nan, 3],
        np.array([True, False, True]),
        [Fraction(1), True, Fraction(2)],
        ["a", "b", "c"],
    ],
)
def test_bad_scales_are_refused(bad: object, size: int | None) -> None:
    source = Source.seeded(19)
    with pytest.raises(ParameterError, match=r"^scale must be .*, got .*"):
        discrete_laplace(scale=bad, size=size, source=source)  # type: ignore[call-overload]
    assert source.bits(64) == Source.seeded(19).bits(64), "bits were drawn for a bad scale"


def test_the_largest_scale_is_allowed() -> None:
    assert discrete_laplace(scale=LARGEST_SCALE, size=4, source=Source.system()).shape == (4,)


@pytest.mark.parametrize("size", [-1, 2.5, "3", (2, -1), (2, 1.5), [2, 3]])
def test_bad_sizes_are_refused(size: object) -> None:
    with pytest.raises(ParameterError, match=r"^size must be a non-negative integer"):
        discrete_laplace(scale=3, size=size, source=Source.seeded(20))  # type: ignore[call-overload]


@pytest.mark.parametrize(("scale", "size"), [([1, 2], 3), ([[1], [2]], 2), ([1, 2], ()), ([], 2)])
def test_scales_that_do_not_broadcast_are_refused(scale: list[object], size: object) -> None:
    with pytest.raises(ParameterError, match=r"^size must be a shape to which scale, .* broad"):
        discrete_laplace(scale=scale, size=size, source=Source.seeded(21))  # type: ignore[call-overload]
