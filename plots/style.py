# SPDX-License-Identifier: Apache-2.0
"""One style for every figure: sizes, fonts, colors, markers, and files whose bytes depend only on the data."""

import io
import os
from dataclasses import dataclass

import matplotlib
import numpy
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from . import command

WIDTH_IN = {"single_column": 3.35, "double_column": 7.0}

LABEL_PT = 7.5
TICK_PT = 7.0
SMALLEST_PT = 7.0
LINE_PT = 1.1
MARKER_PT = 3.4

INK = "#222222"
GREY = "#6b6b6b"
GRID = "#dddddd"
SHADE = "#efefef"

# Parts of an iteration: they differ in lightness, not only in hue.
DRAFT = "#f2b134"
TARGET = "#3b4a9b"

# Sixteen outlines that are distinguishable at 3 pt, each with a factor that makes it look as large as the others, and
# dash patterns that are distinguishable at 1 pt.
_OUTLINES = {"o": 1.0, "s": 0.95, "^": 1.25, "D": 0.9, "v": 1.25, "P": 1.25, "X": 1.2, "<": 1.25, ">": 1.25, "p": 1.2,
             "h": 1.15, "*": 1.5, "d": 1.3, (4, 1, 0): 1.6, (3, 1, 0): 1.6, (3, 1, 180): 1.6}
MARKERS = tuple(_OUTLINES)
DASHES = ((0, ()), (0, (4.5, 1.3)), (0, (1.2, 1.1)), (0, (4.5, 1.1, 1.2, 1.1)), (0, (7, 1.3)), (0, (4, 1, 1, 1, 1, 1)))
MAX_SERIES = len(MARKERS)

# From a dark color to the lightest that is visible as a line on white paper, in equal steps of lightness, so that the
# order of the series is visible in gray and with color blindness.
_MAP = matplotlib.colormaps["inferno"]
_LIGHTEST = 0.8

_PARAMETERS = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib
    "font.size": LABEL_PT,
    "axes.labelsize": LABEL_PT,
    "axes.titlesize": LABEL_PT,
    "axes.titlelocation": "left",
    "axes.titlepad": 3,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": GRID,
    "grid.linewidth": 0.4,
    "text.color": INK,
    "xtick.labelsize": TICK_PT,
    "ytick.labelsize": TICK_PT,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "lines.linewidth": LINE_PT,
    "lines.markersize": MARKER_PT,
    "hatch.linewidth": 0.5,
    "legend.fontsize": TICK_PT,
    "legend.title_fontsize": TICK_PT,
    "legend.frameon": False,
    "legend.handlelength": 2.2,
    "legend.handletextpad": 0.5,
    "legend.columnspacing": 1.2,
    "legend.labelspacing": 0.3,
    "legend.borderpad": 0.0,
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "foredraft",
}

_SYMBOLS = {"alpha": "α", "gamma": "γ", "c": "c", "operations_ratio": "ĉ"}


@dataclass(frozen=True)
class Look:
    """The look of a series: color, marker and dash pattern, each different from all other series."""

    color: str
    dash: tuple
    marker: str

    @property
    def scale(self):
        """The factor of the marker size for this outline."""
        return _OUTLINES[self.marker]


def settle():
    """Sets this style for the whole process: the user's matplotlibrc must not change a figure."""
    matplotlib.rcdefaults()
    matplotlib.rcParams.update(_PARAMETERS)


def lightness(color):
    """CIE L* of a color: 0 black, 100 white."""
    red, green, blue = (v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055)**2.4
                        for v in matplotlib.colors.to_rgb(color))
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return 116 * luminance**(1 / 3) - 16 if luminance > 0.008856 else 903.3 * luminance


def looks(count):
    """`count` looks (1 to MAX_SERIES), from dark to light."""
    steps = numpy.linspace(0, _LIGHTEST, 200)
    rising = [lightness(_MAP(step)) for step in steps]
    wanted = numpy.linspace(rising[0], rising[-1], count)
    colors = [matplotlib.colors.to_hex(_MAP(step)) for step in numpy.interp(wanted, rising, steps)]
    return [Look(color, DASHES[i % len(DASHES)], MARKERS[i]) for i, color in enumerate(colors)]


def plain(text):
    """`text` taken literally: no mathematics between dollar signs, no control characters (invalid in SVG)."""
    return "".join(c for c in text if c.isprintable()).replace("$", r"\$")


def letter(column):
    """The symbol of a column, or nothing."""
    return _SYMBOLS.get(column, "")


def symbol(column):
    """The symbol of a column, or its name in words."""
    return plain(letter(column) or column.replace("_", " "))


def value_text(value):
    """An axis value as text for a legend or a title."""
    if isinstance(value, str):
        return plain(value)
    return "∞" if value == float("inf") else f"{value:g}"


def new_figure(width):
    """An empty figure of the width named `width`; layout.arrange sets the height."""
    figure = Figure(figsize=(WIDTH_IN[width], 2.0), dpi=300)
    FigureCanvasAgg(figure)  # text can be measured from now on
    return figure


def dress(axes):
    """Sets this style for axes that were created in another one."""
    for side, spine in axes.spines.items():
        spine.set(visible=side in ("left", "bottom"), color=INK, linewidth=_PARAMETERS["axes.linewidth"])
    axes.set_axisbelow(True)
    axes.grid(True, color=GRID, linewidth=_PARAMETERS["grid.linewidth"])
    axes.tick_params(labelsize=TICK_PT, color=INK, labelcolor=INK, width=_PARAMETERS["xtick.major.width"],
                     length=_PARAMETERS["xtick.major.size"])
    axes.set_facecolor("white")


def save(figure, stem):
    """Writes `figure` as PDF, SVG and PNG (300 dpi) at path `stem` (no suffix); returns the three file names.

    No file contains a date, and each appears complete or not at all.
    """
    names = []
    for kind, metadata in (("pdf", {"CreationDate": None}), ("svg", {"Date": None}), ("png", {})):
        path = f"{stem}.{kind}"
        content = io.BytesIO()
        figure.savefig(content, format=kind, dpi=300, metadata=metadata)
        command.write(path, content.getvalue())
        names.append(os.path.basename(path))
    return names
