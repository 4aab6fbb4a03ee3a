"""People's pages: what they show, what they change, what they never say; nothing is lost."""

import hashlib
import re
from fractions import Fraction
from html import unescape
from html.parser import HTMLParser
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from reticent.console import people_words as words
from reticent.console.people_choices import STEPS, Choice, chosen
from reticent.console.people_effects import Effect, true_counts
from reticent.console.people_figure import LEFT, WIDTH, figure
from reticent.console.people_visits import DONE
from reticent.console.views import named, part
from reticent.data.catalogue import Catalogue
from reticent.gateway import credentials, directory
from reticent.preferences import Preferences
from tests.unit.console.conftest import Console, Visitor, make_app
from tests.unit.gateway.seeded import ADS, CLUB, FILMS, ask, fill, opened, somebody, wishes

HTMX = "d6fdc75f204e6bdefa99b69bf1e6d4ac69b8a364f77929f45c13476b4000f717"
PAGES = (
    "/me",
    "/me/start",
    "/me/who",
    f"/me/who/{CLUB}",
    f"/me/who/{CLUB}/Drama",
    f"/me/who/{CLUB}/terms/histogram",
    f"/me/who/{CLUB}/terms/similarity",
    f"/me/who/{CLUB}/terms/profile",
    f"/me/stop/{CLUB}",
    "/me/items",
    "/me/hidden",
    "/me/left",
    "/me/file",
    "/me/file/edit",
    "/me/leave-gateway",
)
NEVER = re.compile(r"\bsafe\b|\banonymous|\bimpossible\b|100 ?%", re.IGNORECASE)


