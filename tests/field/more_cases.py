# SPDX-License-Identifier: Apache-2.0
"""More cases of the kinds of posted_cases.py, with other numbers, engines and formats."""
import json

from builders import (detailed_bench, llama_log, llama_requests, prometheus, sglang_bench, sglang_log,
                      steady, vllm_bench, vllm_log)
from table import MISSING, NO_FAULT, UNKNOWN_ERROR, between, case, has, interval, lacks, named, near, one_of

# ---------------------------------------------------------------- 1. what is one run

# 70/50, 90/50; 704/640, 560/640.
case("1 speeds at two loads", "advise sweep.csv", files={"sweep.csv": """decoding,gamma,requests,output_tokens_per_s
plain,,1,50
speculative,1,1,70
speculative,4,1,90
plain,,16,640
speculative,1,16,704
speculative,4,16,560
"""}, json={"loads#": 2, "loads[batch=1].runs[gamma=1].speedup.measured": near(1.40),
            "loads[batch=1].runs[gamma=4].speedup.measured": near(1.80),
            "loads[batch=16].runs[gamma=1].speedup.measured": near(1.10),
            "loads[batch=16].runs[gamma=4].speedup.measured": near(0.875), "recommendation.gamma": one_of(1, 4),
            **UNKNOWN_ERROR},
     first=[r"K = [14]\b"], text=[r"1\.80", r"0\.8[78]"])
# Without a plain run: TPOT 20, 16, 18 ms: K = 2 is 1.25 times as fast as K = 1, K = 3 1.11 times.
case("1 three K without a plain run", "advise k1.json k2.json k3.json", files={
    "k1.json": vllm_bench(20.0, [0.8]), "k2.json": vllm_bench(16.0, [0.8, 0.6]), "k3.json": vllm_bench(18.0, [0.8, 0.6, 0.4])},
     json={"loads#": 1, "loads[0].speedup": None, "recommendation.gamma": 2, "loads[0].runs[gamma=2].relative.value": near(1.25),
           "loads[0].runs[gamma=3].relative.value": near(1.11), "loads[0].runs[gamma=2].relative.ci95": None},
     first=[r"K = 2\b"], headline=[r"1\.25"], text=[r"not known"])
# As fast as possible, 500 prompts: 240/190 and 240/170; the requests in flight are an outcome.
case("1 unlimited load as JSON", "advise k1.json k3.json --plain plain.json", files={
    "plain.json": vllm_bench(240.0, concurrency=None, in_flight=480, completed=500),
    "k1.json": vllm_bench(190.0, [0.785], concurrency=None, in_flight=475, completed=500),
    "k3.json": vllm_bench(170.0, [0.78, 0.36, 0.19], concurrency=None, in_flight=472, completed=500)},
     json={"loads#": 1, "recommendation.gamma": 3, "loads[0].runs[gamma=1].speedup.measured": near(1.263),
           "loads[0].runs[gamma=3].speedup.measured": near(1.412), **UNKNOWN_ERROR},
     first=[r"K = 3\b", r"1\.41x"], forbidden=[r"W09"])
# 20/10 at prompts of 1,000 tokens, 26/25 at 30,000, both at a concurrency of 8.
LONG = dict(total_input_tokens=30000 * 100)
case("1 contexts as JSON", "advise short.json long.json --plain short-plain.json,long-plain.json", files={
    "short-plain.json": vllm_bench(20.0), "long-plain.json": vllm_bench(26.0, **LONG),
    "short.json": vllm_bench(10.0, [0.75, 0.5, 0.35]), "long.json": vllm_bench(25.0, [0.75, 0.5, 0.35], **LONG)},
     json={"loads#": 2, "loads[context<5000].speedup.measured": near(2.00), "loads[context>5000].speedup.measured": near(1.04),
           "recommendation.gamma": 3}, first=[r"K = 3\b"], text=[r"2\.00", r"1\.04"], forbidden=[r"W09"])
# The same K, two drafters that the settings name: 90/50 and 75/50.
case("1 two drafters of vLLM", "advise eagle3.log mtp.log --plain plain.log", files={
    "plain.log": vllm_log(steady(50)), "eagle3.log": vllm_log(steady(90, rates=[0.8, 0.6, 0.4]), 3),
    "mtp.log": vllm_log(steady(75, rates=[0.7, 0.45, 0.25]), 3, "mtp")},
     json={"recommendation.gamma": 3, "recommendation.drafter": has("eagle3"), "loads#": 1,
           "loads[0].runs[drafter~eagle3].speedup.measured": near(1.80), "loads[0].runs[drafter~mtp].speedup.measured": near(1.50),
           "loads[0].speedup.measured": near(1.80), "warnings[code=W17]#": 0},
     first=[r"K = 3\b", r"eagle3", r"1\.80x"], text=[r"mtp", r"1\.50"])
# The same of a load generator, which does not name the drafter: the files do. 20/10 and 20/14.
case("1 two drafters that only files name", "advise eagle3.json mtp.json --plain plain.json", files={
    "plain.json": vllm_bench(20.0), "eagle3.json": vllm_bench(10.0, [0.8, 0.5, 0.3]), "mtp.json": vllm_bench(14.0, [0.5, 0.3, 0.1])},
     json={"recommendation.gamma": 3, "loads#": 1, "loads[0].runs[gamma=3]#": 2,
           "loads[0].runs[name~eagle3].speedup.measured": near(2.00), "loads[0].runs[name~mtp].speedup.measured": near(1.43),
           "loads[0].speedup.measured": near(2.00)},
     first=[r"K = 3\b", r"2\.00x"], text=[r"eagle3", r"mtp", r"1\.43"])
# Two runs of one K that contradict each other: 20/12 and 20/25; together they would be 20/18.5.
case("1 contradicting runs", "advise a.csv b.csv --plain plain.csv", files={
    "plain.csv": "decoding,requests,tpot_ms\nplain,1,20\n",
    "a.csv": "decoding,gamma,steps,accepted_at_1,accepted_at_2,requests,tpot_ms\nspeculative,2,20000,16000,12000,1,12\n",
    "b.csv": "decoding,gamma,steps,accepted_at_1,accepted_at_2,requests,tpot_ms\nspeculative,2,20000,4000,1000,1,25\n"},
     json={"loads#": 1, "loads[0].runs[gamma=2]#": 2, "loads[0].runs[name~a.csv].speedup.measured": near(1.67),
           "loads[0].runs[name~b.csv].speedup.measured": near(0.80), **UNKNOWN_ERROR},
     text=[r"a\.csv", r"b\.csv", r"1\.67", r"0\.80"], forbidden=[r"1\.08x"])
