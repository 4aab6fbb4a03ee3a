"""An attack on profiles released through a mapping: how well their secret can be inferred.

Theory    docs/theory/mapping.md, Theorem 7 (guess rate), "What this promise is not"
Not here  the attackers (tasks/inference.py), the game on small inputs (distinguish.py), pictures
          (report/).

The ceiling is exact for the people who are attacked: whatever ranks their releases, its area is at
most this on average over the draws. An interval above it means that draws are not the mapping's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reticent.amounts import show_up
from reticent.errors import ReticentError
from reticent.layout import table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reticent.data.people_tables import People
    from reticent.mechanisms.mapping_law import MappingLaw
    from reticent.noise import Source
    from reticent.tasks.inference import Attack
    from reticent.tasks.recoding import Recoding

RAW, RELEASED = "raw profiles", "released profiles"
STRANGE = 1e-6  # chance: rarer draws are none of the mapping
WIDE = 0.1  # of an interval of areas: there are few people
FEWEST = 10  # people with the secret, and without it, in each half


class NoAttack(ReticentError):
    """These people cannot be attacked: what is missing, and what would help."""

    def __init__(self, what: str, why: str = "") -> None:
        self.what, self.why = what, why
        super().__init__(f"{what}: {why}" if why else what)


def infer(
    recoding: Recoding,
    people: People,
    *,
    secret: str | None = None,
    value: str | None = None,
    seed: int = 0,
    source: Source | None = None,
    tick: Callable[[str], None] = lambda step: None,
) -> Findings:
    """Attack half of the people, whose secrets the other half teaches; draws are thrown away."""
    from reticent.noise import Source
    from reticent.tasks.leakage import secret_names

    column, truth, chosen = _truth(people, recoding, secret, value)
    rows, truth = people.rows(recoding.columns, recoding.widths)[truth >= 0], truth[truth >= 0]
    drawn = Source.system() if source is None else source
    halves = _Halves.of(recoding, rows, truth, seed, drawn)
    tick("attacking profiles as they are")
    before = halves.attack_raw(seed)
    tick("attacking released profiles")
    after = halves.attack_released(seed)
    return Findings(
        column,
        chosen,
        before,
        after,
        halves.ceiling(recoding),
        halves.truth,
        halves.drawn_right(recoding),
        tuple(secret_names(recoding)),
        law_of(recoding, rows, truth),
    )


def read_attacked(data: Any) -> People:
    """People of a file, a frame or columns by name; every column as text."""
    from pathlib import Path

    from reticent.data.people_tables import People, read_people
    from reticent.queries.inputs import Cells, Table

    if isinstance(data, (str, Path)):
        return read_people(data)
    read = Table("A line for each person.", {}, others=Cells.TEXT).read("table", data, {}, {})
    return People(read.called, read.columns)


def _truth(
    people: People, recoding: Recoding, secret: str | None, value: str | None
) -> tuple[str, NDArray[Any], str]:
    """The column, who has the value (1), has not (0) or is unknown (-1), and the value."""
    import numpy as np

    from reticent.tasks.leakage import secret_names

    names = secret_names(recoding)
    if secret is None and len(names) > 1:
        raise NoAttack(f"the mapping hides {', '.join(names)}", why="--secret says which to infer")
    column = people.named(names[0] if secret is None else secret)
    if column.casefold() in {name.casefold() for name in recoding.columns}:
        why = "whoever sees a release sees it; --secret names a column that is not released"
        raise NoAttack(f"{column} is a column that the mapping releases", why=why)
    held = people.column(column)
    values = [text for text in np.unique(held).tolist() if text]
    if not values:
        raise NoAttack(f"{people.file} has no value in {column}: there is nothing to infer")
    if len(values) == 1:
        why = "an attack needs people who have the secret and people who do not"
        raise NoAttack(f"everybody in {people.file} has the same {column}", why=why)
    if value is None and len(values) > 2:
        why = "--value VALUE attacks one of them against all others"
        raise NoAttack(f"{column} has {len(values)} values, and an attack is about two", why=why)
    chosen = values[1] if value is None else value.strip()
    if chosen not in values:
        why = "values are compared letter by letter; capitals and spaces inside count"
        raise NoAttack(f"nobody in {people.file} has that value of {column}", why=why)
    truth = np.where(held == "", -1, held == chosen).astype(np.int64)
    return column, truth, chosen


def law_of(recoding: Recoding, rows: NDArray[Any], truth: NDArray[Any]) -> MappingLaw:
    """The mapping under the law of these people; who is withheld is left out."""
    import numpy as np

    from reticent.tasks.leakage import counted

    counts, _ = counted(recoding, np.array([[0], [1]]), rows, truth)
    return recoding.under(counts[:, :-1])


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
    def of(
        cls,
        recoding: Recoding,
        rows: NDArray[Any],
        truth: NDArray[Any],
        seed: int,
        source: Source,
    ) -> _Halves:
        import numpy as np

        from reticent.data.synthetic import uniform
        from reticent.noise import Source

        released = recoding.release_many(rows, source)
        shown = np.array([None not in row for row in released.tolist()], dtype=bool)
        rows, released, truth = rows[shown], released[shown].astype(str), truth[shown]
        order = np.argsort(uniform(len(rows), Source.seeded(seed)), kind="stable")
        half = len(rows) // 2
        one, other = np.sort(order[:half]), np.sort(order[half:])
        for part in (truth[one], truth[other]):
            if min(int(part.sum()), int((1 - part).sum())) < FEWEST:
                why = f"each half needs {FEWEST} people who have the secret and {FEWEST} without"
                raise NoAttack("there are too few people to attack", why=why)
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
        return law_of(recoding, self.target, self.truth)


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
    hidden: tuple[str, ...]  # what the mapping was made to hide
    law: MappingLaw  # of the mapping, under all people of the table

    @property
    def people(self) -> int:
        """How many were attacked."""
        return len(self.truth)

    @property
    def strange(self) -> bool:
        """Whether the draws are not those of the mapping."""
        return self.drawn_right < STRANGE

    @property
    def passed(self) -> bool:
        """Whether no attacker beats the best possible one, and draws are those of the mapping."""
        return not self.above and not self.strange

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

    def notes(self) -> list[str]:
        """What to know about it."""
        told = ["nothing was released: these draws were attacked and thrown away"]
        if self.column.casefold() not in {name.casefold() for name in self.hidden}:
            told.append(f"the mapping was made to hide {', '.join(self.hidden)}, not {self.column}")
        if self.wide:
            told.append(
                f"there are few people ({self.people} attacked): intervals are wide, and areas may "
                "be far off; the best possible figure is exact for them"
            )
        return told

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
            "passed": self.passed,
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
