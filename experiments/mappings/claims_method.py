"""Claims about the algorithm, its mappings and its time.

Not here  claims about what leaks from data (claims_data.py).

"Near" the least leak is within ``NEAR`` of I(A; B).
"""

from __future__ import annotations

from itertools import pairwise

from experiments.harness import OPEN, Verdict, verdict
from experiments.mappings.curves import BOUND, EXPONENTIAL, MAPPING
from experiments.mappings.results import Results, Row
from experiments.mappings.solvers import EXPONENTIAL as QUICKEST
from experiments.mappings.solvers import GENERAL, OURS, PAPER, growth

NEAR = 0.03
SMALL_GAIN = 0.01  # of I(A; B)


def near_optimal(t: Results) -> Verdict:
    """The paper's 100 steps on the census."""
    found = {x: t.get("excess", t.census, "excess, most", x) for x in _excess_at(t, t.census)}
    text = ", ".join(f"{value:.1%} at {x}" for x, value in found.items())
    claim = "Census: 100 steps are nearly indistinguishable from the optimum"
    ours = f"above the least leak by at most {text} (of I(A; B))"
    return Verdict(claim, "4.3, Fig. 2", "yes", ours, verdict(max(found.values()) <= NEAR))


def _excess_at(t: Results, data: str) -> list[str]:
    return t.xs("excess", data, "excess, most")


def near_on_example(t: Results) -> Verdict:
    """And on its own example, at several sizes."""
    names = [name for name in t.data("excess") if name.startswith("example")]
    found = {n: t.get("excess", n, "excess", _excess_at(t, n)[0]) for n in names}
    text = ", ".join(f"{value:.0%} ({name})" for name, value in found.items())
    claim = "The example: 100 steps are near optimal at every size"
    good = max(found.values()) <= NEAR
    ours = f"above the least leak by {text}, Delta = n²/64"
    return Verdict(claim, "abstract, 4.3", "yes", ours, verdict(good, min(found.values()) <= NEAR))


def _lengths(t: Results) -> tuple[str, list[str], list[int]]:
    name = t.data("by length")[0]
    told = [s for s in t.series("by length", name) if s.startswith("paper")]
    return name, t.xs("by length", name, OURS), [int(s.split("= ")[1]) for s in told]


def _length_gap(t: Results, length: int, x: str) -> float:
    """How far L steps are above the least leak; on the example I(A; B) is one bit."""
    name = t.data("by length")[0]
    return t.get("by length", name, PAPER.format(length), x) - t.get("by length", name, BOUND, x)


def small_distortion(t: Results) -> Verdict:
    """L at the smallest distortion."""
    _, xs, lengths = _lengths(t)
    gaps = {n: _length_gap(t, n, xs[0]) for n in lengths}
    text = ", ".join(f"L = {n}: {gap:.1%}" for n, gap in gaps.items())
    claim = "For small distortions L hardly matters"
    near = [gap <= NEAR for gap in gaps.values()]
    ours = f"at Delta = n²/1024, above the least leak: {text}"
    return Verdict(claim, "4.3, Fig. 2", "insignificant", ours, verdict(all(near), near[-1]))


def more_steps(t: Results) -> Verdict:
    """What 400 more steps give."""
    _, xs, lengths = _lengths(t)
    claim = "500 steps gain little over 100"
    if max(lengths) <= 100:
        return Verdict(claim, "4.3", "little", "not run", OPEN)
    gains = {x: _length_gap(t, 100, x) - _length_gap(t, 500, x) for x in xs}
    worst = max(gains, key=lambda x: gains[x])
    left = _length_gap(t, 500, worst)
    ours = f"up to {gains[worst]:.1%} of I(A; B), and {left:.1%} are still left after 500"
    good = max(gains.values()) <= SMALL_GAIN
    return Verdict(claim, "4.3", "little", ours, verdict(good, max(gains.values()) <= NEAR))