# Two rows that are equal are two runs of 10,000 steps. 20/15.
case("1 two identical rows", "advise runs.csv", files={"runs.csv":
     "decoding,gamma,steps,accepted_at_1,accepted_at_2,requests,tpot_ms\nplain,,,,,4,20\nplain,,,,,4,20\n"
     "speculative,2,10000,8000,5000,4,15\nspeculative,2,10000,8000,5000,4,15\n"},
     json={"recommendation.gamma": 2, "loads[0].speedup.measured": near(1.333), "verification_steps": 20000,
           "tokens_per_iteration.observed": near(2.3, 1e-6), "warnings": []},
     first=[r"K = 2\b", r"1\.33x"])
# Gamma 0 without a column `decoding` is a plain run: 20/12.5.
case("1 rows of K = 0", "advise runs.csv", files={"runs.csv": "gamma,steps,accepted_at_1,accepted_at_2,requests,tpot_ms\n"
                                                              "0,,,,1,20\n2,20000,16000,12000,1,12.5\n"},
     json={"recommendation.gamma": 2, "loads[0].speedup.measured": near(1.60), **UNKNOWN_ERROR}, first=[r"K = 2\b", r"1\.60x"])
# An engine's own K = 0 is a server that speculates: 20/22; K = 2 20/25. Off is a server without speculation.
case("1 an engine's own K = 0", "advise runs.csv", files={
    "runs.csv": "decoding,gamma,steps,accepted_at_1,accepted_at_2,requests,tpot_ms\nplain,,,,,1,20\n"
                "speculative,0,10000,,,1,22\nspeculative,2,20000,6000,2000,1,25\n"},
     json={"recommendation.gamma": 0, "loads#": 1, "loads[0].runs[gamma=2].speedup.measured": near(0.80)},
     first=[r"\boff\b"], text=[r"0\.80", r"0\.91"])

# A limit of 16 requests is the load, whatever the mean in flight: 20/12.5.
case("1 a concurrency that binds", "advise spec.json --plain plain.json", files={
    "plain.json": sglang_bench(20.0, concurrency=15.6, max_concurrency=16),
    "spec.json": sglang_bench(12.5, 2.4, 3, concurrency=11.2, max_concurrency=16)},
     json={"recommendation.gamma": 3, "loads#": 1, "loads[0].speedup.measured": near(1.60), "loads[0].batch": 16},
     first=[r"K = 3\b", r"1\.60x"], text=[r"16 requests"], forbidden=[r"W09"])
# 560/300 at a context of 2,000 tokens; 240/250 at 40,000.
case("1 contexts of SGLang with a plain run", "advise spec.log --plain plain.log", files={
    "plain.log": sglang_log([dict(tps=300, running=2, context=2000)] * 12 + [dict(tps=250, running=2, context=40000)] * 12),
    "spec.log": sglang_log([dict(tps=560, running=2, length=2.8, context=2000)] * 12
                           + [dict(tps=240, running=2, length=1.6, context=40000)] * 12, 3)},
     json={"loads#": 2, "loads[context<9000].speedup.measured": near(1.867),
           "loads[context>9000].speedup.measured": near(0.96), "loads[context<9000].tokens_per_iteration": near(2.8),
           "loads[context>9000].tokens_per_iteration": near(1.6), "recommendation.gamma": 3},
     first=[r"K = 3\b"], headline=[r"0\.96x"])

# ---------------------------------------------------------------- 2. the ladder of evidence

# Length only, no times: 1 + 12000/10000. At K = 2 the two positions hold half of the accepted drafts at least, all of
# them at most: 1.6 to 2.2, and their errors.
case("2 totals only", "advise runs.csv", files={"runs.csv": "decoding,gamma,steps,drafted,accepted,requests\n"
                                                            "speculative,4,10000,40000,12000,1\n"},
     json={"recommendation": None, "gamma_observed": 4, "tokens_per_iteration.observed": near(2.2, 1e-6), "speedup": None,
           "tokens_per_iteration_by_gamma[gamma=2].low": between(1.5, 2.2),
           "tokens_per_iteration_by_gamma[gamma=2].high": between(1.6, 2.3)},
     headline=[r"2\.20", r"decode steps"], text=[r"--plan"])
# Only medians: 20/10.
MEDIANS = dict(mean_tpot_ms=None, mean_itl_ms=None, mean_ttft_ms=None)
case("2 medians", "advise spec.json --plain plain.json", files={
    "plain.json": vllm_bench(20.0, **MEDIANS), "spec.json": vllm_bench(10.0, [0.8, 0.5], **MEDIANS)},
     json={"recommendation.gamma": 2, "loads[0].speedup.measured": near(2.00), **UNKNOWN_ERROR},
     first=[r"K = 2\b", r"2\.00x"], text=[r"median"])
# 8 of 100 requests failed; those that did not: 20/12.5.
case("2 failed requests", "advise spec.json --plain plain.json", files={
    "plain.json": vllm_bench(20.0), "spec.json": vllm_bench(12.5, [0.8, 0.5], completed=92, num_prompts=100, failed=8)},
     json={"loads[0].speedup.measured": near(1.60), "recommendation.gamma": 2}, first=[r"K = 2\b"],
     text=[r"\b8\b[^.]*fail|fail[^.]*\b8\b"])
# Gauges of SGLang: 2/500 and 2/300 s per token.
case("2 speed of SGLang's scrapes", "advise spec.prom --plain plain.prom", files={
    "spec.prom": "sglang:spec_accept_length 2.5\nsglang:spec_num_steps 3\nsglang:spec_num_draft_tokens 4\n"
                 "sglang:gen_throughput 500.0\nsglang:num_running_reqs 2.0\n",
    "plain.prom": "sglang:gen_throughput 300.0\nsglang:num_running_reqs 2.0\n"},
     json={"loads#": 1, "loads[0].speedup.measured": near(1.667), "loads[0].tokens_per_iteration": near(2.5), **UNKNOWN_ERROR},
     headline=[r"1\.67x"])
# 20 and 40 s for 1,000 tokens; 1 + 600/400.
case("2 speed of llama-server's scrapes", "advise spec.prom --plain plain.prom", files={
    "spec.prom": "llamacpp:spec_decode_num_drafts_total 400\nllamacpp:spec_decode_num_draft_tokens_total 800\n"
                 "llamacpp:spec_decode_num_accepted_tokens_total 600\nllamacpp:tokens_predicted_total 1000\n"
                 "llamacpp:tokens_predicted_seconds_total 20.0\n",
    "plain.prom": "llamacpp:tokens_predicted_total 1000\nllamacpp:tokens_predicted_seconds_total 40.0\n"},
     json={"recommendation.gamma": 2, "loads#": 1, "loads[0].speedup.measured": near(2.00),
           "loads[0].tokens_per_iteration": near(2.5), "loads[0].iteration_ms": near(50), **UNKNOWN_ERROR},
     first=[r"K = 2\b", r"2\.00x"])
