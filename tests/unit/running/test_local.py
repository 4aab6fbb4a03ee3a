"""The runner on small tables: one answer and one charge each, whatever the form of the table."""

import pickle
import stat

import pyarrow as pa
import pytest

from reticent.errors import BudgetExceeded, ParameterError
from reticent.ledger.accounts import LedgerError
from reticent.noise import Source
from reticent.running import run
from reticent.running.merging import TooLittleLeft
from reticent.running.staging import Staging, StagingError

from .jobs import FILMS, job, people, rows_of, spent, write


def test_everybody_is_released_and_charged_once(tmp_path, ledger, small) -> None:
    table = write(tmp_path / "in.parquet", people(450))
    told = []
    ran = run(
        job(),
        table,
        tmp_path / "out.parquet",
        key="june",
        ledger=ledger,
        processes=1,
        progress=lambda *said: told.append(said),
    )
    released = rows_of(ran.out)
    assert set(released) == {f"p{n}" for n in range(450)}
    assert set(released["p0"]) == {"person", "Crime", "Drama", "War"}
    assert spent(ledger) == dict.fromkeys(released, 400_000_000)
    assert (ran.people, len(ran.files), ran.charged, ran.replayed) == (450, 5, 450, False)
    assert ("drawing", 450, 450) in told
    assert ("charging", 450, 450) in told
    assert not Staging(ran.out.absolute()).home.exists()


def test_a_finished_release_is_repeated_and_not_drawn_again(tmp_path, ledger, small) -> None:
    table = write(tmp_path / "in.parquet", people(150))
    first = run(job(), table, tmp_path / "o.parquet", key="june", ledger=ledger, processes=1)
    before = rows_of(first.out)
    again = run(job(), table, tmp_path / "o.parquet", key="june", ledger=ledger, processes=1)
    assert (again.replayed, again.charged, again.people) == (True, 0, 150)
    assert again.event == first.event
    assert rows_of(again.out) == before
    assert set(spent(ledger).values()) == {400_000_000}
    with pytest.raises(StagingError, match="with another key"):
        run(job(), table, tmp_path / "o.parquet", key="july", ledger=ledger, processes=1)


def test_under_another_key_it_is_another_release_and_another_charge(tmp_path, ledger) -> None:
    table = write(tmp_path / "in.parquet", people(40))
    for key in ("june", "july"):
        run(job(), table, tmp_path / f"{key}.parquet", key=key, ledger=ledger, processes=1)
    assert set(spent(ledger).values()) == {800_000_000}
    assert rows_of(tmp_path / "june.parquet") != rows_of(tmp_path / "july.parquet")


def test_a_key_does_not_draw_a_second_time_elsewhere(tmp_path, ledger) -> None:
    """The ledger knows the digest of what was drawn: another draw under the key is never shown."""
    table = write(tmp_path / "in.parquet", people(40))
    run(job(), table, tmp_path / "a.parquet", key="june", ledger=ledger, processes=1)
    with pytest.raises(LedgerError, match="another draw"):
        run(job(), table, tmp_path / "b.parquet", key="june", ledger=ledger, processes=1)
    assert not (tmp_path / "b.parquet").exists()
    assert set(spent(ledger).values()) == {400_000_000}


