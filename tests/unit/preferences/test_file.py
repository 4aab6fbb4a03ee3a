"""What a preferences file allows, refuses, and says about its mistakes."""

import pickle
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reticent.errors import ReticentError
from reticent.preferences import (
    Preferences,
    PreferencesError,
    Provider,
    Refused,
    find_problems,
)

TEXT = """\
version = 1

[items]                    # weight
default = 0.5
"The Sessions" = 0

[attributes]
default = 0.1
Drama = 0.02
Western = "withhold"

[providers."filmclub.example"]
epsilon = 0.4
total = 2.0
renews = "yearly"

[hide]
gender = { leak_bits = 0.05 }
"""
PREFS = Preferences.parse(TEXT)
FILMCLUB = "filmclub.example"


def only_problem(text: str, **catalogue) -> str:
    (problem,) = find_problems(text, **catalogue)
    return str(problem)


def test_amounts_are_exact() -> None:
    expected = Provider(epsilon=Fraction(2, 5), total=Fraction(2), renews="yearly")
    assert PREFS.providers == {FILMCLUB: expected}
    assert PREFS.hide == {"gender": Fraction(1, 20)}
    assert PREFS.weights(["The Sessions", "Heat"]) == [0, Fraction(1, 2)]


def test_a_grant_keeps_the_order_of_the_catalogue() -> None:
    grant = PREFS.grant(FILMCLUB, attributes=("Western", "Drama", "Comedy", "Action"))
    assert (grant.provider, grant.epsilon) == (FILMCLUB, Fraction(2, 5))
    assert list(grant.budgets.items()) == [
        ("Drama", Fraction(1, 50)),
        ("Comedy", Fraction(1, 10)),
        ("Action", Fraction(1, 10)),
    ]
    assert grant.withheld == ("Western",)


@pytest.mark.parametrize("attributes", ["", "[attributes]", '[attributes]\ndefault = "withhold"'])
def test_without_a_default_attributes_are_withheld(attributes) -> None:
    prefs = Preferences.parse(f"version = 1\n[providers.a]\nepsilon = 1\n{attributes}")
    grant = prefs.grant("a", attributes=("Drama", "Comedy"))
    assert (dict(grant.budgets), grant.withheld) == ({}, ("Drama", "Comedy"))


@pytest.mark.parametrize(
    ("items", "weighted"),
    [
        ("", False),
        ("default = 1", False),
        ("x = 1.0", False),
        ("default = 0.9", True),
        ("x = 0", True),
    ],
)
def test_weighted_says_whether_any_item_can_differ(items, weighted) -> None:
    prefs = Preferences.parse(f"version = 1\n[items]\n{items}")
    assert prefs.weighted is weighted
    assert prefs.weight("some other") == (Fraction(9, 10) if "0.9" in items else 1)


def test_nothing_is_granted_to_a_provider_that_is_not_named() -> None:
    with pytest.raises(Refused) as caught:
        PREFS.grant("filmclub.exmple", attributes=("Drama",))
    assert str(caught.value) == (
        'preferences.toml: no line names the provider "filmclub.exmple", so nothing is released '
        'to it; to allow it, add [providers."filmclub.exmple"] with an epsilon'
    )
    assert caught.value.nearest == FILMCLUB
    assert FILMCLUB not in str(caught.value)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.nearest) == (str(caught.value), FILMCLUB)


@pytest.mark.parametrize("provider", ["", "Filmclub.example", "filmclub.example ", "epsilon", "*"])
def test_nearly_named_is_not_named(provider) -> None:
    with pytest.raises(Refused):
        PREFS.grant(provider, attributes=("Drama",))
    assert PREFS.explain(provider).outcome == "refused"


