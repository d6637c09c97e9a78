# SPDX-License-Identifier: Apache-2.0
"""How well the i.i.d. assumption holds on real text: tokens per iteration of a run, and those that three formulas
predict.

A column of panels for each corpus and temperature: above, tokens per iteration; below, each formula's relative
difference from the run.
"""

import numpy
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from . import curves, layout, load, style

ID = "ngram-iid-check"
_MOST_COLUMNS = 4
_RUN, _ERROR = "simulated_tokens_per_iteration", "simulated_tokens_per_iteration_standard_error"
_FORMULAS = {"iid_tokens_per_iteration": ("i.i.d. formula", (0, (3.5, 1.3))),
             "markov_tokens_per_iteration": ("Markov formula", (0, ()))}
COLUMNS = {"corpus": load.TEXT, "temperature": load.AXIS, "drafter": load.TEXT, "gamma": load.NUMBER,
           **{name: load.NUMBER for name in (_RUN, _ERROR, *_FORMULAS, "bound_low", "bound_high")}}


def figure(table):
    if not numpy.isfinite(table[_RUN]).any():
        raise load.BadFile(table.path, f"no value of {_RUN} to draw")
    settings = [(corpus, temperature) for corpus in table.values("corpus")
                for temperature in table.values("temperature")
                if len(table.where(corpus=corpus, temperature=temperature))]
    if len(settings) > _MOST_COLUMNS:
        raise load.BadFile(table.path, f"{len(settings)} corpora and temperatures; one figure holds {_MOST_COLUMNS}")
    drafters = curves.series_values(table, "drafter")
    looks = style.looks(len(drafters))
    drawn, grid = layout.panels("double_column", 2 * len(settings), len(settings), rows_shared=False)
    for column, (corpus, temperature) in enumerate(settings):
        upper, lower = grid[:, column]
        upper.set_title(f"{style.plain(corpus)}, temperature {style.value_text(temperature)}")
        for drafter, look in zip(drafters, looks):
            rows = table.where(corpus=corpus, temperature=temperature, drafter=drafter).sorted_by("gamma")
            _draw_tokens(upper, rows, look)
            _draw_difference(lower, rows, look, shift=0.2 * (drafters.index(drafter) + 0.5) / len(drafters) - 0.1)
        lower.axhline(0, color=style.GREY, linewidth=0.6, zorder=1)
    for axes in grid[:, 0]:
        axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
        axes.yaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 2.5, 5, 10]))
    layout.arrange(drawn, grid, 1.35, "draft length γ (tokens)", ["tokens per iteration", "formula − measured (%)"], [
        layout.Legend([curves.series_handle(look, line=False) for look in looks],
                      [style.plain(drafter) for drafter in drafters], "drafter"),
        layout.Legend([curves.simulated_handle(grid[0, 0]),
                       *(curves.closed_form_handle(dash) for _, dash in _FORMULAS.values()),
                       Patch(facecolor=style.GREY, alpha=_BAND_ALPHA, linewidth=0)],
                      ["measured, 95 %", *(name for name, _ in _FORMULAS.values()), "bounds of any process"])])
    return drawn


_BAND_ALPHA = 0.18


def _draw_tokens(axes, rows, look):
    axes.fill_between(rows["gamma"], rows["bound_low"], rows["bound_high"], color=look.color, alpha=_BAND_ALPHA,
                      linewidth=0, zorder=1)
    for name, (_, dash) in _FORMULAS.items():
        curves.closed_form(axes, rows["gamma"], rows[name], style.Look(look.color, dash, look.marker))
    curves.simulated(axes, rows["gamma"], rows[_RUN], rows[_ERROR], look)


def _draw_difference(axes, rows, look, shift):
    """The bars of one draft length are side by side: `shift` tokens apart, the i.i.d. formula on the left."""
    gamma, run, error = rows["gamma"], rows[_RUN], numpy.nan_to_num(rows[_ERROR])
    for (name, (_, dash)), side in zip(_FORMULAS.items(), (-0.1, 0.1)):
        ratio = rows[name] / run
        axes.errorbar(gamma + side + shift, 100 * (ratio - 1), yerr=100 * curves.Z_95 * ratio * error / run,
                      color=look.color, linestyle=dash, marker=look.marker, markersize=2.6 * look.scale,
                      markeredgecolor="white", markeredgewidth=0.25, linewidth=0.8, elinewidth=0.7, capsize=1.2,
                      capthick=0.7, zorder=3)
