"""Profiles released through a mapping: which profile a row stands for, and what it becomes.

Theory    docs/theory/mapping.md, Theorem 5 (integer rows), Theorem 6 (several releases); "What this
          promise is not"
Notation  B = public profile, A = secret, d = distortion
Not here  learning a mapping (learning.py), drawing (mechanisms/mapping.py), files
          (recoding_files.py), scikit-learn (profiles.py).

A ``Recoding`` is all that a person's device needs. Every release of one person adds to what is
known about them, so ``ReleaseOnce`` draws once for each person and repeats the answer.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from reticent.data.frames import Frame
from reticent.data.people_tables import in_ranges
from reticent.errors import ParameterError, require
from reticent.mechanisms.base import Release
from reticent.mechanisms.mapping import ProfileMapping
from reticent.mechanisms.mapping_law import MappingLaw
from reticent.mechanisms.reading import read_reals
from reticent.noise import Source
from reticent.optim.distances import Distance, distance_matrix, hamming, squared_euclidean
from reticent.tasks.framed import FramedRelease
from reticent.tasks.recoding_places import Coded, Places

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Kind: TypeAlias = "Literal['hamming', 'squared'] | Callable[[Any, Any], float]"
Unknown: TypeAlias = Literal["nearest", "withhold", "refuse"]
RULES: tuple[Unknown, ...] = ("nearest", "withhold", "refuse")
_UNITS = {"hamming": "share of attributes changed", "squared": "squared distance"}


@dataclass(frozen=True, slots=True)
class Measure:
    """How far two profiles are apart: differing columns, by weight; squared; or any function."""

    kind: Kind = "hamming"
    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        known = callable(self.kind) or self.kind in _UNITS
        require(known, "measure", self.kind, "hamming, squared or callable")
        fits = self.weights is None or self.kind == "hamming"
        require(fits, "weights", self.weights, "left out unless the measure is hamming")

    @property
    def unit(self) -> str:
        """What one unit of it is."""
        return "distance" if callable(self.kind) else _UNITS[self.kind]

    def distance(self, profiles: NDArray[Any]) -> Distance:
        """Between all profiles."""
        if callable(self.kind):
            return distance_matrix(self.kind, list(profiles))
        if self.kind == "squared":
            return squared_euclidean(profiles)
        return hamming(profiles, weights=self.weights)

    def to_all(self, row: NDArray[Any], profiles: NDArray[Any]) -> NDArray[np.float64]:
        """From one row, which need not be among them, to all profiles."""
        if callable(self.kind):
            return np.array([self.kind(row, other) for other in profiles])
        if self.kind == "squared":
            own = read_reals(row, len(row))  # what is no number is far from everything
            far = ((profiles.astype(float) - own) ** 2).sum(axis=1)
            return np.asarray(np.nan_to_num(far, nan=np.inf))
        weights = np.ones(len(row)) if self.weights is None else np.asarray(self.weights)
        return np.asarray((profiles != row) @ (weights / weights.sum()))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Alphabet:
    """The distinct profiles and secrets of people, and how often they go together.

    ``moved`` is how far people were moved on average to come into it.
    """

    profiles: NDArray[Any]
    secrets: NDArray[Any]
    counts: NDArray[np.int64]  # [secret, profile]
    moved: float = 0.0

    @classmethod
    def of(cls, public: ArrayLike, private: ArrayLike) -> Alphabet:
        """Count pairs; several private columns are one secret, their combination."""
        public = np.asarray(public)
        return cls.of_counts(public, private, np.ones(public.shape[:1], dtype=np.int64))

    @classmethod
    def of_counts(cls, public: ArrayLike, private: ArrayLike, counts: ArrayLike) -> Alphabet:
        """The same of people counted elsewhere; in the order of their values."""
        public, private, counts = np.asarray(public), np.asarray(private), np.asarray(counts)
        same = public.ndim == 2 and len(public) == len(private) > 0
        require(same, "private", f"shape {private.shape}", "a row for each row of a table of some")
        whole = counts.shape == (len(public),) and counts.dtype.kind in "iu" and counts.min() > 0
        require(bool(whole), "counts", "others", "a positive whole number for each row")
        profiles, which = _distinct(public)
        secrets, kind = _distinct(private.reshape(len(private), -1))
        table = np.zeros((len(secrets), len(profiles)), dtype=np.int64)
        np.add.at(table, (kind, which), counts.astype(np.int64))
        return cls(profiles, secrets, table)

    @classmethod
    def of_frame(cls, frame: Any, public: Sequence[str], private: Sequence[str]) -> Alphabet:
        """Count pairs of columns of a frame, named; a missing cell is a value of its own."""
        held = Frame.of(frame)
        return cls.of(_side_by_side(held, public), _side_by_side(held, private))

    @property
    def joint(self) -> NDArray[np.float64]:
        """P(a, j) among these people."""
        return np.asarray(self.counts / self.counts.sum())

    def distinct(self) -> Alphabet:
        """Profiles that are given twice as one."""
        rows, which = _distinct(self.profiles)
        if len(rows) == len(self.profiles):
            return self
        counts = np.zeros((len(self.secrets), len(rows)), dtype=np.int64)
        np.add.at(counts.T, which, self.counts.T)
        return Alphabet(rows, self.secrets, counts, self.moved)

    def only(self, kept: NDArray[np.int64]) -> Alphabet:
        """Some of the profiles; who has another one is left out."""
        return Alphabet(self.profiles[kept], self.secrets, self.counts[:, kept])

    def at_least(self, people: int, measure: Measure) -> Alphabet:
        """Only profiles of so many people; all others count at the nearest of those.

        A rare profile would tell whoever reads the mapping that somebody has it. People with one
        are released as the rule "nearest" releases them, so the law counted here is the true one.
        """
        held = self.counts.sum(axis=0)
        kept = np.flatnonzero(held >= people)
        require(kept.size > 0, "people", people, "met by some profile: all are rarer")
        counts, moved = self.counts[:, kept].copy(), 0.0
        known = self.profiles[kept]
        for j in np.flatnonzero(held < people).tolist():
            far = measure.to_all(self.profiles[j], known)
            best = int(np.argmin(far))
            counts[:, best] += self.counts[:, j]
            moved += float(held[j]) * float(far[best])
        return Alphabet(known, self.secrets, counts, self.moved + moved / float(held.sum()))


@dataclass(frozen=True, eq=False, repr=False)  # no slots: cached properties need a dictionary
class Recoding:
    """Profiles, the mapping between them, and the rule for rows that are no profile of it.

    A row outside the alphabet stands for the nearest profile; with ``unknown`` "withhold" or
    "refuse" one beyond ``radius`` is released as None or is an error, and either tells that it was
    unknown. ``widths`` tells whoever reads rows which columns hold ranges of numbers, and how wide.
    """

    columns: tuple[str, ...]
    profiles: NDArray[Any]
    mechanism: ProfileMapping
    measure: Measure = Measure()
    unknown: Unknown = "nearest"
    radius: float = math.inf
    widths: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require(self.unknown in RULES, "unknown", self.unknown, ", ".join(RULES))
        require(self.radius >= 0, "radius", self.radius, "not negative")
        table = self.profiles.ndim == 2 and self.profiles.shape[1] == len(self.columns)
        require(table, "columns", len(self.columns), "one name for each column of the profiles")
        many = len(self.mechanism.starts) - 1
        require(len(self.profiles) == many, "profiles", len(self.profiles), f"{many} of them")
        names = len(set(self.columns))
        require(names == len(self.columns), "columns", "twice the same", "distinct names")
        require(self.alphabet.distinct, "profiles", "twice the same", "distinct")

    def __getstate__(self) -> dict[str, Any]:
        """What is sent to other processes: not what can be computed again."""
        return {part.name: getattr(self, part.name) for part in fields(self)}

    def places(self, rows: NDArray[Any]) -> NDArray[np.int64]:
        """The profile of the alphabet that each row stands for, or -1 where it is withheld."""
        wide = len(self.columns)
        fits = rows.ndim == 2 and rows.shape[1] == wide
        require(fits, "profile", f"shape {rows.shape}", f"a value for each of {wide} columns")
        return self.alphabet.find([Coded.of(column.tolist()) for column in rows.T], self)

    @property
    def by_codes(self) -> bool:
        """Whether a cell that no profile has is as far from profiles as any other such cell."""
        return self.measure.kind == "hamming"

    def place(self, cells: Sequence[Any], codes: NDArray[np.int64]) -> int:
        """The profile that a row outside the alphabet stands for, or -1."""
        if self.by_codes:  # they differ where cells do, and compare faster
            far = self.measure.to_all(codes, self.alphabet.codes)
        else:
            far = self.measure.to_all(np.fromiter(cells, dtype=object), self.profiles)
        best = int(np.argmin(far))
        if self.unknown == "nearest" or far[best] <= self.radius:
            return best
        if self.unknown == "refuse":
            raise ParameterError("profile", "within the declared radius", "another one")
        return -1

    def worst_case_epsilon(self) -> float:
        """The local-DP epsilon of a release; infinite where it shows that a profile is unknown."""
        return self.mechanism.worst_case_epsilon() if self.unknown == "nearest" else math.inf

    def under(self, counts: NDArray[np.int64]) -> MappingLaw:
        """What the mapping leaks and changes among people counted, [secret, profile]."""
        table = self.mechanism
        far = table.channel.distances(self.measure.distance(self.profiles))
        return MappingLaw(table.starts, table.outs, table.parts, far, counts / counts.sum())

    @cached_property
    def alphabet(self) -> Places:
        """The profiles, to be found by their cells."""
        return Places.of(self.profiles)

    @cached_property
    def fingerprint(self) -> str:
        """Of everything that decides what is released: names, profiles, table, rules.

        The nonce of a learnt mapping is in it: it tells nothing to who has not got the file.
        """
        told = (
            self.columns,
            self.profiles.tolist(),
            self.mechanism.sha256,
            str(self.measure.kind),
            self.measure.weights,
            self.unknown,
            self.radius,
            sorted(self.widths.items()),
        )
        return hashlib.sha256(repr(told).encode("utf-8", "surrogatepass")).hexdigest()

    def release(self, profile: Sequence[Any], source: Source) -> Release[Any]:
        """One draw for one person: a tuple of values, or None where it is withheld."""
        row = np.empty((1, len(profile)), dtype=object)
        row[0] = list(profile)
        place = int(self.places(row)[0])
        drawn = self.mechanism.release(max(place, 0), source)
        value = tuple(self.profiles[drawn.value].tolist()) if place >= 0 else None
        return Release(value, drawn.event, drawn.mechanism)

    def release_many(self, rows: NDArray[Any], source: Source) -> NDArray[Any]:
        """One draw for each row, without cards."""
        drawn = self.draw(self.places(rows), source)
        released = self.profiles[np.maximum(drawn, 0)]
        if (drawn < 0).any():
            released = released.astype(object)
            released[drawn < 0] = None
        return np.asarray(released)

    def draw(
        self,
        places: NDArray[np.int64],
        source: Source,
        people: Callable[[], Sequence[str]] | None = None,
    ) -> NDArray[np.int64]:
        """The number of the profile that each place becomes, or -1 where it is withheld.

        ``people`` is asked of a seeded source only: there each draws from a stream of their own.
        """
        known = np.maximum(places, 0)
        if people is None or source.private:
            return np.where(places < 0, -1, self.mechanism.release_many(known, source))
        return np.where(places < 0, -1, self.mechanism.release_each(known, people(), source))

    def release_frame(self, frame: Any, source: Source) -> FramedRelease:
        """One draw for each row of a frame, as a frame of its kind with the same index and names.

        Only columns of the mapping are released, in the frame's order; others stay behind. A
        column keeps its type if that can hold the profiles.
        """
        held = Frame.of(frame)
        named = {held.named(name): j for j, name in enumerate(self.columns)}
        columns = [self.column(j, held, name) for name, j in named.items()]
        drawn = self.draw(self.alphabet.find(columns, self), source)
        gaps = self.unknown == "withhold"
        made = {
            name: held.chosen(name, self.profiles[:, named[name]].tolist(), drawn, gaps=gaps)
            for name in held.names
            if name in named
        }
        rows = self.profiles.tolist()
        value = [None if place < 0 else rows[place] for place in drawn.tolist()]
        return FramedRelease(held.made(made, rows=True), Release.by(self.mechanism, value, source))

    def column(self, at: int, frame: Frame, name: Any) -> Coded:
        """A column of a frame in the form of the profiles' column ``at``: text where that is."""
        if not all(isinstance(cell, str) for cell in self.alphabet.cells[at]):
            return Coded.of(_with_gaps(frame, name))
        found = Coded.of(frame.texts(name).tolist())
        if self.columns[at] not in self.widths:
            return found
        ranges = in_ranges(np.array(found.cells, dtype=np.str_), self.widths[self.columns[at]])
        return Coded(ranges.tolist(), found.codes)