# A document is recognized by what it has: 20/12.5.
case("2 documents with few keys", "advise spec.json --plain plain.json", files={
    "plain.json": json.dumps({"max_concurrency": 8, "request_rate": "inf", "mean_tpot_ms": 20.0, "output_throughput": 400.0}),
    "spec.json": json.dumps({"max_concurrency": 8, "request_rate": "inf", "mean_tpot_ms": 12.5, "output_throughput": 640.0,
                             "spec_decode_num_drafts": 20000, "spec_decode_draft_tokens": 40000,
                             "spec_decode_accepted_tokens": 26000})},
     json={"recommendation.gamma": 2, "loads[0].speedup.measured": near(1.60), "tokens_per_iteration.observed": near(2.30, 1e-6),
           **UNKNOWN_ERROR}, first=[r"K = 2\b", r"1\.60x"])
# One window in each arm, as people paste it: 75/50.
case("2 one window", "advise spec.log --plain plain.log", files={
    "plain.log": vllm_log(steady(50, count=1)), "spec.log": vllm_log(steady(75, rates=[0.8, 0.6], count=1), 2)},
     json={"recommendation.gamma": 2, "loads[0].speedup.measured": near(1.50), **UNKNOWN_ERROR},
     first=[r"K = 2\b", r"1\.50x"])
# 150 steps: a speedup, 20/12, and nothing of other K.
case("2 fewer than 200 steps", "advise runs.csv", files={"runs.csv": "decoding,gamma,steps,accepted_at_1,requests,tpot_ms\n"
                                                                    "plain,,,,1,20\nspeculative,1,150,120,1,12\n"},
     json={"loads[0].speedup.measured": near(1.667), "recommendation.gamma": 1, "causes": has("too_few"),
           "tokens_per_iteration_by_gamma[gamma=3].value": MISSING, **UNKNOWN_ERROR},
     first=[r"K = 1\b", r"1\.67x"])
# Three windows of 300 steps: 2.25 tokens or so, of which 95 % know little.
case("2 a few windows", "advise run.log", files={
    "run.log": vllm_log([dict(tps=70, running=1, rates=rates) for rates in ([0.77, 0.5], [0.74, 0.51], [0.76, 0.49])], 2)},
     json={"recommendation": None, "gamma_observed": 2, "tokens_per_iteration.observed": near(2.26, 0.02)},
     first=[r"K = 2 yields"], headline=[r"too few windows"], text=[r"fewer than five windows"], forbidden=[r"differ too much"])
# An acceptance length alone, of the server since its start.
case("2 an acceptance length", "advise run.json", files={"run.json": sglang_bench(12.0, 2.5, 3)},
     json={"recommendation": None, "speedup": None, "gamma_observed": 3, "loads[0].tokens_per_iteration": near(2.5)},
     headline=[r"2\.50", r"decode steps"], text=[r"--plan"])



def genai_perf(tokens_per_s):
    """GenAI-Perf's table: two requests at once of 1,024 tokens."""
    rows = (("Request Latency (ms)", 2 * 1024 * 1000 / tokens_per_s), ("Output Sequence Length (tokens)", 1024),
            ("Input Sequence Length (tokens)", 156), ("Output Token Throughput (per sec)", tokens_per_s),
            ("Request Throughput (per sec)", tokens_per_s / 1024), ("Request Count (count)", 50))
    return "\n".join(["NVIDIA GenAI-Perf | LLM Metrics", "┏━━━┳━━━┓", f"┃ {'Statistic':>33} ┃ {'avg':>8} ┃"]
                     + [f"│ {name:>33} │ {value:8,.2f} │" for name, value in rows]) + "\n"


# Times only, of a load generator that knows neither K nor acceptance: 1920/1280.
case("2 a table of GenAI-Perf", "advise spec.txt --plain plain.txt", files={
    "plain.txt": genai_perf(1280), "spec.txt": genai_perf(1920)},
     json={"loads#": 1, "loads[0].speedup.measured": near(1.50), "loads[0].tokens_per_iteration": MISSING, **UNKNOWN_ERROR},
     headline=[r"1\.50x"])


def speed_bench(rates, accepted):
    """llama.cpp's speed_bench.py: tokens/s of one request by category."""
    return json.dumps({"config": {"bench": "qualitative", "concurrency": 1}, "selected_samples": 20, "completed_samples": 20,
                       "failed_samples": 0, "results": [], "summary": [
                           {"category": name, "samples": 10, "avg_prompt_t/s": 900.0, "avg_pred_t/s": rate, "avg_latency": 4.0,
                            "accept_rate": accepted} for name, rate in rates.items()]})


# By category: 90/50 and 55/50.
case("2 means by category", "advise spec.json --plain plain.json", files={
    "plain.json": speed_bench({"coding": 50.0, "writing": 50.0}, None),
    "spec.json": speed_bench({"coding": 90.0, "writing": 55.0}, 0.5)},
     json={"loads#": 2, "loads[category=coding].speedup.measured": near(1.80),
           "loads[category=writing].speedup.measured": near(1.10), **UNKNOWN_ERROR}, text=[r"1\.80", r"1\.10"])
# SpecForge: both arms in one file, at K = 3 and 5: 1400/1000 and 1500/1000.
case("2 a dashboard of SpecForge", "advise board.json", files={"board.json": json.dumps({"target-9b": {"gsm": {
    "benchmark_name": "gsm", "results": [{"batch_size": 8, "steps": k, "topk": 1, "num_draft_tokens": k + 1, "metrics": [
        {"Name": "Wihtout EAGLE3", "output_throughput": 1000.0, "accept_length": 1.0},
        {"Name": "lab/head", "output_throughput": rate, "accept_length": length}]}
        for k, rate, length in ((3, 1400.0, 2.4), (5, 1500.0, 2.9))]}}})},
     json={"recommendation.gamma": 5, "loads#": 1, "loads[0].runs[gamma=3].speedup.measured": near(1.40),
           "loads[0].runs[gamma=5].speedup.measured": near(1.50), **UNKNOWN_ERROR}, first=[r"K = 5\b", r"1\.50x"])

# ---------------------------------------------------------------- 3. times are ratios of sums

# Every third window of both arms is half as fast: 48 ms over all, 40 without what looks idle for a part; 1.20.
case("3 windows of unequal throughput", "advise spec.log --plain plain.log", files={
    "plain.log": vllm_log([dict(tps=tps, running=4) for tps in (100, 100, 50) * 4]),
    "spec.log": vllm_log([dict(tps=tps, running=4, rates=[0.7, 0.4]) for tps in (120, 120, 60) * 4], 2)},
     json={"recommendation.gamma": 2, "loads[0].plain_ms": one_of(40, 48), "loads[0].speedup.measured": near(1.20)},
     first=[r"K = 2\b", r"1\.20x"])
