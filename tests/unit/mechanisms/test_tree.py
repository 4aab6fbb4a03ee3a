"""Growing a tree: the exact loss of the whole of it on tiny tables, planted faults, the law drawn.

``laws`` walks through the real ``grow``: every choice is forced to each of its candidates and every
noisy size to either side, while scores, rates, scales and exact counts are written down. What comes
out is the exact law of all trees, and of the counts of each.
"""

import json
import math
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, pairwise, product
from unittest.mock import patch

import numpy as np
import pytest

from reticent.errors import ParameterError
from reticent.guarantees import EDGE, RECORD, RECORD_SUBSTITUTE
from reticent.guarantees.card import Scope
from reticent.mechanisms import dampening, tree, tree_growth
from reticent.mechanisms.decision_tree import BELOW, EACH, ONE
from reticent.mechanisms.information_gain import GainSensitivity
from reticent.mechanisms.selection_laws import exponential_chances
from reticent.mechanisms.tree import Coded, PrivateTree
from reticent.mechanisms.tree_growth import grow
from reticent.mechanisms.verification import verify
from reticent.noise import Source
from reticent.testing import as_pmf, chi_square, discrete_laplace_cdf, discrete_laplace_pmf

Row = tuple[int, ...]  # codes, then the class


def coded(rows) -> Coded:
    table = np.array(rows, dtype=np.int64)
    width = table.shape[1] if table.size else 3
    table = table.reshape(-1, width)
    return Coded(table[:, :-1].astype(np.uint16), table[:, -1].copy())


# the law of a whole tree, by forcing what grow draws


class Forced:
    """Stands for the noise on sizes: keeps what it was added to and says which ones are large."""

    __array_ufunc__ = None

    def __init__(self, scale, walk) -> None:
        self.scale, self.walk = scale, walk

    def __radd__(self, exact):
        self.exact = np.asarray(exact)
        return self

    def __ge__(self, least):
        cdf = discrete_laplace_cdf(self.scale)
        large = []
        for size, threshold in zip(self.exact.tolist(), np.asarray(least).tolist(), strict=True):
            below = float(cdf(np.array(math.ceil(threshold - size) - 1)))
            large.append(self.walk.taken([below, 1 - below]))
        return np.array(large, dtype=bool)


@dataclass
class Walk:
    """One way through all decisions; ``script`` are those already made."""

    script: list[int]
    chance: float = 1.0
    options: list[int] = field(default_factory=list)
    scale: Fraction | None = None
    least: list[float] = field(default_factory=list)

    def taken(self, chances) -> int:
        at = len(self.options)
        self.options.append(len(chances))
        if at == len(self.script):
            self.script.append(0)
        self.chance *= float(chances[self.script[at]])
        return self.script[at]


@dataclass
class Faults:
    """What is drawn instead of what is asked for."""

    leaf: Fraction = Fraction(1)
    size: Fraction = Fraction(1)
    rate: Fraction = Fraction(1)


def flipped(scores, rate) -> list[float]:
    """Permute-and-flip by counting heads, in floats."""
    coins = np.exp(-float(rate) * (scores.max() - scores)).tolist()
    found = []
    for i, coin in enumerate(coins):
        heads = [1.0]
        for other in coins[:i] + coins[i + 1 :]:
            heads = [
                a * (1 - other) + b * other
                for a, b in zip([*heads, 0.0], [0.0, *heads], strict=True)
            ]
        found.append(coin * sum(chance / (1 + n) for n, chance in enumerate(heads)))
    return found


