"""The tiers that ``pytest --all`` adds to the default one, and what each of them needs.

A test belongs to a tier by its marker, ``@pytest.mark.browser`` say; one without belongs to the
default tier, which is what protects a change. Whatever guards a privacy law stays there.
"""

import os
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

EXPERIMENTS = "pip install '.[experiments]'"
DEV = "pip install --group dev"
DATA = "the data sets: name their folder in RETICENT_DATA"


def packages(names: str, install: str) -> Callable[[], str | None]:
    """A check that Python packages are there."""

    def missing() -> str | None:
        absent = [name for name in names.split() if find_spec(name) is None]
        return f"{', '.join(absent)}: {install}" if absent else None

    return missing


def program(name: str, found: Callable[[], object], install: str) -> Callable[[], str | None]:
    """A check that a program is there."""
    return lambda: None if found() else f"{name}: {install}"


def chromium() -> Path | None:
    """The browser, on the path or named by ``CHROMIUM``."""
    named = os.environ.get("CHROMIUM") or shutil.which("chromium")
    return Path(named) if named and Path(named).is_file() else None


def java() -> Path | None:
    """The Java that Spark would start."""
    home = os.environ.get("JAVA_HOME")
    named = str(Path(home, "bin/java")) if home else shutil.which("java")
    return Path(named) if named and Path(named).exists() else None


def postgres_programs() -> object:
    """The programs of a PostgreSQL server."""
    from benchmarks.postgres_server import programs

    return programs()


@dataclass(frozen=True)
class Tier:
    """Tests that run only with ``--all``."""

    name: str
    what: str
    needs: tuple[Callable[[], str | None], ...] = ()
    installable: bool = True  # some data sets may not be passed on

    def missing(self) -> str | None:
        """What has to be installed before it can run."""
        found = [absent for check in self.needs if (absent := check()) is not None]
        return "; ".join(found) or None


TIERS = (
    Tier("pages", "code on documentation pages and in examples/"),
    Tier("website", "the documentation as a site", (packages("zensical", DEV),)),
    Tier(
        "experiments",
        "figures of the papers, made small",
        (packages("cvxpy igraph implicit networkx sklearn", EXPERIMENTS),),
    ),
    Tier("figures", "pictures: curves, histograms, mappings, trees"),
    Tier("compiled", "what compiles for long: profiles behind a histogram, the authors' gossip"),
    Tier("audits", "queries drawn from as a whole, on inputs that differ in one unit"),
    Tier("solvers", "agreement with general solvers", (packages("cvxpy", EXPERIMENTS),)),
    Tier("fuzz", "thousands of made-up inputs", (packages("schemathesis", DEV),)),
    Tier("processes", "commands as real processes: terminals, signals, pipes, servers"),
    Tier("faults", "processes killed, power cut, disks full"),
    Tier(
        "postgres",
        "ledgers in a real PostgreSQL server",
        (
            packages("psycopg", "pip install '.[postgres]'"),
            program("PostgreSQL", postgres_programs, "apt-get install postgresql"),
        ),
    ),
    Tier(
        "browser",
        "pages in a real browser",
        (
            packages("playwright axe_playwright_python", DEV),
            program("Chromium", chromium, "apt-get install chromium"),
        ),
    ),
    Tier(
        "spark",
        "releases on a real Spark",
        (
            packages("pyspark", "pip install '.[spark]'"),
            program("Java 17", java, "apt-get install openjdk-17-jre-headless"),
        ),
    ),
    Tier(
        "data",
        "loaders on the real data sets",
        (lambda: None if os.environ.get("RETICENT_DATA") else DATA,),
        installable=False,
    ),
    Tier("mutants", "noise 2 % too small, planted in the code"),
    Tier("timing", "durations, which other work on the machine disturbs"),
)


def tiers_of(markers: Iterable[str]) -> list[Tier]:
    """The tiers named by a test's markers; it runs if all of them do."""
    named = set(markers)
    return [tier for tier in TIERS if tier.name in named]
