"""``reticent audit``: attack our own noise, and show that each attack would notice a fault.

Not here  the attacks (testing/), how they are put together (audit_checks.py), attacks on released
          profiles (attack.py).
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from reticent.cli.failures import ExitCode
from reticent.cli.output import Json, progress, say, say_json, talk
from reticent.layout import table

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
