# SPDX-License-Identifier: Apache-2.0
"""The figure of a sweep: one quantity against one axis, a series for each value of a second, a panel for a third; or
against another quantity (trade_off).

<id>.figure.json names them and has their labels; <id>.csv holds the axes and for each quantity `analytic_<y>`,
`simulated_<y>`, `simulated_<y>_standard_error`.
"""

import numpy
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from . import curves, figure_specification, horizontal_axis, layout, load, style, sweep_panels, trade_off

# The quantities whose best point is marked, against an axis that a user can choose (alpha, c and the operations ratio
# are given by the models).
_BEST = {"speedup"}
_GIVEN = {"alpha", "c", "operations_ratio"}
_BREAK_EVEN = {"speedup": 1.0, "best_speedup": 1.0}


def read(directory, figure_id):
    """Figure `figure_id` of a results directory."""
    spec = figure_specification.read(directory / f"{figure_id}.figure.json")
    return figure(spec, data(directory, spec))


def data(directory, spec):
    """The table of `spec`."""
    numbers = [form.format(name) for name in figure_specification.quantities(spec)
               for form in ("analytic_{}", "simulated_{}", "simulated_{}_standard_error")]
    return load.table(directory / f"{spec['id']}.csv", {**dict.fromkeys(figure_specification.axes(spec), load.AXIS),
                                                        **dict.fromkeys(numbers, load.NUMBER)})


def figure(spec, table):
    """The figure of `table` for `spec`."""
    if spec.get("along"):
        return trade_off.figure(spec, table)
    analytic, mean = table[f"analytic_{spec['y']}"], table[f"simulated_{spec['y']}"]
    if not (numpy.isfinite(analytic).any() or numpy.isfinite(mean).any()):
        raise load.BadFile(table.path, f"no value of {spec['y']} to draw")
    panel_values = sweep_panels.values(table, spec["panel"], sweep_panels.MAX_PANELS, "panels")
    series_values = sweep_panels.values(table, spec["series"], style.MAX_SERIES, "series")
    sweep_panels.reject_ambiguous(spec, table)
    place = horizontal_axis.HorizontalAxis(spec["x"], table)
    columns = sweep_panels.columns(spec["width"], len(panel_values))
    panel_width_in = 0.8 * style.WIDTH_IN[spec["width"]] / columns  # accurate enough for the size of markers and texts
    drawn, grid = layout.panels(spec["width"], len(panel_values), columns)
    size = curves.marker_size(len(place.values), panel_width_in)
    simulated_only = not numpy.isfinite(analytic).any()
    series_looks = style.looks(len(series_values))
    best_kinds = set()
    for axes, panel in zip((a for a in grid.flat if a is not None), panel_values):
        part = table if spec["panel"] is None else table.where(**{spec["panel"]: panel})
        if spec["panel"] is not None:
            axes.set_title(sweep_panels.title(spec, spec["panel"], panel))
        for index, (value, look) in enumerate(zip(series_values, series_looks)):
            rows = part if spec["series"] is None else part.where(**{spec["series"]: value})
            if len(rows):
                aside = (index + 0.5) / len(series_values) - 0.5
                best_kinds |= _draw_series(axes, spec["y"], place, rows, look, size, aside, simulated_only)
        place.dress(axes, panel_width_in)
    _dress_vertical(spec, grid[0, 0], [a for a in grid.flat if a is not None])
    layout.arrange(drawn, grid, sweep_panels.panel_height(spec["width"], len(panel_values)),
                   sweep_panels.label(spec, spec["x"]), sweep_panels.label(spec, spec["y"]),
                   _legends(spec, grid[0, 0], table, series_values, series_looks, best_kinds, not place.words))
    return drawn


def _draw_series(axes, y, place, rows, look, size, aside, simulated_only):
    """Draws one series of one panel; returns the kinds of best points that it marked. A line is the closed form or, in
    a figure without one, joins the simulated points."""
    rows = rows if place.words else rows.sorted_by(place.column)
    x, analytic, mean = place.of(rows, aside), rows[f"analytic_{y}"], rows[f"simulated_{y}"]
    if place.words or numpy.isfinite(analytic).sum() == 1:  # words have no order
        axes.plot(x, analytic, color=look.color, linestyle="none", marker="_", markersize=9, markeredgewidth=1.1,
                  zorder=2)
    else:
        curves.closed_form(axes, x, mean if simulated_only else analytic, look)
    curves.simulated(axes, x, mean, rows[f"simulated_{y}_standard_error"], look, size)
    if y not in _BEST or place.column in _GIVEN or place.words:
        return set()
    values = numpy.where(numpy.isfinite(x), analytic if numpy.isfinite(analytic).any() else mean, numpy.nan)
    if numpy.isfinite(values).sum() < 2:
        return set()
    best = int(numpy.nanargmax(values))
    kind = "best, end of the axis" if best == len(x) - 1 else "best"
    axes.plot(x[best], values[best], zorder=4, **_BEST_MARKS[kind])
    return {kind}


_BEST_MARKS = {
    "best": {"marker": "o", "markersize": 6.5, "markerfacecolor": "none", "markeredgecolor": style.INK,
             "markeredgewidth": 0.8, "linestyle": "none"},
    "best, end of the axis": {"marker": "s", "markersize": 6.5, "markerfacecolor": "none",
                              "markeredgecolor": style.INK, "markeredgewidth": 0.8, "linestyle": "none"},
}


def _dress_vertical(spec, first, every):
    even = _BREAK_EVEN.get(spec["y"])
    if even is not None:
        curves.break_even(first, every, even)
    first.yaxis.set_major_locator(MaxNLocator(nbins=7, steps=[1, 2, 2.5, 5, 10]))
    for number, mark in enumerate(spec.get("marks") or []):
        for axes in every:
            line = axes.axvline if "x" in mark else axes.axhline
            line(mark.get("x", mark.get("y")), **_mark_look(number))


def _mark_look(number):
    return {"color": style.INK, "linewidth": 0.7, "linestyle": style.DASHES[(number + 1) % len(style.DASHES)],
            "zorder": 1}


def _legends(spec, axes, table, series_values, series_looks, best_kinds, lines):
    legends = []
    if spec["series"] is not None:
        legends.append(layout.Legend([curves.series_handle(look, line=lines) for look in series_looks],
                                     [style.value_text(value) for value in series_values],
                                     title=sweep_panels.legend_title(spec, spec["series"])))
    key = []
    if numpy.isfinite(table[f"analytic_{spec['y']}"]).any():
        key.append((curves.closed_form_handle(), "closed form"))
    if numpy.isfinite(table[f"simulated_{spec['y']}"]).any():
        key.append((curves.simulated_handle(axes), "simulated, 95 %"))
    key += [(Line2D([], [], **_BEST_MARKS[kind]), kind) for kind in sorted(best_kinds)]
    if spec["y"] in _BREAK_EVEN:
        key.append(curves.break_even_entry())
    key += [(Line2D([], [], **_mark_look(number)), style.plain(mark["text"]))
            for number, mark in enumerate(spec.get("marks") or [])]
    legends.append(layout.Legend([handle for handle, _ in key], [text for _, text in key]))
    return legends
