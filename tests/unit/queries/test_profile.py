"""``rt.Profile``: people's profiles through a mapping, noted and not charged."""

import csv
import json
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import reticent as rt
from reticent.data.interactions import TableError
from reticent.errors import ParameterError
from reticent.ledger import open_ledger
from reticent.ledger.reports import entries
from reticent.noise import Source
from reticent.queries import publish
from reticent.tasks import released_store
from reticent.tasks.hidden_secrets import NotHidden
from reticent.tasks.recoding_arrow import ProfileBatches
from reticent.tasks.recoding_files import MappingError, recoding_from_json, recoding_to_json
from reticent.tasks.released_store import StoreError

MAPPING = (files("reticent.gateway") / "demo_mapping.json").read_text(encoding="utf-8")
COLUMNS = ("age group", "home", "evenings out")
KINDS = [  # profiles that the mapping changes often, each into several others
    ("18-29", "town", "4 or more"),
    ("30-44", "town", "4 or more"),
    ("65 or older", "town", "0-1"),
    ("65 or older", "country", "0-1"),
    ("65 or older", "town", "4 or more"),
    ("45-64", "town", "4 or more"),
]
NAMES = ["eve", "10", "ann", "9", "bob", "cid", "dan", "fay", "gus", "hal", "ida", "100"]
PEOPLE = [(name, *KINDS[place % 6]) for place, name in enumerate(NAMES)]
GOLDEN = {  # a stream of their own for each person, from the same source
    "9": ("65 or older", "country", "4 or more"),
    "10": ("30-44", "town", "0-1"),
    "100": ("45-64", "town", "0-1"),
    "ann": ("65 or older", "town", "0-1"),
    "bob": ("65 or older", "town", "0-1"),
    "cid": ("45-64", "country", "0-1"),
    "dan": ("18-29", "town", "0-1"),
    "eve": ("18-29", "town", "0-1"),
    "fay": ("30-44", "town", "0-1"),
    "gus": ("45-64", "town", "2-3"),
    "hal": ("65 or older", "country", "2-3"),
    "ida": ("65 or older", "country", "2-3"),
}
ALONE = {"ann": GOLDEN["ann"]}  # whoever else is drawn for
WISHES = """
version = 1
[providers."club"]
epsilon = 1
[hide]
"household income" = { leak_bits = %s }
"""


@pytest.fixture
def recoding() -> rt.Recoding:
    return recoding_from_json(MAPPING)


def table(rows=tuple(PEOPLE), who="person") -> dict[str, list[str]]:
    return dict(zip((who, *COLUMNS), map(list, zip(*rows, strict=True)), strict=True))


def released(recoding, *, rows=tuple(PEOPLE), source=None, preferences=None, **options):
    return rt.Profile(**options).release(
        {"mapping": recoding, "table": table(rows)}, source=source, preferences=preferences
    )


def cells(value) -> dict:
    return {name: None if told is None else tuple(told.values()) for name, told in value.items()}


def test_everybody_is_drawn_in_the_order_of_names(recoding) -> None:
    answer = released(recoding, source=Source.seeded(7))
    assert cells(answer.value) == GOLDEN
    assert list(answer.value) == list(GOLDEN)  # in the order of names
    assert list(answer.value["9"]) == list(COLUMNS)
    lines = publish.as_csv(answer).splitlines()
    assert lines[0] == "person,age group,home,evenings out"
    assert lines[2] == "10,30-44,town,0-1"


def test_everybody_is_drawn_as_batches_draw_them(recoding) -> None:
    batch = pa.record_batch(table())
    drawn = ProfileBatches(recoding).draw(batch, Source.seeded(7)).batch.to_pylist()
    assert {one.pop("person"): tuple(one.values()) for one in drawn} == GOLDEN


def test_one_person_is_drawn_as_among_others(recoding) -> None:
    answer = released(recoding, source=Source.seeded(7), person="ann")
    assert cells(answer.value) == ALONE
    assert answer.card.title == "Profile of ann, hiding household income"


