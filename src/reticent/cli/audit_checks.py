"""The four checks of ``reticent audit noise``, each beside a control that must be flagged.

Not here  the tools (testing/); printing (audit.py).

The control is the same check on noise that is 2 % too small. A check whose control goes unnoticed
has shown nothing and counts as failed. Draws come from the operating system, so a sound
installation is called unsound about twice in a million runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.mechanisms import DiscreteLaplace
from reticent.noise import Source, discrete_laplace
from reticent.testing.audit import Audit, audit_epsilon
from reticent.testing.closed_forms import discrete_laplace_pmf
from reticent.testing.law import (
    LOG_RATIO_LIMIT,
    LawBroken,
    fast_path_disagreements,
    log_ratio_error,
)
from reticent.testing.statistics import ACCEPT_ABOVE, check_scale

if TYPE_CHECKING:
    from numpy.typing import NDArray

THIN = Fraction(98, 100)
_CONFIDENCE = 1 - 1e-6
_SCALES = (Fraction(1, 2), Fraction(1), Fraction(37, 10), Fraction(10), Fraction(100))
_CLAIM = Fraction(1)


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check saw of the noise, and what it saw of the control."""

    check: str
    sound: bool
    result: str
    control_flagged: bool
    control: str

    @property
    def passed(self) -> bool:
        """Whether the noise is sound and the control was flagged."""
        return self.sound and self.control_flagged

    def cells(self) -> tuple[str, str, str]:
        """As a row of a table."""
        verdict = "ok" if self.sound else "FAILED"
        noticed = "flagged" if self.control_flagged else "NOT FLAGGED"
        return self.check, f"{verdict}: {self.result}", f"{noticed}: {self.control}"


def law_at_every_magnitude(quick: bool) -> Finding:
    """Where the sampler really steps, down to 2**-64, against where its law does."""
    scales = _scales(quick)
    try:
        worst = max(log_ratio_error(scale, sampler=discrete_laplace) for scale in scales)
        bits = math.floor(math.log2(worst)) if worst else -999
        sound, result = worst <= LOG_RATIO_LIMIT, f"ratios of chances are right to 2**{bits + 1}"
    except LawBroken:
        sound, result = False, "the sampler steps where its law does not"
    return Finding("law at every magnitude", sound, result, *_law_control(scales[0]))


def fast_path(quick: bool) -> Finding:
    """Double precision against 70 digits, on words around every step."""
    scales = _scales(quick)
    wrong = sum(fast_path_disagreements(scale, sampler=discrete_laplace) for scale in scales)
    noticed = fast_path_disagreements(scales[0], sampler=thin_laplace)
    return Finding(
        "fast path",
        wrong == 0,
        f"{wrong} words decided wrongly at {len(scales)} scales",
        noticed > 0,
        f"{noticed} words decided wrongly",
    )


def goodness_of_fit(quick: bool) -> Finding:
    """Chi-square of drawn noise against its law, and against laws 2 % away from it."""
    size, scale = (2_000_000 if quick else 8_000_000), Fraction(3)
    power = check_scale(_drawn(scale, size), discrete_laplace_pmf, scale, off=1 - THIN)
    thin = check_scale(_drawn(scale * THIN, size), discrete_laplace_pmf, scale, off=1 - THIN)
    return Finding(
        "goodness of fit",
        power.passed,
        f"{size:,} draws, p = {power.right.p_value:.2g}; 2 % off, p = {power.wrong.p_value:.2g}",
        thin.right.p_value <= ACCEPT_ABOVE,
        f"p = {thin.right.p_value:.2g}",
    )


def split_sample_audit(quick: bool) -> Finding:
    """The epsilon that an attacker can prove from outputs, against the claim."""
    samples = 4_000_000 if quick else 8_000_000
    sound, thin = _audit(_CLAIM, samples), _audit(_CLAIM / THIN, samples)
    return Finding(
        "audit of DiscreteLaplace",
        not sound.violated,
        f"{samples:,} draws: ε at least {sound.bound:.4f}, claimed {float(_CLAIM):g}",
        thin.violated,
        f"ε at least {thin.bound:.4f}, claimed {float(_CLAIM):g}",
    )


CHECKS: dict[str, Callable[[bool], Finding]] = {
    "law at every magnitude": law_at_every_magnitude,
    "fast path": fast_path,
    "goodness of fit": goodness_of_fit,
    "audit of DiscreteLaplace": split_sample_audit,
}


def _scales(quick: bool) -> tuple[Fraction, ...]:
    return _SCALES[1:3] if quick else _SCALES


def _law_control(scale: Fraction) -> tuple[bool, str]:
    try:
        log_ratio_error(scale, sampler=thin_laplace)
    except LawBroken:
        return True, "it steps where its law does not"
    return False, "its steps were not told from those of the law"


def thin_laplace(*, scale: Fraction, **others: Any) -> Any:
    """The control: noise that is 2 % too small."""
    return discrete_laplace(scale=scale * THIN, **others)


def _drawn(scale: Fraction, size: int) -> NDArray[np.int64]:
    return discrete_laplace(scale=scale, size=size, source=Source.system())


def _audit(epsilon: Fraction, samples: int) -> Audit:
    """Audit noise made for ``epsilon`` against the claim."""

    def draws(count: int) -> Callable[[int], NDArray[np.int64]]:
        def draw(n: int) -> NDArray[np.int64]:
            mechanism = DiscreteLaplace(epsilon=epsilon, size=n)
            return mechanism.release(np.full(n, count), Source.system()).value

        return draw

    return audit_epsilon(draws(0), draws(1), samples=samples, claim=_CLAIM, confidence=_CONFIDENCE)
