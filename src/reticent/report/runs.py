"""What commands printed with ``--json``, and guarantee cards, read as sections of a report.

Not here  the sections themselves (run_pictures.py, run_facts.py), the page (page.py).

Every card is checked again: one that does not hold fails the report. What commands print about
accounts, keys and wishes is for their owner's eyes, and no report takes it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from reticent.errors import CardError, ReticentError
from reticent.guarantees.card import SCHEMA, Card
from reticent.mechanisms.verification import verify
from reticent.report.document import Grid, Section
from reticent.report.run_facts import facts, is_single, left_out
from reticent.report.run_pictures import (
    attack_section,
    curves_section,
    noise_section,
    plan_section,
    tree_section,
)

Check: TypeAlias = Callable[[Card], list[str]]
Maker: TypeAlias = Callable[[Mapping[str, Any]], Section]
LARGEST = 1 << 26  # bytes of a run
_OWN = ("ledger-", "gateway-", "prefs-", "serve/", "doctor/")  # for their owner's eyes
_CURVES = ("sweep-", "compare-")
_BROKEN = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError)
_TITLES = {
    "plan/1": "A planned release",
    "answer/1": "A release",
    "card-verify/1": "Cards, recomputed",
}
_ON_CARD = ["losses", "right_at_most", "error"]  # what a card says better
_UNPROTECTED = {  # what is no release and stays where it was made, and how that is said
    "recommendations": (
        ("value",),
        "recommendations are for those they are made for, and are not shown here",
    ),
    "mapping": (
        ("value", "notes"),
        "a mapping tells about the people it was learnt from, whom nothing protects, and is not "
        "shown here",
    ),
    "predict": (
        ("value", "notes"),
        "predictions tell about the rows of their own table, which nothing protects, and are not "
        "shown here",
    ),
}


class RunError(ReticentError):
    """A file that is no run: ``what`` it is, and ``why`` it cannot be shown."""

    def __init__(self, what: str, why: str) -> None:
        self.what, self.why = what, why
        super().__init__(f"{what}: {why}")


def read_run(
    path: Path, *, check: Check = verify, skipped: Callable[[Path], None] | None = None
) -> list[Section]:
    """The sections of a run, or of every run in a folder, by name.

    ``check`` lists what on a card does not hold. Files of a folder that are no run are named in a
    section of their own, and handed to ``skipped``.
    """
    if not path.is_dir():
        return [_section(path, _read(path), check)]
    sections, others = [], []
    for file in sorted(one for one in path.iterdir() if one.is_file()):
        fields = _read_if_run(file)
        if fields is None:
            others.append(file)
        else:
            sections.append(_section(file, fields, check))
    if not sections:
        raise RunError(f"{path} holds no run", _forms())
    if others:
        grid = Grid(_folder(path), ("file",), [[file.name] for file in others])
        sections.append(Section(title="Left out: files that are no run", grids=[grid]))
    if skipped is not None:
        for file in others:
            skipped(file)
    return sections


def _folder(path: Path) -> str:
    """What a folder is called where it was named; the one that is open has no name there."""
    return f"Also in {path.name}" if path.name.strip(".") else "Also in the same folder"


def known_schemas() -> list[str]:
    """Every schema that has a section of its own; those that end in * begin so."""
    return sorted([*_MAKERS, *_TITLES, *(f"{name}*" for name in _CURVES), SCHEMA])


def _forms() -> str:
    return (
        "a run is a file that a command printed with --json, or a card; known are "
        f"{', '.join(known_schemas())}"
    )


def _read(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            packed = file.read(LARGEST + 1)
    except OSError as error:
        raise RunError(f"{path} cannot be read", error.strerror or "no access") from None
    if len(packed) > LARGEST:
        raise RunError(f"{path} is longer than {LARGEST:,} bytes", "no run is that long")
    try:
        fields = json.loads(packed.decode("utf-8"))
    except (ValueError, RecursionError):  # of letters or of JSON
        raise RunError(f"{path} is no JSON", _forms()) from None
    if not isinstance(fields, dict) or not isinstance(fields.get("schema"), str):
        raise RunError(f"{path} names no schema", _forms())
    if fields["schema"].startswith(_OWN):
        why = "it is about accounts, keys or wishes, which are for their owner's eyes"
        raise RunError(f"{path} is {fields['schema']}, which no report shows", why)
    return fields


def _read_if_run(path: Path) -> dict[str, Any] | None:
    """What a file of a folder holds, if a section can be made of it."""
    if path.suffix != ".json":
        return None
    try:
        fields = _read(path)
    except RunError:
        return None
    return fields if _maker(fields["schema"]) or fields["schema"] == SCHEMA else None


def _section(path: Path, fields: Mapping[str, Any], check: Check) -> Section:
    schema = fields["schema"]
    try:
        if schema == SCHEMA:
            card = Card.from_json(json.dumps(fields))
            return _with_card(Section(title=card.title), card, check)
        maker = _maker(schema)
        made = _flat(path, fields) if maker is None else maker(fields)
        return _with_cards(made, path, fields, check)
    except RunError:
        raise
    except ReticentError as error:
        raise RunError(f"{path} is no {schema}", str(error)) from None
    except _BROKEN as error:
        why = f"a part of it is missing or of another kind ({type(error).__name__})"
        raise RunError(f"{path} is no {schema}", why) from None


def _maker(schema: str) -> Maker | None:
    if schema.startswith(_CURVES):
        return curves_section
    return _MAKERS.get(schema) or (_plain if schema in _TITLES else None)


def _kind(fields: Mapping[str, Any]) -> str:
    """Of the query that was answered."""
    query = fields.get("query")
    return str(query.get("kind", "")) if isinstance(query, dict) else ""


def _answer(fields: Mapping[str, Any]) -> Section:
    """The answer to a query; some kinds have a picture."""
    return tree_section(fields) if _kind(fields) == "tree" else _plain(fields)


def _plain(fields: Mapping[str, Any]) -> Section:
    """What was released or planned, in tables; unprotected parts stay out."""
    schema = fields["schema"]
    unprotected, said = _UNPROTECTED.get(_kind(fields) or schema, ((), ""))
    without = [*unprotected, "warning", "what"]
    without += _ON_CARD if isinstance(fields.get("card"), dict) else []
    whose = f" for {fields['provider']}" if isinstance(fields.get("provider"), str) else ""
    words = [str(fields[name]) for name in ("what", "warning") if fields.get(name)]
    if said:
        words.append(said)
    deeper = [name for name in left_out(fields) if name not in without]
    if deeper:
        words.append(f"Not shown, as no table holds it: {', '.join(deeper)}.")
    return Section(
        title=f"{_TITLES[schema]}{whose}",
        words=[f"{text[:1].upper()}{text[1:]}".removesuffix(".") + "." for text in words],
        grids=facts(fields, caption="What the command says", without=without),
        failures=["A card does not hold."] if fields.get("holds") is False else [],
    )


def _planned(fields: Mapping[str, Any]) -> Section:
    """A plan, drawn where it has attributes."""
    return plan_section(fields) if "attributes" in fields else _plain(fields)


def _refusal(fields: Mapping[str, Any]) -> Section:
    """What failed; not what is left of somebody's budget, nor whom a file of wishes names."""
    refused = fields.get("kind") == "refused"
    told = [str(fields[name]) for name in ("what", "why") if fields.get(name)]
    if "left" in fields:
        told = [f"asked for epsilon {fields['asked']}, which is more than is left"]
    elif refused:
        told = told[:1]
    return Section(
        title="A release that was refused" if refused else "A command that failed",
        words=[f"{text[:1].upper()}{text[1:]}." for text in told],
    )


