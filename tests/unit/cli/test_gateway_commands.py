"""``reticent gateway``: setting up, bringing people in, tokens and links, letting people go."""

import contextlib
import sqlite3
from functools import partial

import pytest

from reticent.gateway import Asked, Gateway
from reticent.gateway.demo_town import mapping
from reticent.tasks.recoding_files import recoding_to_json

CATALOGUE = "item,attribute\nHeat,Crime\nUp,Family\nUp,Comedy\nAlien,Horror\n"
PROFILES = "user,item\ncanary-ann,Heat\ncanary-ann,Up\nbob,Alien\n"
ASKS = """
[histogram]
epsilon = 0.5
attributes = { default = 0.2, Crime = 1 }
[similarity]
epsilon = 1
"""
OPEN = 'version = 1\n[attributes]\ndefault = 0.1\n[providers."club.example"]\nepsilon = 0.5\n'


@pytest.fixture
def run(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RETICENT_DATABASE", raising=False)
    files = {"films.csv": CATALOGUE, "seen.csv": PROFILES, "asks.toml": ASKS, "open.toml": OPEN}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    return partial(cli, "gateway")


@pytest.fixture
def ready(run):
    for words in (
        ("init", "--catalogue", "films.csv"),
        ("import", "--profiles", "seen.csv", "--preferences", "open.toml"),
        ("provider", "club.example", "--asks", "asks.toml"),
    ):
        assert run(*words).code == 0
    return run


def test_first_things_first(run, tmp_path) -> None:
    for words in (["people"], ["tokens"], ["import", "--profiles", "seen.csv"], ["door", "bob"]):
        ended = run(*words)
        assert ended.code == 2
        assert "reticent gateway init --catalogue FILE makes one" in ended.err
        assert "next: reticent gateway init --help" in ended.err
    assert not (tmp_path / "reticent-gateway.db").exists()


def test_init(run) -> None:
    ended = run("init", "--catalogue", "films.csv")
    assert (ended.code, ended.out) == (0, "reticent-gateway.db: 3 items, 4 attributes\n")
    told = run("init", "--catalogue", "films.csv", "--json").json
    assert told["schema"] == "gateway-init/1"
    assert not told["changed"]


def test_a_broken_catalogue_makes_no_database(run, tmp_path) -> None:
    (tmp_path / "films.csv").write_text("item\n")
    assert run("init", "--catalogue", "films.csv").code == 2
    assert run("init", "--catalogue", "absent.csv").code == 2
    assert not (tmp_path / "reticent-gateway.db").exists()


def test_the_database_may_be_named_by_the_environment(run, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("RETICENT_DATABASE", "own.db")
    run("init", "--catalogue", "films.csv")
    assert (tmp_path / "own.db").exists()
    ended = run("people", "--database", "o ther.db")
    assert "reticent gateway init --catalogue FILE --database 'o ther.db' makes one" in ended.err


def test_another_programs_file_is_left_alone(run, tmp_path) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "own.db")) as held:
        held.execute("CREATE TABLE own (x)")
        held.commit()
    ended = run("people", "--database", "own.db")
    assert ended.code == 2
    assert "no ledger" in ended.err


def test_import_and_people(ready) -> None:
    ended = ready("people")
    assert [line.split() for line in ended.out.splitlines()[2:]] == [
        ["bob", "1", "some"],
        ["canary-ann", "2", "some"],
    ]
    told = ready("people", "--json").json["people"]
    assert told[0] == {"person": "bob", "items": 1, "preferences": True}
    again = ready("import", "--profiles", "seen.csv", "--json").json
    assert (again["added"], again["changed"], again["same"]) == (0, 0, 2)


def test_nobody_is_here_yet(run) -> None:
    run("init", "--catalogue", "films.csv")
    ended = run("people")
    assert (ended.code, ended.out) == (0, "")
    assert "gateway import" in ended.err


def test_mistakes_in_a_file_change_nothing(ready, tmp_path) -> None:
    (tmp_path / "bad.csv").write_text("user,item\nzoe,Heat\n,Up\ncanary-zed,\n")
    ended = ready("import", "--profiles", "bad.csv")
    assert ended.code == 2
    assert "row 3: there is no user\n  row 4: there is no item" in ended.err
    assert "canary" not in ended.err
    assert "zoe" not in ready("people").out


def test_a_mistake_in_one_file_keeps_the_others_out(ready, tmp_path) -> None:
    (tmp_path / "more.csv").write_text("user,item\nzoe,Heat\n")
    (tmp_path / "wishes").mkdir()
    (tmp_path / "wishes" / "zoe.toml").write_text("version = 9\n")
    assert ready("import", "--profiles", "more.csv", "--preferences", "wishes").code == 2
    assert "zoe" not in ready("people").out


def test_a_folder_of_preferences_does_not_undo_choices(ready, tmp_path) -> None:
    (tmp_path / "wishes").mkdir()
    (tmp_path / "wishes" / "bob.toml").write_text("version = 1\n")
    ended = ready("import", "--preferences", "wishes")
    assert ended.code == 0
    assert "1 have preferences here, which stay" in ended.err
    assert ready("import", "--preferences", "wishes", "--replace").out.startswith("0 added, 1 ch")


def test_import_says_what_it_lacks(ready) -> None:
    assert "nothing to import" in ready("import").err
    assert "for people who are new" in ready("import", "--preferences", "open.toml").err
    assert "no mapping" in ready("import", "--columns", "seen.csv").err
    ended = ready("import", "--profiles", "absent.csv")
    assert ended.code == 2
    assert "absent.csv" in ended.err


