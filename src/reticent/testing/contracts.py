"""The contract that every mechanism goes through: name it, and it is tested.

Theory    docs/theory/auditing.md, "Contracts"; docs/theory/guarantees.md, Definition 4
Not here  the checks one by one (contract_checks.py); the law of the noise (law.py, statistics.py)
          and the size of the loss (exact.py, audit.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from reticent.errors import ReticentError
from reticent.guarantees import Event
from reticent.guarantees.card import Card
from reticent.mechanisms import Mechanism, rebuild, verify
from reticent.rational import Number
from reticent.testing.contract_checks import CHECKS, Subject


class ContractBroken(ReticentError):
    """A mechanism does not keep the contract; ``check`` names which part of it."""

    def __init__(self, check: str, what: str) -> None:
        self.check, self.what = check, what
        super().__init__(f"{check}: {what}")

    def __reduce__(self) -> tuple[type[ContractBroken], tuple[str, str]]:
        return ContractBroken, (self.check, self.what)


def check_mechanism(
    mechanism: Mechanism[Any],
    *,
    data: Sequence[float],
    neighbour: Sequence[float],
    sensitivity: Number | None = None,
    step: Number = 1,
    rebuild: Callable[[Event], Mechanism[Any]] = rebuild,
    verify: Callable[[Card], list[str]] = verify,
) -> list[str]:
    """Put ``mechanism`` through the contract; the names of the checks that ran, or ContractBroken.

    ``sensitivity`` and ``step`` are as for ``replay``; leave them out when labels are released.
    A mechanism of your own brings its own ``rebuild`` and ``verify``.

    >>> from reticent.mechanisms import DiscreteLaplace
    >>> mechanism = DiscreteLaplace(epsilon=1, size=2)
    >>> len(check_mechanism(mechanism, data=[3, 4], neighbour=[3, 5], sensitivity=1))
    20
    """
    subject = Subject(
        mechanism=mechanism,
        data=data,
        neighbour=neighbour,
        sensitivity=sensitivity,
        step=step,
        rebuild=rebuild,
        verify=verify,
    )
    for name, check in CHECKS.items():
        for problem in check(subject):
            raise ContractBroken(name, problem)
    return list(CHECKS)