def laws(plan: PrivateTree, rows, faults: Faults = Faults()) -> dict:  # noqa: B008, frozen in use
    """From each tree to its chance, the exact counts of its leaves and the scale of their noise."""
    found, data, walk = {}, coded(rows), Walk([])
    source = Source.seeded(0)  # nothing is drawn from it

    def noise(*, scale, size, source):
        if isinstance(size, tuple):
            walk.scale = Fraction(scale) * faults.leaf
            return np.zeros(size, dtype=np.int64)
        return Forced(scale * faults.size, walk)

    def chosen(law):
        return lambda scores, *, rate, source: walk.taken(law(scores, rate * faults.rate))

    with ExitStack() as stack:
        for name, law in (("permute_and_flip", flipped), ("exponential", exponential_chances)):
            for module in (dampening, tree_growth):
                stack.enter_context(patch.object(module, name, chosen(law)))
        stack.enter_context(patch.object(tree_growth, "discrete_laplace", noise))
        while walk is not None:
            made = grow(plan, data, source)
            parts = (made.column, made.at, made.kind, made.child, made.branches)
            key = tuple(tuple(part.tolist()) for part in parts)
            assert key not in found
            found[key] = walk.chance, made.leaf_counts.ravel().tolist(), walk.scale
            walk = following(walk)
    assert sum(chance for chance, _, _ in found.values()) == pytest.approx(1, abs=1e-9)
    return found


def following(walk: Walk) -> Walk | None:
    """The next way in order; None after the last."""
    script = list(walk.script)
    while script and script[-1] + 1 == walk.options[len(script) - 1]:
        script.pop()
    return Walk([*script[:-1], script[-1] + 1]) if script else None


WINDOW = np.arange(-4, 13)


def of_counts(one, other, scale) -> float:
    """The largest log-ratio over all counts in a window; cells are independent."""
    if not scale:
        return 0.0 if one == other else math.inf
    return sum(of_count(a, b, scale) for a, b in zip(one, other, strict=True) if a != b)


@cache
def of_count(a: int, b: int, scale: Fraction) -> float:
    pmf = discrete_laplace_pmf(scale)
    return float(np.log(pmf(WINDOW - a) / pmf(WINDOW - b)).max())


def loss(x: dict, y: dict) -> float:
    """The largest log-ratio of any tree with any counts."""
    assert x.keys() == y.keys()
    worst = -math.inf
    for key, (chance, counts, scale) in x.items():
        other, others, same = y[key]
        assert scale == same
        if chance > 0:
            ratio = math.log(chance / other) if other > 0 else math.inf
            worst = max(worst, ratio + of_counts(counts, others, scale))
    return worst


def worst_loss(plan: PrivateTree, pairs, **faults) -> float:
    """Over all pairs, both ways."""
    planted = Faults(**faults)
    known = {rows: laws(plan, rows, planted) for rows in {rows for pair in pairs for rows in pair}}
    return max(max(loss(known[a], known[b]), loss(known[b], known[a])) for a, b in pairs)


def tables(kinds, most):
    for size in range(most + 1):
        yield from combinations_with_replacement(kinds, size)


def added(kinds, most) -> list:
    """Every table with every one that has a row less."""
    return [
        (rows, rows[:i] + rows[i + 1 :])
        for rows in tables(kinds, most)
        for i in range(len(rows))
        if i == 0 or rows[i] != rows[i - 1]
    ]


def replaced(kinds, size) -> list:
    """Every table with every one in which a row is another."""
    found = set()
    for rows in combinations_with_replacement(kinds, size):
        for i, other in product(range(size), kinds):
            changed = tuple(sorted((*rows[:i], *rows[i + 1 :], other)))
            if changed > rows:
                found.add((rows, changed))
    return sorted(found)


# two columns with two codes and that of the missing, two classes
EVERY = list(product(range(3), range(3), range(2)))
# fewer kinds of rows, for tables of more rows: the columns agree, or not
FEW = [(0, 0, 0), (0, 1, 1), (1, 1, 1), (0, 1, 0)]


def plan(**given) -> PrivateTree:
    settings = {
        "epsilon": 2,
        "sizes": (3, 3),
        "ordered": (True, False),
        "classes": 2,
        "depth": 1,
        "rows": 8,
    }
    return PrivateTree(**{**settings, **given})


