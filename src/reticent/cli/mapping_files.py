"""Files of mappings and of people for a command; one that cannot be used, with what makes one.

Not here  learning a mapping (queries/mapping.py), the format of its file (tasks/recoding_files.py).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from reticent.cli.failures import Failure, reason

if TYPE_CHECKING:
    from reticent.tasks.recoding import Recoding
    from reticent.tasks.recoding_files import MappingError

_LEARNT = "reticent release mapping --help"  # which makes one

MappingFile: TypeAlias = Annotated[
    Path,
    typer.Argument(
        help="A mapping that `reticent release mapping` wrote, .json.", metavar="MAPPING"
    ),
]
PeopleFile: TypeAlias = Annotated[
    Path,
    typer.Argument(
        help="One line per person, one column per attribute: .csv, .csv.gz or .parquet, with a "
        "header line.",
        metavar="PEOPLE",
    ),
]


def read_mapping(path: Path) -> Recoding:
    """The mapping in a file."""
    from reticent.tasks.recoding_files import MappingError, read_recoding

    try:
        return read_recoding(path)
    except OSError as error:
        raise Failure(f"{path} cannot be read", why=reason(error), next_command=_LEARNT) from None
    except MappingError as error:
        raise unusable_mapping(error) from None


def unusable_mapping(error: MappingError) -> Failure:
    """What is wrong with the file."""
    return Failure(error.what, why=error.why, next_command=_LEARNT)
