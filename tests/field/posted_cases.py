# SPDX-License-Identifier: Apache-2.0
"""Cases that were posted in public, made minimal: inputs/ has their logs."""
from builders import as_pasted, llama_log, llama_requests, noisy, steady, vllm_log
from table import INPUTS, MISSING, NO_FAULT, UNKNOWN_ERROR, between, case, has, interval, lacks, named, near

# 60, 70, 66 over 50 tokens/s.
case("01 speeds of several K", "advise sweep.csv", "01-speed-only-sweep",
     json={"recommendation.gamma": 2, "loads#": 1, "loads[0].gamma": 2, "loads[0].speedup.measured": near(1.40),
           "loads[0].runs[gamma=1].speedup.measured": near(1.20), "loads[0].runs[gamma=2].speedup.measured": near(1.40),
           "loads[0].runs[gamma=4].speedup.measured": near(1.32), "loads[0].speedup_by_gamma[gamma=1].value": near(1.20),
           "loads[0].speedup_by_gamma[gamma=2].value": near(1.40), "loads[0].speedup_by_gamma[gamma=4].value": near(1.32),
           "tokens_per_iteration.observed": MISSING, "loads[0].tokens_per_iteration": MISSING, **UNKNOWN_ERROR},
     first=[r"K = 2\b", r"1\.40x"], forbidden=[r"No conclusion"])
# TPOT = 1000 / (tokens/s) at one request.
case("01 compare", "compare sweep.csv", "01-speed-only-sweep", json={"ranking[place=1].run": has("K = 2")}, lines=0,
     forbidden=[r"no times were logged"])

# TPOT 1000/60 and 1000/90: 1.50.
NO_PLAIN = {"k1.log": as_pasted(vllm_log(steady(60, rates=[0.8], count=30))),
            "k3.log": as_pasted(vllm_log(steady(90, rates=[0.8, 0.56, 0.37], count=30)))}
case("02 ranking without a plain run", "advise k1.log k3.log", files=NO_PLAIN,
     json={"recommendation.gamma": 3, "loads#": 1, "speedup": None, "loads[0].speedup": None,
           "loads[0].runs[gamma=1].tpot_ms": near(16.67), "loads[0].runs[gamma=3].tpot_ms": near(11.11),
           "loads[0].runs[gamma=1].iteration_ms": near(30.0, 0.05), "loads[0].runs[gamma=3].iteration_ms": near(30.3, 0.05),
           "loads[0].runs[gamma=3].relative.value": near(1.50)},
     first=[r"K = 3\b"], headline=[r"1\.50"], text=[r"not known", r"--plan"])
case("02 compare", "compare k1.log k3.log", files=NO_PLAIN, json={"ranking[place=1].run": has("K = 3")}, lines=0)

# One load: 240/170 and 240/190.
case("03 unlimited load", "advise k1.txt k3.txt --plain plain.txt", "03-unlimited-load",
     json={"recommendation.gamma": 3, "loads#": 1, "loads[0].speedup.measured": near(1.41),
           "loads[0].runs[gamma=1].speedup.measured": near(1.26), "loads[0].runs[gamma=3].speedup.measured": near(1.41),
           **UNKNOWN_ERROR},
     first=[r"K = 3\b", r"1\.41x"], forbidden=[r"whether another K is better", r"4(75|72) requests"])

# 20/10 and 24/22; iterations 2.6 x 10 and 2.6 x 22 ms.
CONTEXTS = {"loads#": 2, "loads[context<5000].speedup.measured": near(2.00), "loads[context>5000].speedup.measured": near(1.09),
            "loads[*].tokens_per_iteration": near(2.60), "loads[context<5000].iteration_ms": near(26, 0.05),
            "loads[context>5000].iteration_ms": near(57.2, 0.05), "recommendation.gamma": 3}
case("04 contexts are loads", "advise runs.csv", "04-contexts-pooled", json=CONTEXTS, first=[r"K = 3\b"],
     text=[r"2\.00x?", r"1\.09x?"], forbidden=[r"W09", r"is not compared"])
# The same with a row more in one arm: means of the context differ, contexts do not.
case("04 contexts with unequal numbers of rows", "advise runs.csv", "04-contexts-pooled",
     files={"runs.csv": (INPUTS / "04-contexts-pooled/runs.csv").read_text() + "plain,,,,,1,24,40000,500\n"},
     json=CONTEXTS, first=[r"K = 3\b"], forbidden=[r"W09", r"is not compared"])

