"""What all experiments share: options, seeds, verdicts, and pages of the docs.

Not here  what is run (one package for each paper), what is expected (checks.py), which figure of a
          paper it is (catalogue.py).
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Generic, TypeVar

from experiments import overview, record
from experiments.catalogue import claimed, home, work
from experiments.checks import Point, accept, compared, drawn
from experiments.overview import markdown_table, write_between
from reticent.noise import Source
from reticent.report.style import svg

HOLDS, FAILS, PARTLY, OPEN = "holds", "fails", "in part", "cannot be told"
BLACK, BLUE, RED, GREEN = "#000000", "#0072B2", "#D55E00", "#009E73"
PINK, ORANGE, SKY = "#CC79A7", "#E69F00", "#56B4E9"
STYLE = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
}
T = TypeVar("T")


def parser(module: str, description: str, *, data: str, out: str) -> argparse.ArgumentParser:
    """The options of ``python -m module``: ``data`` and ``out`` say what the folders hold."""
    made = argparse.ArgumentParser(prog=f"python -m {module}", description=description)
    home = os.environ.get("RETICENT_DATA")
    made.add_argument("--quick", action="store_true", help="a small size, for a first look")
    made.add_argument("--json", action="store_true", help="print data instead of tables")
    made.add_argument(
        "--data",
        type=Path,
        metavar="DIR",
        default=Path(home) if home else None,
        help=f"holds {data} (default: RETICENT_DATA)",
    )
    made.add_argument("--out", type=Path, metavar="DIR", help=f"write {out} there")
    made.add_argument(
        "--saved",
        type=Path,
        metavar="DIR",
        help="take the results from there, where --out put them",
    )
    made.add_argument("--no-docs", action="store_true", help="leave docs/papers as it is")
    made.add_argument("--accept", action="store_true", help="write expected.json anew")
    return made


def stream(*label: object) -> Source:
    """A seeded source of its own for each labelled step, so that steps do not shift each other."""
    text = "/".join(map(str, label)).encode()
    return Source.seeded(zlib.crc32(text) << 32 | zlib.crc32(text[::-1]))


def tell(sentence: str) -> None:
    """On the error stream, at once."""
    sys.stderr.write(f"{sentence}\n")
    sys.stderr.flush()


def tell_skipped(reasons: Iterable[str], *, quick: bool) -> None:
    """What a full run goes without; a quick one is on bundled and made data anyway."""
    if not quick:
        for reason in reasons:
            tell(f"skipped: {reason}")


def progress(step: str) -> None:
    """Only for somebody who waits."""
    if sys.stderr.isatty():
        tell(step)


@dataclass(frozen=True, slots=True)
class Verdict:
    """One line of the table of claims."""

    claim: str
    where: str
    paper: str
    ours: str
    verdict: str

    def plain(self) -> dict[str, str]:
        """As data for JSON."""
        return asdict(self)


def verdict(good: bool, partly: bool = False) -> str:
    """In words."""
    return HOLDS if good else PARTLY if partly else FAILS


# Pages

DOCS = Path(__file__).parents[1] / "docs" / "papers"


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment(Generic[T]):
    """What is done with the results of a paper's experiment, and by what.

    ``page`` names its page of the docs and its figures; ``value`` is the field of a row that is
    compared with ``expected``, for figures that ``kept`` names; ``table`` makes of plain results
    what ``draw`` takes.
    """

    module: str
    page: str
    expected: Path
    value: str
    kept: Callable[[dict[str, Any]], Collection[str]]
    table: Callable[[dict[str, Any]], T]
    draw: Callable[[T, Path], dict[str, str]]

    def run(
        self,
        asked: argparse.Namespace,
        results: Callable[[], dict[str, Any]],
        markdown: Callable[[dict[str, Any]], str],
    ) -> int:
        """Run, draw, write, print and compare; 1 if a figure is not as expected."""
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # an interrupt ends it, without a traceback
        result = self._results(asked, results)
        self._label(result)
        if asked.accept:  # what is recorded stays the comparison with what was expected before
            for sentence in self.unexpected(result):
                tell(f"accepted: {sentence}")
            accept(self.expected, result, self.value, self.kept(result))
        docs = not asked.quick and not asked.no_docs and not result["skipped"]
        for folder in (asked.out, DOCS / self.page if docs else None):
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
                result["findings"] = self.draw(self.table(result), folder)
        text = markdown(result)
        if asked.out is not None:
            self._keep(asked.out, result)
        if docs:
            write_between(DOCS / f"{self.page}.md", self.module, text)
            record.write(self.module, result)
            overview.write()
        sys.stdout.write(json.dumps(result) + "\n" if asked.json else text)
        wrong = list(self.unexpected(result))
        if not asked.json:  # where all points are
            sys.stderr.writelines(f"{sentence}\n" for sentence in wrong)
        return 1 if wrong else 0

    def _results(
        self, asked: argparse.Namespace, results: Callable[[], dict[str, Any]]
    ) -> dict[str, Any]:
        """Of a run, or of one that was kept."""
        if asked.saved is not None:
            path = asked.saved / f"{self.page}.json"
            if not path.is_file():
                sys.exit(f"{self.module}: there is no {path}")
            held: dict[str, Any] = json.loads(path.read_text())
            if (held["size"] == "quick") != asked.quick:
                sys.exit(f"{self.module}: the results in {asked.saved} are of a {held['size']} run")
            return held
        clock, started = record.Clock(), time.process_time()
        result = results()
        result["seconds"] = time.process_time() - started
        result["run"] = clock.run(work(self.module).command)
        return result

    def _label(self, result: dict[str, Any]) -> None:
        """Say of every claim, point and row which figure of the paper it is of."""
        for found in result["verdicts"]:
            found["id"] = claimed(self.module, found["claim"], found["where"])
        result["counts"] = Counter(
            home(self.module, row["figure"], row["data"]) for row in result["rows"]
        )
        result["checks"] = [
            point.plain() | {"id": home(self.module, point.figure, point.data)}
            for point in self.points(result)
        ]

    def _keep(self, folder: Path, result: dict[str, Any]) -> None:
        (folder / f"{self.page}.json").write_text(json.dumps(result, indent=1))
        pyplot = _pyplot() if result["checks"] else None
        if pyplot is not None:
            with pyplot.rc_context(STYLE):
                figure, finding = drawn(pyplot, result["checks"])
                text = svg(figure, says=finding)
                (folder / "checks").mkdir(exist_ok=True)
                (folder / "checks" / f"{self.page}.svg").write_text(text, encoding="utf-8")
                pyplot.close(figure)

    def points(self, result: dict[str, Any]) -> Iterator[Point]:
        """Every value that is expected of what was run, beside what was got."""
        return compared(self.expected, result, self.value)

    def unexpected(self, result: dict[str, Any]) -> Iterator[str]:
        """What differs from expected.json by more than its tolerance, in words."""
        return (str(point) for point in self.points(result) if not point.within)


def claims_table(verdicts: Iterable[dict[str, str]]) -> str:
    """The paper's claims, each with its verdict."""
    body = [
        [
            f"{v['claim']} ({v['where']})",
            v["paper"],
            v["ours"],
            f"**{v['verdict']}**",
            f"`reticent reproduce run {v['id']}`",
        ]
        for v in verdicts
    ]
    return markdown_table(["claim", "paper", "here", "verdict", "command"], body)


