"""Claims about figures: influential nodes, percentiles and time.

Not here  claims about definitions and about what is public (claims_theory.py).

An order of magnitude is a factor of ten between budgets at which the same share of the true nodes
is found. Where a mechanism never reaches the share there is no factor, and the panel is left out.
"""

from __future__ import annotations

import math
from itertools import pairwise

from experiments.dampening import percentile as who
from experiments.dampening.datasets import LEVELS
from experiments.dampening.influence import (
    ADAPTIVE,
    DAMPENED,
    DEGREE,
    EXPONENTIAL,
    FLIP,
    FOCUS_EPSILONS,
    FOCUS_K,
    ONE_SIDED,
    SHARES,
    SHIFTED,
    figure,
)
from experiments.dampening.results import Results
from experiments.dampening.scalability import BETWEENNESS, CANDIDATES, GRAPHS, RELEASE
from experiments.harness import FAILS, HOLDS, OPEN, PARTLY, Verdict, verdict

CLEARLY = 0.05  # of the nodes: more than the runs' own noise
PAPERS_PERCENTILE = 0.73


def factors(t: Results, share: float, over: str, under: str) -> dict[str, float]:
    """Budget of one mechanism over that of another, by panel, where both reach the share."""
    name, found = f"budget for {share:.0%}", {}
    for data in t.networks:
        for k in t.ks:
            pair = [t.known(name, data, series, k) for series in (over, under)]
            if pair[0] is not None and pair[1] is not None:
                found[f"{data}, k = {k}"] = pair[0] / pair[1]
    return found


def _orders(t: Results, over: str, under: str) -> tuple[float, float, str]:
    """Least and largest order over panels and shares, and both in words."""
    found = {share: factors(t, share, over, under) for share in SHARES}
    orders = [math.log10(value) for some in found.values() for value in some.values()]
    if not orders:
        return math.nan, math.nan, "never reached by both"
    words = [
        f"{_one(math.log10(min(some.values())))} to {_one(math.log10(max(some.values())))} "
        f"at {share:.0%} of the nodes"
        for share, some in found.items()
        if some
    ]
    panels = len(t.networks) * len(t.ks)
    left = [f"{panels - len(found[s])} of {panels} panels never reach {s:.0%}" for s in SHARES]
    return min(orders), max(orders), f"{'; '.join(words)} ({'; '.join(left)})"


def _one(value: float) -> str:
    """One digit, and no minus before nothing."""
    return f"{round(value, 1) + 0.0:.1f}"


def savings(t: Results) -> Verdict:
    """The headline."""
    low, high, text = _orders(t, EXPONENTIAL, SHIFTED)
    claim = (
        "Shifted dampening needs 3 to 4 orders of magnitude less budget than the exponential one"
    )
    good, partly = low >= 2.5, high >= 2.5
    return Verdict(claim, "4.4, Fig. 2", "3 to 4", f"orders: {text}", verdict(good, partly))


def savings_flip(t: Results) -> Verdict:
    """And against permute-and-flip."""
    low, high, text = _orders(t, FLIP, SHIFTED)
    claim = "and 2 to 3 orders less than permute-and-flip"
    good, partly = low >= 1.5, high >= 1.5
    return Verdict(claim, "4.4, Fig. 2", "2 to 3", f"orders: {text}", verdict(good, partly))


def abstract(t: Results) -> Verdict:
    """As the abstract says it."""
    both = [_orders(t, over, SHIFTED) for over in (EXPONENTIAL, FLIP)]
    low, high = min(one[0] for one in both), max(one[1] for one in both)
    claim = "As accurate as mechanisms of global sensitivity with 2 to 4 orders less budget"
    text = f"{low:.1f} to {high:.1f} orders over both, as far as it is as accurate"
    best = min(t.get("without noise", n, SHIFTED, k) for n in t.networks for k in t.ks)
    text += f"; without any noise it finds {best:.0%} in the worst panel, they find all"
    return Verdict(claim, "1.2", "2 to 4", text, verdict(low >= 2 and best == 1, high >= 2))


def flip(t: Results) -> Verdict:
    """The difference of the two claims above."""
    low, high, text = _orders(t, EXPONENTIAL, FLIP)
    claim = "Permute-and-flip needs one order of magnitude less than the exponential mechanism"
    ours = f"orders: {text}; at most a factor 2 is possible in one round"
    return Verdict(claim, "4.4", "1", ours, verdict(low >= 0.8, high >= 0.8))


