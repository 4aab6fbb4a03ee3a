"""Sections of runs that have a picture of their own: curves, attacks, planned noise, a tree.

Not here  files and cards (runs.py), plain tables (run_facts.py), figures (one file per subject).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from reticent.errors import require
from reticent.report import roc
from reticent.report.attack_figures import roc_figure
from reticent.report.curve_figures import Point, curve_figure, curve_says
from reticent.report.document import Grid, Picture, Section
from reticent.report.histogram_figures import noise_dots_figure
from reticent.report.run_facts import facts, shown
from reticent.report.similarity_figures import RecallAt, recall_figure
from reticent.report.tree_figures import tree_figure
from reticent.tasks.best_attack import Attack
from reticent.tasks.trained_tree import TrainedTree

_CURVE = frozenset(
    ["what", "x", "y", "better", "reference", "reference_name", "runs", "rows", "groups"]
)
_SAID = {  # how fields of sweeps and comparisons are called where people read them
    "bound": "most links of a node, as stated",
    "chance": "share that a choice at random finds",
    "chosen": "epsilon that the preferences grant",
    "goal": "what the budget is shared for",
    "held_out": "share of rows held out",
    "k": "how many are asked for",
    "majority": "share of the commonest class",
    "norms": "sizes of profiles",
    "p": "share of people below",
    "rows_used": "rows of the table",
    "threshold": "epsilon from which more makes no error smaller",
    "upper": "largest value, as stated",
    "within": "stated that no graph exceeds that",
}
_VALUES = {
    ("centrality", "ebc"): "egocentric betweenness",
    ("centrality", "degree"): "number of links",
    ("goal", "mse"): "the least mean squared error",
    ("goal", "mae"): "the least mean absolute error",
    ("goal", "mael"): "the least mean absolute error, in multiples of what each budget allows",
}
_RELEASED = "released profiles"
STRANGE = 1e-6  # chance: rarer draws are none of the mapping


MEASURED = "Measured on the data themselves, without noise: these figures are no private release."


def curves_section(fields: Mapping[str, Any]) -> Section:
    """A sweep or a comparison: every way against what is varied, and the numbers."""
    missing = sorted({"what", "x", "y", "better", "rows"} - set(fields))
    require(
        not missing, "run", f"none of {', '.join(missing)}", "curves of ways, and what they are"
    )
    rows = _points(fields["rows"])
    what, x, y, better = (str(fields[name]) for name in ("what", "x", "y", "better"))
    require(better in ("lower", "higher"), "better", better, "'lower' or 'higher'")
    reference, runs = fields.get("reference"), int(fields.get("runs") or 0)
    name = fields.get("reference_name") or "without privacy"
    told: dict[str, Any] = {"x": x, "y": y, "better": better, "reference": reference}
    drawn = curve_figure(rows, what=what, runs=runs, reference_name=name, **told)
    counted = f"Means of {runs:,} runs with 95 % intervals." if runs else "Computed exactly."
    said = curve_says(rows, what=what, reference_name=name, **told)
    groups = _group_pictures(fields)
    return Section(
        title=f"{what[:1].upper()}{what[1:]}",
        words=[said, *([] if _without_data(fields) else [MEASURED])],
        pictures=[
            Picture(drawn, f"{y[:1].upper()}{y[1:]}; {better} is better. {counted}"),
            *groups,
        ],
        grids=[
            _wide_grid(rows, x, y),
            *facts(_in_words(fields), caption="What was measured", without=[*_CURVE]),
        ],
    )


def _in_words(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fields under names that say what they are."""
    return {
        _SAID.get(name, name): _VALUES.get((name, held), held) if isinstance(held, str) else held
        for name, held in fields.items()
    }


def _without_data(fields: Mapping[str, Any]) -> bool:
    """Whether figures follow from public parameters alone."""
    return str(fields.get("schema", "")).partition("-")[2] in ("histogram/1", "similarity/1")


