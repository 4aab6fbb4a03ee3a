"""Views show a card as text and nothing but text, consequences first, byte for byte the same."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reticent.guarantees import ITEM, RECORD, MutualInformation, PerItemDP, PureDP
from reticent.guarantees.card import Budget, Card, Evidence, Preferences, make_card
from reticent.guarantees.card_facts import card_facts, printable
from reticent.guarantees.card_views import card_html, card_markdown, card_text
from reticent.mechanisms import DiscreteLaplace
from reticent.noise import Source

from .test_card import DAY, SCOPE, card_of, full_card

HOSTILE = "<script>alert('1')</script> \"&amp;\" `x` | *y* [z](http://evil.example) \x1b[31m\u202e"
FORBIDDEN = re.compile(r"anonym|impossible|\bsafe|100\s*%", re.IGNORECASE)
VIEWS = [card_text, card_markdown, card_html]


def hostile_card() -> Card:
    """Every text that a maker can choose tries to break out."""
    mechanism = DiscreteLaplace(epsilon="0.5", size=2)
    return make_card(
        HOSTILE,
        mechanism.release([1, 2], Source.system()).event,
        scope=SCOPE.model_copy(update={"protected": HOSTILE, "observer": HOSTILE}),
        how=mechanism.how().model_copy(update={"bounds": HOSTILE}),
        utility=mechanism.utility().model_copy(update={"sentence": HOSTILE, "bias": HOSTILE}),
        evidence=Evidence(theorem=HOSTILE, assumptions=(HOSTILE, HOSTILE), audit=HOSTILE),
        budget=Budget(spent=HOSTILE, limit=HOSTILE, renews=HOSTILE, rule=HOSTILE),
        preferences=Preferences(
            rules_sha256=HOSTILE, withheld=1, public=False, others_change_your_risk=True
        ),
        command=HOSTILE,
        made=DAY,
    )


CARDS = {
    "counts": full_card(),
    "seeded": card_of(PureDP.of("0.5", RECORD), private=False),
    "average": card_of(MutualInformation(0.05, 0.1, "gender", "census")),
    "items": card_of(PerItemDP.of(1, {"Alien": 0, "Heat": 1}, default="0.5")),
    "large": card_of(PureDP.of("5.2", ITEM)),
    "huge": card_of(PureDP.of(50, RECORD)),
    "changed": full_card().model_copy(update={"title": "Another"}),
    "hostile": hostile_card(),
}
EVERY = pytest.mark.parametrize("card", CARDS.values(), ids=CARDS.keys())


class Page(HTMLParser):
    """The elements, attributes and text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


def page(card: Card) -> Page:
    return Page(card_html(card))


@EVERY
def test_the_page_is_one_file_that_asks_nothing_of_anyone(card: Card) -> None:
    seen = page(card)
    known = {
        *("html", "head", "meta", "title", "style", "body", "main", "header", "h1", "p", "section"),
        *("div", "figure", "svg", "circle", "figcaption", "b", "table", "caption", "tbody", "tr"),
        *("th", "td", "footer", "code"),
    }
    assert {tag for tag, _ in seen.elements} <= known  # no script, link, img, a, iframe, form
    names = {name for _, attributes in seen.elements for name in attributes}
    assert not {name for name in names if name.startswith("on") or name in ("href", "src", "style")}
    assert "url(" not in card_html(card)
    assert "@import" not in card_html(card)


@EVERY
def test_the_policy_admits_this_style_and_nothing_else(card: Card) -> None:
    text = card_html(card)
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)
    assert style is not None
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    policies = [m["content"] for m in Page(text).all("meta") if "http-equiv" in m]
    assert policies == [
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    ]


@EVERY
def test_the_page_is_built_for_every_reader(card: Card) -> None:
    seen = page(card)
    assert seen.all("html") == [{"lang": "en"}]
    assert len(seen.all("main")) == len(seen.all("h1")) == len(seen.all("title")) == 1
    assert seen.all("th")
    assert all(head == {"scope": "row"} for head in seen.all("th"))
    assert len(seen.all("th")) == len(seen.all("td")) == len(seen.all("tr"))
    assert "prefers-color-scheme: dark" in card_html(card)
    assert any(m.get("name") == "viewport" for m in seen.all("meta"))


@EVERY
@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.__name__)
def test_equal_cards_give_equal_bytes(card: Card, view: Any) -> None:
    again = Card.from_json(card.to_json())
    assert view(card) == view(again)


@EVERY
@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.__name__)
def test_words_that_promise_too_much_never_appear(card: Card, view: Any) -> None:
    words = re.sub(r"<style>.*?</style>", "", view(card), flags=re.DOTALL)
    assert not FORBIDDEN.search(words)


def test_the_search_for_forbidden_words_finds_them() -> None:
    for text in ("Anonymous data", "perfectly safe", "it is impossible", "100 % private", "100%"):
        assert FORBIDDEN.search(text)


@EVERY
@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.__name__)
def test_consequences_come_before_parameters(card: Card, view: Any) -> None:
    text = view(card)
    body = text[text.index("<body>") :] if view is card_html else text
    flat = " ".join(body.split())
    assert flat.index(card.words.odds.split(" (")[0][:30]) < flat.index("Privacy loss of this")
    assert "ε" not in flat[: flat.index("Who is protected")]


