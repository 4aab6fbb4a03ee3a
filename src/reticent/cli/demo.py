"""``reticent demo``: preferences, plans, all kinds of release, a refusal and attacks, in seconds.

Not here  the steps (demo_club.py, demo_similarity.py, demo_histogram.py, demo_census.py,
          demo_graph.py, demo_attacks.py), the report (demo_report.py).
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reticent.cli.charging import opened
from reticent.cli.failures import ExitCode, Failure, reason
from reticent.cli.files import write_atomically
from reticent.cli.output import Json, progress, say, say_json, talk
from reticent.layout import table

if TYPE_CHECKING:
    from reticent.cli.demo_tour import Make, Step, Tour

CARDS = (
    *("similarity-bob", "similarity-cleo", "histogram"),
    *("profile", "influencers", "percentile", "tree"),
)
FORMS = ("json", "html", "txt")
_ENDINGS = ("", ".lock", "-wal", "-shm")  # of the files of a ledger
STEPS = {
    "preferences": "Preferences: one file, four dials",
    "plan": "Plan: what each release would tell, before anything is read",
    "similarity": "Similarity: Ann and two other members of a film club",
    "histogram": "Histogram: Ann's genres for the club, under her budgets",
    "profile": "Profile: a census record that must not tell the income",
    "influencers": "Selection: ten influential developers on GitHub",
    "census": "Selection: a percentile and a decision tree of the census",
    "refusal": "Refusal: what a budget, or a missing line, does not allow",
    "attack": "Attack: what somebody gains, before and after",
}


def demo(
    directory: Annotated[
        Path,
        typer.Option("--directory", help="Where the report, cards and the ledger are written."),
    ] = Path("reticent-demo"),
    fast: Annotated[
        bool, typer.Option("--fast", help="Choose developers by number of links, in fewer runs.")
    ] = False,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            help="Draw the same every time. NOT private, and marked so everywhere.",
            min=0,
            metavar="N",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """A tour on public data: all kinds of release, cards, attacks and a report, in seconds."""
    _prepare(directory)
    from reticent.cli.demo_report import report_of
    from reticent.cli.demo_tour import LEDGER, REPORT, Tour
    from reticent.report.page import report_html

    if seed is not None:
        talk(f"not private: seeded with {seed}; who knows the seed can take the noise away")
        for ending in _ENDINGS:  # its people have the same names each time, and so the same budgets
            (directory / f"{LEDGER}{ending}").unlink(missing_ok=True)
    with opened(str(directory / LEDGER)) as ledger:
        tour = Tour(folder=directory, ledger=ledger, fast=fast, seed=seed)
        steps = _run(tour)
    report = report_of(tour, list(steps.values()))
    paths = _write(tour, steps, {REPORT: report_html(report)})
    if as_json:
        fields = {name: value for step in steps.values() for name, value in step.fields.items()}
        private = seed is None
        files = sorted(map(str, paths))
        say_json("demo/1", private=private, **fields, ledger=str(directory / LEDGER), files=files)
    else:
        _say_steps(steps)
        _say_files(directory)
    if report.failures:
        raise typer.Exit(ExitCode.FOUND)


def _steps() -> dict[str, Make]:
    """Each step's function, by name."""
    from reticent.cli import (
        demo_attacks,
        demo_census,
        demo_club,
        demo_graph,
        demo_histogram,
        demo_similarity,
    )

    made: tuple[Make, ...] = (
        demo_club.preferences,
        plan,
        demo_similarity.similarity,
        demo_histogram.histogram,
        demo_census.profile,
        demo_graph.influencers,
        demo_census.selections,
        demo_histogram.refusal,
        demo_attacks.attack,
    )
    return dict(zip(STEPS, made, strict=True))


def _run(tour: Tour) -> dict[str, Step]:
    found: dict[str, Step] = {}
    with progress(len(STEPS)) as advance:
        for name, step in _steps().items():
            advance(STEPS[name])
            found[name] = step(tour)
    return found


