#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares predicted speedups with transformers on this CPU: models of random weights, one thread.

    python3 scripts/engines/transformers_validation.py calibrate   times inside the loop; other prompts, other gammas
    python3 scripts/engines/transformers_validation.py accept      acceptance lengths of the cells, untimed
    python3 scripts/engines/transformers_validation.py predict     steps files and prediction.csv
    python3 scripts/engines/transformers_validation.py measure     two runs of every cell; continues an interrupted one
    python3 scripts/engines/transformers_validation.py report      validation.csv, manifest.json, errors by term

Only these scripts need the packages torch and transformers. Cells: assisted generation with a draft model
(greedy and sampled), with prompt lookup, and with the schedule that drafts 2 more after a full acceptance, 1 less
otherwise. Each step reads the files of earlier steps in --work; `report` checks the prediction's digest.
"""

import argparse
import collections
import dataclasses
import json
import pathlib
import platform
import statistics
import time

import torch
import transformers
from transformers.generation import candidate_generator

from held_against import (ROOT, compared, foredraft, now, read_rows, save_prediction, save_report, saved_prediction,
                          write_rows)

SEED = 22
TOKENS, CALIBRATION_TOKENS = 128, 64  # of a run, after the first iteration
SCHEDULE_TOKENS = 256  # its draft length varies
SPARE = 32  # extra tokens: the last iterations of a generation draft less
RUNS = 2  # of each cell
CELL_PROMPT = 96
CALIBRATION_PROMPTS = (32, 192)
CALIBRATION_GAMMAS = (1, 2, 3, 5, 8, 12)  # with those of the cells: times of a pass rise in steps
GAMMAS = (1, 3, 5, 8)
LOOKUP_GAMMAS = (3, 8)
LOOKUP_TOKENS = 544  # that the model generated before, so that lookup finds what it repeats
SCHEDULE_START, SCHEDULE_MAX = 5, 20
# Host time that a prediction can omit, by name; without any of it, only forward passes remain.
TERMS = ("plain_host", "draft_host", "draft_set_up", "verify_host")


@dataclasses.dataclass(frozen=True)
class Pair:
    """Shape of a target; its draft model is its first two layers."""

    width: int
    feed_forward: int
    heads: int
    layers: int
    branch_scale: float  # of the outputs of attention and feed-forward


PAIRS = {"large": Pair(768, 2048, 12, 12, 0.045), "small": Pair(512, 1408, 8, 8, 0.05)}  # 85 M and 26 M parameters
VOCABULARY = 8192


@dataclasses.dataclass(frozen=True)
class Cell:
    pair: str
    mode: str  # greedy, sampled
    drafter: str  # model, lookup, schedule
    gamma: int

    def name(self):
        return f"{self.pair}-{self.mode}"

    def tokens(self):
        return SCHEDULE_TOKENS if self.drafter == "schedule" else TOKENS


def cells():
    return ([Cell(pair, mode, "model", gamma) for pair in PAIRS for mode in ("greedy", "sampled") for gamma in GAMMAS] +
            [Cell(pair, "greedy", "lookup", gamma) for pair in PAIRS for gamma in LOOKUP_GAMMAS] +
            [Cell(pair, "greedy", "schedule", SCHEDULE_MAX) for pair in PAIRS])


def random_model(pair, layers, state):
    """A model of the first `layers` layers of `state`; the first call fills `state`."""
    config = transformers.LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=pair.width, intermediate_size=pair.feed_forward, num_hidden_layers=layers,
        num_attention_heads=pair.heads, num_key_value_heads=pair.heads, max_position_embeddings=2048,
        tie_word_embeddings=False, bos_token_id=None, eos_token_id=None, pad_token_id=0)
    model = transformers.LlamaForCausalLM(config).eval()
    if not state:
        random = torch.Generator().manual_seed(SEED)
        inner = pair.width**-0.5
        for name, tensor in model.state_dict().items():
            scale = inner * (pair.branch_scale if name.endswith(("o_proj.weight", "down_proj.weight")) else 1.0)
            if name.endswith("embed_tokens.weight"):
                scale = 1.0
            if name == "lm_head.weight":
                scale = 2.0 * inner
            drawn = torch.randn(tensor.shape, generator=random) * scale
            state[name] = torch.ones_like(tensor) if "norm" in name else drawn
    model.load_state_dict({name: state[name] for name in model.state_dict()})
    return model


class Clock:
    """What generate() streams: when each iteration ended and how many tokens it gave. The prompt comes first."""

    def __init__(self, wanted):
        self.wanted, self.times, self.tokens = wanted, [], []

    def put(self, tokens):
        self.times.append(time.perf_counter())
        self.tokens.append(tokens.numel())

    def end(self):
        pass

    def decoding(self):
        """(seconds, tokens) of the iterations after the first, which holds the prompt, until all wanted are there."""
        end = next(i for i in range(2, len(self.times)) if sum(self.tokens[2:i + 1]) >= self.wanted)
        return self.times[end] - self.times[1], self.tokens[2:end + 1]


class Engine:
    def __init__(self):
        torch.set_num_threads(1)
        transformers.logging.set_verbosity_error()
        self.models, self.texts = {}, {}
        for name, pair in PAIRS.items():
            state = {}
            self.models[name] = (random_model(pair, pair.layers, state), random_model(pair, 2, state))

    def prompt(self, pair, drafter, tokens, seed):
        """Random tokens; for prompt lookup what the model itself says until it repeats itself."""
        text = torch.randint(0, VOCABULARY, (1, tokens), generator=torch.Generator().manual_seed(seed))
        if drafter == "lookup":
            if (pair, seed) not in self.texts:
                self.texts[pair, seed] = self.models[pair][0].generate(
                    text[:, :4], attention_mask=torch.ones(1, 4, dtype=torch.long),
                    max_new_tokens=max(*CALIBRATION_PROMPTS, CELL_PROMPT) + LOOKUP_TOKENS, do_sample=False)
            text = self.texts[pair, seed][:, :tokens + LOOKUP_TOKENS]
        return text

    def generate(self, cell, prompt, speculative, tokens):
        target, draft = self.models[cell.pair]
        options = {"do_sample": False} if cell.mode == "greedy" else {"do_sample": True, "top_k": 0, "temperature": 1.0}
        if speculative and cell.drafter == "lookup":
            options |= {"prompt_lookup_num_tokens": cell.gamma, "max_matching_ngram_size": 2}
        elif speculative:
            draft.generation_config.num_assistant_tokens = SCHEDULE_START if cell.drafter == "schedule" else cell.gamma
            draft.generation_config.num_assistant_tokens_schedule = (
                "heuristic" if cell.drafter == "schedule" else "constant")
            draft.generation_config.assistant_confidence_threshold = 0.0
            options["assistant_model"] = draft
        clock = Clock(tokens)
        torch.manual_seed(SEED)
        target.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=tokens + SPARE, streamer=clock,
                        **options)
        return clock


class Inside:
    """Wraps forward passes and the search for candidates; `calls` lists what they took, in the order of their end."""

    def __init__(self, engine, pair):
        self.calls = []
        self.models = dict(zip(("target", "draft"), engine.models[pair]))
        self.generators = (candidate_generator.AssistedCandidateGenerator,
                           candidate_generator.PromptLookupCandidateGenerator)

    def timed(self, kind, function, tokens):
        def call(*arguments, **options):
            began = time.perf_counter()
            result = function(*arguments, **options)
            self.calls.append((kind, began, time.perf_counter(), tokens(options, result, arguments)))
            return result

        return call

    def __enter__(self):
        for role, model in self.models.items():
            model.forward = self.timed(role, model.forward, lambda options, *_: options["input_ids"].shape[1])
        self.searches = [kind.get_candidates for kind in self.generators]
        for kind, search in zip(self.generators, self.searches):
            kind.get_candidates = self.timed("drafting", search, lambda _, result, arguments:
                                             result[0].shape[1] - arguments[1].shape[1])
        return self

    def __exit__(self, *_):
        for model in self.models.values():
            del model.forward
        for kind, search in zip(self.generators, self.searches):
            kind.get_candidates = search


def iterations(clock, calls):
    """One row an iteration after the first; times in us."""
    rows = []
    for i in range(2, len(clock.times)):
        within = [call for call in calls if clock.times[i - 1] < call[1] < clock.times[i]]
        if sum(clock.tokens[2:i]) >= clock.wanted:
            break
        took = {kind: [(end - began) * 1e6 for name, began, end, _ in within if name == kind]
                for kind in ("target", "draft", "drafting")}
        rows.append({"iteration_us": (clock.times[i] - clock.times[i - 1]) * 1e6, "target_us": sum(took["target"]),
                     "drafting_us": sum(took["drafting"]), "draft_forward_us": sum(took["draft"]),
                     "drafts": sum(tokens for name, _, _, tokens in within if name == "drafting"),
                     "tokens": clock.tokens[i]})
    return rows


def context_of(prompt, tokens):
    return prompt.shape[1] + tokens // 2


def calibrate(engine, work, rounds):
    """Medians over the iterations of each run that drafted gamma tokens: calibration.csv, one row a run."""
    path = work / "calibration.csv"
    rows = read_rows(path) if path.exists() else []
    kinds = [("greedy", "model"), ("greedy", "lookup"), ("sampled", "model")]
    for _ in range(rounds):
        for pair in PAIRS:
            for mode, drafter in kinds:
                for tokens in CALIBRATION_PROMPTS:
                    prompt = engine.prompt(pair, drafter, tokens, SEED)
                    for gamma in (0, *CALIBRATION_GAMMAS):
                        cell = Cell(pair, mode, drafter, gamma)
                        with Inside(engine, pair) as inside:
                            clock = engine.generate(cell, prompt, gamma > 0, CALIBRATION_TOKENS)
                        seen = [row for row in iterations(clock, inside.calls) if row["drafts"] == gamma]
                        if not seen:  # prompt lookup may find fewer
                            continue
                        rows.append({"pair": pair, "mode": mode, "drafter": drafter, "gamma": gamma,
                                     "context": context_of(prompt, CALIBRATION_TOKENS), "iterations": len(seen)} |
                                    {name: f"{statistics.median(row[name] for row in seen):.1f}" for name in
                                     ("iteration_us", "target_us", "drafting_us", "draft_forward_us")})
                        print(rows[-1])
            write_rows(path, rows)


def accept(engine, work):
    """The seed makes every run of a cell the same: its acceptance is known before it is timed."""
    rows = []
    for cell in cells():
        prompt = engine.prompt(cell.pair, cell.drafter, CELL_PROMPT, SEED + 1)
        with Inside(engine, cell.pair) as inside:
            clock = engine.generate(cell, prompt, True, cell.tokens())
        seen = iterations(clock, inside.calls)
        drafts = collections.Counter(row["drafts"] for row in seen)
        accepted = sum(row["tokens"] - 1 for row in seen)
        rows.append(dataclasses.asdict(cell) | {
            "context": context_of(prompt, cell.tokens()),
            "acceptance_length": statistics.mean(row["tokens"] for row in seen),
            "alpha": accepted / (accepted + sum(row["tokens"] <= row["drafts"] for row in seen)),
            "drafts": " ".join(f"{length}:{count}" for length, count in sorted(drafts.items()))})
        print(rows[-1])
    write_rows(work / "acceptance.csv", rows)


def fitted(calibration, what):
    """(intercept, slope) over gamma of the medians of `what`, in us; weights are equal."""
    gammas = sorted({int(row["gamma"]) for row in calibration if int(row["gamma"]) > 0})
    times = [statistics.median(float(row[what]) for row in calibration if int(row["gamma"]) == gamma)
             for gamma in gammas]
    slope, intercept = statistics.linear_regression(gammas, times)
    return intercept, slope


def write_steps(work, calibration, without):
    """Steps file of one pair, mode and drafter; returns it and the time that each iteration takes besides, in us."""
    intercept, slope = fitted(calibration, "drafting_us")
    draft_us = max(fitted(calibration, "draft_forward_us")[1] if "draft_host" in without else slope, 0.01)
    rows = []
    for context in sorted({row["context"] for row in calibration}, key=int):
        for gamma in (0, *CALIBRATION_GAMMAS):
            runs = [row for row in calibration if (row["context"], row["gamma"]) == (context, str(gamma))]
            if not runs:
                continue
            host = ("plain_host" if gamma == 0 else "verify_host") not in without
            us = statistics.median(
                float(row["iteration_us"]) - float(row["drafting_us"]) if host else float(row["target_us"])
                for row in runs)
            rows.append({"model": "target", "role": "decoder_pass", "batch": 1, "tokens": gamma + 1,
                         "context": context, "ms": us / 1e3})
        rows.append({"model": "draft", "role": "decoder_pass", "batch": 1, "tokens": 1, "context": context,
                     "ms": draft_us / 1e3})
    first = calibration[0]
    path = work / "steps" / ("-".join([first["pair"], first["mode"], first["drafter"],
                                       *(f"without-{term}" for term in without)]) + ".csv")
    write_rows(path, rows)
    return path, 0.0 if "draft_set_up" in without else max(intercept, 0.0)


def predicted(program, work, cell, row, calibration, without):
    """The answer to a cell, in us, tokens and as a speedup."""
    steps, set_up_us = write_steps(work, calibration, without)
    asked = ["predict", "--steps-file", steps, "--target", "target", "--draft", "draft", "--batch", 1, "--context",
             row["context"], "--overhead-us", f"{set_up_us:.1f}", "--acceptance-length", row["acceptance_length"],
             "--gamma", cell.gamma, "--json"]
    answer = json.loads(foredraft(program, *asked))
    at = answer["cells"][0]
    length = next(one for one in at["gammas"] if one["gamma"] == cell.gamma)
    return {"plain_us": at["plain"]["ms"] * 1e3, "drafting_us": length["drafting"]["ms"] * 1e3, "set_up_us": set_up_us,
            "verify_us": length["verify"]["ms"] * 1e3, "tokens_per_iteration": length["tokens_per_iteration"],
            "speedup": length["speedup"], "alpha": answer["alpha"]}


def mean_costs(program, work, cell, row, calibration, without, lengths):
    """Costs of an iteration, the mean over `lengths`: how often each draft length occurs. 0: a decode step."""
    total = collections.Counter()
    for length, count in lengths.items():
        one = predicted(program, work, dataclasses.replace(cell, gamma=max(length, 1)),
                        row | {"acceptance_length": 1.5}, calibration, without)
        costs = one | {"drafting_us": 0.0, "verify_us": one["plain_us"]} if length == 0 else one
        for name in ("plain_us", "set_up_us", "drafting_us", "verify_us"):
            total[name] += costs[name] * count
    return {name: value / sum(lengths.values()) for name, value in total.items()}


def mean(lengths):
    return sum(length * count for length, count in lengths.items()) / sum(lengths.values())


def predicted_lookup(program, work, cell, row, calibration, without):
    """What prompt lookup finds is an input, as the acceptance length is."""
    lengths = lengths_of(row)
    tokens = float(row["acceptance_length"])
    costs = mean_costs(program, work, cell, row, calibration, without, lengths)
    return costs | {"tokens_per_iteration": tokens, "drafts": mean(lengths), "speedup": tokens * costs["plain_us"] / (
        costs["drafting_us"] + costs["set_up_us"] + costs["verify_us"])}


def lengths_of(row):
    return {int(length): int(count) for length, count in (pair.split(":") for pair in row["drafts"].split())}


def predicted_schedule(program, work, cell, row, calibration, without):
    """Draft lengths and tokens follow from alpha and the schedule; verification takes the time of its mean length."""
    policy = ["predict", "--alpha", row["alpha"], "--policy", "plus2_minus1", "--gamma", cell.gamma, "--json"]
    drafts = json.loads(foredraft(program, *policy, "--c", 0))["mean_gamma"]
    share = drafts - int(drafts)
    costs = mean_costs(program, work, cell, row, calibration, without, {int(drafts): 1 - share, int(drafts) + 1: share})
    answer = json.loads(foredraft(program, *policy, "--step-ms", costs["plain_us"] / 1e3, "--draft-ms",
                                  costs["drafting_us"] / drafts / 1e3, "--verify-ms", costs["verify_us"] / 1e3,
                                  "--overhead-ms", costs["set_up_us"] / 1e3))
    return costs | {"tokens_per_iteration": answer["tokens_per_iteration"], "speedup": answer["speedup"],
                    "drafts": drafts}


def predict(program, work):
    calibration = read_rows(work / "calibration.csv")
    accepted = {identity(row): row for row in read_rows(work / "acceptance.csv")}
    rows = []
    for cell, of_cell in accepted.items():
        drafter = "lookup" if cell.drafter == "lookup" else "model"
        known = [row for row in calibration if (row["pair"], row["mode"], row["drafter"]) ==
                 (cell.pair, cell.mode, drafter)]
        row = {"target": cell.name(), "drafter": {"model": "first 2 layers", "lookup": "prompt lookup",
                                                  "schedule": "first 2 layers, +2/-1"}[cell.drafter],
               "drafting": "autoregressive", "dtype": "fp32", "gamma": cell.gamma,
               "acceptance_length": f"{float(of_cell['acceptance_length']):.6g}", "batch": 1,
               "context": of_cell["context"]}
        for name, without in {"": (), **{term: (term,) for term in TERMS}, "all": TERMS}.items():
            of_drafter = {"model": predicted, "lookup": predicted_lookup, "schedule": predicted_schedule}
            answer = of_drafter[cell.drafter](program, work, cell, of_cell, known, without)
            if name == "":
                row |= {key: answer[key] for key in
                        ("plain_us", "drafting_us", "set_up_us", "verify_us", "tokens_per_iteration", "speedup")}
                row |= {"drafts": float(answer.get("drafts", cell.gamma)), "measured_drafts": mean(lengths_of(of_cell))}
            else:
                row["speedup_without_" + name] = answer["speedup"]
        rows.append(row)
    save_prediction(work, rows)


def measure(engine, work, seconds):
    """Runs both arms of a cell one after the other, cell by cell, until each has its runs or the time is up."""
    saved_prediction(work)
    path, began = work / "measured.csv", time.monotonic()
    rows = read_rows(path) if path.exists() else []
    prompts = {}
    for run in range(1, RUNS + 1):
        for i, cell in enumerate(cells()):
            done = [row for row in rows if identity(row) == cell]
            if len(done) >= run or time.monotonic() - began > seconds:
                continue
            if (cell.pair, cell.drafter) not in prompts:
                prompts[cell.pair, cell.drafter] = engine.prompt(cell.pair, cell.drafter, CELL_PROMPT, SEED + 1)
            prompt, speeds, started = prompts[cell.pair, cell.drafter], {False: [], True: []}, now()
            for _ in range(3 if cell.pair == "small" else 1):
                for speculative in ((True, False) if (i + run) % 2 == 0 else (False, True)):
                    took, tokens = engine.generate(cell, prompt, speculative, cell.tokens()).decoding()
                    speeds[speculative].append(sum(tokens) / took)
                    if speculative:
                        length = sum(tokens) / len(tokens)
            speed = {arm: statistics.harmonic_mean(of_arm) for arm, of_arm in speeds.items()}
            rows.append({"run": run} | dataclasses.asdict(cell) | {
                "started": started, "plain_tokens_per_s": f"{speed[False]:.6g}", "tokens_per_s": f"{speed[True]:.6g}",
                "acceptance_length": f"{length:.6g}"})
            write_rows(path, rows)
    print(f"{len(rows)} of {RUNS * len(cells())} runs")


def identity(row):
    return Cell(row["pair"], row["mode"], row["drafter"], int(row["gamma"]))


def report(work, out):
    predictions, digest, when = saved_prediction(work)
    measured = read_rows(work / "measured.csv")
    rows = []
    for cell, before in zip(cells(), predictions, strict=True):
        rows.append(compared(before, [row for row in measured if identity(row) == cell], TERMS) |
                    {"predicted_drafts": before["drafts"], "measured_drafts": before["measured_drafts"]})
    about = {"engine": "transformers",
             "versions": {"transformers": transformers.__version__, "torch": torch.__version__},
             "processor": next(line.split(":")[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8")
                               if line.startswith("model name")),
             "threads": 1, "machine": "virtual, 2 cores, shared host", "operating_system": platform.system(),
             "predicted": when, "prediction_sha256": digest,
             "measured": [measured[0]["started"], measured[-1]["started"]]}
    save_report(out, work, rows, about, TERMS)
    (out / "calibration.csv").write_bytes((work / "calibration.csv").read_bytes())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("step", choices=["calibrate", "accept", "predict", "measure", "report"])
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build" / "engines" / "transformers")
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build" / "release" / "foredraft")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "gpu_bench" / "data" / "engines" / "transformers")
    parser.add_argument("--rounds", type=int, default=1, help="of calibrate")
    parser.add_argument("--seconds", type=float, default=3600, help="of measure: no cell begins later")
    asked = parser.parse_args()
    with torch.inference_mode():
        if asked.step == "calibrate":
            calibrate(Engine(), asked.work, asked.rounds)
        elif asked.step == "accept":
            accept(Engine(), asked.work)
        elif asked.step == "predict":
            predict(asked.program, asked.work)
        elif asked.step == "measure":
            measure(Engine(), asked.work, asked.seconds)
        else:
            report(asked.work, asked.out)


if __name__ == "__main__":
    main()
