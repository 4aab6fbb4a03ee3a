"""A query to verify: in a file that says so, or as a command for every kind.

Not here  verifying (queries/evaluate/verify.py), other files (verify_cases.py), words
          (verify_views.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reticent.cli import query_options
from reticent.cli.failures import ExitCode
from reticent.cli.output import Json, progress
from reticent.cli.queries import command_of
from reticent.errors import ParameterError
from reticent.queries.cells import cells
from reticent.queries.registry import queries, query_of

if TYPE_CHECKING:
    from reticent.cli.verify_file import Section
    from reticent.queries.base import Query
    from reticent.testing.cases import Case


def query_case(section: Section) -> Case:
    """The case of a query with its options."""
    from reticent.cli.verify_file import by_key
    from reticent.queries.evaluate.verify import case_of

    kind = section.text("kind", among=tuple(queries()))
    made = query_of(kind)
    section.asked |= {one.name for one in made.options()}
    section.close()
    options = {name: value for name, value in section.held.items() if name != "kind"}
    for one in made.options():
        if one.required and one.name not in options:
            section.wrong("kind", f"{kind} needs {one.name}: {one.help}")
    try:
        query = made.of_plain(options)
    except ParameterError as error:
        raise by_key(error, section) from None
    try:
        return case_of(query)
    except ParameterError as error:
        section.wrong("kind", f"{kind} cannot be verified: {error.rule}")


def add_queries(app: typer.Typer) -> None:
    """A command for every kind that brings small inputs."""
    for kind, query in queries().items():
        if cells(query)["verbs"]["verify"] is True:
            app.command(kind, help=_about(kind))(_verifying(query))


def _about(kind: str) -> str:
    return (
        f"Try to refute the promise of {kind}.\n\nSmall made-up inputs that differ in one unit are "
        "released many times, and what would be published is compared. That can refute a promise, "
        "and prove none. Exit code 1 if it is broken."
    )


def _verifying(query: type[Query]) -> Callable[..., None]:
    draws = typer.Option("--draws", help="Draws on each side.", metavar="N", min=1000)
    parameters = [
        *query_options.of_options(query.options()),
        query_options.parameter("draws", Annotated[int | None, draws], None),
        query_options.parameter("as_json", Json, False),
    ]
    return command_of(lambda context, given: _verify(query, given), parameters)


def _verify(query: type[Query], given: dict[str, Any]) -> None:
    from reticent.cli.verify_views import say_audited
    from reticent.queries.evaluate.verify import verify

    asked = query_options.asked(query, given)
    with progress(2 * len(asked.worlds())) as advance:
        found = verify(asked, draws=given["draws"], tick=advance)
    say_audited(found.case, found.units, found.case.why, found.draws, as_json=given["as_json"])
    if found.refuted:
        raise typer.Exit(ExitCode.FOUND)
