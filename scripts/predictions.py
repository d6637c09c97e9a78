#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The public record of predictions: predictions/README.md says what it holds and how to add to it.

A record is a CSV file, predictions/DATE-NAME.csv. Lines `# key: value` at its top say what was predicted and from what;
the rows are predictions, with the measurement once it is known. `digest` covers the predicted columns, so that
measurements can be added later and no prediction can change.

Usage: predictions.py check
       predictions.py table
       predictions.py import NAME --rows FILE.csv --setting COLUMN,... --predicted-in COLUMN --KEY TEXT ... [options]

  check    checks digests, dates, columns and numbers of all records; exit status 1 if something is wrong
  table    prints accuracy by record and by kind, as Markdown; a document shows it below `<!-- from: ... -->`
           (scripts/documents.py)
  import   writes a record from a CSV file; no number is typed

  --setting C,...   columns that say what is predicted; their names and values become the cell `setting`
  --where C=V       only rows whose column C is V
  --predicted-in C  the prediction; --low C --high C, or --spread C (half the interval over the prediction)
  --measured-in C   the measurement; without it the cells stay empty
  --noise C         difference of two measurements, as a fraction; --source C  a source for each row
  --input FILE      a file that the prediction was made from, or one that contains it; may be repeated
"""

import argparse
import csv
import datetime
import hashlib
import io
import math
import pathlib
import re
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PREDICTED = ("setting", "predicted", "low", "high")
COLUMNS = (*PREDICTED, "measured", "noise", "source")
# `measured` and what follows it may be empty as long as nothing was measured.
KEYS = ("title", "kind", "quantity", "predicted", "program", "command", "digest", "measured", "measured_by", "order",
        "caution")
LATER = ("measured", "measured_by", "caution")
ORDERS = ("predicted first", "measured first")
NAME = re.compile(r"(\d{4}-\d\d-\d\d)-[a-z0-9.-]+\.csv")
SHA256 = re.compile(r"[0-9a-f]{64}")


class Wrong(Exception):
    """Why a record cannot be used."""


class Record:
    """One file: its keys, its input files as (digest, path), and its rows."""

    def __init__(self, path):
        self.path = path
        self.keys, self.inputs = {}, []
        with open(path, encoding="utf-8", newline="") as file:
            lines = file.read().splitlines(keepends=True)
        for number, line in enumerate(lines, 1):
            if not line.startswith("#"):
                break
            key, separator, value = line[1:].strip().partition(": ")
            if key.rstrip(":") in KEYS and key.rstrip(":") not in self.keys:
                self.keys[key.rstrip(":")] = value if separator else ""
            elif key == "input":
                self.inputs.append(tuple(value.split(" ", 1)))
            else:
                raise Wrong(f"{path.name}:{number}: unknown or repeated key \"{key}\" (known: input, {', '.join(KEYS)})")
        table = csv.DictReader(line for line in lines if not line.startswith("#"))
        if tuple(table.fieldnames or ()) != COLUMNS:
            raise Wrong(f"{path.name}: the columns must be {','.join(COLUMNS)}")
        self.rows = list(table)

    def problems(self):
        """What is wrong with the record."""
        name, keys = self.path.name, self.keys
        missing = [key for key in KEYS if not keys.get(key) and key not in LATER]
        if missing:
            return [f"{name}: {key} is missing" for key in missing]
        found = []
        dated = NAME.fullmatch(name)
        if not dated or not keys["predicted"].startswith(dated[1]):
            found.append(f"{name}: its name must be the day of the prediction and a name, e.g. {keys['predicted'][:10]}-name.csv")
        if keys["digest"] != digest(self.rows):
            found.append(f"{name}: a prediction was changed (the predicted columns have the digest {digest(self.rows)})")
        if keys["order"] not in ORDERS:
            found.append(f"{name}: order must be one of {', '.join(ORDERS)}")
        for sha256, *path in self.inputs:
            if not SHA256.fullmatch(sha256) or not path:
                found.append(f"{name}: input must be a SHA-256 and a file")
        found += self._problems_of_dates()
        for number, row in enumerate(self.rows, 1):
            found += [f"{name}: row {number}: {problem}" for problem in problems_of(row)]
        return found

    def _problems_of_dates(self):
        name, keys, measured = self.path.name, self.keys, self.measured()
        try:
            predicted = moment(keys["predicted"])
            ends = [moment(keys["measured"])] if keys.get("measured") else []
        except ValueError as error:
            return [f"{name}: {error}"]
        if bool(measured) != bool(ends) or bool(measured) != bool(keys.get("measured_by")):
            return [f"{name}: measured and measured_by must be there if a row has a measurement, and only then"]
        if ends and (ends[0] < predicted) != (keys["order"] == "measured first"):
            return [f"{name}: predicted {keys['predicted']}, measured {keys['measured']}: not in the order that it states"]
        return []

    def measured(self):
        return [row for row in self.rows if row["measured"]]


def moment(text):
    return datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ" if "T" in text else "%Y-%m-%d")


def problems_of(row):
    if None in row or None in row.values():
        return ["has another number of cells than the header"]
    numbers = {}
    for column in ("predicted", "low", "high", "measured", "noise"):
        try:
            numbers[column] = float(row[column]) if row[column] else math.nan
        except ValueError:
            return [f"{column}: {row[column]} is no number"]
    if not numbers["predicted"] > 0:
        return ["predicted must be above 0"]
    if row["measured"] and not numbers["measured"] > 0:
        return ["measured must be above 0"]
    if bool(row["low"]) != bool(row["high"]):
        return ["an interval has two ends"]
    if row["low"] and not numbers["low"] <= numbers["predicted"] <= numbers["high"]:
        return ["the prediction lies outside its interval"]
    return []


def digest(rows):
    """Digest of the predicted columns, as CSV."""
    return hashlib.sha256(csv_text(PREDICTED, rows).encode("utf-8")).hexdigest()


def csv_text(columns, rows):
    text = io.StringIO()
    table = csv.DictWriter(text, columns, extrasaction="ignore", lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return text.getvalue()


def records(folder):
    return [Record(path) for path in sorted(folder.glob("*.csv"))]


# ---- Accuracy


def error(row):
    return abs(float(row["predicted"]) / float(row["measured"]) - 1)


def inside(row):
    return float(row["low"]) <= float(row["measured"]) <= float(row["high"])


def surely_wrong(row):
    """For a ratio, such as a speedup: the interval excludes 1, and the measurement is 1 or on its other side."""
    measured = float(row["measured"])
    return float(row["low"]) > 1 >= measured or float(row["high"]) < 1 <= measured


def accuracy(rows):
    """Cells of a table: count, median and worst error, share inside the interval, surely wrong ones, noise."""
    if not rows:
        return ["0", "-", "-", "-", "-", "-"]
    errors, bounded = [error(row) for row in rows], [row for row in rows if row["low"]]
    noise = [float(row["noise"]) for row in rows if row["noise"]]
    return [str(len(rows)), percent(statistics.median(errors)), percent(max(errors)),
            f"{sum(map(inside, bounded))} of {len(bounded)}" if bounded else "-",
            str(sum(map(surely_wrong, bounded))) if bounded else "-", percent(statistics.median(noise)) if noise else "-"]


def percent(fraction):
    return f"{100 * fraction:.1f}"


def markdown(head, align, rows):
    lines = [f"| {' | '.join(row)} |" for row in (head, *rows)]
    return "\n".join([lines[0], f"|{'|'.join(align)}|", *lines[1:]]) + "\n"


NUMBERS = ["cells", "median", "worst", "inside", "surely wrong", "noise"]
RIGHT = ["--:"] * len(NUMBERS)


def dates(found):
    """First and last day of the measurements of records."""
    days = sorted(one.keys["measured"][:10] for one in found)
    return " to ".join(dict.fromkeys([days[0], days[-1]])) if days else "-"


def tables(found):
    by_record = [[one.keys["quantity"], one.keys["title"], *accuracy(one.measured()),
                  one.keys["measured"][:10], one.keys["order"], one.keys.get("caution") or "-"] for one in found if one.measured()]
    kinds = dict.fromkeys(one.keys["kind"] for one in found if one.measured())
    by_kind = [[kind, *accuracy([row for one in found if one.keys["kind"] == kind for row in one.measured()]),
                dates([one for one in found if one.keys["kind"] == kind and one.measured()])] for kind in kinds]
    open_ones = [[one.keys["quantity"], one.keys["title"], str(len(one.rows) - len(one.measured())),
                  one.keys["predicted"][:10], f"`{one.path.name}`"] for one in found if len(one.measured()) < len(one.rows)]
    text = markdown(["predicted", "measured in", *NUMBERS, "measured", "order", "do not trust it"],
                    ["---", "---", *RIGHT, "---", "---", "---"], by_record)
    text += "\n" + markdown(["kind", *NUMBERS, "measured"], ["---", *RIGHT, "---"], by_kind)
    return text if not open_ones else text + "\n" + markdown(["predicted", "to be measured in", "open rows", "predicted on", "record"],
                                  ["---", "---", "--:", "---", "---"], open_ones)


# ---- A new record


def setting(row, columns):
    return " ".join(f"{column.replace('_', ' ')} {row[column]}" for column in columns if row[column])


def ends(row, options):
    if options.spread:
        value, spread = float(row[options.predicted_in]), row[options.spread]
        return (repr(value * (1 - float(spread))), repr(value * (1 + float(spread)))) if spread else ("", "")
    return (row[options.low] if options.low else ""), (row[options.high] if options.high else "")


def imported(options):
    """The text of the record."""
    with open(options.rows, encoding="utf-8", newline="") as file:
        given = list(csv.DictReader(file))
    for condition in options.where:
        column, _, value = condition.partition("=")
        given = [row for row in given if row[column] == value]
    rows = []
    for row in given:
        low, high = ends(row, options)
        rows.append({"setting": setting(row, options.setting.split(",")), "predicted": row[options.predicted_in],
                     "low": low, "high": high} | {
                         to: row[column] if column else "" for to, column in
                         (("measured", options.measured_in), ("noise", options.noise), ("source", options.source))})
    lines = [f"# {key}: {getattr(options, key) or ''}".rstrip() for key in KEYS if key != "digest"]
    lines.insert(KEYS.index("digest"), f"# digest: {digest(rows)}")
    for path in options.input:
        sha256 = hashlib.sha256((ROOT / path).read_bytes()).hexdigest()
        lines.append(f"# input: {sha256} {path}")
    return "\n".join(lines) + "\n" + csv_text(COLUMNS, rows)


def arguments(words):
    parser = argparse.ArgumentParser(prog="predictions.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "predictions")
    commands = parser.add_subparsers(dest="task", required=True)
    commands.add_parser("check")
    commands.add_parser("table")
    new = commands.add_parser("import")
    new.add_argument("name")
    new.add_argument("--rows", required=True)
    new.add_argument("--setting", required=True)
    new.add_argument("--where", action="append", default=[])
    new.add_argument("--predicted-in", required=True)
    for column in ("low", "high", "spread", "measured-in", "noise", "source"):
        new.add_argument("--" + column)
    new.add_argument("--input", action="append", default=[])
    for key in KEYS:
        if key != "digest":
            new.add_argument("--" + key.replace("_", "-"), required=key not in (*LATER, "order"),
                             default="predicted first" if key == "order" else None)
    return parser.parse_args(words)


def main(words):
    options = arguments(words)
    try:
        if options.task == "import":
            path = options.folder / f"{options.name}.csv"
            if path.exists():
                raise Wrong(f"{path.name}: is there; a record is never written over")
            path.write_text(imported(options), encoding="utf-8")
        found = records(options.folder)
        problems = [problem for record in found for problem in record.problems()]
    except Wrong as wrong:
        problems = [str(wrong)]
    if problems:
        print("\n".join(problems), file=sys.stderr)
        return 1
    if options.task == "table":
        print(tables(found), end="")
    else:
        rows = sum(len(record.rows) for record in found)
        print(f"{len(found)} records, {rows} predictions, {sum(len(record.measured()) for record in found)} measured")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
