"""Figures of a mapping: leak against distortion, and what becomes what.

Theory    docs/theory/mapping.md, Theorem 2 (certificate)
Not here  the mapping (mechanisms/mapping.py), attackers (attack_figures.py), colours (style.py).
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from reticent.errors import require
from reticent.optim.mapping import Channel
from reticent.report.style import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    figure,
    legend_below,
    not_negative,
    shortened,
    svg,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals: TypeAlias = NDArray[np.float64]

_PRINTED = 12  # profiles up to which chances are printed in the cells
_MOST = 60  # profiles that a heat map can hold
_LIGHT = "#DDDDDD"
_BESIDE: dict[str, Any] = {"textcoords": "offset points", "fontsize": 9}
_BETWEEN = 24  # places between two points of a curve at which its lower bound is drawn


@dataclass(frozen=True, slots=True)
class TradeOff:
    """A mapping's distortion and leak, and a proved lower bound of the least leak there."""

    distortion: float
    leak_bits: float
    bound_bits: float


def tradeoff_figure(
    curve: Sequence[TradeOff],
    *,
    chosen: tuple[float, float] | None,
    baselines: Mapping[str, Sequence[tuple[float, float]]],
    untouched: float,
    perfect: float | None,
    unit: str,
    secret: str,
) -> str:
    """Leak against distortion: our curve with its proved band, baselines, the chosen point.

    ``chosen`` and the points of ``baselines`` are (distortion, bits); ``perfect`` is the least
    distortion at which nothing leaks.
    """
    points = _checked_curve(curve)
    others = {name: _checked_points(name, some) for name, some in baselines.items()}
    not_negative("untouched", [untouched])
    not_negative("chosen", chosen or ())
    not_negative("perfect", [] if perfect is None else [perfect])
    made, axes = figure(5.6, 3.9)
    _draw_baselines(axes, others)
    _draw_curve(axes, points)
    axes.axhline(untouched, color=GREY, linestyle=":")
    largest = max([points[-1].distortion, *(some[-1][0] for some in others.values())])
    marks = [1.2 * x for x in (perfect, chosen[0] if chosen else None) if x is not None]
    right = max(1.04 * largest, *marks, 0.0) or 1.0
    axes.set_xlim(-0.02 * right, right)
    highest = max([untouched, *(p.leak_bits for p in points), chosen[1] if chosen else 0.0])
    axes.set_ylim(-0.03 * (highest or 1.0), 1.12 * (highest or 1.0))
    told = f"untouched: {untouched:.3g} bits"
    axes.annotate(told, (right, untouched), (-2, 4), color=GREY, ha="right", **_BESIDE)
    _mark_points(axes, chosen, perfect)
    axes.set_xlabel(f"distortion: {shortened(unit, 50)}")
    axes.set_ylabel(f"leak about {shortened(secret, 28)}, bits")
    axes.grid(color=_LIGHT)
    legend_below(made, axes)
    return svg(made, says=_tradeoff_says(points, chosen, others, untouched, perfect, secret))


def _checked_curve(curve: Sequence[TradeOff]) -> list[TradeOff]:
    require(len(curve) > 0, "curve", "no points", "at least one point")
    points = sorted(curve, key=lambda point: point.distortion)
    not_negative("curve", [x for p in points for x in (p.distortion, p.leak_bits)])
    below = all(p.bound_bits <= p.leak_bits + 1e-9 for p in points)
    require(below, "curve", "other", "points whose bound is at most their leak")
    apart = all(a.distortion < b.distortion for a, b in pairwise(points))
    require(apart, "curve", "the same distortion twice", "points of different distortions")
    return points


