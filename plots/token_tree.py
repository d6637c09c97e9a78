# SPDX-License-Identifier: Apache-2.0
"""A tree of drafted tokens: more probable nodes are larger and darker, children by rank from the left."""

import math
from dataclasses import dataclass

import numpy
from matplotlib.lines import Line2D

from . import layout, load, style

ID = "tree"
COLUMNS = {"node": load.NUMBER, "parent": load.NUMBER, "depth": load.NUMBER, "rank": load.NUMBER,
           "probability": load.NUMBER}

_LEVEL_IN = 0.55
_TALLEST_IN = 7.0
_HEAD_IN = 0.3        # above the root, for the heading of the column at the right
_MOST_DEPTHS_WRITTEN = 40
_LARGEST_PT = 13.0   # diameter of a node that is always accepted
_SMALLEST_PT = 2.5
_LABEL_FROM_PT = 7.5  # smaller nodes have their rank below, if there is room, not inside
_DARK = 60            # lightness below which white letters are more readable than dark ones
_SHADES = [look.color for look in style.looks(12)]
_MOST_LABELLED = 60   # maximum nodes of a depth with ranks


@dataclass(frozen=True)
class Mark:
    """The outline of a node, full or as a ring."""

    outline: str
    filled: bool

    def look(self, size, color):
        return {"marker": self.outline, "markersize": size, "markeredgewidth": 0.9, "markeredgecolor": color,
                "markerfacecolor": color if self.filled else "white"}


FILLED = Mark("o", True)


def figure(table, marks=None, legend=None, counted=None):
    """`marks`: a Mark for each node, FILLED without them. `legend`: the names of the marks that need one.

    `counted`: the nodes that the column at the right adds up to the probability of reaching a depth; default: all.
    """
    check(table)
    marks = marks or [FILLED] * len(table)
    children = _children(table)
    place = _places(children)
    drawn, grid = layout.panels("double_column", 1, 1)
    axes = grid[0, 0]
    depth = int(table["depth"].max())
    crowd = max(sum(table["depth"] == d) for d in range(depth + 1))
    scale = min(1.0, 30.0 / crowd) ** 0.5
    for node, below in enumerate(children):
        for child in below:
            axes.plot([place[node], place[child]], [-table["depth"][node], -table["depth"][child]],
                      color=style.GREY, linewidth=0.3 + 1.7 * table["probability"][child], zorder=1)
    for node, probability in enumerate(table["probability"]):
        size = scale * diameter_pt(probability)
        color = shade(probability)
        axes.plot(place[node], -table["depth"][node], zorder=2, **marks[node].look(size, color))
        if node > 0 and crowd <= _MOST_LABELLED:
            _write_rank(axes, place[node], -table["depth"][node], int(table["rank"][node]), size,
                        "white" if marks[node].filled and style.lightness(color) < _DARK else style.INK)
    height_in = min(_TALLEST_IN, max(1.2, _LEVEL_IN * (depth + 1)))
    head = max(0.6, _HEAD_IN * (depth + 1) / height_in)
    _write_reached(axes, table if counted is None else table.keep(counted), depth, 0.75 * head)
    _dress(axes, depth, max(place), head)
    samples = [0.5, 0.1, 0.02, 0.005]
    handles = [Line2D([], [], linestyle="none", marker="o", markersize=scale * diameter_pt(p), color=shade(p))
               for p in samples]
    layout.arrange(drawn, grid, height_in,
                   "candidates of a node from the left by rank, 0 the most probable", "drafted tokens", [
                       layout.Legend(handles, [f"{100 * p:g} %" for p in samples], "accepted with probability"),
                       *([layout.Legend([Line2D([], [], linestyle="none", **mark.look(_LABEL_FROM_PT, style.INK))
                                         for mark in legend], list(legend.values()))] if legend else [])])
    return drawn


def diameter_pt(probability):
    """Area grows with the square root of the probability: a node that is 100 times rarer is a third as wide."""
    return max(_SMALLEST_PT, _LARGEST_PT * max(probability, 0.0) ** 0.25)


def shade(probability):
    """From the darkest color for nodes that are always accepted to the lightest for a probability of 0.001 or less."""
    rarity = min(1.0, -math.log10(max(probability, 1e-3)) / 3.0)
    return _SHADES[round((len(_SHADES) - 1) * rarity)]


def check(table):
    """Rejects a table that is no tree."""
    if not numpy.isfinite(table["probability"]).any():
        raise load.BadFile(table.path, "no value of probability to draw")
    for i in range(len(table)):
        if table["node"][i] != i or not 0 <= table["probability"][i] <= 1:
            raise load.BadFile(table.path, f"row {i + 1} is no node (nodes count from 0, probabilities lie in [0, 1])")
        parent = table["parent"][i]
        if i > 0 and not (0 <= parent < i and table["depth"][i] == table["depth"][int(parent)] + 1):
            raise load.BadFile(table.path, f"node {i} hangs on no earlier node one depth above it")


def _children(table):
    """Indices of the children of every node, by rank."""
    children = [[] for _ in range(len(table))]
    for i in range(1, len(table)):
        children[int(table["parent"][i])].append(i)
    for below in children:
        below.sort(key=lambda child: table["rank"][child])
    return children


def _places(children):
    """The horizontal position of every node: leaves side by side, others above the middle of their children."""
    place = [0.0] * len(children)
    taken = 0
    pending = [(0, False)]
    while pending:
        node, finished = pending.pop()
        if finished:
            place[node] = (place[children[node][0]] + place[children[node][-1]]) / 2
        elif children[node]:
            pending.append((node, True))
            pending.extend((child, False) for child in reversed(children[node]))
        else:
            place[node] = float(taken)
            taken += 1
    return place


def _write_rank(axes, x, y, rank, size, color):
    """Inside a large node; else below it, on top of the edges to its children."""
    if size >= _LABEL_FROM_PT + 2 * (rank > 9):
        axes.annotate(str(rank), (x, y), ha="center", va="center_baseline", size=style.SMALLEST_PT, color=color, zorder=3)
    else:
        axes.annotate(str(rank), (x, y), xytext=(0, -size / 2 - 1.5), textcoords="offset points", ha="center", va="top",
                      size=style.SMALLEST_PT, zorder=1.5,
                      bbox={"boxstyle": "square,pad=0.06", "facecolor": "white", "edgecolor": "none"})


def _write_reached(axes, table, depth, header):
    where = {"xycoords": ("axes fraction", "data"), "va": "center", "size": style.TICK_PT}
    axes.annotate("reached", (1.01, header), **where)
    for d in range(0, depth + 1, -(-depth // _MOST_DEPTHS_WRITTEN) or 1):
        reached = table["probability"][table["depth"] == d].sum()
        axes.annotate(f"{100 * min(reached, 1):.3g} %", (1.01, -d), **where)


def _dress(axes, depth, right, head):
    axes.set_xlim(-0.02 * right - 0.6, 1.02 * right + 0.6)
    axes.set_ylim(-depth - 0.45, head)
    axes.set_xticks([])
    written = range(0, depth + 1, -(-depth // _MOST_DEPTHS_WRITTEN) or 1)
    axes.set_yticks([-d for d in written], [str(d) for d in written])
    axes.grid(visible=False)
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)
    axes.tick_params(length=0)
