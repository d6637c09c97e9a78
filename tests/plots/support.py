# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of the plots: the import path, a folder for each test, and the content of figures."""

import contextlib
import csv
import io
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

PLOTS = Path(__file__).resolve().parents[2] / "plots"
sys.dont_write_bytecode = True
sys.path.insert(0, str(PLOTS.parent))

from matplotlib.container import ErrorbarContainer  # noqa: E402
from matplotlib.text import Text  # noqa: E402

from plots import load, style  # noqa: E402

style.settle()  # as plot.py does


class InDirectory(unittest.TestCase):
    """A test with an empty directory, self.directory."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.directory = Path(folder.name)


class Drawn(InDirectory):
    """A test of how a figure shows the files in its directory. Equal files are drawn once, so tests must not change
    figures."""

    _figures = {}

    def once(self, name, draw, *files):
        """The figure that `draw` makes of `files` in the directory."""
        key = (name, *((self.directory / file).read_bytes() for file in files))
        if key not in self._figures:
            self._figures[key] = draw()
        return self._figures[key]

    def panels(self, figure):
        return [axes for axes in figure.axes if axes.get_visible()]

    def experiment(self, module, write):
        write(self.directory)
        table = load.table(self.directory / f"{module.ID}.csv", module.COLUMNS)
        return self.once(module.ID, lambda: module.figure(table), f"{module.ID}.csv"), table

    def records(self, name):
        with open(self.directory / name, encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def labels(self, figure):
        return [text.get_text() for legend in figure.legends for text in legend.get_texts()]

    def titles(self, figure):
        """The titles of the axes: along x, then those along y, from the top."""
        words = [(text.get_rotation(), " ".join(text.get_text().split())) for text in figure.texts]
        return [text for across in (0, 90) for rotation, text in words if rotation == across]

    def scales(self, figure):
        return {(axes.get_xscale(), axes.get_yscale()) for axes in self.panels(figure)}

    def handle(self, figure, label):
        """The line or marker of the only legend entry `label`."""
        handles = "legend_handles" if hasattr(figure.legends[0], "legend_handles") else "legendHandles"  # until 3.7
        (found,) = [handle for legend in figure.legends
                    for handle, text in zip(getattr(legend, handles), legend.get_texts()) if text.get_text() == label]
        return found


def start(script, folder, **options):
    """Runs plot.py or report.py as the program does."""
    return subprocess.run([sys.executable, "-I", str(PLOTS / f"{script}.py"), str(folder)], text=True, check=False,
                          **{"capture_output": True, **options})


def run_main(main, *arguments):
    """Exit status, stdout and stderr of a command."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main([str(argument) for argument in arguments])
    return status, out.getvalue(), err.getvalue()


def drawn_texts(figure):
    """Every text that is really drawn in `figure`, with its box in pixels."""
    found = []
    draw = Text.draw

    def record(text, renderer, *args, **kwargs):
        if text.get_visible() and text.get_text().strip():
            found.append((text, text.get_window_extent(renderer)))
        draw(text, renderer, *args, **kwargs)

    with mock.patch.object(Text, "draw", record):
        figure.draw(figure.canvas.get_renderer())
    return found


def rows_of(axes):
    """The plotted points of each error bar container that has any: (x, y, lower, upper) in plotting order."""
    series = []
    for container in axes.containers:
        if not isinstance(container, ErrorbarContainer):
            continue
        line, _, bars = container.lines
        if len(line.get_xdata()):
            ends = [segment[:, 1] for segment in bars[0].get_segments()]
            series.append([(x, y, *bar) for x, y, bar in zip(line.get_xdata(), line.get_ydata(), ends)])
    return series