def number(value: float) -> str:
    """At least three digits, never in exponents."""
    size = abs(value)
    if size < 5e-5:
        return "0"
    digits = next((d for least, d in ((100, 0), (10, 1), (1, 2), (0.1, 3)) if size >= least), 4)
    return f"{value:,.{digits}f}"


# Figures


@dataclass(frozen=True, slots=True)
class Figure(Generic[T]):
    """A file name, what it shows in words, and how it is drawn from results of type T."""

    name: str
    title: str
    finding: Callable[[T], str]
    draw: Callable[[Any, T], Any]
    needs: str


def draw_all(
    figures: Iterable[Figure[T]], table: T, folder: Path, has: Callable[[str], bool]
) -> dict[str, str]:
    """Write every figure whose rows are there; what each one shows, by file name."""
    pyplot = _pyplot()
    if pyplot is None:
        return {}
    folder.mkdir(parents=True, exist_ok=True)
    shown = {}
    for figure in figures:
        if has(figure.needs):
            finding = figure.finding(table)
            with pyplot.rc_context(STYLE):
                drawn = figure.draw(pyplot, table)
                text = svg(drawn, says=finding)
                (folder / f"{figure.name}.svg").write_text(text, encoding="utf-8")
                pyplot.close(drawn)
            shown[figure.name] = finding
    return shown


def _pyplot() -> Any:
    try:
        import_module("matplotlib").use("Agg")
    except ImportError:
        return None
    return import_module("matplotlib.pyplot")


def decades(axes: Any, which: str) -> None:
    """A log axis with plain numbers on it, also between powers of ten if there are few."""
    ticker = import_module("matplotlib.ticker")
    axis = axes.yaxis if which == "y" else axes.xaxis
    (axes.set_yscale if which == "y" else axes.set_xscale)("log")
    low, high = axes.get_ylim() if which == "y" else axes.get_xlim()
    marks = (1.0, 2.0, 5.0) if high / low < 200 else (1.0,)
    axis.set_major_locator(ticker.LogLocator(subs=marks))
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axis.set_minor_formatter(ticker.NullFormatter())


def finished(drawn: Any, axes: Any, columns: int, note: str = "") -> Any:
    """One legend for all panels below them, a note above."""
    handles, labels = axes.get_legend_handles_labels()
    drawn.legend(handles, labels, loc="lower center", ncols=columns)
    if note:
        drawn.suptitle(note, fontsize=8, y=0.995)
    rows = -(-len(labels) // columns)
    drawn.tight_layout(rect=(0, 0.01 + 0.025 * rows + 0.12 / drawn.get_figheight(), 1, 0.99))
    return drawn
