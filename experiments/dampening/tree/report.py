"""The generated part of docs/papers/trees.md."""

from __future__ import annotations

from typing import Any

from experiments.dampening.tree import ablation, peer
from experiments.dampening.tree.datasets import OUR_BINS, PAPERS_BINS, Scale
from experiments.dampening.tree.methods import (
    CART,
    DEFAULT,
    ID3,
    LOCAL,
    MAJORITY,
    SAME,
    SHIFTED,
    by_budget,
)
from experiments.dampening.tree.plots import FIGURES
from experiments.dampening.tree.results import Results, Row
from experiments.dampening.tree.runs import BASE, PAPERS_THREE, exact, figure
from experiments.harness import claims_table
from experiments.overview import markdown_table


def markdown(result: dict[str, Any], scale: Scale) -> str:
    """All tables and figures, as Markdown."""
    t = Results(result)
    parts = [
        _how(result, scale),
        "### The paper's claims",
        claims_table(result["verdicts"]),
        *_figure(result, "accuracy"),
        *(_accuracies(t, result, data) for data in t.sets),
        _exact(t),
        *_figure(result, "gain"),
        "### Ours and others",
        _compared(t, scale),
        *_figure(result, "ablation"),
        *(_ablated(t, data, scale) for data in t.sets),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _how(result: dict[str, Any], scale: Scale) -> str:
    skipped = "".join(f"\nNot run: {reason}.\n" for reason in result["skipped"])
    sizes = "; ".join(
        f"{name}: {rows:,} rows, {declared:,} declared, class: {target}"
        for name, (rows, declared, target) in result["sizes"].items()
    )
    return (
        f"Made by `{result['run']['command']}` in {result['seconds']:.0f} s of CPU time "
        f"(diffprivlib's own not counted). {sizes}. "
        f"{scale.runs} runs of {scale.folds}-fold cross-validation at each point, "
        f"{scale.ablation_runs} where one choice is changed, {scale.peer_runs} of diffprivlib; in "
        "parentheses Student's 95 % intervals over runs. The paper's mechanisms have "
        f"{PAPERS_BINS} bins, ours as it comes {OUR_BINS}.\n{skipped}"
    ).strip()


def _figure(result: dict[str, Any], name: str) -> list[str]:
    title = next(figure.title for figure in FIGURES if figure.name == name)
    finding = result["findings"].get(name)
    return [f"### {title}", f"![{finding}](trees/{name}.svg)" if finding else ""]


def _ends(row: Row) -> str:
    low, high = row.low or 0.0, row.high or 0.0
    return f"{row.value:.3f} ({low:.3f} to {high:.3f})"


def _accuracies(t: Results, result: dict[str, Any], data: str) -> str:
    body = []
    rows = result["sizes"][data][1]
    for depth in t.depths:
        for x in t.epsilons:
            cells = [_ends(t.row(figure(depth), data, s, x)) for s in (*PAPERS_THREE, SAME)]
            last = f"{_ends(t.row(BASE, data, DEFAULT, x))}, depth {by_budget(rows, x)}"
            body.append([str(depth), f"{x:g}", *cells, last])
    most = t.get("accuracy", data, MAJORITY)
    text = f"**{data}**, of whose rows {most:.1%} are of the most frequent class:"
    head = ["depth", "epsilon", *PAPERS_THREE, SAME, DEFAULT]
    return f"{text}\n\n" + markdown_table(head, body)


def _exact(t: Results) -> str:
    series = (ID3, LOCAL, SHIFTED, CART)
    body = [
        [data, str(depth), *(f"{t.get(exact(depth), data, s):.3f}" for s in series)]
        for data in t.sets
        for depth in t.depths
    ]
    text = "Without noise (epsilon of a million), a few folds: what no budget exceeds."
    return f"{text}\n\n" + markdown_table(["set", "depth", *series], body)


def _compared(t: Results, scale: Scale) -> str:
    """All at the budgets of the table; the paper's at the better of its depths."""
    body = []
    for data in t.sets:
        lines = [(DEFAULT, BASE, DEFAULT)]
        lines += [(f"{SAME}: {d}", figure(d), SAME) for d in t.depths]
        lines += [(f"{s}, depth {d}", figure(d), s) for s in PAPERS_THREE for d in t.depths]
        lines += [(s, peer.FIGURE, s) for s in t.series(peer.FIGURE, data)]
        for name, key, series in lines:
            known = {row.x for row in t.rows(key, data, series)}
            cells = [
                _ends(t.row(key, data, series, x)) if f"{x:g}" in known else "" for x in t.tabled
            ]
            body.append([data, name, *cells])
        most = f"{t.get('accuracy', data, MAJORITY):.3f}"
        body.append([data, MAJORITY, *([most] * len(t.tabled))])
    head = ["set", "", *(f"epsilon {x:g}" for x in t.tabled)]
    text = "Accuracy, all of it of the same folds:"
    return f"{text}\n\n" + markdown_table(head, body)


def _ablated(t: Results, data: str, scale: Scale) -> str:
    usual = [_ends(t.row(ablation.ACCURACY, data, ablation.AS_IT_COMES, x)) for x in t.tabled]
    body = [[f"**{ablation.AS_IT_COMES}**", *usual]]
    for label in t.series(ablation.DIFFERENCE, data):
        rows = [t.row(ablation.DIFFERENCE, data, label, x) for x in t.tabled]
        body.append([label, *(_against(row) for row in rows)])
    text = (
        f"**{data}**: accuracy of the default, and by how many points each change is better (+) or "
        "worse, with half the width of the 95 % interval of the difference:"
    )
    head = ["changed", *(f"epsilon {x:g}" for x in t.tabled)]
    return f"{text}\n\n" + markdown_table(head, body)


def _against(row: Row) -> str:
    half = ((row.high or 0.0) - (row.low or 0.0)) / 2
    return f"{100 * row.value:+.2f} ± {100 * half:.2f}"
