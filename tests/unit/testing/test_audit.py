"""Audits: sound for true mechanisms, and sharp enough to see 2 %."""

from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from reticent.errors import ParameterError
from reticent.mechanisms import DiscreteLaplace, PermuteAndFlip, SnappedLaplace
from reticent.noise import Source, discrete_laplace
from reticent.testing import Audit, audit_epsilon, audit_items
from reticent.testing.audit import _log_ratio
from reticent.testing.faults import float_laplace


def counts(value: int, *, scale: Fraction | int = 1, seed: int) -> Callable[[int], np.ndarray]:
    source = Source.seeded(seed)
    return lambda n: value + discrete_laplace(scale=scale, size=n, source=source)


def audit(scale: Fraction | int, seed: int, samples: int = 1_000_000) -> Audit:
    a, b = counts(0, scale=scale, seed=2 * seed), counts(1, scale=scale, seed=2 * seed + 1)
    return audit_epsilon(a, b, samples=samples, claim=1)


@pytest.mark.parametrize("seed", range(4))
def test_the_true_mechanism_is_not_refuted(seed: int) -> None:
    result = audit(1, seed)
    assert not result.violated
    assert 0.975 < result.bound <= 1


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("percent", [2, 5, 10])
def test_noise_too_small_is_caught(seed: int, percent: int) -> None:
    result = audit(Fraction(100 - percent, 100), seed)
    assert result.violated
    assert 1 < result.bound <= 100 / (100 - percent)


def test_the_release_itself_is_audited() -> None:
    def draw(value: int) -> Callable[[int], np.ndarray]:
        source = Source.seeded(value)

        def released(n: int) -> np.ndarray:
            return DiscreteLaplace(epsilon=1, size=n).release(np.full(n, value), source).value

        return released

    assert not audit_epsilon(draw(0), draw(1), samples=400_000, claim=1).violated


def test_floats_are_audited_by_how_fine_they_are() -> None:
    sources = [Source.seeded(i) for i in range(2)]
    result = audit_epsilon(
        lambda n: float_laplace(np.zeros(n), sources[0]),
        lambda n: float_laplace(np.ones(n), sources[1]),
        samples=100_000,
        claim=1,
    )
    assert result.bound > 5
    assert "lowest bit" in result.event


def test_the_grid_gives_nothing_away() -> None:
    def draw(value: int) -> Callable[[int], np.ndarray]:
        source = Source.seeded(value)

        def released(n: int) -> np.ndarray:
            mechanism = SnappedLaplace(
                epsilon=1, size=n, sensitivity=1, lower=0, upper=1, coordinates=1
            )
            return mechanism.release(np.full(n, value), source).value

        return released

    result = audit_epsilon(draw(0), draw(1), samples=200_000, claim=1)
    assert not result.violated
    assert result.bound > 0.9


def test_labels_are_audited_one_by_one() -> None:
    mechanism = PermuteAndFlip(epsilon=1, candidates=3, sensitivity=1)
    names = np.array(["a", "b", "c"])

    def draw(scores: list[int], seed: int) -> Callable[[int], np.ndarray]:
        source = Source.seeded(seed)
        return lambda n: names[[mechanism.release(scores, source).value for _ in range(n)]]

    near, far = draw([0, 1, 1], 1), draw([1, 0, 0], 2)
    assert not audit_epsilon(near, far, samples=1000, claim=1).violated
    wide = audit_epsilon(near, draw([9, 0, 0], 3), samples=1000, claim=1)
    assert wide.violated
    assert wide.event.startswith("output = ")


def test_not_a_number_is_an_output_too() -> None:
    result = audit_epsilon(
        lambda n: np.where(np.arange(n) % 2, np.nan, 0.0), np.zeros, samples=2000, claim=1
    )
    assert result.violated


