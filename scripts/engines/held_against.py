# SPDX-License-Identifier: Apache-2.0
"""Shared by the validations against engines: CSV rows, calls of foredraft, the digest of a prediction, errors."""

import csv
import datetime
import hashlib
import json
import pathlib
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
QUIET = 0.05  # a cell is judged if its runs differ by less


def write_rows(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def read_rows(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def rounded(row):
    """Six digits of every real number, for CSV."""
    return {key: f"{value:.6g}" if isinstance(value, float) else value for key, value in row.items()}


def foredraft(program, *arguments):
    done = subprocess.run([str(program), *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"foredraft {' '.join(map(str, arguments))}: {done.stderr}{done.stdout[-1000:]}")
    return done.stdout


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def percent(value):
    return f"{100 * value:.1f} %"


def save_prediction(work, rows):
    """Writes prediction.csv and its digest with the time; later measurements change neither."""
    if (work / "measured.csv").exists():
        raise SystemExit(f"{work / 'measured.csv'} exists: a prediction comes before the measurement")
    write_rows(work / "prediction.csv", [rounded(row) for row in rows])
    digest = hashlib.sha256((work / "prediction.csv").read_bytes()).hexdigest()
    (work / "prediction.sha256").write_text(f"{digest} {now()}\n")
    print(f"{len(rows)} cells predicted, sha256 {digest}")


def saved_prediction(work):
    """Rows of prediction.csv, its digest and when it was written; ends the program if the file has changed since."""
    if not (work / "prediction.sha256").exists():
        raise SystemExit("predict first")
    digest, when = (work / "prediction.sha256").read_text().split()
    if hashlib.sha256((work / "prediction.csv").read_bytes()).hexdigest() != digest:
        raise SystemExit("prediction.csv is not what was predicted")
    return read_rows(work / "prediction.csv"), digest, when


def compared(before, runs, terms):
    """Row of validation.csv from one of prediction.csv and its runs: the error with and without each term."""
    names = ["target", "drafter", "drafting", "dtype", "gamma", "acceptance_length", "batch", "context"]
    row = {name: before[name] for name in names}
    plain, predicted = 1e6 / float(before["plain_us"]), float(before["speedup"])
    speedups = [float(run["tokens_per_s"]) / float(run["plain_tokens_per_s"]) for run in runs]
    speedup = statistics.mean(speedups)
    row |= {"predicted_plain_tokens_per_s": plain,
            "measured_plain_tokens_per_s": statistics.mean(float(run["plain_tokens_per_s"]) for run in runs),
            "predicted_tokens_per_s": plain * predicted,
            "measured_tokens_per_s": statistics.mean(float(run["tokens_per_s"]) for run in runs),
            "predicted_tokens_per_iteration": before["tokens_per_iteration"],
            "measured_tokens_per_iteration": runs[0]["acceptance_length"],
            "predicted_speedup": predicted, "predicted_low": "", "predicted_high": "",
            "measured_speedup": speedup, "measured_low": "", "measured_high": "",
            "between_runs": max(speedups) / min(speedups) - 1, "runs": len(speedups),
            "signed_error": predicted / speedup - 1}
    for term in (*terms, "all"):
        without = before["speedup_without_" + term]
        row["signed_error_without_" + term] = float(without) / speedup - 1 if without else ""
    return rounded(row)


def save_report(out, work, rows, about, terms, runs=None, limit=QUIET):
    """Writes everything that tests and documents show to `out` and prints the errors. `runs`: if not those of
    measured.csv."""
    out.mkdir(parents=True, exist_ok=True)
    write_rows(out / "validation.csv", rows)
    (out / "prediction.csv").write_bytes((work / "prediction.csv").read_bytes())
    write_rows(out / "runs.csv", runs or read_rows(work / "measured.csv"))
    about = {"schema": "foredraft.engine_validation/1", "measured_by": "user"} | about
    (out / "manifest.json").write_text(json.dumps(about, indent=1) + "\n")
    print(error_table(rows, terms, limit))


def error_table(rows, terms, limit=QUIET):
    """Markdown: errors of the cells whose runs differ by less than `limit`, with every term and without each."""
    quiet = [row for row in rows if int(row["runs"]) > 1 and float(row["between_runs"]) < limit]
    if not quiet:
        return f"none of {len(rows)} cells has runs that differ by less than {100 * limit:g} %"
    lines = [f"{len(quiet)} of {len(rows)} cells have runs that differ by less than {100 * limit:g} %; median "
             f"difference of all {percent(statistics.median(float(row['between_runs']) for row in rows))}", "",
             "| prediction | cells | median error | worst | mean signed |", "|---|---:|---:|---:|---:|"]
    for name in ("", *terms, "all"):
        column = "signed_error" + (f"_without_{name}" if name else "")
        errors = [float(row[column]) for row in quiet if row[column] != ""]
        title = {"": "with every term", "all": "without any of them"}.get(name, f"without {name}")
        lines.append(f"| {title} | {len(errors)} | {percent(statistics.median(map(abs, errors)))} | "
                     f"{percent(max(map(abs, errors)))} | {100 * statistics.mean(errors):+.1f} % |")
    return "\n".join(lines)
