# SPDX-License-Identifier: Apache-2.0
"""The loss of verification rules with higher acceptance: a column of panels for each vocabulary, a line for each rule.

Above, the distance of the emitted from the target distribution; below, how often the token is not that of greedy
decoding. Rules that compare a probability with a threshold have separate rows below the others. Along a line the rule's
parameter varies. No rule that verifies single drafts by position can be below the gray line.
"""

import numpy
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from . import curves, layout, load, style

ID = "rule-lossiness"
_MOST_COLUMNS = 3
_ACCEPTANCE = ("acceptance", "simulated_acceptance")  # the second if the first has no closed form
_EXACT = "rejection_sampling"
_THRESHOLDS = ("greedy_match", "sglang_thresholds", "top_beta", "top_n_delta", "typical_acceptance")
_LOSS, _GREEDY = "total_variation", "top1_probability"
COLUMNS = {"vocabulary": load.NUMBER, "series": load.TEXT,
           **{name: load.NUMBER for name in (*_ACCEPTANCE, _LOSS, f"{_LOSS}_standard_error", _GREEDY,
                                             f"{_GREEDY}_standard_error")}}


def figure(table):
    if not numpy.isfinite(table[_LOSS]).any():
        raise load.BadFile(table.path, f"no value of {_LOSS} to draw")
    vocabularies = table.values("vocabulary")
    if len(vocabularies) > _MOST_COLUMNS:
        raise load.BadFile(table.path, f"{len(vocabularies)} vocabularies; one figure holds {_MOST_COLUMNS}")
    families = [[name for name in table.values("series") if (name.split(",")[0] in _THRESHOLDS) == thresholds]
                for thresholds in (False, True)]
    families = [family for family in families if family]
    for family in families:
        if len(family) > style.MAX_SERIES:
            raise load.BadFile(table.path, f"{len(family)} rules in one panel; a readable figure takes at most "
                                           f"{style.MAX_SERIES} series")
    drawn, grid = layout.panels("double_column", 2 * len(families) * len(vocabularies), len(vocabularies),
                                rows_shared=False)
    legends = []
    for place, family in enumerate(families):
        looks = style.looks(len(family))
        kind = "" if len(families) == 1 else ("p against q", "thresholds")[place]
        _draw_family(grid[2 * place:2 * place + 2], table, kind, family, looks)
        legends.append(layout.Legend([curves.series_handle(look) for look in looks],
                                     [style.plain(name) for name in family], kind or "rule"))
    legends.append(layout.Legend([Line2D([], [], color=style.GREY, linewidth=2.2, alpha=_BOUND_ALPHA)],
                                 ["minimum with one draft, verified by itself; bars: 95 % over contexts"]))
    layout.arrange(drawn, grid, 1.75 if len(families) == 1 else 1.4, "acceptance rate",
                   ["total variation distance from the target", "fraction of tokens that differ from greedy decoding"]
                   * len(families), legends)
    return drawn


def _draw_family(grid, table, kind, family, looks):
    for column, vocabulary in enumerate(table.values("vocabulary")):
        rows = table.where(vocabulary=vocabulary)
        grid[0, column].set_title(f"{kind}{', ' if kind else ''}vocabulary of {vocabulary:g} tokens")
        _draw_bound(grid[0, column], rows)
        # Rules without a parameter first and larger: lines that begin or end there stay visible inside.
        for name, look in sorted(zip(family, looks), key=lambda entry: len(rows.where(series=entry[0])) > 1):
            line = rows.where(series=name)
            acceptance = numpy.where(numpy.isfinite(line[_ACCEPTANCE[0]]), *(line[name] for name in _ACCEPTANCE))
            _draw_line(grid[0, column], acceptance, line[_LOSS], line[f"{_LOSS}_standard_error"], look)
            _draw_line(grid[1, column], acceptance, 1 - line[_GREEDY], line[f"{_GREEDY}_standard_error"], look)
    for axes in grid[:, 0]:
        axes.set_ylim(-0.03, 1.03)
        axes.yaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10]))


_BOUND_ALPHA = 0.5


def _draw_bound(axes, rows):
    """The total variation is at least the acceptance beyond sum min(p, q)."""
    exact = rows.where(series=_EXACT)[_ACCEPTANCE[0]]
    if len(exact) and numpy.isfinite(exact[0]):
        axes.plot([0, exact[0], 1], [0, 0, 1 - exact[0]], color=style.GREY, linewidth=2.2, alpha=_BOUND_ALPHA, zorder=1)


def _draw_line(axes, x, y, standard_error, look):
    curves.closed_form(axes, x, y, look)
    curves.simulated(axes, x, y, standard_error, look, size=style.MARKER_PT * (1 if len(x) > 1 else 1.9))
