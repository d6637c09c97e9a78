#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares predicted speedups with llama.cpp on this CPU: models of random weights, one thread, greedy decoding.

    scripts/engines/llama_cpp.sh                                  builds the engine
    python3 scripts/engines/random_models.py FOLDER               writes the models (build/engines/models)
    python3 scripts/engines/llama_cpp_validation.py calibrate     llama-bench; several rounds
    python3 scripts/engines/llama_cpp_validation.py loops         drafting inside the loop
    python3 scripts/engines/llama_cpp_validation.py accept        acceptance lengths of the cells, untimed
    python3 scripts/engines/llama_cpp_validation.py predict       profiles and prediction.csv
    python3 scripts/engines/llama_cpp_validation.py measure       two runs of every cell; continues an interrupted one
    python3 scripts/engines/llama_cpp_validation.py report        validation.csv, manifest.json, errors by term

Each step reads the files of earlier steps in --work. Measurements after `predict` change no prediction; `report` checks
its digest. Calibration uses other texts than the cells and other draft lengths, except 1.
"""

import argparse
import json
import pathlib
import platform
import re
import resource
import statistics
import subprocess
import sys
import time

from held_against import (QUIET, ROOT, compared, foredraft, now, percent, read_rows, save_prediction, save_report,
                          saved_prediction, write_rows)

PAIRS = ("large", "small")
FORMATS = ("f16", "q8_0")
GAMMAS = (1, 2, 4, 8)
PASSES = "2,3,5,9"  # tokens of a verification
DEPTHS = "48,144"
LOOP_GAMMAS = (1, 3, 6, 10)  # whose drafting is timed inside the loop
LOOP_TOKENS = 64
TOKENS = 128
RUNS = 2  # of each cell
REPEATS = {"large": 1, "small": 3}  # of both arms in a run, one after the other
ATTEMPTS = 2
MIN_SHARE = 0.97
TEXT = "word1word20word333"
OTHER_TEXTS = ("word2word31word444", "word5word61word777" * 6)
# The parts of a profile to remove for each term, by name.
TERMS = ("logits", "catch_up", "in_loop", "draws")


def cells():
    return [(pair, kind, gamma) for pair in PAIRS for kind in FORMATS for gamma in GAMMAS]


class Engine:
    """The programs of llama.cpp and the models, on one thread."""

    def __init__(self, folder):
        self.programs = folder / "llama.cpp" / "bin"
        self.models = folder / "models"
        self.attempts = ATTEMPTS
        self.share = 1.0  # of a processor, of the last run

    def model(self, pair, role, kind):
        return self.models / f"{pair}-{role}-{kind}.gguf"

    def run(self, program, *arguments):
        """Output and errors. Runs once more if another program took more than 3 % of the processor meanwhile."""
        command = [str(self.programs / program), "-t", "1", *map(str, arguments)]
        for _ in range(self.attempts):
            before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=300, check=False)
            seconds = time.monotonic() - began
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            if done.returncode != 0:
                raise SystemExit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr[-2000:]}")
            self.share = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / seconds
            if self.share >= MIN_SHARE:
                break
            print(f"{pathlib.Path(command[0]).name}: {percent(self.share)} of a processor", file=sys.stderr)
        return done

    def bench(self, pair, role, kind, *arguments):
        path = self.model(pair, role, kind)
        return self.run("llama-bench", "-m", path, "-d", DEPTHS, "-o", "jsonl", *arguments).stdout

    def loop(self, pair, kind, gamma, text, tokens):
        """Log of one run; gamma 0 is plain decoding by the same program: n-grams too long to be found."""
        arguments = ["-m", self.model(pair, "target", kind), "-tb", 1, "--temp", 0, "--ignore-eos", "-n", tokens, "-c",
                     1024, "-lv", 4, "--no-log-prefix", "--no-log-timestamps", "-p", text]
        if gamma == 0:
            arguments += ["--spec-type", "ngram-simple", "--spec-ngram-simple-size-n", 1000]
        else:
            arguments += ["-md", self.model(pair, "draft", kind), "--spec-type", "draft-simple", "--spec-draft-n-max",
                          gamma, "--spec-draft-n-min", 1, "--spec-draft-p-min", 0, "--spec-draft-threads", 1]
        done = self.run("llama-speculative-simple", *arguments)
        return done.stdout + done.stderr


def number(pattern, log):
    found = re.search(pattern, log)
    if not found:
        raise SystemExit(f"no {pattern!r} in a log of llama-speculative-simple:\n{log[-2000:]}")
    return float(found[1])


def tokens_per_s(log):
    return number(r"decoded +(\d+) tokens", log) / number(r"decoded +\d+ tokens in +([\d.]+)", log)


def append(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a", encoding="utf-8") as file:
        file.write(text)


def calibrate(engine, work, rounds):
    """Appends to bench/ and loops/: one file of llama-bench a model and kind of pass, one log a loop."""
    for _ in range(rounds):
        for pair in PAIRS:
            for kind in FORMATS:
                target = f"{pair}-target-{kind}"
                append(work / "bench" / f"{target}.all.jsonl",
                       engine.bench(pair, "target", kind, "-p", PASSES, "-n", 16, "-embd", 1, "-r", 4))
                append(work / "bench" / f"{target}.last.jsonl",
                       engine.bench(pair, "target", kind, "-p", PASSES, "-n", 0, "-r", 2))
                append(work / "bench" / f"{pair}-draft-{kind}.jsonl",
                       engine.bench(pair, "draft", kind, "-p", PASSES, "-n", 32, "-r", 6))


def time_loops(engine, work):
    (work / "loops").mkdir(parents=True, exist_ok=True)
    for text, words in enumerate(OTHER_TEXTS):
        for pair in PAIRS:
            for kind in FORMATS:
                for gamma in LOOP_GAMMAS:
                    log = engine.loop(pair, kind, gamma, words, LOOP_TOKENS)
                    (work / "loops" / f"{pair}-draft-{kind}.{gamma}.{text}.log").write_text(log, encoding="utf-8")


def accept(engine, work):
    """Greedy decoding of random models gives the same text each time, so the acceptance of a cell is known before it is
    timed."""
    rows = []
    engine.attempts = 1
    for pair, kind, gamma in cells():
        log = engine.loop(pair, kind, gamma, TEXT, TOKENS)
        tokens, accepted = number(r"n_predict = (\d+)", log), number(r"n_accept += (\d+)", log)
        prompt = number(r"encoded +(\d+) tokens", log)
        rows.append({"pair": pair, "format": kind, "gamma": gamma, "context": round(prompt + tokens / 2),
                     "acceptance_length": tokens / (tokens - accepted)})
        print(rows[-1])
    write_rows(work / "acceptance.csv", rows)


def make_profile(program, work, pair, kind, without):
    """The profile of a pair; `without` names terms that it lacks."""
    target, draft = f"{pair}-target-{kind}", f"{pair}-draft-{kind}"
    bench = work / "bench"
    files = [bench / f"{target}.all.jsonl", bench / f"{draft}.jsonl"]
    if "logits" in without:  # passes of several tokens from the other file, decode steps as before
        steps = [line for line in files[0].read_text().splitlines() if json.loads(line)["n_gen"] > 0]
        (bench / f"{target}.steps.jsonl").write_text("\n".join(steps) + "\n")
        files = [bench / f"{target}.steps.jsonl", bench / f"{target}.last.jsonl", files[1]]
    logs = [] if "in_loop" in without else sorted((work / "loops").glob(f"{draft}.*.log"))
    draw = statistics.median(draw_us(log.read_text()) for log in sorted((work / "loops").glob(f"{draft}.*.log")))
    options = [] if "draws" in without else ["--draw-us", f"{draw:.2f}"]
    if "catch_up" in without:
        options += ["--draft-catch-up", "none"]
    path = work / "profiles" / ("-".join([pair, kind, *(f"without-{term}" for term in without)]) + ".json")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    foredraft(program, "calibrate", "--backend", "llama-bench", *files, *(f"{draft}={log}" for log in logs), *options,
              "--out", path)
    return path


def draw_us(log):
    return 1e3 * number(r"sampling time = +([\d.]+) ms", log) / number(r"samplers time = .*/ +(\d+) tokens", log)


def predict(program, work):
    variants = {"": (), **{term: (term,) for term in TERMS}, "all": TERMS}
    profiles = {(pair, kind, name): make_profile(program, work, pair, kind, without)
                for pair in PAIRS for kind in FORMATS for name, without in variants.items()}
    rows = []
    for cell in read_rows(work / "acceptance.csv"):
        row = {"target": f"{cell['pair']}-target-{cell['format']}", "drafter": f"{cell['pair']}-draft-{cell['format']}",
               "drafting": "autoregressive", "dtype": cell["format"], "gamma": cell["gamma"],
               "acceptance_length": f"{float(cell['acceptance_length']):.6g}", "batch": 1, "context": cell["context"]}
        for name in variants:
            answer = json.loads(foredraft(
                program, "predict", "--profile", profiles[cell["pair"], cell["format"], name],
                "--target", row["target"],
                "--draft", row["drafter"], "--acceptance-length", cell["acceptance_length"], "--gamma", cell["gamma"],
                "--batch", 1, "--context", cell["context"], "--json"))
            at = answer["cells"][0]
            length = next(one for one in at["gammas"] if one["gamma"] == int(cell["gamma"]))
            if name == "":
                row |= {"plain_us": at["plain"]["ms"] * 1e3 + (at["plain_sampling"] or {"ms": 0})["ms"] * 1e3,
                        "drafting_us": length["drafting"]["ms"] * 1e3, "catch_up_us": length["catch_up"]["ms"] * 1e3,
                        "verify_us": length["verify"]["ms"] * 1e3, "sampling_us": length["sampling"]["ms"] * 1e3,
                        "tokens_per_iteration": length["tokens_per_iteration"], "speedup": length["speedup"]}
            else:
                row["speedup_without_" + name] = length["speedup"]
        rows.append(row)
    save_prediction(work, rows)


def one_run(engine, pair, kind, gamma, speculative_first):
    """Tokens a second of both arms, whose repeats alternate."""
    logs, shares = {0: [], gamma: []}, []
    for _ in range(REPEATS[pair]):
        for arm in (gamma, 0) if speculative_first else (0, gamma):
            logs[arm].append(engine.loop(pair, kind, arm, TEXT, TOKENS))
            shares.append(engine.share)
    tokens, accepted = number(r"n_predict = (\d+)", logs[gamma][0]), number(r"n_accept += (\d+)", logs[gamma][0])
    speeds = {arm: statistics.harmonic_mean(map(tokens_per_s, of_arm)) for arm, of_arm in logs.items()}
    return {"plain_tokens_per_s": f"{speeds[0]:.6g}", "tokens_per_s": f"{speeds[gamma]:.6g}",
            "acceptance_length": f"{tokens / (tokens - accepted):.6g}", "processor_share": f"{min(shares):.4f}"}


def measure(engine, work, seconds):
    """Runs both arms of a cell one after the other, cell by cell, until each has its runs or the time is up."""
    saved_prediction(work)
    path, began = work / "measured.csv", time.monotonic()
    rows = read_rows(path) if path.exists() else []
    for run in range(1, RUNS + 1):
        for i, (pair, kind, gamma) in enumerate(cells()):
            done = [row for row in rows if (row["pair"], row["format"], int(row["gamma"])) == (pair, kind, gamma)]
            if len(done) >= run or time.monotonic() - began > seconds:
                continue
            rows.append({"run": run, "pair": pair, "format": kind, "gamma": gamma, "started": now(),
                         **one_run(engine, pair, kind, gamma, speculative_first=(i + run) % 2 == 0)})
            write_rows(path, rows)
    print(f"{len(rows)} of {RUNS * len(cells())} runs")


def unexplained(rows):
    """Pairs: how much longer the iterations of quiet cells took than predicted, in ms, and the same divided by the time
    in which a decode step of the target would read the draft model's weights."""
    # Weights of the draft model over those of the target, without embeddings, of random_models.py.
    shares = {"large": 34.1 / 213.9, "small": 20.4 / 91.2}
    out = []
    for row in rows:
        if float(row["between_runs"]) < QUIET:
            longer = float(row["acceptance_length"]) * (
                1 / float(row["measured_tokens_per_s"]) - 1 / float(row["predicted_tokens_per_s"]))
            reading = shares[row["target"].split("-")[0]] / float(row["predicted_plain_tokens_per_s"])
            out.append((1e3 * longer, longer / reading))
    return out


