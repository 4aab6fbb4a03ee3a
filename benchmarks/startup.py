"""How much CPU time and how much disk it takes to begin.

Run       python -m benchmarks.startup
Not here  what the commands then do.
"""

from __future__ import annotations

import re
import resource
import statistics
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution, requires
from pathlib import Path

from benchmarks.harness import Goal, Options, Row, report

MEGABYTE = 1_000_000


def main() -> None:
    """Measure, print."""
    options = Options.parse("benchmarks.startup", "CPU time to begin, and disk used.")
    rounds = 3 if options.quick else 9
    rows = [
        Row(key, label, 1, child_seconds(code, rounds))
        for key, label, code in (
            ("python", "python -c pass", "pass"),
            ("import", "import reticent", "import reticent"),
            ("noise", "first draw of noise", FIRST_DRAW),
            ("help", "reticent --help", HELP),
        )
    ]
    seconds = {row.key: row.seconds for row in rows}
    results = {
        "import_cpu_seconds": seconds["import"] - seconds["python"],
        "help_cpu_seconds": seconds["help"],
        "first_draw_cpu_seconds": seconds["noise"],
        "core_mb": core_bytes() / MEGABYTE,
        "spare_import": 0.2 / max(seconds["import"] - seconds["python"], 1e-3),
        "spare_help": 0.6 / seconds["help"],
        "spare_core": 500 * MEGABYTE / core_bytes(),
    }
    goals = [Goal(key, 1) for key in ("spare_import", "spare_help", "spare_core")]
    report("startup", {"To begin": rows}, results, goals, options)


FIRST_DRAW = (
    "from reticent.noise import Source, discrete_laplace\n"
    "discrete_laplace(scale=10, source=Source.system())"
)
HELP = (
    "import sys\nfrom reticent.cli.main import run\nsys.argv = ['reticent', '--help']\n"
    "sys.stdout = open('/dev/null', 'w')\nrun()"
)


def child_seconds(code: str, rounds: int) -> float:
    """Median CPU time of a fresh interpreter that runs ``code``."""
    taken = []
    for _ in range(rounds):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", code], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(taken)


def core_bytes() -> int:
    """Disk used by reticent and everything a plain install brings."""
    return sum(package_bytes(name) for name in core_packages())


def core_packages() -> set[str]:
    """Names of reticent and of all it needs without extras, that are installed here."""
    found: set[str] = set()
    waiting = ["reticent"]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        try:
            needs = requires(name) or []
        except PackageNotFoundError:  # for another platform
            continue
        found.add(name)
        waiting += [
            re.split(r"[\s\[<>=!~;(]", need, maxsplit=1)[0]
            for need in needs
            if "extra ==" not in need
        ]
    return found


def package_bytes(name: str) -> int:
    """Size of one installed package's files."""
    files = distribution(name).files or []
    paths = {Path(str(file.locate())) for file in files}
    return sum(path.stat().st_size for path in paths if path.is_file())


if __name__ == "__main__":
    main()
