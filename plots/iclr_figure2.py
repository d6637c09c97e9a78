# SPDX-License-Identifier: Apache-2.0
"""Printed translation quality against printed speed; for SpecDec and its drafter also the speed that the module profile
predicts [Xia2022, Fig. 2]."""

import numpy
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from . import curves, layout, load, style

ID = "iclr-figure2"
COLUMNS = {"group": load.TEXT, "system": load.TEXT, "bleu": load.NUMBER, "printed_speedup": load.NUMBER,
           "predicted_speedup": load.NUMBER}


def figure(table):
    if not numpy.isfinite(table["printed_speedup"]).any():
        raise load.BadFile(table.path, "no value of printed_speedup to draw")
    drawn, grid = layout.panels("single_column", 1, 1)
    axes = grid[0, 0]
    groups = curves.series_values(table, "group")
    looks = style.looks(len(groups))
    for group, look in zip(groups, looks):
        rows = table.where(group=group)
        axes.plot(rows["printed_speedup"], rows["bleu"], linestyle="none", marker=look.marker, color=look.color,
                  markersize=style.MARKER_PT * look.scale + 0.8, markeredgecolor="white", markeredgewidth=0.25, zorder=3)
        for printed, predicted, bleu in zip(rows["printed_speedup"], rows["predicted_speedup"], rows["bleu"]):
            if numpy.isfinite(predicted):
                axes.plot([printed, predicted], [bleu, bleu], color=style.INK, linewidth=0.7, zorder=2)
                axes.plot([predicted], [bleu], marker="|", markersize=7, color=style.INK, zorder=4)
    axes.set_xlim(left=0)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=9, integer=True))
    handles = [Line2D([], [], linestyle="none", marker=look.marker, color=look.color,
                      markersize=style.MARKER_PT * look.scale + 0.8) for look in looks]
    ours = Line2D([], [], linestyle="none", marker="|", markersize=7, color=style.INK)
    layout.arrange(drawn, grid, 2.1, "speedup over beam search", "BLEU, EN-DE, as printed", [
        layout.Legend([*handles, ours], [*map(style.plain, groups), "predicted speed"])])
    return drawn
