"""On which line of a TOML text each key stands.

Not here  what the keys mean (model.py), what is said about them (problems.py).

The parser finds the statements: lines that begin at a statement parse on their own once they hold
all of it and never before, because a value that is cut does not end. Each statement is so parsed
once, which together costs about as much as reading the text.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

KeyPath: TypeAlias = tuple[str, ...]
"""The names that lead to a value: ``("attributes", "Drama")``."""

_LONGEST = 300  # lines of a value; beyond it the rest has no line, for the work is quadratic


def key_lines(text: str) -> dict[KeyPath, int]:
    r"""The first line, from 1, on which each key or table of a valid TOML text is named.

    >>> key_lines('version = 1\n\n[items]  # weights\n"The Sessions" = 0')
    {('version',): 1, ('items',): 3, ('items', 'The Sessions'): 4}
    """
    lines = text.replace("\r\n", "\n").split("\n")
    found: dict[KeyPath, int] = {}
    table: KeyPath = ()
    start = 0
    while start < len(lines):
        size, content = _statement(lines, start)
        paths = list(_paths(content))
        header = bool(paths) and lines[start].lstrip().startswith("[")
        for path in paths:
            found.setdefault(path if header else (*table, *path), start + 1)
        table = paths[-1] if header else table
        start += size
    return found


def _statement(lines: Sequence[str], start: int) -> tuple[int, Mapping[str, Any]]:
    """How many lines the statement at ``start`` has, and what it holds; all lines if unknown."""
    for size in range(1, min(_LONGEST, len(lines) - start) + 1):
        try:
            return size, tomllib.loads("\n".join(lines[start : start + size]))
        except (ValueError, RecursionError):
            continue
    return len(lines), {}


def _paths(content: Mapping[str, Any]) -> Iterator[KeyPath]:
    for name, value in content.items():
        yield (name,)
        inner = value[0] if isinstance(value, list) and value else value
        if isinstance(inner, dict):
            yield from ((name, *path) for path in _paths(inner))