# 5,000 tokens: 1,000 steps that drafted with 1,000 accepted, 3,000 that did not: 1.25 tokens per iteration of 20 ms.
case("3 n-gram counters", "advise spec.prom --plain plain.prom", files={
    "spec.prom": prometheus(spec_decode_num_drafts_total=1000.0, spec_decode_num_draft_tokens_total=3000.0,
                            spec_decode_num_accepted_tokens_total=1000.0,
                            spec_decode_num_accepted_tokens_per_pos_total=[500, 300, 200], generation_tokens_total=5000.0,
                            inter_token_latency_seconds_count=4000.0, inter_token_latency_seconds_sum=80.0),
    "plain.prom": prometheus(generation_tokens_total=5000.0, inter_token_latency_seconds_count=5000.0,
                             inter_token_latency_seconds_sum=100.0)},
     json={"loads#": 1, "loads[0].tokens_per_iteration": near(1.25), "loads[0].iteration_ms": near(20, 0.01),
           "loads[0].speedup.measured": near(1.25)},
     headline=[r"1\.25x"], forbidden=[r"2\.00x"])
# The first line after idle holds the pause: 2.5 x 2/500 against 2/300 s.
case("3 the first line of SGLang", "advise spec.log --plain plain.log", files={
    "plain.log": sglang_log([dict(tps=tps, running=2, at=10 * i) for i, tps in enumerate([20] + [300] * 12)]),
    "spec.log": sglang_log([dict(tps=tps, running=2, length=2.5) for tps in [35] + [500] * 12], 3)},
     json={"recommendation.gamma": 3, "loads[0].speedup.measured": near(1.667), "loads[0].iteration_ms": near(10, 0.05)},
     first=[r"K = 3\b", r"1\.67x"])
# Both end while a window runs: 60/50.
case("3 last windows", "advise spec.log --plain plain.log", files={
    "plain.log": vllm_log(steady(50) + [dict(tps=40, running=0)]),
    "spec.log": vllm_log(steady(60, rates=[0.5, 0.2]) + [dict(tps=5, running=0, rates=[0.5, 0.2])], 2)},
     json={"loads#": 1, "recommendation.gamma": 2, "loads[0].speedup.measured": near(1.20)}, first=[r"K = 2\b", r"1\.20x"])

# Totals of 300 requests of 100 steps at K = 1, acceptance 0.6, 25 ms per step; plain 20 ms per token: 20 x 1.6/25 =
# 1.28. Of 30,000 steps 95 % of the means lie within 0.006.
case("3 many requests of llama-server", "advise spec.log --plain plain.log", files={
    "plain.log": llama_log([(20.0 * 160, 161, None, None)] * 40),
    "spec.log": llama_log(llama_requests(300, 0.6, k=1, steps=100, step_ms=25.0), "mtp", 1)},
     json={"recommendation.gamma": 1, "verification_steps": 30000, "tokens_per_iteration.observed": near(1.6, 0.012),
           "tokens_per_iteration.ci95": interval(0.025), "loads#": 1, "loads[0].speedup.measured": near(1.28, 0.015)},
     first=[r"K = 1\b", r"1\.2[789]x"])

# ---------------------------------------------------------------- 4. prompts and rates

# Iterations of 50 ms and 0.2 ms a prompt token, 0 to 700 of them a second: 7 % of the time. The answer fills its lines.
def mixed(rates, running, decode_ms, count=16):
    prompts = [100 * (i % 8) for i in range(count)]
    return [dict(tps=round(running * (1 + sum(rates)) * (1 / decode_ms - 0.2 / decode_ms * prompt / 1000) * 1000, 1),
                 running=running, rates=rates, prompt=prompt) for prompt in prompts]


case("4 prompts where lines are few", "advise k1.log k3.log --plain plain.log --for vllm", files={
    "plain.log": vllm_log(steady(50, scatter=0.01) + steady(640, running=16, scatter=0.01)),
    "k1.log": vllm_log(steady(70, rates=[0.75], scatter=0.01) + mixed([0.75], 16, 32), 1),
    "k3.log": vllm_log(steady(90, rates=[0.75, 0.55, 0.4], scatter=0.01) + mixed([0.75, 0.55, 0.4], 16, 50), 3)},
     json={"loads#": 2, "loads[batch=16].runs#": 2}, text=[r"prefill at 16 requests prompts take 7 % of the time"])
# Ten lines that decode (4 x 2.5/400 = 25 ms) and two that hold a prefill; plain 4/200 = 20 ms per token.
case("4 prefill in SGLang", "advise spec.log --plain plain.log", files={
    "plain.log": sglang_log([dict(tps=200, running=4)] * 12),
    "spec.log": sglang_log([dict(tps=400, running=4, length=2.5)] * 5 + [dict(tps=80, running=4, length=2.5, prefill=8000)]
                           + [dict(tps=400, running=4, length=2.5)] * 5 + [dict(tps=80, running=4, length=2.5, prefill=8000)],
                           3)},
     json={"recommendation.gamma": 3, "loads#": 1, "loads[0].speedup.measured": near(2.00),
           "loads[0].iteration_ms": near(25, 0.1)},
     first=[r"K = 3\b", r"2\.00x"], text=[r"prefill|prompt"])
# 1.6 and 2.0 of 20 requests/s are served: 800 against 1000 tokens/s, though TPOT is 25 against 40 ms.
case("4 overloaded rate of SGLang", "advise spec.json --plain plain.json", files={
    "plain.json": sglang_bench(40.0, rate=20.0, concurrency=40, mean_ttft_ms=90000.0),
    "spec.json": sglang_bench(25.0, 2.5, 3, rate=20.0, concurrency=20, mean_ttft_ms=120000.0)},
     json={"recommendation.gamma": 0, "loads#": 1, "loads[0].speedup.measured": near(0.80), "causes": has("arrival_rate")},
     first=[r"\boff\b", r"0\.80x"], text=[r"TTFT"], forbidden=[r"\bpays\b", r"1\.60x"])
# A rate that both keep up with: TPOT 20 against 12 ms, whatever the output tokens/s.
RATE = dict(request_rate=2.0, concurrency=None, duration=50.0, output_throughput=990.0, request_throughput=1.98)
case("4 a rate that is kept up with", "advise spec.json --plain plain.json", files={
    "plain.json": vllm_bench(20.0, **RATE), "spec.json": vllm_bench(12.0, [0.8, 0.5], **RATE)},
     json={"recommendation.gamma": 2, "loads#": 1, "loads[0].speedup.measured": near(1.667), **UNKNOWN_ERROR},
     first=[r"K = 2\b", r"1\.67x"])
# Prompts in every window of both arms are the load: 300/200.
case("4 prompts all the time", "advise spec.log --plain plain.log", files={
    "plain.log": vllm_log(steady(200, 8, prompt=500)), "spec.log": vllm_log(steady(300, 8, [0.8, 0.6], prompt=500), 2)},
     json={"recommendation.gamma": 2, "loads[0].speedup.measured": near(1.50)}, first=[r"K = 2\b", r"1\.50x"],
     forbidden=[r"mostly prefill", r"log a load that decodes"])

