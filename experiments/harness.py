"""What all experiments share: options, seeds, verdicts, what is expected, and pages of the docs.

Not here  what is run, one package for each paper.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Generic, TypeVar

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


# What is expected


def unexpected(path: Path, result: dict[str, Any], value: str) -> Iterator[str]:
    """What differs from expected.json by more than its tolerance; what was not run is passed over.

    The tolerance is a share of the value, and as much again in hundredths. ``value`` is the field
    of a row that is compared.
    """
    expected = json.loads(path.read_text())
    held = {(r["figure"], r["data"], r["series"], r["x"]): r[value] for r in result["rows"]}
    ran = {(r["figure"], r["data"]) for r in result["rows"]}
    for *key, number in expected[result["size"]]:
        room = expected["tolerance"] * (abs(number) + 0.01)
        if tuple(key[:2]) in ran and not (abs(held.get(tuple(key), float("nan")) - number) <= room):
            yield f"{' / '.join(key)}: expected {number}, got {held.get(tuple(key))}"


def accept(path: Path, result: dict[str, Any], value: str, kept: Collection[str]) -> None:
    """Write this run's part of expected.json anew, one row per line, so that changes can be read.

    Figures that were not run stay as they were.
    """
    held = json.loads(path.read_text()) if path.exists() else {"quick": [], "full": []}
    ran = {(r["figure"], r["data"]) for r in result["rows"]}
    held[result["size"]] = [row for row in held[result["size"]] if tuple(row[:2]) not in ran] + [
        [r["figure"], r["data"], r["series"], r["x"], round(r[value], 5)]
        for r in result["rows"]
        if r["figure"] in kept
    ]
    parts = [
        f'"{size}": [\n' + ",\n".join(json.dumps(row) for row in held[size]) + "\n]"
        for size in ("quick", "full")
    ]
    path.write_text('{"tolerance": 0.05,\n' + ",\n".join(parts) + "}\n")


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
    options: str = "--data DIR"

    def run(
        self,
        asked: argparse.Namespace,
        results: Callable[[], dict[str, Any]],
        markdown: Callable[[dict[str, Any]], str],
    ) -> int:
        """Run, draw, write, print and compare; 1 if a figure is not as expected."""
        started = time.process_time()
        result = results()
        result["seconds"] = time.process_time() - started
        result["command"] = f"python -m {self.module} {self.options}"
        docs = not asked.quick and not asked.no_docs and not result["skipped"]
        for folder in (asked.out, DOCS / self.page if docs else None):
            if folder is not None:
                result["findings"] = self.draw(self.table(result), folder)
        if asked.out is not None:
            (asked.out / f"{self.page}.json").write_text(json.dumps(result, indent=1))
        text = markdown(result)
        if docs:
            write_results(DOCS / f"{self.page}.md", self.module, text)
        sys.stdout.write(json.dumps(result) + "\n" if asked.json else text)
        if asked.accept:
            accept(self.expected, result, self.value, self.kept(result))
        wrong = list(self.unexpected(result))
        sys.stderr.writelines(f"{sentence}\n" for sentence in wrong)
        return 1 if wrong else 0

    def unexpected(self, result: dict[str, Any]) -> Iterator[str]:
        """What differs from expected.json by more than its tolerance."""
        return unexpected(self.expected, result, self.value)


def write_results(path: Path, module: str, text: str) -> None:
    """Put ``text`` between the markers of ``module`` in ``path``."""
    begin, end = (f"<!-- generated by python -m {module}: {what} -->" for what in ("begin", "end"))
    held = path.read_text(encoding="utf-8")
    before, rest = held.split(begin)
    after = rest.split(end)[1]
    path.write_text(f"{before}{begin}\n\n{text}\n{end}{after}", encoding="utf-8")


def markdown_table(head: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """Rows of text as a table."""
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def claims_table(verdicts: Iterable[dict[str, str]]) -> str:
    """The paper's claims, each with its verdict."""
    body = [
        [f"{v['claim']} ({v['where']})", v["paper"], v["ours"], f"**{v['verdict']}**"]
        for v in verdicts
    ]
    return markdown_table(["claim", "paper", "here", "verdict"], body)


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
