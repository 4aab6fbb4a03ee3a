"""Releases on Spark: as in one process, one answer and one charge for everybody."""

import json
import os
import shutil
import subprocess
import sys
import venv
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import reticent as rt
from benchmarks.fault_spark import executor_killed
from reticent.data.catalogue import Catalogue
from reticent.errors import MissingExtra, ParameterError
from reticent.ledger import LedgerError, open_ledger
from reticent.noise import Source
from reticent.preferences import Preferences
from reticent.queries.base import Answer
from reticent.running.merging import TooLittleLeft
from reticent.running.staging import StagingError
from reticent.spark import publishing
from reticent.spark.workers import WorkersError, check_workers
from reticent.tasks.histogram_arrow import HistogramBatches

from .same_results import CHECKS, ON_SPARK, rows, spent

pytestmark = ON_SPARK
FILMS = Catalogue.of(
    [[1, 1, 0], [0, 1, 0], [0, 1, 1], [1, 0, 0]],
    items=("Heat", "Up", "Glory", "Fargo"),
    attributes=("Crime", "Drama.Old", "War film"),
)
WISHES = Preferences.parse(
    "version = 1\nattributes.default = 0.2\nproviders.club.epsilon = 0.4\n"
    "providers.club.total = 0.4\n"
)
CHARGE = 400_000_000
SEEN = [(f"p{i:03}", [FILMS.items[j] for j in range(4) if i >> j & 1]) for i in range(150)]


@pytest.fixture
def ledger(tmp_path: Path) -> Any:
    with open_ledger(tmp_path / "ledger.db") as held:
        yield held


def people(spark: Any, partitions: int = 3) -> Any:
    return spark.createDataFrame(SEEN, "person string, items array<string>").repartition(partitions)


QUERY = rt.Histogram(provider="club")


def released(frame: Any, folder: Path, ledger: Any, **options: Any) -> Answer:
    options = {"key": "k", "columns": {"item": "items"}, **options}
    data = {"profiles": frame, "catalogue": FILMS, "preferences": WISHES}
    return rt.spark.release(QUERY, data, out=folder / "out", ledger=ledger, **options)


def shown(spark: Any, folder: Path) -> list[tuple[Any, ...]]:
    return rows(spark, str(folder / "out"))


def alone(source: Source) -> list[tuple[Any, ...]]:
    job = HistogramBatches.of(FILMS, WISHES, "club")
    names, items = zip(*SEEN, strict=True)
    batch = pa.record_batch({"person": list(names), "items": list(items)})
    table = job.draw(batch, source).batch
    return sorted(tuple(row.values()) for row in table.to_pylist())


def test_importing_needs_no_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.sql.functions", None)
    with pytest.raises(MissingExtra, match=r"reticent\[spark\]"):
        released(None, Path("nowhere"), None)


@pytest.mark.parametrize("partitions", [1, 5])
def test_the_same_as_in_one_process(
    spark: Any, partitions: int, tmp_path: Path, ledger: Any
) -> None:
    made = released(people(spark, partitions), tmp_path, ledger, source=Source.seeded(3))
    assert shown(spark, tmp_path) == alone(Source.seeded(3))
    assert sorted(map(tuple, made.value.collect())) == alone(Source.seeded(3))
    assert (made.terms.known.count, made.spent, made.replayed) == (150, "0.4", False)
    assert not made.card.release_event().private


def test_lines_are_brought_together(spark: Any, tmp_path: Path, ledger: Any) -> None:
    lines = [(name, item) for name, items in SEEN for item in (*items, None, *items)]
    frame = spark.createDataFrame(lines, "who string, `a film` string").repartition(3)
    columns, source = {"person": "who", "item": "a film"}, Source.seeded(3)
    released(frame, tmp_path, ledger, columns=columns, source=source)
    empty = {name for name, items in SEEN if not items}
    wanted = [row for row in alone(Source.seeded(3)) if row[0] not in empty]
    assert shown(spark, tmp_path) == wanted


