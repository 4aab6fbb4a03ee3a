"""Reticent: release only as much as each person allows.

guarantees   units, losses, events, the accountant, the guarantee card
noise        sources of randomness, exact discrete Laplace, coins, selection
mechanisms   frozen values that know their guarantee; release(data, source)
data         profiles, tables, bundled and external sets
preferences  what one person allows: the file, its meaning, which line decides
optim        solvers that know nothing of privacy, with certificates
queries      what can be asked, declared once: plan, release, an answer with its card
tasks        similarity, neighbours, gossip clustering, sketches, recommendation, histograms,
             profiles that hide a secret
testing      audits, exact verification, replay, contracts: for our mechanisms and yours

The names below are the short way to the common case; they load when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from reticent._version import __version__

if TYPE_CHECKING:
    from reticent.data.catalogue import Catalogue
    from reticent.data.profiles import Profiles
    from reticent.errors import BudgetExceeded, CannotCompose, ParameterError, ReticentError
    from reticent.guarantees import (
        EDGE,
        ITEM,
        ITEM_SUBSTITUTE,
        PERSON,
        RECORD,
        RECORD_SUBSTITUTE,
        Accountant,
        Unit,
    )
    from reticent.mechanisms import (
        DiscreteLaplace,
        Exponential,
        MultiLevel,
        PermuteAndFlip,
        Release,
        SnappedLaplace,
        Stretching,
        plan_histogram,
    )
    from reticent.noise import Source
    from reticent.preferences import Preferences
    from reticent.queries.base import Answer
    from reticent.queries.counts import Counts
    from reticent.queries.histogram import Histogram
    from reticent.queries.mapping import Mapping
    from reticent.queries.neighbours import Neighbours
    from reticent.queries.percentile import Percentile
    from reticent.queries.predict import Predict
    from reticent.queries.profile import Profile
    from reticent.queries.quantile import Quantile
    from reticent.queries.recommendations import Recommendations
    from reticent.queries.registry import register
    from reticent.queries.similarity import Similarity
    from reticent.queries.sketches import Sketches
    from reticent.queries.top_nodes import TopNodes
    from reticent.queries.tree import Tree
    from reticent.queries.tree_classifier import PrivateTreeClassifier
    from reticent.tasks.blip import Blip
    from reticent.tasks.clustering import Gossip
    from reticent.tasks.histogram_batches import Histograms
    from reticent.tasks.learning import Limits, learn_mapping
    from reticent.tasks.profiles import SparseMapping
    from reticent.tasks.recoding import Alphabet, Recoding, ReleaseOnce

_HOMES = {
    "BudgetExceeded": "errors",
    "CannotCompose": "errors",
    "ParameterError": "errors",
    "ReticentError": "errors",
    "EDGE": "guarantees",
    "ITEM": "guarantees",
    "ITEM_SUBSTITUTE": "guarantees",
    "PERSON": "guarantees",
    "RECORD": "guarantees",
    "RECORD_SUBSTITUTE": "guarantees",
    "Accountant": "guarantees",
    "Unit": "guarantees",
    "DiscreteLaplace": "mechanisms",
    "Exponential": "mechanisms",
    "MultiLevel": "mechanisms",
    "plan_histogram": "mechanisms",
    "PermuteAndFlip": "mechanisms",
    "Release": "mechanisms",
    "SnappedLaplace": "mechanisms",
    "Stretching": "mechanisms",
    "Source": "noise",
    "Catalogue": "data.catalogue",
    "Profiles": "data.profiles",
    "Preferences": "preferences",
    "Answer": "queries.base",
    "Counts": "queries.counts",
    "Histogram": "queries.histogram",
    "Mapping": "queries.mapping",
    "Neighbours": "queries.neighbours",
    "Percentile": "queries.percentile",
    "Predict": "queries.predict",
    "Profile": "queries.profile",
    "PrivateTreeClassifier": "queries.tree_classifier",
    "Quantile": "queries.quantile",
    "Recommendations": "queries.recommendations",
    "register": "queries.registry",
    "Similarity": "queries.similarity",
    "Sketches": "queries.sketches",
    "TopNodes": "queries.top_nodes",
    "Tree": "queries.tree",
    "Blip": "tasks.blip",
    "Gossip": "tasks.clustering",
    "Histograms": "tasks.histogram_batches",
    "Limits": "tasks.learning",
    "learn_mapping": "tasks.learning",
    "SparseMapping": "tasks.profiles",
    "Alphabet": "tasks.recoding",
    "Recoding": "tasks.recoding",
    "ReleaseOnce": "tasks.recoding",
}

__all__ = [
    "EDGE",
    "ITEM",
    "ITEM_SUBSTITUTE",
    "PERSON",
    "RECORD",
    "RECORD_SUBSTITUTE",
    "Accountant",
    "Alphabet",
    "Answer",
    "Blip",
    "BudgetExceeded",
    "CannotCompose",
    "Catalogue",
    "Counts",
    "DiscreteLaplace",
    "Exponential",
    "Gossip",
    "Histogram",
    "Histograms",
    "Limits",
    "Mapping",
    "MultiLevel",
    "Neighbours",
    "ParameterError",
    "Percentile",
    "PermuteAndFlip",
    "Predict",
    "Preferences",
    "PrivateTreeClassifier",
    "Profile",
    "Profiles",
    "Quantile",
    "Recoding",
    "Recommendations",
    "Release",
    "ReleaseOnce",
    "ReticentError",
    "Similarity",
    "Sketches",
    "SnappedLaplace",
    "Source",
    "SparseMapping",
    "Stretching",
    "TopNodes",
    "Tree",
    "Unit",
    "__version__",
    "learn_mapping",
    "plan_histogram",
    "register",
]


def __getattr__(name: str) -> object:
    if name == "spark":
        return import_module("reticent.spark")
    if name not in _HOMES:
        raise AttributeError(f"module 'reticent' has no attribute {name!r}")
    return getattr(import_module(f"reticent.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
