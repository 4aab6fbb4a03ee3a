"""Attack a mechanism of your own: an audit, exact verification, the contract, and a control."""

# %% A count with noise, and a careless twin whose noise is a fifth too small
from fractions import Fraction

from reticent import DiscreteLaplace, Source
from reticent.noise import discrete_laplace
from reticent.testing import Pair, audit_epsilon, check_mechanism, verify_law

source = Source.system()
CLAIM = 1


def noisy(count, scale):
    """Many draws of the same release."""
    return lambda size: count + discrete_laplace(scale=scale, size=size, source=source)


# %% Audit: draw from two neighbours; how large must epsilon be at least?
for name, scale in (("as it should be", Fraction(1)), ("a fifth too small", Fraction(4, 5))):
    found = audit_epsilon(noisy(7, scale), noisy(8, scale), samples=200_000, claim=CLAIM)
    verdict = "refuted" if found.violated else "not refuted"
    print(f"{name}: epsilon is at least {found.bound:.2f}, a claim of {CLAIM} is {verdict}")


# %% Verify: with the law as a table of fractions the worst case is exact, without statistics
def response(answer):
    """Of four answers the true one with chance 1/2, each other one with chance 1/6."""
    return {one: Fraction(1, 2) if one == answer else Fraction(1, 6) for one in range(4)}


pairs = [Pair(a, b) for a in range(4) for b in range(4) if a != b]
for claim in ("1.1", "1.0"):  # it loses ln 3 = 1.0986...
    print(f"a claim of {claim} holds:", verify_law(response, pairs, claim=claim).holds)

# %% The contract that all mechanisms here go through: 20 checks of what one says of itself
mechanism = DiscreteLaplace(epsilon=1, size=2)
passed = check_mechanism(mechanism, data=[3, 4], neighbour=[3, 5], sensitivity=1)
print(len(passed), "checks passed:", ", ".join(passed[:4]), "...")
