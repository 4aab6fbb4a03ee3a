"""The paper's claims on decision trees, each with its value, ours and a verdict.

Per cents are points of accuracy. A mechanism is clearly better than another where the 95 % interval
of their difference, in pairs over runs, is above 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from experiments.dampening.tree import facts, peer
from experiments.dampening.tree.methods import DEFAULT, GLOBAL, ID3, LOCAL, SAME, SHIFTED
from experiments.dampening.tree.results import Results, Row
from experiments.dampening.tree.runs import BASE, PAPERS_THREE, exact, figure, over
from experiments.harness import FAILS, HOLDS, OPEN, Verdict, verdict

ADULT = "Adult"
SMALL, LARGE = 0.1, 1.0  # budgets up to the one, and from the other on
LEVEL = 0.002  # of accuracy: no difference worth a word


def judged(table: Results) -> list[dict[str, str]]:
    """All verdicts, in the paper's order; what is ours comes last."""
    judges: tuple[Callable[[Results], Verdict], ...] = (
        introduction,
        almost_every,
        up_to_five,
        one_more,
        adult_local,
        adult_shifted,
        small_budgets,
        large_budgets,
        replaced_rows,
        capped_rows,
        whole_file,
        ours_same_depth,
        ours_default,
        others,
    )
    return [judge(table).plain() for judge in judges]


def points(
    t: Results, one: str, other: str, sets: Sequence[str] | None = None
) -> list[tuple[str, Row]]:
    """Differences at every set, depth and budget, with where they are."""
    return [
        (f"{data}, depth {depth}, epsilon {row.x}", row)
        for data in (t.sets if sets is None else sets)
        for depth in t.depths
        for row in t.rows(over(depth, other), data, one)
    ]


def _best(found: Sequence[tuple[str, Row]]) -> tuple[str, Row]:
    return max(found, key=lambda one: one[1].value)


def _worst(found: Sequence[tuple[str, Row]]) -> tuple[str, Row]:
    return min(found, key=lambda one: one[1].value)


def _told(found: tuple[str, Row]) -> str:
    return f"{100 * found[1].value:+.1f} % ({found[0]})"


def _above(row: Row) -> bool:
    return row.low is not None and row.low > 0


def _below(row: Row) -> bool:
    return row.high is not None and row.high < 0


def _tally(found: Sequence[tuple[str, Row]]) -> str:
    better, worse = sum(_above(row) for _, row in found), sum(_below(row) for _, row in found)
    return f"clearly better at {better} of {len(found)} points, clearly worse at {worse}"


def introduction(t: Results) -> Verdict:
    """The largest gain anywhere."""
    found = [*points(t, LOCAL, GLOBAL), *points(t, SHIFTED, GLOBAL)]
    best = _best(found)
    relative = max(
        row.value / t.get(figure(depth), data, GLOBAL, row.x)
        for data in t.sets
        for depth in t.depths
        for series in (LOCAL, SHIFTED)
        for row in t.rows(over(depth, GLOBAL), data, series)
    )
    text = f"at most {_told(best)}; as a share of GlobalDiffPID3's accuracy {relative:.1%}"
    good = best[1].value >= 0.1 or relative >= 0.12
    claim = "Dampening improves accuracy by up to 12 %"
    return Verdict(claim, "1.2", "12 %", text, verdict(good, best[1].value >= 0.06))


def almost_every(t: Results) -> Verdict:
    """Local against global, all points."""
    found = points(t, LOCAL, GLOBAL)
    worse = sum(_below(row) for _, row in found)
    better = sum(_above(row) for _, row in found)
    claim = "LocalDiffPID3 improves on GlobalDiffPID3 at almost every budget"
    text = f"{_tally(found)}; at worst {_told(_worst(found))}"
    good = worse <= 0.1 * len(found) and better >= 0.5 * len(found)
    return Verdict(claim, "5.3, Fig. 3", "yes", text, verdict(good, better > 0))


