# SPDX-License-Identifier: Apache-2.0
"""The speedup of SpecDec on three devices [Xia2022, Fig. 5], against the batch: by their data sheets alone, and beside
what the papers' program takes."""

from . import load, speedup_by_batch, style

ID = "iclr-figure5"
COLUMNS = speedup_by_batch.columns("clock", "device")


def draw(directory):
    return style.save(figure(load.table(directory / f"{ID}.csv", COLUMNS)), directory / ID)


def figure(table):
    return speedup_by_batch.figure(table, "clock", "device", "device", "beam search")