@dataclass(slots=True, eq=False, repr=False)
class ReleaseOnce:
    """One draw per person: asked again, the first answer is repeated, whatever the profile is now.

    ``store`` may be any mapping of text that outlives the program; its keys name the recoding too.
    Threads may share this; processes need a store that locks.
    """

    recoding: Recoding
    source: Source
    store: MutableMapping[str, Any] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def release(self, person: str, profile: Sequence[Any]) -> tuple[Any, ...] | None:
        """The released profile of a person, who is named by text."""
        require(isinstance(person, str), "person", type(person).__name__, "text")
        key = f"{self.recoding.fingerprint}/{person}"
        with self._lock:
            if key not in self.store:
                self.store[key] = self.recoding.release(profile, self.source).value
            told = self.store[key]
        return None if told is None else tuple(told)


def _side_by_side(frame: Frame, names: Sequence[str]) -> NDArray[Any]:
    require(len(names) > 0, "columns", "none", "one or more")
    found = np.empty((len(frame), len(names)), dtype=object)
    for j, name in enumerate(names):
        found[:, j] = _with_gaps(frame, frame.named(name))
    return found


def _with_gaps(frame: Frame, name: Any) -> list[Any]:
    """The cells of a column, None where one is missing: NaN would not be like itself."""
    return [None if cell != cell else cell for cell in frame.cells(name).tolist()]


def _distinct(table: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Distinct rows in order, and the number of each row's; also for columns of mixed types.

    The order is that of the values, never that in which people come.
    """
    if table.dtype != object:
        rows, which = np.unique(table, axis=0, return_inverse=True)
        return rows, which.reshape(-1)
    found = [tuple(row) for row in table.tolist()]
    places = {row: at for at, row in enumerate(sorted(set(found), key=_order))}
    rows = np.empty((len(places), table.shape[1]), dtype=object)
    for row, place in places.items():
        rows[place] = row
    return rows, np.array([places[row] for row in found])


def _order(row: tuple[Any, ...]) -> tuple[tuple[Any, ...], ...]:
    """By kind, then by value: numbers as such, everything else as text."""
    return tuple(
        ("", cell, type(cell).__name__)
        if isinstance(cell, (int, float))
        else (type(cell).__name__, 0, str(cell))
        for cell in row
    )
