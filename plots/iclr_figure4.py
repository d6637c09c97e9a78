# SPDX-License-Identifier: Apache-2.0
"""The speedup spread over sentences [Xia2022, Fig. 4], simulated."""

from . import load, sentence_speedups, style

ID = "iclr-figure4"
COLUMNS = sentence_speedups.COLUMNS
figure = sentence_speedups.figure


def draw(directory):
    return style.save(figure(load.table(directory / f"{ID}.csv", COLUMNS)), directory / ID)
