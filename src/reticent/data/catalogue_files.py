"""Reading a public catalogue: one line per item and attribute, or one line per item.

Not here  what a catalogue is (catalogue.py), published data sets (sources/).

A catalogue is public, so errors may name a row of it.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from scipy import sparse

from reticent.data.catalogue import Catalogue
from reticent.data.interactions import TableError
from reticent.data.text_tables import read_lines
from reticent.errors import ParameterError

CATALOGUES = (".csv", ".csv.gz", ".parquet")


def read_catalogue(path: str | Path) -> Catalogue:
    """A catalogue from a table with a header line: .csv, .csv.gz or .parquet.

    Either one line per item and attribute (columns ``item``, ``attribute`` and, if there are any,
    ``value``), or one line per item (column ``item`` first, then one column per attribute).
    """
    path = Path(path)
    if not path.name.casefold().endswith(CATALOGUES):
        raise ParameterError("catalogue", f"a file named {', '.join(CATALOGUES)}", path.name)
    return catalogue_of(path.name, *read_lines(path))


def catalogue_of(name: str, header: list[str], lines: list[list[str]]) -> Catalogue:
    """A catalogue from a table of text, as ``read_catalogue`` has it; ``name`` is for errors."""
    names = [one.strip() for one in header]
    folded = [one.casefold() for one in names]
    if len(set(folded)) < len(folded):
        raise TableError(name, "has two columns of the same name")
    if "attribute" in folded:
        return _from_long(name, folded, lines)
    if len(names) < 2 or folded[0] != "item":
        rule = "columns item and attribute (and value), or item and then one column per attribute"
        raise TableError(name, f"has columns {', '.join(names)}; it must have {rule}")
    return _from_wide(name, names[1:], lines)


def _from_long(name: str, header: list[str], lines: list[list[str]]) -> Catalogue:
    if not {"item", "attribute"} <= set(header) <= {"item", "attribute", "value"}:
        raise TableError(name, "must have columns item and attribute, and value if there is")
    item, attribute = header.index("item"), header.index("attribute")
    value = header.index("value") if "value" in header else None
    items: dict[str, int] = {}
    attributes: dict[str, int] = {}
    entries: dict[tuple[int, int], float] = {}
    for number, line in enumerate(lines, start=2):
        row = items.setdefault(line[item], len(items))
        if not line[attribute]:
            continue  # an item without attributes
        place = row, attributes.setdefault(line[attribute], len(attributes))
        if place in entries:
            raise TableError(name, f"names an item and its attribute twice, in row {number}")
        entries[place] = 1.0 if value is None else _number(name, line[value], number)
    if not entries:
        raise TableError(name, "has no item with an attribute")
    rows, columns = np.array(list(entries)).T
    table = sparse.csc_array(
        (list(entries.values()), (rows, columns)), shape=(len(items), len(attributes))
    )
    return Catalogue.of(table, attributes=list(attributes), items=list(items))


def _from_wide(name: str, attributes: list[str], lines: list[list[str]]) -> Catalogue:
    values = [
        [_number(name, field or "0", number) for field in line[1:]]
        for number, line in enumerate(lines, start=2)
    ]
    if not values:
        raise TableError(name, "has no items")
    items = [line[0] for line in lines]
    if len(set(items)) < len(items):
        twice = next(item for item in items if items.count(item) > 1)
        raise TableError(name, f"names an item twice: {twice!r}")
    return Catalogue.of(np.array(values), attributes=attributes, items=items)


def _number(name: str, text: str, row: int) -> float:
    try:
        number = float({"true": "1", "false": "0"}.get(text.casefold(), text))
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise TableError(name, f"has a value that is no number in row {row}")
    return number
