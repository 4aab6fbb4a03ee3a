"""The reference: public names with signature and docstring, cut out of the source text.

Nothing is imported and nothing is formatted by Python itself, so that 3.11 and 3.14 write the
same pages. Names that a package exports are documented there; in packages that export nothing
every public name of every module is.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeGuard

SRC = Path(__file__).parents[1] / "src"
PACKAGES = (
    "guarantees",
    "noise",
    "mechanisms",
    "data",
    "preferences",
    "queries",
    "tasks",
    "ledger",
    "running",
    "spark",
    "report",
    "testing",
    "exports",
    "errors",
)
SPREAD = (
    "data",
    "queries",
    "tasks",
    "report",
    "exports",
)  # packages of modules, whose names are imported from them
LONGEST = 4  # lines of a constant that is shown whole
_MADE = "<!-- Made from the source by docs/generate.py. -->\n"
_INDEX = """# Reference

{made}
What `from reticent import ...` offers is listed here, each name with the page that describes it.
The packages hold more; each has a page:

{packages}

## reticent

| name | what it is |
| --- | --- |
{rows}
"""
Definition = ast.ClassDef | ast.FunctionDef


@dataclass(frozen=True)
class Module:
    """One source file: its text and what it defines."""

    name: str
    lines: list[str]
    tree: ast.Module

    def find(self, name: str) -> ast.stmt | None:
        """The statement that defines or imports ``name`` at the top of the file."""
        tops = [part for part in self.tree.body if not isinstance(part, ast.If)]
        typed = [part for top in self.tree.body if isinstance(top, ast.If) for part in top.body]
        return next((node for node in tops + typed if name in _names(node)), None)

    def text(self, node: ast.stmt | ast.expr) -> str:
        """The source of a node; columns count bytes."""
        first, last = node.lineno - 1, node.end_lineno or node.lineno
        lines = [line.encode() for line in self.lines[first:last]]
        lines[-1] = lines[-1][: node.end_col_offset]
        lines[0] = lines[0][node.col_offset :]
        return b"\n".join(lines).decode()


@cache
def module(name: str) -> Module:
    """The module of this dotted name."""
    path = SRC / name.replace(".", "/")
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    text = path.read_text(encoding="utf-8")
    return Module(name, text.splitlines(), ast.parse(text))


def index_page() -> str:
    """What the top level offers, with links."""
    packages = "\n".join(f"- [`reticent.{name}`]({name}.md): {_first(name)}" for name in PACKAGES)
    names = [name for name in _exports("reticent") if name != "__version__"]
    rows = "\n".join(_row(name) for name in names)
    return _INDEX.format(made=_MADE, packages=packages, rows=rows)


def package_page(package: str) -> str:
    """One page: what ``reticent.<package>`` exports, then its modules that export by themselves."""
    name = f"reticent.{package}"
    parts = [f"# `{name}`\n", _MADE, _docstring(module(name).tree)]
    exported = _exports(name)
    for export in exported:
        home, node = _resolve(name, export)
        parts += _entry(home, node, export, level=2)
    if (SRC / f"{name.replace('.', '/')}.py").exists():
        for node in filter(_is_public, module(name).tree.body):
            parts += _entry(module(name), node, node.name, level=2)
    elif package in SPREAD:
        for one in _modules(name):
            parts += _module_part(one, leave_out=set(exported))
    return "\n".join(part for part in parts if part).rstrip() + "\n"


def _module_part(name: str, leave_out: set[str]) -> list[str]:
    here = module(name)
    nodes = [node for node in filter(_is_public, here.tree.body) if node.name not in leave_out]
    if not nodes:
        return []
    parts = [f"## {name}\n", _summary(here.tree) + "\n"]
    for node in nodes:
        parts += _entry(here, node, node.name, level=3)
    return parts


def _is_public(node: ast.stmt) -> TypeGuard[Definition]:
    return isinstance(node, Definition) and not node.name.startswith("_")


def _modules(package: str) -> list[str]:
    folder = SRC / package.replace(".", "/")
    files = (path.relative_to(folder).with_suffix("") for path in folder.rglob("*.py"))
    names = sorted(".".join(path.parts) for path in files)
    return [f"{package}.{n}" for n in names if not n.endswith(("__init__", "kernels"))]


def _exports(package: str) -> list[str]:
    for node in module(package).tree.body:
        if isinstance(node, ast.Assign) and "__all__" in _names(node):
            return list(ast.literal_eval(node.value))
    return []


def _resolve(package: str, name: str) -> tuple[Module, ast.stmt]:
    """Where a name is defined, following imports."""
    here = module(package)
    node = here.find(name)
    if isinstance(node, ast.ImportFrom) and node.module:
        return _resolve(node.module, name)
    if node is None:
        raise LookupError(f"{package} exports {name}, which it does not define")
    return here, node


def _names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.ImportFrom):
        return [alias.asname or alias.name for alias in node.names]
    if isinstance(node, Definition):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return [node.target.id]
    return []


def _row(name: str) -> str:
    home, node = _resolve("reticent", name)
    package = home.name.split(".")[1]
    said = _summary(node) if isinstance(node, Definition) else f"`{home.text(node)}`"
    shown = f"[`{name}`]({package}.md#{name.lower()})" if package in PACKAGES else f"`{name}`"
    return f"| {shown} | {said.replace('|', chr(92) + '|')} |"


def _entry(home: Module, node: ast.stmt, name: str, level: int) -> list[str]:
    """One name: heading, signature, docstring, public methods."""
    head = f"{'#' * level} `{name}`\n"
    if isinstance(node, ast.ClassDef):
        return [head, _code(_class_text(home, node)), _docstring(node), *_methods(home, node)]
    if isinstance(node, ast.FunctionDef):
        return [head, _code(_signature(home, node)), _docstring(node)]
    lines = home.text(node).splitlines()
    short = lines if len(lines) <= LONGEST else [f"{lines[0]}  # {len(lines)} lines"]
    return [head, _code("\n".join(short))]


def _class_text(home: Module, node: ast.ClassDef) -> str:
    bases = ", ".join(home.text(base) for base in node.bases)
    lines = [f"class {node.name}({bases})" if bases else f"class {node.name}"]
    for part in node.body:
        if isinstance(part, ast.AnnAssign) and not _names(part)[0].startswith("_"):
            lines.append(f"    {home.text(part)}")
        if isinstance(part, ast.FunctionDef) and part.name == "__init__":
            lines.append(_indented(_signature(home, part)))
    return "\n".join(lines)


def _methods(home: Module, node: ast.ClassDef) -> list[str]:
    """Public methods that say something; what is inherited stands where it is defined."""
    parts = []
    for part in node.body:
        if isinstance(part, ast.FunctionDef) and not part.name.startswith("_"):
            kinds = {home.text(mark) for mark in part.decorator_list}
            before = "".join(f"@{kind}\n" for kind in sorted(kinds) if kind != "abstractmethod")
            parts += [_code(before + _signature(home, part)), _docstring(part)]
    return parts


def _signature(home: Module, node: ast.FunctionDef) -> str:
    """The lines from ``def`` to the colon before the body, as they are written."""
    first = node.body[0].lineno - 1
    lines = [line[node.col_offset :] for line in home.lines[node.lineno - 1 : first]]
    if first < node.lineno:
        lines = [home.lines[node.lineno - 1][node.col_offset :].split(": ...")[0]]
    return "\n".join(lines).rstrip().removesuffix(":")


def _first(package: str) -> str:
    return _summary(module(f"reticent.{package}").tree)


def _summary(node: ast.Module | ast.ClassDef | ast.FunctionDef) -> str:
    said = (ast.get_docstring(node) or "").split("\n\n")[0].splitlines()
    return _plain(" ".join(said))


def _docstring(node: ast.Module | ast.ClassDef | ast.FunctionDef) -> str:
    """A docstring as Markdown: paragraphs, columns and examples."""
    blocks = re.split(r"\n\n+", ast.get_docstring(node) or "")
    return "\n".join(_block(block) for block in blocks if block)


def _block(block: str) -> str:
    if block.lstrip().startswith(">>>"):
        return _code(block)
    if re.search(r"\S {2,}\S", block) or all(line.startswith("  ") for line in block.splitlines()):
        return f"```text\n{block}\n```\n"
    return _plain(block) + "\n"


def _plain(text: str) -> str:
    """Double backticks to single ones; what Markdown would take for markup is escaped."""
    parts = re.split(r"(``.+?``)", text, flags=re.DOTALL)
    return "".join(
        f"`{part[2:-2]}`" if part.startswith("``") else re.sub(r"([*<])", r"\\\1", part)
        for part in parts
    )


def _code(text: str) -> str:
    return f"```python\n{text}\n```\n"


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())
