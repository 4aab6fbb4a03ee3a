"""Which columns of a table of people are secret, public, ranges or heavy, and what may leak.

Not here  the options themselves (mapping.py), reading the table (data/people_tables.py).
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reticent.cli.failures import Failure
from reticent.cli.mapping_views import CERTIFIED
from reticent.cli.output import talk

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reticent.data.people_tables import People
    from reticent.tasks.learning import Limits
    from reticent.tasks.recoding import Measure

SPLIT_SEED = 0  # whom --held-out holds out: nothing private rests on it
MANY_VALUES = 50  # in a column: ranges may be meant
UNIQUE = 0.8  # of people with a profile of their own: nearly all
CROWD = 20  # people of whom each may well have a value of their own
USUAL_ID = "user"


@dataclass(frozen=True, slots=True)
class Columns:
    """The table and which of its columns are what."""

    people: People
    secrets: tuple[str, ...]
    public: tuple[str, ...]
    measure: Measure
    widths: dict[str, float]

    @classmethod
    def of(
        cls,
        people: People,
        secret: str,
        public: str | None,
        *,
        ids: str | None = None,
        weights: str | None = None,
        bins: str | None = None,
    ) -> Columns:
        """As the options say; whatever they name must be there. Who people are is no profile."""
        from reticent.data.people_tables import has_numbers
        from reticent.tasks.recoding import Measure

        secrets = _names(people, secret, "--secret")
        named = id_column(people, ids)
        if public is None:
            columns = tuple(name for name in people.columns if name not in (*secrets, named))
        else:
            columns = _names(people, public, "--public")
        if ids is not None and named in (*secrets, *columns):
            raise Failure(f"{named} names people and is secret or public too")
        both = sorted(set(secrets) & set(columns))
        if both:
            raise Failure(f"{both[0]} is both secret and public", why="leave it out of --public")
        if not columns:
            raise Failure(f"{people.file} has no column besides the secret")
        widths = _amounts(people, bins, "--bins", columns)
        for name in widths:
            if not has_numbers(people.column(name)):
                raise Failure(f"--bins names {name}, which holds no number to put into ranges")
        heavy = _amounts(people, weights, "--weights", columns)
        by_column = tuple(heavy.get(name, 1.0) for name in columns) if heavy else None
        return cls(people, secrets, columns, Measure(weights=by_column), widths)

    def split(self, share: float) -> tuple[People, People | None, int]:
        """People to learn from, people held out, and how many have no secret to learn."""
        import numpy as np

        from reticent.data.synthetic import uniform
        from reticent.noise import Source

        told = np.all([self.people.column(name) != "" for name in self.secrets], axis=0)
        known = self.people.only(told)
        if not told.any():
            why = "nobody has a value there; lines without one are left out"
            raise Failure(f"{self.people.file} has no secret to hide", why=why)
        order = np.argsort(uniform(len(known), Source.seeded(SPLIT_SEED)), kind="stable")
        many = round(share * len(known))
        dropped = int((~told).sum())
        if not many:
            return known, None, dropped
        if many == len(known):
            raise Failure("--held-out leaves nobody to learn from", why="give a smaller share")
        return known.only(np.sort(order[many:])), known.only(np.sort(order[:many])), dropped

    def without(self, names: Sequence[str]) -> Columns:
        """Some public columns left out; weights go with the columns, and are dropped here."""
        from reticent.tasks.recoding import Measure

        public = tuple(name for name in self.public if name not in names)
        widths = {name: width for name, width in self.widths.items() if name in public}
        return Columns(self.people, self.secrets, public, Measure(), widths)

    def sides(self, people: People) -> tuple[NDArray[Any], NDArray[Any]]:
        """Profiles and secrets."""
        return people.rows(self.public, self.widths), people.rows(self.secrets)


def id_column(people: People, asked: str | None) -> str | None:
    """The column that names people: as asked for, or the usual one if it is there."""
    if asked is not None:
        return people.named(asked)
    return next((name for name in people.columns if name.casefold() == USUAL_ID), None)


def check_unique(table: Columns, instead: Callable[[Columns], str]) -> None:
    """Refuse a column that is different for every person: it names them, or needs ranges."""
    import numpy as np

    profiles, _ = table.sides(table.people)
    names = []
    for name, column in zip(table.public, profiles.T, strict=True):
        told = column[column != ""]
        if len(told) > CROWD and len(np.unique(told)) == len(told):
            names.append(name)
    if not names:
        return
    others = table.without(names)
    why = (
        f"no mapping can hide among others whoever has it; --id {names[0]} if it names "
        "people, --bins puts numbers into ranges, --public leaves it out"
    )
    following = instead(others) if others.public else ""
    raise Failure(f"{names[0]} is different for every person", why=why, next_command=following)


def talk_wide(table: Columns, people: People) -> None:
    """Where nearly everybody has a profile of their own, name the columns of many values."""
    import numpy as np

    profiles, _ = table.sides(people)
    if len(np.unique(profiles, axis=0)) < UNIQUE * len(profiles):
        return
    counts = [len(np.unique(column)) for column in profiles.T]
    wide = [
        f"{name} ({count})"
        for name, count in zip(table.public, counts, strict=True)
        if count > MANY_VALUES
    ]
    if wide:
        talk(
            f"note: columns of many values make nearly every profile unique: {', '.join(wide)}; "
            "--bins puts numbers into ranges, --public leaves columns out"
        )


def typed(path: Path, table: Columns, out: Path, *limit: str) -> str:
    """A command that would work instead."""
    words = ["reticent", "fit", "mapping", str(path), "--secret", ",".join(table.secrets)]
    words += ["--public", ",".join(table.public)]
    if table.widths:
        ranges = (f"{name}={width:g}" for name, width in table.widths.items())
        words += ["--bins", ",".join(ranges)]
    return shlex.join([*words, *limit, "--out", str(out)])


def _names(people: People, text: str, option: str) -> tuple[str, ...]:
    names = tuple(people.named(name) for name in text.split(",") if name.strip())
    if not names or len(set(names)) < len(names):
        raise Failure(f"{option} must name columns, each once, as a,b")
    return names


def _amounts(
    people: People, text: str | None, option: str, columns: tuple[str, ...]
) -> dict[str, float]:
    """Numbers above 0 by column, from a=2,b=0.5."""
    found: dict[str, float] = {}
    for part in (text or "").split(","):
        if not part.strip():
            continue
        name, _, number = part.rpartition("=")
        value = _number(number)
        if not name or not 0 < value < math.inf:
            raise Failure(f"{option} must be columns with numbers above 0, as age=10,hours=5")
        spelt = people.named(name)
        if spelt not in columns:
            raise Failure(f"{option} names {spelt}, which is not among the public columns")
        found[spelt] = value
    return found


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def limits_of(
    table: Columns, delta: float | None, leak: str | None, epsilon: float | None
) -> Limits:
    """What a search has to keep."""
    from reticent.tasks.learning import Limits

    if leak is None:
        return Limits(delta=delta, epsilon=epsilon, relative_gap=CERTIFIED)
    rule = "--leak must be bits, as 0.1, or bits for each secret, as income=0.1,health=0.2"
    if "=" not in leak:
        bits: float | list[float] = _number(leak)
        if not 0 <= _number(leak) < math.inf:
            raise Failure(rule)
        return Limits(leak_bits=bits, epsilon=epsilon, relative_gap=CERTIFIED)
    parts = [part.rpartition("=") for part in leak.split(",")]
    own = {table.people.named(name): _number(number) for name, _, number in parts}
    good = len(own) == len(parts) and all(0 <= bits < math.inf for bits in own.values())
    if set(own) != set(table.secrets) or not good:
        raise Failure(rule, why=f"the secrets are {', '.join(table.secrets)}")
    bits = [own[name] for name in table.secrets]
    return Limits(
        leak_bits=bits if len(bits) > 1 else bits[0], epsilon=epsilon, relative_gap=CERTIFIED
    )
