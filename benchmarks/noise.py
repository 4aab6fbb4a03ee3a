"""Noise and selection: draws per CPU-second beside OpenDP and NumPy.

NumPy's noise is neither exact nor from a secure source; it is here as the speed limit of plain
floats. OpenDP's is both. OpenDP is given NumPy arrays, the inputs it takes fastest, and Reticent
starts from the same arrays: rounding to a grid is part of its time.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.harness import (
    Goal,
    Options,
    Row,
    Work,
    cpu_seconds,
    medians,
    report,
    require_module,
)
from reticent.noise import (
    Grid,
    Source,
    discrete_laplace,
    exponential,
    permute_and_flip,
    snapped_laplace,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

DRAWS = 10**6
CALLS = 2_000
CANDIDATES = 10**5
SCALES = {"1": 1, "10": 10, "1000": 1000, "2_20": 2**20, "2_40": 2**40}
LOWER, UPPER = Fraction(0), Fraction(1000)  # of real values and of scores
GRID = Grid.for_scale(Fraction(1), UPPER)
SCORE_GRID = Grid(-20)
SCORE_RATE = SCORE_GRID.step / 2  # epsilon 1, sensitivity 1

GOALS = (
    Goal("speedup_opendp_float", 200),
    Goal("speedup_opendp_int", 100),
    Goal("ratio_numpy", 0.25),
    Goal("speedup_opendp_scalar", 5),
    Goal("speedup_opendp_selection", 5),
)


def main() -> None:
    """Measure and report."""
    options = Options.parse("benchmarks.noise", "Draws per CPU-second beside OpenDP and NumPy.")
    require_module("opendp", "experiments")
    rounds = 5 if options.quick else 21
    peer_draws = DRAWS // 20 if options.quick else DRAWS
    first = first_calls()
    noise = noise_rows(rounds)
    peer = opendp_rows(peer_draws)
    calls = scalar_rows(rounds)
    selection = selection_rows(rounds)
    sections = {
        "First call in this process, nothing warmed up": first,
        "Vectors of noise": noise,
        f"Vectors of noise by OpenDP ({peer_draws:,} draws)": peer,
        "One number per call": calls,
        f"Selection among {CANDIDATES:,} (OpenDP's time depends on the scores)": selection,
    }
    rates = {row.key: row.rate for row in (*noise, *peer, *calls, *selection)}
    first_ms = {row.key: 1000 * row.seconds for row in first}
    results = comparisons(rates) | first_ms | rates
    report("noise", sections, results, GOALS, options)


def comparisons(rates: dict[str, float]) -> dict[str, float]:
    """How many times as fast as the peers, from draws per CPU-second."""

    def ratio(ours: str, *theirs: str) -> float:
        return rates[ours] / max(rates[name] for name in theirs)

    return {
        "speedup_opendp_float": ratio("reticent_float", "opendp_float"),
        "speedup_opendp_float_coarse": ratio("reticent_float", "opendp_float_coarse"),
        "speedup_opendp_int": ratio("draws_per_cpu_second_10", "opendp_int"),
        "ratio_numpy": ratio("draws_per_cpu_second_10", "numpy_10"),
        "speedup_opendp_scalar": ratio(
            "reticent_scalar", "opendp_scalar_int", "opendp_scalar_float"
        ),
        "speedup_opendp_selection": ratio("permute_and_flip_uniform", "opendp_max_uniform"),
        "speedup_opendp_selection_integers": ratio(
            "permute_and_flip_integers", "opendp_max_integers"
        ),
        "speedup_opendp_selection_counts": ratio("permute_and_flip_counts", "opendp_max_counts"),
        "speedup_opendp_selection_winner": ratio("permute_and_flip_winner", "opendp_max_winner"),
    }


def first_calls() -> list[Row]:
    """What the very first calls cost: tables, ciphers and memory included."""
    from benchmarks import opendp_peer

    scores = score_shapes()["uniform"]
    works: list[tuple[str, str, int, Work]] = [
        ("first_vector_ms", "Reticent vector, scale 10", DRAWS, partial(integers, 10)),
        ("first_scalar_ms", "Reticent number, new source", 1, partial(singles, 1)),
        ("first_selection_ms", "Reticent permute-and-flip", 1, partial(flip, scores)),
        (
            "first_opendp_scalar_ms",
            "OpenDP number, mechanism built",
            1,
            lambda: opendp_peer.scalar("i64", 10.0)(0),
        ),
    ]
    return [Row(key, label, amount, cpu_seconds(work)) for key, label, amount, work in works]


def noise_rows(rounds: int) -> list[Row]:
    """Vectors of noise, ours and NumPy's."""
    generator = np.random.default_rng()
    scales = np.linspace(5, 15, DRAWS)
    values = np.linspace(0, 100, DRAWS)
    works: dict[tuple[str, str], Work] = {
        (f"draws_per_cpu_second_{name}", f"Reticent integers, scale {name.replace('_', '^')}"): (
            partial(integers, scale)
        )
        for name, scale in SCALES.items()
    }
    works |= {
        ("draws_per_cpu_second_per_coordinate", "Reticent integers, a million scales"): (
            lambda: discrete_laplace(scale=scales, source=Source.system())
        ),
        ("reticent_float", "Reticent floats, scale 1, grid 2^-40"): partial(floats, values),
        ("numpy_10", "NumPy Generator.laplace, scale 10"): (
            lambda: generator.laplace(scale=10, size=DRAWS)
        ),
        ("numpy_float", "NumPy Generator.laplace, scale 1, added"): (
            lambda: values + generator.laplace(scale=1, size=DRAWS)
        ),
    }
    return rows(works, DRAWS, rounds)