LOCAL = {"criterion": "entropy", "split": "multiway", "stop": "size"}
PLANS = {
    "gini": {},
    "gini, exponential": {"law": "exponential"},
    "gini, weights": {"weights": (Fraction(1), Fraction(1, 4))},
    "gini, multiway": {"split": "multiway", "stop": "size", "weights": (Fraction(1, 3),) * 2},
    "accuracy": {"criterion": "accuracy"},
    "accuracy, weights": {"criterion": "accuracy", "weights": (Fraction(1, 3), Fraction(1))},
    "accuracy, size": {"criterion": "accuracy", "stop": "size"},
    "entropy": {"criterion": "entropy"},
    "entropy, weights": {"criterion": "entropy", "weights": (Fraction(1, 3), Fraction(1))},
    "entropy, multiway": LOCAL,
    "dampened": {**LOCAL, "scores": "dampened"},
    "shifted": {**LOCAL, "scores": "shifted"},
    "shifted, exponential": {**LOCAL, "scores": "shifted", "law": "exponential"},
}
ALL_PAIRS, MORE_PAIRS = added(EVERY, 2), added(FEW, 5)
PAIRS, FEWER = added(FEW, 4), added(FEW, 3)
LOCAL_SCORES = {"dampened", "shifted", "shifted, exponential"}  # they look at tables further off


@pytest.mark.parametrize("name", PLANS)
def test_theorems_1_and_2_the_whole_tree_loses_at_most_epsilon(name) -> None:
    pairs = MORE_PAIRS if name in LOCAL_SCORES else PAIRS
    assert 1 < worst_loss(plan(**PLANS[name]), pairs) <= 2 + 1e-9


@pytest.mark.parametrize("name", ["gini", "accuracy", "dampened", "shifted"])
def test_theorems_1_and_2_hold_for_all_tables_of_two_rows(name) -> None:
    assert 1 < worst_loss(plan(**PLANS[name]), ALL_PAIRS) <= 2 + 1e-9


@pytest.mark.parametrize("weights", [("1", "1/3"), ("1", "0.1"), ("1", "0.7")])
def test_lemma_4_weights_that_are_no_binary_fractions_lose_at_most_epsilon(weights) -> None:
    """A part that is empty must be worth 0, not (rounding error)^2 / 1e-300."""
    weighted = plan(weights=tuple(map(Fraction, weights)))
    assert worst_loss(weighted, added(FEW[1:3], 7)) <= 2 + 1e-9


@pytest.mark.parametrize("name", ["gini", "accuracy", "accuracy, size", "dampened", "shifted"])
def test_theorem_1_a_replaced_row_loses_at_most_epsilon(name) -> None:
    """With the whole budget for each row more than that: the control, where no discount is left."""
    pairs = replaced(list(product(range(2), repeat=3)), 2)
    found = worst_loss(plan(**PLANS[name], unit=RECORD_SUBSTITUTE), pairs)
    assert 0.8 < found <= 2 + 1e-9
    if name not in ("dampened", "shifted"):
        assert worst_loss(plan(**PLANS[name], unit=RECORD), pairs) > 2.1


# columns of two codes, so that trees of two levels are few
TWO_LEVELS = {"sizes": (3, 2), "depth": 2, "rows": 5}


@pytest.mark.parametrize(
    "given",
    [
        {"criterion": "accuracy"},
        {"criterion": "accuracy", "growth": 4, "leaf_share": "0.1"},
        {"criterion": "accuracy", "stop": "size"},
        {},
        {**LOCAL, "scores": "dampened"},
        {**LOCAL, "scores": "shifted"},
    ],
    ids=["accuracy", "growth", "size", "gini", "dampened", "shifted"],
)
def test_theorem_1_levels_add_up_and_nodes_of_a_level_do_not(given) -> None:
    found = worst_loss(plan(**TWO_LEVELS, **given), added(FEW, 3))
    assert 1 < found <= 2 + 1e-9


