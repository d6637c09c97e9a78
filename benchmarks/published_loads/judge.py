# SPDX-License-Identifier: Apache-2.0
"""Compares published speedups with `foredraft predict --concurrency`: judge.py FOREDRAFT [ROWS.csv].

Predicts every row of measurements.csv and prints, by set, by half and by engine: the error of the speedup (median and
worst, in percent), how many measured speedups lie in the interval, its width (high over low) and how many rows are
surely wrong (the interval excludes 1 on the wrong side). `anchored` are the errors of a set's other loads after its
prediction was scaled to the measurement at the least load. ROWS.csv gets every row.

The rows "fit" were used to fit latency/engines/engines.toml and the width of the intervals, those of "judge" were not.
"""

import csv
import json
import pathlib
import statistics
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).parent
MODELS = HERE / "models.toml"
OWN = set(tomllib.loads(MODELS.read_text(encoding="utf-8")))
SPEEDUP = {"throughput": "request_speedup", "tpot": "decode_speedup"}


def command(program, row):
    yield from (program, "predict", "--json", "--closed-form", "--ignore-memory", "--allow-vocabulary-mismatch")
    for option in ("device", "engine", "gamma"):
        yield from ("--" + option, row[option])
    for option in ("target", "draft"):
        yield from ("--" + option, f"{MODELS}:{row[option]}" if row[option] in OWN else row[option])
    yield from ("--acceptance-length", row["tokens_per_iteration"], "--concurrency", row["clients"],
                "--prompt", row["prompt_tokens"], "--output", row["output_tokens"])
    yield from row["options"].split()


def predicted(program, row):
    """The row with the predicted speedup and its interval."""
    asked = list(command(program, row))
    ran = subprocess.run(asked, capture_output=True, text=True)
    if ran.returncode != 0:
        sys.exit(" ".join(asked) + "\n" + ran.stdout + ran.stderr)
    answer = json.loads(ran.stdout)
    (length,) = (one for one in answer["gammas"] if one["gamma"] == int(row["gamma"]))
    key = SPEEDUP[row["metric"]]
    low, high = length[key + "_interval"]
    found = {"clients": int(row["clients"]), "speedup": float(row["speedup"]), "predicted": length[key], "low": low,
             "high": high, "class": answer["evidence"]["class"]}
    return row | found


def error(row):
    return abs(row["predicted"] / row["speedup"] - 1)


def summary(rows):
    errors = [error(row) for row in rows]
    widths = [row["high"] / row["low"] if row["low"] > 0 else float("inf") for row in rows]
    inside = sum(row["low"] <= row["speedup"] <= row["high"] for row in rows)
    wrong = sum((row["low"] > 1) > (row["speedup"] > 1) or (row["high"] < 1) > (row["speedup"] < 1) for row in rows)
    return (f"{len(rows):4} {100 * statistics.median(errors):6.1f} {100 * max(errors):6.1f} {100 * inside / len(rows):6.0f} "
            f"{statistics.median(widths):6.2f} {max(widths):6.2f} {wrong:5}")


def anchored(sets):
    """Errors at the other loads, each set's prediction scaled to the measurement at its lowest load."""
    errors = []
    for rows in sets:
        first = min(rows, key=lambda row: row["clients"])
        scale = first["speedup"] / first["predicted"]
        errors += [abs(scale * row["predicted"] / row["speedup"] - 1) for row in rows if row is not first]
    return errors


def losses(rows):
    """The loss of speedup with the predicted best draft length instead of the measured best one, for loads with
    several."""
    found = []
    for group in grouped(rows, "set", "clients").values():
        if len({row["gamma"] for row in group}) > 1:
            chosen = max(group, key=lambda row: row["predicted"])
            found.append(1 - chosen["speedup"] / max(row["speedup"] for row in group))
    return found


def grouped(rows, *keys):
    groups = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    return groups


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    with open(HERE / "measurements.csv", encoding="utf-8", newline="") as file:
        asked = list(csv.DictReader(file))
    with ThreadPoolExecutor(2) as pool:
        rows = list(pool.map(lambda row: predicted(sys.argv[1], row), asked))
    print(f"{'':40} rows  error  worst inside  width widest wrong")
    for keys in (("set",), ("half",), ("engine",), ("class",)):
        for name, group in grouped(rows, *keys).items():
            print(f"{' '.join(name):40} {summary(group)}")
        print()
    print(f"{'all':40} {summary(rows)}")
    for name, found in (("anchored", anchored(grouped(rows, "set", "gamma").values())),
                        ("lost by the predicted best draft length", losses(rows))):
        print(f"{name:40} {len(found):4} {100 * statistics.median(found):6.1f} {100 * max(found):6.1f}")
    if len(sys.argv) == 3:
        with open(sys.argv[2], "w", encoding="utf-8", newline="") as file:
            out = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            out.writeheader()
            out.writerows(rows)


if __name__ == "__main__":
    main()
