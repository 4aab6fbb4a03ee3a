"""One example of every command, in its help after the first sentence.

Not here  the files that they use (init_files.py).

They work as they stand in a folder that ``reticent init`` made, in the order of ``TRY`` where one
needs what another writes.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import typer
from typer.models import CommandInfo

_CLUB = "--provider club.example"
_CARD = "reticent release histogram club.csv films.csv --provider club.example --person ann"
_VOTES = "voters.csv --target votes --declare columns.toml"
_COMPARED = {
    "counts": "--records 3 --count 9",
    "quantile": "pay.csv --columns value=pay --upper 100 --public",
    "percentile": "pay.csv --columns value=pay --upper 100 --public",
    "top-nodes": "links.csv --bound 9 --k 3 --runs 5 --public",
    "histogram": f"films.csv {_CLUB}",
    "similarity": "--measure jaccard",
    "sketches": "--profile-size 20",
    "neighbours": "club.csv --k 3 --runs 2 --public",
    "mapping": "people.csv --secret income --public-data",
    "tree": f"{_VOTES} --runs 2 --public",
}
_ATTACKED = {
    "counts": "--epsilon 1",
    "quantile": "--epsilon 1 --upper 100",
    "percentile": "--epsilon 1 --upper 100",
    "top-nodes": "--epsilon 0.5 --bound 9 --k 3",
    "histogram": "--epsilon 1",
    "similarity": "--epsilon 1",
    "sketches": "--epsilon 1 --profile-size 5",
    "neighbours": "--epsilon 1 --profile-size 5 --k 1",
    "tree": "--epsilon 1 --target votes --declare columns.toml --max-depth 2",
}
_TRIED = {
    f"{verb} {kind}": f"reticent {verb} {kind} {words}"
    for verbs, found in ((("compare", "sweep"), _COMPARED), (("verify", "audit"), _ATTACKED))
    for verb in verbs
    for kind, words in found.items()
}
EXAMPLES = {
    "demo": "reticent demo --fast",
    "init": "reticent init my-start",
    "doctor": "reticent doctor",
    "data list": "reticent data list",
    "data describe": "reticent data describe adult",
    "prefs check": "reticent prefs check preferences.toml --catalogue films.csv",
    "prefs show": "reticent prefs show preferences.toml",
    "prefs explain": f"reticent prefs explain preferences.toml {_CLUB} --attribute Drama",
    "prefs set": "reticent prefs set preferences.toml --item Heat --weight 0.5",
    "prefs schema": "reticent prefs schema",
    "queries": "reticent queries",
    "plan histogram": f"reticent plan histogram films.csv {_CLUB}",
    "plan counts": "reticent plan counts --epsilon 1 --records 3 --count 9",
    "plan quantile": "reticent plan quantile --epsilon 1 --upper 100",
    "plan percentile": "reticent plan percentile --epsilon 1 --upper 100 --count 50",
    "plan top-nodes": "reticent plan top-nodes --epsilon 1 --bound 9 --k 3 --count 12",
    "plan sketches": "reticent plan sketches --epsilon 4 --use items",
    "plan neighbours": "reticent plan neighbours --epsilon 1 --method direct --count 12",
    "plan similarity": "reticent plan similarity --epsilon 1 --pair ann,bob",
    "plan profile": f"reticent plan profile mapping.json {_CLUB}",
    "release histogram": f"{_CARD} --card card.json --yes",
    "release similarity": "reticent release similarity club.csv --pair ann,bob --epsilon 1 --yes",
    "plan mapping": "reticent plan mapping --secret income --leak 0.05",
    "release mapping": (
        "reticent release mapping people.csv --secret income --leak 0.05 --out mapping.json --yes"
    ),
    "release profile": (
        f"reticent release profile mapping.json people.csv {_CLUB} --person p3 --yes"
    ),
    "release sketches": (
        "reticent release sketches club.csv --epsilon 4 --use items --profile-size 9 "
        "--out sketches.json --yes"
    ),
    "release neighbours": "reticent release neighbours club.csv --k 3 --epsilon 1 --yes",
    "release recommendations": (
        "reticent release recommendations sketches.json films.csv --n-items 3"
    ),
    "release top-nodes": "reticent release top-nodes links.csv --bound 9 --k 3 --epsilon 1 --yes",
    "release counts": (
        "reticent release counts club.csv --columns person=user --records 4 --epsilon 1 --yes"
    ),
    "release quantile": (
        "reticent release quantile pay.csv --columns value=pay --upper 100 --epsilon 1 --yes"
    ),
    "release percentile": (
        "reticent release percentile pay.csv --columns person=who,value=pay --upper 100 "
        "--epsilon 1 --yes"
    ),
    **_TRIED,
    "data columns": "reticent data columns voters.csv --target votes",
    "plan tree": "reticent plan tree --target votes --declare columns.toml --epsilon 2",
    "release tree": (
        f"reticent release tree {_VOTES} --epsilon 2 --max-depth 2 --out tree.json --yes"
    ),
    "predict": "reticent predict tree.json new-voters.csv",
    "audit profile": "reticent audit profile mapping.json people.csv --secret income",
    "audit noise": "reticent audit noise --quick",
    "card show": "reticent card show card.json",
    "card verify": "reticent card verify card.json",
    "card export": "reticent card export card.json --format registry",
    "card schema": "reticent card schema",
    "report": "reticent report card.json --out report.html",
    "ledger show": "reticent ledger show",
    "ledger log": "reticent ledger log --subject ann",
    "ledger verify": "reticent ledger verify --head head.txt",
    "ledger export": "reticent ledger export --out ledger.jsonl",
    "ledger raise": f"reticent ledger raise ann --to 9 {_CLUB} --yes",
    "ledger forget": "reticent ledger forget ann --yes",
    "gateway init": "reticent gateway init --catalogue films.csv",
    "gateway import": (
        "reticent gateway import --profiles club.csv --preferences preferences.toml"
    ),
    "gateway provider": "reticent gateway provider club.example --asks asks.toml",
    "gateway token": "reticent gateway token club.example --days 30",
    "gateway tokens": f"reticent gateway tokens {_CLUB}",
    "gateway revoke": "reticent gateway revoke NAME",
    "gateway door": "reticent gateway door ann",
    "gateway people": "reticent gateway people",
    "gateway forget": "reticent gateway forget ann --yes",
    "verify file": "reticent verify file mechanism.toml",
    "reproduce list": "reticent reproduce list",
    "reproduce run": "reticent reproduce run multilevel --quick",
    "reproduce check": "reticent reproduce check --quick",
    "serve": "reticent serve --demo",
}
"""By the words after ``reticent``; NAME stands for what only the reader knows."""

TRY = (
    *(
        "prefs show",
        "plan histogram",
        "release histogram",
        "card show",
        "ledger show",
        "release neighbours",
    ),
    *("release quantile", "release top-nodes", "release tree", "predict", "release mapping"),
    *("release profile", "audit profile", "verify file", "report"),
)
"""The commands that START.txt lists, in an order in which all of them work."""


def add_examples(app: typer.Typer) -> None:
    """Put the example of each command into its help, after the first sentence."""
    for path, command in _commands(app):
        example = EXAMPLES.get(path)
        if example is not None:
            command.help = _with(_text(command), example)


def _commands(app: typer.Typer, path: str = "") -> Iterator[tuple[str, CommandInfo]]:
    for command in app.registered_commands:
        yield f"{path}{command.name}", command
    for group in app.registered_groups:
        if group.typer_instance is not None:
            yield from _commands(group.typer_instance, f"{path}{group.name} ")


def _text(command: CommandInfo) -> str:
    return inspect.cleandoc(command.help or getattr(command.callback, "__doc__", None) or "")


def _with(text: str, example: str) -> str:
    """The sentence, the example on a line that is not broken, and the rest."""
    if example in text:  # put there before
        return text
    sentence, _, rest = text.partition("\n\n")
    return "\n\n".join(part for part in (sentence, f"\b\nExample: {example}", rest) if part)
