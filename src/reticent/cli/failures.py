"""How a command ends: the exit codes, and each error as what happened, why, and what to do next.

Not here  the errors themselves (errors.py), which command was typed (typed.py).

An error that nobody foresaw is named by its class only: its text could hold private values.
Where JSON was asked for, stdout gets one object ``error/1`` with the same words; they are said on
stderr all the same.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from enum import IntEnum
from pathlib import Path

from reticent import errors
from reticent.amounts import show_nano
from reticent.cli.output import say_json, talk
from reticent.cli.typed import ROOT


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
    """A command cannot go on: what happened, why, and a next command that works.

    ``instead``: the file that an option names, and the one to name in the same command.
    """

    def __init__(
        self,
        what: str,
        *,
        why: str = "",
        next_command: str = "",
        instead: tuple[Path, Path] | None = None,
    ) -> None:
        self.what, self.why, self.next_command = what, why, next_command
        self.instead = instead
        super().__init__(what)


class Refusal(Failure):
    """A budget or a kept answer does not allow it; ``others``: further commands, by their aim.

    ``amounts`` are those of a budget: asked, left and missing, as text.
    """

    def __init__(
        self,
        what: str,
        *,
        why: str = "",
        next_command: str = "",
        others: Mapping[str, str] | None = None,
        amounts: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(what, why=why, next_command=next_command)
        self.others, self.amounts = dict(others or {}), dict(amounts or {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a command ended that did not do what was asked, in words for people and programs."""

    code: ExitCode
    what: str
    why: str = ""
    next_command: str = ""
    others: Mapping[str, str] = field(default_factory=dict)
    amounts: Mapping[str, str] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """The word before the colon."""
        return "refused" if self.code is ExitCode.REFUSED else "error"

    def tell(self) -> None:
        """On stderr, for who is there."""
        talk(f"{self.kind}: {self.what}")
        if self.why:
            talk(f"  {self.why}")
        talk(f"  next: {self.next_command}")
        for aim, command in self.others.items():
            talk(f"  {aim}: {command}")

    def say(self) -> None:
        """On stdout, as one JSON object."""
        say_json(
            "error/1",
            kind=self.kind,
            what=self.what,
            why=self.why,
            next=self.next_command,
            others=dict(self.others),
            exit_code=int(self.code),
            **self.amounts,
        )


_OPTIONS = (
    *("epsilon", "total_epsilon", "max_contacts", "profile_size", "k"),
    *("measure", "norms", "weighting", "columns"),
    *("bound", "upper", "lower", "step", "epsilons", "runs", "total", "key"),
)  # parameters of the library that are options here


def explain(
    error: BaseException,
    command: str = "reticent",
    *,
    meant: str = "",
    words: Sequence[str] = (),
    as_json: bool = False,
) -> ExitCode:
    """Say what an error of ``command`` means, and give the exit code for it.

    ``meant`` is the command that was probably meant where the words name none; ``words`` is all
    that was typed after ``reticent``.
    """
    if type(error).__name__ == "NoArgsIsHelpError":  # its message is the help, complete as it is
        talk(error.format_message(), raw=True)  # type: ignore[attr-defined]
        return ExitCode.USAGE
    ended = with_other_file(ending(error, command, meant=meant), error, words)
    ended.tell()
    if as_json:
        ended.say()
    return ended.code


def ending(error: BaseException, command: str = "reticent", *, meant: str = "") -> Ending:
    """What an error means: the code, what happened, why, and what to do next."""
    usage = f"{command} --help"
    if isinstance(error, Failure):
        refused = isinstance(error, Refusal)
        return Ending(
            code=ExitCode.REFUSED if refused else ExitCode.USAGE,
            what=error.what,
            why=error.why,
            next_command=error.next_command or usage,
            others=getattr(error, "others", {}),
            amounts=getattr(error, "amounts", {}),
        )
    if isinstance(error, errors.ReticentError):
        return _of_library(error, usage)
    if isinstance(error, OSError):
        return _of_system(error, usage)
    if hasattr(error, "format_message"):  # Typer's errors of usage, whatever their class is called
        return _of_usage(error, meant)
    what = f"something unforeseen happened ({type(error).__name__})"
    why = (
        "this is an error in Reticent; its text is not shown because it could hold private "
        "values; reticent --debug before the command shows where it arose"
    )
    return Ending(code=ExitCode.BUG, what=what, why=why, next_command="reticent doctor")


def _of_library(error: errors.ReticentError, usage: str) -> Ending:
    if isinstance(error, errors.BudgetExceeded):
        why = "nothing was drawn and nothing was charged"
        return Ending(
            code=ExitCode.REFUSED,
            what=str(error),
            why=why,
            next_command=usage,
            amounts=budget_amounts(error.asked, error.left),
        )
    if isinstance(error, errors.Refused):
        why = f"did you mean {error.nearest}?" if error.nearest is not None else ""
        proposed = _of_provider(error) or {"next": usage}
        first, *others = proposed.items()
        return Ending(
            code=ExitCode.REFUSED,
            what=str(error),
            why=why,
            next_command=first[1],
            others=dict(others),
        )
    if isinstance(error, errors.MissingExtra):
        return Ending(
            code=ExitCode.EXTRA_MISSING,
            what=f"{error.what} needs a part that is not installed",
            why=f"or, in a checkout: pip install '.[{error.extra}]'",
            next_command=f"pip install 'reticent[{error.extra}]'",
        )
    return Ending(code=ExitCode.USAGE, what=_as_typed(error), next_command=usage)


