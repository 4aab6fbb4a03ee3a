"""What ``reticent reproduce`` prints: the catalogue, what was found, and what is off.

Not here  the runs (reproduce_runs.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from reticent.layout import table

_SHOWN = 20  # points that are off, of one entry


def listed(held: dict[str, Any]) -> Iterator[str]:
    """The catalogue as a table, then the data that are not here, and where they are had."""
    works = {work["module"]: work for work in held["experiments"]}
    rows = [
        (e["id"], e["where"] or "(ours)", e["title"], _data(e), *_cost(works.get(e["module"])))
        for e in held["entries"]
    ]
    yield from table(("id", "in the paper", "title", "data", "CPU ", "page"), rows)
    missing = {
        lack["name"]: f"{lack['why']}; had from {lack['home']}"
        for e in held["entries"]
        for lack in e["missing"]
    }
    if missing:
        yield ""
        yield from table(("data not here", "why"), list(missing.items()))
    notes: dict[str, list[str]] = {}
    for e in held["entries"]:
        for note in _notes(e):
            notes.setdefault(note, []).append(e["id"])
    for note, ids in notes.items():
        yield ""
        yield f"{', '.join(ids)}:"
        yield f"  {note}"


def _notes(entry: dict[str, Any]) -> Iterator[str]:
    if entry["not_reproduced"]:
        yield f"not reproduced: {entry['not_reproduced']}"
    if entry["instead"]:
        yield entry["instead"]
    if entry["not_compared"]:
        yield entry["not_compared"]


def _data(entry: dict[str, Any]) -> str:
    if entry["not_reproduced"]:
        return "not reproduced"
    lacks = [lack["name"] for lack in entry["missing"]]
    if not lacks:
        return "found"
    return f"missing: {', '.join(lacks)}" + (" (--quick needs none)" if entry["module"] else "")


def _cost(work: dict[str, Any] | None) -> tuple[str, str]:
    if work is None:
        return "", ""
    cpu = work["cpu_seconds"]
    about = "" if cpu is None else f"{cpu:.0f} s" if cpu < 100 else f"{cpu / 60:.0f} min"
    return about, f"docs/papers/{work['page']}.md"


def outcome(entry: dict[str, Any], work: dict[str, Any], result: dict[str, Any]) -> dict[str, Any]:
    """What one entry has of the results of its experiment."""
    points = [point for point in result["checks"] if point["id"] == entry["id"]]
    return {
        "id": entry["id"],
        "where": entry["where"],
        "title": entry["title"],
        "experiment": work["module"],
        "page": f"docs/papers/{work['page']}.md",
        "rows": result["counts"].get(entry["id"], 0),
        "parts": entry["parts"],
        "points": len(points),
        "within": sum(point["within"] for point in points),
        "largest": max(points, key=_share, default=None),
        "off": [point for point in points if not point["within"]],
        "not_compared": entry["not_compared"],
        "claims": [v for v in result["verdicts"] if v["id"] == entry["id"]],
        "cpu_seconds": result["run"]["cpu_seconds"],
    }


def _share(point: dict[str, Any]) -> float:
    """Of its tolerance; what was not got is the furthest."""
    if point["got"] is None:
        return float("inf")
    return float(abs(point["got"] - point["expected"]) / point["room"])


def checked(found: Sequence[dict[str, Any]]) -> Iterator[str]:
    """A line for each entry, and below it the points that are off."""
    width = max((len(f["id"]) for f in found), default=0)
    titles = max((len(f["title"]) for f in found), default=0)
    timed: set[str] = set()
    for f in found:
        took = "same run" if f["experiment"] in timed else f"{f['cpu_seconds']:.0f} s"
        timed.add(f["experiment"])
        yield f"{f['id']:{width}}  {f['title']:{titles}}  {_compared(f)}  {took}"
        for point in f["off"][:_SHOWN]:
            yield f"  off: {_named(point)}: expected {point['expected']}, got {point['got']}"
        if len(f["off"]) > _SHOWN:
            yield f"  and {len(f['off']) - _SHOWN} more"


def _compared(found: dict[str, Any]) -> str:
    if not found["points"]:
        why = found["not_compared"] or "nothing is expected of this size"
        return f"no point compared: {why}"
    worst = found["largest"]
    text = f"{found['within']} of {found['points']} points within tolerance"
    if worst["got"] is None:
        return f"{text}  (no value at {_named(worst)})"
    gap = abs(worst["got"] - worst["expected"])
    return f"{text}  (largest gap {gap:.2g} at {_named(worst)})"


def _named(point: dict[str, Any]) -> str:
    return " / ".join(
        part for part in (point["figure"], point["data"], point["series"], point["x"]) if part
    )


def reported(found: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The claims of each entry, the paper's value, ours, and whether they hold."""
    for f in found:
        where = f"{f['where']}: " if f["where"] else ""
        yield f"{f['id']}  {where}{f['title']}"
        shown = f"{f['rows']} rows" if f["rows"] else f"see {', '.join(f['parts'])}"
        yield f"  {shown}; {_compared(f)}; {f['page']}"
        for v in f["claims"]:
            yield f"  {v['verdict']:<14}  {v['claim']} ({v['where']})"
            yield f"  {'':<14}  paper: {v['paper'] or '-'}; here: {v['ours']}"
        yield ""
    verdicts = Counter(v["verdict"] for f in found for v in f["claims"])
    yield "claims: " + (", ".join(f"{n} {v}" for v, n in verdicts.most_common()) or "none")
