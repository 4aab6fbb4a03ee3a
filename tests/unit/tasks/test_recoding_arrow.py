"""Profiles from Arrow batches: what rows stand for, who is drawn how, and what leaves."""

import io
import json
import math
import pickle
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reticent.data.frames import Frame
from reticent.data.interactions import TableError
from reticent.data.people_tables import in_ranges
from reticent.errors import ParameterError
from reticent.mechanisms import ProfileMapping
from reticent.noise import Source
from reticent.optim.distances import hamming
from reticent.optim.mapping import Channel
from reticent.tasks import recoding_arrow, recoding_places
from reticent.tasks.charged import ANYONE, Payer, amount
from reticent.tasks.recoding import Measure, Recoding
from reticent.tasks.recoding_arrow import ProfileBatches
from reticent.tasks.recoding_numbers import NEW, Numbers
from reticent.tasks.recoding_places import Coded, Places

TEXTS = ["a", "b", "", "30-39", "0-9", "1", "True", "2.5", " a", "?"]
PLAIN = [0, 1, 2.5, None, "a", "37", -3.0]
CELLS: dict[str, tuple[Any, list[Any]]] = {
    "int64": (pa.int64(), [0, 1, 5, 37, 39, -3, 10**17, None]),
    "uint8": (pa.uint8(), [0, 1, 37, 255]),
    "float": (pa.float64(), [0.0, -0.0, 1.0, 2.5, 37.0, math.nan, math.inf, None]),
    "float32": (pa.float32(), [0.0, 2.5, 0.1, None]),
    "bool": (pa.bool_(), [True, False, None]),
    "text": (pa.string(), [*TEXTS, " a ", "37", "nan", "ä", None]),
    "large": (pa.large_string(), [*TEXTS, "b ", None]),
    "coded": (pa.dictionary(pa.int8(), pa.string()), [*TEXTS, "37", "b ", None]),
    "unsigned": (pa.dictionary(pa.uint32(), pa.int64()), [1, 37, None]),
    "null": (pa.null(), [None]),
}


def identity(columns: list[str], profiles: Any, **more: Any) -> Recoding:
    """A mapping that changes nothing, so that what leaves tells what a row stood for."""
    n = len(profiles)
    joint = np.full((2, n), 0.5 / n)
    mechanism = ProfileMapping.of(
        Channel.identity(n), joint, hamming(np.arange(n)[:, None]), secret="x"
    )
    return Recoding(tuple(columns), profiles, mechanism, **more)


def table(rows: list[list[Any]], wide: int) -> np.ndarray:
    made = np.empty((len(rows), wide), dtype=object)
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            made[i, j] = cell
    return made


def by_hand(recoding: Recoding, batch: Any) -> list[int]:
    """Row by row, cell by cell, as frames are read: no code, no number, no memory."""
    frame, columns = Frame.of(batch), []
    for j, name in enumerate(recoding.columns):
        if all(isinstance(value, str) for value in recoding.profiles[:, j].tolist()):
            cells = frame.texts(name)
            width = recoding.widths.get(name)
            columns.append((cells if width is None else in_ranges(cells, width)).tolist())
        else:
            cells = frame.cells(name).tolist()
            columns.append([None if cell != cell else cell for cell in cells])
    found = []
    for row in zip(*columns, strict=True):
        same = [all(map(_equal, row, other)) for other in recoding.profiles.tolist()]
        if any(same):
            found.append(same.index(True))
            continue
        far = recoding.measure.to_all(table([list(row)], len(row))[0], recoding.profiles)
        best = int(np.argmin(far))
        near = recoding.unknown == "nearest" or far[best] <= recoding.radius
        found.append(best if near else -1)
    return found


def _equal(one: Any, other: Any) -> bool:
    return bool(one == other)


