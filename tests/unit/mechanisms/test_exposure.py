"""What one unit can move, checked against all pairs of profiles of all tiny catalogues."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import permutations, product
from unittest.mock import patch

import numpy as np
import pytest

from reticent.data.catalogue import Catalogue
from reticent.errors import ParameterError
from reticent.guarantees import ITEM, ITEM_SUBSTITUTE, RECORD, Unit
from reticent.mechanisms import exposure as module
from reticent.mechanisms.exposure import Exposure

VALUES = (-1, 0, 0.5, 2)
RATES = [(Fraction(1, 3), Fraction(2, 7)), (Fraction(5), Fraction(1, 1000))]
UNITS = pytest.mark.parametrize("unit", [ITEM, ITEM_SUBSTITUTE], ids=lambda u: u.relation)


def tables() -> Iterator[tuple[tuple[float, ...], ...]]:
    """All tables of 2 items with signed and fractional values, and all of 3 with 0, 1 and 2."""
    yield from product(product(VALUES, repeat=2), repeat=2)
    yield from product(product((0, 1, 2), repeat=2), repeat=3)


def moves(table: tuple[tuple[float, ...], ...], unit: Unit) -> list[tuple[Fraction, ...]]:
    """What one unit moves, by the definition: each item alone, or one put for another."""
    rows = [tuple(map(Fraction, row)) for row in table]
    if unit == ITEM:
        return [tuple(abs(a) for a in row) for row in rows]
    return [tuple(abs(a - b) for a, b in zip(*pair, strict=True)) for pair in permutations(rows, 2)]


def proper(table: tuple[tuple[float, ...], ...], unit: Unit) -> bool:
    """Whether every attribute is there and can change."""
    return all(map(any, zip(*table, strict=True))) and all(
        map(any, zip(*moves(table, unit), strict=True))
    )


def loss(move: tuple[Fraction, ...], rates: tuple[Fraction, ...], steps: tuple[Fraction, ...]):
    terms = zip(move, rates, steps, strict=True)
    return sum((a * rate / step for a, rate, step in terms), Fraction(0))


@UNITS
def test_definition_2_rows_say_exactly_what_a_unit_can_move(unit: Unit) -> None:
    seen = 0
    for table in tables():
        if not proper(table, unit):
            continue
        seen += 1
        found = Exposure.of(Catalogue.of(table), unit=unit)
        scaled = {
            tuple(int(r) * s for r, s in zip(row, found.steps, strict=True)) for row in found.rows
        }
        all_moves = moves(table, unit)
        assert scaled <= set(all_moves)  # nothing is made up
        for move in all_moves:  # and nothing is left out
            assert any(all(a <= r for a, r in zip(move, row, strict=True)) for row in scaled)
    assert seen > 400


@UNITS
def test_lemma_1_maximal_rows_give_the_loss_of_all_rows(unit: Unit) -> None:
    for table in tables():
        if not proper(table, unit):
            continue
        found = Exposure.of(Catalogue.of(table), unit=unit)
        for rates in RATES:
            losses = [loss(move, rates, found.steps) for move in moves(table, unit)]
            assert found.overall(rates) == max(losses)
        most = [max(column) for column in zip(*moves(table, unit), strict=True)]
        alone = tuple(c / s * r for c, s, r in zip(most, found.steps, RATES[0], strict=True))
        assert found.alone(RATES[0]) == alone


def test_definition_2_all_pairs_of_many_different_items_are_compared() -> None:
    """More items than are compared in one go."""
    rng = np.random.default_rng(12)
    table = rng.integers(-30, 31, (200, 3))
    found = Exposure.of(Catalogue.of(table), unit=ITEM_SUBSTITUTE)
    rows = found.rows * np.array([int(step) for step in found.steps])
    moved = np.abs(table[:, None, :] - table[None, :, :]).reshape(-1, 3)
    covered = np.zeros(len(moved), dtype=bool)
    for row in rows:
        assert (moved == row).all(axis=1).any()
        covered |= (moved <= row).all(axis=1)
    assert covered.all()


def test_lemma_1_control_without_one_maximal_row_the_loss_is_understated() -> None:
    """Each maximal row is the worst for some rates, so no row can be spared."""
    films = Catalogue.of([[1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 0, 0]])
    honest = Exposure.of(films)
    assert len(honest.rows) == 3
    for k in range(3):
        with patch.object(module, "maximal_rows", lambda rows, k=k: np.delete(honest.rows, k, 0)):
            faulty = Exposure.of(films)
        rates = [Fraction(int(entry) + 1, 8) for entry in honest.rows[k]]
        assert faulty.overall(rates) < honest.overall(rates)


def test_lemma_1_rows_are_few_and_none_is_below_another() -> None:
    rng = np.random.default_rng(5)
    table = (rng.random((500, 9)) < 0.3).astype(int)
    rows = Exposure.of(Catalogue.of(table)).rows
    assert len(rows) < 200
    below = (rows[:, None, :] <= rows[None, :, :]).all(axis=2)
    assert below.sum() == len(rows)  # only itself


def test_losses_are_exact_where_floats_are_not() -> None:
    found = Exposure.of(Catalogue.of([[1, 1, 1]]))
    assert found.losses([Fraction(1, 10), Fraction(2, 10), Fraction(1, 1 << 200)]) == (
        Fraction(3, 10) + Fraction(1, 1 << 200),
    )


def test_weighted_steps_are_finer_and_the_values_the_same() -> None:
    films = Catalogue.of([[1, 0.5], [3, 0.25]])
    plain, weighted = Exposure.of(films), Exposure.of(films, weighted=True)
    assert plain.steps == (1, Fraction(1, 4))
    for a, b in zip(plain.steps, weighted.steps, strict=True):
        assert (a / b).denominator == 1
    for row, finer in zip(plain.rows, weighted.rows, strict=True):
        for j in range(2):
            assert int(row[j]) * plain.steps[j] == int(finer[j]) * weighted.steps[j]
    assert (weighted.largest >= 1 << 25).all()
    assert (weighted.largest < 1 << 26).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_an_exposure_is_rebuilt_from_its_parameters(weighted: bool) -> None:
    found = Exposure.of(Catalogue.of([[1, -0.5], [3, 0]]), weighted=weighted)
    again = Exposure.from_parameters(found.parameters())
    assert again == found
    assert hash(again) == hash(found)
    assert again != Exposure.of(Catalogue.of([[1, -0.5], [4, 0]]), weighted=weighted)
    assert found != "something else"


def test_an_exposure_knows_its_catalogue_by_value() -> None:
    films, same = (
        Catalogue.of([[1, 0], [1, 1]], items=names) for names in (("a", "b"), ("c", "d"))
    )
    found = Exposure.of(films)
    assert found.fits(films)
    assert found.fits(same)  # items are not named in it
    assert Exposure.from_parameters(found.parameters()).fits(films)
    assert found.fits(Catalogue.of([[1, 1], [0, 0], [0, 1]]))  # whose most exposed item is the same
    assert not found.fits(Catalogue.of([[1, 2], [0, 1]]))
    assert not replace(found, rows=found.rows * 2).fits(films)  # a copy forgets what it was made of


def test_names_of_items_are_not_in_the_parameters() -> None:
    films = Catalogue.of([[1, 1]], items=("A film nobody may know of",), attributes=("x", "y"))
    assert "nobody" not in repr(Exposure.of(films).parameters())


def test_rows_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        Exposure.of(Catalogue.of([[1]])).rows[0, 0] = 0


def test_an_attribute_that_no_item_has_is_named() -> None:
    films = Catalogue.of([[1, 0]], attributes=("Crime", "Unknown"))
    with pytest.raises(ParameterError, match="attributes must be .*'Unknown'"):
        Exposure.of(films)


def test_a_replacement_that_changes_nothing_is_refused() -> None:
    with pytest.raises(ParameterError, match="^unit must be one that can change every attribute"):
        Exposure.of(Catalogue.of([[1, 2], [1, 3]]), unit=ITEM_SUBSTITUTE)


def test_too_many_different_items_to_compare_all_pairs() -> None:
    films = Catalogue.of(np.arange(1, 4001)[:, None])
    with pytest.raises(ParameterError, match="at twice the loss it covers a replacement"):
        Exposure.of(films, unit=ITEM_SUBSTITUTE)


def test_adding_and_removing_at_twice_the_loss_covers_a_replacement() -> None:
    for table in tables():
        if proper(table, ITEM_SUBSTITUTE):
            films = Catalogue.of(table)
            twice = 2 * Exposure.of(films).overall(RATES[0])
            assert Exposure.of(films, unit=ITEM_SUBSTITUTE).overall(RATES[0]) <= twice


ONE = np.ones((1, 1), dtype=np.int64)


def test_lemma_4_more_attributes_than_it_allows_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_MOST_WEIGHTED", 3)
    Exposure(tuple("abc"), (Fraction(1),) * 3, ONE.repeat(3, 1), ITEM, True)
    with pytest.raises(ParameterError, match=r"^attributes must"):
        Exposure(tuple("abcd"), (Fraction(1),) * 4, ONE.repeat(4, 1), ITEM, True)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("rows", (("x", "y"), (Fraction(1),) * 2, ONE)),
        ("rows", (("x",), (Fraction(1),), -ONE)),
        ("rows", (("x",), (Fraction(1),), 0 * ONE)),
        ("rows", (("x",), (Fraction(1),), ONE[:0])),
        ("steps", (("x",), (), ONE)),
        ("unit", (("x",), (Fraction(1),), ONE, RECORD)),
        ("weighted", (("x",), (Fraction(1),), ONE, ITEM_SUBSTITUTE, True)),
        ("weighted", (("x",), (Fraction(1),), ONE, ITEM, "yes")),
        ("attributes", (("x", "x"), (Fraction(1),) * 2, ONE.repeat(2, 1))),
    ],
)
def test_bad_facts_are_refused_by_name(name: str, arguments: tuple[object, ...]) -> None:
    with pytest.raises(ParameterError, match=f"^{name} must be"):
        Exposure(*arguments)


GOOD = {
    "attributes": ["x"],
    "steps": [1],
    "rows": [[[0, 1]]],
    "unit": ["item", "add-remove"],
    "weighted": False,
}


@pytest.mark.parametrize(
    "rows", [[[[1, 1]]], [[[-1, 1]]], [[[0, 1.5]]], [[[0, -1]]], [[[0]]], [[["0", 1]]], [[[0, 0]]]]
)
def test_parameters_from_outside_are_checked(rows: object) -> None:
    assert Exposure.from_parameters(GOOD).rows.tolist() == [[1]]
    with pytest.raises(ParameterError, match="^rows must be"):
        Exposure.from_parameters({**GOOD, "rows": rows})


def test_few_words_from_outside_cannot_ask_for_much_memory() -> None:
    names = [str(j) for j in range(10_000)]
    with pytest.raises(ParameterError, match="^rows must be at most"):
        Exposure.from_parameters({**GOOD, "attributes": names, "rows": [[]] * 10_000})


@pytest.mark.parametrize("step", [0, -1, "x", float("nan")])
def test_steps_from_outside_are_checked(step: object) -> None:
    with pytest.raises(ParameterError, match="^steps must be"):
        Exposure.from_parameters({**GOOD, "steps": [step]})
