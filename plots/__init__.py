# SPDX-License-Identifier: Apache-2.0
"""Figures and reports from result files. The program starts plot.py, report.py and parquet.py by their paths; in the
Python package this folder is foredraft._plots, which foredraft.plot uses."""
