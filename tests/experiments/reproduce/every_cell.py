#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every number that a paper prints has its row in the scorecard: the printed tables are read here by a reader
independent of the program's, and compared with the scorecard of their experiments.

Usage: every_cell.py PROGRAM FOLDER_OF_PRINTED_TABLES
"""
import collections
import csv
import pathlib
import re
import subprocess
import sys
import tempfile

NUMBER = re.compile(r"[-+]?\d+(\.\d+)?")
# Tables whose experiment has another name.
EXPERIMENT_OF = {"survey_numbers": "survey", "medusa_head_accuracies": "survey-medusa-tree"}
# Cells of numeric columns that the paper leaves empty or that our source has lost (emnlp_table13: EN-DE of both
# baselines). A cell that gets lost here would be missing on both sides of the comparison.
BLANKS = {"claims": 83, "emnlp_table1": 12, "emnlp_table13": 4, "emnlp_table14": 1, "emnlp_table2": 1,
          "emnlp_table3": 1, "emnlp_table4": 11, "emnlp_table5": 6, "iclr_table1": 36, "iclr_table10": 2,
          "iclr_table11": 1, "iclr_table2": 1, "iclr_table4": 25, "iclr_table5": 8, "iclr_table6": 17,
          "iclr_table8": 24, "spectr": 2, "survey_numbers": 5, "wagner_table2": 2, "wagner_table5": 6}


def records(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, strict=True))


def printed_numbers(path):
    """How often each (column, number) is printed, and suspicious cells of the file."""
    lines = records(path)
    numbers, problems, blanks = collections.Counter(), [], 0
    for column in lines[0]:
        cells = [line[column] for line in lines]
        found = [cell for cell in cells if NUMBER.fullmatch(cell)]
        numbers.update((column, cell) for cell in found)
        if found:
            blanks += cells.count("")
            problems += [f"{path.stem}: {column}: '{cell}' among numbers" for cell in cells
                         if cell and cell not in found and re.search(r"\d", cell)]
    if blanks != BLANKS.get(path.stem, 0):
        problems.append(f"{path.stem}: {blanks} blank cells in columns of numbers, not {BLANKS.get(path.stem, 0)}")
    return numbers, problems


def experiment_of(table):
    return EXPERIMENT_OF.get(table, table.replace("_", "-"))


def scored_numbers(program, folder, experiments):
    """By experiment: how often each (column, number) has a row in the scorecard."""
    run = subprocess.run([program, "reproduce", *experiments, "--no-figures", "--out", folder / "tables"], text=True,
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if run.returncode != 0:
        sys.exit(run.stderr)
    scored = collections.defaultdict(collections.Counter)
    for row in records(folder / "tables/scorecard.csv"):
        if row["published"]:
            scored[row["experiment"]][row["column"], row["published"]] += 1
    return scored


def main():
    program, folder = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    printed, problems = {}, []
    for path in sorted(folder.glob("*.csv")):
        numbers, wrong = printed_numbers(path)
        problems += wrong
        if numbers:
            printed[experiment_of(path.stem)] = numbers
    with tempfile.TemporaryDirectory(prefix="foredraft_cells_") as name:
        scored = scored_numbers(program, pathlib.Path(name), printed)
    for experiment, numbers in printed.items():
        rows = scored[experiment]
        problems += [f"{experiment}: {column} {number}: printed {numbers[column, number]} times, "
                     f"{rows[column, number]} rows in the scorecard"
                     for column, number in sorted(numbers | rows) if numbers[column, number] != rows[column, number]]
    if problems:
        sys.exit("\n".join(problems))
    print(f"{sum(numbers.total() for numbers in printed.values())} printed numbers in {len(printed)} tables, a row in "
          "the scorecard for each")


if __name__ == "__main__":
    main()
