"""A step of ``reticent demo``: a person's genres for a provider, and what the budget refuses.

Theory    docs/theory/multilevel.md, Theorems 1 and 2
Not here  who they are and what they allow (demo_club.py).
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from reticent.amounts import show_nano, show_up
from reticent.cli.demo_club import ADS, ANN, CLUB, club
from reticent.cli.demo_tour import LEDGER, PREFERENCES, PUBLIC, Planned, Step, Tour
from reticent.data.profiles import Profiles
from reticent.errors import BudgetExceeded, Refused
from reticent.mechanisms.multilevel_plan import HistogramPlan
from reticent.preferences import Preferences
from reticent.queries.base import Answer
from reticent.queries.histogram import Histogram
from reticent.queries.run import Told, release
from reticent.report.document import Grid, Picture, Section
from reticent.report.histogram_figures import noise_figure
from reticent.tasks.charged import standings
from reticent.tasks.histogram import payer_of, plan_for

HEADS = ("genre", "released ", "true, by weight ", "within, 95 in 100 ")
SHOWN = ("Comedy", "Crime", "Drama")  # on the terminal


def planned(wishes: Preferences) -> list[Planned]:
    """What the histogram would tell."""
    plan, _ = plan_for(club()[0], wishes, CLUB)
    within = plan.mechanism.within_95()
    least, most = (show_up(float(end), 2) for end in (within.min(), within.max()))
    off = f"within {least} to {most} films, by genre, 95 times in 100"
    return [Planned.of("Histogram of genres", plan.mechanism, off)]


def ask(tour: Tour, wishes: Preferences, provider: str) -> Answer:
    """Ann's genres for a provider: planned, charged to her account, drawn."""
    catalogue, seen = club()
    ann = tour.subject("Ann")
    return release(
        Histogram(provider=provider, person=ann),
        {"profiles": Profiles.of([ann] * len(seen[ANN]), seen[ANN]), "catalogue": catalogue},
        preferences=wishes,
        ledger=tour.ledger,
        source=tour.source(),
        told=Told(
            title=f"Ann's films by genre, for {provider}", command=tour.command, made=tour.made
        ),
    )


def histogram(tour: Tour) -> Step:
    """Ann's genres for the film club, with the noise that her budgets leave."""
    wishes = tour.preferences()
    answer = ask(tour, wishes, CLUB)
    tour.cards["histogram"] = answer.card
    (values,) = answer.value.values()
    plan, _ = plan_for(club()[0], wishes, CLUB)
    rows = _rows(values, plan, wishes)
    few = [f"{name} {value} (true {true})" for name, value, true, _ in rows if name in SHOWN]
    lines = [
        f"Released: {', '.join(few)} and {len(rows) - len(few)} more.",
        "Drama is blurred most, as Ann lets it lose least. A number below 0 is the noise's doing.",
    ]
    words = [
        f"{CLUB} gets Ann's genres, not her films. Noise is shared out so that no genre loses more "
        "than its budget, all of them together no more than the provider's, and the error is the "
        "least that is then possible. Drama is blurred most, because Ann lets it lose least.",
        "A number below 0 is the noise's doing; it is kept so that sums stay right on average. "
        f"{PUBLIC}",
    ]
    caption = (
        "Noise of each genre as planned before the release: dot mean, line up to 95 in 100, cross "
        "the mean if all budgets were scaled alike."
    )
    section = Section(
        title="Histogram: Ann's genres for the film club",
        words=words,
        pictures=[Picture(noise_figure(plan), caption)],
        grids=[Grid(f"Ann's films by genre, as {CLUB} gets them", HEADS, rows)],
    )
    fields = {"histogram": {"provider": CLUB, "released": values}}
    return Step(lines=lines, fields=fields, section=section, cards=("histogram",))


def _rows(
    released: Mapping[str, float], plan: HistogramPlan, wishes: Preferences
) -> list[tuple[str, ...]]:
    """Each genre with its released and true number, and how near they are, 95 times in 100."""
    catalogue, seen = club()
    places = [catalogue.places[film] for film in seen[ANN]]
    weights = [float(weight) for weight in wishes.weights(seen[ANN], provider=CLUB)]
    true = dict(zip(catalogue.attributes, weights @ catalogue.dense()[places], strict=True))
    within = plan.mechanism.within_95().tolist()  # as on the card
    told = zip(released.items(), within, strict=True)
    return [(g, f"{value:.1f}", f"{true[g]:g}", show_up(most)) for (g, value), most in told]


def refusal(tour: Tour) -> Step:
    """What a budget does not allow, and who is not named, gets nothing; nothing is drawn."""
    wishes = tour.preferences()
    before = _spent(tour, wishes)
    told, amounts = {}, {}
    for provider in (CLUB, ADS):
        try:
            ask(tour, wishes, provider)
        except BudgetExceeded as refused:
            told[provider] = str(refused)
            parts = ("asked", "left", "missing")
            amounts = {part: show_nano(getattr(refused, part)) for part in parts}
        except Refused as refused:
            told[provider] = str(refused).replace(str(tour.folder / PREFERENCES), PREFERENCES)
    after = _spent(tour, wishes)
    ledger = shlex.quote(str(tour.folder / LEDGER))
    lines = [
        f"{CLUB} asks for the genres once more.",
        f"refused: {told[CLUB]}",
        f"{ADS} asks, too: no line of {PREFERENCES} names it, so it gets nothing.",
        f"Nothing was drawn, nothing was charged: ε {show_nano(after)} is spent, as before.",
        f"next: reticent ledger log --ledger {ledger} --provider {CLUB}",
    ]
    words = [
        f"{CLUB} asks for the genres once more, and is refused: {told[CLUB]}.",
        f"{ADS} asks, too: {told[ADS]}.",
        f"Nothing was drawn, and nothing was charged: ε {show_nano(before)} was spent before, and "
        f"ε {show_nano(after)} after.",
    ]
    section = Section(title="Refusal: what a budget does not allow", words=words)
    fields = {"refused": {**amounts, "not_named": ADS, "charged": show_nano(after - before)}}
    return Step(lines=lines, fields=fields, section=section)


def _spent(tour: Tour, wishes: Preferences) -> int:
    (found,) = standings(tour.ledger, [payer_of(tour.subject("Ann"), wishes, CLUB)])
    return found.spent