@st.composite
def cases(draw: Any) -> tuple[Recoding, Any]:
    wide = draw(st.integers(1, 4))
    texts = [draw(st.booleans()) for _ in range(wide)]
    rows = draw(
        st.lists(
            st.tuples(*(st.sampled_from(TEXTS if text else PLAIN) for text in texts)),
            min_size=1,
            max_size=12,
            unique=True,
        )
    )
    columns = [f"c{j}" for j in range(wide)]
    widths = {name: 10.0 for name in columns if draw(st.booleans())}
    recoding = identity(
        columns,
        table([list(row) for row in rows], wide),
        unknown=draw(st.sampled_from(["nearest", "withhold"])),
        radius=draw(st.sampled_from([0.0, 0.3, 0.6])),
        widths=widths,
    )
    people = draw(st.integers(0, 30))
    arrays = {"person": pa.array(range(people), pa.int64())}
    for name in draw(st.permutations(columns)):
        kind, pool = CELLS[draw(st.sampled_from(sorted(CELLS)))]
        own = draw(st.lists(st.sampled_from(pool), min_size=people, max_size=people))
        arrays[name] = pa.array(own, kind)
    return recoding, pa.record_batch(arrays)


@settings(max_examples=60, deadline=None)
@given(cases(), st.integers(0, 10))
def test_rows_stand_for_what_they_stand_for_one_by_one(case: Any, cut: int) -> None:
    recoding, batch = case
    places = by_hand(recoding, batch)
    job = ProfileBatches(recoding)
    assert job.places(batch).tolist() == places
    again = [*job.places(batch.slice(0, cut)), *job.places(batch.slice(cut))]  # as met before
    assert again == places
    rows = recoding.profiles.tolist()
    kinds = [field.type for field in batch.schema]
    if not any(pa.types.is_dictionary(kind) or pa.types.is_null(kind) for kind in kinds):
        # columns of these types do not hold every kind of value that a frame gives back
        frame = recoding.release_frame(batch, Source.system()).release.value
        assert frame == [None if place < 0 else rows[place] for place in places]
    drawn = job.draw(batch, Source.system())
    nothing = dict.fromkeys(recoding.columns)
    told = [{name: row[name] for name in recoding.columns} for row in drawn.batch.to_pylist()]
    for row, place in zip(told, places, strict=True):
        profile = dict(zip(recoding.columns, rows[place], strict=True))
        assert list(map(str, row.values())) == list(
            map(str, (nothing if place < 0 else _as_told(recoding, profile)).values())
        )
    assert drawn.nano.tolist() == [0] * batch.num_rows


def _as_told(recoding: Recoding, profile: dict[str, Any]) -> dict[str, Any]:
    """Numbers of several kinds in one column are floats; with text, they are text."""
    told = {}
    for j, (name, value) in enumerate(profile.items()):
        held = {type(cell) for cell in recoding.profiles[:, j] if cell is not None}
        as_float = held == {int, float} and value is not None
        told[name] = float(value) if as_float else value
    return told


@settings(max_examples=40, deadline=None)
@given(cases())
def test_refused_is_refused_whoever_reads(case: Any) -> None:
    recoding, batch = case
    strict = replace(recoding, unknown="refuse")
    if -1 not in by_hand(replace(recoding, unknown="withhold"), batch):
        assert ProfileBatches(strict).places(batch).tolist() == by_hand(recoding, batch)
        return
    with pytest.raises(ParameterError) as caught:
        ProfileBatches(strict).draw(batch, Source.system())
    assert str(caught.value) == "profile must be within the declared radius, got 'another one'"


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=1, max_size=20),
    st.sampled_from(["squared", "function"]),
)
def test_other_measures_look_at_the_cells(rows: list[list[int]], kind: str) -> None:
    """Cells that no profile has are not alike to them, known ones in a new combination are."""
    profiles = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 2.0], [1.0, 1.0, 1.0]])
    measure = Measure("squared" if kind == "squared" else lambda a, b: float(abs(a[1] - b[1])))
    recoding = identity(["x", "y", "z"], profiles, measure=measure, unknown="withhold", radius=1.5)
    columns = {name: [row[j] for row in rows] for j, name in enumerate("xyz")}
    batch = pa.record_batch({"person": [str(i) for i in range(len(rows))], **columns})
    job = ProfileBatches(recoding)
    for _ in range(2):
        assert job.places(batch).tolist() == by_hand(recoding, batch)
    assert recoding.places(np.array(rows)).tolist() == by_hand(recoding, batch)


