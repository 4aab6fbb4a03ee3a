"""What a review of the runner found, each as a test that failed before it was mended."""

import gzip
import os

import pyarrow as pa
import pytest

from reticent.errors import ParameterError
from reticent.noise import Source
from reticent.running import gathering, inputs, local, run
from reticent.running.drawing import keep
from reticent.running.staging import Staging, StagingError

from .jobs import job, people, rows_of, spent, write


def fails(*_: object, **__: object) -> None:
    raise RuntimeError("the power is gone")


def broken_off(monkeypatch, where: str, *arguments, **options) -> None:
    with monkeypatch.context() as broken:
        module = "making" if where == "merge" else "local"
        broken.setattr(f"reticent.running.{module}.{where}", fails)
        with pytest.raises(RuntimeError, match="power is gone"):
            run(*arguments, **options)


def test_what_was_drawn_and_not_named_is_never_shown(tmp_path, small, monkeypatch) -> None:
    """A part that a killed process was writing is another draw of the same people."""
    table, out = write(tmp_path / "in.parquet", people(250)), tmp_path / "out.parquet"
    options = {"key": "x", "ledger": None, "processes": 1}
    broken_off(monkeypatch, "keep", job(), table, out, **options)
    staging = Staging(out.absolute())
    assert list(staging.home.glob("*.partial")), "nothing was left to be found"
    (staging.shown / "part-99999.parquet").write_bytes(b"stale")
    ran = run(job(), table, out, **options)
    assert {path.name for path in out.iterdir()} == {*ran.files, "_reticent.json"}
    assert len(rows_of(out)) == 250


@pytest.mark.processes
def test_only_the_run_that_holds_the_lock_names_files(tmp_path, small, monkeypatch) -> None:
    """A worker that outlived its run changes nothing that the next one drew."""
    table, out = write(tmp_path / "in.parquet", people(150)), tmp_path / "out.parquet"
    seen = []

    def watched(told, staging):
        assert all(path.parent == staging.home for path in told.written)
        assert not staging.part(told.name).exists()
        seen.append(told.name)
        keep(told, staging)

    monkeypatch.setattr(local, "keep", watched)
    run(job(), table, out, key="x", ledger=None, processes=2)
    assert sorted(seen) == ["00000", "00001"]


@pytest.mark.parametrize("name", ["n" * 501, "a\0b"])
def test_a_name_that_no_ledger_takes_is_found_before_anybody_is_charged(
    tmp_path, ledger, small, name
) -> None:
    whole = people(250)
    names = [*whole.column("person").to_pylist()[:-1], name]
    table = write(tmp_path / "in.parquet", whole.set_column(0, "person", pa.array(names)))
    with pytest.raises(ParameterError, match="names of at most 500 letters") as error:
        run(job(), table, tmp_path / "o.parquet", key="x", ledger=ledger, processes=1)
    assert name not in str(error.value)
    assert spent(ledger) == {}


def test_bytes_that_are_no_text_are_no_name(tmp_path) -> None:
    odd = pa.array([b"\xff\xfe", b"ok"]).view(pa.string())
    batch = pa.record_batch([odd, pa.array([["Heat"], ["Up"]])], names=["person", "items"])
    with pytest.raises(ParameterError, match="names of at most 500 letters"):
        job().draw(batch, Source.system())


def test_seven_and_the_text_seven_are_not_two_people(tmp_path, ledger) -> None:
    write(tmp_path / "a.parquet", pa.table({"person": [7], "items": [["Heat"]]}))
    write(tmp_path / "b.parquet", pa.table({"person": ["7"], "items": [["Up"]]}))
    files = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    with pytest.raises(ParameterError, match="all name people by numbers, or all by text"):
        run(job(), files, tmp_path / "o.parquet", key="x", ledger=ledger, processes=1)


def test_a_folder_that_others_made_or_may_read_is_refused(tmp_path) -> None:
    table, out = write(tmp_path / "in.parquet", people(5)), tmp_path / "o.parquet"
    home = Staging(out.absolute()).home
    home.mkdir()
    home.chmod(0o777)
    with pytest.raises(StagingError, match="only you may read"):
        run(job(), table, out, key="x", ledger=None, processes=1)
    home.rmdir()
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    home.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StagingError, match="only you may read"):
        run(job(), table, out, key="x", ledger=None, processes=1)


