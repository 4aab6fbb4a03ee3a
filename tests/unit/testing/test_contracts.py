"""The four mechanisms keep the contract, and a mutant for each check shows that it can fail."""

import pickle
from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

from reticent.errors import ParameterError
from reticent.guarantees import EDGE, Event, PureDP
from reticent.mechanisms import (
    DiscreteLaplace,
    Exponential,
    PermuteAndFlip,
    Release,
    SnappedLaplace,
    rebuild,
    verify,
)
from reticent.noise import Source, discrete_laplace
from reticent.testing import ContractBroken, check_mechanism
from reticent.testing.contract_checks import CHECKS, Subject

SNAPPED = SnappedLaplace(epsilon=1, size=3, sensitivity="0.5", lower=0, upper=10)
CASES: list[tuple[Any, dict[str, Any]]] = [
    (DiscreteLaplace(epsilon=1, size=3), {"neighbour": [1, 2, 4], "sensitivity": 1}),
    (
        SNAPPED,
        {
            "neighbour": [1, 2, 3.5],
            "sensitivity": SNAPPED.widened / SNAPPED.grid.step,
            "step": SNAPPED.grid.step,
        },
    ),
    (Exponential(epsilon=1, candidates=3, sensitivity=1), {"neighbour": [2, 1, 4]}),
    (PermuteAndFlip(epsilon=1, candidates=3, sensitivity=1), {"neighbour": [2, 1, 4]}),
]


@pytest.mark.parametrize(("mechanism", "case"), CASES, ids=lambda c: getattr(c, "name", ""))
def test_our_mechanisms_keep_the_contract(mechanism: Any, case: dict[str, Any]) -> None:
    assert len(check_mechanism(mechanism, data=[1, 2, 3], **case)) == len(CHECKS) == 20


class Unfrozen(DiscreteLaplace):
    __setattr__ = object.__setattr__


@dataclass(frozen=True, slots=True, kw_only=True)
class ByIdentity(DiscreteLaplace):
    __eq__ = object.__eq__
    __hash__ = object.__hash__


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgetful(DiscreteLaplace):
    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (1 + Fraction(self.epsilon), self.size, b"")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hoarder(DiscreteLaplace):
    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.epsilon, self.size, bytes(20_000))


