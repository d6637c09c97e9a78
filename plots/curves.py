# SPDX-License-Identifier: Apache-2.0
"""Shared by all figures: a closed form is a line, a simulation is points with 95 % error bars on top of it."""

import collections

import numpy
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from . import layout, load, style

Z_95 = 1.96
_EDGE = {"markeredgecolor": "white", "markeredgewidth": 0.25}
_BARS = {"elinewidth": 0.8, "capthick": 0.8, **_EDGE}


def closed_form(axes, x, y, look, steps=False):
    """The line of one series; cells that are not finite are omitted."""
    known = numpy.isfinite(x) & numpy.isfinite(y)
    axes.plot(x[known], y[known], color=look.color, linestyle=look.dash, zorder=2,
              drawstyle="steps-mid" if steps else "default")


def simulated(axes, x, y, standard_error, look, size=style.MARKER_PT):
    """The points of one series with 1.96 standard errors to each side; a point without an error has no bar."""
    known = numpy.isfinite(x) & numpy.isfinite(y)
    half = Z_95 * numpy.where(numpy.isfinite(standard_error), standard_error, 0.0)[known]
    _points(axes, x[known], y[known], half, look, size)


def simulated_both(axes, x, y, x_standard_error, y_standard_error, look):
    """The points of one series with 1.96 standard errors to each side along both axes."""
    known = numpy.isfinite(x) & numpy.isfinite(y)
    half = [Z_95 * numpy.where(numpy.isfinite(error), error, 0.0)[known]
            for error in (x_standard_error, y_standard_error)]
    if known.any():
        axes.errorbar(x[known], y[known], xerr=half[0], yerr=half[1], marker=look.marker, linestyle="none",
                      color=look.color, markersize=style.MARKER_PT * look.scale,
                      capsize=0.45 * style.MARKER_PT, zorder=3, **_BARS)


def simulated_range(axes, x, y, low, high, look, size=style.MARKER_PT):
    """The points of one series with whiskers from `low` to `high`."""
    known = numpy.isfinite(y) & numpy.isfinite(low) & numpy.isfinite(high)
    whiskers = numpy.maximum(0.0, numpy.array([(y - low)[known], (high - y)[known]]))
    _points(axes, x[known], y[known], whiskers, look, size)


def _points(axes, x, y, error, look, size):
    if len(x) == 0:
        return
    axes.errorbar(x, y, yerr=error, marker=look.marker, linestyle="none", color=look.color,
                  markersize=size * look.scale, capsize=0.45 * size, zorder=3, **_BARS)


def marker_size(points, panel_width_in):
    """Marker size in points: smaller if one panel has many `points`, so that they stay separate."""
    return float(numpy.clip(panel_width_in * 72 / max(1, points) / 1.6, 1.4, style.MARKER_PT))


def series_handle(look, line=True):
    """The legend entry of one series."""
    return Line2D([], [], color=look.color, linestyle=look.dash if line else "none", marker=look.marker,
                  markersize=style.MARKER_PT * look.scale + 0.4, **_EDGE)


def line_handle(look):
    """The legend entry of a series whose markers have another meaning."""
    return Line2D([], [], color=look.color, linestyle=look.dash)


def closed_form_handle(dash=(0, ())):
    """The legend entry that explains lines."""
    return Line2D([], [], color=style.GREY, linestyle=dash)


def simulated_handle(axes):
    """The legend entry that explains points with bars."""
    return axes.errorbar([], [], yerr=[], fmt="o", color=style.GREY, markersize=style.MARKER_PT, capsize=1.4, **_BARS)


def series_values(table, column):
    """The values of the series axis, rejected if there are more than one figure can distinguish."""
    values = table.values(column)
    if len(values) > style.MAX_SERIES:
        raise load.BadFile(table.path, f"{column} has {len(values)} values; a readable figure takes at most "
                                       f"{style.MAX_SERIES} series")
    return values


