"""Cases of choices by local sensitivity, and of trees, from the tables of a file.

Not here  choices by plain scores (verify_numbers.py), profiles (verify_profiles.py).

Where a file tells utilities only, the local sensitivity is what enumeration finds it to be within
the domain; where it tells sensitivities too, those are used, and verified with the rest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.cli.verify_domains import claim_of, databases, listed, numeric, unit_of
from reticent.cli.verify_file import Section
from reticent.cli.verify_numbers import BY_ONE, promised
from reticent.guarantees import RECORD_SUBSTITUTE, Loss
from reticent.mechanisms.dampening import Dampened, Scored
from reticent.mechanisms.local_sensitivity import Tabled
from reticent.mechanisms.top_dampened import TopDampened
from reticent.mechanisms.tree import Coded, PrivateTree
from reticent.noise import Source
from reticent.tasks.percentile import PercentileSensitivity, percentile_scored
from reticent.testing.cases import Case, Part
from reticent.testing.local_laws import Utilities
from reticent.testing.mechanism_laws import law_of
from reticent.testing.neighbourhoods import World, local_sensitivities

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BY_TREE = 8000  # draws of an audit: a tree takes a millisecond
_MOST_DATA = 5000  # of which local sensitivities are found by going through all
NO_TREE_LAW = "a tree is grown split by split, and the law of all of it has no closed form here"


def make_dampened(mechanism: Section, domain: Section) -> Dampened:
    """From epsilon, candidates, limit and steps."""
    return Dampened(
        epsilon=mechanism.number("epsilon"),
        candidates=mechanism.whole("candidates"),
        limit=mechanism.number("limit"),
        steps=mechanism.whole("steps", least=0),
        shift=mechanism.text("shift", "left", among=("none", "left", "right")),
        law=mechanism.text("law", "permute-and-flip", among=("permute-and-flip", "exponential")),
        spread=mechanism.number("spread", 2),
        unit=RECORD_SUBSTITUTE if "percentile" in domain else unit_of(domain),
    )


def make_top_dampened(mechanism: Section, domain: Section) -> TopDampened:
    """As for one choice, and k, the share of the test, and how much one unit changes."""
    return TopDampened(
        whole=make_dampened(mechanism, domain),
        k=mechanism.whole("k"),
        test=mechanism.number("test", Fraction(0)),
        changes=mechanism.whole("changes", 1),
    )


def dampened_case(
    mechanism: Dampened | TopDampened, domain: Section, claim: Section | None, loss: Loss
) -> Case:
    """One candidate, or the best k."""
    one = mechanism if isinstance(mechanism, Dampened) else mechanism.whole
    world, view = _views(domain, one)
    law = law_of(mechanism)
    unit = next((pair.unit for pair in world.pairs()), "any")
    claims: dict[Hashable, Fraction] = {unit: claim_of(claim, promised(loss))}
    outcomes = one.candidates
    if isinstance(mechanism, TopDampened):
        outcomes = math.perm(one.candidates, mechanism.k)

    def draw(data: Any, n: int) -> NDArray[Any]:
        source, scored = Source.system(), _scored(view(data))
        released: Sequence[Any] = [mechanism.release(scored, source).value for _ in range(n)]
        return np.array([str(value) for value in released])

    part = Part(law=lambda data: law(view(data)), claims=claims, outcomes=outcomes)
    return Case(
        name=mechanism.name, world=world, claims=claims, parts=(part,), draw=draw, draws=BY_ONE
    )


def _scored(data: Utilities) -> Scored:
    rows = data.sensitivity or ((math.inf,) * len(data.utilities),)
    return Scored(np.array(data.utilities), Tabled.of(np.array(rows)))


def _views(domain: Section, one: Dampened) -> tuple[World, Callable[[Any], Utilities]]:
    if "percentile" in domain:
        return _percentile(domain, one)
    if "inputs" in domain and any(isinstance(v, dict) for v in domain.held["inputs"].values()):
        return _told(domain, one)
    found = numeric(domain, one.candidates, distance=Fraction(one.limit), unit=one.unit, each=True)
    if found.world.size > _MOST_DATA:
        says = f"the domain must have at most {_MOST_DATA:,} data: all of them are gone through"
        domain.wrong(next(iter(domain.held)), f"{says} for the local sensitivity")
    utilities = {
        data: found.vector(data) for data in map(found.world.data, range(found.world.size))
    }
    local = local_sensitivities(found.world, utilities, one.steps)
    views = {
        data: Utilities(
            tuple(map(float, own)), tuple(tuple(map(_float_up, row)) for row in local[data])
        )
        for data, own in utilities.items()
    }
    return found.world, views.__getitem__


def _told(domain: Section, one: Dampened) -> tuple[World, Callable[[Any], Utilities]]:
    """Utilities and sensitivities of every input as the file states them."""
    told, views = domain.section("inputs"), {}
    for name in told.held:
        own = told.section(name)
        utilities = own.numbers("utilities")
        rows = own.listed("sensitivity")
        rows = rows if isinstance(rows[0], list) else [rows]
        table = [Section({"sensitivity": row}, own.path).numbers("sensitivity") for row in rows]
        for key, row in (("utilities", utilities), *(("sensitivity", row) for row in table)):
            if len(row) != one.candidates:
                own.wrong(key, f"{key} must be of {one.candidates} candidates, got {len(row)}")
            if key == "sensitivity" and min(row) < 0:
                own.wrong(key, "sensitivity must not be negative")
        own.close()
        views[name] = Utilities(
            tuple(map(float, utilities)), tuple(tuple(map(_float_up, row)) for row in table)
        )
    return listed(domain, tuple(views), one.unit.thing), views.__getitem__


def _percentile(domain: Section, one: Dampened) -> tuple[World, Callable[[Any], Utilities]]:
    """Who is at a percentile, by the sensitivity that ``reticent release percentile`` uses."""
    p, upper = domain.number("percentile"), domain.number("upper")
    values = tuple(sorted(set(domain.numbers("values"))))
    if not 0 < p < 1:
        domain.wrong("percentile", f"percentile must be between 0 and 1, got {float(p):g}")
    people = domain.whole("people")
    if people != one.candidates:
        domain.wrong("people", f"people must be the {one.candidates} candidates, got {people}")
    world = databases(domain, values, RECORD_SUBSTITUTE, ordered=True)

    def view(data: tuple[Fraction, ...]) -> Utilities:
        scored = percentile_scored([float(x) for x in data], float(p), float(upper))
        local = scored.sensitivity
        assert isinstance(local, PercentileSensitivity)  # noqa: S101, what it is made of
        rows = [local.first.tolist(), *([later] * people for later in local.later.tolist())]
        return Utilities(
            tuple(np.asarray(scored.utilities, dtype=float).tolist()),
            tuple(tuple(row) for row in rows),
        )

    return world, view


def make_tree(mechanism: Section, domain: Section) -> PrivateTree:
    """From epsilon, sizes of columns, classes and depth."""
    sizes = tuple(mechanism.listed("sizes"))
    return PrivateTree(
        epsilon=mechanism.number("epsilon"),
        sizes=sizes,
        ordered=tuple(mechanism.take("ordered", "true or false each", [True] * len(sizes))),
        classes=mechanism.whole("classes"),
        depth=mechanism.whole("depth", least=0),
        criterion=mechanism.text("criterion", "gini"),
        scores=mechanism.text("scores", "plain"),
        split=mechanism.text("split", "binary"),
        law=mechanism.text("law", "permute-and-flip"),
        rows=mechanism.whole("rows", None),
        stop=mechanism.text("stop", "depth"),
        unit=unit_of(domain),
    )


def tree_case(mechanism: PrivateTree, domain: Section, claim: Section | None, loss: Loss) -> Case:
    """A tree: only audited, by its first split and the counts where each record ends."""
    width = len(mechanism.sizes)
    records = []
    for row in domain.listed("records"):
        good = isinstance(row, list) and len(row) == width + 1
        limits = [*mechanism.sizes, mechanism.classes]
        good = good and all(
            isinstance(c, int) and 0 <= c < m for c, m in zip(row, limits, strict=True)
        )
        if not good:
            says = f"records must be lists of {width} codes and a class, each below its size"
            domain.wrong("records", says)
        records.append(tuple(row))
    world = databases(domain, tuple(dict.fromkeys(records)), mechanism.unit)
    codes = np.array([record[:-1] for record in world.records])  # type: ignore[index]
    classes = np.array([record[-1] for record in world.records])  # type: ignore[index]

    def seen(value: Any) -> list[int]:
        leaves = value.leaf_of(codes)
        return [*value.column[:1].tolist(), *value.counts[leaves, classes].tolist()]

    def draw(data: Any, n: int) -> NDArray[Any]:
        source, table = Source.system(), np.array(data, dtype=np.int64).reshape(-1, width + 1)
        coded = Coded(np.ascontiguousarray(table[:, :-1]), table[:, -1].copy())
        return np.array([seen(mechanism.release(coded, source).value) for _ in range(n)])

    claims: dict[Hashable, Fraction] = {world.unit: claim_of(claim, promised(loss))}
    return Case(
        name=mechanism.name, world=world, claims=claims, why=NO_TREE_LAW, draw=draw, draws=_BY_TREE
    )


def _float_up(exact: Fraction) -> float:
    near = float(exact)
    return near if Fraction(near) >= exact else math.nextafter(near, math.inf)