def test_either_direction_is_looked_at() -> None:
    rare, sure = (lambda n: (np.arange(n) % 100 == 0).astype(int)), np.ones
    for a, b in ((rare, sure), (sure, rare)):
        assert audit_epsilon(a, b, samples=20_000, claim=3).bound > 3


def test_equal_laws_are_seldom_refuted() -> None:
    refuted = 0
    for seed in range(300):
        a, b = counts(0, seed=2 * seed), counts(0, seed=2 * seed + 1)
        refuted += audit_epsilon(a, b, samples=1000, claim=0, confidence=0.9).violated
    assert refuted <= 45  # 30 are expected if the bound were exact; it is conservative


@pytest.mark.parametrize(
    ("p_hits", "q_hits"), [(0, 0), (3, 1), (700, 200), (1000, 0), (1000, 1000)]
)
def test_the_ends_are_those_of_clopper_and_pearson(p_hits: int, q_hits: int) -> None:
    low = stats.binomtest(p_hits, 1000).proportion_ci(0.99, method="exact").low
    high = stats.binomtest(q_hits, 1000).proportion_ci(0.99, method="exact").high
    expected = max(0.0, np.log(low / high)) if low else 0.0
    assert _log_ratio(p_hits, q_hits, 1000, 0.005) == pytest.approx(expected, abs=1e-9)


def weighted(weights: Mapping[str, int]) -> Callable[[Mapping[str, int], int], np.ndarray]:
    """Noise of scale 2 on a count in which an item of weight w counts w."""
    source = Source.seeded(8)

    def release(profile: Mapping[str, int], n: int) -> np.ndarray:
        total = sum(weights[item] * value for item, value in profile.items())
        return total + discrete_laplace(scale=2, size=n, source=source)

    return release


CLAIMS = {"shown": 1, "half": Fraction(1, 2), "hidden": 0}


def test_items_are_held_to_their_own_claims() -> None:
    profile = {"shown": 1, "half": 1, "hidden": 0}
    release = weighted({"shown": 2, "half": 1, "hidden": 0})
    result = audit_items(release, profile, CLAIMS, samples=300_000)
    assert result.violated == ()
    bounds = {item: audit.bound for item, audit in result.items.items()}
    assert 0.9 < bounds["shown"] <= 1
    assert 0.45 < bounds["half"] <= 0.5
    assert bounds["hidden"] == 0


def test_ignored_weights_are_caught_item_by_item() -> None:
    profile = {"shown": 1, "half": 1, "hidden": 0}
    release = weighted({"shown": 2, "half": 2, "hidden": 1})
    result = audit_items(release, profile, CLAIMS, samples=300_000)
    assert result.violated == ("half", "hidden")
    assert "hidden: epsilon >= 0.4" in str(result)


def test_every_item_needs_a_claim() -> None:
    with pytest.raises(ParameterError, match="claims must be one epsilon for each item"):
        audit_items(weighted({}), {"a": 1}, {}, samples=10)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"samples": 4}, "samples must be"),
        ({"claim": -1}, "claim must be finite and not negative"),
        ({"claim": float("inf")}, "claim must be a finite number"),
        ({"confidence": 1}, "confidence must be between 0 and 1"),
    ],
)
def test_parameters_are_checked(change: dict[str, float], message: str) -> None:
    parameters = {"samples": 100, "claim": 1, **change}
    with pytest.raises(ParameterError, match=message):
        audit_epsilon(np.zeros, np.ones, **parameters)


def test_a_draw_must_give_what_was_asked_for() -> None:
    with pytest.raises(ParameterError, match="a vector of n = 20 outputs, got"):
        audit_epsilon(lambda n: np.zeros((n, 2)), np.ones, samples=100, claim=1)


def test_a_result_reads_as_a_sentence() -> None:
    result = Audit(1.2345, Fraction(1), "output > 0", 100, 0.9999, (40, 10))
    assert str(result) == (
        "epsilon >= 1.2345 by the event output > 0 (40 against 10 times); claim 1 VIOLATED"
    )
