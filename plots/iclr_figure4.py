# SPDX-License-Identifier: Apache-2.0
"""The speedup spread over sentences [Xia2022, Fig. 4], simulated."""

from . import sentence_speedups

ID = "iclr-figure4"
COLUMNS = sentence_speedups.COLUMNS
figure = sentence_speedups.figure
