"""Cases of your own: a law as a table of chances, or a Python function that draws.

Not here  our mechanisms (verify_numbers.py and its siblings), enumeration and audits (testing/).

Code is run only when the command line says so; a file alone never runs anything.
"""

from __future__ import annotations

import importlib
import importlib.util
import shlex
import sys
from collections.abc import Callable, Hashable
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.cli.failures import Failure
from reticent.cli.verify_domains import databases, listed, unit_of
from reticent.cli.verify_file import Section, beside
from reticent.testing.cases import Case, Part
from reticent.testing.leaks import Figure, verify_leak
from reticent.testing.neighbourhoods import Listed, Profiles, Vectors, World

if TYPE_CHECKING:
    from numpy.typing import NDArray

NO_PYTHON_LAW = "the law of a Python function is not known, only what it draws"
_FIGURES = ("bits", "maximal_bits", "guesses")


def law_case(law: Section, domain: Section | None, claim: Section | None) -> Case:
    """A table of p(output | input): worst case over neighbours, or a leak about a secret."""
    rows = _table(law, "rows", whole_rows=True)
    names = tuple(rows)
    world = Listed(names) if domain is None else listed(domain, names)
    if claim is None:
        raise_missing(law)
    assert claim is not None  # noqa: S101, for the type checker
    figures = _figures(law, claim, rows)
    epsilon = claim.number("epsilon", None)
    if epsilon is None and not figures:
        claim.wrong("epsilon", "[claim] needs epsilon, or bits about a secret of [law.joint]")
    parts: tuple[Part, ...] = ()
    claims: dict[Hashable, Fraction] = {}
    if epsilon is not None:
        claims = {world.unit: epsilon}
        outputs = {out for row in rows.values() for out in row}
        parts = (Part(law=rows.__getitem__, claims=claims, outcomes=len(outputs)),)
    name = law.text("name", "your law")
    return Case(name=name, world=world, claims=claims, parts=parts, figures=figures, exact=True)


def raise_missing(section: Section) -> None:
    """A law or function of your own promises nothing by itself."""
    section.wrong("claim", "the file needs a table [claim] with the epsilon that is claimed")


def _figures(
    law: Section, claim: Section, rows: dict[str, dict[str, Fraction]]
) -> tuple[Figure, ...]:
    if "joint" not in law:
        return ()
    joint = _table(law, "joint", whole_rows=False)
    total = sum((p for row in joint.values() for p in row.values()), Fraction(0))
    if total != 1:
        law.wrong("joint", f"joint must be chances that sum to 1, got a sum of {total}")
    for row in joint.values():
        for name in row:
            if name not in rows:
                law.wrong("joint", f"joint names {name}, which has no row")
    claims = {n: claim.number(n, None) for n in _FIGURES}
    return verify_leak(rows, joint, claims={n: v for n, v in claims.items() if v is not None})


def _table(law: Section, key: str, *, whole_rows: bool) -> dict[str, dict[str, Fraction]]:
    told, found = law.section(key), {}
    for name in told.held:
        row = told.section(name)
        found[name] = {out: row.number(out) for out in row.held}
        if min(found[name].values()) < 0:
            told.wrong(name, f"{name} must hold chances, not negative numbers")
        total = sum(found[name].values(), Fraction(0))
        if whole_rows and total != 1:
            told.wrong(name, f"the chances of {name} must sum to 1, they sum to {total}")
    return found


def python_case(
    mechanism: Section, domain: Section, claim: Section | None, *, file: Path, run_code: bool
) -> Case:
    """A function ``f(data, n)`` that returns n outputs."""
    reference = mechanism.text("python")
    if claim is None:
        raise_missing(mechanism)
    assert claim is not None  # noqa: S101, for the type checker
    module, _, name = reference.rpartition(":")
    if not module or not name.isidentifier():
        mechanism.wrong("python", "python must be as file.py:function or module:function")
    epsilon = claim.number("epsilon")
    world, told = _own_world(domain)
    if not run_code:
        raise Failure(
            f"{reference} is code, and would be run",
            why="a file alone never runs anything; if you trust the code, say so with --run-code",
            next_command=f"reticent verify --run-code {shlex.quote(str(file))}",
        )
    function = _loaded(mechanism, module, name, file)
    unit = next((pair.unit for pair in world.pairs()), "any")

    def draw(data: Any, n: int) -> NDArray[Any]:
        try:
            returned = function(told(data), n)
        except Exception as error:  # anything may go wrong in code that is not ours
            what = f"{reference} failed: {type(error).__name__}: {error}"
            raise Failure(what, why=f"it was called with {told(data)!r} and n = {n}") from error
        return _outputs(returned, n, reference)

    return Case(name=reference, world=world, claims={unit: epsilon}, why=NO_PYTHON_LAW, draw=draw)


def _own_world(domain: Section) -> tuple[World, Callable[[Any], Any]]:
    """Data as the function gets them: a number, a list, a dictionary of items, or a name."""
    unit = unit_of(domain)
    if "records" in domain:
        records = domain.listed("records")
        return databases(domain, tuple(dict.fromkeys(map(_told, records))), unit), list
    if "items" in domain:
        items = tuple(map(str, domain.listed("items")))
        one: Callable[[Any], Any] = lambda data: {  # noqa: E731, beside its siblings
            item: int(value) for item, value in zip(items, data[0], strict=True)
        }
        return Profiles(items), one
    if "inputs" in domain:
        return listed(domain, tuple(map(str, domain.listed("inputs")))), str
    if "values" not in domain:
        domain.wrong("values", "[domain] needs one of values, records, items or inputs")
    values, length = tuple(sorted(set(domain.numbers("values")))), domain.whole("size", 1)
    most = domain.number("distance", values[-1] - values[0])
    world = Vectors(values, length, most, unit.thing)
    if length == 1:
        return world, lambda data: _told(data[0])
    return world, lambda data: [_told(x) for x in data]


def _told(value: Any) -> Any:
    """Numbers as plain ints and floats, everything else as it is."""
    if isinstance(value, (str, bool)):
        return value
    if isinstance(value, list):
        return tuple(map(_told, value))
    exact = Fraction(value)
    return int(exact) if exact.denominator == 1 else float(exact)


def _loaded(mechanism: Section, module: str, name: str, file: Path) -> Callable[[Any, int], Any]:
    try:
        if module.endswith(".py"):
            spec = importlib.util.spec_from_file_location("_verified", beside(file, module))
            assert spec is not None  # noqa: S101, of a file .py
            assert spec.loader is not None  # noqa: S101
            held = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(held)
        else:
            sys.path.insert(0, str(file.parent.resolve()))
            held = importlib.import_module(module)
    except Exception as error:  # anything may go wrong in code that is not ours
        mechanism.wrong("python", f"{module} cannot be imported: {type(error).__name__}: {error}")
    function = getattr(held, name, None)
    if not callable(function):
        mechanism.wrong("python", f"{module} has no function {name}")
    return function  # type: ignore[no-any-return]


def _outputs(returned: Any, n: int, reference: str) -> NDArray[Any]:
    """What a function returned, as an array that can be audited; anything odd is a label."""
    if not hasattr(returned, "__len__") or len(returned) != n:
        raise Failure(f"{reference}(data, n) must return a list of n = {n} outputs")
    try:
        array = np.asarray(returned)
    except ValueError:  # rows of different lengths
        return np.array([str(one) for one in returned])
    if array.ndim in (1, 2) and array.dtype.kind in "iufb":
        return array.astype(np.int64) if array.dtype.kind == "b" else array
    return np.array([str(one) for one in returned])
