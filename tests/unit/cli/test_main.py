"""Every way a command can end has its exit code and its sentence."""

import pytest
import typer

from reticent import errors
from reticent._version import __version__
from reticent.cli import main
from reticent.cli.failures import ExitCode, Failure

CANARY = "canary-9184"


@pytest.fixture
def raising(monkeypatch):
    """Make ``reticent`` raise something as if a command had."""

    def install(error):
        def command(**_):
            raise error

        monkeypatch.setattr(main, "app", command)

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
    [(["dmeo"], "demo"), (["doctr"], "doctor"), (["card", "shwo"], "show"), (["crad"], "card")],
)
def test_a_misspelt_command_is_recognised(cli, arguments, meant) -> None:
    ended = cli(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert f"Did you mean '{meant}'?" in ended.err


@pytest.mark.parametrize("arguments", [[], ["card"], ["audit"]])
def test_nothing_to_do_shows_the_help_as_talk(cli, arguments) -> None:
    ended = cli(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("Usage: reticent")


def test_help_is_a_result(cli) -> None:
    ended = cli("--help")
    assert (ended.code, ended.err) == (0, "")
    for command in ("demo", "doctor", "neighbours", "recommend", "release", "card", "audit"):
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