V = "version = 1\n"
SENTENCES = {
    "": ": the file is empty; write version = 1, then who may learn what",
    "# only a comment\n": ": the file is empty; write version = 1, then who may learn what",
    "[items]": ": version is missing; write version = 1 as the first line",
    "\nversion = 2": ", line 2: version must be 1, got 2; write version = 1; a file of a later "
    "version needs a later Reticent",
    "version = true": ", line 1: version must be 1, got true; write version = 1; a file of a later "
    "version needs a later Reticent",
    f"{V}[atributes]": ", line 2: the file has no table atributes; did you mean attributes?",
    f"{V}colour = 1": ", line 2: the file has no key colour; it may hold version, items, "
    "attributes, providers, hide, so delete this line",
    f"{V}items = 3": ", line 2: items must be a table, got 3; write [items] and its lines below",
    f"{V}\n[attributes]\n# no\n\n\nDrama = 0": ", line 7: attributes.Drama must be a positive "
    'epsilon, got 0; to release nothing about it write Drama = "withhold"',
    f'{V}[attributes]\n"Film Noir" = -0.5': ', line 3: attributes."Film Noir" must be a positive '
    'epsilon, got -0.5; to release nothing about it write "Film Noir" = "withhold"',
    f"{V}[attributes]\ndefault = 0": ", line 3: attributes.default must be a positive epsilon, "
    'got 0; to release nothing about attributes not named write default = "withhold"',
    f"{V}[attributes]\nDrama = true": ", line 3: attributes.Drama must be a positive epsilon, got "
    'true; to release nothing about it write Drama = "withhold"',
    f"{V}[attributes]\nDrama = 1000000.5": ", line 3: attributes.Drama must be a positive epsilon "
    'of at most 1000000, got 1000000.5; to release nothing about it write Drama = "withhold"',
    f"{V}[attributes]\nFilm.Noir = 1": ", line 3: attributes.Film must be a positive epsilon, got "
    "a table; a name with a dot needs quotes",
    f"{V}[items]\nHeat = 1.5": ", line 3: items.Heat must be a weight from 0 to 1, got 1.5; 0 lets "
    "it influence nothing, 1 counts it in full",
    f"{V}[items]\nHeat = nan": ", line 3: items.Heat must be a weight from 0 to 1, got NaN; 0 lets "
    "it influence nothing, 1 counts it in full",
    f"{V}[items]\nHeat = '1'": ', line 3: items.Heat must be a weight from 0 to 1, got "1"; 0 lets '
    "it influence nothing, 1 counts it in full",
    f"{V}[providers.a]": ", line 2: providers.a has no epsilon; add a line such as epsilon = 0.1 "
    "for one release",
    f"{V}[providers.a]\nepsilon = 0": ", line 3: providers.a.epsilon must be a positive epsilon, "
    "got 0; to release nothing to it delete [providers.a]",
    f"{V}[providers.a]\nepsilon = inf": ", line 3: providers.a.epsilon must be a positive epsilon, "
    "got Infinity; to release nothing to it delete [providers.a]",
    f"{V}[providers.a]\nepsilon = 1\ntotal = -1": ", line 4: providers.a.total must be a positive "
    "epsilon, got -1; to set no limit over time delete the line",
    f"{V}[providers.a]\nepsilon = 1\ntotla = 1": ", line 4: providers.a has no key totla; did you "
    "mean total?",
    f"{V}[providers.a]\nepsilon = 1\nrenews = 'year'": ", line 4: providers.a.renews must be one "
    'of "never", "daily", "weekly", "monthly", "yearly", got "year"; did you mean yearly?',
    f"{V}[providers.film.example]\nepsilon = 1": ", line 2: providers.film has no epsilon but a "
    'table example; a name with a dot needs quotes, as in [providers."film.example"]',
    f"{V}[providers.film.items]\nHeat = 0": ", line 2: providers.film has no epsilon; add a line "
    "such as epsilon = 0.1 for one release",
    f"{V}[providers.film.items]\nepsilon = 1": ", line 2: providers.film has no epsilon but a "
    'table items; a name with a dot needs quotes, as in [providers."film.items"]',
    f"{V}[providers.a]\nepsilon = 1\nitems = 3": ", line 4: providers.a.items must be a table, "
    "got 3; write [providers.a.items] and its lines below",
    f"{V}[providers.a]\nepsilon = 1\n[providers.a.item]\nx = 1": ", line 4: providers.a has no "
    "table item; did you mean items?",
    f'{V}[providers."a.b"]\nepsilon = 1\n[providers."a.b".items]\nHeat = 2': ", line 5: "
    'providers."a.b".items.Heat must be a weight from 0 to 1, got 2; 0 lets it influence nothing, '
    "1 counts it in full",
    f"{V}[providers.a]\nepsilon = 1\nattributes = {{ Drama = 0 }}": ", line 4: providers.a."
    "attributes.Drama must be a positive epsilon, got 0; to release nothing about it write "
    'Drama = "withhold"',
    f"{V}providers.a = 1": ", line 2: providers.a must be a table, got 1; write [providers.a] and "
    "below it epsilon = 0.1",
    f"{V}[hide]\ngender = 0.05": ", line 3: hide.gender must be a limit in bits, got 0.05; write "
    "gender = { leak_bits = 0.05 }",
    f"{V}[hide]\ngender = {{ leak_bits = -1 }}": ", line 3: hide.gender.leak_bits must be a number "
    "of bits from 0 to 1000000, got -1; write gender = { leak_bits = 0.05 }",
    f"{V}[hide.gender]\nleak_bit = 1": ", line 3: hide.gender has no key leak_bit; did you mean "
    "leak_bits?",
    f"{V}[attributes]\nDrama = withhold": ", line 3: this is no value; words need quotes, as in "
    '"withhold", and numbers a digit before the point',
    f"{V}[items]\nThe Sessions = 0": ", line 3: a key and an = must come first; names with spaces "
    'or dots need quotes, as in "The Sessions" = 0',
    f"{V}[items]\nHeat = 0,5": ", line 3: something is left over after the value; write one value "
    "per line, with a point in decimals, as in 0.5",
    f"{V}[items]\nHeat = 0\nHeat = 1": ", line 4: this name is set a second time; delete one of "
    "the two lines",
    f'{V}[items]\n"Heat = 0': ", line 3: a quote is not closed; close it on the same line",
    f'{V}[items]\n"Heat = 0\n': ", line 3: a quote is not closed; close it on the same line",
    f"{V}[items]\n'Heat = 0": ", line 3: a quote is not closed; close it on the same line",
    f'{V}[items]\n"\x01" = 0': ", line 3: a character cannot stand here; delete it",
    f"{V}[items\nHeat = 0": ", line 2: the name of a table must end with ]; names with spaces or "
    'dots need quotes, as in [providers."filmclub.example"]',
}