def test_a_release_cut_otherwise_is_not_taken_up(tmp_path, small, monkeypatch) -> None:
    table, out = write(tmp_path / "in.parquet", people(300)), tmp_path / "o.parquet"
    options = {"key": "x", "ledger": None, "processes": 1}
    broken_off(monkeypatch, "comes_twice", job(), table, out, **options)
    monkeypatch.setattr(inputs.pieces_of, "__defaults__", (200,))
    with pytest.raises(StagingError, match="cuts tables otherwise"):
        run(job(), table, out, **options)


def test_lines_that_are_lost_are_noticed(tmp_path, monkeypatch) -> None:
    lines = pa.table({"user": ["a", "b"] * 500, "item": ["Heat", "Up"] * 500})
    table, out = write(tmp_path / "in.parquet", lines), tmp_path / "o.parquet"
    release = job(person="user", items="item")
    options = {"key": "x", "ledger": None, "processes": 1, "rows": "items"}
    broken_off(monkeypatch, "_check_cut", release, table, out, **options)
    (held,) = Staging(out.absolute()).home.glob("lines-*/*")
    with pa.ipc.open_stream(str(held)) as stream:
        first = next(iter(stream))
    with pa.ipc.new_stream(str(held), first.schema) as stream:
        stream.write_batch(first.slice(0, 10))
    with pytest.raises(StagingError, match="are gone"):
        run(release, table, out, **options)


def test_a_table_that_changes_while_it_is_read_is_refused(tmp_path, ledger, monkeypatch) -> None:
    table, out = write(tmp_path / "in.parquet", people(50)), tmp_path / "o.parquet"

    def changes(told, staging):
        keep(told, staging)
        os.utime(table, ns=(1, 1))

    monkeypatch.setattr(local, "keep", changes)
    with pytest.raises(StagingError, match="changed while it was read"):
        run(job(), table, out, key="x", ledger=ledger, processes=1)
    assert spent(ledger) == {}
    assert not out.exists()


def test_what_is_there_is_repeated_only_if_it_is_the_same(tmp_path, ledger) -> None:
    table, out = write(tmp_path / "in.parquet", people(50)), tmp_path / "o.parquet"
    run(job(), table, out, key="x", ledger=None, source=Source.seeded(1), processes=1)
    with pytest.raises(StagingError, match="with another ledger"):
        run(job(), table, out, key="x", ledger=ledger, processes=1)
    other = write(tmp_path / "other.parquet", people(51))
    with pytest.raises(StagingError, match="another table"):
        run(job(), other, out, key="x", ledger=None, source=Source.seeded(1), processes=1)
    part = next(out.glob("part-*"))
    part.write_bytes(b"junk")
    with pytest.raises(StagingError, match="changed after it was released"):
        run(job(), table, out, key="x", ledger=None, source=Source.seeded(1), processes=1)


def test_what_is_shown_says_nothing_of_the_table(tmp_path) -> None:
    """A digest of private rows would let guesses at them be checked."""
    table, out = write(tmp_path / "in.parquet", people(50)), tmp_path / "o.parquet"
    run(job(), table, out, key="x", ledger=None, processes=1)
    receipt = Staging(out.absolute()).receipt
    assert receipt.stat().st_mode & 0o077 == 0
    assert inputs.fingerprint([table]) not in receipt.read_text()
    assert inputs.fingerprint([table]) not in (out / "_reticent.json").read_text()


def test_a_release_half_charged_goes_on_with_the_same_ledger_only(
    tmp_path, ledger, monkeypatch
) -> None:
    table, out = write(tmp_path / "in.parquet", people(50)), tmp_path / "o.parquet"
    options = {"key": "x", "processes": 1}
    broken_off(monkeypatch, "merge", job(), table, out, ledger=ledger, **options)
    for changed in ({"ledger": None}, {"ledger": ledger, "principal": "another"}):
        with pytest.raises(StagingError, match="begun with another"):
            run(job(), table, out, **options, **changed)
    assert run(job(), table, out, ledger=ledger, **options).charged == 50


