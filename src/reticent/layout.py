"""Rows of text in columns, for terminals.

Not here  what is in them.
"""

from __future__ import annotations

from collections.abc import Sequence


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of text in columns; a column under a head that ends in a space is set to the right."""
    widths = [max(len(row[i].strip()) for row in (heads, *rows)) for i in range(len(heads))]

    def line(cells: Sequence[str]) -> str:
        set_cells = (
            cell.strip().rjust(width) if head.endswith(" ") else cell.ljust(width)
            for cell, width, head in zip(cells, widths, heads, strict=True)
        )
        return "  ".join(set_cells).rstrip()

    return [line(heads), "  ".join("-" * width for width in widths), *map(line, rows)]
