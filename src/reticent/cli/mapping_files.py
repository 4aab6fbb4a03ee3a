"""A mapping's file, read for a command; one that cannot be used, with the command that makes one.

Not here  learning a mapping (mapping.py), the format of the file (tasks/recoding_files.py).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from reticent.cli.failures import Failure, reason

if TYPE_CHECKING:
    from reticent.tasks.recoding import Recoding
    from reticent.tasks.recoding_files import MappingError

_FITTED = "reticent fit mapping --help"  # which makes one

MappingFile: TypeAlias = Annotated[
    Path,
    typer.Argument(help="A mapping that `reticent fit mapping` wrote, .json.", metavar="MAPPING"),
]


def read_mapping(path: Path) -> Recoding:
    """The mapping in a file."""
    from reticent.tasks.recoding_files import MappingError, read_recoding

    try:
        return read_recoding(path)
    except OSError as error:
        raise Failure(f"{path} cannot be read", why=reason(error), next_command=_FITTED) from None
    except MappingError as error:
        raise unusable_mapping(error) from None


def unusable_mapping(error: MappingError) -> Failure:
    """What is wrong with the file."""
    return Failure(error.what, why=error.why, next_command=_FITTED)
