"""Laws of what is released about profiles: they are what is drawn, and a planted fault shows."""

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from reticent.data.catalogue import Catalogue
from reticent.data.profiles import Profiles
from reticent.mechanisms import Exposure, MultiLevel, Stretching, WeightedProfile
from reticent.mechanisms.modular import stretchable
from reticent.noise import Source
from reticent.tasks.blip import Blip
from reticent.testing import Pair, law_of, profile_pairs, verify_law
from reticent.testing.profile_laws import blip_law, histogram_in_steps, multilevel_law

ITEMS = ("full", "half", "hidden")
WEIGHTS = (1.0, 0.5, 0.0)
FUNCTIONS = {
    "sum": {"coefficients": (Fraction(1), Fraction(-2), Fraction("0.7"))},
    "mean": {"size": 3},
}
TWO = {"inner product": {}, "squared distance": {}}
FILMS = Catalogue.of([[1, 2, 0], [0.25, 0, -1], [0, 1, 1]], attributes=("x", "y", "z"), items=ITEMS)
RATES = (Fraction(1, 10), Fraction(1, 20), Fraction(1, 5))


def weighted(values) -> tuple[tuple[float, ...], tuple[float, ...]]:
    return tuple(map(float, values)), WEIGHTS


def stretching(name: str, **changes) -> Stretching:
    function = stretchable(name, **{**FUNCTIONS, **TWO}[name])
    return Stretching(**{"epsilon": 1, "function": function, **changes})


def centre(mechanism: Stretching, *profiles) -> float:
    """What the law is around: its median, by where the cells stop growing, is too coarse; its
    centre shows in the tails, whose ratio is that of the distances to both cuts."""
    law = list(law_of(mechanism)([weighted(p) for p in profiles]).items())
    low, high = float(law[0][0].split()[-1]), float(law[-1][0].split()[-1])
    scale = float(mechanism.scale)
    return (high + low + scale * np.log(float(law[-1][1] / law[0][1]))) / 2


@pytest.mark.parametrize("name", [*FUNCTIONS, *TWO])
def test_stretched_values_are_those_of_the_mechanism(name: str) -> None:
    mechanism = stretching(name)
    function = mechanism.function
    for profiles in product(product((0, 0.3, 1), repeat=3), repeat=function.people):
        held = [WeightedProfile.of(p, WEIGHTS) for p in profiles]
        value = float(function.evaluate(*held) * function.step)
        assert centre(mechanism, *profiles) == pytest.approx(value, abs=1e-5)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_items_lose_by_weight(name: str) -> None:
    claims = dict(zip(ITEMS, (1, Fraction(1, 2), 0), strict=True))
    law = law_of(stretching(name))
    pairs = list(profile_pairs(ITEMS))
    found = verify_law(lambda data: law([weighted(data)]), pairs, claim=claims)
    assert found.holds
    assert found.worst["hidden"].p == found.worst["hidden"].q
    tight = {**claims, "half": Fraction("0.4999")}
    assert verify_law(lambda data: law([weighted(data)]), pairs, claim=tight).broken == ("half",)


@pytest.mark.parametrize("name", TWO)
def test_items_of_both_people_lose_by_weight(name: str) -> None:
    claims = dict(zip(ITEMS, (1, Fraction(1, 2), 0), strict=True))
    law = law_of(stretching(name))
    pairs = [
        Pair((pair.a, other), (pair.b, other), pair.unit)
        for pair in profile_pairs(ITEMS)
        for other in product((0, 1), repeat=3)
    ]
    assert verify_law(lambda d: law([weighted(p) for p in d]), pairs, claim=claims).holds


@dataclass(frozen=True, slots=True, kw_only=True)
class Thin(Stretching):
    """Noise 2 % too small."""

    @property
    def scale(self) -> Fraction:
        return Stretching.scale.fget(self) * Fraction(98, 100)


def test_thin_noise_and_forgotten_weights_are_found() -> None:
    claims = dict(zip(ITEMS, (1, Fraction(1, 2), 0), strict=True))
    pairs = list(profile_pairs(ITEMS))
    thin = law_of(Thin(epsilon=1, function=stretchable("mean", size=3)))
    found = verify_law(lambda data: thin([weighted(data)]), pairs, claim=claims)
    assert set(found.broken) == {"full", "half"}
    assert found.worst["full"].pair.a != found.worst["full"].pair.b
    law = law_of(stretching("mean"))
    forgot = verify_law(
        lambda data: law([(tuple(map(float, data)), (1.0, 1.0, 1.0))]), pairs, claim=claims
    )
    assert set(forgot.broken) == {"half", "hidden"}


def test_the_stretching_law_is_what_is_drawn() -> None:
    mechanism, source = stretching("mean", epsilon=2), Source.seeded(3)
    profile = WeightedProfile.of((1, 1, 1), WEIGHTS)
    values = np.array([mechanism.release([profile], source).value for _ in range(8000)])
    law = law_of(mechanism)([weighted((1, 1, 1))])
    cuts = np.array([float(name.split()[-1]) for name in list(law)[1:-1]])
    cuts = np.concatenate([[0.0], cuts])
    seen = np.bincount(np.searchsorted(cuts, values, side="right"), minlength=len(law))
    expected = np.array([float(p) for p in law.values()]) * len(values)
    assert ((seen - expected) ** 2 / expected).sum() < 40  # 5 degrees of freedom
    wrong = np.array([float(p) for p in law_of(mechanism)([weighted((0, 0, 1))]).values()])
    assert ((seen - wrong * len(values)) ** 2 / (wrong * len(values))).sum() > 200


