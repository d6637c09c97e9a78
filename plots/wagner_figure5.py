# SPDX-License-Identifier: Apache-2.0
"""The counted memory of one verification call against draft length in summarization [Wagner2024]."""

from . import verification_memory

ID = "wagner-figure5"
COLUMNS = verification_memory.COLUMNS
figure = verification_memory.figure
