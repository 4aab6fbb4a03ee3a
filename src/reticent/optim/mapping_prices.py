"""What profiles pay for outputs at a mapping: the gradient of the leak, and distances.

Theory    docs/theory/mapping.md, Theorem 1 (gradient), Theorem 2 (certificate)
Notation  pi_j = p(a | b_j), t_i = posterior at output i, g_i = ln(t_i / p), c_ij = <pi_j, g_i>
Not here  who moves (mapping_frank_wolfe.py, mapping_paper.py), blocks of outputs (pricing.py).

Distances are kept in a table for small alphabets; for larger ones compiled loops look them up.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from reticent.optim.linear_step import Cheapest, Choice
from reticent.optim.mapping import Channel, Problem
from reticent.optim.pricing import Pricing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals: TypeAlias = NDArray[np.float64]
    Whole: TypeAlias = NDArray[np.int64]

FLOOR = 1e-9  # of a posterior at an output: below it the gradient, then minus infinity, is cut off
_TABLE = 2000  # profiles up to which all distances are kept
_BLOCK = 1 << 22  # pairs priced at a time beyond that


class Prices:
    """What every profile of positive probability pays for every output, in blocks."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.columns = np.flatnonzero(problem.profiles > 0)
        self.secrets = problem.prior > 0
        self.prior = problem.prior[self.secrets]
        self.pi = problem.posteriors[self.columns][:, self.secrets]
        self.mass = problem.profiles[self.columns]
        self.size = problem.distance.size
        small = self.size <= _TABLE
        self._table = problem.distance.dense()[self.columns] if small else None
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(self.pi > 0, self.pi * np.log(self.pi / self.prior), 0.0)
        self.divergence = terms.sum(axis=1)  # KL(pi_j || p): the one-sided slope at an unused row

    def far(self, rows: Whole) -> Reals:
        """Distances from some of the columns to all outputs."""
        if self._table is not None:
            return self._table if len(rows) == len(self.columns) else self._table[rows]
        return np.array([self.problem.distance.row(j) for j in self.columns[rows].tolist()])

    def blocks(self, rows: Whole) -> Iterator[slice]:
        """Parts of ``rows`` that fit the memory meant for them."""
        most = len(rows) if self._table is not None else max(1, _BLOCK // self.size)
        return (slice(at, at + most) for at in range(0, len(rows), max(most, 1)))

    def assumed(self, moments: Reals, floor: float = FLOOR) -> Reals:
        """g_i = ln(t_i / p), with t_i floored and made to sum to 1, so that Theorem 2 applies.

        Rows of outputs that nobody uses are 0.
        """
        found = moments[:, self.secrets]
        total = found.sum(axis=1, keepdims=True)
        t = np.where(total > 0, found / np.where(total > 0, total, 1.0), self.prior)
        t = np.maximum(t, floor)
        return np.asarray(np.log(t / (t.sum(axis=1, keepdims=True) * self.prior)))

    def cheapest(self, g: Reals, empty: Whole) -> Cheapest:
        """The pricing of the linear step at the gradient g. Theorem 1."""
        by_secret = np.ascontiguousarray(g.T)
        if self._table is None:
            return _Sweep(self, g, empty).cheapest

        def price(rows: Whole, lam: float) -> Choice:
            outs = np.empty(len(rows), dtype=np.int64)
            costs, far = np.empty(len(rows)), np.empty(len(rows))
            for part in self.blocks(rows):
                distances = self.far(rows[part])
                slopes = self.pi[rows[part]] @ by_secret
                slopes[:, empty] = self.divergence[rows[part], None]
                outs[part] = (slopes + lam * distances).argmin(axis=1)
                each = np.arange(len(slopes))
                costs[part], far[part] = slopes[each, outs[part]], distances[each, outs[part]]
            return Choice(outs, costs, far)

        return price

    def stay(self, g: Reals, empty: Whole) -> Choice:
        """Every profile as it is."""
        costs = np.einsum("ja,ja->j", self.pi, g[self.columns])
        own_empty = np.isin(self.columns, empty)
        costs[own_empty] = self.divergence[own_empty]
        return Choice(self.columns.copy(), costs, np.zeros(len(self.columns)))

    def shortfall(self, g: Reals, empty: Whole, lam: float, least: Reals) -> float:
        """By how much outputs not in use, at the posteriors assumed for them, lower the bound."""
        if not len(empty):
            return 0.0
        rows, total = np.arange(len(self.columns)), 0.0
        for part in self.blocks(rows):
            costs = self.pi[part] @ g[empty].T + lam * self.far(rows[part])[:, empty]
            total += float(self.mass[part] @ np.maximum(least[part] - costs.min(axis=1), 0.0))
        return total

    def blurred(self, empty: Whole, rate: float) -> Reals:
        """Posteriors for outputs not in use: of the profiles around them, nearer ones more."""
        found = np.full((len(empty), len(self.prior)), 1e-300) * self.prior
        rows = np.arange(len(self.columns))
        for part in self.blocks(rows):
            weights = np.exp(-rate * self.far(rows[part])[:, empty]) * self.mass[part, None]
            found += weights.T @ self.pi[part]
        return np.asarray(found / found.sum(axis=1, keepdims=True))


class _Sweep:
    """Pricing without a table of distances, by compiled blocks."""

    def __init__(self, prices: Prices, g: Reals, empty: Whole) -> None:
        self.prices, self.g = prices, g
        used = np.setdiff1d(np.arange(prices.size), empty)
        self.used = Pricing(prices.problem.distance, used)
        self.empty = Pricing(prices.problem.distance, empty) if len(empty) else None

    def cheapest(self, rows: Whole, lam: float) -> Choice:
        """Among outputs in use by their slope, among the others the nearest."""
        own, pi = self.prices.columns[rows], self.prices.pi[rows]
        found, least = self.used.cheapest(pi, self.g, lam, 0.0, 1, own)
        outs, far = found.outs, found.dist
        if self.empty is not None:
            near, _ = self.empty.cheapest(pi, np.zeros_like(self.g), 1.0, 0.0, 1, own)
            better = self.prices.divergence[rows] + lam * near.dist < least
            outs, far = np.where(better, near.outs, outs), np.where(better, near.dist, far)
            costs = np.einsum("ja,ja->j", pi, self.g[outs])
            return Choice(outs, np.where(better, self.prices.divergence[rows], costs), far)
        return Choice(outs, np.einsum("ja,ja->j", pi, self.g[outs]), far)


def gradient(problem: Problem, channel: Channel) -> Reals:
    """The derivative of the leak by x_ij, [output, input]; for small alphabets. Theorem 1."""
    prices = Prices(problem)
    moments = channel.moments(problem.joint)
    found = np.zeros((prices.size, prices.size))
    table = prices.pi @ prices.assumed(moments, floor=1e-300).T
    table[:, moments.sum(axis=1) == 0] = prices.divergence[:, None]
    found[:, prices.columns] = (prices.mass[:, None] * table).T
    return found
