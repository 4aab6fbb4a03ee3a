"""Examples stand in the help after the first sentence, on one line; lists of commands are whole."""

import pytest
import typer

from reticent.cli.examples import EXAMPLES, TRY, add_examples

GROUPS = ["", "release", "plan", "prefs", "ledger", "gateway", "data"]
GROUPS += ["compare", "sweep", "verify", "audit"]


def test_what_is_tried_first_has_an_example() -> None:
    assert set(TRY) <= set(EXAMPLES)


def test_an_example_follows_the_sentence_and_is_not_broken(cli) -> None:
    paragraphs = cli("release", "tree", "--help").out.split("\n\n")
    assert paragraphs[1].startswith("  A decision tree in which no single row shows")
    assert paragraphs[2] == f"  Example: {EXAMPLES['release tree']}"
    assert paragraphs[3].startswith("  Splits are chosen at random")


def test_it_is_put_there_once() -> None:
    app = typer.Typer()

    @app.command("doctor")
    def doctor() -> None:
        """Look.

        Then say.
        """

    for _ in range(2):
        add_examples(app)
    (command,) = app.registered_commands
    assert command.help == "Look.\n\n\b\nExample: reticent doctor\n\nThen say."


@pytest.mark.parametrize("group", GROUPS)
def test_no_sentence_is_cut_in_a_list_of_commands(cli, group) -> None:
    _, _, listed = cli(*group.split(), "--help").out.partition("\nCommands:\n")
    lines = [line for line in listed.splitlines() if line.strip()]
    assert lines
    assert [line for line in lines if line.endswith("...")] == []


def test_commands_come_in_the_order_in_which_they_are_needed(cli) -> None:
    listed = cli("--help").out.partition("\nCommands:\n")[2].splitlines()
    names = [line.split()[0] for line in listed if line.startswith("  ") and line.strip()]
    assert names[:3] == ["demo", "init", "doctor"]
    assert names.index("plan") < names.index("release") < names.index("ledger")
