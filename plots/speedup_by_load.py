# SPDX-License-Identifier: Apache-2.0
"""The draft length to set at each load: a row for each load, a cell with the speedup for each draft length."""

import numpy
from matplotlib.patches import Patch, Rectangle

from . import curves, layout, load, style

ID = "speedup-by-load"
COLUMNS = {"load": load.TEXT, "gamma": load.AXIS, "speedup": load.NUMBER, "low": load.NUMBER, "high": load.NUMBER,
           "iteration_time": load.TEXT, "use": load.TEXT}
_KNOWN = {"iteration_time": ("logged", "interpolated", "predicted", "extrapolated", "bounded"), "use": ("yes", "no")}
_MOST_LOADS = 12
_MOST_LENGTHS = 14
_NAME_IN = 1.3
_ROW_IN = 0.3
_DARK = 60  # lightness below which white letters are more readable than dark ones
_LOSING = {"facecolor": "white", "hatch": "//////"}
_EDGE = {"edgecolor": style.INK, "linewidth": 0.4}
_CHOSEN = {"facecolor": "none", "edgecolor": style.INK, "linewidth": 1.4}


def figure(table):
    _check(table)
    loads = curves.thinned(table.values("load"), _MOST_LOADS)
    gammas = _lengths(table)
    finite = table["speedup"][numpy.isfinite(table["speedup"])]
    highest = max(1.0 + 1e-9, finite.max(initial=1.0))
    shades = [look.color for look in reversed(style.looks(16))]
    drawn, grid = layout.panels(_width(loads, gammas), 1, 1)
    axes = grid[0, 0]
    for row, name in enumerate(loads):
        for column, gamma in enumerate(gammas):
            cell = table.where(load=name, gamma=gamma)
            if len(cell) == 0:
                continue
            speedup = cell["speedup"][0]
            face = _LOSING
            if speedup >= 1:
                face = {"facecolor": shades[min(15, int(16 * (speedup - 1) / (highest - 1)))]}
            elif not numpy.isfinite(speedup):
                face = {"facecolor": style.SHADE}
            axes.add_patch(_box(column, row, 0.84, 0.7, {**face, **_EDGE}))
            if cell["use"][0] == "yes":
                axes.add_patch(_box(column, row, 0.95, 0.9, _CHOSEN))
            _write(axes, column, row, cell, face)
    axes.set_xlim(-0.55, len(gammas) - 0.45)
    axes.set_ylim(-0.55, len(loads) - 0.45)
    axes.set_xticks(range(len(gammas)), [style.value_text(gamma) for gamma in gammas])
    axes.set_yticks(range(len(loads)), [layout.wrap(style.value_text(name), _NAME_IN, style.TICK_PT, max_lines=2) for name in loads])
    axes.grid(visible=False)
    entries = [(Patch(**_CHOSEN), "best at its load")] if "yes" in table["use"] else []
    if (table["speedup"] < 1).any():
        entries.append((Patch(**_LOSING, **_EDGE), "slower than autoregressive decoding"))
    if not numpy.isfinite(table["speedup"]).all():
        entries.append((Patch(facecolor=style.SHADE, **_EDGE), "not logged: at most"))
    outside = "; ~: outside of its logged loads" if "extrapolated" in table["iteration_time"] else ""
    layout.arrange(drawn, grid, max(0.7, _ROW_IN * len(loads)),
                   f"draft length γ (tokens); in each cell the speedup{outside}", "load", [layout.Legend(*zip(*entries))] if entries else [])
    return drawn


def _box(column, row, width, height, look):
    return Rectangle((column - width / 2, row - height / 2), width, height, zorder=2, **look)


def _width(loads, gammas):
    """One column if each cell has room for a bound."""
    name_in = max(min(_NAME_IN, layout.text_width_in(style.value_text(name), style.TICK_PT)) for name in loads)
    cell_in = 0.84 * (style.WIDTH_IN["single_column"] - name_in - 0.4) / len(gammas)
    return "single_column" if layout.text_width_in("≤0.00", style.SMALLEST_PT) < cell_in else "double_column"


def _lengths(table):
    """The draft lengths that fit; recommended and logged ones have priority."""
    first = {gamma for gamma, time, use in zip(table["gamma"], table["iteration_time"], table["use"])
             if use == "yes" or time == "logged"}
    others = [gamma for gamma in table.values("gamma") if gamma not in first]
    return curves.thinned(sorted([*first, *curves.thinned(others, max(0, _MOST_LENGTHS - len(first)))]), _MOST_LENGTHS)


def _check(table):
    if not (numpy.isfinite(table["speedup"]) | numpy.isfinite(table["high"])).any():
        raise load.BadFile(table.path, "no value of speedup to draw")
    for column, words in _KNOWN.items():
        for word in table.values(column):
            if word not in words:
                raise load.BadFile(table.path, f"{column}: '{word}' (must be {', '.join(words)})")


def _write(axes, column, row, cell, face):
    """The speedup, or its bound if the iteration time was not logged."""
    speedup, high = cell["speedup"][0], cell["high"][0]
    mark = "~" if cell["iteration_time"][0] == "extrapolated" else ""
    text = f"{mark}{speedup:.2f}" if numpy.isfinite(speedup) else f"≤{high:.2f}" if numpy.isfinite(high) else ""
    hatched = face is _LOSING
    box = {"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none"} if hatched else None
    axes.text(column, row, text, size=style.SMALLEST_PT, ha="center", va="center_baseline", zorder=3, bbox=box,
              color="white" if not hatched and style.lightness(face["facecolor"]) < _DARK else style.INK)