def sparse(t: Results) -> Verdict:
    """Figure 1."""
    name = t.data("kept")[0]
    xs = t.xs("kept", name, "support")
    text = ", ".join(
        f"{t.get('kept', name, 'support', x):.1f} outputs and "
        f"{t.get('kept', name, 'stay for certain', x):.0%} unchanged at {float(x):.2g} n²"
        for x in xs
    )
    grows = [t.get("kept", name, "support", x) for x in xs]
    good = grows[-1] < 64 / 8 and grows == sorted(grows)
    claim = "Optimal mappings are sparse, and less so as the distortion grows"
    return Verdict(claim, "2, Fig. 1", "yes", f"of 64: {text}", verdict(good, grows[-1] < 8))


def gradient(t: Results) -> Verdict:
    """Section 3.4."""
    wrong = t.get("gradient", "3 x 5", "as printed")
    right = t.get("gradient", "3 x 5", "without the second sum")
    ours = f"off by {wrong:.2f}; without the second sum by {right:.0e}"
    claim = "The printed gradient is that of the leak"
    return Verdict(claim, "3.4", "yes", ours, verdict(wrong < 1e-6))


def start(t: Results) -> Verdict:
    """Section 3.3: where it begins."""
    name = t.data("gradient")[1]
    share = t.get("gradient", name, "minus infinity at the identity")
    ours = f"on the example {share:.0%} of its entries are minus infinity there"
    claim = "The method may start at any feasible map, such as the identity"
    return Verdict(claim, "3.3", "yes", ours, verdict(share == 0))


def falls(t: Results) -> Verdict:
    """Section 3.3: monotone."""
    name = t.data("rises")[0]
    most = max(row.value for key, row in t.held.items() if key[0] == "rises")
    claim = "The leak falls with every step"
    ours = f"largest rise in a step: {max(most, 0.0):.0e} nats ({name})"
    return Verdict(claim, "3.3", "guaranteed", ours, verdict(most <= 1e-12))


def rate(t: Results) -> Verdict:
    """Section 3.3: 1/L."""
    name = t.data("L times excess")[0]
    parts, steady = [], True
    for share in t.series("L times excess", name):
        curve = t.curve("L times excess", name, share)
        (first, low), (last, high) = curve[0], curve[-1]
        steady &= high <= low
        parts.append(f"{float(share):.2g} n²: {low:.2f} to {high:.2f}")
    ours = f"L times excess from L = {first:.0f} to {last:.0f}, by Delta: {'; '.join(parts)}"
    claim = "The excess falls like 1/L"
    return Verdict(claim, "3.3", "worst case", ours, verdict(steady))


def entries(t: Results) -> Verdict:
    """How many variables there are."""
    found = [
        t.get("excess", n, "entries per profile", _excess_at(t, n)[-1]) for n in t.data("excess")
    ]
    ours = f"after 100 steps {min(found):.0f} to {max(found):.0f} entries above 0.001 per profile"
    claim = "Variables grow linearly with profiles, not quadratically"
    return Verdict(claim, "1, 3.4", "linear", ours, verdict(max(found) <= 102))


def _ranks(t: Results, series: str) -> list[Row]:
    return t.rows("by rank", t.data("by rank")[0], series)


def same_for_all(t: Results) -> Verdict:
    """Figure 5: the exponential mechanism."""
    spreads = [(row.high or 0.0) - row.value for row in _ranks(t, EXPONENTIAL)]
    claim = "The exponential mechanism maps all points alike (no deviation between them)"
    ours = (
        f"standard deviation up to {max(spreads):.3f}: points near the ends have other neighbours"
    )
    return Verdict(claim, "4.3, Fig. 5", "null", ours, verdict(max(spreads) < 1e-6))


