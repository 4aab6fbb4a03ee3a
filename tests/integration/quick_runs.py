"""Quick runs of experiments, as somebody would start them, without any data set at hand."""

import json
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOUND_BY = ("RETICENT_DATA", "RETICENT_DIFFPRIVLIB")
PAGES = {
    "experiments.heterogeneous": "heterogeneous",
    "experiments.multilevel": "multilevel",
    "experiments.mappings": "mappings",
    "experiments.dampening": "dampening",
    "experiments.dampening.tree": "trees",
}


@cache
def kept() -> Path:
    """Where the results of all quick runs of this process are, a folder for each page."""
    held = tempfile.TemporaryDirectory(prefix="quick-runs-")
    _HELD.append(held)  # removed when the process ends
    return Path(held.name)


_HELD: list[tempfile.TemporaryDirectory] = []


@cache
def quick_run(module: str) -> dict:
    """What it printed, which must be what it wrote, and the figures it drew; run once."""
    page = PAGES[module]
    out = kept() / page
    done = subprocess.run(
        [sys.executable, "-m", module, "--quick", "--json", "--out", str(out)],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name not in FOUND_BY},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.stdout, done.stderr
    printed = json.loads(done.stdout)
    assert [point for point in printed["checks"] if not point["within"]] == []
    assert done.returncode == 0, done.stderr
    assert json.loads((out / f"{page}.json").read_text()) == printed
    return printed | {"drawn": {path.stem: path.read_text() for path in out.glob("*.svg")}}


def values(result: dict, figure: str) -> dict:
    """The values of a figure by data set, series and point."""
    rows = [row for row in result["rows"] if row["figure"] == figure]
    return {(row["data"], row["series"], row["x"]): row["value"] for row in rows}
