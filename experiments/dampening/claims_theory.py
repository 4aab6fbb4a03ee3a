"""Claims about definitions, bounds and what is public, judged on the small cases.

Not here  the cases (counterexamples.py), claims about figures (claims_figures.py).
"""

from __future__ import annotations

from experiments.dampening.counterexamples import (
    ALL,
    DOMINANCE,
    MINIMUM,
    OWN,
    PADDING,
    PAIRS,
    SIZES,
)
from experiments.dampening.results import Results
from experiments.harness import FAILS, HOLDS, PARTLY, Verdict, verdict


def _most(t: Results, what: str, series: str, who: str) -> tuple[float, str, int]:
    return max((t.get(what, OWN, f"{p}, {series}, {who}", d), p, d) for p in PAIRS for d in SIZES)


def own_degree(t: Results) -> Verdict:
    """Whether Delta(G) bounds what one edge moves, if it is the graph's own."""
    moved, pair, d = _most(t, "one score moves", "exponential", "own")
    kept = _most(t, "one score moves", "exponential", "declared")[0]
    text = (
        f"{pair}, degree {d}: one edge moves a score by {moved:.2f} times Delta, since Delta moves "
        f"too; with a declared bound by {kept:.2f}"
    )
    claim = "Lemma 3: Delta(G), from the graph's own largest degree, is the global sensitivity"
    return Verdict(claim, "4.3", "yes", text, verdict(moved <= 1))


def own_degree_loss(t: Results) -> Verdict:
    """And whether the loss is above epsilon for that."""
    found = {s: _most(t, "loss", s, "own") for s in ("exponential", "shifted", "ours")}
    text = "largest loss found, in epsilon: " + ", ".join(
        f"{'our shifted scores' if s == 'ours' else s} {value:.2f} ({pair}, degree {d})"
        for s, (value, pair, d) in found.items()
    )
    ours = (
        f"{text}. The paper's factor 2 happens to cover it, unless Delta(G) is told; where "
        "noise is no larger than a declared bound demands, nothing does"
    )
    claim = "With Delta(G) from the graph the loss is at most epsilon"
    worst = max(found[s][0] for s in ("exponential", "shifted"))
    return Verdict(claim, "4.3, 4.4", "proved", ours, PARTLY if worst <= 1 else FAILS)


def own_maximum(t: Results) -> Verdict:
    """The same question of percentiles."""
    found = {s: t.get("loss", "own largest value", s, ALL) for s in ("exponential", "shifted")}
    wide = t.get("range of scores", "own largest value", "any", ALL)
    text = (
        f"scores are within {wide:.0f} of each other whatever the data, so the loss is at most "
        f"epsilon; found: {', '.join(f'{s} {v:.2f}' for s, v in found.items())} epsilon"
    )
    claim = "Percentiles with L from the data's own largest value lose at most epsilon"
    good = max(found.values()) <= 1
    return Verdict(claim, "thesis, code", "as if public", text, PARTLY if good else FAILS)


def bounded(t: Results) -> Verdict:
    """L1."""
    own, padded = (t.get("chance of the best", PADDING, s, 1000) for s in ("as defined", "padded"))
    early = t.get("chance of the best", PADDING, "as defined", 20)
    text = (
        "a candidate whose utility can never change by more than 1 keeps 1, not the global 2: the "
        f"chance of the better candidate is {early:.2f} with a shift of 20, {own:.0e} with 1000; "
        f"padded {padded:.2f}"
    )
    claim = "Local sensitivity is the global one from distance n on (Definition 8)"
    return Verdict(claim, "3.2", "by design", text, HOLDS if own > 0.5 else FAILS)


def dominance(t: Results) -> Verdict:
    """L2."""
    plain, rising, printed = (
        t.get("chance of the best", DOMINANCE, series)
        for series in ("global sensitivity", "rising with the utility", "as Definition 14 prints")
    )
    text = (
        f"chance of the best of two: global {plain:.2f}, gaps in the printed order {printed:.2f}, "
        f"in the opposite one {rising:.2f}"
    )
    claim = "Lemma 1: a sensitivity that dominates (Definition 14) is never worse"
    return Verdict(claim, "3.5.1", "yes", f"{text} (shifted left)", verdict(printed >= plain))


def corollary(t: Results) -> Verdict:
    """What is left of Corollary 1."""
    plain, rising = (
        t.get("chance of the best", DOMINANCE, series)
        for series in ("global sensitivity", "rising with the utility")
    )
    text = (
        "holds for sensitivities that rise with the utility, by the opposite order; they do not "
        f"dominate as printed ({rising:.2f} against {plain:.2f} here)"
    )
    claim = "Corollary 1: with a stable sensitivity shifted dampening is never worse"
    return Verdict(claim, "3.5.2", "yes", text, verdict(rising >= plain))


def minimum(t: Results) -> Verdict:
    """L3."""
    share = t.get("gaps out of order", MINIMUM, "share of data", ALL)
    text = (
        f"it is the smallest point by point; its gaps to the constant L are out of order in "
        f"{share:.0%} of all data of three people with values from 0 to 4 (median)"
    )
    claim = "Lemma 2: the local sensitivity dominates all admissible functions"
    return Verdict(claim, "3.5.2", "yes", text, verdict(share == 0))
