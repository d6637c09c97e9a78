# SPDX-License-Identifier: Apache-2.0
"""The draft length to use at each batch and context: a strip for each context, from the predicted schedules."""

import math

import numpy
from matplotlib.patches import Patch, Rectangle

from . import curves, horizontal_axis, layout, load, style

ID = "decision-map"
COLUMNS = {"context": load.AXIS, "first_batch": load.NUMBER, "last_batch": load.NUMBER, "gamma": load.NUMBER}
_MOST_STRIPS = 12
_STRIP_IN = 0.24
_DARK = 60  # lightness below which white letters are more readable than dark ones
_OFF = {"facecolor": "white", "hatch": "//////"}
_TOO_LARGE = {"facecolor": style.SHADE, "edgecolor": "none"}
_EDGE = {"edgecolor": style.INK, "linewidth": 0.4}
_WIDTH = "single_column"


def figure(table):
    _check(table)
    contexts = curves.thinned(table.values("context"), _MOST_STRIPS)
    gammas = [gamma for gamma in curves.series_values(table, "gamma") if gamma > 0]
    faces = {gamma: {"facecolor": look.color} for gamma, look in zip(gammas, style.looks(max(1, len(gammas))))}
    faces[0] = _OFF
    drawn, grid = layout.panels(_WIDTH, 1, 1)
    axes = grid[0, 0]
    low, high = table["first_batch"].min(), table["last_batch"].max()
    left, right = math.log2(low), math.log2(high)
    too_large = False
    for row, context in enumerate(contexts):
        strip = table.where(context=context)
        for first, last, gamma in zip(strip["first_batch"], strip["last_batch"], strip["gamma"]):
            start, end = max(left, _between(first - 1, first)), min(right, _between(last, last + 1))
            axes.add_patch(Rectangle((start, row - 0.42), end - start, 0.84, zorder=2, **faces[gamma], **_EDGE))
            _write(axes, gamma, faces[gamma]["facecolor"], (start + end) / 2, row, (end - start) / (right - left))
        if strip["last_batch"].max() < high:
            axes.add_patch(Rectangle((end, row - 0.42), right - end, 0.84, zorder=1, **_TOO_LARGE))
            too_large = True
    axes.set_xlim(left, right)
    axes.set_ylim(-0.55, len(contexts) - 0.45)
    axes.set_yticks(range(len(contexts)), [style.value_text(context) for context in contexts])
    axes.grid(visible=False)
    ticks = horizontal_axis.powers_of_two(low, high, 8)
    axes.set_xticks([math.log2(tick) for tick in ticks], [style.value_text(tick) for tick in ticks])
    used = [gamma for gamma in sorted(faces) if gamma in table["gamma"]]
    key = [(Patch(**faces[gamma], **_EDGE), "off" if gamma == 0 else style.value_text(gamma)) for gamma in used]
    legends = [layout.Legend(*zip(*key), "draft length γ to use (tokens)")]
    if too_large:
        legends.append(layout.Legend([Patch(**_TOO_LARGE)], ["does not fit in memory"]))
    layout.arrange(drawn, grid, max(0.9, _STRIP_IN * len(contexts)), "batch size (sequences)",
                   "context length (tokens)", legends)
    return drawn


def _check(table):
    if not numpy.isfinite(table["first_batch"]).any():
        raise load.BadFile(table.path, "no value of first_batch to draw")
    for first, last, gamma in zip(table["first_batch"], table["last_batch"], table["gamma"]):
        if not (1 <= first <= last < math.inf and gamma >= 0):
            raise load.BadFile(table.path, f"gamma {gamma:g} from batch {first:g} to {last:g} is no range")


def _between(batch, following):
    """The position of the edge between two batches on the logarithmic axis."""
    return math.log2(math.sqrt(batch * following)) if batch > 0 else -math.inf


def _write(axes, gamma, face, x, y, share):
    """The draft length inside its range, if there is room."""
    text = "off" if gamma == 0 else style.value_text(gamma)
    if layout.text_width_in(text, style.SMALLEST_PT) + 0.06 > 0.8 * style.WIDTH_IN[_WIDTH] * share:
        return
    box = {"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none"} if gamma == 0 else None
    axes.text(x, y, text, size=style.SMALLEST_PT, ha="center", va="center_baseline", zorder=3, bbox=box,
              color="white" if gamma > 0 and style.lightness(face) < _DARK else style.INK)
