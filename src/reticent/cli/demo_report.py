"""The report of ``reticent demo``: its steps as one page.

Not here  what a report is (report/document.py), the steps.
"""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import replace
from importlib import metadata

from reticent._version import __version__
from reticent.cli.demo_tour import COMMAND, NO_DAY, Step, Tour
from reticent.report.document import Report

TITLE = "Release only as much as each person allows"
SOURCES = (
    "Adult: 48,842 people of the 1994 census of the United States. Becker, B. & Kohavi, R. (1996), "
    "doi.org/10.24432/C5XW20, CC BY 4.0.",
    "GitHub developers: 37,700 developers who follow each other. Rozemberczki, B., Allen, C. & "
    "Sarkar, R. (2019), Multi-scale Attributed Node Embedding, "
    "github.com/benedekrozemberczki/MUSAE, MIT licence.",
    "Film club: 240 films, 60 members and their lists are made up.",
)
SHORT_SOURCES = (
    "Data: a census sample (Adult: Becker & Kohavi 1996, doi.org/10.24432/C5XW20, CC BY 4.0),",
    "GitHub developers (MUSAE: Rozemberczki, Allen & Sarkar 2019, MIT), a made-up film club.",
    "True values are shown because all of it is public.",
)
NOT_PRIVATE = (
    "This run was seeded, so it is NOT private: whoever knows the seed can take the noise away."
)


def report_of(tour: Tour, steps: Sequence[Step]) -> Report:
    """All steps, each with the cards that it made."""
    summary = [
        "Four kinds of release on public data, each within what somebody allows, counted in a "
        "ledger, and stated on a guarantee card; one that the budget does not allow, refused; and "
        "what an attacker gains from each.",
    ]
    notes = [*SOURCES]
    if tour.seed is not None:
        summary.insert(0, NOT_PRIVATE)
        notes.append(f"A seeded run has no date: its cards say {NO_DAY.isoformat()}.")
    return Report(
        title=TITLE,
        summary=summary,
        sections=[
            replace(step.section, cards=[tour.cards[name] for name in step.cards]) for step in steps
        ],
        again=[tour.command, f"{COMMAND} --help", "reticent card verify reticent-demo/*.json"],
        versions={
            "reticent": __version__,
            "Python": platform.python_version(),
            **{name: metadata.version(name) for name in ("matplotlib", "numpy", "scipy")},
        },
        notes=notes,
    )
