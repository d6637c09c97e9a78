# SPDX-License-Identifier: Apache-2.0
"""The differences between simulation and closed form of a sweep, point by point; for the Python package."""

import numpy
from matplotlib.lines import Line2D

from . import curves, layout, load, style

_ALARM = 4  # standard errors; one point in 16,000 is beyond them
_BOUND = {"color": style.GREY, "linewidth": 0.8, "linestyle": (0, (2, 1.5))}


def figure(table, column, words):
    """`column`: the differences in standard errors; `words`: name of the quantity."""
    apart = table[column]
    if not numpy.isfinite(apart).any():
        raise load.BadFile(table.path, f"no value of {column} to draw")
    drawn, grid = layout.panels("single_column", 1, 1)
    axes = grid[0, 0]
    (look,) = style.looks(1)
    for bound in (-_ALARM, _ALARM):
        axes.axhline(bound, zorder=1, **_BOUND)
    axes.plot(numpy.arange(len(apart)), apart, linestyle="none", color=look.color, marker=look.marker, zorder=2,
              markersize=curves.marker_size(len(apart), 0.8 * style.WIDTH_IN["single_column"]))
    layout.arrange(drawn, grid, 1.8, "point of the sweep", f"{style.plain(words)}: simulation less closed form (standard errors)",
                   [layout.Legend([Line2D([], [], **_BOUND)], [f"±{_ALARM}"])])
    return drawn
