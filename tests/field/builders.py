# SPDX-License-Identifier: Apache-2.0
"""Tiny logs in the formats of engines and load generators, generated from the numbers of a case."""
import json
import random


def clock(seconds):
    return f"{10 + seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"


def vllm_log(windows, k=None, method="eagle3", graphs=None, seconds=10):
    """Windows of a vLLM server, `seconds` each: dicts of `tps` (tokens/s), `running`, and of a server that speculates
    `rates` (by position) or None where it did not draft; `prompt` (tokens/s), `drafted` (tokens a step)."""
    speculative = f"SpeculativeConfig(method='{method}', model='acme/{method}', num_spec_tokens={k})" if k else "None"
    sizes = f", compilation_config={{'cudagraph_capture_sizes': {graphs}, 'max_cudagraph_capture_size': {max(graphs)}}}" \
        if graphs else ""
    lines = [f"INFO 10-02 09:58:11 [core.py:93] Initializing a V1 LLM engine (v0.28.0) with config: model='acme/8b', "
             f"speculative_config={speculative}, tokenizer='acme/8b'{sizes}"]
    for i, window in enumerate(windows):
        stamp = f"INFO 10-02 {clock(seconds * i)}"
        lines.append(f"{stamp} [loggers.py:310] Engine 000: Avg prompt throughput: {window.get('prompt', 0):.1f} tokens/s, "
                     f"Avg generation throughput: {window['tps']:.1f} tokens/s, Running: {window['running']} reqs, "
                     f"Waiting: {window.get('waiting', 0)} reqs, GPU KV cache usage: 20.0%, Prefix cache hit rate: 0.0%")
        rates = window.get("rates")
        if not rates:
            continue
        tokens = 1 + sum(rates)
        steps = round(window["tps"] * seconds / tokens)
        accepted, drafted = round(steps * sum(rates)), round(steps * window.get("drafted", len(rates)))
        lines.append(f"{stamp} [metrics.py:120] SpecDecoding metrics: Mean acceptance length: {tokens:.2f}, "
                     f"Accepted throughput: {accepted / seconds:.2f} tokens/s, "
                     f"Drafted throughput: {drafted / seconds:.2f} tokens/s, Accepted: {accepted} tokens, "
                     f"Drafted: {drafted} tokens, Per-position acceptance rate: "
                     f"{', '.join(f'{rate:.3f}' for rate in rates)}, "
                     f"Avg Draft acceptance rate: {100 * accepted / drafted:.1f}%")
    return "\n".join(lines) + "\n"


def steady(tps, running=1, rates=None, count=12, scatter=0.0, **more):
    """`count` windows around `tps`, which alternate by `scatter` (0.01: 1 % up, 1 % down)."""
    return [dict(tps=tps * (1 + scatter * (-1) ** i), running=running, rates=rates, **more) for i in range(count)]


def noisy(ms, running, rates=(), count=30, spread=0.005, idle=0, seed=1):
    """`count` windows of a server whose iterations take `ms`: their number varies by `spread`, and acceptance as for
    independent drafts with `rates` by position. In `idle` of the windows the server was partly idle."""
    draws, windows = random.Random(seed), []
    for i in sorted(range(count), key=lambda _: draws.random()):
        part = draws.uniform(0.1, 0.8) if i < idle else 1.0
        steps = 10_000 * running / ms * draws.gauss(1, spread) * part
        found, left = [], round(steps)
        for share in [after / before for before, after in zip((1, *rates), rates)]:
            left = min(left, round(draws.gauss(left * share, (left * share * (1 - share)) ** 0.5)))
            found.append(left / steps)
        windows.append(dict(tps=steps * (1 + sum(found)) / 10, running=running, rates=found))
    return windows


def as_pasted(log):
    """The windows of a vllm_log() without the settings, as a container's log shows them."""
    return "".join(f"(APIServer pid=1) {line}" for line in log.splitlines(keepends=True)[1:])


