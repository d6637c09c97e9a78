# SPDX-License-Identifier: Apache-2.0
"""Consoles without counts of drafts, what collectors put around lines, documents that were cut off, arms in columns."""
import json

from builders import llama_log, steady, vllm_bench, vllm_log
from table import UNKNOWN_ERROR, case, near

ONE = "logs[0].observations[0]."

# Medians 20/12.5 and 24/16 ms.
case("27 consoles of GuideLLM", "advise guidellm-spec.txt --plain guidellm-plain.txt", "27-consoles", json={
    "loads#": 2, "loads[batch=3.9].speedup.measured": near(1.60), "loads[batch=15.7].speedup.measured": near(1.50),
    "loads[batch=3.9].plain_ms": near(20), "warnings[code=W20]#": 2, **UNKNOWN_ERROR},
     first=[r"1\.60x", r"1\.50x"])
case("27 the same before 0.4", "import old.txt", lines=0, any_order=False, files={"old.txt": """Benchmarks Stats:
Metadata     | Request Stats         || Out Tok/sec| Tot Tok/sec| Req Latency (ms)||| TTFT (ms)       ||| ITL (ms)        ||| TPOT (ms)       ||
    Benchmark| Per Second| Concurrency|        mean|        mean| mean| median|  p99| mean| median|  p99| mean| median|  p99| mean| median|  p99
-------------|-----------|------------|------------|------------|-----|-------|-----|-----|-------|-----|-----|-------|-----|-----|-------|-----
constant@0.50|       0.46|        3.26|       119.0|       594.8|  7.00|   7.02|  7.03| 74.2|   73.6| 87.3| 27.2|   27.0| 27.4| 27.1|   27.1| 27.1
"""}, json={"logs[0].observations#": 1, ONE + "times.tpot_ms": near(27.2, 1e-9), ONE + "times.ttft_ms": near(74.2, 1e-9),
            ONE + "requests": near(3.26, 1e-9), ONE + "times.request_rate_per_s": near(0.5, 1e-9),
            ONE + "times.output_tokens_per_s": near(119, 1e-9)})
# 1000/50; 2 x 1000/80.
case("27 Ollama", "import ollama.txt", "27-consoles", lines=0, any_order=False, json={
    "logs[0].observations#": 1, ONE + "times.tpot_ms": near(20, 1e-9), ONE + "stratum.output_tokens": near(150),
    ONE + "decoding": "unknown"})
case("27 mlx_lm.benchmark", "import mlx.txt", "27-consoles", lines=0, any_order=False, json={
    "logs[0].observations#": 1, ONE + "times.tpot_ms": near(25, 1e-9), ONE + "concurrency": near(2)})
# 60 s / 5000 tokens, 10 s / 40 requests.
case("27 Dynamo, two scrapes", "import dynamo-before.prom dynamo-after.prom", "27-consoles", lines=0, any_order=False, json={
    "logs#": 1, "logs[0].observations#": 1, ONE + "times.tpot_ms": near(12, 1e-9), ONE + "times.ttft_ms": near(250, 1e-9),
    ONE + "requests": near(8), "warnings[code=W02]#": 0})


def series(name, values, **labels):
    return {"metric": {"__name__": name, "instance": "10.0.0.1:8000", **labels},
            "values": [[1790000000 + 60 * i, str(value)] for i, value in enumerate(values)]}


# 900 and 500 steps; 1400 steps drafted 2800 and accepted 1680 + 840 = 1120 + 560 (K = 2).
RANGE = json.dumps({"status": "success", "data": {"resultType": "matrix", "result": [
    series("vllm:spec_decode_num_drafts_total", [100, 1000, 1500]),
    series("vllm:spec_decode_num_draft_tokens_total", [200, 2000, 3000]),
    series("vllm:spec_decode_num_accepted_tokens_total", [120, 1200, 1800]),
    series("vllm:spec_decode_num_accepted_tokens_per_pos_total", [80, 800, 1200], position="0"),
    series("vllm:spec_decode_num_accepted_tokens_per_pos_total", [40, 400, 600], position="1")]}})
case("27 a range query of Prometheus", "advise range.json", files={"range.json": RANGE}, json={
    "verification_steps": 1400, "gamma_observed": 2, "tokens_per_iteration.observed": near(2.2, 1e-6),
    "marginal[0].value": near(0.8, 1e-6), "marginal[1].value": near(0.4, 1e-6)})

# 54/30 and 36/30; 1 + 2 x 0.8 and 1 + 2 x 0.4 tokens per iteration.
case("28 arms in columns", "import by-arm.md", "28-arms-in-columns", lines=0, any_order=False, json={
    "logs[0].observations#": 4, ONE + "decoding": "plain", ONE + "stratum.category": "code",
    "logs[0].observations[1].gamma": 2, "logs[0].observations[1].acceptance_length": near(2.6, 1e-9),
    "logs[0].observations[3].acceptance_length": near(1.8, 1e-9),
    "logs[0].observations[3].times.tpot_ms": near(27.78)})
# 17.1/11.2.
case("28 arms by metric", "advise by-metric.md", "28-arms-in-columns",
     json={"recommendation.gamma": 1, "loads#": 1, "loads[0].speedup.measured": near(1.53), **UNKNOWN_ERROR},
     first=[r"K = 1\b", r"1\.53x"])

