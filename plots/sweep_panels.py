# SPDX-License-Identifier: Apache-2.0
"""Shared by the figures of a sweep: panels, series, their arrangement and their labels."""

from . import figure_specification, layout, load, style

MAX_PANELS = 12


def values(table, column, max_count, what):
    """The values of the column of panels or series; [None] if there is none."""
    if column is None:
        return [None]
    found = table.values(column)
    if len(found) > max_count:
        raise load.BadFile(table.path, f"{column} has {len(found)} values; a readable figure takes at most {max_count} "
                                       f"{what} (put it on the x axis, or sweep fewer values)")
    return found


def reject_ambiguous(spec, table):
    """Rejects two rows for one point: an axis of the sweep is not in the figure, so no line can be drawn."""
    axes = figure_specification.axes(spec)
    seen = set()
    for point in zip(*(table[name].tolist() for name in axes)):
        if point in seen:
            where = ", ".join(f"{name} = {style.value_text(value)}" for name, value in zip(axes, point))
            raise load.BadFile(table.path, f"more than one row for {where} (another axis varies: fix it, or make it "
                                           "the series or the panel)")
        seen.add(point)


def columns(width, count):
    if width == "single_column":
        return 1 if count <= 3 else 2
    return count if count <= 4 else 3 if count <= 6 else 4


def panel_height(width, count):
    if count == 1:
        return 2.1 if width == "single_column" else 2.8
    return 1.35 if width == "single_column" else 1.9


def label(spec, column):
    """The label of a column, its symbol, and its unit if the label does not contain it."""
    words = spec["labels"].get(column, column.replace("_", " "))
    letter = style.letter(column)
    words += f" {letter}" if letter and letter not in words.split() else ""
    unit = (spec.get("units") or {}).get(column, "")
    unit = "" if unit == "1/s" and "per second" in words else unit
    return style.plain(f"{words} ({unit.replace('^2', '²')})" if unit and unit not in words else words)


def legend_title(spec, column):
    """The meaning of a column's symbol if it fits in one line of the figure; else the name of the column."""
    words = label(spec, column)
    fits = layout.text_width_in(words, style.TICK_PT) <= style.WIDTH_IN[spec["width"]] - 0.2
    return words if style.letter(column) and fits else style.symbol(column)


def title(spec, column, value):
    return f"{style.symbol(column)} = {style.value_text(value)}"
