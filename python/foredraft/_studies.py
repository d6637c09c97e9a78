# SPDX-License-Identifier: Apache-2.0
"""Tables and figures of papers, and predictions beside measured speedups."""

from __future__ import annotations

import contextlib
import csv
import io
import math
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any


from foredraft import _core
from foredraft._devices import Device, Profile
from foredraft._scenarios import plain
from foredraft._sweeps import progress_bar
from foredraft._values import Value, exact_frame, frames_of

if TYPE_CHECKING:
    import pandas


class Reproduction(Value):
    """Recomputed tables and figures of papers: docs/published-tables.md.

    >>> study = fd.reproduce("leviathan-table1", progress=False)
    >>> study
    Reproduction(leviathan-table1: 12 results: 12 pass, 0 fail, 0 shown, 0 findings; 12 printed inputs not scored)
    >>> study.agrees
    True
    """

    def __init__(self, texts: dict[str, str], files: dict[str, str], scorecard: str, summary: str, failed: bool) -> None:
        self.texts = texts  #: the printed text of each experiment
        self.files = files  #: by name: the contents of tables (csv, tex, md) and of the data of figures
        self.scorecard = scorecard  #: as CSV: each printed number beside ours
        self.summary = summary  #: the number of results that agree
        self.agrees = not failed  #: no exact result contradicts a printed one; False is the program's exit code 1

    @property
    def tables(self) -> dict[str, pandas.DataFrame]:
        """The CSV files as frames, by their names without the ending."""
        return frames_of(self.files)

    def to_frame(self) -> pandas.DataFrame:
        """The scorecard: a row for each printed number, with ours, the kind of claim and the verdict (docs/metrics.md)."""
        return exact_frame(io.StringIO(self.scorecard))

    def __str__(self) -> str:
        return "\n".join([*self.texts.values(), self.summary])

    def __repr__(self) -> str:
        return f"Reproduction({', '.join(self.texts)}: {self.summary})"


def reproduce(*names: str,
              out: str | os.PathLike[str] | None = None,
              seed: int = 1,
              threads: int = 0,
              validation: str | os.PathLike[str] | None = None,
              progress: bool = True) -> Reproduction:
    """Tables and figures of papers: each printed number beside ours, and a scorecard.

    names: experiments, as ``fd.catalog("experiments")`` lists them; without any, all (minutes). out: a folder that keeps
    everything; without it nothing is written. seed: of every simulation. validation: a folder of validate(), whose
    results go into ``out`` too.

    >>> study = fd.reproduce("leviathan-table1", progress=False)
    >>> study.to_frame()[["row", "column", "published", "ours", "verdict"]].head(2)
                     row column  published  ours verdict
    0  alpha 0.6 gamma 2  alpha        0.6   NaN   shown
    1  alpha 0.6 gamma 2  gamma        2.0   NaN   shown

    Runs without the GIL; Ctrl-C ends it. Raises ValueError with every unknown name, RuntimeError for a failed run.
    """
    with contextlib.ExitStack() as stack:
        show = stack.enter_context(progress_bar("experiments")) if progress else None
        experiments, *rest = _core.reproduce(list(names), seed, threads, None if out is None else os.fspath(out),
                                None if validation is None else os.fspath(validation), ["foredraft.reproduce"], show)
    texts = {name: text for name, text, _ in experiments}
    files = {name: content for *_, files in experiments for name, content in files}
    return Reproduction(texts, files, *rest)


class Validation(Value):
    """Predicted beside measured speedups: docs/validation.md.

    >>> measured = {"target": ["qwen1.5-7b"], "draft": ["qwen1.5-0.5b"], "gamma": [4], "alpha": [0.8], "batch": [1],
    ...             "context": [512], "speedup": [1.4]}
    >>> validation = fd.validate("h200", against=measured)
    >>> validation
    Validation('NVIDIA H200 SXM 141GB', median_error=0.0467, worst_error=0.0467, valid=True)
    """

    def __init__(self, csv: str, text: str, device: str, valid: bool) -> None:
        self.csv = csv  #: validation.csv (docs/metrics.md)
        self.text = text  #: as the program prints it; the same as str()
        self.device = device  #: device of the profile
        self.valid = valid  #: False if repeated measurements of the profile differ by more than allowed

    def to_frame(self) -> pandas.DataFrame:
        """A row for each measured speedup, with the prediction and ``signed_error``: predicted over measured less 1."""
        return exact_frame(io.StringIO(self.csv))

    @property
    def median_error(self) -> float:
        """The median of abs(signed_error)."""
        return float(self.to_frame()["signed_error"].abs().median())

    @property
    def worst_error(self) -> float:
        """The maximum of abs(signed_error)."""
        return float(self.to_frame()["signed_error"].abs().max())

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return (f"Validation({self.device!r}, median_error={self.median_error:.3g}, worst_error={self.worst_error:.3g}, "
                f"valid={self.valid})")


def validate(profile: str | os.PathLike[str] | Profile | Device,
             *,
             against: str | os.PathLike[str] | Mapping[str, Any] | pandas.DataFrame | Any,
             out: str | os.PathLike[str] | None = None) -> Validation:
    """Compares speedups measured in an engine with those that a profile predicts.

    profile: a Profile or a Device, or what they are read from. against: a CSV file, a frame (pandas, polars) or a dict of
    columns: target, draft, gamma, batch, context, speedup; one of alpha, acceptance_length, conditional and marginal
    (lists); for drafts that are not autoregressive, drafter ("autoregressive", "block", "heads"). out: a new folder for
    prediction.csv, validation.csv and manifest.json. Loops of this machine are run by ``foredraft validate``.

    >>> import pandas as pd
    >>> measured = pd.DataFrame({"target": "qwen1.5-7b", "draft": "qwen1.5-0.5b", "gamma": [2, 4], "alpha": [0.6, 0.8],
    ...                          "batch": 1, "context": 512, "speedup": [1.1, 1.4]})
    >>> fd.validate("h200", against=measured).to_frame()[["gamma", "predicted_speedup", "measured_speedup"]].round(3)
       gamma  predicted_speedup  measured_speedup
    0      2              1.157               1.1
    1      4              1.465               1.4

    Raises ValueError with every row that is wrong or that the profile cannot predict.
    """
    name, steps = _times_of(profile)
    source, text = _table_of(against)
    return Validation(*_core.validate(name, steps, text, source, None if out is None else os.fspath(out),
                                       ["foredraft.validate"]))


def _times_of(profile: str | os.PathLike[str] | Profile | Device) -> tuple[str, bool]:
    if isinstance(profile, Profile):
        return profile.name, profile.steps
    return (profile.name if isinstance(profile, Device) else os.fspath(profile)), False


def _table_of(against: Any) -> tuple[str, str]:
    """The name and the text of a table as CSV."""
    if isinstance(against, (str, os.PathLike)):
        with open(against, encoding="utf-8") as file:
            return os.fspath(against), file.read()
    names = list(against) if isinstance(against, Mapping) else list(against.columns)
    columns = [plain(against[name]) for name in names]
    lengths = {len(column) for column in columns}
    if len(lengths) != 1:
        raise ValueError("foredraft: against: its columns differ in length")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([_cell(entry) for entry in row] for row in zip(*columns))
    return "against", text.getvalue()


def _cell(entry: Any) -> str:
    held = plain(entry)
    if held is None or (isinstance(held, float) and math.isnan(held)):
        return ""
    return " ".join(str(one) for one in held) if isinstance(held, list) else str(held)
