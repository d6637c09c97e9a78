# SPDX-License-Identifier: Apache-2.0
"""The speedup spread over sentences [Xia2023, Fig. 6], simulated."""

from . import load, sentence_speedups, style

ID = "emnlp-figure6"
COLUMNS = sentence_speedups.COLUMNS
figure = sentence_speedups.figure


def draw(directory):
    return style.save(figure(load.table(directory / f"{ID}.csv", COLUMNS)), directory / ID)
