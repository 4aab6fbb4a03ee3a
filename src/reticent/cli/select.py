"""``reticent select``: choose a few of many, by what is private; what both commands share.

Not here  the commands (select_influencers.py, select_percentile.py), comparisons of ways of
          choosing (compare.py), how a release is agreed to (plan.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from reticent.amounts import NANO
from reticent.cli.failures import Failure
from reticent.cli.output import progress
from reticent.cli.plan import Plan

if TYPE_CHECKING:
    from reticent.mechanisms.top_dampened import TopDampened

app = typer.Typer(
    help="Choose nodes or a person by what is private.", rich_markup_mode=None, no_args_is_help=True
)

MUCH = 5 * NANO
LITTLE = "this is little worst-case protection"
_PARTS = 50  # of a bar of progress


class Way(StrEnum):
    """How candidates are chosen."""

    adaptive = "adaptive"
    shifted = "shifted"
    dampened = "dampened"
    permute_and_flip = "permute-and-flip"
    exponential = "exponential"


EpsilonOption: TypeAlias = Annotated[
    str, typer.Option("--epsilon", help="What the release may lose.", metavar="E")
]
OutFile: TypeAlias = Annotated[
    Path | None,
    typer.Option("--out", help="Write the result here: .csv, .json or .parquet.", metavar="FILE"),
]


@app.callback()
def select() -> None:
    """Choose nodes or a person by what is private."""


@dataclass(frozen=True, slots=True)
class SelectPlan(Plan):
    """What a choice would cost, about what, and what is taken as public for it."""

    question: str = ""
    public: tuple[str, ...] = ()
    unread: str = "nothing"

    def lines(self) -> list[str]:
        """As sentences, what follows from the release before what it is made of."""
        caution = [f"caution: {self.caution}"] if self.caution else []
        return [
            self.title,
            "",
            self.gain(),
            f"cost: {self.cost()}",
            f"error to expect: {self.error}",
            *(f"public: {what}" for what in self.public),
            *caution,
        ]

    def fields(self) -> dict[str, Any]:
        """For JSON."""
        return {**Plan.fields(self), "public": list(self.public)}

    def cost(self) -> str:
        """In one line; there is one loss, the same for all who look."""
        return ", ".join(f"epsilon {loss}" for loss in Plan.fields(self)["losses"].values())

    def gain(self) -> str:
        """What who looks can gain, as a sentence."""
        (chance,) = Plan.fields(self)["right_at_most"].values()
        return (
            f"Whoever sees the result and was undecided (50 in 100) about {self.question} can be "
            f"right at most {chance} times in 100."
        )

    def consequence(self) -> str:
        """What who looks can gain, and what they may know anyway."""
        return f"{self.gain()} Taken as public: {'; '.join(self.public)}."

    def after(self) -> str:
        """What a dry run has not done."""
        return f"{self.unread} was read and nothing was released"


def way_of(mechanism: TopDampened, name: str) -> TopDampened:
    """The mechanism that chooses in the way of this name, with the same promise."""
    from reticent.mechanisms.comparison import ways

    found = ways(mechanism)
    if name not in found:
        why = f"the ways are {', '.join(found)}"
        raise Failure(f"--way {name} does not go with what is chosen here", why=why)
    return found[name]


def cautions(loss: int, *others: str) -> str:
    """What is said before anything is spent."""
    little = [LITTLE] if loss > MUCH else []
    return "; ".join([*others, *little])


@contextmanager
def shares(doing: str) -> Iterator[Callable[[float], object]]:
    """A callback that takes the share of the work that is done, shown on a terminal."""
    shown = 0
    with progress(_PARTS) as advance:

        def step(done: float) -> None:
            nonlocal shown
            while shown < int(_PARTS * done):
                shown += 1
                advance(doing)

        yield step