# Served 0.50 and 0.59 of 10 requests/s: 500 against 588.24 tokens/s.
case("05 overloaded rate", "advise spec.txt --plain plain.txt", "05-overloaded-rate",
     json={"recommendation.gamma": 0, "loads#": 1, "loads[0].speedup.measured": near(0.85), "causes": has("arrival_rate"),
           **UNKNOWN_ERROR},
     first=[r"\boff\b", r"0\.85x"], text=[r"TTFT"], forbidden=[r"\bpays\b", r"1\.60x"])

# Six windows of 8 x 2.40 / 300 tokens/s; two of 8 prefill.
case("06 windows with prefill", "advise spec.log --plain plain.log", "06-prefill-windows",
     json={"recommendation.gamma": 2, "loads#": 1, "loads[0].speedup.measured": near(1.50), "loads[0].plain_ms": near(40, 0.05),
           "loads[0].iteration_ms": near(64, 0.2), "loads[0].tokens_per_iteration": near(2.40),
           "loads[0].explanation[*].value": between(0.5, 1)},
     first=[r"K = 2\b", r"1\.50x"], text=[r"prefill|prompt"], forbidden=[r"mostly prefill", r"log a load that decodes"])

# 20/27; tokens per iteration 1 + 720/40000 = 1.018 at any K.
case("07 dead first position", "advise run.csv", "07-dead-first-position",
     json={"recommendation.gamma": 0, "loads[0].speedup.measured": near(0.74), "causes": has("drafter_fault"),
           "warnings[code=W14].message": has("position 1"), "tokens_per_iteration.observed": near(1.018, 0.0005)},
     first=[r"\boff\b", r"0\.74x"], text=[r"position 1", r"W14"],
     forbidden=[r"smaller K", r"minutes at K = 1\b", r"0\.02 of 4"])
case("07 without its plain run", "advise run.csv", files={"run.csv": "\n".join(
    line for line in (INPUTS / "07-dead-first-position/run.csv").read_text().splitlines() if not line.startswith("plain"))},
     json={"causes": has("drafter_fault"), "warnings[code=W14].message": has("position 1")},
     first=[r"\boff\b"], forbidden=[r"smaller K", r"it pays where", r"minutes at K = 1\b"])

# Steps 220, 1.818 tokens each; 400/(200/30 + 200/25) = 27.27 over 20 tokens/s; an iteration 14.667 s / 220.
case("08 mtp-bench.py", "advise on.txt --plain off.txt", "08-mtp-bench-py",
     json={"verification_steps": 220, "tokens_per_iteration.observed": near(1.818, 0.0005), "loads#": 1,
           "loads[0].speedup.measured": near(1.364), "loads[0].iteration_ms": near(66.67), "loads[0].plain_ms": near(50)},
     text=[r"1\.36x?"])

# Tokens of an iteration 2.50, TPOT 10 ms.
MTP3 = {"tokens_per_iteration.observed": near(2.5, 1e-6), "loads#": 1, "loads[0].iteration_ms": near(25)}
case("09 TensorRT-LLM's benchmark_serving", "advise mtp3.txt", "09-trtllm-benchmark-serving",
     json=MTP3 | {"loads[0].runs[0].tpot_ms": near(10), "loads[batch=4].gamma": None})
TRTLLM_PLAIN = (INPUTS / "09-trtllm-benchmark-serving/mtp3.txt").read_text().replace(
    "2.50\n", "1.00\n").replace("2.48\n", "1.00\n").replace("10.00\n", "20.00\n").replace("25.00\n", "20.00\n")
case("09 with its plain run", "advise mtp3.txt --plain plain.txt", "09-trtllm-benchmark-serving",
     files={"plain.txt": TRTLLM_PLAIN}, json=MTP3 | {"loads[0].speedup.measured": near(2.0), "loads[0].plain_ms": near(20)},
     text=[r"2\.00x"])

ONE_RUN = {"logs#": 1, "logs[0].observations#": 1}
RUN = "logs[0].observations[0]."
# 385 tokens/s at 10 ms each: 3.85 at once.
case("10 console of AIPerf", "import run.txt", "10-aiperf-console", lines=0, any_order=False, json=ONE_RUN | {
    RUN + "times.tpot_ms": near(10), RUN + "times.ttft_ms": near(50), RUN + "times.output_tokens_per_s": near(385),
    RUN + "requests": near(3.85), RUN + "decoding": "unknown"})

# 2000 steps, 3200 accepted of 4000; 1800 and 1400 of 2000.
SCRAPES = {"verification_steps": 2000, "gamma_observed": 2, "tokens_per_iteration.observed": near(2.60, 1e-6),
           "marginal[0].value": near(0.90, 1e-6), "marginal[1].value": near(0.70, 1e-6), "warnings[code=W02]#": 0}