@pytest.mark.parametrize("text", SENTENCES, ids=repr)
def test_every_mistake_is_one_sentence(text) -> None:
    expected = f"preferences.toml{SENTENCES[text]}"
    assert only_problem(text) == expected
    with pytest.raises(PreferencesError) as caught:
        Preferences.parse(text)
    assert str(caught.value) == expected
    assert "\n" not in expected


@pytest.mark.parametrize(
    "value",
    [
        "0x" + "f" * 5000,
        "0." + "1" * 5000,
        "1e99999999999999999999",
        "1e-99999999999999999999",
        "1e-500",
        "1979-05-27",
        "[1, 2]",
        "'" + "x" * 500 + "'",
    ],
    ids=lambda value: value[:12],
)
def test_odd_values_are_refused_in_a_short_sentence(value) -> None:
    for key in ("attributes.x", "items.x", "providers.x.total", "hide.x.leak_bits"):
        start = "providers.x.epsilon = 1\n" if key.startswith("providers") else ""
        sentence = only_problem(f"version = 1\n{start}{key} = {value}")
        assert sentence.startswith("preferences.toml, line ")
        assert len(sentence) < 250


def test_all_problems_are_listed_in_the_order_of_the_file() -> None:
    text = "version = 2\n[providers.a]\nepsilon = 0\n[items]\nx = 2\n[attributes]\nDrama = 0"
    problems = find_problems(text, name="p.toml")
    assert [(problem.line, problem.key) for problem in problems] == [
        (1, "version"),
        (3, "providers.a.epsilon"),
        (5, "items.x"),
        (7, "attributes.Drama"),
    ]
    with pytest.raises(PreferencesError, match=r"^p\.toml, line 1: .* \(and 3 more\)$") as caught:
        Preferences.parse(text, "p.toml")
    assert caught.value.problems == problems
    assert pickle.loads(pickle.dumps(caught.value)).problems == problems


def test_names_are_compared_with_a_catalogue() -> None:
    names = {"attributes": ("Drama", "Western"), "items": ("The Sessions", "Heat")}
    PREFS.check_against(**names)
    assert find_problems(TEXT, **names) == ()
    wrong = {"attributes": ("Dramas", "Western"), "items": ("the sessions",)}
    with pytest.raises(PreferencesError) as caught:
        PREFS.check_against(**wrong)
    assert [str(problem) for problem in caught.value.problems] == [
        'preferences.toml, line 5: the catalogue has no item "The Sessions"; did you mean "the '
        'sessions"?',
        "preferences.toml, line 9: the catalogue has no attribute Drama; did you mean Dramas?",
    ]
    assert find_problems(TEXT, **wrong) == caught.value.problems


def test_items_are_compared_only_if_they_are_given() -> None:
    PREFS.check_against(attributes=("Drama", "Western"))


def test_a_misspelt_attribute_that_is_withheld_is_found() -> None:
    text = 'version = 1\n[attributes]\ndefault = 1\nWestren = "withhold"'
    assert "did you mean Western?" in only_problem(text, attributes=("Western",))


