"""A module that cannot even be imported without what its tier needs is left out."""

from tests.tiers import tiers_of

(SOLVERS,) = tiers_of(["solvers"])
collect_ignore = ["test_mapping_against_cvxpy.py"] if SOLVERS.missing() else []
