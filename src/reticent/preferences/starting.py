"""A first preferences file, from three questions in plain words.

Not here  what the lines of a file mean (model.py), changing a file that is there (editing.py).

Every question has three answers, one click each, and no answer is chosen beforehand. Whoever
decides later gets the file that releases nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Final, Literal, TypeAlias

from reticent.errors import require
from reticent.preferences.file import Preferences
from reticent.preferences.model import VERSION
from reticent.preferences.splicing import typed

Openness: TypeAlias = Literal[0, 1, 2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer in the words of who gives it, and how much it lets out."""

    text: str
    openness: Openness


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question with its three answers, the most careful first."""

    text: str
    answers: tuple[Answer, Answer, Answer]


@dataclass(frozen=True, slots=True, kw_only=True)
class Starting:
    """A file to start from; ``sentence`` says what comes of it.

    Without an ``epsilon`` no provider is named, without one for attributes they are withheld.
    """

    name: str
    sentence: str
    weight: str
    attribute: str | None
    epsilon: str | None
    total: str | None

    def text(self, providers: Sequence[str] = (), attributes: Sequence[str] = ()) -> str:
        """The file, with a comment on every line that decides.

        ``attributes`` are named in a comment only: the default holds for all of them.
        """
        lines = [
            *(f"# {line}" for line in wrap(f"{self.name.capitalize()}. {self.sentence}", 88)),
            "# Change any line; what no line allows is withheld.",
            f"version = {VERSION}",
            "",
            "[items]                    # 0 = may never influence anything, 1 = counts in full",
            f"default = {self.weight}",
            "",
            *self._attributes(attributes),
        ]
        for provider in dict.fromkeys(providers if self.epsilon is not None else ()):
            lines += ["", *self._provider(provider)]
        if self.epsilon is None:
            lines += ["", "# To allow a provider something, add its table:"]
            lines += ['# [providers."filmclub.example"]', "# epsilon = 0.1"]
        made = "\n".join([*lines, ""])
        Preferences.parse(made)
        return made

    def _attributes(self, attributes: Sequence[str]) -> list[str]:
        withheld = self.attribute is None
        shown = '"withhold"' if withheld else self.attribute
        about = "what each attribute may tell on its own"
        lines = [f"[attributes]               # {about}", f"default = {shown}"]
        for attribute in attributes[:1]:
            other = "0.05" if withheld else '"withhold"'
            lines += ["# To treat one differently, name it, as in:"]
            lines += [f"# {typed(attribute)} = {other}"]
        return lines

    def _provider(self, provider: str) -> list[str]:
        return [
            f"[providers.{typed(provider)}]",
            f"epsilon = {self.epsilon:<17}# for one release, over all attributes",
            f"total = {self.total:<19}# for all releases of a year",
            'renews = "yearly"',
        ]


QUESTIONS: Final[tuple[Question, Question, Question]] = (
    Question(
        text="A shop or club would like to know what you like. What may it get?",
        answers=(
            Answer(text="Nothing. I will say so when I change my mind.", openness=0),
            Answer(text="A blurred picture of what I like.", openness=1),
            Answer(text="A clear picture of what I like.", openness=2),
        ),
    ),
    Question(
        text="Suggestions get better the more is known about you. What matters more to you?",
        answers=(
            Answer(text="That nobody can tell what I watched, read or bought.", openness=0),
            Answer(text="A bit of both.", openness=1),
            Answer(text="Good suggestions.", openness=2),
        ),
    ),
    Question(
        text="Somebody guesses that one particular thing is among yours. How sure may they get?",
        answers=(
            Answer(text="No surer than they were before.", openness=0),
            Answer(text="A little surer.", openness=1),
            Answer(text="Quite a bit surer.", openness=2),
        ),
    ),
)


def starting_profiles() -> tuple[Starting, Starting, Starting]:
    """The three files to start from, the most careful first."""
    return (
        Starting(
            name="keep to myself",
            sentence="Nobody gets anything until you name them.",
            weight="1",
            attribute=None,
            epsilon=None,
            total=None,
        ),
        Starting(
            name="balanced",
            sentence="Those you name get a blurred picture. A guess about one thing of yours that "
            "was right 50 times in 100 is right at most 53 times after one release, and 74 after "
            "a year of them.",
            weight="0.5",
            attribute="0.1",
            epsilon="0.2",
            total="2",
        ),
        Starting(
            name="open",
            sentence="Those you name get a clear picture. A guess about one thing of yours that "
            "was right 50 times in 100 is right at most 74 times after one release, and may be "
            "certain after a year of them.",
            weight="1",
            attribute="0.5",
            epsilon="1",
            total="10",
        ),
    )


def suggest(answers: Sequence[int | None]) -> Starting:
    """The file for three answers, each the number of one or None for "decide later".

    The most careful answer counts: a file can be opened later, a release cannot be taken back.

    >>> suggest((2, 1, 2)).name, suggest((2, None, 2)).name
    ('balanced', 'keep to myself')
    """
    require(len(answers) == len(QUESTIONS), "answers", len(answers), f"{len(QUESTIONS)} in number")
    chosen: list[Openness] = []
    for question, answer in zip(QUESTIONS, answers, strict=True):
        known = answer is None or answer in range(len(question.answers))
        require(known, "answer", answer, "0, 1, 2 or None")
        chosen.append(0 if answer is None else question.answers[answer].openness)
    return starting_profiles()[min(chosen)]
