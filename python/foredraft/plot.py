# SPDX-License-Identifier: Apache-2.0
"""The figures that the program draws, from frames and values (pip install foredraft[plot]).

Each function draws in the style of the program: labels in words with units, a series a line, closed forms as lines and
simulated means as points with 95 % intervals. It returns the axes that it drew on, or a list of them if the figure has
several panels; ``axes.figure.savefig("name.pdf")`` saves it. With ``ax=`` it draws one panel in your axes.
"""

from __future__ import annotations

import difflib
import importlib
import os
import pathlib
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from foredraft import _core
from foredraft._scenarios import parameters, quantities, toml_name

if TYPE_CHECKING:
    import pandas

    from foredraft._loads import LoadPrediction, TimesPrediction
    from foredraft._logs import Advice
    from foredraft._questions import Predictions
    from foredraft._studies import Reproduction, Validation
    from foredraft._trees import Tree

    Frame: TypeAlias = pandas.DataFrame | Predictions | Mapping[str, npt.ArrayLike]

_DPI = 200  # of figures on a screen
_FORMS = ("analytic_{}", "simulated_{}", "simulated_{}_standard_error")


def _plots(name: str) -> Any:
    """A module of plots/, which needs matplotlib."""
    return importlib.import_module(f"foredraft._plots.{name}")


def _draw(function: str, figure: Callable[[], Any], ax: Any) -> Any:
    """The axes of a figure of plots/ in its style, without changing the user's parameters of matplotlib."""
    import matplotlib
    pyplot: Any = importlib.import_module("matplotlib.pyplot")  # of which only some versions state types
    style, layout, load = _plots("style"), _plots("layout"), _plots("load")
    made: list[Any] = []

    def new_figure(width: str) -> Any:
        made.append(pyplot.figure(figsize=(style.WIDTH_IN[width], 2.0), dpi=_DPI))
        return made[-1]

    pyplot.draw_if_interactive()  # loads the backend, which changes parameters that have to stay
    with matplotlib.rc_context():
        style.settle()
        try:
            with layout.drawing(new_figure, ax):
                drawn = figure()
            drawn.draw_without_rendering()  # makes the ticks
        except (ValueError, load.BadFile) as error:
            for unfinished in made:
                pyplot.close(unfinished)
            raise ValueError(f"foredraft: {error}" if isinstance(error, load.BadFile) else
                             f"foredraft: {function}: {error}") from None
    if ax is not None:
        return ax
    axes = [axes for axes in drawn.axes if axes.get_visible()]
    return axes[0] if len(axes) == 1 else axes


def _columns(frame: Frame) -> dict[str, npt.NDArray[Any]]:
    """The columns of a frame under their names of configurations: numbers as doubles, others as they are."""
    found: Any = frame.to_frame() if hasattr(frame, "to_frame") and not hasattr(frame, "columns") else frame
    names = found if isinstance(found, Mapping) else found.columns
    return {toml_name(str(name)): _cells(found[name]) for name in names}


def _cells(values: Any) -> npt.NDArray[Any]:
    cells = np.asarray(values)
    if cells.dtype.kind in "biuf":
        return cells.astype(np.float64)
    try:
        return np.array([np.inf if cell == "unbounded" else np.nan if cell is None else float(cell)
                         for cell in cells.tolist()])
    except (TypeError, ValueError):
        return np.array([cell if isinstance(cell, str) else str(cell) for cell in cells.tolist()], dtype=object)


def _column(columns: dict[str, npt.NDArray[Any]], name: str) -> npt.NDArray[Any]:
    if name not in columns:
        raise _no_column(name, columns)
    return columns[name]


def _no_column(name: str, columns: Iterable[str]) -> KeyError:
    near = difflib.get_close_matches(name, columns, n=1)
    return KeyError(f"foredraft: no column {name}{f' - did you mean {near[0]}?' if near else ''}")


def _quantity(columns: dict[str, npt.NDArray[Any]], name: str) -> dict[str, npt.NDArray[Any]]:
    """The columns of a quantity as figures of sweeps have them, NaN where the frame has none of a kind."""
    stated = {form.format(name): columns.get(form.format(name)) for form in _FORMS}
    if name in columns:
        stated[f"analytic_{name}"] = columns[name]
    if all(cells is None for cells in stated.values()):
        raise _no_column(name, [column.removeprefix("analytic_") for column in columns])
    rows = len(next(iter(columns.values())))
    return {column: np.full(rows, np.nan) if cells is None else cells for column, cells in stated.items()}