case("11 two scrapes", "advise before.prom after.prom", "11-prometheus-two-scrapes", json=SCRAPES, headline=[r"2\.60"])
case("11 two scrapes in one file", "advise both.prom", files={"both.prom": "".join(
    (INPUTS / "11-prometheus-two-scrapes" / name).read_text() for name in ("before.prom", "after.prom"))},
     json=SCRAPES, headline=[r"2\.60"])

# Inter-token latency is that of an iteration: 100/2000 s; plain 180/4500 s; 2.25 x 40 / 50.
case("12 times of scrapes", "advise after.prom --plain plain.prom", "12-prometheus-times",
     json={"recommendation.gamma": 2, "loads#": 1, "loads[0].tokens_per_iteration": near(2.25, 1e-6),
           "loads[0].iteration_ms": near(50, 1e-6), "loads[0].plain_ms": near(40, 1e-6), "loads[0].speedup.measured": near(1.80),
           "loads[0].runs[gamma=2].tpot_ms": near(22.22), "loads[0].explanation[0].value": near(0.80), **UNKNOWN_ERROR},
     first=[r"K = 2\b", r"1\.80x"], text=[r"1\.25"], forbidden=[r"25 % (slower|longer)"])

# 40/23 and 40/26.
DRAFTERS = {"recommendation.gamma": 2, "recommendation.drafter": has("mtp"), "loads#": 1,
            "loads[0].speedup.measured": near(1.74), "loads[0].runs[drafter~mtp].speedup.measured": near(1.74),
            "loads[0].runs[drafter~mtp].gamma": 2, "loads[0].runs[drafter~eagle3].speedup.measured": near(1.54),
            "loads[0].runs[drafter~eagle3].gamma": 3, "warnings[code=W17]#": 0}
case("13 two drafters", "advise eagle3_n3.log mtp_n2.log --plain plain.log", "13-mixed-drafters",
     json=DRAFTERS,
     first=[r"K = 2\b", r"mtp", r"1\.74x"], text=[r"eagle3", r"1\.54"], forbidden=[r"W17", r"prompts or settings"])
case("13 two drafters for llama.cpp", "advise eagle3_n3.log mtp_n2.log --plain plain.log --for llama.cpp", "13-mixed-drafters",
     text=[r"--spec-type draft-mtp", r"--spec-draft-n-max 2"], lines=0)
case("13 compare", "compare eagle3_n3.log mtp_n2.log --plain plain.log", "13-mixed-drafters",
     json={"ranking[place=1].run": has("B")}, text=[r"mtp", r"eagle3"], lines=0)

# Iteration 2.5 x 23 = 57.5 ms: drafting 10.0, the rest 47.5 (1.19 decode steps): V/(V+D) = 47.5/57.5, P/V = 40/47.5.
case("14 drafting time", "advise mtp_n2.log --plain plain.log", "14-drafting-time-ignored",
     json={"recommendation.gamma": 2, "loads[0].iteration_ms": near(57.5, 0.1), "loads[0].speedup.measured": near(1.74),
           "loads[0].explanation[factor=drafting].value": near(0.826)},
     first=[r"K = 2\b", r"1\.74x"], text=[r"drafting", r"10(\.0)? ms|0\.25|0\.17|17 %"], forbidden=[r"does not split"])

# 1.44 x 20 / 15.8: an iteration of 0.79 decode steps cannot be.
case("15 an iteration cheaper than a step", "advise run.csv", "15-cheaper-than-a-step",
     json={"loads[0].explanation": [], "causes": named("counter_artefact or arms_differ", lambda found: bool(
         {"counter_artefact", "arms_differ"} & set(found))), "warnings": named("W09 or W18", lambda found: bool(
               {"W09", "W18"} & {warning["code"] for warning in found}))},
     text=[r"contradict each other|not the same server|counted otherwise|cannot be"],
     forbidden=[r"an iteration costs 0\.79 decode steps at"])

# TPOT 18.3, 20.0, plain 24.4: 1.33 and 1.22.
case("16 two single runs", "advise k1.csv k3.csv --plain plain.csv", "16-advise-against-compare",
     json={"recommendation.gamma": 3, "loads[0].speedup.measured": near(1.33), "loads[0].gamma": 3,
           "loads[0].runs[gamma=1].speedup.measured": near(1.22), **UNKNOWN_ERROR},
     first=[r"K = 3\b", r"1\.33x"], forbidden=[r"Keep K = 1", r"sign certain"])
