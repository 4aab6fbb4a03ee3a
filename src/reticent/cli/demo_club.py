"""A step of ``reticent demo``: two people compare what they like and hide what they want.

Not here  the other steps (demo_steps.py). The people are made up.
"""

from __future__ import annotations

from fractions import Fraction

from reticent.amounts import nano_up
from reticent.guarantees.card import Card, Scope, right_at_most
from reticent.ledger import Ledger
from reticent.mechanisms import InnerProduct, Stretching, WeightedProfile
from reticent.noise import Source
from reticent.tasks.charged import Payer, release_once

EPSILON = Fraction(1)
COMMON = 8
ANN = (0.0, 0.5, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0)  # weights of the films that both have seen

SCOPE = Scope(
    protected="Ann and Bob; whether one film is on a list",
    not_against=(
        "whoever computes the overlap, who sees both lists",
        "what several such comparisons tell together",
    ),
    model="central",
)


def compare(ledger: Ledger, tour: str) -> tuple[list[str], dict[str, object], Card]:
    """The lines of the step, its fields, and the card of the release."""
    mechanism = Stretching(epsilon=EPSILON, function=InnerProduct())
    ann = WeightedProfile.of([1.0] * COMMON, weights=ANN)
    bob = WeightedProfile.of([1.0] * COMMON, weights=[1.0] * COMMON)
    both = [Payer(subject=f"{name}, {tour}", limit=nano_up(2 * EPSILON)) for name in ("Ann", "Bob")]
    paid = release_once(mechanism, [ann, bob], Source.system(), ledger=ledger, payers=both)
    released = paid.value
    odds = {weight: right_at_most(nano_up(EPSILON * Fraction(weight))) for weight in (0, 0.5, 1)}
    lines = [
        f"Ann and Bob have {COMMON} films in common. Ann gives one the weight 0, two others 1/2.",
        "Someone undecided (50 in 100) about one film on her list can be right at most:",
        "",
        f"   weight 1     {odds[1]} times in 100",
        f"   weight 1/2   {odds[0.5]} times in 100",
        f"   weight 0     {odds[0]} times in 100: it does not exist for anybody",
        "",
        f"Released: {released.value:.2f} films in common, by weight; true: {sum(ANN):g}.",
        f"Error to expect: {mechanism.utility().sentence}.",
        "True values are shown because this is public sample data: the two are made up.",
    ]
    card = released.card(
        "Films in common", scope=SCOPE, budget=paid.budget, command="reticent demo"
    )
    return lines, {"common_films": released.value}, card
