"""The fault runs, short: the ledger holds, the controls are caught, and the judge is not blind."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from benchmarks.fault_stores import Held, uneven
from benchmarks.fault_work import COVER, LIMIT, costs, judge, request_of
from reticent.ledger import SqliteLedger

pytestmark = pytest.mark.faults

ROOT = Path(__file__).parents[2]


def faults(*options: str) -> dict[str, int]:
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.faults", "--json", *options],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
    results: dict[str, int] = json.loads(run.stdout)["results"]
    return results


def test_processes_are_killed() -> None:
    found = faults("--seconds", "6", "--pause", "0.2")
    assert found["kills"] >= 10
    assert found["requests"] >= 200
    assert [found[key] for key in ("overspent", "lost", "double", "problems")] == [0] * 4
    assert found["control_violations"] > 0


@pytest.mark.postgres
def test_processes_and_a_server_are_killed() -> None:
    found = faults("--store", "postgres", "--seconds", "12", "--pause", "0.4")
    assert found["kills"] >= 10
    assert found["crashes"] >= 2
    assert found["requests"] >= 200
    assert [found[key] for key in ("overspent", "lost", "double", "problems")] == [0] * 4
    assert found["control_violations"] > 0


def test_the_power_is_cut() -> None:
    found = faults("--power", "--cuts", "60")
    assert (found["cuts"], found["torn"]) == (60, 30)
    assert found["acknowledged"] > 100
    assert [found[key] for key in ("overspent", "lost", "double", "problems")] == [0] * 4
    assert found["control_lost"] > 0


def record(folder: Path, *lines: str) -> Path:
    (folder / "record.1").write_text("".join(line + "\n" for line in lines))
    return folder


def held_for(*numbers: int, answer: bytes = b"x") -> Held:
    spent: dict[str, int] = {}
    for number in numbers:
        for person, nano in costs(number).items():
            spent[person] = spent.get(person, 0) + nano
    return Held(
        {person: (nano, LIMIT) for person, nano in spent.items()},
        {str(number): answer for number in numbers},
    )


def test_a_sound_run_is_judged_sound(tmp_path) -> None:
    where = record(tmp_path, "answered 1 body 78", "answered 1 body 78", "refused 2")
    found = judge(where, held_for(1))
    assert (found.requests, found.keys, found.violations) == (3, 1, 0)


@pytest.mark.parametrize(
    ("lines", "held", "kind"),
    [
        (["answered 1 body 78"], held_for(), "lost"),
        (["answered 1 body 78"], held_for(1, answer=b"y"), "lost"),
        (["answered 1 body 78"], Held({}, {"1": b"x"}), "lost"),
        (["answered 1 body 78", "answered 1 body 79"], held_for(1), "double"),
        ([f"answered {n} body 78" for n in range(1, 150)], held_for(*range(1, 150)), "overspent"),
        ([], Held({"person 0.1": (LIMIT + 1, LIMIT)}), "overspent"),
        ([], Held({"person 0.1": (LIMIT + 1, LIMIT + 1)}), "overspent"),
    ],
    ids=["gone", "another", "charge gone", "two answers", "too much sent", "too much", "limit"],
)
def test_the_judge_sees_what_is_planted(tmp_path, lines, held, kind) -> None:
    found = judge(record(tmp_path, *lines), held)
    assert getattr(found, kind) > 0


def test_a_cover_need_not_be_paid_and_a_value_must(tmp_path) -> None:
    line = f"answered 1 body {(COVER + b'x').hex()}"
    assert judge(record(tmp_path, line), Held({}, {"1": COVER + b"x"})).violations == 0
    assert judge(record(tmp_path, "answered 1 body 78"), Held({}, {"1": b"x"})).lost > 0


@pytest.mark.parametrize("whole", [True, False])
def test_accounts_that_are_not_charged_alike_are_found(tmp_path, whole) -> None:
    request = request_of(1, b"body")
    charges = request.charges if whole else request.charges[:-1]
    with SqliteLedger.open(tmp_path / "ledger.db") as ledger:
        ledger.once_with(replace(request, key="0", charges=request.charges), b"x")
        ledger.once_with(replace(request, charges=charges), b"x")
        with ledger.reading() as connection:
            assert (uneven(connection) == []) is whole


def test_half_a_line_was_told_to_nobody(tmp_path) -> None:
    (tmp_path / "record.1").write_text("answered 1 body 78\nanswered 2 bo")
    assert judge(tmp_path, held_for(1)).violations == 0


def test_a_cut_leaves_what_was_synced() -> None:
    from benchmarks.fault_disk import Platter, Step

    platter = Platter({"a": b"0000"})
    platter.apply(Step("write", "a", 2, b"11"))
    assert platter.after_cut(None) == {"a": b"0000"}
    platter.apply(Step("sync", "a"))
    platter.apply(Step("write", "a", 3, b"2" * 1024))
    platter.apply(Step("truncate", "b", 0))
    assert platter.after_cut(None) == {"a": b"0011"}
    torn = {platter.after_cut(Random(seed))["a"] for seed in range(40)}
    assert torn >= {b"0011", b"001" + b"2" * 1024, b"001" + b"2" * 512}
    platter.apply(Step("delete", "a"))
    assert platter.after_cut(None) == {}
