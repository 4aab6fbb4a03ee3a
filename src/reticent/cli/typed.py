"""What the words after ``reticent`` name: a command, the one that was meant, and whether JSON.

Not here  running the command (main.py), what is said when it fails (failures.py).

Words are read without running anything, so that an error can be told in the form that was asked
for even where the command line itself is the error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

ROOT = "reticent"
MEANT = {
    "budget": "ledger",
    "budgets": "ledger",
    "console": "serve",
    "gui": "serve",
    "web": "serve",
    "repro": "reproduce",
    "tour": "demo",
    "start": "init",
    "new": "init",
    "preferences": "prefs",
    "pref": "prefs",
    "config": "prefs",
    "cards": "card",
    "check": "doctor",
    "dataset": "data",
    "datasets": "data",
    "histogram": "release histogram",
    "similarity": "release similarity",
    "profile": "release profile",
    "influencers": "release top-nodes",
    "top-nodes": "release top-nodes",
    "median": "release quantile",
    "quantile": "release quantile",
    "percentile": "release percentile",
    "tree": "release tree",
    "mapping": "release mapping",
    "fit": "release mapping",
    "attack": "audit profile",
    "audit attack": "audit profile",
    "compare influencers": "compare top-nodes",
    "sweep influencers": "sweep top-nodes",
    "release influencers": "release top-nodes",
    "release median": "release quantile",
    "select": "release",
    "train": "release tree",
    "release predict": "predict",
    "neighbours": "release neighbours",
    "sketches": "release sketches",
    "recommend": "release recommendations",
    "recommendations": "release recommendations",
    "data get": "data describe",
    "audit epsilon": "verify",
}
"""Names that people try, and what is called so here."""


@dataclass(frozen=True, slots=True)
class Typed:
    """The command that words name, how far they name one, and what follows."""

    names: tuple[str, ...]
    command: Any
    rest: tuple[str, ...]

    @property
    def name(self) -> str:
        """As one types it; no word that names no command is repeated."""
        return " ".join((ROOT, *self.names))

    @property
    def parts(self) -> Mapping[str, Any]:
        """The commands of a group; none of a command."""
        found: Mapping[str, Any] = getattr(self.command, "commands", {})
        return found

    @property
    def wants_json(self) -> bool:
        """Whether ``--json`` is given as an option, not as a value of another or after ``--``."""
        options = _options(self.command)
        if self.parts or "--json" not in options:
            return False
        skip = False
        for word in self.rest:
            if skip:
                skip = False
            elif word == "--":
                return False
            elif word == "--json":
                return True
            else:
                skip = options.get(word, False)
        return False


def typed(words: Sequence[str], whole: Any) -> Typed:
    """What ``words`` name in the tree ``whole``."""
    names: list[str] = []
    command = whole
    for place, word in enumerate(words):
        parts = getattr(command, "commands", {})
        if word in parts:
            names.append(word)
            command = parts[word]
        elif usual := getattr(command, "usual", ""):  # the group's own command
            return Typed(tuple(names), parts[usual], tuple(words[place:]))
        elif not (parts and word.startswith("-")):
            return Typed(tuple(names), command, tuple(words[place:]))
    return Typed(tuple(names), command, ())


def meant(found: Typed, whole: Any) -> str:
    """The command that was probably meant by a word that names none, as one types it; or nothing.

    >>> class Group:
    ...     commands = {"ledger": None, "serve": None}
    >>> meant(typed(["budget"], Group), Group), meant(typed(["sevre"], Group), Group)
    ('reticent ledger', 'reticent serve')
    """
    if not (found.parts and found.rest):
        return ""
    word = found.rest[0].casefold()
    known = MEANT.get(" ".join((*found.names, word)), "")
    if known and typed(known.split(), whole).names == tuple(known.split()):
        return f"{ROOT} {known}"
    near = get_close_matches(word, found.parts, n=1)
    return f"{found.name} {near[0]}" if near else ""


def _options(command: Any) -> dict[str, bool]:
    """Every option of a command, and whether the word after it is its value."""
    return {
        spelling: not getattr(option, "is_flag", False)
        for option in getattr(command, "params", ())
        if option.param_type_name == "option"
        for spelling in (*option.opts, *option.secondary_opts)
    }
