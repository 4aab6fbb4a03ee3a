"""The fences: who may import whom, one door for randomness, nothing heavy at the start."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "reticent"

# A package may import those of lower rank only; equals are siblings and do not see each other.
RANKS = {
    "_version": 0,
    "amounts": 0,
    "layout": 0,
    "errors": 1,
    "rational": 2,
    "guarantees": 3,
    "noise": 3,
    "optim": 3,
    "data": 4,
    "preferences": 4,
    "ledger": 5,
    "mechanisms": 5,
    "tasks": 6,
    "exports": 7,
    "queries": 8,
    "report": 7,
    "running": 7,
    "testing": 7,
    "gateway": 9,
    "spark": 9,
    "console": 10,
    "cli": 11,
    "__main__": 12,
}
RANDOM = {"random", "secrets", "numpy.random", "os.urandom", "uuid"}
HEAVY = {"numpy", "scipy", "numba", "matplotlib", "fastapi", "pydantic", "cryptography"}


def modules() -> list[Path]:
    return sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")


def part(path: Path) -> str:
    inside = path.relative_to(SOURCE)
    return inside.parts[0].removesuffix(".py")


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes(path: Path) -> list[ast.AST]:
    """Those that import or name something, of one walk through a module."""
    kinds = (ast.Import, ast.ImportFrom, ast.Attribute)
    return [node for node in ast.walk(tree(path)) if isinstance(node, kinds)]


def imports(path: Path) -> Iterator[str]:
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def imported_parts(path: Path) -> set[str]:
    names = (name.split(".") for name in imports(path) if name.startswith("reticent."))
    return {name[1] for name in names} & RANKS.keys()


def test_every_part_has_a_rank() -> None:
    assert {part(path) for path in modules()} == RANKS.keys()


def wrong_way(own: str, parts: set[str]) -> list[str]:
    """The parts that may not be imported from this one."""
    return sorted(other for other in parts - {own} if RANKS[other] >= RANKS[own])


def test_imports_go_one_way() -> None:
    found = {path: wrong_way(part(path), imported_parts(path)) for path in modules()}
    wrong = [f"{p.relative_to(SOURCE)} may not import {bad}" for p, bad in found.items() if bad]
    assert wrong == []
    assert wrong_way("noise", {"noise", "errors", "tasks"}) == ["tasks"]


def random_sources(path: Path) -> set[str]:
    """What a module uses that draws."""
    attributes = {
        f"{ast.unparse(node.value)}.{node.attr}"
        for node in nodes(path)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }
    return set(imports(path)) & RANDOM | attributes & {"os.urandom", "np.random", "numpy.random"}


def test_only_noise_touches_random_sources() -> None:
    found = {path: random_sources(path) for path in modules() if part(path) != "noise"}
    wrong = [f"{p.relative_to(SOURCE)} uses {sorted(used)}" for p, used in found.items() if used]
    assert wrong == []


@pytest.mark.parametrize(
    "planted",
    ["import random", "from numpy.random import default_rng", "np.random.default_rng()"],
)
def test_the_random_fence_can_fail(planted: str, tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text(planted)
    assert random_sources(bad)


def test_no_catch_all_modules() -> None:
    banned = {"utils", "helpers", "common", "misc"}
    assert not banned & {path.stem for path in modules()}


def loaded_by(code: str) -> set[str]:
    script = f"{code}\nimport sys; print(*{{name.split('.')[0] for name in sys.modules}})"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(run.stdout.split("\n")[-2].split())


def test_importing_the_package_is_cheap() -> None:
    assert not loaded_by("import reticent") & HEAVY


def test_counts_and_quantiles_load_neither_scipy_nor_numba_nor_pictures() -> None:
    """They run in a small install; docs/dependencies.md says what of."""
    code = "import reticent as rt\n"
    code += "rt.Counts(epsilon=1).release({'person': ['ann', 'bob']})\n"
    code += "rt.Quantile(epsilon=1, upper=9).release([1, 2, 3])\n"
    code += "rt.Percentile(epsilon=1, upper=9, q=0.5).release({'person': ['ann'], 'value': [1]})"
    optional = {"scipy", "numba", "matplotlib"}
    assert not loaded_by(code) & optional
    assert loaded_by("import reticent.tasks.neighbours") >= {"scipy", "numba"}


def test_importing_the_package_has_no_side_effects() -> None:
    code = "import warnings, logging, numpy, pydantic, cryptography\n"
    code += "before = (list(warnings.filters), logging.root.handlers[:])\n"
    code += "import reticent, reticent.noise, reticent.mechanisms\n"
    code += "assert before == (list(warnings.filters), logging.root.handlers[:])"
    loaded_by(code)


def test_help_imports_nothing_heavy() -> None:
    code = "import sys\nsys.argv = ['reticent', '--help']\nfrom reticent.cli.main import run\n"
    code += "try:\n    run()\nexcept SystemExit as stop:\n    assert not stop.code, stop.code"
    assert not loaded_by(code) & HEAVY
