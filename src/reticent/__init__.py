"""Reticent: release only as much as each person allows.

guarantees   units, losses, events, the accountant, the guarantee card
noise        sources of randomness, exact discrete Laplace, coins, selection
mechanisms   frozen values that know their guarantee; release(data, source)
testing      audits, exact verification, replay, contracts: for our mechanisms and yours

The names below are the short way to the common case; they load when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from reticent._version import __version__

if TYPE_CHECKING:
    from reticent.errors import BudgetExceeded, CannotCompose, ParameterError, ReticentError
    from reticent.guarantees import EDGE, ITEM, RECORD, Accountant, Unit
    from reticent.mechanisms import (
        DiscreteLaplace,
        Exponential,
        PermuteAndFlip,
        Release,
        SnappedLaplace,
    )
    from reticent.noise import Source

_HOMES = {
    "BudgetExceeded": "errors",
    "CannotCompose": "errors",
    "ParameterError": "errors",
    "ReticentError": "errors",
    "EDGE": "guarantees",
    "ITEM": "guarantees",
    "RECORD": "guarantees",
    "Accountant": "guarantees",
    "Unit": "guarantees",
    "DiscreteLaplace": "mechanisms",
    "Exponential": "mechanisms",
    "PermuteAndFlip": "mechanisms",
    "Release": "mechanisms",
    "SnappedLaplace": "mechanisms",
    "Source": "noise",
}

__all__ = [
    "EDGE",
    "ITEM",
    "RECORD",
    "Accountant",
    "BudgetExceeded",
    "CannotCompose",
    "DiscreteLaplace",
    "Exponential",
    "ParameterError",
    "PermuteAndFlip",
    "Release",
    "ReticentError",
    "SnappedLaplace",
    "Source",
    "Unit",
    "__version__",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'reticent' has no attribute {name!r}")
    return getattr(import_module(f"reticent.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