def test_an_epsilon_for_an_attribute_that_no_item_has_is_found() -> None:
    expected = "preferences.toml, line 9: no item has the attribute Drama; delete the line"
    names = {"attributes": ("Drama", "Western"), "empty": ("Drama", "Western")}
    assert only_problem(TEXT, **names) == expected
    with pytest.raises(PreferencesError, match="no item has the attribute Drama"):
        PREFS.check_against(**names)


def notes(text: str) -> list[str]:
    return [str(note) for note in Preferences.parse(text).notes()]


def test_notes_tell_what_is_probably_not_meant() -> None:
    assert not PREFS.notes()
    both = notes("version = 1")
    assert "nothing is released to anybody" in both[0]
    assert "histograms of attributes release nothing" in both[1]
    start = "version = 1\nattributes.default = 1\n[providers.a]\nepsilon = 1\n"
    assert notes(f"{start}total = 0.5") == [
        "preferences.toml, line 5: providers.a has total 0.5 and epsilon 1: a release "
        "that needs all of epsilon would be refused",
    ]
    assert notes(f"{start}total = 1") == []
    assert "no limit over time" in notes(f"{start}renews = 'daily'")[0]


OWN = f"""{TEXT}
[providers."filmclub.example".attributes]
Drama = 0.01
default = 0.05
[providers."filmclub.example".items]
"The Sessions" = 0.2
default = 1
[providers.other]
epsilon = 1
"""


def test_a_provider_may_have_lines_of_its_own() -> None:
    prefs = Preferences.parse(OWN)
    grant = prefs.grant(FILMCLUB, attributes=("Western", "Drama", "Comedy"))
    assert dict(grant.budgets) == {"Drama": Fraction(1, 100), "Comedy": Fraction(1, 20)}
    assert grant.withheld == ("Western",)
    films = ["The Sessions", "Heat"]
    assert prefs.weights(films, provider=FILMCLUB) == [Fraction(1, 5), 1]
    for provider in (None, "other", "unknown"):
        assert prefs.weights(films, provider=provider) == PREFS.weights(films)
    assert prefs.grant("other", attributes=["Drama"]).budgets == {"Drama": Fraction(1, 50)}


def test_a_default_of_either_kind_never_undoes_what_a_name_withholds() -> None:
    text = """\
version = 1
items = { Heat = 0, Alien = 1 }
attributes = { Western = "withhold", Drama = 1 }
[providers.a]
epsilon = 1
items.default = 0.5
attributes.default = 0.1
[providers.b]
epsilon = 1
items.default = 0
attributes.default = "withhold"
"""
    prefs = Preferences.parse(text)
    assert prefs.weights(["Heat", "Alien"], provider="a") == [0, Fraction(1, 2)]
    assert prefs.weights(["Heat", "Alien"], provider="b") == [0, 0]
    names = ("Western", "Drama")
    assert prefs.grant("a", attributes=names).budgets == {"Drama": Fraction(1, 10)}
    assert prefs.grant("b", attributes=names).budgets == {}


@pytest.mark.parametrize(
    ("general", "own", "general_differs", "differs"),
    [
        ("", "", False, False),
        ("", "x = 0", False, True),
        ("", "default = 0.5", False, True),
        ("x = 0", "x = 1", True, False),
        ("default = 0.5", "default = 1", True, False),
        ("x = 0", "default = 1", True, True),
    ],
)
def test_weighted_for_one_provider(general, own, general_differs, differs) -> None:
    text = f"version = 1\n[items]\n{general}\n[providers.a]\nepsilon = 1\n"
    prefs = Preferences.parse(f"{text}[providers.b]\nepsilon = 1\n[providers.a.items]\n{own}")
    assert prefs.weighted_for("a") is differs
    assert prefs.weighted_for("b") is prefs.weighted_for(None) is general_differs
    assert prefs.weighted is (differs or general_differs)


def test_names_of_a_provider_are_compared_with_a_catalogue() -> None:
    text = OWN.replace('"The Sessions" = 0.2', '"The Session" = 0.2').replace(
        "Drama = 0.01", "x = 1"
    )
    names = {"attributes": ("Drama", "Western", "x"), "items": ("The Sessions",), "empty": ("x",)}
    assert [str(problem) for problem in find_problems(text, **names)] == [
        "preferences.toml, line 21: no item has the attribute x; delete the line",
        'preferences.toml, line 24: the catalogue has no item "The Session"; did you mean "The '
        'Sessions"?',
    ]
    with pytest.raises(PreferencesError, match="line 21"):
        Preferences.parse(text).check_against(**names)