def test_weights_of_lines_count_as_elsewhere(spark: Any, tmp_path: Path) -> None:
    """The least of an item; what is no number or below a unit withholds, also that one is there."""
    nan = float("nan")
    lines = [("ann", "Up", 1.0), ("ann", "Up", 0.5), ("ann", "Heat", 2.0), ("bob", "Heat", nan)]
    lines += [("cid", "Up", None), ("cid", "Up", 1.0), ("dan", "Up", 1e-9), ("eve", "Up", 0.25)]
    lines += [(None, "Up", 1.0), ("", "Up", 1.0), ("eve", "", 1.0), ("eve", None, 1.0)]
    frame = spark.createDataFrame(lines, "user string, item string, weight double")
    released(frame, tmp_path, None, columns=None, source=Source.seeded(3))
    held = dict(zip(frame.columns, map(list, zip(*lines, strict=True)), strict=True))
    data = {"profiles": held, "catalogue": FILMS, "preferences": WISHES}
    alone = QUERY.release(data, source=Source.seeded(3))
    assert shown(spark, tmp_path) == alone.terms.rows(alone.value)
    assert list(alone.value) == ["ann", "eve"]


def test_declared_people_are_there_and_others_are_not(
    spark: Any, tmp_path: Path, ledger: Any
) -> None:
    declared, source = ["p001", "p002", "zoe", "7"], Source.seeded(3)
    released(people(spark), tmp_path, ledger, people=declared, source=source)
    own = {row[0]: row for row in alone(Source.seeded(3))}
    found = {row[0]: row for row in shown(spark, tmp_path)}
    assert sorted(found) == sorted(declared)
    assert [found[name] for name in declared[:2]] == [own[name] for name in declared[:2]]
    assert spent(ledger) == dict.fromkeys(declared, CHARGE)


def test_everybody_once_and_again_the_same(spark: Any, tmp_path: Path, ledger: Any) -> None:
    unnamed = spark.createDataFrame([(None, []), ("", ["Up"])], people(spark).schema)
    first = released(people(spark).union(unnamed), tmp_path, ledger)
    held = shown(spark, tmp_path)
    again = released(people(spark).limit(0), tmp_path, ledger)
    assert (again.replayed, again.spent, again.terms.known.count) == (True, "0", 150)
    assert again.card.to_json() == first.card.to_json()
    assert first.card.release_event().private
    assert (first.budget.spent, first.budget.limit) == ("0.4", "0.4")
    assert shown(spark, tmp_path) == held
    assert [row[0] for row in held] == [name for name, _ in SEEN]
    assert spent(ledger) == dict.fromkeys((name for name, _ in SEEN), CHARGE)
    assert first.value.columns == ["person", *FILMS.attributes]
    assert [path.name for path in (tmp_path / "out.unreleased").iterdir()] == ["receipt"]


def test_the_output_says_public_facts_only(spark: Any, tmp_path: Path, ledger: Any) -> None:
    made = released(people(spark), tmp_path, ledger, key="a key of mine")
    out = tmp_path / "out"
    note = "".join(path.read_text() for path in (out / "_reticent").glob("*.txt"))
    assert set(json.loads(note)) == {"schema", "people", "private", "counted", "event"}
    held = b"".join(path.read_bytes() for path in out.rglob("*") if path.is_file())
    (receipt,) = (tmp_path / "out.unreleased/receipt").glob("*.txt")
    told = json.loads(receipt.read_text())
    assert set(told) == {"schema", "key", "nonce", "release", "card"}
    for private in (told["release"], "a key of mine", made.card.id):
        assert private.encode() not in held
    assert (told["key"], told["nonce"]) == (made.key, None)  # its digest has the ledger's secret


def test_without_its_receipt_nothing_is_repeated(spark: Any, tmp_path: Path, ledger: Any) -> None:
    released(people(spark), tmp_path, ledger)
    shutil.rmtree(tmp_path / "out.unreleased")
    with pytest.raises(StagingError, match="its receipt is not"):
        released(people(spark), tmp_path, ledger)
    assert spent(ledger) == dict.fromkeys((name for name, _ in SEEN), CHARGE)


def test_tasks_do_not_share_noise(spark: Any, tmp_path: Path) -> None:
    alike = spark.range(400).selectExpr("id AS person", "array('Up') AS items").repartition(8)
    made = released(alike, tmp_path, None)
    assert made.terms.known.count == 400
    noise = Counter(row[1:] for row in shown(spark, tmp_path))
    # scales are about 5 to 20, so two of 400 triples seldom agree; eight equal streams would
    assert max(noise.values()) < 8
    assert len(noise) > 200


