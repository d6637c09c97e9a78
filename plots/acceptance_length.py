# SPDX-License-Identifier: Apache-2.0
"""The acceptance length at every draft length, from the log of one: a curve with its 95 % interval, logged values as
points."""

import numpy
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from . import curves, layout, load, style

ID = "acceptance-length"
COLUMNS = {"gamma": load.AXIS, "tokens_per_iteration": load.NUMBER, "low": load.NUMBER, "high": load.NUMBER,
           "source": load.TEXT}
_SOURCES = ("observed", "fitted", "left_open")


def figure(table):
    _check(table)
    table = table.sorted_by("gamma")
    drawn, grid = layout.panels("single_column", 1, 1)
    axes = grid[0, 0]
    (look,) = style.looks(1)
    known = numpy.isfinite(table["low"]) & numpy.isfinite(table["high"])
    axes.fill_between(table["gamma"][known], table["low"][known], table["high"][known], color=style.DRAFT, alpha=0.5,
                      linewidth=0, zorder=1)
    curves.closed_form(axes, table["gamma"], table["tokens_per_iteration"], look)
    logged = table.where(source="observed")
    curves.simulated_range(axes, logged["gamma"], logged["tokens_per_iteration"], logged["low"], logged["high"], look)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=12))
    axes.set_ylim(bottom=1)
    entries = [(Patch(facecolor=style.DRAFT, alpha=0.5), "95 %")]
    if numpy.isfinite(table["tokens_per_iteration"]).any():
        entries.insert(0, (curves.line_handle(look), "acceptance model"))
    if len(logged):
        entries.insert(0, (curves.series_handle(look, line=False), "logged"))
    layout.arrange(drawn, grid, 1.9, "draft length γ (tokens)", "acceptance length (tokens per iteration)",
                   [layout.Legend(*zip(*entries))])
    return drawn


def _check(table):
    if not (numpy.isfinite(table["low"]) & numpy.isfinite(table["high"])).any():
        raise load.BadFile(table.path, "no value of low and high to draw")
    for source in table.values("source"):
        if source not in _SOURCES:
            raise load.BadFile(table.path, f"source: '{source}' (must be {', '.join(_SOURCES)})")
