"""``reticent prefs set`` changes one line in place, or nothing."""

import stat

import pytest

TEXT = """\
version = 1
[items]        # weights
default = 0.5  # half
# attributes
[attributes]
Drama = 0.02

[providers.club]
epsilon = 0.4
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "p.toml"
    path.write_bytes(TEXT.encode())
    return path


def without_notes(err: str) -> str:
    lines = err.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("note: "))


@pytest.mark.parametrize(
    ("options", "printed"),
    [
        ("--item Heat --weight 0", ["+ Heat = 0"]),
        ("--item Heat --withhold", ["+ Heat = 0"]),
        ("--attribute Drama --epsilon 0.10", ["- Drama = 0.02", "+ Drama = 0.10"]),
        ("--attribute Drama --withhold", ["- Drama = 0.02", '+ Drama = "withhold"']),
        ("--attribute Drama --clear", ["- Drama = 0.02"]),
        ("--provider shop.example --epsilon 1", ['+ [providers."shop.example"]', "+ epsilon = 1"]),
        ("--provider club --withhold", ["- [providers.club]", "- epsilon = 0.4"]),
        ("--provider club --total 2", ["+ total = 2"]),
        (
            "--provider club --epsilon 1 --total 2 --renews yearly",
            ["- epsilon = 0.4", "+ epsilon = 1", "+ total = 2", '+ renews = "yearly"'],
        ),
        (
            "--provider club --item Heat --weight 0",
            ["+ [providers.club.items]", "+ Heat = 0"],
        ),
        (
            "--provider club --attribute Drama --withhold",
            ["+ [providers.club.attributes]", '+ Drama = "withhold"'],
        ),
    ],
)
def test_one_line_is_changed(cli, file, options, printed) -> None:
    ended = cli("prefs", "set", "p.toml", *options.split())
    assert (ended.code, without_notes(ended.err)) == (0, "")
    assert ended.out.splitlines() == printed
    new = file.read_text()
    assert new != TEXT
    assert all(comment in new for comment in ("# weights", "# half", "# attributes"))
    again = cli("prefs", "set", "p.toml", *options.split())
    assert (again.code, again.out) == (0, "")
    assert without_notes(again.err) == "p.toml says so already\n"
    assert file.read_text() == new
    told = cli("prefs", "set", "p.toml", *options.split(), "--json").json
    assert (told["schema"], told["changed"]) == ("prefs-set/1", [])
    assert len(told["fingerprint"]) == 64


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("", "it is not clear what to set"),
        ("--item Heat", "it is not clear what to set"),
        ("--item Heat --weight 0 --clear", "it is not clear what to set"),
        ("--item Heat --attribute Drama --clear", "it is not clear what to set"),
        ("--item Heat --epsilon 1", "these options do not go together"),
        ("--attribute Drama --weight 1", "these options do not go together"),
        ("--provider club --clear", "these options do not go together"),
        ("--epsilon 1", "these options do not go together"),
        ("--total 2", "--total and --renews go with --provider and --epsilon only"),
        ("--provider club --total 2 --withhold", "--total and --renews go with --provider"),
        ("--provider club --item Heat --total 2", "--total and --renews are of a provider"),
        ("--provider club --renews hourly", "p.toml, line 10: providers.club.renews must be"),
        ("--item Heat --weight 2", "p.toml, line 4: items.Heat must be a weight from 0 to 1"),
        ("--item Heat --weight some", "p.toml: items.Heat must be a decimal, got some"),
        ("--provider x --item Heat --weight 0", "p.toml: providers.x is not there"),
    ],
)
def test_otherwise_the_file_is_as_it_was(cli, file, options, says) -> None:
    ended = cli("prefs", "set", "p.toml", *options.split())
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(f"error: {says}")
    assert file.read_text() == TEXT


def test_a_private_file_stays_private_and_a_link_a_link(cli, file, tmp_path) -> None:
    file.chmod(0o600)
    link = tmp_path / "link.toml"
    link.symlink_to(file)
    assert cli("prefs", "set", "link.toml", "--item", "Heat", "--weight", "0").code == 0
    assert link.is_symlink()
    assert "Heat = 0" in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_line_ends_stay(cli, file) -> None:
    file.write_bytes(TEXT.replace("\n", "\r\n").encode())
    assert cli("prefs", "set", "p.toml", "--item", "Heat", "--weight", "0").code == 0
    packed = file.read_bytes()
    assert b"Heat = 0\r\n" in packed
    assert packed.count(b"\n") == packed.count(b"\r\n")


def test_a_missing_file_is_said(cli, file) -> None:
    ended = cli("prefs", "set", "none.toml", "--item", "Heat", "--weight", "0")
    assert (ended.code, ended.out) == (2, "")
    assert "there is no such file" in ended.err


@pytest.mark.parametrize(
    "rest", ["--total 2", "--item Heat --weight 0", "--attribute A --withhold"]
)
def test_a_provider_that_is_not_there_can_be_named_as_proposed(cli, file, rest) -> None:
    words = ["prefs", "set", "p.toml", "--provider", "shop.example", *rest.split()]
    ended = cli(*words)
    assert ended.code == 2
    proposed = "reticent prefs set p.toml --provider shop.example --epsilon 1"
    assert f"  next: {proposed}\n" in ended.err
    assert cli(*proposed.split()[1:]).code == 0
    assert cli(*words).code == 0


def test_what_would_not_work_is_not_proposed(cli, file) -> None:
    ended = cli("prefs", "set", "p.toml", "--provider", "club", "--total", "-1")
    assert (ended.code, "--epsilon 1" in ended.err) == (2, False)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--epsilon 1", True),
        ("--epsilon 1 --total 2", False),
        ("--epsilon 0.4 --renews yearly", True),
        ("--attribute Drama --epsilon 1", False),
        ("--item Heat --weight 0", False),
    ],
)
def test_a_provider_without_a_total_is_noted(cli, file, options, said) -> None:
    ended = cli("prefs", "set", "p.toml", "--provider", "club", *options.split())
    note = "note: no total: club may ask for ever; --total E limits it\n"
    assert (note in ended.err) is said