def test_the_order_of_the_table_does_not_show(recoding) -> None:
    for rows in (PEOPLE[::-1], PEOPLE[3:] + PEOPLE[:3]):
        answer = released(recoding, rows=rows, source=Source.seeded(7))
        assert list(cells(answer.value).items()) == list(GOLDEN.items())


def test_another_source_draws_others(recoding) -> None:
    """The control: what is compared above is the draw, not what the mapping nearly always does."""
    for seed in range(8, 12):
        source = Source.seeded(seed)
        assert cells(released(recoding, source=source).value) != GOLDEN
    drawn = [released(recoding, source=Source.seeded(s), person="ann") for s in range(8, 12)]
    assert any(cells(answer.value) != ALONE for answer in drawn)
    told = cells(released(recoding, source=Source.seeded(7)).value)
    assert sum(told[name] != tuple(row) for name, *row in PEOPLE) > 6


def test_files_frames_and_columns_are_read_alike(recoding, tmp_path) -> None:
    (tmp_path / "m.json").write_text(MAPPING, encoding="utf-8")
    with (tmp_path / "t.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("user", *COLUMNS), *PEOPLE])
    arrow = pa.table(table())
    parquet.write_table(arrow, tmp_path / "t.parquet")
    for held in (tmp_path / "t.csv", tmp_path / "t.parquet", arrow):
        for mapping in (recoding, tmp_path / "m.json", str(tmp_path / "m.json")):
            answer = rt.Profile().release(
                {"mapping": mapping, "table": held}, source=Source.seeded(7)
            )
            assert cells(answer.value) == GOLDEN


def test_numbers_of_a_column_are_the_text_that_a_mapping_was_learnt_with(tmp_path) -> None:
    """7, 7.0 and "7" are one, in files, frames and the mapping."""
    ages, home = [20, 30, 40, 50] * 30, ["town", "land"] * 60
    rich = [age > 30 for age in ages]
    people = np.array(list(zip(map(str, ages), home, strict=True)))
    learnt = rt.learn_mapping(
        rt.Alphabet.of(people, np.array(rich)), rt.Limits(delta=0), columns=["age", "home"]
    )
    who = [f"p{n}" for n in range(120)]
    for held in (ages, [float(age) for age in ages], list(map(str, ages))):
        whole = pa.table({"person": who, "age": held, "home": home})
        parquet.write_table(whole, tmp_path / "t.parquet")
        for given in (whole, tmp_path / "t.parquet", whole.to_pydict()):
            answer = rt.Profile().release({"mapping": learnt.recoding, "table": given})
            told = [tuple(answer.value[name].values()) for name in who]
            assert told == [tuple(row) for row in people.tolist()]  # delta 0 changes nobody


def test_a_release_is_noted_for_each_person_and_nobody_is_charged(recoding, tmp_path) -> None:
    data = {"mapping": recoding, "table": table()}
    answer = rt.Profile().release(data, ledger=tmp_path / "l.db", key="1")
    assert (answer.spent, answer.budget.spent, answer.budget.limit) == ("0", "0", "none")
    with open_ledger(tmp_path / "l.db") as book, book.reading() as connection:
        found = [(one.account.subject, one.account.what, one.nano) for one in entries(connection)]
    what = f"profile: {recoding.fingerprint}"
    assert sorted(found) == sorted((name, what, 0) for name in GOLDEN)
    again = rt.Profile().release(data, ledger=tmp_path / "l.db", key="1")
    assert again.replayed
    assert again.value == answer.value
    changed = replace(recoding, unknown="withhold", radius=0.1)
    with pytest.raises(rt.ReticentError, match="key"):
        rt.Profile().release({**data, "mapping": changed}, ledger=tmp_path / "l.db", key="1")


@pytest.mark.parametrize("given", [{"total": 1}, {"data_set": "x"}])
def test_what_does_not_add_has_no_total_and_no_data_set(recoding, tmp_path, given) -> None:
    with pytest.raises(ParameterError, match=f"^{next(iter(given))} must be left out"):
        rt.Profile().release(
            {"mapping": recoding, "table": table()}, ledger=tmp_path / "l.db", **given
        )


def test_a_plan_tells_bits(recoding) -> None:
    made = rt.Profile().plan({"mapping": recoding})
    assert (made.epsilon, made.right_at_most) == ("0", "not bounded")
    assert "cost: 0.03 bits about household income, on average over the people it" in str(made)
    assert made.fields()["bits"] == {"household income": 0.03}
    assert made.fields()["right_guesses"] == {"before": 0.427, "after": 0.447}
    assert "tell 0.248 bits together" in str(made)
    assert "together" not in str(rt.Profile(once="s.json").plan({"mapping": recoding}))
    with pytest.raises(ParameterError, match="mapping must be given"):
        rt.Profile().plan()


def test_a_second_draw_is_the_first(recoding, tmp_path) -> None:
    store = tmp_path / "s.json"
    first = released(recoding, once=str(store))
    moved = [(name, "18-29", "town", "0-1") for name, *_ in PEOPLE]
    again = released(recoding, rows=moved, once=str(store))
    assert again.value == first.value
    assert "repeated: 12 of 12 were released before and got that answer" in again.notes
    alone = released(recoding, rows=[*moved, ("zoe", *moved[0][1:])], once=store, person="zoe")
    assert alone.notes == ()
    assert store.stat().st_mode & 0o077 == 0
    held = json.loads(store.read_text(encoding="utf-8"))
    assert held["schema"] == "released-once/2"
    assert set(held["released"][recoding.fingerprint]) == {*GOLDEN, "zoe"}
    other = replace(recoding, unknown="withhold", radius=9.0)
    assert "released through another mapping" in released(other, once=store).notes[0]


def test_a_store_of_the_first_version_is_refused(recoding, tmp_path) -> None:
    """It would be found empty, and everybody drawn a second time."""
    held = {"schema": "released-once/1", "released": {recoding.fingerprint: {"user": {}}}}
    (tmp_path / "s.json").write_text(json.dumps(held), encoding="utf-8")
    with pytest.raises(StoreError, match="no store of releases"):
        released(recoding, once=tmp_path / "s.json")


def test_nothing_is_shown_that_the_store_could_not_keep(recoding, tmp_path, monkeypatch) -> None:
    def full(path, held, *, private):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(released_store, "replace_file", full)
    with pytest.raises(StoreError, match="No space left on device; nothing was shown"):
        released(recoding, once=tmp_path / "s.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["s.txt", "a\0.json", 7])
def test_a_store_is_named_json(name) -> None:
    with pytest.raises(ParameterError, match="once must be a file named .json"):
        rt.Profile(once=name)


def test_preferences_are_kept_or_it_is_refused(recoding, tmp_path) -> None:
    path = tmp_path / "preferences.toml"
    path.write_text(WISHES % 0.9, encoding="utf-8")
    answer = released(recoding, provider="club", preferences=path)
    assert answer.card.preferences is not None
    assert answer.card.title == "Everybody's profile for club, hiding household income"
    with pytest.raises(ParameterError, match="provider must be given with preferences"):
        released(recoding, preferences=path)
    with pytest.raises(rt.ReticentError, match="no line names the provider"):
        released(recoding, provider="clubb", preferences=path)
    with pytest.raises(ParameterError, match="provider must be left out without preferences"):
        released(recoding, provider="club")
    path.write_text(WISHES % 0.01, encoding="utf-8")
    with pytest.raises(NotHidden, match="the mapping tells 0.03 on average"):
        released(recoding, provider="club", preferences=path)
    with pytest.raises(NotHidden):
        rt.Profile(provider="club").plan({"mapping": recoding, "preferences": path})


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([], "has no people"),
        ([*PEOPLE, PEOPLE[0]], "names somebody more than once"),
        ([*PEOPLE, ("", "18-29", "town", "0-1")], "names nobody"),
    ],
)
def test_tables_that_are_refused(recoding, rows, says) -> None:
    held = table(rows) if rows else {name: [] for name in ("person", *COLUMNS)}
    with pytest.raises(TableError, match=says) as error:
        rt.Profile().release({"mapping": recoding, "table": held})
    assert "eve" not in str(error.value)


