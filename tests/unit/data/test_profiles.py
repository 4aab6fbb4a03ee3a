import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from reticent.data.labels import in_order, text_of
from reticent.data.profiles import FULL_WEIGHT, Profiles, weight_units
from reticent.errors import ParameterError

lines = st.lists(
    st.tuples(st.integers(0, 5), st.integers(-3, 4), st.integers(0, 16).map(lambda n: n / 16)),
    max_size=40,
)


def as_dict(profiles: Profiles) -> dict[tuple[object, object], float]:
    return {
        (profiles.people[u], profiles.items[c]): w / FULL_WEIGHT
        for u, c, w in zip(profiles.rows(), profiles.indices, profiles.weights, strict=True)
    }


def columns(table) -> tuple[list, list, list]:
    return [u for u, _, _ in table], [i for _, i, _ in table], [w for _, _, w in table]


@given(lines, st.sampled_from([lambda x: x, str, lambda x: x / 8, lambda x: x * 10**12]))
def test_a_long_table_becomes_sorted_rows_with_the_least_weight(table, name) -> None:
    people, items, weights = columns(table)
    people, items = [name(u) for u in people], [name(i) for i in items]
    profiles = Profiles.of(people, items, weights)
    least: dict[tuple[str | None, str | None], float] = {}
    for u, i, w in zip(map(text_of, people), map(text_of, items), weights, strict=True):
        least[u, i] = min(least.get((u, i), 1.0), w)
    expected = {pair: weight for pair, weight in least.items() if weight}
    assert as_dict(profiles) == expected
    assert list(profiles.people) == sorted({u for u, _ in expected}, key=in_order)
    assert list(profiles.items) == sorted({i for _, i in expected}, key=in_order)
    for u in range(len(profiles)):
        assert (np.diff(profiles.row(u)) > 0).all()


@settings(max_examples=20)
@given(lines)
def test_sorting_by_one_key_and_by_three_agree(table) -> None:
    who, what, weights = columns([(u, i + 3, w) for u, i, w in table])
    entries = np.array(who, dtype=np.int64), np.array(what, dtype=np.int64), weight_units(weights)
    fast = Profiles._from_entries(*entries, range(6), range(8))
    wide = Profiles._from_entries(*entries, range(1 << 12), range(1 << 30))  # too wide for a key
    assert wide.indices.tolist() == fast.indices.tolist()
    assert wide.weights.tolist() == fast.weights.tolist()
    assert wide.indptr[:7].tolist() == fast.indptr.tolist()


@given(lines)
def test_the_inverted_index_is_the_transpose(table) -> None:
    profiles = Profiles.of(*columns(table))
    starts, owners, weights = profiles.transposed()
    found = {
        (profiles.people[owners[f]], profiles.items[c]): weights[f] / FULL_WEIGHT
        for c in range(profiles.n_items)
        for f in range(starts[c], starts[c + 1])
    }
    assert found == as_dict(profiles)
    for c in range(profiles.n_items):
        assert (np.diff(owners[starts[c] : starts[c + 1]]) > 0).all()