def test_more_columns_than_one_number_holds() -> None:
    """Sixty columns of two values and one of many: numbers are counted through on the way."""
    rng = np.random.default_rng(5)
    profiles = np.unique(
        np.column_stack([rng.integers(0, 2, (300, 60)), rng.integers(0, 99, 300)]), axis=0
    )
    names = [f"c{j}" for j in range(61)]
    recoding = identity(names, profiles)
    assert recoding.alphabet.folds
    rows = profiles[rng.integers(0, len(profiles), 400)]
    rows[::3, rng.integers(0, 61, 134)] ^= 1
    batch = pa.record_batch(
        {"person": np.arange(400), **{name: rows[:, j] for j, name in enumerate(names)}}
    )
    job = ProfileBatches(recoding)
    for _ in range(2):
        assert job.places(batch).tolist() == by_hand(recoding, batch)
    with pytest.raises(ParameterError, match="distinct"):
        replace(recoding, profiles=np.concatenate([profiles[1:], profiles[1:2]]))


class _Counting:
    """Who is asked, and how often."""

    by_codes = True

    def __init__(self) -> None:
        self.asked: list[list[Any]] = []

    def place(self, cells: Any, codes: Any) -> int:
        self.asked.append(list(cells))
        return -1


def test_rows_that_were_met_are_not_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    alphabet = Places.of(np.array([["a", "b"], ["b", "a"]]))
    columns = [Coded.of(["a", "b", "a", "q"]), Coded.of(["b", "b", "a", "b"])]
    met, other = recoding_places.Met(), _Counting()
    for _ in range(3):
        assert alphabet.find(columns, other, met).tolist() == [0, -1, -1, -1]
    assert sorted(other.asked) == [["a", "a"], ["b", "b"], ["q", "b"]]
    monkeypatch.setattr(recoding_places, "_MET", 2)  # no room for three
    full, often = recoding_places.Met(), _Counting()
    for _ in range(3):
        assert alphabet.find(columns, often, full).tolist() == [0, -1, -1, -1]
    assert len(often.asked) == 9


def test_cells_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    recoding = identity(["age"], np.array([["30-39"], ["0-9"]]), widths={"age": 10.0})
    job = ProfileBatches(recoding)
    batch = pa.record_batch({"person": [1, 2, 3], "age": [37, 4, 37]})
    assert job.places(batch).tolist() == [0, 1, 0]
    with monkeypatch.context() as patched:
        patched.setattr(Recoding, "column", None)
        assert job.places(batch).tolist() == [0, 1, 0]
    monkeypatch.setattr(recoding_arrow, "_READ", 0)
    assert ProfileBatches(recoding).places(batch).tolist() == [0, 1, 0]


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(st.integers(0, 2**62), st.integers(-1, 9), max_size=60),
    st.dictionaries(st.integers(0, 50), st.integers(-1, 9), max_size=60),
    st.lists(st.integers(0, 2**62), max_size=20),
)
def test_numbers_are_found_as_in_a_dictionary(first: Any, more: Any, others: list[int]) -> None:
    more = {number: place for number, place in more.items() if number not in first}
    held = [np.array([*part.keys()], dtype=np.int64) for part in (first, more)]
    told = [np.array([*part.values()], dtype=np.int64) for part in (first, more)]
    small = Numbers.of(held[0], told[0])
    both = small.with_more(held[1], told[1])
    asked = [*first, *more, *others]
    numbers = np.array(asked, dtype=np.int64)
    assert both.find(numbers).tolist() == [{**first, **more}.get(n, NEW) for n in asked]
    assert small.find(numbers).tolist() == [first.get(n, NEW) for n in asked]
    assert (len(small), len(both)) == (len(first), len(first) + len(more))