def _points(rows: Sequence[Mapping[str, Any]]) -> list[Point]:
    keys = ("way", "x", "value")
    whole = all(isinstance(row, dict) and set(keys) <= set(row) for row in rows)
    require(whole, "rows", "other", "of a way, an x and a value each")
    return [
        Point(str(r["way"]), float(r["x"]), float(r["value"]), r.get("low"), r.get("high"))
        for r in rows
    ]


def _wide_grid(rows: Sequence[Point], x: str, y: str) -> Grid:
    """A line for each place, a column for each way."""
    ways = list(dict.fromkeys(row.way for row in rows))
    at = {(row.way, row.x): row for row in rows}
    lines = [
        [f"{place:g}", *(_cell(at.get((way, place))) for way in ways)]
        for place in sorted({row.x for row in rows})
    ]
    return Grid(f"{y[:1].upper()}{y[1:]}, by {x}", [f"{x} ", *(f"{way} " for way in ways)], lines)


def _cell(row: Point | None) -> str:
    if row is None:
        return ""
    if row.low is None or row.high is None:
        return f"{row.value:.4g}"
    return f"{row.value:.3g} ({row.low:.3g} to {row.high:.3g})"


def _group_pictures(fields: Mapping[str, Any]) -> list[Picture]:
    """Recall of each privacy group, a picture for each way, if the run tells it by groups."""
    groups, found = fields.get("groups") or [], []
    for way in dict.fromkeys(str(row["way"]) for row in groups):
        own = [row for row in groups if row["way"] == way and row["low"] is not None]
        if not own or not all(r["low"] >= 0 and r["high"] <= 1 for r in own):
            continue
        drawn = recall_figure(
            [RecallAt(r["group"], r["x"], r["value"], r["low"], r["high"]) for r in own],
            what=f"{fields['what']}, {way}",
            sizes={row["group"]: int(row["people"]) for row in own},
            runs=int(fields.get("runs") or 1),
            reference=fields.get("reference"),
        )
        found.append(Picture(drawn, f"{way}: each privacy group, and the worst off alone."))
    return found


def attack_section(fields: Mapping[str, Any]) -> Section:
    """Attacks on released profiles under the exact ceiling of their mapping."""
    ceiling = fields.get("ceiling")
    limit = None if ceiling is None else _rates(ceiling)
    attacks = [(row["attacked"], _attack(row)) for row in fields["attacks"]]
    after = [attack for attacked, attack in attacks if attacked == _RELEASED]
    before = [attack for attacked, attack in attacks if attacked != _RELEASED]
    pictures = []
    if limit is not None:
        drawn = roc_figure(after, ceiling=limit, before=before)
        counted = f"{fields['people']:,} people attacked, {fields['positives']:,} with the secret."
        pictures = [Picture(drawn, f"Attacks before and after release. {counted}")]
    best, was = (max((a.auc for a in some), default=0.5) for some in (after, before))
    return Section(
        title=f"What an attacker learns about {fields['secret']}",
        words=[
            f"Shown one person with {fields['secret']} {fields['value']} and one without, the best "
            f"attacker tells them apart {100 * was:.0f} times in 100 before release and "
            f"{100 * best:.0f} times after. The best possible attacker of releases does it "
            f"{100 * fields['best_possible']:.1f} times, a coin 50 times.",
            MEASURED,
        ],
        pictures=pictures,
        grids=[_attack_grid(attacks, fields["best_possible"])],
        failures=_attack_failures(fields, limit),
    )


def _rates(held: Mapping[str, Any]) -> Any:
    return np.asarray(held["false_rates"], float), np.asarray(held["true_rates"], float)


def _attack(row: Mapping[str, Any]) -> Attack:
    auc, low, high = (float(row[name]) for name in ("auc", "low", "high"))
    rates = _rates(row) if "false_rates" in row else _rates({"false_rates": [], "true_rates": []})
    return Attack(row["attacker"], row["trained_on"], auc, low, high, *rates)


