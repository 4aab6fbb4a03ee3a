"""A figure's SVG made part of an HTML page: names of its own, nothing but drawing, fits the width.

Not here  figures (one file per subject), the page around them (page.py).

Two figures of one page use the same names for different things, so each gets a prefix. What is not
drawing (data about the file, style for the whole page) goes; what could act or ask is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from xml.etree import ElementTree

from reticent.errors import ParameterError, require
from reticent.guarantees.card_facts import printable

_DRAWING = frozenset(
    [
        *("svg", "g", "defs", "clipPath", "path", "use", "text", "tspan", "rect", "circle", "line"),
        *("ellipse", "polyline", "polygon", "image", "linearGradient", "stop", "pattern", "title"),
    ]
)
_TOLD = frozenset(["text", "tspan", "title"])
_LEFT_OUT = frozenset(["metadata", "style"])
_PROLOG = re.compile(r"^\s*(<\?xml[^>]*\?>)?\s*(<!DOCTYPE[^>\[]*>)?\s*")
_URL = re.compile(r"url\(\s*(['\"]?)(.*?)\1\s*\)", re.IGNORECASE)
_ASKS = re.compile(r"\\|//|image-set|@import", re.IGNORECASE)  # ways to ask that are no url(#...)
_SIZE = re.compile(r"font(?:-size)?:[^;]*?([\d.]+)px")
_LEAST = 9.0  # pixels: a letter is not drawn smaller, the figure scrolls instead
_POINT = 4 / 3  # pixels


@dataclass(frozen=True, slots=True)
class Inlined:
    """A figure as an element of a page, and the least width in pixels at which it can be read."""

    markup: str
    least: int


def inlined(text: str, *, prefix: str) -> Inlined:
    """The figure without file head, all of whose names begin with ``prefix``."""
    require("<!ENTITY" not in text, "svg", "other", "a drawing that declares no entities")
    try:
        root = ElementTree.fromstring(_PROLOG.sub("", text, count=1))  # noqa: S314 - no entities
    except ElementTree.ParseError:
        raise ParameterError("svg", "well-formed", "other") from None
    require(_local(root.tag) == "svg", "svg", "other", "an SVG element")
    _tidy(root, prefix)
    wide, high = _shape(root)
    sizes = [float(found) for one in root.iter() for found in _SIZE.findall(one.get("style", ""))]
    least = min(round(wide * _LEAST / min(sizes)) if sizes else 0, round(wide * _POINT))
    root.attrib |= {
        "class": "drawing",
        "viewBox": f"0 0 {wide:g} {high:g}",
        "width": f"{wide * _POINT:.0f}",
        "height": f"{high * _POINT:.0f}",
        "style": f"min-width: {least}px",
    }
    return Inlined(_markup(root), least)


def _local(name: str) -> str:
    return name.rsplit("}", 1)[-1]


def _shape(root: ElementTree.Element) -> tuple[float, float]:
    """Width and height in points, from the box that is drawn in."""
    box = root.get("viewBox", "").split()
    good = len(box) == 4 and all(re.fullmatch(r"\d+(\.\d+)?", side) for side in box)
    require(good and box[:2] == ["0", "0"], "svg", "other", "of a viewBox that begins at 0 0")
    return float(box[2]), float(box[3])


def _tidy(element: ElementTree.Element, prefix: str) -> None:
    """Drop what is no drawing, refuse what acts, and rename, here and below."""
    element.tag = _local(element.tag)
    require(element.tag in _DRAWING, "svg", "other", "of drawing elements only")
    element.attrib = {
        _local(name): _renamed(_local(name), value, prefix)
        for name, value in element.attrib.items()
        if _local(name) != "version"
    }
    for below in list(element):
        if _local(below.tag) in _LEFT_OUT:
            element.remove(below)
        else:
            _tidy(below, prefix)


def _renamed(name: str, value: str, prefix: str) -> str:
    require(not name.lower().startswith("on"), "svg", "other", "without what acts on events")
    if name == "id":
        return prefix + value
    if name == "href":
        if value.startswith("data:image/png;"):  # a raster, such as a fine heat map
            return value
        require(value.startswith("#"), "svg", "other", "of references within itself only")
        return f"#{prefix}{value[1:]}"
    places = [place for _, place in _URL.findall(value)]
    inside = all(place.startswith("#") for place in places)
    inside = inside and (name != "style" or _ASKS.search(value) is None)
    require(inside, "svg", "other", "of references within itself only")
    return _URL.sub(lambda found: f"url(#{prefix}{found[2][1:]})", value)


def _markup(element: ElementTree.Element) -> str:
    """The element as HTML reads it: no names of other languages, every text escaped."""
    named = "".join(f' {name}="{_value(name, held)}"' for name, held in element.attrib.items())
    told = element.tag in _TOLD
    inside = escape(printable(element.text or "")) if told else ""
    below = "".join(
        _markup(one) + (escape(printable(one.tail or "")) if told else "") for one in element
    )
    return f"<{element.tag}{named}>{inside}{below}</{element.tag}>"


def _value(name: str, held: str) -> str:
    return escape(printable(held) if name == "aria-label" else " ".join(held.split()))
