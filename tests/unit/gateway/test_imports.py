"""Importing people and what is public: whole or not at all, mistakes by row and without values."""

import gzip
import pickle

import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest

from reticent.data.catalogue import Catalogue
from reticent.data.interactions import TableError
from reticent.errors import ParameterError
from reticent.gateway import Gateway, directory
from reticent.gateway import imports_files as files
from reticent.gateway.demo_town import mapping
from reticent.gateway.imports import Imported, Incoming, batches, take
from reticent.gateway.imports_files import ImportProblems
from reticent.gateway.imports_public import NoLongerOffered, read_mapping, set_asks, set_public
from reticent.tasks.recoding_files import recoding_to_json

FILMS = Catalogue.of([[1, 0], [0, 1]], attributes=("Crime", "Drama"), items=("Heat", "Up"))
ASKS = {"histogram": {"epsilon": "0.5", "attributes": {"default": "0.1"}}}
OPEN = 'version = 1\n[attributes]\ndefault = 0.1\n[providers."club.example"]\nepsilon = 0.5\n'


@pytest.fixture(scope="module")
def recoding():
    return mapping()


@pytest.fixture
def gateway(tmp_path):
    with Gateway.open(tmp_path / "gateway.db") as gateway:
        set_public(gateway, FILMS)
        yield gateway


@pytest.fixture
def notes():
    return []


def table(tmp_path, text, name="table.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path


def test_items_of_people(tmp_path, notes) -> None:
    path = table(tmp_path, "Item,USER\nHeat,ann\nUp,ann\nHeat, bob \nHeat,ann\n")
    found = files.read_items(path, FILMS, notes.append)
    assert found == {"ann": ("Heat", "Up"), "bob": ("Heat",)}
    assert not notes


def test_items_from_gzip_and_parquet(tmp_path, notes) -> None:
    packed = tmp_path / "table.csv.gz"
    packed.write_bytes(gzip.compress(b"user,item\nann,Heat\n"))
    assert files.read_items(packed, FILMS, notes.append) == {"ann": ("Heat",)}
    path = tmp_path / "table.parquet"
    parquet.write_table(arrow.table({"user": ["ann", None], "item": ["Heat", "Up"]}), path)
    with pytest.raises(ImportProblems) as caught:
        files.read_items(path, FILMS, notes.append)
    assert caught.value.problems == ("row 3: there is no user",)


def test_all_mistakes_at_once_without_values(tmp_path, notes) -> None:
    rows = ["user,item", ",Heat", "ann,", "c\x07anary,Up", f"{'x' * 201},Up", "canary-bob,Heat"]
    with pytest.raises(ImportProblems) as caught:
        files.read_items(table(tmp_path, "\n".join(rows)), FILMS, notes.append)
    assert [one.split(":")[0] for one in caught.value.problems] == [f"row {n}" for n in range(2, 6)]
    assert "canary" not in str(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_many_mistakes_are_counted(tmp_path, notes) -> None:
    path = table(tmp_path, "user,item\n" + ",Heat\n" * 80)
    with pytest.raises(ImportProblems, match="and 30 more") as caught:
        files.read_items(path, FILMS, notes.append)
    assert len(caught.value.problems) == 80


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("person,item\nann,Heat\n", "no column called 'user'"),
        ("user,item,User\nann,Heat,x\n", "more than one column called 'user'"),
        ("user,item,weight\nann,Heat,0\n", "column of weights"),
        ("user,item\n", "no people"),
        ("user,item\nann\n", "as many fields"),
        ("", "is empty"),
    ],
)
def test_tables_of_another_form(tmp_path, notes, text, says) -> None:
    with pytest.raises(TableError, match=says):
        files.read_items(table(tmp_path, text), FILMS, notes.append)


def test_other_files_are_no_tables(tmp_path, notes) -> None:
    with pytest.raises(ParameterError, match="csv"):
        files.read_items(table(tmp_path, "", "people.npz"), FILMS, notes.append)


def test_unknown_items_are_noted_by_row(tmp_path, notes) -> None:
    rows = "ann,Heat\n" + "ann,canary\n" * 12
    files.read_items(table(tmp_path, "user,item\n" + rows), FILMS, notes.append)
    assert len(notes) == 1
    assert "rows 3, 4, 5" in notes[0]
    assert "and 2 more" in notes[0]
    assert "canary" not in notes[0]