def _attack_grid(attacks: Sequence[tuple[str, Attack]], best: float) -> Grid:
    rows = [
        [a.attacker, attacked, a.trained_on, f"{a.auc:.3f}", f"{a.low:.3f} to {a.high:.3f}"]
        for attacked, a in attacks
    ]
    heads = ("attacker", "attacked", "learnt from", "AUC ", "95 % interval ")
    return Grid(
        "Areas under the curves",
        heads,
        [*rows, ["best possible", _RELEASED, "", f"{best:.3f}", ""]],
    )


def _attack_failures(fields: Mapping[str, Any], limit: Any) -> list[str]:
    """Curves above the ceiling by the one rule of all, and what the command found itself."""
    found = []
    if limit is not None:
        curves = [
            roc.Measured(
                name=f"{row['attacker']}, learnt from {row['trained_on']},",
                false_rates=row["false_rates"],
                true_rates=row["true_rates"],
                negatives=int(fields["negatives"]),
                positives=int(fields["positives"]),
            )
            for row in fields["attacks"]
            if row["attacked"] == _RELEASED
        ]
        found = roc.failures(curves, limit, of="the mapping")
    if fields["draws_as_the_table_says"] < STRANGE:
        found.append("Releases do not follow the mapping's chances.")
    if not fields["passed"] and not found:
        found.append("An attacker does better than the best possible one.")
    return found


def noise_section(fields: Mapping[str, Any]) -> Section:
    """Checks of the noise, each with a control that must be flagged."""
    rows = [
        [c["check"], "holds" if c["passed"] else "FAILS", c["result"], c["control"]]
        for c in fields["checks"]
    ]
    bad = [c["check"] for c in fields["checks"] if not c["passed"]]
    return Section(
        title="Attacks on the noise",
        words=["Each check was also run on noise that is wrong, and had to notice."],
        grids=[Grid("Checks of the noise", ("check", "verdict", "result", "control"), rows)],
        failures=[f"The noise, or its check, fails: {name}." for name in bad],
    )


def plan_section(fields: Mapping[str, Any]) -> Section:
    """A planned histogram: the noise of each attribute, with those withheld."""
    attributes: Mapping[str, Any] = fields["attributes"]
    mean = {name: float(held["mean_absolute_error"]) for name, held in attributes.items()}
    within = {name: float(held["within_95"]) for name, held in attributes.items()}
    withheld = [str(name) for name in fields["withheld"]]
    drawn = noise_dots_figure(mean, within, withheld=withheld)
    rows = [
        [name, held["budget"], held["spent"], shown(mean[name]), shown(within[name])]
        for name, held in attributes.items()
    ] + [[name, "withheld", "", "", ""] for name in withheld]
    heads = ("attribute", "budget ", "spent ", "mean error ", "within, 95 in 100 ")
    said = (
        f"At epsilon {fields['allowed_epsilon']} sharing budgets at best costs an error of "
        f"{fields['mean_error']:.4g}; scaling all alike would cost "
        f"{fields['proportional_error']:.4g}."
    )
    return Section(
        title=f"A planned histogram for {fields['provider']}",
        words=[said],
        pictures=[Picture(drawn, "Noise of each attribute, computed from the plan; no data read.")],
        grids=[Grid("Budgets and errors of attributes", heads, rows)],
    )


def tree_section(fields: Mapping[str, Any]) -> Section:
    """A private tree, drawn if it is in the run and not in a file of its own."""
    query, pictures, words = fields["query"], [], []
    target = str(query["target"])
    if "value" in fields:
        trained = TrainedTree.of_plain(fields["value"])
        caption = "The tree: splits in boxes, shares of classes at its ends, all with their noise."
        pictures = [Picture(tree_figure(trained, target=target), caption)]
        leaves, rows = int((trained.tree.child < 0).sum()), int(trained.tree.counts[0].sum())
        words = [f"{leaves:,} leaves, from about {max(rows, 0):,} rows."]
    return Section(
        title=f"A tree for {target}",
        words=words,
        pictures=pictures,
        grids=facts(query, caption="About the tree", without=["kind", "declare"]),
    )
