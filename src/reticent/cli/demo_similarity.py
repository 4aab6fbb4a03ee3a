"""A step of ``reticent demo``: two people compare what they like, and hide what they want.

Theory    docs/theory/stretching.md, Theorem 1
Not here  who they are and what they allow (demo_club.py).
"""

from __future__ import annotations

from collections.abc import Sequence

from reticent.amounts import NANO, show_up
from reticent.cli.demo_club import ANN, BOB, CLEO, CLUB, HIDDEN, club
from reticent.cli.demo_tour import PUBLIC, Planned, Step, Tour
from reticent.data.catalogue import Catalogue
from reticent.guarantees import promises
from reticent.guarantees.card import right_at_most
from reticent.mechanisms import InnerProduct, Stretching, WeightedProfile
from reticent.preferences import Preferences
from reticent.report.curve_figures import Point, curve_figure
from reticent.report.document import Grid, Picture, Section
from reticent.tasks.charged import Payer, release_once
from reticent.tasks.histogram import payer_of

OTHERS = {"Bob": BOB, "Cleo": CLEO}
HEADS = ("with", "released ", "true, by weight ", "true, all films ")


def mechanism_for(wishes: Preferences) -> Stretching:
    """How two members are compared: a film loses at most its weight times the club's epsilon."""
    return Stretching(epsilon=wishes.providers[CLUB].epsilon, function=InnerProduct())


def planned(wishes: Preferences) -> list[Planned]:
    """What one comparison would tell."""
    mechanism = mechanism_for(wishes)
    within = mechanism.utility().within_95
    off = "" if within is None else f"within {show_up(within, 2)} films, 95 times in 100"
    return [Planned.of("Similarity, each", mechanism, off)]


def similarity(tour: Tour) -> Step:
    """How many films Ann has in common with two others, by weight."""
    wishes = tour.preferences()
    mechanism = mechanism_for(wishes)
    found = {name: compare(tour, wishes, name) for name in OTHERS}
    nearest = max(found, key=lambda name: found[name])
    rows = [(name, f"{value:.1f}", *_true(wishes, name)) for name, value in found.items()]
    error = f"Error to expect: {mechanism.utility().sentence}."
    lines = [
        f"Ann hides “{HIDDEN}” (weight 0); her other films count half.",
        *(
            f"Films in common with {name}: released {released}, true by weight {weighted}."
            for name, released, weighted, _ in rows
        ),
        f"Nearest to Ann: {nearest}. {error}",
        f"Who is undecided about a film of weight 1/2 is right at most {_odds(mechanism, 0.5)} "
        f"times in 100 (weight 1: {_odds(mechanism, 1)}, 0: {_odds(mechanism, 0)}).",
    ]
    words = [
        f"Ann's list holds “{HIDDEN}”, to which she gave the weight 0: for whoever sees a release "
        "it does not exist. Each of her other films counts half, so it moves the number half as "
        f"far, under noise that hides a whole one. Nearest to Ann: {nearest}.",
        "Budgets of genres limit histograms; a comparison is limited by weights and by what the "
        "provider may have.",
        f"{error} {PUBLIC}",
    ]
    section = Section(
        title="Similarity: films in common, by weight",
        words=words,
        pictures=[_picture(mechanism)],
        grids=[Grid("Films that Ann has in common with two members", HEADS, rows)],
    )
    return Step(
        lines=lines,
        fields={"similarity": {"released": found, "nearest": nearest}},
        section=section,
        cards=tuple(map(_card, OTHERS)),
    )


def compare(tour: Tour, wishes: Preferences, name: str) -> float:
    """The released number of films in common; both people pay, and both are on the card."""
    catalogue, seen = club()
    weights = [float(weight) for weight in wishes.weights(catalogue.items, provider=CLUB)]
    ann = WeightedProfile.of(_held(catalogue, seen[ANN]), weights=weights)
    other = WeightedProfile.of(_held(catalogue, seen[OTHERS[name]]), weights=[1.0] * len(catalogue))
    payers = (
        payer_of(tour.subject("Ann"), wishes, CLUB),
        Payer(subject=tour.subject(name), provider=CLUB, limit=4 * NANO),
    )
    paid = release_once(
        mechanism_for(wishes), [ann, other], tour.source(), ledger=tour.ledger, payers=payers
    )
    tour.cards[_card(name)] = paid.value.card(
        f"Films that Ann and {name} have in common",
        scope=promises.demo_similarity(),
        budget=paid.budget,
        command=tour.command,
        made=tour.made,
    )
    return paid.value.value


def _card(name: str) -> str:
    return f"similarity-{name.casefold()}"


def _held(catalogue: Catalogue, films: Sequence[str]) -> list[float]:
    seen = set(films)
    return [1.0 if film in seen else 0.0 for film in catalogue.items]


def _true(wishes: Preferences, name: str) -> tuple[str, str]:
    """Films in common, by weight and all of them."""
    _, seen = club()
    common = set(seen[ANN]) & set(seen[OTHERS[name]])
    return f"{float(sum(wishes.weights(common, provider=CLUB))):g}", f"{len(common)}"


def _odds(mechanism: Stretching, weight: float) -> str:
    return right_at_most(int(mechanism.guarantee().overall * weight))


def _picture(mechanism: Stretching) -> Picture:
    weights = (0, 0.25, 0.5, 0.75, 1)
    loss = mechanism.guarantee().overall
    releases = {"one comparison": 1, "two comparisons and the histogram": 3}
    points = [
        Point(name, weight, float(right_at_most(int(times * loss * weight))))
        for name, times in releases.items()
        for weight in weights
    ]
    says = (
        "Someone undecided about a film can be right at most 50 times in 100 at weight 0, which is "
        f"a coin, and {_odds(mechanism, 1)} at weight 1 after one comparison."
    )
    drawn = curve_figure(
        points,
        what="What can be told about one film, by its weight",
        y="right at most, times in 100",
        x="weight of the film",
        reference=50,
        reference_name="a coin",
        says=says,
    )
    caption = (
        "How often somebody who was undecided about one film can be right after a release, as the "
        "promise has it. Losses add: the upper curve is after all that left about Ann's films."
    )
    return Picture(drawn, caption)
