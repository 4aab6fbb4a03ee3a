"""The steps of ``reticent demo``: releases, one refusal, one attack.

Not here  printing and files (demo.py), the film club (demo_club.py).

True values stand beside released ones here and nowhere else: the sample is public.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from reticent.amounts import NANO, show_nano
from reticent.cli.demo_club import compare
from reticent.cli.output import table
from reticent.data import ADULT_CATEGORIES, ADULT_SIZE, Table, load_adult
from reticent.errors import BudgetExceeded
from reticent.guarantees import RECORD, DPLoss
from reticent.guarantees.card import Budget, Card, Evidence, Scope, make_card, right_at_most
from reticent.guarantees.card_views import card_html, card_text
from reticent.guarantees.events import canonical
from reticent.guarantees.losses import compose, require_dp
from reticent.ledger import Ledger
from reticent.mechanisms import (
    DiscreteLaplace,
    Mechanism,
    PermuteAndFlip,
    Release,
    SnappedLaplace,
)
from reticent.noise import Source
from reticent.tasks.charged import Payer, new_key, release_once
from reticent.testing.audit import Audit, audit_epsilon

PUBLIC = "True values are shown because this is public sample data."
LONGEST_WEEK = 99  # hours a week, declared; longer ones count as this
LIMIT = NANO  # what a tour may lose in all
MOST_HOURS = 10**7  # all together, declared without a look at the data

SCOPE = Scope(
    protected="each person in the sample; one person is one record",
    not_against=(
        "whoever holds the data, and a break-in there",
        "facts about groups that hold with or without you",
        "what other people tell about you",
    ),
    model="central",
)
TITLES = {
    "education": "People by education",
    "occupation": "Most common occupation",
    "hours": "Sum of weekly hours",
}
LEDGER = "ledger.db"
FILES = tuple(
    f"{name}.{ending}" for name in (*TITLES, "films") for ending in ("json", "html", "txt")
)
OWN = (*FILES, LEDGER, *(f"{LEDGER}{ending}" for ending in (".lock", "-wal", "-shm")))
"""What a tour may find from the one before."""


@dataclass(frozen=True, slots=True)
class Step:
    """What one step shows: lines of text, and the same as fields for JSON."""

    lines: list[str]
    fields: dict[str, Any]


@dataclass(slots=True)
class Tour:
    """What the steps hand on to each other: the ledger, the data, and what was released.

    The sample is public, so every tour has a budget of its own.
    """

    draws: int
    ledger: Ledger
    name: str = field(default_factory=lambda: f"tour {new_key()}")
    releases: dict[str, tuple[Release[Any], Budget]] = field(default_factory=dict)
    people: Table | None = None
    attack: Audit | None = None
    films: Card | None = None

    data = (
        f"Sample data: Adult, {ADULT_SIZE:,} people of the 1994 census of the United States\n"
        "(Becker & Kohavi 1996, doi.org/10.24432/C5XW20, CC BY 4.0)"
    )

    @property
    def promise_held(self) -> bool:
        """Whether the attack failed to refute the promise."""
        return self.attack is not None and not self.attack.violated

    def table(self) -> Table:
        """The sample, read when it is first needed."""
        if self.people is None:
            self.people = load_adult()
        return self.people

    def release(self, name: str, data: list[int]) -> Release[Any]:
        """Charge first, then draw: a refused release draws nothing."""
        payer = Payer(subject=f"data set Adult, {self.name}", limit=LIMIT)
        paid = release_once(
            MECHANISMS[name], data, Source.system(), ledger=self.ledger, payers=payer
        )
        self.releases[name] = paid.value, paid.budget
        return paid.value

    def files(self) -> dict[str, str]:
        """Every card in three forms, by file name."""
        files: dict[str, str] = {}
        cards = {name: self._card(name) for name in self.releases}
        if self.films is not None:
            cards["films"] = self.films
        for name, card in cards.items():
            forms = (card.to_json(), card_html(card), card_text(card))
            files |= {
                f"{name}.{end}": f for end, f in zip(("json", "html", "txt"), forms, strict=True)
            }
        return files

    def _card(self, name: str) -> Card:
        released, budget = self.releases[name]
        if name != "education" or self.attack is None:
            return released.card(TITLES[name], scope=SCOPE, budget=budget, command="reticent demo")
        mechanism = released.mechanism
        return make_card(
            TITLES[name],
            released.event,
            scope=SCOPE,
            how=mechanism.how(),
            utility=mechanism.utility(),
            evidence=_attacked(mechanism.evidence(), self.attack),
            budget=budget,
            command="reticent demo",
            output=canonical(released.value.tolist()).encode(),
        )


EDUCATIONS = ADULT_CATEGORIES["education"]
OCCUPATIONS = ADULT_CATEGORIES["occupation"]
STATUSES = ADULT_CATEGORIES["marital-status"]

MECHANISMS: dict[str, Mechanism[Any]] = {
    "education": DiscreteLaplace(epsilon="0.5", size=len(EDUCATIONS)),
    "occupation": PermuteAndFlip(
        epsilon="0.1", candidates=len(OCCUPATIONS), sensitivity=1, monotone=True
    ),
    "hours": SnappedLaplace(
        epsilon="0.3",
        size=1,
        sensitivity=LONGEST_WEEK,
        lower=0,
        upper=MOST_HOURS,
    ),
    "marital-status": DiscreteLaplace(epsilon="0.5", size=len(STATUSES)),
}


def plan(tour: Tour) -> Step:
    """Consequences before parameters; no data are read."""
    losses = {name: _loss(MECHANISMS[name]) for name in TITLES}
    together = compose(losses.values())
    rows = [
        {
            "release": title,
            "right_at_most": right_at_most(losses[name].overall),
            "error": MECHANISMS[name].utility().sentence,
            "epsilon": show_nano(losses[name].overall),
        }
        for name, title in TITLES.items()
    ]
    cells = [(r["release"], r["right_at_most"], r["epsilon"], r["error"]) for r in rows]
    cells += [("all together", right_at_most(together.overall), show_nano(together.overall), "")]
    lines = [
        f"Someone undecided (50 in 100) about {RECORD.question}",
        "can be right at most so many times in 100:",
        "",
        *table(("release", "right ", "ε", "error to expect"), cells),
        "",
        f"The budget allows all together: ε {show_nano(LIMIT)}.",
        "Nothing was read and nothing was released.",
    ]
    return Step(lines, {"plan": rows})


def education(tour: Tour) -> Step:
    """The histogram over the 16 declared levels."""
    true = tour.table().counts("education", EDUCATIONS)
    released = tour.release("education", true)
    counts = released.value.tolist()
    rows = [
        (level, f"{count:,}", f"{exact:,}")
        for level, count, exact in zip(EDUCATIONS, counts, true, strict=True)
    ]
    lines = table(("education", "released ", "true "), rows)
    lines += ["", _error(released), PUBLIC, _spent(tour)]
    return Step(lines, {"education": dict(zip(EDUCATIONS, counts, strict=True))})


def occupation(tour: Tour) -> Step:
    """The most common occupation, chosen by noisy counts that are not released."""
    true = tour.table().counts("occupation", OCCUPATIONS)
    released = tour.release("occupation", true)
    chosen, best = OCCUPATIONS[released.value], OCCUPATIONS[int(np.argmax(true))]
    lines = [
        f"Released: {chosen}; true: {best}.",
        _error(released),
        PUBLIC,
        _spent(tour),
    ]
    return Step(lines, {"occupation": chosen})


def hours(tour: Tour) -> Step:
    """The sum of clamped hours; divided by the noisy number of people it is a mean, for free."""
    true = tour.table().clamped_sum("hours-per-week", lower=1, upper=LONGEST_WEEK)
    released = tour.release("hours", [true])
    total, people = float(released.value[0]), int(tour.releases["education"][0].value.sum())
    lines = [
        f"Released: {total:,.0f} hours in all; true: {true:,}.",
        _error(released),
        "Divided by the noisy number of people of step 2, which costs nothing: on average",
        f"{total / people:.2f} hours; true: {true / len(tour.table()):.2f}.",
        f"A week counts 1 to {LONGEST_WEEK} hours, all together at most {MOST_HOURS:,}: declared.",
        PUBLIC,
        _spent(tour),
    ]
    return Step(lines, {"hours": {"sum": total, "mean": total / people}})


def refusal(tour: Tour) -> Step:
    """A release that the budget does not allow."""
    true = tour.table().counts("marital-status", STATUSES)
    try:
        tour.release("marital-status", true)
    except BudgetExceeded as refused:
        amounts = {name: show_nano(getattr(refused, name)) for name in ("asked", "left", "missing")}
        lines = [f"refused: {refused}", "Nothing was drawn and nothing was charged."]
        return Step(lines, {"refused": amounts})
    raise AssertionError("the budget let through more than its limit")


def attack(tour: Tour) -> Step:
    """How well two worlds that differ in one person can be told apart."""
    mechanism = MECHANISMS["education"]
    claim = show_nano(_loss(mechanism).overall)
    tour.attack = audit_epsilon(
        lambda n: _noisy(0, n), lambda n: _noisy(1, n), samples=tour.draws, claim=claim
    )
    found = tour.attack
    lines = [
        f"The attacker sees {found.samples:,} noisy counts with you, as many without you.",
        f"Promised: ε at most {claim}.",
        f"Measured: ε at least {found.bound:.4f}, with confidence {_percent(found.confidence)}.",
        "The promise is REFUTED." if found.violated else "The promise was not refuted.",
    ]
    measured = {
        "measured": found.bound,
        "claim": claim,
        "samples": found.samples,
        "confidence": found.confidence,
        "violated": found.violated,
    }
    return Step(lines, {"attack": measured})


def club(tour: Tour) -> Step:
    """Two people compare their films; each item has a weight of its own."""
    lines, fields, tour.films = compare(tour.ledger, tour.name)
    return Step(lines, fields)


STEPS: dict[str, Callable[[Tour], Step]] = {
    "Plan: what these releases would tell, before anything is read": plan,
    "Release: people by education": education,
    "Select: the most common occupation": occupation,
    "Release: hours worked in a week": hours,
    "Refuse: people by marital status": refusal,
    "Attack: what someone gains who wants to know whether you are in the sample": attack,
    "Compare: two members of a film club, one of whom hides a film": club,
}


def _loss(mechanism: Mechanism[Any]) -> DPLoss:
    return require_dp(mechanism.guarantee())


def _spent(tour: Tour) -> str:
    *_, (_, budget) = tour.releases.values()
    return f"Spent: ε {budget.spent} of {budget.limit}."


def _error(released: Release[Any]) -> str:
    return f"Error to expect: {released.mechanism.utility().sentence}."


def _noisy(count: int, n: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    mechanism = DiscreteLaplace(epsilon="0.5", size=n)
    return mechanism.release(np.full(n, count), Source.system()).value


def _percent(share: float) -> str:
    return f"{100 * share:.6g} %"


def _attacked(evidence: Evidence, found: Audit) -> Evidence:
    audit = (
        f"Attack on the noise, {found.samples:,} draws: measured ε ≥ {found.bound:.3f} "
        f"(confidence {_percent(found.confidence)}), promised {float(found.claim):g}"
    )
    return evidence.model_copy(update={"audit": audit})
