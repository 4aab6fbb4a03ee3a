"""Every way a command can end has its exit code and its sentence."""

import pytest
import typer

from reticent import errors
from reticent._version import __version__
from reticent.cli import main
from reticent.cli.failures import ExitCode, Failure
from reticent.cli.typed import MEANT, typed

CANARY = "canary-9184"


@pytest.fixture
def raising(monkeypatch):
    """Make ``reticent`` raise something as if a command had."""

    def install(error):
        def command(_words):
            raise error

        monkeypatch.setattr(main, "_execute", command)

    return install


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (Failure("it broke", why="because", next_command="reticent doctor"), 2, "it broke"),
        (errors.ParameterError("epsilon", "positive", -1), 2, "epsilon must be positive"),
        (errors.BudgetExceeded("overall budget", 5 * 10**8, 10**8), 3, "0.4 is missing"),
        (errors.MissingExtra("the console", "console"), 4, "pip install 'reticent[console]'"),
        (errors.CardError("not a card"), 2, "not a card"),
        (PermissionError(13, "Permission denied", "/x"), 2, "Permission denied"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_each_error_has_its_code_and_sentence(cli, raising, error, code, words) -> None:
    raising(error)
    ended = cli("x")
    assert (ended.code, ended.out) == (code, "")
    assert words in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize("error", [ValueError, RuntimeError, KeyError, AssertionError, MemoryError])
def test_an_unforeseen_error_does_not_show_its_text(cli, raising, error) -> None:
    raising(error(CANARY))
    ended = cli("x")
    assert ended.code == ExitCode.BUG
    assert CANARY not in ended.err
    assert error.__name__ in ended.err
    assert "Traceback" not in ended.err


def test_debug_shows_where(cli, raising) -> None:
    raising(ValueError(CANARY))
    ended = cli("--debug", "x")
    assert ended.code == ExitCode.BUG
    assert "Traceback" in ended.err


def test_debug_is_an_option_of_reticent_itself(cli) -> None:
    ended = cli("card", "show", "nothing.json", "--debug")
    assert ended.code == 2
    assert "No such option: --debug" in ended.err
    assert "Traceback" not in ended.err


def test_refusals_say_what_to_do_next(cli, raising) -> None:
    raising(errors.BudgetExceeded("overall budget", 2, 1))
    lines = cli("x").err.splitlines()
    assert lines[0].startswith("refused: ")
    assert lines[-1].startswith("  next: ")


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ([], "reticent"),
        (["x", "card"], "reticent"),
        (["--debug", "card", "show", CANARY], "reticent card show"),
        (["card", CANARY, "show"], "reticent card"),
        (["release", "similarity", "card", "demo"], "reticent release similarity"),
    ],
)
def test_the_next_command_is_the_help_of_what_was_typed(cli, raising, words, named) -> None:
    raising(errors.CardError("not a card"))
    assert cli(*words).err.splitlines()[-1] == f"  next: {named} --help"