def test_control_less_noise_than_promised_is_caught() -> None:
    """With accuracy the promise is tight, so two per cent too little is seen anywhere."""
    tight = plan(criterion="accuracy", leaf_share="0.5")
    assert 1.999 < worst_loss(tight, FEWER) <= 2
    assert worst_loss(tight, FEWER, leaf=Fraction(0)) == math.inf
    assert worst_loss(tight, FEWER, leaf=Fraction(98, 100)) > 2.01
    assert worst_loss(tight, FEWER, rate=Fraction(102, 100)) > 2.01
    sized = plan(criterion="accuracy", stop="size")
    assert 1.99 < worst_loss(sized, PAIRS) <= 2 + 1e-9
    assert worst_loss(sized, PAIRS, size=Fraction(98, 100)) > 2.002
    loud = plan(criterion="accuracy", stop="size", epsilon=30)
    assert worst_loss(loud, FEWER, size=Fraction(1, 10**6)) > 100


def test_control_a_level_that_spends_twice_is_caught(monkeypatch) -> None:
    """As a choice does, not as the plan says."""
    deep, pairs = plan(**TWO_LEVELS, criterion="accuracy"), added(FEW, 3)
    honest = PrivateTree.choice
    assert worst_loss(deep, pairs) > 1.9
    for level in (0, 1):

        def twice(self, at, candidates, level=level):
            made = honest(self, at, candidates)
            return replace(made, epsilon=made.epsilon * (1 + (at == level)))

        monkeypatch.setattr(PrivateTree, "choice", twice)
        assert worst_loss(deep, pairs) > 2.1


def test_control_a_spread_that_is_too_small_is_caught(monkeypatch) -> None:
    """Gini moves both ways, so it has no discount; accuracy has, and no more than that."""
    monkeypatch.setattr(tree, "spread_of", lambda *_: Fraction(1))
    assert worst_loss(plan(), PAIRS) > 2.2
    monkeypatch.setattr(tree, "spread_of", lambda *_: Fraction(98, 100))
    assert worst_loss(plan(criterion="accuracy"), PAIRS) > 2.01


def test_control_a_limit_that_is_too_small_is_caught(monkeypatch) -> None:
    monkeypatch.setattr(tree, "limit_of", lambda *_: Fraction(1, 2))
    for given in ({}, {"criterion": "accuracy"}, {"criterion": "entropy"}):
        assert worst_loss(plan(**given), PAIRS) > 2.2


class Eighth(GainSensitivity):
    """Sensitivities that are too small."""

    def deltas(self, table):
        return super().deltas(table) / 8