def test_a_missing_column_and_a_person_who_is_not_there(recoding) -> None:
    held = table()
    del held["home"]
    with pytest.raises(TableError, match="has no column called 'home'"):
        rt.Profile().release({"mapping": recoding, "table": held})
    with pytest.raises(ParameterError, match="person must be a person of the table"):
        released(recoding, person="zoe")
    twice = [*PEOPLE, PEOPLE[0]]  # somebody else's lines decide nothing
    alone = released(recoding, rows=twice, source=Source.seeded(7), person="ann")
    assert cells(alone.value) == ALONE
    with pytest.raises(TableError, match="names somebody more than once"):
        released(recoding, rows=twice, person="eve")
    with pytest.raises(ParameterError, match="mapping must be an answer of mapping"):
        rt.Profile().plan({"mapping": {"a": 1}})
    with pytest.raises(ParameterError, match="own_device must be given with a person"):
        rt.Profile(own_device=True)


def test_a_mapping_may_have_a_column_called_user_but_none_called_person(recoding) -> None:
    named = replace(recoding, columns=("user", *COLUMNS[1:]))
    held = {"user" if name == "age group" else name: v for name, v in table().items()}
    answer = rt.Profile().release({"mapping": named, "table": held}, source=Source.seeded(7))
    assert cells(answer.value) == GOLDEN
    clash = replace(recoding, columns=("Person", *COLUMNS[1:]))
    with pytest.raises(ParameterError, match="without a column called person"):
        rt.Profile().release({"mapping": clash, "table": held})