# ---------------------------------------------------------------- 5. choosing K

# 1.40, 1.800, 1.804: among those within 0.5 % the smallest.
case("5 within half a percent", "advise k1.log k2.log k3.log --plain plain.log", files={
    "plain.log": vllm_log(steady(50, scatter=0.002)), "k1.log": vllm_log(steady(70, rates=[0.8], scatter=0.002), 1),
    "k2.log": vllm_log(steady(90, rates=[0.8, 0.6], scatter=0.002), 2),
    "k3.log": vllm_log(steady(90.2, rates=[0.8, 0.6, 0.4], scatter=0.002), 3)},
     json={"recommendation.gamma": 2, "loads[0].runs[gamma=1].speedup.measured": near(1.40),
           "loads[0].runs[gamma=2].speedup.measured": near(1.80), "loads[0].runs[gamma=3].speedup.measured": near(1.804),
           "loads[0].speedup_by_gamma[gamma=1].expected_loss": between(0.2, 0.25),
           "loads[0].speedup_by_gamma[gamma=2].expected_loss": between(0, 0.005),
           "loads[0].speedup_by_gamma[gamma=1].p_best": between(0, 0.01), "recommendation.expected_loss": between(0, 0.005)},
     first=[r"K = 2\b", r"1\.80x"])
# 1.50 and 1.60, each +- 1 %: never tied. Between them K = 3 may be best.
case("5 disjoint intervals are no tie", "advise k2.log k4.log --plain plain.log", files={
    "plain.log": vllm_log(steady(50, scatter=0.01)), "k2.log": vllm_log(steady(75, rates=[0.8, 0.6], scatter=0.01), 2),
    "k4.log": vllm_log(steady(80, rates=[0.8, 0.6, 0.4, 0.2], scatter=0.01), 4)},
     json={"recommendation.gamma": one_of(3, 4), "recommendation.ties": lacks("2"),
           "loads[0].runs[gamma=2].speedup.measured": near(1.50), "loads[0].runs[gamma=4].speedup.measured": near(1.60)})
# 20/10 at 1 request, 30/50 at 64: a schedule that turns speculation off, which saves a third of the time.
case("5 off above a load", "advise runs.csv", files={"runs.csv": """decoding,gamma,steps,accepted_at_1,accepted_at_2,requests,tpot_ms
plain,,,,,1,20
plain,,,,,64,30
speculative,2,50000,40000,30000,1,10
speculative,2,50000,40000,30000,64,50
"""}, json={"loads#": 2, "recommendation.schedule[0].gamma": 2, "recommendation.schedule[-1].gamma": 0,
            "loads[batch=1].speedup.measured": near(2.00), "loads[batch=64].speedup.measured": near(0.60)},
     headline=[r"2\.00x", r"0\.60x|\boff\b"], text=[r"0\.60"], forbidden=[r"no K gains"])
# 10/6.667, 12/13.33, 16/13.33: 1.50, 0.90, 1.20; 38 against 33.3 ms in all.
case("5 the middle load loses, JSON", "advise c1.json c8.json c32.json --plain p1.json,p8.json,p32.json", files={
    "p1.json": vllm_bench(10.0, concurrency=1), "p8.json": vllm_bench(12.0, concurrency=8),
    "p32.json": vllm_bench(16.0, concurrency=32), "c1.json": vllm_bench(10 / 1.5, [0.8, 0.5], concurrency=1),
    "c8.json": vllm_bench(12 / 0.9, [0.8, 0.5], concurrency=8), "c32.json": vllm_bench(16 / 1.2, [0.8, 0.5], concurrency=32)},
     json={"recommendation.gamma": 2, "loads#": 3, "loads[batch~8].speedup.measured": near(0.90)}, first=[r"K = 2\b"],
     headline=[r"off at 8 requests \(K = 2: 0\.90x\)"])
# 0.97 and 0.98, single runs: none is expected to gain.
case("5 losing by little", "advise runs.csv", files={
    "runs.csv": "decoding,gamma,steps,accepted_at_1,accepted_at_2,requests,tpot_ms\nplain,,,,,1,20\n"
                "speculative,1,50000,30000,,1,20.6\nspeculative,2,50000,30000,15000,1,20.4\n"},
     json={"recommendation.gamma": 0, "loads[0].runs[gamma=1].speedup.measured": near(0.971),
           "loads[0].runs[gamma=2].speedup.measured": near(0.980), **UNKNOWN_ERROR},
     first=[r"\boff\b"], text=[r"0\.97", r"0\.98"], forbidden=[r"smaller K"])

# ---------------------------------------------------------------- 6. errors that are not known

case("6 single summaries", "advise spec.json --plain plain.json", files={
    "plain.json": vllm_bench(20.0), "spec.json": vllm_bench(12.5, [0.8, 0.6])},
     json={"recommendation.gamma": 2, "loads[0].speedup.measured": near(1.60), "recommendation.low": MISSING,
           "recommendation.high": MISSING, **UNKNOWN_ERROR},
     first=[r"K = 2\b", r"1\.60x"], text=[r"one run|error (is )?not known"], forbidden=[r"sign certain"])
# The times of 20 requests, +- 2 %: 20/12.
case("6 times of requests", "advise spec.json --plain plain.json", files={
    "plain.json": detailed_bench(20.0, 1.0), "spec.json": detailed_bench(12.0, 2.0, [0.7, 0.3])},
     json={"recommendation.gamma": 2, "loads[0].speedup.measured": near(1.667), "loads[0].speedup.ci95": interval(0.3),
           "sign_certain": True, "loads[0].tokens_per_iteration": near(2.0)},
     first=[r"K = 2\b", r"1\.67x"])
# Times of 24 requests in other formats: 4000/2000 ms for 200 tokens, +- 2 %; 80 steps that drafted 240 and accepted
# 120.
SPREAD = [1 + 0.02 * ((7 * i) % 5 - 2) / 1.4 for i in range(24)]
TIMINGS = {
    "plain.jsonl": "".join(json.dumps({"timings": {"prompt_n": 50, "prompt_ms": 20.0, "predicted_n": 200,
                                                   "predicted_ms": 4000 * own}}) + "\n" for own in SPREAD),
    "spec.jsonl": "".join(json.dumps({"timings": {"prompt_n": 50, "prompt_ms": 20.0, "predicted_n": 200,
                                                  "predicted_ms": 2000 * own, "draft_n": 240, "draft_n_accepted": 120}}) + "\n"
                          for own in SPREAD)}
