"""Ways to find neighbours: equal losses, equal held-out items, recall counted by hand."""

from fractions import Fraction

import numpy as np
import pytest

from reticent.amounts import nano_up
from reticent.data.profiles import FULL_WEIGHT, Profiles
from reticent.errors import ParameterError
from reticent.noise import Source
from reticent.tasks.comparing import seeds
from reticent.tasks.comparing_neighbours import (
    EVERYBODY,
    FULL,
    LESS,
    PAIRS,
    SKETCHES,
    STRICT_SKETCHES,
    WAYS,
    WITHHELD,
    Search,
    neighbour_curves,
    pairs_at,
    privacy_groups,
    strictest,
    without_weights,
)
from reticent.tasks.metrics import hold_out

SEARCH = Search(k=2, profile_size=6, held_out=Fraction(1, 4))


def club(weights=None) -> Profiles:
    """Two circles of six people, who share most films of eight with their own."""
    rng = np.random.default_rng(1)
    who, what = [], []
    for person in range(12):
        for film in rng.choice(8, 6, replace=False):
            who.append(f"p{person}")
            what.append(f"f{8 * (person % 2) + film}")
    return Profiles.of(who, what, 1.0 if weights is None else weights[: len(who)])


def compared(profiles, **given):
    usual = {"epsilons": [2], "runs": 3, "source": Source.seeded(5)}
    return neighbour_curves(profiles, SEARCH, **{**usual, **given})


def test_recall_without_privacy_counted_by_hand() -> None:
    """Sets of films and cosines in plain Python; of people who tie, any will do."""
    profiles = club()
    found = compared(profiles)
    shares = []
    for seed in seeds(Source.seeded(5), 3):
        train, held = hold_out(profiles, source=Source.seeded(seed), share=Fraction(1, 4))
        peers = SEARCH.exact(train)
        of_person = []
        for u in range(12):
            own, wanted = set(train.row(u).tolist()), set(held.row(u).tolist())
            scores = {
                v: len(own & set(train.row(v).tolist()))
                / np.sqrt(max(len(own), 1) * max(train.sizes[v], 1))
                for v in range(12)
                if v != u
            }
            worst = min(scores[v] for v in peers[u].tolist())
            assert worst == pytest.approx(sorted(scores.values())[-2])  # no better pair is left out
            supplied = {film for v in peers[u].tolist() for film in profiles.row(v).tolist()}
            if wanted:
                of_person.append(len(wanted & supplied) / len(wanted))
        shares.append(np.mean(of_person))
    assert found.reference == pytest.approx(np.mean(shares))


def test_large_budgets_come_to_what_is_known_without_privacy() -> None:
    found = compared(club(), epsilons=[10**5])
    for way in WAYS:
        assert found.at(way, 1e5).value == pytest.approx(found.reference, abs=0.2)
    blind = compared(club(), epsilons=["0.01"], runs=10)
    assert blind.at(PAIRS, 0.01).value < found.reference - 0.1


def test_pairs_lose_what_is_asked_to_all_others_together() -> None:
    for people in (2, 12, 1000):
        loss = pairs_at(Fraction(3), people).guarantee(people - 1).overall
        assert loss == nano_up(Fraction(3))
    alone = pairs_at(Fraction(3), 12).guarantee(1).overall
    assert alone < nano_up(Fraction(3)) / 4


def test_the_strictest_budget_suits_every_item() -> None:
    """What everybody loses at it is at most the weight of any item that is not withheld."""
    weights = [1.0, 0.5, 0.25, 0.0] * 18
    profiles = club(weights)
    least = strictest(profiles)
    assert least == Fraction(1, 4)
    known = profiles.weights[profiles.weights > 0]
    assert all(least <= Fraction(int(weight), FULL_WEIGHT) for weight in known)
    plain = without_weights(profiles)
    assert plain.indices.size == known.size
    assert set(plain.weights.tolist()) == {FULL_WEIGHT}
    assert strictest(club([0.0] * 72)) == 1


def test_strict_sketches_are_sketches_at_that_budget() -> None:
    profiles = club([1.0, 0.5] * 36)
    draw = Source.seeded(3)
    strict = SEARCH.peers(profiles, STRICT_SKETCHES, Fraction(8), draw)
    other = SEARCH.peers(without_weights(profiles), SKETCHES, Fraction(4), Source.seeded(3))
    assert (strict == other).all()


def test_people_are_grouped_by_their_least_weight() -> None:
    there = Profiles.of(["a", "a", "b", "b", "c", "c"], [1, 2, 1, 2, 1, 2])
    profiles = there.with_weights([1, 1, 1, 0.5, 0, 1])
    groups = privacy_groups(profiles)
    assert {name: marked.tolist() for name, marked in groups.items()} == {
        EVERYBODY: [True] * 3,
        FULL: [True, False, False],
        LESS: [False, True, False],
        WITHHELD: [False, False, True],
    }
    assert [*privacy_groups(club())] == [EVERYBODY]


def test_figures_by_group_add_up_to_those_of_everybody() -> None:
    """By people who have something held out; here nobody lacks it."""
    profiles = club([1.0] * 36 + [0.5] * 36)
    search = Search(k=2, profile_size=6, held_out=Fraction(9, 10))
    found = neighbour_curves(profiles, search, epsilons=[2], runs=2, source=Source.seeded(1))
    groups = [row for row in found.more["groups"] if row["way"] == SKETCHES]
    assert {row["group"]: row["people"] for row in groups} == {FULL: 6, LESS: 6}
    whole = sum(row["people"] * row["value"] for row in groups) / 12
    assert found.at(SKETCHES, 2.0).value == pytest.approx(whole)


def test_a_way_alone_is_as_among_others() -> None:
    whole = compared(club(), epsilons=[1, 3])
    alone = compared(club(), epsilons=[1, 3], ways=[PAIRS])
    for row in alone.rows:
        other = whole.at(PAIRS, row.x)
        assert (row.value, row.low, row.high) == (other.value, other.low, other.high)
    assert compared(club(), epsilons=[1, 3]) == whole


def test_groups_of_whom_nothing_is_held_out_are_left_out() -> None:
    """Alone with their items, two people have nothing that others could supply."""
    who, what = ["a", "b", "c", "d"] * 2, ["x", "x", "u", "v", "y", "y", "w", "z"]
    profiles = Profiles.of(who, what, [1, 1, 0.5, 0.5, 1, 1, 0.5, 0.5])
    found = neighbour_curves(
        profiles, Search(k=1, held_out="0.5"), epsilons=[1], runs=4, source=Source.seeded(1)
    )
    assert {row["group"] for row in found.more["groups"]} == {FULL}
    with pytest.raises(ParameterError, match="items that two people have"):
        compared(Profiles.of(["a", "b"], ["x", "y"]))


def test_wrong_parameters() -> None:
    with pytest.raises(ParameterError, match="two people or more"):
        compared(Profiles.of(["a"], ["x"]))
    with pytest.raises(ParameterError, match="method must be one of"):
        compared(club(), ways=["guess"])
    with pytest.raises(ParameterError, match="k must be"):
        Search(k=0)
