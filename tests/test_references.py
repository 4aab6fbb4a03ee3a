"""Every claim has an address: cited keys, theory pages and theorems exist."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
KEY = re.compile(r"\[([A-Z][A-Za-z]+\d{4})\]")
PAGE = re.compile(r"docs/theory/([a-z-]+)\.md")
STATEMENT = re.compile(r"(?:Theorem|Lemma|Definition) \d+")


def texts() -> Iterator[Path]:
    for pattern in ("src/**/*.py", "docs/**/*.md", "README.md", "CONTRIBUTING.md"):
        yield from ROOT.glob(pattern)


def bibliography() -> set[str]:
    text = (ROOT / "docs/references.bib").read_text(encoding="utf-8")
    return set(re.findall(r"^@\w+\{(\w+),", text, re.MULTILINE))


def cited() -> set[str]:
    return {key for path in texts() for key in KEY.findall(path.read_text(encoding="utf-8"))}


def test_every_key_resolves() -> None:
    assert cited() - bibliography() == set()


def test_no_entry_is_unused() -> None:
    assert bibliography() - cited() == set()


def modules_with_theory() -> list[Path]:
    sources = (ROOT / "src").rglob("*.py")
    return sorted(p for p in sources if PAGE.search(p.read_text(encoding="utf-8")))


@cache
def statements(page: str) -> frozenset[str]:
    """The theorems, lemmas and definitions that are headings of a theory page."""
    lines = (ROOT / "docs/theory" / f"{page}.md").read_text(encoding="utf-8").splitlines()
    headings = (line for line in lines if line.startswith(("#", "**")))
    return frozenset(found for line in headings for found in STATEMENT.findall(line))


def unknown_statements(text: str) -> set[str]:
    """What a module cites that none of the theory pages it names has as a heading."""
    return set(STATEMENT.findall(text)).difference(*map(statements, PAGE.findall(text)))


def test_every_statement_cited_in_code_is_on_the_page() -> None:
    wrong = [
        f"{path.relative_to(ROOT)} cites {sorted(unknown)}, not headings of the pages it names"
        for path in modules_with_theory()
        if (unknown := unknown_statements(path.read_text(encoding="utf-8")))
    ]
    assert wrong == []


def test_a_statement_that_is_on_no_page_is_found() -> None:
    assert unknown_statements("docs/theory/noise.md Theorem 4 Theorem 999") == {"Theorem 999"}


def mechanisms() -> list[Path]:
    folder = ROOT / "src/reticent/mechanisms"
    return sorted(p for p in folder.glob("*.py") if "name: ClassVar[str] = " in p.read_text())


def test_every_mechanism_has_a_theory_page() -> None:
    assert len(mechanisms()) > 8
    lacking = [p.name for p in mechanisms() if not PAGE.search(p.read_text(encoding="utf-8"))]
    assert lacking == []


def paths_named(text: str) -> list[str]:
    return re.findall(r"`((?:src|tests|docs|examples)/[\w./-]+)`", text)


def test_the_paths_that_contributing_names_exist() -> None:
    """What it says to follow is there; a path that is not is found."""
    named = paths_named((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert len(named) > 20
    assert [path for path in named if not (ROOT / path).exists()] == []
    assert paths_named("`docs/nothing.md` and `code`") == ["docs/nothing.md"]