def _step(fields: Mapping[str, Any]) -> Section:
    """A step of the demonstration: its parts as if they stood by themselves."""
    parts: dict[str, Any] = {}
    for name, held in fields.items():
        parts |= held if isinstance(held, dict) else {name: held}
    grids = facts(parts, caption="What the step found", without=["step", "private"])
    seeded = fields.get("private") is False
    words = ["Made with a seed: nothing here is private."] if seeded else []
    return Section(title=f"Demonstration: {fields['step']}", words=words, grids=grids)


def _flat(path: Path, fields: Mapping[str, Any]) -> Section:
    """A schema that is not known, if all that it has are single values."""
    deeper = [name for name, held in fields.items() if not is_single(held) and name != "card"]
    if deeper:
        why = f"{', '.join(deeper)} are no single values; {_forms()}"
        raise RunError(f"{path} is {fields['schema']!r}, which is not known here", why)
    grids = facts(fields, caption=f"What {fields['schema']} says")
    return Section(title=fields["schema"], grids=grids)


def _with_cards(section: Section, path: Path, fields: Mapping[str, Any], check: Check) -> Section:
    held = fields.get("card")
    if isinstance(held, dict):
        return _with_card(section, Card.from_json(json.dumps(held)), check)
    if isinstance(held, str):
        for file in (path.parent / held, Path(held)):
            if file.suffix == ".json" and file.is_file():
                return _with_card(section, Card.from_json(json.dumps(_read(file))), check)
        return replace(section, words=[*section.words, f"Its card is in {held}."])
    return section


def _with_card(section: Section, card: Card, check: Check) -> Section:
    """The section with its card; it fails if the card does not hold."""
    event, words = card.release_event(), list(section.words)
    if event.mechanism == "profile-mapping" and "parts" not in event.parameters:
        problems = card.problems()
        words.append(
            "The card names its mapping by fingerprint only, so its figures were not recomputed "
            "here; reticent card verify --mapping does."
        )
    else:
        problems = _checked(card, check)
    failures = (
        [f"The card {card.title!r} does not hold: {'; '.join(problems)}."] if problems else []
    )
    return replace(
        section,
        words=words,
        cards=[*section.cards, card],
        failures=[*section.failures, *failures],
    )


def _checked(card: Card, check: Check) -> list[str]:
    try:
        return check(card)
    except CardError as error:
        return [str(error)]
    except _BROKEN as error:
        return [f"its figures cannot be computed ({type(error).__name__})"]


def _verified(fields: Mapping[str, Any]) -> Section:
    """The worst case of a mechanism over a small domain."""
    broken = fields["verdict"] == "broken"
    how = {
        "enumerated": "Every outcome on every pair of neighbours, in exact fractions.",
        "audited": "It was audited by draws: a bound from below, and no proof.",
    }.get(str(fields["method"]))
    return Section(
        title=f"The worst case of {fields['name']}",
        words=[f"Verdict: {fields['verdict']}.", *([how] if how else [])],
        grids=facts(fields, caption="What was found", without=["name", "verdict", "method"]),
        failures=[f"{fields['name']} loses more than it claims."] if broken else [],
    )


_MAKERS: dict[str, Maker] = {
    "verify/1": _verified,
    "audit-attack/1": attack_section,
    "audit-noise/1": noise_section,
    "plan/1": _planned,
    "answer/1": _answer,
    "error/1": _refusal,
    "demo-step/1": _step,
}
