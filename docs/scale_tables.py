"""The tables of docs/scale.md, made from what ``python -m benchmarks.scale --json`` measured.

Not here  measuring (benchmarks/scale.py), where the record is kept (benchmarks/scale.json).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

RECORD = Path(__file__).parents[1] / "benchmarks/scale.json"
PRICE = 0.05
"""Money for an hour of a core: an assumption, to be replaced by your own."""
CORES = (64, 1024)
CROWDS = (10**8, 10**9)
KINDS = {
    "histogram": "histograms, 20 attributes, about 30 items",
    "charge": "charging everybody, SQLite ledger",
    "profile": "profiles through a mapping, 7 columns",
    "pairs": "similarity with 10 given others",
    "neighbours": "10 nearest among everybody",
    "influence": "10 influential nodes, 10 neighbours each",
}
GROWTH = {
    "histogram": "exponent_histogram",
    "profile": "exponent_profile",
    "pairs": "exponent_pairs",
    "neighbours": "exponent_similarity",
    "influence": "exponent_influence",
}
BYTES = {
    "bytes_table": "table read",
    "bytes_histogram": "output written",
    "bytes_ledger": "ledger, after its first release",
}
SERIAL = {"charge"}
"""What one process does, however many there are."""
_BLOCK = re.compile(r"<!-- made: (\w+) -->\n.*?<!-- end -->", re.DOTALL)


def page(text: str) -> str:
    """``text`` with every table between markers made anew."""
    results = json.loads(RECORD.read_text(encoding="utf-8"))["results"]
    tables: dict[str, Callable[[dict[str, float]], list[list[str]]]] = {
        "costs": costs,
        "memory": memory,
        "plan": plan,
        "sizes": sizes,
    }
    return _BLOCK.sub(lambda found: _block(found[1], tables[found[1]](results)), text)


def costs(results: dict[str, float]) -> list[list[str]]:
    """What a million people cost, and how it grows."""
    head = ["release", "CPU seconds for a million", "people a CPU second", "exponent"]
    rows = [head]
    for kind, words in KINDS.items():
        taken = results[f"us_{kind}"]
        growth = results.get(GROWTH.get(kind, ""))
        rows.append(
            [words, _short(taken), f"{1e6 / taken:,.0f}", "" if growth is None else f"{growth:.2f}"]
        )
    for name, words in (
        ("us_copy", "*to compare:* copying that table by pyarrow"),
        ("us_opendp", "*to compare:* the noise of those histograms by OpenDP, extrapolated"),
    ):
        rows.append([words, _short(results[name]), f"{1e6 / results[name]:,.0f}", ""])
    return rows


def memory(results: dict[str, float]) -> list[list[str]]:
    """What is held and moved."""
    rows = [["what", "for a person", f"for {results['people']:,.0f} people"]]
    for key, words in BYTES.items():
        whole = results[key] * results["people"] / 1e6
        rows.append([words, f"{results[key]:.0f} bytes", f"{whole:,.0f} MB"])
    held = f"{results['peak_mb']:,.0f} MB"
    rows.append(
        [f"memory, {results['cpus']:.0f} workers and the process", "at most 16 bytes more", held]
    )
    return rows


def plan(results: dict[str, float]) -> list[list[str]]:
    """Time and money for crowds that nobody measured, by the measured law."""
    rows = [["release", "people", "core-hours", *(f"on {c:,} cores" for c in CORES), "money"]]
    for kind, words in KINDS.items():
        for people in CROWDS:
            hours = core_hours(results, kind, people)
            walls = [hours if kind in SERIAL else hours / cores for cores in CORES]
            told = [words, _power(people), _short(hours), *map(_lasting, walls)]
            rows.append([*told, f"{PRICE * hours:.2f}"])
    return rows


def sizes(results: dict[str, float]) -> list[list[str]]:
    """What lies on disks and crosses the network."""
    rows = [["what", *map(_power, CROWDS)]]
    for key, words in BYTES.items():
        rows.append([words, *(f"{results[key] * people / 1e9:,.1f} GB" for people in CROWDS)])
    return rows


def core_hours(results: dict[str, float], kind: str, people: int) -> float:
    """By the cost at the largest size measured, and the exponent from there on if above 1."""
    measured = results["neighbours_people" if kind in _SMALLER else "people"]
    growth = max(results.get(GROWTH.get(kind, ""), 1.0), 1.0)
    taken = results[f"us_{kind}"] * 1e-6 * measured
    return taken * (people / measured) ** growth / 3600


_SMALLER = {"pairs", "neighbours", "influence"}  # measured for fewer people


def _short(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def _power(people: int) -> str:
    return f"10^{len(str(people)) - 1}"


def _lasting(hours: float) -> str:
    """A time in the unit that one would say."""
    if hours >= 1:
        return f"{hours:.1f} h"
    return f"{60 * hours:.0f} min" if hours >= 1 / 30 else f"{3600 * hours:.1f} s"


def _block(name: str, rows: list[list[str]]) -> str:
    head, *rest = rows
    sides = ["---", *["---:"] * (len(head) - 1)]
    lines = [f"| {' | '.join(cells)} |" for cells in (head, sides, *rest)]
    return f"<!-- made: {name} -->\n" + "\n".join(lines) + "\n<!-- end -->"