def test_a_table_of_unknown_items_only_is_another_table(tmp_path, notes) -> None:
    with pytest.raises(ImportProblems, match="no row names an item"):
        files.read_items(table(tmp_path, "user,item\nann,x\n"), FILMS, notes.append)


def test_columns_are_those_of_the_mapping_only(tmp_path, recoding) -> None:
    head = "user,Household income,Home,age group,evenings out"
    path = table(tmp_path, f"{head}\nann,canary,town,30-44,2-3\n")
    found = files.read_columns(path, recoding)
    assert found == {"ann": {"age group": "30-44", "home": "town", "evenings out": "2-3"}}


def test_columns_in_the_ranges_of_the_mapping(tmp_path, recoding) -> None:
    from dataclasses import replace

    wide = replace(recoding, widths={"Age group": 10.0})
    path = table(tmp_path, "user,home,age group,evenings out\nann,town,37,2-3\n")
    assert files.read_columns(path, wide)["ann"]["age group"] == "30-39"


def test_mistakes_in_columns(tmp_path, recoding) -> None:
    head = "user,home,age group,evenings out\n"
    with pytest.raises(ParameterError, match="no mapping"):
        files.read_columns(table(tmp_path, head), None)
    with pytest.raises(TableError, match="no column called 'home'"):
        files.read_columns(table(tmp_path, "user,age group\nann,1\n"), recoding)
    path = table(tmp_path, head + "ann,a,b,c\n,a,b,c\nann,a,b,c\n")
    with pytest.raises(ImportProblems) as caught:
        files.read_columns(path, recoding)
    assert caught.value.problems == (
        "row 3: there is no user",
        "row 4: names somebody whom row 2 names too",
    )


def folder(tmp_path, **texts):
    made = tmp_path / "wishes"
    made.mkdir()
    for name, text in texts.items():
        (made / f"{name}.toml").write_text(text)
    return made


def test_a_folder_of_preferences(tmp_path, notes) -> None:
    made = folder(tmp_path, ann=OPEN, bob="version = 1\n")
    (made / "README.md").write_text("not one of them")
    found = files.read_folder(made, FILMS, ["ann", "bob", "cleo"], notes.append)
    assert found == {"ann": OPEN, "bob": "version = 1\n"}
    assert not notes


def test_mistakes_in_a_folder(tmp_path, notes) -> None:
    made = folder(tmp_path, ann='version = 1\n[attributes]\nCanary = "x"\n', bob=OPEN)
    (made / "cleo.toml").write_bytes(b"\xff")
    (made / "dan.toml").write_text("#" * (1 << 19))
    with pytest.raises(ImportProblems) as caught:
        files.read_folder(made, FILMS, ["ann", "cleo", "dan"], notes.append)
    told = str(caught.value)
    assert "ann.toml, line 3: breaks a rule" in told
    assert "bob.toml: there is nobody of that name" in told
    assert "cleo.toml: not text in UTF-8" in told
    assert "dan.toml: longer than" in told
    assert "Canary" not in told


def test_an_empty_folder_and_unknown_names(tmp_path, notes) -> None:
    made = folder(tmp_path)
    with pytest.raises(ImportProblems, match=r"PERSON\.toml"):
        files.read_folder(made, FILMS, [], notes.append)
    (made / "ann.toml").write_text(OPEN + '[items]\n"Canary" = 0\n')
    files.read_folder(made, FILMS, ["ann"], notes.append)
    assert notes == ["ann.toml, line 7: a name that the catalogue lacks protects nobody"]


def test_one_file_for_all_who_are_new(tmp_path) -> None:
    assert files.read_usual(table(tmp_path, OPEN, "usual.toml")) == OPEN
    with pytest.raises(ImportProblems, match="line 1"):
        files.read_usual(table(tmp_path, "version = 2\n", "bad.toml"))


