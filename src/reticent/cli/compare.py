"""``reticent compare`` and ``reticent sweep``, for every kind of query that can be tried.

Not here  what is computed (queries/evaluate/compare.py), tables and pictures (curve_views.py),
          options of a query (query_options.py).

What is computed from data without noise is no release and has no promise, so it asks for public
data; what needs none says so.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from reticent.cli import query_options
from reticent.cli.failures import Failure
from reticent.cli.output import Json, progress
from reticent.cli.plan import spelled
from reticent.cli.queries import ColumnsOption, command_of
from reticent.cli.release import check_files
from reticent.queries.cells import cells
from reticent.queries.registry import queries as registered
from reticent.queries.trials import FORMS, METHOD, methods_of, points

if TYPE_CHECKING:
    from reticent.noise import Source
    from reticent.queries.base import Query
    from reticent.queries.options import Option

comparisons = typer.Typer(
    help="Compare methods of the same release.", rich_markup_mode=None, no_args_is_help=True
)
sweeps = typer.Typer(
    help="Show what a budget buys, over many budgets.",
    rich_markup_mode=None,
    no_args_is_help=True,
)
FIGURES = (".svg",)
PRIVATE = (
    "what is shown is computed from the data without noise, and nothing bounds what it tells; use "
    "public data of the same kind, or made-up ones"
)
UNREAD = "no private data were read: errors follow from public parameters alone"
PlotFile: TypeAlias = Annotated[
    Path | None, typer.Option("--plot", help="Draw the table here, .svg.", metavar="FILE")
]
RunsOption: TypeAlias = Annotated[
    int,
    typer.Option("--runs", help="Draws of each method at each budget.", min=1, metavar="N"),
]
SeedOption: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--seed",
        help="Draw from this seed, so that the same command shows the same figures.  [default: "
        "the operating system's source]",
        min=0,
        metavar="SEED",
    ),
]


@comparisons.callback()
def compare() -> None:
    """Compare methods of the same release."""


@sweeps.callback()
def sweep() -> None:
    """Show what a budget buys, over many budgets."""


def add_comparisons(app: typer.Typer) -> None:
    """A command for every kind whose methods can be compared."""
    _add(app, "compare", "How good the methods of {kind} are.")


def add_sweeps(app: typer.Typer) -> None:
    """A command for every kind."""
    _add(app, "sweep", "What more budget buys for {kind}.")


def _add(app: typer.Typer, verb: str, title: str) -> None:
    for kind, query in registered().items():
        if cells(query)["verbs"][verb] is True:
            made = _trying(query, verb)
            app.command(kind, help=f"{title.format(kind=kind)}\n\n{_about(query)}")(made)


def _about(query: type[Query]) -> str:
    """Where the figures come from."""
    if _is_drawn(query):
        return f"On data that are public or made up. {query.about()}"
    if _needs_public(query):
        return f"On data that are public or made up; computed, not drawn. {query.about()}"
    return f"No private data are read: errors follow from the noise. {query.about()}"


def _is_drawn(query: type[Query]) -> bool:
    return query.comparison.runs is not None


def _reads(query: type[Query]) -> set[str]:
    wanted = query.comparison.reads
    return set(query.inputs) if wanted is None else set(wanted)


def _needs_public(query: type[Query]) -> bool:
    return any(not query.inputs[name].public for name in _reads(query))


def _trying(query: type[Query], verb: str) -> Callable[..., None]:
    about, swept = query.comparison, verb == "sweep"
    dropped = {about.varies, METHOD, *about.unused}
    drawn = [
        query_options.parameter("trial_runs", RunsOption, about.runs),
        query_options.parameter("trial_seed", SeedOption, None),
    ]
    files = list(query_options.of_inputs(query, _reads(query)))
    named = [query_options.parameter("columns", ColumnsOption, None)] if files else []
    own = [one for one in query.options() if one.name not in dropped]
    parameters = [
        *files,
        *query_options.of_options(own),
        *query_options.of_options(about.options),
        *(query_options.of_options(about.sweep_options) if swept else ()),
        _values_parameter(query, swept),
        _method_parameter(query, swept),
        *([_public_parameter(query)] if _needs_public(query) else ()),
        *named,
        *(drawn if _is_drawn(query) else ()),
        query_options.parameter("trial_plot", PlotFile, None),
        query_options.parameter("as_json", Json, False),
    ]
    return command_of(lambda context, given: _try(context, query, verb, given), parameters)


def _flag(query: type[Query]) -> str:
    """How one states that data are public; some query has an option of that name."""
    taken = any(one.name == "public" for one in query.options())
    return "--public-data" if taken else "--public"


def _public_parameter(query: type[Query]) -> inspect.Parameter:
    told = "Required: the data are public or made up. What is shown is exact and protects nobody."
    hint = Annotated[bool, typer.Option(_flag(query), help=told)]
    return query_options.parameter("trial_public", hint, False)


def _values_parameter(query: type[Query], swept: bool) -> inspect.Parameter:
    about = query.comparison
    name = query_options.spelling(about.varies)
    usual = about.swept if swept else about.compared
    chosen = "" if usual else "  [default: the query chooses]"
    told = f"Values to try: a list or a range, as {FORMS}.{chosen}"
    budgets = about.varies == "epsilon"
    asked = typer.Option(
        *([name, f"{name}s"] if budgets else [name]),
        help=told,
        metavar="BUDGETS" if budgets else "VALUES",
    )
    hint = str if usual else str | None
    return query_options.parameter("trial_values", Annotated[hint, asked], usual)


def _method_parameter(query: type[Query], swept: bool) -> inspect.Parameter:
    names = methods_of(query)
    if swept:
        one = query_options.one_of(METHOD, names)
        asked = typer.Option("--method", help="Which method.  [default: that of a release]")
        return query_options.parameter("trial_method", Annotated[one | None, asked], None)
    told = f"Only these of {', '.join(names)}.  [default: all]"
    asked = typer.Option("--methods", help=told, metavar="NAMES")
    return query_options.parameter("trial_methods", Annotated[str | None, asked], None)


def _try(context: typer.Context, query: type[Query], verb: str, given: dict[str, Any]) -> None:
    from reticent.cli.curve_views import show
    from reticent.queries.evaluate.compare import compare, sweep

    about, swept = query.comparison, verb == "sweep"
    if _needs_public(query) and not given["trial_public"]:
        one, flag = "a sweep" if swept else "a comparison", _flag(query)
        raise Failure(
            f"{one} needs {flag}",
            why=f"{PRIVATE}. The flag says that they are",
            next_command=spelled(context, flag),
        )
    check_plot(given["trial_plot"])
    values, methods = given["trial_values"], given.get("trial_methods")
    tried = values and points(values, about.varies, zero=about.zero)
    asked = _asked(query, given, tried)
    options = (*about.options, *(about.sweep_options if swept else ()))
    more: dict[str, Any] = {
        "values": tried,
        "runs": given.get("trial_runs"),
        "source": source_of(given.get("trial_seed")),
        "columns": query_options.chosen(given.get("columns")),
        "more": {one.name: given[one.name] for one in options},
    }
    files = query_options.tables(asked, given, _reads(query)) or None
    steps = len(tried or ()) * len(methods_of(query)) * (given.get("trial_runs") or 1)
    with progress(steps) as step:
        if swept:
            chosen = given["trial_method"]
            curves = sweep(asked, files, method=chosen and str(chosen), progress=step, **more)
        else:
            named = methods and [one.strip() for one in methods.split(",") if one.strip()]
            curves = compare(asked, files, methods=named, progress=step, **more)
    notes = () if _needs_public(query) else (UNREAD,)
    schema = f"{verb}-{query.kind}/1"
    show(curves, schema, plot=given["trial_plot"], as_json=given["as_json"], notes=notes)


def _asked(query: type[Query], given: dict[str, Any], tried: Any) -> Query:
    """The query as typed; what varies has its first value, where it must have one."""
    about = query.comparison
    first = about.placeholder
    if tried and _option(query, about.varies).required:
        first = str(tried[0])
    held = {} if first is None else {about.varies: first}
    return query_options.asked(query, {**given, **held})


def _option(query: type[Query], name: str) -> Option:
    return next(one for one in query.options() if one.name == name)


def check_plot(plot: Path | None) -> None:
    """Refuse a figure that could not be drawn or written, before anything is computed."""
    check_files(plot, suffixes=FIGURES)
    if plot is not None:
        from reticent.report.style import figure

        figure(1, 1)  # says now if drawing is not installed


def source_of(seed: int | None) -> Source:
    """Where draws come from; nothing is released, so a seed costs nobody anything."""
    from reticent.noise import Source

    return Source.system() if seed is None else Source.seeded(seed)
