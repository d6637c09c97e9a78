# SPDX-License-Identifier: Apache-2.0
"""The effect of temperature and truncation on acceptance: a row of panels for each pair of models, a column for the tokens kept.

A line for each choice of whose temperature varies; bars are over contexts.
"""

import numpy
from matplotlib.ticker import MaxNLocator

from . import curves, layout, load, style

ID = "sampling-acceptance"
_MOST_COLUMNS, _MOST_ROWS = 5, 6
_Y, _ERROR = "acceptance", "acceptance_standard_error"
COLUMNS = {"pair": load.TEXT, "kept": load.TEXT, "series": load.TEXT, "temperature": load.NUMBER, _Y: load.NUMBER,
           _ERROR: load.NUMBER}


def figure(table):
    if not numpy.isfinite(table[_Y]).any():
        raise load.BadFile(table.path, f"no value of {_Y} to draw")
    pairs, kept = table.values("pair"), table.values("kept")
    for many, most, what in ((pairs, _MOST_ROWS, "pairs of models"), (kept, _MOST_COLUMNS, "choices of kept tokens")):
        if len(many) > most:
            raise load.BadFile(table.path, f"{len(many)} {what}; one figure holds {most}")
    series = curves.series_values(table, "series")
    looks = style.looks(len(series))
    drawn, grid = layout.panels("double_column", len(pairs) * len(kept), len(kept))
    for (row, column), axes in numpy.ndenumerate(grid):
        if row == 0:
            axes.set_title(style.plain(kept[column]))
        for name, look in zip(series, looks):
            line = table.where(pair=pairs[row], kept=kept[column], series=name).sorted_by("temperature")
            curves.closed_form(axes, line["temperature"], line[_Y], look)
            curves.simulated(axes, line["temperature"], line[_Y], line[_ERROR], look)
    grid[0, 0].set_ylim(-0.03, 1.03)
    for axes in grid[:, 0]:
        axes.yaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10]))
    layout.arrange(drawn, grid, 1.3, "temperature", [f"{style.plain(pair)}: acceptance" for pair in pairs], [
        layout.Legend([curves.series_handle(look) for look in looks], [style.plain(name) for name in series])])
    return drawn
