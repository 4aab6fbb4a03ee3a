"""Which way of choosing to take, from facts that do not depend on the data.

Theory    docs/theory/dampening.md, Theorem 2 (shifted), Theorem 3 (order), Theorem 4 (laws),
          Theorem 6 (three ways), Theorem 8 (spread)
Not here  what each way can be expected to do on given data (comparison.py).

Who picks a mechanism by looking at the private utilities has already released something.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from reticent.errors import require
from reticent.guarantees import RECORD, Unit
from reticent.mechanisms.dampening import Dampened, Shift
from reticent.mechanisms.top_dampened import TopDampened, usual_test
from reticent.rational import Number

Local: TypeAlias = Literal["none", "alike", "rises", "falls", "unknown"]
"""How a proved local sensitivity goes with the utility: there is none, it is much the same for all
candidates, it rises or falls with the utility, or nobody can say."""

_WHY: dict[Local, tuple[str, ...]] = {
    "none": (
        "without a proved local sensitivity only the global one may be used",
        "permute-and-flip is never worse than the exponential mechanism",
    ),
    "alike": (
        "a local sensitivity that all candidates share keeps the order of utilities, and scores "
        "lie further apart where it is below the global one",
        "shifting would add the same to all scores and gain nothing",
    ),
    "rises": (
        "a shift to the left favours candidates of large local sensitivity, which are the good "
        "ones: the gain can be orders of magnitude of budget",
        "shifted scores do not keep the order of utilities; a small share of the budget asks "
        "whether plain scores stand out, and takes them where they do",
    ),
    "falls": (
        "a shift to the right favours candidates of small local sensitivity, which are the good "
        "ones",
        "shifted scores do not keep the order of utilities; a small share of the budget asks "
        "whether plain scores stand out, and takes them where they do",
    ),
    "unknown": (
        "dampening can be far worse than permute-and-flip where local sensitivities go the wrong "
        "way, so permute-and-flip it is until you know",
        "compare the ways on public data of the same kind, or on made-up ones",
    ),
}
_SHIFTS: dict[Local, Shift] = {"alike": "none", "falls": "right"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """A way of choosing, by its name in ``comparison.ways``, and why."""

    way: Literal["permute-and-flip", "dampened", "adaptive"]
    shift: Shift
    why: tuple[str, ...]

    def mechanism(
        self,
        *,
        epsilon: Number,
        candidates: int,
        limit: Number,
        steps: int,
        k: int = 1,
        unit: Unit = RECORD,
    ) -> TopDampened:
        """The mechanism that is advised, for the best ``k``."""
        used = 0 if self.way == "permute-and-flip" else steps
        one = Dampened(
            epsilon=epsilon,
            candidates=candidates,
            limit=limit,
            steps=used,
            shift=self.shift,
            unit=unit,
        )
        test = usual_test(k, candidates) if self.way == "adaptive" else 0
        return TopDampened(whole=one, k=k, test=test)


def choose(*, local: Local) -> Advice:
    """Which way to take when a local sensitivity goes with the utility like this.

    >>> choose(local="rises").way
    'adaptive'
    >>> print(*choose(local="none").why, sep=chr(10))
    without a proved local sensitivity only the global one may be used
    permute-and-flip is never worse than the exponential mechanism
    """
    require(local in get_args(Local), "local", local, ", ".join(get_args(Local)))
    if local in ("none", "unknown"):
        return Advice(way="permute-and-flip", shift="left", why=_WHY[local])
    way: Literal["dampened", "adaptive"] = "dampened" if local == "alike" else "adaptive"
    return Advice(way=way, shift=_SHIFTS.get(local, "left"), why=_WHY[local])
