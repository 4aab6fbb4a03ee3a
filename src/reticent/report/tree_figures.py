"""A private tree as a picture, an outline of it; and how right trees are, by depth and epsilon.

Not here  the tree (tasks/trained_tree.py), how curves are drawn (curve_figures.py), colours
          (style.py).

An outline stays legible on a phone, where a tree drawn from the top would need a wall. The first
levels are drawn; what is below them is summed up. Everything shown was released with the tree.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from reticent.errors import require
from reticent.report.curve_figures import Point, check_points, draw_curves, finish, x_axis
from reticent.report.style import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, figure, shortened, svg
from reticent.tasks.trained_tree import TrainedTree

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals: TypeAlias = NDArray[np.float64]

_LEVELS = 4  # of splits that are drawn, if there is room
_MOST = 64  # lines of a picture
_BRANCHES = 10  # children of a node that are drawn
_COLOURS = (BLUE, ORANGE, GREEN, PURPLE, SKY)
_LIGHT = "#DDDDDD"
_SIZE = 8.5  # points of a letter
_WIDE, _INDENT, _LINE = 365.0, 12.0, 15.5  # points: the picture, a level, a line
_BAR, _BAR_WIDE = 275.0, 46.0  # where the bar of shares begins, and how long it is


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of the outline; ``node`` is None where branches were left out."""

    node: int | None
    level: int
    parent: int | None  # its line
    edge: str
    left_out: int = 0  # branches, or leaves below a node that is not opened


@dataclass(frozen=True, slots=True)
class AccuracyAt:
    """Trees of one depth at one epsilon: the share of new rows that they tell right, in 100."""

    depth: int
    epsilon: float
    accuracy: float
    low: float
    high: float


def accuracy_figure(
    rows: Sequence[AccuracyAt],
    *,
    what: str,
    runs: int,
    reference: Mapping[int, float],
    commonest: float | None = None,
    says: str | None = None,
) -> str:
    """Accuracy against epsilon for each depth, and dotted what a tree without privacy reaches.

    ``reference`` has that for each depth, or for some; ``commonest`` is the share of the commonest
    class, which any guess of it reaches.
    """
    points = [Point(f"depth {r.depth}", r.epsilon, r.accuracy, r.low, r.high) for r in rows]
    check_points(points)
    shares = [*(row.accuracy for row in rows), *reference.values(), commonest or 0.0]
    require(all(0 <= share <= 100 for share in shares), "rows", "other", "of shares from 0 to 100")
    require(runs >= 1, "runs", runs, "at least 1")
    made, axes = figure(5.6, 3.9)
    draw_curves(axes, points)
    colours = {line.get_label(): line.get_color() for line in axes.get_lines()}
    for depth, share in reference.items():
        name = f"depth {depth}"
        label = f"{name} without privacy: {share:.1f}"
        look = {"color": colours.get(name, GREY), "linestyle": ":", "linewidth": 1.4}
        axes.axhline(share, label=label, **look)
    if commonest is not None:
        label = f"always the commonest class: {commonest:.1f}"
        axes.axhline(commonest, color=GREY, linestyle="--", linewidth=1, label=label)
    axes.set_ylabel("told right of 100 new rows")
    x_axis(axes, [row.epsilon for row in rows], "epsilon")
    finish(made, axes, what, f"bands: 95 % of {runs:,} runs")
    return svg(made, says=says or _accuracy_says(rows, what, reference))


def _accuracy_says(rows: Sequence[AccuracyAt], what: str, reference: Mapping[int, float]) -> str:
    ends = min(row.epsilon for row in rows), max(row.epsilon for row in rows)
    best = [
        max((r for r in rows if r.epsilon == end), key=lambda row: row.accuracy) for end in ends
    ]
    told = " and ".join(
        f"depth {row.depth} is right for {row.accuracy:.1f} of 100 at epsilon {row.epsilon:g}"
        for row in best
    )
    most = max(reference.values(), default=None)
    last = "" if most is None else f"; without privacy the best reaches {most:.1f}"
    return f"For {what}, {told}{last}."


