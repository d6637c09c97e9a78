# SPDX-License-Identifier: Apache-2.0
"""The origin of a predicted time: a marker for each origin, whiskers if the interval is known."""

import numpy
from matplotlib.lines import Line2D

from . import load, style

COLUMNS = {"origin": load.TEXT, "inside_domain": load.TEXT, "interval_level": load.NUMBER}

# Outline, and whether it is filled; the most reliable first.
_MARKS = {"measured": ("o", True), "interpolated": ("o", False), "fitted": ("s", False), "roofline": ("D", False)}
_OUTSIDE = "x"


def check(table):
    """Rejects origins that no prediction has."""
    for column, known in (("origin", _MARKS), ("inside_domain", ("yes", "no"))):
        unknown = [word for word in table.values(column) if word not in known]
        if unknown:
            raise load.BadFile(table.path, f"{column}: '{unknown[0]}' (must be {', '.join(known)})")


def points(axes, rows, x, y, spread, color, size=style.MARKER_PT):
    """Markers of the rows by origin, with whiskers of relative size `spread` to each side if it is known, not below
    0."""
    half = numpy.where(numpy.isfinite(spread), spread, 0.0) * y
    for origin in _MARKS:
        own = rows["origin"] == origin
        if own.any():
            axes.errorbar(x[own], y[own], yerr=[numpy.minimum(half, y)[own], half[own]], elinewidth=0.8, capsize=0.45 * size, zorder=3,
                          **_look(origin, color, size))
    outside = rows["inside_domain"] == "no"
    axes.plot(x[outside], y[outside], linestyle="none", marker=_OUTSIDE, color=color, markersize=1.9 * size,
              markeredgewidth=0.8, zorder=4)


def entries(table):
    """Legend entries of the origins in `table`."""
    found = [(Line2D([], [], **_look(origin, style.GREY, style.MARKER_PT)), origin) for origin in _MARKS
             if origin in table["origin"]]
    if "no" in table["inside_domain"]:
        found.append((Line2D([], [], linestyle="none", marker=_OUTSIDE, color=style.GREY,
                             markersize=1.9 * style.MARKER_PT, markeredgewidth=0.8), "outside the domain of the fit"))
    return found


def interval_words(table, spread):
    """Words about the whiskers of the column `spread`, or that no intervals are known."""
    level = table["interval_level"][0]
    known = numpy.isfinite(table[spread]).any() and numpy.isfinite(level)
    return f"bars: {100 * level:.0f} %" if known else "no intervals known"


def _look(origin, color, size):
    marker, filled = _MARKS[origin]
    return {"linestyle": "none", "marker": marker, "color": color, "markersize": size,
            "markerfacecolor": color if filled else "white", "markeredgecolor": color, "markeredgewidth": 0.7}
