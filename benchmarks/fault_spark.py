"""Faults on Spark: one answer and one charge each when executors and drivers are killed.

    python -m benchmarks.fault_spark [--people 20000] [--quick] [--json]

On a cluster of two workers the executor of one is killed (SIGKILL) after it drew and before it
committed, and a straggling task is overtaken by a speculative copy of itself. Then one release is
made by a driver that is killed at one moment after the other, with all its processes, and started
again with the same key until it ends by itself. Output and ledger are read without Spark. As a
control the draws of all attempts are counted: who charges as they draw charges some people twice.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import reticent as rt
from benchmarks.fault_spark_cluster import cluster
from reticent.data.catalogue import Catalogue
from reticent.ledger import open_ledger
from reticent.ledger.reports import balances
from reticent.noise import Source
from reticent.preferences import Preferences
from reticent.queries.histogram import HistogramTerms
from reticent.tasks.batched import Batched, Drawn

FOUND = 1
PARTITIONS = 40
PAUSE = 0.25  # seconds that a batch takes longer
STRAGGLES = 25.0  # seconds that one attempt of one task takes longer
PATIENCE = 300.0
CHARGE = 400_000_000
BROKEN = ("missing", "repeated", "not_once", "redrawn")

MOMENTS: dict[str, tuple[str, int | str, bool]] = {  # which call, or the note, and after it
    "drawn": ("write_note", "/chosen", False),
    "chosen": ("write_note", "/chosen", True),
    "charging": ("charge", 2, True),
    "charged": ("merge", 1, True),
    "showing": ("write_note", "/showing", True),
    "shown": ("write_note", "/_reticent", False),
    "clearing up": ("drop", 1, False),
}
"""When a driver kills itself; besides, it is killed from outside in the midst of the draw."""


def public_tables() -> dict[str, Any]:
    """Those of a small histogram."""
    films = Catalogue.of(
        [[1, 1, 0], [0, 1, 0], [0, 1, 1], [1, 0, 0]],
        items=("Heat", "Up", "Glory", "Fargo"),
        attributes=("Crime", "Drama", "War"),
    )
    wishes = "version = 1\nattributes.default = 0.2\n[providers.club]\nepsilon = 0.4\ntotal = 0.4\n"
    return {"catalogue": films, "preferences": Preferences.parse(wishes)}


@dataclass(frozen=True)
class Watched:
    """A release that takes its time and writes down what every attempt draws."""

    job: Batched
    log: str
    pause: float = 0.0
    straggler: str = ""  # the person whose task straggles at the first attempt

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.job, name)

    def draw(self, batch: Any, source: Source) -> Drawn:
        """As the job, late."""
        drawn = self.job.draw(batch, source)
        if not batch.num_rows:
            return drawn
        with open(self.log, "a", encoding="utf-8") as log:
            log.write(f"{batch.num_rows} {batch.column('person')[0]} {os.getppid()}\n")
        time.sleep(self.pause)
        if self.straggler in batch.column("person").to_pylist():
            try:
                os.close(os.open(f"{self.log}.straggled", os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return drawn
            time.sleep(STRAGGLES)
        return drawn


def drive(given: argparse.Namespace) -> None:
    """A driver, in a process of its own: one release, or as much of it as it lives for."""
    from reticent.spark import publishing
    from reticent.spark.folders import pyspark

    folder = Path(given.folder)
    spark = (
        pyspark("sql")
        .SparkSession.builder.master(given.master)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.executorEnv.PYTHONPATH", os.pathsep.join(sys.path))
        .config("spark.speculation", str(given.straggler >= 0).lower())
        .config("spark.speculation.interval", "200ms")
        .config("spark.speculation.quantile", "0.3")
        .config("spark.executor.memory", "512m")
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1")  # starts sooner
        .config("spark.executor.extraJavaOptions", "-XX:TieredStopAtLevel=1")
        .config("spark.local.dir", str(folder / "local"))
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    publishing.PART = max(given.people // 7, 1)
    items = "array(element_at(array('Heat', 'Up', 'Glory', 'Fargo'), cast(id % 4 + 1 AS int)))"
    frame = spark.range(given.people, numPartitions=PARTITIONS)
    frame = frame.selectExpr("id AS person", f"{items} AS items")
    if given.moment:
        die_at(publishing, given.moment)
    watch(str(folder / "drawn.log"), given.pause, str(given.straggler))
    made = rt.spark.release(
        rt.Histogram(provider="club"),
        {"profiles": frame, **public_tables()},
        columns={"item": "items"},
        out=folder / "out",
        key="k",
        ledger=folder / "ledger.db",
    )
    print(json.dumps({"replayed": made.replayed}), flush=True)
    spark.stop()


def watch(log: str, pause: float, straggler: str) -> None:
    """Let all histograms of this driver be drawn by ``Watched`` batches."""
    true = HistogramTerms.batches

    def watched(terms: HistogramTerms, columns: Mapping[str, str]) -> Batched:
        return Watched(true(terms, columns), log, pause, straggler)

    HistogramTerms.batches = watched  # type: ignore[method-assign,assignment]


def die_at(publishing: Any, moment: str) -> None:
    """Kill this process and all that it started before or after a call."""
    name, which, after = MOMENTS[moment]
    calls = 0

    def fatal(true: Callable[..., Any]) -> Callable[..., Any]:
        def called(*args: Any, **options: Any) -> Any:
            nonlocal calls
            calls += 1
            now = calls == which if isinstance(which, int) else args[1].endswith(which)
            if now and not after:
                os.killpg(os.getpgid(0), signal.SIGKILL)
            found = true(*args, **options)
            if now:
                os.killpg(os.getpgid(0), signal.SIGKILL)
            return found

        return called

    if name == "charge":
        from reticent.ledger import SqliteLedger

        SqliteLedger.once_with = fatal(SqliteLedger.once_with)  # type: ignore[method-assign]
    else:
        setattr(publishing, name, fatal(getattr(publishing, name)))


@dataclass(slots=True)
class Run:
    """One folder, the drivers that work in it, and what they leave there."""

    folder: Path
    people: int

    def start(self, *options: str) -> subprocess.Popen[str]:
        """A driver with a process group of its own."""
        command = [sys.executable, "-m", "benchmarks.fault_spark", "--people", str(self.people)]
        environment = {
            **os.environ,
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        }
        with (self.folder / "talk.txt").open("a") as talk:
            return subprocess.Popen(
                [*command, "--folder", str(self.folder), *options],
                env=environment,
                start_new_session=True,
                stdout=subprocess.PIPE,
                stderr=talk,
                text=True,
            )

    def draws(self) -> list[tuple[int, int, int]]:
        """Draws of all attempts so far: how many people, the first of them, and by whose child."""
        log = self.folder / "drawn.log"
        lines = log.read_text().splitlines() if log.exists() else []
        return [(int(n), int(first), int(by)) for n, first, by in map(str.split, lines)]

    def drawn(self) -> int:
        """People drawn by all attempts so far, some of them more than once."""
        return sum(n for n, _, _ in self.draws())

    def wait_for(self, driver: subprocess.Popen[str], drawn: int) -> None:
        """Until so many people have been drawn."""
        end = time.monotonic() + PATIENCE
        while self.drawn() < drawn:
            if driver.poll() is not None or time.monotonic() > end:
                raise RuntimeError((self.folder / "talk.txt").read_text()[-3000:])
            time.sleep(0.05)

    def ended(self, driver: subprocess.Popen[str]) -> dict[str, Any]:
        """What a driver that lives to its end says."""
        said, _ = driver.communicate(timeout=PATIENCE)
        if driver.returncode:
            raise RuntimeError((self.folder / "talk.txt").read_text()[-3000:])
        found: dict[str, Any] = json.loads(said.splitlines()[-1])
        return found

    def chosen(self) -> list[tuple[Any, ...]] | None:
        """The draw that counts, if there is one."""
        notes = list((self.folder / "out.unreleased/draws/chosen").glob("*.txt"))
        if not notes or not notes[0].read_text():
            return None
        draw = json.loads(notes[0].read_text())["draw"]
        return rows(self.folder / "out.unreleased/draws" / draw)

    def judge(self) -> dict[str, int]:
        """Who is missing, who is there more than once, who was not charged exactly once."""
        shown = [row[0] for row in rows(self.folder / "out")]
        with open_ledger(self.folder / "ledger.db") as ledger, ledger.reading() as connection:
            spent = {one.account.subject: one.spent for one in balances(connection)}
            count = connection.execute("SELECT count(*) FROM charge").fetchone()[0]
        wrong = sum(spent.get(str(person)) != CHARGE for person in range(self.people))
        return {
            "missing": len(set(range(self.people)) - set(shown)),
            "repeated": len(shown) - len(set(shown)),
            "not_once": wrong + abs(count - self.people) + abs(len(spent) - self.people),
        }


def rows(folder: Path) -> list[tuple[Any, ...]]:
    """A table that Spark wrote, in order of people, without charges."""
    import pyarrow.parquet as parquet

    names = ["person", "Crime", "Drama", "War"]
    table = parquet.ParquetDataset(sorted(map(str, folder.glob("*.parquet")))).read(names)
    found = zip(*(column.to_pylist() for column in table.columns), strict=True)
    return sorted((int(person), *numbers) for person, *numbers in found)


def executor_of(daemon: int) -> int:
    """The process that started the Python of a task."""
    return int(Path(f"/proc/{daemon}/stat").read_text().rpartition(")")[2].split()[1])


def executor_killed(people: int) -> dict[str, int]:
    """Kill one of two executors in mid-run, and let a task straggle."""
    with tempfile.TemporaryDirectory(prefix="fault-spark-") as folder:
        run = Run(Path(folder), people)
        with cluster(run.folder) as own:
            options = ("--pause", str(PAUSE), "--straggler", str(people - 1))
            driver = run.start("--master", own.address, *options)
            try:
                run.wait_for(driver, people // 4)
                there = own.executors()
                victim = executor_of(run.draws()[-1][2])
                assert victim in there
                os.kill(victim, signal.SIGKILL)
                run.ended(driver)
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(driver.pid, signal.SIGKILL)
        last = people - people // PARTITIONS
        copies = sum(first == last for _, first, _ in run.draws())
        return run.judge() | {
            "executors": len(there),
            "executors_killed": 1,
            "speculative_copies": copies - 1,
            "control_violations": run.drawn() - people,
        }


def drivers_killed(people: int, moments: list[str]) -> dict[str, int]:
    """Kill a driver at all moments, one after the other, and let the last one end."""
    redrawn = killed = 0
    with tempfile.TemporaryDirectory(prefix="fault-spark-") as folder:
        run = Run(Path(folder), people)
        driver = run.start("--pause", str(PAUSE))
        run.wait_for(driver, people // 3)
        os.killpg(driver.pid, signal.SIGKILL)
        driver.communicate()
        killed += 1
        chosen = run.chosen()
        for moment in moments:
            driver = run.start("--moment", moment)
            driver.communicate(timeout=PATIENCE)
            if driver.returncode != -signal.SIGKILL:
                raise RuntimeError((run.folder / "talk.txt").read_text()[-3000:])
            killed += 1
            if (now := run.chosen()) is not None:
                redrawn += chosen is not None and now != chosen
                chosen = now
        made = run.ended(run.start())
        redrawn += chosen is not None and rows(run.folder / "out") != chosen
        return run.judge() | {
            "drivers_killed": killed,
            "redrawn": redrawn,
            "replayed": int(made["replayed"]),
            "control_violations": run.drawn() - people,
        }


def main() -> None:
    """Run and report; exit status 1 if somebody has not exactly one answer and one charge."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fault_spark", description=__doc__)
    parser.add_argument("--people", type=int, default=20_000)
    parser.add_argument("--quick", action="store_true", help="fewer moments")
    parser.add_argument("--json", action="store_true", help="print one JSON object only")
    for name in ("folder", "moment"):
        parser.add_argument(f"--{name}", default="", help=argparse.SUPPRESS)
    parser.add_argument("--master", default="local[2]", help=argparse.SUPPRESS)
    parser.add_argument("--pause", type=float, default=0.0, help=argparse.SUPPRESS)
    parser.add_argument("--straggler", type=int, default=-1, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.folder:
        drive(given)
        return
    moments = ["charging", "showing"] if given.quick else list(MOMENTS)
    found = {
        "executor": executor_killed(given.people),
        "driver": drivers_killed(given.people, moments),
    }
    results = {f"{what}_{key}": n for what, told in found.items() for key, n in told.items()}
    if given.json:
        print(json.dumps({"benchmark": "faults-spark", "results": results}))
    else:
        for key, value in results.items():
            print(f"  {key:<32} {value:>12,}")
    if any(told.get(key) for told in found.values() for key in BROKEN):
        print("FAILED: somebody has not one answer and one charge", file=sys.stderr)
        raise SystemExit(FOUND)
    if not all(told["control_violations"] for told in found.values()):
        print("FAILED: nothing was drawn twice, so nothing was tried", file=sys.stderr)
        raise SystemExit(FOUND)


if __name__ == "__main__":
    main()
