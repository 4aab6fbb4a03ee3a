"""A figure of a mapping: what becomes what.

Not here  the mapping (mechanisms/mapping.py), attackers (attack_figures.py), colours (style.py).
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from reticent.errors import require
from reticent.optim.mapping import Channel
from reticent.report.style import figure, shortened, svg

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals: TypeAlias = NDArray[np.float64]

_PRINTED = 12  # profiles up to which chances are printed in the cells
_MOST = 60  # profiles that a heat map can hold
_BESIDE: dict[str, Any] = {"textcoords": "offset points", "fontsize": 9}
_CODE = 3  # letters: a value so short needs the name of its column beside it


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


def column_labels(columns: Sequence[str], profiles: NDArray[Any]) -> list[str]:
    """Values of each profile, beside the names of their columns where they say little alone."""
    named = []
    for name, values in zip(columns, profiles.T.tolist(), strict=True):
        texts = [str(value).replace(" to below ", "-").replace(" to ", "-") for value in values]
        bare = all(len(text) <= _CODE or not re.search(r"[^\W\d_]{2}", text) for text in texts)
        named.append([f"{name} {text}" if bare else text for text in texts])
    return [", ".join(parts) for parts in zip(*named, strict=True)]


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
