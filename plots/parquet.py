# SPDX-License-Identifier: Apache-2.0
"""Writes points.parquet beside the points.csv of a results folder, whatever its size.

Usage: parquet.py FOLDER; needs pyarrow.

Columns have the names of the CSV. They are whole numbers, doubles ("unbounded" is infinity) or text, whichever holds
all of their cells; an empty cell is null. The file's metadata hold the manifest, under "foredraft.manifest".
"""
import os
import pathlib
import sys

import pyarrow
import pyarrow.compute
import pyarrow.csv
import pyarrow.parquet

BLOCK_BYTES = 8 << 20  # of the CSV, read at a time


def _blocks(points):
    """The cells as text, block by block; empty ones are null."""
    with pyarrow.csv.open_csv(points) as file:
        names = file.schema.names
    options = pyarrow.csv.ConvertOptions(column_types={name: pyarrow.string() for name in names},
                                         strings_can_be_null=True, null_values=[""])
    return pyarrow.csv.open_csv(points, pyarrow.csv.ReadOptions(block_size=BLOCK_BYTES), convert_options=options)


def _cast(column, kind):
    if kind == pyarrow.float64():
        column = pyarrow.compute.replace_substring_regex(column, "^unbounded$", "inf")
    return column.cast(kind)


def _fits(column, kind):
    try:
        _cast(column, kind)
    except pyarrow.ArrowInvalid:
        return False
    return True


def _schema(points):
    kinds = {}
    order = (pyarrow.int64(), pyarrow.float64(), pyarrow.string())
    with _blocks(points) as blocks:
        for block in blocks:
            for name, column in zip(block.schema.names, block.columns):
                while not _fits(column, order[kinds.setdefault(name, 0)]):
                    kinds[name] += 1
        return pyarrow.schema([(name, order[kinds.get(name, 0)]) for name in blocks.schema.names])


def write(folder):
    """The path of the file, which is there as a whole or not at all."""
    folder = pathlib.Path(folder)
    points = str(folder / "points.csv")
    schema = _schema(points).with_metadata({"foredraft.manifest": (folder / "manifest.json").read_bytes()})
    target = folder / "points.parquet"
    begun = folder / ".points.parquet.begun"
    with _blocks(points) as blocks, pyarrow.parquet.ParquetWriter(begun, schema) as file:
        for block in blocks:
            columns = [_cast(column, field.type) for column, field in zip(block.columns, schema)]
            file.write_batch(pyarrow.RecordBatch.from_arrays(columns, schema=schema))
    os.replace(begun, target)
    return target


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        write(sys.argv[1])
    except (OSError, pyarrow.ArrowException) as error:
        sys.exit(f"parquet.py: {error}")