case("16 compare", "compare k1.csv k3.csv --plain plain.csv", "16-advise-against-compare",
     json={"ranking[place=1].run": has("K = 3"), "comparisons[0].metrics[metric=tpot_ms].ratio": near(0.915, 0.0005),
           "comparisons[0].metrics[metric=tpot_ms].ratio_ci95": None}, lines=0)

# 12 lines at 2,000 tokens of context, 12 at 40,000.
case("17 context of SGLang", "advise server.log", "17-sglang-context",
     json={"strata[dimension=context]#": 2, "strata[0].tokens_per_iteration": near(2.80),
           "strata[1].tokens_per_iteration": near(1.60), "gamma_observed": 3},
     text=[r"by context", r"2\.80", r"1\.60"], forbidden=[r"differ too much", r"too few"])

case("18 rules of SGLang", "advise server.log --plain plain.log --for prometheus", "18-prometheus-rules-of-other-engines",
     json={"export.prometheus": has("sglang:spec_accept_length", "sglang:num_running_reqs"),
           "recommendation.gamma": 3, "loads[0].speedup.measured": near(1.67)},
     text=[r"sglang:spec_accept_length"], forbidden=[r"vllm:"], first=[r"K = 3\b"], lines=0)

# Means 57.15 and 66.2 against 40 ms.
case("26 every K loses", "advise run.csv", "26-off-verdict",
     json={"recommendation.gamma": 0, "loads[0].runs[gamma=1].speedup.measured": near(0.70),
           "loads[0].runs[gamma=4].speedup.measured": near(0.604), "loads[0].speedup_by_gamma[gamma=1].value": near(0.70),
           "loads[0].speedup_by_gamma[gamma=4].value": near(0.604), "loads[0].speedup_by_gamma[*].value":
           named("at most 1.05", lambda found: found is None or found <= 1.05)},
     first=[r"\boff\b"], text=[r"0\.70", r"0\.60"], forbidden=[r"smaller K", r"no K gains more than [1-9]"])

# ---------------------------------------------------------------- other formats


def reads(name, file, **fields):
    """A file of 25-other-formats is one run with these fields of its observation."""
    case(f"25 {name}", f"import {file}", "25-other-formats", lines=0, any_order=False,
         json=ONE_RUN | {RUN + path.replace("__", "."): right for path, right in fields.items()})


# TPOT 10 ms, 2.50 tokens per iteration: 25 ms; 1.5 / 0.5 drafts.
reads("EvalScope", "evalscope.json", times__tpot_ms=near(10), times__output_tokens_per_s=near(780), concurrency=near(8),
      acceptance_length=near(2.5, 1e-9), gamma=3, times__iteration_ms=near(25))
reads("InferenceX", "inferencex.json", times__tpot_ms=near(10.2, 1e-9), concurrency=near(8), decoding="speculative",
      drafter="mtp", acceptance=None)
case("25 InferenceX without speculation", "import none.json", lines=0, any_order=False, files={"none.json": (
    INPUTS / "25-other-formats/inferencex.json").read_text().replace("mtp", "none")}, json={RUN + "decoding": "plain"})
# 400 - 240 steps, 480/160 drafts each, 1000/20 ms.
reads("LM Studio", "lmstudio.json", acceptance__steps=160, acceptance__accepted_tokens=240, acceptance__drafted_tokens=480,
      gamma=3, times__tpot_ms=near(50), decoding="speculative")
# 100 steps, 85 + 65 of 200.
reads("spec-bench of ik_llama.cpp", "ik-spec-bench.md", acceptance__steps=100, acceptance__accepted_tokens=150,
      acceptance__drafted_tokens=200, acceptance__accepted_at=[85, 65], gamma=2, times__tpot_ms=near(10), drafter="mtp",
      stratum__category="code")
# 1000/50, measured through the API.
reads("llama-benchy", "llama-benchy.md", decoding="unknown", times__tpot_ms=near(20), requests=near(1))
# 2.560/128 and 2.660/128 s per step, at 64 and 576 tokens of context.
case("25 llama-sweep-bench", "import sweep-bench.md", "25-other-formats", lines=0, any_order=False, json={
    "logs[0].observations#": 2, "logs[0].observations[*].decoding": "plain", RUN + "times.iteration_ms": near(20.0, 1e-6),
    "logs[0].observations[1].times.iteration_ms": near(20.78), RUN + "stratum.context_tokens": near(64)})
# 1800/1.8 steps of 3000/1000 drafts.
reads("metrics of TensorRT-LLM", "trtllm.prom", acceptance__steps=1000, acceptance__accepted_tokens=1800, gamma=3)
case("25 what they say", "advise trtllm.prom", "25-other-formats", json={
    "verification_steps": 1000, "gamma_observed": 3, "tokens_per_iteration.observed": near(2.8, 1e-6)})
