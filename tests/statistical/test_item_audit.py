"""Each item of a profile is audited against its own claim, through the code that releases."""

from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np
import pytest

from reticent.data.profiles import Profiles
from reticent.noise import Source
from reticent.tasks.similarity import Similarity
from reticent.testing import audit_items

SAMPLES = 30_000
WEIGHTS = {"hidden": 0.0, "quarter": 0.25, "open": 1.0}
PROFILE = {"hidden": 1, "quarter": 1, "open": 1}
SIMILARITIES = {
    "overlap": Similarity(epsilon=1, measure="overlap", norms="none"),
    "product": Similarity(epsilon=1, measure="overlap", norms="none", weighting="product"),
    "cosine": Similarity(epsilon=1),
    "jaccard": Similarity(epsilon=1, measure="jaccard"),
}


def crowd(profile: Mapping[str, int], n: int, weights: Mapping[str, float]) -> Profiles:
    """n people with this profile, then one who has everything at full weight."""
    owned = [item for item, value in profile.items() if value]
    catalogue = list(PROFILE)
    people = np.concatenate([np.repeat(np.arange(n), len(owned)), np.full(len(catalogue), n)])
    items = [catalogue.index(item) for item in owned] * n + list(range(len(catalogue)))
    each = [weights[item] for item in owned] * n + [1.0] * len(catalogue)
    return Profiles.of(people, items, each).in_catalogue(range(n + 1), range(len(catalogue)))


def released(
    similarity: Similarity, source: Source, weights: Mapping[str, float] = WEIGHTS
) -> Callable[[Mapping[str, int], int], np.ndarray]:
    def release(profile: Mapping[str, int], n: int) -> np.ndarray:
        people = crowd(profile, n, weights)
        norms = similarity.release_norms(people, source)
        norms[n] = 3.0  # the other person's norm is theirs to release, once, not n times
        noise = similarity.pair_noise(source)
        first, second = np.arange(n), np.full(n, n)
        return similarity.pairs(people, first, second, norms=norms, noise=noise)

    return release


CLAIMS = {item: Fraction(weight) for item, weight in WEIGHTS.items()}


@pytest.mark.parametrize("name", SIMILARITIES)
def test_no_item_loses_more_than_its_weight_allows(name: str) -> None:
    release = released(SIMILARITIES[name], Source.seeded(11))
    audits = audit_items(release, PROFILE, CLAIMS, samples=SAMPLES)
    assert audits.violated == (), str(audits)
    assert audits.items["hidden"].bound == 0
    assert audits.items["open"].bound > 0.5


def test_an_ignored_weight_is_caught() -> None:
    """The control: the same claims when the weights are not applied."""
    everything = dict.fromkeys(WEIGHTS, 1.0)
    release = released(SIMILARITIES["overlap"], Source.seeded(12), everything)
    audits = audit_items(release, PROFILE, CLAIMS, samples=SAMPLES)
    assert audits.violated == ("hidden", "quarter"), str(audits)