def test_columns_come_with_a_mapping(run, tmp_path) -> None:
    (tmp_path / "mapping.json").write_text(recoding_to_json(mapping()))
    told = run("init", "--catalogue", "films.csv", "--mapping", "mapping.json", "--json").json
    assert told["mapping"]
    head = "user,age group,home,evenings out,household income"
    (tmp_path / "town.csv").write_text(f"{head}\nann,30-44,town,2-3,canary-high\n")
    assert run("import", "--columns", "town.csv").code == 0
    with Gateway.open(tmp_path / "reticent-gateway.db") as held:
        assert held.person("ann").columns["home"] == "town"
    assert b"canary" not in (tmp_path / "reticent-gateway.db").read_bytes()


def test_a_provider_sees_error_and_odds(ready, tmp_path) -> None:
    ended = ready("provider", "club.example")
    assert ended.code == 0
    assert "95 times in 100" in ended.out
    assert "can be right at most 63 times in 100" in ended.out
    (tmp_path / "asks.json").write_text('{"similarity": {"epsilon": 0.5, "measure": "overlap"}}')
    told = ready("provider", "ads.example", "--asks", "asks.json", "--json").json
    assert [one["kind"] for one in told["offers"]] == ["similarity"]


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("asks.toml", "[histogram", "is not TOML"),
        ("asks.json", "{", "line 1 is not JSON"),
        ("asks.json", "[]", "no table"),
        ("asks.toml", "colour = 1", "colour"),
        ("asks.toml", "", "some of histogram, similarity"),
        ("asks.toml", "[similarity]\nepsilon = 1e9", "epsilon"),
    ],
)
def test_asks_that_cannot_be_read(ready, tmp_path, name, text, says) -> None:
    (tmp_path / name).write_text(text)
    ended = ready("provider", "new.example", "--asks", name)
    assert ended.code == 2
    assert says in ended.err
    assert "no provider" in ready("provider", "new.example").err


def test_a_token_is_shown_once_and_alone(ready, tmp_path) -> None:
    ended = ready("token", "club.example", "--scopes", "histogram,similarity")
    made = ended.out.strip()
    assert ended.code == 0
    assert made.startswith("rtc_")
    assert made not in ended.err
    told = ready("tokens", "--json")
    assert made not in told.out + ready("tokens").out
    assert [one["scopes"] for one in told.json["tokens"]] == [["histogram", "similarity"]]
    for file in tmp_path.glob("reticent-gateway.db*"):
        assert made.encode() not in file.read_bytes()
    with Gateway.open(tmp_path / "reticent-gateway.db") as held:
        assert held.caller(made).provider == "club.example"


def test_tokens_overlap_and_end_at_once(ready, tmp_path) -> None:
    old = ready("token", "club.example", "--json").json
    new = ready("token", "club.example", "--days", "1", "--json").json
    assert new["expires"] - new["made"] == 86_400
    with Gateway.open(tmp_path / "reticent-gateway.db") as held:
        assert held.caller(old["token"])
        assert ready("revoke", old["name"]).out == f"{old['name']} is revoked\n"
        assert held.caller(old["token"]) is None
        assert held.caller(new["token"])
    states = [line.split()[-1] for line in ready("tokens").out.splitlines()[2:]]
    assert sorted(states) == ["good", "revoked"]
    assert ready("tokens", "--provider", "ads.example").out == ""


def test_tokens_that_cannot_be(ready) -> None:
    assert "no provider called 'x'" in ready("token", "x").err
    assert ready("token", "club.example", "--scopes", "everything").code == 2
    assert ready("token", "club.example", "--days", "0").code == 2
    ended = ready("revoke", "rtc_canary")
    assert ended.code == 2
    assert "canary" not in ended.err


def test_doors(ready, tmp_path) -> None:
    first = ready("door", "bob").out.strip()
    assert first.startswith("http://127.0.0.1:8400/enter?key=")
    assert ready("door", "bob", "--at", "gateway.example").code == 2
    second = ready("door", "bob", "--at", "https://gateway.example/", "--json").json
    assert second["link"].startswith("https://gateway.example/enter?key=")
    engineer = ready("door", "--engineer").out.strip()
    with Gateway.open(tmp_path / "reticent-gateway.db") as held:
        assert held.enter(first[-64:]) is None
        assert held.session(held.enter(second["link"][-64:])).person == "bob"
        assert held.session(held.enter(engineer[-64:])).role == "engineer"


def test_doors_to_nowhere(ready) -> None:
    assert "nobody of that name" in ready("door", "zed").err
    assert ready("door").code == 2
    assert ready("door", "bob", "--engineer").code == 2


def test_forgetting_removes_the_name_from_the_file(ready, tmp_path) -> None:
    path = tmp_path / "reticent-gateway.db"
    ready("door", "canary-ann")
    with Gateway.open(path) as held:
        held.submit("club.example", Asked("histogram", "canary-ann", "some-key")).result()
        held.submit("club.example", Asked("similarity", "canary-ann", "other-key", "bob")).result()
    assert b"canary" in path.read_bytes()
    asked = ready("forget", "canary-ann")
    assert asked.code == 2
    assert "--yes" in asked.err
    assert "canary-ann" in ready("people").out
    ended = ready("forget", "canary-ann", "--yes")
    assert (ended.code, ended.out) == (0, "deleted\n")
    assert "backups" in ended.err
    for file in tmp_path.glob("reticent-gateway.db*"):
        assert b"canary" not in file.read_bytes()
    again = ready("forget", "canary-ann", "--yes", "--json")
    assert again.code == 2
    assert "nobody of that name" in again.err


def test_names_cannot_write_to_the_terminal(ready, tmp_path) -> None:
    with Gateway.open(tmp_path / "reticent-gateway.db") as held:
        held.write(
            lambda c: c.execute("UPDATE gateway_person SET id = ? WHERE id = 'bob'", ("\x1b[2J",))
        )
    assert "\x1b" not in ready("people").out
