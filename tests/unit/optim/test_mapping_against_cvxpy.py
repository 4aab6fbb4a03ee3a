"""General solvers, made as exact as they get, find nothing better, and nothing below our bounds.

CVXPY with SCS and Clarabel, the program written in two ways. Adult's 300 most probable profiles are
compared at the tolerance that SCS reaches within seconds, its 100 most probable ones at 1e-6: an
exact answer at 300 takes Clarabel 15 to 30 seconds, which ``benchmarks.mappings`` spends.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest

from benchmarks.mapping_peer import FORMS, Answer, answer, distortion, repaired
from reticent.data import load_adult
from reticent.optim.distances import distance_matrix, hamming, squared_euclidean
from reticent.optim.mapping import Problem, Solution
from reticent.optim.mapping_frank_wolfe import solve_by_frank_wolfe
from reticent.optim.mapping_newton import solve_mapping
from reticent.optim.mapping_paper import solve_by_paper

pytestmark = pytest.mark.solvers

CLOSE = 1e-6  # of I(A; B): what the others are trusted to
TIGHT = {"SCS": (1e-7,), "CLARABEL": (1e-9, 1e-8, 1e-7)}  # the first at which one calls it optimal
KINDS = ("hamming", "weighted", "squared", "matrix")
SHAPES = ((5, 2), (12, 3), (15, 5), (30, 4))
WAYS = {
    "newton": solve_mapping,
    "frank-wolfe": lambda problem: solve_by_frank_wolfe(problem, steps=100),
    "paper": lambda problem: solve_by_paper(problem, steps=15),
}


@cache
def instance(kind: str, n: int, secrets: int, near: float = 0.25) -> Problem:
    """Random laws; Delta is ``near`` times half the median distance."""
    rng = np.random.default_rng([n, secrets, KINDS.index(kind)])
    mass, posteriors = rng.dirichlet(np.ones(n)), rng.dirichlet(np.full(secrets, 0.6), size=n)
    profiles = rng.integers(0, 3, size=(n, 4))
    distance = {
        "hamming": lambda: hamming(profiles),
        "weighted": lambda: hamming(profiles, weights=[1, 2, 0.5, 3]),
        "squared": lambda: squared_euclidean(rng.normal(size=(n, 2))),
        "matrix": lambda: distance_matrix(rng.gamma(2, size=(n, n)) * (1 - np.eye(n))),
    }[kind]()
    far = distance.dense()
    joint = (mass[:, None] * posteriors).T
    return Problem.of(joint, distance, near / 2 * float(np.median(far[far > 0])))


@cache
def census(most: int, delta: float) -> Problem:
    """The most probable tuples of seven attributes of Adult; the secret is the income."""
    table = load_adult()
    names = ("education", "marital-status", "occupation", "race", "sex", "native-country")
    decades = [age // 10 for age in table["age"]]
    people = list(zip(decades, *(table[name] for name in names), strict=True))
    counts: dict[tuple[object, ...], list[int]] = {}
    for person, income in zip(people, table["income"], strict=True):
        counts.setdefault(person, [0, 0])[income == ">50K"] += 1
    kept = sorted(counts, key=lambda each: -sum(counts[each]))[:most]
    profiles = np.array([[str(value) for value in each] for each in kept])
    return Problem.of(np.array([counts[each] for each in kept]).T, hamming(profiles), delta)


def exact(problem: Problem, solver: str, form: str) -> Answer:
    for tolerance in TIGHT[solver]:
        other = answer(problem, solver=solver, tolerance=tolerance, form=form)
        if other.optimal:
            return other
    pytest.fail(f"{solver} is {other.status}, which proves nothing")


def agree(problem: Problem, found: Solution, other: Answer, slack: float = CLOSE) -> bool:
    """Our interval [bound, leak] holds the others' optimum, and they found no better map."""
    close = slack * problem.untouched
    inside = abs(found.leak - other.value) <= found.gap + close
    return inside and found.bound <= min(other.value + close, other.leak + 1e-12)


@pytest.mark.parametrize(("n", "secrets"), SHAPES)
@pytest.mark.parametrize("kind", KINDS)
def test_no_solver_finds_better_or_less(kind, n, secrets) -> None:
    """Every kind of distance, 2 to 5 secrets; all of our methods against both of theirs, twice."""
    problem = instance(kind, n, secrets)
    found = {name: way(problem) for name, way in WAYS.items()}
    for solver, form in product(TIGHT, FORMS):
        other = exact(problem, solver, form)
        assert other.excess <= 1e-6
        for name, each in found.items():
            assert agree(problem, each, other), (name, solver, form)
            assert each.leak >= other.value - CLOSE * problem.untouched
            assert each.distortion <= problem.delta * (1 + 1e-9)


@pytest.mark.parametrize("near", [0.02, 0.1, 0.6, 3.0])
def test_from_hardly_anything_to_everything_allowed(near) -> None:
    problem = instance("hamming", 25, 3, near)
    other = exact(problem, "CLARABEL", "dual")
    for way in WAYS.values():
        assert agree(problem, way(problem), other)
    if near == 3.0:
        assert other.leak <= 1e-6 * problem.untouched


def test_secrets_and_profiles_without_probability() -> None:
    rng = np.random.default_rng(5)
    joint = rng.dirichlet(np.ones(36)).reshape(3, 12)
    joint[1], joint[:, 4] = 0, 0
    problem = Problem.of(joint, hamming(rng.integers(0, 3, size=(12, 4))), 0.1)
    for form in FORMS:
        other = exact(problem, "CLARABEL", form)
        for way in WAYS.values():
            assert agree(problem, way(problem), other)


@pytest.mark.parametrize("delta", [0.02, 0.05, 0.1])
def test_the_hundred_most_probable_profiles_of_adult(delta) -> None:
    problem = census(100, delta)
    other = exact(problem, "CLARABEL", "dual")
    for way in WAYS.values():
        assert agree(problem, way(problem), other)


def test_the_three_hundred_most_probable_profiles_of_adult() -> None:
    """SCS, loosened: its map is feasible once repaired, so that our bound may never exceed it."""
    problem = census(300, 0.05)
    other = answer(problem, solver="SCS", tolerance="matched", form="dual")
    assert other.optimal
    for name in ("newton", "frank-wolfe"):
        assert agree(problem, WAYS[name](problem), other, slack=2e-3)


def test_what_comes_back_is_made_feasible() -> None:
    problem = instance("squared", 15, 5)
    for solver in TIGHT:
        other = answer(problem, solver=solver, tolerance="matched")
        assert other.x is not None
        np.testing.assert_allclose(other.x.sum(axis=0), 1, rtol=1e-12)
        assert (other.x >= 0).all()
        assert distortion(problem, other.x) <= problem.delta * (1 + 1e-12)
    nothing = repaired(problem, np.full((15, 15), -1.0))
    np.testing.assert_array_equal(nothing, np.eye(15))


@pytest.mark.parametrize("form", FORMS)
def test_control_wrong_bounds_and_wrong_leaks_are_caught(form) -> None:
    """A bound 1 % of I(A; B) too high, a leak 1 % too low, the optimum of another problem."""
    problem = instance("hamming", 25, 4)
    other = exact(problem, "CLARABEL", form)
    found = solve_mapping(problem)
    one = 0.01 * problem.untouched
    assert agree(problem, found, other)
    assert not agree(problem, replace(found, bound=found.bound + one), other)
    assert not agree(problem, replace(found, leak=found.leak - one), other)
    looser = replace(problem, delta=1.05 * problem.delta)
    assert not agree(problem, found, exact(looser, "CLARABEL", form))
