"""People whom a mapping is learnt from, and others of the same table on whom it is tested.

Theory    docs/theory/mapping.md, Theorem 11 (people held out)
Not here  learning (learning.py), the limit for people held out (held_out.py).

Tables are refused here that no mapping could be learnt from; of cells nothing is said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.data.interactions import TableError
from reticent.data.people_tables import has_numbers, in_ranges
from reticent.data.synthetic import uniform
from reticent.errors import ParameterError
from reticent.noise import Source
from reticent.tasks.recoding import Alphabet

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SPLIT_SEED = 0  # whom a share held out is: nothing private rests on it
_MANY_VALUES = 50  # in a column: ranges may be meant
UNIQUE = 0.8  # of people with a profile of their own: nearly all
CROWD = 20  # people of whom each may well have a value of their own


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Training:
    """Profiles and secrets, a row for each training person or for several alike (``times``).

    ``others`` are those of people held out, one row each. ``wide`` are columns of many values that
    make nearly every profile unique, ``without_secret`` how many people were left out since they
    have none.
    """

    profiles: NDArray[Any]
    secrets: NDArray[Any]
    times: NDArray[np.int64]
    others: tuple[NDArray[Any], NDArray[Any]] | None
    without_secret: int
    wide: tuple[str, ...]

    @classmethod
    def of(
        cls,
        called: str,
        columns: Mapping[str, NDArray[Any]],
        public: Sequence[str],
        secret: Sequence[str],
        *,
        widths: Mapping[str, float],
        held_out: float,
        times: NDArray[np.int64] | None = None,
    ) -> Training:
        """From columns of text; ``called`` is what errors call the table.

        ``times`` says how many people each row stands for; else it is one.
        """
        secrets = np.column_stack([columns[name] for name in secret])
        known = (secrets != "").all(axis=1)
        if not known.any():
            raise TableError(called, "has nobody with a value of the secret: nothing can be hidden")
        many = (np.ones(len(secrets), dtype=np.int64) if times is None else times)[known]
        held = {name: columns[name][known] for name in public}
        for name in widths:
            if not has_numbers(held[name]):
                raise ParameterError("bins", f"of columns with numbers, and {name} has none", name)
        rows = [in_ranges(held[n], widths[n]) if n in widths else held[n] for n in public]
        _check_unique(called, dict(zip(public, rows, strict=True)), many)
        without = len(known) if times is None else int(times.sum())
        profiles, secrets = np.column_stack(rows), secrets[known]
        rest = _held_out(many, held_out)
        many = many - np.bincount(rest, minlength=len(many))
        chosen = np.flatnonzero(many)
        own = secrets[chosen]
        if (secrets == secrets[0]).all():
            why = "whoever knows the column knows them all, released or not"
            raise TableError(called, f"has one secret, the same for everybody: {why}")
        if (own == own[0]).all():
            rule = "a smaller share: the people left to learn from all have the same secret"
            raise ParameterError("held_out", rule, "another")
        others = (profiles[rest], secrets[rest]) if len(rest) else None
        return cls(
            profiles[chosen],
            secrets[chosen],
            many[chosen],
            others,
            without - int(many.sum()) - len(rest),
            _wide(public, profiles[chosen], int(many.sum())),
        )

    @property
    def alphabet(self) -> Alphabet:
        """How many training people have which profile and which secret."""
        return Alphabet.of_counts(self.profiles, self.secrets, self.times)


def _held_out(times: NDArray[np.int64], share: float) -> NDArray[np.int64]:
    """The rows of people who are held out, one for each of them."""
    people = int(times.sum())
    many = round(share * people)
    if many == people:
        raise ParameterError(
            "held_out", "a smaller share: nobody would be left to learn from", "another"
        )
    if not many:
        return np.empty(0, dtype=np.int64)
    order = np.argsort(uniform(people, Source.seeded(_SPLIT_SEED)), kind="stable")
    return np.searchsorted(np.cumsum(times), np.sort(order[:many]), side="right")


def _check_unique(
    called: str, columns: Mapping[str, NDArray[Any]], times: NDArray[np.int64]
) -> None:
    """Refuse a column that is different for every person: it names them, or needs ranges."""
    for name, column in columns.items():
        told = column != ""
        people = int(times[told].sum())
        if people > CROWD and len(np.unique(column[told])) == people:
            raise TableError(
                called,
                f"has a column that is different for every person, {name}, and no mapping can hide "
                f"among others whoever has it: say that it names people (columns person={name}), "
                "put its numbers into ranges (bins), or leave it out (public)",
            )


def _wide(public: Sequence[str], profiles: NDArray[Any], people: int) -> tuple[str, ...]:
    """Where nearly everybody has a profile of their own, the columns of many values."""
    if len(np.unique(profiles, axis=0)) < UNIQUE * people:
        return ()
    counts = [len(np.unique(column)) for column in profiles.T]
    many = zip(public, counts, strict=True)
    return tuple(f"{name} ({count})" for name, count in many if count > _MANY_VALUES)
