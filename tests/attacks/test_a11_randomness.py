"""A11, misuse of generators: state copied by fork or pickle, seeds that look like privacy."""

import inspect
import os
import pickle
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest

from reticent.mechanisms import DiscreteLaplace, Exponential, PermuteAndFlip, SnappedLaplace
from reticent.noise import Source

WORKERS = 8
DATA = [3, 1, 4, 1, 5, 9, 2, 6]

pytestmark = pytest.mark.filterwarnings(
    "ignore:This process .* is multi-threaded:DeprecationWarning"
)
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")


def in_workers(work: Callable[[], str], workers: int = WORKERS) -> list[str]:
    """What each of several forked workers releases, through pipes; all are forked beforehand."""
    ends = []
    for _ in range(workers):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(writer, work().encode())
            os._exit(0)
        os.close(writer)
        ends.append((child, reader))
    said = []
    for child, reader in ends:
        with os.fdopen(reader) as pipe:
            said.append(pipe.read())
        assert os.waitpid(child, 0)[1] == 0, "a worker failed"
    return said


@forks
def test_forked_workers_release_different_noise() -> None:
    mechanism = DiscreteLaplace(epsilon="0.001", size=len(DATA))
    source = Source.system()
    mechanism.release(DATA, source)  # the state that a fork would copy

    def work() -> str:
        return str(mechanism.release(DATA, source).value.tolist())

    said = [*in_workers(work), work()]
    assert len(set(said)) == WORKERS + 1, f"{len(set(said))} different of {WORKERS + 1}"


@forks
def test_the_numpy_control_repeats_itself() -> None:
    generator = np.random.default_rng()
    generator.laplace()
    said = in_workers(lambda: str(generator.laplace(size=len(DATA)).tolist()))
    assert len(set(said)) == 1, f"{len(set(said))} different of {WORKERS}; 1 expected"


@forks
def test_forked_workers_choose_differently() -> None:
    source = Source.system()
    source.bits(8)
    mechanism = PermuteAndFlip(epsilon=1, candidates=10_000, sensitivity=1)
    said = in_workers(lambda: str(mechanism.release(np.zeros(10_000), source).value))
    assert len(set(said)) >= WORKERS - 1, f"choices among 10000 equals: {said}"


def test_a_source_sent_to_other_programs_takes_no_state_along() -> None:
    source = Source.system()
    source.bits(64)
    sent = pickle.dumps(source).hex()
    script = f"import pickle; print(pickle.loads(bytes.fromhex('{sent}')).bits(128))"
    said = {
        subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True
        ).stdout.strip()
        for _ in range(3)
    }
    assert len(said | {str(source.bits(128))}) == 4


def test_the_pickled_numpy_control_repeats_itself() -> None:
    generator = np.random.default_rng()
    twins = [pickle.loads(pickle.dumps(generator)) for _ in range(2)]
    assert twins[0].laplace() == twins[1].laplace() == generator.laplace()


MECHANISMS = [
    DiscreteLaplace(epsilon=1, size=8),
    SnappedLaplace(epsilon=1, size=8, sensitivity=1, lower=0, upper=10),
    Exponential(epsilon=1, candidates=8, sensitivity=1),
    PermuteAndFlip(epsilon=1, candidates=8, sensitivity=1),
]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda mechanism: mechanism.name)
def test_a_seed_is_stamped_and_cannot_be_passed_by_the_way(mechanism: DiscreteLaplace) -> None:
    assert not mechanism.release(DATA, Source.seeded(1)).event.private
    assert "not private" in repr(mechanism.release(DATA, Source.seeded(1)))
    assert mechanism.release(DATA, Source.system()).event.private
    source = inspect.signature(mechanism.release).parameters["source"]
    assert source.default is inspect.Parameter.empty, "a default source could be predictable"
    names = set(inspect.signature(type(mechanism)).parameters)
    assert not names & {"seed", "rng", "random_state"}
