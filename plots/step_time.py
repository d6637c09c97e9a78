# SPDX-License-Identifier: Apache-2.0
"""The time of a token and its parts: those of an iteration divided by its tokens, stacked, and autoregressive decoding.

A panel for each batch, at the first context; a bar for each draft length.
"""

import numpy
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, MaxNLocator

from . import curves, layout, load, origins, style

ID = "step-time"
# From the bottom of a bar to its top.
_PARTS = {"drafting_us": ("drafting", {"facecolor": style.DRAFT}),
          "verify_us": ("verification", {"facecolor": style.TARGET}),
          "sampling_us": ("sampling", {"facecolor": "white", "hatch": "//////"}),
          "overhead_us": ("overhead", {"facecolor": style.SHADE, "hatch": "......"})}
_PLAIN = {"facecolor": style.GREY}
_EDGE = {"edgecolor": style.INK, "linewidth": 0.4}
COLUMNS = {"context": load.AXIS, "batch": load.AXIS, "gamma": load.AXIS, "plain_us": load.NUMBER,
           "plain_sampling_us": load.NUMBER,
           **dict.fromkeys(_PARTS, load.NUMBER), "tokens_per_iteration": load.NUMBER, "speedup_spread": load.NUMBER,
           **origins.COLUMNS}
_MOST_PANELS = 8
_MOST_BARS = 12


def figure(table):
    if not numpy.isfinite(table["plain_us"]).any():
        raise load.BadFile(table.path, "no value of plain_us to draw")
    origins.check(table)
    context = table["context"][0]
    table = table.where(context=context)
    batches = curves.thinned(table.values("batch"), _MOST_PANELS)
    gammas = curves.thinned(table.values("gamma"), _MOST_BARS)
    width = "single_column" if len(batches) == 1 else "double_column"
    drawn, grid = layout.panels(width, len(batches), min(4, len(batches)) if len(batches) != 6 else 3)
    for axes, batch in zip((axes for axes in grid.flat if axes is not None), batches):
        rows = table.where(batch=batch)
        fastest = _draw_bars(axes, rows.keep([gamma in gammas for gamma in rows["gamma"]]).sorted_by("gamma"))
        axes.set_title(f"batch {style.value_text(batch)}, step {_plain_us(rows)[0] / 1e3:.3g} ms{fastest}")
    first = grid[0, 0]
    first.set_xlim(-0.7, len(gammas) + 0.7)
    first.set_ylim(0, 1.12 * max(1.0, first.get_ylim()[1] / 1.05))
    first.xaxis.set_major_locator(FixedLocator(range(len(gammas) + 1)))
    for axes in (axes for axes in grid.flat if axes is not None):
        axes.set_xticks(range(len(gammas) + 1), ["0", *map(style.value_text, gammas)])
        axes.grid(visible=False, axis="x")
    first.yaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 2.5, 5, 10]))
    used = [part for part in _PARTS if (table[part] > 0).any()]
    layout.arrange(drawn, grid, 2.0 if len(batches) == 1 else 1.5, "draft length γ (tokens); 0: autoregressive",
                   f"time per token (decode steps) at context {style.value_text(context)};"
                   f" {origins.interval_words(table, 'speedup_spread')}", [
        layout.Legend([Patch(**_PLAIN, **_EDGE), *(Patch(**_PARTS[part][1], **_EDGE) for part in used)],
                      ["decode step", *(_PARTS[part][0] for part in used)]),
        layout.Legend(*zip(*origins.entries(table)))])
    return drawn


def _plain_us(rows):
    """The time of a token of autoregressive decoding."""
    return rows["plain_us"] + rows["plain_sampling_us"]


def _draw_bars(axes, rows):
    """Autoregressive decoding at 0, then one bar for each draft length; returns the fastest and its speedup as text,
    none if all lose."""
    axes.axhline(1, color=style.GREY, linewidth=0.8, linestyle=(0, (2, 1.5)), zorder=1)
    axes.bar([0], [1], width=0.75, zorder=2, **_PLAIN, **_EDGE)
    x = numpy.arange(1, len(rows) + 1)
    bottom = numpy.zeros(len(rows))
    for part, (_, look) in _PARTS.items():
        height = rows[part] / (rows["tokens_per_iteration"] * _plain_us(rows))
        axes.bar(x, height, bottom=bottom, width=0.75, zorder=2, **look, **_EDGE)
        bottom += height
    origins.points(axes, rows, x, bottom, rows["speedup_spread"], style.INK, size=2.6)
    best = int(numpy.nanargmin(bottom))
    return f": {1 / bottom[best]:.2f}× at γ = {style.value_text(rows['gamma'][best])}" if bottom[best] < 1 else ""
