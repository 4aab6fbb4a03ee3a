"""Sharing a budget among attributes: people per second beside CVXPY and Clarabel, and who is right.

Each person has budgets for attributes (uniform on the simplex, at least 0.001) and one for the
provider (uniform from 0.05 to 0.4); the least mean absolute or squared error is sought. Everybody
solves the same programs of the same people: CVXPY as one would write it with all items, CVXPY and
Clarabel with variables of one size and only the rows that matter, and ours in one batch of 1,000,
finding those rows included. MovieLens-1M is read if its folder is given, and made up otherwise.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from benchmarks.harness import (
    Goal,
    Options,
    Row,
    Work,
    cpu_seconds,
    explain_keys,
    medians,
    report,
    require_module,
)
from reticent.data.catalogue import Catalogue
from reticent.data.sources import DataMissing
from reticent.data.sources.movielens import movielens_1m_genres
from reticent.data.synthetic import multi_hot_catalogue
from reticent.mechanisms.exposure import Exposure
from reticent.mechanisms.multilevel_plan import plan_many
from reticent.noise import Source
from reticent.optim.allocation import Allocation, allocate
from reticent.optim.objectives import PowerError
from reticent.optim.rows import maximal_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmarks.clarabel_peer import Program

    Reals: TypeAlias = NDArray[np.float64]

EXPONENTS = {"mae": 1, "mse": 2}
FLOOR = 1e-3
BATCH = 1_000
SINGLES = 20
INEXACT = 1e-8

GOALS = (
    Goal("speedup_cvxpy", 100),
    Goal("speedup_cvxpy_naive", 300),
    Goal("speedup_clarabel", 15),
    Goal("speedup_single", 10),
    Goal("people_per_second", 1e5 / 60),
    Goal("mae_ratio_eps005", 5),
)


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is run: how many people each competitor gets, and how many are checked."""

    rounds: int
    scaled: int
    naive: int
    crowd: int
    checked: int
    instances: int


