"""Mappings of least leak: CPU time, memory and support beside CVXPY and the paper's own method.

Notation  gap = (leak - proved lower bound) / I(A; B); a sweep looks at all n^2 pairs once
Not here  how each is measured (mapping_jobs.py), the program for CVXPY (mapping_peer.py), the
          instances (experiments.mappings.datasets).

Every measurement has a process of its own, so that memory is that of one solver, and linear algebra
has one thread. Loading or compiling code is measured apart. The two gaps are reached on one way:
the time at which 1 % was proved, and at which 0.1 % was. Who does not reach its gap within the
limit has the time it took and the gap it had, and its goals count as not reached.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

from benchmarks.harness import Goal, Options, Row, explain_keys, report, require_module
from benchmarks.mapping_jobs import FINE, Answer, Given, run

DELTAS = (0.02, 0.05, 0.1)
LARGE = (12, 14, 16)  # bits
SWEEP = 1.4e-9  # CPU seconds per pair that algorithms are budgeted in
Other: TypeAlias = tuple[str, str, str]
"""Solver, tolerance and form of a program for CVXPY."""

ADULT: Given = ("adult", (300,))
FILMS: Given = ("film_like", (3717,))

GOALS = (
    Goal("speedup_cvxpy", 20),
    Goal("speedup_scs", 20),
    Goal("speedup_clarabel", 60),
    Goal("speedup_paper", 10),
    Goal("paper_worse_by", 0),
    Goal("speedup_step", 5),
    Goal("speedup_step_3717", 100),
    Goal("spare_step_difference", 1),
    Goal("spare_gap_adult300", 1),
    Goal("spare_outside_cvxpy", 1),
    Goal("spare_sweeps_movie3717", 1),
    Goal("spare_sweeps_2_14", 1),
    Goal("spare_sweeps_2_16", 1),
    Goal("curve_ratio", 2),
    Goal("curve_ratio_movie", 2),
    Goal("spare_support", 1),
)
SWEEPS = {"movie3717": 100, "2_14": 50, "2_16": 25}  # at most so many
SUPPORT = 1 + 2 * 2  # outputs per profile at most, 1 + 2 |A|
CLEAR = 0.05  # of I(A; B): below this leak supports are not judged
TRUSTED = 1e-6  # of I(A; B): how exact the default tolerance of Clarabel is
SAME = 1e-9  # of I(A; B): two values of one linear program


@dataclass(frozen=True, slots=True)
class Task:
    """One alphabet and Delta for our solver alone."""

    key: str
    given: Given
    delta: float
    limit: float = 120.0  # CPU seconds


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is run."""

    rounds: int
    deltas: tuple[float, ...]
    others: tuple[Other, ...]
    steps: int
    tasks: tuple[Task, ...]
    stepped: tuple[tuple[str, Given], ...]
    curves: tuple[tuple[str, Given, tuple[float, ...]], ...]
    full: bool


OTHERS: tuple[Other, ...] = tuple(
    (solver, tolerance, form)
    for form, tolerances in (("written", ("matched", "default")), ("dual", ("matched",)))
    for tolerance in tolerances
    for solver in ("SCS", "CLARABEL")
)
REFERENCES: tuple[Other, ...] = (  # the most exact first
    ("CLARABEL", "default", "dual"),
    ("CLARABEL", "default", "written"),
    ("SCS", "default", "written"),
    ("SCS", "matched", "written"),
)
FULL = Effort(
    rounds=5,
    deltas=DELTAS,
    others=(*OTHERS, ("CLARABEL", "default", "dual")),
    steps=100,
    tasks=(
        Task("movie3717_01", FILMS, 0.01),
        Task("movie3717_02", FILMS, 0.02),
        *(Task(f"2_{bits}", ("cube", (bits,)), 0.02, limit=600) for bits in LARGE),
        *(Task(f"synthetic_2_{bits}", ("synthetic", (bits,)), 4.0**bits / 64) for bits in LARGE),
    ),
    stepped=(("", ADULT), ("_3717", FILMS)),
    curves=(
        ("", ADULT, tuple(0.01 + 0.007 * k for k in range(14))),
        ("_movie", FILMS, (0.005, 0.01, 0.015, 0.02, 0.025, 0.03)),
    ),
    full=True,
)
QUICK = Effort(
    rounds=3,
    deltas=(0.05,),
    others=(("SCS", "matched", "written"),),
    steps=100,
    tasks=(
        Task("movie500_02", ("film_like", (500,)), 0.02, limit=10),
        Task("2_10", ("cube", (10,)), 0.02, limit=10),
    ),
    stepped=(("", ADULT),),
    curves=(("", ADULT, (0.03, 0.04, 0.05, 0.06)),),
    full=False,
)