def report(work, out):
    rows, digest, when = saved_prediction(work)
    predicted = {(row["target"], row["gamma"]): row for row in rows}
    measured = read_rows(work / "measured.csv")
    rows = []
    for pair, kind, gamma in cells():
        runs = [row for row in measured if (row["pair"], row["format"], row["gamma"]) == (pair, kind, str(gamma))]
        rows.append(compared(predicted[f"{pair}-target-{kind}", str(gamma)], runs, TERMS))
    bench = json.loads(next((work / "bench").glob("*.all.jsonl")).read_text().splitlines()[0])
    about = {"engine": "llama.cpp", "build": bench["build_commit"], "package": "llama-cpp-python 0.3.36",
             "processor": bench["cpu_info"], "threads": bench["n_threads"], "machine": "virtual, 2 cores, shared host",
             "operating_system": platform.system(), "predicted": when,
             "prediction_sha256": digest, "measured": [measured[0]["started"], measured[-1]["started"]]}
    save_report(out, work, rows, about, TERMS)
    for ms, readings in unexplained(rows):
        print(f"{ms:.1f} ms an iteration beyond the prediction: {readings:.2f} readings of the draft model")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("step", choices=["calibrate", "loops", "accept", "predict", "measure", "report"])
    parser.add_argument("--engines", type=pathlib.Path, default=ROOT / "build" / "engines", help="llama.cpp/, models/")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build" / "engines" / "validation")
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build" / "release" / "foredraft")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "gpu_bench" / "data" / "engines" / "llama.cpp")
    parser.add_argument("--rounds", type=int, default=1, help="of calibrate")
    parser.add_argument("--seconds", type=float, default=3600, help="of measure: no cell begins later")
    asked = parser.parse_args()
    engine = Engine(asked.engines)
    if asked.step == "calibrate":
        calibrate(engine, asked.work, asked.rounds)
    elif asked.step == "loops":
        time_loops(engine, asked.work)
    elif asked.step == "accept":
        accept(engine, asked.work)
    elif asked.step == "predict":
        predict(asked.program, asked.work)
    elif asked.step == "measure":
        measure(engine, asked.work, asked.seconds)
    else:
        report(asked.work, asked.out)


if __name__ == "__main__":
    main()
