"""The section of a report on how well this machine was predicted: what it is worth, the figure, every cell."""

import html

import numpy

import load
import scorecard
import validation

_MOST_BETWEEN_RUNS = 0.02  # median, as calibrate has it
_CELL = ("target", "drafter", "gamma", "alpha", "batch", "context")
_TITLES = {"predicted_speedup": "predicted", "measured_speedup": "measured", "signed_error": "error, %",
           "between_runs": "between runs, %"}


def section(directory, anchor, figure):
    """The HTML of the section. `figure`: the drawing, or nothing where none could be made."""
    table = validation.read(directory)
    source = directory / "validation.json"  # beside results of something else
    manifest = load.document(source, "foredraft.[a-z_.]+/1") if source.exists() else load.manifest(directory) or {}
    return [f'<h2 id="{anchor}">This machine</h2>',
            f"<p>{html.escape(validation.words(validation.errors(table)))}. The predictions were written before the "
            "first loop ran, from measured passes of none of these cells. What agrees is the composition of our own "
            "passes into iterations; somebody's engine does more than that.</p>",
            *_noise(manifest, validation.errors(table)), *figure, "<details>", "<summary>every cell</summary>", *_cells(directory),
            "</details>"]


def _noise(manifest, errors):
    """A mark where the profile was not valid by its own A/A run, or two runs of a cell differ by more than it allows."""
    if manifest.get("valid", True) and not errors.between_runs > _MOST_BETWEEN_RUNS:
        return []
    return [f'<p>{scorecard.chip("finding", "noisy")} This machine did not repeat its own measurements to within '
            f"{100 * _MOST_BETWEEN_RUNS:g} %: neither side of the comparison is worth much.</p>"]


def _cells(directory):
    header, _ = load.rows(directory / f"{validation.ID}.csv")
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