def up_to_five(t: Results) -> Verdict:
    """On the sets other than Adult."""
    found = points(t, LOCAL, GLOBAL, [name for name in t.sets if name != ADULT])
    best = _best(found)
    claim = "by up to 5 %"
    good = best[1].value >= 0.045
    return Verdict(claim, "5.3", "5 %", f"up to {_told(best)}", verdict(good, _above(best[1])))


def one_more(t: Results) -> Verdict:
    """Shifted against local."""
    found = points(t, SHIFTED, LOCAL)
    best = _best(found)
    claim = "ShiftedLocalDiffPID3 improves a little more, by up to 1 %"
    text = f"up to {_told(best)}; {_tally(found)}"
    worse = sum(_below(row) for _, row in found)
    good = best[1].value >= 0.009 and worse <= 0.1 * len(found)
    return Verdict(claim, "5.3", "1 %", text, verdict(good, best[1].value >= 0.009))


def adult_local(t: Results) -> Verdict:
    """Local on Adult."""
    found = points(t, LOCAL, GLOBAL, [ADULT])
    claim = "On Adult LocalDiffPID3 improves a little over GlobalDiffPID3"
    text = f"{_told(_worst(found))} to {_told(_best(found))}; {_tally(found)}"
    better = sum(_above(row) for _, row in found)
    worse = sum(_below(row) for _, row in found)
    return Verdict(claim, "5.3", "yes", text, verdict(worse == 0 < better, better > 0))


def adult_shifted(t: Results) -> Verdict:
    """Shifted on Adult."""
    found = points(t, SHIFTED, GLOBAL, [ADULT])
    best = _best(found)
    claim = "On Adult ShiftedLocalDiffPID3 improves over GlobalDiffPID3 by up to 4 %"
    text = f"up to {_told(best)}; {_tally(found)}"
    return Verdict(claim, "5.3", "4 %", text, verdict(best[1].value >= 0.035, _above(best[1])))


def small_budgets(t: Results) -> Verdict:
    """Where the gain is."""
    parts, good = [], []
    for series in (LOCAL, SHIFTED):
        found = [row for _, row in points(t, series, GLOBAL)]
        low = [row.value for row in found if float(row.x) <= SMALL]
        high = [row.value for row in found if float(row.x) >= LARGE]
        means = sum(low) / len(low), sum(high) / len(high)
        parts.append(
            f"{series} {100 * means[0]:+.1f} % up to {SMALL:g}, "
            f"{100 * means[1]:+.1f} % from {LARGE:g} on"
        )
        good.append(means[0] > max(means[1], 0))
    claim = "The gain over GlobalDiffPID3 is largest at small budgets"
    text = f"means over points: {'; '.join(parts)}"
    return Verdict(claim, "Fig. 3", "yes", text, verdict(all(good), any(good)))


def large_budgets(t: Results) -> Verdict:
    """Whether more budget ends the gain: scores that are not information gain stay so."""
    losses = []
    for data in t.sets:
        for depth in t.depths:
            plain = t.get(exact(depth), data, ID3)
            for series in (LOCAL, SHIFTED):
                by = t.get(exact(depth), data, series) - plain
                losses.append((by, f"{data}, depth {depth}, {series} {100 * by:+.1f} %"))
    worse = [text for by, text in sorted(losses) if by < -LEVEL]
    better = [text for by, text in sorted(losses) if by > LEVEL]
    claim = "Though no set is monotone, dampening outperforms the exponential mechanism"
    tally = f"from epsilon {LARGE:g} on {_tally(_from_large(t))}. "
    text = f"{tally}Without any noise behind ID3: {'; '.join(worse) or 'nowhere'}"
    text += f". Ahead of it: {'; '.join(better)}" if better else ""
    return Verdict(claim, "3.5.1, Cor. 1", "yes", text, verdict(not worse, bool(better)))


def _from_large(t: Results) -> list[tuple[str, Row]]:
    found = [*points(t, LOCAL, GLOBAL), *points(t, SHIFTED, GLOBAL)]
    return [one for one in found if float(one[1].x) >= LARGE]


