"""The tables of docs/queries.md: which kinds there are, and what can be done with each, where."""

from __future__ import annotations

import re

from reticent.queries.cells import RELEASES_ONLY, SURFACES, VERBS, cells
from reticent.queries.registry import queries

_BLOCK = re.compile(r"<!-- queries -->\n.*?<!-- end -->", re.DOTALL)


def page(text: str) -> str:
    """``text`` with the tables made anew."""
    return _BLOCK.sub(lambda _: f"<!-- queries -->\n{_tables()}<!-- end -->", text)


def _tables() -> str:
    lines, reasons = _kinds()
    whys = [
        f"- Not {', '.join(names)}: {why} ({', '.join(f'`{kind}`' for kind in kinds)})."
        for (why, kinds), names in reasons.items()
    ]
    surfaces = [f"- On {where} only release: {why}." for where, why in RELEASES_ONLY.items()]
    about = [f"- `{kind}`: {query.about()}" for kind, query in queries().items()]
    return "\n".join([*lines, "", *whys, *surfaces, "", *about, ""])


def _kinds() -> tuple[list[str], dict[tuple[str, tuple[str, ...]], list[str]]]:
    """A line for each kind; and what is absent, by the reason and the kinds it holds for."""
    names = (*VERBS, *SURFACES)
    lines = [f"| query | {' | '.join(names)} |", f"|---|{'---|' * len(names)}"]
    found: dict[tuple[str, str], list[str]] = {}
    for kind, query in queries().items():
        told = cells(query)
        row = {**told["verbs"], **told["surfaces"]}
        lines.append(
            f"| `{kind}` | {' | '.join('yes' if row[n] is True else 'no' for n in names)} |"
        )
        for name in names:
            if row[name] is not True:
                found.setdefault((name, row[name]), []).append(kind)
    reasons: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (name, why), kinds in found.items():
        reasons.setdefault((why, tuple(kinds)), []).append(name)
    return lines, reasons
