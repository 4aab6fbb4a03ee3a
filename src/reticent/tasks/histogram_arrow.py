"""Histograms for a provider, from Arrow batches of people to Arrow batches of numbers.

Theory    docs/theory/multilevel.md, Theorems 1 and 2
Not here  the arrays behind it (histogram_batches.py), files and processes (running/, spark/).

In: who (``person``), ``items`` (a list of names; 7 and "7" are one) and, where people
have their own, ``weights`` (a list as long as items), ``epsilon`` and ``budgets`` (a list, one per
released attribute). What people set themselves narrows what the preferences allow and never widens
it: a missing epsilon or budget is all that is allowed, a missing weight nothing. Out: ``person``
and a column for each attribute. Noise of a person's own size hints at their wishes, so budgets of
their own are for who may know these; weights of their own leave the noise as it is.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.amounts import nano_up
from reticent.data.catalogue import Catalogue
from reticent.errors import require
from reticent.guarantees import ITEM, Event, MultiLevelDP, Spread, Unit, canonical, plain
from reticent.mechanisms.multilevel_plan import Goal, HistogramPlan
from reticent.noise import Source
from reticent.preferences import Preferences
from reticent.tasks.batched import PERSON, Drawn, arrow, compute, names_of, with_people
from reticent.tasks.charged import Payer, amount
from reticent.tasks.histogram import payer_of, plan_for
from reticent.tasks.histogram_batches import Histograms, ManyHistograms

if TYPE_CHECKING:
    from numpy.typing import NDArray

ITEMS = "items"
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")
OWN = ("weights", "epsilon", "budgets")
"""Columns with what people set themselves."""


@dataclass(frozen=True, eq=False, repr=False)  # no slots: cached properties need a dictionary
class HistogramBatches:
    r"""What a provider gets of many people under one file of preferences.

    ``own`` are the columns, of ``OWN``, in which people have limits of their own.

    >>> import pyarrow as pa
    >>> films = Catalogue.of([[1, 1], [0, 1]], items=("Heat", "Up"), attributes=("Crime", "Drama"))
    >>> wishes = Preferences.parse(
    ...     "version = 1\nattributes.default = 0.2\nproviders.club.epsilon = 0.4"
    ... )
    >>> release = HistogramBatches.of(films, wishes, "club")
    >>> people = pa.record_batch({"person": ["ann", "bob"], "items": [["Heat"], ["Heat", "Up"]]})
    >>> drawn = release.draw(people, Source.system())
    >>> drawn.batch.schema.names, drawn.nano.tolist()
    (['person', 'Crime', 'Drama'], [400000000, 400000000])
    """

    task: Histograms
    plan: HistogramPlan
    account: Payer  # of anybody
    terms: str  # fingerprint of what the preferences grant
    weights: NDArray[np.float64] | None  # of the items; None where items are replaced
    own: tuple[str, ...] = ()
    person: str = PERSON
    items: str = ITEMS
    own_weights: str = "weights"  # the column, if it is one of ``own``

    @classmethod
    def of(
        cls,
        catalogue: Catalogue,
        preferences: Preferences,
        provider: str,
        *,
        goal: Goal = "mse",
        unit: Unit = ITEM,
        own: tuple[str, ...] = (),
        person: str = PERSON,
        items: str = ITEMS,
        own_weights: str = "weights",
    ) -> HistogramBatches:
        """Planned once, from public things only."""
        known = set(own) <= set(OWN)
        require(known, "own", own, f"some of {', '.join(OWN)}")
        plan, grant = plan_for(catalogue, preferences, provider, goal=goal, unit=unit)
        taken = PERSON in plan.attributes
        require(not taken, "attributes", PERSON, "called otherwise: that column says who it is")
        task = Histograms(
            catalogue.only(plan.attributes),
            goal=goal,
            unit=unit,
            weighted=plan.mechanism.exposure.weighted,
        )
        fits = task.weighted or "weights" not in own
        require(fits, "own", own, "without weights where items are replaced")
        weights = None
        if task.weighted:
            named = preferences.weights(catalogue.items, provider=provider)
            weights = np.array([float(weight) for weight in named])
        account = payer_of("anybody", preferences, provider)
        columns = (person, items, own_weights)
        return cls(task, plan, account, grant.fingerprint, weights, own, *columns)

    @property
    def columns(self) -> tuple[str, ...]:
        """Who, what they have, and what they set themselves."""
        own = (self.own_weights if name == "weights" else name for name in self.own)
        return (self.person, self.items, *own)

    @property
    def numbers(self) -> dict[str, bool]:
        """Weights: an item of weight 0 is not there."""
        return {self.own_weights: True} if "weights" in self.own else {}

    @cached_property
    def fingerprint(self) -> str:
        """Of the plan, the catalogue, the preferences and the columns."""
        catalogue = self.task.catalogue
        told = canonical(
            [
                self.plan.mechanism.parameters(),
                [plain(budget) for budget in self.plan.budgets],
                plain(self.plan.epsilon),
                self.plan.goal,
                [self.terms, self.account.provider, *self.own, *self.columns],
                list(catalogue.items),
            ]
        )
        digest = hashlib.sha256(told.encode("utf-8", "surrogatepass"))
        for part in (catalogue.rows, catalogue.columns, self.task.exposure.entries(catalogue)):
            digest.update(np.ascontiguousarray(part, dtype="<i8").tobytes())
        if self.weights is not None:
            digest.update(self.weights.astype("<f8").tobytes())
        return digest.hexdigest()

    def event(self, source: Source, people: int | None = None) -> Event:
        """What one person loses at most: with budgets of their own, all that these may be."""
        if not {"epsilon", "budgets"} & set(self.own):
            return self.plan.mechanism.event(source)
        allowed = zip(self.plan.attributes, map(nano_up, self.plan.budgets), strict=True)
        loss = MultiLevelDP(
            Spread(nano_up(self.plan.epsilon)), Spread(0, dict(allowed)), self.task.unit
        )
        limits = {"epsilon": plain(self.plan.epsilon), "attributes": list(self.plan.attributes)}
        return Event("multi-level-own", limits, loss, source.private)

    def payer(self, person: str) -> Payer:
        """The account of a person with the provider."""
        any_ = self.account
        return Payer(subject=person, provider=any_.provider, limit=any_.limit, renews=any_.renews)

    def draw(self, batch: Any, source: Source) -> Drawn:
        """The numbers of a batch of people, and what each of them loses."""
        batch = with_people(batch, self.person)
        for name in self.columns:
            has = name in batch.schema.names
            require(has, "batch", "another", f"with a column {name!r}")
        people = batch.column(self.person)
        offsets, held = _lists(batch, self.items)
        items = self._places(held)
        weights = self._weights(batch, offsets, items)
        if {"epsilon", "budgets"} & set(self.own):
            budgets, epsilon = self._limits(batch)
            released = self.task.release(
                offsets,
                items,
                budgets=budgets,
                epsilon=epsilon,
                weights=weights,
                source=source,
                people=lambda: names_of(people),
            )
            nano = np.array([nano_up(own) for own in epsilon.tolist()], dtype=np.int64)
            return Drawn(self._made(people, released, alike=False), nano)
        released = self.task.release_alike(
            offsets,
            items,
            plan=self.plan,
            weights=weights,
            source=source,
            people=lambda: names_of(people),
        )
        lost = amount(self.event(source))
        return Drawn(self._made(people, released), np.full(len(people), lost, dtype=np.int64))

    def absent(self, people: Any) -> Any:
        """Rows of people who have no items and set nothing themselves."""
        pa, count = arrow(), len(people)
        nothing = pa.array([[]] * count, pa.list_(pa.string()))
        limits = {
            "weights": pa.array([[]] * count, pa.list_(pa.float64())),
            "epsilon": pa.nulls(count, pa.float64()),
            "budgets": pa.array(
                [[None] * len(self.plan.attributes)] * count, pa.list_(pa.float64())
            ),
        }
        own = {column: limits[n] for n, column in zip(self.own, self.columns[2:], strict=True)}
        return pa.record_batch({self.person: people, self.items: nothing, **own})

    def _made(self, people: Any, released: ManyHistograms, *, alike: bool = True) -> Any:
        """A record batch; whole numbers where one step of an attribute is 1."""
        pa = arrow()
        steps = self.task.exposure.steps
        columns = [
            pa.array(values.astype(np.int64) if step.denominator == 1 else values)
            for values, step in zip(released.values.T, steps, strict=True)
        ]
        return pa.RecordBatch.from_arrays(
            [people, *columns],
            names=[PERSON, *released.attributes],
            metadata={
                "reticent.provider": self.account.provider,
                "reticent.private": json.dumps(released.private),
                **({"reticent.scales": self._scales} if alike else {}),
            },
        )

    @cached_property
    def _scales(self) -> str:
        """The noise scale of each attribute, the same for everybody."""
        scales = map(float, self.plan.mechanism.scales)
        return json.dumps(dict(zip(self.plan.attributes, scales, strict=True)))

    def _limits(self, batch: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """People's own limits, within what the preferences allow."""
        count, width = batch.num_rows, len(self.plan.attributes)
        budgets = np.tile([float(budget) for budget in self.plan.budgets], (count, 1))
        if "budgets" in self.own:
            cuts, rows = _lists(batch, "budgets")
            each = bool((np.diff(cuts) == width).all())  # a shorter list would move all others
            require(each, "budgets", "other lists", f"a list of {width} for each person")
            budgets = np.fmin(budgets, _numbers(rows, "budgets").reshape(count, width))
        epsilon = np.full(count, float(self.plan.epsilon))
        if "epsilon" in self.own:
            epsilon = np.fmin(epsilon, _numbers(batch.column("epsilon"), "epsilon"))
        return budgets, epsilon

    def _places(self, values: Any) -> NDArray[np.int64]:
        """Items as places in the catalogue; -1 for what it lacks."""
        pa = arrow()
        if pa.types.is_integer(values.type):
            whole = np.asarray(values.cast(pa.int64(), safe=False).fill_null(0), dtype=np.int64)
            names, places = self._numbered
            at = np.searchsorted(names, whole)
            there = (np.append(names, 0)[at] == whole) & (at < len(names))
            return np.where(there & np.asarray(values.is_valid()), np.append(places, -1)[at], -1)
        kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
        text = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
        named = pa.types.is_null(kind) or any(test(kind) for test in text)
        require(named, "items", str(kind), "lists of names: text or whole numbers")
        catalogue = pa.array(self.task.catalogue.items, pa.string())
        if pa.types.is_dictionary(values.type):
            known = compute().index_in(values.dictionary.cast(pa.string()), value_set=catalogue)
            found = known.take(values.indices)
        else:
            found = compute().index_in(values.cast(pa.string()), value_set=catalogue)
        return np.asarray(found.fill_null(-1), dtype=np.int64)

    @cached_property
    def _numbered(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The items that are named by whole numbers, sorted, and their places."""
        found = [
            (int(name), place)
            for place, name in enumerate(self.task.catalogue.items)
            if _WHOLE.fullmatch(name)
        ]
        pairs = np.array(sorted(found), dtype=np.int64).reshape(-1, 2)
        return pairs[:, 0], pairs[:, 1]

    def _weights(
        self, batch: Any, offsets: NDArray[np.int64], items: NDArray[np.int64]
    ) -> NDArray[np.float64] | None:
        """Weights of items, each person's own within those of the preferences."""
        if self.weights is None:
            return None
        allowed = np.asarray(np.where(items >= 0, self.weights[items.clip(min=0)], 0.0))
        if "weights" not in self.own:
            return allowed
        cuts, own = _lists(batch, self.own_weights)
        same = np.array_equal(cuts, offsets)
        require(same, "weights", "lists of other lengths", "lists as long as items")
        lists = np.nan_to_num(_numbers(own, "weights"), nan=0.0)
        return np.asarray(np.minimum(allowed, lists))


def _numbers(column: Any, name: str) -> NDArray[np.float64]:
    """A column of numbers; NaN where one is missing."""
    types = arrow().types
    good = types.is_floating(column.type) or types.is_integer(column.type)
    require(good or types.is_null(column.type), name, str(column.type), "a column of numbers")
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)


def _lists(batch: Any, name: str) -> tuple[NDArray[np.int64], Any]:
    """Where each person's list starts and ends, and all lists in one; a missing list is empty."""
    pa, column = arrow(), batch.column(name)
    of_lists = pa.types.is_list(column.type) or pa.types.is_large_list(column.type)
    of_lists = of_lists or pa.types.is_fixed_size_list(column.type)
    require(of_lists, name, str(column.type), "a column of lists")
    lengths = compute().list_value_length(column).fill_null(0)
    return np.concatenate([[0], np.cumsum(np.asarray(lengths, np.int64))]), column.flatten()
