# SPDX-License-Identifier: Apache-2.0
"""The counted memory of one verification call against draft length in speech recognition [Wagner2024]."""

from . import verification_memory

ID = "wagner-figure4"
COLUMNS = verification_memory.COLUMNS
figure = verification_memory.figure
