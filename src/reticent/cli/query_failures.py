"""Errors of a query as what happened, why, and the next command, in terms of what was typed.

Not here  how a command ends (failures.py), options (query_options.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from reticent.cli.failures import Failure
from reticent.cli.query_options import spelling
from reticent.errors import ParameterError, ReticentError

_UNTOLD = ("less", "given", "another", "others")  # values that are words of ours
_NOT_SAID = frozenset({"data", "names", "kind", "mapping"})  # parameters that are no options


@contextmanager
def as_failures(given: Mapping[str, Any]) -> Iterator[None]:
    """Errors in here are about options and files as they were typed."""
    try:
        yield
    except ParameterError as error:
        raise _as_typed(error) from None
    except ReticentError as error:
        raise _of_file(error, given) from None


def _as_typed(error: ParameterError) -> Failure | ParameterError:
    """An error about an option."""
    from reticent.data.interactions import TableError

    unsaid = isinstance(error, TableError) or error.name in _NOT_SAID
    if unsaid or not error.name.replace("_", "").isalpha():
        return error
    plain = isinstance(error.value, (str, int)) and not isinstance(error.value, bool)
    got = f", got {error.value!r}" if plain and error.value not in _UNTOLD else ""
    return Failure(f"{spelling(error.name)} must be {error.rule}{got}")


def _of_file(error: ReticentError, given: Mapping[str, Any]) -> Exception:
    """An error in a file, with the command that makes a good one or finds what is wrong."""
    from reticent.preferences import PreferencesError
    from reticent.queries.artefacts import ArtefactError
    from reticent.tasks.hidden_secrets import NotHidden
    from reticent.tasks.recoding_files import MappingError

    if isinstance(error, ArtefactError):
        what = f"{error.called} is no {error.kind} that can be used"
        return Failure(what, why=error.why, next_command=f"reticent release {error.kind} --help")
    if isinstance(error, MappingError):
        from reticent.cli.mapping_files import unusable_mapping

        return unusable_mapping(error)
    if isinstance(error, NotHidden):
        from reticent.cli.stricter_mapping import refused

        return refused(error, given.get("table_table"), readable=not given.get("dry_run", True))
    if isinstance(error, PreferencesError):
        return _of_preferences(error, given)
    return error


def _of_preferences(error: Exception, given: Mapping[str, Any]) -> Failure:
    """The command that finds all that is wrong with the file."""
    from reticent.cli.prefs import unusable

    file = given.get("table_preferences") or Path("preferences.toml")
    catalogue = given.get("table_catalogue")
    more = () if catalogue is None else ("--catalogue", str(catalogue))
    return unusable(error, file, *more)