FULL = Effort(rounds=5, scaled=20, naive=4, crowd=100_000, checked=2_000, instances=1_000)
QUICK = Effort(rounds=3, scaled=6, naive=2, crowd=10_000, checked=300, instances=60)


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A catalogue under a name."""

    key: str
    title: str
    catalogue: Catalogue


@dataclass(frozen=True, slots=True, eq=False)
class People:
    """Budgets for attributes, one row each, and for the provider."""

    budgets: Reals
    epsilon: Reals

    @classmethod
    def draw(cls, count: int, attributes: int, *, seed: int = 1) -> People:
        """Uniform on the simplex with a floor; uniform from 0.05 to 0.4."""
        generator = np.random.default_rng(seed)
        shares = generator.dirichlet(np.ones(attributes), count)
        return cls(np.maximum(shares, FLOOR), generator.uniform(0.05, 0.4, count))


def main() -> None:
    """Measure and report."""
    options = Options.parse(
        "benchmarks.multilevel",
        "Optimal shares of a budget beside CVXPY and Clarabel.",
        data="holds movielens-1m/",
    )
    for module in ("cvxpy", "clarabel", "threadpoolctl"):
        require_module(module, "experiments")
    # Idle threads of linear algebra wait busily, on the CPU time of whoever comes next.
    import_module("threadpoolctl").threadpool_limits(1)
    effort = QUICK if options.quick else FULL
    first = first_call()
    sections = {"First call in this process: code compiled, or loaded if it was before": [first]}
    results = {"first_call_ms": 1000 * first.seconds}
    cases = [films(options), venues()]
    figures: list[dict[str, float]] = []
    for case in cases:
        for goal in EXPONENTS:
            duel = Duel.of(case, goal)
            sections[f"{case.title}, least {goal.upper()}"] = duel.run(effort)
            figures.append(duel.figures)
            results |= {f"{key}_{case.key}_{goal}": v for key, v in duel.figures.items()}
    for key in figures[0]:
        pick = min if key.startswith("speedup") else max
        results[key] = pick(each[key] for each in figures)
    title = f"{cases[0].title}, plans for people on two threads"
    sections[title], more = crowd(cases[0], effort)
    results["max_gap"] = max(results["max_gap"], more.pop("max_gap"))
    results |= more
    sections["Cost for 500 people, least MAE"] = [*by_items(options.quick), *by_attributes()]
    results["mae_ratio_eps005"] = advantage(cases[0], epsilon=0.05)
    results |= random_programs(effort.instances)
    report("multilevel", sections, results, GOALS, options)
    if not options.json:
        explain_keys("Accuracy", results, MEANINGS)


def first_call() -> Row:
    """What the very first answer costs."""

    def work() -> None:
        rows = maximal_rows(np.ones((1, 2)))
        allocate(rows, caps=[[1, 1]], budget=[1], objective=PowerError(), compiled=True)

    return Row("first_call", "Reticent, one person, two attributes", 1, cpu_seconds(work))


def films(options: Options) -> Case:
    """MovieLens-1M if it is there, and else as many made-up films and genres."""
    if options.data is not None:
        try:
            real = movielens_1m_genres(options.data / "movielens-1m")
            return Case("films", "MovieLens-1M, 3,883 x 18", real)
        except DataMissing as missing:
            print(f"Made-up films instead: {missing}", file=sys.stderr)
    made = multi_hot_catalogue(3_883, 18, Source.seeded(1))
    return Case("films", "Made like MovieLens-1M, 3,883 x 18", made)


def venues() -> Case:
    """As many made-up venues and categories as the Yelp data of the paper."""
    made = multi_hot_catalogue(11_537, 21, Source.seeded(2))
    return Case("venues", "Made like Yelp, 11,537 x 21", made)


@dataclass(frozen=True, slots=True, eq=False)
class Duel:
    """One catalogue and error: everybody's times, and how good the answers are."""

    matrix: Reals
    rows: Reals
    people: People
    exponent: int
    figures: dict[str, float]

    @classmethod
    def of(cls, case: Case, goal: str) -> Duel:
        """With 1,000 people of the catalogue."""
        matrix = case.catalogue.values()
        people = People.draw(BATCH, matrix.shape[1])
        return cls(matrix, maximal_rows(matrix), people, EXPONENTS[goal], {})

    def run(self, effort: Effort) -> list[Row]:
        """Take turns, and compare."""
        peer, direct = import_module("benchmarks.cvxpy_peer"), clarabel_peer().solution
        prepared = peer.prepared(self.rows, self.exponent)
        prepared(self.program(0, self.rows))  # what is built once is not counted
        self.ours(1)
        points: dict[str, list[Any]] = {"scaled": [], "naive": []}
        scaled, naive = partial(self.solve, self.rows), partial(self.solve, self.matrix)
        works: dict[str, Work] = {
            "batch": partial(self.ours, BATCH),
            "single": lambda: [self.ours(1) for _ in range(SINGLES)],
            "default": lambda: [self.ours(1, None) for _ in range(SINGLES)],
            "reduction": lambda: [maximal_rows(self.matrix) for _ in range(SINGLES)],
            "direct": partial(scaled, effort.scaled, direct, []),
            "scaled": partial(scaled, effort.scaled, peer.scaled, points["scaled"]),
            "prepared": partial(scaled, effort.scaled, prepared, []),
            "naive": partial(naive, effort.naive, peer.naive, points["naive"]),
        }
        taken = medians(works, rounds=effort.rounds)
        done = dict.fromkeys(works, effort.scaled)
        done |= {
            "batch": BATCH,
            "single": SINGLES,
            "default": SINGLES,
            "reduction": SINGLES,
            "naive": effort.naive,
        }
        each = {name: taken[name] / done[name] for name in works}
        self.compare(each)
        self.judge(points["scaled"], points["naive"])
        return [Row(name, label, done[name], taken[name]) for name, label in LABELS.items()]

    def ours(self, count: int, compiled: bool | None = True) -> Allocation:
        """All items, first people; None is what callers get who do not choose."""
        return allocate(
            maximal_rows(self.matrix),
            caps=self.people.budgets[:count],
            budget=self.people.epsilon[:count],
            objective=PowerError(self.exponent),
            compiled=compiled,
        )

    def program(self, person: int, rows: Reals) -> Program:
        """One person's program for the others; caps are budgets, as no entry is above one."""
        caps, eps = self.people.budgets[person], float(self.people.epsilon[person])
        made: Program = clarabel_peer().Program(rows, caps, eps, np.ones_like(caps), self.exponent)
        return made

    def solve(
        self, rows: Reals, count: int, solver: Callable[[Program], Any], points: list[Any]
    ) -> None:
        """The next people by another solver, whose answers are kept in ``points``."""
        begin = len(points)
        points.extend(solver(self.program(i, rows)) for i in range(begin, begin + count))

    def compare(self, each: dict[str, float]) -> None:
        """Speed-ups per person."""
        self.figures.update(
            speedup_cvxpy=each["scaled"] / each["batch"],
            speedup_cvxpy_parameters=each["prepared"] / each["batch"],
            speedup_cvxpy_naive=each["naive"] / each["batch"],
            speedup_clarabel=each["direct"] / each["batch"],
            speedup_single=(each["scaled"] + each["reduction"]) / each["single"],
            speedup_single_default=(each["scaled"] + each["reduction"]) / each["default"],
            speedup_single_naive=each["naive"] / each["single"],
        )

    def judge(self, scaled: list[Any], naive: list[Any]) -> None:
        """How the others' errors compare once inside the budgets, and how far outside they were."""
        found = self.ours(BATCH)
        differences, beyond = [], []
        for person, outcome in enumerate(scaled):
            if outcome.x is not None:
                program = self.program(person, self.rows)
                value = program.value(program.inside(outcome.x))
                differences.append(value / found.error[person] - 1)
        for person, outcome in enumerate(naive):
            if outcome.x is not None:
                beyond.append(self.excess(person, outcome.x))
        self.figures.update(
            max_gap=float(found.gap.max()),
            cvxpy_worse_by=max(differences),
            cvxpy_better_by=max(0.0, -min(differences)),
            cvxpy_not_optimal=np.mean([o.status != "optimal" for o in scaled]),
            naive_excess=max(beyond),
            naive_excess_median=float(np.median(beyond)),
            naive_not_optimal=np.mean([o.status != "optimal" for o in naive]),
        )

    def excess(self, person: int, x: Reals) -> float:
        """By what share a point exceeds the person's budgets, at worst."""
        overall = float((self.matrix @ x).max()) / self.people.epsilon[person]
        return float(max(overall, (x / self.people.budgets[person]).max()) - 1)


