"""The stretching mechanism: per-item weights by shrinking what each item can contribute.

Theory    docs/theory/stretching.md, Theorem 1 (items), Theorem 2 (weights), Theorem 3 (error);
          [AlagganEtAl2016], with its Theorem 3 and Corollary 2 corrected
Notation  eps = epsilon, v_i = weight, S = sensitivity, b = S / eps
Not here  the functions and their factors (modular.py), the sampler (noise/laplace.py).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from reticent.amounts import nano_up, show_up
from reticent.errors import ParameterError, require
from reticent.guarantees import ITEM, PerItemDP, Spread, Unit, plain
from reticent.guarantees.card import Evidence, How, Utility
from reticent.mechanisms.base import Mechanism, Release
from reticent.mechanisms.modular import Modular, WeightedProfile, stretchable
from reticent.noise import LARGEST_SCALE, Source, discrete_laplace
from reticent.rational import Number, budget


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretching(Mechanism[float]):
    """Release f of weighted profiles; item i of a profile loses at most epsilon times its weight.

    >>> from reticent.mechanisms import InnerProduct, Stretching, WeightedProfile
    >>> from reticent.noise import Source
    >>> mechanism = Stretching(epsilon=1, function=InnerProduct())
    >>> ann = WeightedProfile.of([1, 1, 0], weights=[1, 0, 1])
    >>> bob = WeightedProfile.of([1, 1, 1], weights=[1, 1, 1])
    >>> type(mechanism.release([ann, bob], Source.system()).value)
    <class 'float'>
    """

    name: ClassVar[str] = "stretching"
    epsilon: Number
    function: Modular
    unit: ClassVar[Unit] = ITEM

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", budget(self.epsilon, "epsilon"))
        require(isinstance(self.function, Modular), "function", self.function, "a Modular function")
        least = self.function.sensitivity / self.function.step / Fraction(LARGEST_SCALE)
        fits = Fraction(self.epsilon) >= least
        require(fits, "epsilon", self.epsilon, f"at least {float(least):.3g} for this function")

    @property
    def scale(self) -> Fraction:
        """Scale b of the noise, exact."""
        return self.function.sensitivity / Fraction(self.epsilon)

    def guarantee(self) -> PerItemDP:
        """Theorem 1 for an item of weight 1; others lose in proportion to their weight."""
        return PerItemDP(Spread(nano_up(self.function.sensitivity / self.scale)))

    def guarantee_for(self, weights: Mapping[str, Number], *, default: Number) -> PerItemDP:
        """Theorem 1: item i loses eps v_i. For the owner of the weights, who alone may know it."""
        return PerItemDP.of(self.function.sensitivity / self.scale, weights, default=default)

    def parameters(self) -> dict[str, Any]:
        """Public parameters as plain data."""
        return {
            "epsilon": plain(Fraction(self.epsilon)),
            "function": self.function.name,
            **self.function.parameters(),
        }

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> Self:
        """The mechanism with these ``parameters()``; a user function cannot be made from data."""
        rest = {k: v for k, v in parameters.items() if k not in ("epsilon", "function")}
        function = stretchable(parameters["function"], **rest)
        return cls(epsilon=parameters["epsilon"], function=function)

    def utility(self) -> Utility:
        """Theorem 3 at bias 0: P[|Z| > k] <= exp(-k / b)."""
        scale = float(self.scale)
        within = scale * math.log(20)
        return Utility(
            sentence=f"within {show_up(within)} of the weighted value, 95 times in 100",
            mean_absolute_error=scale,
            within_95=within,
            bias="items below weight 1 count for less",
        )

    def tail(self, bias: float, within: float) -> float:
        """P[|released - f(d)| > within] when stretching moved f by ``bias``. Theorem 3.

        Exact for |bias| <= within: exp(-within / b) cosh(bias / b).
        """
        require(0 <= abs(bias) <= within, "within", within, f"at least |bias|, {abs(bias)}")
        b = float(self.scale)
        return (math.exp((bias - within) / b) + math.exp((-bias - within) / b)) / 2

    def how(self) -> How:
        """Sensitivity, bounds and floating-point measure."""
        return How(
            sensitivity=(
                f"an item of weight v moves the {self.function.name} by at most v times "
                f"{self.function.sensitivity}"
            ),
            bounds="values and weights are clamped to [0, 1]; what is no number counts as 0",
            floating_point=f"integers times {self.function.step}; the noise law is exact",
        )

    def evidence(self) -> Evidence:
        """Theorem and assumptions."""
        return Evidence(
            theorem="docs/theory/stretching.md, Theorem 1",
            assumptions=(
                "whoever computes the function sees the raw profiles and is trusted",
                "AES-256 is not broken",
            ),
        )

    def release(self, data: Sequence[WeightedProfile], source: Source) -> Release[float]:
        """F of the stretched profiles plus noise."""
        profiles = tuple(data)
        if len(profiles) != self.function.people:
            raise ParameterError(
                "data", f"{self.function.people} weighted profiles", f"{len(profiles)} of them"
            )
        units = self.function.evaluate(*profiles)
        noise = discrete_laplace(scale=self.scale / self.function.step, source=source)
        value = float((units + int(noise)) * self.function.step)
        return Release.by(self, value, source)
