"""The generated part of docs/papers/dampening.md."""

from __future__ import annotations

from typing import Any

from experiments.dampening import percentile as who
from experiments.dampening.counterexamples import OWN, PAIRS, SIZES
from experiments.dampening.datasets import LEVELS, Scale
from experiments.dampening.influence import (
    EXPONENTIAL,
    FOCUS_EPSILONS,
    FOCUS_K,
    SERIES,
    SHARES,
    figure,
)
from experiments.dampening.plots import FIGURES
from experiments.dampening.results import Results, Row
from experiments.dampening.scalability import BETWEENNESS, CANDIDATES, GRAPHS, RELEASE
from experiments.harness import claims_table, number
from experiments.overview import markdown_table

SHOWN = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0)


def markdown(result: dict[str, Any], scale: Scale) -> str:
    """All tables and figures, as Markdown."""
    t = Results(result)
    parts = [
        _how(result, scale),
        "### The paper's claims",
        claims_table(result["verdicts"]),
        *_figure(result, "influence"),
        _needed(t),
        _focus(t, scale),
        _without_noise(t),
        *_figure(result, "bounds"),
        _by_bound(t),
        *_figure(result, "percentile"),
        _reductions(t),
        _errors(t),
        *_figure(result, "time"),
        _times(t),
        "### A bound that is the graph's own",
        _own(t),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _how(result: dict[str, Any], scale: Scale) -> str:
    skipped = "".join(f"\nNot run: {reason}.\n" for reason in result["skipped"])
    sizes = ", ".join(
        f"{name} ({nodes:,} nodes, {edges:,} edges, largest degree {most:,})"
        for name, (nodes, edges, most) in result["sizes"].items()
    )
    return (
        f"Made by `{result['run']['command']}` in {result['seconds']:.0f} s of CPU time. "
        f"Graphs: {sizes}. "
        f"{scale.runs} runs at each point, {scale.focus_runs} where it says so; in parentheses "
        "Wilson's 95 % intervals, which are wider than need be for shares of several nodes. Errors "
        f"of percentiles are computed from the law.\n{skipped}"
    ).strip()


def _figure(result: dict[str, Any], name: str) -> list[str]:
    title = next(figure.title for figure in FIGURES if figure.name == name)
    finding = result["findings"].get(name)
    return [f"### {title}", f"![{finding}](dampening/{name}.svg)" if finding else ""]


def _needed(t: Results) -> str:
    """Budgets and factors, one line for each panel."""
    parts = []
    for share in SHARES:
        body = []
        for data in (*t.networks, *t.bounds[1:]):
            for k in t.ks:
                if not t.rows(figure(k), data, EXPONENTIAL):
                    continue
                body.append([data, str(k), *(_budget(t, share, data, s, k) for s in SERIES)])
        text = (
            f"Epsilon at which {share:.0%} of the true nodes are found, by straight lines over "
            "log epsilon, and in parentheses how many times less than the exponential mechanism's:"
        )
        parts.append(f"{text}\n\n" + markdown_table(["graph", "k", *SERIES], body))
    return "\n\n".join(parts)


def _budget(t: Results, share: float, data: str, series: str, k: int) -> str:
    budget = t.known(f"budget for {share:.0%}", data, series, k)
    times = t.known(f"factor at {share:.0%}", data, series, k)
    if budget is None:
        return "never"
    return number(budget) + (f" ({_times_less(times)})" if times and series != EXPONENTIAL else "")


def _times_less(times: float) -> str:
    return f"{times:,.0f}" if times >= 10 else f"{times:.1f}"


def _ends(row: Row) -> str:
    return f"{row.value:.3f} ({row.low:.3f} to {row.high:.3f})"


def _focus(t: Results, scale: Scale) -> str:
    name = t.networks[0]
    body = [[s, *(_ends(t.row("focus", name, s, e)) for e in FOCUS_EPSILONS)] for s in SERIES]
    text = f"Share found on {name}, k = {FOCUS_K}, {scale.focus_runs} runs:"
    head = ["mechanism", *(f"epsilon {e:g}" for e in FOCUS_EPSILONS)]
    return f"{text}\n\n" + markdown_table(head, body)


def _without_noise(t: Results) -> str:
    body = []
    for name in t.networks:
        for series in SERIES:
            cells = [f"{t.get('without noise', name, series, k):.2f}" for k in t.ks]
            like = [t.known("correlation", name, series, x) for x in ("degree", "betweenness")]
            body.append([name, series, *cells, *("" if v is None else f"{v:.3f}" for v in like)])
    text = (
        "Share found without any noise, which large budgets come to, and how scores correlate with "
        "degrees and with betweenness over all nodes:"
    )
    head = ["graph", "mechanism", *(f"k = {k}" for k in t.ks), "with degree", "with betweenness"]
    return f"{text}\n\n" + markdown_table(head, body)


def _by_bound(t: Results) -> str:
    body = []
    for data in t.bounds:
        known = dict(t.curve(figure(FOCUS_K), data, EXPONENTIAL))
        for e in SHOWN:
            if e in known:
                shares = (t.get(figure(FOCUS_K), data, s, e) for s in SERIES)
                body.append([data, f"{e:g}", *(f"{share:.2f}" for share in shares)])
    text = f"Share found, k = {FOCUS_K}. The first is the largest degree, declared as known:"
    return f"{text}\n\n" + markdown_table(["graph and bound", "epsilon", *SERIES], body)


def _reductions(t: Results) -> str:
    """The largest and the least over p, by epsilon."""
    shown = [series for series in who.SERIES if series != who.EXPONENTIAL]
    parts = []
    for measure in who.MEASURES:
        body = []
        for name in t.people:
            for doubled in (False, True):
                data = who.doubled(name) if doubled else name
                for p in LEVELS:
                    key = f"less {measure}, p = {p}"
                    cells = []
                    for series in shown:
                        values = [value for _, value in t.curve(key, data, series)]
                        cells.append(
                            " to ".join(
                                f"{round(v, 2) + 0.0:.0%}" for v in (min(values), max(values))
                            )
                        )
                    body.append([data, f"{p}", *cells])
        text = (
            f"**{measure}** below that of the exponential mechanism, least to most over epsilon "
            f"from {t.xs(key, data, shown[0])[0]} to {t.xs(key, data, shown[0])[-1]}:"
        )
        parts.append(f"{text}\n\n" + markdown_table(["values", "p", *shown], body))
    return "\n\n".join(parts)


def _errors(t: Results) -> str:
    body = []
    for name in t.people:
        for p in LEVELS:
            key = f"value error, p = {p}"
            random = t.get(key, name, who.RANDOM)
            for x in ("0.1", "1", "10"):
                held = [t.get(key, name, s, x) for s in (who.EXPONENTIAL, who.SHIFTED)]
                held.append(t.get(key, name, who.BY_FLIP[who.SHIFTED], x))
                body.append([name, f"{p}", x, number(random), *map(number, held)])
    head = ["values", "p", "epsilon", who.RANDOM, who.EXPONENTIAL, who.SHIFTED]
    text = "Expected value error:"
    return f"{text}\n\n" + markdown_table([*head, who.BY_FLIP[who.SHIFTED]], body)


def _times(t: Results) -> str:
    body = [
        [series, f"{int(x):,}", f"{t.get('time', data, series, x):.1f}"]
        for data, series in ((GRAPHS, BETWEENNESS), (CANDIDATES, RELEASE))
        for x in t.xs("time", data, series)
    ]
    text = "CPU time, fastest of three, as a multiple of the smallest size's:"
    return f"{text}\n\n" + markdown_table(["", "edges or candidates", "times"], body)


def _own(t: Results) -> str:
    body = []
    for pair in PAIRS:
        for d in SIZES:
            cells = [
                f"{t.get(what, OWN, f'{pair}, {series}, {whose}', d):.2f}"
                for whose in ("own", "declared")
                for what, series in (
                    ("one score moves", "exponential"),
                    ("loss", "exponential"),
                    ("loss", "shifted"),
                    ("loss", "ours"),
                )
            ]
            body.append([pair, str(d), *cells])
    columns = ("score moves", "loss", "loss, shifted", "loss, ours")
    head = ["pair", "degree", *(f"{w}: {c}" for w in ("own", "declared") for c in columns)]
    text = (
        "One edge more, which raises the largest degree from d to d + 1. *Two hubs*: two "
        "strangers with the same d friends meet. *Clique and star*: somebody in a clique of degree "
        "d, beside a star of d rays, makes another tie; *clique*: without the star. By how much "
        "one score moves (in units of Delta, of which a proof allows one) and the largest loss "
        "over epsilon of 0.01, 1 and 100, as a multiple of epsilon; with the graph's own largest "
        "degree as the bound, and with d + 1 declared:"
    )
    return f"{text}\n\n" + markdown_table(head, body)
