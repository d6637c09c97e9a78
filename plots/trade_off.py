# SPDX-License-Identifier: Apache-2.0
"""One quantity of a sweep against another, such as latency against throughput: the points of a series are joined in the
order of an axis, which is not drawn itself."""

import numpy
from matplotlib.ticker import MaxNLocator

from . import curves, layout, load, style, sweep_panels

_LOGARITHMIC_FROM = 30  # of the largest value to the smallest


def figure(spec, table):
    for quantity in (spec["x"], spec["y"]):
        if not (numpy.isfinite(table[f"analytic_{quantity}"]).any()
                or numpy.isfinite(table[f"simulated_{quantity}"]).any()):
            raise load.BadFile(table.path, f"no value of {quantity} to draw")
    panels = sweep_panels.values(table, spec["panel"], sweep_panels.MAX_PANELS, "panels")
    series = sweep_panels.values(table, spec["series"], style.MAX_SERIES, "series")
    sweep_panels.reject_ambiguous(spec, table)
    drawn, grid = layout.panels(spec["width"], len(panels), sweep_panels.columns(spec["width"], len(panels)))
    looks = style.looks(len(series))
    for axes, panel in zip((a for a in grid.flat if a is not None), panels):
        part = table if spec["panel"] is None else table.where(**{spec["panel"]: panel})
        if spec["panel"] is not None:
            axes.set_title(sweep_panels.title(spec, spec["panel"], panel))
        for value, look in zip(series, looks):
            rows = part if spec["series"] is None else part.where(**{spec["series"]: value})
            if len(rows):
                _draw_series(axes, spec, rows.sorted_by(spec["along"]), look)
    _settle(grid[0, 0], table, spec)
    layout.arrange(drawn, grid, sweep_panels.panel_height(spec["width"], len(panels)),
                   sweep_panels.label(spec, spec["x"]), sweep_panels.label(spec, spec["y"]),
                   _legends(spec, grid[0, 0], table, series, looks))
    return drawn


def _draw_series(axes, spec, rows, look):
    """A closed form is a line; without one, simulated points are joined, with bars in both directions."""
    form = rows[f"analytic_{spec['x']}"], rows[f"analytic_{spec['y']}"]
    x, y = rows[f"simulated_{spec['x']}"], rows[f"simulated_{spec['y']}"]
    known = numpy.isfinite(form[0]) & numpy.isfinite(form[1])
    curves.closed_form(axes, *(form if known.any() else (x, y)), look)
    curves.simulated_both(axes, x, y, rows[f"simulated_{spec['x']}_standard_error"],
                          rows[f"simulated_{spec['y']}_standard_error"], look)


def _settle(axes, table, spec):
    for quantity, set_scale, axis, set_limit in (
            (spec["x"], axes.set_xscale, axes.xaxis, lambda: axes.set_xlim(left=0)),
            (spec["y"], axes.set_yscale, axes.yaxis, lambda: axes.set_ylim(bottom=0))):
        values = numpy.concatenate([table[f"analytic_{quantity}"], table[f"simulated_{quantity}"]])
        values = values[numpy.isfinite(values)]
        if values.min() > 0 and values.max() / values.min() >= _LOGARITHMIC_FROM:
            set_scale("log")
            curves.decimal_ticks(axis)
        else:
            set_limit()
            axis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 2.5, 5, 10]))


def _legends(spec, axes, table, series, looks):
    legends = []
    if spec["series"] is not None:
        legends.append(layout.Legend([curves.series_handle(look) for look in looks],
                                     [style.value_text(value) for value in series],
                                     sweep_panels.legend_title(spec, spec["series"])))
    ends = table.values(spec["along"])
    along = f"{sweep_panels.label(spec, spec['along'])}: {', '.join(map(style.value_text, ends))}"
    simulated = numpy.isfinite(table[f"simulated_{spec['y']}"]).any()
    handle = curves.simulated_handle(axes) if simulated else curves.closed_form_handle()
    legends.append(layout.Legend([handle], [("simulated, 95 %; " if simulated else "closed form; ") + along]))
    return legends
