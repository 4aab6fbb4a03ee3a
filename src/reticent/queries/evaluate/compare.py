"""Methods of a query compared over budgets, on public data or on none.

Notation  as in tasks/comparing.py
Not here  what kinds compute from their laws (tasks/comparing_histogram.py and its like), tables
          and pictures (cli/, report/).

What is computed from data without noise is no release: the data must be public or made up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.errors import ParameterError, require
from reticent.noise import Source
from reticent.queries.base import Query, Terms
from reticent.queries.binding import Given
from reticent.queries.cells import cells
from reticent.queries.trials import METHOD, Trial, methods_of, points
from reticent.rational import whole
from reticent.tasks.comparing import Curves, Point, chosen_ways, paired, seeds

if TYPE_CHECKING:
    from collections.abc import Callable


def at(query: Query, value: Fraction) -> Query:
    """The query with another value of what is varied."""
    return replace(query, **{query.comparison.varies: value})


def compare(
    query: Query,
    data: Any,
    *,
    values: str | Sequence[Any] | None = None,
    methods: Sequence[str] | None = None,
    runs: int | None = None,
    columns: Mapping[str, str] | None = None,
    source: Source | None = None,
    progress: Callable[[str], None] = lambda step: None,
    more: Mapping[str, Any] | None = None,
    swept: bool = False,
) -> Curves:
    """Methods at several values of what varies; a sweep is of one method."""
    verb, about = "sweep" if swept else "compare", query.comparison
    reason = cells(type(query))["verbs"][verb]
    require(reason is True, "query", query.kind, f"one that can be tried: {reason}")
    usual = about.swept if swept else about.compared
    asked = usual if values is None else values
    trial = Trial(
        at=None if asked is None else points(asked, about.varies, zero=about.zero),
        methods=None if methods is None else tuple(methods),
        runs=whole(about.runs or 1 if runs is None else runs, "runs", least=1),
        source=Source.system() if source is None else source,
        swept=swept,
        more=_options(query, swept, more or {}),
        progress=progress,
    )
    tables = _tables(query, data, columns)
    return query.curves(tables, trial)


def sweep(query: Query, data: Any, *, method: str | None = None, **given: Any) -> Curves:
    """One method: that of the query, or the first."""
    one = method or query.usual_method()
    return compare(query, data, methods=(one,), swept=True, **given)


def _options(query: Query, swept: bool, given: Mapping[str, Any]) -> dict[str, Any]:
    about = query.comparison
    known = {one.name: one for one in (*about.options, *(about.sweep_options if swept else ()))}
    for name in given:
        require(name in known, name, "given", f"left out: {query.kind} has no such option here")
    found = {}
    for name, one in known.items():
        value = given.get(name, one.default)
        found[name] = one.kind.read(value, name)
    return found


def _tables(query: Query, data: Any, columns: Mapping[str, str] | None) -> dict[str, Any]:
    """What is needed of the data, read; all of it counts as public."""
    used = query.comparison.reads
    wanted = {n: one for n, one in query.reads({}).items() if used is None or n in used}
    if not wanted or data is None:
        lacking = [name for name, one in wanted.items() if one.required]
        require(not lacking, "data", None, f"with {', '.join(lacking)}")
        return {}
    given = Given.of(wanted, data, columns)
    public = given.public()
    later = query.reads(public)
    return public | given.private(public, {name: later[name] for name in wanted})


def terms_on(query: Query, tables: Mapping[str, Any]) -> Terms:
    """The terms of a release about tables that were read."""
    public = {name: one for name, one in tables.items() if query.inputs[name].public}
    return query.terms(query.facts(public)).informed(query, query.facts(tables))


def alternatives(query: Query) -> dict[str, Query]:
    """The query with each of its methods that go with its other options."""
    if not any(one.name == METHOD for one in query.options()):
        return {query.kind: query}
    found: dict[str, Query] = {}
    for name in methods_of(type(query)):
        try:
            found[name] = replace(query, **{METHOD: name})
        except ParameterError:  # these two do not go together
            continue
    return found


def drawn(query: Query, tables: Mapping[str, Any], trial: Trial) -> Curves:
    """What answers score, drawn ``runs`` times: in each run all methods get the same stream."""
    about, known = query.comparison, alternatives(query)
    asked = chosen_ways(known, trial.methods)
    draws = seeds(trial.source, trial.runs)
    rows: list[Point] = []
    for value in trial.values:
        scores = {}
        for name in asked:
            trial.progress(f"{name} at {about.varies} {float(value):g}")
            one = at(known[name], value)
            terms = terms_on(one, tables)
            answers = (terms.draw(tables, Source.seeded(draw), _quiet) for draw in draws)
            found = [float(one.score(terms.show(kept), tables)) for kept in answers]
            scores[name] = np.array(found)
        rows += paired(float(value), scores)
    return Curves(
        what=terms_on(at(query, trial.values[0]), tables).what,
        x=about.varies,
        y=about.measured,
        better=about.better,
        rows=rows,
        runs=trial.runs,
    )


def _quiet(share: float) -> None:
    return