@dataclass(slots=True)
class Found:
    """What was measured, for the table and for programs."""

    sections: dict[str, list[Row]] = field(default_factory=dict)
    results: dict[str, float] = field(default_factory=dict)
    ours: dict[str, Answer] = field(default_factory=dict)
    others: dict[str, Answer] = field(default_factory=dict)

    def worst(self, key: str, value: float) -> None:
        """Keep the smallest of several."""
        self.results[key] = min(value, self.results.get(key, math.inf))

    def most(self, key: str, value: float) -> None:
        """Keep the largest of several."""
        self.results[key] = max(value, self.results.get(key, -math.inf))


def main() -> None:
    """Measure and report."""
    options = Options.parse(
        "benchmarks.mappings", "Mappings of least leak beside CVXPY and the paper's method."
    )
    require_module("cvxpy", "experiments")
    effort = QUICK if options.quick else FULL
    found = Found()
    first(effort, found)
    for delta in effort.deltas:
        duel(delta, effort, found)
    if effort.full:
        example(effort, found)
    for task in effort.tasks:
        large(task, found)
    for key, given in effort.stepped:
        linear(key, given, found)
    for key, given, deltas in effort.curves:
        curve(key, given, deltas, found)
    supports(found)
    goals = [goal for goal in GOALS if goal.key in found.results]
    report("mappings", found.sections, found.results, goals, options)
    if not options.json:
        print_more(found)


# What is measured, in the order of the report


def first(effort: Effort, found: Found) -> None:
    """What a fresh process pays before its first answer is quick."""
    rows = []
    for key in ("loaded", "compiled") if effort.full else ("loaded",):
        got = run("begin", cold=key == "compiled")
        rows.append(Row(f"start_{key}", "interpreter and imports", 1, got["start"]))
        rows.append(Row(f"first_{key}", f"Reticent, first solve, code {key}", 16, got["first"]))
        found.results[f"first_{key}_seconds"] = got["start"] + got["first"]
    found.sections["First solve in a fresh process, 16 profiles, in none of the rows below"] = rows


def duel(delta: float, effort: Effort, found: Found) -> None:
    """Adult at one Delta: ours before and after all others."""
    ask = partial(run, given=ADULT, delta=delta)
    ours = partial(ask, "solve", rounds=effort.rounds, limit=60.0)
    before = ours()
    paper = ask("paper", steps=effort.steps)
    others = {other: ask("cvxpy", other=other) for other in effort.others}
    best = pooled([before, ours()] if effort.full else [before])
    found.ours[f"adult300_{round(100 * delta):02d}"] = best
    took(found, "adult300", best)
    found.results["spare_gap_adult300"] = spare(FINE, found.results["gap_adult300"])
    beside_paper(paper, best, found)
    beside_cvxpy(others, best, found)
    found.sections[f"Adult, 300 most probable profiles, Delta {delta:g}"] = [
        *solved(best),
        Row("paper", f"paper, L = {effort.steps}", 300, paper["seconds"]),
        *listed(f"Delta {delta:g}", others, best, found),
    ]


def took(found: Found, name: str, got: Answer) -> None:
    """Times and gaps of ours, the worst of all Deltas."""
    found.most(f"seconds_{name}", got["fine"])
    if got["coarse"] is not None:
        found.most(f"seconds_1pct_{name}", got["coarse"])
    found.most(f"gap_{name}", got["gap"])


def beside_paper(paper: Answer, best: Answer, found: Found) -> None:
    """How much quicker and better than the paper's method; not at all if our gap is not reached."""
    found.worst("speedup_paper", ratio(paper, best))
    found.worst("paper_worse_by", (paper["leak"] - best["leak"]) / best["untouched"])
    found.most("paper_gap", paper["gap"])


def beside_cvxpy(others: Mapping[Other, Answer], best: Answer, found: Found) -> None:
    """How much quicker than each general solver that finished, and whether they agree with us."""
    finished = {other: got for other, got in others.items() if got["status"] == "optimal"}
    unfinished = found.results.get("cvxpy_unfinished", 0)
    found.results["cvxpy_unfinished"] = unfinished + len(others) - len(finished)
    for other, got in finished.items():
        found.worst(f"speedup_{short(other)}", ratio(got, best))
    matched = [ratio(got, best) for other, got in finished.items() if other[1] == "matched"]
    if matched:
        found.worst("speedup_cvxpy", min(matched))
    exact = [other for other in REFERENCES if other in finished]
    if exact:
        reference = finished[exact[0]]
        found.most("difference_cvxpy", abs(difference(reference, best)))
        found.most("outside_cvxpy", outside(reference, best))
        if exact[0][1] == "default":
            found.worst("spare_outside_cvxpy", spare(TRUSTED, outside(reference, best)))


