"""The generated part of docs/papers/multilevel.md."""

from __future__ import annotations

from typing import Any

from experiments.harness import claims_table, number
from experiments.multilevel import beyond, case_study, stars
from experiments.multilevel.datasets import EPSILONS, READINGS, SIMPLEX, Scale
from experiments.multilevel.plots import FIGURES
from experiments.multilevel.results import Row
from experiments.multilevel.statements import Table, as_table
from experiments.multilevel.utility import GOALS, MEASURES, METHODS
from experiments.overview import markdown_table

SHOWN = (0.05, 0.1, 0.2, 0.4)


def markdown(result: dict[str, Any], scale: Scale) -> str:
    """All tables and figures, as Markdown."""
    table = as_table(result)
    parts = [
        _how(result, scale),
        "### The paper's claims",
        claims_table(result["verdicts"]),
        *_figure(result, "advantage"),
        _advantages(table),
        *_figure(result, "overall"),
        *_figure(result, "each"),
        *(_measure(table, measure) for measure in MEASURES),
        *_figure(result, "time"),
        _times(table),
        *_figure(result, "beyond"),
        _lattice(table),
        _post(table),
        *_figure(result, "case-study"),
        *(_case(table, measure) for measure in case_study.MEASURES if table.has(measure)),
        _stars(table) if table.has("stars") else "",
        *(_check(table, name) for name in result["checked"]),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _mean(row: Row) -> str:
    return f"{number(row.mean)} ({number(row.mean_low)} to {number(row.mean_high)})"


def _median(row: Row) -> str:
    return f"{number(row.median)} ({number(row.median_low)} to {number(row.median_high)})"


def _how(result: dict[str, Any], scale: Scale) -> str:
    skipped = "".join(f"\nNot run: {reason}.\n" for reason in result["skipped"])
    return (
        f"Made by `{result['run']['command']}` in {result['seconds']:.0f} s of CPU time. "
        "Figures 2 and 3: "
        f"{scale.people} people with budgets of their own on each set. Post-processing: "
        f"{scale.post} people, {scale.post_runs} runs of noise each. Case study: {scale.tested} "
        f"people, {scale.runs} runs each, ALS with {scale.factors} factors. In parentheses: 95 % "
        f"bootstrap intervals over people, {scale.draws} draws; ratios are drawn in pairs.\n"
        f"{skipped}"
    ).strip()


def _figure(result: dict[str, Any], name: str) -> list[str]:
    title = next(figure.title for figure in FIGURES if figure.name == name)
    finding = result["findings"].get(name)
    picture = f"![{finding}](multilevel/{name}.svg)" if finding else ""
    return [f"### {title}", picture]


def _advantages(t: Table) -> str:
    text = (
        "Proportional over optimal, each goal judged by its own measure (MAEL: loss + 1). "
        "First the median of people's ratios, then the ratio of means."
    )
    body = []
    for name in t.data:
        for reading in READINGS:
            for epsilon in SHOWN:
                rows = [t.get(f"advantage, {reading}", g, epsilon, name) for g in GOALS]
                cells = [f"{_median(row)}; {number(row.mean)}" for row in rows]
                body.append([name, reading, f"{epsilon:g}", *cells])
    return f"{text}\n\n" + markdown_table(["set", "budgets", "epsilon", *GOALS], body)


def _measure(t: Table, measure: str) -> str:
    body = [
        [
            name,
            f"{e:g}",
            *(f"{_median(row)}; {number(row.mean)}" for row in _along(t, measure, e, name)),
        ]
        for name in t.data
        for e in SHOWN
    ]
    text = f"**{measure}**, budgets uniform on the simplex: median, then mean."
    return f"{text}\n\n" + markdown_table(["set", "epsilon", *METHODS], body)


def _along(t: Table, measure: str, epsilon: float, name: str) -> list[Row]:
    return [t.get(f"{measure}, {SIMPLEX}", method, epsilon, name) for method in METHODS]


def _times(t: Table) -> str:
    body = []
    for cost in t.costs:
        if cost.epsilon in SHOWN:
            general = "" if cost.general is None else f"{cost.general:.1f}"
            ratio = "" if cost.general is None else f"{cost.general / cost.alone:.0f}"
            many = "" if cost.general is None else f"{cost.general / cost.many:.0f}"
            line = [f"{cost.epsilon:g}", f"{cost.many:.3f}", f"{cost.alone:.2f}", general]
            body.append([cost.data, *line, ratio, many])
    head = ["set", "epsilon", "one of many", "alone", "CVXPY", "CVXPY / alone", "CVXPY / many"]
    text = (
        "CPU milliseconds per person. Alone: catalogue in, exact plan with both errors out. CVXPY "
        "with Clarabel: the problem built and solved on our reduced rows, goal MSE."
    )
    return f"{text}\n\n" + markdown_table(head, body)


def _lattice(t: Table) -> str:
    body = [
        [name, f"x {f}", *(_mean(t.get("lattice", f"budgets x {f}", e, name)) for e in SHOWN)]
        for name in t.data
        for f in beyond.FACTORS
    ]
    text = (
        "MAE of the noise really used, on whole numbers, over that of the Laplace formula, each at "
        "its own optimum; budgets and epsilon multiplied together. By epsilon before multiplying:"
    )
    shown = f"{text}\n\n" + markdown_table(["set", "budgets", *(f"{e:g}" for e in SHOWN)], body)
    bound = [
        [name, *(_mean(t.get("lower bound", f"budgets x {f}", "", name)) for f in beyond.FACTORS)]
        for name in t.data
    ]
    text = "The same over the paper's lower bound, the mean of C / t, for epsilon at the threshold:"
    head = ["set", *(f"budgets x {f}" for f in beyond.FACTORS)]
    return f"{shown}\n\n{text}\n\n" + markdown_table(head, bound)


def _post(t: Table) -> str:
    body = []
    for name in beyond.TREATED:
        cells = [
            f"{_mean(t.get('post-processing', name, e))}; "
            f"{t.get('post-processing gain', name, e).mean:.1f} times"
            for e in beyond.POST_EPSILONS
        ]
        body.append([name, *cells])
    text = f"Mean absolute error of a histogram on {t.films}, goal MSE, and how many times smaller:"
    head = ["", *(f"epsilon {e:g}" for e in beyond.POST_EPSILONS)]
    return f"{text}\n\n" + markdown_table(head, body)


def _case(t: Table, measure: str) -> str:
    keys = [key for key in t.held if key[:2] == (measure, t.films)]
    body = []
    for _, _, series, x in keys:
        row, share = t.get(measure, series, x), t.get(f"{measure} over raw", series, x)
        ends = f"{share.mean - 1:+.0%} ({share.mean_low - 1:+.0%} to {share.mean_high - 1:+.0%})"
        body.append([series, x, _mean(row), ends])
    return f"**{measure}**\n\n" + markdown_table(["from", "epsilon", "value", "against raw"], body)


def _check(t: Table, name: str) -> str:
    """The second real set: the same treatments and series, on people of whom nothing was seen."""
    gains = [
        [
            s,
            *(
                f"{t.get('post-processing gain', s, e, name).mean:.1f}"
                for e in beyond.POST_EPSILONS
            ),
        ]
        for s in beyond.TREATED
    ]
    head = ["MAE divided by", *(f"epsilon {e:g}" for e in beyond.POST_EPSILONS)]
    told = f"### The same on {name}\n\nNothing was chosen by its results."
    text = f"{told}\n\n{markdown_table(head, gains)}"
    keys = [key[2:] for key in t.held if key[:2] == ("recall@20", name)]
    measures = ("recall@20", "NDCG@20", "MAE")
    body = [
        [s, x]
        + [
            f"{_mean(t.get(m, s, x, name))}; {t.get(f'{m} over raw', s, x, name).mean - 1:+.0%}"
            for m in measures
        ]
        for s, x in keys
    ]
    return f"{text}\n\n" + (markdown_table(["from", "epsilon", *measures], body) if body else "")


def _stars(t: Table) -> str:
    body = [
        [s, _mean(t.get("stars", s)), f"{t.get('stars over own ratings', s).mean - 1:+.0%}"]
        for s in stars.SERIES
    ]
    text = "**MAE in stars** of held-out ratings, by what is known of the person:"
    return f"{text}\n\n" + markdown_table(["known", "MAE", "against own ratings"], body)


assert set(SHOWN) <= set(EPSILONS)  # noqa: S101