def test_numbers_of_items_are_names_in_every_table_of_lines(tmp_path) -> None:
    from reticent.data.catalogue import Catalogue
    from reticent.preferences import Preferences
    from reticent.tasks.histogram_arrow import HistogramBatches

    from .jobs import WISHES

    films = Catalogue.of([[1, 0], [0, 1]], items=("10", "1"), attributes=("A", "B"))
    release = HistogramBatches.of(
        films, Preferences.parse(WISHES), "club.example", person="user", items="item"
    )
    write(tmp_path / "a.parquet", pa.table({"user": ["ann"], "item": [10]}))
    (tmp_path / "b.csv").write_text("user,item\nann,10\n")
    found = []
    for name in ("a.parquet", "b.csv"):
        out = tmp_path / f"{name}.out.parquet"
        options = {"key": "x", "ledger": None, "processes": 1, "rows": "items"}
        run(release, tmp_path / name, out, source=Source.seeded(3), **options)
        found.append(rows_of(out)["ann"])
    assert found[0] == found[1]


def test_csv_with_other_columns_breaks_in_quotes_and_capitals_of_gzip(
    tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr(inputs, "_CSV_BLOCK", 64)
    text = "user,zip,item\n" + 'ann,1,Heat\nbob,2,"U\np"\ncid,3,Ran\n' * 20 + "dot,SW1A,Up\n"
    (tmp_path / "in.CSV.GZ").write_bytes(gzip.compress(text.encode(), mtime=0))
    out = tmp_path / "o.parquet"
    release = job(person="user", items="item")
    run(release, tmp_path / "in.CSV.GZ", out, key="x", ledger=None, processes=1, rows="items")
    assert set(rows_of(out)) == {"ann", "bob", "cid", "dot"}


def test_own_limits_of_other_types_and_items_beyond_the_catalogue() -> None:
    columns = {"person": ["a"], "items": pa.array([[0, 4711]]), "weights": [["much", "little"]]}
    release = job(own=("weights",))
    with pytest.raises(ParameterError, match="a column of numbers") as error:
        release.draw(pa.record_batch(columns), Source.system())
    assert "much" not in str(error.value)
    columns["weights"] = [[0.5, 0.5]]
    assert release.draw(pa.record_batch(columns), Source.system()).batch.num_rows == 1


def test_as_many_buckets_as_files_may_be_open() -> None:
    assert gathering.MOST <= 512


def test_rows_of_csv_are_set_aside_while_they_are_read(tmp_path, monkeypatch) -> None:
    """Not all of a file in memory at once."""
    staging = Staging(tmp_path / "o.parquet")
    staging.home.mkdir(mode=0o700)
    written = []

    def batches(path, columns, numbers):
        for number in range(5):
            written.append(len(list(staging.home.glob("rows-*"))))
            yield pa.record_batch({"person": [f"p{2 * number}", f"p{2 * number + 1}"]})

    monkeypatch.setattr(gathering, "csv_batches", batches)
    monkeypatch.setattr(gathering, "ROWS", 4)
    pieces = gathering.set_aside(tmp_path / "in.csv", job(), staging, 0)
    assert [piece.rows for piece in pieces] == [4, 4, 2]
    assert written == [0, 0, 1, 1, 2]


def test_a_run_that_was_killed_after_it_showed_everything_is_cleared_up(
    tmp_path, monkeypatch
) -> None:
    table, out = write(tmp_path / "in.parquet", people(20)), tmp_path / "o.parquet"
    with monkeypatch.context() as broken:
        broken.setattr(Staging, "clear", fails)
        with pytest.raises(RuntimeError, match="power is gone"):
            run(job(), table, out, key="x", ledger=None, processes=1)
    home = Staging(out.absolute()).home
    assert home.exists()
    assert run(job(), table, out, key="x", ledger=None, processes=1).replayed
    assert not home.exists()