def test_somebody_in_two_rows_is_refused(spark: Any, tmp_path: Path, ledger: Any) -> None:
    twice = people(spark).union(people(spark).limit(1))
    with pytest.raises(ParameterError, match="one row for each person") as error:
        released(twice, tmp_path, ledger)
    assert "p0" not in str(error.value)
    assert not spent(ledger)


@pytest.mark.parametrize(
    "columns", ["person", "person string, items double", "person date, items array<string>"]
)
def test_wrong_columns_are_refused_early(
    spark: Any, columns: str, tmp_path: Path, ledger: Any
) -> None:
    schema = columns if " " in columns else f"{columns} string"
    with pytest.raises(rt.ReticentError, match=r"column|items must be|person must be"):
        released(spark.createDataFrame([], schema), tmp_path, ledger)


def test_nobody(spark: Any, tmp_path: Path, ledger: Any) -> None:
    with pytest.raises(ParameterError, match="with people in it"):
        released(people(spark).limit(0), tmp_path, ledger)
    assert not (tmp_path / "out").exists()
    released(people(spark), tmp_path, ledger)
    assert len(shown(spark, tmp_path)) == len(SEEN)


def test_a_refusal_charges_nobody(spark: Any, tmp_path: Path, ledger: Any) -> None:
    released(people(spark).limit(1), tmp_path / "a", ledger, key="1")
    with pytest.raises(TooLittleLeft, match="1 person has"):
        released(people(spark), tmp_path / "b", ledger, key="2")
    assert list(spent(ledger).values()) == [CHARGE]
    assert not (tmp_path / "b/out").exists()


def test_another_output_or_release_is_kept(spark: Any, tmp_path: Path, ledger: Any) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/mine").write_text("x")
    with pytest.raises(StagingError, match="there already"):
        released(people(spark), tmp_path, ledger)
    assert not spent(ledger)
    released(people(spark), tmp_path / "b", ledger)
    with pytest.raises(StagingError, match="another key"):
        released(people(spark), tmp_path / "b", ledger, key="other")


class Broken(Exception):
    """The driver ends here."""


def breaks(monkeypatch: pytest.MonkeyPatch, name: str, at: int, *, after: bool) -> None:
    """Let the n-th call of a function of publishing be the last thing a driver does."""
    true: Callable[..., Any] = getattr(publishing, name)
    calls = []

    def breaking(*args: Any, **options: Any) -> Any:
        calls.append(args)
        if len(calls) == at and not after:
            raise Broken
        found = true(*args, **options)
        if len(calls) == at:
            raise Broken
        return found

    monkeypatch.setattr(publishing, name, breaking)


