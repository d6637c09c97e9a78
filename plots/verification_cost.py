# SPDX-License-Identifier: Apache-2.0
"""The time of a forward pass of the target against its tokens, relative to that of one token: a line for each batch, a
panel for each context. At the knee a forward pass takes 1.1 times as long as with one token."""

import numpy
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from . import curves, horizontal_axis, layout, load, origins, style

ID = "verification-cost"
COLUMNS = {"context": load.AXIS, "batch": load.AXIS, "tokens": load.NUMBER, "growth": load.NUMBER,
           "growth_spread": load.NUMBER, "knee_tokens": load.NUMBER, "knee_growth": load.NUMBER, **origins.COLUMNS}
_MOST_PANELS = 6
_MOST_BATCHES = 8
_ASIDE = 0.02  # of the width of a panel
_KNEE_LINE = {"color": style.GREY, "linewidth": 0.8, "linestyle": (0, (2, 1.5))}
_KNEE_MARK = {"marker": "o", "markersize": 6.5, "markerfacecolor": "none", "markeredgewidth": 0.8,
              "linestyle": "none"}


def figure(table):
    if not numpy.isfinite(table["growth"]).any():
        raise load.BadFile(table.path, "no value of growth to draw")
    origins.check(table)
    contexts = curves.thinned(table.values("context"), _MOST_PANELS)
    batches = curves.thinned(table.values("batch"), _MOST_BATCHES)
    looks = style.looks(len(batches))
    columns = min(3, len(contexts))
    drawn, grid = layout.panels("single_column" if len(contexts) == 1 else "double_column", len(contexts), columns)
    every = [axes for axes in grid.flat if axes is not None]
    knee_growth = table["knee_growth"][0]
    for axes, context in zip(every, contexts):
        axes.set_title(f"context {style.value_text(context)}")
        axes.axhline(knee_growth, zorder=1, **_KNEE_LINE)
        aside = numpy.linspace(-_ASIDE, _ASIDE, len(batches)) * (len(batches) > 1)
        for batch, look, step in zip(batches, looks, aside):
            rows = table.where(context=context, batch=batch).sorted_by("tokens")
            curves.closed_form(axes, rows["tokens"], rows["growth"], look)
            origins.points(axes, rows, rows["tokens"], rows["growth"], numpy.full(len(rows), numpy.nan), look.color,
                           size=2.4)
            _draw_interval(axes, rows, table["tokens"].max()**step, look.color)
            axes.plot(rows["knee_tokens"][:1], [knee_growth], markeredgecolor=style.INK, zorder=5, **_KNEE_MARK)
    _dress(every[0], table)
    key = [*origins.entries(table), (Line2D([], [], markeredgecolor=style.INK, **_KNEE_MARK),
                                     f"knee: {knee_growth:g} times the time of one token")]
    layout.arrange(drawn, grid, 2.1 if len(contexts) == 1 else 1.7, "tokens per sequence in one forward pass",
                   "time of a forward pass of the target over that of one token"
                   f" ({_bars(table)})", [
        layout.Legend([curves.line_handle(look) for look in looks],
                      [_label(table, contexts, batch) for batch in batches],
                      "batch size (sequences)" + (", its knee in tokens" if len(contexts) == 1 else "")),
        layout.Legend(*zip(*key))])
    return drawn


def _draw_interval(axes, rows, aside, color):
    """The interval of the last point, shifted by a factor: those of all points would overlap."""
    last = rows.keep(numpy.isfinite(rows["growth"]) & numpy.isfinite(rows["growth_spread"]))
    if len(last):
        growth, half = last["growth"][-1], last["growth_spread"][-1] * last["growth"][-1]
        axes.errorbar([last["tokens"][-1] * aside], [growth], yerr=[[min(half, growth)], [half]], linestyle="none",
                      color=color, elinewidth=0.8, capsize=1.1, zorder=3)


def _bars(table):
    words = origins.interval_words(table, "growth_spread")
    return f"{words}, of the last point" if numpy.isfinite(table["growth_spread"]).any() else words


def _label(table, contexts, batch):
    """The batch size, and its knee if the figure has one context only."""
    if len(contexts) > 1:
        return style.value_text(batch)
    rows = table.where(context=contexts[0], batch=batch)
    knee = rows["knee_tokens"][0]
    return f"{style.value_text(batch)}: " + (f"{knee:.3g}" if numpy.isfinite(knee)
                                             else f"above {rows['tokens'].max():g}")


def _dress(axes, table):
    horizontal_axis.dress_counts(axes, horizontal_axis.powers_of_two(1, table["tokens"].max(), 6))
    axes.set_yscale("log", base=2)
    highest = numpy.nanmax(table["growth"] * (1 + numpy.nan_to_num(table["growth_spread"])))
    axes.set_ylim(min(0.93, 0.97 * numpy.nanmin(table["growth"])), max(1.3, 1.1 * highest))
    axes.yaxis.set_major_locator(FixedLocator([1, 1.1, 1.25, 1.5, 2] if highest < 2.5
                                              else [1, 1.5, 2, 3, 4, 6] if highest < 8 else horizontal_axis.powers_of_two(1, highest, 6)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_locator(NullLocator())