def thinned(values, max_count):
    """At most `max_count` of the values, evenly picked, including the first and the last."""
    if len(values) <= max_count:
        return values
    return [values[i] for i in numpy.linspace(0, len(values) - 1, max_count).round().astype(int)]


def fastest(table, *place):
    """For each row, whether it has the maximum speedup at its values of the columns `place`."""
    best = {}
    for row, (speedup, *at) in enumerate(zip(*(table[column].tolist() for column in ("speedup", *place)))):
        if numpy.isfinite(speedup) and (tuple(at) not in best or speedup > table["speedup"][best[tuple(at)]]):
            best[tuple(at)] = row
    return numpy.isin(numpy.arange(len(table)), list(best.values()))


def telling(table, series, place, max_count):
    """The values of `series`, ascending, that a figure shows if it cannot show all: those that are fastest at the
    largest number of values of the columns `place`, and evenly picked others."""
    wins = collections.Counter(table[series][fastest(table, *place)].tolist())
    chosen = sorted(sorted(wins), key=wins.get, reverse=True)[:max_count - 1]
    others = [entry for entry in table.values(series) if entry not in chosen]
    return sorted([*chosen, *thinned(others, max_count - len(chosen))])


def shown_words(words, shown, table, series):
    """`words`, and how many of the values of `series` are shown, if not all."""
    count = len(table.values(series))
    return words if len(shown) == count else f"{words}: {len(shown)} of {count}"


def decimal_ticks(axis):
    """Ticks of a logarithmic axis in decimals, fewer per decade if there are more decades."""
    low, high = axis.get_view_interval()
    decades = numpy.log10(high / low)
    axis.set_major_locator(LogLocator(subs=(1, 3) if decades < 2.5 else (1,)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())


def break_even(first, every, even=1.0):
    """Shades the area below break-even in panels that share the vertical axis of `first`, which is extended to include
    it."""
    first.margins(y=0)
    low, high = min(first.get_ylim()[0], even), max(first.get_ylim()[1], even)
    low, high = low - 0.06 * (high - low), high + 0.06 * (high - low)
    first.set_ylim(low, high)
    for axes in every:
        shade_losses(axes, low, even)


def shade_losses(axes, low, even=1.0, upright=False):
    """Shades one panel from `low` to break-even, along the vertical axis or, `upright`, along the other."""
    span, line = (axes.axvspan, axes.axvline) if upright else (axes.axhspan, axes.axhline)
    span(low, even, color=style.SHADE, linewidth=0, zorder=0)
    line(even, zorder=1, **_BREAK_EVEN)


def break_even_entry():
    """The legend entry of the shaded area, and its text."""
    return (Patch(facecolor=style.SHADE, edgecolor=style.GREY, linewidth=0.6, linestyle=_BREAK_EVEN["linestyle"]),
            "slower than autoregressive decoding")


_BREAK_EVEN = {"color": style.GREY, "linewidth": 0.8, "linestyle": (0, (2, 1.5))}


def families(axes, table, series, x, y, title):
    """Draws analytic_<y> and simulated_<y> against `x` for every value of `series`; returns the two legends, the first
    under `title`."""
    values = series_values(table, series)
    looks = style.looks(len(values))
    for value, look in zip(values, looks):
        rows = table.where(**{series: value}).sorted_by(x)
        closed_form(axes, rows[x], rows[f"analytic_{y}"], look)
        simulated(axes, rows[x], rows[f"simulated_{y}"], rows[f"simulated_{y}_standard_error"], look)
    return [
        layout.Legend([series_handle(look) for look in looks], [style.value_text(value) for value in values], title),
        layout.Legend([closed_form_handle(), simulated_handle(axes)], ["closed form", "simulated, 95 %"]),
    ]


def highest(table, y, path):
    """The largest finite value of analytic_<y> and simulated_<y>; an error if there is none."""
    values = numpy.concatenate([table[f"analytic_{y}"], table[f"simulated_{y}"]])
    values = values[numpy.isfinite(values)]
    if len(values) == 0:
        raise load.BadFile(path, f"no value of {y} to draw")
    return float(values.max())