# 60/40.
case("25 records in an array", "advise own-records-array.json", "25-other-formats",
     json={"tokens_per_iteration.observed": near(2.5, 1e-6), "loads[0].speedup.measured": near(1.5),
           "recommendation.gamma": 3}, first=[r"K = 3\b", r"1\.50x"])

# ---------------------------------------------------------------- tables in any headings

# 78/50 and 96/50; tau 2.3 and 3.1.
MARKDOWN = """| Config | tok/s | AL | acc |
|---|---:|---:|---:|
| **baseline** | 50.0 | - | - |
| MTP K=2 | 78.0 | 2.30 | 65.0% |
| MTP K=4 | 96.0 | 3.10 | 52.5% |
"""
TABLE = {"recommendation.gamma": 4, "loads#": 1, "loads[0].runs[gamma=2].speedup.measured": near(1.56),
         "loads[0].runs[gamma=4].speedup.measured": near(1.92), "warnings[code=W22].message": has("tok/s", "read as")}
case("table in Markdown", "advise posted.md", files={"posted.md": MARKDOWN},
     json=TABLE | {"loads[0].runs[gamma=4].tokens_per_iteration": near(3.1, 1e-6)}, first=[r"K = 4\b", r"1\.92x"])
case("table in columns", "advise posted.txt", files={"posted.txt": "K     t/s     tau\n0     50.0    1.00\n2     78.0    2.30\n"
                                                                 "4     96.0    3.10\n"},
     json=TABLE | {"warnings[code=W22].message": has("t/s")}, first=[r"K = 4\b"])
case("table in CSV", "advise posted.csv", files={"posted.csv": "num_spec_tokens,ms/token,acceptance rate\nnone,20.0,\n"
                                                              "2,12.82,0.65\n4,10.417,0.525\n"},
     json=TABLE | {"warnings[code=W22].message": has("ms/token"),
                   "loads[0].runs[gamma=4].tokens_per_iteration": near(3.1, 1e-6)}, first=[r"K = 4\b"])
# 700/400 at 8 users, 90/50 at 1: the speeds of all rise with the load.
case("table of several loads", "advise posted.md", files={"posted.md": """| users | spec tokens | throughput |
|---|---|---|
| 1 | off | 50 |
| 8 | off | 400 |
| 1 | 3 | 90 |
| 8 | 3 | 700 |
"""}, json={"loads#": 2, "loads[batch=1].speedup.measured": near(1.8), "loads[batch=8].speedup.measured": near(1.75)},
     first=[r"K = 3\b"])
# At one load above 1 nobody knows, but both arms have the same ratio.
case("the ratio of unsure speeds", "advise posted.md", files={"posted.md": """| c | K | tok/s |
|---|---|---|
| 8 | 0 | 400 |
| 8 | 3 | 700 |
"""}, json={"loads#": 1, "loads[batch=8].speedup.measured": near(1.75)}, first=[r"K = 3\b"], text=[r"W12 tok/s may be of all"])
case("table that says too little", "advise posted.md", files={"posted.md": """| c | K | tok/s |
|---|---|---|
| 8 | 0 | 400 |
| 4 | 3 | 700 |
"""}, exit=(2,), lines=0, text=[r"tok/s", r"total tok/s", r"tok/s per request"])

# ---------------------------------------------------------------- hostile

MARGINAL = [0.85, 0.7225, 0.614, 0.522, 0.4437, 0.3771]
# 2.543 and 3.609 tokens in 33.3 and 39.3 ms, plain 29.15 ms: the true speedups are 2.225 and 2.678.
BLOCK = [0.867, 0.676, 0.468, 0.296, 0.163, 0.083, 0.038, 0.016]
case("hostile: a tie that is none", "advise k2.log k8.log --plain k0.log", files={
    "k0.log": vllm_log(noisy(29.15, 4, spread=0.035)), "k2.log": vllm_log(noisy(33.3, 4, BLOCK[:2], spread=0.03), 2),
    "k8.log": vllm_log(noisy(39.3, 4, BLOCK, spread=0.03), 8)},
     json={"recommendation.gamma": between(4, 8), "loads[0].runs[gamma=2].speedup.measured": near(2.225, 0.05),
           "loads[0].runs[gamma=8].speedup.measured": near(2.678, 0.06),
           "loads[0].speedup_by_gamma[gamma=2].p_best": between(0, 0.01), "recommendation.ties": lacks("2")},
     first=[r"K = [4-8]\b"], forbidden=[r"(Keep|Use) K = 2\b"])