def test_a_line_that_undoes_a_general_one_is_noted() -> None:
    assert notes(OWN) == [
        'preferences.toml, line 24: providers."filmclub.example".items."The Sessions" gives this '
        'provider what items."The Sessions" keeps from all others',
    ]
    withheld = OWN.replace("Drama = 0.01", "Western = 0.01")
    assert "attributes.Western keeps from all others" in notes(withheld)[0]
    only = "version = 1\n[providers.a]\nepsilon = 1\nattributes.x = 1"
    assert notes(only) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Drama = 0.01", "Drama = 0.03"),
        ("Drama = 0.01\n", ""),
        ("default = 0.05", 'default = "withhold"'),
        ("default = 0.05\n", ""),
        ('"The Sessions" = 0.2', '"The Sessions" = 0.1'),
        ("default = 1\n", ""),
        ("default = 1\n", "default = 0.5\n"),
    ],
)
def test_lines_of_a_provider_are_in_the_fingerprint(old, new) -> None:
    text = OWN.replace(old, new)
    assert text != OWN
    assert Preferences.parse(text).fingerprint != Preferences.parse(OWN).fingerprint
    assert Preferences.parse(text) != Preferences.parse(OWN)


def test_empty_tables_of_a_provider_mean_nothing() -> None:
    text = f'{TEXT}[providers."{FILMCLUB}".items]\n[providers."{FILMCLUB}".attributes]\n'
    assert Preferences.parse(text) == PREFS
    assert Preferences.parse(text).fingerprint == PREFS.fingerprint


def test_the_fingerprint_of_a_plain_file_is_what_it_always_was() -> None:
    assert PREFS.fingerprint.startswith("4ab9764a072f")


def test_the_fingerprint_is_of_the_meaning() -> None:
    moved = TEXT.replace("# weight", "# other").replace("0.02", "0.020").replace("2.0\n", "2\n")
    assert Preferences.parse(moved, "other.toml").fingerprint == PREFS.fingerprint
    assert Preferences.parse(moved) == PREFS


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("default = 0.5", "default = 0.6"),
        ("default = 0.5\n", ""),
        ('Sessions" = 0', 'Sessions" = 0.1'),
        ("default = 0.1", "default = 0.2"),
        ("Drama = 0.02", 'Drama = "withhold"'),
        ("Western", "Comedy"),
        ("filmclub", "bookclub"),
        ("epsilon = 0.4", "epsilon = 0.5"),
        ("total = 2.0\n", ""),
        ("yearly", "daily"),
        ("leak_bits = 0.05", "leak_bits = 0.06"),
    ],
)
def test_every_entry_is_in_the_fingerprint(old, new) -> None:
    changed = TEXT.replace(old, new)
    assert changed != TEXT
    assert Preferences.parse(changed).fingerprint != PREFS.fingerprint


def test_read_names_the_path(tmp_path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(TEXT, encoding="utf-8-sig")
    assert Preferences.read(path) == Preferences.read(str(path)) == PREFS
    path.write_bytes(TEXT.replace("\n", "\r\n").replace("0.02", "0").encode())
    with pytest.raises(PreferencesError) as caught:
        Preferences.read(path)
    assert str(caught.value).startswith(f"{path}, line 9: attributes.Drama must be")


@pytest.mark.parametrize(
    ("packed", "says"),
    [
        (None, ": there is no such file; give the path of another"),
        (b"version = 1\n# \xe9", ", line 2: this is not text in UTF-8; save the file as UTF-8"),
        (b"#" * ((1 << 18) + 1), ": it is longer than 262,144 bytes; shorten it"),
    ],
    ids=["missing", "not UTF-8", "too long"],
)
def test_files_that_cannot_be_read(tmp_path, packed, says) -> None:
    path = tmp_path / "mine.toml"
    if packed is not None:
        path.write_bytes(packed)
    with pytest.raises(PreferencesError) as caught:
        Preferences.read(path)
    assert str(caught.value) == f"{path}{says}"


def test_a_directory_is_no_file(tmp_path) -> None:
    with pytest.raises(PreferencesError, match="this is a directory"):
        Preferences.read(tmp_path)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, len(TEXT)), st.integers(0, len(TEXT)), st.text(max_size=6))
def test_a_broken_file_is_read_or_refused_but_never_crashes(start, end, put) -> None:
    text = TEXT[: min(start, end)] + put + TEXT[max(start, end) :]
    problems = find_problems(text)
    try:
        Preferences.parse(text).explain(FILMCLUB, "Drama", "Heat")
    except ReticentError as error:
        assert problems
        assert "\n" not in str(error)
    else:
        assert not problems


def test_deep_nesting_is_a_sentence() -> None:
    assert "more than 6 levels deep" in only_problem("version = 1\nitems = " + "[" * 100_000)
