"""``reticent doctor``: what is installed, and whether noise can be trusted on this machine.

Not here  the checks themselves (doctor_checks.py).
"""

from __future__ import annotations

from dataclasses import asdict

import typer

from reticent.cli.failures import ExitCode
from reticent.cli.output import Json, say, say_json, talk
from reticent.layout import table


def doctor(as_json: Json = False) -> None:
    """Check this installation: versions, random source, arithmetic.

    Exit code 1 if a check fails; extras may be missing.
    """
    from reticent.cli.doctor_checks import examine

    report = examine()
    if as_json:
        say_json("doctor/1", healthy=report.healthy, **asdict(report))
    else:
        say(f"{report.system}, {report.processors} processors")
        say()
        for line in table(("part", "version", "needed"), [p.cells() for p in report.parts]):
            say(line)
        say()
        for line in table(("extra", "state"), [e.cells() for e in report.extras]):
            say(line)
        say()
        for line in table(("check", "result", "detail"), [c.cells() for c in report.checks]):
            say(line)
    if not report.healthy:
        talk("error: a check failed; do not rely on releases made on this machine")
        raise typer.Exit(ExitCode.FOUND)
