# SPDX-License-Identifier: Apache-2.0
"""The x axis of a sweep figure: linear, logarithmic if the values increase by factors, or words side by side."""

import math

import numpy
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from . import layout, style

_LONGEST_WORD_IN = 1.2


class HorizontalAxis:
    """The positions of the values on the x axis: numbers at their value, words side by side."""

    def __init__(self, column, table):
        self.column = column
        self.values = [value for value in table.values(column) if value != numpy.inf]
        self.words = isinstance(self.values[0], str) if self.values else False
        self.logarithmic = not self.words and _spreads_by_factors(self.values)

    def of(self, rows, aside):
        """The positions of the rows. At a word, `aside` from -0.5 to 0.5 puts the series side by side."""
        cells = rows[self.column]
        if not self.words:
            return cells
        return numpy.array([self.values.index(cell) for cell in cells], dtype=float) + 0.5 * aside

    def dress(self, axes, panel_width_in):
        if self.words:
            self._dress_words(axes, panel_width_in)
        elif self.logarithmic:
            axes.set_xscale("log", base=2)
            self._fix_ticks(axes, self.values[::-(-len(self.values) // 8)])
            axes.xaxis.set_minor_locator(NullLocator())
        elif len(self.values) == 1:
            axes.set_xlim(self.values[0] - 1, self.values[0] + 1)
            self._fix_ticks(axes, self.values)
        else:
            whole = all(float(value).is_integer() for value in self.values)
            axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=whole, steps=[1, 2, 2.5, 5, 10]))
            axes.margins(x=0.04)

    @staticmethod
    def _fix_ticks(axes, values):
        axes.xaxis.set_major_locator(FixedLocator(values))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: style.value_text(value)))

    def _dress_words(self, axes, panel_width_in):
        axes.set_xlim(-0.5, len(self.values) - 0.5)
        slot_in = 0.95 * panel_width_in / len(self.values)
        texts = [style.value_text(word).replace("_", " ") for word in self.values]
        level = all(layout.text_width_in(word, style.TICK_PT) <= slot_in
                    for text in texts for word in text.split())
        room_in, lines = (slot_in, 3) if level else (_LONGEST_WORD_IN, 1)
        axes.set_xticks(range(len(texts)), [layout.wrap(text, room_in, style.TICK_PT, lines)
                                            for text in texts], rotation=0 if level else 90)


def dress_counts(axes, ticks):
    """Makes the axis logarithmic, with ticks only at the whole numbers `ticks`."""
    axes.set_xscale("log", base=2)
    if len(ticks) == 1:
        axes.set_xlim(ticks[0] / 2, ticks[0] * 2)
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: style.value_text(value)))
    axes.xaxis.set_minor_locator(NullLocator())


def powers_of_two(low, high, max_count):
    """At most `max_count` powers of two from `low` to `high`, in equal steps."""
    powers = [2**i for i in range(math.ceil(math.log2(low)), math.floor(math.log2(high)) + 1)]
    return powers[::max(1, -(-len(powers) // max_count))]


def _spreads_by_factors(values):
    """True if the values increase by factors, such as 1, 2, 4, 8: a logarithmic axis then suits them."""
    if len(values) < 4 or values[0] <= 0 or values[-1] / values[0] < 8:
        return False
    ratios = [b / a for a, b in zip(values, values[1:])]
    return max(ratios) <= 1.6 * min(ratios)