def _of_provider(error: errors.Refused) -> dict[str, str]:
    """What the owner of a preferences file can do about a refusal: allow it, and look."""
    if not Path(error.file).is_file():
        return {}
    named = [error.file, "--provider", error.provider]
    look = {"to see what decides": shlex.join(["reticent", "prefs", "explain", *named])}
    if isinstance(error, errors.NothingGranted) or not error.provider.isprintable():
        return look
    return {"next": allowing(error.file, error.provider), **look}


def allowing(file: str | Path, provider: str) -> str:
    """The command that names a provider in a preferences file."""
    words = ["reticent", "prefs", "set", str(file), "--provider", provider, "--epsilon", "1"]
    return shlex.join(words)


def budget_amounts(asked: int, left: int) -> dict[str, str]:
    """What a budget was asked for, has left and lacks, as text, so that nothing is rounded."""
    amounts = {"asked": asked, "left": left, "missing": asked - left}
    return {name: show_nano(nano) for name, nano in amounts.items()}


def _as_typed(error: errors.ReticentError) -> str:
    """The sentence of an error, with options named as they are typed and values as text."""
    if not isinstance(error, errors.ParameterError) or error.name not in _OPTIONS:
        return str(error)
    got = f", got {error.value!r}" if isinstance(error.value, (str, int)) else ""
    return f"--{error.name.replace('_', '-')} must be {error.rule}{got}"


def _of_system(error: OSError, usage: str) -> Ending:
    if isinstance(error, IsADirectoryError) and error.filename is not None:
        what = f"{error.filename} is a directory"
        return Ending(code=ExitCode.USAGE, what=what, next_command=usage)
    what = f"{error.filename} cannot be used" if error.filename is not None else "no access"
    return Ending(code=ExitCode.USAGE, what=what, why=reason(error), next_command=usage)


def reason(error: OSError) -> str:
    """Why the operating system refused, in its own words."""
    return error.strerror or type(error).__name__


def with_other_file(ended: Ending, error: BaseException, words: Sequence[str]) -> Ending:
    """The same ending; next the same command, if another name of a file would do."""
    instead = getattr(error, "instead", None)
    if instead is not None:
        again = _again(words, *instead, outputs=True)
        return replace(ended, next_command=again) if again else ended
    missing = _missing(error)
    near = None if missing is None else _near(missing)
    again = "" if missing is None or near is None else _again(words, missing, near, outputs=False)
    if not again or near is None:
        return ended
    why = f"{ended.why}; " if ended.why else ""
    return replace(ended, why=f"{why}did you mean {near.name}?", next_command=again)


def _missing(error: BaseException | None) -> Path | None:
    """The file that was not found, however the error was worded since."""
    while error is not None:
        if isinstance(error, FileNotFoundError) and isinstance(error.filename, (str, Path)):
            return Path(error.filename)
        error = error.__cause__ or error.__context__
    return None


def _near(missing: Path) -> Path | None:
    """The one file in the same folder whose name is much like this one."""
    ending = "".join(missing.suffixes)
    try:
        names = [one.name for one in missing.parent.iterdir() if one.is_file()]
    except OSError:
        return None
    stems = {name.removesuffix(ending): name for name in names if name.endswith(ending)}
    found = get_close_matches(missing.name.removesuffix(ending), stems, n=2, cutoff=0.75)
    return missing.with_name(stems[found[0]]) if len(found) == 1 else None


def _again(words: Sequence[str], old: Path, new: Path, *, outputs: bool) -> str:
    """The command that was typed, with another file; nothing if the file was not typed.

    An address may hold a password, which is not repeated.
    """
    told, before = [ROOT], ""
    for word in words:
        option, mark, value = word.partition("=") if word.startswith("--") else ("", "", word)
        fits = bool(value) and Path(value) == old
        if fits and (not outputs or mark or before.startswith("--")):
            word = f"{option}{mark}{new}"
        told.append(word)
        before = word
    if told[1:] == list(words) or any("://" in word for word in words):
        return ""
    return shlex.join(told)


def _of_usage(error: BaseException, meant: str) -> Ending:
    message = error.format_message()  # type: ignore[attr-defined]
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "reticent"
    if meant and message.startswith("No such command"):
        message = f"{message.partition('. ')[0].rstrip('.')}. Did you mean '{meant}'?"
        path = meant
    why = _why_absent(path.split()[-1], message)
    return Ending(code=ExitCode.USAGE, what=message, why=why, next_command=f"{path} --help")


def _why_absent(verb: str, message: str) -> str:
    """Why a kind of query does not have this verb, if that is what was typed."""
    from reticent.queries.cells import VERBS, cells
    from reticent.queries.registry import queries

    named = re.match(r"No such command '([^']+)'", message)
    query = None if named is None or verb not in VERBS else queries().get(named[1])
    reason = None if query is None else cells(query)["verbs"][verb]
    return reason if isinstance(reason, str) else ""
