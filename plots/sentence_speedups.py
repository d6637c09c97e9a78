# SPDX-License-Identifier: Apache-2.0
"""The distribution of the speedup over sentences: a histogram for each population of sentences, simulated."""

import numpy
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from . import curves, layout, load, style

_SHARE = "simulated_share"
COLUMNS = {"population": load.TEXT, "speedup_low": load.NUMBER, "speedup_high": load.NUMBER, _SHARE: load.NUMBER,
           f"{_SHARE}_standard_error": load.NUMBER}
# The range of most sentences in both papers.
CLAIMED = (3, 7)


def figure(table):
    if not numpy.isfinite(table[_SHARE]).any():
        raise load.BadFile(table.path, f"no value of {_SHARE} to draw")
    drawn, grid = layout.panels("single_column", 1, 1)
    axes = grid[0, 0]
    populations = curves.series_values(table, "population")
    looks = style.looks(len(populations) + 1)[:-1]  # without the lightest, which is hardly visible as a line
    axes.axvspan(*CLAIMED, color=style.SHADE, linewidth=0, zorder=0)
    for place, (population, look) in enumerate(zip(populations, looks)):
        rows = table.where(population=population).sorted_by("speedup_low")
        shares = 100 * rows[_SHARE]
        edges = numpy.append(rows["speedup_low"], rows["speedup_high"][-1])
        axes.stairs(shares, edges, color=look.color, linestyle=look.dash, linewidth=style.LINE_PT, zorder=2)
        # Bars of the populations are side by side.
        width = rows["speedup_high"] - rows["speedup_low"]
        centre = rows["speedup_low"] + width * (place + 1) / (len(populations) + 1)
        axes.errorbar(centre, shares, yerr=100 * curves.Z_95 * rows[f"{_SHARE}_standard_error"], fmt="none",
                      color=look.color, elinewidth=0.7, zorder=3)
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=9, integer=True))
    handles = [Line2D([], [], color=look.color, linestyle=look.dash) for look in looks]
    handles.append(Patch(facecolor=style.SHADE, linewidth=0))
    layout.arrange(drawn, grid, 1.9, "speedup of a sentence", "share of sentences (%)", [
        layout.Legend(handles, [*map(style.plain, populations), f"{CLAIMED[0]}x to {CLAIMED[1]}x"])])
    return drawn
