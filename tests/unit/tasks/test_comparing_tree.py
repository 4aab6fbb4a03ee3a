"""Ways to grow a tree: judged on rows that were held out, the same for all of them."""

from fractions import Fraction

import numpy as np
import pytest

from reticent.errors import ParameterError
from reticent.noise import Source
from reticent.tasks.columns import Column
from reticent.tasks.comparing_tree import WAYS, Grower, Rows, by_depth, growers, tree_curves
from reticent.tasks.trained_tree import Declared

AGE = Column.numbers("age", (0, 100), bins=20)
PET = Column("pet", categories=("cat", "dog", "owl"))
BINARY = Grower("permute-and-flip", None, WAYS["permute-and-flip"])


def rows(noise=0.0, count=400, **given) -> Rows:
    rng = np.random.default_rng(8)
    age, pet = rng.integers(100, size=count), rng.choice(["cat", "dog", "owl"], count)
    votes = np.where((age >= 50) ^ (rng.random(count) < noise), "yes", "no")
    declared = Declared(columns=(AGE, PET), classes=("no", "yes"), **given)
    return Rows.of(declared, [age, pet], votes)


def judged(found, tried, **given):
    usual = {"target": "votes", "epsilons": [1], "runs": 4, "source": Source.seeded(2)}
    return tree_curves(found, tried, **{**usual, **given})


def test_rows_are_held_out() -> None:
    found = rows()
    grown, held = found.split(7, Fraction(1, 4))
    assert (len(grown.y), len(held.y)) == (300, 100)
    both = np.concatenate([np.column_stack([p.codes, p.y]) for p in (grown, held)])
    whole = np.column_stack([found.coded.codes, found.coded.y])
    assert sorted(map(tuple, both.tolist())) == sorted(map(tuple, whole.tolist()))
    again = found.split(7, Fraction(1, 4))[1]
    assert (again.codes == held.codes).all()
    assert (found.split(8, Fraction(1, 4))[1].codes != held.codes).any()


def test_a_large_budget_tells_all_and_a_tiny_one_nothing() -> None:
    found = rows(count=2000)
    curves = judged(found, growers(found.declared, depth=1), epsilons=["0.001", 100_000], runs=6)
    for way in ("permute-and-flip", "exponential"):
        assert curves.at(way, 100_000.0).value == 1
        assert curves.at(way, 0.001).value < 0.9
    assert curves.reference == 1


def test_a_tree_without_splits_tells_the_commonest_class() -> None:
    """Counted on the held-out rows of every run by hand."""
    found = rows(noise=0.1, count=600)
    captured = []
    original = Rows.split

    def split(self, seed, share):
        parts = original(self, seed, share)
        captured.append(parts)
        return parts

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Rows, "split", split)
        curves = judged(found, [Grower("none", 0)], epsilons=[10_000])
    shares = []
    for grown, held in captured:
        commonest = np.bincount(grown.y).argmax()
        shares.append((held.y == commonest).mean())
    assert curves.rows[0].value == pytest.approx(np.mean(shares))
    assert found.majority == pytest.approx(max(np.mean(found.coded.y), 1 - np.mean(found.coded.y)))


def test_ways_are_compared_on_the_same_rows() -> None:
    """Alone or among others, a way gets the same figure; another source, other figures."""
    found = rows(noise=0.2, count=300)
    whole = judged(found, growers(found.declared))
    alone = judged(found, growers(found.declared)[1:2])
    assert alone.rows[0].value == whole.at("exponential", 1.0).value
    assert whole.ways == tuple(WAYS)
    other = judged(found, growers(found.declared), source=Source.seeded(3))
    assert [row.value for row in other.rows] != [row.value for row in whole.rows]


def test_intervals_and_gains() -> None:
    found = rows(noise=0.2, count=300)
    curves = judged(found, by_depth([1, 3], BINARY), epsilons=["0.1"], runs=5)
    assert curves.ways == ("depth 1", "depth 3", "depth by budget")
    first, deep, _ = curves.rows
    assert first.low < first.value < first.high
    assert first.more["gain"] == 0
    assert deep.more["gain"] == pytest.approx(deep.value - first.value)
    assert judged(found, by_depth([1], BINARY), runs=1).rows[0].low is None


def test_weights_of_classes_rule_out_local_scores() -> None:
    found = rows(weights=(1.0, 0.5))
    assert [one.name for one in growers(found.declared)] == [*WAYS][:3]
    assert judged(found, growers(found.declared), runs=1).ways == tuple([*WAYS][:3])


def test_rows_bound_what_is_declared() -> None:
    assert rows().declared.rows == 400
    assert rows(rows=10_000).declared.rows == 10_000


def test_wrong_parameters() -> None:
    found = rows()
    for wrong in (0, 1, "-1/2"):
        with pytest.raises(ParameterError, match="held_out must be"):
            judged(found, by_depth([1], BINARY), held_out=wrong)
    with pytest.raises(ParameterError, match="of a class"):
        Rows.of(Declared(columns=(PET,), classes=("no",)), [np.array(["cat"])], np.array(["yes"]))
    with pytest.raises(ParameterError, match="depth of depth 60"):
        judged(found, by_depth([60], BINARY))
