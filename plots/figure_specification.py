# SPDX-License-Identifier: Apache-2.0
"""Reads <id>.figure.json: the quantity and axes of a sweep figure, and their labels."""

import math

from . import load, style

SCHEMA = "foredraft.figure/1"


def read(path):
    """The checked content of a <id>.figure.json (pathlib.Path)."""
    spec = load.document(path, SCHEMA)

    def need(key, holds, wanted):
        if not holds(spec.get(key)):
            raise load.BadFile(path, f"{key}: {spec.get(key)!r} (must be {wanted})")

    for key in ("id", "x", "y"):
        need(key, lambda value: isinstance(value, str) and value, "a text")
    for key in ("series", "panel"):
        need(key, lambda value: value is None or (isinstance(value, str) and value), "a column or null")
    need("along", lambda value: value is None or (isinstance(value, str) and value), "a column or null")
    need("width", lambda value: value in style.WIDTH_IN, " or ".join(style.WIDTH_IN))
    need("labels", _holds_texts, "an object of texts")
    need("units", lambda value: value is None or _holds_texts(value), "an object of texts")
    need("marks", lambda value: value is None or (isinstance(value, list) and all(map(_is_mark, value))),
         'a list of {"x": number} or {"y": number}, each with a "text"')
    if len(set(axes(spec))) < len(axes(spec)):
        place = "along" if spec.get("along") else "x"
        raise load.BadFile(path, f"{place}, series and panel must differ ({', '.join(axes(spec))})")
    if f"{spec['id']}.figure.json" != path.name:
        raise load.BadFile(path, f"id: {spec['id']!r} (must be the name of the file)")
    return spec


def _holds_texts(value):
    return isinstance(value, dict) and all(isinstance(text, str) for text in value.values())


def _is_mark(mark):
    def number(value):
        return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)

    return (isinstance(mark, dict) and isinstance(mark.get("text"), str)
            and [key for key in ("x", "y") if key in mark and number(mark[key])] == sorted(set(mark) - {"text"})
            and len(mark) == 2)


def axes(spec):
    """The columns that identify a point: panel, series, and x or along, as far as the figure has them."""
    place = spec["along"] if spec.get("along") else spec["x"]
    return [column for column in (spec["panel"], spec["series"], place) if column is not None]


def quantities(spec):
    """The quantities that the figure shows: y, and x where points are joined along an axis."""
    return [spec["x"], spec["y"]] if spec.get("along") else [spec["y"]]
