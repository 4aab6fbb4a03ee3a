"""Every example in a docstring, in the README and in the pages runs and prints what it says."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import reticent

ROOT = Path(__file__).parents[1]
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(reticent.__path__, "reticent.")
    if not module.name.endswith("__main__")
)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name: str) -> None:
    failed, _ = doctest.testmod(importlib.import_module(name), optionflags=OPTIONS)
    assert failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages(page: Path) -> None:
    failed, _ = doctest.testfile(str(page), module_relative=False, optionflags=OPTIONS)
    assert failed == 0


def test_the_readme_has_examples() -> None:
    parser = doctest.DocTestParser()
    assert len(parser.get_examples((ROOT / "README.md").read_text(encoding="utf-8"))) >= 5


def test_the_readme_is_a_screen_and_a_half() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 90
