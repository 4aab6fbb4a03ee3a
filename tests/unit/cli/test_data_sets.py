"""``reticent data`` lists what is known, and where files have to be; it downloads nothing."""

import pytest

from reticent.cli.data_known import KNOWN
from reticent.data import ADULT_COLUMNS, ADULT_SIZE
from reticent.data.github import GITHUB_SIZE


def test_the_list_has_every_set(cli) -> None:
    ended = cli("data", "list")
    assert ended.code == 0
    for one in KNOWN:
        assert one.name in ended.out
        assert one.licence in ended.out
    told = cli("data", "list", "--json").json
    assert told["schema"] == "data-list/1"
    assert [one["name"] for one in told["sets"]] == [one.name for one in KNOWN]


def test_what_is_bundled_is_there_with_its_counts() -> None:
    bundled = {one.name: one.counts for one in KNOWN if one.bundled}
    assert bundled.keys() == {"adult", "musae-github"}
    assert bundled["adult"] == f"{ADULT_SIZE:,} records, {len(ADULT_COLUMNS)} columns"
    assert bundled["musae-github"].startswith(f"{GITHUB_SIZE:,} nodes")


@pytest.mark.parametrize("one", [one for one in KNOWN if not one.bundled], ids=lambda one: one.name)
def test_files_are_looked_for_where_they_are_said_to_go(cli, tmp_path, one) -> None:
    before = cli("data", "describe", one.name, "--data", tmp_path, "--json").json
    assert before["missing"]
    (tmp_path / one.name).mkdir()
    for names in one.files:
        shown = cli("data", "describe", one.name, "--data", tmp_path).out
        assert str(tmp_path / one.name / names[0]) in shown
        (tmp_path / one.name / names[-1]).touch()
    after = cli("data", "describe", one.name, "--data", tmp_path, "--json").json
    assert (after["schema"], after["missing"]) == ("data-describe/1", [])
    assert "here    yes" in cli("data", "describe", one.name, "--data", tmp_path).out


def test_the_folder_may_come_from_the_environment(cli, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("RETICENT_DATA", str(tmp_path))
    assert cli("data", "list", "--json").json["data"] == str(tmp_path)


def test_a_misspelt_name_is_recognised(cli) -> None:
    ended = cli("data", "describe", "adlut")
    assert (ended.code, ended.out) == (2, "")
    assert "did you mean adult?" in ended.err
    assert "next: reticent data list" in ended.err


def test_capitals_do_not_matter(cli) -> None:
    assert cli("data", "describe", "CA-GRQC", "--json").json["name"] == "ca-GrQc"