def replaced_rows(t: Results) -> Verdict:
    """L4."""
    bound, own = (t.get(facts.FACT, facts.REPLACED, s) for s in (facts.BOUND, facts.NEIGHBOUR))
    plain, twice = (t.get(facts.FACT, facts.REPLACED, s) for s in (facts.PLAIN, facts.TWICE))
    text = (
        f"class counts (8, 2): {bound:.3f} one row away, the neighbour (9, 1) has {own:.3f}; "
        f"{plain:.0%} of {facts.TABLES} made tables are violated, with twice the distance "
        f"{twice:.0%}"
    )
    claim = "The sensitivity of information gain covers Definition 1, where a row is replaced"
    return Verdict(claim, "2, 5.2", "yes", text, FAILS if own > bound else HOLDS)


def capped_rows(t: Results) -> Verdict:
    """L5."""
    bound, own = (t.get(facts.FACT, facts.CAPPED, s) for s in (facts.BOUND, facts.NEIGHBOUR))
    text = f"ten rows of one class: {bound:.3f} one row away, with one row more {own:.3f}"
    claim = "It may be capped by the number of rows at hand"
    return Verdict(claim, "published algorithm", "yes", text, FAILS if own > bound else HOLDS)


def whole_file(t: Results) -> Verdict:
    """One matrix for all nodes."""
    held = [f"{facts.WHOLE_FILE}, {data}" for data in t.sets]
    shares = [t.get(facts.FACT, name, "share of nodes and columns above it") for name in held]
    most = [t.get(facts.FACT, name, "by at most, bits") for name in held]
    text = "; ".join(
        f"{data}: in {share:.0%} of nodes and columns one level down the node's own is larger, by "
        f"up to {by:.1f} bits"
        for data, share, by in zip(t.sets, shares, most, strict=True)
    )
    claim = "It may be computed once, on all rows of the file (tested ones too), for all nodes"
    return Verdict(claim, "published code", "yes", text, FAILS if max(shares) > 0 else HOLDS)


def ours_same_depth(t: Results) -> Verdict:
    """Against the best of three at each point, though nobody knows beforehand which it is."""
    return _against_best(t, SAME, "Ours: at the same depth and on the same codes, none is better")


def ours_default(t: Results) -> Verdict:
    """And as it comes."""
    return _against_best(t, DEFAULT, "Ours: as it comes, none is better at either depth")


def _against_best(t: Results, series: str, claim: str) -> Verdict:
    found = []
    for data in t.sets:
        for depth in t.depths:
            for x in t.epsilons:
                rows = [t.row(over(depth, other), data, series, x) for other in PAPERS_THREE]
                least = min(rows, key=lambda row: row.value)
                found.append((f"{data}, depth {depth}, epsilon {least.x}", least))
    worse = sum(_below(row) for _, row in found)
    text = f"against the best of the three {_tally(found)}: {_told(_worst(found))} to "
    text += _told(_best(found))
    better = sum(_above(row) for _, row in found)
    return Verdict(claim, "ours", "", text, verdict(worse == 0, better > worse))


def others(t: Results) -> Verdict:
    """The other library at its best."""
    claim = "Ours: no tree or forest of diffprivlib is better"
    if not t.has(peer.FIGURE):
        return Verdict(claim, "ours", "", "not run", OPEN)
    gaps, parts = [], []
    for data in t.sets:
        for x in t.tabled:
            own = t.get(BASE, data, DEFAULT, x)
            best = max((t.get(peer.FIGURE, data, s, x), s) for s in t.series(peer.FIGURE, data))
            gaps.append(own - best[0])
            parts.append(f"{data} at {x:g}: {own:.3f} and {best[0]:.3f} ({best[1]})")
    return Verdict(claim, "ours", "", "; ".join(parts), verdict(min(gaps) > 0, max(gaps) > 0))