class HalfTheRows(GainSensitivity):
    """Sensitivities of a sample of the table."""

    def deltas(self, table):
        return super().deltas(table // 2)


class Occurring(GainSensitivity):
    """Sensitivities of values that occur twice only."""

    def deltas(self, table):
        kept = table[table.sum(axis=1) > 1]
        return super().deltas(kept) if len(kept) else np.zeros(self.rows)


class HereOnly(GainSensitivity):
    """As if what holds here held for all tables near by."""

    def deltas(self, table):
        return np.full(self.rows, super().deltas(table)[0])


@pytest.mark.parametrize(
    ("scores", "fault"),
    [
        ("dampened", Eighth),
        ("dampened", HalfTheRows),
        ("shifted", Occurring),
        ("shifted", HereOnly),
    ],
)
def test_control_sensitivities_of_another_table_are_caught(monkeypatch, scores, fault) -> None:
    monkeypatch.setattr(tree_growth, "GainSensitivity", fault)
    assert worst_loss(plan(**LOCAL, scores=scores), MORE_PAIRS) > 2.1


# what grow draws, against the law above


def outcome(made, order) -> int:
    """Which tree, and the first count of its first leaf, cut to a window."""
    parts = (made.column, made.at, made.kind, made.child, made.branches)
    key = tuple(tuple(part.tolist()) for part in parts)
    leaf = int(np.flatnonzero(made.child < 0)[0])
    return order[key] * 9 + min(max(int(made.leaf_counts[leaf, 0]) + 3, 0), 8)


def exact_outcomes(plan, rows) -> tuple[dict, list[float]]:
    found = laws(plan, rows)
    order = {key: i for i, key in enumerate(found)}
    chances = []
    for key, (chance, counts, scale) in found.items():
        exact = counts[2 * key[3].index(-1)]
        below = discrete_laplace_cdf(scale)(np.arange(-3, 5) - exact)
        chances += (chance * np.diff([0.0, *below, 1.0])).tolist()
    return order, chances


@pytest.mark.parametrize(
    "given",
    [
        {"criterion": "accuracy", "sizes": (2, 2), "depth": 2},
        {"law": "exponential"},
        {**LOCAL, "scores": "dampened", "epsilon": 9},
        {**LOCAL, "scores": "shifted", "epsilon": 9},
    ],
    ids=["accuracy", "exponential", "dampened", "shifted"],
)
def test_trees_that_are_drawn_follow_the_exact_law(given) -> None:
    """Of 600 trees; those of another budget do not: the control."""
    rows = (*FEW, (0, 0, 0), (1, 0, 1))
    chosen = plan(**{"epsilon": 6, **given})
    order, chances = exact_outcomes(chosen, rows)
    source, data = Source.seeded(4), coded(rows)
    drawn = [outcome(chosen.release(data, source).value, order) for _ in range(600)]
    assert chi_square(drawn, as_pmf(chances)).p_value > 1e-4
    less = replace(chosen, epsilon=Fraction(chosen.epsilon) * Fraction(3, 4))
    assert chi_square(drawn, as_pmf(exact_outcomes(less, rows)[1])).p_value < 1e-6


# growing


def random_rows(seed, sizes, classes, n):
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, size, n) for size in sizes])
    return np.column_stack([codes, (codes[:, 0] * codes[:, 1] + rng.integers(0, 2, n)) % classes])


def goes(made, node, row) -> int:
    code, at = int(row[made.column[node]]), int(made.at[node])
    side = {EACH: code, BELOW: int(code > at), ONE: int(code != at)}
    return int(made.child[node]) + side[int(made.kind[node])]


def rows_of_nodes(made, rows) -> list[list]:
    found = [[] for _ in range(len(made))]
    for row in rows.tolist():
        node = 0
        found[0].append(row)
        while made.child[node] >= 0:
            node = goes(made, node, row)
            found[node].append(row)
    return found


def worth_of(criterion, rows, parts, classes, weights) -> float:
    total = 0.0
    for part in range(parts[1]):
        inside = [row for row in rows if parts[0](row) == part]
        n = [sum(row[-1] == c for row in inside) * weights[c] for c in range(classes)]
        if not inside:
            continue
        if criterion == "gini":
            total += sum(x * x for x in n) / sum(n)
        elif criterion == "accuracy":
            total += max(n)
        else:
            total += sum(x * math.log2(x / sum(n)) for x in n if x)
    return total


def candidates_of(sizes, ordered, split, left):
    """Column, at, kind, which part a row is in, how many parts."""
    for j, size in enumerate(sizes):
        if split == "multiway":
            if j in left:
                yield j, 0, EACH, (lambda row, j=j: row[j]), size
        elif ordered[j]:
            for at in range(size - 1):
                yield j, at, BELOW, (lambda row, j=j, at=at: int(row[j] > at)), 2
        else:
            for at in range(size if size > 2 else size - 1):
                yield j, at, ONE, (lambda row, j=j, at=at: int(row[j] != at)), 2


def sides(option, come) -> dict[int, set[int]]:
    """Which of the codes that can come go to which side."""
    column, _, _, part, _ = option
    found = {}
    for code in come[column]:
        found.setdefault(int(part({column: code})), set()).add(code)
    return found


