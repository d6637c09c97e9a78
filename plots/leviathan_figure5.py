# SPDX-License-Identifier: Apache-2.0
"""A trace of decoding: draft steps, target steps and their tokens, a lane for each draft length.

After [Leviathan2023, Fig. 5].
"""

import math

from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import MaxNLocator

from . import layout, load, style

ID = "leviathan-figure5"
COLUMNS = {"lane": load.TEXT, "kind": load.TEXT, "start": load.NUMBER, "end": load.NUMBER, "label": load.TEXT}

# Kinds differ in lightness and hatching, not only in hue. Steps are on the upper track of a lane.
_STEPS = {"draft": {"facecolor": style.DRAFT}, "target": {"facecolor": style.TARGET}}
_TOKENS = {"accepted": {"facecolor": "#f7dca4"}, "corrected": {"facecolor": "#b5367a"},
           "bonus": {"facecolor": "white", "hatch": "//////"}}
_NAMES = {"draft": "draft step", "target": "target step", "accepted": "accepted draft token",
          "corrected": "token of the target", "bonus": "bonus token"}
_EDGE_PT = 0.4
_STEP_TRACK = (0.36, 0.40)   # bottom and height within a lane of height 1
_TOKEN_TRACK = (0.06, 0.22)


def figure(table):
    _check(table)
    lanes = table.values("lane")
    drawn, grid = layout.panels("double_column", 1, 1)
    axes = grid[0, 0]
    used = set()
    end = table["end"].max()
    axes.set_xlim(-0.005 * end, 1.005 * end)
    for row, lane in enumerate(lanes):
        used |= _draw_lane(axes, table.where(lane=lane), bottom=len(lanes) - 1 - row)
        axes.text(0, len(lanes) - 1 - row + 0.80, _title(table.where(lane=lane), lane), size=style.LABEL_PT,
                  ha="left", va="bottom")
    axes.set_ylim(0, len(lanes) + 0.06)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=12, integer=True))
    axes.grid(visible=True, axis="x")
    kinds = [kind for kind in (*_STEPS, *_TOKENS) if kind in used]
    layout.arrange(drawn, grid, 0.62 * len(lanes), "time (target steps)", "", [
        layout.Legend([Patch(**_look(kind)) for kind in kinds], [_NAMES[kind] for kind in kinds])])
    return drawn


def _check(table):
    for kind, label in zip(table["kind"], table["label"]):
        if kind not in (*_STEPS, "token"):
            raise load.BadFile(table.path, f"kind: '{kind}' (must be draft, target or token)")
        if kind == "token" and label not in _TOKENS:
            raise load.BadFile(table.path, f"label: '{label}' (must be accepted, corrected or bonus)")
    for start, end in zip(table["start"], table["end"]):
        if not (math.isfinite(start) and math.isfinite(end) and 0 <= start <= end):
            raise load.BadFile(table.path, f"a block runs from {start:g} to {end:g} (must be 0 <= start <= end)")


def _title(rows, lane):
    """The name of the lane, and its result."""
    tokens = sum(rows["kind"] == "token")
    name = style.plain(lane.replace("gamma", "γ"))
    steps = rows["end"].max()
    return f"{name}: {tokens} tokens in {steps:.3g} target steps" if tokens else name


def _look(kind):
    return {**{**_STEPS, **_TOKENS}[kind], "edgecolor": style.INK, "linewidth": _EDGE_PT}


def _draw_lane(axes, rows, bottom):
    """Draws the blocks of one lane; returns the kinds of block it has."""
    used = set()
    waiting = {}
    for kind, start, end, label in zip(rows["kind"], rows["start"], rows["end"], rows["label"]):
        if kind == "token" and start == end:
            waiting.setdefault(end, []).append(label)
        else:
            kind = label if kind == "token" else kind
            track = _TOKEN_TRACK if kind in _TOKENS else _STEP_TRACK
            _block(axes, kind, start, end - start, bottom, track)
            used.add(kind)
    # Tokens that appear at the same time are side by side below the target step that ends there.
    steps = {end: start for kind, start, end in zip(rows["kind"], rows["start"], rows["end"]) if kind == "target"}
    for instant, labels in waiting.items():
        start = steps.get(instant, instant - 1)
        width = (instant - start) / len(labels)
        for place, label in enumerate(labels):
            _block(axes, label, start + place * width, width, bottom, _TOKEN_TRACK)
            used.add(label)
    return used


def _block(axes, kind, start, width, bottom, track):
    look = _look(kind)
    left, right = axes.get_xlim()
    width_pt = width / (right - left) * style.WIDTH_IN["double_column"] * 72
    look["linewidth"] = min(_EDGE_PT, 0.15 * width_pt)  # the edge must not fill a narrow block
    axes.add_patch(Rectangle((start, bottom + track[0]), width, track[1], zorder=2, **look))