@pytest.mark.processes
def test_nothing_depends_on_form_order_size_or_processes(tmp_path, small) -> None:
    """Of a seeded source: Parquet, Arrow, lines of CSV, shuffled, in one process or in two."""
    import pyarrow.csv as csv
    import pyarrow.ipc as ipc

    whole = people(260, first=1)  # p0 has no items, and no line in a table of items
    shuffled = whole.take(pa.array([(7 * n + 3) % 260 for n in range(260)]))
    write(tmp_path / "a.parquet", whole)
    write(tmp_path / "b.parquet", shuffled, group=33)
    with ipc.new_file(str(tmp_path / "c.arrow"), whole.schema) as file:
        for batch in shuffled.to_batches(max_chunksize=50):
            file.write_batch(batch)
    lines = [
        (name, item)
        for name, items in zip(*(shuffled.column(c).to_pylist() for c in range(2)), strict=True)
        for item in items
    ]
    long = pa.table({"user": [a for a, _ in lines], "item": [b for _, b in lines]})
    csv.write_csv(long, tmp_path / "d.csv")
    write(tmp_path / "e.parquet", long)
    of_lines = job(person="user", items="item")
    results = []
    for name, what, rows, processes in (
        ("a.parquet", job(), "people", 1),
        ("b.parquet", job(), "people", 2),
        ("c.arrow", job(), "people", 1),
        ("d.csv", of_lines, "items", 1),
        ("e.parquet", of_lines, "items", 1),
    ):
        out = tmp_path / f"out-{name}.parquet"
        run(
            what,
            tmp_path / name,
            out,
            key="x",
            ledger=None,
            rows=rows,
            processes=processes,
            source=Source.seeded(5),
        )
        results.append(rows_of(out))
    numbers = [
        {name: [row[a] for a in FILMS.attributes] for name, row in rows.items()} for rows in results
    ]
    assert len(numbers[0]) == 260
    known = {name: row for name, row in numbers[0].items() if name in numbers[3]}
    assert numbers[0] == numbers[1] == numbers[2]
    assert numbers[3] == numbers[4] == known


def test_system_sources_give_every_part_noise_of_its_own(tmp_path, small, monkeypatch) -> None:
    """The control of the test above, and attack A11: two processes must not share a key."""
    pa.array([1])  # Arrow loads pandas where it can: here it may, in each process it takes seconds
    (tmp_path / "without").mkdir()
    (tmp_path / "without" / "pandas.py").write_text("raise ImportError")
    monkeypatch.syspath_prepend(tmp_path / "without")
    same = people(1, first=3)
    table = pa.concat_tables([same] * 300)
    table = table.set_column(0, "person", pa.array([f"p{n}" for n in range(300)]))
    write(tmp_path / "in.parquet", table)
    out = tmp_path / "out.parquet"
    run(job(), tmp_path / "in.parquet", out, key="x", ledger=None, processes=2)
    released = rows_of(out)
    parts = [
        [tuple(released[f"p{n}"][a] for a in FILMS.attributes) for n in range(at, at + 100)]
        for at in (0, 100, 200)
    ]
    assert parts[0] != parts[1] != parts[2] != parts[0]


def test_somebody_in_two_rows_is_refused_before_anybody_is_charged(tmp_path, ledger, small) -> None:
    double = pa.concat_tables([people(250), people(1, first=7)])
    table = write(tmp_path / "in.parquet", double)
    with pytest.raises(ParameterError, match="one row for each person"):
        run(job(), table, tmp_path / "out.parquet", key="x", ledger=ledger, processes=1)
    assert spent(ledger) == {}
    assert not (tmp_path / "out.parquet").exists()
    assert not Staging((tmp_path / "out.parquet").absolute()).home.exists()


def test_rows_without_a_name_are_left_out(tmp_path) -> None:
    table = people(4).set_column(0, "person", pa.array(["p0", None, "", "p3"]))
    write(tmp_path / "in.parquet", table)
    out = tmp_path / "out.parquet"
    run(job(), tmp_path / "in.parquet", out, key="x", ledger=None, processes=1)
    assert set(rows_of(out)) == {"p0", "p3"}


def test_if_somebody_has_too_little_left_nobody_is_charged(tmp_path, ledger, small) -> None:
    alone = write(tmp_path / "alone.parquet", people(1, first=130))
    limited = job("total = 0.7\n")
    run(limited, alone, tmp_path / "a.parquet", key="a", ledger=ledger, processes=1)
    table = write(tmp_path / "in.parquet", people(250))
    with pytest.raises(TooLittleLeft, match="1 person has too little left") as refused:
        run(limited, table, tmp_path / "b.parquet", key="b", ledger=ledger, processes=1)
    assert isinstance(refused.value, BudgetExceeded)
    assert "p130" not in str(refused.value)
    assert spent(ledger) == {"p130": 400_000_000}
    assert not (tmp_path / "b.parquet").exists()
    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)