case("6 times of answers of llama-server", "advise spec.jsonl --plain plain.jsonl", files=TIMINGS,
     json={"recommendation.gamma": 3, "loads[0].speedup.measured": near(2.00), "loads[0].speedup.ci95": interval(0.2),
           "sign_certain": True, "tokens_per_iteration.observed": near(2.5, 0.02)}, first=[r"K = 3\b", r"2\.00x"])
# 16/8 ms between tokens; 10 steps per request that accepted 15 of 30.
RECORD = {"engine": "vllm", "mean_acceptance_length": 2.5, "draft_acceptance_rate": 0.5, "num_accepted_draft_tokens": 15,
          "acceptance_histogram": {"0": 3, "1": 2, "2": 2, "3": 3}, "num_draft_tokens": 30, "num_spec_steps": 10,
          "num_spec_tokens": 3}


def aiperf(itl_ms, acceptance):
    """aiperf's profile_export.jsonl of 24 requests."""
    return "".join(json.dumps({
        "metadata": {"session_num": i, "x_request_id": f"q-{i}", "benchmark_phase": "profiling", "was_cancelled": False},
        "metrics": {"time_to_first_token": {"value": 0.05, "unit": "s"}, "inter_token_latency": {"value": itl_ms * own, "unit": "ms"},
                    "input_sequence_length": {"value": 100, "unit": "tokens"},
                    "output_sequence_length": {"value": 26, "unit": "tokens"}},
        "error": None} | ({"spec_decode_acceptance": RECORD} if acceptance else {})) + "\n" for i, own in enumerate(SPREAD))


case("6 times of AIPerf's records", "advise spec.jsonl --plain plain.jsonl", files={
    "plain.jsonl": aiperf(16.0, False), "spec.jsonl": aiperf(8.0, True)},
     json={"recommendation.gamma": 3, "loads[0].speedup.measured": near(2.00), "loads[0].speedup.ci95": interval(0.2),
           "sign_certain": True, "tokens_per_iteration.observed": near(2.5, 1e-6)}, first=[r"K = 3\b", r"2\.00x"])
# Two rounds of one server, 22 % apart: one run each, whose error is not known.
case("6 two single rounds", "compare r1.json r2.json", files={
    "r1.json": vllm_bench(100.0, [0.62, 0.40, 0.26], drafts=3360), "r2.json": vllm_bench(78.0, [0.64, 0.42, 0.31], drafts=3210)},
     json={"comparisons[0].metrics[metric=tpot_ms].shown": False, "comparisons[0].metrics[metric=tpot_ms].ratio": near(0.78),
           "comparisons[0].metrics[metric=tpot_ms].ratio_ci95": None,
           "comparisons[0].metrics[metric=iteration_ms].shown": False}, lines=0, forbidden=[r"22 % lower \("])

# ---------------------------------------------------------------- 7. other K, other traffic

# 1 + 42000/20000 and 1 + 21000/20000; 20/10 and 20/16.
case("7 categories", "advise runs.csv", files={
    "runs.csv": "decoding,gamma,steps,accepted_at_1,accepted_at_2,accepted_at_3,requests,tpot_ms,category\n"
                "plain,,,,,,1,20,code\nplain,,,,,,1,20,chat\n"
                "speculative,3,20000,17000,14000,11000,1,10,code\nspeculative,3,20000,12000,6000,3000,1,16,chat\n"},
     json={"recommendation.gamma": 3, "strata[name=code].tokens_per_iteration": near(3.10),
           "strata[name=chat].tokens_per_iteration": near(2.05), "loads[category=code].speedup.measured": near(2.00),
           "loads[category=chat].speedup.measured": near(1.25)},
     first=[r"K = 3\b"], text=[r"code", r"3\.10", r"2\.05", r"2\.00", r"1\.25"])
# Sampling tells runs apart: 20/10 at temperature 0, 20/16 at 1; 2.80 and 1.90 tokens.
case("7 temperatures", "advise runs.csv", files={
    "runs.csv": "decoding,gamma,steps,accepted_at_1,accepted_at_2,accepted_at_3,requests,tpot_ms,temperature\n"
                "plain,,,,,,1,20,0\nplain,,,,,,1,20,1\n"
                "speculative,3,20000,16000,12000,8000,1,10,0\nspeculative,3,20000,10000,5000,3000,1,16,1\n"},
     json={"recommendation.gamma": 3, "loads": named("2.00x and 1.25x", lambda found: sorted(
         round(load["speedup"]["measured"], 2) for load in found if load["speedup"]) == [1.25, 2.0])},
     first=[r"K = 3\b"], text=[r"temperature", r"2\.80", r"1\.90"], forbidden=[r"W17", r"prompts or settings"])
# Iterations of 13 and 25 ms at K = 1 and 5 (3 ms per draft, though the data sheet's drafter takes about 1), acceptance
# 0.8: between them 2.952 x 10/19 at K = 3, beyond 4.329 x 10/34 at K = 8, not 4.329 x 10/28.
case("7 two logged K correct a data sheet", "advise runs.csv --device h100 --target llama-3.1-8b --draft llama-3.2-1b", files={
    "runs.csv": "decoding,gamma,steps,accepted_at_1,accepted_at_2,accepted_at_3,accepted_at_4,accepted_at_5,requests,"
                "iteration_ms\nplain,,,,,,,,1,10\nspeculative,1,100000,80000,,,,,1,13\n"
                "speculative,5,100000,80000,64000,51200,40960,32768,1,25\n"},
     json={"loads[0].speedup_by_gamma[gamma=1].value": near(1.385), "loads[0].speedup_by_gamma[gamma=5].value": near(1.476),
           "loads[0].speedup_by_gamma[gamma=3].value": near(1.554, 0.05),
           "loads[0].speedup_by_gamma[gamma=8].value": near(1.273, 0.1)}, headline=[r"K = [345]\b"])
# A drafter of blocks: 7.34 tokens at block 12, 7.03 at 16. 330/100 and 300/100.
case("7 a drafter of blocks", "advise k12.log k16.log --plain plain.log", files={
    "plain.log": vllm_log(steady(100)),
    "k12.log": vllm_log(steady(330, rates=[.92, .85, .78, .71, .64, .56, .48, .41, .34, .27, .21, .17]), 12, "dflash"),
    "k16.log": vllm_log(steady(300, rates=[.88, .79, .71, .63, .56, .49, .42, .36, .30, .24, .19, .15, .12, .09, .06, .04]), 16,
                        "dflash")},
     json={"recommendation.gamma": 12, "loads[0].runs[gamma=12].speedup.measured": near(3.30),
           "loads[0].runs[gamma=16].speedup.measured": near(3.00), "tokens_per_iteration_by_gamma[*].source":
           one_of("observed", "left_open"), "loads[0].runs[gamma=12].tokens_per_iteration": near(7.34),
           "loads[0].runs[gamma=16].tokens_per_iteration": near(7.03), "warnings[code=W17]#": 0},
     first=[r"K = 12\b", r"3\.30x"], forbidden=[r"prompts or settings"])
