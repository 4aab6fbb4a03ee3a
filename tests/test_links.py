"""Every link leads somewhere: between the Markdown files, and in the site that is built from them.

Links to other sites are only looked at: nothing here goes online.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
import unicodedata
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *(ROOT / f"{name}/README.md" for name in ("experiments", "benchmarks", "examples")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
LINK = re.compile(
    r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]*(?:\([^()]*\)[^()\s]*)*)(?: \"[^\"]*\")?\)"
)
OUTSIDE = re.compile(r"https://[\w.-]+(?:/\S*)?")
LOADS = {("link", "href"), ("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src")}
STYLE = re.compile(r"(?:url\(|@import)\s*[\"']?((?:https?:)?//[^\"')\s]+)")


def bare(text: str) -> str:
    """Text without blocks of code and comments, in which brackets are no links."""
    text = re.sub(r"^( *)(```+)[^\n]*\n.*?^\1\2$", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)


def links(text: str) -> list[str]:
    return LINK.findall(re.sub(r"(`+)(?:(?!\1).)+\1", "code", bare(text)))


def slug(heading: str) -> str:
    """The anchor that the site gives a heading."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
    ascii_only = unicodedata.normalize("NFKD", plain).encode("ascii", "ignore").decode()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", ascii_only).strip().lower())


def anchors(text: str) -> set[str]:
    found: set[str] = set()
    for heading in re.findall(r"^#{1,6} (.*?)\s*$", bare(text), re.MULTILINE):
        name, count = slug(heading), 0
        while name in found:
            count += 1
            name = f"{slug(heading)}_{count}"
        found.add(name)
    return found | set(re.findall(r"<a id=\"([^\"]+)\"", text))


def broken(page: Path, text: str) -> Iterator[str]:
    """The links of a page that lead nowhere."""
    for link in links(text):
        if "://" in link or link.startswith("mailto:"):
            if not OUTSIDE.fullmatch(link):
                yield link
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / unquote(path)).resolve() if path else page
        if target != page and not (target.exists() and target.is_relative_to(ROOT)):
            yield link
        elif anchor and target.suffix == ".md":
            there = text if target == page else target.read_text(encoding="utf-8")
            if anchor not in anchors(there):
                yield link


def test_links_lead_somewhere() -> None:
    found = {page: list(broken(page, page.read_text(encoding="utf-8"))) for page in PAGES}
    assert {p.relative_to(ROOT).as_posix(): wrong for p, wrong in found.items() if wrong} == {}


def test_a_broken_link_is_found() -> None:
    text = (
        "# A heading, with `code`\n[there](README.md) [here](#a-heading-with-code)\n"
        "[no](nowhere.md) ![no](no.svg) [no](#no) [no](README.md#no-such-heading)\n"
        "[no](http://example.org) [yes](https://example.org/a_(b)) `[code](code.md)`\n"
        "```\n[code](code.md)\n```\n"
    )
    wrong = ["nowhere.md", "no.svg", "#no", "README.md#no-such-heading", "http://example.org"]
    assert list(broken(ROOT / "page.md", text)) == wrong


def test_every_page_is_in_the_menu() -> None:
    settings = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))

    def pages(menu: list[dict[str, object]]) -> Iterator[str]:
        for entry in menu:
            for value in entry.values():
                yield from pages(value) if isinstance(value, list) else [str(value)]

    listed = list(pages(settings["project"]["nav"]))
    docs = ROOT / "docs"
    assert sorted(listed) == sorted(p.relative_to(docs).as_posix() for p in docs.rglob("*.md"))


class Site(HTMLParser):
    """What one page of the site refers to, and which anchors it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.goes: list[str] = []
        self.anchors: set[str] = {""}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.anchors.add(value)
            elif (tag, name) in LOADS:
                self.loads.append(value or "")
            elif (tag, name) == ("a", "href"):
                self.goes.append(value or "")


def faults(site: Path) -> Iterator[str]:
    """Everything that a built site loads from elsewhere, and links within it that lead nowhere."""
    files = (path for path in site.rglob("*.html") if path.name != "404.html")  # for servers only
    pages = {path: Site(path.read_text(encoding="utf-8")) for path in files}
    for path, page in pages.items():
        name = path.relative_to(site)
        for link in page.loads:
            if (
                re.match(r"\w+:|/", link)
                or not (path.parent / unquote(link.split("?")[0])).exists()
            ):
                yield f"{name} loads {link}"
        for link in page.goes:
            if re.match(r"https://|mailto:", link):
                continue
            to, _, anchor = link.partition("#")
            target = (path.parent / unquote(to)).resolve() if to not in ("", ".") else path
            if target.is_dir():
                target = target / "index.html"
            known = pages[target].anchors if target in pages else {""}
            if not target.exists() or (target.suffix == ".html" and unquote(anchor) not in known):
                yield f"{name} leads to {link}"
    for style in site.rglob("*.css"):
        for link in STYLE.findall(style.read_text(encoding="utf-8")):
            yield f"{style.relative_to(site)} loads {link}"


@pytest.fixture(scope="module")
def website(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = Path(sys.executable).with_name("zensical")
    folder = tmp_path_factory.mktemp("pages").resolve()
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=shutil.ignore_patterns("*.py", "__*"))
    shutil.copy(ROOT / "zensical.toml", folder)
    ended = subprocess.run(
        [program, "build", "--clean", "--strict"],
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "No issues found" in ended.stdout + ended.stderr
    return folder / "site"


@pytest.mark.website
def test_the_site_is_whole_and_loads_nothing_from_elsewhere(website: Path) -> None:
    assert len(list(website.rglob("*.html"))) > 40
    assert list(faults(website)) == []


@pytest.mark.website
def test_the_site_names_headings_as_this_file_does(website: Path) -> None:
    for page in ("limits", "howto/person", "reference/tasks", "theory/noise", "preferences"):
        text = (ROOT / f"docs/{page}.md").read_text(encoding="utf-8")
        there = Site((website / f"{page}.html").read_text(encoding="utf-8")).anchors
        assert anchors(text) <= there, page


def test_a_fault_of_the_site_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<p id="x"><a href="#x"><a href="#y"><a href="b.html"><a href="https://example.org">'
        '<img src="https://example.org/a.png"><script src="a.js"></script><a href="a.html#x">'
    )
    (tmp_path / "a.css").write_text("@import url(https://example.org/a.css); b{background:url(a)}")
    assert len(list(faults(tmp_path))) == 5
