# SPDX-License-Identifier: Apache-2.0
"""The predicted speedup against the batch size: a line for each draft length, a panel for each context. For a single
batch size: against the draft length, a line for each context."""

import numpy
from matplotlib.ticker import MaxNLocator

from . import curves, horizontal_axis, layout, load, origins, style

ID = "batch-speedup"
COLUMNS = {"context": load.AXIS, "batch": load.AXIS, "gamma": load.AXIS, "speedup": load.NUMBER,
           "speedup_spread": load.NUMBER, **origins.COLUMNS}
_MOST_PANELS = 6
_MOST_SERIES = 5
_MOST_BARRED = 4  # series whose bars fit side by side
_ASIDE = 0.12  # octaves or draft lengths


def figure(table):
    if not numpy.isfinite(table["speedup"]).any():
        raise load.BadFile(table.path, "no value of speedup to draw")
    origins.check(table)
    one_batch = len(table.values("batch")) == 1
    x, series, panel = ("gamma", "context", "batch") if one_batch else ("batch", "gamma", "context")
    panels = curves.thinned(table.values(panel), _MOST_PANELS)
    lines = curves.telling(table, series, ("batch", "context") if series == "gamma" else ("gamma",), _MOST_SERIES)
    looks = style.looks(len(lines))
    # The bars of the lines are side by side.
    known = numpy.isfinite(table["speedup_spread"]).any()
    aside = numpy.linspace(-_ASIDE, _ASIDE, len(lines)) * (known and len(lines) > 1)
    width = "single_column" if len(panels) == 1 else "double_column"
    columns = min(3, len(panels))
    drawn, grid = layout.panels(width, len(panels), columns)
    every = [axes for axes in grid.flat if axes is not None]
    panel_width_in = 0.8 * style.WIDTH_IN[width] / columns
    places = table.values(x)
    size = curves.marker_size(len(places), panel_width_in)
    for axes, value in zip(every, panels):
        axes.set_title(f"{panel} {style.value_text(value)}")
        rows = table.where(**{panel: value})
        rows = rows.keep([line in lines for line in rows[series]])
        spread = rows["speedup_spread"]
        if len(lines) > _MOST_BARRED:  # the bars of others would overlap
            spread = numpy.where(curves.fastest(rows, x), spread, numpy.nan)
        for line, look, step in zip(lines, looks, aside):
            own = rows[series] == line
            part = rows.keep(own)
            at = part[x] + step if one_batch else part[x] * 2**step
            order = numpy.argsort(at)
            curves.closed_form(axes, at[order], part["speedup"][order], look)
            origins.points(axes, part, at, part["speedup"], spread[own], look.color, size)
    curves.break_even(every[0], every)
    if one_batch:
        every[0].xaxis.set_major_locator(MaxNLocator(nbins=12, integer=True))
    else:
        horizontal_axis.dress_counts(every[0], curves.thinned(places, int(panel_width_in / 0.25)))
    key = [*origins.entries(table), curves.break_even_entry()]
    bars = origins.interval_words(table, "speedup_spread")
    bars += ", of the fastest" if known and len(lines) > _MOST_BARRED else ""
    layout.arrange(drawn, grid, 2.1 if len(panels) == 1 else 1.7, _WORDS[x],
                   f"predicted speedup over autoregressive decoding ({bars})", [
        layout.Legend([curves.line_handle(look) for look in looks], [style.value_text(line) for line in lines],
                      curves.shown_words(_WORDS[series], lines, table, series)),
        layout.Legend(*zip(*key))])
    return drawn


_WORDS = {"batch": "batch size (sequences)", "gamma": "draft length γ (tokens)", "context": "context length (tokens)"}
