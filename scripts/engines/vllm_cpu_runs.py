# SPDX-License-Identifier: Apache-2.0
"""Numbers of vLLM runs, from the files of its benchmark: NAME-cLOAD-rROUND.json."""

import json
import re
import statistics

from vllm_cpu_settings import ARMS, plain_arm


def run_numbers(document):
    """Numbers of a file of `vllm bench serve --save-detailed`; times in ms. Without speculation an iteration has one
    token. TPOT: total time after first tokens over the tokens generated in it; step: the median time between two
    chunks, which holds no prompt of another request, or the mean if the client read several chunks at once. vLLM counts
    only iterations that drafted; with lookup there are more, those that found nothing."""
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
    """{(arm, load): the mean of every number over rounds}."""
    grouped = {}
    for row in rows:
        grouped.setdefault((row["arm"], int(row["load"])), []).append(row)
    return {key: {name: statistics.mean(float(row[name]) for row in of_cell)
                  for name in ("tpot_ms", "step_ms", "ttft_ms", "tokens_per_iteration", "drafts_per_iteration")}
            for key, of_cell in grouped.items()}


def rows_of(folder):
    """Rows as in measured.csv from the files of any run."""
    return [{"round": str(round_), "load": str(load), "arm": arm} | run_numbers(document)
            for (arm, load), documents in read_runs(folder).items() if arm in ARMS
            for round_, document in documents.items() if document["completed"]]


def paired(rows):
    """{(arm, load): runs} in the columns of runs.csv: speculation and plain decoding of the same load and round."""
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
