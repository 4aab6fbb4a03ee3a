"""What is declared about a table for a tree: the form, wrong files, wrong options, wrong tables."""

import shlex
import tomllib

import pytest

from .tree_people import CANARY, DECLARED, GROW, SECRET, TRAIN, people, set_out, written


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    return set_out(tmp_path, monkeypatch)


def following(ended) -> list[str]:
    (line,) = [line for line in ended.err.splitlines() if "next: reticent" in line]
    return shlex.split(line.partition("next: reticent ")[2])


def silent(ended) -> None:
    for private in (CANARY, SECRET, "w17", "blue"):
        assert private not in ended.err


def test_a_form_shows_names_and_no_values(cli, here) -> None:
    ended = cli("data", "columns", "people.csv", "--target", "VOTES")
    assert ended.code == 0, ended.err
    form = tomllib.loads(ended.out)
    assert list(form["columns"]) == ["who", "age", "pet", "kids", "hair"]
    assert all(not held for held in form["columns"].values())
    for private in ("w17", "blue", "owl", CANARY, SECRET):
        assert private not in ended.out + ended.err
    (here / "form.toml").write_text(ended.out)
    empty = cli(*TRAIN, "--declare", "form.toml", "--yes")
    assert (empty.code, empty.out) == (2, "")
    assert "no class is declared" in empty.err
    assert "(and 5 more to correct)" in empty.err
    filled = ended.out.replace("# bounds = [LOWEST, HIGHEST]", "bounds = [0, 100]")
    filled = filled.replace('# classes = ["ONE", "ANOTHER"]', 'classes = ["no", "yes"]')
    (here / "form.toml").write_text(filled)
    assert cli(*GROW, "--declare", "form.toml").code == 0


def test_a_form_of_odd_names_in_a_file(cli, here) -> None:
    names = ["a b", 'q"\\', "\x1b[2J", "x\x7f", "日本", "🙂", "\u202e"]
    written(here / "odd.csv", [["1"] * len(names)], names)
    ended = cli("data", "columns", "odd.csv", "--out", "form.toml", "--json")
    assert ended.code == 0
    assert ended.json["out"] == "form.toml"
    assert list(tomllib.loads((here / "form.toml").read_text())["columns"]) == names
    assert "\x1b" not in cli("data", "columns", "odd.csv").out
    assert cli("data", "columns", "odd.csv", "--out", "form.toml").code == 2


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("bins", "bin", "line 3: columns.age.bin is not known here; did you mean bins?"),
        ("[target]", "[goal]", "no class is declared; add [target]"),
        ("[target]", "[columns.none]", "no class is declared; add [target] with classes"),
        ("classes", "class", "no class is declared"),
        ('["no", "yes"]', '["no", "no "]', "target.classes must be distinct"),
        ('["no", "yes"]', '"no"', "target.classes must be an array of texts, numbers"),
        ("[0, 100]", "[100, 0]", "line 2: columns.age.bounds must be a lower and an upper end"),
        ("[0, 100]", "[0, inf]", "columns.age.bounds must be an array of numbers"),
        ("[0, 100]", "[0, 50, 100]", "columns.age.bounds must be two numbers"),
        ("[0, 100]", "[]", "columns.age.bounds must be an array of numbers, not empty"),
        ("bins = 20", "bins = 0", "columns.age.bins must be a whole number, 1 or more"),
        ("bins = 20", "bins = 100000", "columns.age.bounds must be of at most 32768 values"),
        ("bins = 20", "edges = [1, 2]", "columns.age needs a name and one of bounds, edges"),
        ('["cat", "dog", "owl"]', '["cat", "cat"]', "must be distinct categories"),
        ('["cat", "dog", "owl"]', "[[]]", "columns.pet.categories must be an array of texts"),
        ("[0, 1, 2]", "[0, 1, 2]\nbins = 3", "columns.kids.bins goes with bounds only"),
        ("columns.pet", "columns.Age", "columns.Age is declared twice"),
        ("[columns.age]", "columns = 3\n[x]", "columns.toml"),
        (DECLARED, "", "no column is declared; add [columns.NAME] for each (and 1 more"),
        (DECLARED, "age: 3", "columns.toml, line 1: "),
        ("bins = 20", "bins = 2O", "columns.toml, line 3: "),
        ('["no", "yes"]', '["no", "yes"]\nweights = { maybe = 1 }', "weights.maybe is not known"),
        ('["no", "yes"]', '["no", "yes"]\nweights = { no = 0 }', "weights.no must be a positive"),
        ('["no", "yes"]', '["no", "yes"]\nweights = 3', "must be a number for each class"),
    ],
    ids=str,
)
def test_a_wrong_declaration_is_a_sentence_with_its_line(cli, here, old, new, said) -> None:
    assert old in DECLARED
    (here / "columns.toml").write_text(DECLARED.replace(old, new, 1))
    ended = cli(*GROW)
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err
    assert following(ended)[:3] == ["data", "columns", "people.csv"]
    silent(ended)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--target", "colour"), "people.csv has no column called 'colour'"),
        (("--declare", "none.toml"), "none.toml: there is no such file"),
        (("--epsilon", "0"), "--epsilon must be positive"),
        (("--epsilon", "x"), "--epsilon must be a finite number"),
        (("--max-depth", "40"), "--max-depth must be less, or columns of fewer codes"),
        (("--max-depth", "65"), "--max-depth must be a whole number from 0 to 64"),
        (("--rows", "0"), "--rows must be a whole number of at least 1"),
        (("--criterion", "entropy"), "--rows must be declared for entropy"),
        (("--method", "dampened"), "--method must be permute-and-flip or exponential unless"),
        (("--method", "best"), "'--method'"),
        (("--target", "AGE"), "--target must be no declared column"),
        (("--columns", "pet=colour"), "people.csv has no column called 'colour'"),
        (("--columns", "who=pet"), "--columns must be roles of columns"),
        (("--leaf-share", "2"), "--leaf-share must be above 0"),
        (("--growth", "0"), "--growth must be positive"),
        (("--out", "tree.txt"), "tree.txt must be named .csv, .json, .parquet"),
        (("--out", "none/tree.json"), "cannot be written"),
    ],
    ids=str,
)
def test_wrong_usage_is_a_sentence_without_data(cli, words, said) -> None:
    ended = cli(*GROW, *words)
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err
    assert "  next: reticent" in ended.err
    silent(ended)


