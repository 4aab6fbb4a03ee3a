"""The paper's claims, each with one verdict over all data sets, for the authors' own protocol.

Not here  how a statement is judged on one set (statements.py).

A claim holds if it does on every set, and in part if it does on some.
"""

from __future__ import annotations

from typing import Any

from experiments.harness import FAILS, HOLDS, OPEN, PARTLY, Verdict, verdict
from experiments.heterogeneous.statements import STATEMENTS

PAPER = {
    "Slices matter for u = 0": "significant",
    "HDP beats Naive when Fundamentalists are few": "below 40 % and 70 %",
    "Naive improves as Fundamentalists are removed": "Delicious yes, Digg no",
    "Unconcerned often do better than Pragmatists": "often",
    "Liberal groups lose at most about 0.03 when Fundamentalists go from 20 % to 80 %": (
        "0.22 to 0.19"
    ),
}
EXPLORED = (1, 3)
ROUNDS = 20


def judged(result: dict[str, Any]) -> list[dict[str, str]]:
    """All verdicts, in the paper's order; what is ours comes last."""
    found = [_claim(result, s.text, s.where) for s in STATEMENTS]
    return [
        made.plain() for made in (*found, _peers(result), _ours(result, "total"), _price(result))
    ]


def _claim(result: dict[str, Any], text: str, where: str) -> Verdict:
    cells = [v for v in result["statements"] if (v["statement"], v["protocol"]) == (text, "paper")]
    told = "; ".join(f"{v['data']}: {v['verdict']}, {v['figure']}" for v in cells)
    paper = "" if where == "ours" else PAPER.get(text, "yes")
    return Verdict(text, where, paper, told, _over_sets([v["verdict"] for v in cells]))


def _over_sets(verdicts: list[str]) -> str:
    if all(v == HOLDS for v in verdicts):
        return HOLDS
    if any(v == HOLDS for v in verdicts):
        return PARTLY
    return FAILS if FAILS in verdicts else OPEN


def _peers(result: dict[str, Any]) -> Verdict:
    """The paper counts what a node explores; a budget is spent for everybody it meets."""
    met: dict[str, float] = {}
    for cost in result["costs"]:
        met[cost["data"]] = min(cost["contacts"], met.get(cost["data"], cost["contacts"]))
    most = EXPLORED[1] * ROUNDS
    told = ", ".join(f"{name} {count:.0f}" for name, count in met.items())
    return Verdict(
        "A node meets 1 to 3 others in each of 20 rounds",
        "4.3",
        f"at most {most}",
        f"distinct peers on average, at least: {told}; each costs epsilon",
        verdict(max(met.values()) <= most, min(met.values()) <= most),
    )


def _ours(result: dict[str, Any], at: str) -> Verdict:
    """One sketch against the authors' protocol, at the same total."""
    gaps = [
        d
        for d in result["differences"]
        if d["x"].startswith(at) and d["measure"] in ("recall", "NDCG@20")
    ]
    better = sum(d["value"] > d["half_width"] for d in gaps)
    worse = sum(d["value"] < -d["half_width"] for d in gaps)
    least = min(gaps, key=lambda d: d["value"])
    return Verdict(
        "Ours: at equal total loss one sketch is better than the authors' protocol",
        "ours",
        "",
        f"beyond noise better at {better} of {len(gaps)} (sets, totals, recall and NDCG@20), worse "
        f"at {worse}; least {least['value']:+.3f} ({least['data']}, {least['x']}, "
        f"{least['measure']})",
        verdict(better == len(gaps), better > worse),
    )


def _price(result: dict[str, Any]) -> Verdict:
    """With the whole total that the paper's setting promises, of which a sketch spends a part."""
    gaps = [
        d
        for d in result["differences"]
        if d["x"].startswith("epsilon") and "promised" in d["x"] and d["measure"] == "NDCG@20"
    ]
    worse = [d for d in gaps if d["value"] < -d["half_width"]]
    least = min(gaps, key=lambda d: d["value"])
    return Verdict(
        "Ours: at the total that the paper's setting promises, lists of a sketch are no worse",
        "ours",
        "",
        f"NDCG@20 worse beyond noise at {len(worse)} of {len(gaps)}; least {least['value']:+.3f} "
        f"({least['data']}, {least['x']})",
        verdict(not worse, len(worse) < len(gaps)),
    )
