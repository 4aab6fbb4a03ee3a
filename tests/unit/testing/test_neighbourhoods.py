"""Small worlds hold every pair of neighbours once, and find local sensitivities by themselves."""

from fractions import Fraction
from itertools import islice, product

import pytest

from reticent.testing import add_remove_pairs, profile_pairs, substitute_pairs
from reticent.testing.neighbourhoods import (
    Databases,
    Listed,
    Profiles,
    Vectors,
    World,
    local_sensitivities,
)

F = Fraction


def both(world: World) -> list[frozenset]:
    return [frozenset((pair.a, pair.b)) for pair in world.pairs()]


def same(found: list[frozenset], wanted: set[frozenset]) -> bool:
    return len(found) == len(set(found)) and set(found) == wanted


def test_databases_are_those_enumerated_before() -> None:
    wanted = {frozenset((pair.a, pair.b)) for pair in add_remove_pairs("abc", most=3)}
    assert same(both(Databases(("a", "b", "c"), 3)), wanted)
    swaps = {frozenset((pair.a, pair.b)) for pair in substitute_pairs("abc", size=3)}
    assert same(both(Databases(("a", "b", "c"), 3, substitute=True, ordered=True)), swaps)
    unordered = {frozenset(tuple(sorted(end)) for end in pair) for pair in swaps}
    wanted = {pair for pair in unordered if len(pair) == 2}
    assert same(both(Databases(("a", "b", "c"), 3, substitute=True)), wanted)


@pytest.mark.parametrize(("each", "one_way", "most"), [
    (False, False, 1), (False, False, 2), (True, False, 1), (True, True, 1),
])  # fmt: skip
def test_vectors_are_all_within_the_distance(each: bool, one_way: bool, most: int) -> None:
    values = (F(0), F(1), F(3, 2), F(3))

    def near(a, b) -> bool:
        moves = [y - x for x, y in zip(a, b, strict=True)]
        far = max(map(abs, moves)) if each else sum(map(abs, moves))
        alike = all(m >= 0 for m in moves) or all(m <= 0 for m in moves)
        return a != b and far <= most and (alike or not one_way)

    every = list(product(values, repeat=3))
    wanted = {frozenset((a, b)) for a in every for b in every if near(a, b)}
    assert same(both(Vectors(values, 3, F(most), each=each, one_way=one_way)), wanted)


def test_one_unit_may_move_few_coordinates_only() -> None:
    world = Vectors((F(0), F(1)), 3, F(2), coordinates=1)
    assert all(sum(x != y for x, y in zip(p.a, p.b, strict=True)) == 1 for p in world.pairs())


def test_profiles_name_the_item_and_whose_it_is() -> None:
    wanted = {(frozenset((pair.a, pair.b)), pair.unit) for pair in profile_pairs(("x", "y"))}
    one = Profiles(("x", "y"))
    assert {(frozenset((p.a[0], p.b[0])), p.unit) for p in one.pairs()} == wanted
    two = Profiles(("x", "y"), people=("", "their "))
    assert {pair.unit for pair in two.pairs()} == {"x", "y", "their x", "their y"}
    assert len(list(two.pairs())) == 16 * 4 // 2
    assert two.words(two.data(1)) == "{x} their {}"


def test_listed_inputs_are_all_neighbours_unless_told() -> None:
    assert len(list(Listed(("a", "b", "c")).pairs())) == 3
    assert both(Listed(("a", "b", "c"), (("c", "a"),))) == [frozenset(("a", "c"))]


def test_a_huge_world_gives_some_pairs_at_once() -> None:
    world = Vectors(tuple(map(F, range(10))), 40, F(1))
    pairs = list(world.some_pairs(20))
    assert len(pairs) == 20
    assert len({pair.a for pair in pairs}) >= 10
    assert len(list(islice(world.pairs(), 100))) == 100
    many = Databases(tuple(range(50)), 60)
    assert len(list(many.some_pairs(20))) == 20


def test_local_sensitivity_is_the_most_within_reach() -> None:
    """Against the definition: all data within t steps, and their own neighbours."""
    world = Databases((F(1), F(2)), 4)
    every = [world.data(i) for i in range(world.size)]
    utilities = {data: (sum(data) ** 2, F(len(data))) for data in every}
    beside = {data: {data} for data in every}
    for pair in world.pairs():
        beside[pair.a].add(pair.b)
        beside[pair.b].add(pair.a)
    found = local_sensitivities(world, utilities, 3)
    for data in every:
        within = {data}
        for t in range(3):
            wanted = tuple(
                max(abs(utilities[x][r] - utilities[y][r]) for x in within for y in beside[x])
                for r in range(2)
            )
            assert found[data][t] == wanted
            within = set().union(*(beside[x] for x in within))


def test_some_pairs_are_of_every_unit_and_of_all_parts_of_the_world() -> None:
    items = tuple(f"item {j}" for j in range(12))
    some = list(Profiles(items).some_pairs(48))
    assert {pair.unit for pair in some} == set(items)
    assert len(some) == len({(pair.a, pair.b) for pair in some}) == 48
    assert max(sum(pair.b[0]) for pair in some) > 8
    last = {pair.a[1] for pair in Vectors(tuple(map(F, range(10))), 2, F(1)).some_pairs(48)}
    assert last == set(map(F, range(10)))
    assert max(len(pair.b) for pair in Databases(("a", "b", "c"), 10).some_pairs(48)) == 10


def test_neighbours_in_the_middle_of_a_large_world_are_found_at_once() -> None:
    """Those before it, of which there are two to the thirty, are not gone through."""
    world = Vectors((F(0), F(1)), 31, F(1), each=True)
    own = (F(1), *[F(0)] * 30)
    found = [other for other, _ in islice(world.neighbours((F(1),) * 30 + (F(0),)), 5)]
    assert found == [(F(1),) * 31]
    assert len(list(islice(world.neighbours(own), 100))) == 100