@pytest.mark.parametrize("name", ["counts", "items", "large", "huge"])
def test_two_pictures_show_both_chances(name: str) -> None:
    card = CARDS[name]
    pictures = page(card).all("svg")
    assert [p["role"] for p in pictures] == ["img", "img"]
    assert [p["aria-label"] for p in pictures] == [
        "Guessing without the release: right 50 in 100",
        f"With the release: right at most {card.words.right_at_most} in 100",
    ]


def dots(card: Card) -> list[tuple[int, int, int]]:
    """For each picture: whole dots, partial dots, empty dots."""
    pictures = re.findall(r"<svg.*?</svg>", card_html(card))
    counts = []
    for picture in pictures:
        yes = re.findall(r'class="yes"[^>]* r="([\d.]+)"', picture)
        partial = sum(radius != "7" for radius in yes)
        empty = picture.count('class="no"') - partial
        counts.append((len(yes) - partial, partial, empty))
    return counts


def test_the_dots_are_the_chances() -> None:
    assert dots(CARDS["counts"]) == [(50, 0, 50), (63, 0, 37)]
    assert dots(CARDS["items"]) == [(50, 0, 50), (74, 0, 26)]
    assert dots(CARDS["large"]) == [(50, 0, 50), (99, 1, 0)]
    assert dots(CARDS["huge"]) == [(50, 0, 50), (100, 0, 0)]


@pytest.mark.parametrize("name", ["seeded", "average", "changed"])
def test_no_picture_without_a_worst_case_promise(name: str) -> None:
    card = CARDS[name]
    assert page(card).all("svg") == []
    assert card_facts(card).chance is None
    assert "right 50 in 100" not in card_text(card)


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.__name__)
def test_a_seeded_release_is_said_to_protect_nobody(view: Any) -> None:
    text = view(CARDS["seeded"])
    assert "protects nobody" in text
    assert "Nothing is promised" in text
    assert "times in 100 about" not in text


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.__name__)
def test_a_card_that_does_not_hold_says_so_first(view: Any) -> None:
    text = view(CARDS["changed"])
    assert text.index("Do not rely on this card") < text.index("The card claims:")
    assert "Do not rely" not in view(CARDS["counts"])


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.__name__)
def test_without_a_ledger_the_card_says_so(view: Any) -> None:
    sentence = "Made without a ledger: nothing was recorded"
    assert sentence in " ".join(view(CARDS["items"]).split())
    assert sentence not in " ".join(view(CARDS["counts"]).split())


def test_every_row_is_there() -> None:
    labels = [label for label, _ in card_facts(CARDS["counts"]).rows]
    assert labels == [
        "Who is protected",
        "Against whom",
        "Not against",
        "Where noise is added",
        "Privacy loss of this release",
        "Spent so far",
        "How it was made",
        "Bounds",
        "Error to expect",
        "Preferences",
        "Choices of others",
        "Checked by",
        "Made with",
        "Rely on",
    ]
    assert "Loss of each item" in dict(card_facts(CARDS["items"]).rows)


def test_many_items_are_cut_short() -> None:
    weights = {f"film {n:02}": "0.1" for n in range(40)}
    rows = dict(card_facts(card_of(PerItemDP.of(1, weights, default=1))).rows)
    assert rows["Loss of each item"][-2:] == ("and 28 more", "Every other: ε = 1")


def test_hostile_text_stays_text() -> None:
    seen = page(CARDS["hostile"])
    assert "<script>alert('1')</script>" in seen.text  # as text, after parsing
    assert "<script" not in card_html(CARDS["hostile"])
    assert [tag for tag, _ in seen.elements].count("a") == 0


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.__name__)
def test_no_control_character_reaches_a_terminal(view: Any) -> None:
    text = view(CARDS["hostile"])
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\\x1b[31m" in text.replace("\\[", "[").replace("\\\\", "\\")


def test_markdown_has_no_raw_markup_and_a_whole_table() -> None:
    text = card_markdown(CARDS["hostile"])
    assert not re.search(r"(?<!\\)<(?!br>)", text)
    assert not re.search(r"(?<!\\)\]\(", text)
    rows = [line for line in text.splitlines() if line.startswith("| **")]
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 3 for row in rows)
    assert len(rows) == len(card_facts(CARDS["hostile"]).rows)


@EVERY
def test_text_fits_88_columns(card: Card) -> None:
    assert max(map(len, card_text(card).splitlines())) <= 88
    assert all(line == line.rstrip() for line in card_text(card).splitlines())


@given(st.text())
def test_no_title_changes_the_structure(title: str) -> None:
    plain, odd = card_of(PureDP.of(1, RECORD)), "x" + title
    card = plain.model_copy(update={"title": odd})
    usual = page(plain.model_copy(update={"title": "x"})).elements
    assert page(card).elements == usual
    card_html(card).encode("utf-8")
    card_text(card).encode("utf-8")
    assert len(card_markdown(card).splitlines()) == len(
        card_markdown(plain.model_copy(update={"title": "x"})).splitlines()
    )


@given(st.text(alphabet=st.characters()))
def test_printable_is_one_line_that_any_file_takes(text: str) -> None:
    shown = printable(text)
    assert shown.isprintable() or not any(c in shown for c in "\r\n\t\x1b\x85\u2028\u2029")
    assert len(shown.splitlines()) <= 1
    shown.encode("utf-8")


def test_views_do_not_change_the_card() -> None:
    before = CARDS["counts"].to_json()
    for view in VIEWS:
        view(CARDS["counts"])
    assert json.loads(CARDS["counts"].to_json()) == json.loads(before)