LABELS = {
    "batch": "Reticent, 1,000 people, rows found anew",
    "single": "Reticent, one person, rows found anew, compiled",
    "default": "  the same without choosing compiled loops",
    "reduction": "  of which: the rows that matter",
    "direct": "Clarabel called directly, those rows",
    "scaled": "CVXPY and Clarabel, those rows, scaled",
    "prepared": "  the same, built once with parameters",
    "naive": "CVXPY and Clarabel, all items, as written",
}


def clarabel_peer() -> Any:
    """Imported late: it needs Clarabel."""
    return import_module("benchmarks.clarabel_peer")


def crowd(case: Case, effort: Effort) -> tuple[list[Row], dict[str, float]]:
    """Plans for many people, with the noise that is really used, and their exact losses."""
    exposure = Exposure.of(case.catalogue)
    everyone = People.draw(effort.crowd, len(exposure.attributes), seed=2)
    rows, figures = [], {}
    count = 1_000
    while count <= effort.crowd:
        people = People(everyone.budgets[:count], everyone.epsilon[:count])
        begin, wall = time.process_time(), time.perf_counter()
        plans = plan_many(exposure, budgets=people.budgets, epsilon=people.epsilon, threads=2)
        wall = time.perf_counter() - wall
        seconds = time.process_time() - begin
        rows.append(Row(f"people_{count}", "Reticent, plans, least MSE", count, seconds))
        figures = {
            "people_per_second": count / wall,
            "people_per_cpu_second": count / seconds,
            "max_gap": float(plans.gap.max()),
        }
        count *= 10
    some = slice(0, effort.checked)
    figures["violations"] = excesses(
        exposure, plans.scales[some], people.budgets[some], people.epsilon[some]
    )
    return rows, figures


