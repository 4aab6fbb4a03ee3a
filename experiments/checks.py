"""Results against what is expected: every point, its tolerance, and a picture of the gaps.

Not here  what is run (one package for each paper), which points belong to which figure of a paper
          (catalogue.py).

Runs are seeded, so equal code gives equal figures; a tolerance is for other versions of libraries
and processors. It is a share of the value, and as much again in hundredths: 1 %, but 5 % for what
attackers learn and a library computes on several threads.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

USUAL = 0.01
FLOOR = 0.01
SIZES = ("quick", "full")


@dataclass(frozen=True, slots=True)
class Point:
    """A value that is expected, the one that was got, and how far apart they may be."""

    figure: str
    data: str
    series: str
    x: str
    expected: float
    got: float | None
    room: float

    @property
    def gap(self) -> float:
        """How far apart they are; infinite if there is none."""
        return float("inf") if self.got is None else abs(self.got - self.expected)

    @property
    def within(self) -> bool:
        """Whether that is near enough; what is no number is not."""
        return self.gap <= self.room

    def plain(self) -> dict[str, Any]:
        """As data for JSON."""
        return asdict(self) | {"within": self.within}

    def __str__(self) -> str:
        key = " / ".join((self.figure, self.data, self.series, self.x))
        return f"{key}: expected {self.expected}, got {self.got}, may differ by {self.room:.3g}"


def compared(path: Path, result: dict[str, Any], value: str) -> Iterator[Point]:
    """Every point of expected.json whose data were run; ``value`` is a row's field.

    A figure that is gone while its data are there has no value at any of its points.
    """
    expected = json.loads(path.read_text())
    held = {(r["figure"], r["data"], r["series"], r["x"]): r[value] for r in result["rows"]}
    ran = {r["data"] for r in result["rows"]}
    for figure, data, series, x, number in expected[result["size"]]:
        if data in ran:
            room = tolerance(expected["tolerance"], figure) * (abs(number) + FLOOR)
            yield Point(figure, data, series, x, number, held.get((figure, data, series, x)), room)


def tolerance(by_figure: dict[str, float], figure: str) -> float:
    """That of the figure, or the one for all others."""
    return by_figure.get(figure, by_figure["others"])


def accept(path: Path, result: dict[str, Any], value: str, kept: Collection[str]) -> None:
    """Write this run's part of expected.json anew, one row per line, so that changes can be read.

    Figures that were not run stay as they were, and so do tolerances.
    """
    held = json.loads(path.read_text()) if path.exists() else {size: [] for size in SIZES}
    ran = {(r["figure"], r["data"]) for r in result["rows"]}
    held[result["size"]] = [row for row in held[result["size"]] if tuple(row[:2]) not in ran] + [
        [r["figure"], r["data"], r["series"], r["x"], round(r[value], 5)]
        for r in result["rows"]
        if r["figure"] in kept
    ]
    head = json.dumps(held.get("tolerance", {"others": USUAL}))
    parts = [
        f'"{size}": [\n' + ",\n".join(json.dumps(row) for row in held[size]) + "\n]"
        for size in SIZES
    ]
    path.write_text(f'{{"tolerance": {head},\n' + ",\n".join(parts) + "}\n")


def drawn(pyplot: Any, points: Iterable[dict[str, Any]]) -> tuple[Any, str]:
    """Ours over what is expected, the gaps below within their band; and what that shows."""
    held = [point for point in points if point["got"] is not None]
    off = sum(not point["within"] for point in held)
    figure, (above, below) = pyplot.subplots(
        2, 1, figsize=(7.2, 4.4), sharex=True, height_ratios=(2, 1)
    )
    at = range(len(held))
    above.plot(at, [p["expected"] for p in held], "o", ms=4, mfc="none", color="#0072B2")
    above.plot(at, [p["got"] for p in held], "x", ms=3, color="#D55E00")
    above.set_ylabel("value: expected o, got x")
    above.set_yscale("symlog", linthresh=0.1)
    above.yaxis.set_major_formatter(lambda value, _: f"{value:,.6g}")
    below.axhspan(-1, 1, color="#dddddd")
    below.plot(
        at, [(p["got"] - p["expected"]) / p["room"] for p in held], ".", ms=3, color="#000000"
    )
    below.set_ylabel("gap / tolerance")
    below.set_xlabel("point, in the order of expected.json")
    figure.tight_layout()
    return figure, f"{len(held) - off} of {len(held)} points are within their tolerance, the band."
