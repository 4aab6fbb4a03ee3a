"""The JSON Schema of a preferences file, for editors and for other programs.

Not here  the rules as they are applied, with their sentences (reading.py); tests compare the two.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

SCHEMA = "preferences/1"

Weight = Annotated[float, Field(ge=0, le=1)]
Epsilon = Annotated[float, Field(gt=0, le=1_000_000)]
Budget = Epsilon | Literal["withhold"]
Bits = Annotated[float, Field(ge=0, le=1_000_000)]


class Block(BaseModel):
    """A table of the file; unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ProviderTable(Block):
    """What one provider may get."""

    epsilon: Epsilon = Field(description="What one release may cost, over all attributes")
    total: Epsilon | SkipJsonSchema[None] = Field(
        default_factory=lambda: None, description="What all releases may cost until it renews"
    )
    renews: Literal["never", "daily", "weekly", "monthly", "yearly"] = "never"
    attributes: dict[str, Budget] = Field(
        default_factory=dict, description="Instead of the general attributes, for this provider"
    )
    items: dict[str, Weight] = Field(
        default_factory=dict, description="Instead of the general items, for this provider"
    )


class HideTable(Block):
    """How much may become inferable, on average."""

    leak_bits: Bits


class PreferencesFile(Block):
    """What one person allows."""

    version: Literal[1]
    items: dict[str, Weight] = Field(
        default_factory=dict, description="Weight of each item; `default` for those not named"
    )
    attributes: dict[str, Budget] = Field(
        default_factory=dict,
        description="Epsilon of each attribute; `default` for those not named, else withheld",
    )
    providers: dict[str, ProviderTable] = Field(
        default_factory=dict, description="Who may get anything; all others get nothing"
    )
    hide: dict[str, HideTable] = Field(
        default_factory=dict, description="What must not become inferable from released profiles"
    )


def preferences_schema() -> dict[str, Any]:
    """The JSON Schema of a preferences file, shipped as ``preferences-1.schema.json``."""
    schema = PreferencesFile.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": SCHEMA, **schema}