def test_the_version(cli) -> None:
    assert cli("--version").out == f"reticent {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["dmeo"], "demo"),
        (["doctr"], "doctor"),
        (["card", "shwo"], "card show"),
        (["crad"], "card"),
        (["budget"], "ledger"),
        (["Budget", "show"], "ledger"),
        (["console"], "serve"),
        (["--debug", "histogram", "x.csv"], "release histogram"),
        (["release", "influencers"], "release top-nodes"),
    ],
)
def test_a_misspelt_command_is_recognised(cli, arguments, meant) -> None:
    ended = cli(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert f"Did you mean 'reticent {meant}'?" in ended.err
    (line,) = [line for line in ended.err.splitlines() if "next: " in line]
    assert line == f"  next: reticent {meant} --help"
    assert cli(*line.split()[2:]).code == 0


def test_every_name_that_is_known_leads_somewhere() -> None:
    whole = typer.main.get_command(main.app)
    for tried, known in MEANT.items():
        assert typed(known.split(), whole).names == tuple(known.split()), known
        assert typed(tried.split(), whole).names != tuple(tried.split()), f"{tried} is a command"


def test_what_is_like_nothing_leads_to_the_help(cli) -> None:
    ended = cli("xylophone")
    assert ended.code == 2
    assert "Did you mean" not in ended.err
    assert "next: reticent --help" in ended.err


# JSON


def test_with_json_a_failure_is_one_object_too(cli) -> None:
    ended = cli("card", "show", "none.json", "--json")
    told = ended.json
    assert (ended.code, told["schema"], told["kind"], told["exit_code"]) == (
        2,
        "error/1",
        "error",
        2,
    )
    assert set(told) == {"schema", "kind", "what", "why", "next", "others", "exit_code"}
    assert told["what"] in ended.err
    assert ended.err == cli("card", "show", "none.json").err


@pytest.mark.parametrize(
    "words",
    [
        ["card", "show", "--", "--json"],
        ["prefs", "check", "none.toml", "--catalogue", "--json"],
        ["release", "similarity", "x.csv", "--pair", "a,b", "--epsilon", "--json"],
        ["card", "--json"],
        ["nothing", "--json"],
        ["--json"],
    ],
    ids=" ".join,
)
def test_json_that_is_no_option_of_the_command_is_not_taken_for_one(cli, words) -> None:
    ended = cli(*words)
    assert (ended.code, ended.out) == (2, "")


@pytest.mark.parametrize(
    "words",
    [
        ["card", "show", "--json", "--nothing"],
        ["card", "show", "--json"],
        ["prefs", "check", "none.toml", "--catalogue=x.csv", "--json"],
        ["--debug", "card", "show", "none.json", "--json"],
    ],
    ids=" ".join,
)
def test_json_is_found_where_the_rest_is_wrong(cli, words) -> None:
    ended = cli(*words)
    assert (ended.code, ended.json["schema"]) == (2, "error/1")


def test_an_unforeseen_error_is_told_without_its_text(cli, monkeypatch) -> None:
    def broken(_words):
        raise ValueError(CANARY)

    monkeypatch.setattr(main, "_execute", broken)
    ended = cli("doctor", "--json")
    assert (ended.code, ended.json["exit_code"]) == (70, 70)
    assert CANARY not in ended.out + ended.err
    assert ended.json["next"] == "reticent doctor"


def test_a_budget_is_told_in_amounts(cli, raising) -> None:
    raising(errors.BudgetExceeded("overall budget", 5 * 10**8, 10**8))
    told = cli("doctor", "--json").json
    assert (told["kind"], told["exit_code"]) == ("refused", 3)
    assert (told["asked"], told["left"], told["missing"]) == ("0.5", "0.1", "0.4")


@pytest.mark.parametrize("arguments", [[], ["card"], ["audit"]])
def test_nothing_to_do_shows_the_help_as_talk(cli, arguments) -> None:
    ended = cli(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("Usage: reticent")


def test_help_is_a_result(cli) -> None:
    ended = cli("--help")
    assert (ended.code, ended.err) == (0, "")
    for command in ("demo", "doctor", "queries", "release", "card", "audit"):
        assert command in ended.out


def test_no_shell_completion_installer(cli) -> None:
    assert "completion" not in cli("--help").out


def test_a_terminal_command_in_a_name_is_not_carried_out(cli) -> None:
    ended = cli("card", "show", "\x1b[2Jgone.json")
    assert "\x1b" not in ended.err
    assert "\\x1b[2Jgone.json cannot be read" in ended.err


def test_every_printing_command_takes_json() -> None:
    group = typer.main.get_command(main.app)

    def commands(command, path=()):
        parts = getattr(command, "commands", None)
        if parts is None:
            yield path, command
        else:
            for name, part in parts.items():
                yield from commands(part, (*path, name))

    found = dict(commands(group))
    assert len(found) >= 31
    for path, command in found.items():
        assert any("--json" in option.opts for option in command.params), path
