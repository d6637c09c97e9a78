# SPDX-License-Identifier: Apache-2.0
"""Values that compare by their contents, arrays and frames included."""

from __future__ import annotations

import copy
import io
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pandas

RealArray = npt.NDArray[np.float64]


def checked_array(name: str, value: object) -> npt.NDArray[Any]:
    """The value as an array; ValueError for rows of different lengths and for masked entries."""
    if np.ma.is_masked(value):
        raise ValueError(f"foredraft: {name}: has masked entries (every entry needs a value) - fill them: array.filled(...)")
    try:
        return np.asarray(value)
    except ValueError as error:
        raise ValueError(f"foredraft: {name}: not an array ({error})") from None


def same(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    return bool(one.equals(other) if hasattr(one, "equals") else one == other)


class Value:
    """Compares by contents (NaN equals NaN, as both are not known), is not hashable and can be pickled."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and same(vars(self), vars(other))

    __hash__ = None  # type: ignore[assignment]


class Answer(Value):
    """An answer as the program prints it: a document as with --json, and text."""

    def __init__(self, document: dict[str, Any], text: str) -> None:
        self.document = document  #: as the program prints it with --json
        self.text = text  #: as the program prints it; the same as str()

    def to_dict(self) -> dict[str, Any]:
        """A copy of the document."""
        return copy.deepcopy(self.document)

    def __str__(self) -> str:
        return self.text


def exact_frame(source: Any) -> pandas.DataFrame:
    """A CSV file with the digits of its doubles read exactly."""
    import pandas
    # Since 3 they are without being asked to.
    exact: Any = {} if int(pandas.__version__.split(".")[0]) >= 3 else {"float_precision": "round_trip"}
    frame: pandas.DataFrame = pandas.read_csv(source, **exact)
    return frame


def frames_of(files: Mapping[str, str]) -> dict[str, pandas.DataFrame]:
    """The CSV files among them as frames, by their names without the ending."""
    return {name.removesuffix(".csv"): exact_frame(io.StringIO(text))
            for name, text in files.items() if name.endswith(".csv")}


class FiledAnswer(Answer):
    """An answer with the tables that the program writes into a folder."""

    def __init__(self, document: dict[str, Any], text: str, notes: Iterable[str] = (),
                 files: Iterable[tuple[str, str]] = ()) -> None:
        super().__init__(document, text)
        self.notes = list(notes)  #: what was assumed of the models
        self.files = dict(files)  #: by name: the contents of the CSV files of ``--out``, which figures draw

    @property
    def tables(self) -> dict[str, pandas.DataFrame]:
        """The files as frames, by their names without the ending."""
        return frames_of(self.files)
