"""Curves as one table, one picture or one JSON object, and what to know about them.

Not here  what is computed (tasks/comparing.py and its like), drawing (report/curve_figures.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from reticent.cli.files import write_atomically
from reticent.cli.output import say, say_json, talk
from reticent.layout import table

if TYPE_CHECKING:
    from reticent.tasks.comparing import Curves, Point


def show(
    curves: Curves, schema: str, *, plot: Path | None, as_json: bool, notes: tuple[str, ...] = ()
) -> None:
    """Draw if asked to; then one table, or one JSON object, and what to know about it."""
    if plot is not None:
        write_atomically(plot, picture(curves))
    if as_json:
        say_json(schema, **curves.fields())
        return
    say(title(curves))
    say()
    for line in _lines(curves):
        say(line)
    for note in (drawn(curves), *_reference(curves), *curves.notes, *notes):
        talk(note)
    if plot is not None:
        talk(f"figure: {plot}")


def title(curves: Curves) -> str:
    """What is measured, and of what."""
    share = ", in %" if curves.share else ""
    return f"{curves.y[:1].upper()}{curves.y[1:]}{share}: {curves.what}"


def picture(curves: Curves) -> str:
    """A line for each method."""
    from reticent.report.curve_figures import Point as Drawn
    from reticent.report.curve_figures import curve_figure

    return curve_figure(
        [Drawn(row.way, row.x, row.value, row.low, row.high) for row in curves.rows],
        what=curves.what,
        x=curves.x,
        y=curves.y,
        better=curves.better,
        reference=curves.reference,
        reference_name=curves.reference_name,
        runs=curves.runs,
    )


def _lines(curves: Curves) -> list[str]:
    """A line for each x, and for each group of people if there are any; a column per method."""
    groups: list[Mapping[str, object]] = list(curves.more.get("groups", ()))
    names = list(dict.fromkeys(str(row["group"]) for row in groups))
    heads = [f"{curves.x} ", *(["people"] if names else []), *(f"{way} " for way in curves.ways)]
    lines = []
    for x in curves.places:
        whole = [curves.at(way, x) for way in curves.ways]
        cells = ["" if point is None else _cell(point, curves) for point in whole]
        lines.append([f"{x:.4g}", *(["everybody"] if names else []), *cells])
        for name in names:
            found = {row["way"]: row for row in groups if (row["group"], row["x"]) == (name, x)}
            own = (_cell(_point(found[way]), curves) for way in curves.ways)
            lines.append(["", name, *own])
    return table(heads, lines)


def _point(row: Mapping[str, object]) -> Point:
    from reticent.tasks.comparing import Point

    kept = ("way", "x", "value", "low", "high")
    return Point(**{name: row[name] for name in kept})  # type: ignore[arg-type]


def _cell(point: Point, curves: Curves) -> str:
    """A value with its interval, or with what is proved about any; shares are of 100."""
    value = _number(point.value, curves)
    if point.low is not None and point.high is not None:
        return f"{value} ({_number(point.low, curves)}-{_number(point.high, curves)})"
    if point.more.get("bound") is None:
        return value
    least = _number(point.more["bound"], curves)
    return value if least == value else f"{value} ({least})"


def _number(value: float, curves: Curves) -> str:
    from reticent.guarantees.average_numbers import TINY
    from reticent.tasks.comparing import amount

    if curves.share:
        return f"{100 * value:.1f}"
    return "0" if abs(value) < TINY else amount(value)


def drawn(curves: Curves) -> str:
    """What the brackets hold."""
    if not curves.runs:
        return "computed from the law of each method: there is nothing to draw"
    if curves.runs == 1:
        return "one run: nothing is known of how far it is off; --runs 10 would tell"
    return (
        f"in brackets: 95 % intervals of {curves.runs} runs, over draws and what is held out; none "
        "if all agree"
    )


def _reference(curves: Curves) -> tuple[str, ...]:
    if curves.reference is None:
        return ()
    percent = " %" if curves.share else ""
    return (f"{curves.reference_name}: {_number(curves.reference, curves)}{percent}",)
