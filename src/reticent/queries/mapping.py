"""A mapping that hides a secret, learnt from people who are not protected.

Theory    docs/theory/mapping.md, Theorem 2 (certificate), Theorem 8 (least distortion)
Not here  the search (tasks/mapping_search.py), whom it learns from (tasks/training.py), what is
          said of it (mapping_words.py), releases through a mapping (profile.py).
"""

from __future__ import annotations

from collections.abc import Mapping as MappingType
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from reticent.errors import require
from reticent.queries.base import Pays, Progress, Public, Query, Terms, WholeQuery
from reticent.queries.inputs import Cells, Input, Role, Table
from reticent.queries.options import (
    EXACT,
    POSITIVE,
    amounts,
    choice,
    count,
    either,
    names,
    option,
    perhaps,
)
from reticent.queries.trials import Comparison, Trial
from reticent.rational import Number

if TYPE_CHECKING:
    from reticent.guarantees.card import Scope
    from reticent.noise import Source
    from reticent.queries.binding import Bound
    from reticent.tasks.comparing import Curves
    from reticent.tasks.learnt_mapping import LearntMapping
    from reticent.tasks.mapping_search import MappingSearch
    from reticent.tasks.training import Training

_PERSON, _ALIAS = "person", "user"
TABLE = Table(
    "A line for each person.",
    {
        _PERSON: Role(
            Cells.NAME, "Who it is, which is no part of a profile.", required=False, unread=True
        )
    },
    rest="the secret and the columns of a profile",
    condensed=True,
)
LEAK = either(EXACT, amounts("BITS", zero=True))
_REALS = ("delta", "leak", "weights", "bins", "epsilon", "radius", "held_out", "seconds")
_LEAST_REAL = Fraction(1, 10**300)


