"""``reticent audit``: attack our own noise and queries, by attacks that would notice a fault.

Not here  the attacks (testing/, queries/evaluate/), how those on noise are put together
          (audit_checks.py), attacks on released profiles (audit_profile.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reticent.cli import query_options
from reticent.cli.failures import ExitCode
from reticent.cli.output import Json, progress, say, say_json, talk
from reticent.cli.queries import command_of
from reticent.layout import table
from reticent.queries.base import Query
from reticent.queries.cells import cells
from reticent.queries.registry import queries

if TYPE_CHECKING:
    from reticent.cli.audit_checks import Finding

app = typer.Typer(
    help="Attack what this toolkit releases.", rich_markup_mode=None, no_args_is_help=True
)


@app.callback()
def audit() -> None:
    """Attack what this toolkit releases."""


@app.command("noise")
def noise(
    quick: Annotated[bool, typer.Option("--quick", help="Fewer scales and fewer draws.")] = False,
    as_json: Json = False,
) -> None:
    """Check the noise four ways, each with a control.

    In the control the noise is 2 % too small, and that must be flagged. Exit code 1 if a check
    finds something, or if a control goes unnoticed.
    """
    from reticent.cli.audit_checks import CHECKS

    findings: list[Finding] = []
    with progress(len(CHECKS)) as advance:
        for name, check in CHECKS.items():
            advance(name)
            findings.append(check(quick))
    passed = all(finding.passed for finding in findings)
    if as_json:
        checks = [{**asdict(finding), "passed": finding.passed} for finding in findings]
        say_json("audit-noise/1", passed=passed, checks=checks)
    else:
        for line in table(("check", "result", "control"), [f.cells() for f in findings]):
            say(line)
    if not passed:
        talk("error: something is wrong with the noise, or with the checks; do not release")
        raise typer.Exit(ExitCode.FOUND)


def add_queries(app: typer.Typer) -> None:
    """A command for every kind that can be attacked on small inputs."""
    for kind, query in queries().items():
        if cells(query)["verbs"]["audit"] is True and query.audit is Query.audit:
            app.command(kind, help=_about(kind))(_attacking(query))


def _about(kind: str) -> str:
    return (
        f"Attack the answers of {kind}.\n\nAn attacker sees what would be published and says which "
        "of two inputs it is about, which differ in one unit. How often it is right stands beside "
        "what the promise allows at most, and beside a control with next to no noise. Exit code 1 "
        "if the promise is broken, or if the control goes unnoticed."
    )


def _attacking(query: type[Query]) -> Callable[..., None]:
    draws = typer.Option(
        "--draws", help="Answers about each input; half of them teach.", metavar="N", min=200
    )
    files = [
        query_options.parameter(
            f"table_{name}",
            Annotated[
                Path | None,
                typer.Option(f"--{name}", help=f"Attack on this: {one.help}", metavar="FILE"),
            ],
            None,
        )
        for name, one in query.inputs.items()
        if name in query.attack_reads
    ]
    parameters = [
        *query_options.of_options(query.options()),
        *files,
        query_options.parameter("draws", Annotated[int | None, draws], None),
        query_options.parameter("as_json", Json, False),
    ]
    return command_of(lambda context, given: _attack(query, given), parameters)


def _attack(query: type[Query], given: dict[str, Any]) -> None:
    from reticent.queries.evaluate.distinguish import audit

    asked = query_options.asked(query, given)
    named = {name: given[f"table_{name}"] for name in query.attack_reads}
    files = {name: path for name, path in named.items() if path is not None}
    with progress(len(asked.worlds()) + 1) as advance:
        found = audit(asked, files or None, draws=given["draws"], tick=advance)
    if given["as_json"]:
        say_json("audit/1", **found.fields())
    else:
        for line in found.lines():
            say(line)
    if not found.passed:
        raise typer.Exit(ExitCode.FOUND)
