"""The paper's claims on these applications, each with its value, ours and a verdict.

Not here  how each is judged (claims_figures.py, claims_theory.py), decision trees.
"""

from __future__ import annotations

from collections.abc import Callable

from experiments.dampening import claims_figures as figures
from experiments.dampening import claims_theory as theory
from experiments.dampening.results import Results
from experiments.harness import Verdict


def judged(table: Results) -> list[dict[str, str]]:
    """All verdicts, in the paper's order; what is ours comes last."""
    judges: tuple[Callable[[Results], Verdict], ...] = (
        figures.savings,
        figures.savings_flip,
        figures.abstract,
        figures.flip,
        figures.larger_k,
        figures.unshifted,
        figures.never_worse,
        figures.degree,
        theory.own_degree,
        theory.own_degree_loss,
        theory.own_maximum,
        theory.bounded,
        theory.dominance,
        theory.corollary,
        theory.minimum,
        figures.percentiles,
        figures.quadratic,
        figures.adaptive,
        figures.never_far,
        figures.certain_bound,
        figures.percentile_noise,
    )
    return [judge(table).plain() for judge in judges]