def _checked_points(name: str, some: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    require(len(some) > 0, "baselines", f"no points of {name!r}", "points for each name")
    not_negative("baselines", [x for point in some for x in point])
    return sorted((float(x), float(y)) for x, y in some)


def _draw_baselines(axes: Any, others: Mapping[str, list[tuple[float, float]]]) -> None:
    looks = [(ORANGE, "x"), (PURPLE, "^"), (SKY, "v"), (GREY, "+")]
    for place, (name, some) in enumerate(others.items()):
        colour, marker = looks[place % len(looks)]
        x, y = zip(*some, strict=True)
        label = shortened(name, 40)
        axes.plot(x, y, color=colour, marker=marker, markersize=5, linewidth=1.2, label=label)


def _draw_curve(axes: Any, points: list[TradeOff]) -> None:
    x, y = [p.distortion for p in points], [p.leak_bits for p in points]
    places, floor = proved_floor(points)
    gap = max(p.leak_bits - max(p.bound_bits, 0.0) for p in points)
    axes.fill_between(
        places,
        floor,
        np.interp(places, x, y),
        color=BLUE,
        alpha=0.3,
        linewidth=0,
        label=f"proved: no mapping is below this band ({gap:.1g} bits at the dots)",
    )
    axes.plot(x, y, color=BLUE, marker="o", markersize=4, label="mappings of least leak")


def proved_floor(points: Sequence[TradeOff]) -> tuple[Reals, Reals]:
    """Distortions, and a proved lower bound of the least leak at each, also between points.

    The least leak is convex and does not rise: it lies above the line from the leak at one point
    through the bound at the next, beyond it, on both sides, and above the bound to its right.
    """
    x = np.array([p.distortion for p in points])
    leak = np.array([p.leak_bits for p in points])
    bound = np.minimum(np.maximum([p.bound_bits for p in points], 0.0), leak)
    steps = [np.linspace(a, b, _BETWEEN, endpoint=False) for a, b in pairwise(x.tolist())]
    places = np.concatenate([*steps, x[-1:]])
    floor = bound[np.searchsorted(x, places)]
    pairs = [(k, k + 1) for k in range(len(x) - 1)]
    for near, far in [*pairs, *((k, j) for j, k in pairs)]:
        slope = (bound[near] - leak[far]) / (x[near] - x[far])
        beyond = (places - x[near]) * (x[near] - x[far]) >= 0
        floor = np.where(beyond, np.maximum(floor, bound[near] + slope * (places - x[near])), floor)
    return places, np.minimum(floor, np.interp(places, x, leak))


def _mark_points(axes: Any, chosen: tuple[float, float] | None, perfect: float | None) -> None:
    """A diamond where nothing leaks any more, a ring around the chosen point."""
    if perfect is not None:
        look = {"color": GREEN, "marker": "D", "markersize": 7, "linestyle": "none", "zorder": 4}
        axes.plot([perfect], [0.0], label=f"perfect privacy from {perfect:.3g}", **look)
    if chosen is not None:
        x, bits = chosen
        look = {"marker": "o", "markersize": 12, "fillstyle": "none", "linestyle": "none"}
        told = f"chosen: {bits:.3g} bits at {x:.3g}"
        axes.plot([x], [bits], color="black", label=told, zorder=6, gid="chosen", **look)
        axes.annotate("chosen", chosen, (8, 5), zorder=6, **_BESIDE)


def distortion_for(points: Sequence[tuple[float, float]], leak: float) -> float | None:
    """The least distortion at which a drawn (distortion, bits) line is down to ``leak``."""
    before: tuple[float, float] | None = None
    for x, y in sorted(points):
        if y <= leak:
            if before is None or before[1] <= y:
                return x
            return before[0] + (x - before[0]) * (before[1] - leak) / (before[1] - y)
        before = (x, y)
    return None


def _tradeoff_says(
    points: Sequence[TradeOff],
    chosen: tuple[float, float] | None,
    others: Mapping[str, Sequence[tuple[float, float]]],
    untouched: float,
    perfect: float | None,
    secret: str,
) -> str:
    x, leak = chosen or (points[-1].distortion, points[-1].leak_bits)
    share = f" ({100 * leak / untouched:.3g} %)" if untouched > 0 else ""
    which = "chosen" if chosen else "largest"
    says = (
        f"At the {which} distortion {x:.3g}, {leak:.3g} of {untouched:.3g} bits about {secret} "
        f"still leak{share}."
    )
    if others and x > 0:
        says += f" Distortion for the same leak: {', '.join(_times(others, x, leak))}."
    if perfect is not None:
        says += f" Nothing leaks from distortion {perfect:.3g} on."
    return says


def _times(
    others: Mapping[str, Sequence[tuple[float, float]]], x: float, leak: float
) -> Iterator[str]:
    for name, some in others.items():
        needed = distortion_for(some, leak)
        if needed is None:
            yield f"{name} does not get there"
        else:
            yield f"{name} about {needed / x:.2g} times as much"


def shown_chances(
    channel: Channel, shares: Reals, *, most: int = _PRINTED
) -> tuple[NDArray[np.int64], Reals]:
    """The profiles between which most people change, and their chances [true, released].

    Changes are taken by how many people make them, each with both its ends; then profiles that more
    people have. A last column holds what goes to profiles not shown, if there are any.
    """
    size = len(channel.starts) - 1
    mass = np.asarray(shares, dtype=np.float64)
    require(size > 0, "channel", "no profiles", "of at least one profile")
    require(mass.shape == (size,), "shares", f"shape {mass.shape}", f"{size} probabilities")
    good = bool(np.isfinite(mass).all() and (mass >= 0).all() and mass.sum() > 0)
    require(good, "shares", "other", "finite, not negative and not all 0")
    require(1 <= most <= _MOST, "most", most, f"between 1 and {_MOST}")
    whole = np.bincount(channel.inputs, weights=channel.chances, minlength=size)
    require(bool(np.allclose(whole, 1, atol=1e-6)), "channel", "other", "of rows that sum to 1")
    moved = np.round(mass[channel.inputs] / mass.sum() * channel.chances, 12)
    moves = np.flatnonzero((channel.outs != channel.inputs) & (moved > 0))
    moves = moves[np.argsort(-moved[moves], kind="stable")]
    ends = np.column_stack([channel.inputs[moves], channel.outs[moves]]).ravel()
    ranked = np.concatenate([ends, np.argsort(-mass, kind="stable")])
    shown = np.array(list(dict.fromkeys(ranked.tolist()))[:most])
    places = np.full(size, len(shown))
    places[shown] = np.arange(len(shown))
    table = np.zeros((len(shown) + 1, len(shown) + 1))
    np.add.at(table, (places[channel.inputs], places[channel.outs]), channel.chances)
    return shown, table[:-1, : len(shown) + (size > len(shown))]


def mapping_figure(
    channel: Channel, labels: Sequence[str], shares: Reals, *, most: int = _PRINTED
) -> str:
    """A heat map of the commonest changes: what each profile is released as, with which chance."""
    shown, table = shown_chances(channel, shares, most=most)
    size, count = len(channel.starts) - 1, len(shown)
    require(len(labels) == size, "labels", len(labels), f"{size} names")
    names, common = short_labels([labels[j] for j in shown.tolist()])
    made, axes = figure(0.31 * table.shape[1] + 0.4, 0.31 * count + 0.4)
    drawn = axes.pcolormesh(table, cmap="cividis", vmin=0, vmax=1, edgecolor="white", linewidth=0.5)
    if count <= _PRINTED:
        _print_chances(axes, table)
    else:
        made.colorbar(drawn, ax=axes, label="chance", fraction=0.04, pad=0.03)
    heads = [str(place + 1) for place in range(count)] + ["others"] * (table.shape[1] - count)
    turned = {"rotation": 90} if count > 20 else {}
    axes.set_xticks(np.arange(len(heads)) + 0.5, heads, fontsize=8, **turned)
    rows = [f"{place + 1}: {name}" for place, name in enumerate(names)]
    axes.set_yticks(np.arange(count) + 0.5, rows, fontsize=8, linespacing=0.95)
    axes.invert_yaxis()
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.tick_params(length=0)
    if len(heads) > count:
        axes.get_xticklabels()[-1].set_rotation(90)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.set_xlabel("released as")
    if size > count:
        axes.set_title(f"the commonest changes, between {count} of {size} profiles", fontsize=9)
    axes.set_ylabel("true profile")
    if common:
        told = f"all: {shortened(common, 60)}"
        axes.annotate(told, (0, 0), (0, -5), xycoords="axes fraction", va="top", **_BESIDE)
    return svg(made, says=_mapping_says(shown, table, np.asarray(shares), labels))


def _print_chances(axes: Any, table: Reals) -> None:
    for (row, column), chance in np.ndenumerate(table):
        if chance > 0:
            text = f"{chance:.2f}" if chance >= 0.005 else "<.01"
            colour = "black" if chance > 0.5 else "white"
            place = {"ha": "center", "va": "center", "fontsize": 7}
            axes.text(column + 0.5, row + 0.5, text, color=colour, **place)


def short_labels(labels: Sequence[str], *, width: int = 28) -> tuple[list[str], str]:
    """Names in at most two lines, without the parts that all share; and those parts.

    Parts are what stands between commas, if all names have equally many.

    >>> short_labels(["young, city, UK", "old, city, UK"])
    (['young', 'old'], 'city, UK')
    """
    parts = [[p.strip() for p in shortened(label, 200).split(",")] for label in labels]
    common: list[str] = []
    if len(labels) > 1 and len({len(some) for some in parts}) == 1:
        same = [len(set(column)) == 1 for column in zip(*parts, strict=True)]
        if not all(same):
            common = [part for part, alike in zip(parts[0], same, strict=True) if alike]
            parts = [[p for p, alike in zip(s, same, strict=True) if not alike] for s in parts]
    return [_two_lines(some, width) for some in parts], ", ".join(common)


def _two_lines(parts: Sequence[str], width: int) -> str:
    """Parts on at most two lines; the longest are cut first, all to the same length."""
    for most in range(max(map(len, parts)), 2, -1):
        cut = [p if len(p) <= most else f"{p[: most - 1].rstrip('- ')}…" for p in parts]
        lines = textwrap.wrap(", ".join(cut), width, break_on_hyphens=False)
        if len(lines) <= 2 and all(len(line) <= width for line in lines):
            return "\n".join(lines)
    return shortened(", ".join(parts), width)


def _mapping_says(
    shown: NDArray[np.int64], table: Reals, shares: Reals, labels: Sequence[str]
) -> str:
    count = len(shown)
    mass = shares[shown] / shares[shown].sum()
    kept = table[np.arange(count), np.arange(count)]
    away = table[:, count:].sum(axis=1)
    least = int(np.argmin(kept))
    says = (
        f"{100 * shares[shown].sum() / shares.sum():.3g} % of people have one of the {count} "
        f"profiles shown, of {len(shares)}, those of the commonest changes; "
        f"{100 * float(mass @ kept):.3g} % of these people are released as they are"
    )
    if table.shape[1] > count:
        says += f", {100 * float(mass @ away):.3g} % as a profile not shown"
    name = shortened(labels[int(shown[least])], 120)
    return f"{says}. The one kept least, {name}, is kept with chance {kept[least]:.3g}."
