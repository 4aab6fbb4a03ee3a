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
from reticent.guarantees.average_numbers import up, up_100
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
_WIDER = "Ranges of numbers (bins) or fewer columns (public) make profiles more common"
_EASIER = "Ranges of numbers (bins), fewer columns (public) or at_least make fewer profiles"


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

    def __post_init__(self) -> None:
        _ = self.limits  # which checks them

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
            told = f"profiles change by at most {up_100(self.delta)} %"
        else:
            told = f"profiles change as little as {self._bits()} allow"
        more = [
            *(["replacing rare profiles"] if self.at_least > 1 else []),
            *([f"bounding the worst case (epsilon {self.epsilon:g})"] if self.epsilon else []),
            *(["stopping the search early"] if self.delta is None else []),
        ]
        besides = f"; {' or '.join(more)} changes more" if more else ""
        return Utility(sentence=f"{told}, on average over {TRAINING}{besides}")

    def _bits(self) -> str:
        """The limit on all secrets together, or that on each."""
        bits = [up(limit) for limit in self.leak or ()]
        if len(bits) != len(self.secrets):
            return f"{', '.join(bits)} bits about {', '.join(self.secrets)}"
        own = zip(bits, self.secrets, strict=True)
        return ", ".join(f"{limit} bits about {name}" for limit, name in own)

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

        whole, limits = data.alphabet, self.limits
        learnt = learn_mapping(
            self.fitting(whole),
            limits,
            measure=self.distance,
            columns=self.columns,
            secret=", ".join(self.secrets),
            unknown=self.unknown,
            radius=math.inf if self.radius is None else self.radius,
            progress=_shares(limits.seconds, progress),
            source=source,
        )
        self._check_found(learnt)
        learnt = replace(learnt, recoding=replace(learnt.recoding, widths=dict(self.widths)))
        elsewhere = None
        if data.others is not None:
            learnt, elsewhere = tested(learnt, *data.others)
        found = LearntMapping.of(
            learnt,
            counts=whole.counts.sum(axis=0),
            without_secret=data.without_secret,
            wide=data.wide,
            floored=self.epsilon is not None,
            certified=CERTIFIED,
            untouched_elsewhere=elsewhere,
        )
        return Release.by(self, found, source)

    def fitting(self, alphabet: Alphabet) -> Alphabet:
        """Without rare profiles; what no mapping can be learnt from is refused."""
        from reticent.optim.mapping_baselines import MOST_PERFECT
        from reticent.tasks.learning import MOST_FLOORED

        if self.at_least > 1:
            if self.at_least > alphabet.counts.sum(axis=0).max():
                rule = f"less: no profile is one of so many people. {_WIDER}"
                raise ParameterError("at_least", rule, self.at_least)
            alphabet = alphabet.at_least(self.at_least, self.distance)
        many = len(alphabet.profiles)
        if self.leak is not None and 0 in self.leak and many > MOST_PERFECT:
            rule = f"above 0, as 0.001, with more than {MOST_PERFECT} profiles. {_EASIER}"
            raise ParameterError("leak", rule, "less")
        if self.epsilon is not None and many > MOST_FLOORED:
            rule = f"left out with more than {MOST_FLOORED} profiles. {_EASIER}"
            raise ParameterError("epsilon", rule, "given")
        return alphabet

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
