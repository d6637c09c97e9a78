# SPDX-License-Identifier: Apache-2.0
"""The speedup spread over sentences [Xia2023, Fig. 6], simulated."""

from . import sentence_speedups

ID = "emnlp-figure6"
COLUMNS = sentence_speedups.COLUMNS
figure = sentence_speedups.figure
