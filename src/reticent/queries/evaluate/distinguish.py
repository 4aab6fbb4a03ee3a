"""The distinguishing game: an attacker sees an answer and says which of two inputs it is about.

Theory    docs/theory/guarantees.md, Theorem 4 (odds); docs/theory/item-attack.md, Theorem 1
Notation  claim = what the unit that differs may lose, most = e^claim / (1 + e^claim)
Not here  the inputs (worlds.py and each query), attacks on people's profiles (inference_audit.py),
          lower bounds on epsilon (verify.py).

The attacker learns from answers whose input is known: column by column, or from whole answers,
whichever serves better. Other answers are then attacked, so that what it learnt by heart does not
count. The same attack on the same query with next to no noise is the control: an attack that does
not notice that has shown nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy import special

from reticent.errors import require
from reticent.layout import table
from reticent.noise import Source
from reticent.queries.binding import Given
from reticent.queries.evaluate.verify import tried_worlds
from reticent.queries.worlds import Sides
from reticent.rational import whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reticent.queries.base import Query

    Reals: TypeAlias = NDArray[np.float64]

DRAWS = 2_000
FALSE_ALARM = 1e-6
"""The chance that an audit of a promise that is kept says that it is broken."""
_FEWEST = 200
_BINS = 32  # that a column of numbers is looked at in, at most
_USUAL = 0.05  # of an interval
_CERTAIN = 700.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Game:
    """How often an attacker was right about one pair of inputs, beside what the promise allows.

    ``best`` is the accuracy of the best possible attacker, where that can be computed.
    """

    differs: str
    claim: Fraction
    right: int
    rounds: int
    best: float | None = None

    @property
    def accuracy(self) -> float:
        """The share of answers told right."""
        return self.right / self.rounds

    @property
    def interval(self) -> tuple[float, float]:
        """Where the accuracy lies with 95 % confidence."""
        ends = self.right, self.rounds, _USUAL / 2
        return _least(*ends), _largest(*ends)

    @property
    def most(self) -> float:
        """The accuracy that the promise allows at most. Theorem 4."""
        return 1 / (1 + math.exp(-min(float(self.claim), _CERTAIN)))

    def above(self, risk: float) -> bool:
        """Whether the accuracy is above that; wrong with this chance."""
        return _least(self.right, self.rounds, risk) > self.most

    def fields(self) -> dict[str, Any]:
        """For JSON."""
        low, high = self.interval
        return {
            "differs": self.differs,
            "accuracy": self.accuracy,
            "low": low,
            "high": high,
            "at_most": self.most,
            "best_possible": self.best,
            "rounds": self.rounds,
        }


@dataclass(frozen=True, slots=True)
class Audit:
    """A game for each pair of inputs, and the control; it can refute a promise, and prove none."""

    kind: str
    games: tuple[Game, ...]
    control: Game

    @property
    def broken(self) -> tuple[Game, ...]:
        """Games in which the attacker was right more often than the promise allows."""
        risk = FALSE_ALARM / len(self.games)
        return tuple(game for game in self.games if game.above(risk))

    @property
    def noticed(self) -> bool:
        """Whether next to no noise was noticed."""
        return self.control.above(FALSE_ALARM)

    @property
    def passed(self) -> bool:
        """Whether nothing was found, by an attack that finds something where there is something."""
        return self.noticed and not self.broken

    def lines(self) -> list[str]:
        """The verdict, and a line for each pair of inputs."""
        heads = ("differs in", "attacker right ", "95 % interval ", "at most ", "best possible ")
        rows = [
            (
                game.differs,
                _percent(game.accuracy),
                f"{_percent(game.interval[0])}-{_percent(game.interval[1])}",
                _percent(game.most, up=True),
                "" if game.best is None else _percent(game.best),
            )
            for game in (*self.games, self.control)
        ]
        rows[-1] = (f"control: {rows[-1][0]}", *rows[-1][1:])
        told = "in %, of answers whose input the attacker had to tell"
        return [self._verdict(), told, "", *table(heads, rows)]

    def _verdict(self) -> str:
        if self.broken:
            worst = max(self.broken, key=lambda game: game.accuracy - game.most)
            return (
                f"BROKEN: about {worst.differs} an attacker is right {_percent(worst.accuracy)} % "
                f"of the time, promised is at most {_percent(worst.most, up=True)} %"
            )
        if not self.noticed:
            return (
                "NOTHING SHOWN: next to no noise goes unnoticed; take more draws, or a smaller "
                "epsilon"
            )
        return (
            "not refuted: no attacker is right more often than the promise allows, and next to no "
            "noise was noticed"
        )

    def fields(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "kind": self.kind,
            "passed": self.passed,
            "games": [{**g.fields(), "broken": g in self.broken} for g in self.games],
            "control": {**self.control.fields(), "noticed": self.noticed},
        }

    def __str__(self) -> str:
        return "\n".join(self.lines())


def audit(
    query: Query,
    data: Any = None,
    *,
    draws: int | None = None,
    source: Source | None = None,
    tick: Callable[[str], None] = lambda step: None,
) -> Audit:
    """Attack answers of a query on small inputs; ``data`` are public tables that it can use."""
    drawn = Source.system() if source is None else source
    many = whole(DRAWS if draws is None else draws, "draws", least=_FEWEST)
    tables = _public(query, data)
    worlds = tuple(query.attacked(tables)) or tried_worlds(query, "audit")
    games = []
    for world in worlds:
        tick(f"attacking {world.differs}")
        sides = Sides.of(query, world, drawn)
        right, rounds = play(sides, many, drawn)
        claim = world.weight * sides.claim
        best = query.best_guess(world)
        games.append(
            Game(differs=world.differs, claim=claim, right=right, rounds=rounds, best=best)
        )
    place = max(range(len(worlds)), key=lambda one: worlds[one].weight)
    tick("attacking the control")
    loud = Sides.of(query.with_little_noise(), worlds[place], drawn)
    right, rounds = play(loud, many, drawn)
    told: dict[str, Any] = {"differs": "next to no noise", "claim": games[place].claim}
    return Audit(query.kind, tuple(games), Game(right=right, rounds=rounds, **told))


def _public(query: Query, data: Any) -> Mapping[str, Any]:
    """Public tables that an attack uses."""
    if data is None:
        return {}
    inputs = {name: query.inputs[name] for name in query.attack_reads}
    require(bool(inputs), "data", "given", f"left out: the attack on {query.kind} reads none")
    return Given.of(inputs, data, None).public()


def play(sides: Sides, draws: int, source: Source) -> tuple[int, int]:
    """How many of the answers about both inputs an attacker tells right, and of how many."""
    half = draws // 2
    known = [sides.outputs(side, half, source) for side in (0, 1)]
    attacker = _best([answers[: half // 2] for answers in known], [a[half // 2 :] for a in known])
    fresh = [sides.outputs(side, draws - half, source) for side in (0, 1)]
    first, second = (attacker(answers) for answers in fresh)
    return int((first > 0).sum() + (second <= 0).sum()), len(first) + len(second)


Attacker: TypeAlias = "Callable[[NDArray[Any]], Reals]"
"""The log-likelihood ratio of answers, as far as it was learnt; above 0 it is the first input."""


def _best(known: Sequence[NDArray[Any]], judged: Sequence[NDArray[Any]]) -> Attacker:
    """Whoever is right most often about answers that it did not learn from."""
    wide = known[0].shape[1]
    columns = [_column(known, place) for place in range(wide)]
    candidates: list[Attacker] = [*columns, lambda told: np.sum([c(told) for c in columns], axis=0)]
    if wide > 1:
        candidates.append(_whole(known))

    def accuracy(one: Attacker) -> float:
        return float((one(judged[0]) > 0).mean() + (one(judged[1]) <= 0).mean())

    return max(reversed(candidates), key=accuracy)


def _column(known: Sequence[NDArray[Any]], place: int) -> Attacker:
    """One column: single values where they are few, else ranges that hold as many answers each."""
    both = np.concatenate([answers[:, place] for answers in known])
    values = np.unique(both)
    bins = min(_BINS, 2 * max(1, math.isqrt(len(both)) // 4))  # even: the median is an end
    if both.dtype.kind == "f" and len(values) > bins:
        ends = np.unique(np.nanquantile(both, np.linspace(0, 1, bins + 1)[1:-1]))

        def code(told: NDArray[Any]) -> NDArray[np.int64]:
            return np.searchsorted(ends, told[:, place]).astype(np.int64)

        return _counted(known, code, len(ends) + 1)
    return _counted(known, lambda told: _places(values, told[:, place]), len(values) + 1)


def _whole(known: Sequence[NDArray[Any]]) -> Attacker:
    """Answers as a whole; one that was never seen tells nothing."""

    def joined(told: NDArray[Any]) -> NDArray[Any]:
        return np.array(["\x1f".join(map(str, row)) for row in told.tolist()])

    values = np.unique(np.concatenate([joined(answers) for answers in known]))
    return _counted(known, lambda told: _places(values, joined(told)), len(values) + 1)


def _places(values: NDArray[Any], told: NDArray[Any]) -> NDArray[np.int64]:
    """Where values stand in a sorted list; others come after all of them."""
    found = np.minimum(np.searchsorted(values, told), len(values) - 1)
    return np.where(values[found] == told, found, len(values)).astype(np.int64)


def _counted(
    known: Sequence[NDArray[Any]], code: Callable[[NDArray[Any]], NDArray[np.int64]], size: int
) -> Attacker:
    """By how often each code was seen about either input."""
    counts = [np.bincount(code(answers), minlength=size) + 0.5 for answers in known]
    ratios = np.log(counts[0] / counts[0].sum()) - np.log(counts[1] / counts[1].sum())
    return lambda told: np.asarray(ratios[code(told)], dtype=np.float64)


def _least(hits: int, trials: int, risk: float) -> float:
    """The lower end of an accuracy, wrong with chance ``risk`` [ClopperPearson1934]."""
    return float(special.betaincinv(hits, trials - hits + 1, risk)) if hits else 0.0


def _largest(hits: int, trials: int, risk: float) -> float:
    """The upper end."""
    if hits == trials:
        return 1.0
    return float(special.betaincinv(hits + 1, trials - hits, 1 - risk))


def _percent(share: float, *, up: bool = False) -> str:
    """To a tenth; what is promised rounds up."""
    return f"{(math.ceil(1000 * share - 1e-9) / 10 if up else 100 * share):.1f}"