@dataclass(frozen=True, kw_only=True)
class Mapping(WholeQuery):
    """A way to release profiles that tell little of a secret.

    Every profile becomes one of a few others, with chances that make the secret hard to guess and
    change profiles little; release profile then releases people through it. The mapping is learnt
    from people without noise: they are not protected, and the file must stay where their data may
    be. Ctrl-C during the search takes the best mapping so far.
    """

    kind: ClassVar[str] = "mapping"
    pays: ClassVar[Pays] = Pays.NOTED
    absent: ClassVar[MappingType[str, str]] = {
        **WholeQuery.absent,
        "verify": "it promises nothing to the people it is learnt from",
        "audit": "it promises nothing to the people it is learnt from; audit profile attacks what "
        "is released through it",
    }
    comparison: ClassVar[Comparison] = Comparison(
        varies="delta",
        placeholder="0",
        compared=None,
        swept=None,
        zero=True,
        methods=("least-leak", "exponential", "randomised-response", "nothing-told"),
        unused=("leak", "epsilon", "at_least", "unknown", "radius", "held_out"),
        runs=None,
    )
    inputs: ClassVar[MappingType[str, Input]] = {"table": TABLE}

    secret: Any = option(
        "The column that released profiles should not tell; several as a,b.", names("COLUMN")
    )
    delta: Number | None = option(
        "How much of a profile may change on average, 0 to 1; tells as little as that allows. 0.05 "
        "is one column in twenty.",
        perhaps(replace(EXACT, metavar="SHARE")),
        default=None,
    )
    leak: Any = option(
        "How many bits about the secret a release may tell on average, as 0.1, or "
        "income=0.1,health=0.2 for each; changes profiles as little as that allows. 0 tells "
        "nothing, for up to 600 profiles.",
        perhaps(LEAK),
        default=None,
    )
    public: Any = option(
        "The columns that make a profile and are released.  [default: all but the secret and the "
        "column that names people]",
        perhaps(names("COLUMNS")),
        default=None,
    )
    weights: Any = option(
        "Columns whose change counts more or less than 1, as age=2,sex=0.5.",
        perhaps(amounts("WEIGHTS")),
        default=None,
    )
    bins: Any = option(
        "Put numbers into ranges so wide: age=10 makes 37 the range 30-39.",
        perhaps(amounts("WIDTHS")),
        default=None,
    )
    at_least: int = option(
        "Leave profiles of fewer people out; who has one is released as the nearest one.",
        count(metavar="PEOPLE"),
        default=1,
    )
    epsilon: Number | None = option(
        "Also bound the worst case: local differential privacy of the whole profile. Changes far "
        "more.",
        perhaps(replace(POSITIVE, metavar="E")),
        default=None,
    )
    unknown: str = option(
        "A profile that nobody here has: take the nearest, or beyond --radius withhold it or "
        "refuse.",
        choice("nearest", "withhold", "refuse"),
        default="nearest",
    )
    radius: Number | None = option(
        "See --unknown; a share of columns.", perhaps(replace(EXACT, metavar="R")), default=None
    )
    held_out: Number = option(
        "Do not learn from this share of people, and measure on them what the mapping tells of "
        "others; file and cards then state it.",
        replace(EXACT, metavar="SHARE"),
        default=0,
    )
    seconds: Number = option(
        "Stop searching after the first step that ends later than this, with the best mapping so "
        "far.",
        replace(EXACT, metavar="S"),
        default=300,
    )

    def check(self) -> None:
        """One limit; a rule for unknown profiles that goes with the others."""
        one = (self.delta is None) is not (self.leak is None)
        got = None if self.delta is None else "given"
        require(one, "delta", got, "given, or leak instead; not both")
        for name in _REALS:
            proper = all(map(_is_real, _numbers(getattr(self, name))))
            require(proper, name, "others", "numbers between 1e-300 and 1e300, or 0")
        if self.delta is not None:
            rule = "a share, from 0 to 1: 0.05 is one column in twenty"
            require(0 <= Fraction(self.delta) <= 1, "delta", self.delta, rule)
        if isinstance(self.leak, Fraction):
            require(self.leak >= 0, "leak", "less", "bits, not negative")
        elif self.leak is not None:
            own = {name.casefold() for name, _ in self.leak}
            rule = f"bits for each secret ({', '.join(self.secret)}), or one number for all"
            require(own == set(map(str.casefold, self.secret)), "leak", "others", rule)
        nearest = self.unknown == "nearest"
        rule = "given with unknown withhold or refuse, and with no other"
        require(nearest is (self.radius is None), "radius", self.radius, rule)
        require(self.radius is None or Fraction(self.radius) >= 0, "radius", "less", "0 or more")
        rule = "nearest where epsilon is given: withheld or refused, a profile is one that the "
        rule += "mapping does not know, for certain, and no epsilon bounds that"
        require(nearest or self.epsilon is None, "unknown", self.unknown, rule)
        rule = "nearest where rare profiles count as the nearest one (at_least)"
        require(nearest or self.at_least == 1, "unknown", self.unknown, rule)
        rule = "a share, from 0 to 0.9"
        require(0 <= Fraction(self.held_out) <= Fraction(9, 10), "held_out", "other", rule)
        require(Fraction(self.seconds) >= 0, "seconds", "less", "0 or more")
        for name, given in (("secret", self.secret), ("public", self.public or ())):
            distinct = len({one.casefold() for one in given}) == len(given)
            require(distinct, name, "twice the same", "columns, each named once, as a,b")
        self._check_columns(self.public)

    def _check_columns(self, public: tuple[str, ...] | None) -> None:
        """What options name must be columns of a profile, and the secret none of them."""
        if public is None:
            return
        spelt = {name.casefold() for name in public}
        both = [name for name in self.secret if name.casefold() in spelt]
        require(not both, "public", ", ".join(both), "without the secret, which would be released")
        for name in ("weights", "bins"):
            other = [one for one, _ in getattr(self, name) or () if one.casefold() not in spelt]
            require(not other, name, ", ".join(other), "of columns of the profile")
        require(len(public) > 0, "public", "none", "columns that can be released")

    def reads(self, known: MappingType[str, Any]) -> MappingType[str, Input]:
        """The secret, and the columns that are named, or all others."""
        named = [*self.secret, *(self.public or ())]
        taken = {name.casefold() for name in named}
        text = Role(Cells.TEXT, "Hidden, or part of a profile.")
        who = replace(TABLE.roles[_PERSON], aliases=() if _ALIAS in taken else (_ALIAS,))
        people = {} if _PERSON in taken else {_PERSON: who}
        others = Cells.TEXT if self.public is None else None
        return {"table": replace(TABLE, roles=people | dict.fromkeys(named, text), others=others)}

    def facts(self, tables: MappingType[str, Bound]) -> Public:
        """The columns: how a table is made is public."""
        if "table" not in tables or self.public is not None:
            return Public(names=self.public, tables=tables)
        shown = {*self.secret, _PERSON}
        return Public(names=[n for n in tables["table"].columns if n not in shown], tables=tables)

    def curves(self, tables: MappingType[str, Any], trial: Trial) -> Curves:
        """What mappings tell about the secret at the same distortion, from counts."""
        from reticent.tasks.comparing_mapping import mapping_curves

        terms = self.terms(self.facts(tables))
        people, search = terms.training(tables["table"]), terms.mechanism
        return mapping_curves(
            people.alphabet,
            search.distance,
            secret=", ".join(search.secrets),
            distortions=trial.at,
            ways=trial.methods,
            seconds=float(Fraction(self.seconds)),
            progress=trial.progress,
        )

    def terms(self, public: Public) -> MappingTerms:
        """See ``Query``."""
        from reticent.tasks.mapping_search import MappingSearch

        columns = None if public.names is None else tuple(public.names)
        self._check_columns(columns)
        rule: Any = self.unknown
        search = MappingSearch(
            secrets=self.secret,
            columns=columns,
            delta=_real(self.delta),
            leak=self._bits(),
            epsilon=_real(self.epsilon),
            weights=_as_spelt(self.weights, columns),
            widths=_as_spelt(self.bins, columns),
            at_least=self.at_least,
            unknown=rule,
            radius=_real(self.radius),
            held_out=float(Fraction(self.held_out)),
            seconds=float(Fraction(self.seconds)),
        )
        return MappingTerms(self, search)

    def _bits(self) -> tuple[float, ...] | None:
        """For all secrets, or for each in their order."""
        if self.leak is None or isinstance(self.leak, Fraction):
            return None if self.leak is None else (float(self.leak),)
        own = {name.casefold(): float(bits) for name, bits in self.leak}
        return tuple(own[name.casefold()] for name in self.secret)


