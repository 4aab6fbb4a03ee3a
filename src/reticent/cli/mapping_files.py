"""A mapping's file: read, which secrets it hides, what it tells about each, what it released.

Not here  learning a mapping (mapping.py), the format of the file (tasks/recoding_files.py).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from reticent.cli.failures import Failure, reason
from reticent.guarantees.card_facts import printable
from reticent.layout import table

if TYPE_CHECKING:
    from reticent.tasks.recoding import Recoding

_FITTED = "reticent fit mapping --help"  # which makes one


def read_mapping(path: Path) -> Recoding:
    """The mapping in a file; one that was changed, cut or is something else is refused."""
    from reticent.errors import ParameterError
    from reticent.tasks.recoding_files import recoding_from_json

    try:
        return _of_text(recoding_from_json(path.read_text(encoding="utf-8")), path)
    except OSError as error:
        raise Failure(f"{path} cannot be read", why=reason(error), next_command=_FITTED) from None
    except UnicodeDecodeError:
        why = "it is not text in UTF-8"
    except ParameterError as error:
        why = str(error)
    except RecursionError:
        why = "it is nested too deeply"
    raise Failure(f"{path} is no mapping that can be used", why=why, next_command=_FITTED)


def _of_text(recoding: Recoding, path: Path) -> Recoding:
    """Tables are read as text, so a mapping of numbers would know nobody."""
    if all(isinstance(value, str) for row in recoding.profiles.tolist() for value in row):
        return recoding
    why = "tables are read as text; release through it in Python, or fit it with this command"
    raise Failure(f"{path} is a mapping of numbers", why=why, next_command=_FITTED)


def profile_lines(columns: tuple[str, ...], values: tuple[str, ...] | None) -> list[str]:
    """One released profile as a table."""
    told = [("withheld")] * len(columns) if values is None else [printable(v) for v in values]
    return table(("attribute", "released"), list(zip(map(printable, columns), told, strict=True)))
