# SPDX-License-Identifier: Apache-2.0
"""Expected tokens per iteration against acceptance, a curve for each draft length [Leviathan2023, Fig. 2]."""

import numpy

from . import curves, layout, load

ID = "leviathan-figure2"
_Y = "tokens_per_iteration"
COLUMNS = {"gamma": load.AXIS, "alpha": load.NUMBER, f"analytic_{_Y}": load.NUMBER, f"simulated_{_Y}": load.NUMBER,
           f"simulated_{_Y}_standard_error": load.NUMBER}


def figure(table):
    drawn, grid = layout.panels("single_column", 1, 1)
    axes = grid[0, 0]
    legends = curves.families(axes, table, series="gamma", x="alpha", y=_Y, title="draft length γ (tokens)")
    axes.set_xlim(-0.02, 1.02)
    # The unbounded curve exceeds the figure: the longest bounded draft sets the scale.
    bounded = table.keep(numpy.isfinite(table["gamma"]))
    axes.set_ylim(0, 1.06 * curves.highest(bounded, _Y, table.path))
    layout.arrange(drawn, grid, 2.3, "acceptance rate α", "tokens per iteration", legends)
    return drawn
