"""What a command says of the answer to a query, and the files it writes.

Not here  the commands (queries.py), the forms of an answer (queries/publish.py).
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reticent.cli.files import write_atomically
from reticent.cli.output import say, say_json, talk
from reticent.cli.query_options import spelling
from reticent.cli.release import card_fields, say_card, write_card
from reticent.guarantees import Unprotected
from reticent.queries.folders import Folder
from reticent.queries.inputs import Artefact, Input, MappingFile
from reticent.queries.registry import queries as registered

if TYPE_CHECKING:
    from reticent.queries.base import Answer


def show(answer: Answer, given: dict[str, Any], paid: dict[str, Any]) -> None:
    """Write what was asked for, and say the rest; ``paid`` is what a ledger says, for JSON."""
    from reticent.queries import publish

    out, card = given["out"], given["card"]
    unprotected = answer.card.promise.kind == Unprotected.kind
    folder = isinstance(answer.value, Folder)
    if out is not None and not folder:  # whose data nothing protects is for its owner only
        write_atomically(out, publish.packed(answer, out.suffix), private=unprotected)
    write_card(answer.card, card)
    if given["as_json"]:
        told = publish.fields(answer)
        if out is not None:
            where = told["value"] if folder else {"out": str(out)}
            told = {"query": told["query"], **where}
        notes = {"notes": list(answer.notes)} if answer.notes else {}
        say_json(publish.SCHEMA, **told, **notes, **paid, **card_fields(answer.card, card))
        return
    summary = out is None or folder or answer.terms.summarised
    for line in publish.as_text(answer) if summary else [str(out)]:
        say(line)
    if out is not None and summary and not folder:
        talk(f"written: {out}")
    for note in answer.notes:
        talk(f"note: {_as_typed(note, answer)}")
    talk(_spent(answer) if paid else _free(answer))
    if out is not None and unprotected:
        talk(f"  keep {out} private: people's data shaped it, without noise")
    if out is not None:
        _say_next(answer, out)
    say_card(answer.card, card)


def _as_typed(note: str, answer: Answer) -> str:
    """Options whose name is no word, as they are typed here."""
    for one in answer.query.options():
        if "_" in one.name:
            note = re.sub(rf"\b{one.name}\b", spelling(one.name), note)
    return note


def _free(answer: Answer) -> str:
    if answer.card.release_event().private:
        return "spent nothing: it follows from what was released before, whose card covers it, too"
    return "spent nothing, and nothing covers this: it is not private"


def _spent(answer: Answer) -> str:
    return "spent nothing more" if answer.replayed else answer.terms.words().spent()


def _say_next(answer: Answer, out: Path) -> None:
    """What can be derived from an artefact that was written."""
    for query in registered().values():
        held = [one for one in query.inputs.values() if _is_of(one, answer.query.kind)]
        if (out.suffix == ".json" or isinstance(answer.value, Folder)) and held:
            words = ["reticent", *query.verb.split(), query.kind]
            for name, one in query.inputs.items():
                file = shlex.quote(str(out)) if one is held[0] else name.upper()
                if one.required or one is held[0]:
                    words += [file] if one.required else [f"--{name}", file]
            talk(f"  next: {' '.join(words)}")


def _is_of(one: Input, kind: str) -> bool:
    """Whether it is a stored answer of this kind."""
    return isinstance(one, (Artefact, MappingFile)) and one.kind == kind
