"""OpenDP's counterparts of what is measured, built once; each is called with the data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import opendp.prelude as dp

dp.enable_features("contrib")

Peer: TypeAlias = Callable[[Any], Any]


def scalar(kind: str, scale: float) -> Peer:
    """Laplace noise for one number of ``kind``, "i64" or "f64"."""
    measurement: Peer = dp.m.make_laplace(_atom(kind), dp.absolute_distance(T=kind), scale)
    return measurement


def vector(kind: str, scale: float, *, size: int | None = None, k: int | None = None) -> Peer:
    """Laplace noise for a vector; floats on multiples of 2**k, by default the finest."""
    domain = dp.vector_domain(_atom(kind), size=size)
    measurement: Peer = dp.m.make_laplace(domain, dp.l1_distance(T=kind), scale, k=k)
    return measurement


def noisy_max(kind: str, scale: float) -> Peer:
    """Permute-and-flip over a vector of scores."""
    measurement: Peer = dp.m.make_noisy_max(
        dp.vector_domain(_atom(kind)), dp.linf_distance(T=kind), dp.max_divergence(), scale
    )
    return measurement


def _atom(kind: str) -> Any:
    return dp.atom_domain(T=kind, nan=False) if kind == "f64" else dp.atom_domain(T=kind)