def test_sizes_and_weighted_sizes() -> None:
    club = Profiles.of(
        *(["a", "a", "b"], ["x", "y", "x"], [1, 0.25, 1]), people="abc", items="xyz"
    ).with_weights([1, 0.25, 0])
    assert club.sizes.tolist() == [2, 1, 0]
    assert (club.weighted_sizes() / FULL_WEIGHT).tolist() == [1.25, 0, 0]
    assert club.row_weights(0).tolist() == [FULL_WEIGHT, FULL_WEIGHT // 4]
    assert club.where(club.weights > 0).sizes.tolist() == [2, 0, 0]
    assert club.with_weights([0, 0, 1]).weighted_sizes().tolist() == [0, FULL_WEIGHT, 0]


def test_unknown_people_and_items_are_dropped() -> None:
    club = Profiles.of(["a", "b", "c"], ["x", "y", "x"], [1, 0.5, 1])
    declared = club.in_catalogue(["b", "a"], ["y", "x"])
    assert as_dict(declared) == {("a", "x"): 1, ("b", "y"): 0.5}
    assert declared.people == ["b", "a"]
    assert as_dict(club.in_catalogue([], [])) == {}


@pytest.mark.parametrize(("people", "items"), [(["a", "a"], ["x"]), (["a"], ["x", "y", "x"])])
def test_a_declared_catalogue_has_no_repeats(people, items) -> None:
    with pytest.raises(ParameterError, match="must be distinct, got 'repeated labels'"):
        Profiles.of(["a"], ["x"]).in_catalogue(people, items)


def test_a_sparse_matrix_and_its_weights() -> None:
    matrix = sparse.csr_array(np.array([[0, 2, 1], [0, 0, 0], [3, 0, 0]]))
    profiles = Profiles.from_csr(matrix, weights=[0.5, 1, 0.25])
    assert as_dict(profiles) == {("0", "1"): 0.5, ("0", "2"): 1, ("2", "0"): 0.25}
    assert len(profiles) == profiles.n_items == 3
    assert Profiles.from_csr(matrix).weights.tolist() == [FULL_WEIGHT] * 3
    stored_zero = sparse.csr_array((np.array([0.0, 1.0]), np.array([0, 1]), np.array([0, 2])))
    assert as_dict(Profiles.from_csr(stored_zero, weights=[1, 0.5])) == {("0", "1"): 0.5}


@pytest.mark.parametrize("weights", [0.5, [1], [1, 2, 3, 4]])
def test_weights_of_a_matrix_are_one_per_entry(weights) -> None:
    with pytest.raises(ParameterError, match="^weights must be one for each of 3 stored"):
        Profiles.from_csr(sparse.eye_array(3).tocsr(), weights)


# Labels and weights of every kind


@pytest.mark.parametrize(
    "labels",
    [
        ["Zoe", "ann", "Zoe"],
        [3, 1, 3],
        [10**15, -(10**15), 10**15],
        [2**63 - 1, -(2**63), 2**63 - 1],
        [2**64 - 1, 0, 2**64 - 1],
        [0.5, 0.25, 0.5],
        np.array([7, 2, 7], dtype=np.uint8),
        [True, False, True],
        [b"q", b"r", b"q"],
    ],
)
def test_labels_of_every_kind_are_text_in_canonical_order(labels) -> None:
    profiles = Profiles.of(labels, [1, 2, 3])
    names = [text_of(label) for label in labels[:2]]
    assert list(profiles.people) == sorted(names, key=in_order)
    assert dict(zip(profiles.people, profiles.sizes.tolist(), strict=True)) == {
        names[0]: 2,
        names[1]: 1,
    }


def test_labels_that_are_not_one_per_line_are_refused_unseen() -> None:
    for labels in (np.array([["secret"]]), "secret", {"secret": 1}, 5, None):
        with pytest.raises(ParameterError, match="^people must be") as refused:
            Profiles.of(labels, ["x"])
        assert "secret" not in str(refused.value)


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(ParameterError, match="^items must be 2 lines, as people, got '1 lines'"):
        Profiles.of(["a", "b"], ["x"])
    with pytest.raises(ParameterError, match="^weights must be 2 lines, as people"):
        Profiles.of(["a", "b"], ["x", "y"], [0.5])


@pytest.mark.parametrize(
    ("given", "units"),
    [
        (0.5, FULL_WEIGHT // 2),
        (-1, 0),
        (1e300, FULL_WEIGHT),
        (math.inf, FULL_WEIGHT),
        (-math.inf, 0),
        (math.nan, 0),
        ("secret", 0),
        (None, 0),
        (10**400, FULL_WEIGHT),
        (-(10**400), 0),
        ("0.5", FULL_WEIGHT // 2),
        (0.999999999, FULL_WEIGHT - 1),
        (2.0**-20, 1),
        (2.0**-21, 0),
        ([], 0),
    ],
)
def test_a_weight_is_clamped_or_withheld_never_reported(given, units) -> None:
    column = np.empty(2, dtype=object)
    column[:] = [given, 1]
    found = Profiles.of(["a", "b"], ["x", "x"], column)
    assert found.weights.tolist() == [units, FULL_WEIGHT][not units :]


def test_no_weight_decides_how_another_is_read() -> None:
    for odd in (1j, "secret", [987654], [1, 2], object(), b"x", 10**400, None):
        assert weight_units([odd, 0.5, 0.25])[1:].tolist() == [FULL_WEIGHT // 2, FULL_WEIGHT // 4]


def test_weights_of_another_shape_are_refused_unseen() -> None:
    for weights in ([[987654], [987654]], np.full((2, 2), 987654.0), [987654] * 3):
        with pytest.raises(ParameterError) as refused:
            Profiles.of(["a", "b"], ["x", "y"], weights)
        assert "987654" not in str(refused.value)


def test_one_weight_for_all() -> None:
    assert Profiles.of(["a", "b"], ["x", "y"], 0.5).weights.tolist() == [FULL_WEIGHT // 2] * 2


def test_nobody() -> None:
    nobody = Profiles.of([], [])
    assert len(nobody) == nobody.n_items == nobody.weighted_sizes().size == 0
    assert nobody.transposed()[0].tolist() == [0]
    assert Profiles.from_csr(sparse.csr_array((3, 0))).sizes.tolist() == [0, 0, 0]


def test_only_some_people_in_another_order() -> None:
    club = Profiles.of([0, 0, 1, 3, 3, 3], ["a", "b", "a", "c", "b", "a"], [1, 0.5, 1, 0, 1, 0.25])
    some = club.only([2, 0])
    assert some.people == [club.people[2], club.people[0]]
    assert some.items == club.items
    for new, old in ((0, 2), (1, 0)):
        assert some.row(new).tolist() == club.row(old).tolist()
        assert some.row_weights(new).tolist() == club.row_weights(old).tolist()
    assert len(club.only([])) == 0


@given(lines)
def test_lists_of_items_are_the_long_table_person_by_person(table) -> None:
    people, items, weights = columns(sorted(table, key=lambda line: line[0]))
    names = [*map(str, dict.fromkeys(people)), "nobody"]
    people = [str(name) for name in people]
    offsets = np.cumsum([0, *(people.count(name) for name in names)])
    lists = Profiles.of_lists(names, offsets, items, weights)
    assert as_dict(lists) == as_dict(Profiles.of(people, items, weights))
    assert list(lists.people) == names
    assert lists.sizes[-1] == 0


def test_lists_out_of_the_middle_of_a_column() -> None:
    """As a slice of an Arrow column has them: the first list does not begin at item 0."""
    some = Profiles.of_lists(["a", None, "b"], np.array([2, 4, 5, 6]), list("zzxyxy"), [0.5] * 6)
    assert as_dict(some) == {("a", "x"): 0.5, ("a", "y"): 0.5, ("b", "y"): 0.5}


@pytest.mark.parametrize("offsets", [[0, 1], [0, 2, 1, 3], [0, 1, 2, 9], [-1, 1, 2, 3], [[0, 1]]])
def test_lists_that_do_not_fit_their_items_are_refused(offsets) -> None:
    with pytest.raises(ParameterError, match="offsets must be rising"):
        Profiles.of_lists(["a", "b", "c"], np.array(offsets), ["x", "y", "z"])


def test_some_people_in_a_row() -> None:
    club = Profiles.of(["ann", "bob", "cid", "cid"], ["Heat", "Up", "Heat", "Up"], [1, 0.5, 1, 0])
    some = club.between(1, 3)
    assert list(some.people) == ["bob", "cid"]
    assert as_dict(some) == {("bob", "Up"): 0.5, ("cid", "Heat"): 1}
    assert len(club.between(2, 2)) == 0
