"""The public catalogue as text that a database keeps, equal for equal catalogues.

Not here  files that people write (data/catalogue_files.py).
"""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np

from reticent.data.catalogue import Catalogue
from reticent.errors import require
from reticent.guarantees.events import canonical

SCHEMA = "catalogue/1"


def catalogue_to_text(catalogue: Catalogue) -> str:
    """All of a catalogue, exactly."""
    return canonical(
        {
            "schema": SCHEMA,
            "items": list(catalogue.items),
            "attributes": list(catalogue.attributes),
            "starts": catalogue.starts.tolist(),
            "rows": catalogue.rows.tolist(),
            "units": catalogue.units.tolist(),
            "steps": [str(step) for step in catalogue.steps],
        }
    )


def catalogue_from_text(text: str) -> Catalogue:
    """Inverse of ``catalogue_to_text``."""
    data = json.loads(text)
    known = data.get("schema") == SCHEMA
    require(known, "catalogue", "another text", f"of schema {SCHEMA}")
    starts, rows, units = (
        np.array(data[name], dtype=np.int64) for name in ("starts", "rows", "units")
    )
    steps = tuple(Fraction(step) for step in data["steps"])
    return Catalogue(tuple(data["items"]), tuple(data["attributes"]), starts, rows, units, steps)
