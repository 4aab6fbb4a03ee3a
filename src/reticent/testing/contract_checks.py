"""The checks of the contract, one function each: what a mechanism says of itself must be so.

Theory    docs/theory/auditing.md, "Contracts"; docs/theory/guarantees.md, Definition 4
Not here  running them (contracts.py).

A check yields what is wrong, in words. None of them knows which mechanism it looks at.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date
from fractions import Fraction
from typing import Any

import numpy as np

from reticent.amounts import NANO
from reticent.errors import ParameterError
from reticent.guarantees import DPLoss, Event, MutualInformation, Unit, canonical
from reticent.guarantees.card import Card, Scope
from reticent.mechanisms import Mechanism, Release
from reticent.noise import Source
from reticent.rational import Number
from reticent.testing.replay import replay, replay_poison

SMALL = 10_000
"""Bytes that a pickled mechanism may take: it holds parameters, never data."""

POSITIVE = frozenset({"candidates", "coordinates", "epsilon", "scale", "sensitivity", "size"})
"""Parameters that must refuse zero and negative numbers."""

_NEVER: tuple[object, ...] = (
    float("nan"),
    float("inf"),
    float("-inf"),
    "seven",
    "1e999",
    True,
    [1],
    1 + 2j,
    object(),
)
_CANARY = 48_611_048_611


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A mechanism with data to try it on."""

    mechanism: Mechanism[Any]
    data: Sequence[float]
    neighbour: Sequence[float]
    sensitivity: Number | None
    step: Number
    rebuild: Callable[[Event], Mechanism[Any]]
    verify: Callable[[Card], list[str]]

    def release(self, *, seed: int | None = None) -> Release[Any]:
        """One release of the data; private unless a seed is given."""
        source = Source.system() if seed is None else Source.seeded(seed)
        return self.mechanism.release(list(self.data), source)

    def card(self, release: Release[Any]) -> Card:
        """The card of a release."""
        scope = Scope(protected="test data", not_against=("nobody",), model="central")
        return release.card("Contract", scope=scope, made=date(2000, 1, 1))

    def numeric(self) -> list[str]:
        """Names of the numeric parameters."""
        return [
            name
            for name, value in self.values().items()
            if isinstance(value, (int, float, Fraction)) and not isinstance(value, bool)
        ]

    def values(self) -> dict[str, Any]:
        """Parameters as the mechanism holds them."""
        mechanism: Any = self.mechanism
        return {field.name: getattr(mechanism, field.name) for field in fields(mechanism)}

    def with_parameters(self, **changes: object) -> Mechanism[Any]:
        """The same mechanism with other parameters."""
        mechanism: Any = self.mechanism
        changed: Mechanism[Any] = replace(mechanism, **changes)
        return changed


def _frozen(subject: Subject) -> Iterator[str]:
    for name in [*subject.values(), "anything"]:
        try:
            setattr(subject.mechanism, name, None)
        except (AttributeError, TypeError):
            continue
        yield f"{name} can be assigned"


def _equal_by_value(subject: Subject) -> Iterator[str]:
    twin = subject.with_parameters()
    if twin != subject.mechanism or hash(twin) != hash(subject.mechanism):
        yield "a mechanism with the same parameters is not equal to it, or hashes differently"


def _pickles(subject: Subject) -> Iterator[str]:
    packed = pickle.dumps(subject.mechanism)
    if pickle.loads(packed) != subject.mechanism:  # noqa: S301, made one line above
        yield "it is not the same after pickling"
    if len(packed) >= SMALL:
        yield f"pickled it takes {len(packed)} bytes, the limit is {SMALL}"


def _parameters_are_plain(subject: Subject) -> Iterator[str]:
    parameters = subject.mechanism.parameters()
    if json.loads(canonical(parameters)) != parameters:
        yield "parameters() changes on its way through JSON"


def _can_be_rebuilt(subject: Subject) -> Iterator[str]:
    if subject.rebuild(subject.release(seed=1).event) != subject.mechanism:
        yield "its event does not rebuild it"


def _names_its_unit(subject: Subject) -> Iterator[str]:
    loss = subject.mechanism.guarantee()
    if not isinstance(loss, DPLoss):
        return
    if loss.unit != getattr(subject.mechanism, "unit", loss.unit):
        yield "the guarantee is about another unit than the mechanism"
    if loss.overall <= 0:
        yield "the guarantee promises that nothing at all is lost"


def _guarantee_is_unchanged_by_use(subject: Subject) -> Iterator[str]:
    before = subject.mechanism.guarantee()
    for seed in range(3):
        subject.release(seed=seed)
    if subject.mechanism.guarantee() != before:
        yield "guarantee() changes when the mechanism is used"


def _event_round_trips(subject: Subject) -> Iterator[str]:
    event = subject.release(seed=1).event
    if Event.from_json(event.to_json()) != event:
        yield "the event changes on its way through JSON"
    if (event.mechanism, event.loss) != (subject.mechanism.name, subject.mechanism.guarantee()):
        yield "the event does not carry the name and the guarantee of its mechanism"


def _same_seed_same_value(subject: Subject) -> Iterator[str]:
    if not _same(subject.release(seed=5).value, subject.release(seed=5).value):
        yield "two releases from one seed differ"


def _system_source_is_private(subject: Subject) -> Iterator[str]:
    if not subject.release().event.private:
        yield "a release from the system source is stamped as not private"


def _seeded_source_is_stamped(subject: Subject) -> Iterator[str]:
    if subject.release(seed=5).event.private:
        yield "a release from a seeded source is not stamped"


