# SPDX-License-Identifier: Apache-2.0
"""Writes points.parquet next to the points.csv of a results folder of any size.

Usage: parquet.py FOLDER; needs pyarrow.

Columns have the names of the CSV. They are whole numbers, doubles or text, whichever holds
all of their cells; an empty cell is null. The file's metadata hold the manifest, under "foredraft.manifest".
"""
import os
import sys
import types

if __name__ == "__main__":  # started by its path: its folder becomes the package `plots`
    sys.dont_write_bytecode = True  # a full disk could leave a truncated file, which Python would load
    __package__ = "plots"
    sys.modules["plots"] = types.ModuleType("plots")
    sys.modules["plots"].__path__ = [os.path.dirname(os.path.realpath(__file__))]

from . import command

if __name__ == "__main__":
    command.start()

import pyarrow
import pyarrow.compute
import pyarrow.csv
import pyarrow.parquet

from . import load

_BLOCK_BYTES = 8 << 20  # of the CSV, read at a time
_KINDS = (pyarrow.int64(), pyarrow.float64(), pyarrow.string())  # a column has the first that fits all of its cells


def _blocks(points):
    """The cells as text, block by block; empty ones are null."""
    with load.streamed(points) as file:
        names = file.readline().decode("utf-8").rstrip("\n").split(",")
    options = pyarrow.csv.ConvertOptions(column_types={name: pyarrow.string() for name in names},
                                         strings_can_be_null=True, null_values=[""])
    return pyarrow.csv.open_csv(load.streamed(points), pyarrow.csv.ReadOptions(block_size=_BLOCK_BYTES),
                                convert_options=options)


def _cast(column, kind):
    if kind == pyarrow.float64():
        column = pyarrow.compute.replace_substring_regex(column, "^unbounded$", "inf")
    return column.cast(kind)


def _holds(kind, column):
    try:
        _cast(column, kind)
    except pyarrow.ArrowInvalid:
        return False
    return True


def _schema(points):
    kinds = {}
    with _blocks(points) as blocks:
        for block in blocks:
            for name, column in zip(block.schema.names, block.columns):
                while not _holds(_KINDS[kinds.setdefault(name, 0)], column):
                    kinds[name] += 1
        return pyarrow.schema([(name, _KINDS[kinds.get(name, 0)]) for name in blocks.schema.names])


def write(directory):
    """Writes the file; the exit status."""
    points, target = directory / "points.csv", directory / "points.parquet"
    schema = _schema(points).with_metadata({"foredraft.manifest": load.content(directory / "manifest.json")})
    with _blocks(points) as blocks, command.writing(target) as file:
        with pyarrow.parquet.ParquetWriter(file, schema) as parquet:
            for block in blocks:
                columns = [_cast(column, field.type) for column, field in zip(block.columns, schema)]
                parquet.write_batch(pyarrow.RecordBatch.from_arrays(columns, schema=schema))
    return 0


if __name__ == "__main__":
    command.finish(command.run("parquet", write, sys.argv[1:]))