def vllm_bench(tpot_ms, rates=None, drafts=20000, concurrency=8, **more):
    """The JSON of `vllm bench serve --save-result`; `more` adds keys or, with None, removes them."""
    requests = more.get("completed", 100)
    per_second = (concurrency or more.get("in_flight", 100)) * 1000 / tpot_ms
    more.pop("in_flight", None)
    document = {"date": "20261002-120000", "endpoint_type": "openai", "backend": "vllm", "model_id": "acme/8b",
                "num_prompts": requests, "request_rate": "inf", "burstiness": 1.0, "max_concurrency": concurrency,
                "duration": 500 * requests / per_second, "completed": requests, "failed": 0,
                "total_input_tokens": 1000 * requests, "total_output_tokens": 500 * requests,
                "request_throughput": per_second / 500, "output_throughput": per_second,
                "mean_ttft_ms": 100.0, "median_ttft_ms": 98.0, "mean_tpot_ms": tpot_ms, "median_tpot_ms": tpot_ms,
                "mean_itl_ms": tpot_ms * (1 + sum(rates or [])), "median_itl_ms": tpot_ms * (1 + sum(rates or []))}
    if rates:
        accepted = round(drafts * sum(rates))
        document |= {"spec_decode_acceptance_rate": 100 * accepted / (drafts * len(rates)),
                     "spec_decode_acceptance_length": 1 + accepted / drafts, "spec_decode_num_drafts": drafts,
                     "spec_decode_draft_tokens": drafts * len(rates), "spec_decode_accepted_tokens": accepted,
                     "spec_decode_per_position_acceptance_rates": rates}
    document |= more
    return json.dumps({key: value for key, value in document.items() if value is not None}) + "\n"


