"""Mechanisms: frozen values that know their guarantee, one file each."""

from reticent.mechanisms.base import Mechanism, Release
from reticent.mechanisms.choosing import Advice, choose
from reticent.mechanisms.comparison import Compared, compare, ways
from reticent.mechanisms.dampening import Dampened, Scored
from reticent.mechanisms.discrete_laplace import DiscreteLaplace
from reticent.mechanisms.exponential import Exponential
from reticent.mechanisms.exposure import Exposure
from reticent.mechanisms.mapping import ProfileMapping
from reticent.mechanisms.mapping_law import MappingLaw, joint_leak
from reticent.mechanisms.modular import (
    InnerProduct,
    Mean,
    Modular,
    SquaredDistance,
    UserFunction,
    WeightedProfile,
    WeightedSum,
    stretchable,
)
from reticent.mechanisms.multilevel import MultiLevel
from reticent.mechanisms.multilevel_plan import HistogramPlan, plan_histogram, plan_many
from reticent.mechanisms.permute_and_flip import PermuteAndFlip
from reticent.mechanisms.snapped_laplace import SnappedLaplace
from reticent.mechanisms.stretching import Stretching
from reticent.mechanisms.top_dampened import TopDampened
from reticent.mechanisms.totals import Totals
from reticent.mechanisms.tree import Coded, PrivateTree
from reticent.mechanisms.verification import rebuild, verify

__all__ = [
    "Advice",
    "Coded",
    "Compared",
    "Dampened",
    "DiscreteLaplace",
    "Exponential",
    "Exposure",
    "HistogramPlan",
    "InnerProduct",
    "MappingLaw",
    "Mean",
    "Mechanism",
    "Modular",
    "MultiLevel",
    "PermuteAndFlip",
    "PrivateTree",
    "ProfileMapping",
    "Release",
    "Scored",
    "SnappedLaplace",
    "SquaredDistance",
    "Stretching",
    "TopDampened",
    "Totals",
    "UserFunction",
    "WeightedProfile",
    "WeightedSum",
    "choose",
    "compare",
    "joint_leak",
    "plan_histogram",
    "plan_many",
    "rebuild",
    "stretchable",
    "verify",
    "ways",
]
