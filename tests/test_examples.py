"""Every example runs: in docstrings, in the README, on the pages, and in examples/.

On a page, Python and shell blocks run from the top in one temporary directory. Comments before a
block, which no reader sees, say what is special about it:

<!-- not run: REASON -->   it installs, serves, or stands for what only the reader has
<!-- file: NAME -->        it is the content of a file that later blocks read
<!-- numbers vary -->      its output is noisy: compared but for its numbers
<!-- output varies -->     its output is a draw: only that the commands succeed is checked

<!-- run first, and shell commands on lines of their own, makes files that a page takes as given.
"""

import contextlib
import doctest
import importlib
import inspect
import io
import linecache
import os
import pkgutil
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import reticent
from reticent.queries import registry

ROOT = Path(__file__).parents[1]
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
COMPILED = ("reticent.optim.bounded_least_squares", "reticent.tasks.reconstruction")
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(reticent.__path__, "reticent.")
    if not module.name.endswith("__main__")
)
MADE = ROOT / "docs/reference"  # cut out of docstrings, which run as such
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *(path for path in sorted((ROOT / "docs").rglob("*.md")) if MADE not in path.parents),
]
NEEDS_JAVA = "spark_"  # tests/integration/spark runs these
SCRIPTS = sorted(
    path for path in (ROOT / "examples").glob("*.py") if not path.name.startswith(NEEDS_JAVA)
)
FENCE = re.compile(
    r"(?:^<!-- (?P<comment>[^\n]*?) -->\n+)?^(?P<indent> *)```(?P<language>\w*)\n"
    r"(?P<text>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)
SETUP = re.compile(r"^<!-- run first\n(?P<text>.*?)^-->$", re.MULTILINE | re.DOTALL)
DIRECTIVE = re.compile(r"(not run|file): (\S.*)|numbers vary|output varies")
SHELL = re.compile(r"(reticent|printf|python3?|pip|curl|export|umask|sqlite3|pytest|git)\b")
NUMBER = re.compile(
    r"\b[0-9a-f]{12,}\b|-?\d+(?:,\d{3})*(?:[./]\d+)*(?:e-?\d+)?"
)  # keys are drawn, too


@dataclass(frozen=True)
class Fence:
    """One block of a page, and the comment before it."""

    language: str
    text: str
    directive: str
    argument: str
    line: int

    @property
    def kind(self) -> str:
        if self.language in ("python", "console"):
            return self.language
        shell = self.language in ("sh", "bash") or (not self.language and SHELL.match(self.text))
        return "shell" if shell else "text"

    @property
    def skipped(self) -> bool:
        return self.directive == "not run"


def fences(text: str) -> Iterator[Fence]:
    found_here = [*FENCE.finditer(text), *SETUP.finditer(text)]
    for found in sorted(found_here, key=lambda one: one.start()):
        if found.re is SETUP:
            yield Fence("sh", found["text"], "", "", text.count("\n", 0, found.start()) + 1)
            continue
        directive = DIRECTIVE.fullmatch(found["comment"] or "")
        name = (directive[1] or directive[0]) if directive else ""
        body = re.sub(rf"^{found['indent']}", "", found["text"], flags=re.MULTILINE)
        line = text.count("\n", 0, found.start("language")) + 1
        yield Fence(found["language"], body, name, (directive and directive[2]) or "", line)


class Page:
    """Runs the blocks of one page, one after the other."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.folder = name, folder
        self.names: dict[str, Any] = {"__name__": "__page__"}
        programs = Path(sys.executable).parent
        own = {name: value for name, value in os.environ.items() if name[:9] != "RETICENT_"}
        self.environment = {
            **own,
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "PYTHONUNBUFFERED": "1",  # so that results and talk keep their order
            "COLUMNS": "100",
            "OMP_NUM_THREADS": "1",  # threads that wait for each other are slow beside other tests
        }

    def run(self, fence: Fence) -> None:
        if fence.directive == "file":
            (self.folder / fence.argument).write_text(fence.text, encoding="utf-8")
        elif not fence.skipped:
            {"python": self._python, "console": self._console, "shell": self._shell}.get(
                fence.kind, lambda fence: None
            )(fence)

    def _python(self, fence: Fence) -> None:
        where = f"{self.name}, line {fence.line}"
        if ">>>" not in fence.text:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile("\n" * fence.line + fence.text, self.name, "exec"), self.names)
            return
        test = doctest.DocTestParser().get_doctest(
            fence.text, self.names, where, self.name, fence.line
        )
        said = io.StringIO()
        runner = doctest.DocTestRunner(optionflags=OPTIONS)
        failed, _ = runner.run(test, out=said.write, clear_globs=False)
        self.names = test.globs
        assert not failed, said.getvalue()

    def _shell(self, fence: Fence) -> None:
        code, out = self._bash(fence.text)
        assert code == 0, f"{self.name}, line {fence.line}: exit {code}\n{out}"

    def _console(self, fence: Fence) -> None:
        for command, wanted in commands(fence.text):
            code, out = self._bash(command)
            if fence.directive == "output varies":
                assert code == 0, f"{self.name}, line {fence.line}: {command}\n{out}"
                continue
            if fence.directive == "numbers vary":
                wanted, out = (bare(text) for text in (wanted, out))
            same = doctest.OutputChecker().check_output(wanted, out, OPTIONS)
            assert same, f"{self.name}, line {fence.line}: {command}\nwants\n{wanted}\ngot\n{out}"

    def _bash(self, command: str) -> tuple[int, str]:
        ended = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
        )
        return ended.returncode, ended.stdout


def bare(text: str) -> str:
    """Text without numbers, and without the lengths of rules and gaps that depend on them."""
    return re.sub(r"-{2,}|\s+", " ", NUMBER.sub("#", text)).strip() + "\n"


def commands(text: str) -> Iterator[tuple[str, str]]:
    """What follows each ``$``, with its continued lines, and what it prints."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        found = re.match(r"((?:[^\n]*\\\n|[^\n]*\n> )*[^\n]*\n?)(.*)", part, re.DOTALL)
        assert found is not None
        yield re.sub(r"\n> ", "\n", found[1]), found[2]


def run_page(text: str, folder: Path, name: str = "page") -> None:
    page = Page(name, folder)
    with contextlib.chdir(folder):
        for fence in fences(text):
            page.run(fence)


def ran(names: Iterable[str]) -> int:
    """How many examples were tried; all of them, so that what fails is seen at once."""
    modules = {name: importlib.import_module(name) for name in names}
    linecache.clearcache()  # whose every file is looked at before each example
    results = {
        name: doctest.testmod(module, optionflags=OPTIONS)
        for name, module in modules.items()
        if ">>>" in inspect.getsource(module)  # looking for examples takes longer than running them
    }
    assert [name for name, result in results.items() if result.failed] == []
    return sum(result.attempted for result in results.values())


def test_docstrings() -> None:
    assert ran(name for name in MODULES if name not in COMPILED) > 300


@pytest.mark.compiled
def test_docstrings_of_what_compiles_for_long() -> None:
    assert ran(COMPILED) > 3


@pytest.fixture
def own_kinds(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a page registers ends with the page."""
    monkeypatch.setattr(registry, "_added", {})
    yield
    registry.queries.cache_clear()


@pytest.mark.pages
@pytest.mark.usefixtures("own_kinds")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_pages(page: Path, tmp_path: Path) -> None:
    run_page(page.read_text(encoding="utf-8"), tmp_path, page.name)


@pytest.mark.pages
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_scripts(script: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONWARNINGS": "error::DeprecationWarning:__main__"}
    ended = subprocess.run(
        [sys.executable, script], cwd=tmp_path, env=environment, capture_output=True, timeout=120
    )
    assert ended.returncode == 0, ended.stderr.decode()
    assert ended.stdout, "an example says something"


def test_every_script_is_described_and_short() -> None:
    said = (ROOT / "examples/README.md").read_text(encoding="utf-8")
    for script in sorted((ROOT / "examples").glob("*.py")):
        text = script.read_text(encoding="utf-8")
        assert f"]({script.name})" in said
        assert len(text.splitlines()) < 80, f"{script.name} is no example any more"
        assert "# %%" in text


def skipped() -> Counter[str]:
    return Counter(
        page.relative_to(ROOT).as_posix()
        for page in PAGES
        for fence in fences(page.read_text(encoding="utf-8"))
        if fence.skipped
    )


def test_what_is_not_run_says_why() -> None:
    """A block that is left out has a reason, and a page does not leave out more than it must."""
    for page in PAGES:
        for fence in fences(page.read_text(encoding="utf-8")):
            assert not fence.skipped or len(fence.argument.split()) >= 3, (page.name, fence)
    many = {page: count for page, count in skipped().items() if count > 4}
    assert many.keys() <= {"docs/gateway.md"}, many  # a service's operation: proxies, backups


def test_comments_before_blocks_are_known() -> None:
    """A misspelt directive would run, or not compare, what it speaks of."""
    known = re.compile(r"(help|laid out|end|Made|[a-z-]+: )")
    for page in PAGES:
        for found in FENCE.finditer(page.read_text(encoding="utf-8")):
            comment = found["comment"] or ""
            assert not comment or DIRECTIVE.fullmatch(comment) or known.match(comment), comment


WRONG = {
    "a wrong result": "```python\n>>> 1 + 1\n3\n```\n",
    "an error": "```python\nraise ValueError\n```\n",
    "a name of no block": "```python\nprint(nothing)\n```\n",
    "a failing command": "```sh\nreticent nothing\n```\n",
    "a failing command without a language": "```\nreticent nothing\n```\n",
    "another output": "```console\n$ echo two\none\n```\n",
    "another word": "<!-- numbers vary -->\n```console\n$ echo two 2\none 2\n```\n",
    "a failing draw": "<!-- output varies -->\n```console\n$ false\n```\n",
}


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_a_wrong_block_is_found(text: str, tmp_path: Path) -> None:
    with pytest.raises((AssertionError, ValueError, NameError)):
        run_page(text, tmp_path)


def test_blocks_share_names_and_files(tmp_path: Path) -> None:
    run_page(
        "```python\nx = 1\n```\n```python\n>>> x + 1\n2\n>>> y = 3\n\n```\n"
        "<!-- file: a.txt -->\n```toml\nx = 1\n```\n```console\n$ cat a.txt\nx = 1\n"
        "$ printf '%s\\n' \\\n  two\ntwo\n```\n"
        "<!-- numbers vary -->\n```console\n$ echo it is 17.5 today\nit is 3 today\n```\n"
        "<!-- run first\nprintf there > b.txt\n-->\n```console\n$ cat b.txt\nthere\n```\n"
        "<!-- not run: only a test -->\n```sh\nfalse\n```\n"
        "```python\nassert (x, y) == (1, 3)\n```\n",
        tmp_path,
    )


def test_the_readme_has_examples() -> None:
    parser = doctest.DocTestParser()
    assert len(parser.get_examples((ROOT / "README.md").read_text(encoding="utf-8"))) >= 5


def test_the_readme_is_a_screen_and_a_half() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 90