def listed(title: str, others: Mapping[Other, Answer], best: Answer, found: Found) -> list[Row]:
    """Rows of the general solvers; their answers are kept for the report."""
    for other, got in others.items():
        found.others[f"{title}, {named(other, got)}"] = judged(got, best)
    return [
        Row(short(other), f"CVXPY, {named(other, got)}", best["size"], got["seconds"])
        for other, got in others.items()
    ]


def example(effort: Effort, found: Found) -> None:
    """The paper's example of 256 numbers, where its method is far from the least leak."""
    ask = partial(run, given=("synthetic", (8,)), delta=4.0**8 / 64)
    best = pooled([ask("solve", rounds=effort.rounds, limit=60.0)])
    found.ours["synthetic_2_8"] = best
    took(found, "synthetic_2_8", best)
    paper = ask("paper", steps=effort.steps)
    matched = [other for other in effort.others if other[1] == "matched"]
    others = {other: ask("cvxpy", other=other) for other in matched}
    found.results["paper_worse_by_synthetic"] = (paper["leak"] - best["leak"]) / best["untouched"]
    found.sections["The paper's example, 256 profiles, Delta n^2 / 64"] = [
        *solved(best),
        Row("paper", f"paper, L = {effort.steps}", 256, paper["seconds"]),
        *listed("example", others, best, found),
    ]


def large(task: Task, found: Found) -> None:
    """One alphabet that only we can do."""
    got = pooled([run("solve", given=task.given, delta=task.delta, rounds=1, limit=task.limit)])
    found.ours[task.key] = got
    results = found.results
    name = task.key.rsplit("_", 1)[0] if task.key.startswith("movie") else task.key
    took(found, name, got)
    found.most(f"sweeps_{name}", got["fine"] / (SWEEP * got["size"] ** 2))
    if name in SWEEPS:
        done = results[f"gap_{name}"] <= FINE
        results[f"spare_sweeps_{name}"] = SWEEPS[name] / results[f"sweeps_{name}"] if done else 0.0
    results[f"peak_mb_{task.key}"] = got["peak"]
    title = f"{got['name']}, {got['size']:,} profiles, Delta {task.delta:g}"
    found.sections[title] = solved(got)


def linear(key: str, given: Given, found: Found) -> None:
    """One linear program of Frank-Wolfe: ours, and the paper's with HiGHS."""
    got = run("linear", given=given, delta=0.02)
    ours, paper, size = got["ours"], got["paper"], got["size"]
    found.results[f"speedup_step{key}"] = paper / ours
    found.most("step_difference", got["difference"])
    found.results["spare_step_difference"] = spare(SAME, found.results["step_difference"])
    found.sections[f"One linear step of Frank-Wolfe, {size:,} profiles, Delta 0.02"] = [
        Row("step", "Reticent, a search for one price", size, ours),
        Row("step_paper", "paper, column generation with HiGHS", size, paper),
    ]


def curve(key: str, given: Given, deltas: Sequence[float], found: Found) -> None:
    """Many Deltas, each from the answer before or from nothing; the first is from nothing twice."""
    got = run("curve", given=given, deltas=list(deltas))
    found.results[f"curve_ratio{key}"] = got["cold"] / got["warm"]
    found.most("curve_gap", got["gap"])
    count = len(deltas) - 1
    found.sections[f"{count} further points of a curve, {got['size']:,} profiles"] = [
        Row("cold", "Reticent, each from nothing", count, got["cold"]),
        Row("warm", "Reticent, each from the one before", count, got["warm"]),
    ]


def supports(found: Found) -> None:
    """Outputs per profile where distances are Hamming's and something is left to leak."""
    means = [
        got["mean"]
        for got in found.ours.values()
        if got["hamming"] and got["leak"] >= CLEAR * got["untouched"]
    ]
    found.results["mean_support"] = max(means)
    found.results["spare_support"] = SUPPORT / max(means)


def pooled(answers: Sequence[Answer]) -> Answer:
    """The last answer, with medians of all times and the largest memory."""
    merged = dict(answers[-1])
    for name in ("coarse", "fine"):
        times = [t for each in answers for t in each[name] if t is not None]
        merged[name] = statistics.median(times) if times else None
    merged["peak"] = max(each["peak"] for each in answers)
    return merged


def solved(got: Answer) -> list[Row]:
    """Rows of our solver; a gap that was not reached is said in the label."""
    rows = []
    if got["coarse"] is not None:
        rows.append(Row("coarse", "Reticent, 1 % proved", got["size"], got["coarse"]))
    reached = got["gap"] <= FINE
    label = "0.1 % proved" if reached else f"STOPPED AT {100 * got['gap']:.2g} %"
    return [*rows, Row("fine", f"Reticent, {label}", got["size"], got["fine"])]


