"""The only place that draws: sources, exact discrete Laplace noise, coins and selection.

Every sampler here is a fixed function of a stream of fair bits. Floats are used only while they
are certain; a comparison that is too close for them is settled in exact arithmetic with more bits.
"""

from reticent.noise.coins import bernoulli, bernoulli_exp
from reticent.noise.grid import Grid, snapped_laplace
from reticent.noise.laplace import LARGEST_SCALE, discrete_laplace
from reticent.noise.pairs import PairNoise
from reticent.noise.rows import laplace_rows
from reticent.noise.selection import exponential, permute_and_flip
from reticent.noise.sets import exponential_set
from reticent.noise.source import Source

__all__ = [
    "LARGEST_SCALE",
    "Grid",
    "PairNoise",
    "Source",
    "bernoulli",
    "bernoulli_exp",
    "discrete_laplace",
    "exponential",
    "exponential_set",
    "laplace_rows",
    "permute_and_flip",
    "snapped_laplace",
]
