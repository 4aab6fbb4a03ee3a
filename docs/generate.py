"""Write the parts of the repository that are made from code; ``--check`` says if one is stale.

docs/command-line.md                             the help of every command, between markers
docs/queries.md                                  the table of kinds
docs/scale.md                                    tables, from benchmarks/scale.json
docs/reference/*.md                              signatures and docstrings of the public names
src/reticent/guarantees/guarantee-card-1.schema.json   the JSON Schema of a card
src/reticent/preferences/preferences-1.schema.json     the JSON Schema of a preferences file

The help is laid out by Typer, so it is compared under the version that wrote it only. The
reference is cut out of the source text, so every version of Python writes the same.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import typer

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs"))

import query_table  # noqa: E402
import reference_card  # noqa: E402
import reference_pages  # noqa: E402
import scale_tables  # noqa: E402

from reticent.cli.main import run  # noqa: E402
from reticent.guarantees.card import card_schema  # noqa: E402
from reticent.preferences.schema import preferences_schema  # noqa: E402

PAGE = ROOT / "docs/command-line.md"
SCHEMA = ROOT / "src/reticent/guarantees/guarantee-card-1.schema.json"
PREFERENCES_SCHEMA = ROOT / "src/reticent/preferences/preferences-1.schema.json"
REFERENCE = ROOT / "docs/reference"
_HELP = re.compile(r"<!-- help: (reticent[a-z -]*) -->\n.*?<!-- end -->", re.DOTALL)
_TYPER = re.compile(r"<!-- laid out by Typer [^ ]* -->")


def page(text: str) -> str:
    """``text`` with the help between each pair of markers made anew."""
    stamped = _TYPER.sub(f"<!-- laid out by Typer {typer.__version__} -->", text)
    return _HELP.sub(lambda marker: _block(marker[1]), stamped)


def schema(text: str) -> str:
    """The JSON Schema of a card; what is there now does not matter."""
    return _json(card_schema())


def wishes_schema(text: str) -> str:
    """The JSON Schema of a preferences file."""
    return _json(preferences_schema())


def _made(make: Callable[[], str]) -> Callable[[str], str]:
    return lambda text: make()


def _reference() -> dict[Path, Callable[[str], str]]:
    pages = {
        f"{package}.md": lambda package=package: reference_pages.package_page(package)
        for package in reference_pages.PACKAGES
    }
    pages["index.md"] = reference_pages.index_page
    pages["card.md"] = reference_card.card_page
    return {REFERENCE / name: _made(make) for name, make in pages.items()}


FILES: dict[Path, Callable[[str], str]] = {
    PAGE: page,
    ROOT / "docs/queries.md": query_table.page,
    SCHEMA: schema,
    PREFERENCES_SCHEMA: wishes_schema,
    ROOT / "docs/scale.md": scale_tables.page,
    **_reference(),
}


def stale() -> list[Path]:
    """The files that differ from what would be written."""
    return [path for path, make in FILES.items() if make(_text(path)) != _text(path)]


def typer_differs() -> bool:
    """Whether another version of Typer than the installed one laid the help out."""
    return f"Typer {typer.__version__} " not in _text(PAGE)


def main(arguments: list[str]) -> int:
    """Write, or with ``--check`` only compare; 1 if something is stale."""
    if "--check" in arguments:
        found = stale()
        for path in found:
            sys.stderr.write(f"stale: {path.relative_to(ROOT)}; run python docs/generate.py\n")
        return 1 if found else 0
    REFERENCE.mkdir(exist_ok=True)
    for path, make in FILES.items():
        path.write_text(make(_text(path)), encoding="utf-8")
    return 0


def _block(command: str) -> str:
    layout = {"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb"}
    printed = io.StringIO()
    with patch.dict(os.environ, layout), redirect_stdout(printed), suppress(SystemExit):
        run([*command.split()[1:], "--help"])
    return f"<!-- help: {command} -->\n```text\n{printed.getvalue().rstrip()}\n```\n<!-- end -->"


def _json(data: dict[str, Any]) -> str:
    return json.dumps(data, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
