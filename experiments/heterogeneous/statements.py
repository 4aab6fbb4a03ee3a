"""The paper's statements about its figures, each with a verdict for both protocols.

A difference counts when it is larger than the 99 % half-widths of its two ends together (root of
the sum of squares). "Almost no difference" means at most a tenth of the distance from random to
baseline. Both rules are ours: the paper judges by eye.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from experiments.heterogeneous.figures import LOWEST
from experiments.heterogeneous.results import Row

SMALL = 0.1
HOLDS, FAILS, OPEN = "holds", "fails", "within noise"


class Table:
    """Rows by label."""

    def __init__(self, rows: Iterable[Row], data: str, method: str) -> None:
        self.held = {(r.figure, r.series, r.x): r for r in rows if r.data == data}
        self.method = method

    def get(self, figure: str, series: str, x: object = "") -> Row:
        """One row; ``{}`` in the series stands for the method."""
        return self.held[figure, series.format(self.method), str(x)]

    def along(self, figure: str, series: str) -> list[Row]:
        """All rows of a series, in the order in which they were run."""
        name = series.format(self.method)
        return [row for (f, s, _), row in self.held.items() if (f, s) == (figure, name)]

    @property
    def span(self) -> float:
        """Distance from random to baseline."""
        return self.get("1", "baseline").value - self.get("1", "random").value


@dataclass(frozen=True, slots=True)
class Statement:
    """What the paper says, where, and how it is judged."""

    text: str
    where: str
    judge: Callable[[Table], tuple[str, str]]


def _over(a: Row, b: Row) -> tuple[float, str]:
    gap, noise = a.value - b.value, math.hypot(a.half_width, b.half_width)
    return gap, HOLDS if gap > noise else FAILS if gap < -noise else OPEN


def _zero_is_worst(t: Table) -> tuple[str, str]:
    other = min((t.get("1", "{}", u) for u in LOWEST[1:]), key=lambda row: row.value)
    gap, verdict = _over(other, t.get("1", "{}", LOWEST[0]))
    return verdict, f"{gap:+.3f}"


def _zero_near_random(t: Table) -> tuple[str, str]:
    share = (t.get("1", "{}", LOWEST[0]).value - t.get("1", "random").value) / t.span
    return (HOLDS if share < 0.5 else FAILS), f"{share:.0%} of the way up"


def _half_is_enough(t: Table) -> tuple[str, str]:
    half, most, top = t.get("1", "{}", 0.5), t.get("1", "{}", 0.9), t.get("1", "baseline")
    gap, step = top.value - half.value, abs(most.value - half.value)
    close = max(SMALL * t.span, math.hypot(top.half_width, half.half_width))
    good = max(gap, step) <= close
    return (HOLDS if good else FAILS), f"{gap:.3f} below baseline, {step:.3f} apart"


def _slices(lowest: tuple[float, ...], *, matter: bool) -> Callable[[Table], tuple[str, str]]:
    def judge(t: Table) -> tuple[str, str]:
        spread, noise = 0.0, 0.0
        for u in lowest:
            row = t.along("2", f"{{}} u={u}")
            values = [r.value for r in row]
            if max(values) - min(values) >= spread:
                spread = max(values) - min(values)
                noise = math.sqrt(2) * max(r.half_width for r in row)
        small = spread <= max(SMALL * t.span, noise)
        return (HOLDS if small != matter else FAILS), f"range {spread:.3f}"

    return judge


def _between(t: Table) -> tuple[str, str]:
    low, high = t.get("1", "random"), t.get("1", "baseline")
    cells = [row for u in LOWEST for row in t.along("1e", f"{{}} u={u}")]
    under = [row for row in cells if _over(low, row)[1] == HOLDS]
    over = [row for row in cells if _over(row, high)[1] == HOLDS]
    text = f"{len(under)} of {len(cells)} below random, {len(over)} above baseline"
    return (FAILS if under or over else HOLDS), text


def _order(better: str, worse: str, *, always: bool) -> Callable[[Table], tuple[str, str]]:
    def judge(t: Table) -> tuple[str, str]:
        pairs = list(
            zip(t.along("3", f"{{}} {better}"), t.along("3", f"{{}} {worse}"), strict=True)
        )
        gaps = [_over(a, b) for a, b in pairs]
        above = sum(gap > 0 for gap, _ in gaps)
        sure = sum(v == HOLDS for _, v in gaps)
        mean = sum(gap for gap, _ in gaps) / len(gaps)
        good = above == len(gaps) if always else 2 * above > len(gaps)
        text = f"{above} of {len(gaps)} mixes ({sure} beyond noise), mean {mean:+.3f}"
        return (HOLDS if good else FAILS), text

    return judge


def _not_punished(t: Table) -> tuple[str, str]:
    falls, noise = [], 0.0
    for group in ("Pragmatists", "Unconcerned"):
        rows = {row.x: row for row in t.along("3", f"{{}} {group}")}
        few, many = rows.get("20% / 20%"), rows.get("80% / 10%")
        if few is None or many is None:
            return OPEN, "not run at this size"
        falls.append(few.value - many.value)
        noise = max(noise, math.hypot(few.half_width, many.half_width))
    fall = sum(falls) / 2
    verdict = HOLDS if fall <= 0.03 else OPEN if fall <= 0.03 + noise else FAILS
    return verdict, f"falls by {fall:.3f}"


def _beats_naive(series: str) -> Callable[[Table], tuple[str, str]]:
    def judge(t: Table) -> tuple[str, str]:
        pairs = zip(t.along("4", series), t.along("4", "{} Naive"), strict=True)
        gaps = [(float(a.x.split("%")[0]), *_over(a, b)) for a, b in pairs]
        text = ", ".join(f"{share:.0f} %: {gap:+.3f}" for share, gap, _ in sorted(gaps))
        few = [verdict for share, _, verdict in gaps if share <= 20]
        verdict = HOLDS if all(v == HOLDS for v in few) else FAILS if FAILS in few else OPEN
        return verdict, text

    return judge


def _alpha_helps(t: Table) -> tuple[str, str]:
    rows = t.along("5", "{} Naive")
    gap, verdict = _over(rows[-1], rows[0])
    return verdict, f"{gap:+.3f} from alpha 0 to 1"


STATEMENTS = (
    Statement("Recall with u = 0 is below that with u = 0.5 and 0.9", "Fig. 1", _zero_is_worst),
    Statement("With u = 0 it is nearer to random than to baseline", "Fig. 1", _zero_near_random),
    Statement("u = 0.5 and 0.9 hardly differ and are close to baseline", "Fig. 1", _half_is_enough),
    Statement(
        "Baseline is on top and random at the bottom, for every epsilon", "Fig. 1, 2", _between
    ),
    Statement(
        "Slices hardly matter for u = 0.5 and 0.9", "Fig. 2", _slices(LOWEST[1:], matter=False)
    ),
    Statement("Slices matter for u = 0", "Fig. 2", _slices(LOWEST[:1], matter=True)),
    Statement(
        "Pragmatists always do better than Fundamentalists",
        "Fig. 3",
        _order("Pragmatists", "Fundamentalists", always=True),
    ),
    Statement(
        "Unconcerned always do better than Fundamentalists",
        "Fig. 3",
        _order("Unconcerned", "Fundamentalists", always=True),
    ),
    Statement(
        "Unconcerned often do better than Pragmatists",
        "Fig. 3",
        _order("Unconcerned", "Pragmatists", always=False),
    ),
    Statement(
        "Liberal groups lose at most about 0.03 when Fundamentalists go from 20 % to 80 %",
        "Fig. 3",
        _not_punished,
    ),
    Statement("HDP beats Naive when Fundamentalists are few", "Fig. 4", _beats_naive("{} HDP")),
    Statement(
        "The same, counting only people whom Naive keeps",
        "ours",
        _beats_naive("{} HDP, those who stay"),
    ),
    Statement("Naive improves as Fundamentalists are removed", "Fig. 5", _alpha_helps),
)


def judged(rows: list[Row], data: list[str]) -> list[dict[str, str]]:
    """A verdict with its figure for each statement, protocol and data set."""
    return [
        {"statement": s.text, "where": s.where, "protocol": method, "data": name}
        | dict(zip(("verdict", "figure"), s.judge(Table(rows, name, method)), strict=True))
        for s in STATEMENTS
        for method in ("paper", "ours")
        for name in data
    ]