def larger_k(t: Results) -> Verdict:
    """Budgets for half of the nodes."""
    found, steps = [], 0
    for data in t.networks:
        for series in (EXPONENTIAL, FLIP, SHIFTED):
            budgets = [t.known("budget for 50%", data, series, k) for k in t.ks]
            known = [b for b in budgets if b is not None]
            steps += len(known) - 1 if known else 0
            found += [a < b for a, b in pairwise(known)]
    text = f"the budget for 50 % grows in {sum(found)} of {steps} steps to a larger k"
    claim = "All do worse as k grows"
    return Verdict(claim, "4.4", "yes", text, verdict(all(found), sum(found) > steps / 2))


def unshifted(t: Results) -> Verdict:
    """Dampening without a shift."""
    best = {
        (data, k): max(y for _, y in t.curve(figure(k), data, DAMPENED))
        for data in t.networks
        for k in t.ks
    }
    plain = min(max(y for _, y in t.curve(figure(k), d, EXPONENTIAL)) for d, k in best)
    text = (
        f"without a shift at most {max(best.values()):.0%} of the nodes are found in any panel, "
        f"by the exponential mechanism at least {plain:.0%} in every one"
    )
    claim = "The exponential mechanism is the worst instance of local dampening"
    good = min(best.values()) >= plain
    return Verdict(claim, "1.2, 3.5.2", "yes", text, HOLDS if good else FAILS)


def never_worse(t: Results) -> Verdict:
    """Corollary 1 needs what these data do not have; the text claims it of them too."""
    worse = [
        (x, data, k, other - own)
        for data in t.networks
        for k in t.ks
        for (x, own), (_, other) in zip(
            t.curve(figure(k), data, SHIFTED), t.curve(figure(k), data, EXPONENTIAL), strict=True
        )
        if other > own + CLEARLY
    ]
    claim = "Shifted dampening outperforms the exponential mechanism, though no set is monotone"
    if not worse:
        return Verdict(claim, "3.5.1, Cor. 1", "always", "nowhere clearly worse", HOLDS)
    x, data, k, by = max(worse, key=lambda one: one[3])
    least = min(one[0] for one in worse)
    panels = len({one[1:3] for one in worse})
    text = (
        f"from epsilon {least:g} on it is worse in {panels} of {len(t.networks) * len(t.ks)} "
        f"panels, by up to {by:.2f} ({data}, k = {k}, epsilon {x:g}); better below"
    )
    return Verdict(claim, "3.5.1, Cor. 1", "always", text, PARTLY)


def degree(t: Results) -> Verdict:
    """What is behind the gain."""
    like = [t.get("correlation", name, SHIFTED, "degree") for name in t.networks]
    low, high, _ = _orders(t, SHIFTED, DEGREE)
    as_good = low > -0.15  # a budget of at most 1.4 times, in every panel
    ours = (
        f"scores and degrees correlate by {min(like):.3f} to {max(like):.3f}; the exponential "
        f"mechanism on degrees alone needs {_one(low)} to {_one(high)} orders less budget than it"
    )
    claim = "The gain comes from the local sensitivity of betweenness"
    return Verdict(claim, "1.2, 4", "yes", ours, FAILS if as_good else OPEN)


def certain_bound(t: Results) -> Verdict:
    """What is left of both where the bound is certain."""
    name = f"{t.networks[0]}, bound n - 1"
    shares = {s: t.get(figure(FOCUS_K), name, s, 1.0) for s in (EXPONENTIAL, SHIFTED, ADAPTIVE)}
    most = t.curve(figure(FOCUS_K), name, EXPONENTIAL)[-1]
    text = f"at epsilon 1: {', '.join(f'{s} {v:.2f}' for s, v in shares.items())}; the exponential "
    text += f"mechanism still {most[1]:.2f} at {most[0]:g}"
    claim = "Ours: with the one bound that needs no knowledge, n - 1, shifted scores still work"
    good = shares[SHIFTED] > 0.8 and shares[EXPONENTIAL] < 0.1
    return Verdict(claim, "ours", "", text, verdict(good, shares[SHIFTED] > shares[EXPONENTIAL]))


