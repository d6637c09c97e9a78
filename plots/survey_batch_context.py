# SPDX-License-Identifier: Apache-2.0
"""The gain from heads as batch and context grow: a curve for each context, for two ways of reading the KV cache."""

from . import speedup_by_batch

ID = "survey-batch-context"
COLUMNS = speedup_by_batch.columns("cache", "context")


def figure(table):
    return speedup_by_batch.figure(table, "cache", "context", "context length (tokens)",
                                   "autoregressive decoding")
