# SPDX-License-Identifier: Apache-2.0
"""Reads result files. An invalid file is an error of one line with its name and the reason.

The content of a results folder is not trusted: only `_opened` opens its files.
"""

import csv
import errno
import io
import json
import math
import os
import re
import stat

import numpy

from .command import BadFile

NUMBER = "number"  # a float; an empty cell is NaN; `unbounded`, as earlier versions wrote `inf`, is infinity
TEXT = "text"      # as it stands
OPTIONAL_TEXT = "optional text"  # unchanged; empty in every row of a file without the column
AXIS = "axis"      # never empty or NaN; numbers when every cell is one, else text

_MIB = 1 << 20
# Limit of files held in memory: documents, drawings, tables of figures. Far more than the program writes into one.
_MAX_HELD_BYTES = 64 * _MIB
# Limits of files read row by row: the points of a sweep, which may be tens of millions.
_MAX_STREAMED_BYTES = 16384 * _MIB
_MAX_ROW_CHARACTERS = _MIB  # a row of the program has a few thousand
_MAX_DEPTH = 64  # of nested objects and lists; the program's documents have fewer than ten


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
        """The rows with a true `chosen`."""
        mask = numpy.asarray(chosen, dtype=bool)
        return Table(self.path, {name: cells[mask] for name, cells in self.columns.items()})

    def sorted_by(self, column):
        """The rows in ascending order of a column; equal ones keep their order."""
        order = numpy.argsort(self.columns[column], kind="stable")
        return Table(self.path, {name: cells[order] for name, cells in self.columns.items()})

    def values(self, column):
        """The distinct values of a column: numbers ascending, words in order of appearance."""
        cells = list(dict.fromkeys(self.columns[column].tolist()))
        return cells if any(isinstance(cell, str) for cell in cells) else sorted(cells)


def exists(path):
    """Whether the folder has a file of this name. A link counts: reading it is an error."""
    return os.path.lexists(path)


def _opened(path, max_bytes):
    """A binary stream of a regular file of at most `max_bytes`. Links are not followed; pipes and devices are not
    read."""
    try:
        file = open(path, "rb", opener=lambda name, _: os.open(
            name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC))
    except FileNotFoundError:
        raise BadFile(path, "is missing") from None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise BadFile(path, "is a link; links in a results folder are not followed") from None
        raise BadFile(path, f"cannot be read ({error.strerror})") from None
    status = os.fstat(file.fileno())
    if stat.S_ISREG(status.st_mode) and status.st_size <= max_bytes:
        return file
    file.close()
    raise BadFile(path, f"is larger than {max_bytes // _MIB} MiB" if stat.S_ISREG(status.st_mode)
                  else "is not a regular file")


def streamed(path):
    """A binary stream of a file that is read piece by piece."""
    return _opened(path, _MAX_STREAMED_BYTES)


def content(path):
    """The bytes of a file that is held in memory."""
    with _opened(path, _MAX_HELD_BYTES) as file:
        try:
            return file.read(_MAX_HELD_BYTES)  # no more than that even if it grows meanwhile
        except OSError as error:
            raise BadFile(path, f"cannot be read ({error.strerror})") from None


def text(path):
    """The text of a UTF-8 file."""
    try:
        return content(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadFile(path, f"cannot be read ({error})") from None


def rows(path, max_bytes=_MAX_STREAMED_BYTES):
    """Yields the rows of a CSV file, the header first: pairs of line number and cells, as many as the header has."""
    with io.TextIOWrapper(_opened(path, max_bytes), encoding="utf-8", newline="") as file:
        yield from _rows(path, file)


def _rows(path, file):
    length = 0  # of the row that is being read, in characters

    def lines():
        nonlocal length
        while line := file.readline(_MAX_ROW_CHARACTERS + 1):
            length += len(line)
            if length > _MAX_ROW_CHARACTERS:
                raise BadFile(path, f"has a row of more than {_MAX_ROW_CHARACTERS} characters")
            yield line

    width = None
    reader = csv.reader(lines(), strict=True)
    try:
        for line in reader:
            length = 0
            if width is not None and line and len(line) != width:
                raise BadFile(path, f"line {reader.line_num} has {len(line)} cells, the header {width}")
            if line:
                width = width or len(line)
                yield reader.line_num, line
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadFile(path, f"cannot be read ({error})") from None
    if width is None:
        raise BadFile(path, "is empty (not even a header)")


def table(path, kinds):
    """The columns named by `kinds` ({name: NUMBER | TEXT | OPTIONAL_TEXT | AXIS}) of a CSV file; further columns are
    ignored."""
    return _table(path, kinds, rows(path, _MAX_HELD_BYTES))


def table_of_text(name, content, kinds):
    """The same for the text of a CSV file; `name` is its path in messages."""
    return _table(name, kinds, _rows(name, io.StringIO(content)))


def _table(path, kinds, lines):
    (_, header), *body = lines
    missing = [name for name, kind in kinds.items() if name not in header and kind != OPTIONAL_TEXT]
    if missing:
        raise BadFile(path, f"has no column {', '.join(missing)} (it has {', '.join(header)})")
    if not body:
        raise BadFile(path, "has a header but no rows")
    columns = {}
    for name, kind in kinds.items():
        if name not in header:
            columns[name] = numpy.array([""] * len(body), dtype=object)
            continue
        place = header.index(name)
        columns[name] = _typed(path, name, kind, [(number, line[place].strip()) for number, line in body])
    return Table(path, columns)


def _typed(path, name, kind, cells):
    if kind == AXIS:
        for number, cell in cells:
            if not cell or cell.lower() == "nan":
                raise BadFile(path, f"line {number}: {name}: '{cell}' is no value of an axis")
        kind = NUMBER if all(_number(cell) is not None for _, cell in cells) else TEXT
    if kind in (TEXT, OPTIONAL_TEXT):
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
        found = json.loads(text(path))
    except RecursionError:
        raise _too_deep(path) from None
    except ValueError as error:
        raise BadFile(path, f"cannot be read ({error})") from None
    level = [found]
    for _ in range(_MAX_DEPTH + 1):
        level = [child for value in level if isinstance(value, (dict, list))
                 for child in (value.values() if isinstance(value, dict) else value)]
    if level:
        raise _too_deep(path)
    if not isinstance(found, dict):
        raise BadFile(path, "is not a JSON object")
    name = found.get("schema")
    if not isinstance(name, str) or not re.fullmatch(schema, name):
        wanted = schema.replace("[a-z_.]+", "*")
        raise BadFile(path, f"unknown schema {json.dumps(name)} (these plots read {wanted})")
    return found


def _too_deep(path):
    return BadFile(path, f"cannot be read (nested deeper than {_MAX_DEPTH})")


def manifest(directory):
    """The manifest of a results directory (pathlib.Path), or None."""
    path = directory / "manifest.json"
    return document(path, "foredraft.[a-z_.]+/1") if exists(path) else None
