"""What can go wrong, as a tree, and the one form of a parameter error.

ReticentError
├── ParameterError      a parameter breaks a stated rule; also a ValueError
│   ├── TableError      a file is no table of the form asked for (data/interactions.py)
│   └── DataMissing     a data set is not where it was said to be (data/sources/)
├── BudgetExceeded      a release asks for more than is left: asked, left, missing
├── Refused             preferences do not allow a provider anything
│   └── NothingGranted  a provider is named, but every attribute is withheld
├── PreferencesError    a preferences file that cannot be used (preferences/problems.py)
├── DeclarationError    what is declared about a table cannot be used
├── ArtefactError       a file is no stored answer of the kind asked for (queries/artefacts.py)
├── CannotCompose       two promises that do not add
├── CardError           a guarantee card that is not one, or whose figures do not hold
└── MissingExtra        an optional part of Reticent is not installed

Messages speak of parameters only. Private data never reaches them.
"""

from __future__ import annotations

import json

from reticent.amounts import show_nano


class ReticentError(Exception):
    """Base of every error Reticent raises on purpose."""


class ParameterError(ReticentError, ValueError):
    """A parameter breaks its rule; the message reads "name must be rule, got value"."""

    def __init__(self, name: str, rule: str, value: object) -> None:
        self.name, self.rule, self.value = name, rule, value
        super().__init__(f"{name} must be {rule}, got {value!r}")

    def __reduce__(self) -> tuple[type[ParameterError], tuple[str, str, object]]:
        return ParameterError, (self.name, self.rule, self.value)


class DeclarationError(ReticentError):
    """A declaration that cannot be used: the first mistake, with its line, and how many follow."""


class BudgetExceeded(ReticentError):
    """A release was refused before anything was drawn; amounts are in nano-epsilon."""

    def __init__(self, what: str, asked: int, left: int) -> None:
        self.what, self.asked, self.left, self.missing = what, asked, left, asked - left
        super().__init__(
            f"{what}: asked for epsilon {show_nano(asked)}, {show_nano(left)} is left, "
            f"{show_nano(self.missing)} is missing"
        )

    def __reduce__(self) -> tuple[object, ...]:
        return BudgetExceeded, (self.what, self.asked, self.left)


class Refused(ReticentError):
    """Nothing is released to a provider that a preferences file does not name.

    The message tells an outsider nothing about who is named. ``nearest`` is for the owner only:
    the provider in the file whose name is most like this one.
    """

    def __init__(self, provider: str, file: str, *, nearest: str | None = None) -> None:
        self.provider, self.file, self.nearest = provider, file, nearest
        name = json.dumps(provider, ensure_ascii=False)
        super().__init__(
            f"{file}: no line names the provider {name}, so nothing is released to it; "
            f"to allow it, add [providers.{name}] with an epsilon"
        )

    def __reduce__(self) -> tuple[type[Refused], tuple[str, str], dict[str, str | None]]:
        return Refused, (self.provider, self.file), {"nearest": self.nearest}


class NothingGranted(Refused):
    """A provider is named, but every attribute is withheld from it."""

    def __init__(self, provider: str, file: str) -> None:
        super().__init__(provider, file)
        self.args = (f"{file}: every attribute is withheld, so there is nothing to release",)

    def __reduce__(self) -> tuple[type[NothingGranted], tuple[str, str]]:  # type: ignore[override]
        return NothingGranted, (self.provider, self.file)


class CannotCompose(ReticentError):
    """Two promises of different kinds or units; adding their numbers would promise nothing."""


class CardError(ReticentError):
    """A guarantee card that cannot be read, or whose figures do not follow from its facts."""


class MissingExtra(ReticentError):
    """An optional part is needed; the message holds the command that installs it."""

    def __init__(self, what: str, extra: str) -> None:
        self.what, self.extra = what, extra
        super().__init__(f"{what} needs one more step: pip install 'reticent[{extra}]'")

    def __reduce__(self) -> tuple[type[MissingExtra], tuple[str, str]]:
        return MissingExtra, (self.what, self.extra)


def require(condition: bool, name: str, value: object, rule: str) -> None:
    """Raise ``ParameterError`` unless ``condition`` holds."""
    if not condition:
        raise ParameterError(name, rule, value)