def plan(tour: Tour) -> Step:
    """Consequences before parameters; no data are read."""
    from reticent.cli import demo_census, demo_graph, demo_histogram, demo_similarity
    from reticent.cli.demo_tour import Step
    from reticent.report.document import Grid, Section

    rows = [
        *demo_similarity.planned(tour.preferences()),
        *demo_histogram.planned(tour.preferences()),
        *demo_census.planned(),
        *demo_graph.planned(tour.fast),
    ]
    heads = ("release", "right at most ", "costs", "error to expect")
    cells = [(row.release, row.right, row.cost, row.error) for row in rows]
    told = (
        "Someone undecided (50 in 100) about one film, one person or one link can be right at most "
        "so many times in 100; a profile tells so many bits about income, on average. Nothing was "
        "read and nothing was released."
    )
    lines = [
        "Someone undecided (50 in 100) about one film, person or link is then right at most so",
        "many times in 100; a profile tells so many bits on average:",
        *table(heads, cells),
        "No record was read and nothing was released.",
    ]
    grid = Grid("What each release would tell, at which cost and error", heads, cells)
    section = Section(title="Plan: before anything is read", words=[told], grids=[grid])
    fields = {
        "plan": [
            dict(zip(("release", "right_at_most", "cost", "error"), c, strict=True)) for c in cells
        ]
    }
    return Step(lines=lines, fields=fields, section=section)


def _own() -> set[str]:
    """What a tour may find from the one before, by path inside the directory."""
    from reticent.cli.demo_tour import LEDGER, PREFERENCES, REPORT, RUNS

    cards = {f"{name}.{form}" for name in CARDS for form in FORMS}
    kept = {f"{LEDGER}{ending}" for ending in _ENDINGS}
    return cards | kept | {PREFERENCES, REPORT, RUNS} | {f"{RUNS}/{name}.json" for name in STEPS}


def _prepare(directory: Path) -> None:
    """Make the directory; refuse one that holds anything but what an earlier demo wrote there."""
    again = "reticent demo --directory another-name"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        found = {path.relative_to(directory).as_posix() for path in directory.rglob("*")}
    except OSError as error:
        what = f"{directory} cannot be made a directory"
        raise Failure(what, why=reason(error), next_command=again) from None
    if found - _own():
        why = "the demo overwrites nothing but its own files"
        raise Failure(f"{directory} holds other files", why=why, next_command=again)


def _write(tour: Tour, steps: dict[str, Step], files: dict[str, str]) -> list[Path]:
    """Cards in three forms, what each step found, and the report."""
    from reticent.cli.demo_tour import PREFERENCES, RUNS
    from reticent.guarantees.card_views import card_html, card_text

    for name, card in tour.cards.items():
        forms = (card.to_json(), card_html(card), card_text(card))
        files |= {f"{name}.{form}": text for form, text in zip(FORMS, forms, strict=True)}
    for name, step in steps.items():
        held = {"schema": "demo-step/1", "step": name, "private": tour.seed is None, **step.fields}
        files[f"{RUNS}/{name}.json"] = json.dumps(held, indent=2, ensure_ascii=False) + "\n"
    (tour.folder / RUNS).mkdir(exist_ok=True)
    for name, text in files.items():
        write_atomically(tour.folder / name, text)
    return [tour.folder / name for name in (*files, PREFERENCES)]


def _say_steps(steps: dict[str, Step]) -> None:
    from reticent.cli.demo_report import SHORT_SOURCES

    for line in SHORT_SOURCES:
        say(line)
    for number, (name, step) in enumerate(steps.items(), start=1):
        say(f"\n{number}. {STEPS[name]}")
        for line in step.lines:
            say(f"   {line}".rstrip())


def _say_files(directory: Path) -> None:
    from reticent.cli.demo_tour import LEDGER, PREFERENCES, REPORT, RUNS

    folder = shlex.quote(str(directory))
    say(f"\nOpen {directory / REPORT}: all of this with pictures.")
    say(f"Beside it: {len(CARDS)} guarantee cards, {PREFERENCES}, {LEDGER}, {RUNS}/.")
    say(f"next: reticent card verify {folder}/*.json")