# 1.748 tokens in 18.85 ms, plain 10 ms: the true speedup is 0.927. Of 30 windows 11, 14 and 5 are partly idle.
IDLE = {"k0.log": vllm_log(noisy(10, 8, idle=11)), "k1.log": vllm_log(noisy(16, 8, [0.45], idle=14), 1),
        "k3.log": vllm_log(noisy(18.85, 8, [0.453, 0.205, 0.09], spread=0.01, idle=5), 3)}
NOT_CERTAIN = named("at most 1, or not certain", lambda found: found["sign_certain"] is False or all(
    load["speedup"] is None or load["speedup"]["measured"] <= 1 for load in found["loads"]))
case("hostile: idle windows", "advise k3.log --plain k0.log", files=IDLE, json={"": NOT_CERTAIN},
     forbidden=[r"pays.*sign certain"])
case("hostile: idle windows, compare", "compare k3.log k1.log --plain k0.log", files=IDLE, lines=0,
     json={"runs[gamma=3].metrics[metric=speedup].ci95": named(
         "not above 1", lambda found: found is None or found[0] <= 1)})

# Requests of 200 steps at K = 3, acceptance 0.7 at each position: 1 + 0.7 + 0.49 + 0.343 tokens per iteration.
for requests, width in ((5, 0.35), (25, 0.16), (100, 0.08), (400, 0.04)):
    # A binomial error: one step's accepted drafts have a standard deviation of 1.18, so that 95 % of n steps' means lie
    # within 2.31 / sqrt(n): +-0.07, 0.033, 0.016, 0.008. Allowed is more than twice that, and always half the one
    # before.
    case(f"hostile: {requests} requests of llama-server", "advise k3.log",
         files={"k3.log": llama_log(llama_requests(requests, 0.7), "mtp", 3)},
         json={"verification_steps": 200 * requests, "tokens_per_iteration.observed": near(2.533, 0.07),
               "tokens_per_iteration.ci95": interval(width)},
         headline=[r"2\.5"], forbidden=[r"too few steps" if requests > 5 else r"is reached by"])
# Plain 15 ms per token, 20 ms per step with 2.533 tokens: 1.90.
LENGTHS = [8 + 37 * i % 401 for i in range(60)]  # iterations
case("hostile: the same requests in both arms", "advise k3.log --plain plain.log", files={
    "k3.log": llama_log([llama_requests(1, 0.7, steps=steps, seed=i)[0] for i, steps in enumerate(LENGTHS)], "mtp", 3),
    "plain.log": llama_log([(15 * tokens, tokens + 1, None, None) for tokens in (round(2.533 * steps) for steps in LENGTHS)])},
     json={"recommendation.gamma": 3, "loads[*].speedup.measured": near(1.90, 0.06), "warnings[code=W09]#": 0},
     first=[r"K = 3\b"], forbidden=[r"is not compared"])
# Iterations of 10, 10.2 and 10.7 ms at 1 request, of 20, 40.2 and 140.5 ms at 128; 1, 1.85 and 4.53 tokens.
case("hostile: off at one of two loads", "advise k6.log k1.log --plain k0.log", files={
    "k0.log": vllm_log(noisy(10, 1, count=20) + noisy(20, 128, count=20)),
    "k1.log": vllm_log(noisy(10.2, 1, MARGINAL[:1], 20) + noisy(40.2, 128, MARGINAL[:1], 20), 1),
    "k6.log": vllm_log(noisy(10.7, 1, MARGINAL, 20) + noisy(140.5, 128, MARGINAL, 20), 6)},
     json={"recommendation.schedule[0].gamma": 6, "recommendation.schedule[-1].gamma": 0,
           "loads[batch~1].runs[gamma=6].speedup.measured": near(4.22, 0.05),
           "loads[batch~1].runs[gamma=1].speedup.measured": near(1.81, 0.05),
           "loads[batch~128].runs[gamma=6].speedup.measured": near(0.64, 0.02),
           "loads[batch~128].runs[gamma=1].speedup.measured": near(0.92, 0.02)},
     headline=[r"4\.2[23]x", r"0\.64x|\boff\b"], forbidden=[r"461"])