@pytest.mark.parametrize("criterion", ["gini", "accuracy", "entropy"])
@pytest.mark.parametrize("split", ["binary", "multiway"])
@pytest.mark.parametrize("weights", [None, (Fraction(1), Fraction(1, 2), Fraction(1, 4))])
def test_every_choice_is_by_the_worths_of_the_rows_in_its_node(criterion, split, weights) -> None:
    """Scores of every node are those of a walk row by row; any candidate may have been chosen."""
    sizes, ordered, classes = (4, 3, 2, 1), (True, False, False, True), 3
    rows = random_rows(2, sizes, classes, 120)
    stop = {"stop": "size", "epsilon": 900} if split == "multiway" else {"epsilon": 3}
    chosen = PrivateTree(
        sizes=sizes,
        ordered=ordered,
        classes=classes,
        depth=4 if split == "binary" else 3,
        criterion=criterion,
        split=split,
        rows=200,
        weights=weights,
        **stop,
    )
    rng, seen = np.random.default_rng(5), []

    def drawn(scores, *, rate, source):
        seen.append((scores.tolist(), int(rng.integers(len(scores))), rate))
        return seen[-1][1]

    with ExitStack() as stack:
        for module in (dampening, tree_growth):
            stack.enter_context(patch.object(module, "permute_and_flip", drawn))
        made = grow(chosen, coded(rows), Source.seeded(1))
    inside, asked, left = rows_of_nodes(made, rows), iter(seen), {0: set(range(4))}
    come = {0: [set(range(size)) for size in sizes]}  # codes that can come to a node
    level = [0]
    own = [float(w) for w in weights or (1, 1, 1)]
    for node in range(len(made)):
        if made.child[node] < 0:
            continue
        level += [level[node] + 1] * int(made.branches[node])
        options = [
            option
            for option in candidates_of(sizes, ordered, split, left[node])
            if split == "multiway" or len(sides(option, come[node])) == 2
        ]
        scores, best, rate = next(asked)
        assert len(scores) == len(options)
        assert options[best][:3] == (made.column[node], made.at[node], made.kind[node])
        mechanism = chosen.choice(level[node], len(options))
        assert rate == mechanism.rate
        step = float(mechanism.grid.step)
        for score, (_, _, _, part, parts) in zip(scores, options, strict=True):
            exact = worth_of(criterion, inside[node], (part, parts), classes, own)
            assert abs(score - exact / step * 2**20 / mechanism.most) < 2**20 / mechanism.most + 1
        for child in range(made.child[node], made.child[node] + made.branches[node]):
            used = {int(made.column[node])} if split == "multiway" else set()
            left[child] = left[node] - used
            come[child] = list(come[node])
            if split == "binary":
                side = sides(options[best], come[node])[child - made.child[node]]
                come[child][int(made.column[node])] = side
    assert next(asked, None) is None
    assert max(level) >= 2


@pytest.mark.parametrize("split", ["binary", "multiway"])
def test_with_much_budget_counts_of_leaves_are_those_of_the_table(split) -> None:
    sizes = (4, 3, 5)
    for seed in range(4):
        rows = random_rows(seed, sizes, 3, 150)
        chosen = plan(
            epsilon=10**5,
            sizes=sizes,
            ordered=(True, False, True),
            classes=3,
            depth=3,
            rows=None,
            split=split,
            stop="size" if split == "multiway" else "depth",
        )
        made = chosen.release(coded(rows), Source.seeded(seed)).value
        for node, inside in enumerate(rows_of_nodes(made, rows)):
            exact = [sum(row[-1] == c for row in inside) for c in range(3)]
            assert made.counts[node].tolist() == exact
            assert made.child[node] >= 0 or made.leaf_counts[node].tolist() == exact


def test_entropy_alone_leaves_out_rows_beyond_the_bound() -> None:
    """Its limit is for so many; others need no bound, and a row must not push another one out."""
    rows = [(0, 0, 0)] * 6 + [(1, 1, 1)] * 9
    for depth in (0, 1, 3):
        for criterion, counts in (("entropy", [6, 2]), ("gini", [6, 9]), ("accuracy", [6, 9])):
            chosen = plan(epsilon=10**5, depth=depth, rows=8, criterion=criterion)
            made = chosen.release(coded(rows), Source.seeded(0)).value
            assert made.counts[0].tolist() == counts
    sized = plan(epsilon=10**5, **LOCAL, rows=8)
    assert sized.release(coded(rows), Source.seeded(0)).value.counts[0].tolist() == [6, 2]