@pytest.mark.parametrize("weighing", [False, True])
def test_histograms_are_those_of_the_mechanism(weighing: bool) -> None:
    exposure = Exposure.of(FILMS, weighted=weighing)
    steps = [int(FILMS.steps[j] / exposure.steps[j]) for j in range(3)]
    rates = [rate / step for rate, step in zip(RATES, steps, strict=True)]
    mechanism = MultiLevel(exposure, rates, catalogue=FILMS)
    for values in product((0, 1), repeat=3):
        data = WeightedProfile.of(values, WEIGHTS) if weighing else list(values)
        assert histogram_in_steps(mechanism, weighted(values)) == mechanism.histogram(data).tolist()


def histogram(epsilon_factor: Fraction = Fraction(1)) -> MultiLevel:
    rates = [rate * epsilon_factor for rate in RATES]
    return MultiLevel(Exposure.of(FILMS), rates, catalogue=FILMS)


def test_each_item_and_each_attribute_keeps_its_claim() -> None:
    honest, hasty = histogram(), histogram(Fraction(102, 100))
    ones = (1.0, 1.0, 1.0)
    pairs = list(profile_pairs(ITEMS))
    overall = Fraction(honest.guarantee().overall, 10**9)
    assert verify_law(
        lambda d: multilevel_law(honest, (tuple(map(float, d)), ones)),
        pairs,
        claim=dict.fromkeys(ITEMS, overall),
    ).holds
    assert not verify_law(
        lambda d: multilevel_law(hasty, (tuple(map(float, d)), ones)),
        pairs,
        claim=dict.fromkeys(ITEMS, overall),
    ).holds
    for j, name in enumerate(FILMS.attributes):
        alone = Fraction(honest.guarantee().attributes[name], 10**9)
        for mechanism, holds in ((honest, True), (hasty, False)):
            found = verify_law(
                lambda d, m=mechanism, j=j: multilevel_law(m, (tuple(map(float, d)), ones), only=j),
                [replace(pair, unit=name) for pair in pairs],
                claim=alone,
            )
            assert found.holds is holds


def test_the_histogram_law_is_what_is_drawn() -> None:
    mechanism, source = histogram(Fraction(10)), Source.seeded(4)
    draws = 2500
    values = np.array([mechanism.release([1, 0, 1], source).value[1] for _ in range(draws)])
    law = multilevel_law(mechanism, ((1.0, 0.0, 1.0), (1.0, 1.0, 1.0)), only=1)
    chances = np.array([float(p) for p in law.values()])
    seen = np.array([(values < 0).sum(), ((values >= 0) & (values < 4)).sum(), (values >= 4).sum()])
    assert ((seen - chances * draws) ** 2 / (chances * draws)).sum() < 35
    other = np.array(
        [float(p) for p in multilevel_law(mechanism, ((0.0,) * 3, (1.0,) * 3), only=1).values()]
    )
    assert ((seen - other * draws) ** 2 / (other * draws)).sum() > 200


def blip_weighted(values) -> tuple[tuple[float, ...], tuple[float, ...]]:
    return weighted(values)


@pytest.mark.parametrize("hashes", [1, 2])
def test_a_filter_loses_by_weight_and_a_faulty_one_more(hashes: int) -> None:
    blip = Blip(epsilon=2, bits=64, hashes=hashes)
    pairs = list(profile_pairs(ITEMS))
    claims = dict(zip(ITEMS, (2, 1, 0), strict=True))
    found = verify_law(lambda d: blip_law(blip, weighted(d), ITEMS), pairs, claim=claims)
    assert found.holds
    assert float(found.worst["full"].loss) == pytest.approx(2, abs=1e-9)
    hasty = replace(blip, epsilon=Fraction(204, 100))
    faulty = verify_law(lambda d: blip_law(hasty, weighted(d), ITEMS), pairs, claim=claims)
    assert "full" in faulty.broken


def test_the_filter_law_is_what_is_drawn() -> None:
    blip, n = Blip(epsilon=2, bits=64), 20_000
    people = Profiles.of(np.repeat(np.arange(n), 2), ["full", "half"] * n, [1.0, 0.5] * n)
    words = blip.publish(people, Source.seeded(6)).words
    used = sorted({int(place) for place in blip.positions(ITEMS).reshape(-1)})
    bits = np.stack([(words[:, 0] >> np.uint64(p)) & np.uint64(1) for p in used], axis=1)
    for profile, fits in (((1, 1, 0), True), ((1, 0, 0), False)):
        law = blip_law(blip, weighted(profile), ITEMS)
        seen = np.array([(bits == np.array(bit)).all(axis=1).sum() for bit in law])
        expected = np.array([float(p) for p in law.values()]) * n
        distance = ((seen - expected) ** 2 / expected).sum()
        assert bool(distance < 50) is fits, distance
