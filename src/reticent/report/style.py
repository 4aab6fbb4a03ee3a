"""The house style of figures: colours that all can tell apart, equal bytes for equal input.

Not here  what is drawn (one file per subject).

Okabe and Ito's colours, a marker for each series besides its colour, and an SVG that carries no
date, no random names and a sentence that says what the picture shows.
"""

from __future__ import annotations

import io
from html import escape
from importlib import import_module
from typing import Any

from reticent.errors import MissingExtra

BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#767676"
_SETTINGS = {
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.size": 10,
    "svg.fonttype": "none",
    "svg.hashsalt": "reticent",
}


def figure(width: float, height: float) -> tuple[Any, Any]:
    """A figure of this many inches and its axes."""
    try:
        matplotlib = import_module("matplotlib")
    except ImportError:
        raise MissingExtra("drawing a figure", "plots") from None
    with matplotlib.rc_context(_SETTINGS):
        made = import_module("matplotlib.figure").Figure(figsize=(width, height))
        return made, made.add_subplot()


def svg(made: Any, *, says: str) -> str:
    """The figure as SVG; ``says`` states its finding for who does not see it."""
    matplotlib, out = import_module("matplotlib"), io.StringIO()
    with matplotlib.rc_context(_SETTINGS):
        made.savefig(out, format="svg", bbox_inches="tight", metadata={"Date": None})
    text = out.getvalue()
    at = text.index("<svg") + len("<svg")
    return f'{text[:at]} role="img" aria-label="{escape(says, quote=True)}"{text[at:]}'


def plain_log(axis: Any) -> None:
    """A logarithmic axis labelled 1, 2, 5, 10, ... in plain numbers."""
    ticker = import_module("matplotlib.ticker")
    axis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:,.6g}"))
    axis.set_minor_locator(ticker.NullLocator())
