"""What all benchmarks share: options, CPU time, a table for people, JSON for programs.

Not here  what is measured, one module each.

CPU time of the process, not wall time, so that other work on the machine counts less. Competitors
take turns, so that a slow spell of the machine hits all of them alike, and medians are reported.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TypeAlias

Work: TypeAlias = Callable[[], object]

MISSING = 4
"""Exit status when something to compare with is not installed."""


@dataclass(frozen=True, slots=True)
class Options:
    """How a benchmark was asked to run."""

    quick: bool
    json: bool
    data: Path | None = None

    @classmethod
    def parse(cls, module: str, description: str, *, data: str = "") -> Options:
        """Read the command line of ``python -m module``; ``data`` says what --data DIR holds."""
        parser = argparse.ArgumentParser(prog=f"python -m {module}", description=description)
        parser.add_argument("--quick", action="store_true", help="end within a minute")
        parser.add_argument("--json", action="store_true", help="print one JSON object only")
        if data:
            home = os.environ.get("RETICENT_DATA")
            parser.add_argument(
                "--data",
                metavar="DIR",
                type=Path,
                default=Path(home) if home else None,
                help=f"{data} (default: RETICENT_DATA)",
            )
        given = parser.parse_args()
        return cls(quick=given.quick, json=given.json, data=getattr(given, "data", None))


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: ``amount`` things took ``seconds`` of CPU time."""

    key: str
    label: str
    amount: int
    seconds: float

    @property
    def rate(self) -> float:
        """Things per CPU-second."""
        return self.amount / self.seconds


@dataclass(frozen=True, slots=True)
class Goal:
    """A figure to reach, or not to pass, by the key of its result."""

    key: str
    least: float = -math.inf
    most: float = math.inf

    @property
    def words(self) -> str:
        """As the table says it."""
        if self.most < math.inf:
            return f"goal at most {self.most:>7,.4g}"
        return f"goal {self.least:>7,.4g}"


def require_module(name: str, extra: str) -> None:
    """Leave with a sentence and status 4 unless ``name`` can be imported."""
    if find_spec(name) is None:
        print(
            f"This benchmark compares with {name}, which is not installed here. "
            f"Install it with: pip install 'reticent[{extra}]'",
            file=sys.stderr,
        )
        raise SystemExit(MISSING)


def cpu_seconds(work: Work) -> float:
    """CPU time of one call."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def medians(works: Mapping[str, Work], *, rounds: int) -> dict[str, float]:
    """Median CPU time of one call of each, called in turns ``rounds`` times."""
    taken: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            taken[name].append(cpu_seconds(work))
    return {name: statistics.median(times) for name, times in taken.items()}


def report(
    name: str,
    sections: Mapping[str, Sequence[Row]],
    results: Mapping[str, float],
    goals: Sequence[Goal],
    options: Options,
) -> None:
    """Print everything measured: a table and the goals, or one JSON object."""
    if options.json:
        rounded = {key: float(f"{value:.4g}") for key, value in results.items()}
        print(json.dumps({"benchmark": name, "results": rounded}))
        return
    for title, rows in sections.items():
        print(f"\n{title}")
        for row in rows:
            print(
                f"  {row.label:<46} {row.amount:>9,} in {1000 * row.seconds:>10,.3f} ms"
                f" {row.rate:>14,.0f} per CPU-second"
            )
    print("\nGoals")
    for goal in goals:
        within = goal.least <= results[goal.key] <= goal.most
        reached = "reached" if within else "NOT REACHED"
        print(f"  {goal.key:<46} {results[goal.key]:>9,.4g}   {goal.words}   {reached}")


def explain_keys(title: str, results: Mapping[str, float], meanings: Mapping[str, str]) -> None:
    """Print what else was found, one line each; a meaning stands for all keys of its pattern."""
    print(f"\n{title}")
    for pattern, meaning in meanings.items():
        for key, value in results.items():
            if re.fullmatch(pattern, key):
                print(f"  {key:<44} {value:>10.4g}   {meaning}")