def personal(t: Results) -> Verdict:
    """Figure 5: the mapping."""
    rows = _ranks(t, MAPPING)
    stay = rows[0].value
    rises = sum(b.value > a.value + 1e-6 for a, b in pairwise(rows))
    other = _ranks(t, EXPONENTIAL)[0].value
    claim = "The mapping keeps many points as they are, and chances do not fall with distance"
    ours = f"stays with chance {stay:.2f} (exponential {other:.2f}); chances rise {rises} times"
    return Verdict(claim, "4.3, Fig. 5", "yes", ours, verdict(stay > other and rises > 0))


def linear(t: Results) -> Verdict:
    """Figure 6: L."""
    size = t.xs("time", "example", PAPER.format(100))[-1]
    spent = {n: t.get("time", "example", PAPER.format(n), size) for n in (10, 100)}
    ratio = spent[100] / spent[10]
    claim = "Time is linear in L"
    ours = f"100 steps take {ratio:.1f} times as long as 10 (n = {size})"
    return Verdict(claim, "4.3, Fig. 6", "linear", ours, verdict(5 <= ratio <= 20))


def scales(t: Results) -> Verdict:
    """Figure 6: against a general solver."""
    claim = "It scales better than a general solver"
    if not t.rows("time", "example", GENERAL):
        return Verdict(claim, "4.3, Fig. 6", "yes", "not run", OPEN)
    curves = {s: t.curve("time", "example", s) for s in (PAPER.format(100), GENERAL, OURS)}
    text = ", ".join(f"{s}: n to the {growth(c):.1f}" for s, c in curves.items())
    size, slow = curves[GENERAL][-1]
    mine = t.get("time", "example", OURS, int(size))
    papers = t.get("time", "example", PAPER.format(100), int(size))
    ours = (
        f"{text}; at n = {size:.0f} the general solver takes {slow / papers:.1f} times the "
        f"paper's and {slow / mine:.0f} times our CPU"
    )
    good = growth(curves[PAPER.format(100)]) < growth(curves[GENERAL])
    return Verdict(claim, "4.3, Fig. 6", "yes", ours, verdict(good))


def quick_peer(t: Results) -> Verdict:
    """Figure 6: the exponential mechanism."""
    size = t.xs("time", "example", QUICKEST)[-1]
    ratio = t.get("time", "example", QUICKEST, size) / t.get("time", "example", OURS, size)
    claim = "The exponential mechanism is very quick"
    ours = f"{ratio:.2f} of the CPU of our solver at n = {size}"
    return Verdict(claim, "4.3, Fig. 6", "yes", ours, verdict(ratio < 0.5, ratio < 2))


def tens_of_thousands(t: Results) -> Verdict:
    """Figure 6: the largest sizes."""
    parts = []
    for name in t.data("time"):
        size, seconds = t.curve("time", name, OURS)[-1]
        gap = t.get("solved", name, "gap", int(size))
        parts.append(f"{name}, {size:,.0f}: {seconds:.0f} s, gap {gap:.2%}")
    ours = f"CPU of ours, and certified gap: {'; '.join(parts)}"
    claim = "Tens of thousands of profiles within minutes"
    if size < 10_000:
        return Verdict(claim, "4.3, Fig. 6", "minutes", ours, OPEN)
    return Verdict(claim, "4.3, Fig. 6", "minutes", ours, verdict(seconds < 300))


def supports(t: Results) -> Verdict:
    """Figure 7."""
    parts, good, most = [], [], 0.0
    for name in t.data("support"):
        for x in t.xs("support", name, "mean"):
            few = sum(t.get("support", name, s, x) for s in ("1", "2 to 3", "4 to 10"))
            largest = t.get("support", name, "largest", x)
            good.append(few > 0.5)
            most = max(most, largest)
            parts.append(f"{x}: {few:.0%}, {largest:.0f}")
    claim = "Films: most profiles have at most 10 outputs, none more than 30"
    ours = f"share with at most 10 and largest, by Delta ({'; then '.join(t.data('support'))}): "
    said = verdict(all(good) and most <= 30, all(good))
    return Verdict(claim, "4.3, Fig. 7", "10; 30", ours + ", ".join(parts), said)