def spread(**more: Any) -> Recoding:
    """A mapping that draws: every profile may become any of four."""
    profiles = np.array([["young", "city"], ["young", "land"], ["old", "city"], ["old", "land"]])
    outs = np.tile(np.arange(4), 4)
    channel = Channel(np.arange(5) * 4, outs, np.tile([0.4, 0.3, 0.2, 0.1], 4))
    joint = np.array([[0.2, 0.1, 0.1, 0.1], [0.05, 0.15, 0.2, 0.1]])
    mechanism = ProfileMapping.of(channel, joint, hamming(profiles), secret="income")
    made = Recoding(("age", "home"), profiles, mechanism)
    return replace(made, **more)


def crowd(size: int) -> Any:
    ages, homes = ["young", "old", "odd", None], ["city", "land", "sea"]
    return pa.record_batch(
        {
            "who": [f"p{i}" for i in range(size)],
            "home": [homes[i % 3] for i in range(size)],
            "age": [ages[i % 4] for i in range(size)],
        }
    )


@pytest.mark.parametrize("unknown", ["nearest", "withhold"])
def test_a_seed_and_a_person_decide_the_draw(unknown: str) -> None:
    """Whatever the batch and the order; and it is what the person's own device draws."""
    recoding = spread(unknown=unknown, radius=0.5)
    job, people = ProfileBatches(recoding, person="who"), crowd(200)
    whole = job.draw(people, Source.seeded(4)).batch.to_pylist()
    source = Source.seeded(4)
    parts = [job.draw(people.slice(at, 60), source).batch.to_pylist() for at in (180, 120, 60, 0)]
    assert sorted(map(str, whole)) == sorted(str(row) for part in parts for row in part)
    for row, given_ in zip(whole, people.to_pylist(), strict=True):
        cells = [given_["age"] or "", given_["home"]]
        alone = recoding.release(cells, Source.seeded(4).child(given_["who"])).value
        assert (row["age"], row["home"]) == ((None, None) if alone is None else alone)
    assert len({str((row["age"], row["home"])) for row in whole}) > 3
    assert job.draw(people, Source.seeded(5)).batch.to_pylist() != whole
    system = [job.draw(people, Source.system()).batch.to_pylist() for _ in range(2)]
    assert system[0] != system[1]


def test_rows_without_a_person_are_left_out() -> None:
    batch = pa.record_batch(
        {"person": ["ann", None, ""], "age": ["old"] * 3, "home": ["city"] * 3, "more": [1, 2, 3]}
    )
    drawn = ProfileBatches(spread()).draw(batch, Source.system())
    assert drawn.batch.schema.names == ["person", "age", "home"]  # other columns stay behind
    assert drawn.batch.column("person").to_pylist() == ["ann"]
    assert drawn.nano.tolist() == [0]


def test_types_are_those_of_the_profiles() -> None:
    rows = [
        ["a", 1, 0.5, True, None, 1, None, 2**70],
        ["b", 2, 1.0, False, "x", 2.5, None, 1],
        ["c", 3, 2.0, True, "y", None, None, 3],
    ]
    names = ["text", "whole", "real", "truth", "gap", "mixed", "never", "huge"]
    recoding = identity(names, table(rows, 8), unknown="withhold", radius=0.9)
    job = ProfileBatches(recoding)
    text = pa.dictionary(pa.int8(), pa.string())
    expected = [pa.int64(), text, pa.int64(), pa.float64(), pa.bool_(), text, pa.float64(), text]
    columns = {name: pa.array([row[j] for row in rows[:2]]) for j, name in enumerate(names[:-1])}
    columns["huge"] = pa.array(["q", "q"])
    for batch in (
        pa.record_batch({"person": [1, 2], **columns}),
        pa.record_batch({"person": [1, 2], **dict.fromkeys(names, pa.array(["q", "q"]))}),
    ):
        made = job.draw(batch, Source.system()).batch
        assert [field.type for field in made.schema][:8] == expected
        made.validate(full=True)
    assert made.to_pylist() == [{"person": 1 + i, **dict.fromkeys(names)} for i in range(2)]
    first = job.draw(pa.record_batch({"person": [1, 2], **columns}), Source.system()).batch
    assert first.column("gap").to_pylist() == [None, "x"]
    assert first.column("mixed").to_pylist() == [1.0, 2.5]
    assert first.column("huge").to_pylist() == [str(2**70), "1"]


