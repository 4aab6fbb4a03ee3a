"""Answers with a cover: of each value that was drawn, the ledger keeps it or its cover.

Theory    docs/theory/ledger.md, Theorem 5 (a refusal that nobody sees)
Notation  to pay = to be charged in full, in every account of a request
Not here  who pays (spending.py, many.py, postgres_functions.py).

An answer with covers is a row of parts, and a store knows of no more than that: it keeps the value
of a part whose subjects all pay, the cover of every other part, and joins them. An answer for each
person is such a row, in which every payer has a part of their own; so who paid stands in the
answer itself, is bound by the same line of the chain, and is deleted with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from typing import TypeAlias

from reticent.errors import require
from reticent.ledger.accounts import Answer, KeyReused, Request

_FORM = b"reticent-each/1\n"
_LENGTH = 8  # bytes of a count


@dataclass(frozen=True, slots=True, repr=False)
class Sealed:
    """A value that was drawn and its cover, which holds nothing of anybody; one of them is kept.

    The value is kept if all of ``subjects`` pay, who are by default all that a request charges.
    """

    value: bytes
    cover: bytes
    subjects: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.value, bytes) or not isinstance(self.cover, bytes):
            raise TypeError("an answer is bytes")


@dataclass(frozen=True, slots=True, repr=False)
class EachAnswer:
    """What was kept of each value, in the order given, and who paid.

    ``payers`` are the subjects who were charged in full. They are for the owner of the ledger: who
    receives the values must not be told.
    """

    values: tuple[bytes, ...]
    payers: frozenset[str]
    replayed: bool


Given: TypeAlias = bytes | tuple[Sealed, ...]  # an answer that all must pay for, or with covers


def choose(given: Given, short: Set[str]) -> bytes:
    """What is kept where these subjects do not pay."""
    if not isinstance(given, tuple):
        return given
    return b"".join(
        one.value
        if (not short if one.subjects is None else short.isdisjoint(one.subjects))
        else one.cover
        for one in given
    )


def checked_parts(request: Request, sealed: Sequence[Sealed]) -> tuple[Sealed, ...]:
    """Checked: whoever a value is of is charged."""
    charged = _subjects(request)
    for one in sealed:
        good = one.subjects is None or charged.issuperset(one.subjects)
        require(good, "subjects", "others", "people whom the request charges")
    return tuple(sealed)


def each_parts(request: Request, sealed: Sequence[Sealed]) -> tuple[Sealed, ...]:
    """The parts of an answer for each: a count, who pays, and the values, each with its length."""

    def made() -> Iterator[Sealed]:
        subjects = sorted(_subjects(request))
        head = _FORM + len(subjects).to_bytes(_LENGTH, "big")
        yield Sealed(head, head)
        for name in subjects:
            text = _framed(name.encode())
            yield Sealed(text + b"\1", text + b"\0", (name,))
        for one in checked_parts(request, sealed):
            yield Sealed(_framed(one.value), _framed(one.cover), one.subjects)

    return tuple(made())


def read_each(answer: Answer, count: int) -> EachAnswer:
    """What ``each_parts`` was kept as; another kind of answer is that of another request."""
    if not answer.value.startswith(_FORM):
        raise KeyReused
    at = len(_FORM)

    def take(length: int) -> bytes:
        nonlocal at
        at += length
        return answer.value[at - length : at]

    def number() -> int:
        return int.from_bytes(take(_LENGTH), "big")

    paid = {take(number()).decode(): take(1) == b"\1" for _ in range(number())}
    values = []
    while at < len(answer.value):
        values.append(take(number()))
    if len(values) != count:
        raise KeyReused
    payers = frozenset(name for name, in_full in paid.items() if in_full)
    return EachAnswer(tuple(values), payers, answer.replayed)


def _subjects(request: Request) -> set[str]:
    return {one.subject for one in request.charges}


def _framed(text: bytes) -> bytes:
    return len(text).to_bytes(_LENGTH, "big") + text