# K = 4 was logged at one request only: 1.4 and 1.8 times as fast there, K = 1 1.1 times at 16: 1.1 x 1.8 / 1.4 or so,
# but neither a candidate nor in a schedule.
case("7 a K outside of its logged loads", "advise k1.log k4.log --plain plain.log", files={
    "plain.log": vllm_log(steady(50, scatter=0.01) + steady(640, running=16, scatter=0.01)),
    "k1.log": vllm_log(steady(70, rates=[0.75], scatter=0.01) + steady(704, running=16, rates=[0.75], scatter=0.01), 1),
    "k4.log": vllm_log(steady(90, rates=[0.75, 0.55, 0.4, 0.3], scatter=0.01), 4)},
     json={"loads#": 2, "loads[batch=16].runs#": 1, "recommendation.gamma": 1,
           "loads[batch=16].speedup_by_gamma[gamma=4].iteration_time": "extrapolated",
           "loads[batch=16].speedup_by_gamma[gamma=4].value": near(1.414, 0.03),
           "loads[batch=16].speedup_by_gamma[gamma=4].low": between(0.5, 0.8),
           "loads[batch=16].speedup_by_gamma[gamma=4].high": between(2.2, 3.0),
           "loads[batch=16].speedup_by_gamma[gamma=4].expected_loss": None, "loads[batch=16].best_gamma.gamma": 1},
     first=[r"K = 1\b"], text=[r"outside of its logged loads K = 4 0\.[5-8]\d to 2\.\d\d"])

# ---------------------------------------------------------------- 8. adaptive verification

# At most 7 tokens are drafted, 2.2 to 4 are verified: 420/300. Rates by position are of the steps that verified them.
BUDGET = [dict(tps=420, running=8, rates=[0.7, 0.45, 0.3, 0.15, 0.05, 0.02, 0.01], drafted=drafted)
          for drafted in (2.2, 3.1, 4.0, 2.6) * 3]
case("8 a budget of tokens", "advise spec.log --plain plain.log", files={
    "plain.log": vllm_log(steady(300, 8)), "spec.log": vllm_log(BUDGET, 7)},
     json={"loads#": 1, "loads[0].runs[adaptive=True].speedup.measured": near(1.40), "loads[0].speedup.measured": near(1.40),
           "warnings[code=W14]#": 0, "causes": lacks("drafter_fault")},
     headline=[r"1\.40x"], text=[r"adaptive|verifies fewer"], forbidden=[NO_FAULT, r"\boff\b"])
# 3.1 of 7 tokens are verified, 20/9; a fixed K = 3, 20/11: two rows.
case("8 adaptive and fixed", "advise adaptive.json fixed.json --plain plain.json", files={
    "plain.json": vllm_bench(20.0), "fixed.json": vllm_bench(11.0, [0.7, 0.4, 0.2], drafts=10000),
    "adaptive.json": vllm_bench(9.0, [0.72, 0.45, 0.28, 0.15, 0.06, 0.03, 0.01], drafts=10000, spec_decode_draft_tokens=31000,
                                spec_decode_acceptance_rate=54.8)},
     json={"loads#": 1, "loads[0].runs[adaptive=True].speedup.measured": near(2.22),
           "loads[0].runs[gamma=3].speedup.measured": near(1.82), "loads[0].speedup.measured": near(2.22),
           "warnings[code=W14]#": 0, "warnings[code=W17]#": 0},
     headline=[r"2\.22x"], text=[r"1\.82", r"adaptive|verifies fewer"], forbidden=[NO_FAULT])

# ---------------------------------------------------------------- 9. faults

# 1 % of the first drafts are accepted at both K: 20/22 and 20/27.
case("9 a dead first position at two K", "advise runs.csv", files={
    "runs.csv": "decoding,gamma,steps,accepted_at_1,accepted_at_2,accepted_at_3,accepted_at_4,requests,tpot_ms\n"
                "plain,,,,,,,1,20\nspeculative,1,40000,400,,,,1,22\nspeculative,4,40000,400,40,4,0,1,27\n"},
     json={"recommendation.gamma": 0, "causes": has("drafter_fault"), "warnings[code=W14].message": has("position 1"),
           "loads[0].runs[gamma=1].speedup.measured": near(0.909), "loads[0].runs[gamma=4].speedup.measured": near(0.741)},
     first=[r"\boff\b"], text=[r"position 1", r"0\.91", r"0\.74"], forbidden=[r"smaller K", r"minutes at K"])
# Positions 1 and 2 are fine, 3 is not: 57/60. K = 2 would draft 2 tokens in place of 5 for 2.45 in place of 2.495.
case("9 a wall at position 3", "advise spec.log --plain plain.log", files={
    "plain.log": vllm_log(steady(60)), "spec.log": vllm_log(steady(57, rates=[0.8, 0.65, 0.02, 0.015, 0.01]), 5)},
     json={"loads[0].speedup.measured": near(0.95), "causes": has("drafter_fault"),
           "warnings[code=W14].message": has("position 3")},
     headline=[r"0\.95x"], text=[r"position 3", r"K = 2\b"], forbidden=[r"no K (can )?gains?\b"])
# All of 4,000 drafts accepted is a counter of full drafts only: 12.6 ms over 3 tokens is no TPOT, so 9.5 / 4.2 no
# speedup.
case("9 a counter of full drafts", "advise full.csv --plain plain.csv", exit=(1,), files={
    "full.csv": "decoding,gamma,steps,accepted_at_1,accepted_at_2,requests,iteration_ms\n"
                "speculative,2,1000,1000,1000,8,12.5\nspeculative,2,1000,1000,1000,8,12.7\n",
    "plain.csv": "decoding,requests,iteration_ms\nplain,8,9.5\nplain,8,9.6\n"},
     json={"recommendation": None, "loads[0].speedup": None, "causes": has("counter_artefact"), "sign_certain": False},
     text=[r"W13"], forbidden=[r"2\.2\dx", r"sign certain"])
# 1.6 tokens in 16 ms against 20 ms for one: an iteration of 0.80 decode steps cannot be.
case("9 cheaper than a step at K = 3", "advise spec.json --plain plain.json", files={
    "plain.json": vllm_bench(20.0), "spec.json": vllm_bench(10.0, [0.4, 0.15, 0.05])},
     json={"loads[0].explanation": [], "warnings": named("W09 or W18", lambda found: bool(
         {"W09", "W18"} & {warning["code"] for warning in found}))},
     text=[r"contradict each other|not the same server|counted otherwise|cannot be"])
