"""The page on a card's fields, from the JSON Schema that ships with the package."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SCHEMA = Path(__file__).parents[1] / "src/reticent/guarantees/guarantee-card-1.schema.json"
_TOP = """# The guarantee card, field by field

<!-- Made from the schema by docs/generate.py. -->

A card is one JSON object. `reticent card schema` prints the JSON Schema that this page is made
from, `reticent card show` shows a card to people, and `reticent card verify` recomputes what it
says. How to read one is on [What we promise](../promise.md#how-to-read-a-card). A field that is
not listed here makes a card invalid.

"""


def card_page() -> str:
    """All parts of a card, the card itself first."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    parts = [_part("The card", schema)]
    parts += [_part(name, schema["$defs"][name]) for name in sorted(schema["$defs"])]
    return _TOP + "\n".join(parts)


def _part(name: str, schema: dict[str, Any]) -> str:
    needed = set(schema.get("required", ()))
    rows = [
        f"| `{field}` | {_kind(about)} | {_absent(field, about, needed)} |"
        for field, about in sorted(schema.get("properties", {}).items())
    ]
    said = " ".join(schema.get("description", "").split()).replace("``", "`")
    head = ["| field | holds | if absent |", "| --- | --- | --- |"] if rows else []
    return "\n".join([f"## {name}", "", *([said, ""] if said else []), *head, *rows, ""])


def _absent(field: str, about: dict[str, Any], needed: set[str]) -> str:
    if field in needed:
        return "an error"
    default = json.dumps(about.get("default"), ensure_ascii=False)
    return f"`{default}`"


def _kind(about: dict[str, Any]) -> str:
    if "$ref" in about:
        name = about["$ref"].rsplit("/", 1)[1]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in about:
        return " or ".join(_kind(one) for one in about["anyOf"])
    if "const" in about:
        return f"`{json.dumps(about['const'])}`"
    if "enum" in about:
        return " or ".join(f"`{json.dumps(one)}`" for one in about["enum"])
    if about.get("type") == "array":
        of = about.get("items") or about.get("prefixItems")
        kinds = [_kind(one) for one in of] if isinstance(of, list) else [_kind(of or {})]
        return "list of " + ", ".join(dict.fromkeys(kinds))
    return {"null": "nothing", None: "anything"}.get(about.get("type"), str(about.get("type")))