def tree_figure(trained: TrainedTree, *, target: str) -> str:
    """The tree as an outline: splits in boxes, shares of classes and about how many rows."""
    drawn = _Drawn.of(trained)
    high = (len(drawn.rows) + 2) * _LINE
    made, axes = figure(_WIDE / 72, high / 72)
    axes.set_position((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(0, _WIDE)
    axes.set_ylim(high, 0)
    axes.text(0, _LINE * 0.3, f"{shortened(target, 38)}?", fontsize=10, fontweight="bold", va="top")
    heads: dict[str, Any] = {"fontsize": 7.5, "color": GREY, "va": "top"}
    axes.text(_BAR, _LINE * 0.4, "share", **heads)
    axes.text(_WIDE, _LINE * 0.4, "rows, about", ha="right", **heads)
    for place, row in enumerate(drawn.rows):
        drawn.draw(axes, place, row)
    _legend(axes, trained, high)
    return svg(made, says=_says(trained, drawn, target))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Drawn:
    """What is drawn, and the figures of each node."""

    trained: TrainedTree
    rows: list[_Row]
    shares: Reals
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, trained: TrainedTree) -> _Drawn:
        weights = trained.declared.weights
        shares = trained.tree.shares(None if weights is None else np.array(weights))
        counts = np.maximum(trained.tree.counts.sum(axis=1), 0)
        for levels in range(_LEVELS, -1, -1):
            rows: list[_Row] = []
            _outline(trained, counts, rows, _Row(0, 0, None, ""), levels)
            if len(rows) <= _MOST:
                break
        return cls(trained, rows, shares, counts)

    def draw(self, axes: Any, place: int, row: _Row) -> None:
        """One line: the branch to it, what is asked there, or what it is."""
        x, y = row.level * _INDENT, (place + 1.8) * _LINE
        if row.parent is not None:
            up = (row.parent + 1.8) * _LINE + 0.4 * _LINE
            axes.plot([x - 7, x - 7, x - 1], [up, y, y], color=GREY, linewidth=0.8, zorder=1)
        text: dict[str, Any] = {"fontsize": _SIZE, "va": "center_baseline"}
        if row.node is None:
            axes.text(x + 2, y, f"… {row.left_out} more values", color=GREY, **text)
            return
        opened = self.trained.tree.child[row.node] >= 0 and not row.left_out
        said = self._said(row, opened)
        edge = _fitting(row.edge, _BAR - x - _width(said) - 42) if row.edge else ""
        axes.text(x + 2, y, edge, **text)
        after = x + 2 + (_width(edge) + 8 if edge else 2)
        said = _fitting(said, _BAR - 30 - after)
        box = {"boxstyle": "round,pad=0.18", "facecolor": "#EEF3F7", "edgecolor": BLUE}
        if opened:
            axes.text(after, y, said, bbox={**box, "linewidth": 0.8}, **text)
            return
        axes.text(after, y, said, fontweight="normal" if row.left_out else "bold", **text)
        self._bar(axes, row.node, y)

    def _said(self, row: _Row, opened: bool) -> str:
        """The column that a node splits by, or the class of a leaf; deeper ones are summed up."""
        declared, node = self.trained.declared, row.node
        if opened:
            return shortened(declared.columns[self.trained.tree.column[node]].name, 22)
        best = shortened(str(declared.classes[int(self.shares[node].argmax())]), 15)
        return f"{best} … {row.left_out} leaves" if row.left_out else best

    def _bar(self, axes: Any, node: int, y: float) -> None:
        """Shares of the classes side by side, the largest in figures, and about how many rows."""
        parts = self.shares[node]
        colours: tuple[str, ...] = _COLOURS[: len(parts)]
        if len(parts) > len(_COLOURS):  # the likeliest against all others
            best = float(parts.max())
            parts, colours = np.array([best, 1 - best]), (BLUE, _LIGHT)
        begin, high = _BAR, 0.55 * _LINE
        for part, colour in zip(parts.tolist(), colours, strict=True):
            if part > 0:
                wide, look = part * _BAR_WIDE, {"color": colour, "linewidth": 0}
                axes.bar(begin, high, wide, y - high / 2, align="edge", **look)
                begin += wide
        text: dict[str, Any] = {"fontsize": 7.5, "va": "center_baseline", "ha": "right"}
        axes.text(_BAR - 3, y, f"{100 * self.shares[node].max():.0f} %", **text)
        axes.text(_WIDE, y, f"{int(self.counts[node]):,}", **text)


def _outline(
    trained: TrainedTree, counts: NDArray[np.int64], rows: list[_Row], row: _Row, levels: int
) -> None:
    """The lines of a node and of what is below it."""
    tree, node = trained.tree, row.node
    if node is None or len(rows) > _MOST:
        return
    if tree.child[node] >= 0 and row.level >= levels:
        rows.append(_Row(node, row.level, row.parent, row.edge, _leaves(trained, node)))
        return
    here = len(rows)
    rows.append(row)
    if tree.child[node] < 0:
        return
    first, branches = int(tree.child[node]), int(tree.branches[node])
    shown = list(range(branches))
    if branches > _BRANCHES:  # those of most rows, in their order
        ranked = np.argsort(-counts[first : first + branches], kind="stable")
        shown = sorted(ranked[: _BRANCHES - 1].tolist())
    for branch in shown:
        below = _Row(first + branch, row.level + 1, here, _edge(trained, node, branch))
        _outline(trained, counts, rows, below, levels)
    if len(shown) < branches:
        rows.append(_Row(None, row.level + 1, here, "", branches - len(shown)))


def _edge(trained: TrainedTree, node: int, branch: int) -> str:
    """Which rows go to a child, without the name of the column, which its box shows."""
    name = trained.declared.columns[trained.tree.column[node]].name
    told = trained.branch_text(node, branch).removeprefix(name)
    return told.removeprefix(":").strip() or "(empty)"


def _leaves(trained: TrainedTree, node: int) -> int:
    return sum(trained.tree.child[below] < 0 for below in _below(trained, node))


def _below(trained: TrainedTree, node: int) -> Iterator[int]:
    """A node and all below it."""
    left = [node]
    while left:
        here = left.pop()
        yield here
        first = int(trained.tree.child[here])
        if first >= 0:
            left.extend(range(first, first + int(trained.tree.branches[here])))


def _fitting(text: str, room: float) -> str:
    """A text cut to the room it has, in points."""
    line = shortened(text, 200)
    most = len(line)
    while most > 3 and _width(line) > room:
        most -= 1
        line = shortened(text, most)
    return line


def _width(text: str) -> float:
    """About how wide a text is, in points."""
    return _SIZE * sum(map(_letter, text))


def _letter(letter: str) -> float:
    """About how wide a letter is beside its height."""
    if letter in "fijlrt .,:;'|!()[]-":
        return 0.36
    if letter in "mwMW<>=@%+…":
        return 0.86
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.0
    return 0.68 if letter.isupper() else 0.61


def _legend(axes: Any, trained: TrainedTree, high: float) -> None:
    """Which colour is which class; names stand at the leaves, too."""
    names = [shortened(str(name), 22) for name in trained.declared.classes]
    colours: tuple[str, ...] = _COLOURS
    if len(names) > len(_COLOURS):
        names, colours = ["the class named", "all others"], (BLUE, _LIGHT)
    x, y = 2.0, high + 0.2 * _LINE
    for name, colour in zip(names, colours, strict=False):
        if x > 2 and x + 12 + _width(name) > _WIDE:
            x, y = 2.0, y + _LINE
        axes.bar(x, 7, 7, y - 3.5, align="edge", color=colour, clip_on=False)
        axes.text(x + 10, y, name, fontsize=7.5, va="center_baseline")
        x += 22 + _width(name)


def _says(trained: TrainedTree, drawn: _Drawn, target: str) -> str:
    """The finding, for who does not see the picture."""
    tree, classes = trained.tree, trained.declared.classes
    leaves = np.flatnonzero(tree.child < 0)
    rows = f"about {int(drawn.counts[0]):,} rows"
    largest = int(leaves[drawn.counts[leaves].argmax()])
    best = int(drawn.shares[largest].argmax())
    found = (
        f"its largest leaf, of about {int(drawn.counts[largest]):,} rows, is "
        f"{100 * drawn.shares[largest].max():.0f} % {classes[best]}"
    )
    if tree.child[0] < 0:
        return f"A tree for {target} without a split, from {rows}: {found}."
    first = trained.declared.columns[tree.column[0]].name
    return (
        f"A tree for {target} with {len(leaves)} leaves, from {rows}. It splits by {first} first; "
        f"{found}."
    )
