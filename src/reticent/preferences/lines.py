"""On which line of a TOML text each key stands.

Not here  what the keys mean (model.py), what is said about them (problems.py).

Each statement is parsed once, by itself, which together costs about as much as reading the text.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from reticent.preferences.scanning import statements

KeyPath: TypeAlias = tuple[str, ...]
"""The names that lead to a value: ``("attributes", "Drama")``."""


def key_lines(text: str) -> dict[KeyPath, int]:
    r"""The first line, from 1, on which each key or table of a valid TOML text is named.

    >>> key_lines('version = 1\n\n[items]  # weights\n"The Sessions" = 0')
    {('version',): 1, ('items',): 3, ('items', 'The Sessions'): 4}
    """
    found: dict[KeyPath, int] = {}
    table: KeyPath = ()
    for one in statements(text):
        paths = list(_paths(tomllib.loads(one.text)))
        header = one.text.lstrip().startswith("[")
        for path in paths:
            found.setdefault(path if header else (*table, *path), one.line)
        table = paths[-1] if header else table
    return found


def _paths(content: Mapping[str, Any]) -> Iterator[KeyPath]:
    for name, value in content.items():
        yield (name,)
        inner = value[0] if isinstance(value, list) and value else value
        if isinstance(inner, dict):
            yield from ((name, *path) for path in _paths(inner))
