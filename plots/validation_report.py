# SPDX-License-Identifier: Apache-2.0
"""The section of a report on the accuracy of predictions for this machine or an engine: summary, figure, every cell."""

import html

import numpy

from . import load, scorecard, validation

_MOST_BETWEEN_RUNS = 0.02  # median, as in calibrate
_CELL = ("target", "drafter", "gamma", "alpha", "batch", "context")
_TITLES = {"predicted_speedup": "predicted", "measured_speedup": "measured", "signed_error": "error, %",
           "between_runs": "between runs, %"}
_LOOP = ("The predictions were written before the first loop ran, from forward passes that were measured at none of these "
         "cells. This validates how forward-pass timings compose, not a serving engine, which adds scheduling and networking.")
_ENGINE = ("The speedups were measured in an engine. What it does besides decoding is in the measured numbers; in the "
           "prediction only as far as its profile times it.")


def title(directory):
    manifest = _manifest(directory)
    return html.escape(str(manifest.get("engine", "An engine"))) if _of_engine(manifest) else "This machine"


def section(directory, anchor, figure):
    """The HTML of the section. `figure`: the drawing, or nothing if it could not be drawn."""
    table = validation.read(directory)
    manifest = _manifest(directory)
    return [f'<h2 id="{anchor}">{title(directory)}</h2>',
            f"<p>{html.escape(validation.words(validation.errors(table)))}. {_ENGINE if _of_engine(manifest) else _LOOP}</p>",
            *_noise(manifest, validation.errors(table)), *figure, "<details>", "<summary>every cell</summary>", *_cells(directory),
            "</details>"]


def _manifest(directory):
    source = directory / "validation.json"  # next to other results
    return load.document(source, "foredraft.[a-z_.]+/1") if load.exists(source) else load.manifest(directory) or {}


def _of_engine(manifest):
    return manifest.get("measured_by") == "user"


def _noise(manifest, errors):
    """A mark if the profile was not valid by its A/A run, or if two runs of a cell differ by more than that allows."""
    if manifest.get("valid", True) and not errors.between_runs > _MOST_BETWEEN_RUNS:
        return []
    return [f'<p>{scorecard.chip("finding", "noisy")} Repeated measurements of the same cell differ by more than '
            f"{100 * _MOST_BETWEEN_RUNS:g} % on this machine: the comparison is not reliable.</p>"]


def _cells(directory):
    _, header = next(load.rows(directory / f"{validation.ID}.csv"))
    inputs = [name for name in _CELL if name in header]
    cells = validation.measured(load.table(directory / f"{validation.ID}.csv",
                                           {**dict.fromkeys(inputs, load.TEXT), **validation.COLUMNS}))
    titles = "".join(f"<th>{html.escape(name)}</th>" for name in [*inputs, *_TITLES.values()])
    lines = ['<div class="wide"><table>', f"<thead><tr>{titles}</tr></thead>", "<tbody>"]
    for i in range(len(cells)):
        words = "".join(f"<td>{html.escape(str(cells[name][i]))}</td>" for name in inputs)
        numbers = "".join(f'<td class="number">{_number(name, cells[name][i])}</td>' for name in _TITLES)
        lines.append(f"<tr>{words}{numbers}</tr>")
    return [*lines, "</tbody>", "</table></div>"]


def _number(column, value):
    if not numpy.isfinite(value):
        return ""
    return {"signed_error": f"{100 * value:+.1f}", "between_runs": f"{100 * value:.1f}"}.get(column, f"{value:.3f}")