# 4.23 and 1.82 at 4 requests, 1.27 and 1.81 at 64, in 100 windows and 4 (half of those that were generated).
case("hostile: schedule", "advise k6.log k1.log --plain k0.log", files={
    "k0.log": vllm_log(noisy(10, 4, count=100) + noisy(10.03, 64, count=4)),
    "k1.log": vllm_log(noisy(10.2, 4, MARGINAL[:1], 100) + noisy(10.22, 64, MARGINAL[:1], 4), 1),
    "k6.log": vllm_log(noisy(10.7, 4, MARGINAL, 100) + noisy(35.8, 64, MARGINAL, 4), 6)},
     json={"recommendation.schedule": [{"first_batch": 1, "last_batch": 16, "gamma": 6},
                                       {"first_batch": 17, "last_batch": 64, "gamma": 1}]})
case("hostile: 100,000 quotes", "sweep quotes.toml", exit=(2,), lines=0, any_order=False,
     files={"quotes.toml": 'schema = "foredraft.sweep/1"\nx = ' + '"' * 100_000 + "\n"})
case("hostile: a file without an end", "advise /dev/zero", exit=(2,), lines=0, any_order=False)

# ---------------------------------------------------------------- real runs of vLLM, and what they led to

# 2026 - 1705 drafts, 2676 - 2236 accepted: 1 + 440/321.
VLLM_SCRAPES = {"verification_steps": 321, "gamma_observed": 3, "tokens_per_iteration.observed": near(1 + 440 / 321, 1e-6),
                "warnings[code=W02]#": 0}
case("vllm 1: two scrapes", "advise scrape-before.prom scrape-after.prom", "vllm", json=VLLM_SCRAPES, headline=[r"2\.37"])
case("vllm 1: two scrapes in one file", "advise both.prom", json=VLLM_SCRAPES, files={"both.prom": "".join(
    (INPUTS / "vllm" / name).read_text() for name in ("scrape-before.prom", "scrape-after.prom"))})
# 40 tokens/s in both arms but for the first window of the plain one, in which the requests arrived.
case("vllm 2: a window that begins idle", "advise burst-spec.log --plain burst-plain.log", "vllm",
     json={"loads#": 1, "loads[0].speedup.measured": near(1.00), "loads[0].plain_ms": near(100, 0.5),
           "recommendation.gamma": 0}, first=[r"\boff\b"], forbidden=[r"\bpays\b", r"4\.17"])
case("vllm 2: without it", "advise burst-spec.log --plain steady-plain.log", "vllm",
     json={"loads#": 1, "loads[0].speedup.measured": near(1.00), "recommendation.gamma": 0}, first=[r"\boff\b"])
# 600 tokens in 90 s with (50 accepted + 50) x 3 + 50 x 6 of them: 450 steps; plain 7.5 tokens/s: 6.67/7.5.
case("vllm 3: windows without a draft", "advise ngram-no-draft-windows.log --plain ngram-plain.log", "vllm",
     json={"recommendation.gamma": 0, "loads#": 1, "loads[0].speedup.measured": near(0.889),
           "loads[0].tokens_per_iteration": near(1.333), "loads[0].iteration_ms": near(200, 1)},
     first=[r"\boff\b", r"0\.89x"], forbidden=[r"\bpays\b"])
# TPOT 98.46 and 113.18 against 102.02 ms.
case("vllm 4: order", "advise k3.json k1.json --plain plain.json", "vllm/order",
     json={"recommendation.gamma": 1, "loads#": 1, "loads[0].runs[gamma=1].speedup.measured": near(1.036),
           "loads[0].runs[gamma=3].speedup.measured": near(0.901), **UNKNOWN_ERROR}, first=[r"K = 1\b"])
# TPOT of the two rounds of one server: 113.2 and 82.4 ms, 98.5 and 122.5, 109.3 and 159.2, 159.6 and 221.3. The times
# of requests tell their scatter, not what changes from round to round: that of iterations seems significant at d5-c8.
for pair in ("d3-c4", "d1-c4", "d3-c8", "d5-c8"):
    case(f"vllm 5: two rounds of one server, {pair}", f"compare {pair}-r1.json {pair}-r2.json", "vllm/aa", lines=0,
         json={"comparisons[0].metrics[metric=tpot_ms].shown": False},
         forbidden=[r"27 % lower \(23 to 31"])
# Both rounds of both arms: 105.4/110.5 at K = 1, 105.4/97.8 at K = 3 with 0.90 in one round and 1.32 in the other.
case("vllm 5: both rounds of both arms",
     "advise d1-c4-r1.json d1-c4-r2.json d3-c4-r1.json d3-c4-r2.json --plain plain-c4-r1.json,plain-c4-r2.json", "vllm/aa",
     json={"loads#": 1, "sign_certain": False}, forbidden=[r"sign certain"])