def _card_verifies(subject: Subject) -> Iterator[str]:
    for seed in (None, 5):
        card = subject.card(subject.release(seed=seed))
        yield from subject.verify(card)
        if Card.from_json(card.to_json()) != card:
            yield "the card changes on its way through JSON"


def _refuses_bad_parameters(subject: Subject) -> Iterator[str]:
    for name in subject.numeric():
        for value in _NEVER:
            yield from _refusal(subject, name, value, must=True)
        for value in (0, -1, Fraction(-1, 3), -0.0):
            yield from _refusal(subject, name, value, must=name in POSITIVE)
    units = [name for name, value in subject.values().items() if isinstance(value, Unit)]
    for name in units:
        yield from _refusal(subject, name, "record", must=True)


def _refusal(subject: Subject, name: str, value: object, *, must: bool) -> Iterator[str]:
    """Complain unless the value is refused, by its name, in the one form of a parameter error."""
    names = {name} if must else subject.values().keys()
    try:
        subject.with_parameters(**{name: value})
    except ParameterError as error:
        if error.name not in names or not str(error).startswith(f"{error.name} must be "):
            yield f"{name}={value!r} is refused with the message {str(error)!r}"
    except Exception as error:  # anything but a ParameterError breaks the contract
        yield f"{name}={value!r} raises {type(error).__name__} instead of a ParameterError"
    else:
        if must:
            yield f"{name}={value!r} is accepted"


def _holds_no_data(subject: Subject) -> Iterator[str]:
    canaries = [_CANARY] * len(subject.data)
    release = subject.mechanism.release(canaries, Source.seeded(3))
    seen = {
        "repr of the mechanism": repr(subject.mechanism),
        "event": release.event.to_json(),
        "card": subject.card(release).to_json(),
    }
    for where, text in seen.items():
        if str(_CANARY) in text:
            yield f"a private value is in the {where}"


def _errors_hold_no_data(subject: Subject) -> Iterator[str]:
    longer = len(subject.data) + 1
    for wrong in ([], [_CANARY] * longer, _CANARY, [[_CANARY]] * longer):
        try:
            subject.mechanism.release(wrong, Source.seeded(3))
        except ParameterError as error:
            if str(_CANARY) in f"{error} {error.__cause__} {vars(error)}":
                yield "a private value is in the text of an error"
        except Exception as error:  # anything but a ParameterError breaks the contract
            yield f"data of a wrong shape raises {type(error).__name__}"
        else:
            yield "data of a wrong shape is accepted"


def _leaves_data_alone(subject: Subject) -> Iterator[str]:
    data = np.array(subject.data, dtype=np.float64)
    kept = data.copy()
    subject.mechanism.release(data, Source.seeded(3))
    if not np.array_equal(data, kept):
        yield "release() changes the data it was given"


def _replays_on_the_neighbour(subject: Subject) -> Iterator[str]:
    loss = subject.mechanism.guarantee()
    claim = Fraction(loss.overall, NANO) if isinstance(loss, DPLoss) else None
    for seed in range(8):
        yield from replay(
            subject.mechanism.release,
            list(subject.data),
            list(subject.neighbour),
            seed=seed,
            sensitivity=subject.sensitivity,
            step=subject.step,
            claim=claim,
        ).divergences


def _replays_on_poison(subject: Subject) -> Iterator[str]:
    size = len(subject.data)
    for data in (list(subject.data), [True] * size, [2**53 + 1] * size, [0.5] * size):
        yield from replay_poison(subject.mechanism.release, data).divergences


def _draws(subject: Subject) -> Iterator[str]:
    recorded = replay(subject.mechanism.release, list(subject.data), list(subject.data))
    if not recorded.calls:
        yield "it releases without drawing from the source"


def _less_epsilon_is_more_private(subject: Subject) -> Iterator[str]:
    epsilon = subject.values().get("epsilon")
    if epsilon is None:
        return
    weaker, stronger = (subject.with_parameters(epsilon=epsilon * f) for f in (1, Fraction(1, 2)))
    if _loss(stronger) > _loss(weaker):
        yield "half the epsilon loses more"
    for measure in ("mean_absolute_error", "within_95"):
        before, after = (getattr(m.utility(), measure) for m in (weaker, stronger))
        if before is not None and after is not None and after < before:
            yield f"half the epsilon has a smaller {measure}"


def _loss(mechanism: Mechanism[Any]) -> float:
    loss = mechanism.guarantee()
    if isinstance(loss, DPLoss):
        return loss.overall
    return loss.bits if isinstance(loss, MutualInformation) else 0.0


def _same(a: object, b: object) -> bool:
    return type(a) is type(b) and bool(np.array_equal(np.asarray(a), np.asarray(b)))


CHECKS: dict[str, Callable[[Subject], Iterator[str]]] = {
    "frozen": _frozen,
    "equal by value": _equal_by_value,
    "pickles": _pickles,
    "parameters are plain": _parameters_are_plain,
    "can be rebuilt": _can_be_rebuilt,
    "names its unit": _names_its_unit,
    "guarantee is unchanged by use": _guarantee_is_unchanged_by_use,
    "event round-trips": _event_round_trips,
    "draws": _draws,
    "same seed, same value": _same_seed_same_value,
    "system source is private": _system_source_is_private,
    "seeded source is stamped": _seeded_source_is_stamped,
    "card verifies": _card_verifies,
    "refuses bad parameters": _refuses_bad_parameters,
    "holds no data": _holds_no_data,
    "errors hold no data": _errors_hold_no_data,
    "leaves data alone": _leaves_data_alone,
    "replays on the neighbour": _replays_on_the_neighbour,
    "replays on poison": _replays_on_poison,
    "less epsilon is more private": _less_epsilon_is_more_private,
}
"""Every check by its name, in the order in which they run."""
