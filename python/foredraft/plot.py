# SPDX-License-Identifier: Apache-2.0
"""Figures with matplotlib (pip install foredraft[plot]); each returns the axes that it drew on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas

    from foredraft._trees import Tree


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    import matplotlib.pyplot
    return matplotlib.pyplot.subplots()[1]


def curves(frame: pandas.DataFrame, x: str, y: str, *, series: str | None = None, ax: Any = None) -> Any:
    """A quantity against a parameter, one line for each value of ``series``.

    frame: of sweep() or Predictions.to_frame(). y: a quantity such as "speedup". The closed form is a line, simulated
    means are points with their 95 % intervals. Raises KeyError if the frame has no such column.
    """
    axes = _axes(ax)
    groups: list[tuple[Any, pandas.DataFrame]] = [(None, frame)] if series is None else list(frame.groupby(series))
    for value, rows in groups:
        rows = rows.sort_values(x)
        label = None if series is None else f"{series} = {value}"
        color = None
        closed_form = next((name for name in (y, f"analytic_{y}") if name in rows), None)
        if closed_form is not None:
            color = axes.plot(rows[x], rows[closed_form], label=label)[0].get_color()
        if f"simulated_{y}" in rows:
            half = 1.959963984540054 * rows[f"simulated_{y}_standard_error"]
            axes.errorbar(rows[x], rows[f"simulated_{y}"], yerr=half, fmt="o", markersize=3, color=color,
                          label=label if closed_form is None else None)
        elif closed_form is None:
            raise KeyError(f"no column {y}, analytic_{y} or simulated_{y}")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    if series is not None:
        axes.legend()
    return axes


def agreement(frame: pandas.DataFrame, y: str = "speedup", *, ax: Any = None) -> Any:
    """Difference of simulation and closed form of a sweep in standard errors, point by point; +-4 is marked."""
    axes = _axes(ax)
    axes.plot(np.arange(len(frame)), frame[f"{y}_deviation_in_se"], "o", markersize=3)
    for bound in (-4.0, 4.0):
        axes.axhline(bound, linestyle="--", linewidth=1.0)
    axes.set_xlabel("point")
    axes.set_ylabel(f"{y}: (simulated - closed form) / standard error")
    return axes


def tree(answer: Tree, *, ax: Any = None) -> Any:
    """The chosen tree, level by level; darker nodes are accepted more often."""
    axes = _axes(ax)
    paths = [(), *(tuple(path) for path in answer.chosen.paths)]
    levels: dict[int, list[tuple[int, ...]]] = {}
    for path in sorted(paths):
        levels.setdefault(len(path), []).append(path)
    place = {path: ((rank + 0.5) / len(level), -depth) for depth, level in levels.items() for rank, path in enumerate(level)}
    for path in paths[1:]:
        (x0, y0), (x1, y1) = place[path[:-1]], place[path]
        axes.plot([x0, x1], [y0, y1], color="gray", linewidth=0.8, zorder=1)
    points = np.array([place[path] for path in paths])
    axes.scatter(points[:, 0], points[:, 1], c=answer.probabilities, cmap="Blues", vmin=0.0, vmax=1.0, edgecolors="black",
                 zorder=2)
    axes.set_axis_off()
    return axes