def adaptive(t: Results) -> Verdict:
    """What the library does unless told otherwise."""
    name = t.networks[0]
    one, many = FOCUS_EPSILONS
    held = {
        (s, e): t.row("focus", name, s, e)
        for s in (EXPONENTIAL, SHIFTED, ADAPTIVE, DEGREE, ONE_SIDED)
        for e in FOCUS_EPSILONS
    }
    good = held[ADAPTIVE, many].value >= 0.99
    near = held[ADAPTIVE, one].value >= held[SHIFTED, one].value - 0.03
    text = "; ".join(
        f"at {e:g}: "
        + ", ".join(
            f"{s} {held[s, e].value:.3f} ({held[s, e].low:.3f} to {held[s, e].high:.3f})"
            for s in (EXPONENTIAL, SHIFTED, ADAPTIVE)
        )
        for e in FOCUS_EPSILONS
    )
    claim = "Ours: as good as shifted dampening at small budgets, and right at large ones"
    ours = f"{name}, k = {FOCUS_K}, {text}"
    return Verdict(claim, "ours", "", ours, verdict(good and near, good or near))


def never_far(t: Results) -> Verdict:
    """Over all panels and budgets."""
    behind = []
    for data in t.networks:
        for k in t.ks:
            ours = dict(t.curve(figure(k), data, ADAPTIVE))
            for series in (EXPONENTIAL, FLIP, DAMPENED, SHIFTED):
                behind += [
                    (value - ours[x], series, data, k, x)
                    for x, value in t.curve(figure(k), data, series)
                ]
    by, series, data, k, x = max(behind)
    often = sum(one[0] > CLEARLY for one in behind)
    text = (
        f"at most {by:.2f} behind the best of them ({series}, {data}, k = {k}, epsilon {x:g}); "
        f"more than {CLEARLY} behind in {often} of {len(behind)} comparisons"
    )
    claim = "Ours: nowhere clearly behind any of the paper's four"
    return Verdict(claim, "ours", "", text, verdict(by <= CLEARLY, often <= len(behind) / 50))


def percentiles(t: Results) -> Verdict:
    """Up to how much, and where."""
    found = [
        (t.get(f"less {m}, p = {p}", name, series, x), m, series, name, p, x)
        for m in who.MEASURES
        for p in LEVELS
        for name in t.people
        for series in (who.DAMPENED, who.SHIFTED, *who.BY_FLIP.values())
        for x in t.xs(f"less {m}, p = {p}", name, series)
    ]
    best, worst = max(found), min(found)
    least = round(worst[0], 2) + 0.0  # no minus before nothing
    text = (
        f"up to {best[0]:.0%} ({best[1]}, {best[2]}, {best[3]}, p = {best[4]}, epsilon {best[5]}), "
        f"down to {least:.0%} ({worst[1]}, {worst[2]}, {worst[3]}, p = {worst[4]}, "
        f"epsilon {worst[5]})"
    )
    claim = "Percentiles: up to 73 % better than mechanisms of global sensitivity"
    good = best[0] >= PAPERS_PERCENTILE
    return Verdict(claim, "1.2", "73 %", text, verdict(good, best[0] > 0.1))


def percentile_noise(t: Results) -> Verdict:
    """What a budget buys at all."""
    shares = {
        name: min(
            t.get(f"value error, p = {p}", name, who.SHIFTED, 1)
            / t.get(f"value error, p = {p}", name, who.RANDOM)
            for p in LEVELS
        )
        for name in t.people
    }
    text = "error at epsilon 1 over that of a person at random: " + ", ".join(
        f"{name} {value:.2f}" for name, value in shares.items()
    )
    claim = "Ours: at epsilon 1 the person chosen is hardly nearer than one drawn at random"
    ours = f"{text} (best p); scores are within 1 of each other, so odds are at most exp(epsilon/2)"
    return Verdict(claim, "ours", "", ours, verdict(min(shares.values()) > 0.7))


def quadratic(t: Results) -> Verdict:
    """The exponents that fit."""
    one = t.get("growth", GRAPHS, BETWEENNESS)
    other = t.get("growth", CANDIDATES, RELEASE)
    text = f"betweenness grows as edges to the {one:.2f}, a choice as candidates to the {other:.2f}"
    claim = "Running time is below quadratic"
    return Verdict(claim, "1.2", "yes", text, verdict(max(one, other) < 2))