def test_a_declared_column_that_the_table_lacks(cli, here) -> None:
    (here / "columns.toml").write_text(DECLARED.replace("columns.pet", "columns.animal"))
    ended = cli(*GROW)
    assert (ended.code, ended.out) == (2, "")
    assert "people.csv has no column called 'animal': say which one it is" in ended.err
    silent(ended)
    assert cli(*GROW, "--columns", "animal=PET").code == 0


def test_weights_do_not_go_with_local_sensitivity(cli, here) -> None:
    (here / "columns.toml").write_text(DECLARED + "weights = { no = 2 }\n")
    words = ("--criterion", "entropy", "--rows", "400", "--split", "multiway")
    ended = cli(*GROW, *words, "--method", "shifted")
    assert (ended.code, "where classes have weights" in ended.err) == (2, True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "people.csv is empty"),
        (f"who,age,pet,kids,votes\n{CANARY}\n", "as many fields in each line"),
        (f"who;age\n{CANARY};3\n", "separated by semicolons"),
    ],
)
def test_a_table_that_is_none_is_refused(cli, here, text, said) -> None:
    (here / "people.csv").write_text(text)
    ended = cli(*GROW)
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err
    silent(ended)


def test_whether_anybody_is_in_the_table_does_not_decide_how_it_ends(cli, here) -> None:
    for somebody in ("", "x,40,cat,2,yes\n"):
        (here / "people.csv").write_text("who,age,pet,kids,votes\n" + somebody)
        assert cli(*GROW).code == 0


@pytest.mark.parametrize("cell", ["", "NaN", "-1e999", SECRET, CANARY, "\x1b[2J", "x" * 10_000])
def test_what_cells_hold_never_changes_what_is_said(cli, here, cell) -> None:
    written(here / "people.csv", [*people(), ("x", cell, cell, cell, cell, cell)])
    ended = cli(*GROW, "--card", "card.json", "--json")
    assert (ended.code, ended.err) == (0, "")
    assert not cell or cell not in ended.out + (here / "card.json").read_text()


@pytest.mark.parametrize("column", [1, 2, 4])  # a number, a category, the class
def test_nor_does_a_cell_that_is_longer_than_csv_allows(cli, here, column) -> None:
    row = ["x", "", "", "", "", ""]
    row[column] = "x" * 140_000  # 131,072 is the most, unless a reader says otherwise
    written(here / "people.csv", [*people(), row])
    ended = cli(*GROW, "--card", "card.json", "--json")
    assert (ended.code, ended.err) == (0, "")
    assert row[column] not in ended.out + (here / "card.json").read_text()
