# SPDX-License-Identifier: Apache-2.0
"""Speedup and operations against acceptance when drafting is free, by draft length [Leviathan2023, Fig. 4]."""

from . import curves, layout, load

ID = "leviathan-figure4"
_PANELS = {"speedup": "speedup over autoregressive decoding", "operations_factor": "operations over autoregressive decoding"}
COLUMNS = {"gamma": load.AXIS, "alpha": load.NUMBER,
           **{f"{kind}{y}{suffix}": load.NUMBER for y in _PANELS
              for kind, suffix in (("analytic_", ""), ("simulated_", ""), ("simulated_", "_standard_error"))}}


def figure(table):
    drawn, grid = layout.panels("single_column", 2, 1, rows_shared=False)
    for axes, y in zip(grid.flat, _PANELS):
        legends = curves.families(axes, table, series="gamma", x="alpha", y=y, title="draft length γ (tokens)")
        axes.set_ylim(0, 1.06 * curves.highest(table, y, table.path))
    grid[0, 0].set_xlim(-0.02, 1.02)
    layout.arrange(drawn, grid, 1.7, "acceptance rate α", list(_PANELS.values()), legends)
    return drawn
