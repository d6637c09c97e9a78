# SPDX-License-Identifier: Apache-2.0
"""The fastest draft length against acceptance, a step curve for each draft cost c [Leviathan2023, Fig. 3]."""

import numpy
from matplotlib.ticker import MaxNLocator

from . import curves, layout, load, style

ID = "leviathan-figure3"
_POINTS = ("simulated_best_gamma", "simulated_best_gamma_low", "simulated_best_gamma_high")
COLUMNS = {"c": load.AXIS, "alpha": load.NUMBER, "analytic_best_gamma": load.NUMBER,
           **{name: load.NUMBER for name in _POINTS}}


def figure(table):
    drawn, grid = layout.panels("single_column", 1, 1)
    axes = grid[0, 0]
    values = curves.series_values(table, "c")
    looks = style.looks(len(values))
    for value, look in zip(values, looks):
        rows = table.where(c=value).sorted_by("alpha")
        curves.closed_form(axes, rows["alpha"], rows["analytic_best_gamma"], look, steps=True)
        curves.simulated_range(axes, rows["alpha"], *(rows[name] for name in _POINTS), look)
    known = table["alpha"][numpy.isfinite(table["alpha"])]
    axes.set_xlim(known.min() - 0.02, known.max() + 0.02)
    axes.set_ylim(bottom=-0.03 * curves.highest(table, "best_gamma", table.path))
    axes.yaxis.set_major_locator(MaxNLocator(nbins=6, integer=True, steps=[1, 2, 5, 10]))
    layout.arrange(drawn, grid, 2.3, "acceptance rate α", "fastest draft length γ (tokens)", [
        layout.Legend([curves.series_handle(look) for look in looks], list(map(style.value_text, values)),
                      "cost c of a draft step (target steps)"),
        layout.Legend([curves.closed_form_handle(), curves.simulated_handle(axes)],
                      ["closed form", "simulated; whiskers: ties at 95 %"]),
    ])
    return drawn
