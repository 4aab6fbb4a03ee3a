"""Kernels as the Python they are written in, for small inputs to those that compile for long.

What is compiled gives the same: with ``--all`` it runs.
"""

from types import ModuleType

import pytest
from numba.core.dispatcher import Dispatcher

from reticent.optim import bounded_least_squares, bounded_least_squares_kernels, free_columns


def interpret(patch: pytest.MonkeyPatch, *modules: ModuleType) -> None:
    """Replace the compiled functions of these modules in them, until the patch is undone."""
    names = {module.__name__ for module in modules}
    for module in modules:
        for name, value in list(vars(module).items()):
            if isinstance(value, Dispatcher) and value.py_func.__module__ in names:
                patch.setattr(module, name, value.py_func)


def interpret_least_squares(patch: pytest.MonkeyPatch) -> None:
    """Moving a histogram to the nearest possible one, and profiles behind it."""
    interpret(patch, bounded_least_squares, bounded_least_squares_kernels, free_columns)
