"""What can be tried with a query before it is released: compare, sweep, verify, audit.

Not here  doing so (evaluate/), the declarations themselves (each query).

A kind declares ``score`` and has ``compare`` and ``sweep``; it declares ``worlds`` and has
``verify`` and ``audit``. Nothing here releases anything.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

from reticent.errors import ParameterError
from reticent.queries.trials import METHOD, Comparison, Trial

if TYPE_CHECKING:
    from reticent.noise import Source
    from reticent.queries.evaluate.verify import Verified
    from reticent.queries.worlds import World
    from reticent.tasks.comparing import Curves

LOUD = 400
"""An epsilon at which next to no noise is left: for controls."""


class Audited(Protocol):
    """What an attack found."""

    @property
    def passed(self) -> bool:
        """Whether nothing was found, by an attack that would find something."""

    def lines(self) -> list[str]:
        """The consequence first."""

    def fields(self) -> dict[str, Any]:
        """For JSON."""


class Evaluable:
    """What a query declares to be tried, and trying it."""

    kind: ClassVar[str]
    comparison: ClassVar[Comparison] = Comparison()
    """How its methods are compared."""
    attack_reads: ClassVar[tuple[str, ...]] = ()
    """Public inputs that an audit can use."""

    def score(self, value: Any, tables: Mapping[str, Any]) -> float:
        """How far an answer is from the truth of these tables, which are public."""
        raise ParameterError("query", "one that says how good an answer is (score)", self.kind)

    def curves(self, tables: Mapping[str, Any], trial: Trial) -> Curves:
        """Its methods compared; who knows the law of an answer computes instead of drawing."""
        from reticent.queries.evaluate.compare import drawn

        query: Any = self
        return drawn(query, tables, trial)

    def usual_method(self) -> str:
        """What a release does: what an option says, or the first method that there is."""
        chosen = getattr(self, METHOD, None)
        return chosen or (*self.comparison.methods, self.kind)[0]

    def worlds(self) -> Sequence[World]:
        """Small inputs that differ in one unit, on which the promise can be tried; or none."""
        return ()

    def with_little_noise(self) -> Self:
        """The same with next to no noise, which an audit must notice."""
        query: Any = self
        changed: Self = dataclasses.replace(query, epsilon=LOUD)
        return changed

    def compare(
        self,
        data: Any = None,
        *,
        values: str | Sequence[Any] | None = None,
        methods: Sequence[str] | None = None,
        runs: int | None = None,
        columns: Mapping[str, str] | None = None,
        source: Source | None = None,
        **more: Any,
    ) -> Curves:
        """How good the methods of this query are at several budgets; nothing is released.

        ``data`` must be public or made up: what is shown is computed without noise. ``values`` are
        those of what varies, mostly epsilon: a list, or text as "0.01:10:log".
        """
        from reticent.queries.evaluate.compare import compare

        query: Any = self
        given: dict[str, Any] = {"columns": columns, "source": source, "more": more}
        return compare(query, data, values=values, methods=methods, runs=runs, **given)

    def sweep(
        self,
        data: Any = None,
        *,
        values: str | Sequence[Any] | None = None,
        method: str | None = None,
        runs: int | None = None,
        columns: Mapping[str, str] | None = None,
        source: Source | None = None,
        **more: Any,
    ) -> Curves:
        """What more budget buys: one method, as ``compare`` has several."""
        from reticent.queries.evaluate.compare import sweep

        query: Any = self
        given: dict[str, Any] = {"columns": columns, "source": source, "more": more}
        return sweep(query, data, values=values, method=method, runs=runs, **given)

    def attacked(self, tables: Mapping[str, Any]) -> Sequence[World]:
        """The inputs on which an attacker plays; ``tables`` are public ones that it may use."""
        return self.worlds()

    def best_guess(self, world: World) -> float | None:
        """The accuracy of the best possible attacker about a world, where it can be computed."""
        return None

    def audit(
        self,
        data: Any = None,
        *,
        draws: int | None = None,
        source: Source | None = None,
        **more: Any,
    ) -> Audited:
        """Attack what would be published: how often an attacker is right, beside what is promised.

        ``data`` are public tables that the attack can use (``attack_reads``).
        """
        from reticent.queries.evaluate.distinguish import audit

        if more:
            raise ParameterError(next(iter(more)), f"left out: {self.kind} has no such", "given")
        query: Any = self
        return audit(query, data, draws=draws, source=source)

    def verify(self, *, draws: int | None = None, source: Source | None = None) -> Verified:
        """Try to refute the promise on small inputs that differ in one unit, by drawing."""
        from reticent.queries.evaluate.verify import verify

        query: Any = self
        return verify(query, draws=draws, source=source)
