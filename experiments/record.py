"""The record of full runs: when, from which commit, with what, how long, and what was found.

Not here  the page that is made of it (overview.py).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RECORD = Path(__file__).parent / "record.json"
GENERATED = ("docs/papers", "experiments/record.json", "experiments/**/expected.json")
PACKAGES = (
    *("reticent", "numpy", "scipy", "matplotlib"),
    *("scikit-learn", "networkx", "igraph", "implicit", "cvxpy", "clarabel", "opendp", "pyarrow"),
)


def read() -> dict[str, Any]:
    """What was recorded, by module."""
    return dict(json.loads(RECORD.read_text(encoding="utf-8"))) if RECORD.exists() else {}


def write(module: str, result: dict[str, Any]) -> None:
    """Put the run of a module, with its verdicts, in place of the one before."""
    points = result["checks"]
    held = read() | {
        module: result["run"]
        | {
            "points": len(points),
            "within": sum(point["within"] for point in points),
            "verdicts": result["verdicts"],
        }
    }
    text = json.dumps(dict(sorted(held.items())), indent=1, ensure_ascii=False)
    RECORD.write_text(f"{text}\n", encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Clock:
    """Times from here on; CPU time is also that of finished programs that were started."""

    began: datetime = field(default_factory=lambda: datetime.now(UTC))
    wall: float = field(default_factory=time.perf_counter)
    cpu: float = field(default_factory=lambda: sum(os.times()[:4]))
    commit: dict[str, Any] = field(default_factory=lambda: _commit())

    def run(self, command: str) -> dict[str, Any]:
        """What is recorded of a run that ends here."""
        return {
            "date": self.began.date().isoformat(),
            **self.commit,
            "command": command,
            "cpu_seconds": round(sum(os.times()[:4]) - self.cpu, 1),
            "wall_seconds": round(time.perf_counter() - self.wall, 1),
            "versions": versions(),
        }


def versions() -> dict[str, str]:
    """Of Python and of the packages that figures depend on, as far as they are installed."""
    held = {"python": ".".join(map(str, sys.version_info[:3]))}
    for name in PACKAGES:
        try:
            held[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return held


def _commit() -> dict[str, Any]:
    """The commit at hand, and whether files other than generated ones differ from it."""
    commit = _git("rev-parse", "HEAD")
    if commit is None:
        return {"commit": None, "changed": None}
    others = [f":(exclude,glob){path}" for path in GENERATED]
    others += [f":(exclude,glob){path}/**" for path in GENERATED[:1]]
    return {"commit": commit, "changed": bool(_git("status", "--porcelain", "--", ".", *others))}


def _git(*words: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", *words], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
        )
    except (OSError, subprocess.SubprocessError):  # no git, or no repository: nothing to name
        return None
    return done.stdout.strip()