def test_what_is_not_shown_yet_only_its_owner_may_read(tmp_path, ledger) -> None:
    table = write(tmp_path / "in.parquet", people(20))
    limited, out = job("total = 0.4\n"), tmp_path / "b.parquet"
    run(limited, table, tmp_path / "a.parquet", key="a", ledger=ledger, processes=1)
    with pytest.raises(TooLittleLeft, match="20 people have"):
        run(limited, table, out, key="b", ledger=ledger, processes=1)
    assert stat.S_IMODE(Staging(out.absolute()).home.stat().st_mode) == 0o700


def test_other_things_under_the_same_name_are_refused(tmp_path, ledger, small, monkeypatch) -> None:
    table, out = write(tmp_path / "in.parquet", people(150)), tmp_path / "out.parquet"
    with monkeypatch.context() as broken:
        broken.setattr("reticent.running.making.merge", _fails)
        with pytest.raises(RuntimeError, match="power is gone"):
            run(job(), table, out, key="x", ledger=ledger, processes=1)
    for changed, says in (
        ({"key": "y"}, "another key"),
        ({"job": job(goal="mae")}, "another release"),
        ({"table": write(tmp_path / "other.parquet", people(151))}, "another table"),
        ({"source": Source.seeded(1)}, "another seed"),
    ):
        given = {"job": job(), "table": table, "key": "x", "source": None, **changed}
        with pytest.raises(StagingError, match=says):
            run(given.pop("job"), given.pop("table"), out, ledger=ledger, processes=1, **given)
    before = Staging(out.absolute()).part("00000").read_bytes()
    ran = run(job(), table, out, key="x", ledger=ledger, processes=1)
    assert (ran.out / "part-00000.parquet").read_bytes() == before, "drawn again"
    assert set(spent(ledger).values()) == {400_000_000}


def _fails(*_: object, **__: object) -> None:
    raise RuntimeError("the power is gone")


@pytest.mark.parametrize(
    ("name", "held", "says"),
    [
        ("in.txt", b"", "files named"),
        ("in.parquet", b"PAR1 canary-9184 PAR1", "cannot be read as Parquet"),
        ("in.arrow", b"canary-9184", "cannot be read as Arrow"),
        ("in.csv", b"user,thing\nann,Heat\n", "one column 'person'"),
    ],
)
def test_a_bad_table_is_an_error_about_its_form(tmp_path, name, held, says) -> None:
    (tmp_path / name).write_bytes(held)
    with pytest.raises((ParameterError, Exception), match=says) as error:
        run(job(), tmp_path / name, tmp_path / "o.parquet", key="x", ledger=None, processes=1)
    assert "canary-9184" not in str(error.value)
    assert not (tmp_path / "o.parquet").exists()


def test_bad_parameters(tmp_path, ledger) -> None:
    table = write(tmp_path / "in.parquet", people(3))
    for changed, says in (
        ({"out": tmp_path / "o.csv"}, "named .parquet"),
        ({"key": "k" * 151}, "key"),
        ({"processes": 0}, "processes"),
        ({"out": tmp_path / "nowhere" / "o.parquet"}, "missing or closed"),
    ):
        given = {"out": tmp_path / "o.parquet", "key": "x", "processes": 1, **changed}
        with pytest.raises(Exception, match=says):
            run(job(), table, given.pop("out"), ledger=ledger, **given)
    (tmp_path / "o.parquet").write_bytes(b"mine")
    with pytest.raises(StagingError, match="no release in parts"):
        run(job(), table, tmp_path / "o.parquet", key="x", ledger=ledger, processes=1)
    assert (tmp_path / "o.parquet").read_bytes() == b"mine"


def test_two_runs_do_not_make_the_same_output(tmp_path, ledger) -> None:
    table, out = write(tmp_path / "in.parquet", people(3)), tmp_path / "o.parquet"
    with Staging(out.absolute()).alone(), pytest.raises(StagingError, match="another run"):
        run(job(), table, out, key="x", ledger=ledger, processes=1)