def test_people_are_added_changed_or_left(gateway) -> None:
    first = Incoming({"ann": ("Heat",), "bob": ("Up",)}, {"ann": {"home": "town"}})
    assert take(gateway, first) == Imported(added=2)
    assert take(gateway, first) == Imported(same=2)
    assert gateway.person("ann").version == 1
    assert take(gateway, Incoming({"ann": ("Up", "Heat")})) == Imported(changed=1)
    ann = gateway.person("ann")
    assert (ann.items, ann.columns, ann.version) == (("Heat", "Up"), {"home": "town"}, 2)
    assert take(gateway, Incoming(columns={"ann": {"home": "land"}})) == Imported(changed=1)
    assert gateway.person("ann").items == ("Heat", "Up")


def test_who_is_new_gets_the_usual_preferences_and_nobody_else(gateway) -> None:
    take(gateway, Incoming({"ann": ("Heat",)}))
    done = take(gateway, Incoming({"ann": ("Heat",), "bob": ("Up",)}, usual=OPEN))
    assert done == Imported(added=1, same=1)
    assert gateway.person("ann").preferences.text == directory.WITHHELD
    assert gateway.person("bob").preferences.text == OPEN


def test_preferences_that_are_here_stay_unless_replaced(gateway) -> None:
    take(gateway, Incoming({"ann": ("Heat",)}, preferences={"ann": OPEN}))
    own = OPEN + "total = 1\n"
    gateway.set_preferences("ann", own, seen=1)
    again = Incoming(preferences={"ann": OPEN})
    assert take(gateway, again) == Imported(same=1, kept=1)
    assert gateway.person("ann").preferences.text == own
    assert take(gateway, again, replace=True) == Imported(changed=1)
    assert gateway.person("ann").preferences.text == OPEN
    assert take(gateway, again, replace=True) == Imported(same=1)


def test_many_people_in_some_commits(gateway) -> None:
    crowd = Incoming({f"person {n}": ("Heat",) for n in range(1201)})
    steps = []
    assert take(gateway, crowd, progress=steps.append) == Imported(added=1201)
    assert len(steps) == batches(crowd) == 3
    assert len(gateway.read(directory.people)) == 1201


def test_what_is_public_twice_changes_nothing(gateway, recoding) -> None:
    assert not set_public(gateway, FILMS)
    before = gateway.world().revision
    set_asks(gateway, "club.example", ASKS)
    changed = gateway.world().revision
    assert changed != before
    set_asks(gateway, "club.example", ASKS)
    assert gateway.world().revision == changed
    assert set_public(gateway, FILMS, recoding)
    assert gateway.world().recoding.fingerprint == recoding.fingerprint


def test_a_catalogue_that_breaks_an_offer_is_refused(gateway) -> None:
    named = {"histogram": {"epsilon": "0.5", "attributes": {"Crime": "0.1"}}}
    set_asks(gateway, "club.example", named)
    other = Catalogue.of([[1]], attributes=("War",), items=("Heat",))
    with pytest.raises(NoLongerOffered, match=r"club\.example"):
        set_public(gateway, other)
    assert gateway.world().catalogue.attributes == FILMS.attributes


@pytest.mark.parametrize("name", ["", "the gateway", "x" * 201, "a\nb"])
def test_names_of_providers(gateway, name) -> None:
    with pytest.raises(ParameterError, match="provider"):
        set_asks(gateway, name, ASKS)


@pytest.mark.parametrize(
    ("asks", "says"),
    [
        ({}, "some of histogram, similarity"),
        ({"profile": {}}, "no mapping"),
        ({"histogram": {"epsilon": "0.5", "attributes": {"War": "1"}}}, "attributes"),
        ({"histograms": {}}, "histograms"),
    ],
)
def test_asks_that_cannot_be_met_are_not_kept(gateway, asks, says) -> None:
    with pytest.raises(ParameterError, match=says):
        set_asks(gateway, "club.example", asks)
    assert gateway.read(directory.providers) == []


def test_mappings_that_a_gateway_cannot_use(tmp_path, recoding) -> None:
    from dataclasses import replace

    path = tmp_path / "mapping.json"
    path.write_text(recoding_to_json(recoding))
    assert read_mapping(path).fingerprint == recoding.fingerprint
    path.write_text(recoding_to_json(replace(recoding, unknown="withhold", radius=0.5)))
    with pytest.raises(ParameterError, match="nearest"):
        read_mapping(path)
    path.write_bytes(b"\xff")
    with pytest.raises(ParameterError, match="UTF-8"):
        read_mapping(path)
