"""``reticent audit attack``: try to infer a secret from released profiles, and how well it can go.

Not here  the attackers (tasks/inference.py), attacks on noise (audit.py), pictures
          (report/mapping_figures.py).

The ceiling is exact for the people who are attacked: whatever ranks their releases, its area is at
most this on average over the draws. An interval above it means that draws are not the mapping's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reticent.amounts import show_up
from reticent.cli.failures import ExitCode, Failure
from reticent.cli.files import write_atomically
from reticent.cli.mapping_files import MappingFile, PeopleFile, read_mapping
from reticent.cli.output import Json, progress, say, say_json, talk
from reticent.cli.release import check_files
from reticent.errors import MissingExtra
from reticent.layout import table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reticent.data.people_tables import People
    from reticent.mechanisms.mapping_law import MappingLaw
    from reticent.tasks.inference import Attack
    from reticent.tasks.recoding import Recoding

FIGURES = (".svg",)
RAW, RELEASED = "raw profiles", "released profiles"
STRANGE = 1e-6  # chance: rarer draws are none of the mapping
WIDE = 0.1  # of an interval of areas: there are few people
FEWEST = 10  # people with the secret, and without it, in each half


def attack(
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
    """How well a secret can be inferred from profiles, before and after release.

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
    from reticent.data.people_tables import read_people
    from reticent.tasks.inference import bayes_curve  # scikit-learn may be missing: say so first

    recoding = read_mapping(mapping)
    people = read_people(path)
    column, truth, chosen = _truth(people, recoding, secret, value)
    rows = people.rows(recoding.columns, recoding.widths)[truth >= 0]
    halves = _Halves.of(recoding, rows, truth[truth >= 0], seed)
    with progress(2) as advance:
        advance("attacking profiles as they are")
        before = halves.attack_raw(seed)
        advance("attacking released profiles")
        after = halves.attack_released(seed)
    ceiling, right = halves.ceiling(recoding), halves.drawn_right(recoding)
    found = Findings(column, chosen, before, after, ceiling, halves.truth, right)
    if roc is not None:
        from reticent.report.attack_figures import roc_figure

        best = bayes_curve(found.ceiling)
        write_atomically(roc, roc_figure(after, ceiling=best, before=before))
    law = _law(recoding, rows, truth[truth >= 0])
    if changes is not None:
        write_atomically(changes, _changes(recoding, law))
    if features is not None:
        write_atomically(features, _features(recoding, law))
    if as_json:
        say_json("audit-attack/1", **found.fields())
    else:
        for line in found.lines():
            say(line)
        for note in _notes(recoding, found):
            talk(f"note: {note}")
        for figure in figures:
            talk(f"figure: {figure}")
    if found.above:
        talk("error: an attacker does better than the best possible one; do not release")
    if found.strange:
        talk("error: releases do not follow the mapping's chances; do not release")
    if found.above or found.strange:
        raise typer.Exit(ExitCode.FOUND)


def _truth(
    people: People, recoding: Recoding, secret: str | None, value: str | None
) -> tuple[str, NDArray[Any], str]:
    """The column, who has the value (1), has not (0) or is unknown (-1), and the value."""
    import numpy as np

    from reticent.tasks.leakage import secret_names

    names = secret_names(recoding)
    if secret is None and len(names) > 1:
        raise Failure(f"the mapping hides {', '.join(names)}", why="--secret says which to infer")
    column = people.named(names[0] if secret is None else secret)
    if column.casefold() in {name.casefold() for name in recoding.columns}:
        why = "whoever sees a release sees it; --secret names a column that is not released"
        raise Failure(f"{column} is a column that the mapping releases", why=why)
    held = people.column(column)
    values = [text for text in np.unique(held).tolist() if text]
    if not values:
        raise Failure(f"{people.file} has no value in {column}: there is nothing to infer")
    if len(values) == 1:
        why = "an attack needs people who have the secret and people who do not"
        raise Failure(f"everybody in {people.file} has the same {column}", why=why)
    if value is None and len(values) > 2:
        why = "--value VALUE attacks one of them against all others"
        raise Failure(f"{column} has {len(values)} values, and an attack is about two", why=why)
    chosen = values[1] if value is None else value.strip()
    if chosen not in values:
        why = "values are compared letter by letter; capitals and spaces inside count"
        raise Failure(f"nobody in {people.file} has that value of {column}", why=why)
    truth = np.where(held == "", -1, held == chosen).astype(np.int64)
    return column, truth, chosen


