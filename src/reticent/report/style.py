"""The house style of figures: colours that all can tell apart, equal bytes for equal input.

Not here  what is drawn (one file per subject).

Okabe and Ito's colours, a marker for each series besides its colour, and an SVG that carries no
date, no random names and a sentence that says what the picture shows.
"""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Iterable, Sequence
from html import escape
from importlib import import_module
from typing import Any

from reticent.errors import MissingExtra, require

BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#767676"
PURPLE, SKY = "#CC79A7", "#56B4E9"
_SETTINGS = {
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.size": 10,
    "svg.fonttype": "none",
    "svg.hashsalt": "reticent",
    "text.parse_math": False,  # a name with dollar signs is a name, not a formula
}
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def figure(width: float, height: float) -> tuple[Any, Any]:
    """A figure of this many inches and its axes."""
    try:
        matplotlib = import_module("matplotlib")
    except ImportError:
        raise MissingExtra("drawing a figure", "plots") from None
    with matplotlib.rc_context(_SETTINGS):
        made = import_module("matplotlib.figure").Figure(figsize=(width, height))
        return made, made.add_subplot()


def panels(width: float, height: float, shares: Sequence[float]) -> tuple[Any, list[Any]]:
    """A figure of axes one below another, of these shares of its height, that share their x."""
    made, first = figure(width, height)
    matplotlib = import_module("matplotlib")
    with matplotlib.rc_context(_SETTINGS):
        first.remove()
        grid = made.add_gridspec(len(shares), 1, height_ratios=list(shares), hspace=0.12)
        top = made.add_subplot(grid[0])
        below = [made.add_subplot(grid[place], sharex=top) for place in range(1, len(shares))]
    for axes in (top, *below)[:-1]:
        axes.tick_params(labelbottom=False)
    return made, [top, *below]


def svg(made: Any, *, says: str) -> str:
    """The figure as SVG; ``says`` states its finding for who does not see it."""
    matplotlib, out = import_module("matplotlib"), io.StringIO()
    for words in made.findobj(import_module("matplotlib.text").Text):
        words.set_parse_math(False)
    with matplotlib.rc_context(_SETTINGS), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # letters are the reader's fonts' to draw
        made.savefig(out, format="svg", bbox_inches="tight", metadata={"Date": None})
    text = out.getvalue()
    at = text.index("<svg") + len("<svg")
    told = f'{text[:at]} role="img" aria-label="{escape(says, quote=True)}"{text[at:]}'
    return _NOT_XML.sub("\ufffd", told)


def plain_log(axis: Any) -> None:
    """A logarithmic axis labelled 1, 2, 5, 10, ... in plain numbers."""
    ticker = import_module("matplotlib.ticker")
    axis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:,.6g}"))
    axis.set_minor_locator(ticker.NullLocator())


def shortened(text: str, most: int) -> str:
    """One line of at most ``most`` characters, cut in the middle: names often differ at the end."""
    line = " ".join(_NOT_XML.sub("\ufffd", text).split())
    if len(line) <= most:
        return line
    tail = most // 3
    return f"{line[: most - tail - 1].rstrip()}…{line[len(line) - tail :].lstrip()}"


def legend_below(made: Any, axes: Any, **options: Any) -> Any:
    """The legend under the axes and their label, where it covers nothing."""
    low = axes.get_position().y0 - 0.5 / made.get_figheight()
    return made.legend(
        loc="upper center", bbox_to_anchor=(0.5, low), frameon=False, borderaxespad=0, **options
    )


def not_negative(name: str, values: Iterable[float]) -> None:
    """Refuse what cannot be drawn."""
    good = all(math.isfinite(value) and value >= 0 for value in values)
    require(good, name, "other", "finite and not negative")
