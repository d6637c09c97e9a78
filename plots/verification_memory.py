# SPDX-License-Identifier: Apache-2.0
"""The memory of one verification call against draft length: a panel for each pair of networks, a line for each
variant."""

import numpy
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from . import curves, layout, load, style

_PEAK, _LOGITS = "analytic_peak_mb", "analytic_logits_mb"
_GIVEN = {"color": style.GREY, "linewidth": 0.7}
COLUMNS = {"pair": load.TEXT, "variant": load.TEXT, "gamma": load.NUMBER, _LOGITS: load.NUMBER, _PEAK: load.NUMBER}


def figure(table):
    """The peak memory of each variant in addition to the logits, which are inputs of all variants."""
    if not numpy.isfinite(table[_PEAK]).any():
        raise load.BadFile(table.path, f"no value of {_PEAK} to draw")
    pairs = table.values("pair")
    variants = curves.series_values(table, "variant")
    looks = style.looks(len(variants))
    drawn, grid = layout.panels("single_column", len(pairs), 1, rows_shared=False)
    for axes, pair in zip(grid.flat, pairs):
        axes.set_title(style.plain(pair))
        for variant, look in zip(variants, looks):
            rows = table.where(pair=pair, variant=variant).sorted_by("gamma")
            curves.closed_form(axes, rows["gamma"], rows[_PEAK], look)
        axes.plot(rows["gamma"], rows[_LOGITS], zorder=1, **_GIVEN)
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_locator(MaxNLocator(nbins=4, steps=[1, 2, 2.5, 5, 10]))
    axes.set_xlim(left=0)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    handles = [Line2D([], [], color=look.color, linestyle=look.dash) for look in looks]
    layout.arrange(drawn, grid, 1.05, "draft length γ (tokens)",
                   "memory of one verification call (MB): counted, not measured", [
        layout.Legend([*handles, Line2D([], [], **_GIVEN)], [*(style.plain(name.replace("_", " ")) for name in variants), "logits only"])])
    return drawn