def excesses(exposure: Exposure, scales: Reals, budgets: Reals, epsilon: Reals) -> int:
    """How many people's exact losses exceed a budget. A float stands for the decimal it prints."""
    count = 0
    for scale, shares, eps in zip(scales, budgets, epsilon, strict=True):
        rates = [1 / Fraction(float(s)) for s in scale]
        limits = [Fraction(repr(float(t))) for t in shares]
        pairs = zip(exposure.alone(rates), limits, strict=True)
        alone = any(loss > limit for loss, limit in pairs)
        count += alone or exposure.overall(rates) > Fraction(repr(float(eps)))
    return count


def by_items(quick: bool) -> Iterator[Row]:
    """Cost against the number of items: finding the rows, and solving."""
    for n in (1_000, 10_000) if quick else (1_000, 10_000, 100_000):
        yield from cost(n, 21)


def by_attributes() -> Iterator[Row]:
    """Cost against the number of attributes."""
    for m in (8, 16, 32, 64):
        yield from cost(4_000, m)


def cost(n: int, m: int) -> Iterator[Row]:
    """Both parts for one size."""
    matrix = multi_hot_catalogue(n, m, Source.seeded(3)).values()
    people = People.draw(500, m)
    rows = maximal_rows(matrix)
    work = partial(
        allocate, rows, caps=people.budgets, budget=people.epsilon, objective=PowerError()
    )
    label = f"{n:,} x {m}, {len(rows)} rows"
    yield Row(
        f"rows_{n}_{m}", f"{label}: finding them", n, cpu_seconds(lambda: maximal_rows(matrix))
    )
    yield Row(f"solve_{n}_{m}", f"{label}: people", 500, cpu_seconds(work))


def advantage(case: Case, *, epsilon: float) -> float:
    """Median over people: error of budgets scaled alike, over the least error."""
    rows = maximal_rows(case.catalogue.values())
    budgets = People.draw(4_000, rows.shape[1], seed=3).budgets
    found = allocate(
        rows, caps=budgets, budget=np.full(len(budgets), epsilon), objective=PowerError()
    )
    factor = np.minimum(1.0, epsilon / (budgets @ rows.T).max(axis=1))
    return float(np.median((1 / budgets).sum(axis=1) / factor / found.error))


def random_programs(count: int) -> dict[str, float]:
    """Both of our ways against Clarabel, made as exact as it gets, on programs of every kind."""
    peer = clarabel_peer()
    differences, gaps, proofs = [], [], []
    for instance in peer.instances(count):
        program = instance.program
        other = peer.answer(program)
        proofs.append(other.gap)
        for compiled in (True, False):
            found = allocate(
                program.rows,
                caps=program.caps,
                budget=program.budget,
                objective=PowerError(program.exponent, program.weights),
                compiled=compiled,
            )
            differences.append(abs(found.error[0] - other.value) / other.value)
            gaps.append(found.gap[0])
    return {
        "instances": count,
        "instances_difference": max(differences),
        "instances_gap": max(gaps),
        "instances_clarabel_gap": max(proofs),
        "instances_clarabel_inexact": sum(proof > INEXACT for proof in proofs),
    }


MEANINGS = {
    "max_gap": "proved distance from the least error, worst person",
    "violations": "people whose exact losses exceed a budget",
    "cvxpy_worse_by": "error of scaled CVXPY above ours, within the budgets, worst",
    "cvxpy_better_by": "error of scaled CVXPY below ours, within the budgets, best",
    "cvxpy_not_optimal": "share of its answers that it calls inaccurate or gives up",
    "naive_excess": "budget exceeded by CVXPY as written, worst share",
    "naive_excess_median": "the same, median, worst of the four",
    "naive_not_optimal": "share of its answers that it calls inaccurate or gives up",
    "instances": "random programs solved by us and by Clarabel, tightened",
    "instances_difference": "worst relative difference of the errors",
    "instances_gap": "our worst proved distance",
    "instances_clarabel_gap": "Clarabel's worst proved distance",
    "instances_clarabel_inexact": "programs on which it is above 1e-8, so that they prove less",
}


if __name__ == "__main__":
    main()
