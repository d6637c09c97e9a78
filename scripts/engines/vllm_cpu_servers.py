# SPDX-License-Identifier: Apache-2.0
"""Servers of vLLM and runs of its benchmark, for vllm_cpu_validation.py: one table row per run."""

import contextlib
import io
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

from held_against import now, read_rows, write_rows
from vllm_cpu_runs import run_numbers
from vllm_cpu_settings import ARMS, LOADS, MAX_OTHERS, MAX_USED, PORTS, PROMPT, REPEATING_TOKENS, REQUESTS


class Servers:
    """Running servers by name; all are stopped at the end."""

    def __init__(self, folder, logs):
        self.folder, self.logs, self.running = folder, logs, {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop(list(self.running))

    def start(self, names):
        """Starts those that do not run, all at once. Returns the seconds until all of them answered."""
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
    """Processor time of a process and all its descendants, in s."""
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
    part.rename(out / f"{stem}.json")  # a file of that name is complete
    row = {"round": round_, "load": load, "arm": arm, "started": started, "seconds": f"{seconds:.1f}",
           "load_average": f"{os.getloadavg()[0]:.2f}", "others": f"{max(0.0, (busy[0] - own) / seconds):.3f}",
           "stolen": f"{busy[1] / seconds:.3f}"}
    numbers = run_numbers(document)
    return row | {name: f"{value:.6g}" for name, value in numbers.items()}


def check_quiet(seconds=5):
    """Ends the program if others are running. Call it before a server runs: the load average would include this
    program's work of the last minute."""
    before = processor_times()[0]
    time.sleep(seconds)
    used = (processor_times()[0] - before) / seconds
    if used > MAX_USED:
        raise SystemExit(f"other programs use {used:.2f} processors, {MAX_USED} are allowed: end them, or --busy, "
                         "whose times are no result")


def take_cells(servers, out, path, cells, asked, seed):
    """Measures the cells that `path` lacks; returns whether it then holds all. One row per cell."""
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
        bench(out.parent / "warm-up", arm, 4, 0, 4, 48, 7)  # triggers compilation at first use
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