def test_rows_beyond_the_bound_change_no_choice() -> None:
    """Scores, too: the same law with and without them."""
    rows = (*FEW, *FEW)
    for given in ({"criterion": "entropy"}, {**LOCAL, "scores": "shifted"}):
        chosen = plan(**given, depth=2, sizes=(2, 2))
        assert laws(chosen, (*rows, (1, 1, 0))) == laws(chosen, rows)


def test_a_column_is_used_once_on_a_path_of_multiway_splits() -> None:
    rows = random_rows(0, (2, 2, 2), 2, 400)
    chosen = plan(
        epsilon=500, sizes=(2, 2, 2), ordered=(False,) * 3, depth=9, **{**LOCAL, "rows": 400}
    )
    made = chosen.release(coded(rows), Source.seeded(1)).value
    parents = made.parents.tolist()
    for leaf in np.flatnonzero(made.child < 0).tolist():
        path, node = [], parents[leaf]
        while node >= 0:
            path.append(int(made.column[node]))
            node = parents[node]
        assert len(set(path)) == len(path) <= 3
    assert len(made) == 15  # then no column is left, whatever the depth


def test_theorem_2_a_node_is_split_if_its_noisy_size_is_not_below_the_stated_one() -> None:
    """At sqrt(2) t |C| / e: t is the largest number of codes of a column left."""
    chosen = plan(epsilon=3, sizes=(5, 3), classes=2, rows=None, stop="size")
    least = math.sqrt(2) * 5 * 2 / float(chosen.size_epsilon)
    assert chosen.size_epsilon == 1
    for noise in range(-20, 40):
        with patch.object(
            tree_growth,
            "discrete_laplace",
            lambda *, scale, size, source, noise=noise: np.full(size, noise),
        ):
            made = grow(chosen, coded(FEW), Source.seeded(0))
        assert (made.child[0] >= 0) == (len(FEW) + noise >= least)


def test_no_rows_and_no_splits() -> None:
    nothing = Coded(np.zeros((0, 2), dtype=np.uint16), np.zeros(0, dtype=np.int64))
    for given in PLANS.values():
        made = plan(**given).release(nothing, Source.seeded(0)).value
        assert len(made) >= 1
    alone = plan(sizes=(1, 1), epsilon=10**5).release(
        coded([(0, 0, 0), (0, 0, 1)]), Source.seeded(0)
    )
    assert alone.value.leaf_counts.tolist() == [[1, 1]]


# what is said about it


def test_budgets_of_levels_add_up_to_epsilon() -> None:
    for given in (
        {},
        {"depth": 0},
        {"depth": 7, "growth": 3, "leaf_share": "0.01"},
        {"stop": "size", "depth": 4},
        {"unit": RECORD_SUBSTITUTE, "depth": 3},
        {"unit": RECORD_SUBSTITUTE, "stop": "size"},
    ):
        chosen = plan(epsilon="3/7", **given)
        assert chosen.guarantee().nano == math.ceil(Fraction(3, 7) * 10**9)
        assert chosen.guarantee().unit == given.get("unit", RECORD)
        sizes = chosen.size_epsilon * chosen.depth
        spent = sum(chosen.levels) + sizes + chosen.leaf_epsilon
        assert spent * chosen.price == Fraction(3, 7)
        ratios = {b / a for a, b in pairwise(chosen.levels)}
        assert ratios <= {1 if chosen.stop == "size" else chosen.growth}
    assert plan(leaf_share="0.3", depth=4).leaf_epsilon == Fraction(2) * Fraction(3, 10)


