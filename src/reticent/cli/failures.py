"""How a command ends: the exit codes, and each error as what happened, why, and what to do next.

Not here  the errors themselves (errors.py).

An error that nobody foresaw is named by its class only: its text could hold private values.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum

from reticent import errors
from reticent.cli.output import talk


class ExitCode(IntEnum):
    """What the exit code of ``reticent`` means; scripts may rely on it."""

    DONE = 0
    FOUND = 1  # the check found something
    USAGE = 2  # wrong usage
    REFUSED = 3  # by preferences or a budget
    EXTRA_MISSING = 4
    BUG = 70  # an error in Reticent itself
    INTERRUPTED = 130
    PIPE_CLOSED = 141


class Failure(Exception):
    """A command cannot go on: what happened, why, and a next command that works."""

    def __init__(self, what: str, *, why: str = "", next_command: str = "") -> None:
        self.what, self.why, self.next_command = what, why, next_command
        super().__init__(what)


class Refusal(Failure):
    """A budget or a kept answer does not allow it; ``others``: further commands, by their aim."""

    def __init__(
        self,
        what: str,
        *,
        why: str = "",
        next_command: str = "",
        others: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(what, why=why, next_command=next_command)
        self.others = dict(others or {})


_OPTIONS = (
    *("epsilon", "total_epsilon", "max_contacts", "profile_size", "k"),
    *("measure", "norms", "weighting", "columns"),
    *("bound", "upper", "lower", "step", "epsilons", "runs", "total", "key"),
)  # parameters of the library that are options here


def explain(error: Exception, command: str = "reticent") -> ExitCode:
    """Say on stderr what an error of ``command`` means, and give the exit code for it."""
    usage = f"{command} --help"
    if isinstance(error, Refusal):
        told = (error.what, error.why, error.next_command or usage)
        code = _tell("refused", *told, ExitCode.REFUSED)
        for aim, command in error.others.items():
            talk(f"  {aim}: {command}")
        return code
    if isinstance(error, Failure):
        next_command = error.next_command or usage
        return _tell("error", error.what, error.why, next_command, ExitCode.USAGE)
    if isinstance(error, errors.BudgetExceeded):
        why = "nothing was drawn and nothing was charged"
        return _tell("refused", str(error), why, usage, ExitCode.REFUSED)
    if isinstance(error, errors.Refused):
        why = f"did you mean {error.nearest}?" if error.nearest is not None else ""
        return _tell("refused", str(error), why, usage, ExitCode.REFUSED)
    if isinstance(error, errors.MissingExtra):
        install = f"pip install 'reticent[{error.extra}]'"
        what = f"{error.what} needs a part that is not installed"
        return _tell("error", what, "", install, ExitCode.EXTRA_MISSING)
    if isinstance(error, errors.ReticentError):
        return _tell("error", _as_typed(error), "", usage, ExitCode.USAGE)
    if isinstance(error, OSError):
        if isinstance(error, IsADirectoryError) and error.filename is not None:
            return _tell("error", f"{error.filename} is a directory", "", usage, ExitCode.USAGE)
        what = f"{error.filename} cannot be used" if error.filename is not None else "no access"
        return _tell("error", what, reason(error), usage, ExitCode.USAGE)
    if hasattr(error, "format_message"):  # Typer's errors of usage, whatever their class is called
        return _usage(error)
    what = f"something unforeseen happened ({type(error).__name__})"
    why = "this is an error in Reticent; its text is not shown because it could hold private values"
    return _tell("error", what, why, "reticent --debug ..., to see where", ExitCode.BUG)


def _as_typed(error: errors.ReticentError) -> str:
    """The sentence of an error, with options named as they are typed and values as text."""
    if not isinstance(error, errors.ParameterError) or error.name not in _OPTIONS:
        return str(error)
    got = f", got {error.value!r}" if isinstance(error.value, (str, int)) else ""
    return f"--{error.name.replace('_', '-')} must be {error.rule}{got}"


def reason(error: OSError) -> str:
    """Why the operating system refused, in its own words."""
    return error.strerror or type(error).__name__


def _usage(error: Exception) -> ExitCode:
    message = error.format_message()  # type: ignore[attr-defined]
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "reticent"
    if type(error).__name__ == "NoArgsIsHelpError":  # its message is the help, complete as it is
        talk(message, raw=True)
        return ExitCode.USAGE
    return _tell("error", message, "", f"{path} --help", ExitCode.USAGE)


def _tell(kind: str, what: str, why: str, next_command: str, code: ExitCode) -> ExitCode:
    talk(f"{kind}: {what}")
    if why:
        talk(f"  {why}")
    if next_command:
        talk(f"  next: {next_command}")
    return code