def _law(recoding: Recoding, rows: NDArray[Any], truth: NDArray[Any]) -> MappingLaw:
    """The mapping under the law of these people; who is withheld is left out."""
    import numpy as np

    from reticent.tasks.leakage import counted

    counts, _ = counted(recoding, np.array([[0], [1]]), rows, truth)
    return recoding.under(counts[:, :-1])


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


@dataclass(frozen=True, slots=True, repr=False)
class _Halves:
    """People to learn from and people to attack, each as they are and as released."""

    learn: NDArray[Any]
    learn_released: NDArray[Any]
    known: NDArray[Any]
    target: NDArray[Any]
    target_released: NDArray[Any]
    truth: NDArray[Any]

    @classmethod
    def of(cls, recoding: Recoding, rows: NDArray[Any], truth: NDArray[Any], seed: int) -> _Halves:
        import numpy as np

        from reticent.data.synthetic import uniform
        from reticent.noise import Source

        released = recoding.release_many(rows, Source.system())
        shown = np.array([None not in row for row in released.tolist()], dtype=bool)
        rows, released, truth = rows[shown], released[shown].astype(str), truth[shown]
        order = np.argsort(uniform(len(rows), Source.seeded(seed)), kind="stable")
        half = len(rows) // 2
        one, other = np.sort(order[:half]), np.sort(order[half:])
        for part in (truth[one], truth[other]):
            if min(int(part.sum()), int((1 - part).sum())) < FEWEST:
                why = f"each half needs {FEWEST} people who have the secret and {FEWEST} without"
                raise Failure("there are too few people to attack", why=why)
        return cls(rows[one], released[one], truth[one], rows[other], released[other], truth[other])

    def attack_raw(self, seed: int) -> list[Attack]:
        """Profiles as they are."""
        from reticent.tasks.inference import attack as attacks

        return attacks({RAW: self.learn}, self.known, self.target, self.truth, seed=seed)

    def attack_released(self, seed: int) -> list[Attack]:
        """Released profiles, by who learnt from raw ones and who learnt from released ones."""
        from reticent.tasks.inference import attack as attacks

        train = {RAW: self.learn, RELEASED: self.learn_released}
        return attacks(train, self.known, self.target_released, self.truth, seed=seed)

    def drawn_right(self, recoding: Recoding) -> float:
        """Whether releases follow the mapping: an attack may be too weak to see it."""
        import numpy as np

        from reticent.tasks.inference import as_the_table_says

        told = np.concatenate([self.learn_released, self.target_released])
        numbers = {tuple(row): place for place, row in enumerate(recoding.profiles.tolist())}
        drawn = np.array([numbers[tuple(row)] for row in told.tolist()], dtype=np.int64)
        places = recoding.places(np.concatenate([self.learn, self.target]))
        return as_the_table_says(recoding.mechanism, places, drawn)

    def ceiling(self, recoding: Recoding) -> MappingLaw:
        """The mapping under the law of the people attacked: nobody beats its Bayes rule."""
        return _law(recoding, self.target, self.truth)


