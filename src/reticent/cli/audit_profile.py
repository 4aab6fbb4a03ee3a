"""``reticent audit profile``: try to infer a secret from released profiles, and how well it can go.

Not here  the attack (queries/evaluate/inference_audit.py), attacks on other queries (audit.py),
          pictures (report/mapping_figures.py).
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reticent.cli.failures import ExitCode, Failure
from reticent.cli.files import write_atomically
from reticent.cli.mapping_files import MappingFile, PeopleFile, read_mapping
from reticent.cli.output import Json, progress, say, say_json, talk
from reticent.cli.release import check_files
from reticent.errors import MissingExtra

if TYPE_CHECKING:
    from reticent.mechanisms.mapping_law import MappingLaw
    from reticent.tasks.recoding import Recoding

FIGURES = (".svg",)


def profile(
    mapping: MappingFile,
    path: PeopleFile,
    secret: Annotated[
        str | None,
        typer.Option(
            "--secret",
            help="The column to infer.  [default: the secret of the mapping]",
            metavar="COLUMN",
        ),
    ] = None,
    value: Annotated[
        str | None,
        typer.Option(
            "--value",
            help="Infer who has this value of the secret; needed if there are more than two.",
            metavar="VALUE",
        ),
    ] = None,
    roc: Annotated[
        Path | None,
        typer.Option("--roc", help="Draw the ROC curves here, .svg.", metavar="FILE"),
    ] = None,
    changes: Annotated[
        Path | None,
        typer.Option("--changes", help="Draw what becomes what here, .svg.", metavar="FILE"),
    ] = None,
    features: Annotated[
        Path | None,
        typer.Option("--features", help="Draw what each column tells here, .svg.", metavar="FILE"),
    ] = None,
    seed: Annotated[
        int,
        typer.Option("--seed", help="Which half is attacked; the draws are always new.", min=0),
    ] = 0,
    as_json: Json = False,
) -> None:
    """How well a secret can be inferred from profiles.

    Before and after release.
    Half of the people teach three attackers, whose secrets they know; the other half is attacked,
    as it is and released. The honest opponent learns from released profiles. An area (AUC) of 0.5
    is guessing, 1 is certainty. Exit code 1 if an attacker does better than the best possible one,
    or releases do not follow the mapping's chances.
    """
    figures = [path for path in (roc, changes, features) if path is not None]
    for figure in figures:
        check_files(figure, suffixes=FIGURES)
    if figures and find_spec("matplotlib") is None:
        raise MissingExtra("drawing a figure", "plots")
    from reticent.queries.evaluate.inference_audit import NoAttack, infer, read_attacked
    from reticent.tasks.inference import bayes_curve  # scikit-learn may be missing: say so first

    recoding = read_mapping(mapping)
    people = read_attacked(path)
    with progress(2) as advance:
        try:
            found = infer(recoding, people, secret=secret, value=value, seed=seed, tick=advance)
        except NoAttack as error:
            raise Failure(error.what, why=error.why) from None
    if roc is not None:
        from reticent.report.attack_figures import roc_figure

        best = bayes_curve(found.ceiling)
        write_atomically(roc, roc_figure(found.after, ceiling=best, before=found.before))
    if changes is not None:
        write_atomically(changes, _changes(recoding, found.law))
    if features is not None:
        write_atomically(features, _features(recoding, found.law))
    if as_json:
        say_json("audit-attack/1", **found.fields())
    else:
        for line in found.lines():
            say(line)
        for note in found.notes():
            talk(f"note: {note}")
        for figure in figures:
            talk(f"figure: {figure}")
    if found.above:
        talk("error: an attacker does better than the best possible one; do not release")
    if found.strange:
        talk("error: releases do not follow the mapping's chances; do not release")
    if not found.passed:
        raise typer.Exit(ExitCode.FOUND)


def _changes(recoding: Recoding, law: MappingLaw) -> str:
    """What becomes what, in the changes that most of these people make."""
    from reticent.report.mapping_figures import column_labels, mapping_figure

    labels = column_labels(recoding.columns, recoding.profiles)
    return mapping_figure(law.channel, labels, law.joint.sum(axis=0))


def _features(recoding: Recoding, law: MappingLaw) -> str:
    """What each column tells about the secret, before and after."""
    from reticent.optim.mapping import Channel
    from reticent.report.attack_figures import feature_figure
    from reticent.tasks.leakage import features as bits

    before = bits(Channel.identity(len(recoding.profiles)), law.joint, recoding.profiles)
    after = bits(law.channel, law.joint, recoding.profiles)
    return feature_figure(recoding.columns, before.tolist(), after.tolist())
