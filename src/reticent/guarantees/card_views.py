"""The guarantee card for people: plain text, Markdown and one self-contained HTML file.

Not here  what a card says and whether it holds (card.py), which rows in which words
          (card_facts.py). A view adds no figure of its own.

Everything on a card is shown as text: nothing in a title can become markup, a link or a terminal
command. Equal cards give equal bytes.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import math
import re
import textwrap
from decimal import Decimal
from html import escape
from importlib import resources
from typing import TYPE_CHECKING

from reticent.guarantees.card_facts import Facts, card_facts

if TYPE_CHECKING:
    from reticent.guarantees.card import Card

_WIDTH = 88
_LABEL = 24
_MARKDOWN = re.compile(r"([\\`*_\[\]<>|~$#&!])")


def card_text(card: Card) -> str:
    """A card as plain text, at most 88 columns wide."""
    facts = card_facts(card)
    first, *others = facts.words
    parts = [_filled(facts.title, indent=""), facts.kind, ""]
    parts += [_filled(text) + "\n" for text in (*facts.warnings, first)]
    parts += _text_picture(facts.chance)
    parts += [_filled(text) + "\n" for text in others]
    parts += [_text_row(label, lines) for label, lines in facts.rows]
    parts += ["", *(f"{name:<{_LABEL}}{value}" for name, value in facts.marks)]
    return "\n".join(parts) + "\n"


def card_markdown(card: Card) -> str:
    """A card as GitHub-flavoured Markdown."""
    facts = card_facts(card)
    first, *others = map(_marked, facts.words)
    parts = [f"# {_marked(facts.title)}\n", f"*{_marked(facts.kind)}*\n"]
    parts += [f"> **{_marked(text)}**\n" for text in facts.warnings]
    parts += [f"**{first}**\n", *(f"{text}\n" for text in others), "| | |", "|---|---|"]
    parts += [
        f"| **{_marked(label)}** | {'<br>'.join(map(_marked, lines))} |"
        for label, lines in facts.rows
    ]
    parts += ["", *(f"{_marked(name)}: {_marked(value)}  " for name, value in facts.marks)]
    return "\n".join(parts) + "\n"


def card_html(card: Card) -> str:
    """A card as one HTML file without script that asks nothing of the network."""
    facts = card_facts(card)
    style = card_style()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    lines = [
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>{escape(facts.title)}: guarantee card</title>",
        f"<style>{style}</style>",
        "</head>",
        "<body>",
        '<main class="card">',
        "<header>",
        f"<h1>{escape(facts.title)}</h1>",
        f'<p class="kind">{escape(facts.kind)}</p>',
        "</header>",
        *_html_warnings(facts),
        '<section class="consequences" aria-label="In words">',
        *_html_consequences(facts),
        "</section>",
        *_html_facts(facts),
        "</main>",
        "</body>",
        "</html>",
    ]
    return "\n".join(lines) + "\n"


def card_article(card: Card) -> str:
    """A card as part of a page that has ``card_style``: words first, facts behind a summary."""
    facts = card_facts(card)
    lines = [
        '<article class="card">',
        f"<h3>{escape(facts.title)}</h3>",
        f'<p class="kind">{escape(facts.kind)}</p>',
        *_html_warnings(facts),
        '<div class="consequences">',
        *_html_consequences(facts),
        "</div>",
        "<details>",
        "<summary>The facts behind these words</summary>",
        *_html_facts(facts),
        "</details>",
        "</article>",
    ]
    return "\n".join(lines) + "\n"


def card_style() -> str:
    """The style sheet of cards; all of it but colours and the page speaks of ``.card`` only."""
    return (resources.files("reticent.guarantees") / "card.css").read_text(encoding="utf-8")


def _filled(text: str, *, indent: str = "  ") -> str:
    return textwrap.fill(text, _WIDTH, initial_indent=indent, subsequent_indent=indent)


def _text_picture(chance: Decimal | None) -> list[str]:
    if chance is None:
        return []
    return [
        f"  guessing without it  {_bar(Decimal(50))}  right 50 in 100",
        f"  with it, at most     {_bar(chance)}  right {chance} in 100\n",
    ]


def _bar(chance: Decimal) -> str:
    filled = math.ceil(chance / 5)  # rounded up, as every bound
    return "#" * filled + "." * (20 - filled)


def _text_row(label: str, lines: tuple[str, ...]) -> str:
    heads = textwrap.wrap(label, _LABEL - 2)
    rows = [row for line in lines for row in textwrap.wrap(line, _WIDTH - _LABEL) or [""]]
    both = itertools.zip_longest(heads, rows, fillvalue="")
    return "\n".join(f"{head:<{_LABEL}}{row}".rstrip() for head, row in both)


def _marked(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", text)


def _html_consequences(facts: Facts) -> list[str]:
    first, *others = facts.words
    pictures = []
    if facts.chance is not None:
        pictures = [
            '<div class="pictures">',
            _html_picture(Decimal(50), "Guessing without the release:", "right 50 in 100"),
            _html_picture(
                facts.chance, "With the release:", f"right at most {facts.chance} in 100"
            ),
            "</div>",
        ]
    return [
        *pictures,
        '<div class="words">',
        f'<p class="odds{"" if pictures or facts.warnings else " alone"}">{escape(first)}</p>',
        *(f"<p>{escape(text)}</p>" for text in others),
        "</div>",
    ]


def _html_warnings(facts: Facts) -> list[str]:
    return [f'<p class="warning">{escape(text)}</p>' for text in facts.warnings]


def _html_facts(facts: Facts) -> list[str]:
    return [
        "<table>",
        "<caption>The facts behind these words</caption>",
        "<tbody>",
        *(_html_row(label, parts) for label, parts in facts.rows),
        "</tbody>",
        "</table>",
        "<footer>",
        *(f"<p>{escape(name)} <code>{escape(value)}</code></p>" for name, value in facts.marks),
        "</footer>",
    ]


def _html_picture(chance: Decimal, case: str, outcome: str) -> str:
    dots = "".join(_dot(n, chance) for n in range(100))
    label = escape(f"{case} {outcome}")
    return (
        f'<figure><svg viewBox="0 0 200 200" role="img" aria-label="{label}">{dots}</svg>'
        f"<figcaption>{escape(case)} <b>{escape(outcome)}</b></figcaption></figure>"
    )


def _dot(n: int, chance: Decimal) -> str:
    x, y = 10 + 20 * (n % 10), 10 + 20 * (n // 10)
    share = min(max(chance - n, Decimal(0)), Decimal(1))
    empty = "" if share == 1 else f'<circle class="no" cx="{x}" cy="{y}" r="7"/>'
    radius = (7 * share.sqrt()).quantize(Decimal("0.1")).normalize()  # area, for a part of a dot
    return empty + (f'<circle class="yes" cx="{x}" cy="{y}" r="{radius}"/>' if share else "")


def _html_row(label: str, lines: tuple[str, ...]) -> str:
    body = "".join(f"<p>{escape(line)}</p>" for line in lines)
    return f'<tr><th scope="row">{escape(label)}</th><td>{body}</td></tr>'
