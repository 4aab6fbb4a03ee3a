"""The generated part of docs/papers/mappings.md."""

from __future__ import annotations

from typing import Any

from experiments.harness import claims_table, number
from experiments.mappings import anatomy, attacks, priors, solvers
from experiments.mappings.curves import (
    EXPONENTIAL,
    MAPPING,
    PERFECT,
    RESPONSE,
)
from experiments.mappings.datasets import Scale
from experiments.mappings.plots import FIGURES
from experiments.mappings.results import Results, Row
from experiments.overview import markdown_table


def markdown(result: dict[str, Any], scale: Scale) -> str:
    """All tables and figures, as Markdown."""
    t = Results(result)
    parts = [
        _how(result, scale),
        "### The paper's claims",
        claims_table(result["verdicts"]),
        *_figure(result, "mapping"),
        *_figure(result, "trade-off"),
        _needed(t),
        _left(t),
        *_figure(result, "steps"),
        _excess(t),
        *_figure(result, "roc-census"),
        _areas(t, t.census),
        *_figure(result, "roc-films"),
        _areas(t, t.films),
        *_figure(result, "ranks"),
        *_figure(result, "time"),
        _times(t),
        *_figure(result, "support"),
        _supports(t),
        *_figure(result, "features"),
        _table_1(t),
        _films(t),
        *_figure(result, "laws"),
        _halves(t),
        _shifted(t),
        "### What an average does not say",
        _worst(t),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _how(result: dict[str, Any], scale: Scale) -> str:
    skipped = "".join(f"\nNot run: {reason}.\n" for reason in result["skipped"])
    people = "all" if scale.people >= 1 << 30 else str(scale.people)
    return (
        f"Made by `{result['run']['command']}` in {result['seconds']:.0f} s of CPU time. Curves of "
        f"{scale.points} points, each to a certified gap of 0.1 % of I(A; B). Attackers: {people} "
        f"people, half of them known, 95 % intervals. Samples "
        f"of records: {scale.draws}. Halves: {scale.splits} split(s) (of the whole census: one).\n"
        f"{skipped}"
    ).strip()


def _figure(result: dict[str, Any], name: str) -> list[str]:
    title = next(figure.title for figure in FIGURES if figure.name == name)
    finding = result["findings"].get(name)
    return [f"### {title}", f"![{finding}](mappings/{name}.svg)" if finding else ""]


def _ends(row: Row) -> str:
    if row.low is None or row.high is None:
        return number(row.value)
    return f"{number(row.value)} ({number(row.low)} to {number(row.high)})"


def _needed(t: Results) -> str:
    body = []
    for name in t.data("times"):
        for level in t.xs("times", name, EXPONENTIAL):
            cells = [
                number(t.get("needed", name, MAPPING, level)),
                number(t.get("needed", name, EXPONENTIAL, level)),
                f"{t.get('times', name, EXPONENTIAL, level):.1f}",
                f"{t.get('times', name, RESPONSE, level):.1f}",
            ]
            body.append([name, f"{float(level):.1%}", *cells])
    head = ["set", "leak left", MAPPING, EXPONENTIAL, "times", f"{RESPONSE}, times"]
    text = "Distortion needed to leave a share of I(A; B):"
    ends = [
        f"{name}: {number(t.get(PERFECT, name, MAPPING, 'distortion'))}" for name in t.data(PERFECT)
    ]
    told = f"\n\nNothing at all need leak from a distortion of {'; '.join(ends)}." if ends else ""
    return f"{text}\n\n{markdown_table(head, body)}{told}"


def _left(t: Results) -> str:
    body = []
    for name in t.data("left"):
        bits = number(t.get("untouched", name, "I(A; B)", "bits"))
        for x in t.xs("left", name, MAPPING):
            pair = [f"{t.get('left', name, s, x):.1%}" for s in (MAPPING, EXPONENTIAL)]
            body.append([name, bits, x, *pair])
    head = ["set", "I(A; B) in bits", "distortion", MAPPING, EXPONENTIAL]
    return "Share of I(A; B) that leaks at equal distortion:\n\n" + markdown_table(head, body)


def _excess(t: Results) -> str:
    body = []
    for name in t.data("excess"):
        for x in t.xs("excess", name, "excess"):
            get = {s: t.get("excess", name, s, x) for s in t.series("excess", name)}
            shares = [f"{get[s]:.2%}" for s in ("excess", "its own gap", "our gap")]
            entries = f"{get['entries per profile']:.1f}"
            body.append([name, x, *shares, f"{get['times our CPU']:.0f}", entries])
    head = [
        "set",
        "Delta",
        "above ours",
        "its certified gap",
        "our certified gap",
        "times our CPU",
        "entries per profile",
    ]
    text = "The paper's algorithm after 100 steps; gaps as shares of I(A; B):"
    return f"{text}\n\n" + markdown_table(head, body)


def _areas(t: Results, data: str) -> str:
    deltas = ["0", *t.xs("AUC", data, f"{MAPPING}: {attacks.BEST}")]
    body = []
    for series in t.series("AUC", data):
        cells = {x: _ends(t.row("AUC", data, series, x)) for x in t.xs("AUC", data, series)}
        body.append([series, *(cells.get(x, "") for x in deltas)])
    head = ["released: attacker", *("untouched" if x == "0" else f"Delta {x}" for x in deltas)]
    return f"Area under the ROC curve on {data}; 0.5 is blind:\n\n" + markdown_table(head, body)


def _times(t: Results) -> str:
    parts = ["CPU time; all but the first column as multiples of ours."]
    limits = {"example": "The example, Delta = n²/64:", "cube": "Cubes, Delta = 0.02:"}
    for name, text in limits.items():
        others = t.series("time", name)[1:]
        body = []
        for size in t.xs("time", name, solvers.OURS):
            mine = t.get("time", name, solvers.OURS, size)
            cells = [
                number(t.get("time", name, s, size) / mine) if size in t.xs("time", name, s) else ""
                for s in others
            ]
            gap = f"{t.get('solved', name, 'gap', size):.2%}"
            body.append([size, number(mine), gap, *cells])
        table = markdown_table(["n", "ours, CPU s", "gap", *others], body)
        parts.append(f"{text}\n\n{table}")
    peers = [
        [name, x, *(number(t.get("peers", name, s, x)) for s in ("CPU s", "Frank-Wolfe / ours"))]
        for name in t.data("peers")
        for x in t.xs("peers", name, "CPU s")
    ]
    head = ["set", "Delta", "ours, CPU s", "Frank-Wolfe, times"]
    parts.append("To a certified gap of 1 % on data:\n\n" + markdown_table(head, peers))
    return "\n\n".join(parts)


def _supports(t: Results) -> str:
    bands = [anatomy.band(*ends) for ends in anatomy.BANDS]
    body = []
    for name in t.data("support"):
        for x in t.xs("support", name, "mean"):
            shares = [f"{t.get('support', name, b, x):.1%}" for b in bands]
            mean, most, left = (
                t.get("support", name, s, x) for s in ("mean", "largest", "leak left")
            )
            body.append([name, x, f"{left:.0%}", *shares, f"{mean:.2f}", f"{most:.0f}"])
    head = ["set", "Delta", "leak left", *bands, "mean", "largest"]
    return "Share of profiles by the number of their outputs:\n\n" + markdown_table(head, body)


def _table_1(t: Results) -> str:
    name = t.data("sampled")[0]
    body = []
    for column, paper in anatomy.TABLE_1.items():
        own = [
            f"{t.get('features', s, column, 'before'):.3f} to "
            f"{t.get('features', s, column, 'after'):.3f}"
            for s in (t.census, t.sample)
        ]
        drawn = _ends(t.row("sampled", name, column, "before"))
        off = f"{t.get('sampled', name, column, 'paper off, in sd'):.1f}"
        body.append([column, f"{paper[0]:.3f} to {paper[1]:.3f}", *own, drawn, off])
    head = ["feature", "paper", t.census, t.sample, "samples, before", "paper off by, in sd"]
    told = _ends(t.row("sampled", name, "I(A; B)", "nats"))
    return (
        "Bits that one feature tells about income, before and after; Delta = 0.05 (the paper does "
        f"not state its own). Samples: mean and 95 % of {name}; I(A; B) of these is {told} nats."
        f"\n\n{markdown_table(head, body)}"
    )


def _films(t: Results) -> str:
    columns = t.series("features", t.films)
    columns.sort(key=lambda c: -t.get("features", t.films, c, "before"))
    body = [
        [c, *(f"{t.get('features', t.films, c, when):.4f}" for when in ("before", "after"))]
        for c in columns[:6]
    ]
    alone = sum(t.get("features", t.films, c, "before") for c in columns)
    told = f"The {len(columns)} features of {t.films} tell {alone:.3f} bits in sum"
    if t.has("all features", t.films):
        plain, corrected = (t.get("all features", t.films, s) for s in ("plug-in", "corrected"))
        told += (
            f"; together {plain:.3f} as counted and {corrected:.3f} less what dealt secrets would "
            "seem to tell"
        )
    return f"{told}. The six that tell most:\n\n" + markdown_table(
        ["feature", "before", "after"], body
    )


def _halves(t: Results) -> str:
    labels = (
        priors.PROMISED,
        priors.HELD_OUT,
        priors.CORRECTED,
        priors.BELIEVED,
    )
    body = []
    for name in t.data("halves"):
        for series in (priors.UNTOUCHED, MAPPING):
            held = {row.x: _ends(row) for row in t.rows("halves", name, series)}
            body.append([name, series, *(held.get(x, "") for x in labels)])
    unknown = "; ".join(
        f"{n}: {t.get('halves', n, 'profiles', 'unknown'):.1%}" for n in t.data("halves")
    )
    return (
        "Bits that leak when the mapping is made from half of the people; in parentheses the least "
        f"and the most of all splits. People whose profile the mapping did not know: {unknown}."
        f"\n\n{markdown_table(['set', 'released', *labels], body)}"
    )


def _shifted(t: Results) -> str:
    body = [
        [name, x, *(number(t.get("shifted", name, s, x)) for s in t.series("shifted", name))]
        for name in t.data("shifted")
        for x in t.xs("shifted", name, MAPPING)
    ]
    head = ["set", "law", *t.series("shifted", t.data("shifted")[0])]
    return (
        "Bits that leak under another law than the mapping was made for; the exponential mechanism "
        f"has the same distortion:\n\n{markdown_table(head, body)}"
    )


def _worst(t: Results) -> str:
    name = t.data("worst")[0]
    body = [[s, number(t.rows("worst", name, s)[0].value)] for s in t.series("worst", name)]
    for row in t.rows("releases", name, MAPPING):
        times = "one release tells" if row.x == "1" else f"{row.x} separate releases tell"
        body.append([f"bits that {times}", number(row.value)])
    whole = t.get("releases", name, "untouched", 1)
    body.append(["bits that the untouched profile tells", number(whole)])
    for other in t.data("promise"):
        epsilon = t.get("promise", other, EXPONENTIAL, "epsilon near 0.14")
        told = f"epsilon of the exponential mechanism that leaves 14 % ({other})"
        body.append([told, number(epsilon)])
    text = f"A mapping of {name} at Delta = {t.xs('worst', name, 'maximal leakage, bits')[0]}:"
    return f"{text}\n\n{markdown_table(['', ''], body)}"
