"""The table of docs/queries.md: which kinds there are, and what can be done with each, where."""

from __future__ import annotations

import re

from reticent.queries.cells import SURFACES, VERBS, cells
from reticent.queries.registry import queries

_BLOCK = re.compile(r"<!-- queries -->\n.*?<!-- end -->", re.DOTALL)


def page(text: str) -> str:
    """``text`` with the table made anew."""
    return _BLOCK.sub(lambda _: f"<!-- queries -->\n{_table()}<!-- end -->", text)


def _table() -> str:
    names = (*VERBS, *SURFACES)
    lines = [f"| query | {' | '.join(names)} |", f"|---|{'---|' * len(names)}"]
    reasons: dict[str, list[str]] = {}
    for kind, query in queries().items():
        found = cells(query)
        told = []
        for name in names:
            cell = {**found["verbs"], **found["surfaces"]}[name]
            told.append("yes" if cell is True else "no")
            if cell is not True:
                reasons.setdefault(f"{name}: {cell}", []).append(f"`{kind}`")
        lines.append(f"| `{kind}` | {' | '.join(told)} |")
    whys = [f"- Not {why} ({', '.join(kinds)})." for why, kinds in reasons.items()]
    about = [f"- `{kind}`: {query.about()}" for kind, query in queries().items()]
    return "\n".join([*lines, "", *whys, "", *about, ""])