def test_a_device_keeps_the_profile_to_itself(recoding) -> None:
    own = released(recoding, person="ann", own_device=True).card.scope
    other = released(recoding, person="ann").card.scope
    assert (own.model, other.model) == ("local", "central")
    assert len(other.not_against) == len(own.not_against) + 1


def test_withheld_profiles_have_the_form_of_others(recoding, tmp_path) -> None:
    strict = replace(recoding, unknown="withhold", radius=0.0)
    answer = released(strict, rows=[("ann", "?", "?", "?"), ("bob", "?", "?", "?")])
    assert answer.value == {"ann": None, "bob": None}
    assert publish.as_csv(answer).splitlines()[1:] == ["ann,,,", "bob,,,"]
    assert answer.notes[0].startswith("withheld: 2;")
    path = tmp_path / "a.parquet"
    path.write_bytes(publish.as_parquet(answer))
    assert {str(field.type) for field in parquet.read_schema(path)} == {"string"}
    one = released(strict, rows=[("ann", "?", "?", "?")], person="ann")
    assert "".join(publish.as_text(one)).count("withheld") == 3
    refusing = replace(recoding, unknown="refuse", radius=0.0)
    with pytest.raises(TableError, match="too far from all that the mapping knows"):
        released(refusing, rows=[*PEOPLE, ("zoe", "?", "?", "?")])


def test_a_mapping_of_numbers_is_refused_and_one_that_was_changed(tmp_path) -> None:
    points = np.arange(12.0)[:, None] // 2
    alphabet = rt.Alphabet.of(points, np.arange(12) % 3 % 2)
    numbers = rt.learn_mapping(alphabet, rt.Limits(delta=0.5), columns=["age"]).recoding
    path = Path(tmp_path / "n.json")
    path.write_text(recoding_to_json(numbers), encoding="utf-8")
    for held in (numbers, path):
        with pytest.raises(MappingError, match="is a mapping of numbers"):
            rt.Profile().plan({"mapping": held})
    path.write_text(MAPPING.replace("town", "moon", 1), encoding="utf-8")
    with pytest.raises(MappingError, match="no mapping that can be used"):
        rt.Profile().plan({"mapping": path})
