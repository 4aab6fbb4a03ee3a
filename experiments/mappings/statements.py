"""The paper's claims, each with its value, ours and a verdict, in the paper's order.

Not here  how each is judged (claims_method.py, claims_data.py).
"""

from __future__ import annotations

from collections.abc import Callable

from experiments.harness import Verdict
from experiments.mappings import claims_data as data
from experiments.mappings import claims_method as method
from experiments.mappings.results import Results


def judged(table: Results) -> list[dict[str, str]]:
    """All verdicts that the rows allow."""
    judges: tuple[Callable[[Results], Verdict], ...] = (
        method.near_optimal,
        method.near_on_example,
        method.small_distortion,
        method.more_steps,
        method.sparse,
        method.gradient,
        method.start,
        method.falls,
        method.rate,
        method.entries,
        data.half_a_unit,
        data.census_distortion,
        data.eight_times,
        data.much_better,
        data.films,
        data.perfect,
        data.bounded,
        data.roc_small,
        data.roc_middle,
        data.roc_large,
        data.roc_films,
        data.agnostic,
        method.same_for_all,
        method.personal,
        data.threats,
        data.largest_cut,
        data.country,
        data.together,
        method.linear,
        method.scales,
        method.quick_peer,
        method.tens_of_thousands,
        method.supports,
        data.for_users,
    )
    return [judge(table).plain() for judge in judges]
