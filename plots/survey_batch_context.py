# SPDX-License-Identifier: Apache-2.0
"""What is left of the gain of heads as batch and context grow: a curve a context, for two ways of reading the cache."""

from . import load, speedup_by_batch, style

ID = "survey-batch-context"
COLUMNS = speedup_by_batch.columns("cache", "context")


def draw(directory):
    return style.save(figure(load.table(directory / f"{ID}.csv", COLUMNS)), directory / ID)


def figure(table):
    return speedup_by_batch.figure(table, "cache", "context", "context length (tokens)",
                                   "autoregressive decoding")