def opendp_rows(draws: int) -> list[Row]:
    """Vectors of noise, OpenDP's."""
    from benchmarks import opendp_peer

    zeros, values = np.zeros(draws, dtype=np.int64), np.linspace(0, 100, draws)
    works: dict[tuple[str, str], Work] = {
        ("opendp_int", "OpenDP integers, scale 10"): (
            partial(opendp_peer.vector("i64", 10.0), zeros)
        ),
        ("opendp_float", "OpenDP floats, scale 1"): (
            partial(opendp_peer.vector("f64", 1.0), values)
        ),
        ("opendp_float_coarse", "OpenDP floats, scale 1, k=-40, known size"): (
            partial(opendp_peer.vector("f64", 1.0, size=draws, k=-40), values)
        ),
    }
    return rows(works, draws, rounds=3)


def scalar_rows(rounds: int) -> list[Row]:
    """One number per call."""
    from benchmarks import opendp_peer

    whole, real = opendp_peer.scalar("i64", 10.0), opendp_peer.scalar("f64", 1.0)
    works: dict[tuple[str, str], Work] = {
        ("reticent_scalar", "Reticent, scale 10"): partial(singles, CALLS),
        ("opendp_scalar_int", "OpenDP integers, scale 10"): (
            lambda: [whole(0) for _ in range(CALLS)]
        ),
        ("opendp_scalar_float", "OpenDP floats, scale 1"): (
            lambda: [real(0.5) for _ in range(CALLS)]
        ),
    }
    return rows(works, CALLS, rounds)


def selection_rows(rounds: int) -> list[Row]:
    """One choice per call, from real scores of several shapes and from integer scores."""
    from benchmarks import opendp_peer

    noisy_max = opendp_peer.noisy_max("f64", 2.0)
    works: dict[tuple[str, str], Work] = {}
    for shape, scores in score_shapes().items():
        works |= {
            (f"permute_and_flip_{shape}", f"Reticent permute-and-flip, {shape}"): (
                partial(flip, scores)
            ),
            (f"exponential_{shape}", f"Reticent exponential, {shape}"): partial(gumbel, scores),
            (f"opendp_max_{shape}", f"OpenDP noisy max, {shape}"): partial(noisy_max, scores),
        }
    uniform = score_shapes()["uniform"]
    units = on_grid(uniform)
    works |= {
        ("permute_and_flip_integers", "Reticent permute-and-flip, uniform integers"): (
            lambda: permute_and_flip(units, rate=SCORE_RATE, source=Source.system())
        ),
        ("opendp_max_integers", "OpenDP noisy max, uniform integers"): (
            partial(opendp_peer.noisy_max("i64", 2.0 * 2**20), units)
        ),
        ("opendp_max_list", "OpenDP noisy max, uniform, a Python list"): (
            partial(noisy_max, uniform.tolist())
        ),
    }
    return rows(works, 1, rounds)


def rows(works: dict[tuple[str, str], Work], amount: int, rounds: int) -> list[Row]:
    """The works measured in turns; ``amount`` is what one call does."""
    taken = medians({key: work for (key, _), work in works.items()}, rounds=rounds)
    return [Row(key, label, amount, taken[key]) for key, label in works]


def score_shapes() -> dict[str, NDArray[np.float64]]:
    """Private scores: evenly spread, counts, and one far ahead of the rest."""
    generator = np.random.default_rng(20)
    winner = np.zeros(CANDIDATES)
    winner[CANDIDATES // 2] = 1000
    return {
        "uniform": generator.uniform(0, 100, CANDIDATES),
        "counts": generator.poisson(20, CANDIDATES).astype(np.float64),
        "winner": winner,
    }


def integers(scale: int) -> object:
    """A million integers of noise."""
    return discrete_laplace(scale=scale, size=DRAWS, source=Source.system())


def floats(values: NDArray[np.float64]) -> object:
    """Values to the grid, noise, and back to floats."""
    units = GRID.quantise(values, lower=LOWER, upper=UPPER)
    return snapped_laplace(units, scale=Fraction(1), grid=GRID, source=Source.system())


def singles(count: int) -> object:
    """Numbers drawn one at a time."""
    source = Source.system()
    return [discrete_laplace(scale=10, source=source) for _ in range(count)]


def flip(scores: NDArray[np.float64]) -> int:
    """One choice by permute-and-flip."""
    return permute_and_flip(on_grid(scores), rate=SCORE_RATE, source=Source.system())


def gumbel(scores: NDArray[np.float64]) -> int:
    """One choice by the exponential mechanism."""
    return exponential(on_grid(scores), rate=SCORE_RATE, source=Source.system())


def on_grid(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """Scores as integers."""
    return SCORE_GRID.quantise(scores, lower=LOWER, upper=UPPER)


if __name__ == "__main__":
    main()