def detailed_bench(tpot_ms, tokens, rates=None, requests=20, concurrency=4):
    """The same with --save-detailed: times of each request, a chunk of `tokens` an iteration; 120 tokens a request
    after the first. The time per token of the requests is `tpot_ms` +- 2 %."""
    chunks = round(120 / tokens)
    lengths = [121] * requests
    itls = [[round(tpot_ms * (1 + 0.02 * ((i * 7) % 5 - 2) / 1.4) * tokens / 1000, 6)] * chunks for i in range(requests)]
    times = [sum(chunks) for chunks in itls]
    starts = [round(sum(times[i % concurrency:i:concurrency]) + 0.1 * (1 + i // concurrency), 4) for i in range(requests)]
    duration = max(start + last for start, last in zip(starts, times)) + 0.1
    means = [1000 * total / (length - 1) for total, length in zip(times, lengths)]
    mean = sum(means) / requests
    return vllm_bench(mean, rates, drafts=chunks * requests, concurrency=concurrency, completed=requests, num_prompts=requests,
                      duration=duration, total_output_tokens=sum(lengths), output_throughput=sum(lengths) / duration,
                      request_throughput=requests / duration, input_lens=[1000] * requests,
                      total_input_tokens=1000 * requests, output_lens=lengths, ttfts=[0.1] * requests, itls=itls,
                      start_times=starts, errors=[""] * requests)


def sglang_bench(tpot_ms, accept_length=None, steps=None, concurrency=8, rate=None, **more):
    """A line of JSON of `sglang.bench_serving`."""
    per_second = concurrency * 1000 / tpot_ms
    server = {"version": "0.5.9", "model_path": "acme/8b"}
    if steps:
        server |= {"speculative_algorithm": "EAGLE3", "speculative_num_steps": steps, "speculative_eagle_topk": 1,
                   "speculative_num_draft_tokens": steps + 1, "speculative_draft_model_path": "acme/head"}
    document = {"backend": "sglang", "dataset_name": "random", "request_rate": rate or float("inf"),
                "max_concurrency": None if rate else concurrency, "duration": 200.0, "completed": round(per_second * 200 / 500),
                "total_input_tokens": 1000 * round(per_second * 200 / 500),
                "total_output_tokens": 500 * round(per_second * 200 / 500), "request_throughput": per_second / 500,
                "output_throughput": per_second, "mean_ttft_ms": 100.0, "mean_tpot_ms": tpot_ms, "mean_itl_ms": tpot_ms,
                "concurrency": concurrency, "accept_length": accept_length, "mean_e2e_latency_ms": 100 + 500 * tpot_ms,
                "server_info": server}
    return json.dumps(document | more) + "\n"


def sglang_log(lines, steps=None):
    """Decode lines of an SGLang server, 10 s apart: dicts of `tps`, `running`, `length` (acceptance length or None),
    `context` (tokens of one request), `at` (seconds), `prefill` (a prefill line before it)."""
    settings = (f"speculative_algorithm='EAGLE', speculative_num_steps={steps}, speculative_eagle_topk=1, "
                f"speculative_num_draft_tokens={steps + 1}") if steps else "speculative_algorithm=None"
    text = [f"[2026-10-01 09:59:00] server_args=ServerArgs(model_path='m', {settings})"]
    for i, line in enumerate(lines):
        stamp = f"[2026-10-01 {clock(line.get('at', 10 * i))} TP0]"
        if line.get("prefill"):
            text.append(f"{stamp} Prefill batch, #new-seq: 1, #new-token: {line['prefill']}, #cached-token: 0, "
                        f"token usage: 0.10, #running-req: {line['running']}, #queue-req: 0")
        accept = f"accept len: {line['length']:.2f}, accept rate: {(line['length'] - 1) / steps:.2f}, " if steps else ""
        text.append(f"{stamp} Decode batch, #running-req: {line['running']}, "
                    f"#token: {line['running'] * line.get('context', 1000)}, token usage: 0.10, {accept}cuda graph: True, "
                    f"gen throughput (token/s): {line['tps']:.2f}, #queue-req: 0")
    return "\n".join(text) + "\n"


def llama_log(requests, drafter=None, k=None):
    """Requests of llama-server at -lv 4: (milliseconds, tokens, steps, [steps that accepted 1, 2, ... drafts]), the
    last two None without speculation; the statistics are running totals."""
    text, total = ["0.0.1 I srv  load_model: loading model"], [0, [0] * (k or 0)]
    for i, (ms, tokens, steps, accepted_at) in enumerate(requests):
        head = f"0.{10 + i}.1 I slot print_timing: id  0 | task {i} |"
        text.append(f"{head} prompt eval time =     40.00 ms /    20 tokens (    2.00 ms per token,   500.00 tokens per "
                    "second)")
        text.append(f"{head}        eval time = {ms:9.2f} ms / {tokens:5d} tokens ({ms / tokens:8.2f} ms per token, "
                    f"{1000 * tokens / ms:8.2f} tokens per second)")
        if steps is None:
            continue
        total = [total[0] + steps, [a + b for a, b in zip(total[1], accepted_at)]]
        accepted = sum(accepted_at)
        text.append(f"{head} draft acceptance = {accepted / (k * steps):.5f} ({accepted:5d} accepted / {k * steps:5d} "
                    f"generated), mean len = {1 + accepted / steps:5.2f}")
        n, sums = total[0], total[1]
        text.append(f"0.{10 + i}.1 I spec common_specu: statistics        draft-{drafter}: "
                    f"#calls(b,g,a) = {i + 1:4d} {n:6d} {n:6d}, "
                    f"#gen drafts = {n:6d}, #acc drafts = {n:6d}, #gen tokens = {k * n:6d}, #acc tokens = {sum(sums):5d}, "
                    f"#mean acc len = {1 + sum(sums) / n:.2f}, "
                    f"#acc rate/pos = ({', '.join(f'{share / n:.3f}' for share in sums)}), "
                    f"dur(b,g,a) = 0.005, {2.0 * n:.3f}, 0.100 ms")
    return "\n".join(text) + "\n"


def llama_requests(count, share, k=3, steps=200, step_ms=20.0, seed=2):
    """For llama_log: requests of `steps` steps, each draft accepted with probability `share` after accepted ones."""
    draws, requests = random.Random(seed), []
    for _ in range(count):
        accepted = [next((i for i in range(k) if draws.random() > share), k) for _ in range(steps)]
        at = [sum(found >= i for found in accepted) for i in range(1, k + 1)]
        requests.append((step_ms * steps, steps + sum(at) + 1, steps, at))
    return requests


def prometheus(**values):
    """A scrape of vLLM: names without `vllm:`; of a list, position by position."""
    lines = []
    for name, value in values.items():
        if isinstance(value, list):
            lines += [f'vllm:{name}{{engine="0",model_name="m",position="{i}"}} {entry:.1f}' for i, entry in enumerate(value)]
        else:
            lines.append(f'vllm:{name}{{engine="0",model_name="m"}} {value}')
    return "\n".join(lines) + "\n"
