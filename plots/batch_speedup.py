# SPDX-License-Identifier: Apache-2.0
"""The predicted speedup against the batch: a line for each draft length, a panel for each context."""

import numpy

import curves
import horizontal_axis
import layout
import load
import origins
import style

ID = "batch-speedup"
COLUMNS = {"context": load.AXIS, "batch": load.AXIS, "gamma": load.AXIS, "speedup": load.NUMBER,
           "speedup_spread": load.NUMBER, **origins.COLUMNS}
_MOST_PANELS = 6
_MOST_LENGTHS = 8
_ASIDE = 0.12  # octaves


def draw(directory):
    return style.save(figure(load.table(directory / f"{ID}.csv", COLUMNS)), directory / ID)


def figure(table):
    if not numpy.isfinite(table["speedup"]).any():
        raise load.BadFile(table.path, "no value of speedup to draw")
    origins.check(table)
    contexts = curves.thinned(table.values("context"), _MOST_PANELS)
    gammas = curves.thinned(table.values("gamma"), _MOST_LENGTHS)
    looks = style.looks(len(gammas))
    batches = table.values("batch")
    # Bars of the draft lengths stand side by side.
    known = numpy.isfinite(table["speedup_spread"]).any()
    aside = numpy.linspace(-_ASIDE, _ASIDE, len(gammas)) * known
    width = "single_column" if len(contexts) == 1 else "double_column"
    columns = min(3, len(contexts))
    drawn, grid = layout.panels(width, len(contexts), columns)
    every = [axes for axes in grid.flat if axes is not None]
    panel_width_in = 0.8 * style.WIDTH_IN[width] / columns
    size = curves.marker_size(len(batches), panel_width_in)
    for axes, context in zip(every, contexts):
        axes.set_title(f"context {style.value_text(context)}")
        for gamma, look, octaves in zip(gammas, looks, aside):
            rows = table.where(context=context, gamma=gamma).sorted_by("batch")
            x = rows["batch"] * 2**octaves
            curves.closed_form(axes, x, rows["speedup"], look)
            origins.points(axes, rows, x, rows["speedup"], rows["speedup_spread"], look.color, size)
    curves.break_even(every[0], every)
    horizontal_axis.dress_counts(every[0], curves.thinned(batches, int(panel_width_in / 0.25)))
    key = [*origins.entries(table), curves.break_even_entry()]
    layout.arrange(drawn, grid, 2.1 if len(contexts) == 1 else 1.7, "batch (sequences at once)",
                   f"predicted speedup over plain decoding ({origins.interval_words(table, 'speedup_spread')})", [
        layout.Legend([curves.line_handle(look) for look in looks], [style.value_text(gamma) for gamma in gammas],
                      "draft length γ (tokens)"),
        layout.Legend(*zip(*key))])
    return drawn