def _check_axes(function: str, columns: dict[str, npt.NDArray[Any]], axes: list[str], free: list[str]) -> None:
    """Raises ValueError if several rows share a place in the figure, with the parameters that differ.

    free: the keywords that could take one of them.
    """
    for name in axes:
        missing = sum(cell != cell for cell in columns[name])
        if missing:
            raise ValueError(f"foredraft: {function}: {name} has no value in {missing} rows - leave them out")
    places: dict[tuple[Any, ...], list[int]] = {}
    for row, place in enumerate(zip(*(columns[name].tolist() for name in axes))):
        places.setdefault(place, []).append(row)
    place, rows = max(places.items(), key=lambda item: len(item[1]), default=((), []))
    if len(rows) <= 1:
        return
    text = _plots("style").value_text
    where = ", ".join(f"{name} = {text(value)}" for name, value in zip(axes, place))
    results = {form.format(name) for name in quantities() for form in ("{}", *_FORMS, "{}_deviation_in_se")}
    known = {parameter.name for parameter in parameters()}
    varying = [name for name in columns if name not in results and name not in axes
               and len({str(cell) for cell in columns[name][rows].tolist()}) > 1]
    opened = [name for name in varying if name in known] or [name for name in varying if name != "index"]
    if not opened:
        raise ValueError(f"foredraft: {function}: {len(rows)} rows for {where} - keep one of them")
    value = min((repr(cell) for cell in columns[opened[0]][rows].tolist()), key=len)
    ways = [f'frame[frame["{opened[0]}"] == {value}]', *(f'{key}="{opened[0]}"' for key in free)]
    raise ValueError(f"foredraft: {function}: {len(rows)} rows for {where}: {' and '.join(opened)} "
                     f"{'varies' if len(opened) == 1 else 'vary'}, which the figure does not show - choose: {' or '.join(ways)}")


def _sweep_figure(function: str, frame: Frame, x: str, y: str, series: str | None, panel: str | None,
                  along: str | None, ax: Any) -> Any:
    columns = _columns(frame)
    x, y = toml_name(x), toml_name(y)
    series, panel, along = (None if name is None else toml_name(name) for name in (series, panel, along))
    axes = [name for name in (panel, series, along or x) if name is not None]
    if len(set(axes)) < len(axes):
        raise ValueError(f"foredraft: {function}: x, series and panel must differ ({', '.join(axes)})")
    shown = {name: _column(columns, name) for name in axes}
    for quantity in (y,) if along is None else (x, y):
        shown |= _quantity(columns, quantity)
    _check_axes(function, columns, axes, [key for key, name in (("series", series), ("panel", panel)) if name is None])
    labels = _core.figure_labels()
    panels = 1 if panel is None else len(set(columns[panel].tolist()))
    specification = {"id": function, "x": x, "y": y, "series": series, "panel": panel, "along": along,
                     "width": "single_column" if panels == 1 else "double_column",
                     "labels": {name: words for name, words, _ in labels},
                     "units": {name: unit for name, _, unit in labels}}
    table = _plots("load").Table(function, shown)
    return _draw(function, lambda: _plots("sweep_figure").figure(specification, table), ax)


def curves(frame: Frame, x: str, y: str, *, series: str | None = None, panel: str | None = None, ax: Any = None) -> Any:
    """A quantity against a parameter: a line for each value of ``series``, a panel for each of ``panel``.

    frame: of sweep(), or Predictions, or any columns by name. y: a quantity such as "speedup"; its best point on a
    parameter that one can choose is marked.

    Raises ValueError with the name of another parameter that varies, so that several rows share a place; KeyError if
    the frame has no such column.
    """
    return _sweep_figure("curves", frame, x, y, series, panel, None, ax)


