# SPDX-License-Identifier: Apache-2.0
"""The engine fitted to the calibration with vLLM on a CPU, and the speedups that it predicts."""

import dataclasses
import json
import statistics
import subprocess

from held_against import foredraft, read_rows, save_prediction, write_rows
from vllm_cpu_runs import table_of
from vllm_cpu_settings import (ARMS, CALIBRATION_GAMMA, CALIBRATION_LOADS, CELL_ARMS, GAMMAS, LOADS, LONGEST,
                               MIDDLE_LOAD, OUTPUT, PROMPT, TERMS, speculative)


def interpolated(points, x):
    """Piecewise linear through {x: y}, extended along the line of the last two."""
    known = sorted(points)
    right = next((i for i, one in enumerate(known) if one >= x and i > 0), len(known) - 1)
    low, high = known[right - 1], known[right]
    return points[low] + (points[high] - points[low]) * (x - low) / (high - low)


def rising(points):
    """{x: y} with no y below that of a smaller x: more work takes no less time, even if noise says so."""
    return {x: max(y for other, y in points.items() if other <= x) for x in sorted(points)}


@dataclasses.dataclass(frozen=True)
class Engine:
    """Times in ms: the target's forward pass by its tokens; the host of an iteration by load; what drafting (draft
    model) and lookup (n-gram) add to it. `share`: time of a draft model's pass over that of the target. `alone`: a
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
        """Extra time of the drafter's first pass, which reads the verified tokens, over a pass of one token each."""
        return self.share * (self.target(load * (gamma + 1)) - self.target(load))

    def iteration(self, load, gamma):
        return (self.target(load * (gamma + 1)) + gamma * self.draft(load) + self.first_pass(load, gamma) +
                self.host(load) + self.drafting)


def fitted(at, share, gamma=CALIBRATION_GAMMA):
    """The engine of calibration: `at` is {(arm, load): step in ms and drafts an iteration} at two loads.

    A step of the target takes host + pass, one of the draft model host + share x pass: both are known from two steps.
    The iteration at the small load then gives the host time of drafting, the one at the large load the time of a pass
    over its verified tokens. If plain decoding was measured at MIDDLE_LOAD, that step less the interpolated host time
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
        run = at["ng3", low]  # iterations differ: the mean, not the median
        lookup_ms = max(0.0, run["tpot_ms"] * run["tokens_per_iteration"] - small.host(low) -
                        small.target(low * (1 + run["drafts_per_iteration"])))
    return Engine(share, passes, hosts, drafting_ms, lookup_ms,
                  rising({load: at["alone", load]["step_ms"] for load in (low, high)}))


def share_of(config, draft):
    """Weights that a pass of the draft model reads over those that the target reads: layers and output layer."""
    width, wide, heads = config["hidden_size"], config["intermediate_size"], config["head_dim"]
    layer = width * heads * (2 * config["num_attention_heads"] + 2 * config["num_key_value_heads"]) + 3 * width * wide
    last = width * config["vocab_size"]
    return (draft["num_hidden_layers"] * layer + last) / (config["num_hidden_layers"] * layer + last)


def step_rows(engine, loads, gamma, without, drafts=None):
    """Rows of a steps file. The drafter's first pass is a part of the verification's time, because such a file has one
    time per draft. `drafts`: of a mean iteration, if not gamma."""
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
    """The answer of `foredraft predict` to a cell with these tokens and drafts per iteration, without the terms of
    `without`."""
    gamma = ARMS[arm].speculation["num_speculative_tokens"]
    added = engine.drafting
    if ARMS[arm].speculation["method"] == "ngram":
        added = engine.lookup
        engine = dataclasses.replace(engine, share=0.0, alone=dict.fromkeys(engine.alone, 0.0))
    if "in_loop" in without:  # the draft model's step includes the host's time
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
    """JSON of a command, also if it ends with 1 because its logs hold too little."""
    done = subprocess.run([str(program), *map(str, arguments), "--json"], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"foredraft {' '.join(map(str, arguments))}: {done.stderr}{done.stdout[-1000:]}")
    return json.loads(done.stdout)


def lengths_by_gamma(program, files):
    """Tokens per iteration by draft length that `advise` reads from runs of one draft length; empty if they have too
    few steps."""
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
