"""A search for a mapping as a mechanism: public options, and no promise to training people.

Theory    docs/theory/mapping.md, Theorem 2 (certificate), Theorem 8 (least distortion)
Not here  the search itself (learning.py), whom it learns from (training.py), what it found
          (learnt_mapping.py), the promise to people who are released (mechanisms/mapping.py).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from reticent.errors import ParameterError
from reticent.guarantees import Unprotected
from reticent.guarantees.average_numbers import near_100, up
from reticent.guarantees.card import Evidence, How, Utility
from reticent.mechanisms.base import Mechanism, Release
from reticent.tasks.learnt_mapping import LearntMapping
from reticent.tasks.recoding import Alphabet, Measure, Unknown

if TYPE_CHECKING:
    from reticent.noise import Source
    from reticent.optim.mapping import Step
    from reticent.tasks.learning import Learnt, Limits
    from reticent.tasks.training import Training

TRAINING = "the people it is learnt from"
CERTIFIED = 1e-3  # of what untouched profiles tell: the gap that a search is asked for
_EASIER = "ranges of numbers (bins), fewer columns (public) or at_least make it easier"


@dataclass(frozen=True, slots=True, kw_only=True)
class MappingSearch(Mechanism[LearntMapping]):
    """Which mapping is looked for, in which columns, and for how long.

    ``leak`` limits the secrets together, or each of them in their order. ``columns`` is None as
    long as they are not known: all that are not secret. ``measure`` says how far profiles are
    apart: "hamming" by differing columns and their weights, or "squared".
    """

    name: ClassVar[str] = "mapping-search"
    secrets: tuple[str, ...]
    columns: tuple[str, ...] | None = None
    delta: float | None = None
    leak: tuple[float, ...] | None = None
    epsilon: float | None = None
    measure: str = "hamming"
    weights: tuple[tuple[str, float], ...] = ()
    widths: tuple[tuple[str, float], ...] = ()
    at_least: int = 1
    unknown: Unknown = "nearest"
    radius: float | None = None
    held_out: float = 0.0
    seconds: float | None = 300.0

    def guarantee(self) -> Unprotected:
        """None to training people: their counts are used as they are."""
        return Unprotected(TRAINING)

    def parameters(self) -> dict[str, Any]:
        """See ``Mechanism``."""
        told = asdict(self)
        for name in ("secrets", "columns", "leak"):
            told[name] = None if told[name] is None else list(told[name])
        return told | {name: dict(told[name]) for name in ("weights", "widths")}

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> Self:
        """See ``Mechanism``."""
        told = dict(parameters)
        for name in ("secrets", "columns", "leak"):
            told[name] = None if told[name] is None else tuple(told[name])
        return cls(**told | {name: tuple(told[name].items()) for name in ("weights", "widths")})

    @property
    def distance(self) -> Measure:
        """How far profiles are apart."""
        heavy, kind = dict(self.weights), self.measure
        own = tuple(heavy.get(name, 1.0) for name in self.columns or ())
        return Measure(kind, own if heavy else None)  # type: ignore[arg-type]  # it is checked

    @property
    def limits(self) -> Limits:
        """What a search has to keep."""
        from reticent.tasks.learning import Limits

        return Limits(
            self.delta,
            self.leak if self.leak is None or len(self.leak) > 1 else self.leak[0],
            self.epsilon,
            CERTIFIED,
            math.inf if self.seconds is None else self.seconds,
        )

    def utility(self) -> Utility:
        """What was asked for: what is reached, only the answer tells."""
        if self.delta is not None:
            told = f"profiles change by at most {near_100(self.delta)} %, on average"
        else:
            bits = ", ".join(map(up, self.leak or ()))
            told = f"profiles change as little as {bits} bits about the secret allow, on average"
        return Utility(sentence=f"{told} over {TRAINING}")

    def how(self) -> How:
        """That there is no noise."""
        return How(
            sensitivity="not bounded: counts of people are used without noise",
            bounds="none",
            floating_point="the mapping's own chances are whole numbers of 2**-62",
        )

    def evidence(self) -> Evidence:
        """What is proved is that no mapping is better by much, and nothing about people."""
        return Evidence(theorem="none: nothing is promised", assumptions=())

    def release(
        self,
        data: Training,
        source: Source,
        progress: Callable[[float], object] = lambda share: None,
    ) -> Release[LearntMapping]:
        """The mapping that was found; a search that is interrupted gives its best so far."""
        from reticent.tasks.learning import learn_mapping
        from reticent.tasks.learnt_mapping import tested

        alphabet = Alphabet.of(data.profiles, data.secrets)
        held = alphabet.counts.sum(axis=0)
        if self.at_least > held.max():
            rule = f"less: no profile is one of so many people. {_EASIER}"
            raise ParameterError("at_least", rule, self.at_least)
        measure, limits = self.distance, self.limits
        if self.at_least > 1:
            alphabet = alphabet.at_least(self.at_least, measure)
        try:
            learnt = learn_mapping(
                alphabet,
                limits,
                measure=measure,
                columns=self.columns,
                secret=", ".join(self.secrets),
                unknown=self.unknown,
                radius=math.inf if self.radius is None else self.radius,
                progress=_shares(limits.seconds, progress),
                source=source,
            )
        except ParameterError as error:
            name = "leak" if error.name == "leak_bits" else error.name
            raise ParameterError(name, error.rule, error.value) from None
        self._check_found(learnt)
        learnt = replace(learnt, recoding=replace(learnt.recoding, widths=dict(self.widths)))
        elsewhere = None
        if data.others is not None:
            learnt, elsewhere = tested(learnt, *data.others)
        found = LearntMapping.of(
            learnt,
            counts=held,
            without_secret=data.without_secret,
            wide=data.wide,
            floored=self.epsilon is not None,
            certified=CERTIFIED,
            untouched_elsewhere=elsewhere,
        )
        return Release.by(self, found, source)

    def _check_found(self, learnt: Learnt) -> None:
        """Refuse, when time was short, profiles as they are or one for everybody."""
        if learnt.finished:
            return
        channel = learnt.solution.channel
        if channel.support.max() == 1 and learnt.distortion == 0:
            what = "nothing better was found yet than the profiles themselves"
        elif self.delta is None and (channel.outs == channel.outs[0]).all():
            what = "nothing better was found yet than releasing everybody as one and the same"
        else:
            return
        raise ParameterError("seconds", f"more: {what}. {_EASIER}", self.seconds)


def _shares(seconds: float, progress: Callable[[float], object]) -> Callable[[Step], None]:
    """The time that is over, as a share of what the search may take."""
    began = time.monotonic()

    def tell(step: Step) -> None:
        progress(min((time.monotonic() - began) / max(seconds, 1e-9), 1.0))

    return tell