def trade_off(frame: Frame, x: str, y: str, *, along: str, series: str | None = None, panel: str | None = None,
              ax: Any = None) -> Any:
    """A quantity against another one, such as latency against throughput; points are joined in the order of ``along``.

    frame, series, panel and errors as of curves().
    """
    return _sweep_figure("trade_off", frame, x, y, series, panel, along, ax)


def agreement(frame: Frame, y: str = "speedup", *, ax: Any = None) -> Any:
    """Difference of simulation and closed form of a sweep in standard errors, point by point; ±4 is marked."""
    name = f"{y}_deviation_in_se"
    table = _plots("load").Table("agreement", {name: _column(_columns(frame), name)})
    words = {name: label for name, label, _ in _core.figure_labels()}.get(y, y)
    return _draw("agreement", lambda: _plots("agreement").figure(table, name, words), ax)


def tree(answer: Tree, *, ax: Any = None) -> Any:
    """The chosen tree: the more often a node is accepted, the larger and darker it is."""
    paths = [(), *(tuple(path) for path in answer.chosen.paths)]
    place = {path: node for node, path in enumerate(paths)}
    table = _plots("load").Table("tree", {
        "node": np.arange(len(paths), dtype=np.float64),
        "parent": np.array([place[path[:-1]] if path else np.nan for path in paths], dtype=np.float64),
        "depth": np.array([len(path) for path in paths], dtype=np.float64),
        "rank": np.array([path[-1] if path else 0 for path in paths], dtype=np.float64),
        "probability": np.array(answer.probabilities, dtype=np.float64)})
    token_tree = _plots("token_tree")
    return _draw("tree", lambda: token_tree.figure(table, [token_tree.FILLED] * len(table)), ax)


def acceptance_length(advice: Advice, *, ax: Any = None) -> Any:
    """The acceptance length at every draft length with its 95 % interval, what was logged as points."""
    return _of_tables(advice, "acceptance-length", ax)


def speedup_by_load(advice: Advice, *, ax: Any = None) -> Any:
    """Which draft length to set at which load: a row for each load, in each cell the speedup."""
    return _of_tables(advice, "speedup-by-load", ax)


def speedup_chain(advice: Advice, *, ax: Any = None) -> Any:
    """The factors between the promised and the measured speedup, a panel for each load."""
    return _of_tables(advice, "speedup-chain", ax)


def speedup_by_batch(prediction: TimesPrediction, *, ax: Any = None) -> Any:
    """The predicted speedup against the batch size, a line for a draft length, a panel for each context length."""
    return _of_tables(prediction, "batch-speedup", ax)


def step_time(prediction: TimesPrediction, *, ax: Any = None) -> Any:
    """The time of a token and its parts by draft length, a panel for each batch size."""
    return _of_tables(prediction, "step-time", ax)


def verification_cost(prediction: TimesPrediction, *, ax: Any = None) -> Any:
    """How the target's forward pass grows with the tokens that it verifies, and from where on."""
    return _of_tables(prediction, "verification-cost", ax)


def decision_map(prediction: TimesPrediction, *, ax: Any = None) -> Any:
    """Which draft length to use at each batch size and context length, of predictions for several of both."""
    return _of_tables(prediction, "decision-map", ax)


def _of_tables(answer: Advice | TimesPrediction, name: str, ax: Any) -> Any:
    text = answer.files.get(f"{name}.csv")
    if text is None:
        given = sorted({*_modules()} & {table.removesuffix(".csv") for table in answer.files})
        raise ValueError(f"foredraft: {name}: {type(answer).__name__} does not give this figure (it gives "
                         f"{', '.join(given) or 'none'})")
    return _of_text(name, text, ax)


def _of_text(name: str, text: str, ax: Any) -> Any:
    module = _modules()[name]
    return _draw(name, lambda: module.figure(_plots("load").table_of_text(name, text, module.COLUMNS)), ax)


def validation(answer: Validation, *, ax: Any = None) -> Any:
    """Predicted against measured speedups, with bands of 5 and 15 % about the diagonal."""
    return _of_text("validation", answer.csv, ax)