@pytest.mark.parametrize("name", PLANS)
def test_parameters_make_an_equal_mechanism(name) -> None:
    chosen = plan(**PLANS[name], unit=RECORD_SUBSTITUTE)
    told = json.loads(json.dumps(chosen.parameters()))
    assert PrivateTree.from_parameters(told) == chosen


def test_what_is_said() -> None:
    chosen = plan()
    assert "one node of each of 1 levels" in chosen.how().sensitivity
    assert "no table has more than 8 rows" in chosen.how().bounds
    assert "no table" not in plan(rows=None).how().bounds
    assert "Theorem 1" in chosen.evidence().theorem
    event = chosen.release(coded(FEW), Source.seeded(0)).event
    assert event.loss.overall == 2 * 10**9


def test_utility_holds_19_times_in_20() -> None:
    chosen, source = plan(depth=0, epsilon=1), Source.seeded(6)
    drawn = [chosen.release(coded(FEW), source).value.leaf_counts[0] for _ in range(1000)]
    off = np.abs(np.array(drawn) - [2, 2])
    assert np.mean(off <= chosen.utility().within_95) >= 0.95
    assert np.mean(off <= chosen.utility().within_95 / 2) < 0.95


@pytest.mark.parametrize(
    "given",
    [
        {"epsilon": 0},
        {"epsilon": float("nan")},
        {"sizes": ()},
        {"sizes": (0, 3)},
        {"sizes": (3,)},
        {"ordered": (True,)},
        {"classes": 0},
        {"depth": -1},
        {"depth": 1.5},
        {"depth": 40},
        {"rows": 0},
        {"criterion": "mse"},
        {"scores": "local"},
        {"split": "ternary"},
        {"law": "laplace"},
        {"stop": "never"},
        {"leaf_share": 0},
        {"leaf_share": 1.01},
        {"growth": 0},
        {"criterion": "entropy", "rows": None},
        {"scores": "dampened"},
        {"scores": "shifted", "criterion": "entropy"},
        {"split": "multiway"},
        {"unit": EDGE},
        {"weights": (Fraction(1),)},
        {"weights": (Fraction(1), Fraction(0))},
        {"weights": (Fraction(1), Fraction(11, 10))},
    ],
)
def test_wrong_parameters(given) -> None:
    with pytest.raises(ParameterError):
        plan(**given)


def test_weights_are_refused_with_local_sensitivity() -> None:
    with pytest.raises(ParameterError, match="weights must be"):
        plan(**LOCAL, scores="dampened", weights=(Fraction(1), Fraction(1, 2)))


def test_a_share_of_leaves_that_leaves_nothing_for_splits_is_refused_at_once() -> None:
    assert plan(leaf_share=1, depth=0).leaf_epsilon == 2
    with pytest.raises(ParameterError, match="leaf_share must be"):
        plan(leaf_share=1, depth=1)


def test_no_split_contradicts_those_above_it() -> None:
    """Codes that can come to a node are public, so splits with an empty side are no candidates."""
    sizes, ordered = (5, 4, 2), (True, False, True)
    rows = random_rows(0, sizes, 2, 60)
    deep = plan(epsilon="0.01", sizes=sizes, ordered=ordered, depth=9, rows=None)
    for seed in range(5):
        made = deep.release(coded(rows), Source.seeded(seed)).value
        every = [list(codes) for codes in product(*(range(size) for size in sizes))]
        reached = set(made.leaf_of(np.array(every, dtype=np.uint16)).tolist())
        assert reached == set(np.flatnonzero(made.child < 0).tolist())


def test_a_wrong_bound_costs_nothing_without_entropy() -> None:
    for name in ("gini", "accuracy"):
        found = worst_loss(plan(**{**PLANS[name], "rows": 2}), added(FEW, 4))
        assert found <= 2 + 1e-9


def test_a_released_tree_has_a_card() -> None:
    mechanism = plan()
    released = mechanism.release(coded([(0, 1, 0), (1, 0, 1)]), Source.system())
    scope = Scope(protected="each row", not_against=("who holds the table",), model="central")
    assert verify(released.card("A tree", scope=scope)) == []