def _restore(epsilon: Fraction, size: int, hoard: bytes) -> Hoarder:
    return Hoarder(epsilon=epsilon, size=size)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tupled(DiscreteLaplace):
    def parameters(self) -> dict[str, Any]:
        return {"size": (self.size,)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Misremembered(DiscreteLaplace):
    def parameters(self) -> dict[str, Any]:
        return {**DiscreteLaplace.parameters(self), "size": self.size + 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherUnit(DiscreteLaplace):
    def guarantee(self) -> PureDP:
        return PureDP.of(1, EDGE)


@dataclass(frozen=True, slots=True, kw_only=True)
class WearingOut(DiscreteLaplace):
    used: ClassVar[SimpleNamespace] = SimpleNamespace(times=0)

    def guarantee(self) -> PureDP:
        return PureDP.of(1 + self.used.times, self.unit)

    def release(self, data: Any, source: Source) -> Release[Any]:
        self.used.times += 1
        return DiscreteLaplace.release(self, data, source)


@dataclass(frozen=True, slots=True, kw_only=True)
class Undercharging(DiscreteLaplace):
    def event(self, source: Source) -> Event:
        loss = PureDP.of(Fraction(self.epsilon) / 2, self.unit)
        return Event(self.name, self.parameters(), loss, source.private)


@dataclass(frozen=True, slots=True, kw_only=True)
class Noiseless(DiscreteLaplace):
    def release(self, data: Any, source: Source) -> Release[Any]:
        return Release.by(self, np.asarray(data), source)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnSource(DiscreteLaplace):
    def release(self, data: Any, source: Source) -> Release[Any]:
        noisy = np.asarray(data) + discrete_laplace(scale=99, size=3, source=Source.system())
        return Release.by(self, noisy, source)


@dataclass(frozen=True, slots=True, kw_only=True)
class NeverPrivate(DiscreteLaplace):
    def event(self, source: Source) -> Event:
        return Event(self.name, self.parameters(), self.guarantee(), private=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlwaysPrivate(DiscreteLaplace):
    def event(self, source: Source) -> Event:
        return Event(self.name, self.parameters(), self.guarantee(), private=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Boastful(DiscreteLaplace):
    def utility(self) -> Any:
        return DiscreteLaplace.utility(self).model_copy(update={"sentence": "exact"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Credulous(DiscreteLaplace):
    def __post_init__(self) -> None:
        """Anything goes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Curt(DiscreteLaplace):
    def __post_init__(self) -> None:
        try:
            DiscreteLaplace.__post_init__(self)
        except ParameterError:
            raise ValueError("no") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling(DiscreteLaplace):
    def release(self, data: Any, source: Source) -> Release[Any]:
        made = DiscreteLaplace.release(self, data, source)
        told = Event(self.name, {"data": list(data)}, self.guarantee(), source.private)
        return Release(made.value, told, self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaining(DiscreteLaplace):
    def release(self, data: Any, source: Source) -> Release[Any]:
        if np.shape(data) != (self.size,):
            raise ParameterError("data", "shorter", data)
        return DiscreteLaplace.release(self, data, source)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scribbling(DiscreteLaplace):
    def release(self, data: Any, source: Source) -> Release[Any]:
        if isinstance(data, np.ndarray):
            data += 1
        return DiscreteLaplace.release(self, data, source)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitting(DiscreteLaplace):
    def release(self, data: Any, source: Source) -> Release[Any]:
        noise = discrete_laplace(scale=max(data), size=self.size, source=source)
        return Release.by(self, np.asarray(data) + noise, source)


@dataclass(frozen=True, slots=True, kw_only=True)
class Squeamish(DiscreteLaplace):
    def release(self, data: Any, source: Source) -> Release[Any]:
        if any(value is None for value in data):
            raise ParameterError("data", "complete", "less")
        return DiscreteLaplace.release(self, data, source)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inverted(DiscreteLaplace):
    def utility(self) -> Any:
        error = float(self.epsilon)
        return DiscreteLaplace.utility(self).model_copy(update={"mean_absolute_error": error})


MUTANTS = [
    ("frozen", Unfrozen, "anything can be assigned"),
    ("equal by value", ByIdentity, "is not equal to it"),
    ("pickles", Hoarder, "the limit is 10000"),
    ("pickles", Forgetful, "not the same after pickling"),
    ("parameters are plain", Tupled, "on its way through JSON"),
    ("can be rebuilt", Misremembered, "does not rebuild it"),
    ("names its unit", OtherUnit, "another unit"),
    ("guarantee is unchanged by use", WearingOut, "changes when the mechanism is used"),
    ("event round-trips", Undercharging, "the name and the guarantee"),
    ("draws", Noiseless, "without drawing"),
    ("same seed, same value", OwnSource, "from one seed differ"),
    ("system source is private", NeverPrivate, "stamped as not private"),
    ("seeded source is stamped", AlwaysPrivate, "is not stamped"),
    ("card verifies", Boastful, "the error is not that of the mechanism"),
    ("refuses bad parameters", Credulous, "is accepted"),
    ("refuses bad parameters", Curt, "raises ValueError instead of a ParameterError"),
    ("holds no data", Telling, "in the event"),
    ("errors hold no data", Complaining, "in the text of an error"),
    ("errors hold no data", Noiseless, "data of a wrong shape is accepted"),
    ("leaves data alone", Scribbling, "changes the data"),
    ("replays on the neighbour", Fitting, "primitive: discrete_laplace(scale=3"),
    ("replays on poison", Squeamish, "None at 0: one returns, the other raises ParameterError"),
    ("less epsilon is more private", Inverted, "smaller mean_absolute_error"),
]


@pytest.mark.parametrize(("check", "mutant", "message"), MUTANTS, ids=lambda x: str(x)[:40])
def test_each_check_can_fail(check: str, mutant: type[DiscreteLaplace], message: str) -> None:
    subject = Subject(
        mechanism=mutant(epsilon=Fraction(1), size=3),
        data=[1, 2, 3],
        neighbour=[1, 2, 4],
        sensitivity=1,
        step=1,
        rebuild=rebuild,
        verify=verify,
    )
    problems = list(CHECKS[check](subject))
    assert any(message in problem for problem in problems), problems


def test_every_check_has_a_mutant() -> None:
    assert {check for check, _, _ in MUTANTS} == set(CHECKS)


def test_a_broken_contract_names_the_check() -> None:
    with pytest.raises(ContractBroken, match="equal by value: a mechanism") as caught:
        check_mechanism(ByIdentity(epsilon=1, size=3), data=[1, 2, 3], neighbour=[1, 2, 4])
    assert caught.value.check == "equal by value"
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
