# SPDX-License-Identifier: Apache-2.0
"""The memory of one verification call against draft length in speech recognition [Wagner2024], counted."""

from . import load, style, verification_memory

ID = "wagner-figure4"
COLUMNS = verification_memory.COLUMNS
figure = verification_memory.figure


def draw(directory):
    return style.save(figure(load.table(directory / f"{ID}.csv", COLUMNS)), directory / ID)
