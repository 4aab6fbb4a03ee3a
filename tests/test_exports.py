"""What a package exports is what its ``__all__`` says, sorted, and nothing else."""

import importlib
import types

import pytest

import reticent

PACKAGES = ["guarantees", "ledger", "noise", "mechanisms", "preferences", "testing"]


@pytest.mark.parametrize("name", PACKAGES)
def test_all_lists_the_public_names(name: str) -> None:
    package = importlib.import_module(f"reticent.{name}")
    public = {
        key
        for key, value in vars(package).items()
        if not key.startswith("_") and not isinstance(value, types.ModuleType)
    }
    assert public == set(package.__all__)


@pytest.mark.parametrize("name", ["", *PACKAGES])
def test_all_is_sorted(name: str) -> None:
    package = importlib.import_module(f"reticent.{name}".rstrip("."))
    constants = [n for n in package.__all__ if n.isupper()]
    classes = [n for n in package.__all__ if n[0].isupper() and not n.isupper()]
    others = [n for n in package.__all__ if not n[0].isupper()]
    assert list(package.__all__) == sorted(constants) + sorted(classes) + sorted(others)


def test_the_short_names_load_on_first_use() -> None:
    for name in reticent.__all__:
        assert getattr(reticent, name) is not None
    assert set(dir(reticent)) == set(reticent.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = reticent.nothing
