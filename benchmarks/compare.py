#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs our benchmarks and the baseline scripts in turn and prints the ratios with their spread.

Usage: compare.py BUILD_DIR [--rounds 5] [--only WORD] [--python /usr/bin/python3] [--record]
       compare.py table

Each round runs ours, then the baseline, so that a drift of the machine's speed affects both; the ratio is taken round
by round. Then it times every verification rule in one run a round, with its ratio to rejection_sampling. Quote medians;
a wide range means that the machine was noisy.

  --record  writes the rows with a baseline to record.csv, with today's date
  table     prints record.csv as Markdown; documents show it below `<!-- from: ... -->` (scripts/documents.py)
"""
import argparse
import csv
import datetime
import json
import pathlib
import re
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
RECORD = HERE / "record.csv"
RECORDED = ("measured", "work", "rate", "baseline_rate", "baseline", "ratio", "low", "high")

# Reference of all rules, timed in the same run.
REFERENCE_RULE = "rejection_sampling"
SLOWEST_RULE = 3.0  # times the reference
RULES = "verification rules, pooled, V = 32,000"

# work, our program, our benchmark, baseline command, pattern of the baseline's rate (a group named seconds: its
# inverse), name of the baseline.
# A baseline is run once per round even when several rows read it.
COMPARISONS = [
    ("i.i.d. iterations, one draw each", "process_loop", "BM_process_fast",
     ["alpha_loop_numpy.py", "--n", "5000000", "--repeats", "3"], r"chunked_mask\s.*?([\d.e+]+) it/s", "numpy, masks"),
    ("i.i.d. iterations, a draw per draft", "process_loop", "BM_process_reference",
     ["alpha_loop_numpy.py", "--n", "5000000", "--repeats", "3"], r"chunked_mask\s.*?([\d.e+]+) it/s", "numpy, masks"),
    ("iterations, V = 32,000, pooled", "token_loop", "BM_token_pooled",
     ["vocab_rejection_numpy.py", "--seconds", "2"], r"pool\s.*?([\d.e+]+) it/s", "numpy, pool"),
    ("iterations, V = 32,000, fresh", "token_loop", "BM_token_fresh",
     ["vocab_rejection_numpy.py", "--seconds", "2"], r"fresh\s.*?([\d.e+]+) it/s", "numpy, fresh"),
    ("best draft length, closed form", "best_gamma", "BM_best_gamma",
     ["gamma_grid_numpy.py"], r"99x100x33:.*\(([\d.e+]+) \(alpha,c\) optima/s\)", "numpy grid"),
    ("tree, 128 nodes, greedy", "tree_search", "BM_tree_greedy/128/9",
     ["tree_dp_numpy.py", "--budget", "128"], r"(?P<seconds>[\d.]+) s;", "numpy, dynamic program"),
    ("tree, 128 nodes, dynamic program", "tree_search", "BM_tree_program/128/9",
     ["tree_dp_numpy.py", "--budget", "128"], r"(?P<seconds>[\d.]+) s;", "numpy, dynamic program"),
    ("tree, 1,024 nodes, greedy", "tree_search", "BM_tree_greedy/1024/9",
     ["tree_dp_numpy.py", "--budget", "1024"], r"(?P<seconds>[\d.]+) s;", "numpy, dynamic program"),
    ("tree, 1,024 nodes, dynamic program", "tree_search", "BM_tree_program/1024/9",
     ["tree_dp_numpy.py", "--budget", "1024"], r"(?P<seconds>[\d.]+) s;", "numpy, dynamic program"),
    ("sweep point, 5 x 1,000 tokens", "small_sweep", "BM_small_sweep", None, None, None),
    ("serving, 32 rows, request-iterations", "serving_loop", "BM_serving/max_batch:32", None, None, None),
]


def our_rates(build, program, benchmark):
    """Items per second of every benchmark of this name, by its suffix: BM_name/SUFFIX."""
    run = subprocess.run([str(build / f"benchmark_{program}"), f"--benchmark_filter=^{benchmark}(/|$)",
                          "--benchmark_format=json", "--benchmark_min_time=0.5"],
                         check=True, text=True, capture_output=True)
    rows = json.loads(run.stdout)["benchmarks"]
    if not rows:
        sys.exit(f"compare.py: benchmark_{program} has no benchmark {benchmark}")
    return {row["name"].removeprefix(f"{benchmark}/").removesuffix("/real_time"): row["items_per_second"]
            for row in rows}


def our_rate(build, program, benchmark):
    return next(iter(our_rates(build, program, benchmark).values()))


def baseline_output(python, command):
    return subprocess.run([python, str(HERE / "baselines" / command[0]), *command[1:]],
                          check=True, text=True, capture_output=True).stdout


def rate_of(match):
    return 1 / float(match["seconds"]) if "seconds" in match.groupdict() else float(match.group(1))


def spread(values):
    return f"{statistics.median(values):9.3g}  ({min(values):.3g} .. {max(values):.3g})"


def print_rules(rounds):
    """One dictionary per round: rule to iterations per second."""
    print(f"\n{RULES}: iterations per second, and the time of an iteration over that of {REFERENCE_RULE}")
    for rule in rounds[0]:
        ratios = [rates[REFERENCE_RULE] / rates[rule] for rates in rounds]
        median = statistics.median(ratios)
        print(f"{rule:34s} {spread([rates[rule] for rates in rounds])}   {median:.2f} ({min(ratios):.2f} .. "
              f"{max(ratios):.2f}){f'   over the budget of {SLOWEST_RULE:g}' if median > SLOWEST_RULE else ''}")


def three_digits(value, largest=100_000):
    """The number with three digits, such as 2780 or 2.89e9."""
    return f"{float(f'{value:.3g}'):g}" if value < largest else f"{value:.3g}".replace("e+0", "e").replace("e+", "e")


def record_row(today, name, ours, theirs, baseline):
    """A row of record.csv. Rates are per second; low and high are the range of the ratio."""
    ratios = [a / b for a, b in zip(ours, theirs)]
    rates = [three_digits(statistics.median(rates), 1000) for rates in (ours, theirs)]
    return [today, name, *rates, baseline, *map(three_digits, (statistics.median(ratios), min(ratios), max(ratios)))]


def write_record(rows):
    with open(RECORD, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([RECORDED, *rows])


def print_table():
    with open(RECORD, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    print("| work, per second | foredraft | baseline | ratio | its range | measured |\n|---|--:|--:|--:|--:|---|")
    for row in rows:
        print(f"| {row['work']} | {row['rate']} | {row['baseline_rate']}, {row['baseline']} | {row['ratio']} "
              f"| {row['low']} to {row['high']} | {row['measured']} |")


def main():
    if sys.argv[1:] == ["table"]:
        return print_table()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="only rows whose name contains this word")
    parser.add_argument("--python", default="/usr/bin/python3", help="a Python with numpy")
    parser.add_argument("--record", action="store_true", help=f"write {RECORD.name}")
    options = parser.parse_args()
    rows = [row for row in COMPARISONS if options.only in row[0]]
    ours = {row[0]: [] for row in rows}
    theirs = {row[0]: [] for row in rows}
    rules = []
    for round_number in range(options.rounds):
        print(f"round {round_number + 1} of {options.rounds}", file=sys.stderr, flush=True)
        outputs = {}
        for name, program, benchmark, command, pattern, _ in rows:
            ours[name].append(our_rate(options.build, program, benchmark))
            if command is None:
                continue
            key = " ".join(command)
            if key not in outputs:
                outputs[key] = baseline_output(options.python, command)
            theirs[name].append(rate_of(re.search(pattern, outputs[key])))
        if options.only in RULES:
            rules.append(our_rates(options.build, "token_loop", "BM_token_rule"))
    if rows:
        print(f"{'work (per second, one core; median, range)':34s} {'foredraft':>28s}   {'baseline':>28s}   ratio")
    for name, *_, baseline in rows:
        line = f"{name:34s} {spread(ours[name])}"
        if theirs[name]:
            ratios = [a / b for a, b in zip(ours[name], theirs[name])]
            line += f"   {spread(theirs[name])}   {statistics.median(ratios):.1f}x ({min(ratios):.1f} .. " \
                    f"{max(ratios):.1f})   {baseline}"
        print(line)
    if rules:
        print_rules(rules)
    if options.record:
        today = datetime.date.today().isoformat()
        write_record([record_row(today, name, ours[name], theirs[name], baseline) for name, *_, baseline in rows if theirs[name]])
    return None


if __name__ == "__main__":
    main()