class Reader(HTMLParser):
    """What of a page tests ask about."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def all(self, tag: str, **given: str) -> list[dict[str, str | None]]:
        return [a for t, a in self.tags if t == tag and given.items() <= a.items()]


@pytest.fixture
def ann(console: Console) -> Visitor:
    return console.enter("ann")


def look(console: Console, visitor: Visitor, path: str, query: str = "") -> str:
    told = console.page(path, visitor, query=query)
    assert told.status == 200, told.body[:400]
    return told.body.decode()


def field(text: str, name: str) -> str:
    (found, *_) = Reader(text).all("input", name=name)
    return found["value"] or ""


def plain(text: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", text)).split())


def file_of(console: Console, who: str = "ann") -> Preferences:
    return console.gateway.person(who).preferences


def version(console: Console, who: str = "ann") -> str:
    return str(console.gateway.person(who).version)


def test_the_script_is_the_one_that_was_looked_at() -> None:
    static = resources.files("reticent.console") / "static"
    assert hashlib.sha256((static / "htmx.min.js").read_bytes()).hexdigest() == HTMX
    assert "Zero-Clause BSD" in (static / "htmx.LICENSE").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", PAGES)
def test_every_page_stands_by_itself(console: Console, ann: Visitor, path: str) -> None:
    ask(console.gateway, "a" * 16)
    text = look(console, ann, path)
    page = Reader(text)
    assert len(page.all("h1")) == len(page.all("main")) == len(page.all("title")) == 1
    assert sum(a.get("role") == "status" for _, a in page.tags) == 1
    assert not [a for _, a in page.tags if "style" in a or any(k.startswith("on") for k in a)]
    assert [a["src"] for a in page.all("script")] == ["/static/htmx.min.js"]
    assert not page.all("style")
    posts = len(page.all("form", method="post"))
    assert posts == len(page.all("input", name="form", value=ann.session.form)) >= 1
    assert not NEVER.search(plain(text))
    ids = [a["id"] for _, a in page.tags if "id" in a]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("path", PAGES)
def test_pages_are_of_their_person_only(console: Console, path: str) -> None:
    assert console.call("GET", path).status == 401
    assert console.page(path, console.enter("engineer")).status == 404


def test_looking_changes_nothing(console: Console, ann: Visitor) -> None:
    before = version(console), file_of(console).text
    for path in PAGES:
        look(console, ann, path)
    look(console, ann, f"/me/who/{CLUB}/Drama", "epsilon=0.01&fragment=step")
    assert (version(console), file_of(console).text) == before


def test_no_page_repeats_a_message_from_its_address(console: Console, ann: Visitor) -> None:
    assert "call this number" not in look(console, ann, "/me", "done=call+this+number")
    assert DONE["saved"] in look(console, ann, "/me/items", "done=saved")


def test_a_cell_says_what_comes_of_a_choice_before_it_is_saved(
    console: Console, ann: Visitor
) -> None:
    address = f"/me/who/{CLUB}/Drama"
    full = look(console, ann, address)
    assert "of it counts (in full)" in full
    assert "Your true number" in full
    assert "right at most 53 times in 100" in plain(full)
    tried = look(console, ann, address, "epsilon=0.05")
    assert "of it counts (50 in 100)" in tried
    assert "right at most 52 times in 100" in plain(tried)
    assert field(tried, "epsilon") == "0.05"
    withheld = look(console, ann, address, "step=0")
    assert "gets noise only" in plain(withheld)
    assert file_of(console).wishes.budget("Drama", CLUB) == 4


def test_a_fragment_is_a_part_and_names_the_other_control(console: Console, ann: Visitor) -> None:
    text = look(console, ann, f"/me/who/{CLUB}/Drama", "step=5&fragment=step")
    page = Reader(text)
    assert not page.all("html")
    assert page.all("p", **{"id": "status", "hx-swap-oob": "innerHTML"})
    (number,) = page.all("input")
    assert (number["id"], number["value"], number["hx-swap-oob"]) == ("epsilon", STEPS[5], "true")
    wrong = look(console, ann, f"/me/who/{CLUB}/Drama", "epsilon=-1&fragment=epsilon")
    assert "Write a number above 0" in plain(wrong)


def test_a_choice_is_kept_for_one_provider_with_all_comments(
    console: Console, ann: Visitor
) -> None:
    text = "# mine\n" + file_of(console).text
    console.gateway.set_preferences("ann", text, seen=int(version(console)))
    address = f"/me/who/{CLUB}/Drama"
    told = console.send(address, ann, version=version(console), epsilon="0.07", shown="4")
    assert (told.status, told["location"]) == (303, f"{address}?done=saved")
    wanted = file_of(console)
    assert wanted.wishes.budget("Drama", CLUB) == Fraction(7, 100)
    assert wanted.wishes.budget("Drama", ADS) == wanted.wishes.budget("Crime", CLUB) == 4
    assert wanted.text.startswith("# mine\n")
    shown = look(console, ann, address)
    line = wanted.explain(CLUB, "Drama").decided.line
    assert f'href="/me/file#line-{line}"' in shown
    assert f'id="line-{line}"' in look(console, ann, "/me/file")
    told = console.send(address, ann, version=version(console), do="general")
    assert told["location"] == f"{address}?done=general"
    assert file_of(console).wishes.budget("Drama", CLUB) == 4
    told = console.send(address, ann, version=version(console), epsilon="", shown="4")
    assert told.status == 303
    assert file_of(console).wishes.budget("Drama", CLUB) is None


def test_what_changed_meanwhile_is_told_and_nothing_is_lost(console: Console, ann: Visitor) -> None:
    old = version(console)
    provider = f"/me/who/{CLUB}"
    done = console.send(provider, ann, version=old, epsilon="3", shown="4", total="9")
    assert done.status == 303
    for path, fields in (
        (f"{provider}/Drama", {"epsilon": "0.07", "shown": "4"}),
        (provider, {"epsilon": "0.07", "shown": "3", "total": "0.07", "renews": "weekly"}),
        ("/me/who", {"general": "0.07"}),
        ("/me/items", {"i1": "Heat", "w1": "0.25", "s1": "", "provider": CLUB}),
        ("/me/hidden", {"secret": "shoe size", "leak_bits": "0.07"}),
        ("/me/file/edit", {"text": "version = 1\n# 0.07\n"}),
        (f"/me/stop/{CLUB}", {}),
        ("/me/start", {"do": "keep", "starting": "balanced"}),
    ):
        before = file_of(console).text
        told = console.send(path, ann, version=old, **fields)
        text = told.body.decode()
        assert told.status == 409, path
        assert "changed meanwhile" in text
        assert all(
            unescape(value) in unescape(text) for value in fields.values() if value != "keep"
        )
        assert file_of(console).text == before
        assert field(text, "version") == version(console)


def test_a_wrong_number_is_told_on_the_same_page(console: Console, ann: Visitor) -> None:
    for path, fields in (
        (f"/me/who/{CLUB}/Drama", {"epsilon": "much", "shown": "4"}),
        (f"/me/who/{CLUB}/Drama", {"epsilon": "9" * 30, "shown": "4"}),
        ("/me/who", {"general": "a lot"}),
        (f"/me/who/{CLUB}", {"epsilon": "-2", "shown": "4"}),
        (f"/me/who/{CLUB}", {"epsilon": "1", "shown": "4", "total": "<b>"}),
        (f"/me/who/{CLUB}", {"epsilon": "1", "shown": "4", "renews": "hourly"}),
        ("/me/hidden", {"secret": "age", "leak_bits": "few"}),
        ("/me/items", {"i1": "Heat", "w1": "2", "s1": ""}),
    ):
        told = console.send(path, ann, version=version(console), **fields)
        assert told.status == 422, path
        assert "Not saved" in told.body.decode()
        assert "<b>" not in told.body.decode()


@pytest.mark.parametrize(
    ("path", "fields", "place", "says"),
    [
        (f"/me/who/{CLUB}", {"total": "<b>"}, "total", "In all, at most: write a number such as 2"),
        (f"/me/who/{CLUB}", {"total": "1e9"}, "total", "or leave it empty."),
        (f"/me/who/{CLUB}", {"epsilon": "x", "shown": "4"}, "epsilon", "As a number: write"),
        (f"/me/who/{CLUB}", {"renews": "hourly"}, "renews", "It starts anew: choose one"),
        (f"/me/who/{CLUB}/Drama", {"epsilon": "9" * 30}, "epsilon", "As a number: write"),
        ("/me/who", {"general": "1e7"}, "general", "Any other attribute: write a number"),
        ("/me/hidden", {"secret": "age", "leak_bits": "few"}, "leak_bits", "In bits: write"),
        ("/me/hidden", {"secret": "income", "leak_bits": "-1"}, "bits-1", "such as 0.05"),
        ("/me/hidden", {"secret": "", "leak_bits": "0.1"}, "secret", "say what it is"),
        ("/me/leave-gateway", {"word": "yes"}, "word", "type the word “delete”"),
    ],
)
def test_a_wrong_field_is_named_in_the_words_of_its_form(
    console: Console, ann: Visitor, path: str, fields: dict[str, str], place: str, says: str
) -> None:
    told = console.send(path, ann, version=version(console), **fields)
    assert told.status == 422
    text = told.body.decode()
    assert says in plain(text)
    assert not re.search(r"must be|, got ", plain(text))
    wrong = [a for _, a in Reader(text).tags if a.get("aria-invalid") == "true"]
    assert [a["id"] for a in wrong] == [place]
    assert f"{place}-wrong" in (wrong[0]["aria-describedby"] or "").split()
    assert [a for _, a in Reader(text).tags if a.get("id") == f"{place}-wrong"]


def test_a_conflict_is_told_in_the_words_of_its_page(console: Console, ann: Visitor) -> None:
    old = version(console)
    console.send("/me/who", ann, version=old, general="0.3")
    stop = console.send(f"/me/stop/{CLUB}", ann, version=old).body.decode()
    assert "Nothing was stopped yet" in stop
    assert "filled in below" not in stop
    keep = {"do": "keep", "starting": "balanced"}
    start = Reader(console.send("/me/start", ann, version=old, **keep).body.decode())
    assert len(start.all("a", href="/me/file")) == 2  # in the navigation, and by the conflict


def test_a_cell_that_is_not_asked_for_offers_nothing(console: Console) -> None:
    asks = {"histogram": {"epsilon": "0.4", "attributes": {"Crime": "0.2"}}}

    def work(connection: Any) -> None:
        directory.set_provider(connection, ADS, asks)
        console.gateway.changed(connection)

    console.gateway.write(work)
    for who in ("ann", "bob"):  # of whom ann has named it
        text = look(console, console.enter(who), f"/me/who/{ADS}/Drama")
        assert "does not ask for Drama" in plain(text)
        assert "What comes of it" not in plain(text)
        assert "Let it learn something" not in plain(text)
        page = Reader(text)
        assert sum(a.get("role") == "status" for _, a in page.tags) == 1
        assert len(page.all("input", type="range")) == (who == "ann")
        assert len(page.all("div", id="effect")) == (who == "ann")


def test_a_service_that_asks_for_nothing_is_called_so(console: Console, ann: Visitor) -> None:
    text = file_of(console).text + '[providers."quiet.example"]\nepsilon = 1\n'
    console.gateway.set_preferences("ann", text, seen=int(version(console)))
    shown = plain(look(console, ann, "/me/who/quiet.example"))
    assert "It asks for nothing here" in shown
    assert "costs nothing then" not in shown
    assert "It asks for nothing here" in plain(look(console, ann, "/me"))
    console.send("/me/who", ann, version=version(console), general="")
    page = Reader(look(console, ann, f"/me/who/{ADS}"))
    assert page.all("a", href="/me/who#general-rule")


def test_the_effect_has_a_button_without_script_only(console: Console, ann: Visitor) -> None:
    for path in (f"/me/who/{CLUB}", f"/me/who/{CLUB}/Drama"):
        text = look(console, ann, path)
        (inside,) = re.findall(r"<noscript>(.*?)</noscript>", text)
        assert "Show the effect" in inside
        assert text.count("Show the effect") == 1


def test_a_provider_is_given_less_and_then_nothing(console: Console, ann: Visitor) -> None:
    address = f"/me/who/{CLUB}"
    told = console.send(
        address,
        ann,
        version=version(console),
        step="7",
        shown="4",
        epsilon="4",
        shown_step="11",
        total="2.5",
        renews="monthly",
    )
    assert told.status == 303
    granted = file_of(console).providers[CLUB]
    assert (granted.epsilon, granted.total, granted.renews) == (
        Fraction(1, 10),
        Fraction(5, 2),
        "monthly",
    )
    assert f'href="/me/stop/{CLUB}"' in look(console, ann, address)
    told = console.send(address, ann, version=version(console), epsilon="", shown="0.1")
    assert told["location"] == f"/me/stop/{CLUB}"
    assert CLUB in file_of(console).providers
    told = console.send(f"/me/stop/{CLUB}", ann, version=version(console))
    assert told["location"] == "/me/who?done=stopped"
    assert CLUB not in file_of(console).providers
    assert "noise only" in plain(look(console, ann, address))
    assert "nothing to set here yet" in plain(look(console, ann, f"{address}/Drama"))


def test_the_general_rule_is_for_attributes_without_a_line(console: Console, ann: Visitor) -> None:
    assert field(look(console, ann, "/me/who"), "general") == "4"
    for typed, held in (("0.3", Fraction(3, 10)), ("", None)):
        told = console.send("/me/who", ann, version=version(console), general=typed)
        assert told["location"] == "/me/who?done=saved"
        assert file_of(console).wishes.budget("Drama", ADS) == held
    shown = plain(look(console, ann, f"/me/who/{CLUB}"))
    assert "Gets" not in shown
    assert "one comparison" in shown  # it still tells something, and numbers do not
    assert "stay noise only: no line allows an attribute yet" in shown
    assert "no line allows an attribute yet" in plain(look(console, ann, f"/me/who/{ADS}"))


def test_one_item_is_hidden_from_one_provider(console: Console, ann: Visitor) -> None:
    first = Reader(look(console, ann, "/me"))
    address = f"/me/items?provider={CLUB}"
    assert first.all("a", href=address)
    text = look(console, ann, "/me/items", f"provider={CLUB}")
    assert plain(text).count("can itself be telling") == 1
    told = console.send(
        "/me/items",
        ann,
        version=version(console),
        provider=CLUB,
        q="",
        i1="Heat",
        w1="0",
        s1="",
        i2="Brazil",
        w2="",
        s2="",
    )
    assert told.status == 303
    assert parse_qs(urlsplit(told["location"]).query)["provider"] == [CLUB]
    wanted = file_of(console)
    assert wanted.weight("Heat", provider=CLUB) == 0
    assert wanted.weight("Heat", provider=ADS) == wanted.weight("Brazil", provider=CLUB) == 1
    told = console.send(
        "/me/items", ann, version=version(console), provider=CLUB, i1="Heat", w1="", s1="0"
    )
    assert told.status == 303
    assert file_of(console).weight("Heat", provider=CLUB) == 1


def test_items_are_found_by_name_and_all_others_have_a_weight(
    console: Console, ann: Visitor
) -> None:
    assert "Alien" not in look(console, ann, "/me/items")
    assert "Alien" in look(console, ann, "/me/items", "q=LIEN")
    assert "No item has" in look(console, ann, "/me/items", "q=%3Cb%3E")
    console.send("/me/items", ann, version=version(console), default="0.5", shown_default="1")
    assert file_of(console).weight("Alien") == Fraction(1, 2)
    before = version(console)
    told = console.send("/me/items", ann, version=before, default="0.5", shown_default="0.5")
    assert told["location"].endswith("done=none")
    assert version(console) == before


def test_what_must_be_hidden_is_kept_or_the_profile_is_not_used(
    console: Console, ann: Visitor
) -> None:
    def hide(secret: str, bits: str) -> str:
        fields = {"version": version(console), "secret": secret, "leak_bits": bits}
        assert console.send("/me/hidden", ann, **fields).status == 303
        return plain(look(console, ann, "/me/hidden"))

    assert "Kept: a released profile tells" in hide("income", "0.3")
    assert "one that is drawn for you" in plain(look(console, ann, "/me/hidden"))
    strict = hide("income", "0.000001")
    assert "your own profile is not used" in strict
    assert "one that is drawn for you" not in strict
    assert "show it outright" in hide("home", "0.5")
    assert "was not made to hide it" in hide("shoe size", "0.5")
    for secret in ("income", "home", "shoe size"):
        console.send("/me/hidden", ann, version=version(console), secret=secret, do="clear")
    assert not file_of(console).hide


def test_what_left_stands_beside_what_is_true(console: Console, ann: Visitor) -> None:
    ask(console.gateway, "a" * 16)
    ask(console.gateway, "b" * 16, kind="similarity", other="bob")
    ask(console.gateway, "c" * 16, kind="profile")
    text = look(console, ann, "/me/left")
    shown = plain(text)
    assert "3 answers about you were sent in the last 7 days" in shown
    assert "It cost epsilon 0.4." in shown
    assert "bob" not in shown
    assert "The true number would tell you about the other person" in shown
    assert "999.1 of 1000" in shown
    true = true_counts(FILMS, console.gateway.known("ann").held)
    assert true == {"Crime": 2, "Drama": 2, "Comedy": 1, "Horror": 1}
    assert f'href="/me/stop/{CLUB}"' in text
    assert f'href="/me/who/{CLUB}/Drama"' in text
    assert "Nothing about you was sent" in look(console, ann, "/me/left", f"provider={ADS}&days=30")


def test_noise_only_is_called_so(console: Console) -> None:
    bob = console.enter("bob")
    ask(console.gateway, "a" * 16, "bob", provider=ADS)
    shown = plain(look(console, bob, "/me/left", "days=all"))
    assert "Noise only: nothing of you." in shown
    assert "No rule allows it" in shown
    (card,) = re.findall(r'href="(/me/left/[0-9]+/card)"', look(console, bob, "/me/left"))
    assert "noise only: nothing of you" in plain(look(console, bob, card))
    assert console.page(card, console.enter("ann")).status == 404


def test_a_total_that_is_used_up_is_called_so(console: Console, ann: Visitor) -> None:
    once = {"epsilon": "4", "shown": "4", "total": "0.5"}
    console.send(f"/me/who/{CLUB}", ann, version=version(console), **once)
    for number in range(3):
        ask(console.gateway, f"{number}" * 16)
    shown = plain(look(console, ann, "/me/left"))
    assert "too little for a release: noise only" in shown
    assert shown.count("Noise only: the total you set was used up.") == 2
    assert shown.count("It cost epsilon 0.4.") == 1
    assert shown.count("Noise can push a number below 0.") == 1
    assert f"Your rule for {CLUB}" in shown
    once = {"epsilon": "4", "shown": "4", "total": "0.4"}
    console.send(f"/me/who/{CLUB}", ann, version=version(console), **once)
    assert "used up: noise only" in plain(look(console, ann, "/me/left"))
    once = {"epsilon": "4", "shown": "4", "total": "2"}
    console.send(f"/me/who/{CLUB}", ann, version=version(console), **once)
    shown = plain(look(console, ann, "/me/left"))
    assert "used up" not in shown
    assert shown.count("Noise only: nothing of you.") == 2


def test_terms_lead_back_and_say_what_they_are_for_this_person(
    console: Console, ann: Visitor
) -> None:
    console.send(f"/me/who/{CLUB}", ann, version=version(console), epsilon="0.1", shown="4")
    for kind in ("histogram", "similarity", "profile"):
        text = look(console, ann, f"/me/who/{CLUB}/terms/{kind}")
        assert Reader(text).all("a", href=f"/me/who/{CLUB}")
        assert plain(text).count("About you.") == 1
        assert "withheld everything" not in plain(text)
        assert not re.search(r"0\.[0-9]{6,} bits", plain(text))
    shown = plain(look(console, ann, f"/me/who/{CLUB}/terms/histogram"))
    assert "right at most 53 times in 100 after one such release" in shown
    bob = console.enter("bob")
    assert "noise only" in plain(look(console, bob, f"/me/who/{ADS}/terms/histogram"))


def test_a_card_says_what_it_was_for_this_person(console: Console, ann: Visitor) -> None:
    console.send(f"/me/who/{CLUB}", ann, version=version(console), epsilon="0.1", shown="4")
    ask(console.gateway, "a" * 16)
    (card,) = re.findall(r'href="(/me/left/[0-9]+/card)"', look(console, ann, "/me/left"))
    shown = plain(look(console, ann, card))
    assert "is right at most 53 times in 100" in shown
    assert "can be right at most 60 times in 100" in shown
    assert console.page("/me/left/999999/card", ann).status == 404
    assert console.page("/me/left/x/card", ann).status == 404


def test_the_file_is_shown_taken_along_and_edited(console: Console, ann: Visitor) -> None:
    taken = console.page("/me/file/preferences.toml", ann)
    assert taken.body.decode() == file_of(console).text
    assert taken["content-disposition"].startswith("attachment")
    assert taken["content-type"].startswith("text/plain")
    typed = "version = 1\n[atributes]\nDrama = 0\n[providers.x]\nepsilon = 0\n"
    told = console.send("/me/file/edit", ann, version=version(console), text=typed)
    shown = told.body.decode()
    assert told.status == 422
    assert "2 things are wrong" in shown
    assert "Line 2" in shown
    assert "Line 5" in shown
    assert typed in unescape(shown)
    fine = "version = 1\r\n# <script>\r\n[attributes]\r\nDrma = 0.1\r\n"
    told = console.send("/me/file/edit", ann, version=version(console), text=fine)
    assert told["location"] == "/me/file?done=saved"
    assert file_of(console).text == fine.replace("\r\n", "\n")
    shown = look(console, ann, "/me/file")
    assert "did you mean Drama?" in plain(shown)
    assert "# &lt;script&gt;" in shown


def test_who_leaves_is_no_longer_here(console: Console, ann: Visitor) -> None:
    ask(console.gateway, "a" * 16)
    told = console.send("/me/leave-gateway", ann, word="yes")
    assert told.status == 422
    assert console.page("/me", ann).status == 200
    told = console.send("/me/leave-gateway", ann, word=" Delete ")
    assert told.status == 200
    assert "You are no longer here" in told.body.decode()
    assert console.page("/me", ann).status == 401
    assert console.gateway.read(
        lambda c: [r[0] for r in c.execute("SELECT id FROM gateway_person")]
    ) == ["bob"]


def test_three_questions_lead_to_a_file_that_is_read_first(console: Console, ann: Visitor) -> None:
    before = version(console)
    told = console.send("/me/start", ann, q0="1", q1="2")
    assert told.status == 422
    assert (
        Reader(told.body.decode()).all("input", name="q1", value="2")[0].get("checked", "") is None
    )
    told = console.send("/me/start", ann, q0="1", q1="2", q2="1")
    shown = told.body.decode()
    assert told.status == 200
    assert "balanced" in shown
    assert CLUB in shown
    assert version(console) == before
    told = console.send("/me/start", ann, do="look", starting="keep to myself")
    assert "Nobody gets anything" in told.body.decode()
    told = console.send("/me/start", ann, do="keep", starting="balanced", version=before)
    assert told["location"] == "/me?done=started"
    assert set(file_of(console).providers) == {CLUB, ADS}
    assert console.send("/me/start", ann, do="keep", starting="all").status == 422
    page = Reader(look(console, ann, "/me/start"))
    assert not [a for a in page.all("input", type="radio") if "checked" in a]
    assert page.all("a", href="/me?done=later")


@pytest.fixture
def odd(tmp_path: Path) -> Any:
    """A gateway whose names hold everything that can go wrong in an address or a page."""
    catalogue = Catalogue.of(
        [[1, 1, 1]],
        attributes=("Action/Adventure", "<script>alert(1)</script>", "50%2F & “so”?#"),
        items=("<img src=x onerror=alert(1)>",),
    )
    asks = {"a/b <i>": {"histogram": {"epsilon": "1", "attributes": {"default": "1"}}}}
    gateway = opened(tmp_path / "odd.db")
    wanted = wishes(provider="a/b <i>")
    person = somebody(catalogue.items, preferences=wanted)
    fill(gateway, {"ann": person}, asks=asks, catalogue=catalogue)
    key = credentials.secret()
    gateway.write(lambda c: credentials.add_door(c, key, role="person", person="ann"))
    console = Console(gateway, make_app(gateway), tmp_path, keys={"ann": key})
    yield console, catalogue
    gateway.close()


def test_names_are_text_whatever_stands_in_them(odd: Any) -> None:
    console, catalogue = odd
    ann = console.enter("ann")
    ask(console.gateway, "a" * 16, provider="a/b <i>")
    text = look(console, ann, "/me/who")
    addresses = re.findall(r'class="cell" href="([^"]*)"', text)
    assert len(addresses) == len(catalogue.attributes)
    for attribute, address in zip(catalogue.attributes, addresses, strict=True):
        shown = look(console, ann, unescape(address))
        (title,) = re.findall(r"<h1>(.*)</h1>", shown)
        assert unescape(title) == f"{attribute} for a/b <i>"
        told = console.send(
            unescape(address), ann, version=version(console), epsilon="0.5", shown="4"
        )
        assert told.status == 303
        assert look(console, ann, urlsplit(told["location"]).path)
        assert file_of(console).wishes.budget(attribute, "a/b <i>") == Fraction(1, 2)
    for path in ("/me", "/me/items", "/me/left", "/me/file", unescape(addresses[1])):
        page = Reader(look(console, ann, path))
        assert not page.all("img")
        assert not page.all("i")
        assert len(page.all("script")) == 1


@pytest.mark.parametrize("name", ["a b", "a/b", "50%", "%2F", "ä?#&", ".."])
def test_a_name_survives_an_address(name: str) -> None:
    from urllib.parse import unquote

    assert "/" not in unquote(part(name))
    assert named(unquote(part(name))) == name


@pytest.mark.parametrize(
    ("fields", "typed"),
    [
        ({}, "0.3"),
        ({"epsilon": "0.3", "step": "8", "shown": "0.3", "shown_step": "8"}, "0.3"),
        ({"epsilon": "0.3", "step": "2", "shown": "0.3", "shown_step": "8"}, "0.002"),
        ({"epsilon": "0.4", "step": "2", "shown": "0.3", "shown_step": "8"}, "0.4"),
        ({"epsilon": "", "step": "8", "shown": "0.3", "shown_step": "8"}, ""),
        ({"epsilon": "0.0"}, ""),
        ({"step": "0"}, ""),
        ({"step": "99"}, "0.3"),
        ({"step": "-1"}, "0.3"),
        ({"step": "٣"}, "0.3"),
        ({"epsilon": "nan"}, "nan"),
    ],
)
def test_of_slider_and_number_what_was_changed_counts(fields: dict[str, str], typed: str) -> None:
    assert chosen(fields, Choice("0.3")).typed == typed


def test_choices_know_their_place_and_whether_they_are_numbers() -> None:
    assert [Choice(step).step for step in STEPS] == list(range(len(STEPS)))
    assert Choice.of(None).typed == ""
    assert Choice.of(Fraction(1, 10**9)).typed == "0.000000001"
    assert [Choice(t).valid for t in ("", "0.1", "1e-3", "0", "-1", "nan", "inf", "x")] == [
        True,
        True,
        True,
        False,
        False,
        False,
        False,
        False,
    ]


def test_bounds_round_up_and_what_is_left_rounds_down() -> None:
    assert words.epsilon(1) == "0.0001"
    assert words.remaining(99_999) == "0"
    assert words.counts(0.123) == "counts 13 in 100"
    assert "at most 53 times" in words.odds("it", 100_000_000)
    assert words.bound(1.0001) == "1.01"
    assert words.weight(Fraction(3, 10)) == "0.3 · counts 30 in 100"
    assert words.number(-2.5) == "\N{MINUS SIGN}2.50"


def test_the_figure_has_a_log_axis() -> None:
    effects = [
        Effect("Crime", "noisy", mean_error=1.0, within=10.0),
        Effect("Drama", "withheld", mean_error=10.0, within=100.0),
        Effect("West", "not asked"),
    ]
    drawn = figure(effects)
    assert drawn is not None
    assert [text for _, text in drawn.grid] == ["1", "10", "100"]
    first, second = drawn.marks
    assert (first.dot, first.end, second.end) == (LEFT, LEFT + WIDTH / 2, LEFT + WIDTH)
    assert second.dot == first.end
    assert figure(effects[2:]) is None


def test_templates_hold_no_style_and_no_script() -> None:
    folder = resources.files("reticent.console") / "templates"
    for template in folder.iterdir():
        text = template.read_text(encoding="utf-8")
        assert not re.search(r"\sstyle=|\son[a-z]+=|<style|javascript:|\| *safe\b", text), template
        assert not re.search(r"https?://", text), template