# Scrapes around a benchmark of 12 requests: 62.313 s in 321 iterations of 1 + 440/321 tokens, 82.247 s in 756 plain
# ones: 194.1 and 108.8 ms (the program's is time per token by tokens per iteration, which differ by the ends of
# requests). Of the 768 tokens 12 came from prompts, not from steps without a draft. TPOT of the benchmark: 1.32.
case("vllm 1: scrapes around a benchmark", "advise d3.before.prom d3.after.prom --plain plain.before.prom,plain.after.prom",
     "vllm/scrapes", json={"recommendation.gamma": 3, "verification_steps": 321, "loads#": 1,
                           "tokens_per_iteration.observed": near(2.3707, 0.0005), "loads[0].iteration_ms": near(194.1, 2),
                           "loads[0].plain_ms": near(108.8, 0.1), "loads[0].speedup.measured": near(1.325, 0.01)},
     first=[r"K = 3\b", r"1\.3[23]x"])
# 2.3 x 10 / 15, 28, 19.
case("vllm 6: the middle load loses", "advise middle.csv", "vllm",
     json={"recommendation.gamma": 3, "loads#": 3, "loads[batch=1].speedup.measured": near(1.533),
           "loads[batch=4].speedup.measured": near(0.821), "loads[batch=8].speedup.measured": near(1.211)},
     first=[r"K = 3\b"], headline=[r"0\.82x at 4 requests"])
# 360/200 at 4 requests; one of three windows has nothing to do, and the next begins so: 328 tokens/s are no speed.
BURSTS = {"spec.log": vllm_log([dict(tps=tps, running=running, rates=running and [0.8, 0.6, 0.4])
                                for tps, running in ((0, 0), (328, 4), (360, 4)) * 6], 3),
          "plain.log": vllm_log(steady(200, running=4))}
case("vllm 7: windows that begin idle", "advise spec.log --plain plain.log", files=BURSTS,
     json={"loads#": 1, "recommendation.gamma": 3, "loads[0].speedup.measured": near(1.80),
           "loads[0].plain_ms": near(20, 0.1)}, first=[r"K = 3\b", r"1\.80x"])
case("vllm 7: a last window without requests", "compare ends-idle.log --plain steady-plain.log --require 'speedup>=0.5'", "vllm",
     json={"requirements_met": True, "requirements[*].outcome": "met", "runs[batch~4].metrics[metric=speedup].value": near(1.00)},
     lines=0, forbidden=[r"not shown"])
# 626 tokens in 608 drafts.
case("vllm 8: dynamic K", "advise dynamic-k.json", "vllm",
     json={"recommendation": None, "tokens_per_iteration.observed": near(1.674, 0.0005), "loads[0].runs[0].adaptive": True,
           "warnings[code=W14]#": 0}, text=[r"608", r"1\.67", r"--plan"], forbidden=[r"at K = 3", NO_FAULT])
# K = 1 at 8 requests, 3 at 1: the first window, of 17 steps, is the beginning of the load.
case("vllm 8: dynamic K, windows", "advise dynamic-window.log --plain dynamic-plain.log --for vllm", "vllm",
     json={"loads[batch~8].speedup.measured": between(0.7, 1.4), "loads[*].speedup_by_gamma[*].value":
           named("above 0.5", lambda found: found is None or found > 0.5)},
     forbidden=[r"0\.14x"], lines=0)
for name, share in (("spec", "0.0"), ("one-percent", "1.0")):
    # 92/206; at most 1.01 tokens per iteration at any K.
    case(f"vllm 9: {share} % accepted", f"advise zero/{name}.csv", "vllm",
         json={"recommendation.gamma": 0, "loads[0].speedup.measured": near(0.447), "causes": has("drafter_fault"),
               "warnings[code=W14].message": has("position 1")},
         first=[r"\boff\b"], forbidden=[r"smaller K", r"minutes at K = 1\b"])
case("vllm 10: offline counters", "advise offline.txt", "vllm",
     json={"tokens_per_iteration.observed": near(1 + 534 / 478, 1e-6), "verification_steps": 478, "gamma_observed": 3})
case("vllm 11: failed requests only", "advise failed.json", "vllm", json=None, exit=(0, 1), text=[r"\b16\b.*fail|fail.*\b16\b"],
     forbidden=[r"1 plain observation"])
# 60/20 of one drafter, 30/20 of the other: no one of them is both.
case("the fastest of two drafters differs by kind", "advise kinds.md", lines=0, files={"kinds.md":
    "tok/s:\n\n| config | code | prose |\n|---|---|---|\n| plain | 20 | 20 |\n| EAGLE-3 | 60 | 24 |\n| Medusa | 50 | 30 |\n"},
     first=[r"fastest of each", r"3\.00x", r"1\.50x"])
