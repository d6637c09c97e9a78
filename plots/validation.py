# SPDX-License-Identifier: Apache-2.0
"""Predicted speedups against those of a decoding loop or an engine: a marker for each pair of models, intervals in both
directions (95 %, of estimated times 90 %), bands of 5 and 15 % about the diagonal."""

from dataclasses import dataclass

import numpy
from matplotlib.patches import Patch

from . import curves, layout, load, style

ID = "validation"
_SIDES = ("predicted", "measured")
COLUMNS = {"target": load.TEXT, "drafter": load.TEXT,
           **{f"{side}_{what}": load.NUMBER for side in _SIDES for what in ("speedup", "low", "high")},
           "signed_error": load.NUMBER, "between_runs": load.NUMBER}
_BANDS = ((0.15, style.SHADE), (0.05, style.GRID))
_EDGE = {"edgecolor": style.GREY, "linewidth": 0.4}


@dataclass
class Errors:
    """Error of the predicted speedup relative to the measured one; NaN if unknown."""

    cells: int
    median: float
    worst: float
    between_runs: float  # median over cells of the difference of two runs


def read(directory):
    """The cells that were measured."""
    return measured(load.table(directory / f"{ID}.csv", COLUMNS))


def measured(table):
    """The rows of a table that have a measured speedup, of which there must be some."""
    if not numpy.isfinite(table["measured_speedup"]).any():
        raise load.BadFile(table.path, "no value of measured_speedup to draw")
    return table.keep(numpy.isfinite(table["measured_speedup"]))


def errors(table):
    size = numpy.abs(table["signed_error"])
    runs = table["between_runs"][numpy.isfinite(table["between_runs"])]
    return Errors(len(table), float(numpy.median(size)), float(size.max()),
                  float(numpy.median(runs)) if len(runs) else numpy.nan)


def words(found):
    """"24 cells: error median 3.1 %, worst 9.8 %; between runs 2.0 %"."""
    text = f"{found.cells} cells: error median {100 * found.median:.1f} %, worst {100 * found.worst:.1f} %"
    return text + (f"; between runs {100 * found.between_runs:.1f} %" if numpy.isfinite(found.between_runs) else "")


def verdict(directory):
    """Summary of the comparison."""
    found = errors(read(directory))
    runs = f" Two runs of a cell differ by {100 * found.between_runs:.1f} % (median)." \
        if numpy.isfinite(found.between_runs) else ""
    return (f"The predicted speedups are off by {100 * found.median:.1f} % (median) and at most {100 * found.worst:.1f} % "
            f"over {found.cells} cells.{runs}")


def figure(table):
    table = measured(table)
    drawn, grid = layout.panels("single_column", 1, 1)
    axes = grid[0, 0]
    low, high = _limits(table)
    for width, shade in _BANDS:
        axes.fill_between([low, high], [low / (1 + width), high / (1 + width)],
                          [low / (1 - width), high / (1 - width)], color=shade, linewidth=0, zorder=0)
    axes.plot([low, high], [low, high], color=style.GREY, linewidth=0.8, zorder=1)
    table = Paired(table)
    looks = style.looks(len(table.pairs))
    for pair, look in zip(table.pairs, looks):
        rows = table.of(pair)
        x, y = (rows[f"{side}_speedup"] for side in _SIDES)
        axes.errorbar(x, y, xerr=_whiskers(rows, "predicted"), yerr=_whiskers(rows, "measured"), linestyle="none",
                      marker=look.marker, color=look.color, markersize=style.MARKER_PT * look.scale, elinewidth=0.6,
                      capsize=0, zorder=3, markeredgecolor="white", markeredgewidth=0.25)
    axes.set_xlim(low, high)
    axes.set_ylim(low, high)
    layout.arrange(drawn, grid, 2.6, "speedup predicted from the profile", "measured speedup", [
        layout.Legend([curves.series_handle(look, line=False) for look in looks], table.pairs),
        layout.Legend([Patch(facecolor=shade, **_EDGE) for _, shade in reversed(_BANDS)],
                      [f"within {100 * width:g} %" for width, _ in reversed(_BANDS)], words(errors(table.rows)))])
    return drawn


class Paired:
    """The rows by pair of models."""

    def __init__(self, rows):
        self.rows = rows
        names = [style.plain(f"{target} / {drafter}") for target, drafter in zip(rows["target"], rows["drafter"])]
        self._names = numpy.array(names, dtype=object)
        self.pairs = list(dict.fromkeys(names))
        if len(self.pairs) > style.MAX_SERIES:
            raise load.BadFile(rows.path, f"{len(self.pairs)} pairs; a readable figure takes at most "
                                          f"{style.MAX_SERIES}")

    def of(self, pair):
        return self.rows.keep(self._names == pair)


def _limits(table):
    ends = numpy.concatenate([table[f"{side}_{what}"] for side in _SIDES for what in ("speedup", "low", "high")])
    ends = ends[numpy.isfinite(ends)]
    margin = max(0.05 * (ends.max() - ends.min()), 0.02 * ends.max())
    return max(0.0, ends.min() - margin), ends.max() + margin


def _whiskers(rows, side):
    value, low, high = (rows[f"{side}_{what}"] for what in ("speedup", "low", "high"))
    return numpy.nan_to_num(numpy.maximum(0.0, [value - low, high - value]))