def test_many_values_need_wider_codes() -> None:
    rng = np.random.default_rng(2)
    for size, kind in ((128, pa.int8()), (129, pa.int16()), (40_000, pa.int32())):
        profiles = np.array([[f"v{i}"] for i in range(size)])
        job = ProfileBatches(identity(["v"], profiles))
        own = rng.integers(0, size, 500)
        batch = pa.record_batch({"person": np.arange(500), "v": profiles[own, 0]})
        made = job.draw(batch, Source.system()).batch
        made.validate(full=True)
        assert made.schema.field("v").type == pa.dictionary(kind, pa.string())
        assert made.column("v").to_pylist() == profiles[own, 0].tolist()


def test_parquet_holds_what_was_drawn() -> None:
    job = ProfileBatches(spread(unknown="withhold", radius=0.5), person="who")
    made = [job.draw(crowd(50), Source.seeded(seed)).batch for seed in (1, 2)]
    file = io.BytesIO()
    with parquet.ParquetWriter(file, made[0].schema) as writer:
        for batch in made:
            writer.write_batch(batch)
    back = parquet.read_table(io.BytesIO(file.getvalue()))
    assert back.to_pylist() == [row for batch in made for row in batch.to_pylist()]
    assert json.loads(made[0].schema.metadata[b"reticent.private"]) is False


def test_releases_are_noted_as_the_command_notes_them() -> None:
    job = ProfileBatches(spread(), provider="club.example")
    what = f"profile: {job.recoding.fingerprint}"
    assert job.payer("ann") == Payer(subject="ann", provider="club.example", what=what)
    assert ProfileBatches(spread()).payer("ann").provider == ANYONE
    event = job.event(Source.system())
    assert amount(event) == 0
    assert event == job.recoding.mechanism.event(Source.system())
    assert job.columns == ("person", "age", "home")


def test_what_decides_a_release_is_in_its_fingerprint() -> None:
    jobs = [
        ProfileBatches(spread()),
        ProfileBatches(spread(), provider="club.example"),
        ProfileBatches(spread(), person="who"),
        ProfileBatches(spread(unknown="withhold")),
        ProfileBatches(spread(widths={"age": 10.0})),
    ]
    assert len({job.fingerprint for job in jobs}) == len(jobs)
    assert ProfileBatches(spread()).fingerprint == jobs[0].fingerprint


def test_a_job_travels_light_and_draws_the_same() -> None:
    job = ProfileBatches(spread(), person="who")
    fresh = len(pickle.dumps(job))
    drawn = job.draw(crowd(100), Source.seeded(1)).batch
    assert len(pickle.dumps(job)) < fresh + 2000
    again = pickle.loads(pickle.dumps(job))
    assert again.fingerprint == job.fingerprint
    assert again.draw(crowd(100), Source.seeded(1)).batch.equals(drawn)


def test_what_cannot_be_read_is_an_error_about_types_and_names() -> None:
    job = ProfileBatches(spread())
    with pytest.raises(TableError, match="no column called 'home'"):
        job.draw(pa.record_batch({"person": [1], "age": ["CANARY"]}), Source.system())
    lists = pa.record_batch({"person": [1], "age": [["CANARY"]], "home": ["city"]})
    with pytest.raises(ParameterError, match="plain values") as caught:
        job.draw(lists, Source.system())
    assert "CANARY" not in str(caught.value)
    for person in ("age", "person"):
        with pytest.raises(ParameterError, match="no column of the mapping"):
            ProfileBatches(spread(columns=("age", "person")), person=person)


def test_names_are_found_whatever_their_capitals() -> None:
    batch = pa.record_batch({"person": [1], "AGE": ["old"], " Home": ["city"]})
    assert ProfileBatches(spread()).places(batch).tolist() == [2]


def test_nothing_is_compiled_before_it_is_needed() -> None:
    code = "import sys, reticent.tasks.recoding_arrow; print('numba' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"