def reproduction(study: Reproduction, *, only: str | None = None, ax: Any = None) -> dict[str, Any]:
    """The figures of papers that reproduce() computed, by name. ``only``: this one.

    >>> study = fd.reproduce("leviathan-figure3", progress=False)
    >>> list(fd.plot.reproduction(study))
    ['leviathan-figure3']
    """
    texts = {name: study.files[f"{name}.csv"] for name in _modules()
             if f"{name}.csv" in study.files and only in (None, name)}
    if not texts:
        raise ValueError(f"foredraft: reproduction: no figure{f' {only}' if only else ''} among {', '.join(study.texts)}")
    return {name: _of_text(name, text, ax) for name, text in texts.items()}


def load_curves(answers: LoadPrediction | Iterable[LoadPrediction], *, ax: Any = None) -> Any:
    """Speedup, TPOT, TTFT and, with a price, cost against the load: a line for each draft length.

    answers: of predict_load() for the same models at several loads.
    """
    rows = [_load_row(answer.document, length)
            for answer in ([answers] if hasattr(answers, "document") else answers) for length in answer.document["gammas"]]
    return figure("load-curves", {name: [row[name] for row in rows] for name in rows[0]} if rows else {}, ax=ax)


def _load_row(document: Mapping[str, Any], length: Mapping[str, Any]) -> dict[str, Any]:
    means = length["closed_form"] or {}
    low, high = length["request_speedup_interval"] or (None, None)
    return _load_of(document) | {
        "asked": "no", "gamma": length["gamma"], "speedup": length["request_speedup"], "low": low, "high": high,
        "tpot_ms": means.get("tpot_ms"), "ttft_ms": means.get("ttft_ms"),
        "cost_per_million_output_tokens": length["cost_per_million_output_tokens"],
        "interval_level": document["evidence"]["interval_level"]}


def _load_of(document: Mapping[str, Any]) -> dict[str, Any]:
    closed = document["arrivals"] == "closed"
    return {"load": document["concurrency" if closed else "requests_per_s"],
            "unit": "concurrent requests" if closed else "requests/s"}


def load_time(answer: LoadPrediction, *, ax: Any = None) -> Any:
    """Where the time of a token goes at a load: verification, drafting, prompts and engine, a bar for each draft length."""
    document = answer.document
    rows = []
    for length in document["gammas"]:
        means = length["closed_form"]
        if means is not None:
            token_ms = means["iteration_ms"] / length["tokens_per_iteration"]
            rows.append(_load_of(document) | {"gamma": length["gamma"]}
                        | {f"{part}_ms": share * token_ms for part, share in means["shares"].items()}
                        | {"best": "yes" if length["gamma"] == document["best_gamma"]["latency"] else "no"})
    if not rows:
        raise ValueError("foredraft: load_time: the server is overloaded with every draft length")
    return figure("load-time", {name: [row[name] for row in rows] for name in rows[0]}, ax=ax)


def _modules() -> dict[str, Any]:
    return {module.ID: module for module in _plots("plot").EXPERIMENTS}


def figure(name: str, frame: Frame, *, ax: Any = None) -> Any:
    """A figure of the program by its name, from a frame with the columns of its NAME.csv in a results folder.

    Such as "batch-speedup", "step-time", "verification-cost" and "decision-map" of ``foredraft predict --out``,
    "validation" of ``foredraft validate``, "leviathan-figure2" of ``foredraft reproduce``. Raises ValueError with all names for
    another one, KeyError if the frame lacks a column.
    """
    module = _modules().get(name)
    if module is None:
        raise ValueError(f"foredraft: no figure {name} (must be one of {', '.join(sorted(_modules()))})")
    columns = _columns(frame)
    table = _plots("load").Table(name, {column: _column(columns, column) for column in module.COLUMNS})
    return _draw(name, lambda: module.figure(table), ax)


def folder(path: str | os.PathLike[str], *, only: str | None = None, ax: Any = None) -> dict[str, Any]:
    """Every figure of a results folder, drawn from its files: the axes of each by name. ``only``: this one.

    Raises ValueError for a folder without data of a figure, and for files that are invalid.
    """
    plot = _plots("plot")
    figures = {name: make for name, make in plot.drawings(pathlib.Path(path)) if only in (None, name)}
    if not figures:
        raise ValueError(f"foredraft: {os.fspath(path)}: nothing to draw")
    return {name: _draw(name, make, ax) for name, make in figures.items()}
