"""Tools that attack a guarantee: for our mechanisms and for yours.

statistics   goodness of fit with proven power          closed_forms  the laws compared with
law          the noise proof as a program               close_calls   coins and selections at a tie
audit        a lower bound on epsilon from outputs      exact         the largest loss on tiny data
replay       equal bits on neighbours: what moves       contracts     what every mechanism must keep
faults       planted faults that the tools must catch   sources       scripted and recording sources
cases        a mechanism on a small world, enumerated   searched      ... or the worst pair, audited
leaks        what a mapping tells, in exact fractions   neighbourhoods  who neighbours whom
"""

from reticent.testing.audit import Audit, ItemAudits, audit_epsilon, audit_items
from reticent.testing.cases import Case, Part, verify_case, work_of
from reticent.testing.close_calls import (
    coin_disagreements,
    exponential_disagreements,
    permute_and_flip_disagreements,
)
from reticent.testing.closed_forms import (
    as_pmf,
    discrete_laplace_cdf,
    discrete_laplace_law,
    discrete_laplace_pmf,
    exponential_law,
    permute_and_flip_law,
)
from reticent.testing.contracts import ContractBroken, check_mechanism
from reticent.testing.exact import (
    Pair,
    Verification,
    Witness,
    add_remove_pairs,
    databases,
    profile_pairs,
    substitute_pairs,
    verify_law,
)
from reticent.testing.faults import FAULTS, Fault
from reticent.testing.law import (
    LOG_RATIO_LIMIT,
    LawBroken,
    fast_path_disagreements,
    log_error,
    log_ratio_error,
)
from reticent.testing.leaks import Figure, verify_leak
from reticent.testing.local_laws import Utilities
from reticent.testing.mechanism_laws import law_of
from reticent.testing.neighbourhoods import local_sensitivities
from reticent.testing.replay import POISON, Replay, poisoned, replay, replay_poison
from reticent.testing.searched import Searched, audit_world
from reticent.testing.sources import Call, RecordingSource, ScriptedSource
from reticent.testing.statistics import (
    Fit,
    Power,
    check_scale,
    chi_square,
    chi_square_quantiles,
    kolmogorov,
    two_sample_chi_square,
)

__all__ = [
    "FAULTS",
    "LOG_RATIO_LIMIT",
    "POISON",
    "Audit",
    "Call",
    "Case",
    "ContractBroken",
    "Fault",
    "Figure",
    "Fit",
    "ItemAudits",
    "LawBroken",
    "Pair",
    "Part",
    "Power",
    "RecordingSource",
    "Replay",
    "ScriptedSource",
    "Searched",
    "Utilities",
    "Verification",
    "Witness",
    "add_remove_pairs",
    "as_pmf",
    "audit_epsilon",
    "audit_items",
    "audit_world",
    "check_mechanism",
    "check_scale",
    "chi_square",
    "chi_square_quantiles",
    "coin_disagreements",
    "databases",
    "discrete_laplace_cdf",
    "discrete_laplace_law",
    "discrete_laplace_pmf",
    "exponential_disagreements",
    "exponential_law",
    "fast_path_disagreements",
    "kolmogorov",
    "law_of",
    "local_sensitivities",
    "log_error",
    "log_ratio_error",
    "permute_and_flip_disagreements",
    "permute_and_flip_law",
    "poisoned",
    "profile_pairs",
    "replay",
    "replay_poison",
    "substitute_pairs",
    "two_sample_chi_square",
    "verify_case",
    "verify_law",
    "verify_leak",
    "work_of",
]