# 90/50.
PLAIN, SPEC = vllm_log(steady(50)), vllm_log(steady(90, rates=[0.8, 0.6, 0.4]), 3)
WRAPPED = {"recommendation.gamma": 3, "loads#": 1, "loads[0].speedup.measured": near(1.80),
           "loads[0].tokens_per_iteration": near(2.8), "warnings[code=W18]#": 0}


def each_line(text, wrap):
    return "".join(wrap(line) + "\n" for line in text.splitlines())


for title, wrap in {
        "docker's files": lambda line: json.dumps({"log": line + "\n", "stream": "stderr", "time": "2026-10-02T10:00:00Z"}),
        "a structured logger": lambda line: json.dumps({"severity": "INFO", "message": "\x1b[36m" + line + "\x1b[0m"}),
        "compose without a number": lambda line: f"vllm    | {line}",
        "CRI": lambda line: f"2026-10-02T10:00:00.123456789Z stderr F {line}"}.items():
    case(f"29 lines of {title}", "advise spec.log --plain plain.log",
         files={"spec.log": each_line(SPEC, wrap), "plain.log": each_line(PLAIN, wrap)}, json=WRAPPED,
         first=[r"K = 3\b", r"1\.80x"])

# 20/10; the end of one is cut off, the beginning of the other.
WHOLE, BASE = (json.dumps(json.loads(vllm_bench(*numbers)), indent=2) for numbers in ((10.0, [0.75, 0.5, 0.35]), (20.0,)))
case("30 documents cut off", "advise spec.json --plain plain.json",
     files={"spec.json": WHOLE[:WHOLE.index('"spec_decode_per_position')], "plain.json": BASE[BASE.index('"burstiness"'):]},
     json={"loads#": 1, "loads[0].speedup.measured": near(2.00), "loads[0].tokens_per_iteration": near(2.6)},
     first=[r"2\.00x"])
# Without positions K follows from the drafts.
NO_POSITIONS = json.loads(vllm_bench(10.0, [0.75, 0.5, 0.35]))
del NO_POSITIONS["spec_decode_per_position_acceptance_rates"]
case("30 no rates by position", "advise spec.json --plain plain.json", files={
    "spec.json": json.dumps(NO_POSITIONS), "plain.json": BASE},
     json={"recommendation.gamma": 3, "loads[0].speedup.measured": near(2.00), "gamma_observed": 3,
           "tokens_per_iteration.observed": near(2.6)}, first=[r"K = 3\b", r"2\.00x"])

# 4000/2500 ms for 200 tokens after the first one: this build prints no drafts, so the command lines tell the arms.
case("31 command lines of llama-server", "advise both.log", files={"both.log":
     "with mtp:\n./llama-server \\\n  --jinja --spec-type draft-mtp --spec-draft-n-max 2 \\\n  -m big.gguf\n"
     + llama_log([(2500, 201, None, None)] * 5) + "without:\n./llama-server -m big.gguf\n"
     + llama_log([(4000, 201, None, None)] * 5)},
     json={"recommendation.gamma": 2, "loads#": 1, "loads[0].speedup.measured": near(1.60), "loads[0].plain_ms": near(20)},
     first=[r"K = 2\b", r"1\.60x"])

# 84/60; the fastest row is of another engine. 36/30 and 120/80; pooled they are 1.27.
case("32 another engine is no speculation of this one", "advise table.md", any_order=False, files={"table.md":
     "| setup | decode tok/s |\n|---|---|\n| vLLM 0.11 + EAGLE3 | 84 |\n| vLLM 0.11 baseline | 60 |\n| SGLang 0.5 + EAGLE3 | 120 |\n"},
     json={"loads[*].speedup.measured": near(1.40), **UNKNOWN_ERROR}, first=[r"1\.40x", r"vLLM"], forbidden=[r"2\.00x"],
     text=[r"SGLang 0\.5"])
case("32 two models, two tables", "advise tables.md", any_order=False, files={"tables.md": "".join(
     f"### {model}\n\n| method | tok/s |\n|---|---|\n| baseline | {plain} |\n| MTP K=2 | {drafts} |\n\n"
     for model, plain, drafts in (("Foo-8B", 80, 120), ("Bar-32B", 30, 36)))},
     json={"loads#": 2, "loads[0].speedup.measured": near(1.20), "loads[1].speedup.measured": near(1.50), **UNKNOWN_ERROR},
     headline=[r"1\.20x at [\w ]+ Bar-32B", r"1\.50x at [\w ]+ Foo-8B"])
# 41 and 55 tokens/s below their unit.
case("32 arms in a list", "advise list.md", any_order=False, files={
     "list.md": "Throughput (tok/s):\n- plain: 41\n- MTP K=2: 55\n- MTP K=4: 49\n"},
     json={"recommendation.gamma": 2, "loads[0].runs[gamma=2].speedup.measured": near(1.341),
           "loads[0].runs[gamma=4].speedup.measured": near(1.195), **UNKNOWN_ERROR}, first=[r"K = 2\b", r"1\.34x"],
     text=[r"W22 read as", r"W09 the concurrency"])
