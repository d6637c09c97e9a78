# SPDX-License-Identifier: Apache-2.0
"""Speedup of each method against its loss: a panel for each pair of models and temperature.

Exact methods lose nothing: they are on the line at 0, with their names at its left; the others are named next to their
points. The points of a method with several values of its parameters are joined by a line, with one name.
"""

import numpy
from matplotlib.lines import Line2D

from . import curves, layout, load, style

ID = "methods"
COLUMNS = {"pair": load.OPTIONAL_TEXT, "temperature": load.NUMBER, "method": load.TEXT, "speedup": load.NUMBER,
           "speedup_standard_error": load.NUMBER, "exact": load.NUMBER, "loss": load.NUMBER}
_MOST_PANELS = 6
_NAMES_WIDTH = 0.62  # of the names of exact methods, over that of the axis of losses
_LEAST_LOSS = 0.05   # width of the axis if no method has a loss
_LINE_IN = 0.12      # from one name to the next
_LEAST_HEIGHT_IN = 2.2


def figure(table):
    if not numpy.isfinite(table["speedup"]).any():
        raise load.BadFile(table.path, "no value of speedup to draw")
    places = [(pair, temperature) for pair in table.values("pair") for temperature in table.values("temperature")]
    if len(places) > _MOST_PANELS:
        raise load.BadFile(table.path, f"{len(places)} pairs and temperatures; one figure holds {_MOST_PANELS}")
    exact_look, relaxed_look = style.looks(2)
    rows = [table.where(pair=pair, temperature=temperature) for pair, temperature in places]
    most = max(len(set(part["method"][(part["exact"] == 1) == is_exact])) for part in rows for is_exact in (True, False))
    height_in = max(_LEAST_HEIGHT_IN, _LINE_IN * (most + 4))
    right = max(_LEAST_LOSS, 1.06 * float(numpy.nanmax(table["loss"])))
    drawn, grid = layout.panels("double_column", len(places), 1)
    low, high = _range(table["speedup"])
    for axes, (pair, temperature), part in zip(grid[:, 0], places, rows):
        axes.set_title(style.plain(f"{pair}, temperature {temperature:g}" if pair else f"temperature {temperature:g}"))
        axes.set_yscale("log")
        axes.set_ylim(low, high)
        axes.set_xlim(-_NAMES_WIDTH * right, right * (1 + _NAMES_WIDTH))
        axes.axvline(0, color=style.GREY, linewidth=0.8)
        axes.axhline(1, color=style.GREY, linewidth=0.8, linestyle=(0, (2, 1.5)), zorder=1)
        line = _LINE_IN / height_in
        for is_exact, look in ((True, exact_look), (False, relaxed_look)):
            kind = part.keep(((part["exact"] == 1) == is_exact) & numpy.isfinite(part["speedup"]))
            curves.simulated(axes, kind["loss"], kind["speedup"], kind["speedup_standard_error"], look)
            _name_points(axes, _joined(axes, kind, look.color), is_exact, line, right, look.color)
    _settle_ticks(grid[:, 0], right)
    layout.arrange(drawn, grid, height_in, "total variation distance from the target",
                   "speedup over autoregressive decoding",
                   [layout.Legend([Line2D([], [], linestyle="none", marker=look.marker, color=look.color,
                                          markersize=style.MARKER_PT) for look in (exact_look, relaxed_look)],
                                  ["exact: the target's own distribution",
                                   "relaxed, along a line by its parameters" if _varied(table)
                                   else "relaxed, with its default parameters"],
                                  "simulated, 95 %")])
    return drawn


def _range(speedups):
    known = speedups[numpy.isfinite(speedups) & (speedups > 0)]
    return min(0.9, 0.9 * known.min()), 1.15 * known.max()


def _varied(table):
    relaxed = table.keep(table["exact"] != 1)
    rows = list(zip(relaxed["pair"], relaxed["temperature"], relaxed["method"]))
    return len(set(rows)) < len(rows)


def _joined(axes, part, color):
    """Joins the points of each method; returns the row of the largest speedup of each."""
    fastest = []
    for method in part.values("method"):
        points = part.where(method=method)
        order = numpy.argsort(points["loss"], kind="stable")
        if len(order) > 1:
            axes.plot(points["loss"][order], points["speedup"][order], color=color, linewidth=0.8, zorder=2)
        fastest.append(numpy.argmax(numpy.where(part["method"] == method, part["speedup"], -numpy.inf)))
    return part.keep([i in fastest for i in range(len(part))])


def _name_points(axes, part, is_exact, line, right, color):
    """Names in a column, as close to the height of their points as possible without overlap, each with a line to its
    point."""
    low, high = numpy.log(axes.get_ylim())
    order = numpy.argsort(part["speedup"])
    wanted = [(numpy.log(part["speedup"][i]) - low) / (high - low) for i in order]
    heights = _spread(wanted, line)
    for i, height in zip(order, heights):
        x, y = (0.0 if is_exact else part["loss"][i]), part["speedup"][i]
        column = -0.06 * right if is_exact else 1.06 * right
        place = numpy.exp(low + height * (high - low))
        axes.plot([x, 0.95 * column], [y, place], color=color, linewidth=0.4, zorder=2)
        axes.text(column, place, style.plain(part["method"][i]), size=style.SMALLEST_PT,
                  ha="right" if is_exact else "left", va="center", color=style.INK)


def _spread(wanted, gap):
    """Ascending heights within [0, 1], at least `gap` apart and as close as possible to the `wanted` ones, which
    ascend."""
    blocks = []  # of names that touch: how many, and the mean of where the lowest would be
    for i, height in enumerate(wanted):
        blocks.append((1, height - gap * i))
        while len(blocks) > 1 and blocks[-2][1] > blocks[-1][1]:
            (more, above), (count, below) = blocks.pop(), blocks.pop()
            blocks.append((count + more, (count * below + more * above) / (count + more)))
    lowest = [start for count, start in blocks for _ in range(count)]
    ceiling = 1 - gap * (len(lowest) - 0.5)
    return [min(max(start, 0.5 * gap), ceiling) + gap * i for i, start in enumerate(lowest)]


def _settle_ticks(columns, right):
    step = next(step for step in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5) if right / step <= 6)
    for axes in columns:
        axes.set_xticks([step * i for i in range(int(right / step) + 1)])
        curves.decimal_ticks(axes.yaxis)
