# SPDX-License-Identifier: Apache-2.0
"""The speedup against the batch: a curve for each value of one column, a panel for each of another."""

import numpy
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from . import curves, horizontal_axis, layout, load, style

_SPEEDUP = "analytic_speedup"
_EVEN = (0, (2, 1.5))


def columns(panel, series):
    return {panel: load.TEXT, series: load.AXIS, "batch": load.AXIS, _SPEEDUP: load.NUMBER}


def figure(table, panel, series, title, baseline):
    """`title`: of the legend; `baseline`: name of the baseline of the speedup."""
    if not numpy.isfinite(table[_SPEEDUP]).any():
        raise load.BadFile(table.path, f"no value of {_SPEEDUP} to draw")
    panels = table.values(panel)
    values = curves.series_values(table, series)
    looks = style.looks(len(values))
    place = horizontal_axis.HorizontalAxis("batch", table)
    drawn, grid = layout.panels("double_column", len(panels), len(panels))
    for axes, name in zip(grid[0], panels):
        axes.set_title(style.plain(name))
        axes.axhspan(0, 1, color=style.SHADE, linewidth=0, zorder=0)
        axes.axhline(1, color=style.GREY, linewidth=0.8, linestyle=_EVEN, zorder=1)
        for value, look in zip(values, looks):
            rows = table.where(**{panel: name, series: value}).sorted_by("batch")
            curves.closed_form(axes, rows["batch"], rows[_SPEEDUP], look)
            axes.plot(rows["batch"], rows[_SPEEDUP], linestyle="none", color=look.color, marker=look.marker,
                      markersize=0.7 * style.MARKER_PT * look.scale, zorder=3)
        place.dress(axes, 0.8 * style.WIDTH_IN["double_column"] / len(panels))
    grid[0, 0].set_ylim(bottom=0)
    grid[0, 0].yaxis.set_major_locator(MaxNLocator(nbins=7, steps=[1, 2, 2.5, 5, 10]))
    layout.arrange(drawn, grid, 1.9, "batch size (sequences)", f"speedup over {baseline}", [
        layout.Legend([curves.series_handle(look) for look in looks], [style.value_text(value) for value in values],
                      title),
        layout.Legend([Patch(facecolor=style.SHADE, edgecolor=style.GREY, linewidth=0.6, linestyle=_EVEN)],
                      [f"slower than {baseline}"])])
    return drawn