def _numbers(held: Any) -> list[Fraction]:
    """What an option holds, be it a number or several by name."""
    if isinstance(held, tuple):
        return [amount for _, amount in held]
    return [] if held is None else [Fraction(held)]


def _is_real(value: Fraction) -> bool:
    """Whether searches, which compute with floating point, can tell it from 0 and infinity."""
    return value == 0 or _LEAST_REAL <= abs(value) <= 1 / _LEAST_REAL


def _real(value: Number | None) -> float | None:
    return None if value is None else float(Fraction(value))


def _as_spelt(
    given: tuple[tuple[str, Fraction], ...] | None, columns: tuple[str, ...] | None
) -> tuple[tuple[str, float], ...]:
    """Amounts by column, as columns are called elsewhere."""
    spelt = {name.casefold(): name for name in columns or ()}
    return tuple((spelt.get(n.casefold(), n), float(amount)) for n, amount in given or ())


@dataclass(frozen=True, slots=True)
class MappingTerms(Terms):
    """A table of chances, and figures about it."""

    query: Mapping
    mechanism: MappingSearch
    columns: ClassVar[tuple[str, ...]] = ("profile", "becomes", "chance")
    summarised: ClassVar[bool] = True

    def informed(self, query: Query, found: Public) -> Terms:
        """Refuses a table that nothing could be learnt from; its people are not protected."""
        made = query.terms(found)
        if isinstance(made, MappingTerms):
            made.mechanism.fitting(made.training(found.tables["table"]).alphabet)
        return made

    def training(self, table: Bound) -> Training:
        """Whom to learn from, and who is held out."""
        from reticent.tasks.training import Training

        search = self.mechanism
        return Training.of(
            table.called,
            table.columns,
            search.columns or (),
            search.secrets,
            widths=dict(search.widths),
            held_out=search.held_out,
            times=table.times,
        )

    @property
    def what(self) -> str:
        """In words."""
        held = "other columns" if self.mechanism.columns is None else "columns of a profile"
        return f"a mapping that hides {', '.join(self.query.secret)} in the {held}"

    @property
    def public(self) -> tuple[str, ...]:
        """The columns; of people nothing needs to be."""
        return ("the names of the columns",)

    def scope(self) -> Scope:
        """See ``promises``."""
        from reticent.guarantees import promises

        return promises.mapping(", ".join(self.query.secret))

    def draw(
        self, tables: MappingType[str, Any], source: Source, progress: Progress
    ) -> dict[str, Any]:
        """The mapping and what was found."""
        people = self.training(tables["table"])
        return self.mechanism.release(people, source, progress).value.plain()

    def show(self, kept: dict[str, Any]) -> LearntMapping:
        """The same, ready for use."""
        from reticent.tasks.learnt_mapping import LearntMapping

        return LearntMapping.of_plain(kept)

    def plain(self, value: LearntMapping) -> dict[str, Any]:
        """See ``Terms``."""
        return value.plain()

    def rows(self, value: LearntMapping) -> list[tuple[Any, ...]]:
        """One for each profile and what it may become, named as their cells between commas."""
        recoding = value.recoding
        channel = recoding.mechanism.channel
        named = [", ".join(map(str, row)) for row in recoding.profiles.tolist()]
        return [
            (named[profile], named[out], chance)
            for profile, out, chance in zip(
                channel.inputs.tolist(),
                channel.outs.tolist(),
                channel.chances.tolist(),
                strict=True,
            )
        ]

    def lines(self, value: LearntMapping) -> list[str]:
        """Consequences first."""
        from reticent.queries.mapping_words import lines

        return lines(value, self.mechanism)

    def notes(self, kept: dict[str, Any]) -> tuple[str, ...]:
        """What has to be known before the mapping is used or given away."""
        from reticent.queries.mapping_words import notes

        return notes(self.show(kept), self.mechanism)