# 32 requests x 4 tokens are more than the 64 of the largest graph: 700/1000.
case("9 graphs for fewer tokens", "advise spec.log --plain plain.log", files={
    "plain.log": vllm_log(steady(1000, 32), graphs=[1, 2, 4, 8, 16, 32, 64]),
    "spec.log": vllm_log(steady(700, 32, [0.7, 0.5, 0.3]), 3, graphs=[1, 2, 4, 8, 16, 32, 64])},
     json={"loads[0].speedup.measured": near(0.70), "causes": has("cuda_graphs")},
     headline=[r"0\.70x"], text=[r"cudagraph_capture_size"])
# 22 ms per iteration of 2.2 tokens, 4 of them drafting; plain 20 ms: V/(V+D) = 18/22.
case("9 draft times of ik_llama.cpp", "advise runs.jsonl", files={"runs.jsonl": "\n".join(json.dumps(row) for row in (
    {"row_type": "attempt", "task": "code", "variant": {"is_baseline": True, "spec_types": ["none"]},
     "timing": {"prompt_s": 0.05, "decode_s": 20.0, "decode_tps": 50.0}, "tokens": {"prompt": 40, "generated": 1000}},
    {"row_type": "attempt", "task": "code", "variant": {"is_baseline": False, "spec_types": ["mtp"]},
     "timing": {"prompt_s": 0.05, "decode_s": 10.0, "decode_tps": 100.0}, "tokens": {"prompt": 40, "generated": 1000},
     "speculative": {"num_drafts": 454, "draft_tokens": 908, "accepted_tokens": 546, "acceptance_length": 2.2026,
                     "t_draft_s": 1.816, "t_accept_s": 0.01,
                     "stages": [{"type": "mtp", "drafted_by_position": [454, 454], "accepted_by_position": [318, 228]}]}})) + "\n"},
     json={"recommendation.gamma": 2, "loads[0].speedup.measured": near(2.00, 0.01), "loads[0].iteration_ms": near(22.03, 0.05),
           "loads[0].explanation[factor=drafting].value": near(0.818)},
     first=[r"K = 2\b"], text=[r"drafting"], forbidden=[r"does not split"])

# 20 ms of 8 requests with 2.5 tokens, a quarter of them drafting; plain 12 ms: 2.5 x 12/20, V/(V+D) = 0.75.


def iterations(milliseconds, speculative):
    """TensorRT-LLM's statistics of 60 iterations of 8 requests."""
    rows = [{"iter": 20 + i, "iterLatencyMS": milliseconds * (1 + 0.01 * (-1) ** i), "numActiveRequests": 8,
             "numQueuedRequests": 0, "inflightBatchingStats": {"numScheduledRequests": 8, "numContextRequests": 0,
                                                               "numGenRequests": 8}} for i in range(60)]
    drafts = {"numDraftTokens": 24, "numAcceptedTokens": 12, "numRequestsWithDraftTokens": 8, "acceptanceLength": 2.5,
              "iterLatencyMS": milliseconds / 4, "draftOverhead": 0.25}
    return "".join(json.dumps(row | ({"specDecodingStats": drafts} if speculative else {})) + "\n" for row in rows)


case("9 draft times of TensorRT-LLM", "advise spec.jsonl --plain plain.jsonl", files={
    "plain.jsonl": iterations(12.0, False), "spec.jsonl": iterations(20.0, True)},
     json={"recommendation.gamma": 3, "loads[0].speedup.measured": near(1.50), "loads[0].tokens_per_iteration": near(2.5),
           "loads[0].explanation[factor=drafting].value": near(0.75)},
     first=[r"K = 3\b", r"1\.50x"], text=[r"drafting"], forbidden=[r"does not split"])

# ---------------------------------------------------------------- 10, 11. what to log, what it costs

for engine, parts in (("vllm", [r"vllm serve", r"num_speculative_tokens", r"vllm bench serve", r"--max-concurrency 8"]),
                      ("sglang", [r"sglang", r"--speculative-num-steps", r"bench_serving", r"--max-concurrency 8"]),
                      ("llama.cpp", [r"llama-server", r"--spec-draft-n-max"])):
    case(f"10 a plan for {engine}", f"advise --plan {engine} --current-k 3 --concurrency 8", any_order=False, lines=0,
         text=[*parts, r"minutes|min\b", r"K = 3|K = 0|without speculation"])
# An hour costs 2: at 90 and 50 tokens/s 6.17 and 11.11 a million tokens.
case("11 cost of tokens", "advise spec.log --plain plain.log --gpu-hour-price 2", any_order=False, files={
    "plain.log": vllm_log(steady(50)), "spec.log": vllm_log(steady(90, rates=[0.8, 0.6, 0.4]), 3)},
     first=[r"K = 3\b"], text=[r"6\.17", r"11\.1"])
# 2.40 of 2.80 tokens are 0.857: an upgrade that loses acceptance fails.
UPGRADE = {"old.log": vllm_log(steady(90, rates=[0.8, 0.6, 0.4], scatter=0.01), 3),
           "new.log": vllm_log(steady(80, rates=[0.7, 0.45, 0.25], scatter=0.01), 3)}
case("11 relative to A", "compare old.log new.log --require 'acceptance_length>=0.95x'", exit=(1,), files=UPGRADE, lines=0,
     json={"requirements_met": False, "requirements[0].outcome": "not met", "requirements[0].value": near(0.857)})
# The same without running both arms: the intervals of the old one are kept.
for name, log, code in (("the same", "old.log", 0), ("a loss", "new.log", 1)):
    case(f"11 a kept baseline, {name}", f"compare {log} --baseline kept.json --require 'acceptance_length>=0.95x'", exit=(code,),
         before=["compare old.log --save-baseline kept.json"], files=UPGRADE, lines=0,
         json={"requirements_met": code == 0, "requirements[0].value": near(1.0 if code == 0 else 0.857)})
# One scrape and no K: nothing differs from anything, it is one value.
case("12 one scrape of an unknown K", "advise metrics.txt", lines=0, files={"metrics.txt": "".join(
    f'vllm:spec_decode_num_{name}_total{{engine="0"}} {value}.0\n'
    for name, value in (("drafts", 600), ("draft_tokens", 2500), ("accepted_tokens", 1290)))},
     json={"tokens_per_iteration.observed": near(3.15, 0.001)}, headline=[r"too few steps"], forbidden=[r"differ"])
# A rate without K gives no length: the answer says what to add.
case("12 acceptance rates without K", "advise rates.md", lines=0, files={"rates.md":
    "| run | tok/s | acceptance |\n|---|---|---|\n| baseline | 20 | - |\n| draft | 28 | 64% |\n"},
     text=[r"64 %", r"column K", r"1\.40x"], forbidden=[r"no acceptance was read"])
case("12 an acceptance rate without K and one speed", "advise rate.md", exit=(1,), lines=0, files={"rate.md":
    "| run | tok/s | acceptance |\n|---|---|---|\n| draft | 28 | 64% |\n"}, headline=[r"rate without its draft length"])
