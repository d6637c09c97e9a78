# SPDX-License-Identifier: Apache-2.0
"""A server against its load: speedup, TPOT, TTFT and, with a price, cost, below each other; a line for each of at most
four draft lengths, and for no speculation except in the first panel."""

import numpy
from matplotlib.ticker import MaxNLocator

from . import curves, horizontal_axis, layout, load, style

ID = "load-curves"
_COST = "cost_per_million_output_tokens"
COLUMNS = {"load": load.AXIS, "unit": load.TEXT, "asked": load.TEXT, "gamma": load.AXIS, "speedup": load.NUMBER,
           "low": load.NUMBER, "high": load.NUMBER, "tpot_ms": load.NUMBER, "ttft_ms": load.NUMBER,
           _COST: load.NUMBER, "interval_level": load.NUMBER}
_ROWS = (("speedup", "speedup"), ("tpot_ms", "TPOT (ms)"), ("ttft_ms", "TTFT (ms)"), (_COST, "cost per 1M tokens"))
_MOST_LENGTHS = 4
_MOST_TICKS = 8
_TICKS_APART = 1.5
_ASKED = {"color": style.GREY, "linewidth": 0.8, "linestyle": (0, (1, 1.5)), "zorder": 1}


def figure(table):
    speculating = table.keep(table["gamma"] != 0)
    if not numpy.isfinite(speculating["speedup"]).any():
        raise load.BadFile(table.path, "no value of speedup to draw")
    gammas = curves.telling(speculating, "gamma", ("load",), _MOST_LENGTHS)
    looks = dict(zip([0, *gammas], style.looks(len(gammas) + 1)))
    rows = [(column, words) for column, words in _ROWS if numpy.isfinite(table[column]).any()]
    drawn, grid = layout.panels("single_column", len(rows), 1, rows_shared=False)
    for axes, (column, _) in zip(grid[:, 0], rows):
        for gamma, look in looks.items():
            if column != "speedup" or gamma != 0:
                part = table.where(gamma=gamma).sorted_by("load")
                curves.closed_form(axes, part["load"], part[column], look)
        for asked in table.where(asked="yes").values("load"):
            axes.axvline(asked, **_ASKED)
        if column != "speedup":
            axes.set_ylim(bottom=0)
    best = speculating.keep([gamma in gammas for gamma in speculating["gamma"]])
    best = best.keep(curves.fastest(best, "load"))
    for gamma in gammas:
        part = best.where(gamma=gamma)
        curves.simulated_range(grid[0, 0], part["load"], part["speedup"], part["low"], part["high"], looks[gamma])
    curves.break_even(grid[0, 0], [grid[0, 0]])
    loads = table.values("load")
    if all(float(value).is_integer() for value in loads):
        horizontal_axis.dress_counts(grid[0, 0], _ticks(loads))
    else:
        grid[0, 0].xaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 2.5, 5, 10]))
    level = table["interval_level"][0]
    bars = f" (bars: {100 * level:.0f} %, of the fastest)" if numpy.isfinite(best["low"]).any() else ""
    layout.arrange(drawn, grid, 1.15, f"{style.value_text(table['unit'][0])}{bars}", [words for _, words in rows], [
        layout.Legend([curves.line_handle(look) for look in looks.values()],
                      ["none", *(style.value_text(gamma) for gamma in gammas)],
                      curves.shown_words("draft length γ (tokens)", gammas, speculating, "gamma")),
        layout.Legend(*zip(curves.break_even_entry()))])
    return drawn


def _ticks(loads):
    """The loads whose labels do not overlap on a logarithmic axis, including the last one."""
    ticks = []
    for value in reversed(loads):
        if value > 0 and (not ticks or value <= ticks[-1] / _TICKS_APART):
            ticks.append(value)
    return curves.thinned(ticks[::-1], _MOST_TICKS)
