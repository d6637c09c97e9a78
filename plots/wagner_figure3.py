# SPDX-License-Identifier: Apache-2.0
"""The counted time of one verification call against draft length [Wagner2024]: above the time, below the bytes that are
part of it. A column of panels for each pair of networks, a line for each variant."""

import numpy
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from . import curves, layout, load, style

ID = "wagner-figure3"
_TIME, _BYTES, _LAUNCHES = "counted_call_us", "counted_moved_mb", "counted_launches"
COLUMNS = {"pair": load.TEXT, "variant": load.TEXT, "gamma": load.NUMBER, _TIME: load.NUMBER, _BYTES: load.NUMBER,
           _LAUNCHES: load.NUMBER}


def figure(table):
    if not numpy.isfinite(table[_TIME]).any():
        raise load.BadFile(table.path, f"no value of {_TIME} to draw")
    pairs = table.values("pair")
    variants = curves.series_values(table, "variant")
    looks = style.looks(len(variants))
    drawn, grid = layout.panels("double_column", 2 * len(pairs), len(pairs), rows_shared=False)
    for column, pair in enumerate(pairs):
        grid[0, column].set_title(style.plain(pair))
        for variant, look in zip(variants, looks):
            rows = table.where(pair=pair, variant=variant).sorted_by("gamma")
            for axes, value in zip(grid[:, column], (_TIME, _BYTES)):
                curves.closed_form(axes, rows["gamma"], rows[value], look)
    for axes in grid[:, 0]:
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10]))
    grid[0, 0].set_xlim(left=0)
    grid[0, 0].xaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))
    layout.arrange(drawn, grid, 1.35, "draft length γ (tokens)", ["time of one call (µs), counted", "bytes moved (MB)"], [
        layout.Legend([Line2D([], [], color=look.color, linestyle=look.dash) for look in looks],
                      [_label(table, variant) for variant in variants])])
    return drawn


def _label(table, variant):
    launches = table.where(variant=variant)[_LAUNCHES].max()
    return f"{style.plain(variant).replace('_', ' ')}, {launches:.0f} launch{'es' if launches > 1 else ''}"
