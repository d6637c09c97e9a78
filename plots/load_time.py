# SPDX-License-Identifier: Apache-2.0
"""The parts of the time of a token under a load: prompts, verification, drafting and the engine, stacked; a bar for
each draft length."""

import numpy
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from . import curves, layout, load, style

ID = "load-time"
# From the bottom of a bar to its top.
_PARTS = {"verification_ms": ("verification", {"facecolor": style.TARGET}),
          "drafting_ms": ("drafting", {"facecolor": style.DRAFT}),
          "prompts_ms": ("prompts", {"facecolor": "white", "hatch": "//////"}),
          "engine_ms": ("engine", {"facecolor": style.SHADE, "hatch": "......"})}
_EDGE = {"edgecolor": style.INK, "linewidth": 0.4}
COLUMNS = {"load": load.AXIS, "unit": load.TEXT, "gamma": load.AXIS, **dict.fromkeys(_PARTS, load.NUMBER),
           "best": load.TEXT}
_MOST_BARS = 13


def figure(table):
    if not numpy.isfinite(table["verification_ms"]).any():
        raise load.BadFile(table.path, "no value of verification_ms to draw")
    best = table.where(best="yes")
    gammas = curves.thinned(table.values("gamma"), _MOST_BARS)
    rows = table.keep([gamma in gammas for gamma in table["gamma"]]).sorted_by("gamma")
    drawn, grid = layout.panels("single_column", 1, 1)
    axes = grid[0, 0]
    at = numpy.arange(len(rows))
    bottom = numpy.zeros(len(rows))
    for part, (_, look) in _PARTS.items():
        axes.bar(at, rows[part], bottom=bottom, width=0.75, zorder=2, **look, **_EDGE)
        bottom = bottom + numpy.nan_to_num(rows[part])
    axes.set_xticks(at, [style.value_text(gamma) for gamma in rows["gamma"]])
    axes.grid(visible=False, axis="x")
    axes.set_ylim(0, 1.05 * numpy.nanmax(bottom))
    axes.yaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 2.5, 5, 10]))
    fastest = f", fastest at γ = {style.value_text(best['gamma'][0])}" if len(best) else ""
    axes.set_title(f"{style.value_text(table['load'][0])} {style.value_text(table['unit'][0])}{fastest}")
    used = [part for part in _PARTS if (table[part] > 0).any()]
    layout.arrange(drawn, grid, 1.8, "draft length γ (tokens); 0: no speculation", "time per token of a request (ms)", [
        layout.Legend([Patch(**_PARTS[part][1], **_EDGE) for part in used], [_PARTS[part][0] for part in used])])
    return drawn
