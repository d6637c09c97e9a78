# SPDX-License-Identifier: Apache-2.0
"""The speedup of SpecDec on three devices [Xia2022, Fig. 5], against the batch: from their data sheets only, and with
the time of the papers' program."""

from . import speedup_by_batch

ID = "iclr-figure5"
COLUMNS = speedup_by_batch.columns("clock", "device")


def figure(table):
    return speedup_by_batch.figure(table, "clock", "device", "device", "beam search")
