"""The generated part of docs/papers/heterogeneous.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from experiments.harness import claims_table
from experiments.heterogeneous.datasets import Scale
from experiments.heterogeneous.figures import LOWEST
from experiments.heterogeneous.results import Row
from experiments.overview import markdown_table

MEASURES = ("recall", "NDCG@20")  # shown here; recall@20 is in the JSON
EQUAL = (
    "Every item has weight 1 and loses the stated total against everybody it is compared with. "
    "`paper` divides it by the mean number of peers it meets."
)


def markdown(result: dict[str, Any], scale: Scale) -> str:
    """All tables, as Markdown."""
    rows = [Row(**row) for row in result["rows"]]
    data = result["data"]
    held = {(r.figure, r.data, r.series, r.x): r for r in rows}

    def cell(figure: str, name: str, series: str, x: object = "") -> str:
        row = held.get((figure, name, series, str(x)))
        return "" if row is None else str(row)

    def plain(figure: str, lines: Sequence[tuple[str, str, object]]) -> str:
        body = [[title, *(cell(figure, n, series, x) for n in data)] for title, series, x in lines]
        return markdown_table(["", *data], body)

    ends = [(n, n, "") for n in ("baseline", "random", "all pairs", "largest profiles")]
    both = [(m, u) for m in ("paper", "ours") for u in LOWEST]
    parts = [
        _how(result, scale),
        "### The paper's claims",
        claims_table(result["verdicts"]),
        "### At equal total loss per item",
        EQUAL,
        *(_equal(rows, data, measure) for measure in MEASURES),
        _differences(result, data),
        _groups_at(rows, data),
        "### What one comparison at epsilon costs in all",
        _costs(result),
        _at_epsilons(rows, data),
        "### The same by data set, for both protocols",
        _statements(result, data),
        "### Figure 1: recall against u",
        plain("1", [*ends, *((f"{m}, u = {u}", m, u) for m, u in both)]),
        "By epsilon of one comparison (a sketch at the same total does not change with it):",
        plain(
            "1e",
            [
                (f"{m}, u = {u}, epsilon {e}", f"{m} u={u}", e)
                for m, u in both
                if m == "paper"
                for e in scale.epsilons
            ],
        ),
        "### Figure 2: recall against slices",
        plain(
            "2",
            [(f"{m}, u = {u}, {s} slices", f"{m} u={u}", s) for m, u in both for s in scale.slices],
        ),
        "### Figure 3: recall by group",
        "Shares are Fundamentalists / Pragmatists; the rest is Unconcerned. Weights per person.",
        plain("3", _lines(rows, "3")),
        "Weights per item, at the shares of the poll:",
        plain("3i", _lines(rows, "3i")),
        "### Figure 4: HDP against Naive (all Fundamentalists removed)",
        plain("4", _lines(rows, "4")),
        "### Figure 5: Naive against alpha (60 % Fundamentalists, 20 % Pragmatists)",
        plain("5", _lines(rows, "5")),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _lines(rows: Sequence[Row], figure: str) -> list[tuple[str, str, object]]:
    found = dict.fromkeys((r.series, r.x) for r in rows if r.figure == figure)
    return [(f"{series}, {x}", series, x) for series, x in sorted(found)]


def _how(result: dict[str, Any], scale: Scale) -> str:
    skipped = "".join(f"\nNot run: {reason}.\n" for reason in result["skipped"])
    return (
        f"Made by `{result['run']['command']}` in {result['seconds']:.0f} s of CPU time. "
        "Values are means "
        f"± 99 % Student-t half-width over all people and runs. Figures 1 to 5: number of seeds "
        f"{scale.seeds}, at most {scale.people} people each, epsilon in "
        f"{', '.join(map(str, scale.epsilons))}, all pooled as the authors do. Equal loss: number "
        f"of seeds {scale.loss_seeds}, {', '.join(_sizes(result))}.\n{skipped}"
    ).strip()


def _sizes(result: dict[str, Any]) -> list[str]:
    return [f"{n} people of {name}" for name, n in result["people"].items()]


def _equal(rows: Sequence[Row], data: Sequence[str], measure: str) -> str:
    held = {(r.data, r.series, r.x): r for r in rows if r.figure == measure}
    found = dict.fromkeys((s, x) for _, s, x in held if not x.startswith("epsilon"))
    order = sorted(found, key=lambda key: int(key[1].split()[1]) if key[1] else 0)
    body = [
        [f"{x}: {s}" if x else s, *(str(held.get((n, s, x), "")) for n in data)] for s, x in order
    ]
    return f"**{measure}**\n\n" + markdown_table(["", *data], body)


def _differences(result: dict[str, Any], data: Sequence[str]) -> str:
    held = {(d["data"], d["x"], d["measure"]): d for d in result["differences"]}
    found = dict.fromkeys((d["x"], m) for m in MEASURES for d in result["differences"])

    def cell(key: tuple[str, str, str]) -> str:
        return f"{held[key]['value']:+.3f} ± {held[key]['half_width']:.3f}" if key in held else ""

    body = [[x, measure, *(cell((n, x, measure)) for n in data)] for x, measure in found]
    text = "Sketch minus paper, person by person (runs of one person averaged first):"
    return f"{text}\n\n" + markdown_table(["at", "measure", *data], body)


def _groups_at(rows: Sequence[Row], data: Sequence[str]) -> str:
    held = {(r.figure, r.data, r.series, r.x): r for r in rows}
    found = dict.fromkeys(
        (r.x, r.series, f"groups {measure}")
        for r in rows
        for measure in MEASURES
        if r.figure == f"groups {measure}" and ("," not in r.x or "," not in r.series)
    )
    body = [
        [f"{x}: {s}", figure.split()[1], *(str(held.get((figure, n, s, x), "")) for n in data)]
        for x, s, figure in found
    ]
    text = (
        "With the poll's groups (34 / 43 / 23 %), weights per item. `sketch` is Sample at 1/2. "
        "Minimum would publish nothing: some weights are 0."
    )
    return f"{text}\n\n" + markdown_table(["", "measure", *data], body)


def _costs(result: dict[str, Any]) -> str:
    body = [
        [
            cost["data"],
            str(cost["epsilon"]),
            f"{cost['contacts']:.0f} (most {cost['most_contacts']})",
            f"{cost['promised']:.0f}",
            f"{cost['realised']:.1f} (most {cost['most_realised']:.0f})",
        ]
        for cost in result["costs"]
    ]
    head = ["data", "epsilon", "distinct peers met", "total promised", "total realised per item"]
    return markdown_table(head, body)


def _at_epsilons(rows: Sequence[Row], data: Sequence[str]) -> str:
    held = {(r.figure, r.data, r.series, r.x): r for r in rows}
    found = dict.fromkeys(
        (r.x, r.series) for r in rows if r.figure == "recall" and r.x.startswith("epsilon")
    )
    body = [
        [f"{x}: {s}, {m}", *(str(held.get((m, n, s, x), "")) for n in data)]
        for x, s in found
        for m in MEASURES
    ]
    text = "Sketches at the mean total promised, and at the mean total realised:"
    return f"{text}\n\n" + markdown_table(["", *data], body)


def _statements(result: dict[str, Any], data: Sequence[str]) -> str:
    held = {(v["statement"], v["protocol"], v["data"]): v for v in result["statements"]}
    keys = dict.fromkeys((v["statement"], v["where"], v["protocol"]) for v in result["statements"])
    body = []
    for text, where, protocol in keys:
        cells = [held[text, protocol, name] for name in data]
        shown = [f"**{v['verdict']}**: {v['figure']}" for v in cells]
        body.append([f"{text} ({where})" if protocol == "paper" else "", protocol, *shown])
    return markdown_table(["statement", "protocol", *data], body)