MOMENTS = {
    "after the draw": ("write_note", 1, False),
    "after it is chosen": ("write_note", 1, True),
    "after charging": ("merge", 1, True),
    "before it is shown": ("write_note", 2, True),
    "before its receipt": ("write_note", 3, False),
    "after its receipt": ("write_note", 3, True),
    "after it is shown": ("write_note", 4, False),
    "before clearing up": ("drop", 1, False),
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_driver_that_ends_is_taken_up(
    spark: Any, moment: str, tmp_path: Path, ledger: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, at, after = MOMENTS[moment]
    staging = tmp_path / "out.unreleased/draws"
    with monkeypatch.context() as broken:
        breaks(broken, name, at, after=after)
        with pytest.raises(Broken):
            released(people(spark), tmp_path, ledger)
    chosen = [json.loads(path.read_text()) for path in staging.glob("chosen/*.txt")]
    drawn = rows(spark, str(staging / chosen[0]["draw"])) if chosen else None
    released(people(spark, 4), tmp_path, ledger)
    assert spent(ledger) == dict.fromkeys((name for name, _ in SEEN), CHARGE)
    held = shown(spark, tmp_path)
    assert [row[0] for row in held] == [name for name, _ in SEEN]
    assert drawn is None or held == [row[:-1] for row in drawn]
    assert not staging.exists()


def test_charging_that_ends_half_way_is_taken_up(
    spark: Any, tmp_path: Path, ledger: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publishing, "PART", 40)
    true, calls = ledger.submit, []

    def charged(_: Any, *args: Any, **options: Any) -> Any:
        calls.append(args)
        if len(calls) == 3:
            raise Broken
        return true(*args, **options)

    with monkeypatch.context() as broken:
        broken.setattr(type(ledger), "submit", charged)
        with pytest.raises(Broken):
            released(people(spark), tmp_path, ledger)
    assert len(spent(ledger)) == 80
    monkeypatch.setattr(publishing, "PART", 7)  # another version, say: parts stay what they were
    made = released(people(spark, 4), tmp_path, ledger)
    assert made.terms.known.count == 150
    assert spent(ledger) == dict.fromkeys((name for name, _ in SEEN), CHARGE)


def test_lists_that_were_drawn_are_charged_to_nobody_else(
    spark: Any, tmp_path: Path, ledger: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that is taken up with the table of other people would charge those."""
    query = rt.Neighbours(epsilon=1, k=1, profile_size=20)
    given = {"ledger": ledger, "key": "k", "out": tmp_path / "out"}

    def lines(*names: str) -> Any:
        return spark.createDataFrame(
            [(name, "Heat") for name in names], "person string, item string"
        )

    with monkeypatch.context() as broken:
        breaks(broken, "merge", 1, after=False)
        with pytest.raises(Broken):
            rt.spark.release(query, lines("ann", "bob", "cy"), **given)
    with pytest.raises(StagingError, match="another release"):
        rt.spark.release(query, lines("dan", "eve"), **given)
    assert not spent(ledger)
    rt.spark.release(query, lines("cy", "bob", "ann"), **given)  # the control
    assert set(spent(ledger)) == {row[0] for row in shown(spark, tmp_path)} == {"ann", "bob", "cy"}


def test_a_second_draw_needs_a_second_key(spark: Any, tmp_path: Path, ledger: Any) -> None:
    released(people(spark), tmp_path / "a", ledger)
    with pytest.raises(LedgerError, match="a second draw is a second release"):
        released(people(spark), tmp_path / "b", ledger)
    assert set(spent(ledger).values()) == {CHARGE}


@pytest.mark.parametrize("task", CHECKS)
def test_tasks_release_the_same(spark: Any, task: str, tmp_path: Path, ledger: Any) -> None:
    CHECKS[task](spark, tmp_path, ledger)


def test_an_executor_is_killed_and_a_task_overtaken(spark: Any) -> None:
    found = executor_killed(8_000)  # on a cluster of its own
    assert [found[key] for key in ("missing", "repeated", "not_once")] == [0, 0, 0]
    assert found["executors_killed"] == 1
    assert found["control_violations"] > 0  # some were drawn twice: one draw is shown and charged


SAID = "1000 people, epsilon 0.8 charged to each\n1000 people, epsilon 0 charged to each\n"


def test_the_example_runs_and_is_on_the_page(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = Path(__file__).parents[3]
    script = (root / "examples/spark_histogram.py").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)  # which the session, begun elsewhere, does not see
    own = script.replace("histograms.parquet", str(tmp_path / "histograms.parquet"))
    exec(compile(own, "spark_histogram.py", "exec"), {})
    assert capsys.readouterr().out.startswith(SAID)
    page = (root / "docs/howto/spark.md").read_text(encoding="utf-8")
    shown = page.split("```python\n")[1].split("```")[0]
    code = [line for line in script.splitlines() if line and not line.startswith("# %%")]
    assert [line for line in shown.splitlines() if line] == code[1:-1]


def test_the_example_runs_by_the_python_that_starts_it(tmp_path: Path) -> None:
    """Nothing is activated: workers must not take another Python, and nothing is a stack trace."""
    script = Path(__file__).parents[3] / "examples/spark_histogram.py"
    bare = {"PATH": "/usr/local/bin:/usr/bin:/bin", "SPARK_LOCAL_IP": "127.0.0.1"}
    kept = {name: os.environ[name] for name in ("HOME", "JAVA_HOME") if name in os.environ}
    ended = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        env=bare | kept,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    assert ended.stdout.startswith(SAID)
    assert "Exception" not in ended.stderr
    assert "\tat " not in ended.stderr


def test_workers_without_reticent_are_told_what_they_need(spark: Any, tmp_path: Path) -> None:
    venv.create(tmp_path / "bare", with_pip=False)
    check_workers(spark)  # those of this test have it
    context = spark.sparkContext
    own = context.pythonExec
    try:
        context.pythonExec = str(tmp_path / "bare/bin/python")
        with pytest.raises(WorkersError, match=r"Python: install 'reticent\[spark\]'"):
            check_workers(spark)
    finally:
        context.pythonExec = own
