"""The attacks of ``reticent demo``: what is gained before and after, under what was promised.

Theory    docs/theory/item-attack.md, Theorems 1 to 3 (films); docs/theory/mapping.md, Theorem 7
          (income)
Not here  attackers (tasks/item_attack.py, tasks/best_attack.py), the other steps.

Attackers know all but one thing. Each attack is stated twice: as good as any can be, computed; and
tried out. One that does better than it can would refute a promise, and fails the report.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.amounts import show_up
from reticent.cli import demo_census, demo_similarity
from reticent.cli.demo_club import CLUB, club
from reticent.cli.demo_tour import Step, Tour
from reticent.layout import table
from reticent.mechanisms import WeightedProfile
from reticent.noise import Source
from reticent.report.attack_figures import promise_roc_figure, roc_figure
from reticent.report.document import Grid, Picture, Section
from reticent.report.roc import Measured, failures
from reticent.tasks.best_attack import Attack, bayes_curve, best_curve, count_attack
from reticent.tasks.histogram import plan_for
from reticent.tasks.item_attack import ItemAttack, Run, attack_item, most_exposed
from reticent.tasks.terms import HistogramTerms

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEW, SOME, MANY = 4_000, 10_000, 20_000  # runs of each case
_TINY = 1e-9  # of 100
HEADS = ("attack", "untouched ", "best possible ", "tried out ", "promised ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attacked:
    """One attack: how often it picks the right one of two, in 100, and the picture of it."""

    what: str
    untouched: float
    best: float
    tried: float
    within: float  # of what was tried, 95 times in 100
    promised: float | None  # None: bits on average, which bound no share of picks
    picture: Picture
    wrong: Sequence[str] = field(default=())

    @property
    def row(self) -> tuple[str, ...]:
        """For a table."""
        before, tried, within = (
            f"{100 * number:.1f}" for number in (self.untouched, self.tried, self.within)
        )
        bits = f"{demo_census.LEAK_BITS} bits"
        most = bits if self.promised is None else _bound(self.promised)
        return self.what, before, _bound(self.best), f"{tried} ±{within}", most


def _bound(share: float) -> str:
    """What cannot be exceeded, of 100: rounded up, but for what computing itself rounds."""
    return f"{float(show_up(100 * share - _TINY, 3)):.1f}"


def attack(tour: Tour) -> Step:
    """A film in the similarity, a film in the histogram, income in profiles."""
    found = [_in_similarity(tour), _in_histogram(tour), _in_profiles(tour)]
    wrong = [failure for one in found for failure in one.wrong]
    verdict = (
        f"{len(wrong)} of them did better than can be: a promise is REFUTED."
        if wrong
        else "No attack did better than can be (±: what luck makes of it, 95 times in 100)."
    )
    meaning = (
        "Of two lists, one with the film and one without, or of two people, one of each income: "
        "how often the attacker picks the right one, in 100. A coin: 50. The attacker knows all "
        "other films, or the incomes of half of the people."
    )
    lines = [
        "Of two lists, one with the film, or two people, one with the income: how often who knows",
        "all other films, or half of the people, picks the right one, in 100 (a coin: 50).",
        *table(HEADS, [one.row for one in found]),
        verdict,
        "Income: which of two people has it. Step 5 asks another question: what one person has.",
    ]
    section = Section(
        title="Attack: what somebody gains, before and after",
        words=[
            meaning,
            "“Untouched” is what the best attacker has if data are handed out as they are, “best "
            "possible” what no attacker on the release can beat, computed; “tried out” is an "
            f"attack that was run. {verdict}",
            "“Promised” about films is a worst case, for everybody. About income it is bits on "
            "average over these people: that bounds no share of right picks, so the best possible "
            "one stands beside it. Which of two people has the income is another question than "
            "what one person has, which the profile's own section asks.",
        ],
        pictures=[one.picture for one in found],
        grids=[
            Grid("How often the right one of two is picked, in 100", HEADS, [o.row for o in found])
        ],
        failures=wrong,
    )
    keys = ("what", "untouched", "best", "tried", "within", "promised")
    told = [{key: getattr(one, key) for key in keys} for one in found]
    fields = {"attacks": told, "refuted": wrong}
    return Step(lines=lines, fields=fields, section=section)


def _in_similarity(tour: Tour) -> Attacked:
    """A film moves the overlap by its weight, in the steps of the noise; everything is released."""
    mechanism = demo_similarity.mechanism_for(tour.preferences())
    step, weight = mechanism.function.step, Fraction(1, 2)
    one = ItemAttack("film", weight, 1, (int(weight / step),), (step / mechanism.scale,))
    empty = WeightedProfile.of([0.0], weights=[1.0])

    def noise(
        scales: Sequence[Fraction], shape: tuple[int, ...], source: Source
    ) -> NDArray[np.int64]:
        """That of the release itself: what it makes of two lists with nothing in common."""
        drawn = [mechanism.release([empty, empty], source).value for _ in range(math.prod(shape))]
        return np.rint(np.array(drawn) / float(step)).astype(np.int64).reshape(shape)

    runs = FEW if tour.fast else SOME
    run = one.run(tour.source(), noise=noise, runs=runs)
    return _on_film("a film of weight 1/2, similarity", one, run)


def _in_histogram(tour: Tour) -> Attacked:
    plan, _ = plan_for(club()[0], tour.preferences(), CLUB)
    terms = HistogramTerms(plan)
    (film,) = most_exposed(terms)
    one = attack_item(terms, film, weight=Fraction(1, 2))
    return _on_film("a film of weight 1/2, histogram", one, one.run(tour.source(), runs=MANY))


def _on_film(what: str, one: ItemAttack, run: Run) -> Attacked:
    curve = _measured("best test, tried out", run)
    best = one.best.false_rates, one.best.true_rates
    drawn = promise_roc_figure([curve], epsilon=one.loss, best=best, before=[_certain(run)])
    caption = (
        f"{what.capitalize()}: {run.runs:,} releases with the film and as many without. Without "
        "noise the list would tell for certain; nothing may enter the grey."
    )
    wrong = [f"{what}: {alarm}" for alarm in one.alarms(run)]
    return Attacked(
        what=what,
        untouched=1.0,
        best=one.best.area,
        tried=run.area,
        within=run.area - run.low,
        promised=one.ceiling.area,
        picture=Picture(drawn, caption),
        wrong=wrong,
    )


def _measured(name: str, run: Run) -> Measured:
    return Measured(
        name=name,
        false_rates=run.curve.false_rates,
        true_rates=run.curve.true_rates,
        negatives=run.runs,
        positives=run.runs,
    )


def _certain(run: Run) -> Measured:
    corner = np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 1.0])
    return Measured(
        name="without noise",
        false_rates=corner[0],
        true_rates=corner[1],
        negatives=run.runs,
        positives=run.runs,
    )


def _in_profiles(tour: Tour) -> Attacked:
    """Half of the people are known to the attacker, who then ranks the other half."""
    recoding, people = demo_census.mapping(), tour.people()
    mechanism = recoding.mechanism
    income = demo_census.columns(people, [demo_census.SECRET])[:, 0]
    truth = (income == np.unique(income)[1]).astype(np.int64)
    rows = demo_census.rows(people)
    known: dict[tuple[str, ...], int] = {}  # all profiles, rare ones too
    raw = np.array([known.setdefault(tuple(row), len(known)) for row in rows.tolist()])
    places = recoding.places(rows)
    released = mechanism.release_many(places, tour.source())
    before = _ranked(raw, truth, "profiles as they are")
    after = _ranked(released, truth, "released profiles")
    ceiling = bayes_curve(demo_census.law(recoding, people))
    most = float(np.trapezoid(ceiling[1], ceiling[0]))
    counts = np.zeros((len(known), 2))
    np.add.at(counts, (raw, truth), 1)
    plain = best_curve(counts / len(truth))
    attacked = truth[1::2]
    curve = Measured(
        name="counting",
        false_rates=after.false_rates,
        true_rates=after.true_rates,
        negatives=int((attacked == 0).sum()),
        positives=int(attacked.sum()),
    )
    wrong = failures([curve], ceiling, of="the mapping")
    drawn = roc_figure([after], ceiling=ceiling, before=[before], slack=_slack(after))
    caption = (
        f"Income: the attacker knows every second of {len(truth):,} people, counts who was "
        "released as what, and ranks the others. The black line is the best that anybody can do."
    )
    return Attacked(
        what="income, from a profile",
        untouched=float(np.trapezoid(plain[1], plain[0])),
        best=most,
        tried=after.auc,
        within=after.auc - after.low,
        promised=None,
        picture=Picture(drawn, caption),
        wrong=wrong,
    )


def _ranked(places: NDArray[np.int64], truth: NDArray[Any], trained_on: str) -> Attack:
    known, target = slice(0, None, 2), slice(1, None, 2)
    return count_attack(
        places[known], truth[known], places[target], truth[target], trained_on=trained_on
    )


def _slack(attack: Attack) -> float:
    """What makes the picture speak of five standard errors, not of two."""
    return (5 / 1.96 - 1) * (attack.auc - attack.low)