@dataclass(frozen=True, slots=True, repr=False)
class Findings:
    """What the attackers reached, and what none can exceed."""

    column: str
    value: str
    before: Sequence[Attack]
    after: Sequence[Attack]
    ceiling: MappingLaw
    truth: NDArray[Any]  # who of those attacked has the secret
    drawn_right: float  # the chance of draws at least so far from the mapping's chances

    @property
    def people(self) -> int:
        """How many were attacked."""
        return len(self.truth)

    @property
    def strange(self) -> bool:
        """Whether the draws are not those of the mapping."""
        return self.drawn_right < STRANGE

    @property
    def bound(self) -> float:
        """The area of the best possible attack on these releases."""
        from reticent.tasks.inference import bayes_auc

        return bayes_auc(self.ceiling)

    @property
    def above(self) -> list[Attack]:
        """Attacks that beat the best possible one, by area or anywhere, and no accident."""
        from reticent.report.attack_figures import above_anywhere, above_ceiling
        from reticent.tasks.best_attack import bayes_curve

        ceiling = bayes_curve(self.ceiling)
        return [
            attack
            for attack in self.after
            if above_ceiling(attack, ceiling) or above_anywhere(attack, ceiling, self.truth)
        ]

    @property
    def wide(self) -> bool:
        """Whether too few people are attacked to know an area well."""
        return any(attack.high - attack.low > WIDE for attack in (*self.before, *self.after))

    def lines(self) -> list[str]:
        """As a table, the consequence first."""
        best = max(attack.auc for attack in self.after)
        raw = max(attack.auc for attack in self.before)
        heads = ("attacker", "before", f"after, learnt from {RAW}", f"after, from {RELEASED}")
        rows = [
            (first.attacker, *map(_told, (first, *self._of(first.attacker))))
            for first in self.before
        ]
        return [
            f"Shown one person with {self.column} {self.value} and one without, the best attacker "
            f"tells them apart {100 * raw:.0f} times in 100 from profiles as they are and "
            f"{100 * best:.0f} times from released ones. The best possible attacker of released "
            f"ones does it {show_up(100 * self.bound, 3)} times, computed exactly; a coin 50 "
            "times.",
            "",
            *table(heads, [*rows, ("best possible", "", *2 * (show_up(self.bound, 3),))]),
            "",
            f"area under the ROC curve with 95 % interval, {self.people} people attacked",
        ]

    def _of(self, attacker: str) -> list[Attack]:
        return [attack for attack in self.after if attack.attacker == attacker]

    def fields(self) -> dict[str, Any]:
        """For JSON; curves by few enough points, and the ceiling nowhere below what it is."""
        from reticent.report.roc import raised
        from reticent.tasks.best_attack import bayes_curve

        have = int(self.truth.sum())
        return {
            "secret": self.column,
            "value": self.value,
            "people": self.people,
            "positives": have,
            "negatives": self.people - have,
            "best_possible": self.bound,
            "few_people": self.wide,
            "passed": not self.above and not self.strange,
            "draws_as_the_table_says": self.drawn_right,
            "attacks": [
                {
                    "attacker": attack.attacker,
                    "attacked": attacked,
                    "trained_on": attack.trained_on,
                    "auc": attack.auc,
                    "low": attack.low,
                    "high": attack.high,
                    "above": attack in self.above,
                    **_points(attack),
                }
                for attacked, attacks in ((RAW, self.before), (RELEASED, self.after))
                for attack in attacks
            ],
            "ceiling": _listed(*raised(bayes_curve(self.ceiling))),
        }


def _points(attack: Attack) -> dict[str, list[float]]:
    from reticent.report.roc import thinned

    kept = thinned(attack.false_rates, attack.true_rates)
    return _listed(attack.false_rates[kept], attack.true_rates[kept])


def _listed(false_rates: NDArray[Any], true_rates: NDArray[Any]) -> dict[str, list[float]]:
    return {"false_rates": false_rates.tolist(), "true_rates": true_rates.tolist()}


def _told(attack: Attack) -> str:
    return f"{attack.auc:.3f} ({attack.low:.3f} to {attack.high:.3f})"


def _notes(recoding: Recoding, found: Findings) -> list[str]:
    from reticent.tasks.leakage import secret_names

    names, column = secret_names(recoding), found.column
    notes = ["nothing was released: these draws were attacked and thrown away"]
    if column.casefold() not in {name.casefold() for name in names}:
        notes.append(f"the mapping was made to hide {', '.join(names)}, not {column}")
    if found.wide:
        notes.append(
            f"there are few people ({found.people} attacked): intervals are wide, and areas may be "
            "far off; the best possible figure is exact for them"
        )
    return notes