def ratio(got: Answer, best: Answer) -> float:
    """Another's time over ours to the fine gap; 0 if we did not reach it."""
    return float(got["seconds"] / best["fine"]) if best["gap"] <= FINE else 0.0


def named(other: Other, got: Answer) -> str:
    """Who, how, and what became of it."""
    solver, tolerance, form = other
    how = {"written": "", "dual": " of the dual"}[form]
    end = "" if got["status"] == "optimal" else f": {got['status'].upper()}"
    return f"{solver.capitalize() if solver != 'SCS' else 'SCS'}{how}, {tolerance}{end}"


def short(other: Other) -> str:
    """As part of a key: scs, clarabel_default, scs_dual."""
    solver, tolerance, form = other
    parts = [solver.lower(), "" if form == "written" else form]
    parts.append("" if tolerance == "matched" else tolerance)
    return "_".join(part for part in parts if part)


def difference(got: Answer, best: Answer) -> float:
    """The other's optimum above ours, as a share of I(A; B)."""
    return float((got["value"] - best["leak"]) / best["untouched"])


def outside(got: Answer, best: Answer) -> float:
    """How far the other's optimum is outside what we proved, as a share of I(A; B)."""
    beyond = max(got["value"] - best["leak"], best["bound"] - got["value"], 0.0)
    return float(beyond / best["untouched"])


def judged(got: Answer, best: Answer) -> Answer:
    """Another's answer beside ours."""
    if not math.isfinite(got["leak"]):
        return got
    repaired = (got["leak"] - best["bound"]) / best["untouched"]
    return got | {"difference": difference(got, best), "above": repaired}


def spare(limit: float, measured: float) -> float:
    """How often ``measured`` fits the limit; a thousand times is as good as always."""
    return limit / max(measured, limit / 1000)


# The report beyond the common table


def print_more(found: Found) -> None:
    """Answers and memory, ours and the others', and what the keys mean."""
    print(
        "\nAnswers of Reticent" + " " * 19 + "leak/I0   gap %   support: mean   p95   max   peak MB"
    )
    for key, got in found.ours.items():
        print(
            f"  {key:<34} {got['leak'] / got['untouched']:>8.4f} {100 * got['gap']:>7.3f}"
            f" {got['mean']:>15.2f} {got['p95']:>5.0f} {got['max']:>5.0f} {got['peak']:>6.0f}"
            f" ({got['base']:.0f} before)"
        )
    print(
        "\nAnswers of CVXPY    value - our leak, and leak of the repaired map - our bound, % of I0"
    )
    for label, other in found.others.items():
        if "above" in other:
            print(
                f"  {label:<46} {100 * other['difference']:>9.4f} {100 * other['above']:>9.4f}"
                f"   E[d] above Delta {100 * other['excess']:.3f} %   {other['peak']:.0f} MB"
            )
        else:
            print(f"  {label:<46} no answer   {other['peak']:.0f} MB")
    explain_keys("Keys", found.results, MEANINGS)
    missing = [goal.key for goal in GOALS if goal.key not in found.results]
    if missing:
        print("\nNot measured in this run: " + ", ".join(missing))


MEANINGS = {
    "speedup_cvxpy": "quickest matched solver that finished, any form, worst Delta",
    "speedup_(scs|clarabel).*": "that solver's time over ours to 0.1 %, worst Delta it finished",
    "difference_cvxpy": "optimum of the most exact of them from our leak, share of I0, worst",
    "outside_cvxpy": "the same outside our bound and leak, share of I0, worst",
    "paper_worse_by.*": "leak of the paper's method above ours, share of I0, least",
    "paper_gap": "what the paper's method proves, worst Delta",
    "gap_.*": "proved distance from the least leak, share of I0, worst Delta",
    "cvxpy_unfinished": "runs of CVXPY on Adult that failed or were called inaccurate",
    "seconds_1pct_.*": "CPU seconds to 1 %, worst Delta",
    "seconds_(?!1pct).*": "CPU seconds to 0.1 % or to the limit, worst Delta",
    "sweeps_.*": "the same in units of n^2 * 1.4 ns",
    "curve_gap": "worst gap on the curves",
    "step_difference": "values of the two linear steps, share of I0, worst",
    "mean_support": "outputs per profile, worst with Hamming distances and leak >= 5 % of I0",
    "peak_mb_.*": "largest resident memory of the process",
    "first_.*": "CPU seconds of imports and the first solve",
}


if __name__ == "__main__":
    main()
