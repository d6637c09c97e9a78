# SPDX-License-Identifier: Apache-2.0
"""Places panels, shared labels and legends so that nothing overlaps and the figure keeps its exact width.

Legends are above the panels, never on them; the height of the figure follows from its content.
"""

import contextlib
from bisect import bisect
from dataclasses import dataclass
from functools import lru_cache

import numpy
from matplotlib.container import BarContainer
from matplotlib.text import Text

from . import style

_EDGE_IN = 0.04
_GAP_IN = 0.08
_LEGEND_GAP_IN = 0.25
_LEGEND_LEAD_IN = 0.07
_MAX_LINES = 3


@dataclass
class Legend:
    """Handles and labels, read along the rows, under an optional title."""

    handles: list
    labels: list
    title: str = ""


_new_figure = style.new_figure
_host = None  # axes of a caller, used instead of a figure


@contextlib.contextmanager
def drawing(new_figure=style.new_figure, axes=None):
    """Within it `new_figure` creates the figures, or they are drawn in the caller's `axes`, which hold one panel."""
    global _new_figure, _host
    before = _new_figure, _host
    _new_figure, _host = new_figure, axes
    try:
        yield
    finally:
        _new_figure, _host = before


def panels(width, count, columns, rows_shared=True):
    """A figure and its `count` axes in a grid (rows x columns, None where a cell stays empty).

    The x axis is shared by all, the y axis by all or, with `rows_shared` false, within each row.
    """
    if _host is not None:
        if count > 1:
            raise ValueError(f"the figure has {count} panels, ax holds one (leave ax out, or choose what to draw)")
        style.dress(_host)
        return _host.figure, numpy.array([[_host]], dtype=object)
    figure = _new_figure(width)
    rows = -(-count // columns)
    grid = numpy.full((rows, columns), None, dtype=object)
    for index in range(count):
        row, column = divmod(index, columns)
        above = grid[0, 0] if rows_shared else grid[row, 0]
        axes = figure.add_subplot(rows, columns, index + 1, sharex=grid[0, 0], sharey=above)
        lowest = index + columns >= count
        axes.tick_params(labelbottom=lowest, labelleft=column == 0, labelsize=style.TICK_PT)
        grid[row, column] = axes
    return figure, grid


def wrap(text, width_in, size=style.LABEL_PT, max_lines=_MAX_LINES):
    """`text` in the fewest lines of at most `width_in` inches, of similar length if the words allow it.

    A text longer than `max_lines` ends in an ellipsis.
    """
    lines = _lines(text, width_in, size)
    if len(lines) > max_lines:
        last = lines[max_lines - 1]
        while len(last) > 1 and text_width_in(last + "…", size) > width_in:
            last = last[:-1]
        return "\n".join(lines[:max_lines - 1] + [last + "…"])
    while len(lines) > 1:
        width_in *= 0.95
        narrower = _lines(text, width_in, size)
        if len(narrower) > len(lines) or any(word not in " ".join(narrower).split() for word in text.split()):
            break
        lines = narrower
    return "\n".join(lines)


def _lines(text, width_in, size):
    lines, line = [], ""
    for word in text.split():
        while word:
            joined = f"{line} {word}" if line else word
            if text_width_in(joined, size) <= width_in:
                line, word = joined, ""
            elif line:
                lines.append(line)
                line = ""
            else:
                fits = bisect(range(2, len(word)), width_in, key=lambda n: text_width_in(word[:n], size)) + 1
                lines.append(word[:fits])
                word = word[fits:]
    return lines + [line]


def arrange(figure, grid, panel_height_in, x_label, y_labels, legends=()):
    """Sets every position. `y_labels`: one text for the whole grid, or a list of one text per row."""
    if _host is not None:
        _arrange_host(x_label, y_labels if isinstance(y_labels, str) else y_labels[0], legends)
        return
    width_in = figure.get_size_inches()[0]
    rows = grid.shape[0]
    top_in = _EDGE_IN + _stack_legends(figure, list(legends))
    shared = isinstance(y_labels, str)
    y_texts = [figure.text(0, 0, "", rotation=90, ha="left", va="center", size=style.LABEL_PT)
               for _ in ([y_labels] if shared else y_labels)]
    x_text = figure.text(0, 0, wrap(x_label, width_in - 0.8), ha="center", va="bottom", size=style.LABEL_PT)
    room_in = panel_height_in * (rows if shared else 1)
    for text, label in zip(y_texts, [y_labels] if shared else y_labels):
        text.set_text(wrap(label, room_in))
    y_label_in = max(_size_in(figure, text)[0] for text in y_texts) + 0.03
    x_label_in = _size_in(figure, x_text)[1] + 0.03
    titles = {axes: axes.get_title(loc="left") for axes in grid.flat if axes is not None}
    for _ in range(3):  # the ticks follow the size of the panels, and the margins the ticks
        box = _place_panels(figure, grid, panel_height_in, top_in, _EDGE_IN + y_label_in, _EDGE_IN + x_label_in)
        for axes, title in titles.items():
            if title:
                axes.set_title(wrap(title, axes.get_position().width * width_in))
    left, right, bottom, top = box
    half = (_size_in(figure, x_text)[0] / 2 + _EDGE_IN) / width_in  # under the panels, but never beyond an edge
    x_text.set_position((min(max((left + right) / 2, half), 1 - half), _EDGE_IN / figure.get_size_inches()[1]))
    for row, text in enumerate(y_texts):
        cell = grid[row, 0].get_position()
        text.set_position((_EDGE_IN / width_in, (bottom + top) / 2 if shared else (cell.y0 + cell.y1) / 2))
    _hang_legends(figure)


def _arrange_host(x_label, y_label, legends):
    """Labels and one legend in axes whose position and size are the caller's."""
    width_in, height_in = (side / _host.figure.dpi for side in _host.get_window_extent().size)
    _host.set_xlabel(wrap(x_label, width_in), size=style.LABEL_PT)
    _host.set_ylabel(wrap(y_label, height_in), size=style.LABEL_PT)
    _host.set_title(wrap(_host.get_title(loc="left"), width_in))
    handles = [handle for legend in legends for handle in legend.handles]
    labels = [label for legend in legends for label in legend.labels]
    if handles:
        title = next((legend.title for legend in legends if legend.title), None)
        bars = any(isinstance(container, BarContainer) for container in _host.containers)
        drawn = _host.legend(handles, labels, title=title, frameon=True, framealpha=0.8, edgecolor="none", borderpad=0.3,
                             loc="upper right" if bars else "best", ncol=2 if bars else 1)
        if bars:  # there is no room for it
            share = drawn.get_window_extent().height / _host.get_window_extent().height
            _host.set_ylim(top=_host.get_ylim()[1] / max(0.2, 0.95 - share))


def _place_panels(figure, grid, panel_height_in, top_in, left_in, bottom_in):
    """Sizes the figure and spreads the panels; returns left, right, bottom and top of the grid (fractions)."""
    width_in = figure.get_size_inches()[0]
    rows, columns = grid.shape
    over = {"left": numpy.zeros(grid.shape), "right": numpy.zeros(grid.shape),
            "bottom": numpy.zeros(grid.shape), "top": numpy.zeros(grid.shape)}
    for place, axes in numpy.ndenumerate(grid):
        if axes is None:
            continue
        inner, outer = axes.get_window_extent(), axes.get_tightbbox()
        over["left"][place] = (inner.x0 - outer.x0) / figure.dpi
        over["right"][place] = (outer.x1 - inner.x1) / figure.dpi
        over["bottom"][place] = (inner.y0 - outer.y0) / figure.dpi
        over["top"][place] = (outer.y1 - inner.y1) / figure.dpi
    gap_x = _GAP_IN + (over["right"][:, :-1] + over["left"][:, 1:]).max(initial=0.0)
    gap_y = _GAP_IN + (over["bottom"][:-1] + over["top"][1:]).max(initial=0.0)
    left_in += over["left"][:, 0].max() + 0.02
    right_in = _EDGE_IN + over["right"][:, -1].max()
    bottom_in += over["bottom"].max()
    top_in += over["top"][0].max()
    panel_width_in = (width_in - left_in - right_in - gap_x * (columns - 1)) / columns
    height_in = top_in + rows * panel_height_in + gap_y * (rows - 1) + bottom_in
    figure.set_size_inches(width_in, height_in)
    box = (left_in / width_in, 1 - right_in / width_in, bottom_in / height_in, 1 - top_in / height_in)
    figure.subplots_adjust(*(box[i] for i in (0, 2, 1, 3)), wspace=gap_x / panel_width_in,
                           hspace=gap_y / panel_height_in)
    return box


def _stack_legends(figure, legends):
    """Draws the legends in rows that fit, side by side if two fit; stores the rows, returns their height."""
    width_in = figure.get_size_inches()[0] - 2 * _EDGE_IN
    rows = []
    for legend in legends:
        for place, drawn in enumerate(_flow(figure, legend, width_in)):
            size = _size_in(figure, drawn)
            if place == 0 and rows and sum(w + _LEGEND_GAP_IN for _, (w, _) in rows[-1]) + size[0] <= width_in:
                rows[-1].append((drawn, size))
            else:
                rows.append([(drawn, size)])
    figure.legend_rows = rows
    return sum(max(h for _, (_, h) in row) + _LEGEND_LEAD_IN for row in rows)


def _hang_legends(figure):
    """Places the stored legends, when the height of the figure is known."""
    width_in, height_in = figure.get_size_inches()
    y_in = height_in - _EDGE_IN
    for row in figure.legend_rows:
        row_height = max(h for _, (_, h) in row)
        x_in = (width_in - sum(w for _, (w, _) in row) - _LEGEND_GAP_IN * (len(row) - 1)) / 2
        for drawn, (w, h) in row:
            drawn.set_bbox_to_anchor((x_in / width_in, (y_in - row_height + h) / height_in),
                                     transform=figure.transFigure)
            x_in += w + _LEGEND_GAP_IN
        y_in -= row_height + _LEGEND_LEAD_IN


def _flow(figure, legend, width_in):
    """One legend in as few rows as fit, evenly filled if possible; the first row has the title."""
    labels = [wrap(label, width_in - 0.4, style.TICK_PT, max_lines=2) for label in legend.labels]
    entries = list(zip(legend.handles, labels))
    title = wrap(legend.title, width_in, style.TICK_PT)

    def row_of(part, first, columns=None):
        return figure.legend(*zip(*part), ncol=columns or len(part), title=title if first else None, loc="upper left",
                             borderaxespad=0)

    def fits(part):
        drawn = row_of(part, False)
        needed_in, _ = _size_in(figure, drawn)
        drawn.remove()
        return len(part) == 1 or needed_in <= width_in

    parts = [[]]
    for entry in entries:
        if parts[-1] and not fits(parts[-1] + [entry]):
            parts.append([])
        parts[-1].append(entry)
    if len(parts) == len(entries):  # a column, whose entries begin below each other
        return [row_of(entries, True, columns=1)]
    even = -(-len(entries) // len(parts))
    level = [entries[i:i + even] for i in range(0, len(entries), even)]
    if all(map(fits, level)):
        parts = level
    return [row_of(part, index == 0) for index, part in enumerate(parts)]


def _size_in(figure, artist):
    box = artist.get_window_extent()
    return box.width / figure.dpi, box.height / figure.dpi


_RULER = style.new_figure("single_column")


@lru_cache(maxsize=10_000)
def text_width_in(text, size):
    """The width of one line of text, in inches."""
    return _size_in(_RULER, Text(0, 0, text, size=size, figure=_RULER))[0]
