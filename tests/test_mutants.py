"""Noise 2 % too small, planted in the code wherever something is drawn, fails the default tier.

Each mutant changes one line of a copy of the package and names the test that must fail then. The
control: on the copy as it is, all of them pass.
"""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = pytest.mark.mutants

ROOT = Path(__file__).parents[1]
USED = "tests/unit/test_noise_used.py::test_"
TREE_USED = "tests/unit/test_tree_noise_used.py::test_"
MORE, LESS = " * 51 / 50", " * 50 / 51"


@dataclass(frozen=True)
class Mutant:
    """A place where too little noise could be drawn, and the test that notices."""

    name: str
    module: str
    right: str
    wrong: str
    killer: str


def rate(name: str, module: str, right: str, killer: str) -> Mutant:
    """A choice that follows the scores 2 % more closely."""
    return Mutant(name, module, right, right + MORE, killer)


def scale(name: str, module: str, right: str, killer: str) -> Mutant:
    """Laplace noise 2 % too narrow."""
    return Mutant(name, module, right, right + LESS, killer)


RELEASED = f"{USED}a_release_draws_what_its_promise_needs"
FEW = f"{USED}the_best_few_draw_what_their_promise_needs"
GROWN = f"{TREE_USED}a_tree_draws_what_its_promise_needs"
MUTANTS = (
    Mutant(
        "the sampler of Laplace noise",
        "noise/laplace.py",
        "inverse = 1 / np.maximum(scales, 1e-300)",
        "scales = scales * 50 / 51; inverse = 1 / np.maximum(scales, 1e-300)",
        "tests/statistical/test_noise_law.py::test_five_million_draws_tell_one_percent",
    ),
    scale("discrete Laplace", "mechanisms/discrete_laplace.py", "scale=self.scale", RELEASED),
    Mutant(
        "totals",
        "mechanisms/totals.py",
        "most = self.records * int(max(map(abs, self.ends)))",
        "most = int(self.records * max(map(abs, self.ends)) * 98) // 100",
        "tests/unit/tasks/test_totals.py",
    ),
    scale("snapped Laplace", "mechanisms/snapped_laplace.py", "units, scale=self.scale", RELEASED),
    rate("permute and flip", "mechanisms/permute_and_flip.py", "rate=self.rate", RELEASED),
    rate("exponential", "mechanisms/exponential.py", "rate=self.rate", RELEASED),
    rate(
        "dampening",
        "mechanisms/dampening.py",
        "self.scores(data), rate=self.rate",
        f"{USED}dampening_draws_what_its_promise_needs",
    ),
    scale("top nodes: test", "mechanisms/top_dampened.py", "Fraction(_WIDE) / self.asked", FEW),
    rate("top nodes: set", "mechanisms/top_dampened.py", "rate=self.set_rate", FEW),
    rate("top nodes: rounds", "mechanisms/top_dampened.py", "rate=one.rate", FEW),
    scale(
        "stretching",
        "mechanisms/stretching.py",
        "scale=self.scale / self.function.step",
        "tests/unit/mechanisms/test_stretching.py",
    ),
    Mutant(
        "histogram",
        "mechanisms/multilevel.py",
        "scale=[1 / rate for rate in self._rates]",
        "scale=[1 / rate * 50 / 51 for rate in self._rates]",
        f"{USED}a_histogram_draws_what_its_promises_need",
    ),
    Mutant(
        "many histograms",
        "tasks/histogram_batches.py",
        "laplace_rows(exact,",
        "laplace_rows(exact * 50 / 51 if isinstance(exact, np.ndarray) else "
        "[one * 50 / 51 for one in exact],",
        f"{USED}many_histograms_alike_draw_exactly_their_plan",
    ),
    Mutant(
        "histogram on public terms",
        "tasks/terms.py",
        "discrete_laplace(scale=scales,",
        "discrete_laplace(scale=tuple(one * 50 / 51 for one in scales),",
        f"{USED}a_histogram_on_public_terms_draws_what_its_charge_needs",
    ),
    scale(
        "norms",
        "tasks/similarity.py",
        "discrete_laplace(scale=scale",
        f"{USED}a_comparison_on_public_terms_draws_what_its_charge_needs",
    ),
    scale(
        "lists of neighbours",
        "tasks/neighbours.py",
        "scale=self.crowd.scale",
        f"{USED}lists_draw_what_their_promise_needs",
    ),
    scale(
        "gossip",
        "tasks/gossip_run.py",
        "discrete_laplace(scale=scale",
        f"{USED}gossip_draws_what_its_promise_needs",
    ),
    rate(
        "sketches: flips",
        "tasks/blip.py",
        "logistic_words(self.exponent",
        f"{USED}sketches_flip_as_their_promise_needs",
    ),
    rate(
        "sketches: weights",
        "tasks/blip.py",
        "exponent=Fraction(self.epsilon)",
        f"{USED}sketches_flip_as_their_promise_needs",
    ),
    Mutant(
        "mapping",
        "mechanisms/mapping.py",
        "self._rows.draw(own, source.long_words(len(own)))",
        "self._rows.draw(own, source.long_words(len(own)) // 51 * 50)",
        "tests/unit/mechanisms/test_mapping.py",
    ),
    scale("tree: leaves", "mechanisms/tree_growth.py", "scale=1 / plan.leaf_epsilon", GROWN),
    scale(
        "tree: sizes",
        "mechanisms/tree_growth.py",
        "scale=1 / plan.size_epsilon",
        f"{TREE_USED}a_tree_that_stops_by_size_draws_what_its_promise_needs",
    ),
    rate("tree: splits", "mechanisms/tree_growth.py", "scores[possible], rate=rate", GROWN),
)


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One copy for all mutants, so that what is compiled for one serves the next."""
    folder = tmp_path_factory.mktemp("mutants")
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
    return folder / "src"


def run(copied: Path, *tests: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(copied)},
        capture_output=True,
        text=True,
        timeout=600,
    )


def test_the_tests_pass_on_the_code_as_it_is(copied: Path) -> None:
    ended = run(copied, *sorted({mutant.killer for mutant in MUTANTS}))
    assert ended.returncode == 0, ended.stdout


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_too_little_noise_is_caught(copied: Path, mutant: Mutant) -> None:
    path = copied / "reticent" / mutant.module
    text = path.read_text(encoding="utf-8")
    assert text.count(mutant.right) == 1, f"{mutant.right!r} is not one place of {mutant.module}"
    path.write_text(text.replace(mutant.right, mutant.wrong), encoding="utf-8")
    try:
        ended = run(copied, mutant.killer)
    finally:
        path.write_text(text, encoding="utf-8")
    assert ended.returncode == 1, ended.stdout  # 1: tests failed; an error of the mutant is 2
    assert "AssertionError" in ended.stdout or "\nE       assert" in ended.stdout, ended.stdout
