"""Reads result files. A file that is not what it should be is refused with one line that names it and says why."""

import csv
import json
import math
import re

import numpy

NUMBER = "number"  # a float; an empty cell is NaN, the word `unbounded` infinity
TEXT = "text"      # as it stands
AXIS = "axis"      # never empty or NaN; numbers when every cell is one, else text


class BadFile(Exception):
    """A file that cannot be used; the message starts with its path."""

    def __init__(self, path, problem):
        super().__init__(f"{path}: {problem}")


class Table:
    """Typed columns of equal length and the path they came from."""

    def __init__(self, path, columns):
        self.path = path
        self.columns = columns

    def __getitem__(self, column):
        return self.columns[column]

    def __len__(self):
        return len(next(iter(self.columns.values())))

    def where(self, **wanted):
        """The rows in which every named column has the given value."""
        return self.keep([all(self.columns[name][i] == value for name, value in wanted.items())
                          for i in range(len(self))])

    def keep(self, chosen):
        """The rows for which `chosen` is true."""
        mask = numpy.asarray(chosen, dtype=bool)
        return Table(self.path, {name: cells[mask] for name, cells in self.columns.items()})

    def sorted_by(self, column):
        """The rows in rising order of a column; equal ones keep their order."""
        order = numpy.argsort(self.columns[column], kind="stable")
        return Table(self.path, {name: cells[order] for name, cells in self.columns.items()})

    def values(self, column):
        """The distinct values of a column: numbers rising, words as they first appear."""
        cells = list(dict.fromkeys(self.columns[column].tolist()))
        return cells if any(isinstance(cell, str) for cell in cells) else sorted(cells)


def rows(path):
    """The header of a CSV file and its rows as text, each with its line number."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            reader = csv.reader(file, strict=True)
            lines = [(reader.line_num, line) for line in reader if line]
    except FileNotFoundError:
        raise BadFile(path, "is missing") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadFile(path, f"cannot be read ({error})") from None
    if not lines:
        raise BadFile(path, "is empty (not even a header)")
    (_, header), body = lines[0], lines[1:]
    for number, line in body:
        if len(line) != len(header):
            raise BadFile(path, f"line {number} has {len(line)} cells, the header {len(header)}")
    return header, body


def table(path, kinds):
    """The columns named by `kinds` ({name: NUMBER | TEXT | AXIS}) of a CSV file; further columns are ignored."""
    header, body = rows(path)
    missing = [name for name in kinds if name not in header]
    if missing:
        raise BadFile(path, f"has no column {', '.join(missing)} (it has {', '.join(header)})")
    if not body:
        raise BadFile(path, "has a header but no rows")
    columns = {}
    for name, kind in kinds.items():
        place = header.index(name)
        columns[name] = _typed(path, name, kind, [(number, line[place].strip()) for number, line in body])
    return Table(path, columns)


def _typed(path, name, kind, cells):
    if kind == AXIS:
        for number, cell in cells:
            if not cell or cell.lower() == "nan":
                raise BadFile(path, f"line {number}: {name}: '{cell}' is no value of an axis")
        kind = NUMBER if all(_number(cell) is not None for _, cell in cells) else TEXT
    if kind == TEXT:
        return numpy.array([cell for _, cell in cells], dtype=object)
    values = []
    for number, cell in cells:
        value = _number(cell) if cell else math.nan
        if value is None:
            raise BadFile(path, f"line {number}: {name}: '{cell}' is not a number")
        values.append(value)
    return numpy.array(values)


def _number(cell):
    if cell == "unbounded":
        return math.inf
    try:
        return float(cell)
    except ValueError:
        return None


def document(path, schema):
    """The JSON object in a file whose `schema` matches the pattern `schema`, such as `foredraft.figure/1`."""
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
    except FileNotFoundError:
        raise BadFile(path, "is missing") from None
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise BadFile(path, f"cannot be read ({error})") from None
    if not isinstance(content, dict):
        raise BadFile(path, "is not a JSON object")
    found = content.get("schema")
    if not isinstance(found, str) or not re.fullmatch(schema, found):
        wanted = schema.replace("[a-z_.]+", "*")
        raise BadFile(path, f"unknown schema {json.dumps(found)} (these plots read {wanted})")
    return content


def manifest(directory):
    """The manifest of a results directory (pathlib.Path), or None where there is none."""
    path = directory / "manifest.json"
    return document(path, "foredraft.[a-z_.]+/1") if path.exists() else None
